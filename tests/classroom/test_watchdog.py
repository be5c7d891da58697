"""A reader that never ends costs one submission, wherever the class is graded."""

from __future__ import annotations

import inspect
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from handful_classroom.exports import gradescope
from handful_classroom.grading import cluster, grade, store, watchdog
from handful_classroom.grading.grades import Grade
from handful_classroom.grading.submissions import Submission
from handful_classroom.release.assignment import assignments
from handful_classroom.reports import feedback, similar, similar_page

ROOFLINE = assignments()["roofline"]
# Of processor time; an honest notebook takes less, with the assignment read and its answers worked
# out.
SECONDS = 4.0

# Whoever imports this reads notebooks slowly that ask for it: other processes do so when they
# unpickle `ask`.
SLOW = """
import itertools
from handful_classroom.grading import grade
from handful_classroom.sandbox.protocol import Answer, Outcome

read = grade.read_notebook

def slow(data, *more):
    if b"SLOW-PYTHON" in data:
        while True:
            pass
    if b"SLOW-C" in data:
        sum(itertools.repeat(1, 10**12))  # one call, which looks for no signal
    return read(data, *more)

grade.read_notebook = slow

def ask(cells, requests, given, limits, library):
    return Outcome(tuple(Answer("value", 1.0) for _ in requests))
"""


@pytest.fixture
def slow(tmp_path, monkeypatch):
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "handful_slow_reader.py").write_text(SLOW)
    monkeypatch.syspath_prepend(tmp_path / "modules")
    monkeypatch.setattr(grade, "read_notebook", grade.read_notebook)
    grade.released(ROOFLINE)
    import handful_slow_reader

    yield handful_slow_reader
    del sys.modules["handful_slow_reader"]


def handed_in(words: dict[str, str]) -> list[Submission]:
    return [
        Submission(
            student,
            "x.ipynb",
            json.dumps({"cells": [{"cell_type": "code", "source": f"'{word}'"}]}).encode(),
        )
        for student, word in words.items()
    ]


CLASS = {"ada": "", "cyd": "", "dee": "SLOW-C", "eve": ""}


def check(done: grade.Graded, folder: Path, late: set[str]) -> None:
    """Check that the late ones are given up by name in a sentence, and all others graded."""
    assert set(done.faults) == late
    assert all(
        says
        == "reading it took the grader more than 4 seconds of processor time, so it was given up"
        for says in done.faults.values()
    )
    found = {one["student"]: one for one in store.results(folder)}
    assert store.overview(folder)["complete"] is True
    for student, one in found.items():
        if student in late:
            assert (one["status"], one["points"]) == ("ungradable", 0)
            assert (
                one["says"]
                == "This could not be graded: reading it took too long; your teacher looks into it."
            )
        else:
            assert one["questions"] and one["status"] != "ungradable"


def test_in_processes_of_this_machine(tmp_path, slow):
    done = grade.run(
        ROOFLINE, handed_in(CLASS), tmp_path / "out", jobs=2, ask=slow.ask, seconds=SECONDS
    )
    check(done, tmp_path / "out", {"dee"})
    # Faults are kept under another key: with a reader that is mended the same command grades them.
    grade.read_notebook = slow.read
    again = grade.run(ROOFLINE, handed_in(CLASS), tmp_path / "out", jobs=0, ask=slow.ask)
    assert not again.faults and again.before == 3


def test_within_this_process(tmp_path, slow):
    before = signal.getsignal(signal.SIGPROF)
    done = grade.run(
        ROOFLINE,
        handed_in({"ada": "", "bob": "SLOW-PYTHON", "cyd": ""}),
        tmp_path / "out",
        jobs=0,
        ask=slow.ask,
        seconds=SECONDS,
    )
    check(done, tmp_path / "out", {"bob"})
    assert signal.getsignal(signal.SIGPROF) is before and signal.getitimer(signal.ITIMER_PROF) == (
        0,
        0,
    )


