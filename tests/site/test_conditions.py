"""Tests of sentences whose truth depends on the scenario.

Each condition is asked for every chip, model, precision and context.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from handful import balance, scenario
from handful.query import QueryError
from handful_site.extensions.conditions import Condition

BOOK = Path(__file__).resolve().parents[2] / "book"
CONTEXTS = (0, 128, 2048, 8192, 65_536, 131_072, 1_000_000)
BATCHES = (1, 2, 8, 64, 512, 4096, 65_536)
ROLE = re.compile(r"\{(where|always)\}(`{2,})(.+?)\|(.+?)\2(?!`)", re.S)
DIRECTIVE = re.compile(r"^(?:`{3,}|:{3,})\{(where|always)\} (.+)$", re.M)


def stated() -> list[tuple[str, str, str]]:
    """Return (place, where or always, condition) of every sentence that carries one."""
    found = []
    for path in sorted(BOOK.glob("*.md")):
        text = path.read_text("utf-8")
        for pattern in (ROLE, DIRECTIVE):
            for match in pattern.finditer(text):
                found.append(
                    (
                        f"{path.name}:{text[: match.start()].count(chr(10)) + 1}",
                        match[1],
                        " ".join(match[3 if pattern is ROLE else 2].split()),
                    )
                )
    return found


STATED = stated()


@cache
def choices() -> tuple[dict, ...]:
    """Every chip, model and precision that go together, at every context and batch."""
    rows, found = scenario.page_rows(), []
    for hardware in rows["hardware"]:
        for model in rows["model"]:
            for precision in rows["precision"]:
                choice = {
                    "hardware": hardware["name"],
                    "model": model["name"],
                    "precision": precision["name"],
                }
                try:
                    scenario.values(**choice)
                except scenario.ScenarioError:  # an arithmetic that the chip lacks
                    continue
                found.append(choice)
    return tuple(found)


@cache
def values(context: float, batch: float, pinned: tuple) -> list[dict]:
    return [
        {**scenario.values(**{**choice, "context": context, **dict(pinned)}), "batch": batch}
        for choice in choices()
    ]


def everywhere(condition: Condition, batches: tuple = (64,)) -> dict[tuple, bool]:
    """Return the truth of a condition in each scenario.

    The keys are (hardware, model, precision, context, batch).
    """
    found = {}
    for context in CONTEXTS:
        for batch in batches:
            columns = {}

            def known(pinned: dict, context=context, batch=batch, columns=columns) -> list[dict]:
                return columns.setdefault(
                    tuple(pinned.items()), values(context, batch, tuple(pinned.items()))
                )

            for number, choice in enumerate(choices()):
                truth = condition.evaluate(lambda pinned, number=number: known(pinned)[number])
                found[(*choice.values(), context, batch)] = bool(truth)
    return found


def free(condition: Condition) -> bool:
    """Return whether a condition leaves the batch open, so that every batch is asked for."""
    return any(
        "batch" in side.needs for _, left, right in condition.parts for side in (left, right)
    )


@pytest.mark.parametrize(
    "place, kind, text", STATED, ids=[f"{place}-{kind}" for place, kind, _ in STATED]
)
def test_what_a_sentence_rests_on(place, kind, text):
    condition = Condition(text)
    assert kind == "always" or not free(condition), (
        f"{place}: {text} leaves the batch open, which no page knows"
    )
    truth = everywhere(condition, BATCHES if free(condition) else (64,))
    if kind == "always":
        # Where a value is missing (a price), the sentence shows no number that could be false.
        lacking = {
            name
            for _, left, right in condition.parts
            for side in (left, right)
            for name in side.needs
            if name != "batch"
        }
        told = {
            tuple(choice.values())
            for choice in choices()
            if all(scenario.values(**choice).get(name) is not None for name in lacking)
        }
        wrong = [case for case, holds in truth.items() if not holds and case[:3] in told]
        assert len(told) > 500
        assert not wrong, (
            f"{place} says that {text}, which is false for {wrong[0]} and {len(wrong) - 1} more "
            f"of {len(truth)}"
        )
    else:
        assert len(set(truth.values())) == 2, (
            f"{place}: {text} is {'always' if all(truth.values()) else 'never'} true; say it "
            "outright, or not at all"
        )


def test_the_book_has_such_sentences():
    assert len(STATED) >= 16 and len(choices()) > 1000


def test_a_false_sentence_is_found():
    """That no batch balances beyond 100,000 tokens is false for models with small caches."""
    truth = everywhere(Condition("balance_context_with_attention < 100000"))
    assert 0 < sum(not holds for holds in truth.values()) < len(truth)


def test_scalars_and_arrays_agree():
    condition = Condition("context > balance_context_with_attention")
    contexts = np.array([1e3, 1e4, 2e4])
    truth = condition.evaluate(lambda _: {**scenario.values(), "context": contexts})
    assert (
        list(truth)
        == [condition.holds(**{**scenario.DEFAULT, "context": context}) for context in contexts]
        == [False, False, True]
    )
    assert balance.balance_context_with_attention(scenario.values()) == pytest.approx(15_112, abs=1)


@pytest.mark.parametrize(
    "text, price, holds",
    [
        ("device_price > 0", None, False),
        ("not device_price > 0", None, True),
        ("device_price > 0", 1e-3, True),
        ("not device_price > 0 and context > 0", 1e-3, False),
        ("device_price > 0 and context > 1e9", 1e-3, False),
    ],
)
def test_what_is_missing_is_not_above_anything(text, price, holds):
    assert (
        bool(Condition(text).evaluate(lambda _: {**scenario.values(), "device_price": price}))
        is holds
    )


@pytest.mark.parametrize(
    "text, says",
    [
        ("context", "is no comparison"),
        ("contest > 1", "neither a formula nor a value"),
        ("step_time bath=1 > 1", "does not depend on 'bath'"),
        ("step_time batch=x > 1", "is no number"),
    ],
)
def test_a_condition_that_says_nothing_is_refused(text, says):
    with pytest.raises(QueryError, match=says):
        Condition(text)


def test_the_page_gets_trees_and_numbers():
    page = Condition('not context > 2e3 and step_time batch=1 hardware="H100 SXM" < 1').page()
    assert page["not"] and page["all"][0] == [">", {"tree": "context", "set": {}}, 2000.0]
    symbol, left, right = page["all"][1]
    assert (symbol, left["set"], right) == (
        "<",
        {"hardware": "H100 SXM", "batch": 1.0},
        1.0,
    ) and left["tree"][0] == "max"
