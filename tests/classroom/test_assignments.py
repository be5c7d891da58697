"""Tests of every assignment.

The solution gets all points, the empty notebook none, each known mistake what it should, and
nothing leaks.
"""

import json
import re
from pathlib import Path

import nbformat
import pytest

from handful_classroom.grading import scoring
from handful_classroom.grading.scoring import requests
from handful_classroom.release import notebooks, validate_assignment
from handful_classroom.release.assignment import assignments
from handful_classroom.release.variants import (
    answers,
    calls,
    inputs_of,
    misconceptions,
    solutions,
    truths,
)
from handful_classroom.sandbox.protocol import Answer
from handful_study import student
from handful_study.student import VARIANTS as VARIANTS_OF_ALL
from handful_study.student import Assignment as Checks

NAMES = sorted(assignments())
VARIANTS = range(50)
SHORT = 10  # a line of a solution shorter than this says nothing


def came_back(assignment, variant, things, texts=lambda name: "") -> dict:
    """Return the judged result of each question.

    The grader's requests are answered by these functions and values.
    """
    answered = []
    for request in requests(assignment, variant):
        thing = things(request["question"])
        if thing is None:
            answered.append(Answer("missing", None, "Not filled in."))
        elif "text" in request:
            answered.append(Answer("value", str(thing), ""))
        else:
            made = [request["arguments"]] if "call" in request else []
            answered.append(
                Answer(
                    "value", answers(assignment.questions[request["question"]], thing, made)[0], ""
                )
            )
    return {one["name"]: one for one in scoring.judge(assignment, variant, answered)}


@pytest.mark.parametrize("name", NAMES)
def test_solutions_are_what_the_library_gives_and_mistakes_differ(name):
    assert validate_assignment.mistakes(assignments()[name], VARIANTS) == []


@pytest.mark.parametrize("name", NAMES)
def test_the_grader_gives_solutions_all_points_empty_notebooks_none_and_mistakes_their_score(name):
    assignment = assignments()[name]
    for variant in list(VARIANTS)[::10]:
        ours, wrong = solutions(assignment, variant), misconceptions(assignment, variant)
        full = came_back(assignment, variant, ours.get)
        assert sum(one["points"] for one in full.values()) == assignment.points, [
            one for one in full.values() if one["status"] == "wrong"
        ]
        assert all(
            one["points"] == 0
            for one in came_back(assignment, variant, lambda question: None).values()
        )
        for question, known in wrong.items():
            for key, thing in known.items():
                found = came_back(assignment, variant, ({**ours, question: thing}).__getitem__)[
                    question
                ]
                assert (found["turn"], found["points"]) == (
                    key,
                    assignment.questions[question].wrong[key].score,
                ), (question, key, variant)


@pytest.mark.parametrize("name", NAMES)
def test_an_assignment_takes_an_hour_or_so_and_ends_in_judgement(name):
    assignment = assignments()[name]
    assert 60 <= assignment.minutes <= 90
    assert any(question.kind == "written" for question in assignment.questions.values())
    assert sum(len(question.wrong) for question in assignment.questions.values()) >= 5


def sources(notebook) -> str:
    return "\n".join(cell["source"] for cell in notebook["cells"])


@pytest.mark.parametrize("name", NAMES)
def test_a_release_holds_nothing_of_answers(name):
    assignment = assignments()[name]
    # What the setup brings of the package is the same in every notebook.
    text = sources(notebooks.notebook(assignment)).replace(
        Path(student.__file__).read_text("utf-8"), ""
    )
    hidden = [line.strip() for cut in assignment.cuts.values() for line in cut.taken]
    for question in assignment.questions.values():
        hidden += [
            question.model,
            *(item.text for item in question.rubric),
            *question.truth.splitlines(),
        ]
        for misconception in question.wrong.values():
            hidden += [misconception.says, *misconception.code.splitlines()]
        hidden += [str(question.entry.head["hidden"][key]) for key in question.hidden]
    # What the source says openly (a signature, an import) may stand in a truth as well.
    openly = {line.strip() for cut in assignment.cuts.values() for line in cut.empty.splitlines()}
    for line in {line.strip() for line in hidden} - openly:
        assert len(line) < SHORT or line.isidentifier() or line not in text, line


