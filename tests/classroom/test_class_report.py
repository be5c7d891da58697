"""Tests of the grades, the feedback and the report of a class.

Nothing is lost, nothing that a student wrote runs, and every number is right.
"""

import csv
import html.parser
import io
import json
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from class_samples import (
    HOSTILE,
    KINDS,
    MISCONCEPTIONS,
    assignment,
    class_of,
    hostile_class,
    result,
)
from handful import cli
from handful_classroom import html_report, tables
from handful_classroom.grading import class_lists, grade, grades, rubric, scoring, store
from handful_classroom.release import notebooks
from handful_classroom.release.assignment import assignments
from handful_classroom.reports import feedback, report, stats
from handful_classroom.sandbox.protocol import Answer, Outcome

CLASS = class_of(seed=5)
# The full-width forms of =, +, - and @, which a spreadsheet takes for them.
WIDE = (
    "\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}"
    "\N{FULLWIDTH HYPHEN-MINUS}\N{FULLWIDTH COMMERCIAL AT}"
)
WROTE = next(i for i, one in enumerate(CLASS) if one["questions"][-1]["status"] == "waiting")


def read(path: Path):
    """Read a table as a spreadsheet sees it."""
    return list(csv.DictReader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline="")))


def everything(folder: Path):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def write_all(folder, results, **more):
    made, notes = grades.write(folder, assignment(), results, **more)
    feedback.write(
        folder, assignment(), grades.with_results(made, results), "https://example.org/book/"
    )
    report.write(folder, assignment(), made, notes)
    return made, notes


# Every number again, by other means


def table_of(assigned, made):
    """Points by student and question, None where the teacher's are missing."""
    return [[grades.question_points(one, name) for name in assigned.questions] for one in made]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_distribution_is_the_histogram_of_the_points(seed):
    made = grades.gather(class_of(60, seed), [])
    points, possible, whole = stats.scores(made)
    expected = [
        sum(part["points"] for part in one.result["questions"])
        for one in made
        if one.result["submission"] and one.result["status"] != "ungradable"
    ]
    assert points == pytest.approx(expected) and possible == 13 and not whole
    width = stats.step(possible)
    edges = np.arange(0, possible + width, width)
    assert stats.bins(points, possible, width) == np.histogram(points, edges)[0].tolist()
    assert sum(stats.bins(points, possible, width)) == len(points)
    assert stats.quartiles(points) == pytest.approx(np.quantile(points, (0.25, 0.5, 0.75)))


@pytest.mark.parametrize(["many", "seed"], [(38, 5), (200, 6), (1000, 7)])
def test_discrimination_is_the_correlation_with_the_rest(many, seed):
    assigned, made = assignment(), grades.gather(class_of(many, seed), [])
    graded = [one for one in made if one.graded and one.result["questions"]]
    for item in stats.items(assigned, made):
        if item.name == "why":
            continue
        own = np.array(
            [
                next(
                    part["points"] for part in one.result["questions"] if part["name"] == item.name
                )
                for one in graded
            ]
        )
        rest = np.array(
            [
                sum(part["points"] for part in one.result["questions"] if part["name"] != item.name)
                for one in graded
            ]
        )
        again = scipy.stats.pearsonr(own, rest)
        assert item.n == len(graded) and item.discrimination == pytest.approx(again.statistic)
        assert item.interval == pytest.approx(tuple(again.confidence_interval(0.95)))
        assert item.mean == pytest.approx(own.mean() / assigned.questions[item.name].points)
        assert item.right == pytest.approx(np.mean(own == assigned.questions[item.name].points))
        assert sum(item.outcomes.values()) == item.n


def test_a_question_of_luck_is_found_and_the_others_are_not():
    found = {
        item.name: item for item in stats.items(assignment(), grades.gather(class_of(1000, 8), []))
    }
    assert {name for name, item in found.items() if item.near_zero} == {"coin"}
    assert (
        "coin"
        in report.class_page(assignment(), grades.gather(class_of(1000, 8), [])).partition(
            "Near zero"
        )[2][:60]
    )


def test_a_question_that_nearly_everybody_got_is_nothing_to_look_at():
    """In an easy class the correlations are chance; only a question between is looked at."""
    easy = class_of(40, 3)
    for i, one in enumerate(easy):
        for part in one["questions"]:
            if part["status"] != "waiting" and one["submission"] and part["name"] != "coin":
                part.update(points=part["possible"] if i % 20 else 0)
    found = {one.name: one for one in stats.items(assignment(), grades.gather(easy, []))}
    sided = [one for one in found.values() if one.n and one.one_sided and one.name != "coin"]
    assert len(sided) >= 3 and not any(one.near_zero for one in sided)
    assert any(one.verdict == "nearly everybody got it: says little" for one in sided)


def test_a_notice_that_concerns_nobody_is_in_no_list(tmp_path):
    """A mend with the same inputs is said once at the top, and not beside every student."""
    told = "This notebook is of another edition (1) than the source has now (2); its inputs are"
    some = [one | {"notices": [told], "inputs": "same"} for one in CLASS[:3]]
    some[2] = some[2] | {"inputs": "other"}
    write_all(tmp_path, some)
    assert (tmp_path / "report.html").read_text().count("This notebook is of another") == 1
    rows = tables.read(tmp_path / "grades.csv")[0]
    assert [row["notices"] for row in rows] == ["", "", told]
    for one, many in zip(some, (0, 0, 1), strict=True):
        name = html_report.file_name(one["student"])
        scope = (tmp_path / "lms" / "gradescope" / name / "results.json").read_text()
        page = (tmp_path / "feedback" / f"{name}.html").read_text()
        assert scope.count(told) == page.count(told) == many


