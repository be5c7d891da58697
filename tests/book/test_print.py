"""The book as files: an EPUB and a PDF of a few of its pages, read back.

`make pdf` and `make epub` check the whole.
"""

from __future__ import annotations

import io
import re
import zipfile
from concurrent.futures import ThreadPoolExecutor
from xml.etree import ElementTree

import pikepdf
import pytest

from handful_explorers.schematics import one_weight
from handful_explorers.schematics.schematic import texts
from handful_site import book_files, bootstrap, build
from handful_site.print import book, epub, pdf

SOME = [("balance-batch", "chapter"), ("calculators", "chapter"), ("glossary", "back")]
XHTML, MATHS = "{http://www.w3.org/1999/xhtml}", "{http://www.w3.org/1998/Math/MathML}"


@pytest.fixture(scope="module")
def raw():
    folder = build.work_folder() / "_build" / "html"
    if not folder.exists():
        pytest.fail("The book is not built; run `make build`.", pytrace=False)
    return folder


@pytest.fixture(scope="module")
def gathered(raw):
    pages = book.collect_pages(raw, SOME, whole=False)
    return pages, book.typeset(pages, bootstrap.node_command())


@pytest.fixture(scope="module")
def archive(raw, gathered, tmp_path_factory):
    path = tmp_path_factory.mktemp("epub") / "some.epub"
    epub.write(path, raw, *gathered)
    return path


def test_pages_come_in_order_and_answers_before_what_is_looked_up(gathered):
    assert [(page.name, page.number) for page in gathered[0]] == [
        ("balance-batch", 1),
        ("calculators", 2),
        ("answers", 0),
        ("glossary", 0),
        ("terms", 0),
    ]


def test_questions_and_answers_lead_to_each_other(gathered):
    pages = {page.name: page.body for page in gathered[0]}
    links = pages["balance-batch"].select(".to-answer a")
    assert len(links) == len(pages["balance-batch"].select(".question, .problem")) > 10
    for link in links:
        answer = pages["answers"].find(id=link["href"][1:])
        back = answer.select_one(".answer-head a")["href"][1:]
        assert link.find_parent(class_=["question", "problem"])["id"] == back
        assert len(answer.get_text().split()) > 10
    assert not pages["balance-batch"].select("details, .solution, .hint, .choice-says")


def test_a_choice_says_which_is_right(gathered):
    answers = next(page.body for page in gathered[0] if page.name == "answers")
    assert {right.get_text() for right in answers.select(".right")} <= {
        f"{letter} is right." for letter in "ABCD"
    }
    assert len(answers.select(".right")) == len(answers.select("ol.choices")) > 0


def test_no_furniture_of_the_site_is_left(gathered):
    for page in gathered[0]:
        assert not page.body.select(
            "script, button, input, .headerlink, details.explorer-data, [hidden], [style], "
            "[data-steps], .schematic [visibility]"
        ), page.name


def test_an_equation_stands_without_the_line_that_names_it(gathered):
    page = next(page.body for page in gathered[0] if page.name == "balance-batch")
    code = [box.get_text() for box in page.select(".cell_input")]
    assert code == []
    assert len(page.select(".cell_output")) > 6


def test_a_schematic_has_its_last_picture_and_all_sentences(gathered):
    page = next(page.body for page in gathered[0] if page.name == "balance-batch")
    figure = page.select_one("figure.schematic")
    assert [li.get_text() for li in figure.select("ol > li")] == one_weight.sentences()
    assert [one.get_text() for one in figure.select("svg text")] == texts(one_weight.pictures[-1])


def test_a_link_that_leads_nowhere_is_refused(raw, tmp_path):
    text = (raw / "calculators.html").read_text("utf-8")
    (tmp_path / "calculators.html").write_text(
        text.replace(
            'id="check-yourself">',
            'id="check-yourself"><p><a href="#no-such-place">here</a></p>',
            1,
        ),
        "utf-8",
    )
    with pytest.raises(book.BookError, match="no-such-place"):
        book.collect_pages(tmp_path, [("calculators", "chapter")], whole=False)
    with pytest.raises(book.BookError, match="not been built"):
        book.collect_pages(tmp_path, [("pipelining", "chapter")], whole=False)


# EPUB


def test_the_epub_says_first_what_it_is(archive):
    with zipfile.ZipFile(archive) as files:
        first = files.infolist()[0]
        assert (first.filename, first.compress_type, files.read(first)) == (
            "mimetype",
            zipfile.ZIP_STORED,
            b"application/epub+zip",
        )
    assert archive.read_bytes()[30:58] == b"mimetypeapplication/epub+zip"


def test_the_manifest_lists_every_file_and_what_is_in_it(archive):
    with zipfile.ZipFile(archive) as files:
        package = ElementTree.fromstring(files.read("book/package.opf"))
        items = {
            item.get("href"): (item.get("properties") or "").split()
            for item in package.iter("{http://www.idpf.org/2007/opf}item")
        }
        assert {f"book/{name}" for name in items} == set(files.namelist()) - {
            "mimetype",
            "META-INF/container.xml",
            "book/package.opf",
        }
        for name in (name for name in items if name.endswith(".xhtml")):
            tree = ElementTree.parse(io.BytesIO(files.read(f"book/{name}")))
            tags = {tag.tag for tag in tree.iter()}
            assert ("mathml" in items[name]) == (f"{MATHS}math" in tags)
            assert ("svg" in items[name]) == ("{http://www.w3.org/2000/svg}svg" in tags)
            assert f"{XHTML}script" not in tags
            for picture in tree.iter(f"{XHTML}img"):
                assert picture.get("alt")
        assert "mathml" in items["balance-batch.xhtml"] and "svg" in items["balance-batch.xhtml"]
        said = files.read("book/package.opf").decode()
    assert all(f">{feature}<" in said for feature in epub.FEATURES)
    assert not re.search(r"http://127|file:", said)


