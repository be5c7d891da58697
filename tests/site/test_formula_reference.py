"""Tests of the reference of formulas: its pages, its entries, and the calls that it prints."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import sympy
import yaml

from handful.chinchilla import law
from handful.query import registry
from handful.search import SUBJECTS, by_subject
from handful.symbolic import quantities as q
from handful.symbolic.formula import Formula
from handful.symbolic.quantities import table
from handful.units import format_value
from handful_site.build import ROOT, chapters
from handful_site.extensions import formula_reference as reference
from handful_site.extensions import worked_calls
from handful_site.extensions.worked_calls import WorkedCallError, worked

BOOK = ROOT / "book"
TYPICAL = tomllib.loads(Path(worked_calls.__file__).with_name("typical_values.toml").read_text())


def test_every_formula_belongs_to_one_subject():
    listed = [one.name for formulas in by_subject().values() for one in formulas]
    assert sorted(listed) == sorted(registry()), "SUBJECTS names the modules of all formulas"


def test_every_subject_has_its_page_under_formulas():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
    (entry,) = (
        one for part in toc["parts"] for one in part["chapters"] if one["file"] == "formulas"
    )
    pages = [reference.slug_of(subject) for subject in SUBJECTS]
    assert [one["file"] for one in entry["sections"]] == pages
    assert len(set(pages)) == len(pages) and set(pages) < set(chapters(toc))
    assert {path.stem for path in BOOK.glob("formulas-*.md")} == set(pages)
    for subject in SUBJECTS:
        text = (BOOK / f"{reference.slug_of(subject)}.md").read_text("utf-8")
        assert f"```{{formulas}} {subject}\n" in text
        assert re.search(r"^[A-Z].+\?$", text, re.M), "the questions that the subject answers"


def ran(code: str) -> float:
    """Run a call as a reader would, and return the value of its last expression."""
    lines = [line for line in code.splitlines() if not line.startswith("#")]
    start = max(i for i, line in enumerate(lines) if re.match(r"\w+\(", line))
    names: dict = {}
    exec("\n".join(lines[:start]), names)
    return eval("\n".join(lines[start:]), names)


@pytest.mark.parametrize("subject", SUBJECTS)
def test_every_call_gives_what_is_printed_below_it(subject):
    for formula in by_subject()[subject]:
        text = reference.call_text(worked(formula))
        printed = text.splitlines()[-1].removeprefix("# ")
        value = ran(text)
        # What is shown has three digits at least, and so agrees with the value to half a per cent.
        shown = {
            format_value(value, formula.gives.unit, digits).replace("\xa0", " ")
            for digits in range(3, 9)
        }
        assert printed in shown, formula.name
        assert value > 0, f"{formula.name}: a call that gives nothing shows nothing"
        assert re.search(r"\d", printed) and len(printed) < 40, formula.name


def test_no_call_leaves_the_usual_range():
    """No share is above one, no rate, time or memory is beyond what anybody has."""
    most = {"s": 1e9, "B": 1e18, "token/s": 1e10, "device": 1e6, "sequence": 1e6, "$": 1e10}
    for name, formula in registry().items():
        value = worked(formula).result
        assert 1e-20 < value < 1e28, name  # in SI units, a byte costs little a second
        assert value <= most.get(formula.gives.unit, value), name
        if formula.gives.upper is not None:
            assert value <= formula.gives.upper * (1 + 1e-12), name


def test_typical_values_are_of_known_inputs_and_are_used():
    used: dict[str, set[str]] = {}
    for formula in registry().values():
        for name in worked(formula).given:
            used.setdefault(name, set()).add(formula.name)
    assert set(TYPICAL["any"]) <= set(table)
    assert {name for name in TYPICAL["any"] if name not in used} == set(), "values of no call"
    assert set(TYPICAL["unit"]) >= {one.unit for one in table.values() if one.upper is None} - {
        "device·s",
        *("W", "Wh", "J/token", "$/J", "FLOP/J", "FLOP/$", "B/$"),
        "$/B/s",
        "sequence/s",
    }
    assert set(TYPICAL["subject"]) <= set(SUBJECTS)
    for name, values in TYPICAL["formula"].items():
        assert set(values) <= {one.name for one in registry()[name].inputs}, name


def test_the_laws_numbers_are_those_of_the_facts():
    fitted = law("besiroglu")
    assert {name: TYPICAL["any"][name] for name in fitted} == fitted


def made(gives, expression) -> Formula:
    return Formula(
        gives,
        expression,
        name="of_this_test",
        meaning="what it is given",
        source="this test",
        register=False,
    )


def test_a_quantity_that_is_not_listed_gets_a_value_by_its_unit(monkeypatch):
    unlisted = {**TYPICAL, "any": {}}
    monkeypatch.setattr(worked_calls, "_typical", lambda: unlisted)
    given = worked(made(q.prompt_tokens, q.prompt_tokens.symbol)).given
    assert given == {"prompt_tokens": TYPICAL["unit"]["token"]}
    given = worked(made(q.acceptance, q.acceptance.symbol)).given
    assert given == {"acceptance": q.acceptance.upper / 2}


def test_a_call_that_cannot_be_made_names_formula_and_input(monkeypatch):
    beyond = sympy.Max(0, q.batch.symbol - q.balance_batch.symbol)  # too few for that
    with pytest.raises(WorkedCallError, match=r"^of_this_test gives inf .*of_this_test\]"):
        worked(made(q.batch, q.batch.symbol**2 / beyond))
    monkeypatch.setattr(worked_calls, "_typical", lambda: {**TYPICAL, "any": {}, "unit": {}})
    with pytest.raises(WorkedCallError, match=r"^of_this_test has .*: prompt_tokens \(in token\)"):
        worked(made(q.prompt_tokens, q.prompt_tokens.symbol))
    wrong = {**TYPICAL, "any": {"prompt_tokens": "4 GB"}}
    monkeypatch.setattr(worked_calls, "_typical", lambda: wrong)
    with pytest.raises(WorkedCallError, match=r"^of_this_test has .*: prompt_tokens must be a "):
        worked(made(q.prompt_tokens, q.prompt_tokens.symbol))


@pytest.mark.parametrize("name", ["step_time", "balance_batch", "ring_all_reduce_time"])
def test_an_entry_says_all_that_is_known(name):
    formula = registry()[name]
    call = worked(formula)
    before, after = reference.described(formula, call), reference.explained(formula)
    for text in (formula.meaning[1:], *formula.known_as, *formula.conventions):
        assert reference.html.escape(text) in before, text
    for one in formula.inputs:
        plain = before.replace("<wbr>", "")
        assert one.constant or f"<code>{one.name}</code>" in plain, one.name
    assert ("<details" in after) == (formula._derivation is not None)
    assert f"from {formula.module} import {name}" in reference.call_text(call)


def test_related_formulas_are_those_that_give_the_same_and_those_that_use_it():
    same, used_by = reference.related(registry()["step_time"])
    assert {one.gives.name for one in same} == {"step_time"} and len(same) > 2
    assert "throughput" in {one.name for one in used_by}
    assert all(registry()["step_time"] in one.using for one in used_by)


def test_links_lead_to_entries_that_there_are():
    for name, formula in registry().items():
        text = reference.described(formula, worked(formula)) + reference.explained(formula)
        for page, anchor in re.findall(r'href="(formulas-[\w-]+)\.html#([\w-]+)"', text):
            linked = anchor.removeprefix("formula-")
            assert linked in registry() and page == reference.page_of(linked), (name, anchor)
