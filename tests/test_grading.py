"""Grading a class: what an answer is worth, that nobody gets what is not theirs, and that nothing is lost, whatever breaks."""
from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

from handful import cli
from handful.classroom import cluster, grade, judge, judges, release, sandbox, store, submissions
from handful.classroom.assignment import assignments
from handful.classroom.given import answers as ours, plain, solutions, turns
from handful.classroom.protocol import Answer, Limits, Outcome
from handful.classroom.submissions import Submission

ROOFLINE = assignments()["roofline"]
QUICK = Limits(cell_seconds=1, call_seconds=0.5, total_seconds=12, memory_bytes=400 << 20)
WRONG = [(question.name, turn) for question in ROOFLINE.questions.values() for turn in question.wrong]
NAMES = [name for name, question in ROOFLINE.questions.items() if question.kind != "written"]


def hand(student: str, fill="solution", *cells: str) -> bytes:
    """A student's notebook, with more cells before its last two."""
    made = release.notebook(ROOFLINE, student, fill)
    made["cells"][-2:-2] = [release.cell("code", f"own-{i}", source) for i, source in enumerate(cells)]
    return release.text(made).encode()


def part(result: dict, name: str) -> dict:
    return next(one for one in result["questions"] if one["name"] == name)


def answered(variant: int, things) -> list[Answer]:
    """What a notebook that has these things answers to all requests, without the sandbox."""
    found = []
    for request in judge.requests(ROOFLINE, variant):
        thing = things[request["question"]]
        value = str(thing) if "text" in request else plain(thing(**request["arguments"]) if "call" in request else thing)
        found.append(Answer("value", json.loads(json.dumps(value))))
    return found


# What an answer is worth

@pytest.mark.parametrize("variant", range(0, 200, 4))
def test_the_solution_gets_all_an_empty_one_nothing_and_each_wrong_turn_its_score(variant):
    right = solutions(ROOFLINE, variant)
    full = judge.judge(ROOFLINE, variant, answered(variant, right), {"reply": "…"})
    assert [one["points"] for one in full] == [0 if one["kind"] == "written" else one["possible"] for one in full]
    assert {one["status"] for one in full} == {"ok", "waiting"}
    asked = judge.requests(ROOFLINE, variant)
    empty = judge.judge(ROOFLINE, variant, [Answer("missing", None, "It is left empty.")] * len(asked))
    assert {one["status"] for one in empty} == {"missing"} and not sum(one["points"] for one in empty)
    wrong = turns(ROOFLINE, variant)
    for name, key in WRONG:
        found = judge.judge(ROOFLINE, variant, answered(variant, {**right, name: wrong[name][key]}))
        one = next(one for one in found if one["name"] == name)
        expected = ROOFLINE.questions[name].wrong[key]
        assert (one["status"], one["turn"], one["points"], one["says"]) == ("wrong", key, expected.score, expected.says)
        assert all(other["status"] in ("ok", "missing") for other in found if other["name"] != name)


@pytest.mark.parametrize("student", ["ada", "grace", "emmy", "ж", "o'neil \\ \"quoted\""])
def test_real_notebooks_through_the_sandbox(student):
    full = grade.grade_one(ROOFLINE, student, hand(student))
    assert (full["status"], full["points"], full["notices"], full["drawn_for"]) == ("ok", 20, [], student)
    assert part(full, "reply")["status"] == "waiting" and part(full, "reply")["text"].startswith("At this batch")
    none = grade.grade_one(ROOFLINE, student, hand(student, "empty"))
    assert (none["status"], none["points"], none["notices"]) == ("missing", 0, [])
    assert {one["status"] for one in none["questions"]} == {"missing"}


@pytest.mark.parametrize("name,key", WRONG)
def test_a_wrong_turn_through_the_sandbox(name, key):
    result = grade.grade_one(ROOFLINE, "ada", hand("ada", ("wrong", name, key)))
    turn = ROOFLINE.questions[name].wrong[key]
    assert (part(result, name)["turn"], part(result, name)["points"], result["status"]) == (key, turn.score, "wrong")
    assert result["points"] == 20 - ROOFLINE.questions[name].points + turn.score


TRUTHS = [True, None, "a", 3, 0, 2.5, 0.0, float("inf"), float("nan"), [1, 2.5], {"a": 1.0}, [], {}, [[1.0], [2.0]]]
OTHERS = [False, 1, "A", " a", "3", 3.0001, 4, True, -2.5, 2.6, 1e-9, float("-inf"), 10**300, [1, 2.5, 3], [2.5, 1], [True, 2.5], {"b": 1.0},
          {"a": 1.0, "b": 1.0}, {"a": [1.0]}, [[1.0, 2.0]], [None], "", 1e308]


