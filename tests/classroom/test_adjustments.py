"""Tests of what a teacher changes by hand: points, excuses, lateness, extensions.

What an LMS gets, what the student reads and what the table says has to be the same sum, and nothing
that a teacher wrote is lost or passed over in silence.
"""

import csv
import io
import json
import math
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from class_samples import KINDS, assignment, class_of, result
from handful import cli
from handful_classroom import tables
from handful_classroom.grading import adjustments, class_lists, grades, store
from handful_classroom.grading.submissions import CAME_LATE
from handful_classroom.reports import feedback, report, stats

POINTS = {name: points for name, kind, points, _ in KINDS if kind != "written"}
RIGHT = {name: ("ok", points, None, "") for name, points in POINTS.items()}
NONE = {name: ("wrong", 0, None, "") for name in POINTS}
ADA = result("ada", {**RIGHT, "step_time": ("wrong", 2, None, "")})  # 11 of 13
BOB = result("bob", {**RIGHT, "why": ("waiting", 0, None, "Because.")})  # 13, and 4 wait
CYN = result("cyn", {}, "missing", submission="", says="Nothing was handed in.") | {"questions": []}
DAN = result("dan", {}, "ungradable", says="It is no notebook.") | {"questions": []}
EVE = result("eve", RIGHT, notices=(CAME_LATE,))
CLASS = [ADA, BOB, CYN, DAN, EVE]


def adjusted(folder: Path, *rows: str, encoding="utf-8-sig"):
    text = "\r\n".join(["student,question,points,reason", *rows]) + "\r\n"
    (folder / "adjustments.csv").write_bytes(text.encode(encoding))


def written(folder: Path, some=CLASS, **more):
    made, notes = grades.write(folder, assignment(), some, **more)
    feedback.write(folder, assignment(), grades.with_results(made, some))
    report.write(folder, assignment(), made, notes)
    return {one.student: one for one in made}, notes


def table(folder: Path):
    text = (folder / "grades.csv").read_bytes().decode("utf-8-sig")
    return {row["student"]: row for row in csv.DictReader(io.StringIO(text, newline=""))}


def lms(folder: Path):
    """Return what each system is told of each student: Canvas, Moodle, JSON."""
    canvas = csv.DictReader(io.StringIO((folder / "lms" / "canvas.csv").read_text(), newline=""))
    moodle = csv.DictReader(io.StringIO((folder / "lms" / "moodle.csv").read_text(), newline=""))
    found = json.loads((folder / "lms" / "grades.json").read_bytes())["grades"]
    title = assignment().title
    return (
        {row["SIS Login ID"] or row["Student"]: row[title] for row in canvas},
        {row["Username"]: (row[title], row["Feedback comments"]) for row in moodle},
        {one["student"]: one for one in found},
    )


def page(folder: Path, student: str) -> str:
    return (folder / "feedback" / f"{student}.html").read_text()


def test_the_table_is_made_once_and_then_only_read(tmp_path):
    written(tmp_path)
    assert tables.read(tmp_path / "adjustments.csv")[1] == list(adjustments.HEAD)
    adjusted(tmp_path, "ada,step_time,1,regrade")
    before = (tmp_path / "adjustments.csv").read_bytes()
    written(tmp_path)
    assert (tmp_path / "adjustments.csv").read_bytes() == before


def test_a_change_shows_in_table_feedback_and_lms(tmp_path):
    adjusted(
        tmp_path,
        "Ada,step_time,1,the third call was right",
        "ada,total,-0.5,no names on the axes",
        "*,coin,to 1,the question was unclear",
    )
    made, _ = written(tmp_path)
    assert made["ada"].total == 11 + 1 - 0.5
    row = table(tmp_path)["ada"]
    assert (row["checks"], row["adjusted"], row["late"], row["total"]) == ("11", "0.5", "", "11.5")
    assert row["step_time"] == "3"
    assert "step_time: +1 point: the third call was right." in row["adjustments"]
    canvas, moodle, found = lms(tmp_path)
    assert canvas["ada"] == moodle["ada"][0] == "11.5" and found["ada"]["total"] == 11.5
    assert "no names on the axes" in moodle["ada"][1]
    shown = page(tmp_path, "ada")
    assert "11.5 of 17" in shown and "3 of 4 points" in shown
    assert "Your teacher: +1 point: the third call was right." in shown
    assert "Changed by your teacher" in shown and "−0.5 points: no names on the axes." in shown
    assert "Set to 1 point: the question was unclear." in page(tmp_path, "bob")
    assert "Changed by your teacher" not in page(tmp_path, "bob")  # it stands at the question
    grade_scope = json.loads((tmp_path / "lms" / "gradescope" / "ada" / "results.json").read_text())
    assert grade_scope["score"] == 11.5
    assert {one["name"]: one["score"] for one in grade_scope["tests"]}["step_time"] == 3


def test_who_is_excused_has_no_grade_and_is_told_so(tmp_path):
    adjusted(tmp_path, 'cyn,total,excused,"ill, with a note"')
    made, _ = written(tmp_path)
    assert made["cyn"].excused and not made["cyn"].graded
    canvas, moodle, found = lms(tmp_path)
    assert canvas["cyn"] == "EX" and moodle["cyn"] == ("-", "Excused: ill, with a note.")
    assert found["cyn"]["excused"] and table(tmp_path)["cyn"]["total"] == "excused"
    assert "Excused: ill, with a note." in page(tmp_path, "cyn")
    assert "No grade yet" not in page(tmp_path, "cyn") and "No grade yet" in page(tmp_path, "dan")


