"""Grades, feedback and the report of a class, from results made here: nothing is lost, nothing that a student wrote runs, and every number is right."""
import csv
import hashlib
import html.parser
import io
import json
import random
import re
import zipfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.stats
from handful.classroom import feedback, grades, report, rubric, sheet, stats, store, tables
from hypothesis import given, settings
from hypothesis import strategies as st

TURNS = {"step_time": {"added-not-max": ("You added the two times; the step lasts as long as the slower one.", 1),
                       "forgot-batch": ("The arithmetic grows with the batch; the weights are read once for all of it.", 0)},
         "balance": {"two-for-one": ("A multiply-add is two FLOP.", 1)}}
KINDS = [("step_time", "function", 4, "the time of a decode step"), ("balance", "value", 2, "the batch at which the two times are equal"),
         ("cost", "function", 3, "what a million tokens cost"), ("roofline", "expression", 3, "the roofline as an expression"),
         ("coin", "value", 1, "a question that luck decides"), ("why", "written", 4, "why a larger batch is cheaper, in two sentences")]
RUBRIC = [(2, "Names the binding resource and why"), (2, "Says what the weights cost a single sequence")]


def assignment(questions=KINDS):
    made = {}
    for name, kind, points, asks in questions:
        wrong = {turn: SimpleNamespace(id=turn, says=says, score=score) for turn, (says, score) in TURNS.get(name, {}).items()}
        lines = tuple(SimpleNamespace(points=worth, text=text) for worth, text in RUBRIC) if kind == "written" else ()
        made[name] = SimpleNamespace(name=name, kind=kind, points=points, asks=asks, wrong=wrong, rubric=lines)
    return SimpleNamespace(name="roofline", title="Write the roofline", chapter="latency-and-cost", edition="0123456789ab", questions=made)


def result(student, answers, status=None, notices=(), submission=None, says=""):
    """A result as the grader writes it; `answers` maps a question to its status, points, turn and text."""
    found = []
    for name, kind, possible, asks in KINDS:
        state, points, turn, text = answers.get(name, ("missing", 0, None, ""))
        written = kind == "written"
        found.append({"name": name, "asks": asks, "kind": kind, "status": state, "points": points, "possible": 0 if written else possible,
                      "says": {"ok": "All calls came back right.", "wrong": "Some calls came back wrong.", "waiting": "Your teacher grades this.",
                               "missing": f"There is no {name}."}.get(state, "It stopped."), "turn": turn,
                      "right": [] if kind != "function" or state == "missing" else [i < round(8 * points / possible) for i in range(8)], **({"text": text} if written else {})})
    order = ["ungradable", "killed", "timeout", "error", "missing", "wrong", "ok"]
    states = [part["status"] for part in found if part["status"] != "waiting"]
    status = status or min(states, key=order.index)
    handed = submission if submission is not None else hashlib.sha256(student.encode("utf-8", "surrogatepass")).hexdigest()
    return {"schema": 1, "assignment": "roofline", "edition": "0123456789ab", "library": "0.1.0", "student": student, "submission": handed, "variant": 17, "status": status,
            "says": says, "points": round(sum(part["points"] for part in found), 2), "possible": 13, "waiting": 4, "questions": found, "notices": list(notices), "signature": ""}


def class_of(many=40, seed=1):
    """A class whose members differ in what they know; one question is decided by luck."""
    draw, made = random.Random(seed), []
    for i in range(many):
        student, knows, answers = f"student{i:03}", draw.gauss(0.3, 1), {}
        for name, kind, possible, _ in KINDS:
            luck = knows + draw.gauss(0, 0.8)
            if kind == "written":
                answers[name] = ("waiting", 0, None, f"The weights are read once for all {i + 2} sequences, so each pays less.") if luck > -1.2 else ("missing", 0, None, "")
            elif name == "coin":
                answers[name] = ("ok", possible, None, "") if draw.random() < 0.5 else ("wrong", 0, None, "")
            elif luck > 0:
                answers[name] = ("ok", possible, None, "")
            elif luck > -1.4:
                turn = draw.choice([*TURNS.get(name, {}), None])
                answers[name] = ("wrong", TURNS[name][turn][1] if turn else round(possible * draw.choice([0, 0.25, 0.5]), 2), turn, "")
            else:
                answers[name] = (draw.choice(["missing", "error", "timeout"]), 0, None, "")
        notices = ("student004 and student009 handed in notebooks whose inputs were drawn for the same id.",) if i in (4, 9) else ()
        made.append(result(student, answers, notices=notices))
    if many > 12:
        made[7] = result("student007", {}, "missing", submission="", says="Nothing was handed in.")
        made[11] = result("student011", {}, "ungradable", says="The file is no notebook: it ends in the middle.") | {"questions": []}
        made[12]["status"], made[12]["says"] = "killed", "The code asked for more than 600 MB and was ended."
    return made


