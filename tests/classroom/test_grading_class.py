"""Tests of the results of a class.

They are kept, resumed, and the same however they are made; none is lost or doubled whatever is
killed.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import pickle
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from handful import cli
from handful_classroom.grading import cluster, grade, scoring, store, submissions
from handful_classroom.grading.roster import STRANGER, Roster
from handful_classroom.grading.submissions import Submission
from handful_classroom.release import notebooks
from handful_classroom.release.assignment import assignments
from handful_classroom.sandbox import run, sandbox_process
from handful_classroom.sandbox.protocol import Limits

ROOFLINE = assignments()["roofline"]
WRONG = [(question.name, key) for question in ROOFLINE.questions.values() for key in question.wrong]


STAND_IN = '''
import hashlib, os, signal, time
from handful_classroom.sandbox import run, sandbox_process
from handful_classroom.sandbox.protocol import Answer, Outcome
from handful_classroom.sandbox.run import SandboxError, StartError

def in_a_namespace(*arguments):
    """The sandbox, made as for a teacher who is not root."""
    sandbox_process.as_root = lambda: False
    return run.ask(*arguments)

def ask(cells, requests, given, limits, library):
    """Answer in the sandbox's place, and do whatever a cell's first word asks for.

    The answers follow from the cells.
    """
    text = "".join(cells)
    once = os.path.join(os.path.dirname(__file__), "died-once")
    if "DIE-ALWAYS" in text or "DIE-ONCE" in text and not os.path.exists(once):
        open(once, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    if "FAIL" in text:
        raise ArithmeticError("ours")
    if "BEGIN" in text:
        sandbox_process.began = True
    if "NO-SANDBOX" in text:
        raise SandboxError("There is no sandbox here.")
    if "NO-START" in text:
        raise StartError("The sandbox did not start: it said nothing")
    time.sleep(float(os.environ.get("HANDFUL_NAP", "0")))
    number = int(hashlib.sha256(text.encode()).hexdigest()[:4], 16)
    return Outcome(tuple(Answer("value", float(number + i)) for i in range(len(requests))))
'''


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """Return a function for the sandbox's place, in a module that other processes find too."""
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "handful_stand_in.py").write_text(STAND_IN)
    monkeypatch.syspath_prepend(tmp_path / "modules")
    import handful_stand_in

    monkeypatch.setattr(sandbox_process, "began", False)
    monkeypatch.setattr(sandbox_process, "as_root", sandbox_process.as_root)
    yield handful_stand_in.ask
    del sys.modules["handful_stand_in"]


def small(count: int, **marked: str) -> list[Submission]:
    """Return a class of small notebooks, with a word in those of the students named."""

    def data(student: str, word: str = "") -> bytes:
        return json.dumps(
            {"cells": [{"cell_type": "code", "source": f"'{student} {word}'"}]}
        ).encode()

    return [Submission(f"s{i:03}", "x.ipynb", data(f"s{i:03}")) for i in range(count)] + [
        Submission(student, "x.ipynb", data(student, word.replace("_", "-")))
        for student, word in marked.items()
    ]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "results").iterdir()} | {
        "class": (folder / "class.json").read_bytes()
    }


def test_results_are_kept_resumed_and_the_same_however_they_are_made(tmp_path, stand_in):
    asked = []
    first = grade.run(
        ROOFLINE,
        small(12),
        tmp_path / "a",
        jobs=0,
        ask=stand_in,
        progress=lambda done, total, statuses: asked.append(done),
    )
    assert asked == list(range(1, 13)) and sum(first.statuses.values()) == 12 and first.before == 0
    assert [one["student"] for one in store.results(tmp_path / "a")] == [
        f"s{i:03}" for i in range(12)
    ]
    grade.run(ROOFLINE, small(12), tmp_path / "b", jobs=3, ask=stand_in)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")

    def never(*arguments):
        raise AssertionError("graded twice")

    again = grade.run(ROOFLINE, small(12), tmp_path / "a", jobs=0, ask=never)
    assert again.before == 12 and again.statuses == first.statuses
    assert (
        len(grade.run(ROOFLINE, small(12), tmp_path / "a", jobs=0, ask=never, anew=True).faults)
        == 12
    )