def test_who_is_excused_from_a_question_is_graded_by_the_others_out_of_all_points(tmp_path):
    adjusted(tmp_path, "bob,why,excused,was ill", "bob,total,1,", "ada,step_time,excused,")
    made, notes = written(tmp_path)
    # Bob has all 13 of the other points, and nothing waits; ada 9 of the other 13 out of 17.
    assert (made["bob"].total, made["bob"].possible, made["bob"].waiting) == (18, 17, 0)
    assert made["bob"].final and made["ada"].total == pytest.approx(9 * 17 / 13, abs=0.005)
    canvas, moodle, found = lms(tmp_path)
    assert canvas["bob"] == "18" and found["bob"]["questions"]["why"] is None
    says = "why is excused; the other questions count for all 17 points."
    assert says in moodle["bob"][1] and "why: Excused: was ill." in moodle["bob"][1]
    assert says in page(tmp_path, "bob") and "Your teacher: Excused: was ill." in page(
        tmp_path, "bob"
    )
    row = table(tmp_path)["bob"]
    assert (row["why"], row["total"]) == ("excused", "18")
    parts = [float(row[name] or 0) for name in ("checks", "rubric", "adjusted", "late")]
    assert sum(parts) == pytest.approx(18)
    scope = json.loads((tmp_path / "lms" / "gradescope" / "bob" / "results.json").read_text())
    assert scope["score"] == 18 and "why" not in [one["name"] for one in scope["tests"]]
    assert "Waits for your teacher" not in scope["output"]
    assert not [note for note in notes if "does not count" in note]


def test_everybody_is_excused_from_a_question_but_who_has_a_row(tmp_path):
    adjusted(tmp_path, "*,step_time,excused,it was flawed", "ada,step_time,to 4,solved it")
    made, _ = written(tmp_path)
    assert made["ada"].total == 13 and made["ada"].left_out == set()
    assert made["eve"].total == pytest.approx(9 * 17 / 13, abs=0.005)
    assert made["eve"].left_out == {"step_time"}
    # What still waits counts more, too: 9 of 9 points are there, and 4 wait, out of 17.
    assert made["bob"].waiting == pytest.approx(4 * 17 / 13, abs=0.005)
    assert made["bob"].total == pytest.approx(9 * 17 / 13, abs=0.005)


def test_an_excuse_that_leaves_nothing_is_said_not_to_count(tmp_path):
    names = [part["name"] for part in ADA["questions"]]
    adjusted(tmp_path, *(f"ada,{name},excused," for name in names), "bob,balance,excused,x")
    with (tmp_path / "adjustments.csv").open("a") as file:
        file.write("bob,balance,1,y\r\ncyn,balance,excused,\r\n*,missing,to 0,\r\n")
    made, notes = written(tmp_path)
    said = "\n".join(notes)
    assert "no question is left; write total,excused" in said
    assert "does not count: balance of bob is excused" in said
    assert "nothing of cyn's was graded question by question" in said
    assert made["ada"].graded and math.isfinite(made["ada"].total) and made["cyn"].total == 0


def test_a_total_that_is_set_stands_whatever_waits_or_came_late(tmp_path):
    adjusted(
        tmp_path,
        "dan,total,to 9,read by hand",
        "bob,total,to 15,",
        "eve,total,to 10,agreed",
        "*,late,10% a day,",
    )
    made, notes = written(tmp_path)
    assert [made[who].total for who in ("dan", "bob", "eve")] == [9, 15, 10]
    assert all(made[who].final for who in ("dan", "bob", "eve"))
    canvas, _, _ = lms(tmp_path)
    assert [canvas[who] for who in ("dan", "bob", "eve")] == ["9", "15", "10"]
    assert made["eve"].penalty == 0 and "days late" not in page(tmp_path, "eve")
    assert not [note for note in notes if "wait for points" in note]


def test_a_question_that_is_set_waits_no_more(tmp_path):
    adjusted(tmp_path, "bob,why,to 3,")
    made, _ = written(tmp_path)
    assert made["bob"].final and made["bob"].total == 16 and made["bob"].waiting == 0
    adjusted(tmp_path, "bob,why,1,")  # nothing to add to yet
    made, _ = written(tmp_path)
    assert not made["bob"].final and made["bob"].total == 13 and made["bob"].waiting == 4


@pytest.mark.parametrize(
    "rows, days, penalty",
    [
        (["*,late,10% a day,"], 1, 1.7),  # of all 17 points; the file's name says no more
        (["*,late,-10 % per day,"], 1, 1.7),
        (["*,late,2 points a day,", "eve,late,3 days,"], 3, 6),
        (['*,late,"20% a day, at most 50%",', "eve,late,4 days,"], 4, 8.5),
        (['*,late,"2 points a day, at most 3 points",', "eve,late,4 days,"], 4, 3),
        (["*,late,10% a day,", "eve,late,25 hours,"], 2, 3.4),
        (["*,late,10% a day,", "eve,late,3 days,", "eve,extension,2 days,ill"], 1, 1.7),
        (["*,late,10% a day,", "eve,late,3 days,", "eve,extension,1 week,ill"], 0, 0),
        (["*,late,10% a day,", "*,extension,30 minutes,", "eve,late,20 mins,"], 0, 0),
        (["*,late,10% a day,", "eve,extension,2 days,"], 0, 0),
        (["*,late,10% a day,", "eve,late,0,the server was down"], 0, 0),
        (["*,late,50% a day,", "eve,late,9 days,"], 9, 13),  # never more than there is
    ],
)
def test_lateness_costs_what_the_rule_says(tmp_path, rows, days, penalty):
    adjusted(tmp_path, *rows)
    made, _ = written(tmp_path)
    eve = made["eve"]
    assert (eve.late.days if eve.late else 0) == days
    assert eve.penalty == pytest.approx(penalty) and eve.total == pytest.approx(13 - penalty)
    assert made["ada"].penalty == 0
    row = table(tmp_path)["eve"]
    assert float(row["late"] or 0) == pytest.approx(-penalty)
    assert ("late" in lms(tmp_path)[1]["eve"][1]) == bool(penalty or "extension" in str(rows))
    assert ("days late" in page(tmp_path, "eve") or "1 day late" in page(tmp_path, "eve")) == bool(
        penalty
    )
    assert ("within an extension" in page(tmp_path, "eve")) == (
        "extension" in str(rows) and not penalty
    )


def test_late_work_without_a_rule_is_named_and_costs_nothing(tmp_path):
    made, notes = written(tmp_path)
    assert made["eve"].total == 13
    said = " ".join(notes)
    assert "1 submission came late: eve: how late is not known.  Nothing is taken" in said
    assert CAME_LATE in page(tmp_path, "eve")
    assert "Changed by your teacher" not in page(tmp_path, "eve")
    adjusted(tmp_path, "*,late,10% a day,")
    notes = written(tmp_path)[1]
    assert any("How late eve came is not known: a download of Canvas says" in n for n in notes)
    # Once it is said what that costs, the student is not told again that it came late.
    assert CAME_LATE not in page(tmp_path, "eve") and "1 day late" in page(tmp_path, "eve")
    scope = (tmp_path / "lms" / "gradescope" / "eve" / "results.json").read_text()
    assert CAME_LATE not in scope and "1 day late" in scope
    adjusted(tmp_path, "*,late,10% a day,", "eve,extension,3 days,")
    notes = written(tmp_path)[1]
    assert any("one day is counted, or none within an extension." in one for one in notes)
    adjusted(tmp_path, "*,late,10% a day,", "eve,late,2 days,")
    notes = written(tmp_path)[1]
    assert not any("not known" in note for note in notes)
    assert any("came late: eve: 2 days (−3.4 for 2 days)." in note for note in notes)


