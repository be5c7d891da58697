"""Tests that the browser computes and draws the book's scenes as Python does.

They are compared shape for shape.
"""

from __future__ import annotations

import importlib
import pkgutil
import random
import re
import shutil
from copy import copy
from urllib.parse import urlencode

import pytest

import handful_explorers
from handful_explorers.plotting import figure, scenes
from handful_explorers.plotting.explorer import Explorer
from handful_site import build

pytestmark = pytest.mark.browser

READ = """(svg) => [...svg.querySelectorAll("rect, line, path, circle, text")]
  .filter((n) => n.getAttribute("display") !== "none").map((n) => ({
  t: n.tagName, c: (n.getAttribute("class") || "").replaceAll("sc-", ""),
  s: n.textContent, a: n.getAttribute("text-anchor"),
  n: n.tagName === "path" ? n.getAttribute("d").match(/-?[\\d.]+(e-?\\d+)?/g).map(Number)
    : ["x", "y", "width", "height", "x1", "y1", "x2", "y2", "cx", "cy", "r"]
      .filter((k) => n.hasAttribute(k)).map((k) => Number(n.getAttribute(k))) }))"""


def declared() -> dict[str, Explorer]:
    """Every scene that a module of explorers declares."""
    found = {}
    for module in pkgutil.iter_modules(handful_explorers.__path__):
        for thing in vars(importlib.import_module(f"handful_explorers.{module.name}")).values():
            if isinstance(thing, Explorer) and thing.scene:
                found[thing.name] = thing
    return found


def states(explorer: Explorer) -> list[dict]:
    """Return the state as declared, each preset, and some states at random."""
    chance, found = random.Random(7), [{}, *(dict(p.set) for p in explorer.presets)]
    for _ in range(4):
        state = {}
        for control in explorer.controls:
            kind = control.kind()
            if kind == "check":
                state[control.name] = chance.random() < 0.5
            elif kind == "choice":
                state[control.name] = chance.choice([value for _, value in control.options()])
            else:
                low, high = control.ends()
                value = (
                    low * (high / low) ** chance.random()
                    if kind == "log"
                    else chance.uniform(low, high)
                )
                state[control.name] = round(value) if kind == "int" else float(f"{value:.3g}")
        found.append(state)
    # A precision that a chip lacks, or a chip of its own, is the scenario's business and tested
    # there.
    return [s for s in found if not set(s) & {"hardware", "model", "precision"}]


def numbers(shape: dict) -> list[float]:
    if shape["t"] == "path":
        return [x for point in shape["p"] for x in point] or [0, 0]
    if shape["t"] == "rect":
        return [shape["x"], shape["y"], max(shape["w"], 0), max(shape["h"], 0)]
    return [shape[k] for k in ("x", "y", "x1", "y1", "x2", "y2", "r") if k in shape]


def near(ours: list[float], theirs: list[float]) -> bool:
    """Return whether two lists of numbers are nearly equal.

    This is done by hand: there are tens of thousands of shapes, and pytest.approx takes a while for
    each.
    """
    return len(ours) == len(theirs) and all(
        abs(a - b) <= 0.02 for a, b in zip(ours, theirs, strict=True)
    )


def flat(text: str) -> str:
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize("name", sorted(declared()))
def test_a_scene_is_the_same_in_both(name, module_server, shared, monkeypatch):
    """All states on one page: a copy of the explorer for each, which the address sets."""
    # The still drawing that a script replaces is looked at elsewhere, and takes matplotlib a
    # second.
    monkeypatch.setattr(
        figure, "inline_svg", lambda one: '<svg viewBox="0 0 720 420" aria-hidden="true"></svg>'
    )
    explorer, copies = declared()[name], []
    for place, state in enumerate(states(explorer)):
        copies.append((copy(explorer), state))
        copies[-1][0].name = f"{name}-{place}"
    build.bundle()
    folder, address = module_server
    for file in ("handful.js", "handful.css", "favicon.svg"):
        shutil.copy(build.SCRIPTS / file, folder / file)
    (folder / "index.html").write_text(
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>scene</title>'
        '<link rel="icon" href="favicon.svg">'
        '<link rel="stylesheet" href="handful.css"><script type="module" src="handful.js">'
        "</script></head>"
        f"<body><main><article>{''.join(one.html() for one, _ in copies)}</article></main></body>"
        "</html>",
        "utf-8",
    )
    tab = shared(width=900, reduced_motion="reduce")
    page = tab.open(
        f"{address}?"
        + urlencode(
            [
                (f"e.{one.name}.{key}", int(value) if isinstance(value, bool) else value)
                for one, state in copies
                for key, value in state.items()
            ]
        )
    )
    for one, state in copies:
        node = page.locator(f"#explorer-{one.name}")
        node.scroll_into_view_if_needed()
        node.locator(".ex .ex-words:not(:empty)").wait_for()
        assert node.locator(".ex-notice").is_hidden(), node.locator(".ex-notice").inner_text()
        assert flat(node.locator(".ex-words").inner_text()) == flat(explorer.alt_text(**state)), (
            state
        )
        node.locator(".ex summary").click()
        node.locator(".ex-data tbody tr").first.wait_for()
        found = node.locator(".ex-data tr").evaluate_all(
            "(rows) => rows.map((r) => [...r.cells].map((c) => c.textContent))"
        )
        head, rows = explorer.table(**state)
        assert found == [head, *rows], state
        module, values = scenes.find(explorer.kind), explorer.values(**state)
        width = node.locator(".ex-svg").evaluate("(svg) => svg.viewBox.baseVal.width")
        drawn, wanted = node.locator(".ex-svg").evaluate(READ), module.picture(values, width)[1]
        assert [shape["t"] for shape in drawn] == [shape["t"] for shape in wanted], state
        for got, want in zip(drawn, wanted, strict=True):
            assert got["c"] == want["c"] and near(numbers(want), got["n"]), (got, want, state)
            assert want["t"] != "text" or (got["s"], got["a"]) == (want["s"], want["a"]), (
                got,
                want,
                state,
            )
        texts = flat(node.locator(".ex-values").inner_text())
        for label, text, _ in module.readouts(values):
            assert flat(label) in texts and flat(text) in texts, (label, text, texts)
    assert tab.faults == []
