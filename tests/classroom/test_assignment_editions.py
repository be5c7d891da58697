"""Tests of notebooks of another edition than the source has now.

Nobody loses a point without a word, and no released cell runs as a student's.
"""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import nbformat
import pytest

from handful import cli
from handful_classroom.grading import grade, grades, notebook_reader, store, submissions
from handful_classroom.release import notebooks
from handful_classroom.release.assignment import assignments, read_text
from handful_classroom.release.variants import inputs_of, solutions
from handful_classroom.sandbox.protocol import Answer, Outcome

ROOFLINE = assignments()["roofline"]
NOW = grade.source_of(ROOFLINE)
# As it was before: other words, and a check cell that says them; then other inputs as well.
WORDS = NOW.replace("Your team is about to put", "Your team would like to put").replace(
    "asks: the time of a decode step", "asks: how long a decode step takes"
)
DRAWS = WORDS.replace(
    "batch: [32, 48, 64, 96, 128, 192]", "batch: [40, 56, 72, 104, 136, 200]"
).replace("speed: [60, 70, 80]", "speed: [50, 55, 65]")
EARLIER = {"words": WORDS, "draws": DRAWS}
STUDENTS = ["ada", "ben", "cy", "dee"]


def edition(text: str):
    return read_text(text, ROOFLINE.file)


def perfect(text: str, student: str, typed: bool = False) -> bytes:
    """Return a solved notebook of an edition.

    With `typed`, the numbers of its own inputs stand in place of what computes them.
    """
    old = edition(text)
    made = notebooks.notebook(old, student, "solution")
    right = solutions(old, old.variant(student))
    for cell in made["cells"] if typed else ():
        for name in ("times", "largest_batch"):
            if re.search(rf"^{name} = ", cell["source"], re.M) and cell["cell_type"] == "code":
                cell["source"] = f"{name} = {right[name]!r}"
    return notebooks.text(made).encode()


def missing(seen: list):
    """Return a function for the sandbox's place that notes what would run and answers nothing."""

    def ask(cells, requests, inputs, limits, library):
        seen.append((list(cells), list(requests), dict(inputs)))
        return Outcome(tuple(Answer("missing", None, "Nothing.") for _ in requests))

    return ask


def cells_run(notebook: dict, assignment=ROOFLINE) -> list[str]:
    seen: list = []
    grade.grade_one(assignment, "ada", notebooks.text(notebook).encode(), ask=missing(seen))
    return [source for source in seen[0][0][1:] if source]


# A class of perfect notebooks


@pytest.mark.sandbox
def test_a_class_of_an_older_edition_loses_nothing_without_a_word(tmp_path):
    """The source's words changed after release, then its inputs as well."""
    for name, text in EARLIER.items():
        for i, student in enumerate(STUDENTS):
            (tmp_path / name).mkdir(exist_ok=True)
            (tmp_path / name / f"{student}.ipynb").write_bytes(
                perfect(text, student, typed=i % 2 == 1)
            )
    for name, known in (("words", False), ("draws", False), ("draws", True)):
        out = tmp_path / f"{name}-{known}"
        earlier = [EARLIER[name]] if known else []
        done = grade.run(
            ROOFLINE, submissions.read(tmp_path / name, "roofline"), out, jobs=0, earlier=earlier
        )
        results = list(store.results(out))
        assert not done.faults and len(results) == 4
        old = edition(EARLIER[name]).edition
        for result in results:
            notices = " ".join(result["notices"])
            assert (
                f"another edition ({old}) than the source has now ({ROOFLINE.edition})" in notices
                and "did not end well" not in notices
            )
            assert result["edition"] == ROOFLINE.edition and result["notebook_edition"] == old
            if name == "words" or known:
                assert (result["points"], result["status"]) == (20, "ok"), result
                assert (
                    "inputs are the same"
                    if name == "words"
                    else "graded by the inputs of its own edition"
                ) in notices
            else:
                assert "shows other inputs than those it was graded by" in notices and re.search(
                    r"batch \d+ and not \d+", notices
                )
        if name == "draws" and not known:
            assert (
                min(result["points"] for result in results) < 20
            )  # who typed the numbers of other inputs
        _, notes = grades.write(out, ROOFLINE)
        (about,) = (note for note in notes if "another edition" in note)
        assert about.startswith(
            f"4 of 4 notebooks are of another edition of roofline than the source has now "
            f"(edition {old})"
        )
        assert ("--earlier" in about) == (name == "draws" and not known)


