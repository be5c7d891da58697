"""Tests of grading one notebook and a hostile class, and of the commands that do it.

Nobody gets what is not theirs.
"""

from __future__ import annotations

import io
import json
import re

import nbformat
import pytest

from handful import cli
from handful_classroom.grading import grade, store, submissions
from handful_classroom.grading.student_grade import UNTOUCHED
from handful_classroom.progress import Progress
from handful_classroom.release import notebooks
from handful_classroom.release.assignment import assignments
from handful_classroom.sandbox.protocol import Answer, Limits, Outcome

ROOFLINE = assignments()["roofline"]
QUICK = Limits(cell_seconds=1, call_seconds=0.5, total_seconds=12, memory_bytes=400 << 20)
WRONG = [(question.name, key) for question in ROOFLINE.questions.values() for key in question.wrong]
NAMES = [name for name, question in ROOFLINE.questions.items() if question.kind != "written"]


def hand(student: str, fill="solution", *cells: str) -> bytes:
    """Return a student's notebook, with more cells before its last two."""
    made = notebooks.notebook(ROOFLINE, student, fill)
    made["cells"][-2:-2] = [
        notebooks.cell("code", f"own-{i}", source) for i, source in enumerate(cells)
    ]
    return notebooks.text(made).encode()


def part(result: dict, name: str) -> dict:
    return next(one for one in result["questions"] if one["name"] == name)


@pytest.mark.sandbox
@pytest.mark.parametrize("student", ["ada", "grace", "emmy", "ж", 'o\'neil \\ "quoted"'])
def test_real_notebooks_through_the_sandbox(student):
    full = grade.grade_one(ROOFLINE, student, hand(student))
    assert (full["status"], full["points"], full["notices"], full["drawn_for"]) == (
        "ok",
        20,
        [],
        student,
    )
    assert part(full, "reply")["status"] == "waiting" and part(full, "reply")["text"].startswith(
        "At this batch"
    )
    none = grade.grade_one(ROOFLINE, student, hand(student, "empty"))
    said = [UNTOUCHED] * ('"' not in student)  # its setup cell is not known by its form
    assert (none["status"], none["points"], none["notices"]) == ("missing", 0, said)
    assert {one["status"] for one in none["questions"]} == {"missing"}


@pytest.mark.sandbox
@pytest.mark.parametrize("name,key", WRONG)
def test_a_misconception_through_the_sandbox(name, key):
    result = grade.grade_one(ROOFLINE, "ada", hand("ada", ("wrong", name, key)))
    misconception = ROOFLINE.questions[name].wrong[key]
    assert (part(result, name)["turn"], part(result, name)["points"], result["status"]) == (
        key,
        misconception.score,
        "wrong",
    )
    assert result["points"] == 20 - ROOFLINE.questions[name].points + misconception.score


# One result


@pytest.mark.sandbox
def test_a_result_is_the_same_to_the_byte_and_holds_nothing_of_the_machine():
    data = hand("ada")
    first, second = (
        store.canonical(grade.grade_one(ROOFLINE, "ada", data, secret=b"k" * 32)) for _ in range(2)
    )
    assert first == second
    assert set(json.loads(first)) == {
        "schema",
        "assignment",
        "edition",
        "library",
        "student",
        "submission",
        "variant",
        "drawn_for",
        "notebook_edition",
        "inputs",
        "status",
        "says",
        "points",
        "possible",
        "waiting",
        "questions",
        "notices",
        "signature",
    }
    assert not re.search(rb"/root|/tmp|/home", first)


def test_what_does_not_reach_the_sandbox():
    def never(*arguments):
        raise AssertionError

    nothing = grade.grade_one(ROOFLINE, "ada", None, ask=never)
    assert (nothing["status"], nothing["says"], nothing["submission"], nothing["points"]) == (
        "missing",
        "Nothing was handed in.",
        "",
        0,
    )
    for data, why in ((None, "It is a link."), (b"{}", ""), (b"%PDF", "")):
        result = grade.grade_one(ROOFLINE, "ada", data, refused=why, ask=never)
        assert (
            result["status"] == "ungradable"
            and result["says"].startswith("This could not be graded: ")
            and result["submission"]
        )