MOODLE = (
    "Identifier,Full name,Email address,Status,Grade\r\n"
    "Participant 1,Ada L,ada,Submitted for grading - 1 day 2 hours late - Graded,\r\n"
    "Participant 2,Bob B,bob,Submitted for grading,\r\n"
    "Participant 3,Cyn C,cyn,No submission - Assignment is overdue by: 3 days,\r\n"
    'Participant 4,Eve E,eve,"Submitted for grading - 20 mins 5 secs late - Extension granted '
    'until: Monday, 1 June",\r\n'
)


def test_moodles_worksheet_says_who_came_how_late_and_is_remembered(tmp_path):
    (tmp_path / "worksheet.csv").write_bytes(MOODLE.encode())
    out = tmp_path / "out"
    out.mkdir()
    adjusted(out, "*,late,10% a day,", "participant 2,total,1,helped others")
    made, notes = written(out, roster=tmp_path / "worksheet.csv")
    assert {who: one.late and one.late.days for who, one in made.items()} == {
        "ada": 2,
        "bob": None,
        "cyn": None,
        "dan": None,
        "eve": 1,
    }
    assert made["ada"].penalty == pytest.approx(3.4) and made["bob"].total == 14
    assert not any("does not say by how much" in note for note in notes)
    late = "ada: 1 day 2 hours (−3.4 for 2 days); eve: 20 minutes 5 seconds (−1.7 for 1 day)."
    assert any(f"2 submissions came late: {late}" in one for one in notes)
    again, _ = written(out)  # the list is kept
    assert again == made and (out / "class-lists" / "moodle.csv").read_bytes() == MOODLE.encode()
    with pytest.raises(tables.TableError):
        written(out, roster=out / "grades.json")
    assert (out / "class-lists" / "moodle.csv").read_bytes() == MOODLE.encode()


def test_rows_written_for_an_earlier_file_are_named_once_another_came(tmp_path):
    """Of ada, whom a total holds down; what is about her or everybody stays unsaid."""
    about_her = ["*,total,1,", "ada,extension,1 day,", "ada,balance,excused,"]
    for_bob = "bob,step_time,-1,no units"
    rows = [*about_her, "Ada,total,to 9,read by hand", for_bob, 'ada,late,2 days,"by mail, late"']
    named = "ada, row 5 (total, to 9) and row 7 (late, 2 days).  Delete those"

    def notes(some=CLASS, **more) -> list[str]:
        return [one for one in written(tmp_path, some, **more)[1] if "handed in anew" in one]

    again = [ADA | {"submission": "f" * 64}, *CLASS[1:]]
    adjusted(tmp_path, *rows)
    assert notes() == [] == notes()
    for _ in range(2):  # until it is mended
        made, said = written(tmp_path, again)
        assert said[0].startswith("adjustments.csv has rows that were written before the student")
        assert named in said[0] and made["ada"].total == 10
    assert notes() == []  # the first file is back
    adjusted(tmp_path, *about_her, "Ada,total,to 9,the second is no better")
    assert notes(again) == []
    assert len(notes()) == 1
    # A row of which no report knew, when the file came that takes the place of the one it is about.
    before = {one["student"]: one["submission"] for one in CLASS if one["submission"]}
    adjusted(tmp_path, *about_her, "ada,total,to 8,", "cyn,total,to 3,on paper")
    came = [*again[:2], CYN | {"submission": "e" * 64}, *again[3:]]
    assert "ada, row 5 (total, to 8); cyn, row 6 (total, to 3)." in notes(came, before=before)[0]


def told(folder: Path, worksheet: str, *rows: str, some=CLASS) -> list[str]:
    """Return what is said of a class with a worksheet, and rows of adjustments."""
    (folder / "worksheet.csv").write_bytes(worksheet.encode())
    (folder / "out").mkdir(exist_ok=True)
    adjusted(folder / "out", *rows)
    return written(folder / "out", some, roster=folder / "worksheet.csv")[1]


def test_a_worksheet_older_than_a_late_file_is_said_to_be_so(tmp_path):
    overdue = "No submission - Assignment is overdue by: 3 days 1 hour"
    older = MOODLE.replace("Submitted for grading,", f"{overdue},")  # of bob, who has a file
    assert older.count("overdue") == 2  # cyn has none, which the list may say
    first = told(tmp_path, older, "*,late,10% a day,")[0]
    assert first.startswith(
        "Moodle's list is older than what bob (overdue by 3 days 1 hour then) handed in"
    )
    assert "counts as in time" in first and "such as bob,late,2 days into" in first
    for row in ("bob,late,4 days,", "bob,late,0,"):
        assert not any("is older" in one for one in told(tmp_path, older, "*,late,1% a day,", row))
    assert not any("is older" in one for one in told(tmp_path, MOODLE, "*,late,10% a day,"))
    # Without a rule nothing is lost by it, and other notes may come before.
    assert any("older than what bob" in note for note in told(tmp_path, older))
    # A list of which nearly all is so is another assignment's.
    nothing = MOODLE.replace("Submitted for grading", "No submission").replace(" late", "")
    first = told(tmp_path, nothing, "*,late,10% a day,")[0]
    assert first.startswith("Moodle's list says of 3 of the 3 who handed in that they did not")


