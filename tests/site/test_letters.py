"""Tests of the marks that letters of equations get for the site."""

from __future__ import annotations

import re

import pytest
from bs4 import BeautifulSoup

from handful.query import registry
from handful.symbolic.quantities import table
from handful_site import letters
from handful_site.postprocess import STYLE

LOSSES = ["validation_loss", "loss_floor"]  # whose difference has a name too
MARK = re.compile(r"\\htmlData\{letter=(\w+),n=(\d+)\}")


def marked(tex: str) -> list[str]:
    return [name for name, _ in MARK.findall(letters.mark(tex))]


def without(tex: str) -> str:
    """Return marked LaTeX without its marks."""
    while found := MARK.search(tex):
        depth, end = 0, found.end()
        for end in range(found.end(), len(tex)):
            depth += {"{": 1, "}": -1}.get(tex[end], 0)
            if depth == 0:
                break
        tex = tex[: found.start()] + tex[found.end() + 1 : end] + tex[end + 1 :]
    return tex


def test_no_two_quantities_share_a_letter():
    """Otherwise an equation's letter would be the wrong quantity's."""
    assert len(letters._letters()) == sum(" - " not in q.latex for q in table.values())


@pytest.mark.parametrize("formula", registry().values(), ids=lambda one: one.name)
def test_the_letters_of_a_formula_are_its_symbols_and_nothing_else_changes(formula):
    tex, difference = formula.latex(), " - " in formula.gives.latex
    symbols = {q for q in table.values() if q.symbol in formula.expression.free_symbols}
    assert without(letters.mark(tex)) == tex
    given = marked(formula.gives.latex) if difference else [formula.gives.name]
    seen = set(marked(tex)) - set(given)
    # A printed default, such as that of a window, goes where what it limits is left out.
    assert {q.name for q in symbols if q.default is None} - set(given) <= seen
    assert seen <= {q.name for q in symbols if q.default is None or q.printed}


@pytest.mark.parametrize(
    ("tex", "names"),
    [
        (r"N_{\mathrm{total}} N^{*}", ["total_parameters", "compute_optimal_parameters"]),
        (r"t_{\mathrm{KV}}^{2}", ["kv_time"]),
        (r"\frac{L^{B}}{n}", ["context", "batch", "devices"]),
        (r"x_{B} \mathrm{B} \text{B} \operatorname{B} \left(", []),
        (r"\,\mathrm{BW}\, (\ell - \ell_{\infty})", ["memory_bandwidth", *LOSSES]),
    ],
)
def test_letters_with_subscripts_are_one_and_words_are_none(tex, names):
    assert marked(tex) == names


def test_letters_are_numbered_as_they_are_read():
    numbers = [int(n) for _, n in MARK.findall(letters.mark(r"\frac{L^{B}}{n} + B"))]
    assert numbers == [0, 1, 2, 3]


def test_only_what_cells_show_is_marked():
    soup = BeautifulSoup(
        '<p><span class="math" data-tex="B">B</span></p><div class="math" data-tex="B">B</div>'
        '<div class="derivation"><div class="math" data-tex="B = 2">B</div></div>',
        "html.parser",
    )
    letters.mark_page(soup)
    assert [tag["data-tex"] for tag in soup.select("[data-tex]")] == [
        "B",
        "B",
        r"\htmlData{letter=batch,n=0}{B }= 2",
    ]
    assert len(soup.select(".lettered")) == 1 and not STYLE.search(str(soup))