CLASS = class_of(seed=5)
WROTE = next(i for i, one in enumerate(CLASS) if one["questions"][-1]["status"] == "waiting")


def read(path: Path):
    """A table as a spreadsheet sees it."""
    return list(csv.DictReader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline="")))


def everything(folder: Path):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def write_all(folder, results, **more):
    made, notes = grades.write(folder, assignment(), results, **more)
    feedback.write(folder, assignment(), made, "https://example.org/book/")
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
    expected = [sum(part["points"] for part in one.result["questions"]) for one in made if one.result["submission"] and one.result["status"] != "ungradable"]
    assert points == pytest.approx(expected) and possible == 13 and not whole
    width = stats.step(possible)
    edges = np.arange(0, possible + width, width)
    assert stats.bins(points, possible, width) == np.histogram(points, edges)[0].tolist()
    assert sum(stats.bins(points, possible, width)) == len(points)
    for share in (0, 0.25, 0.5, 0.75, 1):
        assert stats.quantile(points, share) == pytest.approx(np.quantile(points, share))


@pytest.mark.parametrize(["many", "seed"], [(38, 5), (200, 6), (1000, 7)])
def test_discrimination_is_the_correlation_with_the_rest(many, seed):
    assigned, made = assignment(), grades.gather(class_of(many, seed), [])
    graded = [one for one in made if one.graded and one.result["questions"]]
    for item in stats.items(assigned, made):
        if item.name == "why":
            continue
        own = np.array([next(part["points"] for part in one.result["questions"] if part["name"] == item.name) for one in graded])
        rest = np.array([sum(part["points"] for part in one.result["questions"] if part["name"] != item.name) for one in graded])
        again = scipy.stats.pearsonr(own, rest)
        assert item.n == len(graded) and item.discrimination == pytest.approx(again.statistic)
        assert item.interval == pytest.approx(tuple(again.confidence_interval(0.95)))
        assert item.mean == pytest.approx(own.mean() / assigned.questions[item.name].points)
        assert item.right == pytest.approx(np.mean(own == assigned.questions[item.name].points))
        assert sum(item.outcomes.values()) == item.n


def test_a_question_of_luck_is_found_and_the_others_are_not():
    found = {item.name: item for item in stats.items(assignment(), grades.gather(class_of(1000, 8), []))}
    assert {name for name, item in found.items() if item.near_zero} == {"coin"}
    assert "coin" in report.class_page(assignment(), grades.gather(class_of(1000, 8), [])).partition("Near zero")[2][:60]


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
    assert f"Below {stats.FEWEST} students it says nothing" in page and "says nothing" in page and "Near zero" not in page


def test_the_page_says_the_numbers_that_were_computed():
    made = grades.gather(CLASS, [])
    page = report.class_page(assignment(), made)
    points = np.array(stats.scores(made)[0])
    assert f"<b>{sheet.number(points.mean())}</b><span>mean" in page and f"<b>{sheet.number(np.median(points))}</b><span>median of 13 points" in page
    for question, turn, many in stats.turns(made):
        again = sum(part.get("turn") == turn and part["name"] == question for one in CLASS for part in one["questions"])
        assert many == again
        assert re.search(rf'{turn}<br><code class="note">{question}</code></th><td>{re.escape(TURNS[question][turn][0])}</td><td class="num">{many}</td>', page)
    assert "drawn for the same id" in page and "The file is no notebook" in page


def test_statuses_add_up_and_name_who_handed_in_nothing():
    found = stats.statuses(grades.gather(CLASS, []))
    assert sum(found.values()) == len(CLASS) and found["not handed in"] == 1 and found["ungradable"] == 1 and found["killed"] == 1


# Tables and files