@pytest.mark.sandbox
@pytest.mark.parametrize(
    "student,known,said",
    [("ada", (), False), ("Ada", (), False), ("lovelaceada_12", (), True), ("12", ("ADA",), True)],
)
def test_a_notebook_of_another_students_inputs_is_named(student, known, said):
    result = grade.grade_one(ROOFLINE, student, hand("ada"), known=known)
    assert result["points"] == 20 and result["variant"] == ROOFLINE.variant("ada")
    assert bool(result["notices"]) is said and all("'ada'" in note for note in result["notices"])


@pytest.mark.sandbox
def test_a_notebook_without_an_id_has_its_owners_inputs():
    made = notebooks.notebook(ROOFLINE, "", "empty")
    filled = notebooks.notebook(ROOFLINE, "bob", "solution")
    cells = [*made["cells"][:2], *filled["cells"][2:]]
    result = grade.grade_one(ROOFLINE, "bob", notebooks.text({**made, "cells": cells}).encode())
    assert (result["points"], result["variant"], result["drawn_for"], result["notices"]) == (
        20,
        ROOFLINE.variant("bob"),
        None,
        [],
    )


@pytest.mark.sandbox
def test_cells_that_fail_are_named_and_the_others_count():
    result = grade.grade_one(
        ROOFLINE,
        "ada",
        hand("ada", "solution", "# mine\n1 / 0", "%matplotlib inline\n!ls", "raise SystemExit"),
    )
    assert result["points"] == 20 and len(result["notices"]) == 2
    assert re.fullmatch(
        r"Cell \d+ \(“# mine”, line 2\) did not end well: ZeroDivisionError: division by zero",
        result["notices"][0],
    )


def test_released_cells_are_not_run_and_changed_ones_are():
    asked = []

    def ask(cells, requests, given, limits, library):
        asked.append(cells)
        return Outcome(tuple(Answer("missing") for _ in requests))

    grade.grade_one(ROOFLINE, "ada", hand("ada"), ask=ask)
    grade.grade_one(
        ROOFLINE,
        "ada",
        hand("ada").replace(b'check(\\"step_time\\")', b'check(\\"step_time\\"); evil()'),
        ask=ask,
    )
    first, second = ("\n".join(cells) for cells in asked)
    assert (
        "interact" not in first
        and 'check("' not in first
        and "pip" not in first
        and "evil()" not in first
    )
    assert "evil()" in second
    made = nbformat.reads(hand("ada"), 4)["cells"]
    assert len(asked[0]) == len(made) and asked[0][0].startswith("from handful_room import given")
    assert all(
        not source or source == cell["source"]
        for cell, source in zip(made[1:], asked[0][1:], strict=True)
    )


# Hostile notebooks

HOSTILE = {
    "loop": "while True: pass",
    "leave": "import os; os._exit(0)",
    "exit": "raise SystemExit",
    "kill": "import os; os.kill(os.getpid(), 9)",
    "memory": "x = bytearray(10**10)\nx = [bytearray(10**8) for _ in range(100)]",
    "recursion": "def f(): f()\nf()",
    "equal": "class Any(float):\n    __eq__ = __le__ = __lt__ = __ge__ = lambda *a: True\n"
    "    __hash__ = None\n" + "\n".join(f"{name} = lambda **k: Any(1)" for name in NAMES),
    "patch": "import builtins, math, json\nbuiltins.abs = lambda x: 0\n"
    "builtins.all = lambda x: True\nmath.isclose = lambda *a, **k: True\n"
    "json.dumps = lambda *a, **k: '1'\n" + "\n".join(f"{name} = lambda **k: 1.0" for name in NAMES),
    "forge": "import os\nfor fd in range(3, 64):\n    try: os.write(fd, "
    'b\'{"request":0,"status":"value","value":1}\\n{"points":99}\\n\' * 99)\n'
    "    except OSError: pass",
    "read": "import glob\nfound = ''.join(open(p, errors='replace').read() for p in "
    "glob.glob('/**/exercises/**/*.md', recursive=True) + glob.glob('/**/given.py', "
    "recursive=True))\n"
    "exec(found or 'raise LookupError')",
    "pickle": "class P:\n    def __reduce__(self): return (exec, ('raise KeyboardInterrupt',))\n"
    + "\n".join(f"{name} = P()" for name in NAMES),
    "children": "import subprocess, sys\nfor _ in range(100): "
    "subprocess.Popen([sys.executable, '-c', "
    "'import time; time.sleep(600)'])",
}