def test_a_rule_that_finds_nobody_late_for_want_of_words_says_so(tmp_path):
    rule = "*,late,10% a day,"
    german = MOODLE.replace("Submitted for grading", "Zur Bewertung abgegeben")
    german = german.replace("1 day 2 hours late", "1 Tag 2 Stunden verspätet")
    first = told(tmp_path, german, rule)[0]
    assert "Whether 2 submissions came late cannot be read: the column Status" in first
    assert "'Zur Bewertung abgegeben - 1 Tag 2 Stunden verspätet - Graded' of ada" in first
    assert "Set your language in Moodle to English" in first and "ada,late,2 days" in first
    in_time = MOODLE.replace(" - 1 day 2 hours late", "").replace(" - 20 mins 5 secs late", "")
    some = [ADA, BOB, CYN, DAN]
    nobody = "The rule for late work in adjustments.csv finds nobody late"
    assert any(one.startswith(nobody) for one in told(tmp_path, in_time, rule, some=some))
    for worksheet, rows in (
        (MOODLE, [rule]),
        (in_time, []),
        (in_time, [rule, "ada,late,0,"]),
    ):
        assert not any(one.startswith(nobody) for one in told(tmp_path, worksheet, *rows))
    # EVE's file bears LATE, and without it nothing says who came late.
    adjusted(tmp_path, rule)
    assert not any(one.startswith(nobody) for one in written(tmp_path)[1])
    assert any(one.startswith(nobody) for one in written(tmp_path, some)[1])


@pytest.mark.parametrize(
    "row, says",
    [
        ("adda,total,1,", "'adda' is no student of these results; did you mean ada?"),
        (",total,1,", "the column student is empty"),
        ("ada,step,1,", "'step' is no question; there are step_time, balance"),
        ("ada,step_time,to 5,", "'to 5' is not within 0 to 4"),
        ("ada,total,to 35,", "'to 35' is not within 0 to 34"),
        ("ada,step_time,some,", "'some' is no change of points; write 2 to add two"),
        ("ada,step_time,pardoned,", "'to 3' to set them, or excused"),
        ("ada,late,soon,", "'soon' is no length of time; write such as '2 days'"),
        ("*,late,0.1 a day,", "'0.1 a day' is no rule for late work"),
        ("ada,missing,to 0,", "the question missing is for everybody"),
        ("*,missing,1,", "write 'to 0' or such for missing"),
        ("*,late,a lot,", "'a lot' is no rule for late work; write such as '10% a day'"),
        ("*,extension,later,", "'later' is no length of time"),
        ("ada,total,nan,", "'nan' is no change of points"),
        ("ada,total,1e9,", "'1e9' is no change of points"),
    ],
)
def test_a_row_that_cannot_be_meant_is_named(tmp_path, row, says):
    adjusted(tmp_path, "bob,total,1,", row)
    with pytest.raises(tables.TableError) as raised:
        grades.write(tmp_path, assignment(), CLASS)
    assert str(raised.value).startswith("adjustments.csv, row 3") and says in str(raised.value)
    assert not (tmp_path / "grades.csv").exists()


def test_all_rows_that_cannot_be_meant_are_named_at_once(tmp_path):
    adjusted(tmp_path, "adda,total,1,", "ada,total,1,", *["bob,total,much,"] * 14)
    with pytest.raises(tables.TableError) as raised:
        grades.write(tmp_path, assignment(), CLASS)
    said = str(raised.value).split("\n")
    assert len(said) == 12 and "row 2" in said[0] and "row 4" in said[1]
    assert said[-2] == "5 more rows cannot be read." and said[-1].startswith("With --roster")


def test_who_handed_in_nothing_has_no_grade_until_the_table_says_so(tmp_path):
    made, notes = written(tmp_path)
    assert not made["cyn"].graded and table(tmp_path)["cyn"]["total"] == ""
    assert any("1 student handed in nothing and has no grade" in note for note in notes)
    assert any("dan,total,to 9 gives it one" in note for note in notes)
    adjusted(tmp_path, "*,missing,to 0,as the course rules say", "dan,total,to 9,")
    made, notes = written(tmp_path)
    assert made["cyn"].final and made["cyn"].total == 0
    assert lms(tmp_path)[0]["cyn"] == lms(tmp_path)[1]["cyn"][0] == "0"
    assert not any("no grade" in note for note in notes)
    adjusted(tmp_path, "*,missing,to 0,", "cyn,total,excused,ill")
    assert written(tmp_path)[0]["cyn"].excused
    adjusted(tmp_path, "*,missing,to 0,", "cyn,total,to 4,handed in on paper")
    assert written(tmp_path)[0]["cyn"].total == 4


def test_lateness_is_said_once_in_the_table_of_grades(tmp_path):
    """By the note that counts it; with a total that was set there is none."""
    adjusted(tmp_path, "*,late,10% a day,")
    written(tmp_path)
    late = table(tmp_path)["eve"]
    assert late["notices"] == "" and "late" in late["adjustments"]
    adjusted(tmp_path, "*,late,10% a day,", "eve,total,to 9,")
    written(tmp_path)
    assert table(tmp_path)["eve"]["notices"] == CAME_LATE


def test_a_lateness_that_results_of_before_hold_still_counts(tmp_path):
    old = EVE | {"notices": ["It came late, as the file's name says."]}
    adjusted(tmp_path, "*,late,10% a day,", "ada,late,3 hours,", "ada,extension,1 day,ill")
    made, notes = written(tmp_path, [ADA, old])
    assert made["eve"].total == pytest.approx(11.3)
    assert any("ada: 3 hours, within the extension of 1 day; eve:" in note for note in notes)


def test_a_table_of_another_class_is_said_to_be_one(tmp_path):
    adjusted(tmp_path, "xan,total,1,", "yan,total,1,", "*,total,1,")
    with pytest.raises(tables.TableError) as raised:
        written(tmp_path)
    assert str(raised.value).startswith("None of the 2 students in adjustments.csv is among")
    adjusted(tmp_path, "xyz,total,1,", "ada,total,1,")
    with pytest.raises(tables.TableError) as raised:
        written(tmp_path)
    assert "'xyz' is no student of these results.\nWith --roster" in str(raised.value)


def test_a_zero_for_nothing_handed_in_is_no_result_of_the_class(tmp_path):
    adjusted(tmp_path, "*,missing,to 0,")
    nothing = ADA | {"student": "cy", "submission": "", "status": "missing"}
    made, _ = written(tmp_path, [ADA, EVE, CYN, nothing])
    assert made["cyn"].graded and stats.scores([*made.values()])[0] == [11, 13]
    assert all(item.n == 2 for item in stats.items(assignment(), [*made.values()])[:-1])
    report_page = (tmp_path / "report.html").read_text()
    assert "<b>2</b><span>graded</span>" in report_page
    assert "Some answers are missing" not in page(tmp_path, "cyn")


