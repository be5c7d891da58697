"""Tests of what a teacher may get wrong in a hurry: none of it may cost anybody a grade unseen."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from handful import cli
from handful_classroom.grading import grade, store
from handful_classroom.grading.student_grade import UNTOUCHED
from handful_classroom.grading.submissions import Submission
from handful_classroom.release import notebooks
from handful_classroom.release.assignment import assignments, read_text
from handful_classroom.sandbox.protocol import Answer, Outcome

ROOFLINE = assignments()["roofline"]


@pytest.fixture
def graded(tmp_path, capsys):
    """Return a function that grades files of the students named, none of which is a notebook.

    Nothing runs then; it returns the exit code and what was said on both streams.
    """

    def run(names: str, *more: str) -> tuple[int, str, str]:
        some = tmp_path / f"class of {names}"
        some.mkdir(exist_ok=True)
        for name in names.split():
            (some / f"{name}.ipynb").write_text("{}")
        asked = ["assign", "grade", str(some), "--assignment", "roofline", "--jobs", "1"]
        code = cli.main([*asked, "-o", str(tmp_path / "results"), *more])
        return code, *capsys.readouterr()

    return run


def students(folder: Path) -> list[str]:
    return [one["student"] for one in store.results(folder / "results")]


def of_canvas(folder: Path) -> list[str]:
    with open(folder / "results" / "lms" / "canvas.csv", newline="") as file:
        return [row["Student"] for row in csv.DictReader(file)][1:]


@pytest.mark.parametrize("again", [False, True])
def test_a_roster_that_names_half_of_the_class_is_refused_until_newcomers_are_let_in(
    tmp_path, graded, again
):
    roster = tmp_path / "class.csv"
    roster.write_text("student\nada\nbob\neve\n")
    named = ("--roster", str(roster))
    if again:
        assert graded("ada bob", *named)[0] == 0
    for names, said in (
        ("ada bob yves zoe", "2 of the 4 who handed in, such as yves, are not on"),
        ("ada yves zoe", "2 of the 3 who handed in, such as yves, are not on"),
    ):
        code, out, err = graded(names, *named)
        assert code == 2 and said in err and "nothing was done" in err and not out
        assert "--newcomers grades them all the same" in err
        assert (tmp_path / "results").exists() == again  # nothing was written
    if again:
        assert students(tmp_path) == ["ada", "bob", "eve"]
    code, out, err = graded("ada bob yves zoe", *named, "--newcomers")
    assert code == 0 and students(tmp_path) == ["ada", "bob", "eve", "yves", "zoe"]
    # It is the first that is said after grading, and says where their grades are.
    first = next(line for line in err.splitlines() if not line.startswith("Went"))
    assert first.startswith(
        "2 are nobody on the roster: yves, zoe.  Their grades are in grades.csv"
    )
    assert of_canvas(tmp_path) == ["ada", "bob", "eve"]
    with open(tmp_path / "results" / "grades.csv", encoding="utf-8-sig", newline="") as file:
        assert {row["student"] for row in csv.DictReader(file)} == set(
            ["ada", "bob", "eve", "yves", "zoe"]
        )
    assert graded("ada bob yves zoe", *named)[0] == 0  # who was let in is known from now on


def test_a_roster_that_lacks_a_few_is_taken(tmp_path, graded):
    roster = tmp_path / "class.csv"
    roster.write_text("student\nada\nbob\ncyn\n")
    assert graded("ada bob cyn dan fay", "--roster", str(roster))[0] == 0
    assert "dan" in students(tmp_path)


def test_a_second_section_without_a_roster_joins_no_class_in_silence(tmp_path, graded):
    assert graded("ada bob cyn")[0] == 0
    code, _, err = graded("xia yan zoe")
    assert code == 2 and students(tmp_path) == ["ada", "bob", "cyn"]
    assert "None of the 3 who handed in, such as xia, is among those who were graded in" in err
    assert "another folder with -o" in err and "--newcomers" in err
    assert graded("ada xia")[0] == 0  # one newcomer may come late
    code, _, err = graded("ada bob cyn xia yan zoe")  # fewer than half are new
    assert code == 0 and "2 had no result here before: yan, zoe.  To take a second" in err
    code, _, err = graded("gil hal", "--newcomers")
    assert code == 0 and "2 had no result here before: gil, hal." in err
    assert graded("ada bob cyn", "--alone")[0] == 0 and students(tmp_path) == ["ada", "bob", "cyn"]
    # In the place of the old class, as asked for.
    assert graded("xia yan zoe", "--alone")[0] == 0 and students(tmp_path) == ["xia", "yan", "zoe"]


def test_a_class_that_was_stopped_goes_on_without_a_roster(tmp_path, graded):
    assert graded("ada")[0] == 0
    made = [
        (one["student"], one["key"]) for one in store.overview(tmp_path / "results")["students"]
    ]
    store.Store(tmp_path / "results").finish(
        "roofline", made, complete=False
    )  # as Ctrl-C leaves it
    code, _, err = graded("ada bob cyn dan")
    assert code == 0 and "no result here before" not in err
    assert students(tmp_path) == ["ada", "bob", "cyn", "dan"]
    assert graded("ada eve fay gil")[0] == 2  # now that it is whole


def test_a_late_file_is_said_to_be_the_one_that_was_graded(tmp_path, graded, capsys):
    roster = tmp_path / "class.csv"
    roster.write_text("student\nada\nbob\ncyn\n")
    code, out, err = graded("ada bob", "--roster", str(roster))
    assert code == 0 and "The whole class" not in out  # all of it was graded now
    assert "ungradable     2\nnot handed in  1\n" in out
    assert "Went through 3 of 3: ungradable 2, not handed in 1\n" in err
    graded("ada")  # so that the folder is there
    for names, says in (
        ("cyn", "Graded now: 1 of 3, cyn (ungradable)."),
        ("ada bob cyn", "Nothing new was handed in, and nothing had to be graded again."),
    ):
        code, out, err = graded(names)
        assert code == 0 and out.startswith(f"{says}\n\nThe whole class:\nungradable  3\n")
        assert "Went through 3 of 3" in err and "Graded 3 of 3" not in err
    (tmp_path / "class of ada" / "ada.ipynb").write_text("[]")
    asked = ["assign", "grade", "--assignment", "roofline", "-o", str(tmp_path / "results")]
    assert cli.main([*asked, str(tmp_path / "class of ada")]) == 0
    capsys.readouterr()
    # Her first file is back, of which there is a result already.
    code, out, err = graded("ada bob")
    assert out.startswith("Nothing had to be graded, but 1 has another submission than the last")
    assert "last time: ada." in out and "2 were graded before and left as they are" in err
    assert "Went through 3 of 3: ungradable 2, not among these 1" in err
    told = json.loads(graded("ada bob cyn", "--again", "--json")[1])
    assert told["new"] == dict.fromkeys(["ada", "bob", "cyn"], "ungradable")


def test_rows_and_lateness_of_a_first_file_are_named_at_the_second(tmp_path, graded, capsys):
    worksheet, out = tmp_path / "worksheet.csv", tmp_path / "results"
    lines = [f"Participant {i},{who},{who},Submitted,\n" for i, who in enumerate(("ada", "bob"))]
    worksheet.write_text("".join(["Identifier,Full name,ID number,Status,Grade\n", *lines]))
    assert graded("ada bob", "--roster", str(worksheet))[0] == 0
    (out / "adjustments.csv").write_text("student,question,points,reason\nada,total,to 9,\n")
    (tmp_path / "late").mkdir()
    (tmp_path / "late" / "ada.ipynb").write_text("[]")
    asked = ["assign", "grade", str(tmp_path / "late"), "--assignment", "roofline", "-o", str(out)]
    rows = "and that count all the same: ada, row 2 (total, to 9)."
    late = "ada handed in another file than before, and Moodle's list is that of before"
    code, _, err = graded("ada bob")  # the same again
    assert code == 0 and rows not in err and late not in err

    def again(*more: str) -> list[str]:
        assert cli.main([*asked, "--json", *more]) == 0
        return json.loads(capsys.readouterr().out)["notes"]

    notes = again()
    assert rows in notes[0] and any(note.startswith(late) for note in notes)
    (tmp_path / "late" / "ada.ipynb").write_text("[1]")
    notes = again("--roster", str(worksheet))  # exported anew
    assert rows in notes[0] and not any(note.startswith(late) for note in notes)


def notebook(student: str, fill: str = "empty", **more: object) -> bytes:
    return notebooks.text(notebooks.notebook(ROOFLINE, student, fill) | more).encode()


def nothing(cells, asked, given, limits, library) -> Outcome:
    """Answer in the sandbox's place, as a notebook does in which nothing is filled in."""
    return Outcome(tuple(Answer("missing", says="It is not there.") for _ in asked))