def test_a_file_that_was_not_read_has_no_number(tmp_path):
    grade_of = grades.Grade(CLASS[0] | {"submission": "unread"})
    assert (
        "submission" not in feedback.student_page(assignment(), grade_of).partition("<footer>")[2]
    )


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 40)), min_size=3, max_size=60))
@settings(max_examples=100, deadline=None)
def test_a_correlation_is_that_of_numpy_or_none(pairs):
    xs, ys = ([pair[i] / 4 for pair in pairs] for i in (0, 1))
    found = stats.correlation(xs, ys)
    if np.ptp(xs) == 0 or np.ptp(ys) == 0:
        assert found is None
    else:
        assert found == pytest.approx(np.corrcoef(xs, ys)[0, 1], abs=1e-9) and -1 <= found <= 1


def test_few_students_are_told_that_a_discrimination_says_nothing():
    page = report.class_page(assignment(), grades.gather(class_of(19, 2), []))
    assert (
        f"Below {stats.FEWEST} students it says nothing" in page
        and "says nothing" in page
        and "Near zero" not in page
    )


def test_the_page_says_the_numbers_that_were_computed():
    made = grades.gather(CLASS, [])
    page = report.class_page(assignment(), made)
    points = np.array(stats.scores(made)[0])
    assert (
        f"<b>{html_report.number(points.mean())}</b><span>mean" in page
        and f"<b>{html_report.number(np.median(points))}</b><span>median of 13 points" in page
    )
    for question, misconception, many in stats.misconceptions(made):
        again = sum(
            part.get("turn") == misconception and part["name"] == question
            for one in CLASS
            for part in one["questions"]
        )
        assert many == again
        assert re.search(
            rf'{misconception}<br><code class="note">{question}</code></th>'
            rf"<td>{re.escape(MISCONCEPTIONS[question][misconception][0])}</td>"
            rf'<td class="num">{many}</td>',
            page,
        )
    assert "drawn for the same id" in page and "The file is no notebook" in page


def test_statuses_add_up_and_name_who_handed_in_nothing():
    found = stats.statuses(grades.gather(CLASS, []))
    assert (
        sum(found.values()) == len(CLASS)
        and found["not handed in"] == 1
        and found["ungradable"] == 1
        and found["killed"] == 1
    )


# Tables and files


def test_the_table_of_grades_has_every_number(tmp_path):
    grades.write(tmp_path, assignment(), CLASS)
    rows = read(tmp_path / "grades.csv")
    assert (tmp_path / "grades.csv").read_bytes().startswith(b"\xef\xbb\xbf")
    assert list(rows[0]) == [
        "student",
        "status",
        "checks",
        "rubric",
        "adjusted",
        "late",
        "total",
        "possible",
        "waiting",
        *assignment().questions,
        "misconceptions",
        "notices",
        "adjustments",
        "submission",
    ]
    assert len(rows) == len(CLASS)
    for row, one in zip(rows, CLASS, strict=True):
        assert (row["student"], row["status"], row["submission"]) == (
            one["student"],
            one["status"],
            one["submission"],
        )
        assert (
            float(row["checks"] or 0) == one["points"]
            and bool(row["checks"]) == bool(one["questions"])
            and float(row["possible"]) == 17
        )
        for part in one["questions"]:
            assert row[part["name"]] == (
                "" if part["status"] == "waiting" else html_report.number(part["points"])
            )
        assert row["misconceptions"] == "; ".join(
            f"{part['name']}: {part['turn']}" for part in one["questions"] if part["turn"]
        )


def test_a_second_run_gives_the_same_bytes(tmp_path):
    write_all(tmp_path, CLASS)
    first = everything(tmp_path)
    write_all(tmp_path, CLASS)
    assert everything(tmp_path) == first
    write_all(tmp_path / "again", json.loads(json.dumps(CLASS)))
    assert everything(tmp_path / "again") == first


def test_results_are_those_of_the_class_as_last_graded(tmp_path):
    with store.opened(tmp_path) as kept:
        keys = [(one["student"], store.key(one["student"])) for one in CLASS]
        for one, (_, key) in zip(CLASS, keys, strict=True):
            kept.put(key, one)
        kept.put(store.key("ada, as she was graded before"), CLASS[0] | {"points": 0.0})
        kept.finish("roofline", keys, complete=True)
    made, notes = grades.write(tmp_path, assignment())
    assert [one.result["points"] for one in made] == [one["points"] for one in CLASS]
    other = assignment()
    other.edition = "ba9876543210"
    assert any(
        f"{len(CLASS)} of {len(CLASS)} results are of another edition" in note
        for note in grades.write(tmp_path, other)[1]
    ) and not any("edition" in note for note in notes)


LIST = "Student,ID,SIS User ID,SIS Login ID,Section\r\n" + "".join(
    f'"Number {i:03}, Student",{1000 + i},sis{i},student{i:03},Monday\r\n' for i in range(39)
)


def canvas_reads(data: bytes, ids: dict):
    """Return what Canvas' importer makes of a file.

    It finds students by ID, else by SIS ids; see lib/gradebook_importer.rb.
    """
    text = data.decode()
    assert not text.startswith("\ufeff")
    head, first, *rows = list(csv.reader(text.splitlines()))  # it looks at lines before it parses
    assert (
        "Student" in head[0]
        and "ID" in head[1]
        and re.search(r"SIS\s+User\s+ID", head[2])
        and re.search(r"SIS\s+Login\s+ID", head[3])
        and "Section" in head[4]
    )
    assert "Points Possible" in first[0]
    return float(first[5]), {
        ids[row[1]] if row[1] else row[3].removeprefix("'"): row[5] for row in rows
    }


