"""The built scripts hold nothing that a browser of those that the book promises cannot read.

Older browsers refuse a whole script for one pattern or one word of syntax that they do not know.
"""

from __future__ import annotations

import json
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from handful_site import bootstrap
from handful_site.build import ROOT, SITE

# What one of Chrome 100, Firefox 100 and Safari 15.4 lacks and scripts of our kind might call; tsc
# refuses the language's own that came after ES2022.
NEWER = (
    r"\.(?:checkVisibility|findLast|findLastIndex|toSorted|toReversed|toSpliced|groupBy|"
    r"withResolvers|fromAsync|isWellFormed|toWellFormed|canParse|startViewTransition|showPicker|"
    r"showPopover|hidePopover|togglePopover|moveBefore|setHTML|requestIdleCallback|"
    r"isSubsetOf|isSupersetOf|isDisjointFrom|symmetricDifference)\("
    r"|AbortSignal\.(?:any|timeout)\(|\bnew (?:OffscreenCanvas|CompressionStream|"
    r"DecompressionStream|Highlight|CloseWatcher|Intl\.Segmenter)\b|CSS\.highlights\."
    r"|RegExp\.escape\(|Promise\.try\(|\.inert="
)
# Asked for before it is called, where the source says what stands in for it.
ASKED_FOR = {
    ".checkVisibility(": '"checkVisibility"in',
    "new Highlight": "CSS.highlights",
    "CSS.highlights.": "CSS.highlights",
}


@cache
def scripts() -> tuple[Path, ...]:
    return (*sorted((SITE / "_static/handful").rglob("*.js")), SITE / "sw.js")


def faults(text: str) -> list[str]:
    """Return what of a script stops an older browser."""
    found = re.findall(r"\(\?<[=!]", text)
    found += [
        one for one in re.findall(NEWER, text) if one not in ASKED_FOR or ASKED_FOR[one] not in text
    ]
    return found


def test_the_promise_is_what_scripts_are_made_for():
    promised = (ROOT / "lib/handful_site/promised.mjs").read_text("utf-8")
    said = (ROOT / "book/about.md").read_text("utf-8")
    for name in ("Chrome", "Firefox", "Safari"):
        version = re.search(rf"{name} ([\d.]*\d)", said)[1]
        assert f'"{name.lower()}{version}"' in promised


def test_no_script_holds_newer_syntax():
    assert len(scripts()) > 12
    done = subprocess.run(
        [*bootstrap.node_command(), "tests/book/newer.mjs", *map(str, scripts())],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == []


def test_no_script_holds_a_newer_pattern_or_call():
    found = {path.name: faults(path.read_text("utf-8")) for path in scripts()}
    assert {name: all_ for name, all_ in found.items() if all_} == {}


@pytest.mark.parametrize(
    "text, count",
    [
        ("a.replace(new RegExp(`(?<=[0-9])${one}`),'')", 1),
        ("list.toSorted()", 1),
        ("place.checkVisibility()", 1),
        ('"checkVisibility"in Element.prototype&&place.checkVisibility()', 0),
        ("place.checkVisibility?.()", 0),
        ("/(?<year>[0-9]+)/", 0),
    ],
)
def test_the_check_notices(text, count):
    assert len(faults(text)) == count