@pytest.mark.parametrize("true", TRUTHS, ids=repr)
def test_an_answer_is_right_or_not(true):
    assert judge.same(json.loads(json.dumps(true)), true, 0.02)
    assert not [other for other in OTHERS if other is not true and judge.same(other, true, 0.02)]


@pytest.mark.parametrize("given,true,right", [(3.0, 3, True), (2.45, 2.5, True), (2.44, 2.5, False), (1e-13, 0.0, True), (16.2, 16, False), (True, 1, False),
                                               (1, True, False), ([1.0, 2.5], [1, 2.5], True), (3, 3.0, True), (10**400, 2.5, False)])
def test_numbers_fit_within_the_tolerance_and_whole_ones_exactly(given, true, right):
    assert judge.same(given, true, 0.02) is right


def one_answer(name: str, value, status: str = "value", says: str = "") -> dict:
    """The result of a question to which one thing came back, to all calls."""
    variant = ROOFLINE.variant("ada")
    made = [Answer(status, value, says) if request["question"] == name else Answer("missing") for request in judge.requests(ROOFLINE, variant)]
    return next(one for one in judge.judge(ROOFLINE, variant, made) if one["name"] == name)


@pytest.mark.parametrize("value", [None, True, 0, -1, 1e400, float("nan"), "x" * 100_000, [], {}, [[[]]] * 50, {"a": None}, 10**299, "step_time", "__import__('os')"])
@pytest.mark.parametrize("name", NAMES)
def test_whatever_comes_back_is_judged_and_gets_nothing(name, value):
    one = one_answer(name, value)
    assert (one["points"], one["status"]) == (0, "wrong") and one["says"].isprintable() and len(one["says"]) < 400


@pytest.mark.parametrize("status", ["error", "missing", "timeout", "killed"])
@pytest.mark.parametrize("name", NAMES)
def test_no_answer_has_its_status(name, status):
    one = one_answer(name, None, status, "Why it is so.")
    assert (one["points"], one["status"]) == (0, status) and "Why it is so." in one["says"]


@pytest.mark.parametrize("text,says", [
    ("B^^2", "a number or a name"), ("Q * 2", "'Q' is none of the letters"), ("1 +", "ends where"), ("B" * 400, "too long"), ("(" * 50 + "1" + ")" * 50, "deep"),
    ("__import__('os').system('x')", "has no place"), ("3 * w * F * N / (W * A)", "Only a factor is off: yours is always 6 times"),
    ("w * F / W", "the answer depends on N too")])
def test_a_formula_that_is_not_right_is_told_why(text, says):
    name = next(one.name for one in ROOFLINE.questions.values() if one.kind == "expression")
    one = one_answer(name, text)
    assert (one["status"], one["points"]) == ("wrong", 0) and says in one["says"]


def test_nothing_that_is_said_holds_a_hidden_call():
    """Values, messages and even the names of exceptions on hidden calls stay out; those of visible calls are shown."""
    variant, name = ROOFLINE.variant("ada"), "step_time"
    visible = len(ROOFLINE.questions[name].visible)
    calls = judge.expected(ROOFLINE, variant).calls[name]
    right = answered(variant, solutions(ROOFLINE, variant))
    asked = judge.requests(ROOFLINE, variant)
    hidden = [i for i, request in enumerate(asked) if request["question"] == name and request["arguments"] not in calls[:visible]]
    assert len(hidden) == ROOFLINE.questions[name].count and hidden[0] > max(i for i, request in enumerate(asked) if "call" not in request)
    for bad in (lambda call: Answer("error", None, f"ValueError: {call}"), lambda call: Answer("error", None, f"E_{call['batch']}: x"),
                lambda call: Answer("value", call), lambda call: Answer("timeout", None, f"{call}"), lambda call: Answer("killed", None, f"{call}")):
        made = [bad(request["arguments"]) if i in hidden else right[i] for i, request in enumerate(asked)]
        one = next(one for one in judge.judge(ROOFLINE, variant, made) if one["name"] == name)
        assert one["points"] == round(ROOFLINE.questions[name].points * visible / len(calls), 2)
        said = one["says"].replace(f"{visible} of {len(calls)} calls are right.", "")
        assert not re.search(r"\d|E_", said), said
    made = [Answer("error", None, "ValueError: seen") if request["question"] == name else right[i] for i, request in enumerate(asked)]
    assert "seen" in next(one for one in judge.judge(ROOFLINE, variant, made) if one["name"] == name)["says"]


