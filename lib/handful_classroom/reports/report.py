"""Write the report of a class: one self-contained page with pictures.

Each picture has its table and its text.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path

from handful.units import plural

from .. import tables
from ..grading.hand_edited import Passing
from ..grading.student_grade import Grade
from ..html_report import SVG_STYLE, file_name, number, page, shown, table
from . import figures, stats
from .feedback import misconception_says
from .stats import (
    FEWEST,
    LOW,
    OUTCOMES,
    Item,
    bins,
    items,
    misconceptions,
    quartiles,
    scores,
    statuses,
    step,
)

MOST_ROWS = 200  # of a table that grows with the class
MOST_BARS = 12
MEANING = {
    "ok": "every checked answer is right",
    "wrong": "an answer came back wrong",
    "missing": "an answer is missing",
    "error": "code stopped with an error",
    "timeout": "code took too long and was stopped",
    "killed": "code went beyond its limits and was ended",
    "ungradable": "the file could not be read as a notebook",
    "not handed in": "nothing came",
}
DISCRIMINATION = (
    "A question tells students apart when those who do well elsewhere do well on it.  The "
    "number is Pearson's correlation between "
    "a question's points and the points of all other checks of the same student, over "
    "everybody graded (the corrected item-total "
    "correlation); the interval is 95 %, by Fisher's transformation.  "
    f"Below {FEWEST} students it says nothing: with {FEWEST}, chance alone reaches ±0.44."
)
STYLE = (
    SVG_STYLE + "\nfigure svg { max-width: 34rem; } .flag { color: var(--bad); font-weight: 600; }"
)


def write(folder: Path, assignment, grades: Sequence[Grade], notes: Sequence[str] = ()) -> Path:
    """Write report.html and return its path; the same grades give the same bytes.

    Parameters
    ----------
    folder : Path
        Where results/ is; the feedback pages are linked from there.
    assignment
        The assignment that was graded.
    grades : sequence of Grade
        One for each student.
    notes : sequence of str, optional
        Sentences that a reader of the grades should know, shown at the top.
    """
    path = folder / "report.html"
    lasting = [note for note in notes if not isinstance(note, Passing)]
    tables.write_atomically(path, class_page(assignment, grades, lasting).encode())
    return path


def class_page(assignment, grades: Sequence[Grade], notes: Sequence[str] = ()) -> str:
    """Return the report as HTML."""
    found = items(assignment, grades)
    head = (
        f'<header><p class="note">Class report</p><h1>{shown(assignment.title, 300)}</h1></header>'
    )
    said = "".join(f'<div class="card wait"><p>{shown(note, 2000)}</p></div>' for note in notes)
    if not grades:
        parts = ["<p>There are no submissions yet.</p>"]
    else:
        parts = [
            _tiles(grades),
            said,
            _scores(grades),
            _questions(found),
            _misconceptions(assignment, grades),
            _discrimination(found),
            _statuses(grades),
            _looks(grades),
            _notices(grades),
        ]
    edition = ", ".join(sorted({str(grade.result["edition"]) for grade in grades})[:5])
    library = ", ".join(sorted({str(grade.result["library"]) for grade in grades})[:5])
    made = f", handful {shown(library)}" if library else ""
    foot = (
        f"<footer><p>Assignment {shown(assignment.name)}, edition "
        f"{shown(edition or assignment.edition)}{made}.  "
        "Names of students are in this file: keep it as you keep grades.</p></footer>"
    )
    return page(
        f"{assignment.title}: class report",
        "\n".join([head, "<main>", *filter(None, parts), "</main>", foot]),
        STYLE,
    )


def percent(share: float) -> str:
    """Return a share as a percentage.

    >>> percent(0.256), percent(1)
    ('26 %', '100 %')
    """
    return f"{100 * share:.0f} %"


def _tiles(grades: Sequence[Grade]) -> str:
    points, possible, _ = scores(grades)
    tiles = [(f"{len(grades):,}", "students"), (f"{len(points):,}", "graded")]
    if points:
        full = sum(value >= possible for value in points)
        tiles += [
            (number(statistics.median(points)), f"median of {number(possible)} points"),
            (number(statistics.fmean(points)), "mean"),
            (f"{full:,}", "with full points"),
        ]
    waits = sum(grade.graded and not grade.final for grade in grades)
    if waits:
        tiles.append((f"{waits:,}", "wait for points by rubric"))
    return (
        '<div class="tiles">'
        + "".join(
            f'<div class="tile"><b>{value}</b><span>{label}</span></div>' for value, label in tiles
        )
        + "</div>"
    )


def _section(name: str, text: str, *parts: str) -> str:
    return (
        f"<section>\n<h2>{name}</h2>\n<p>{text}</p>\n"
        + "\n".join(filter(None, parts))
        + "\n</section>"
    )


def _details(what: str, inside: str) -> str:
    return f"<details><summary>{what}</summary>\n{inside}\n</details>"


# The sections -------------------------------------------------------------------------------------


def _scores(grades: Sequence[Grade]) -> str:
    points, possible, whole = scores(grades)
    if not points:
        return _section("Scores", "Nothing could be graded yet.")
    width = step(possible)
    found = bins(points, possible, width)
    what = (
        "checks and rubric"
        if whole
        else "the checks alone; the rubric's points count here once all have been given"
    )
    low, median, high = quartiles(points)
    says = (
        f"Points of {plural(len(points), 'student')}, from {what}: half lie between {number(low)} "
        f"and {number(high)} "
        f"of {number(possible)}, the median is {number(median)}."
    )
    caption = f"Students by points; a bar is {number(width)} wide."
    rows = [
        (
            f"{number(width * i)} to "
            f"{number(possible) if i == len(found) - 1 else 'below ' + number(width * (i + 1))}",
            f"{many:,}",
            percent(many / len(points)),
        )
        for i, many in enumerate(found)
    ]
    return _section(
        "Scores",
        says,
        figures.scores(found, width, median, possible, says, caption),
        _details(
            "The same as a table", table(("Points", "Students", "Share"), rows, numbers=(1, 2))
        ),
    )


def _questions(found: Sequence[Item]) -> str:
    done = [(item, item.mean) for item in found if item.mean is not None]
    if not done:
        return ""
    hardest, least = min(done, key=lambda pair: pair[1])
    says = f"Hardest was {hardest.name}: the class got {percent(least)} of its points on average."
    key = " ".join(
        '<span class="key"><svg viewBox="0 0 10 10" aria-hidden="true">'
        f'<rect width="10" height="10" fill="{colour}"/></svg> '
        f"{outcome}</span>"
        for outcome, colour in figures.COLOURS.items()
    )
    rows = [
        (
            f"<code>{shown(item.name)}</code>",
            shown(item.asks, 300),
            f"{item.n:,}",
            "" if item.mean is None else percent(item.mean),
            *(f"{item.outcomes[outcome]:,}" for outcome in OUTCOMES),
        )
        for item in found
    ]
    heads = ("Question", "Asks for", "Students", "Mean", *map(str.capitalize, OUTCOMES))
    return _section(
        "Questions",
        shown(says),
        figures.questions(
            done,
            says + "  The table below has every number.",
            "Students by what they got for each question, before changes by hand; on the right "
            "the mean share of its points.",
        ),
        f'<p class="note">{key}</p>',
        _details("The same as a table", table(heads, rows, numbers=range(2, len(heads)))),
    )


def _misconceptions(assignment, grades: Sequence[Grade]) -> str:
    found = misconceptions(grades)
    graded = len(stats.graded(grades))
    if not found:
        return _section("Misconceptions", "Nobody shows a misconception that the assignment knows.")
    says = _misconceptions_say(grades, found, graded)
    rows = [
        (
            f'{shown(misconception, 100)}<br><code class="note">{shown(question, 100)}</code>',
            shown(misconception_says(assignment, question, misconception), 500),
            f"{many:,}",
            percent(many / graded) if graded else "",
        )
        for question, misconception, many in found[:MOST_ROWS]
    ]
    return _section(
        "Misconceptions",
        shown(says),
        figures.misconceptions(
            found[:MOST_BARS],
            says + "  The table below has them all.",
            "The most common misconceptions, by name.",
        ),
        table(
            ("Misconception", "What its author is told", "Students", "Share"), rows, numbers=(2, 3)
        ),
    )


def _misconceptions_say(
    grades: Sequence[Grade], found: Sequence[tuple[str, str, int]], graded: int
) -> str:
    """Return how many show any misconception, and which is the most common."""
    who = len(
        {
            grade.student
            for grade in grades
            if any(part.get("turn") for part in grade.result["questions"])
        }
    )
    question, misconception, many = found[0]
    most = (
        f"the most common is {misconception} in {question}, shown by {many:,}."
        if many > 1
        else "none is shown by more than one."
    )
    return (
        f"{who:,} of {plural(graded, 'student')} show a misconception that the assignment knows; "
        f"{most}"
    )


def _discrimination(found: Sequence[Item]) -> str:
    n = max((item.n for item in found), default=0)
    if n < FEWEST:
        return _section(
            "Questions that tell students apart", f"{DISCRIMINATION}  This class has {n}."
        )
    drawn = [item for item in found if item.discrimination is not None and item.n >= FEWEST]
    low = [item.name for item in found if item.near_zero]
    says = (
        f"Near zero (below {LOW}): {', '.join(low)}."
        if low
        else f"No question that some got and some did not lies near zero (below {LOW})."
    )
    rows = [
        (
            f"<code>{shown(item.name)}</code>",
            f"{item.n:,}",
            "" if item.discrimination is None else f"{item.discrimination:.2f}",
            "" if item.interval is None else f"{item.interval[0]:.2f} to {item.interval[1]:.2f}",
            f'<span class="flag">{item.verdict}</span>' if item.near_zero else item.verdict,
        )
        for item in found
    ]
    caption = (
        "Correlation of each question with the rest, with its 95 % interval; grey is near zero."
    )
    return _section(
        "Questions that tell students apart",
        DISCRIMINATION,
        f"<p><strong>{shown(says)}</strong></p>",
        figures.discrimination(drawn, says + "  The table below has every number.", caption)
        if drawn
        else "",
        table(("Question", "Students", "Correlation", "95 %", ""), rows, numbers=(1, 2, 3)),
    )


def _statuses(grades: Sequence[Grade]) -> str:
    rows = [
        (status, f"{many:,}", percent(many / len(grades)), shown(MEANING.get(status, "")))
        for status, many in statuses(grades).items()
    ]
    return _section(
        "How submissions ended",
        "Each ends in the first of these that applies, from the bottom up; a written answer that "
        "waits "
        "for the teacher does not count.",
        table(("Status", "Students", "Share", "It means that"), rows, numbers=(1, 2)),
    )


def _linked(grade: Grade) -> str:
    return f'<a href="feedback/{file_name(grade.student)}.html">{shown(grade.student, 200)}</a>'


def _looks(grades: Sequence[Grade]) -> str:
    odd = [
        grade
        for grade in grades
        if grade.handed_in and grade.result["status"] in ("ungradable", "killed", "timeout")
    ]
    if not odd:
        return ""
    rows = [
        (_linked(grade), grade.result["status"], shown(grade.says, 500))
        for grade in odd[:MOST_ROWS]
    ]
    more = f"  The first {MOST_ROWS} are shown; grades.csv has all." if len(odd) > MOST_ROWS else ""
    return _section(
        "Worth a look",
        f"{plural(len(odd), 'submission')} could not be graded, or had to be stopped.{more}",
        table(("Student", "Status", "What happened"), rows),
    )


def _notices(grades: Sequence[Grade]) -> str:
    told = [grade for grade in grades if grade.notices]
    if not told:
        return _section(
            "Notices", "None: no id was claimed twice, and every notebook was its submitter's own."
        )
    rows = [
        (_linked(grade), "<br>".join(shown(text, 500) for text in grade.notices))
        for grade in told[:MOST_ROWS]
    ]
    more = (
        f"  The first {MOST_ROWS} are shown; grades.csv has all." if len(told) > MOST_ROWS else ""
    )
    return _section(
        "Notices",
        f"{plural(len(told), 'submission')} came with something that you should know, such as an "
        f"id that two claim.{more}",
        table(("Student", "Notice"), rows),
    )