def test_the_table_of_grades_has_every_number(tmp_path):
    made, _ = grades.write(tmp_path, assignment(), CLASS)
    rows = read(tmp_path / "grades.csv")
    assert (tmp_path / "grades.csv").read_bytes().startswith(b"\xef\xbb\xbf")
    assert list(rows[0]) == ["student", "status", "points", "possible", "waiting", "rubric points", "total", "out of", *assignment().questions, "wrong turns", "notices", "submission"]
    assert len(rows) == len(CLASS)
    for row, one in zip(rows, CLASS):
        assert (row["student"], row["status"], row["submission"]) == (one["student"], one["status"], one["submission"])
        assert float(row["points"]) == one["points"] and float(row["possible"]) == 13 and float(row["out of"]) == 17
        for part in one["questions"]:
            assert row[part["name"]] == ("" if part["status"] == "waiting" else sheet.number(part["points"]))
        assert row["wrong turns"] == "; ".join(f"{part['name']}: {part['turn']}" for part in one["questions"] if part["turn"])


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
        for one, (_, key) in zip(CLASS, keys):
            kept.put(key, one)
        kept.put(store.key("ada, as she was graded before"), CLASS[0] | {"points": 0.0})
        kept.finish("roofline", keys, complete=True)
    made, notes = grades.write(tmp_path, assignment())
    assert [one.result["points"] for one in made] == [one["points"] for one in CLASS]
    other = assignment()
    other.edition = "ba9876543210"
    assert any(f"{len(CLASS)} of {len(CLASS)} results are of another edition" in note for note in grades.write(tmp_path, other)[1]) and not any("edition" in note for note in notes)


LIST = "Student,ID,SIS User ID,SIS Login ID,Section\r\n" + "".join(f'"Number {i:03}, Student",{1000 + i},sis{i},student{i:03},Monday\r\n' for i in range(39))


def canvas_reads(data: bytes, ids: dict):
    """What Canvas' importer makes of a file: students by ID, else by SIS ids; lib/gradebook_importer.rb."""
    text = data.decode()
    assert not text.startswith("\ufeff")
    head, first, *rows = list(csv.reader(text.splitlines()))  # it looks at lines before it parses
    assert "Student" in head[0] and "ID" in head[1] and re.search(r"SIS\s+User\s+ID", head[2]) and re.search(r"SIS\s+Login\s+ID", head[3]) and "Section" in head[4]
    assert "Points Possible" in first[0]
    return float(first[5]), {ids[row[1]] if row[1] else row[3].removeprefix("'"): row[5] for row in rows}


def test_canvas_reads_the_grades_and_leaves_alone_what_has_none(tmp_path):
    (tmp_path / "list.csv").write_text(LIST, newline="")
    made, notes = grades.write(tmp_path, assignment(), CLASS, roster=tmp_path / "list.csv", partial=True)
    possible, found = canvas_reads((tmp_path / "lms" / "canvas.csv").read_bytes(), {str(1000 + i): f"student{i:03}" for i in range(39)})
    assert possible == 17 and set(found) == {one.student for one in made}
    for one in made:
        assert found[one.student] == (sheet.number(one.total) if one.graded else "")
    assert found["student007"] == found["student011"] == ""
    assert any("not in list.csv" in note and "student039" in note for note in notes)


def test_an_lms_gets_no_grade_before_the_rubric_is_filled(tmp_path):
    made, notes = grades.write(tmp_path, assignment(), CLASS)
    _, found = canvas_reads((tmp_path / "lms" / "canvas.csv").read_bytes(), {})
    waits = [one for one in made if one.graded and one.waiting]
    assert waits and all(found[one.student] == "" for one in waits) and any(f"{len(waits)} of {len(made)} students wait" in note for note in notes)
    assert all(found[one.student] == sheet.number(one.total) for one in made if one.final)


def test_moodle_gets_one_row_for_each_known_user_and_a_dash_for_no_grade(tmp_path):
    (tmp_path / "list.csv").write_text("First name,Last name,Username,Email address\n" + "".join(f"A,B{i},student{i:03},s{i}@example.org\n" for i in range(39)))
    made, _ = grades.write(tmp_path, assignment(), CLASS, roster=tmp_path / "list.csv", partial=True)
    rows = read(tmp_path / "lms" / "moodle.csv")
    assert list(rows[0]) == ["Username", "Email address", "Write the roofline", "Feedback comments"] and len(rows) == 39
    by_name = {row["Username"]: row["Write the roofline"] for row in rows}
    assert by_name["student007"] == by_name["student011"] == "-"
    assert all(float(by_name[one.student]) == one.total for one in made if one.graded and one.student in by_name)