# Judges

def ask_schedule(orders, **call):
    class Question:
        visible = ({},)

    return judges.schedule(Question, {}, [{"stages": 2, "micro_batches": 2, **call}], [orders])


@pytest.mark.parametrize("orders,share,turn", [
    ([["F1", "F2", "B1", "B2"], ["F1", "B1", "F2", "B2"]], 1, None), ("F1 F2 B1 B2\nF1 B1 F2 B2", 1, None), (["F1 B1 F2 B2", "F1 B1 F2 B2"], 0, "one_at_a_time"),
    ([["F1", "F2", "F3", "B1", "B2", "B3"]] * 2, 0, "gpipe"), ([], 0, None), ([[]], 0, None), (None, 0, None), ([["B1", "F1"]] * 2, 0, None), (10**300, 0, None),
    ([["F1"] * 100_000] * 2, 0, None), ("x" * 1_000_000, 0, None), ({"a": 1}, 0, None), ([[[["F1"]]]], 0, None), ([["F1", "B1", "F2", "B2"], ["F2", "B2", "F1", "B1"]], 0, None)])
def test_a_schedule_is_played(orders, share, turn):
    found, says, which = ask_schedule(orders, micro_batches=3 if turn == "gpipe" else 2)
    assert found == share and says
    assert which == turn


def test_of_several_sizes_a_share_and_only_what_is_shown_is_named():
    class Question:
        visible = ({},)

    good, bad = "F1 F2 B1 B2\nF1 B1 F2 B2", "F1 B1 F2 B2\nF1 B1 F2 B2"
    calls = [{"stages": 2, "micro_batches": 2}] * 2
    assert judges.schedule(Question, {}, calls, [good, bad]) == (0.5, "The sizes that are shown are right; of the others some are not.", "one_at_a_time")
    assert judges.schedule(Question, {}, calls, [bad, good])[1].startswith("A stage waits for")


# One result

def test_a_result_is_the_same_to_the_byte_and_holds_nothing_of_the_machine():
    data = hand("ada")
    first, second = (store.canonical(grade.grade_one(ROOFLINE, "ada", data, secret=b"k" * 32)) for _ in range(2))
    assert first == second
    assert set(json.loads(first)) == {"schema", "assignment", "edition", "library", "student", "submission", "variant", "drawn_for", "status", "says", "points",
                                      "possible", "waiting", "questions", "notices", "signature"}
    assert not re.search(rb"/root|/tmp|/home", first)


def test_what_does_not_reach_the_sandbox():
    def never(*arguments):
        raise AssertionError

    nothing = grade.grade_one(ROOFLINE, "ada", None, ask=never)
    assert (nothing["status"], nothing["says"], nothing["submission"], nothing["points"]) == ("missing", "Nothing was handed in.", "", 0)
    for data, why in ((None, "It is a link."), (b"{}", ""), (b"%PDF", "")):
        result = grade.grade_one(ROOFLINE, "ada", data, refused=why, ask=never)
        assert result["status"] == "ungradable" and result["says"].startswith("This could not be graded: ") and result["submission"]


@pytest.mark.parametrize("student,known,said", [("ada", (), False), ("Ada", (), False), ("lovelaceada_12", (), True), ("12", ("ADA",), False)])
def test_a_notebook_of_another_students_inputs_is_named(student, known, said):
    result = grade.grade_one(ROOFLINE, student, hand("ada"), known=known)
    assert result["points"] == 20 and result["variant"] == ROOFLINE.variant("ada")
    assert bool(result["notices"]) is said and all("'ada'" in note for note in result["notices"])


def test_a_notebook_without_an_id_has_its_owners_inputs():
    made = release.notebook(ROOFLINE, "", "empty")
    filled = release.notebook(ROOFLINE, "bob", "solution")
    cells = [*made["cells"][:2], *filled["cells"][2:]]
    result = grade.grade_one(ROOFLINE, "bob", release.text({**made, "cells": cells}).encode())
    assert (result["points"], result["variant"], result["drawn_for"], result["notices"]) == (20, ROOFLINE.variant("bob"), None, [])


def test_cells_that_fail_are_named_and_the_others_count():
    result = grade.grade_one(ROOFLINE, "ada", hand("ada", "solution", "# mine\n1 / 0", "%matplotlib inline\n!ls", "raise SystemExit"))
    assert result["points"] == 20 and len(result["notices"]) == 2
    assert re.fullmatch(r"Cell \d+ \(“# mine”, line 2\) did not end well: ZeroDivisionError: division by zero", result["notices"][0])