def test_a_notebook_of_this_edition_gets_no_notice():
    seen: list = []
    result = grade.grade_one(ROOFLINE, "ada", perfect(NOW, "ada"), ask=missing(seen))
    assert (
        result["notices"] == []
        and result["notebook_edition"] == ROOFLINE.edition
        and result["inputs"] == "same"
    )


@pytest.mark.parametrize("student, told", [("Ada", True), ("ada", False)])
def test_a_notebook_from_when_capitals_counted_is_told_of(student, told):
    """The setup of such a notebook drew the inputs of the id as written.

    Plain lower-case ids draw the same as ever.
    """
    made = nbformat.reads(perfect(NOW, student), 4)
    setup = next(cell for cell in made["cells"] if "Assignment(r'''" in "".join(cell["source"]))
    setup["source"] = "".join(setup["source"]).replace("def canonical(", "def formerly(")
    result = grade.grade_one(ROOFLINE, student, json.dumps(made).encode(), ask=missing([]))
    assert any("when capitals still counted" in notice for notice in result["notices"]) is told


# What runs

RELEASED = ('check("', "check()", "%pip", "handful_study.student", "Assignment(r'''")


@pytest.mark.parametrize("text", [NOW, WORDS, DRAWS], ids=["now", "words", "draws"])
def test_released_cells_of_no_edition_run_as_a_students(text):
    made = nbformat.reads(perfect(text, "ada"), 4)
    ran = cells_run(made)
    assert not [source for source in ran if any(word in source for word in RELEASED)]
    assert (
        len(ran)
        == sum(
            cell["cell_type"] == "code" and "answer" in cell["metadata"].get("tags", ())
            for cell in made["cells"]
        )
        + 1
    )  # which prints
    for cell in made["cells"]:  # and where an editor dropped the tags
        cell["metadata"] = {}
    assert cells_run(made) == ran


@pytest.mark.parametrize(
    "change",
    [
        lambda source: (
            source.partition("try:\n")[0]
            + "from handful_study.student import Assignment\n\n"
            + source[source.rindex("assignment = Assignment(") :]
        ),  # the first form
        lambda source: source.replace(
            "def variant(", "def other("
        ),  # another version of the library
        lambda source: source.replace("# The rest of the setup", "# The setup"),
        lambda source: source + "\n\n",
    ],
)
def test_setup_cells_of_another_version_of_the_library_are_known(change):
    made = nbformat.reads(perfect(DRAWS, "ada"), 4)
    made["cells"][1]["source"] = change(made["cells"][1]["source"])
    assert not [source for source in cells_run(made) if "Assignment" in source]
    origin = notebook_reader.read(json.dumps(made).encode()).origin
    assert origin.edition == edition(DRAWS).edition and origin.shown(
        ROOFLINE.variant("ada")
    ) == inputs_of(edition(DRAWS), ROOFLINE.variant("ada"))


@pytest.mark.parametrize(
    "source",
    [
        'def step_time(batch, context):\n    return 1.0\ncheck("step_time")',
        'times = {}; check("times")',
        "check(\"times\") or exec('times = {}')",
        "check(times := {})",
        'x = 1  # check("x")',
        "from handful_study.student import Assignment\nlargest_batch = 3",
        "given, check = assignment.given, assignment.check\nlargest_batch = 3",
        'student = "ada"\nlargest_batch = 3',
        "largest_batch = 3",
    ],
)
@pytest.mark.parametrize("tag", ["check", "setup", "explore"])
def test_an_answer_runs_whatever_its_cell_is_called(source, tag):
    """A tag costs nobody an answer: cells are known by what stands in them."""
    made = nbformat.reads(perfect(NOW, "ada"), 4)
    made["cells"].insert(
        -2, {**notebooks.cell("code", "own", source, [tag], locked=True), "id": f"{tag}-2"}
    )
    assert source in cells_run(made)


def test_code_below_the_setup_runs():
    made = nbformat.reads(perfect(NOW, "ada"), 4)
    for i in (0, 1):
        made["cells"][i]["source"] += "\nlargest_batch = 3"
    assert sum("largest_batch = 3" in source for source in cells_run(made)) == 2


# Inputs


def changed(shown: dict, text: str = NOW, **own) -> bytes:
    """Return a notebook whose setup shows other inputs."""
    made = nbformat.reads(perfect(text, "ada"), 4)
    head, _, rest = made["cells"][1]["source"].rpartition("assignment = Assignment(r'''")
    public = json.loads(rest.partition("''', student)")[0])
    public["given"] |= {name: {"values": [value]} for name, value in shown.items()}
    literal = json.dumps(public | own).replace("'", "\\u0027")
    made["cells"][1]["source"] = (
        f"{head}assignment = Assignment(r'''{literal}''', "
        f"student){rest.partition(chr(39) * 3 + ', student)')[2]}"
    )
    return notebooks.text(made).encode()