def test_a_class_of_notebooks_as_they_were_handed_out_is_asked_about(tmp_path, capsys):
    """Of three, two are untouched: ask.  Of five, two are: name them."""
    solved = json.loads(notebook("cyn", "solution"))
    written = json.loads(notebook("dan"))
    for cell in written["cells"]:
        cell["source"] = "".join(cell["source"]).replace(notebooks.WRITE_HERE, "Because.")
    # Typed an id and saved, with an outcome beside each cell and an empty cell at the end.
    saved = json.loads(notebook(""))
    for cell in saved["cells"]:
        cell["source"] = "".join(cell["source"]).replace('student = ""', 'student = "bob"')
        cell["metadata"]["collapsed"] = False
    saved["cells"].append(notebooks.cell("code", "mine", ""))
    none = {"cells": [], "nbformat": 4, "nbformat_minor": 5, "metadata": {}}
    some = {"ada": json.loads(notebook("ada")), "bob": saved, "cyn": solved}
    more = some | {"dan": written, "eve": none}
    asked = "2 of 3 notebooks are as they were handed out, with nothing filled in: was the right"
    named = "2 of 5 notebooks are as they were handed out, with nothing filled in: ada, bob."
    for students, says in ((some, asked), (more, named)):
        given = [Submission(name, "", json.dumps(one).encode()) for name, one in students.items()]
        grade.run(ROOFLINE, given, tmp_path, jobs=0, ask=nothing)
        assert cli.main(["assign", "report", str(tmp_path)]) == 0
        first = capsys.readouterr().out.splitlines()[1]  # below the line that names the class
        assert first.startswith(f"- {says}"), first
        assert says in (tmp_path / "report.html").read_text()
    for student in more:
        page = (tmp_path / "feedback" / f"{student}.html").read_text()
        assert page.count("Nothing was filled in") == (student in ("ada", "bob"))
    assert "Some answers are missing" not in (tmp_path / "feedback" / "ada.html").read_text()


