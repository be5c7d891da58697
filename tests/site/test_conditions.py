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
from handful.query import CHOICES, QueryError, parse_live, registry
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


def test_the_chapter_on_pipelining_says_what_its_reading_leaves_out():
    """It compares readings, so that it opens with the whole step, and has totals at the end."""
    text = " ".join((BOOK / "pipelining.md").read_text("utf-8").split())
    whole = "{live}`step_time_of_racks batch=5760 scale_up_domains=1 kernel_overhead=30.2e-6"
    napkin = text[text.index("## On a napkin") :]
    assert napkin.startswith(f"## On a napkin The last chapter's step took {whole}")
    assert "fixed delays" in napkin[:900] and "| One rack |" in napkin


def test_a_chapter_says_that_its_steps_have_no_latency_of_layers():
    """Its formulas take the bare step, so that the text names what is left out, and how much."""
    text = " ".join((BOOK / "why-pipelining-is-not-wise.md").read_text("utf-8").split())
    assert "step_time" in text and "with_latency" not in text
    sentences = [said for said in re.split(r"(?<=\.) ", text) if "{live}`fixed_time" in said]
    assert len(sentences) == 1
    assert "leave out the latency of the layers" in text or (
        "Leave aside the fixed latency" in text
    )


LIVE = re.compile(r"\{live\}(`+)(.+?)\1", re.S)
BLOCK = re.compile(r"^(:{3,})\{where\} (.+?)\n.*?^\1$", re.S | re.M)
WITHIN = re.compile(r"\{where\}(`{2,})([^|]+)\|.+?\1(?!`)", re.S)
# Nought is what the sentence says, and true.
NOUGHT = {
    "experts-on-racks": {"fraction_leaving"},
    "memory-tiers": {"wall_context"},
    "your-model": {"wall_context", "balance_context_with_attention"},
}


def live_numbers(text: str) -> list[tuple[str, list[Condition]]]:
    """Return each live number of a chapter with the conditions under which it is shown."""
    shown = [
        (match.start(), match.end(), Condition(match[2]))
        for pattern in (BLOCK, WITHIN)
        for match in pattern.finditer(text)
    ]
    return [
        (" ".join(match[2].split()), [c for a, b, c in shown if a < match.start() < b])
        for match in LIVE.finditer(text)
    ]


def without_a_number(asked: str, conditions: list[Condition]) -> dict[str, dict]:
    """Return the first scenario of each fault (a missing value, "∞", "0") where it is shown."""
    name, given, _ = parse_live(asked)
    formula = registry()[name]
    pinned = tuple((key, value) for key, value in given.items() if key in CHOICES)
    known = {key: value for key, value in given.items() if key not in (*CHOICES, "unit", "fit")}
    if "fit" in given or (len(pinned) == len(CHOICES) and not conditions):
        return {}  # the same in all scenarios
    depends = {q.name for q in formula.inputs} | {n for c in conditions for n in inputs(c)}
    found: dict[str, dict] = {}
    for context in (128, 8192, 1_000_000) if "context" in depends else (8192,):
        for number, choice in enumerate(choices()):
            if not all(
                c.evaluate(
                    lambda chosen, number=number, context=context: values(
                        context, 64, tuple(chosen.items())
                    )[number]
                )
                for c in conditions
            ):
                continue
            rows = named(context, pinned)[number]
            if rows is None and "peak_flops" not in depends:
                continue  # of a precision that the chip stores in and does not compute in
            at = {**(rows or {}), **known}
            lacking = [
                q.name for q in formula.inputs if q.default is None and at.get(q.name) is None
            ]
            value = None if lacking else float(formula(at))
            fault = lacking[0] if lacking else {np.inf: "∞", 0: "0"}.get(value)
            if fault:
                found.setdefault(fault, {**choice, "context": context})
    return found


@cache
def named(context: float, pinned: tuple) -> list[dict | None]:
    """Return the values of each choice with parts of it replaced; None where they do not go."""
    found: list[dict | None] = []
    for choice in choices():
        try:
            found.append(scenario.values(**{**choice, "context": context, **dict(pinned)}))
        except scenario.ScenarioError:
            found.append(None)
    return found


def inputs(condition: Condition) -> set[str]:
    """Return the names of the values that a condition needs."""
    return {
        name for _, left, right in condition.parts for side in (left, right) for name in side.needs
    }


@pytest.mark.parametrize(
    "path",
    [p for p in sorted(BOOK.glob("*.md")) if "\nscenario: follows\n" in p.read_text("utf-8")],
    ids=lambda path: path.stem,
)
def test_a_live_number_has_a_value_where_it_is_shown(path):
    """No dash, no ∞ and no nought in a sentence, whatever the chip, model and precision."""
    for asked, conditions in live_numbers(path.read_text("utf-8")):
        found = without_a_number(asked, conditions)
        if asked.split()[0] in NOUGHT.get(path.stem, ()):
            found.pop("0", None)
        assert not found, f"{path.name}: {asked} has no number: {found}; show it under {{where}}"


def test_a_number_without_a_price_is_found():
    asked = "rematerialise_cost model_flops_utilisation=0.3"
    (lacking,) = without_a_number(asked, [])
    assert lacking == "device_price"
    assert without_a_number(asked, [Condition("device_price > 0")]) == {}
    assert set(without_a_number("context_that_fits batch=64", [])) == {"0"}
    ((shown, under),) = live_numbers(":::{where} device_price > 0\nIt is {live}`step_time`.\n:::")
    assert shown == "step_time" and [c.text for c in under] == ["device_price > 0"]


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
