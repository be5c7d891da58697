"""The finish on small pages: what it changes, and what it refuses."""

from __future__ import annotations

import json

import pytest
from bs4 import BeautifulSoup

from handful.page import bootstrap
from handful.page.finish import POLICY, FinishError, finish

PAGE = ('<!doctype html><html><head><meta charset="utf-8"/><title>a</title>'
        '<link rel="stylesheet" href="_static/a.css"/><script src="_static/all.js"></script></head><body>{}</body></html>')


@pytest.fixture
def finished(tmp_path):
    """Finish pages given as body markup; returns their soups."""
    def run(**bodies) -> dict[str, BeautifulSoup]:
        raw, scripts = tmp_path / "raw", tmp_path / "js"
        (raw / "_static" / "vendor/fontawesome/webfonts").mkdir(parents=True)
        (scripts / "katex").mkdir(parents=True)
        for name in ("handful.js", "handful.css", "katex/katex.css"):
            (scripts / name).write_text("")
        for name, body in bodies.items():
            (raw / f"{name}.html").write_text(PAGE.format(body))
        (raw / "_static" / "a.css").write_text(
            '.never{color:red}a{background:url("data:image/svg+xml;charset=utf-8,%3Csvg/%3E")}')
        for name in ("all.js", "only.js"):
            (raw / "_static" / name).write_text(f"let {name[:-3]} = 1;")
        pages = finish(raw, tmp_path / "site", scripts, bootstrap.node_command(), bootstrap.ROOT)
        assert pages == sorted(f"{name}.html" for name in bodies)
        return {name: BeautifulSoup((tmp_path / "site" / f"{name}.html").read_text(), "html.parser") for name in bodies}

    run.folder = tmp_path / "site"
    return run


def test_maths_is_set_everywhere(finished):
    page = finished(a=r'<span class="math" data-tex="a^2">a^2</span><div class="math" data-tex="\frac12">x</div>'
                      '<template id="t"><span class="math" data-tex="b">b</span></template>'
                      '<script type="application/json" class="explorer-spec">{"latex":"c_1<2","x":1}</script>')["a"]
    assert page.select_one("span.math > .katex math") and page.select_one("div.math > .katex-display")
    assert page.template.find(class_="katex")
    data = json.loads(page.select_one(".explorer-spec").string)
    assert BeautifulSoup(data["latex_html"], "html.parser").select_one(".katex math") and data["x"] == 1


def test_bad_maths_names_page_and_formula(finished):
    with pytest.raises(FinishError, match=r"(?s)b\.html.*Undefined control sequence.*\\nonsense"):
        finished(a='<span class="math" data-tex="a">a</span>', b=r'<span class="math" data-tex="\nonsense">a</span>')


def test_nothing_inline_is_left(finished):
    page = finished(a='<p class="x" style="color: red;">a</p><p style="color: red">b</p><script>let a = 1</script>'
                      '<button onclick="window.print()">p</button><style>p { margin: 0 }</style>'
                      '<svg><style>* { fill: none }</style></svg>')["a"]
    assert not page.select("[style], style, [onclick]") and not page.find_all("script", src=False)
    first, second = page.select("p")
    assert first["class"][0] == "x" and first["class"][1] == second["class"][0]
    assert page.button["data-do"] == "print"
    sheet = (finished.folder / "_static/site.css").read_text()
    assert f".{second['class'][0]}:not(#_){{color:red}}" in sheet and "*{fill:none}" in sheet
    assert (finished.folder / "_static/theme.js").read_text() == "let all=1,a=1;\n"


def test_every_page_asks_for_one_sheet_and_one_script(finished):
    pages = finished(a='<a class="used">a</a><script src="_static/only.js"></script>', b="<p>b</p>")
    for page in pages.values():
        sheets = page.select('link[rel="stylesheet"]')
        assert [tag["href"].partition("?v=")[0] for tag in sheets] == ["_static/site.css"]
        assert page.select_one("script[type=module]")["src"].startswith("_static/handful/handful.js?v=")
    # What one page alone loads stays with it, after the theme's script, on which it may build.
    waiting = [tag["src"].partition("?v=")[0] for tag in pages["a"].select("script[defer]")]
    assert waiting == ["_static/theme.js", "_static/only.js"]
    assert not pages["b"].select("script[defer]") and pages["b"].select_one("link#theme-script[rel=preload]")


def test_rules_that_match_nothing_are_left_out(finished):
    finished(a='<a class="used">a</a>')
    assert "never" not in (finished.folder / "_static/site.css").read_text()


def test_the_policy_comes_before_everything_it_governs(finished):
    head = finished(a="a")["a"].head
    policy = head.select_one('meta[http-equiv="Content-Security-Policy"]')
    assert policy["content"] == POLICY
    assert not policy.find_previous_siblings(["script", "link", "style"])


@pytest.mark.parametrize("markup", ['<img src="https://example.org/a.png"/>', '<img src="data:image/png;base64,AA"/>',
                                    '<script src="//example.org/a.js"></script>'])
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
    sheet = (finished.folder / "_static/site.css").read_text()
    assert "data:" not in sheet
    assert [path.read_text() for path in (finished.folder / "_static/files").iterdir()] == ["<svg/>"]