def test_notebooks_of_an_earlier_edition_are_known_as_they_were_handed_out(tmp_path):
    source = grade.source_of(ROOFLINE)
    assert "# Seconds for each of the three" in source
    older = source.replace("# Seconds for each of the three", "# The seconds of the three")
    made = notebooks.notebook(read_text(older, "roofline.md"), "ada")
    data = notebooks.text(made).encode()
    for earlier, known in (([older], True), ([], False)):
        editions = grade.earlier_editions(ROOFLINE, earlier)
        found = grade.grade_one(ROOFLINE, "ada", data, ask=nothing, earlier=editions)
        assert (UNTOUCHED in found["notices"]) == known


@pytest.mark.sandbox
def test_the_command_asks_before_anything_else_whether_these_are_the_files(tmp_path, capsys):
    (tmp_path / "class").mkdir()
    for student in ("ada", "bob"):
        (tmp_path / "class" / f"{student}.ipynb").write_bytes(notebook(student))
    asked = ["assign", "grade", str(tmp_path / "class"), "--assignment", "roofline", "--json"]
    assert cli.main([*asked, "-o", str(tmp_path / "out")]) == 0
    notes = json.loads(capsys.readouterr().out)["notes"]
    assert notes[0].startswith("2 of 2 notebooks are as they were handed out")
    assert sum("as they were handed out" in note for note in notes) == 1