def test_released_cells_are_not_run_and_changed_ones_are():
    asked = []

    def ask(cells, requests, given, limits, library):
        asked.append(cells)
        return Outcome(tuple(Answer("missing") for _ in requests))

    grade.grade_one(ROOFLINE, "ada", hand("ada"), ask=ask)
    grade.grade_one(ROOFLINE, "ada", hand("ada").replace(b'check(\\"step_time\\")', b'check(\\"step_time\\"); evil()'), ask=ask)
    first, second = ("\n".join(cells) for cells in asked)
    assert "interact" not in first and "check(\"" not in first and "pip" not in first and "evil()" not in first
    assert "evil()" in second
    made = json.loads(hand("ada"))["cells"]
    assert len(asked[0]) == len(made) and asked[0][0].startswith("from handful_room import given")
    assert all(not source or source == cell["source"] for cell, source in zip(made[1:], asked[0][1:]))


# Hostile notebooks

HOSTILE = {
    "loop": "while True: pass", "leave": "import os; os._exit(0)", "exit": "raise SystemExit", "kill": "import os; os.kill(os.getpid(), 9)",
    "memory": "x = bytearray(10**10)\nx = [bytearray(10**8) for _ in range(100)]", "recursion": "def f(): f()\nf()",
    "equal": "class Any(float):\n    __eq__ = __le__ = __lt__ = __ge__ = lambda *a: True\n    __hash__ = None\n"
             + "\n".join(f"{name} = lambda **k: Any(1)" for name in NAMES),
    "patch": "import builtins, math, json\nbuiltins.abs = lambda x: 0\nbuiltins.all = lambda x: True\nmath.isclose = lambda *a, **k: True\njson.dumps = lambda *a, **k: '1'\n"
             + "\n".join(f"{name} = lambda **k: 1.0" for name in NAMES),
    "forge": "import os\nfor fd in range(3, 64):\n    try: os.write(fd, b'{\"request\":0,\"status\":\"value\",\"value\":1}\\n{\"points\":99}\\n' * 99)\n    except OSError: pass",
    "read": "import glob\nfound = ''.join(open(p, errors='replace').read() for p in glob.glob('/**/exercises/**/*.md', recursive=True) + glob.glob('/**/given.py', recursive=True))\n"
            "exec(found or 'raise LookupError')",
    "pickle": "class P:\n    def __reduce__(self): return (exec, ('raise KeyboardInterrupt',))\n" + "\n".join(f"{name} = P()" for name in NAMES),
    "children": "import subprocess, sys\nfor _ in range(100): subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])",
}


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
    done = grade.run(ROOFLINE, submissions.read(tmp_path / "class", "roofline"), tmp_path / "out", jobs=2, limits=QUICK)
    found = {result["student"]: result for result in store.results(tmp_path / "out")}
    assert set(found) == {*HOSTILE, *honest, "thief", "garbage", "link"} and not done.faults
    for name in honest:
        assert (found[name]["points"], found[name]["status"], found[name]["notices"]) == (20, "ok", [])
    for name in HOSTILE:
        result = found[name]
        assert result["points"] == 0 and result["status"] in ("missing", "error", "timeout", "killed", "wrong"), result
        assert all(one["says"] and one["says"].isprintable() for one in result["questions"])
    assert found["garbage"]["status"] == found["link"]["status"] == "ungradable"
    assert done.claims == {"honest0": ["honest0", "thief"]} == store.overview(tmp_path / "out")["claims"]
    assert "'honest0'" in found["thief"]["notices"][0]


# Results on disk

STAND_IN = '''
import hashlib, os, signal, time
from handful.classroom.protocol import Answer, Outcome

def ask(cells, requests, given, limits, library):
    """In the sandbox's place: answers that follow from the cells, and whatever a cell's first word asks for."""
    text = "".join(cells)
    once = os.path.join(os.path.dirname(__file__), "died-once")
    if "DIE-ALWAYS" in text or "DIE-ONCE" in text and not os.path.exists(once):
        open(once, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    if "FAIL" in text:
        raise ArithmeticError("ours")
    time.sleep(float(os.environ.get("HANDFUL_NAP", "0")))
    number = int(hashlib.sha256(text.encode()).hexdigest()[:4], 16)
    return Outcome(tuple(Answer("value", float(number + i)) for i in range(len(requests))))
'''


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """A function in the sandbox's place, in a module that other processes find too."""
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "handful_stand_in.py").write_text(STAND_IN)
    monkeypatch.syspath_prepend(tmp_path / "modules")
    import handful_stand_in

    yield handful_stand_in.ask
    del sys.modules["handful_stand_in"]


