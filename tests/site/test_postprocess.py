"""The finish on small pages: what it changes, and what it refuses."""

from __future__ import annotations

import json
import re
import sys

import pytest
from bs4 import BeautifulSoup

from handful_site import asset_bundle, bootstrap, offer, page_metadata
from handful_site.postprocess import POLICY, FinishError, finish

PAGE = (
    '<!doctype html><html><head><meta charset="utf-8"/><title>a</title>'
    '<link rel="stylesheet" href="_static/a.css"/><script src="_static/all.js"></script>'
    '<script data-cfasync="false">light()</script></head><body>{}</body></html>'
)


def plain(address: str) -> str:
    """Return an address without the mark that changes with the file's contents."""
    return re.sub(r"\.[0-9a-f]{8}(?=\.\w+$)", "", address)


@pytest.fixture
def finished(tmp_path, monkeypatch):
    """Finish pages given as body markup; returns their soups."""
    monkeypatch.setattr(offer, "made", lambda: [])  # whatever editions lie in this working tree

    def run(files=(), node=None, notebooks=None, **bodies) -> dict[str, BeautifulSoup]:
        """`files` are others that Sphinx wrote: pairs of path and text."""
        raw, scripts = tmp_path / "raw", tmp_path / "js"
        (raw / "_static" / "vendor/fontawesome/webfonts").mkdir(parents=True)
        (scripts / "katex").mkdir(parents=True)
        for name in ("handful.js", "handful.css", "katex/katex.css"):
            (scripts / name).write_text("")
        (scripts / "ahead.js").write_text("openStore();")
        for name, body in bodies.items():
            (raw / f"{name}.html").write_text(PAGE.format(body))
        (raw / "_static" / "a.css").write_text(
            '.never{color:red}a{background:url("data:image/svg+xml;charset=utf-8,%3Csvg/%3E")}'
        )
        for name in ("all.js", "only.js"):
            (raw / "_static" / name).write_text(f"let {name[:-3]} = 1;")
        for name, text in files:
            (raw / name).parent.mkdir(parents=True, exist_ok=True)
            (raw / name).write_text(text)
        pages = finish(
            raw,
            tmp_path / "site",
            scripts,
            node or bootstrap.node_command(),
            bootstrap.ROOT,
            notebooks,
        )
        written = [
            *(f"{name}.html" for name in bodies),
            *(name for name, _ in files if name.endswith(".html") and "_static" not in name),
        ]
        assert pages == sorted(written)
        return {
            name.removesuffix(".html"): BeautifulSoup(
                (tmp_path / "site" / name).read_text(), "html.parser"
            )
            for name in written
        }

    run.folder = tmp_path / "site"
    run.only = lambda pattern: next(run.folder.glob(pattern))
    return run


def test_maths_is_set_everywhere(finished):
    page = finished(
        a=r'<span class="math" data-tex="a^2">a^2</span><div class="math" '
        r'data-tex="\frac12">x</div>'
        '<template id="t"><span class="math" data-tex="b">b</span></template>'
        '<script type="application/json" class="explorer-spec">{"latex":"c_1<2","x":1}</script>'
    )["a"]
    assert page.select_one("span.math > .katex math") and page.select_one(
        "div.math > .katex-display"
    )
    assert page.template.find(class_="katex")
    data = json.loads(page.select_one(".explorer-spec").string)
    assert (
        BeautifulSoup(data["latex_html"], "html.parser").select_one(".katex math")
        and data["x"] == 1
    )


def test_bad_maths_names_page_and_formula(finished):
    with pytest.raises(FinishError, match=r"(?s)b\.html.*Undefined control sequence.*\\nonsense"):
        finished(
            a='<span class="math" data-tex="a">a</span>',
            b=r'<span class="math" data-tex="\nonsense">a</span>',
        )


def test_nothing_inline_is_left(finished):
    page = finished(
        a='<p class="x" style="color: red;">a</p><p style="color: red">b</p>'
        "<script>let a = 1</script>"
        '<button onclick="window.print()">p</button><style>p { margin: 0 }</style>'
        "<svg><style>* { fill: none }</style></svg>"
    )["a"]
    assert not page.select("[style], style, [onclick]") and not page.find_all("script", src=False)
    assert "let a" not in str(page)
    first, second = page.select("p")
    assert first["class"][0] == "x" and first["class"][1] == second["class"][0]
    assert page.button["data-do"] == "print"
    sheet = (finished.only("_static/site.*.css")).read_text()
    assert f".{second['class'][0]}:not(#_){{color:red}}" in sheet and "*{fill:none}" in sheet


