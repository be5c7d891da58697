"""Write the report of a class: one self-contained page with pictures.

Each picture has its table and its text.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from handful.units import plural

from .. import tables
from ..grading.grades import Grade
from ..html_report import SVG_STYLE, file_name, number, page, shown, table
from .feedback import turn_says
from .stats import FEWEST, LOW, OUTCOMES, Item, bins, items, quantile, scores, statuses, step, turns

MOST_ROWS = 200  # of a table that grows with the class
MOST_BARS = 12
WIDE = 5.2  # inches: text stays readable on a phone
COLOURS = ("#0a401e", "#0068a8", "#b04456", "#57606a", "#943b71")  # of OUTCOMES, in order
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
    tables.keep(path, class_page(assignment, grades, notes).encode())
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
            _turns(assignment, grades),
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
            (number(quantile(points, 0.5)), f"median of {number(possible)} points"),
            (number(sum(points) / len(points)), "mean"),
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


def _figure(draw, name: str, tall: float, says: str, caption: str = "") -> str:
    """Return a picture with its text alternative; `draw` gets matplotlib's axes."""
    from matplotlib.figure import Figure

    from handful_explorers.plotting.figure import as_svg, quiet_axes

    def made():
        figure = Figure(figsize=(WIDE, tall), layout=None)
        draw(quiet_axes(figure, (0, 0, 1, 1), 10))
        return figure

    svg = as_svg(made, name).replace(
        'aria-hidden="true"', f'role="img" aria-label="{shown(says, 2000)}"', 1
    )
    return f"<figure>{svg}<figcaption>{caption or says}</figcaption></figure>"


def _place(
    axes, left: float, bottom: float, tall: float, top: float = 0.1, right: float = 0.12
) -> None:
    """Set the margins around the axes, in inches."""
    axes.set_position(
        (left / WIDE, bottom / tall, 1 - (left + right) / WIDE, 1 - (bottom + top) / tall)
    )


def _details(what: str, inside: str) -> str:
    return f"<details><summary>{what}</summary>\n{inside}\n</details>"


# The sections -------------------------------------------------------------------------------------


def _scores(grades: Sequence[Grade]) -> str:
    points, possible, whole = scores(grades)
    if not points:
        return _section("Scores", "Nothing could be graded yet.")
    wide = step(possible)
    found = bins(points, possible, wide)
    what = (
        "checks and rubric"
        if whole
        else "the checks alone; the rubric's points count here once all have been given"
    )
    low, middle, high = (number(quantile(points, share)) for share in (0.25, 0.5, 0.75))
    says = (
        f"Points of {plural(len(points), 'student')}, from {what}: half lie between {low} and "
        f"{high} "
        f"of {number(possible)}, the median is {middle}."
    )
    tall = 2.4

    def draw(axes) -> None:
        from handful_explorers.plotting.figure import INK, PALETTE, SOFT

        _place(axes, 0.55, 0.5, tall, top=0.3)
        axes.bar(
            [wide * (i + 0.5) for i in range(len(found))],
            found,
            width=wide * 0.9,
            color=PALETTE[0],
            linewidth=0,
        )
        axes.set_xlim(0, wide * len(found))
        axes.set_ylim(0, max(found) * 1.1)
        axes.grid(False, axis="x")
        shown_ticks = [wide * i for i in range(0, len(found) + 1, 2 if len(found) > 8 else 1)]
        axes.set_xticks(shown_ticks, [f"{tick:.1f}".removesuffix(".0") for tick in shown_ticks])
        axes.yaxis.get_major_locator().set_params(integer=True, nbins=5)
        axes.set_xlabel("points", color=INK, fontsize=10.5)
        axes.set_ylabel("students", color=INK, fontsize=10.5)
        middle = quantile(points, 0.5)
        axes.axvline(middle, color=SOFT, linewidth=1.2, dashes=(3, 3))
        axes.annotate(
            "median",
            (middle, 1),
            xycoords=("data", "axes fraction"),
            xytext=(0, 3),
            textcoords="offset points",
            color=SOFT,
            fontsize=10,
            ha="right"
            if middle > 0.8 * possible
            else "left"
            if middle < 0.2 * possible
            else "center",
        )

    rows = [
        (
            f"{number(wide * i)} to "
            f"{number(possible) if i == len(found) - 1 else 'below ' + number(wide * (i + 1))}",
            f"{many:,}",
            percent(many / len(points)),
        )
        for i, many in enumerate(found)
    ]
    return _section(
        "Scores",
        says,
        _figure(draw, "scores", tall, says, f"Students by points; a bar is {number(wide)} wide."),
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
    tall = 0.75 + 0.42 * len(done)

    def draw(axes) -> None:
        _place(axes, 1.7, 0.5, tall, top=0.25, right=0.5)
        for row, (item, mean) in enumerate(done):
            left = 0.0
            for outcome, colour in zip(OUTCOMES, COLOURS, strict=True):
                wide = item.outcomes[outcome] / item.n
                axes.barh(row, wide, left=left, height=0.62, color=colour, linewidth=0)
                left += wide
            axes.annotate(
                percent(mean),
                (1, row),
                xytext=(5, 0),
                textcoords="offset points",
                va="center",
                fontsize=10,
                color="#1f2328",
                annotation_clip=False,
            )
        axes.annotate(
            "mean",
            (1, -0.5),
            xytext=(5, 3),
            textcoords="offset points",
            fontsize=10,
            color="#57606a",
            annotation_clip=False,
        )
        _names(axes, [_short(item.name, 20) for item, _ in done])
        axes.set_xlim(0, 1)
        axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25 %", "50 %", "75 %", "100 %"])
        axes.set_xlabel("share of the students", color="#1f2328", fontsize=10.5)
        axes.grid(False, axis="y")

    key = " ".join(
        '<span class="key"><svg viewBox="0 0 10 10" aria-hidden="true">'
        f'<rect width="10" height="10" fill="{colour}"/></svg> '
        f"{outcome}</span>"
        for outcome, colour in zip(OUTCOMES, COLOURS, strict=True)
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
    picture = _figure(
        draw,
        "questions",
        tall,
        says + "  The table below has every number.",
        "Students by what they got for each question; on the right the mean share of its points.",
    )
    heads = ("Question", "Asks for", "Students", "Mean", *map(str.capitalize, OUTCOMES))
    return _section(
        "Questions",
        shown(says),
        picture,
        f'<p class="note">{key}</p>',
        _details("The same as a table", table(heads, rows, numbers=range(2, len(heads)))),
    )


def _names(axes, names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), names, fontsize=10, color="#1f2328", parse_math=False)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(names) - 0.5, -0.5)