def test_a_name_that_means_two_students_means_neither(tmp_path):
    (tmp_path / "list.csv").write_text("Student,ID,SIS Login ID\nAda,1,2\nBen,2,ben\n")
    known = grades.class_list(tmp_path / "list.csv")
    assert "2" not in known and known["1"]["Student"] == "Ada" and known["ben"]["Student"] == "Ben"
    (tmp_path / "none.csv").write_text("Who,Mark\nAda,1\n")
    with pytest.raises(tables.TableError, match="none.csv has no column that names a student"):
        grades.class_list(tmp_path / "none.csv")


def test_gradescope_gets_a_file_for_each_student(tmp_path):
    made, _ = grades.write(tmp_path, assignment(), CLASS)
    for one in made:
        found = json.loads((tmp_path / "lms" / "gradescope" / sheet.file_name(one.student) / "results.json").read_bytes())
        assert found["score"] == one.total == pytest.approx(sum(test["score"] for test in found["tests"]))
        assert found["extra_data"]["submission"] == one.result["submission"] and found["output_format"] == "text"
        for test in found["tests"]:
            assert 0 <= test["score"] <= test["max_score"] and (test["status"] == "passed") == (test["score"] == test["max_score"]) and test["visibility"] == "visible"
        assert ("Waits for your teacher" in found["output"]) == bool(one.waiting)


def test_the_json_says_what_the_table_says(tmp_path):
    made, _ = grades.write(tmp_path, assignment(), CLASS)
    found = json.loads((tmp_path / "lms" / "grades.json").read_bytes())
    assert found["possible"] == 17
    for one, row in zip(found["grades"], read(tmp_path / "grades.csv")):
        assert one["student"] == row["student"] and sheet.number(one["total"]) == row["total"] and one["final"] == (one["waiting"] == 0 and row["status"] != "ungradable" and one["submission"] != "")


# The rubric

def fill(folder: Path, give, delimiter=",", encoding="utf-8-sig"):
    """What a teacher does in a spreadsheet, and how it saves; `give` gets a row and changes it."""
    rows = read(folder / "rubric.csv")
    for row in rows:
        give(row)
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    (folder / "rubric.csv").write_bytes(out.getvalue().encode(encoding))


@pytest.mark.parametrize(["delimiter", "encoding"], [(",", "utf-8-sig"), (";", "cp1252"), ("\t", "utf-16")])
def test_filled_points_are_read_back_added_and_kept(tmp_path, delimiter, encoding):
    write_all(tmp_path, CLASS)
    before = {row["student"]: row for row in read(tmp_path / "grades.csv")}

    def give(row):
        row.update(points="1,5" if delimiter == ";" else "1.5", comment="Say which resource é binds")

    fill(tmp_path, give, delimiter, encoding)
    made, notes = write_all(tmp_path, CLASS)
    assert not notes
    for one in made:
        assert one.rubric == 1.5 * len(one.lines) and one.waiting == 0
    for row in read(tmp_path / "grades.csv"):
        if row["rubric points"]:
            assert float(row["total"]) == pytest.approx(float(before[row["student"]]["points"]) + 3) and row["why"] == "3" and row["waiting"] == "0"
    page = (tmp_path / "feedback" / f"student{WROTE:03}.html").read_text()
    assert "Your teacher: Say which resource é binds" in page and "<strong>1.5</strong> of 2 points" in page
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
    assert made[WROTE].waiting == 4 and made[WROTE].rubric == 0 and sum(one.rubric for one in made) > 40
    assert any("2 filled rows of rubric.csv stand at its foot" in note and f"student{WROTE:03} (why)" in note for note in notes)
    assert [row["points"] for row in read(tmp_path / "rubric.csv") if row["student"] == f"student{WROTE:03}"] == ["", "", "2", "2"]
    made, _ = grades.write(tmp_path, assignment(), CLASS)
    assert made[WROTE].rubric == 4  # the first answer again, and with it its points


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


@pytest.mark.parametrize(["text", "said"], [("five", "row 3, column points: 'five' is no number; 0 to 2 is allowed"), ("3", "row 3, column points: '3' is not within 0 to 2"),
                                            ("-1", "'-1' is no number"), ("nan", "'nan' is no number"), ("1e0", "'1e0' is no number"), ("=1+1", "'=1+1' is no number"), ("0x1", "is no number")])
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
    for text, said in [(good.replace("points", "Points", 1), "no column 'points'"), (lines[0] + "\n" + lines[1] + ",more", "row 2: it has 9 cells"),
                       ("\n".join([lines[0], lines[1].replace("written/", "x/"), lines[1].replace(",,,written/", ",1,,written/")]), "rows 2 and 3: they are the same line")]:
        (tmp_path / "rubric.csv").write_text(text)
        with pytest.raises(tables.TableError, match=said):
            grades.write(tmp_path, assignment(), CLASS)
        assert (tmp_path / "rubric.csv").read_text() == text


