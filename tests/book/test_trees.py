"""What a screen reader is told of each kind of page and explorer, beside what is stored of it.

``make trees`` writes tests/data/accessibility/ anew; the difference is then read as a blind reader
would hear it.  Of a page its skeleton is stored: landmarks, headings and controls, of like things
the first three.  Of an explorer all is stored.  Each number is a #, so that facts may change.
"""

from __future__ import annotations

import os
import re

import pytest

from browsers import KINDS
from conftest import ROOT

FOLDER = ROOT / "tests" / "data" / "accessibility"
PAGES = {
    "front-page": "index",
    "chapter": "latency-and-cost",
    **{name: name for name in ("claims", "glossary", "notation", "practice", "review", "progress")},
    **{name: name for name in ("your-model", "teaching")},
    "search": "index",
}
FIGURES = {
    **{kind: (page, f"#{name}") for kind, (page, name) in KINDS.items()},
    "schematic": ("latency-and-cost.html", "#schematic-decode-step"),
}
CONTROLS = {"button", "checkbox", "combobox", "link", "radio", "searchbox", "slider", "textbox"}
NAMED = CONTROLS | {"dialog", "figure", "form", "group", "img", "navigation", "region", "table"}
KEPT = NAMED - {"link"} | {
    *("alert", "article", "banner", "complementary", "contentinfo", "heading", "listbox", "main"),
    *("progressbar", "radiogroup", "search", "status"),
}
# Browsers tell of a summary as of a button; Playwright tells of a group with no name.
SUMMARIES = """() => { for (const one of document.querySelectorAll("summary")) {
  one.role = "button"; one.ariaExpanded = one.parentElement.open;
  one.parentElement.role = "generic"; } }"""

PROBLEMS = """() => [...document.querySelectorAll("[data-problem]")]
  .every((one) => one.querySelector(".problem-tools"))"""

Node = tuple[str, list["Node"]]  # "button "Reset"", and what is within


def role(node: Node) -> str:
    return re.match(r"[\w/]*", node[0])[0]


def name(node: Node) -> str:
    return (re.findall(r'"((?:[^"\\]|\\.)*)"', node[0]) or [""])[0]


def tree(text: str) -> list[Node]:
    """Return the nodes of a snapshot of Playwright's."""
    nodes: list[Node] = []
    ways = [(-1, nodes)]
    for line in text.split("\n"):
        depth = line.index("-")
        while ways[-1][0] >= depth:
            ways.pop()
        said = line[depth + 2 :].removesuffix(":")
        if quoted := re.fullmatch(r"'((?:[^']|'')*)'(.*)", said):
            said = quoted[1].replace("''", "'") + quoted[2]
        if said.startswith("img"):  # whose words are part of the picture
            said = f'img "{name((said, []))}"'
        ways[-1][1].append((said, []))
        ways.append((depth, ways[-1][1][-1][1]))
    return nodes


def shape(node: Node) -> tuple:
    return role(node), *map(shape, node[1])


def skeleton(nodes: list[Node], links: bool = True, few: bool = False) -> list[Node]:
    """Return landmarks, headings and controls.

    Of links those outside of the text (`links`), and the first three of a list; in the text the
    first three of all that is alike (`few`), but every field of a form.
    """
    found: list[Node] = []
    for node in nodes:
        line, within = node
        kind = role(node)
        deeper = links and kind != "article", (few or kind == "article") and kind != "form"
        within = [] if kind == "figure" else skeleton(within, *deeper)
        if kind == "heading":
            within = [one for one in within if role(one) != "link"]
        if kind in KEPT or (links and kind == "link"):
            found.append((line if kind in NAMED | {"heading"} else line.split(": ")[0], within))
        else:
            found += within
    kept: list[Node] = []
    for node in found:
        like = sum(shape(one) == shape(node) for one in kept)
        plain = role(node) == "heading" and not node[1]
        if like < 3 or plain or not (few or role(node) == "link"):
            kept.append(node)
    return kept


def text(nodes: list[Node], depth: int = 0) -> str:
    """Return a line for each node; addresses are left out, and each number is a #."""
    lines = ""
    for line, within in nodes:
        if role((line, [])) == "generic":
            lines += text(within, depth)
        elif not line.startswith("/"):
            line = re.sub(r"(?<!level=)(?<!\d)\d(?:[\d.,]*\d)?", "#", line)
            lines += "  " * depth + line + "\n" + text(within, depth + 1)
    return lines


def faults(nodes: list[Node], above: str = "") -> list[str]:
    """Return controls and groups with no name, and groups that repeat the name of theirs."""
    found = []
    for node in nodes:
        if role(node) in NAMED and not name(node) and role(node) not in ("figure", "table"):
            found.append(f"no name: {node[0]}")
        if role(node) in ("group", "region", "img", "list") and name(node) and name(node) == above:
            found.append(f"said twice: {node[0]}")
        found += faults(node[1], name(node) if role(node) in NAMED else above)
    return found


def heard(locator) -> list[Node]:
    """Return what a part of the page says, each slider with its value in words."""
    locator.page.evaluate(SUMMARIES)
    values = locator.get_by_role("slider").evaluate_all(
        "(all) => all.map((one) => one.ariaValueText ?? one.value)"
    )
    words = re.sub(
        r"(- '?slider \"(?:[^\"\\]|\\.)*\"[^:\n]*).*",
        lambda found: f"{found[1]}: {values.pop(0)}",
        locator.aria_snapshot(),
    )
    assert values == []
    return tree(words)


def compare(file: str, found: str) -> None:
    path = FOLDER / f"{file}.txt"
    if os.environ.get("REWRITE"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(found, "utf-8")
    assert path.read_text("utf-8") == found, "`make trees` stores what is said now; read it"


@pytest.mark.parametrize("kind", PAGES)
def test_page(kind, site, shared):
    page = shared(reduced_motion="reduce").open(f"{site}{PAGES[kind]}.html")
    if kind == "search":
        page.keyboard.press("Control+k")
        page.locator(".find-input").fill("balance batch")
        page.locator("dialog.find [role=option]").first.wait_for()
    if kind in ("review", "progress"):
        page.locator(".study-stage > *, .study-panel").first.wait_for()
    if kind in ("chapter", "your-model"):
        page.wait_for_function(PROBLEMS)
    nodes = heard(page.locator("body"))
    levels = [int(level) for level in re.findall(r"level=(\d)", text(nodes))]
    assert all(b - a < 2 for a, b in zip([1, *levels], levels, strict=False)), "a level is skipped"
    assert faults(nodes) == []
    kept = skeleton(nodes)
    if kind != "front-page":  # the menu is the same everywhere
        kept = [(line, [] if line == 'navigation "Main"' else within) for line, within in kept]
    compare(kind, text(kept))


@pytest.mark.parametrize("kind", FIGURES)
def test_figure(kind, site, shared):
    page, rule = FIGURES[kind]
    figure = shared(reduced_motion="reduce").open(site + page).locator(rule)
    figure.scroll_into_view_if_needed()
    figure.locator(".ex, .schematic-controls").wait_for()
    nodes = heard(figure)
    assert faults(nodes) == []
    compare(f"explorer-{kind}", text(nodes))