def test_inputs_that_differ_within_an_edition_are_named():
    """A chip's data sheet was corrected since the notebook was made.

    The notebook's source, and so its edition, is the same.
    """
    seen: list = []
    result = grade.grade_one(
        ROOFLINE, "ada", changed({"memory_bandwidth": 3e12}), ask=missing(seen)
    )
    (note,) = result["notices"]
    assert (
        note.startswith(
            "This notebook shows other inputs than those it was graded by: memory_bandwidth 3e+12 "
            "and not "
        )
        and result["inputs"] == "other"
    )
    assert seen[0][2] == inputs_of(
        ROOFLINE, ROOFLINE.variant("ada")
    )  # what a notebook shows decides nothing


@pytest.mark.sandbox
def test_inputs_that_cells_change_are_named():
    made = nbformat.reads(perfect(NOW, "ada"), 4)
    made["cells"].insert(2, notebooks.cell("code", "own", "given = dict(given, batch=7, mine=3)"))
    (note,) = grade.grade_one(ROOFLINE, "ada", notebooks.text(made).encode())["notices"]
    assert (
        note == "Its cells set other inputs than those it was graded by: batch 7 and not "
        f"{inputs_of(ROOFLINE, ROOFLINE.variant('ada'))['batch']}."
    )


def test_an_edition_whose_inputs_do_not_fit_is_graded_by_those_of_now():
    old = DRAWS.replace(
        "batch, context, speed]\nlibrary", "batch, speed]\nlibrary"
    )  # the current questions ask about the context
    assert old != DRAWS
    seen: list = []
    result = grade.grade_one(
        ROOFLINE,
        "ada",
        changed({}, DRAWS, edition=edition_of(old)),
        ask=missing(seen),
        earlier={edition_of(old): old},
    )
    assert "it was graded by the current inputs" in result["notices"][0] and seen[0][
        2
    ] == inputs_of(ROOFLINE, ROOFLINE.variant("ada"))


def edition_of(text: str) -> str:
    import hashlib

    return hashlib.sha256(text.encode()).hexdigest()[:12]


def of_balance(student: str = "ada") -> bytes:
    return notebooks.text(
        notebooks.notebook(assignments()["balance"], student, "solution")
    ).encode()


def test_a_notebook_of_another_assignment_is_not_graded():
    """Give no points, not even 0: the file is not what the questions ask about."""
    result = grade.grade_one(ROOFLINE, "ada", of_balance(), ask=missing([]))
    assert result["status"] == "ungradable" and not result["questions"]
    assert result["says"] == (
        "This could not be graded: It is a notebook of the assignment 'balance', not of 'roofline'."
    )
    assert not grades.Grade(result).graded


def handed_in(*data: bytes):
    return [submissions.Submission(f"s{i}", "x.ipynb", one) for i, one in enumerate(data)]


@pytest.mark.parametrize(
    "own, others, stops",
    [(0, 1, True), (1, 2, True), (1, 1, False), (2, 1, False), (1, 70, True), (70, 65, False)],
)
def test_a_class_whose_notebooks_are_of_another_assignment_is_refused(own, others, stops):
    some = handed_in(*[perfect(NOW, "ada")] * own, *[of_balance()] * others)
    some += [submissions.Submission("zoe", "", None), *handed_in(b"%PDF")]
    if not stops:
        return grade.refuse_another(ROOFLINE, some)
    with pytest.raises(submissions.SubmissionError) as raised:
        grade.refuse_another(ROOFLINE, some)
    assert raised.value.exit_code == 2
    assert "are of the assignment 'balance'" in str(raised.value) or others == 1
    assert str(raised.value).endswith("Write --assignment balance.")


def test_grading_by_the_wrong_name_writes_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "class").mkdir()
    for student in STUDENTS:
        (tmp_path / "class" / f"{student}.ipynb").write_bytes(of_balance(student))
    for command in ("grade", "similar"):
        assert cli.main(["assign", command, "class", "--assignment", "roofline"]) == 2
        said = capsys.readouterr().err
        assert "4 of 4 notebooks are of the assignment 'balance', not of 'roofline'" in said
        assert said.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["class"]
    renamed = tmp_path / "balance-v2.md"
    renamed.write_text(grade.source_of(assignments()["balance"]))
    assert cli.main(["assign", "grade", "class", "--assignment", str(renamed)]) == 2
    assert f"or give {renamed.resolve()} the name balance.md" in capsys.readouterr().err