def test_a_row_that_contradicts_another_is_named(tmp_path):
    for one, other in (
        ("ada,total,to 3,", "ada,total,to 4,"),
        ("*,late,10% a day,", "*,late,5% a day,"),
        ("ada,late,1 day,", "ada,late,2 days,"),
        ("ada,total,excused,", "ada,total,to 5,"),
        ("*,missing,to 0,", "*,missing,to 1,"),
        ("ada,total,to 4,", "ada,total,to 5,"),
        ("ada,extension,1 day,", "Ada,extension,2 days,"),
    ):
        adjusted(tmp_path, one, other)
        with pytest.raises(tables.TableError, match=r"adjustments\.csv, row 3: .*above already"):
            grades.write(tmp_path, assignment(), CLASS)


def test_a_row_that_changes_nothing_is_said_to(tmp_path):
    adjusted(
        tmp_path,
        "dan,step_time,1,",
        "cyn,total,2,",
        "bob,step_time,3,",
        "*,step_time,1,",  # who has all points keeps them, without a word
        "eve,total,-30,",
        "bob,why,1,",
    )
    made, notes = written(tmp_path)
    said = "\n".join(notes)
    assert "row 2 does not count: nothing of dan's was graded question by question" in said
    assert "row 3 does not count: cyn has no grade to change; 'to 2' gives one." in said
    assert "row 4: step_time of bob stays within its points and becomes 4, not 7." in said
    assert "row 5" not in said and made["ada"].total == 12
    assert "row 6: total of eve becomes 0, not -17." in said and made["eve"].total == 0
    assert "row 7 does not count yet: why of bob waits for points by rubric" in said
    row = table(tmp_path)["cyn"]
    assert (row["total"], row["adjusted"]) == ("", "") and "Changed by" not in page(tmp_path, "cyn")


def test_a_table_that_a_spreadsheet_saved_is_read(tmp_path):
    rows = ["student;question;points;reason;mine", "ada;step_time;1,5;a reason;x", ";;;;"]
    (tmp_path / "adjustments.csv").write_bytes("\r\n".join(rows).encode("cp1252"))
    assert written(tmp_path)[0]["ada"].total == 12.5


def test_what_everybody_is_granted_forgives_no_delay_of_unknown_length(tmp_path):
    adjusted(tmp_path, "*,late,10% a day,", "*,extension,30 minutes,")
    made, _ = written(tmp_path)
    assert made["eve"].late.days == 1 and made["eve"].penalty == pytest.approx(1.7)
    adjusted(tmp_path, "*,late,10% a day,", "*,extension,30 minutes,", "eve,late,20 minutes,")
    assert written(tmp_path)[0]["eve"].penalty == 0


def test_a_row_that_stands_twice_is_asked_about(tmp_path):
    adjusted(tmp_path, "ada,total,-2,late to class", "bob,total,1,", "ada,total,-2,late to class")
    with pytest.raises(tables.TableError, match="row 4: it is the same as row 2; delete one"):
        grades.write(tmp_path, assignment(), CLASS)
    adjusted(tmp_path, "ada,total,-2,first", "ada,total,-2,second")
    assert written(tmp_path)[0]["ada"].total == 7


def test_whose_total_changed_is_said_once_and_not_in_the_report(tmp_path):
    written(tmp_path)
    adjusted(tmp_path, "ada,total,2,")
    notes = written(tmp_path)[1]
    assert "1 total changed since the last time: ada 11 → 13." in notes
    assert "since the last time" not in (tmp_path / "report.html").read_text()
    assert not any("since the last time" in note for note in written(tmp_path)[1])


CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section\r\n    Points Possible,,,,\r\n"
    '"L, Ada",11,S1,ada,Mo\r\n"B, Bob",12,S2,bob,Mo\r\n"C, Cyn",13,S3,cyn,Mo\r\n'
    '"D, Dan",14,S4,dan,Mo\r\n"E, Eve",15,S5,eve,Mo\r\n'
)
WORKSHEET = (
    "Identifier,Full name,ID number,Email address,Status,Grade,Maximum Grade,Feedback comments\r\n"
    "Participant 71,Ada L,S1,al@example.edu,Submitted for grading,,20,\r\n"
    "Participant 72,Bob B,S2,bb@example.edu,Submitted for grading,,20,\r\n"
    "Participant 75,Eve E,S5,ee@example.edu,Submitted for grading - 2 hours late,,20,\r\n"
)


def test_two_systems_are_served_at_once_and_stay_so(tmp_path):
    (tmp_path / "gradebook.csv").write_bytes(CANVAS.encode())
    (tmp_path / "sheet.csv").write_bytes(WORKSHEET.encode())
    out = tmp_path / "out"
    written(out, roster=tmp_path / "gradebook.csv")
    adjusted(out, "ada,total,1,found a mistake in the book", "*,late,10% a day,")
    made, notes = written(out, roster=tmp_path / "sheet.csv")
    assert written(out)[0] == made
    rows = list(csv.reader(io.StringIO((out / "lms" / "canvas.csv").read_text(), newline="")))
    assert rows[2] == ["L, Ada", "11", "S1", "ada", "Mo", "12"] and len(rows) == 7
    found = list(csv.DictReader(io.StringIO((out / "lms" / "moodle.csv").read_text(), newline="")))
    assert [row["ID number"] for row in found] == ["S1", "S2", "S5"]
    assert made["eve"].penalty == pytest.approx(1.7)
    sheet = out / "lms" / "moodle-worksheet.csv"
    filled = list(csv.DictReader(io.StringIO(sheet.read_text(), newline="")))
    assert [(row["Identifier"], row["Grade"]) for row in filled] == [
        ("Participant 71", "12"),
        ("Participant 72", ""),
        ("Participant 75", "11.3"),
    ]
    assert "found a mistake in the book" in filled[0]["Feedback comments"]
    assert not filled[1]["Feedback comments"]  # as long as the grade waits
    with zipfile.ZipFile(out / "lms" / "moodle-feedback.zip") as packed:
        names = packed.namelist()
        assert (
            names[0] == "Ada L_71_assignfeedback_file_feedback.html" and len(names) == 2
        )  # Bob's waits
        assert packed.read(names[0]).decode() == page(out, "ada")
    assert table(out)["ada"]["name"] == "Ada L" and "Ada L (ada)" in page(out, "ada")
    said = "\n".join(notes)
    assert "Moodle's Maximum Grade is 20, and roofline has 17 points" in said
    assert "2 of 5 students are not in Moodle's list, by any id that both lists have: cyn" in said


