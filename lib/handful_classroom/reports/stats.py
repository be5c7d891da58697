"""Statistics of a class: spread of scores, difficulty and discrimination of questions.

They also count misconceptions.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ..grading.grades import STATUSES
from ..grading.student_grade import Grade, question_points

FEWEST = 20  # students below whom a discrimination says nothing
LOW = 0.2  # a discrimination below this is near zero, as is usual
EASY = 0.9  # of its points on average: whoever lost some may have lost them by chance
OUTCOMES = ("full points", "part of them", "none", "no answer", "stopped")


@dataclass(frozen=True)
class Item:
    """A question over a class.

    It has how many students had each outcome, the mean share of its points, and its discrimination
    with a 95 % interval.
    """

    name: str
    asks: str
    outcomes: dict[str, int]
    mean: float | None
    right: float | None
    n: int
    discrimination: float | None
    interval: tuple[float, float] | None

    @property
    def verdict(self) -> str:
        """Return in words whether the question tells students apart."""
        if not self.n:
            return "waits for points by rubric"
        if self.n < FEWEST:
            return f"fewer than {FEWEST} students: says nothing"
        if self.discrimination is None or self.interval is None:
            return "all got the same points: tells nobody apart"
        if self.one_sided:
            got = "it" if (self.mean or 0.0) > 0.5 else "nothing"
            return f"nearly everybody got {got}: says little"
        if self.interval[1] < 0:
            return (
                "negative: who does well elsewhere does worse here; look at the question and "
                "its check"
            )
        if self.discrimination < LOW:
            return "near zero: look at the question"
        return "tells students apart"

    @property
    def one_sided(self) -> bool:
        """Return whether nearly everybody got all of its points, or none."""
        return self.mean is not None and not 1 - EASY < self.mean < EASY

    @property
    def near_zero(self) -> bool:
        """Return whether it should be looked at: a large class has a discrimination below `LOW`.

        Those that nearly everybody got do not count, whose correlation is chance.
        """
        r = self.discrimination
        return self.n >= FEWEST and r is not None and r < LOW and not self.one_sided


def graded(grades: Sequence[Grade]) -> list[Grade]:
    """Return the grades of what was handed in and graded.

    A number that stands for nothing handed in says nothing about the assignment.
    """
    return [grade for grade in grades if grade.graded and grade.handed_in]


def scores(grades: Sequence[Grade]) -> tuple[list[float], float, bool]:
    """Return graded students' points, the possible points, and whether the rubric's are included.

    The rubric's points count once every one of them has been given; until then what the checks gave
    is what can be compared.
    """
    some = graded(grades)
    whole = bool(some) and all(grade.final for grade in some) and any(grade.lines for grade in some)
    if not whole:  # a total that the teacher set has no points of checks in it
        some = [grade for grade in some if grade.result["questions"]]
    possible = max(
        (grade.possible if whole else float(grade.result["possible"]) for grade in some),
        default=0.0,
    )
    return [grade.total if whole else grade.points for grade in some], possible, whole


def step(possible: float) -> float:
    """Return the class width of a distribution: a round number, with at most fifteen classes.

    >>> step(13), step(40), step(100), step(4)
    (1, 5, 10, 0.5)
    """
    return next(
        width * scale
        for scale in (1, 10, 100, 1000, 10_000)
        for width in (0.5, 1, 2, 5)
        if possible <= 15 * width * scale
    )


def bins(points: Sequence[float], possible: float, width: float) -> list[int]:
    """Count the points in each class of that width, from its lower end to below its upper.

    Full points belong to the last class.

    >>> bins([0, 1.9, 2, 5, 9, 10], 10, 2)
    [2, 1, 1, 0, 2]
    """
    # In hundredths of a point, which are whole numbers, so that 0.3 does not fall into the class
    # below.
    whole, most = round(width * 100), round(possible * 100)
    found = [0] * max(1, -(-most // whole))
    for value in points:
        found[min(max(round(value * 100) // whole, 0), len(found) - 1)] += 1
    return found


def quartiles(values: Sequence[float]) -> list[float]:
    """Return the lower quartile, the median and the upper one, interpolated as NumPy does.

    >>> quartiles([1, 2, 3, 10]), quartiles([7])
    ([1.75, 2.5, 4.75], [7, 7, 7])
    """
    if len(values) == 1:
        return [*values] * 3
    return statistics.quantiles(values, n=4, method="inclusive")


def correlation(xs: Sequence[float], ys: Sequence[float]) -> float | None:
    """Return Pearson's correlation, or None where one of the two does not vary.

    >>> correlation([1, 2, 3], [2, 4, 6]), correlation([1, 1, 1], [1, 2, 3])
    (1.0, None)
    """
    # Points are hundredths; sums of them may differ by rounding where they are the same.
    if len(xs) < 3 or any(max(values) - min(values) < 1e-6 for values in (xs, ys)):
        return None
    return max(-1.0, min(1.0, statistics.correlation(xs, ys)))


def interval(r: float, n: int) -> tuple[float, float]:
    """Return the 95 % interval of a correlation over n pairs, by Fisher's transformation.

    >>> [round(end, 2) for end in interval(0.0, 40)]
    [-0.31, 0.31]
    """
    if n < 4:
        return -1.0, 1.0
    if abs(r) == 1:
        return r, r
    normal = statistics.NormalDist(math.atanh(r), 1 / math.sqrt(n - 3))
    return math.tanh(normal.inv_cdf(0.025)), math.tanh(normal.inv_cdf(0.975))


def items(assignment, grades: Sequence[Grade]) -> list[Item]:
    """Return the statistics of every question, in the assignment's order."""
    return [_item(question, graded(grades)) for question in assignment.questions.values()]