def test_canvas_reads_the_grades_and_leaves_alone_what_has_none(tmp_path):
    (tmp_path / "list.csv").write_text(LIST, newline="")
    made, notes = grades.write(
        tmp_path, assignment(), CLASS, roster=tmp_path / "list.csv", partial=True
    )
    possible, found = canvas_reads(
        (tmp_path / "lms" / "canvas.csv").read_bytes(),
        {str(1000 + i): f"student{i:03}" for i in range(39)},
    )
    listed = [one for one in made if one.student != "student039"]  # Canvas does not know that one
    assert possible == 17 and set(found) == {one.student for one in listed}
    for one in listed:
        assert found[one.student] == (html_report.number(one.total) if one.graded else "")
    assert found["student007"] == found["student011"] == ""
    assert any("not in the class list" in note and "student039" in note for note in notes)


def test_an_lms_gets_no_grade_before_the_rubric_is_filled(tmp_path):
    made, notes = grades.write(tmp_path, assignment(), CLASS)
    _, found = canvas_reads((tmp_path / "lms" / "canvas.csv").read_bytes(), {})
    waits = [one for one in made if one.graded and one.waiting]
    assert (
        waits
        and all(found[one.student] == "" for one in waits)
        and any(f"{len(waits)} of {len(made)} students wait" in note for note in notes)
        and any(f"by rubric ({waits[0].student}, " in note for note in notes)
    )
    final = [one for one in made if one.final]
    assert final and all(found[one.student] == html_report.number(one.total) for one in final)


def test_moodle_gets_one_row_for_each_known_user_and_a_dash_for_no_grade(tmp_path):
    (tmp_path / "list.csv").write_text(
        "First name,Last name,Username,Email address\n"
        + "".join(f"A,B{i},student{i:03},s{i}@example.org\n" for i in range(39))
    )
    made, _ = grades.write(
        tmp_path, assignment(), CLASS, roster=tmp_path / "list.csv", partial=True
    )
    rows = read(tmp_path / "lms" / "moodle.csv")
    assert (
        list(rows[0]) == ["Username", "Email address", "Write the roofline", "Feedback comments"]
        and len(rows) == 39
    )
    by_name = {row["Username"]: row["Write the roofline"] for row in rows}
    assert by_name["student007"] == by_name["student011"] == "-"
    listed = [one for one in made if one.graded and one.student in by_name]
    assert listed and all(float(by_name[one.student]) == one.total for one in listed)


def test_a_name_that_means_two_students_means_neither(tmp_path):
    (tmp_path / "list.csv").write_text("Student,ID,SIS Login ID\nAda,1,2\nBen,2,ben\n")
    known = class_lists.by_name(class_lists.read(tmp_path / "list.csv"))
    assert "2" not in known and known["1"]["student"] == "Ada" and known["ben"]["student"] == "Ben"
    (tmp_path / "none.csv").write_text("Who,Mark\nAda,1\n")
    with pytest.raises(tables.TableError, match=r"none\.csv .*student"):
        class_lists.by_name(class_lists.read(tmp_path / "none.csv"))


def test_gradescope_gets_a_file_for_each_student(tmp_path):
    made, _ = grades.write(tmp_path, assignment(), CLASS)
    for one in made:
        found = json.loads(
            (
                tmp_path
                / "lms"
                / "gradescope"
                / html_report.file_name(one.student)
                / "results.json"
            ).read_bytes()
        )
        assert (
            found["score"]
            == one.total
            == pytest.approx(sum(test["score"] for test in found["tests"]))
        )
        assert (
            found["extra_data"]["submission"] == one.result["submission"]
            and found["output_format"] == "text"
        )
        for test in found["tests"]:
            assert (
                0 <= test["score"] <= test["max_score"]
                and (test["status"] == "passed") == (test["score"] == test["max_score"])
                and test["visibility"] == "visible"
            )
        assert ("Waits for your teacher" in found["output"]) == bool(one.waiting)


def test_the_json_says_what_the_table_says(tmp_path):
    grades.write(tmp_path, assignment(), CLASS)
    text = (tmp_path / "lms" / "grades.json").read_bytes()
    assert b"-0.0" not in text
    found = json.loads(text)
    assert found["possible"] == 17
    for one, row in zip(found["grades"], read(tmp_path / "grades.csv"), strict=True):
        assert (
            one["student"] == row["student"]
            and float(row["checks"] or 0) == one["checks"]
            and float(row["possible"]) == one["possible"] == 17
            and ("" if one["total"] is None else html_report.number(one["total"])) == row["total"]
            and one["final"]
            == (one["waiting"] == 0 and row["status"] != "ungradable" and one["submission"] != "")
        )


@pytest.mark.parametrize(
    "text",
    [
        "student,name\nstudent000,Ada\nstudent001,Ben\n",
        "NAME;LOGIN\nAda;student000\nBen;student001\n",
        "email\nstudent000\nstudent001\n",
    ],
)
def test_a_list_of_no_lms_names_students_as_the_results_do(tmp_path, text):
    (tmp_path / "list.csv").write_text(text)
    grades.write(tmp_path, assignment(), CLASS[:2], roster=tmp_path / "list.csv", partial=True)
    _, found = canvas_reads((tmp_path / "lms" / "canvas.csv").read_bytes(), {})
    assert set(found) == {"student000", "student001"} and all(found.values())
    assert {row["Username"] for row in read(tmp_path / "lms" / "moodle.csv")} == {
        "student000",
        "student001",
    }