def test_a_later_file_adds_to_the_class_and_drops_nobody(tmp_path, stand_in):
    """Grade a second, smaller download: who handed in before keeps the result."""
    some = small(6)
    grade.run(ROOFLINE, some, tmp_path / "a", jobs=0, ask=stand_in)
    before = {one["student"]: one for one in store.results(tmp_path / "a")}
    late = replace(some[2], data=small(9)[8].data)
    listed = [late if i == 2 else replace(one, data=None, name="") for i, one in enumerate(some)]
    roster = Roster.of("student\n" + "\n".join(one.student for one in some))
    for again, known in (([late], None), (listed, roster)):
        folder = tmp_path / f"roster-{known is not None}"
        shutil.copytree(tmp_path / "a", folder)
        found = grade.run(ROOFLINE, again, folder, jobs=0, ask=stand_in, keep=True, roster=known)
        now = {one["student"]: one for one in store.results(folder)}
        assert set(now) == set(before) and len(found.kept) == 5
        assert now.pop("s002")["submission"] != before["s002"]["submission"]
        assert all(one == before[student] for student, one in now.items())
        assert found.statuses == Counter(one["status"] for one in store.results(folder))
        assert all(one["submission"] for one in store.results(folder))
    alone = grade.run(ROOFLINE, listed, tmp_path / "a", jobs=0, ask=stand_in)
    assert alone.kept == []
    assert sum(not one["submission"] for one in store.results(tmp_path / "a")) == 5


def test_who_is_not_on_the_roster_is_kept_unless_the_roster_has_the_same_work(tmp_path, stand_in):
    """Grade a late stranger, another one, and then the first one's file under the right name."""
    roster = Roster.of("student,id,name\ns000,,\ns001,,\nada,12,Ada Lovelace\n")
    some = small(2)
    late = [replace(one, notice=(STRANGER,)) for one in small(0, guest9="x", guest8="y")]
    download = [replace(one, student="lovelaceada_12") for one in small(0, ada="z")]

    def graded(*now):
        found = grade.run(ROOFLINE, now, tmp_path, jobs=0, ask=stand_in, keep=True, roster=roster)
        assert found.statuses == Counter(one["status"] for one in store.results(tmp_path))
        return found, {one["student"] for one in store.results(tmp_path)}

    grade.run(ROOFLINE, [*some, *download], tmp_path, jobs=0, ask=stand_in)
    everybody = {"s000", "s001", "lovelaceada_12"}
    assert graded(late[0])[1] == everybody | {"guest9"}
    assert graded(late[1])[1] == everybody | {"guest9", "guest8"}
    found, students = graded(replace(late[0], student="s000", notice=()))
    assert "guest9" not in students and "guest8" in students and found.kept.count("guest8") == 1
    # Of two on the roster with the same file, both stay.
    assert "s000" in graded(replace(late[0], student="s001", notice=()))[1]
    # Who was graded under the download's name has the roster's name from now on.
    assert "lovelaceada_12" not in graded(Submission("ada", "x.ipynb", some[0].data))[1]


def test_another_section_joins_no_class_whose_roster_is_remembered(tmp_path, capsys):
    """Forget -o for a second section; then let one stranger in, and out again with --alone."""
    out, roster = tmp_path / "results", tmp_path / "class.csv"
    roster.write_text("student\nada\nbob\ncyn\n")

    def graded(names: str, *more: str) -> tuple[int, str, set[str]]:
        some = tmp_path / names.replace(" ", "-")
        some.mkdir(exist_ok=True)
        for name in names.split():
            (some / f"{name}.ipynb").write_text("{}")  # no notebook, so that nothing runs
        asked = ["assign", "grade", str(some), "--assignment", "roofline", "-o", str(out)]
        code = cli.main([*asked, "--jobs", "1", *more])
        said = capsys.readouterr().err
        return code, said, {one["student"] for one in store.results(out)}

    named = ("--roster", str(roster))
    assert graded("ada bob", *named)[::2] == (0, {"ada", "bob", "cyn"})
    before = contents(out)
    for more in ((), named, ("--alone",)):
        code, said, _ = graded("ada yolanda zacharias", *more)
        assert code == 2 and contents(out) == before
        assert "2 of the 3 who handed in, such as yolanda, are not on" in said
        assert "another folder with -o" in said and "with --roster" in said
    code, said, students = graded("ada bob cyn yolanda zacharias")  # not most of them
    assert (code, students) == (0, {"ada", "bob", "cyn", "yolanda", "zacharias"})
    told = " ".join(line for line in said.splitlines() if "nobody on the roster" in line)
    assert re.match("2 are nobody on the roster: yolanda.*, zacharias.*with --alone", told), told
    assert graded("yolanda zacharias")[0] == 0  # who were let in
    assert graded("ada bob cyn", "--alone")[::2] == (0, {"ada", "bob", "cyn"})
    assert "yolanda" not in (out / "grades.csv").read_text()
    assert not list((out / "feedback").glob("yolanda*"))


def test_what_a_result_follows_from_makes_another(tmp_path, stand_in):
    (one,) = small(1)
    keys = {
        grade.key(ROOFLINE, one, Limits(), None),
        grade.key(ROOFLINE, one, Limits(call_seconds=3), None),
        grade.key(ROOFLINE, one, Limits(), b"k"),
        grade.key(ROOFLINE, Submission("other", one.name, one.data), Limits(), None),
        grade.key(ROOFLINE, Submission(one.student, "", b"{}"), Limits(), None),
        grade.key(ROOFLINE, Submission(one.student, "", None), Limits(), None),
        grade.key(ROOFLINE, Submission(one.student, "", None, (), "why"), Limits(), None),
        grade.key(ROOFLINE, Submission(one.student, "", one.data, ("late",)), Limits(), None),
    }
    assert len(keys) == 8
    assert (
        grade.key(ROOFLINE, Submission(one.student, "another file name", one.data), Limits(), None)
        in keys
    )


