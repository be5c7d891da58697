"""Tests of the universal sentences of the chapters.

Each carries a condition, or an argument why it holds whatever the reader chooses.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ARGUED = tomllib.loads((ROOT / "tests" / "data" / "universals.toml").read_text("utf-8"))
PAGES = (
    "index",
    "latency-and-cost",
    "balance-batch",
    "experts-on-racks",
    "pipelining",
    "why-pipelining-is-not-wise",
    "over-training",
    "reading-api-prices",
    "memory-tiers",
    "ciphers-and-networks",
    "your-model",
)
NOUN = (
    r"(?:chip|machine|model|batch|batche|length|context|price|precision|budget|seller|maker|list"
    r"|tier|load|depth)s?"
)
UNIVERSAL = re.compile(
    rf"""\b(
    always | never | nowhere | everywhere | for\ ever | nobody | none | whatever
    | (?:no|any|every|all|most)(?:\ other|\ single|\ published|\ larger)?\ {NOUN}
    | (?:is|are|was|were|has|have)\ the\ (?:\w+est|most\ \w+|least\ \w+|best|worst|only)
    | of\ all(?=\ is|\.)
)\b""",
    re.X | re.I,
)
FENCE = re.compile(r"^```\{code-cell\}.*?^```$", re.S | re.M)
CONDITIONED = re.compile(
    r"^(:{3,})\{where\}.*?^\1$|\{(?:where|always)\}(`{2,}).+?\2(?!`)", re.S | re.M
)


def universals(text: str) -> list[str]:
    """Return the lines of a chapter that say something of all cases.

    Those that stand under a condition are left out.
    """
    for pattern in (FENCE, CONDITIONED):
        text = pattern.sub(lambda match: "\n" * match[0].count("\n"), text)
    return [line.strip() for line in text.split("\n") if UNIVERSAL.search(line)]


@pytest.mark.parametrize("page", PAGES)
def test_a_universal_sentence_is_argued(page):
    lines = universals((ROOT / "book" / f"{page}.md").read_text("utf-8"))
    left = [line for line in lines if not any(words in line for words in ARGUED.get(page, {}))]
    assert not left, (
        f"{page}.md says of all cases, without a condition ({{where}}, {{always}}) or a line in "
        f"tests/data/universals.toml: {left[0]!r}, and {len(left) - 1} more"
    )


@pytest.mark.parametrize("page", PAGES)
def test_no_argument_outlives_its_sentence(page):
    lines = universals((ROOT / "book" / f"{page}.md").read_text("utf-8"))
    for words, because in ARGUED.get(page, {}).items():
        assert sum(words in line for line in lines) == 1, (
            f"{page}: {words!r} stands in {sum(words in line for line in lines)} such sentences"
        )
        assert len(because.split()) >= 3, f"{page}: {words!r} is not argued"


def test_a_test_that_is_named_exists():
    for page, entries in ARGUED.items():
        assert page in PAGES
        for words, because in entries.items():
            for module, name in re.findall(r"(test_\w+)\.(test_\w+)", because):
                texts = [path.read_text("utf-8") for path in ROOT.glob(f"tests/*/{module}.py")]
                assert any(f"def {name}(" in text for text in texts), (
                    f"{page}: {words!r} rests on {module}.{name}, which is gone"
                )


@pytest.mark.parametrize(
    "line, universal",
    [
        ("No batch is large enough.", True),
        ("It is the cheapest of them.", True),
        ("It never falls.", True),
        ("Every machine waits.", True),
        ("No published model is on the line.", True),
        ("At a batch of 64 it falls.", False),
        ("A chip waits.", False),
        ("{always}``cost_floor > 0 | It never falls``.", False),
        (":::{where} context > 0\nNo batch is large enough.\n:::", False),
    ],
)
def test_what_counts_as_universal(line, universal):
    assert bool(universals(line)) is universal