@pytest.mark.parametrize("head", ["student,name", "student,name,status", "student,email"])
def test_a_list_of_the_teacher_s_own_joins_the_gradebook_given_before(tmp_path, head):
    gradebook = (
        "Student,ID,SIS Login ID,Section\n"
        '"Lovelace, Ada",1,student000,Mo\n"Byron, Ben",2,student001,Mo\n'
    )
    cells = ",x" * head.count(",")
    rows = {
        "canvas.csv": gradebook,
        "own.csv": f"{head}\nstudent000{cells}0\nstudent001{cells}1\n",
        "other.csv": f"{head}\nzoe{cells}0\nyan{cells}1\n",
    }
    for name, text in rows.items():
        (tmp_path / name).write_text(text)
    for name in ("canvas.csv", "own.csv"):
        grades.write(tmp_path, assignment(), CLASS[:2], roster=tmp_path / name)
    assert (tmp_path / "class-lists" / "class.csv").read_text() == rows["own.csv"]
    ids = {"1": "student000", "2": "student001"}
    _, found = canvas_reads((tmp_path / "lms" / "canvas.csv").read_bytes(), ids)
    assert set(found) == set(ids.values())
    with pytest.raises(tables.TableError, match=r"other\.csv has none of the 2 students"):
        grades.write(tmp_path, assignment(), CLASS[:2], roster=tmp_path / "other.csv")
    assert (tmp_path / "class-lists" / "class.csv").read_text() == rows["own.csv"]


# The rubric


def fill(folder: Path, give, delimiter=",", encoding="utf-8-sig"):
    """Fill in the rubric as a teacher does in a spreadsheet, and save it as that saves.

    `give` gets a row and changes it.
    """
    rows = read(folder / "rubric.csv")
    for row in rows:
        give(row)
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    (folder / "rubric.csv").write_bytes(out.getvalue().encode(encoding))


@pytest.mark.parametrize(
    ["delimiter", "encoding"], [(",", "utf-8-sig"), (";", "cp1252"), ("\t", "utf-16")]
)
def test_filled_points_are_read_back_added_and_kept(tmp_path, delimiter, encoding):
    write_all(tmp_path, CLASS)
    before = {row["student"]: row for row in read(tmp_path / "grades.csv")}

    def give(row):
        row.update(
            points="1,5" if delimiter == ";" else "1.5", comment="Say which resource é binds"
        )

    fill(tmp_path, give, delimiter, encoding)
    made, notes = write_all(tmp_path, CLASS)
    assert not [note for note in notes if "rubric" in note]
    for one in made:
        assert one.rubric == 1.5 * len(one.lines) and one.waiting == 0
    for row in read(tmp_path / "grades.csv"):
        if row["rubric"]:
            assert (
                float(row["total"]) == pytest.approx(float(before[row["student"]]["checks"]) + 3)
                and row["why"] == "3"
                and row["waiting"] == "0"
            )
    page = (tmp_path / "feedback" / f"student{WROTE:03}.html").read_text()
    assert (
        "Your teacher: Say which resource é binds" in page
        and "<strong>1.5</strong> of 2 points" in page
    )
    first = everything(tmp_path)
    write_all(tmp_path, CLASS)
    assert everything(tmp_path) == first


def test_points_for_an_answer_that_was_replaced_are_kept_and_count_no_more(tmp_path):
    grades.write(tmp_path, assignment(), CLASS)
    fill(tmp_path, lambda row: row.update(points="2"))
    new = json.loads(json.dumps(CLASS))
    part = next(part for part in new[WROTE]["questions"] if part["name"] == "why")
    part["text"] = "Another answer."
    made, notes = grades.write(tmp_path, assignment(), new)
    assert (
        made[WROTE].waiting == 4
        and made[WROTE].rubric == 0
        and sum(one.rubric for one in made) > 40
    )
    assert any(
        "2 filled rows of rubric.csv stand at its foot" in note
        and f"student{WROTE:03} (why)" in note
        for note in notes
    )
    assert [
        row["points"]
        for row in read(tmp_path / "rubric.csv")
        if row["student"] == f"student{WROTE:03}"
    ] == ["", "", "2", "2"]
    made, _ = grades.write(tmp_path, assignment(), CLASS)
    assert made[WROTE].rubric == 4  # the first answer again, and with it its points


def answering(cells, requests, given, limits, library):
    """Answer in the sandbox's place: all of the roofline is right but one question.

    That one is `times`, which is a number and no mapping.
    """
    student = re.search(r"student = '(\w+)'", cells[0])[1]
    known = scoring.expected(ROOFLINE, ROOFLINE.variant(student))

    def answer(request):
        if "text" in request:
            return "w * F * N / (2 * W * A)"
        name = request["question"]
        if "get" in request:
            return (
                1.0 if name == "times" else known.right[name][0] if name in known.right else given
            )
        return known.right[name][known.calls[name].index(request["arguments"])]

    return Outcome(tuple(Answer("value", answer(request)) for request in requests))


def sentences(folder: Path):
    """Return every "X of Y points" that an LMS, a program or a student reads.

    They come by student, with the points that stand beside them.
    """
    by_moodle = {
        row["Username"]: (row["Feedback comments"], row["Write the roofline"])
        for row in read(folder / "lms" / "moodle.csv")
    }
    for one in json.loads((folder / "lms" / "grades.json").read_bytes())["grades"]:
        student = one["student"]
        scored = json.loads((folder / "lms" / "gradescope" / student / "results.json").read_bytes())
        page = (folder / "feedback" / f"{student}.html").read_text()
        tile = re.search(r"<b>([\d.]+) of ([\d.]+)</b><span>points", page)
        texts = {
            "json": (one["says"], one["total"]),
            "moodle": (by_moodle[student][0], by_moodle[student][1]),
            "gradescope": (scored["output"], scored["score"]),
            "feedback": (re.sub("<[^>]*>", "\n", page.partition("<main>")[2]), tile[1]),
        }
        yield student, texts, tile[2], json.dumps([scored, one, by_moodle[student], page])


ROOFLINE = assignments()["roofline"]