def small(count: int, **marked: str) -> list[Submission]:
    """A class of small notebooks; of the students named, with a word in theirs."""
    def data(student: str, word: str = "") -> bytes:
        return json.dumps({"cells": [{"cell_type": "code", "source": f"'{student} {word}'"}]}).encode()

    return [Submission(f"s{i:03}", "x.ipynb", data(f"s{i:03}")) for i in range(count)] + [
        Submission(student, "x.ipynb", data(student, word.replace("_", "-"))) for student, word in marked.items()]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "results").iterdir()} | {"class": (folder / "class.json").read_bytes()}


def test_results_are_kept_resumed_and_the_same_however_they_are_made(tmp_path, stand_in):
    asked = []
    first = grade.run(ROOFLINE, small(12), tmp_path / "a", jobs=0, ask=stand_in, progress=lambda done, total, statuses: asked.append(done))
    assert asked == list(range(1, 13)) and sum(first.statuses.values()) == 12 and first.before == 0
    assert [one["student"] for one in store.results(tmp_path / "a")] == [f"s{i:03}" for i in range(12)]
    grade.run(ROOFLINE, small(12), tmp_path / "b", jobs=3, ask=stand_in)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")

    def never(*arguments):
        raise AssertionError("graded twice")

    again = grade.run(ROOFLINE, small(12), tmp_path / "a", jobs=0, ask=never)
    assert again.before == 12 and again.statuses == first.statuses
    assert len(grade.run(ROOFLINE, small(12), tmp_path / "a", jobs=0, ask=never, anew=True).faults) == 12


def test_what_a_result_follows_from_makes_another(tmp_path, stand_in):
    one, = small(1)
    keys = {grade.key(ROOFLINE, one, Limits(), None), grade.key(ROOFLINE, one, Limits(call_seconds=3), None), grade.key(ROOFLINE, one, Limits(), b"k"),
            grade.key(ROOFLINE, Submission("other", one.name, one.data), Limits(), None), grade.key(ROOFLINE, Submission(one.student, "", b"{}"), Limits(), None),
            grade.key(ROOFLINE, Submission(one.student, "", None), Limits(), None), grade.key(ROOFLINE, Submission(one.student, "", None, (), "why"), Limits(), None),
            grade.key(ROOFLINE, Submission(one.student, "", one.data, ("late",)), Limits(), None)}
    assert len(keys) == 8
    assert grade.key(ROOFLINE, Submission(one.student, "another file name", one.data), Limits(), None) in keys