def test_a_check_names_the_adjustments_that_no_longer_fit(tmp_path, capsys, monkeypatch):
    """Make weight_bytes worth 3 points, not 4."""
    monkeypatch.chdir(tmp_path)
    solved = [Submission(one, "", notebook(one, "solution")) for one in ("ada", "bob")]
    grade.run(ROOFLINE, solved, tmp_path / "roofline-results", jobs=0, ask=nothing)
    rows = [
        "ada,weight_bytes,to 4,",  # 2: more than there are now
        "bob,weight_bytes,to 3,",  # 3: all of them now, and it was not
        "*,weight_bytes,to 0,",  # 4: nothing then and now
        "*,weight_bytes,excused,",  # 5
        "ada,times,1,",  # 6: as it was
        "bob,total,-1,",  # 7: of another total
        "*,late,10% a day,",  # 8
        "*,missing,to 0,",  # 9
        "ada,no_such,1,",  # 10
    ]
    table = tmp_path / "roofline-results" / "adjustments.csv"
    table.write_text("\n".join(["student,question,points,reason", *rows]))
    source = grade.source_of(ROOFLINE)
    mended = tmp_path / "mended" / "roofline.md"
    mended.parent.mkdir()

    def noted(*words: str) -> list[str]:
        assert cli.main(["assign", "check", *words, "--variants", "1"]) == 0
        lines = capsys.readouterr().err.splitlines()
        return [line.partition("adjustments.csv, ")[2] for line in lines if "adjustments" in line]

    head, _, tail = source.rpartition("points: 4\n")  # those of weight_bytes
    mended.write_text(f"{head}points: 3\n{tail}")
    assert ROOFLINE.questions["weight_bytes"].points == 4
    assert read_text(mended.read_text(), str(mended)).questions["weight_bytes"].points == 3
    notes = noted(str(mended))
    assert [note.partition(":")[0].partition(",")[0] for note in notes] == [
        "row 2",
        "row 3",
        "row 7",
        "row 10",
    ]
    assert "'to 4' is not within 0 to 3" in notes[0]
    assert "'to 3' is about weight_bytes, which had 4 points and has 3 now" in notes[1]
    assert "'-1' is about total, which had 26 points and has 25 now" in notes[2]
    assert "'no_such' is no question" in notes[3]
    # By the source that it was graded by, only what can never be read is named.
    assert [note[:6] for note in noted("roofline")] == ["row 10"]
    # Elsewhere the folder has to be named, and has to be one of this assignment.
    (tmp_path / "roofline-results").rename(tmp_path / "spring")
    assert noted(str(mended)) == [] and noted(str(mended), "--results", "spring") == notes
    for words in (("balance", "--results", "spring"), ("roofline", "--results", "mended")):
        assert cli.main(["assign", "check", *words, "--variants", "1"]) == 2
    assert cli.main(["assign", "check", "all", "--results", "spring"]) == 2


# Exit codes


@pytest.mark.parametrize("name", ["list", "build", "check", "export", "grade", "verify", "key"])
def test_each_command_says_what_its_exit_codes_mean(name, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["assign", name, "--help"])
    assert ended.value.code == 0
    said = " ".join(capsys.readouterr().out.split())
    assert said.count("Exit codes:") == 1 and "1 not done, or not for everybody" in said
    assert "2 something that was given is wrong" in said


def test_what_is_given_wrongly_ends_with_two_and_what_goes_wrong_with_one(tmp_path, graded, capsys):
    assert graded("ada bob")[0] == 0
    out, key = tmp_path / "results", tmp_path / "key"

    def ends(*words) -> int:
        return cli.main(["assign", *map(str, words)])

    assert ends("report", out) == 0 and ends("key", key) == 0
    # Given wrongly: the same, whichever command reads it.
    (out / "adjustments.csv").write_text("student,question,points,reason\nzoe,total,1,\n")
    code, _, err = graded("ada bob")
    assert code == 2 and "'zoe' is no student" in err
    assert ends("report", out) == 2
    (out / "adjustments.csv").unlink()
    (tmp_path / "a file").write_text("")
    assert ends("key", key) == 2  # it is there already
    assert ends("verify", out, "--key", tmp_path / "none") == 2
    assert ends("verify", tmp_path, "--key", key) == ends("report", tmp_path) == 2  # no class
    assert graded("ada bob", "-o", str(tmp_path / "a file" / "x"))[0] == 2
    assert ends("report", out, "--source", "balance") == 2  # of another assignment
    # Nothing given is wrong.
    capsys.readouterr()
    assert ends("verify", out, "--key", key) == 1  # not signed
    assert "2 cannot be trusted" in capsys.readouterr().err
    with store.opened(out):
        code, _, err = graded("ada bob")
        assert code == 1 and "Another grading" in err
    (out / "class.json").write_text("{")
    assert ends("report", out) == 1 and "is damaged" in capsys.readouterr().err