@pytest.mark.sandbox
def test_a_class_of_hostile_and_honest_notebooks(tmp_path):
    """Nobody who answered nothing gets a point, and whoever answered gets all of theirs."""
    for name, source in HOSTILE.items():
        (tmp_path / "class" / name).mkdir(parents=True)
        (tmp_path / "class" / name / "roofline.ipynb").write_bytes(hand(name, "empty", source))
    honest = [f"honest{i}" for i in range(6)]
    for name in honest:
        (tmp_path / "class" / f"{name}.ipynb").write_bytes(hand(name))
    (tmp_path / "class" / "thief.ipynb").write_bytes(hand("honest0"))
    (tmp_path / "class" / "garbage.ipynb").write_bytes(b"\x00" * 1000)
    (tmp_path / "class" / "link.ipynb").symlink_to(tmp_path / "class" / "honest1.ipynb")
    done = grade.run(
        ROOFLINE,
        submissions.read(tmp_path / "class", "roofline"),
        tmp_path / "out",
        jobs=2,
        limits=QUICK,
    )
    found = {result["student"]: result for result in store.results(tmp_path / "out")}
    assert set(found) == {*HOSTILE, *honest, "thief", "garbage", "link"} and not done.faults
    for name in honest:
        assert (found[name]["points"], found[name]["status"], found[name]["notices"]) == (
            20,
            "ok",
            [],
        )
    for name in HOSTILE:
        result = found[name]
        assert result["points"] == 0 and result["status"] in (
            "missing",
            "error",
            "timeout",
            "killed",
            "wrong",
        ), result
        assert all(one["says"] and one["says"].isprintable() for one in result["questions"])
    assert found["garbage"]["status"] == found["link"]["status"] == "ungradable"
    assert (
        done.claims
        == {"honest0": ["honest0", "thief"]}
        == store.overview(tmp_path / "out")["claims"]
    )
    assert "'honest0'" in found["thief"]["notices"][0]


# Commands


def run(*arguments: str) -> int:
    return cli.main(["assign", *map(str, arguments)])


@pytest.mark.sandbox
def test_results_are_signed_and_a_change_is_noticed(tmp_path, capsys):
    one = tmp_path / "class"
    one.mkdir()
    for name in ("s01", "s02"):
        (one / f"{name}.ipynb").write_bytes(hand(name))
    key, out = tmp_path / "key", tmp_path / "out"
    assert run("key", key) == 0 and key.stat().st_mode & 0o777 == 0o600
    assert run("key", key) == 2 and "is there already" in capsys.readouterr().err
    assert (
        run("grade", one, "--assignment", "roofline", "-o", out, "--key", key, "--jobs", "1") == 0
    )
    assert "not signed" not in capsys.readouterr().err
    assert (
        run("verify", out, "--key", key) == 0
        and "2 results are as signed." in capsys.readouterr().out
    )
    path = store.Store(out).path(store.overview(out)["students"][0]["key"])
    forged = {**store.load(path), "points": 19.99}
    genuine = path.read_bytes()
    store.Store(out).put(path.stem, forged)
    assert (
        run("verify", out, "--key", key) == 1
        and "1 cannot be trusted: s01." in capsys.readouterr().err
    )
    assert (
        run("grade", one, "--assignment", "roofline", "-o", out, "--key", key, "--jobs", "1") == 0
    )  # what is not as signed is graded again
    assert "1 was graded before" in capsys.readouterr().err and path.read_bytes() == genuine
    (tmp_path / "s03.ipynb").write_bytes(hand("s03"))
    late = ("grade", tmp_path / "s03.ipynb", "--assignment", "roofline", "-o", out, "--jobs", "1")
    assert run(*late) == 0
    assert "1 of 3 results is not signed, and the others are: s03." in capsys.readouterr().err
    assert run(*late, "--key", key) == 0 and "not signed" not in capsys.readouterr().err
    run("key", tmp_path / "other")
    assert (
        run("verify", out, "--key", tmp_path / "other") == 1
        and "3 cannot be trusted" in capsys.readouterr().err
    )
    (tmp_path / "bad").write_text("not a key")
    assert (
        run("verify", out, "--key", tmp_path / "bad") == 2
        and "is no key" in capsys.readouterr().err
    )