def test_sentences_follow_the_grade_after_the_rubric(tmp_path):
    """A class as the grader leaves it; then its rubric is filled in part, then whole.

    No sentence says what was so before.
    """
    some = []
    for student in ("ada", "ben", "cy"):
        data = notebooks.text(
            notebooks.notebook(ROOFLINE, student, "empty" if student == "cy" else "solution")
        ).encode()
        some.append(grade.grade_one(ROOFLINE, student, data, ask=answering))
    assert [one["points"] for one in some] == [17, 17, 17] and some[0]["says"].startswith(
        "17 of 20 points; your teacher reads"
    )
    assert some[2]["says"] == "17 of 26 points."  # nothing is written, and nothing waits
    partial = {"ada": {0: "2", 1: "1"}, "ben": {0: "2", 1: "1", 2: "1", 3: "0.5"}}
    for filled in ({}, partial, {"ada": partial["ben"], "ben": partial["ben"]}):
        made, notes = grades.write(tmp_path, ROOFLINE, some, partial=True)
        if filled:
            places = dict.fromkeys(filled, -1)

            def give(row, filled=filled, places=places):
                places[row["student"]] += 1
                row.update(
                    points=filled[row["student"]].get(places[row["student"]], ""),
                    comment="Well seen.",
                )

            fill(tmp_path, give)
            made, notes = grades.write(tmp_path, ROOFLINE, some, partial=True)
        feedback.write(tmp_path, ROOFLINE, grades.with_results(made, some))
        report.write(tmp_path, ROOFLINE, made, notes)
        for one, (student, texts, possible, everything) in zip(
            made, sentences(tmp_path), strict=True
        ):
            assert one.total == 17 + sum(
                float(points) for points in filled.get(student, {}).values()
            )
            for where, (text, total) in texts.items():
                found = re.findall(r"([\d.]+) of ([\d.]+) points(?=[.;])", text)
                assert found == [(html_report.number(one.total), possible)], (student, where, text)
                assert float(total) == one.total, (student, where)
            assert bool(
                re.search("teacher (reads|grades)|[Ww]aits? for your teacher", everything)
            ) == (not one.final), (student, everything)
    assert "0.5 of 1: " in rubric_said(tmp_path, "ben") and "Well seen." in rubric_said(
        tmp_path, "ben"
    )


def rubric_said(folder: Path, student: str) -> str:
    return json.loads((folder / "lms" / "gradescope" / student / "results.json").read_bytes())[
        "tests"
    ][-1]["output"]


def test_columns_of_the_teacher_s_own_stay(tmp_path):
    grades.write(tmp_path, assignment(), CLASS)
    rows = read(tmp_path / "rubric.csv")
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow([*rows[0], "second reader"])
    writer.writerows([[*row.values(), "Eve"] for row in rows])
    (tmp_path / "rubric.csv").write_text(out.getvalue(), newline="")
    grades.write(tmp_path, assignment(), CLASS)
    assert {row["second reader"] for row in read(tmp_path / "rubric.csv")} == {"Eve"}


@pytest.mark.parametrize(
    ["text", "said"],
    [
        ("five", "row 3, column points: 'five' is no number; 0 to 2 is allowed"),
        ("3", "row 3, column points: '3' is not within 0 to 2"),
        ("-1", "'-1' is no number"),
        ("nan", "'nan' is no number"),
        ("1e0", "'1e0' is no number"),
        ("=1+1", "'=1+1' is no number"),
        ("0x1", "is no number"),
    ],
)
def test_a_bad_value_is_named_and_nothing_is_lost(tmp_path, text, said):
    grades.write(tmp_path, assignment(), CLASS)
    fill(tmp_path, lambda row: row.update(points="1"))
    rows = read(tmp_path / "rubric.csv")
    fill(tmp_path, lambda row: row.update(points=text) if row["id"] == rows[1]["id"] else None)
    before = (tmp_path / "rubric.csv").read_bytes()
    with pytest.raises(tables.TableError, match=re.escape(said)):
        grades.write(tmp_path, assignment(), CLASS)
    assert (tmp_path / "rubric.csv").read_bytes() == before


def test_a_damaged_rubric_is_refused_and_left_as_it_is(tmp_path):
    grades.write(tmp_path, assignment(), CLASS)
    good = (tmp_path / "rubric.csv").read_text("utf-8-sig")
    lines = good.splitlines()
    for text, said in [
        (good.replace("points", "Points", 1), "no column 'points'"),
        (lines[0] + "\n" + lines[1] + ",more", "row 2: it has 9 cells"),
        (
            "\n".join(
                [
                    lines[0],
                    lines[1].replace("written/", "x/"),
                    lines[1].replace(",,,written/", ",1,,written/"),
                ]
            ),
            "rows 2 and 3: they are the same line",
        ),
    ]:
        (tmp_path / "rubric.csv").write_text(text)
        with pytest.raises(tables.TableError, match=said):
            grades.write(tmp_path, assignment(), CLASS)
        assert (tmp_path / "rubric.csv").read_text() == text


def test_the_sheets_show_every_answer_beside_its_rows(tmp_path):
    many = class_of(230, 4)
    grades.write(tmp_path, assignment(), many)
    rows = read(tmp_path / "rubric.csv")
    assert {row["answer"].partition("#")[0] for row in rows} == {
        "written/why-1.html",
        "written/why-2.html",
    }
    for place, row in enumerate(rows, 2):
        path, _, anchor = row["answer"].partition("#")
        section = (
            (tmp_path / path).read_text().partition(f'id="{anchor}"')[2].partition("</section>")[0]
        )
        assert f'<th scope="row">{place}</th><td>{row["line"]}</td>' in section
    assert sum(
        len(path.read_text().split("<section")) - 1 for path in (tmp_path / "written").iterdir()
    ) == len({row["student"] for row in rows})


# What somebody wrote never runs, hides or breaks out


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.attributes = set(), []

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes += [(tag, name, value) for name, value in attributes]