def test_every_page_asks_for_one_sheet_and_one_script(finished):
    """Each page asks for one sheet, one script and the few lines that set its colours.

    Those lines come before it is painted. No script of the third-party packages is left.
    """
    pages = finished(
        a='<a class="used">a</a><script src="_static/only.js"></script>'
        '<link rel="preload" as="script" href="_static/all.js"/>',
        b="<p>b</p>",
    )
    for page in pages.values():
        assert [plain(tag["href"]) for tag in page.select('link[rel="stylesheet"]')] == [
            "_static/site.css"
        ]
        module, early = [tag["src"] for tag in page.select("script[src]")]
        assert (
            plain(module) == "_static/handful/handful.js"
            and "data-theme" in (finished.folder / early).read_text()
        )
        assert {tag["as"] for tag in page.select("link[rel=preload]")} == {"font"} and page.html[
            "data-theme"
        ] == "light"
    assert {path.parent.name for path in finished.folder.rglob("*.js")} == {
        "site",
        "handful",
        "inline",
    }  # the first holds sw.js


def test_a_script_within_the_text_is_refused(finished):
    with pytest.raises(FinishError, match=r"a\.html: .*script"):
        finished(a="<article><section><script>let a = 1</script></section></article>")


def test_rules_that_match_nothing_are_left_out(finished):
    finished(a='<a class="used">a</a>')
    assert "never" not in finished.only("_static/site.*.css").read_text()


def test_the_policy_comes_before_everything_it_governs(finished):
    head = finished(a="a")["a"].head
    policy = head.select_one('meta[http-equiv="Content-Security-Policy"]')
    assert policy["content"] == POLICY
    assert not policy.find_previous_siblings(["script", "link", "style"])


@pytest.mark.parametrize(
    "markup",
    [
        '<img src="https://example.org/a.png"/>',
        '<img src="data:image/png;base64,AA"/>',
        '<script src="//example.org/a.js"></script>',
    ],
)
def test_what_lies_elsewhere_is_refused(finished, markup):
    with pytest.raises(FinishError, match=r"a\.html: <(img|script)> asks for"):
        finished(a=markup)


def test_a_script_within_a_tag_is_refused(finished):
    with pytest.raises(FinishError, match="onmouseover"):
        finished(a='<p onmouseover="steal()">a</p>')


def test_a_bare_widget_is_refused(finished):
    with pytest.raises(FinishError, match="bare widget"):
        finished(a='<script type="application/vnd.jupyter.widget-view+json">{}</script>')


def test_pictures_within_sheets_become_files(finished):
    finished(a="<a>a</a>")
    sheet = (finished.only("_static/site.*.css")).read_text()
    assert "data:" not in sheet
    assert [path.read_text() for path in (finished.folder / "_static/files").iterdir()] == [
        "<svg/>"
    ]


def test_a_page_in_a_folder_finds_what_it_needs(finished):
    deep = PAGE.format('<p style="color: red">a</p><script>let z = 3</script>').replace(
        "_static/", "../_static/"
    )
    page = finished(files=[("part/one.html", deep)], a="a")["part/one"]
    addresses = [tag.get("src") or tag["href"] for tag in page.select("script, link")]
    assert addresses and all(
        address.startswith("../_static/") or address == "../manifest.webmanifest"
        for address in addresses
    )


def test_a_phone_is_told_one_colour_for_light_and_one_for_dark(finished):
    told = finished(a="a")["a"].head.select('meta[name="theme-color"]')
    assert {tag["media"]: tag["content"] for tag in told} == {
        f"(prefers-color-scheme: {scheme})": colour
        for scheme, colour in page_metadata.PAPER.items()
    }
    assert len(told) == 2


def test_a_redirect_without_a_head_becomes_a_page(finished):
    """Jupyter Book writes a lone tag for a book whose root has another name."""
    page = finished(
        files=[("index.html", '<meta http-equiv="Refresh" content="0; url=a.html" />\n')], a="a"
    )["index"]
    assert page.html["lang"] == "en" and page.title.string == "A Handful of Equations"
    assert page.head.find("meta", attrs={"http-equiv": "Refresh"})["content"] == "0; url=a.html"
    assert page.select_one('meta[http-equiv="Content-Security-Policy"]')


def test_pages_of_the_theme_itself_are_no_pages(finished):
    finished(files=[("_static/webpack-macros.html", "<script>steal()</script>")], a="a")
    assert not list(finished.folder.rglob("*macros*"))


def test_what_is_folded_opens_without_scripts(finished):
    page = finished(
        a='<div class="admonition dropdown"><p class="admonition-title">Answer</p><p>42</p></div>'
        '<div class="admonition"><p class="admonition-title">Note</p></div>'
    )["a"]
    assert page.details.summary.string == "Answer" and page.details.find_all("p")[-1].string == "42"
    assert len(page.select("details")) == 1 and page.select_one("div.admonition")