def test_one_person_has_one_name_whatever_the_lists(tmp_path):
    """Spell the same names as Canvas and as Moodle do: our pages and tables differ in nothing."""
    (tmp_path / "gradebook.csv").write_text(CANVAS)
    (tmp_path / "sheet.csv").write_text(WORKSHEET)
    said = {}
    for name, lists in {"a": ["gradebook"], "b": ["gradebook", "sheet"]}.items():
        for one in lists:
            notes = written(tmp_path / name, [ADA, CYN], roster=tmp_path / f"{one}.csv")[1]
        said[name] = next(note for note in notes if "are not among the results" in note)
        assert {who: row["name"] for who, row in table(tmp_path / name).items()} == {
            "ada": "Ada L",  # in both lists
            "cyn": "Cyn C",  # in Canvas' alone
        }
        assert "Ada L (ada)" in page(tmp_path / name, "ada")
        assert '"L, Ada",11' in (tmp_path / name / "lms" / "canvas.csv").read_text()  # as it was
    assert said["a"] == said["b"] and "Bob B, Dan D, Eve E" in said["a"]


@pytest.mark.parametrize("lists", [[], [CANVAS], [WORKSHEET], [CANVAS, WORKSHEET]])
def test_a_list_without_anybody_of_the_class_is_refused_and_changes_nothing(tmp_path, lists):
    out, some = tmp_path / "out", CLASS
    if lists == [WORKSHEET]:
        some = [one | {"student": f"{one['student']}_7{i}"} for i, one in enumerate([BOB, ADA], 1)]
        some = [one | {"student": name} for one, name in zip(some, ("S1", "S2"), strict=True)]
    for text in lists:
        (tmp_path / "list.csv").write_text(text, newline="")
        written(out, some, roster=tmp_path / "list.csv")
    if not lists:
        written(out, some)
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    for head, row in (
        ("Student,ID,SIS User ID,SIS Login ID,Section", '"X, Xan",91,T1,xan,Tu'),
        ("Identifier,Full name,ID number,Email address,Status,Grade", "Participant 7,X,T1,x@y,,"),
        ("student", "xan"),
    ):
        (tmp_path / "other.csv").write_text(f"{head}\n{row}\n")
        with pytest.raises(tables.TableError) as raised:
            written(out, some, roster=tmp_path / "other.csv")
        assert f"other.csv has none of the {len(some)} students in" in str(raised.value)
        assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


def test_who_is_on_no_list_is_in_no_file_for_canvas_or_moodle(tmp_path):
    (tmp_path / "gradebook.csv").write_text(CANVAS + '"Student, Test",99,,,Mo\r\n')
    guest = ADA | {"student": "guest"}
    _, notes = written(tmp_path, [*CLASS, guest], roster=tmp_path / "gradebook.csv")
    assert "guest" not in (tmp_path / "lms" / "canvas.csv").read_text()
    assert table(tmp_path)["guest"]["total"] == "11"
    assert any("1 of 6 students is not in the class list, and in no file for" in n for n in notes)
    assert not any("Student, Test" in n or "not among the results" in n for n in notes)


def test_pages_of_who_is_gone_go_too(tmp_path):
    written(tmp_path)
    (tmp_path / "feedback" / "notes.txt").write_text("mine")
    written(tmp_path, [ADA, BOB])
    assert {path.name for path in (tmp_path / "feedback").iterdir()} == {
        "ada.html",
        "bob.html",
        "notes.txt",
    }
    assert {path.name for path in (tmp_path / "lms" / "gradescope").iterdir()} == {"ada", "bob"}


def test_canvas_finds_the_assignment_that_it_has(tmp_path):
    head, _, rest = CANVAS.partition("\r\n")
    own = f"{assignment().title} (4711)"
    rest = rest.replace("\r\n", ",\r\n")
    (tmp_path / "gradebook.csv").write_text(f"{head},{own}\r\n{rest}", newline="")
    _, notes = written(tmp_path, roster=tmp_path / "gradebook.csv")
    assert not any("no assignment" in note for note in notes)
    rows = list(csv.reader(io.StringIO((tmp_path / "lms" / "canvas.csv").read_text(), newline="")))
    assert rows[0][-1] == own
    other = f"{head},Assignment 2 (4711)\r\n{rest}"
    (tmp_path / "gradebook.csv").write_text(other, newline="")
    _, notes = written(tmp_path / "other", roster=tmp_path / "gradebook.csv")
    [note] = [note for note in notes if "no assignment" in note]
    assert f"{assignment().title!r} (it has Assignment 2 (4711)), so that Canvas would" in note
    found = json.loads((tmp_path / "lms" / "grades.json").read_bytes())["grades"]
    assert [one["canvas_id"] for one in found] == ["11", "12", "13", "14", "15"]


def test_canvas_points_that_are_not_the_assignments_are_named(tmp_path):
    head, points, *rest = CANVAS.splitlines()
    lines = [f"{head},{assignment().title} (4711)", f"{points},20", *(f"{one}," for one in rest)]
    (tmp_path / "gradebook.csv").write_text("\r\n".join(lines) + "\r\n", newline="")
    notes = written(tmp_path, roster=tmp_path / "gradebook.csv")[1]
    assert any("with 20 points, and roofline has 17: change it there" in note for note in notes)
    lines[1] = f"{points},17.00"
    (tmp_path / "gradebook.csv").write_text("\r\n".join(lines) + "\r\n", newline="")
    notes = written(tmp_path, roster=tmp_path / "gradebook.csv")[1]
    assert not any("change it there" in note for note in notes)