def harmless_page(text):
    """Nothing on a page runs, asks for anything, or is styled from outside its one sheet."""
    page = Page()
    page.feed(text)
    assert not page.tags & {
        "script",
        "iframe",
        "object",
        "embed",
        "form",
        "input",
        "img",
        "link",
        "base",
    }
    assert not [name for _, name, _ in page.attributes if name.startswith("on") or name == "style"]
    assert all(
        value.startswith(("#", "https://example.org/", "feedback/"))
        for tag, name, value in page.attributes
        if name == "href" and tag == "a"
    )
    assert not [value for _, name, value in page.attributes if name in ("src", "srcset", "action")]
    assert re.search(
        r"default-src 'none'; style-src 'sha256-[\w+/]+=*'; base-uri 'none'", text
    ) and text.count("<style>") == 1 == text.count("</style>")
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00\x1b\ud800-\udfff]", text)


def test_hostile_text_stays_text_in_every_page(tmp_path):
    made, _ = write_all(tmp_path, hostile_class())
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) == len(HOSTILE) + 2
    for path in pages:
        harmless_page(path.read_bytes().decode())
    assert "⟨U+202E⟩gnp.exe" in report.class_page(
        assignment(), made
    ) and "&lt;script&gt;" in report.class_page(assignment(), made)
    with zipfile.ZipFile(tmp_path / "feedback.zip") as archive:
        assert len(archive.namelist()) == len(HOSTILE) and all(
            re.fullmatch(r"feedback/[\w.-]+\.html", name) and ".." not in name
            for name in archive.namelist()
        )


def test_hostile_cells_run_in_no_spreadsheet(tmp_path):
    grades.write(tmp_path, assignment(), hostile_class())
    for path in tmp_path.rglob("*.csv"):
        rows = list(csv.reader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline="")))
        assert len({len(row) for row in rows}) == 1
        for row in rows:
            assert not [
                cell
                for cell in row
                if cell.lstrip(" \n").startswith(("=", "+", "@", "\t", "\r", WIDE[0]))
                or re.match(r"\s*-.", cell)
            ]
            assert not [cell for cell in row if len(cell) > 32_767 or re.search("[\x00\x1b]", cell)]


def test_rubrics_of_hostile_students_are_read_back(tmp_path):
    some = hostile_class()
    grades.write(tmp_path, assignment(), some)
    fill(tmp_path, lambda row: row.update(points="2"))
    made, notes = grades.write(tmp_path, assignment(), some)
    assert [note.partition(" changed")[0] for note in notes] == [f"{len(some)} totals"]
    assert len(made) == len(some) and all(one.rubric == 4 for one in made)


def test_a_megabyte_of_text_makes_no_megabyte_of_page(tmp_path):
    one = result(
        "ada",
        {"why": ("waiting", 0, None, "<b>" * 350_000)},
        says="x" * 1_000_000,
        notices=("y" * 1_000_000,),
    )
    write_all(tmp_path, [one])
    for path in [*tmp_path.rglob("*.html"), *tmp_path.rglob("*.csv")]:
        assert path.stat().st_size < 200_000
    assert "more characters" in (tmp_path / "feedback" / "ada.html").read_text()


def formulas(data: bytes):
    """Return what a spreadsheet would run of a table, whichever its list separator is.

    A dash alone is Moodle's mark for no grade, and a number with a sign is a number.
    """
    text = data.decode("utf-8-sig")
    return [
        (separator, cell)
        for separator in ",;\t"
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        for cell in row
        if re.match(rf'[\s"]*[=+\-@{WIDE}]', cell) and not re.fullmatch(r"-(\d+(\.\d+)?)?", cell)
    ]


SPLIT = [
    "a;=cmd()",
    "a\t=cmd()",
    "a\n=cmd()",
    "a;+1",
    "a;-1",
    "a;@SUM(A1)",
    f"a;{WIDE[0]}1",
    "a; =1",
    'a;"=1',
    "a;'=1",
    ";;=1",
    "\t;=1",
    "a\r=1",
    "a\u2028=1",
    "x=1;y=2;=3",
]


def test_no_separator_within_a_cell_makes_a_formula(tmp_path):
    """A name, a notice and an answer each hold a separator with a formula after it.

    A German Excel would have run them.
    """
    some = [
        result(
            f"{text}{i}",
            {"why": ("waiting", 0, None, text)},
            notices=(f"Cell 3 (“{text}”) stopped: ValueError: {text}",),
            says=text,
        )
        for i, text in enumerate(SPLIT)
    ]
    write_all(tmp_path, some)
    for give in ({}, {"points": "2", "comment": "see;=1+1"}):
        fill(tmp_path, lambda row, give=give: row.update(give), delimiter=";" if give else ",")
        made, notes = write_all(tmp_path, some)
        assert not [note for note in notes if "no longer" in note]
        found = list(tmp_path.rglob("*.csv"))
        assert {path.name for path in found} == {
            "grades.csv",
            ".grades-written.csv",
            "adjustments.csv",
            "rubric.csv",
            "canvas.csv",
            "moodle.csv",
            *(["totals-changed.csv"] if give else []),
        }
        for path in found:
            assert not formulas(path.read_bytes()), path.name
    assert len(made) == len(some)
    assert all(one.rubric == 4 and one.lines[0].comment == "see;=1+1" for one in made)


def test_what_nobody_takes_for_a_formula_stays_as_it_is():
    for text in (
        "step_time(1, -2) gave -3; right is 4",
        "Lovelace, Ada; Byron",
        "a - b; c = d",
        "x=1\ny=2",
    ):
        assert tables.escape_cell(text) == text


TRICKY = st.lists(
    st.sampled_from(
        [*";,\t\r\n'\" =+-@", WIDE[0], WIDE[3], WIDE[2], *"a1", "\x00", "\ud800", "\u2028", "\xa0"]
    ),
    max_size=12,
).map("".join)