# Notebooks as they were handed out


@pytest.fixture
def classroom(tmp_path, capsys):
    """Return a function that grades notebooks of the roster's ada, bob and cyn; see `graded`."""
    roster = tmp_path / "class.csv"
    roster.write_text("student\nada\nbob\ncyn\n")

    def run(name: str, filled: str, *more: str) -> tuple[int, str, str]:
        (tmp_path / name).mkdir(exist_ok=True)
        for student in ("ada", "bob", "cyn"):
            file = tmp_path / name / f"{student}.ipynb"
            if student in filled.split():
                file.write_bytes(notebook(student, "solution"))
            elif name == "released":
                file.write_bytes(notebook(student))
        asked = ["assign", "grade", str(tmp_path / name), "--assignment", "roofline", "--jobs", "1"]
        code = cli.main([*asked, "--roster", str(roster), "-o", str(tmp_path / "results"), *more])
        return code, *capsys.readouterr()

    return run


@pytest.mark.sandbox
def test_released_notebooks_take_no_graded_class_s_place_unless_told(tmp_path, classroom):
    out = tmp_path / "results"
    assert classroom("handed in", "ada bob")[0] == 0

    def state() -> dict[str, bytes]:
        return {str(one): one.read_bytes() for one in out.rglob("*") if one.is_file()}

    def handed_in() -> list[str]:
        return [one["student"] for one in store.results(out) if one["submission"]]

    before = state()
    assert handed_in() == ["ada", "bob"]
    for more in ((), ("--alone",), ("--newcomers",)):
        code, said, err = classroom("released", "", *more)
        assert code == 2 and not said and state() == before
        assert (
            "3 of 3 notebooks are as they were handed out, with nothing filled in, and would"
            in (err)
        )
        assert "ada, bob handed in before; nothing was done" in err and "--unfilled" in err
    assert classroom("released", "", "--unfilled")[0] == 0
    assert handed_in() == ["ada", "bob", "cyn"]
    # Graded again, whoever handed in nothing has no empty notebook left.
    code, _, err = classroom("handed in", "ada bob")
    assert code == 0 and handed_in() == ["ada", "bob"] and students(tmp_path)[2] == "cyn"
    assert "cyn: only a notebook as it was handed out was graded here" in err
    # What a few hand in so is theirs, and stays when somebody comes late.
    (tmp_path / "handed in" / "cyn.ipynb").write_bytes(notebook("cyn"))
    assert classroom("handed in", "ada bob")[0] == 0
    (tmp_path / "handed in" / "cyn.ipynb").unlink()
    assert classroom("handed in", "ada bob")[0] == 0 and handed_in() == ["ada", "bob", "cyn"]


def test_what_build_made_for_students_is_not_what_they_handed_in(tmp_path, graded, capsys):
    for made in ("release/ada", "teacher/editions"):
        (tmp_path / "roofline" / made).mkdir(parents=True)
    (tmp_path / "roofline" / "release" / "ada" / "roofline.ipynb").write_bytes(notebook("ada"))
    (tmp_path / "roofline" / "teacher" / "roofline-solution.ipynb").write_text("{}")
    for name in ("", "release", "teacher"):
        asked = ["assign", "grade", str(tmp_path / "roofline" / name), "--assignment", "roofline"]
        assert cli.main([*asked, "-o", str(tmp_path / "results")]) == 2
        assert "is what 'handful assign build' made" in capsys.readouterr().err
    assert not (tmp_path / "results").exists()
