"""Tests that grading a class, and its grades, feedback and report, keep little of each submission.

Every submission here has a text of twelve thousand characters, which no class of thousands may
hold at once.
"""

import random
import tracemalloc
import zipfile

import pytest

from class_samples import assignment, result
from handful_classroom.grading import grade, grades, rubric, store
from handful_classroom.grading.submissions import Submission
from handful_classroom.release.assignment import assignments
from handful_classroom.reports import feedback, report

FEW, MANY = 50, 250  # submissions
LONG = 12_000  # characters, of each text
MOST = 5_000  # bytes that a further submission may take; it takes about half


def growth(work) -> float:
    """Return by how many bytes the peak of memory grows with each submission."""
    work(2)  # what is made once, such as fonts and caches
    peaks = []
    tracemalloc.start()
    try:
        for many in (FEW, MANY):
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            work(many)
            peaks.append(tracemalloc.get_traced_memory()[1] - before)
    finally:
        tracemalloc.stop()
    return (peaks[1] - peaks[0]) / (MANY - FEW)


def long_text(i: int) -> str:
    return random.Random(i).randbytes(LONG // 2).hex()  # of which compressing leaves half


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """Return a function that makes a graded class of some size, each in a folder of its own."""
    monkeypatch.setattr(store.os, "fsync", lambda file: None)
    monkeypatch.setattr(rubric, "A_SHEET", 10)  # answers, which are in memory together

    def make(many: int):
        folder = tmp_path / str(many)
        with store.opened(folder) as made:
            keys = []
            for i in range(many):
                one = result(f"s{i:04}", {"why": ("waiting", 0, None, long_text(i))})
                keys.append((one["student"], store.key(i)))
                made.put(keys[-1][1], one)
            made.finish("roofline", keys, complete=True)
        return folder

    return make


def test_reports_keep_little_of_each_result(stored):
    folders = {many: stored(many) for many in (2, FEW, MANY)}
    assert (folders[2] / "results" / f"{store.key(0)}.json").stat().st_size > LONG

    def work(many: int) -> list[grades.Grade]:
        results = store.results(folders[many])
        made, _ = grades.write(folders[many], assignment(), results)
        feedback.write(folders[many], assignment(), grades.with_results(made, results))
        return made

    assert growth(lambda many: report.class_page(assignment(), work(many))) < MOST
    with zipfile.ZipFile(folders[MANY] / "feedback.zip") as archive:
        page = archive.read(f"feedback/s{MANY - 1:04}.html").decode()
    assert long_text(MANY - 1)[:1000] in page and len(archive.namelist()) == MANY
    assert growth(work) < MOST  # with tables and archives there already


def test_grading_keeps_little_of_each_submission(tmp_path, monkeypatch):
    monkeypatch.setattr(store.os, "fsync", lambda file: None)
    roofline, before = assignments()["roofline"], []

    def work(many: int) -> None:
        submissions = (
            Submission(f"s{i:04}", "", b"%PDF" + str(i).encode(), notice=(long_text(i),))
            for i in range(many)
        )
        found = grade.run(roofline, submissions, tmp_path / str(many), jobs=0, keep=True)
        assert found.statuses == {"ungradable": many}
        before.append(found.before)

    assert growth(work) < MOST and growth(work) < MOST
    assert before == [0, 0, 0, 2, FEW, MANY]  # the second time nothing is graded again