@pytest.mark.parametrize("name", NAMES)
def test_a_release_holds_no_hidden_value(name):
    """A release holds the figure of a hidden call or value only by coincidence.

    That is where a visible call, or somebody's inputs, happen to come to the same figure.
    """
    assignment = assignments()[name]
    text = sources(notebooks.notebook(assignment))
    there = set(map(float, re.findall(r"-?[0-9]+[.][0-9]+(?:e[-+]?[0-9]+)?", text)))
    seen = {
        figure
        for variant in range(VARIANTS_OF_ALL)
        for figure in floats(inputs_of(assignment, variant))
    }
    seen |= {
        figure
        for piece in assignment.pieces
        if piece.kind == "markdown"
        for figure in map(float, re.findall(r"[0-9]+[.][0-9]+", piece.text))
    }
    hidden = {}
    for question in assignment.questions.values():
        if question.kind == "function":
            first = [
                answers(question, truths(assignment, variant)[question.name], question.visible)
                for variant in range(VARIANTS_OF_ALL)
            ]
            seen |= set(floats(first))
        for variant in VARIANTS:
            if question.kind in ("value", "function"):
                made = calls(question, variant)
                right = answers(question, truths(assignment, variant)[question.name], made)
                hidden |= {
                    figure: (question.name, variant)
                    for figure in floats(right[len(question.visible) :])
                    if len(repr(figure)) >= SHORT
                }
    assert {figure: hidden[figure] for figure in hidden.keys() & there - seen} == {}


def floats(value) -> list[float]:
    if isinstance(value, dict):
        return [one for part in value.values() for one in floats(part)]
    if isinstance(value, list):
        return [one for part in value for one in floats(part)]
    return [value] if isinstance(value, float) else []


@pytest.mark.parametrize("name", NAMES)
def test_notebooks_are_valid_and_the_same_each_time(name):
    assignment = assignments()[name]
    misconception = next(
        (question.name, key) for question in assignment.questions.values() for key in question.wrong
    )
    for fill in ("empty", "solution", ("wrong", *misconception)):
        made = notebooks.notebook(assignment, "ada", fill)
        nbformat.validate(nbformat.from_dict(made), relax_add_props=False)
        ids = [cell["id"] for cell in made["cells"]]
        assert len(ids) == len(set(ids))
        # As Jupyter writes it when a student saves it.
        written = nbformat.writes(nbformat.from_dict(notebooks.notebook(assignment, "ada", fill)))
        assert notebooks.text(made) == written + "\n"
        assert made["metadata"]["handful"] == {
            "assignment": name,
            "edition": assignment.edition,
            "student": "ada",
        }


@pytest.mark.parametrize("name", NAMES)
def test_a_student_has_the_inputs_that_the_grader_draws(name):
    assignment = assignments()[name]
    public = json.dumps(notebooks.public(assignment))
    for who in ("ada", "grace", "Émilie du Châtelet", "42", "a" * 100):
        mine = Checks(public, who)
        assert mine.variant == assignment.variant(who)
        assert mine.given == inputs_of(assignment, mine.variant)


@pytest.mark.parametrize("name", NAMES)
def test_check_cells_know_right_from_wrong(name, capsys):
    assignment = assignments()[name]
    public = notebooks.public(assignment)
    for who in ("ada", "grace", "emmy"):
        mine = Checks(public, who)
        ours, wrong = solutions(assignment, mine.variant), misconceptions(assignment, mine.variant)
        for question, one in assignment.questions.items():
            if one.kind == "written":
                continue
            assert (
                checked(mine, question, ours[question], capsys)
                .split(": ", 1)[1]
                .startswith("right")
            ), question
            if one.kind in ("value", "expression"):
                for key, thing in wrong[question].items():
                    assert (
                        checked(mine, question, thing, capsys).split(": ", 1)[1].startswith("not ")
                    ), (question, key)
            assert "not filled in yet" in checked(mine, question, ..., capsys)


def checked(mine, name, thing, capsys) -> str:
    """Return what the check cell prints when the notebook holds this answer."""
    exec(f"check({name!r})", {name: thing, "check": mine.check})
    return capsys.readouterr().out