@given(st.text(max_size=60) | TRICKY, st.sampled_from(",;\t"))
@settings(max_examples=600, deadline=None)
def test_a_cell_runs_nowhere_and_comes_back(text, delimiter):
    cell = tables.escape_cell(text, delimiter)
    assert not cell.lstrip().startswith(("=", "+", "-", "@")) and not cell.startswith(
        ("\t", "\r", "\n")
    )
    assert tables.unescape_cell(cell, delimiter) == re.sub(
        "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]", "\ufffd", text
    )


@given(st.lists(st.lists(TRICKY, min_size=3, max_size=3), max_size=4), st.sampled_from(",;\t"))
@settings(max_examples=400, deadline=None)
def test_a_table_holds_no_formula_for_any_separator(rows, delimiter):
    assert not formulas(tables.as_csv(["one", "two", "three"], rows, delimiter=delimiter))


@given(
    st.lists(st.lists(st.text(max_size=20) | TRICKY, min_size=3, max_size=3), max_size=6),
    st.booleans(),
    st.sampled_from(",;\t"),
)
@settings(max_examples=150, deadline=None)
def test_a_table_comes_back_as_it_was_written(tmp_path_factory, rows, mark, delimiter):
    path = tmp_path_factory.mktemp("table") / "t.csv"
    path.write_bytes(tables.as_csv(["one", "two", "three"], rows, mark, delimiter))
    found, columns, by = tables.read(path)
    expected = [
        [tables.unescape_cell(tables.escape_cell(cell)) for cell in row]
        for row in rows
        if any(tables.escape_cell(cell).strip() for cell in row)
    ]
    assert columns == ["one", "two", "three"] and by == delimiter
    assert [[row[column] for column in columns] for row in found] == expected


@given(st.text(max_size=40), st.text(max_size=40))
@settings(max_examples=300, deadline=None)
def test_files_of_two_students_are_two(one, other):
    first, second = html_report.file_name(one), html_report.file_name(other)
    assert re.fullmatch(r"[\w][\w.-]*", first, re.ASCII) and len(first) < 80
    assert (first.casefold() == second.casefold()) == (one == other)


@given(st.text(max_size=80))
@settings(max_examples=300, deadline=None)
def test_shown_text_is_text(text):
    assert not re.search(
        "[<>\"'\u202a-\u202e\u2066-\u2069\x00-\x08\ud800-\udfff]", html_report.shown(text)
    )


# Classes at the edge


@pytest.mark.parametrize(
    "some",
    [
        [],
        [CLASS[0]],
        [CLASS[7]],
        [CLASS[11]],
        [result(f"s{i}", {}, "missing", submission="") for i in range(30)],
        [
            result(f"s{i}", {name: ("ok", worth, None, "") for name, _, worth, _ in KINDS[:5]})
            for i in range(30)
        ],
    ],
    ids=["empty", "one", "nothing", "ungradable", "missing", "perfect"],
)
def test_classes_at_the_edge_have_every_file(tmp_path, some):
    made, _ = write_all(tmp_path, some)
    for name in (
        "grades.csv",
        "report.html",
        "feedback.zip",
        "lms/canvas.csv",
        "lms/moodle.csv",
        "lms/grades.json",
    ):
        assert (tmp_path / name).exists()
    harmless_page((tmp_path / "report.html").read_text())
    assert (
        len(read(tmp_path / "grades.csv"))
        == len(some)
        == len(list((tmp_path / "feedback").iterdir() if some else []))
    )
    if len(some) == 30 and made[0].graded:
        items = stats.items(assignment(), made)
        assert (
            items
            and all(item.discrimination is None for item in items)
            and "tells nobody apart" in (tmp_path / "report.html").read_text()
        )
    if some and not any(one.graded for one in made):
        assert "Nothing could be graded yet" in (tmp_path / "report.html").read_text()


# What a page tells


def test_feedback_says_what_is_right_and_what_went_wrong_and_gives_nothing_away(tmp_path):
    one = result(
        "ada",
        {
            "step_time": ("wrong", 1, "added-not-max", ""),
            "balance": ("ok", 2, None, ""),
            "cost": ("timeout", 0, None, ""),
            "why": ("waiting", 0, None, "Since it waits."),
        },
    )
    one["questions"][0]["hidden"] = "0.00123456789"  # a field that no page knows
    page = feedback.student_page(
        assignment(),
        grades.gather([one], rubric.lines_to_fill(assignment(), [one]))[0],
        "https://example.org/book/",
    )
    assert (
        "3 of 13" in page
        and "You added the two times; the step lasts as long as the slower one." in page
        and "https://example.org/book/latency-and-cost.html" in page
    )
    assert (
        "Partly right</p>" in page  # a known mistake has points of its own, whatever the checks
        and "Took too long" in page
        and "Waits for your teacher" in page
        and "Since it waits." in page
    )
    assert one["submission"] in page and "0.00123456789" not in page
    harmless_page(page)


def test_every_picture_has_words_and_a_table():
    page = report.class_page(assignment(), grades.gather(CLASS, []))
    pictures = re.findall(r'<figure><svg [^>]*role="img" aria-label="([^"]{30,})"', page)
    assert len(pictures) == 4 == page.count("<figure>")
    for section in page.split("<section>")[1:]:
        if "<figure>" in section:
            assert "<table>" in section
    assert not re.search(r'<svg[^>]*style=|<[^>]+ style="', page)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_every_ink_can_be_read_on_its_paper(scheme):
    def light(colour):
        channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
        return sum(
            weight * (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4)
            for weight, c in zip((0.2126, 0.7152, 0.0722), channels, strict=True)
        )

    inks = dict(
        re.findall(
            r"--(\w+): (#[0-9a-f]{3,6})",
            re.findall(r":root \{([^}]*)\}", html_report.STYLE)[scheme],
        )
    )
    inks = {
        name: colour if len(colour) == 7 else "#" + "".join(letter * 2 for letter in colour[1:])
        for name, colour in inks.items()
    }
    for paper in ("paper", "wash", "mark"):
        for ink in ("ink", "soft", "good", "bad", "wait", "0"):
            if paper != "mark" or ink in ("ink", "soft"):
                high, low = sorted((light(inks[ink]), light(inks[paper])), reverse=True)
                assert (high + 0.05) / (low + 0.05) >= 4.5, (ink, paper)