def _item(question, grades: Sequence[Grade]) -> Item:
    """Return the statistics of one question.

    A question that still waits for the teacher with anyone has no students: those who wrote nothing
    would stand for the class.
    """
    parts = [
        (
            grade,
            next(
                (part for part in grade.result["questions"] if part["name"] == question.name), None
            ),
        )
        for grade in grades
    ]
    known = [
        (grade, part["status"], question_points(grade, question.name, changed=False))
        for grade, part in parts
        if part
    ]
    found = [(grade, status, points) for grade, status, points in known if points is not None]
    if len(found) < len(known):
        found = []
    outcomes = dict.fromkeys(OUTCOMES, 0)
    own, rest = [], []
    for grade, status, points in found:
        own.append(points)
        rest.append(grade.points - (0 if question.kind == "written" else points))
        outcomes[_outcome(status, points, float(question.points))] += 1
    n = len(own)
    r = correlation(own, rest)
    return Item(
        question.name,
        question.asks,
        outcomes,
        statistics.fmean(own) / question.points if n and question.points else None,
        outcomes["full points"] / n if n else None,
        n,
        r,
        None if r is None else interval(r, n),
    )


def _outcome(status: str, points: float, possible: float) -> str:
    if points >= possible - 1e-9:
        return "full points"
    if points > 0:
        return "part of them"
    if status == "missing":
        return "no answer"
    return "stopped" if status in ("error", "timeout", "killed") else "none"


def misconceptions(grades: Sequence[Grade]) -> list[tuple[str, str, int]]:
    """Return question, misconception and how many show it, the most common first."""
    found = Counter(
        (part["name"], str(part["turn"]))
        for grade in grades
        for part in grade.result["questions"]
        if part.get("turn")
    )
    return [
        (question, misconception, many)
        for (question, misconception), many in sorted(
            found.items(), key=lambda pair: (-pair[1], pair[0])
        )
    ]


def statuses(grades: Sequence[Grade]) -> dict[str, int]:
    """Return how many submissions ended in each way.

    `not handed in` is separate, since it is no fault of the code.
    """
    found = Counter(
        grade.result["status"] if grade.handed_in else "not handed in" for grade in grades
    )
    known = (*STATUSES, "not handed in")
    return {
        status: found[status]
        for status in (*known, *sorted(set(found) - set(known)))
        if found[status]
    }