def test_the_sheets_show_every_answer_beside_its_rows(tmp_path):
    many = class_of(230, 4)
    grades.write(tmp_path, assignment(), many)
    rows = read(tmp_path / "rubric.csv")
    assert {row["answer"].partition("#")[0] for row in rows} == {"written/why-1.html", "written/why-2.html"}
    for place, row in enumerate(rows, 2):
        path, _, anchor = row["answer"].partition("#")
        section = (tmp_path / path).read_text().partition(f'id="{anchor}"')[2].partition("</section>")[0]
        assert f'<th scope="row">{place}</th><td>{row["line"]}</td>' in section
    assert sum(len(path.read_text().split("<section")) - 1 for path in (tmp_path / "written").iterdir()) == len({row["student"] for row in rows})


# What somebody wrote never runs, hides or breaks out

HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</style><script>alert(1)</script>", "=HYPERLINK(\"http://example.org\",\"x\")", "+1+1", "-2", "@SUM(A1)", "\tx", "\r=1",
           "\u202egnp.exe", "\u2066x\u2069", "a\x00b\x1b[31m", "line\nline", "{{constructor}}", "javascript:alert(1)", "../../etc/passwd", "CON", "\ud800", "', ;\"", "&lt;", "＝1", "é" * 300]


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
    assert not page.tags & {"script", "iframe", "object", "embed", "form", "input", "img", "link", "base"}
    assert not [name for _, name, _ in page.attributes if name.startswith("on") or name == "style"]
    assert all(value.startswith(("#", "https://example.org/", "feedback/")) for tag, name, value in page.attributes if name == "href" and tag == "a")
    assert not [value for _, name, value in page.attributes if name in ("src", "srcset", "action")]
    assert re.search(r"default-src 'none'; style-src 'sha256-[\w+/]+=*'; base-uri 'none'", text) and text.count("<style>") == 1 == text.count("</style>")
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00\x1b\ud800-\udfff]", text)


def hostile_class():
    made = []
    for i, text in enumerate(HOSTILE):
        one = result(f"{text}{i}", {"why": ("waiting", 0, None, text * 3), "balance": ("wrong", 1, "two-for-one", "")}, notices=(f"Notice {text}",), says=text)
        for part in one["questions"]:
            part["says"] = f"It said {text}."
        made.append(one)
    return made


def test_hostile_text_stays_text_in_every_page(tmp_path):
    made, notes = write_all(tmp_path, hostile_class())
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) == len(HOSTILE) + 2
    for path in pages:
        harmless_page(path.read_bytes().decode())
    assert "⟨U+202E⟩gnp.exe" in report.class_page(assignment(), made) and "&lt;script&gt;" in report.class_page(assignment(), made)
    with zipfile.ZipFile(tmp_path / "feedback.zip") as archive:
        assert len(archive.namelist()) == len(HOSTILE) and all(re.fullmatch(r"feedback/[\w.-]+\.html", name) and ".." not in name for name in archive.namelist())


def test_hostile_cells_run_in_no_spreadsheet(tmp_path):
    grades.write(tmp_path, assignment(), hostile_class())
    for path in tmp_path.rglob("*.csv"):
        rows = list(csv.reader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline="")))
        assert len({len(row) for row in rows}) == 1
        for row in rows:
            assert not [cell for cell in row if cell.lstrip(" \n").startswith(("=", "+", "@", "\t", "\r", "＝")) or re.match(r"\s*-.", cell)]
            assert not [cell for cell in row if len(cell) > 32_767 or re.search("[\x00\x1b]", cell)]


def test_rubrics_of_hostile_students_are_read_back(tmp_path):
    some = hostile_class()
    grades.write(tmp_path, assignment(), some)
    fill(tmp_path, lambda row: row.update(points="2"))
    made, notes = grades.write(tmp_path, assignment(), some)
    assert not notes and all(one.rubric == 4 for one in made)