# The command


@pytest.fixture
def graded(tmp_path):
    """Make a folder as the grader leaves it, of the book's roofline.

    ada is right, ben is wrong in a named way, and cy handed in nothing.
    """
    found = assignments()["roofline"]
    name, misconception = next(
        (question.name, key) for question in found.questions.values() for key in question.wrong
    )

    def one(student, submission, wrong=None):
        parts = [
            {
                "name": question.name,
                "asks": question.asks,
                "kind": question.kind,
                "possible": question.points,
                "turn": None,
                "right": [],
                "text": "",
                **(
                    {
                        "status": "waiting",
                        "points": 0,
                        "says": "Your teacher reads this.",
                        "text": f"What {student} thinks.",
                    }
                    if question.kind == "written"
                    else {"status": "ok", "points": question.points, "says": "Right."}
                ),
            }
            for question in found.questions.values()
        ]
        for part in parts:
            if part["name"] == wrong:
                part.update(
                    status="wrong",
                    points=1,
                    turn=misconception,
                    says=found.questions[name].wrong[misconception].says,
                )
            if not submission:
                part.update(status="missing", points=0, text="", says="It is missing.")
        points = round(sum(part["points"] for part in parts), 2)
        return {
            "schema": 1,
            "assignment": "roofline",
            "edition": found.edition,
            "library": "0.1.0",
            "student": student,
            "submission": submission,
            "variant": 1,
            "status": "missing" if not submission else "wrong" if wrong else "ok",
            "says": "",
            "points": points,
            "possible": found.points,
            "waiting": found.waiting,
            "questions": parts,
            "notices": [],
            "signature": "",
        }

    results = [one("ada", "a" * 64), one("ben", "b" * 64, name), one("cy", "")]
    with store.opened(tmp_path / "graded") as kept:
        for result in results:
            kept.put(store.key(result["student"]), result)
        kept.finish(
            "roofline",
            [(result["student"], store.key(result["student"])) for result in results],
            complete=True,
        )
    return tmp_path / "graded"


def test_the_command_writes_everything_and_says_so(graded, capsys):
    assert cli.main(["assign", "report", str(graded), "--site", "https://example.org/book"]) == 0
    said = capsys.readouterr().out
    assert (
        "3 students, 2 graded, 0 with their final points" in said
        and "2 of 3 students wait for points by rubric" in said
        and str(graded / "report.html") in said
    )
    for name in (
        "report.html",
        "grades.csv",
        "rubric.csv",
        "feedback.zip",
        "feedback/ada.html",
        "lms/canvas.csv",
        "lms/gradescope/ben/results.json",
        "written/reply-1.html",
    ):
        assert (graded / name).exists(), name
    harmless_page((graded / "report.html").read_text())
    ben = (graded / "feedback" / "ben.html").read_text()
    misconception = next(
        misconception
        for question in assignments()["roofline"].questions.values()
        for misconception in question.wrong.values()
    )
    assert (
        ben.count(html_report.shown(misconception.says)) == 1
        and "https://example.org/book/latency-and-cost.html" in ben
    )
    fill(graded, lambda row: row.update(points=row["possible"]))
    assert cli.main(["assign", "report", str(graded), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["final"] == found["graded"] == 2
    assert [note.partition(" and has")[0] for note in found["notes"]] == [
        "1 student handed in nothing",
        "2 totals changed since the last time: ada 20 → 26, ben 18 → 24.",
    ]
    assert {row["student"]: row["total"] for row in read(graded / "grades.csv")}[
        "ada"
    ] == html_report.number(assignments()["roofline"].points + assignments()["roofline"].waiting)


def test_the_command_answers_a_mistake_in_one_sentence(graded, tmp_path, capsys):
    assert cli.main(["assign", "report", str(graded)]) == 0
    fill(graded, lambda row: row.update(points="many"))
    for arguments, code, said in [
        ([str(graded)], 2, "rubric.csv, row 2, column points: 'many' is no number"),
        ([str(tmp_path / "none")], 2, "holds no graded class"),
        ([str(graded), "--source", "balance"], 2, "holds results of 'roofline'")
        if "balance" in assignments()
        else ([str(graded), "--source", "roofl"], 2, "There is no assignment"),
        ([str(graded), "--class-list", str(tmp_path / "none.csv")], 2, "none.csv cannot be read"),
        ([str(graded), "--class-list", "a.csv", "--class-list", "b.csv"], 2, "one list at a time"),
    ]:
        assert cli.main(["assign", "report", *arguments]) == code
        error = capsys.readouterr().err
        assert said in error and "Traceback" not in error
        # One sentence, or one for each wrong cell of the rubric.
        assert error.count("\n") == max(1, error.count("column points"))


def test_a_share_that_a_judge_gave_is_not_counted_in_checks():
    part = {"right": [False] * 11, "status": "wrong", "points": 2.0, "says": "Half the plan fits."}
    assert feedback._calls(part) == ""
    assert feedback._calls(part | {"points": 0.0}) == ": 0 of 11 checks"
    assert feedback._calls(part | {"right": [True, False]}) == ": 1 of 2 checks"