@pytest.mark.parametrize("how", ["pool", "dask"])
def test_the_key_goes_to_no_worker_and_a_sandbox_gets_no_solution(
    tmp_path, stand_in, monkeypatch, how
):
    """The job is pickled here as on its way to a worker.

    The source is in it, the key in no form; the sandbox gets neither.
    """
    secret, sent, asked = bytes(range(100, 132)), [], []

    def pool(run, tasks, *where, **how):
        for task in tasks:
            sent.append(pickle.dumps((run, task)))
            yield task, cluster.attempt(*pickle.loads(sent[-1]))

    def ask(*arguments):
        asked.append(json.dumps([str(one) for one in arguments]))
        return stand_in(*arguments)

    monkeypatch.setattr(cluster, how, pool)
    monkeypatch.setattr(run, "ask", ask)
    grade.run(
        ROOFLINE,
        small(3),
        tmp_path,
        secret=secret,
        scheduler="tcp://none" if how == "dask" else None,
    )
    results = list(store.results(tmp_path))
    assert len(sent) == len(asked) == len(results) == 3 and all(
        store.verified(one, secret) for one in results
    )
    assert not any(store.verified({**one, "points": 20.0}, secret) for one in results)
    solution = "asleep = (1 - given"
    for data in sent:
        assert solution.encode() in data and grade.source_of(ROOFLINE).encode() in data
        assert not any(
            form in data
            for form in (
                secret,
                secret.hex().encode(),
                base64.b64encode(secret),
                hashlib.sha256(secret).hexdigest().encode(),
            )
        )
    known = scoring.expected(ROOFLINE, ROOFLINE.variant("s000"))
    for text in asked:
        assert solution not in text and "truth" not in text and secret.hex() not in text
    assert not any(
        repr(value) in asked[0]
        for name in ("step_time", "cost_per_million", "weight_bytes")
        for value in known.right[name]
    )