def _short(name: str, most: int) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"


def _turns(assignment, grades: Sequence[Grade]) -> str:
    found = turns(grades)
    graded = sum(grade.graded for grade in grades)
    if not found:
        return _section("Wrong turns", "No wrong turn that the assignment knows was taken.")
    most = found[:MOST_BARS]
    took = len(
        {
            grade.student
            for grade in grades
            if any(part.get("turn") for part in grade.result["questions"])
        }
    )
    says = f"{took:,} of {plural(graded, 'student')} took a wrong turn that the assignment knows; "
    question, turn, many = most[0]
    says += (
        f"the most common is {turn} in {question}, taken by {many:,}."
        if many > 1
        else "none was taken by more than one."
    )
    tall = 0.75 + 0.5 * len(most)

    def draw(axes) -> None:
        _place(axes, 2.1, 0.5, tall, top=0.1, right=0.4)
        axes.barh(
            range(len(most)),
            [many for _, _, many in most],
            height=0.62,
            color="#b04456",
            linewidth=0,
        )
        for row, (_, _, many) in enumerate(most):
            axes.annotate(
                f"{many}",
                (many, row),
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
                fontsize=10,
                color="#1f2328",
            )
        _names(axes, [f"{_short(turn, 26)}\n{_short(question, 26)}" for question, turn, _ in most])
        axes.set_xlim(0, max(many for _, _, many in most) * 1.08)
        axes.xaxis.get_major_locator().set_params(integer=True, nbins=5)
        axes.set_xlabel("students", color="#1f2328", fontsize=10.5)
        axes.grid(False, axis="y")

    rows = [
        (
            f'{shown(turn, 100)}<br><code class="note">{shown(question, 100)}</code>',
            shown(turn_says(assignment, question, turn), 500),
            f"{many:,}",
            percent(many / graded) if graded else "",
        )
        for question, turn, many in found[:MOST_ROWS]
    ]
    return _section(
        "Wrong turns",
        shown(says),
        _figure(
            draw,
            "turns",
            tall,
            says + "  The table below has them all.",
            "The most common wrong turns, by name.",
        ),
        table(("Wrong turn", "What its author is told", "Students", "Share"), rows, numbers=(2, 3)),
    )


def _discrimination(found: Sequence[Item]) -> str:
    n = max((item.n for item in found), default=0)
    how = (
        "A question tells students apart when those who do well elsewhere do well on it.  The "
        "number is Pearson's correlation between "
        "a question's points and the points of all other checks of the same student, over "
        "everybody graded (the corrected item-total "
        f"correlation); the interval is 95 %, by Fisher's transformation.  "
        f"Below {FEWEST} students it says nothing: over {FEWEST}, chance alone reaches ±0.44."
    )
    drawn = [item for item in found if item.discrimination is not None and item.n >= FEWEST]
    low = [item.name for item in found if item.near_zero]
    if n < FEWEST:
        return _section("Questions that tell students apart", f"{how}  This class has {n}.")
    says = (
        f"Near zero (below {LOW}): {', '.join(low)}."
        if low
        else f"No question lies near zero (below {LOW})."
    )
    tall = 0.75 + 0.38 * max(len(drawn), 1)

    def draw(axes) -> None:
        _place(axes, 1.7, 0.5, tall, top=0.1, right=0.25)
        axes.axvline(0, color="#57606a", linewidth=1)
        axes.axvspan(-LOW, LOW, color="#57606a", alpha=0.12, linewidth=0)
        for row, item in enumerate(drawn):
            colour = "#b04456" if item.near_zero else "#0068a8"
            axes.plot(item.interval, (row, row), color=colour, linewidth=1.6)
            axes.plot(
                [item.discrimination],
                [row],
                "D" if item.near_zero else "o",
                color=colour,
                markersize=5.5,
            )
        _names(axes, [_short(item.name, 20) for item in drawn])
        lowest = min((item.interval[0] for item in drawn if item.interval), default=0)
        axes.set_xlim(-1 if lowest < -0.5 else -0.5, 1)
        axes.set_xlabel("correlation with the other questions", color="#1f2328", fontsize=10.5)
        axes.grid(False, axis="y")

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
    picture = (
        _figure(
            draw,
            "apart",
            tall,
            says + "  The table below has every number.",
            "Correlation of each question with the rest, with its 95 % interval; grey is near "
            "zero.",
        )
        if drawn
        else ""
    )
    return _section(
        "Questions that tell students apart",
        how,
        f"<p><strong>{shown(says)}</strong></p>",
        picture,
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
    told = [grade for grade in grades if grade.result["notices"]]
    if not told:
        return _section(
            "Notices", "None: no id was claimed twice, and every notebook was its submitter's own."
        )
    rows = [
        (_linked(grade), "<br>".join(shown(text, 500) for text in grade.result["notices"]))
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