def test_on_a_cluster(tmp_path, slow, dask):
    """The worker's own process is never lost."""
    # With a nanny, as by default: its worker is a daemon, which may have no processes of
    # `multiprocessing`.
    worker = dask.worker("--nthreads", "2", "--nworkers", "1")
    done = grade.run(
        ROOFLINE,
        handed_in(CLASS),
        tmp_path / "out",
        scheduler=dask.address,
        ask=slow.ask,
        seconds=SECONDS,
    )
    assert worker.poll() is None
    check(done, tmp_path / "out", {"dee"})


def test_a_task_that_sleeps_is_given_up_after_its_time_on_the_wall():
    found = dict(cluster.pool(time.sleep, [0.01, 600.0], 2, longest=4))
    assert found[0.01] == cluster.Done(None)
    assert (
        found[600.0].says == "grading it took more than 4 seconds, so it was given up"
        and found[600.0].late
    )
    assert (
        cluster.apart(time.sleep, 600.0, longest=1).says
        == "grading it took more than 1 seconds, so it was given up"
    )
    assert cluster.apart(time.sleep, 0.0) == cluster.Done(None)


def die_once(path: str) -> str:
    """End this process unless the file is there, and make it."""
    if not os.path.exists(path):
        open(path, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return "lived"


def test_a_process_of_a_cluster_that_dies_is_replaced_and_its_task_tried_once_more(tmp_path, slow):
    (tmp_path / "modules" / "handful_dying.py").write_text(
        "import os, signal\n" + inspect.getsource(die_once)
    )
    import handful_dying

    assert cluster.apart(handful_dying.die_once, str(tmp_path / "once")) == cluster.Done("lived")
    assert (
        cluster.apart(os._exit, 3).says == "the process that graded it ended 2 times (exit code 3)"
    )


def endless(*arguments, **named):
    while True:
        pass


def test_similarity_feedback_and_gradescope_give_one_up_as_well(tmp_path, monkeypatch):
    for module in (similar, similar_page, feedback):
        monkeypatch.setattr(module, "READING_SECONDS", 0.2)
    monkeypatch.setattr(watchdog, "READING_SECONDS", 0.2)
    given = similar.released([])
    honest, read = handed_in({"ada": "", "bob": "SLOW"}), similar.read_notebook
    monkeypatch.setattr(
        similar,
        "read_notebook",
        lambda data, *more: endless() if b"SLOW" in data else read(data, *more),
    )
    found = similar.find(honest, given)
    assert found.unread == ("bob",) and found.short == 1

    pair = similar.Pair("ada", "cyd", 40, 0.9, 0.9)
    monkeypatch.setattr(similar_page, "sides", endless)
    page = similar_page.page_of(
        "x",
        similar.Found(2, (pair,), 0, (), 0, (), 0, frozenset()),
        given,
        {"ada": [], "cyd": []},
        0.5,
    )
    assert "This pair is not shown: reading it took the grader more than 0.2 seconds" in page

    grades = [Grade(grade.grade_one(ROOFLINE, student, None)) for student in ("ada", "bob")]
    own = feedback.student_page
    monkeypatch.setattr(
        feedback,
        "student_page",
        lambda *arguments: endless() if arguments[1].student == "bob" else own(*arguments),
    )
    feedback.write(tmp_path, ROOFLINE, grades)
    assert "took too long to write" in (tmp_path / "feedback" / "bob.html").read_text()
    assert "took too long to write" not in (tmp_path / "feedback" / "ada.html").read_text()

    (tmp_path / "source" / "assignment").mkdir(parents=True)
    (tmp_path / "source" / "assignment" / "roofline.md").write_text(grade.source_of(ROOFLINE))
    (tmp_path / "submission").mkdir()
    (tmp_path / "submission" / "x.ipynb").write_text("{}")
    monkeypatch.setattr(grade, "grade_one", endless)
    assert gradescope.run(tmp_path)["output"].startswith(
        "Nothing was graded: reading it took the grader more than 0.2 seconds"
    )


def test_what_no_exception_handler_may_swallow_is_none():
    assert not issubclass(watchdog.OverlongError, Exception)
    came = []
    thread = threading.Thread(target=lambda: came.append(within_here()))
    thread.start()
    thread.join()
    assert came == [
        None
    ]  # signals reach the main thread only; the block runs there without a bound


def within_here() -> None:
    with watchdog.within(0.01):
        time.sleep(0)