@pytest.mark.parametrize("harm", [b"", b"{}", b"[]", b"\xff", None, "half", "points", "another's"])
def test_a_damaged_result_is_graded_again(tmp_path, stand_in, harm):
    grade.run(ROOFLINE, small(3), tmp_path, jobs=0, ask=stand_in)
    before = contents(tmp_path)
    path = store.Store(tmp_path).path(store.overview(tmp_path)["students"][1]["key"])
    raw = path.read_bytes()
    if harm is None:
        path.unlink()
    else:
        other = store.Store(tmp_path).path(store.overview(tmp_path)["students"][2]["key"]).read_bytes()
        path.write_bytes({"another's": other, "half": raw[:len(raw) // 2], "points": raw.replace(b'"points":0.0', b'"points":9.0', 1)}.get(harm, harm))
    with pytest.raises(store.StoreError, match="s001"):
        list(store.results(tmp_path))
    again = grade.run(ROOFLINE, small(3), tmp_path, jobs=0, ask=stand_in)
    assert again.before == 2 and contents(tmp_path) == before


def test_one_program_writes_at_a_time(tmp_path, stand_in):
    with store.opened(tmp_path):
        with pytest.raises(store.StoreError, match=rf"Another grading \(process {os.getpid()}\) is writing"):
            grade.run(ROOFLINE, small(1), tmp_path, jobs=0, ask=stand_in)
    grade.run(ROOFLINE, small(1), tmp_path, jobs=0, ask=stand_in)


def test_a_folder_that_holds_no_class_is_named(tmp_path):
    with pytest.raises(store.StoreError, match="holds no graded class"):
        list(store.results(tmp_path))
    (tmp_path / "class.json").write_bytes(b"{")
    with pytest.raises(store.StoreError, match="damaged"):
        list(store.results(tmp_path))
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(store.StoreError, match="cannot be written"), store.opened(tmp_path / "file" / "x"):
        pass


def test_what_the_grader_fails_at_costs_one_student_and_is_tried_again(tmp_path, stand_in):
    done = grade.run(ROOFLINE, small(4, fay="FAIL"), tmp_path, jobs=0, ask=stand_in)
    assert done.faults == {"fay": "ArithmeticError: ours"}
    found = {one["student"]: one for one in store.results(tmp_path)}
    assert found["fay"]["status"] == "ungradable" and "the grader itself failed" in found["fay"]["says"] and len(found) == 5
    assert grade.run(ROOFLINE, small(4, fay="FAIL"), tmp_path, jobs=0, ask=stand_in).before == 4


def test_a_process_that_dies_is_replaced_and_its_submission_tried_once_more(tmp_path, stand_in):
    done = grade.run(ROOFLINE, small(6, dee="DIE_ALWAYS", eve="DIE_ONCE"), tmp_path, jobs=2, ask=stand_in)
    assert list(done.faults) == ["dee"] and "ended 2 times (exit code -9)" in done.faults["dee"]
    found = {one["student"]: one for one in store.results(tmp_path)}
    assert len(found) == 8 and found["dee"]["status"] == "ungradable" and found["eve"]["status"] == "missing"
    assert all(one["status"] == "wrong" for one in found["eve"]["questions"] if one["kind"] != "written")


def test_a_process_that_never_comes_back_is_given_up():
    found = dict(cluster.pool(time.sleep, [0.01, 600.0], 2, longest=6))
    assert found[0.01] == cluster.Done(None) and "ended 2 times (exit code -9)" in found[600.0].says


def test_what_concerns_all_stops_at_once_and_keeps_what_is_done(tmp_path, stand_in):
    calls = []

    def ask(*arguments):
        calls.append(1)
        if len(calls) == 3:
            raise sandbox.SandboxError("There is no sandbox here.")
        return stand_in(*arguments)

    with pytest.raises(cluster.ClusterError, match="There is no sandbox here."):
        grade.run(ROOFLINE, small(5), tmp_path, jobs=0, ask=ask)
    assert store.overview(tmp_path)["complete"] is False and len(list(store.results(tmp_path))) == 2
    assert grade.run(ROOFLINE, small(5), tmp_path, jobs=0, ask=stand_in).before == 2
    assert store.overview(tmp_path)["complete"] is True


def test_an_interrupt_leaves_what_is_done(tmp_path, stand_in):
    def stop(done, total, statuses):
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        grade.run(ROOFLINE, small(9), tmp_path, jobs=2, ask=stand_in, progress=stop)
    assert len(list(store.results(tmp_path))) == 4
    assert grade.run(ROOFLINE, small(9), tmp_path, jobs=0, ask=stand_in).before >= 4


# Killed at any time

def until(check, seconds: float = 60):
    """Wait for something to be so; fails where it does not come."""
    end = time.monotonic() + seconds
    while not (found := check()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)
    return found


def gone(pid: int) -> bool:
    """Whether a process has ended, waited for or not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


DRIVER = '''
import os, sys
sys.path[:0] = {path!r}
sys.argv = ["driver"]
import random, signal
from handful.classroom import grade, judge
from handful.classroom.assignment import assignments
from handful.classroom.submissions import Submission
import handful_stand_in, json
a = assignments()["roofline"]
grade.released(a)
grade._loaded(grade._source(a), a.file)
for one in {names!r}:
    judge.expected(a, a.variant(one))
print("ready", flush=True)
for folder in sys.stdin:
    pid = os.fork()
    if not pid:
        work = [Submission(n, "x.ipynb", json.dumps({{"cells": [{{"cell_type": "code", "source": f"'{{n}} '"}}]}}).encode()) for n in {names!r}]
        grade.run(a, work, folder.strip(), jobs=0, ask=handful_stand_in.ask)
        os._exit(0)
    print(pid, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
'''


def test_killed_fifty_times_nothing_is_lost_and_nothing_doubled(tmp_path, stand_in, monkeypatch):
    """SIGKILL at a random point, fifty times over; whatever stood there stays, and the end is that of a run in peace."""
    monkeypatch.setenv("HANDFUL_NAP", "0.002")
    work = small(60)
    grade.run(ROOFLINE, work, tmp_path / "peace", jobs=0, ask=stand_in)
    peace = contents(tmp_path / "peace")
    code = DRIVER.format(path=sys.path, names=[one.student for one in work])
    generator, kills, rounds, seen = random.Random(7), 0, 0, set()
    with subprocess.Popen([sys.executable, "-P", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as driver:
        assert driver.stdout.readline() == "ready\n"
        while kills < 50:
            folder = tmp_path / f"round{rounds}"
            before = {path.name: path.read_bytes() for path in (folder / "results").glob("[!.]*")} if folder.exists() else {}
            driver.stdin.write(f"{folder}\n")
            driver.stdin.flush()
            pid = int(driver.stdout.readline())
            wanted = len(before) + generator.randrange(12)
            until(lambda: gone(pid) or sum(1 for _ in (folder / "results").glob("[!.]*")) >= wanted)
            time.sleep(generator.random() * 0.01)
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            code = int(driver.stdout.readline())
            now = {path.name: path.read_bytes() for path in (folder / "results").glob("[!.]*")} if folder.exists() else {}
            assert before.items() <= now.items() <= peace.items()  # whole, each of them, and the right ones
            if code == -signal.SIGKILL:
                kills += 1
                seen.add(len(now))
            else:
                assert code == 0 and contents(folder) == peace
                rounds += 1
        driver.stdin.close()
    assert rounds and len(seen) > 10  # killed early, late and in between
    folder = tmp_path / f"round{rounds}"
    grade.run(ROOFLINE, work, folder, jobs=0, ask=stand_in)
    assert contents(folder) == peace
    assert [one["student"] for one in store.results(folder)] == [one.student for one in work]


def in_session(session: int) -> list[int]:
    """Processes of a session that still run."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, own = path.read_text().rpartition(")")[2].split()[:4]
        except (OSError, ValueError):
            continue
        if int(own) == session and state != "Z":
            found.append(int(path.parent.name))
    return found


def honest(folder: Path, count: int) -> Path:
    folder.mkdir()
    for i in range(count):
        (folder / f"s{i:02}.ipynb").write_bytes(hand(f"s{i:02}", "solution" if i % 3 else ("wrong", *WRONG[i % len(WRONG)])))
    return folder


@pytest.fixture(scope="module")
def classroom(tmp_path_factory) -> tuple[Path, dict[str, bytes]]:
    """A class of 16, and its results as one process makes them."""
    root = tmp_path_factory.mktemp("classroom")
    honest(root / "class", 16)
    grade.run(ROOFLINE, submissions.read(root / "class", "roofline"), root / "out", jobs=0)
    return root / "class", contents(root / "out")


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def test_the_command_killed_amid_real_notebooks_goes_on_and_leaves_no_process(tmp_path, classroom):
    path, peace = classroom
    command = [sys.executable, "-P", "-m", "handful", "assign", "grade", str(path), "--assignment", "roofline", "-o", str(tmp_path / "out"), "--jobs", "2"]
    for wanted in (2, 8):
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, env=environment()) as process:
            until(lambda: len(list((tmp_path / "out").glob("results/[!.]*"))) >= wanted)
            process.kill()
        until(lambda: not in_session(process.pid), 20)
        assert {file.name: file.read_bytes() for file in (tmp_path / "out").glob("results/[!.]*")}.items() <= peace.items()
    out = subprocess.run(command, capture_output=True, text=True, env=environment())
    assert out.returncode == 0, out.stderr
    assert "were graded before and left as they are." in out.stderr and re.search(r"ok +\d+", out.stdout)
    assert contents(tmp_path / "out") == peace


def test_a_cluster_that_loses_a_worker_gives_the_same_results(tmp_path, classroom):
    """A scheduler and two workers on loopback; one of them is killed when a few results are there."""
    path, peace = classroom
    start = dict(env=environment() | {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "60s"}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=tmp_path)
    base, file = [sys.executable, "-P", "-m"], tmp_path / "scheduler.json"
    processes = [subprocess.Popen([*base, "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)], **start)]
    try:
        until(lambda: file.exists() and file.read_text().strip().endswith("}"))
        address = json.loads(file.read_text())["address"]
        worker = [*base, "distributed.cli.dask_worker", address, "--host", "127.0.0.1", "--nthreads", "1", "--no-nanny", "--no-dashboard",
                  "--local-directory", str(tmp_path / "dask")]
        processes += [subprocess.Popen(worker, **start) for _ in range(2)]
        killed = []

        def progress(done, total, statuses):
            if done == 4:
                processes[1].kill()
                killed.append(done)

        done = grade.run(ROOFLINE, submissions.read(path, "roofline"), tmp_path / "out", scheduler=address, progress=progress)
    finally:
        for process in processes[::-1]:
            process.kill()
            process.wait()
    assert killed and not done.faults and sum(done.statuses.values()) == 16
    assert contents(tmp_path / "out") == peace


def test_no_scheduler_is_named(tmp_path):
    with pytest.raises(cluster.ClusterError, match="No Dask scheduler answers at"):
        list(cluster.dask(abs, [1], "nonsense://127.0.0.1:1"))


# Commands

def run(*arguments: str) -> int:
    return cli.main(["assign", *map(str, arguments)])


def test_results_are_signed_and_a_change_is_noticed(tmp_path, classroom, capsys):
    path, _ = classroom
    one = tmp_path / "class"
    one.mkdir()
    for name in ("s01", "s02"):
        (one / f"{name}.ipynb").write_bytes((path / f"{name}.ipynb").read_bytes())
    key, out = tmp_path / "key", tmp_path / "out"
    assert run("key", key) == 0 and key.stat().st_mode & 0o777 == 0o600
    assert run("key", key) == 1 and "is there already" in capsys.readouterr().err
    assert run("grade", one, "--assignment", "roofline", "-o", out, "--key", key, "--jobs", "1") == 0
    assert "not signed" not in capsys.readouterr().err
    assert run("verify", out, "--key", key) == 0 and "2 results are as signed." in capsys.readouterr().out
    path = store.Store(out).path(store.overview(out)["students"][0]["key"])
    forged = {**store.load(path), "points": 19.99}
    genuine = path.read_bytes()
    store.Store(out).put(path.stem, forged)
    assert run("verify", out, "--key", key) == 1 and "1 cannot be trusted: s01." in capsys.readouterr().err
    assert run("grade", one, "--assignment", "roofline", "-o", out, "--key", key, "--jobs", "1") == 0  # what is not as signed is graded again
    assert "1 was graded before" in capsys.readouterr().err and path.read_bytes() == genuine
    run("key", tmp_path / "other")
    assert run("verify", out, "--key", tmp_path / "other") == 1 and "2 cannot be trusted" in capsys.readouterr().err
    (tmp_path / "bad").write_text("not a key")
    assert run("verify", out, "--key", tmp_path / "bad") == 1 and "is no key" in capsys.readouterr().err


def test_the_command_tells_what_it_did(tmp_path, classroom, capsys):
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "s01.ipynb").write_bytes((classroom[0] / "s01.ipynb").read_bytes())
    (tmp_path / "roster.csv").write_text("student\ns01\nnobody\n")
    assert run("grade", tmp_path / "class", "--assignment", "roofline", "-o", tmp_path / "out", "--jobs", "1", "--roster", tmp_path / "roster.csv", "--json",
               "--limits", "call_seconds=3", "memory_bytes=8e8") == 0
    out, err = capsys.readouterr()
    told = json.loads(out)
    assert told["statuses"] == {"missing": 1, "ok": 1} and told["before"] == 0
    assert "Graded 2 of 2" in err
    assert any("not signed" in note for note in told["notes"])


@pytest.mark.parametrize("arguments,code,why", [
    (("grade", "nowhere", "--assignment", "roofline"), 2, "cannot be read"), (("grade", ".", "--assignment", "rooflin"), 2, "roofline"),
    (("grade", ".", "--assignment", "roofline", "--jobs", "0"), 2, "1 or more"), (("grade", ".", "--assignment", "roofline", "--limits", "x=1"), 2, "no limit 'x'"),
    (("grade", ".", "--assignment", "roofline", "--limits", "call_seconds=-1"), 2, "above 0"), (("grade", ".", "--assignment", "roofline", "--key", "nokey"), 1, "nokey cannot be read"),
    (("verify", ".", "--key", "nokey"), 1, "nokey"), (("grade", ".", "--assignment", "roofline", "--limits", "call_seconds=x"), 2, "is a number")])
def test_mistakes_are_one_sentence(tmp_path, monkeypatch, capsys, arguments, code, why):
    monkeypatch.chdir(tmp_path)
    assert run(*arguments) == code
    err = capsys.readouterr().err
    assert why in err and err.startswith("handful: ") and err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_the_sandbox_says_what_it_can_do(capsys):
    assert run("sandbox") == 0
    assert "bubblewrap" in capsys.readouterr().out


def test_counts_of_progress_on_a_terminal():
    import io

    from handful.classroom.grade_command import Progress

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    stream, now = Terminal(), [0.0]
    shown = Progress(stream, clock=lambda: now[0])
    for done in range(1, 101):
        now[0] = done
        shown(done, 100, Counter(ok=done))
    shown.end()
    lines = stream.getvalue().split("\r")
    assert lines[50].strip() == "Graded 50 of 100: ok 50; about 1 min left" and lines[-1].strip() == "Graded 100 of 100: ok 100"