def test_maths_keeps_its_words(archive):
    with zipfile.ZipFile(archive) as files:
        tree = ElementTree.parse(io.BytesIO(files.read("book/balance-batch.xhtml")))
    maths = list(tree.iter(f"{MATHS}math"))
    assert len(maths) > 40 and all(one.get("alttext") for one in maths)
    for one in tree.iter(f"{MATHS}msub"):
        assert len(one) == 2
    assert not list(tree.iter(f"{MATHS}annotation"))


def test_the_same_pages_give_the_same_bytes(archive, raw, gathered, tmp_path):
    epub.write(tmp_path / "again.epub", raw, *gathered)
    assert (tmp_path / "again.epub").read_bytes() == archive.read_bytes()


def test_a_broken_file_is_refused():
    with pytest.raises(book.BookError, match="not well-formed"):
        epub.check({"a.xhtml": b"<p>"})
    with pytest.raises(book.BookError, match=r"b\.xhtml leads nowhere"):
        epub.check({"a.xhtml": b'<p><a href="b.xhtml"/></p>'})


# PDF


def apart(call):
    """Run the work in a thread of its own.

    This thread may have a browser already, and Playwright allows one to a thread.
    """
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(call).result()


def marks(entries):
    for entry in entries:
        yield str(entry.title), [str(child.title) for child in entry.children]
        yield from marks(entry.children)


@pytest.mark.browser
def test_the_pdf_has_bookmarks_links_and_true_page_numbers(raw, gathered, tmp_path):
    pages = [
        page for page in gathered[0] if page.name in ("calculators", "answers", "glossary", "terms")
    ]
    for page in (pages := book.copies(pages)):
        known = set().union(
            *(({one.name} | {tag["id"] for tag in one.body.find_all(id=True)}) for one in pages)
        )
        for link in page.body.select('a[href^="#"]'):
            if link["href"][1:] not in known:
                link.unwrap()
    lines: list[str] = []
    count = apart(
        lambda: pdf.write(tmp_path / "some.pdf", raw, pages, gathered[1], say=lines.append)
    )
    where = pdf.places(tmp_path / "some.pdf")
    with pikepdf.open(tmp_path / "some.pdf") as made:
        assert (
            len(made.pages) == count > 10
            and "/StructTreeRoot" in made.Root
            and str(made.Root.Lang).startswith("en")
        )
        assert str(made.docinfo["/Title"]) == "A Handful of Equations" and str(
            made.docinfo["/CreationDate"]
        ).endswith("000000Z")
        with made.open_outline() as outline:
            titles = dict(marks(outline.root))
        assert any("Where calculators disagree" in title for title in titles) and any(
            titles.values()
        )
        links = [link for page in made.pages for link in page.get("/Annots", []) if "/Dest" in link]
        assert len(links) > 50 and {str(link.Dest).lstrip("/") for link in links} <= set(where)
        for page in made.pages:
            for font in page.Resources.get("/Font", {}).values():
                described = font.DescendantFonts[0] if "/DescendantFonts" in font else font
                assert font.Subtype == "/Type3" or any(
                    key.startswith("/FontFile") for key in described.FontDescriptor
                )
    document = pdf.fill(pdf.document(raw, pages, gathered[1], "letter"), where)
    assert f'data-pn="answers">{where["answers"]}<' in document and "000</span>" not in document
    assert where["answers"] < where["glossary"] < where["terms"] <= count


@pytest.mark.browser
def test_a_lost_picture_stops_the_pdf(tmp_path):
    with pytest.raises(book.BookError, match=r"not there: .*lost\.png"):
        apart(
            lambda: pdf.print_book(
                f'<img src="{(tmp_path / "lost.png").as_uri()}">', tmp_path / "no.pdf"
            )
        )


# The site


def test_a_file_is_offered_only_while_its_sources_stand(tmp_path, monkeypatch):
    (tmp_path / f"{book_files.STEM}.pdf").write_bytes(b"%PDF")
    assert book_files.current(tmp_path) == []
    monkeypatch.setattr(book_files, "source_digest", lambda: "then")
    book_files.stamp("pdf", "then", tmp_path)
    assert [path.suffix for path in book_files.current(tmp_path)] == [".pdf"]
    monkeypatch.setattr(book_files, "source_digest", lambda: "now")
    assert book_files.current(tmp_path) == []


def test_a_page_offers_what_there_is(tmp_path):
    from bs4 import BeautifulSoup

    path = tmp_path / f"{book_files.STEM}.epub"
    path.write_bytes(b"x" * 700_000)
    page = (
        '<details class="downloads"><ul><li><a href="a.md">Its source</a></li></ul></details>'
        '<div class="bound-files"><p>…</p></div>'
    )
    soup = BeautifulSoup(page, "html.parser")
    book_files.add_links(soup, "../", [path])
    assert [link["href"] for link in soup.select("a")] == [
        "a.md",
        f"../{book_files.PLACE}/{path.name}",
        f"../{book_files.PLACE}/{path.name}",
    ]
    assert soup.select_one("ul.bound-files").get_text() == "EPUB 3, for e-readers (0.7 MB)"
    soup = BeautifulSoup(page, "html.parser")
    book_files.add_links(soup, "", [])
    assert [link["href"] for link in soup.select("a")] == ["a.md"] and not soup.select(
        ".bound-files"
    )
