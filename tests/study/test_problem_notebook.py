"""A problem in a notebook does what it does in the page."""

from __future__ import annotations

import pytest

from handful_study import notebook
from handful_study.notebook import practise
from handful_study.problems import problems
from handful_study.source import SourceError

ALL = sorted(problems())


@pytest.mark.parametrize("name", ALL)
def test_every_problem_can_be_answered(name):
    box, problem = practise(name, seed=3), problems()[name]
    assert "{" not in box.text.value.replace("{\\", "").split("\\(")[0]
    if problem.kind == "choice":
        for number in range(len(problem.choices)):
            box.answer.value = number
            box.check.click()
            assert box.verdict.value[3] in "✓✗"
    elif problem.kind == "number":
        box.answer.value = problem.drawn_text(
            str(problem.entry.head["answer"]) + f" digits=6 unit={problem.unit}", 3
        )
        box.check.click()
        assert box.verdict.value.startswith("<b>✓</b>"), (box.answer.value, box.verdict.value)
    box.hint.click()
    first = box.help.value
    box.hint.click()
    assert first and len(box.help.value) > len(first) and box.hint.disabled
    box.solution.click()
    assert box.help.value and box.help.value != first


def test_new_numbers_begin_again():
    box = practise("step-of-a-dense-model", seed=1)
    before = box.text.value
    box.answer.value = "3 GB"
    box.check.click()
    assert "bytes" in box.verdict.value
    box.draw(2)
    assert box.text.value != before and box.verdict.value == "" and box.answer.value == ""


@pytest.mark.parametrize("seed", [-1, 2**32, "1", 1.5, True])
def test_a_bad_seed_is_refused(seed):
    with pytest.raises(SourceError, match="whole number from 0"):
        practise("step-of-a-dense-model", seed)


def test_without_a_seed_everybody_gets_numbers_of_their_own():
    seeds = {practise("step-of-a-dense-model").seed for _ in range(4)}
    assert len(seeds) > 1 and all(0 <= seed < 2**32 for seed in seeds)


def test_a_choice_has_to_be_made_first():
    box = practise(next(name for name in ALL if problems()[name].kind == "choice"), seed=1)
    box.answer.value = None
    box.check.click()
    assert box.verdict.value == "Choose one first."


def test_a_missing_package_is_named(monkeypatch):
    def without(*_):
        raise ModuleNotFoundError("No module named 'markdown_it'", name="markdown_it")

    monkeypatch.setattr(notebook, "Practice", without)
    with pytest.raises(SourceError, match="markdown_it"):
        practise("step-of-a-dense-model", seed=1)
