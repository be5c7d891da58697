"""Cells that only name a formula: the equation is on the page, and their code with Python only."""

from __future__ import annotations

import ast
import builtins
import json
import re

from conftest import ROOT
from handful_site.build import NOTEBOOKS, SITE
from handful_site.formula_cells import only_names
from soup import soup

CODE = "div.cell .cell_input"
CELL = r"```\{code-cell\} ipython3\n((?::[^\n]*\n)*)(.*?)```"
PAGES = [path for path in sorted(SITE.glob("*.html")) if "cell_input" in path.read_text("utf-8")]


def sources(selector: str) -> dict[str, list[str]]:
    """Return the code of cells that a selector finds, by page."""
    return {
        path.stem: [box.get_text() for box in soup(path.name).select(selector)] for path in PAGES
    }


def test_a_rule_decides_what_is_hidden_in_every_chapter():
    hidden, shown = sources(f"{CODE}[hidden]"), sources(f"{CODE}:not([hidden])")
    assert [code for codes in hidden.values() for code in codes if not only_names(code)] == []
    assert [code for codes in shown.values() for code in codes if only_names(code)] == []
    written = [
        code
        for path in (ROOT / "book").glob("*.md")
        for tags, code in re.findall(CELL, path.read_text("utf-8"), flags=re.DOTALL)
        if "remove-input" not in tags and only_names(code)
    ]
    assert sum(map(len, hidden.values())) == len(written)
    assert written
    assert sum(map(len, shown.values())) >= 1, "code that teaches stays"


def test_what_is_hidden_leaves_its_equation():
    for path in PAGES:
        for code in soup(path.name).select(f"{CODE}[hidden]"):
            assert code.find_parent("div", class_="cell").select_one(".cell_output .katex"), code


def test_code_that_is_shown_needs_nothing_that_is_hidden():
    for page, codes in sources(f"{CODE}:not([hidden])").items():
        known = set(dir(builtins))
        for code in codes:
            names = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)]
            known |= {node.id for node in names if isinstance(node.ctx, ast.Store)}
            for node in ast.walk(ast.parse(code)):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    known |= {alias.asname or alias.name for alias in node.names}
                elif isinstance(node, ast.Lambda):
                    known |= {argument.arg for argument in node.args.args}
            assert {node.id for node in names} <= known, f"{page}: {code}"


def test_notebooks_have_all_of_it():
    for page, codes in sources(CODE).items():
        cells = json.loads((NOTEBOOKS / f"{page}.ipynb").read_text("utf-8"))["cells"]
        text = "\n".join("".join(cell["source"]) for cell in cells)
        assert [code for code in codes if code.strip() not in text] == [], page


def test_hidden_code_is_no_stop_and_is_not_read(site, shared):
    page = shared().open(site + "latency-and-cost.html")
    code = page.locator(f"{CODE}[hidden]").first
    code.wait_for(state="attached")
    assert "latency.batch_from_price" in code.text_content()
    assert not page.evaluate(
        "[...document.querySelectorAll('.names-formula, .names-formula *')]"
        ".some((node) => node.getClientRects().length)"
    )
    assert "latency.batch_from_price" not in page.locator("article").inner_text()
    assert "latency.batch_from_price" not in page.locator("article").aria_snapshot()
    assert page.locator(".cell_output .katex").first.is_visible()