def test_a_class_of_two_editions_gives_an_lms_one_scale(tmp_path):
    """Leave those at another edition without a grade there until they are graded again."""
    adjusted(tmp_path, "dan,total,to 9,")
    old = ADA | {"edition": "ffffffffffff"}
    made, notes = written(tmp_path, [old, BOB, CYN, DAN, EVE])
    assert not made["ada"].final and made["eve"].final and made["dan"].final
    canvas, moodle, found = lms(tmp_path)
    assert (canvas["ada"], moodle["ada"][0], found["ada"]["final"]) == ("", "-", False)
    assert canvas["eve"] == "13" and table(tmp_path)["ada"]["total"] == "11"
    [note] = [note for note in notes if "another edition" in note and "no grade" in note]
    assert "1 student was graded by another edition" in note and ": ada." in note
    # Where all are of one edition there is one scale, and a sentence.
    everybody = [one | {"edition": "ffffffffffff"} for one in (ADA, EVE)]
    made, notes = written(tmp_path / "all", everybody)
    assert made["ada"].final and any("2 of 2 results are of another" in note for note in notes)


def test_who_lost_points_comes_first_and_all_are_in_a_table(tmp_path):
    some = [result(f"s{i:02}", RIGHT) for i in range(30)]
    written(tmp_path, some)
    rows = [f"s{i:02},total,{-1 if i == 29 else 1}," for i in range(30)]
    adjusted(tmp_path, *rows)
    [note] = [one for one in written(tmp_path, some)[1] if "since the last time" in one]
    assert note.startswith("30 totals changed since the last time, 1 of them down: s29 13 → 12, s")
    assert note.endswith("and 20 more, in totals-changed.csv.")
    found = tables.read(tmp_path / "totals-changed.csv")[0]
    assert len(found) == 30 and found[0]["student"] == "s29" and found[0]["now"] == "12"
    fewer = [one | {"possible": 12} for one in some]
    adjusted(tmp_path, "*,total,2,")
    [note] = [one for one in written(tmp_path, fewer)[1] if "since the last time" in one]
    assert "out of 16 points, which were 17:" in note
    # Written before, when the column had another name.
    kept = tmp_path / ".grades-written.csv"
    kept.write_bytes(kept.read_bytes().replace(b"total,possible,", b"total,out of,"))
    (tmp_path / "grades.csv").write_bytes(kept.read_bytes())
    adjusted(tmp_path, "*,total,1,")
    [note] = [one for one in written(tmp_path, fewer)[1] if "since the last time" in one]
    assert "out of" not in note


def test_who_is_on_the_class_list_and_in_no_result_is_named(tmp_path):
    (tmp_path / "gradebook.csv").write_text(CANVAS + '"Z, Zoe",19,S9,zoe,Mo\r\n')
    notes = written(tmp_path, roster=tmp_path / "gradebook.csv")[1]
    assert any("1 student of the class list is not among the results" in one for one in notes)
    assert any("Zoe Z" in note and "--roster" in note for note in notes)


def test_an_address_is_a_login_only_where_lists_have_no_id_in_common(tmp_path):
    canvas = [{"id": "1", "sis login id": "ada"}, {"id": "2", "sis login id": "bob"}]
    moodle = [{"identifier": "P1", "email address": "ada@x"}, {"identifier": "P2", "email": "e@x"}]
    assert [row.get("identifier") for row in class_lists.joined([canvas, moodle])] == [
        "P1",
        None,
        "P2",
    ]
    both = [{"id": "1", "sis login id": "ada"}, {"id": "2", "sis login id": "bob"}]
    taken = [{"identifier": "P9", "username": "bob", "email": "ada@x"}, {"identifier": "P8"}]
    assert [row.get("identifier") for row in class_lists.joined([both, taken])] == [
        None,
        "P9",
        "P8",
    ]
    twins = [{"identifier": "P1", "email": "ada@x"}, {"identifier": "P2", "email": "ada@y"}]
    assert len(class_lists.joined([[{"sis login id": "ada"}], twins])) == 3


def test_a_set_total_is_no_score_of_the_checks(tmp_path):
    adjusted(tmp_path, "dan,total,to 9,")
    made, _ = written(tmp_path)
    points, possible, whole = stats.scores([*made.values()])
    assert (sorted(points), possible, whole) == ([11, 13, 13], 13, False)


def test_the_model_answer_word_for_word_is_named(tmp_path):
    assigned = assignment()
    assigned.questions["why"].model = "The weights are\n read once."
    copied = result("zoe", {**RIGHT, "why": ("waiting", 0, None, "The weights are read once.")})
    notes = grades.write(tmp_path, assigned, [BOB, copied])[1]
    assert any("the source's own, word for word, with 1 student: zoe." in one for one in notes)
    many = [copied | {"student": f"s{i:02}"} for i in range(27)]
    told = "with 27 students: s00, s01, s02, s03, s04 and 22 more."
    assert sum(told in one for one in grades.write(tmp_path, assigned, many)[1]) == 1


# Edited by hand


def edit(folder: Path, student: str, column: str, value: str):
    rows = list(table(folder).values())
    next(row for row in rows if row["student"] == student)[column] = value
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    (folder / "grades.csv").write_text(out.getvalue())


def test_grades_that_were_edited_are_kept_and_said_not_to_count(tmp_path):
    written(tmp_path)
    edit(tmp_path, "ada", "total", "15")
    mine = (tmp_path / "grades.csv").read_bytes()
    notes = written(tmp_path)[1]
    [note] = [note for note in notes if "by hand" in note]
    assert "(ada: total 11 became 15); it is kept as grades-edited.csv" in note
    assert "Write what should count into adjustments.csv" in note
    assert (tmp_path / "grades-edited.csv").read_bytes() == mine
    assert table(tmp_path)["ada"]["total"] == "11"
    assert not any("by hand" in note for note in written(tmp_path)[1])  # said once
    edit(tmp_path, "ada", "total", "16")
    written(tmp_path)
    assert (tmp_path / "grades-edited.csv").read_bytes() == mine
    assert "16" in (tmp_path / "grades-edited-2.csv").read_text()


def test_grades_that_were_only_saved_again_are_not_called_edited(tmp_path):
    written(tmp_path)
    rows = list(table(tmp_path).values())
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(rows[0]), delimiter=";")
    writer.writeheader()
    writer.writerows(
        {k: v.replace(".", ",") if k == "total" else v for k, v in row.items()} for row in rows
    )
    (tmp_path / "grades.csv").write_bytes(out.getvalue().encode("cp1252"))
    assert not any("by hand" in note for note in written(tmp_path)[1])
    assert not (tmp_path / "grades-edited.csv").exists()