SPOILT = [
    "{",
    "[]",
    "null",
    "[" * 100_000,
    '{"a":' * 5_000,
    "1" * 10_000,
    '{"given": 3}',
    '{"given": {"batch": 3}}',
    '{"given": {"batch": {"values": []}}}',
    '{"given": {"batch": {"values": [1], "index": [7]}}}',
    '{"given": {"batch": {"values": [1], "index": "0"}}}',
    '{"given": {"batch": {"values": [NaN], "index": [-1, 0.5]}}}',
    '{"edition": "<b>"}',
    '{"edition": ["0123456789ab"]}',
    '{"edition": "0123456789ab", "given": {"batch": {"values": [[[["x"]]]]}}}',
    '{"assignment": "' + "x" * 500 + '"}',
    '{"assignment": "\\u202eroofline"}',
    '{"given": {"' + "x" * 900 + '": {"values": ["' + "y" * 900 + '"]}}}',
]


@pytest.mark.parametrize("literal", SPOILT, ids=range(len(SPOILT)))
def test_a_forged_setup_is_read_strictly(literal):
    made = nbformat.reads(perfect(NOW, "ada"), 4)
    head, _, rest = made["cells"][1]["source"].rpartition("assignment = Assignment(r'''")
    made["cells"][1]["source"] = (
        f"{head}assignment = Assignment(r'''{literal}''', "
        f"student){rest.partition(chr(39) * 3 + ', student)')[2]}"
    )
    result = grade.grade_one(ROOFLINE, "ada", notebooks.text(made).encode(), ask=missing([]))
    assert len(result["notices"]) <= 2 and all(
        note.isprintable() and len(note) < 500 for note in result["notices"]
    )
    assert store.canonical(result)


@pytest.mark.parametrize(
    "unit",
    [
        "check(",
        'check("a",',
        'check("a")\n',
        "#",
        "# check\n",
        " \n",
        'student = ""\n',
        "%pip x\n",
        "assignment = Assignment(r'''",
        "''', student)\n",
        "from handful_study.student import Assignment\n",
        "given, check = assignment.given, assignment.check\n",
        ";",
        " ",
        "check();",
    ],
)
def test_recognising_cells_takes_time_in_proportion(unit):
    def seconds(length: int) -> float:
        data = json.dumps(
            {
                "cells": [
                    {"cell_type": "code", "source": (unit * (length // len(unit) + 1))[:length]}
                ]
            }
        ).encode()
        best = float("inf")
        for _ in range(3):
            began = time.process_time()
            notebook_reader.read(data)
            best = min(best, time.process_time() - began)
        return best

    assert seconds(900_000) < 0.05 + 2.5 * seconds(450_000)


# Commands


@pytest.mark.sandbox
def test_what_was_built_is_remembered(tmp_path, monkeypatch, capsys):
    """`build` keeps the source of what it hands out.

    `grade` finds it after the source has changed.
    """
    monkeypatch.setenv(
        "PYTHONPATH", str(Path(notebook_reader.__file__).resolve().parents[2])
    )  # for other processes, from another folder
    monkeypatch.chdir(tmp_path)
    source = tmp_path / "roofline.md"
    source.write_text(DRAWS)
    assert cli.main(["assign", "build", "roofline.md", "--no-pdf"]) == 0
    (kept,) = (tmp_path / "roofline" / "teacher" / "editions").iterdir()
    assert kept.read_text() == DRAWS and kept.name == f"roofline-{edition_of(DRAWS)}.md"
    assert not list((tmp_path / "roofline" / "release").rglob("*.md"))
    source.write_text(NOW)
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "ada.ipynb").write_bytes(perfect(DRAWS, "ada", typed=True))
    capsys.readouterr()
    grading = ["assign", "grade", "class", "--assignment", "roofline.md", "--jobs", "1", "--json"]
    assert cli.main(grading) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["statuses"] == {"ok": 1}, json.dumps(told)
    assert any("graded by the inputs of its own edition" in note for note in told["notes"])
    kept.write_text("---\ntitle: x\n---\n")
    assert cli.main(grading) == 0
    told = json.loads(capsys.readouterr().out)
    assert (
        told["before"] == 0
        and told["statuses"] == {"wrong": 1}
        and any(kept.name in note and "not used" in note for note in told["notes"])
    )
    assert cli.main([*grading, "--earlier", str(kept)]) == 2
    error = capsys.readouterr().err
    assert kept.name in error and error.count("\n") == 1
    assert (
        cli.main([*grading, "--earlier", "nowhere"]) == 2 and "nowhere" in capsys.readouterr().err
    )