def test_a_megabyte_of_text_makes_no_megabyte_of_page(tmp_path):
    one = result("ada", {"why": ("waiting", 0, None, "<b>" * 350_000)}, says="x" * 1_000_000, notices=("y" * 1_000_000,))
    write_all(tmp_path, [one])
    for path in [*tmp_path.rglob("*.html"), *tmp_path.rglob("*.csv")]:
        assert path.stat().st_size < 200_000
    assert "more characters" in (tmp_path / "feedback" / "ada.html").read_text()


@given(st.text(max_size=60))
@settings(max_examples=300, deadline=None)
def test_a_cell_runs_nowhere_and_comes_back(text):
    cell = tables.harmless(text)
    assert cell == "-" or not cell.lstrip().startswith(("=", "+", "-", "@")) and not cell.startswith(("\t", "\r", "\n"))
    assert tables.plain(cell) == re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]", "\ufffd", text)


@given(st.lists(st.lists(st.text(max_size=20), min_size=3, max_size=3), max_size=6), st.booleans(), st.sampled_from(",;\t"))
@settings(max_examples=150, deadline=None)
def test_a_table_comes_back_as_it_was_written(tmp_path_factory, rows, mark, delimiter):
    path = tmp_path_factory.mktemp("table") / "t.csv"
    path.write_bytes(tables.written(["one", "two", "three"], rows, mark, delimiter))
    found, columns, by = tables.read(path)
    expected = [[tables.plain(tables.harmless(cell)) for cell in row] for row in rows if any(tables.harmless(cell).strip() for cell in row)]
    assert columns == ["one", "two", "three"] and by == delimiter
    assert [[row[column] for column in columns] for row in found] == expected


@given(st.text(max_size=40), st.text(max_size=40))
@settings(max_examples=300, deadline=None)
def test_files_of_two_students_are_two(one, other):
    first, second = sheet.file_name(one), sheet.file_name(other)
    assert re.fullmatch(r"[\w][\w.-]*", first, re.ASCII) and len(first) < 80
    assert (first.casefold() == second.casefold()) == (one == other)


@given(st.text(max_size=80))
@settings(max_examples=300, deadline=None)
def test_shown_text_is_text(text):
    assert not re.search("[<>\"'\u202a-\u202e\u2066-\u2069\x00-\x08\ud800-\udfff]", sheet.shown(text))


# Classes at the edge

@pytest.mark.parametrize("some", [[], [CLASS[0]], [CLASS[7]], [CLASS[11]], [result(f"s{i}", {}, "missing", submission="") for i in range(30)],
                                  [result(f"s{i}", {name: ("ok", worth, None, "") for name, _, worth, _ in KINDS[:5]}) for i in range(30)]], ids=["empty", "one", "nothing", "ungradable", "missing", "perfect"])
def test_classes_at_the_edge_have_every_file(tmp_path, some):
    made, _ = write_all(tmp_path, some)
    for name in ("grades.csv", "report.html", "feedback.zip", "lms/canvas.csv", "lms/moodle.csv", "lms/grades.json"):
        assert (tmp_path / name).exists()
    harmless_page((tmp_path / "report.html").read_text())
    assert len(read(tmp_path / "grades.csv")) == len(some) == len(list((tmp_path / "feedback").iterdir() if some else []))
    if len(some) == 30 and made[0].graded:
        assert all(item.discrimination is None for item in stats.items(assignment(), made)) and "tells nobody apart" in (tmp_path / "report.html").read_text()
    if some and not any(one.graded for one in made):
        assert "Nothing could be graded yet" in (tmp_path / "report.html").read_text()


# What a page tells

def test_feedback_says_what_is_right_and_what_went_wrong_and_gives_nothing_away(tmp_path):
    one = result("ada", {"step_time": ("wrong", 1, "added-not-max", ""), "balance": ("ok", 2, None, ""), "cost": ("timeout", 0, None, ""), "why": ("waiting", 0, None, "Since it waits.")})
    one["questions"][0]["hidden"] = "0.00123456789"  # a field that no page knows
    page = feedback.student_page(assignment(), grades.gather([one], rubric.asked(assignment(), [one]))[0], "https://example.org/book/")
    assert "3 of 13" in page and "You added the two times; the step lasts as long as the slower one." in page and "https://example.org/book/latency-and-cost.html" in page
    assert "Partly right: 2 of 8 checks" in page and "Took too long" in page and "Waits for your teacher" in page and "Since it waits." in page
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
