"""The finish on small pages: what it changes, and what it refuses."""

from __future__ import annotations

import json
import re
import sys

import pytest
from bs4 import BeautifulSoup

from handful_site import asset_bundle, book_files, bootstrap
from handful_site.postprocess import FinishError, finish

PAGE = (
    '<!doctype html><html><head><meta charset="utf-8"/><title>a</title>'
    '<link rel="stylesheet" href="_static/site.css"/>'
    '<script src="_static/handful/color_mode_init.js"></script></head><body>{}</body></html>'
)


def plain(address: str) -> str:
    """Return an address without the mark that changes with the file's contents."""
    return re.sub(r"\.[0-9a-f]{8}(?=\.\w+$)", "", address)


@pytest.fixture
def finished(tmp_path, monkeypatch):
    """Finish pages given as body markup; returns their soups."""
    monkeypatch.setattr(
        book_files, "current", lambda: []
    )  # whatever editions lie in this working tree

    def run(files=(), node=None, notebooks=None, **bodies) -> dict[str, BeautifulSoup]:
        """`files` are others that Sphinx wrote: pairs of path and text."""
        raw, scripts = tmp_path / "raw", tmp_path / "js"
        (raw / "_static").mkdir(parents=True)
        (scripts / "katex").mkdir(parents=True)
        for name in ("handful.js", "color_mode_init.js", "handful.css", "katex/katex.css"):
            (scripts / name).write_text("")
        for name, body in bodies.items():
            (raw / f"{name}.html").write_text(PAGE.format(body))
        for name in ("pygments.css", "doctools.js"):
            (raw / "_static" / name).write_text("not ours")
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
        "<svg><style>* { fill: none }</style></svg>"
    )["a"]
    assert not page.select("[style], style") and not page.find_all("script", src=False)
    first, second = page.select("p")
    assert first["class"][0] == "x" and first["class"][1] == second["class"][0]
    sheet = (finished.only("_static/site.*.css")).read_text()
    assert f".{second['class'][0]}:not(#_){{color:red}}" in sheet and "*{fill:none}" in sheet


def test_nothing_of_other_packages_reaches_the_site(finished):
    page = finished(a="<!-- a word of Sphinx --><p>kept</p>")["a"]
    assert "a word of Sphinx" not in str(page)
    assert {path.name.split(".")[0] for path in finished.folder.rglob("*.js")} == {
        "handful",
        "color_mode_init",
        "sw",
    }
    assert "not ours" not in finished.only("_static/site.*.css").read_text()


@pytest.mark.parametrize("tag", ["script", "style"])
def test_what_stands_within_the_text_is_refused(finished, tag):
    with pytest.raises(FinishError, match=rf"a\.html: .*{tag}"):
        finished(a=f"<article><section><{tag}>let a = 1</{tag}></section></article>")


@pytest.mark.parametrize(
    "markup",
    [
        '<img src="https://example.org/a.png"/>',
        '<img src="data:image/png;base64,AA"/>',
        '<link rel="preload" href="//example.org/a.js"/>',
    ],
)
def test_what_lies_elsewhere_is_refused(finished, markup):
    with pytest.raises(FinishError, match=r"a\.html: <(img|link)> asks for"):
        finished(a=markup)


def test_a_script_within_a_tag_is_refused(finished):
    with pytest.raises(FinishError, match="onmouseover"):
        finished(a='<p onmouseover="steal()">a</p>')


def test_a_bare_widget_is_refused(finished):
    with pytest.raises(FinishError, match="bare widget"):
        finished(a='<script type="application/vnd.jupyter.widget-view+json">{}</script>')


def test_a_page_in_a_folder_finds_what_it_needs(finished):
    deep = PAGE.format('<p style="color: red">a</p>').replace("_static/", "../_static/")
    page = finished(files=[("part/one.html", deep)], a="a")["part/one"]
    addresses = [tag.get("src") or tag["href"] for tag in page.select("script, link")]
    assert [plain(address) for address in addresses] == [
        "../_static/site.css",
        "../_static/handful/color_mode_init.js",
    ]
    assert all((finished.folder / "part" / address).exists() for address in addresses)


def test_a_redirect_without_a_head_becomes_a_page(finished):
    """Jupyter Book writes a lone tag for a book whose root has another name."""
    page = finished(
        files=[("index.html", '<meta http-equiv="Refresh" content="0; url=a.html" />\n')], a="a"
    )["index"]
    assert page.html["lang"] == "en" and page.title.string == "A Handful of Equations"
    assert page.head.find("meta", attrs={"http-equiv": "Refresh"})["content"] == "0; url=a.html"


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


STOPS = "import sys; sys.exit('nothing works today')"


def test_a_typesetter_that_stops_says_why(finished):
    with pytest.raises(FinishError, match=r"typeset\.mjs .*nothing works today"):
        finished(node=[sys.executable, "-c", STOPS], a="a")


def test_a_bundler_that_stops_leaves_the_files(tmp_path):
    (tmp_path / "handful").mkdir()
    (tmp_path / "handful" / "a.css").write_text("p {}")
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
    assert (tmp_path / "handful" / "a.css").exists()


def test_a_bundler_that_stops_ends_the_build(finished, monkeypatch):
    monkeypatch.setattr(asset_bundle, "bundle", lambda *job: "esbuild is not there")
    with pytest.raises(FinishError, match=r"asset_bundle\.mjs .*esbuild is not there"):
        finished(a="a")
    assert not finished.folder.exists()  # no half-finished site takes the place of the last one