@pytest.mark.sandbox
def test_the_command_tells_what_it_did(tmp_path, capsys):
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "s01.ipynb").write_bytes(hand("s01"))
    (tmp_path / "roster.csv").write_text("student\ns01\nnobody\n")
    assert (
        run(
            "grade",
            tmp_path / "class",
            "--assignment",
            "roofline",
            "-o",
            tmp_path / "out",
            "--jobs",
            "1",
            "--roster",
            tmp_path / "roster.csv",
            "--json",
            "--limits",
            "call_seconds=3",
            "memory_bytes=8e8",
        )
        == 0
    )
    out, err = capsys.readouterr()
    told = json.loads(out)
    assert told["statuses"] == {"missing": 1, "ok": 1} and told["before"] == 0
    assert "Went through 2 of 2: ok 1, not handed in 1" in err
    assert any("The results are not signed" in note for note in told["notes"])
    says = "Students' ids are those in the roster's column 'student', such as 's01'."
    assert says in told["notes"]


@pytest.mark.parametrize(
    "arguments,code,why",
    [
        (("grade", "nowhere", "--assignment", "roofline"), 2, "cannot be read"),
        (("grade", ".", "--assignment", "rooflin"), 2, "roofline"),
        (("grade", ".", "--assignment", "roofline", "--jobs", "0"), 2, "1 or more"),
        (("grade", ".", "--assignment", "roofline", "--limits", "x=1"), 2, "no limit 'x'"),
        (("grade", ".", "--assignment", "roofline", "--limits", "call_seconds=-1"), 2, "above 0"),
        (("grade", ".", "--assignment", "roofline", "--key", "nokey"), 2, "nokey cannot be read"),
        (("verify", ".", "--key", "nokey"), 2, "nokey"),
        (
            ("grade", ".", "--assignment", "roofline", "--limits", "call_seconds=x"),
            2,
            "is a number",
        ),
    ],
)
def test_mistakes_are_one_sentence(tmp_path, monkeypatch, capsys, arguments, code, why):
    monkeypatch.chdir(tmp_path)
    assert run(*arguments) == code
    err = capsys.readouterr().err
    assert why in err and err.startswith("handful: ") and err.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "roster,why",
    [
        ("student,name\nyan,Yan\nzoe,Zoe\n", "None of the 2 who handed in, such as s01, is on"),
        ("student,note,note\ns01,,\ns02,,\n", "two columns 'note'"),  # for the class lists
    ],
)
@pytest.mark.parametrize("more", [(), ("--alone",)])
def test_a_roster_that_does_not_fit_is_refused_before_anything_is_written(
    tmp_path, capsys, roster, why, more
):
    (tmp_path / "class").mkdir()
    for student in ("s01", "s02"):
        (tmp_path / "class" / f"{student}.ipynb").write_bytes(hand(student))
    (tmp_path / "roster.csv").write_text(roster)
    asked = ["grade", tmp_path / "class", "--assignment", "roofline", "-o", tmp_path / "out"]
    assert run(*asked, "--roster", tmp_path / "roster.csv", *more) == 2
    err = capsys.readouterr().err
    assert why in err and err.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.sandbox
def test_the_sandbox_says_what_it_can_do(capsys):
    assert run("sandbox") == 0
    assert "bubblewrap" in capsys.readouterr().out


def test_counts_of_progress_on_a_terminal():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    stream, now = Terminal(), [0.0]
    with Progress("Graded", "", 100, stream=stream, clock=lambda: now[0]) as show:
        for done in range(1, 101):
            now[0] = done
            show(done, f"ok {done}")
    lines = stream.getvalue().split("\r")
    assert (
        lines[50].strip() == "Graded 50 of 100: ok 50; about 1 min left"
        and lines[-1].strip() == "Graded 100 of 100: ok 100"
    )
    show.say("A sentence has a line of its own.")
    assert re.search(r"ok 100 *\nA sentence has a line of its own\.\n$", stream.getvalue())