def test_cards_of_the_page_of_all_cards_wait(finished):
    card = '<div class="card" data-card="x"><p>Front</p><p>Back</p></div>'
    page = finished(a=f'<div data-study="review">{card}</div>{card}')["a"]
    waiting, shown = page.select(".card")
    assert [part.name for part in waiting.find_all(recursive=False)] == [
        "noscript"
    ] and "Back" in waiting.noscript.decode_contents()
    assert [part.name for part in shown.find_all(recursive=False)] == ["p", "p"]
    early = (finished.folder / page.select_one("script:not([type])")["src"]).read_text()
    assert early.endswith("openStore();") and not list(finished.folder.rglob("ahead*"))


def test_what_the_theme_brings_for_others_goes(finished):
    page = finished(
        a='<!-- a word of the theme --><script>const THEBE_JS_URL = "x"</script>'
        '<div id="ethical-ad-placement"></div>'
        '<script src="_static/scripts/fontawesome.js"></script>'
        '<link href="_static/sphinx-design.min.css" rel="stylesheet"/>'
        '<script type="application/vnd.jupyter.widget-state+json">{}</script><p>kept</p>'
    )["a"]
    text = str(page)
    assert page.p.string == "kept" and not any(
        word in text
        for word in (
            "a word of the theme",
            "THEBE",
            "ethical",
            "fontawesome",
            "design",
            "widget-state",
        )
    )


def test_tabs_keep_their_sheet(finished):
    files = [("_static/sphinx-design.min.css", ".sd-tab-set{color:red}")]
    page = finished(
        files=files,
        a='<div class="sd-tab-set"></div><link href="_static/sphinx-design.min.css" '
        'rel="stylesheet"/>',
        b="b",
    )["a"]
    assert page.select_one('link[href*="sphinx-design"]')


def test_a_tag_that_stands_twice_is_kept_once(finished):
    page = finished(
        a='<meta name="viewport" content="a"/><meta name="viewport" content="b"/>', b="b"
    )["a"]
    assert [tag["content"] for tag in page.select('meta[name="viewport"]')] == ["a"]


MENU = (
    '<div class="dropdown-download-buttons"><button type="button" aria-expanded="false">↓</button>'
    '<ul class="dropdown-menu"><li><a class="btn-download-source-button" href="_sources/a.md">'
    '<span class="btn__text-container">.md</span></a></li></ul></div>'
)


def test_a_notebook_is_offered_where_one_was_made(finished, tmp_path):
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "a.ipynb").write_text('{"cells": []}')
    pages = finished(
        files=[("_sources/a.md", "# a")],
        notebooks=tmp_path / "notebooks",
        a=MENU,
        b=MENU,
        c="no menu",
    )
    first, second = pages["a"].select("a[href]")[:2]
    assert (first["href"], first.text, first.has_attr("download")) == (
        "_sources/a.ipynb",
        "Notebook (.ipynb)",
        True,
    )
    assert (second["href"], second.text) == ("_sources/a.md", "Its source (.md)")
    assert (finished.folder / "_sources/a.ipynb").read_text() == '{"cells": []}'
    assert [link.text for link in pages["b"].select("a[href]")] == ["Its source (.md)"]
    assert pages["a"].select_one("details > summary").text == "↓"  # opens with scripts and without


STOPS = "import sys; sys.exit('nothing works today')"


def test_a_typesetter_that_stops_says_why(finished):
    with pytest.raises(FinishError, match=r"typeset\.mjs .*nothing works today"):
        finished(node=[sys.executable, "-c", STOPS], a="a")


def test_a_bundler_that_stops_leaves_the_files(tmp_path):
    (tmp_path / "a.css").write_text("p {}")
    assert (
        asset_bundle.bundle(tmp_path, ["a.css"], [sys.executable, "-c", STOPS], tmp_path)
        == "nothing works today"
    )
    assert (
        asset_bundle.bundle(
            tmp_path, ["a.css"], [sys.executable, "-c", "raise SystemExit(1)"], tmp_path
        )
        == "no reason given"
    )
    assert (tmp_path / "a.css").exists()


def test_a_bundler_that_stops_ends_the_build(finished, monkeypatch):
    monkeypatch.setattr(asset_bundle, "bundle", lambda *job: "esbuild is not there")
    with pytest.raises(FinishError, match=r"asset_bundle\.mjs .*esbuild is not there"):
        finished(a="a")
    assert not finished.folder.exists()  # no half-finished site takes the place of the last one