@pytest.mark.parametrize("harm", [b"", b"{}", b"[]", b"\xff", None, "half", "points", "another's"])
def test_a_damaged_result_is_graded_again(tmp_path, stand_in, harm):
    grade.run(ROOFLINE, small(3), tmp_path, jobs=0, ask=stand_in)
    before = contents(tmp_path)
    path = store.Store(tmp_path).path(store.overview(tmp_path)["students"][1]["key"])
    raw = path.read_bytes()
    if harm is None:
        path.unlink()
    else:
        other = (
            store.Store(tmp_path).path(store.overview(tmp_path)["students"][2]["key"]).read_bytes()
        )
        path.write_bytes(
            {
                "another's": other,
                "half": raw[: len(raw) // 2],
                "points": raw.replace(b'"points":0.0', b'"points":9.0', 1),
            }.get(harm, harm)
        )
    with pytest.raises(store.StoreError, match="s001"):
        list(store.results(tmp_path))
    again = grade.run(ROOFLINE, small(3), tmp_path, jobs=0, ask=stand_in)
    assert again.before == 2 and contents(tmp_path) == before


def test_one_program_writes_at_a_time(tmp_path, stand_in):
    with (
        store.opened(tmp_path),
        pytest.raises(
            store.StoreError, match=rf"Another grading \(process {os.getpid()}\) is writing"
        ),
    ):
        grade.run(ROOFLINE, small(1), tmp_path, jobs=0, ask=stand_in)
    grade.run(ROOFLINE, small(1), tmp_path, jobs=0, ask=stand_in)


def test_a_folder_that_holds_no_class_is_named(tmp_path):
    with pytest.raises(store.StoreError, match="holds no graded class"):
        list(store.results(tmp_path))
    (tmp_path / "class.json").write_bytes(b"{")
    with pytest.raises(store.StoreError, match="damaged"):
        list(store.results(tmp_path))
    (tmp_path / "file").write_bytes(b"")
    with (
        pytest.raises(store.StoreError, match="cannot be written"),
        store.opened(tmp_path / "file" / "x"),
    ):
        pass


def test_what_the_grader_fails_at_costs_one_student_and_is_tried_again(tmp_path, stand_in):
    done = grade.run(ROOFLINE, small(4, fay="FAIL"), tmp_path, jobs=0, ask=stand_in)
    assert done.faults == {"fay": "ArithmeticError: ours"}
    found = {one["student"]: one for one in store.results(tmp_path)}
    assert (
        found["fay"]["status"] == "ungradable"
        and "the grader itself failed" in found["fay"]["says"]
        and len(found) == 5
    )
    assert grade.run(ROOFLINE, small(4, fay="FAIL"), tmp_path, jobs=0, ask=stand_in).before == 4


def test_a_process_that_dies_is_replaced_and_its_submission_tried_once_more(tmp_path, stand_in):
    done = grade.run(
        ROOFLINE, small(6, dee="DIE_ALWAYS", eve="DIE_ONCE"), tmp_path, jobs=2, ask=stand_in
    )
    assert list(done.faults) == ["dee"] and "ended 2 times (exit code -9)" in done.faults["dee"]
    found = {one["student"]: one for one in store.results(tmp_path)}
    assert (
        len(found) == 8
        and found["dee"]["status"] == "ungradable"
        and found["eve"]["status"] == "missing"
    )
    assert all(
        one["status"] == "wrong" for one in found["eve"]["questions"] if one["kind"] != "written"
    )


def test_what_concerns_all_stops_at_once_and_keeps_what_is_done(tmp_path, stand_in):
    calls = []

    def ask(*arguments):
        calls.append(1)
        if len(calls) == 3:
            raise run.SandboxError("There is no sandbox here.")
        return stand_in(*arguments)

    with pytest.raises(cluster.ClusterError, match=r"There is no sandbox here\."):
        grade.run(ROOFLINE, small(5), tmp_path, jobs=0, ask=ask)
    assert store.overview(tmp_path)["complete"] is False and len(list(store.results(tmp_path))) == 2
    assert grade.run(ROOFLINE, small(5), tmp_path, jobs=0, ask=stand_in).before == 2
    assert store.overview(tmp_path)["complete"] is True


@pytest.mark.parametrize("jobs", [0, 1, 2])
def test_a_start_that_fails_before_any_has_worked_stops_the_class(tmp_path, stand_in, jobs):
    with pytest.raises(cluster.ClusterError, match=r"^The sandbox did not start: it said nothing$"):
        grade.run(
            ROOFLINE, small(0, ann="NO_START", bob="", cem=""), tmp_path, jobs=jobs, ask=stand_in
        )


@pytest.mark.parametrize("jobs", [0, 1])
def test_a_start_that_fails_after_others_have_worked_costs_one_student(tmp_path, stand_in, jobs):
    work = small(0, ann="BEGIN", bob="NO_START", cem="", dan="NO_START", eve="")
    done = grade.run(ROOFLINE, work, tmp_path, jobs=jobs, ask=stand_in)
    assert done.faults == dict.fromkeys(
        ["bob", "dan"], "The sandbox did not start: it said nothing"
    )
    found = {one["student"]: one for one in store.results(tmp_path)}
    assert len(found) == 5 and {
        name for name, one in found.items() if one["status"] == "ungradable"
    } == {"bob", "dan"}
    assert "the grader itself failed; your teacher looks into it." in found["bob"]["says"]

    def mended(cells, *more):
        assert "NO-START" in "".join(cells)
        return stand_in(["a sandbox that starts"], *more)

    again = grade.run(ROOFLINE, work, tmp_path, jobs=0, ask=mended)
    assert again.before == 3 and not again.faults and not again.statuses["ungradable"]


def test_what_one_process_has_shown_holds_for_the_others_of_the_machine():
    """Once one process has had its sandbox, another's first failure is a submission's.

    It is not taken for the machine's.
    """
    stops = [
        cluster.Stop("There is none here.", "SandboxError"),
        cluster.Stop("This did not start", "StartError"),
    ]
    for stop, errors in ((stops[0], ("SandboxError", "StartError")), (stops[1], ("StartError",))):
        assert cluster._check_outcome(stop, True, errors) == cluster.Fault(stop.says.rstrip("."))
        with pytest.raises(cluster.ClusterError, match=stop.says):
            cluster._check_outcome(stop, False, errors)
    for stop in (stops[0], cluster.Stop("The assignment is wrong.", "SourceError")):
        with pytest.raises(cluster.ClusterError, match=stop.says):
            cluster._check_outcome(stop, True)


class Workers:
    """A stand-in for a Dask client, its workers and `distributed.as_completed`.

    It gives each answer in turn, as a worker would give it; for None none ever comes.
    """

    def __init__(self, answers):
        self.answers, self.ready, self.status = iter(answers), [], "running"
        self.scheduler = SimpleNamespace(ncores=lambda: {"worker": 1})

    def sync(self, ask, callback_timeout):
        return ask()

    def submit(self, ask, task, pure):
        return object()

    def add(self, future):
        if (answer := next(self.answers)) is not None:
            self.ready.append((future, answer))

    def next_batch(self, block):
        batch, self.ready = self.ready, []
        return batch

    def clear(self):
        pass


def under_dask(answers, tasks):
    workers = Workers(answers)
    return dict(cluster._dasked(workers, workers, abs, iter(tasks), "tcp://here", 0.2, pytest.fail))


def test_under_dask_a_failed_start_costs_one_student_once_a_sandbox_has_started():
    done, late = cluster.Done(1, True), cluster.Stop("This did not start.", "StartError")
    assert under_dask([done, late, done], "abc") == {
        "a": done,
        "b": cluster.Fault("This did not start"),
        "c": done,
    }
    with pytest.raises(cluster.ClusterError, match=r"This did not start\."):
        under_dask([cluster.Done(1), late], "ab")


def test_under_dask_a_worker_without_a_sandbox_is_tried_around_and_then_stops_the_class():
    done, none = cluster.Done(1, True), cluster.Stop("There is none here.", "SandboxError")
    assert under_dask([done, none, done, done], "abc") == dict.fromkeys("abc", done)
    with pytest.raises(cluster.ClusterError, match=r"There is none here\."):
        under_dask([done, none, none], "ab")


def test_under_dask_what_never_comes_back_is_given_up_after_a_long_silence():
    done = cluster.Done(1, True)
    lost = cluster.Fault("no worker brought it back within 0 seconds")
    assert under_dask([None, done, done, None, done], "abcde") == {
        "a": lost, "b": done, "c": done, "d": lost, "e": done
    }  # fmt: skip


def test_under_dask_a_worker_that_cannot_grade_is_tried_around_and_then_stops_the_class():
    done, unable = cluster.Done(1), (ImportError, ImportError("No module named handful"), None)
    assert under_dask([unable, done, done], "ab") == dict.fromkeys("ab", done)
    with pytest.raises(cluster.ClusterError, match=r"cannot grade: ImportError: No module named"):
        under_dask([unable, done, unable], "ab")
    killed = type("KilledWorker", (Exception,), {})
    assert under_dask([done, (killed, killed(), None), (killed, killed(), None)], "ab") == {
        "a": done,
        "b": cluster.Fault("the workers that graded it were lost 2 times"),
    }


def test_a_worker_with_another_version_runs_nothing_and_stops_the_class():
    found = cluster.apart(os._exit, 3, version="0")
    assert re.match(r"A worker on \S.* has handful \S+, and here is 0; results would", found.says)
    with pytest.raises(cluster.ClusterError, match="Install the same on all"):
        under_dask([cluster.Done(1, True), found], "ab")


def test_a_fresh_process_that_finds_no_sandbox_beside_one_that_did_costs_one_student(
    tmp_path, stand_in
):
    work = small(0, ann="BEGIN", bob="DIE_ONCE", cem="NO_SANDBOX", dan="", eve="")
    done = grade.run(ROOFLINE, work, tmp_path, jobs=1, ask=stand_in)
    assert done.faults == {"cem": "There is no sandbox here"} and sum(done.statuses.values()) == 5


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
    """Return whether a process has ended, waited for or not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


DRIVER = """
import os, sys
sys.path[:0] = {path!r}
sys.argv = ["driver"]
import random, signal
from handful_classroom.grading import grade, scoring
from handful_classroom.release.assignment import assignments
from handful_classroom.grading.roster import STRANGER, Roster
from handful_classroom.grading.submissions import Submission
import handful_stand_in, json
a = assignments()["roofline"]
grade.released(a)
grade._loaded(grade.source_of(a), a.file)
for one in {names!r}:
    scoring.expected(a, a.variant(one))
print("ready", flush=True)
for folder in sys.stdin:
    pid = os.fork()
    if not pid:
        work = []
        for n in {names!r}:
            cell = {{"cell_type": "code", "source": f"'{{n}} '"}}
            data = json.dumps({{"cells": [cell]}}).encode()
            work.append(Submission(n, "x.ipynb", data))
        grade.run(a, work, folder.strip(), jobs=0, ask=handful_stand_in.ask)
        os._exit(0)
    print(pid, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


def test_killed_fifty_times_nothing_is_lost_and_nothing_doubled(tmp_path, stand_in, monkeypatch):
    """Whatever was written stays, and the end is that of an undisturbed run.

    SIGKILL comes at a random point, fifty times over.
    """
    monkeypatch.setenv("HANDFUL_NAP", "0.002")
    work = small(60)
    grade.run(ROOFLINE, work, tmp_path / "peace", jobs=0, ask=stand_in)
    peace = contents(tmp_path / "peace")
    code = DRIVER.format(path=sys.path, names=[one.student for one in work])
    generator, kills, rounds, seen = random.Random(7), 0, 0, set()
    with subprocess.Popen(
        [sys.executable, "-P", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as driver:
        assert driver.stdout.readline() == "ready\n"
        while kills < 50:
            folder = tmp_path / f"round{rounds}"
            before = (
                {path.name: path.read_bytes() for path in (folder / "results").glob("[!.]*")}
                if folder.exists()
                else {}
            )
            driver.stdin.write(f"{folder}\n")
            driver.stdin.flush()
            pid = int(driver.stdout.readline())
            wanted = len(before) + generator.randrange(12)
            until(
                lambda pid=pid, results=folder / "results", wanted=wanted: (
                    gone(pid) or sum(1 for _ in results.glob("[!.]*")) >= wanted
                )
            )
            time.sleep(generator.random() * 0.01)
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            code = int(driver.stdout.readline())
            now = (
                {path.name: path.read_bytes() for path in (folder / "results").glob("[!.]*")}
                if folder.exists()
                else {}
            )
            assert (
                before.items() <= now.items() <= peace.items()
            )  # whole, each of them, and the right ones
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
    """Return the processes of a session that still run."""
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
        (folder / f"s{i:02}.ipynb").write_text(
            notebooks.text(
                notebooks.notebook(
                    ROOFLINE, f"s{i:02}", "solution" if i % 3 else ("wrong", *WRONG[i % len(WRONG)])
                )
            ),
            "utf-8",
        )
    return folder


@pytest.fixture(scope="module")
def classroom(tmp_path_factory) -> tuple[Path, dict[str, bytes]]:
    """Make a class of 16, and its results as one process makes them."""
    root = tmp_path_factory.mktemp("classroom")
    honest(root / "class", 16)
    grade.run(ROOFLINE, submissions.read(root / "class", "roofline"), root / "out", jobs=0)
    return root / "class", contents(root / "out")


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


LEASES = """
import fcntl, glob, os, signal, time
signal.signal(signal.SIGIO, signal.SIG_IGN)  # by which the kernel asks for a lease back
library, held, given = os.path.dirname(os.__file__), [], 0
kinds = "__pycache__/statistics*", "statistics.py", "encodings/__pycache__/*", "encodings/*.py"
for name in [name for kind in kinds for name in glob.glob(library + "/" + kind)][:90]:
    try:
        held.append(os.open(name, os.O_RDONLY))
        fcntl.fcntl(held[-1], fcntl.F_SETLEASE, fcntl.F_WRLCK)
        given += 1
    except OSError: pass
until = time.time() + 60 * (given > 0)
while time.time() < until:
    try: time.sleep(1)
    except BaseException: pass
"""


def with_cells(student: str, *codes: str) -> Submission:
    """Return a right notebook of a student, with these cells before the others."""
    made = notebooks.notebook(ROOFLINE, student, "solution")
    made["cells"][:0] = [
        {
            "cell_type": "code",
            "source": [code],
            "metadata": {},
            "outputs": [],
            "execution_count": None,
            "id": f"added{i}",
        }
        for i, code in enumerate(codes)
    ]
    return Submission(student, "x.ipynb", notebooks.text(made).encode())


@pytest.mark.sandbox
def test_a_notebook_that_leases_the_interpreter_stops_no_other(tmp_path, stand_in):
    """In a user namespace the kernel takes a student's process for the teacher's.

    The teacher owns the files that all share.
    """
    import handful_stand_in

    work = [with_cells("hostile", LEASES, LEASES)] + [
        with_cells(f"h{i}", "import statistics") for i in range(8)
    ]
    begin = time.monotonic()
    done = grade.run(ROOFLINE, work, tmp_path, jobs=2, ask=handful_stand_in.in_a_namespace)
    assert time.monotonic() - begin < 40, "whoever opens a file under a lease waits for up to 45 s"
    assert not done.faults and sum(done.statuses.values()) == 9
    found = {one["student"]: one for one in store.results(tmp_path)}
    assert [one["points"] for student, one in found.items() if student != "hostile"] == [
        ROOFLINE.points
    ] * 8


@pytest.mark.sandbox
def test_the_command_killed_amid_real_notebooks_goes_on_and_leaves_no_process(tmp_path, classroom):
    path, peace = classroom
    grading = command(path, tmp_path / "out", "--jobs", "2")
    for wanted in (2, 8):
        with subprocess.Popen(
            grading,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env=environment(),
        ) as process:
            until(
                lambda wanted=wanted: len(list((tmp_path / "out").glob("results/[!.]*"))) >= wanted
            )
            process.kill()
        until(lambda: not in_session(process.pid), 20)
        assert {
            file.name: file.read_bytes() for file in (tmp_path / "out").glob("results/[!.]*")
        }.items() <= peace.items()
    out = subprocess.run(grading, capture_output=True, text=True, env=environment())
    assert out.returncode == 0, out.stderr
    assert "were graded before and left as they are." in out.stderr and re.search(
        r"ok +\d+", out.stdout
    )
    assert contents(tmp_path / "out") == peace


def command(path: Path, out: Path, *options: str) -> list[str]:
    start = [sys.executable, "-P", "-m", "handful", "assign", "grade", str(path)]
    return [*start, "--assignment", "roofline", "-o", str(out), *options]


def written(folder: Path) -> dict[str, bytes]:
    """Return all that a grading wrote, by its place in the folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != ".lock"
    }


@pytest.mark.sandbox
def test_a_cluster_that_loses_a_worker_gives_the_same_results(tmp_path, dask):
    """One of two workers is killed midway: every file is as this machine's processes make it."""
    path, key = honest(tmp_path / "class", 40), tmp_path / "key"
    store.make_key(key)
    doomed, _ = dask.worker(), dask.worker()
    here = subprocess.run(
        command(path, tmp_path / "here", "--key", str(key)),
        capture_output=True,
        text=True,
        env=environment(),
    )
    assert here.returncode == 0, here.stderr
    with subprocess.Popen(
        command(path, tmp_path / "there", "--key", str(key), "--scheduler", dask.address),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    ) as process:
        until(lambda: len(list((tmp_path / "there").glob("results/[!.]*"))) >= 10)
        doomed.kill()
        until(lambda: len(list((tmp_path / "there").glob("results/[!.]*"))) >= 11)
        assert not (tmp_path / "there" / "grades.csv").exists(), "the kill came too late"
        out, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert out == here.stdout.replace(str(tmp_path / "here"), str(tmp_path / "there"))

    def notes(text: str) -> list[str]:
        text = text.replace(str(tmp_path / "there"), str(tmp_path / "here"))
        return [line for line in text.splitlines() if not line.startswith("Went through ")]

    assert notes(errors) == notes(here.stderr)
    there = written(tmp_path / "there")
    assert "grades.csv" in there and len(there) > 40 and there == written(tmp_path / "here")


def test_a_cluster_without_workers_says_so_once_and_goes_on_when_one_comes(
    tmp_path, stand_in, dask, monkeypatch
):
    """Begin with none, and kill all midway."""
    monkeypatch.setenv("HANDFUL_NAP", "0.05")
    begin, workers, said = time.monotonic(), [], []

    def say(sentence):
        nonlocal begin
        said.append(sentence)
        if "has no worker" in sentence:
            assert time.monotonic() - begin < 15
            workers.append(dask.worker())

    def progress(done, total, statuses):
        nonlocal begin
        if done == 5:
            workers[0].kill()
            begin = time.monotonic()

    done = grade.run(
        ROOFLINE,
        small(20),
        tmp_path / "out",
        scheduler=dask.address,
        ask=stand_in,
        progress=progress,
        say=say,
    )
    none = (
        f"The Dask scheduler at {dask.address} has no worker: start one with 'dask worker "
        f"{dask.address} --nthreads 1', or press Ctrl+C; what was graded is kept."
    )
    assert said == [none, "A worker has come, and grading goes on."] * 2
    grade.run(ROOFLINE, small(20), tmp_path / "here", jobs=0, ask=stand_in)
    assert not done.faults and contents(tmp_path / "out") == contents(tmp_path / "here")
    again = grade.run(
        ROOFLINE, small(20), tmp_path / "out", scheduler=dask.address, ask=stand_in, say=pytest.fail
    )
    assert again.before == 20


def test_a_worker_of_a_cluster_that_stands_still_holds_up_nobody(
    tmp_path, stand_in, dask, monkeypatch
):
    """Give what it had to another once the scheduler has noticed."""
    monkeypatch.setenv("HANDFUL_NAP", "0.05")
    frozen, other = dask.worker(), dask.worker()
    stopped = []

    def progress(done, total, statuses):
        if done == 8:
            frozen.send_signal(signal.SIGSTOP)
            stopped.append(done)

    done = grade.run(
        ROOFLINE,
        small(30),
        tmp_path / "out",
        scheduler=dask.address,
        ask=stand_in,
        progress=progress,
    )
    frozen.kill()
    assert stopped and other.poll() is None and not done.faults
    grade.run(ROOFLINE, small(30), tmp_path / "here", jobs=0, ask=stand_in)
    assert contents(tmp_path / "out") == contents(tmp_path / "here")


@pytest.mark.sandbox
@pytest.mark.parametrize(
    "how, code, says",
    [
        ("lost", 1, "handful: The Dask scheduler at {} is gone or was restarted; the same command"),
        ("refused", 1, "handful: No Dask scheduler answers at {}: "),
        ("interrupt", 130, "Stopped.  What is graded is kept in "),
    ],
)
def test_what_ends_a_grading_on_a_cluster_is_said_in_one_line(tmp_path, dask, how, code, says):
    path = honest(tmp_path / "class", 16)
    dask.worker()
    if how == "refused":
        dask.scheduler.kill()
        dask.scheduler.wait()
    with subprocess.Popen(
        command(path, tmp_path / "out", "--scheduler", dask.address),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    ) as process:
        if how != "refused":
            until(lambda: len(list((tmp_path / "out").glob("results/[!.]*"))) >= 3)
            if how == "lost":
                dask.scheduler.kill()
            else:
                process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=60)
    lines = [line for line in errors.splitlines() if not line.startswith("Went through ")]
    assert process.returncode == code and not out and len(lines) == 1, errors
    assert lines[0].startswith(says.format(dask.address))


def test_no_scheduler_is_named(tmp_path):
    with pytest.raises(cluster.ClusterError, match="No Dask scheduler answers at"):
        list(cluster.dask(abs, [1], "nonsense://127.0.0.1:1"))


def test_a_port_that_takes_connections_and_does_not_answer_is_named(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(cluster, "CONNECT", 1.0)
    said = []
    with socket.create_server(("127.0.0.1", 0)) as mute:

        def say(sentence):
            said.append(sentence)
            mute.accept()[0].close()
            mute.close()

        address = f"tcp://127.0.0.1:{mute.getsockname()[1]}"
        with pytest.raises(cluster.ClusterError, match=f"No Dask scheduler answers at {address}"):
            list(cluster.dask(abs, [1], address, say=say))
    assert len(said) == 1 and said[0].startswith(f"Something at {address} takes connections")


def test_a_later_command_needs_no_roster_and_mixes_no_assignments(tmp_path, capsys):
    """Grade by the real command: a class with a roster, then a late file without it."""
    some, out = tmp_path / "some", str(tmp_path / "results")
    some.mkdir()
    for student in ("ada", "bob"):
        made = notebooks.text(notebooks.notebook(ROOFLINE, student, "solution"))
        (some / f"{student}.ipynb").write_text(made)
    (tmp_path / "class.csv").write_text("student,name\nada,A\nbob,B\ncyn,C\n")
    asked = ["assign", "grade", "--assignment", "roofline", "-o", out, "--jobs", "1"]
    assert cli.main([*asked, str(some), "--roster", str(tmp_path / "class.csv")]) == 0
    late = tmp_path / "late"
    late.mkdir()
    shutil.copy(some / "ada.ipynb", late / "cyn.ipynb")
    capsys.readouterr()
    assert cli.main([*asked, str(late)]) == 0
    said = capsys.readouterr().err
    assert "The roster is the one that was given before" in said
    assert "2 who handed in before" in said and "2 notebooks say that they are 'ada'" in said
    found = {one["student"]: one["status"] for one in store.results(out)}
    assert found == {"ada": "ok", "bob": "ok", "cyn": "ok"}

    (Path(out) / "adjustments.csv").write_text("student,question,points,reason\nzoe,total,1,\n")
    assert cli.main([*asked, str(late)]) == 2
    said = capsys.readouterr().err
    assert "'zoe' is no student" in said and "Grades and feedback were not written" in said

    kept = tmp_path / f"roofline-{ROOFLINE.edition}.md"  # as build keeps an edition
    kept.write_text(grade.source_of(ROOFLINE))
    other = tmp_path / "roofline-mended.md"
    other.write_text(grade.source_of(ROOFLINE))
    (Path(out) / "adjustments.csv").unlink()
    for source, code in ((kept, 0), (other, 2)):
        again = ["assign", "grade", str(some), "--assignment", str(source), "-o", out]
        assert cli.main([*again, "--jobs", "1"]) == code
        said = capsys.readouterr().err
        assert ("give a copy of the source the name roofline.md" in said) == (source == other)

    # Another section, or a wrong list, drops nobody.
    (tmp_path / "other.csv").write_text("student\nyan\nzoe\n")
    before = contents(Path(out))
    for name, more, code in (("other.csv", [], 2), ("class.csv", [], 0)):
        named = ["--roster", str(tmp_path / name), *more]
        assert cli.main([*asked, str(late), *named]) == code
        said = capsys.readouterr().err
        assert ("Nobody who was graded in" in said and "name another folder with -o" in said) == (
            code == 2
        )
        assert code == 0 or contents(Path(out)) == before
    # A file that is nobody's is named on screen, and stays when the next one is graded.
    for name in ("guest9", "adam"):
        alone = tmp_path / f"{name}.ipynb"
        alone.write_text(notebooks.text(notebooks.notebook(ROOFLINE, name, "solution")))
        assert cli.main([*asked, str(alone)]) == 0
        said = capsys.readouterr().err
        assert f"1 is nobody on the roster: {name}{' (ada?)' * (name == 'adam')}." in said
    assert [one["student"] for one in store.results(out)] == ["ada", "bob", "cyn", "adam", "guest9"]

    mended = tmp_path / "mended" / "roofline.md"
    mended.parent.mkdir()
    mended.write_text(grade.source_of(ROOFLINE) + "\nOne more sentence.\n")
    for source, more, code in (
        (mended, [], 0),
        (mended, [], 0),
        ("roofline", [], 2),  # undoes the mend
        ("roofline", ["--back"], 0),
        (mended, [], 2),
    ):
        again = ["assign", "grade", str(some), "--assignment", str(source), "-o", out, *more]
        assert cli.main([*again, "--jobs", "1"]) == code, (source, more)
        said = capsys.readouterr().err
        assert ("or go back to the older with --back" in said) == (code == 2)