@pytest.mark.parametrize("text", ["", "no table at all", "a,b\n1,2\n"])
def test_grades_that_are_no_table_any_more_are_kept(tmp_path, text):
    written(tmp_path)
    (tmp_path / "grades.csv").write_text(text)
    assert any("by hand" in note for note in written(tmp_path)[1])
    assert (tmp_path / "grades-edited.csv").read_text() == text
    assert table(tmp_path)["ada"]["total"] == "11"


# Over many classes


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 50),
    adds=st.lists(
        st.tuples(st.integers(0, 5), st.sampled_from([*POINTS, "total"]), st.integers(-9, 9)),
        max_size=12,
    ),
    sets=st.dictionaries(st.sampled_from([*POINTS]), st.integers(0, 1), max_size=3),
    days=st.integers(0, 12),
    percent=st.integers(1, 40),
)
def test_the_sum_is_that_of_a_plain_count(tmp_path_factory, seed, adds, sets, days, percent):
    """Count again in another order: question by question, then the total, then lateness."""
    folder = tmp_path_factory.mktemp("class")
    some = class_of(20, seed)[:6]
    rows = [f"*,{question},to {points},all" for question, points in sets.items()]
    rows += [
        f"{some[i]['student']},{question},{points},reason {k}"
        for k, (i, question, points) in enumerate(adds)
    ]
    rows += [f"*,late,{percent}% a day,", f"{some[0]['student']},late,{days} days,"]
    adjusted(folder, *rows)
    made, _ = grades.write(folder, assignment(), some)
    for i, (one, grade) in enumerate(zip(some, made, strict=True)):
        total = 0.0
        for part in one["questions"]:
            points = sets.get(part["name"], part["points"])
            for who, question, change in adds:
                if (who, question) == (i, part["name"]):
                    points = min(max(points + change, 0), part["possible"])
            total += points
        total += sum(change for who, question, change in adds if (who, question) == (i, "total"))
        if i == 0:
            total -= min(17 * days * percent / 100, max(total, 0))
        assert grade.total == pytest.approx(max(total, 0), abs=0.011)
        assert math.isfinite(grade.adjusted)


def test_the_command_says_what_to_mend_and_then_counts_it(tmp_path, capsys, monkeypatch):
    from handful_classroom.release.assignment import assignments

    roofline = assignments()["roofline"]
    from handful_classroom.grading import grade

    with store.opened(tmp_path) as kept:
        key = store.key("ada")
        kept.put(key, grade.grade_one(roofline, "ada", None))
        kept.finish("roofline", [("ada", key)], complete=True)
    adjusted(tmp_path, "adda,total,to 3,read on paper")
    assert cli.main(["assign", "report", str(tmp_path)]) == 2
    assert "adjustments.csv, row 2: 'adda' is no student" in capsys.readouterr().err
    adjusted(tmp_path, "ada,total,to 3,read on paper")
    assert cli.main(["assign", "report", str(tmp_path)]) == 0
    assert table(tmp_path)["ada"]["total"] == "3"


def test_a_person_without_an_id_number_is_named_and_not_called_absent(tmp_path):
    """Bob has a mail address in Moodle, and another in Canvas."""
    moodle = (
        "Identifier,Full name,ID number,Email address,Status,Grade\n"
        "Participant 1,Ada L,ada,ada@x,,\nParticipant 2,Bob B,,bob,,\n"
    )
    canvas = (
        'Student,ID,SIS User ID,SIS Login ID,Section\n"L, Ada",1,ada,al1,A\n"B, Bob",2,,bb2,A\n'
    )
    for name, text in (("moodle.csv", moodle), ("canvas.csv", canvas)):
        (tmp_path / name).write_text(text)
    out = tmp_path / "out"
    out.mkdir()
    _, notes = written(out, [ADA, BOB], roster=tmp_path / "moodle.csv")
    assert any(one.startswith("bob has no ID number in Moodle's list: let") for one in notes)
    _, notes = written(out, [ADA, BOB], roster=tmp_path / "canvas.csv")
    both = "By name, bob (in the files for Moodle alone) stands in both class lists, and by no id"
    assert any(one.startswith(both) for one in notes)
    assert not any("not among the results" in one for one in notes)
    assert "Bob" not in (out / "lms" / "canvas.csv").read_text()
    assert "bob" in (out / "lms" / "moodle.csv").read_text()
    # Once the id is there, he is in both files, and nothing is said.
    (tmp_path / "canvas.csv").write_text(canvas.replace("2,,bb2", "2,bob,bb2"))
    _, notes = written(out, [ADA, BOB], roster=tmp_path / "canvas.csv")
    assert not any("stands in both" in one for one in notes)
    assert "Bob" in (out / "lms" / "canvas.csv").read_text()


def test_which_of_two_files_was_graded_is_said_of_the_class_too(tmp_path):
    two = "2 notebooks were handed in: roofline.ipynb was graded, scratch.ipynb not."
    notes = written(tmp_path, [ADA | {"notices": [two]}, BOB])[1]
    assert f"ada: {two}" in notes
    assert not any("notebooks were handed in" in one for one in written(tmp_path)[1])


@pytest.mark.parametrize("code", ["cp1252", "mac-roman", "ascii", "utf-8"])
def test_a_spreadsheet_s_coding_hides_no_total_that_was_changed(tmp_path, code):
    names = ["Çağla", "Łukasz Żółć", "Müller", "Şule", "Ğ"]
    (tmp_path / "list.csv").write_text(
        "\n".join(["student,name", *(f"s{i},{name}" for i, name in enumerate(names))])
    )
    some = [ADA | {"student": f"s{i}"} for i in range(5)]
    written(tmp_path, some, roster=tmp_path / "list.csv")
    path = tmp_path / "grades.csv"
    text = path.read_bytes().decode("utf-8-sig").replace(",", ";")
    path.write_bytes(text.encode(code, "replace"))
    assert not any("by hand" in note for note in written(tmp_path, some)[1])
    changed = text.replace(";11;17;", ";12;17;")
    assert changed.count(";12;17;") == 5
    path.write_bytes(changed.encode(code, "replace"))
    note = next(note for note in written(tmp_path, some)[1] if "by hand" in note)
    assert "; ".join(f"s{i}: total 11 became 12" for i in range(5)) in note
    assert "more" not in note and "ukasz" not in note
