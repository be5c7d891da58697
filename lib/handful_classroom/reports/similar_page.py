"""Write the report of similar submissions: pairs with shares and passages side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from handful.units import plural

from ..grading.watchdog import READING_SECONDS, OverlongError, within
from ..html_report import page, shown, table
from .similar import FEWEST, Found, Pair, Released, Side, sides, student_cells
from .tokens import K

if TYPE_CHECKING:
    from ..grading.submissions import Submission

SIDE_BY_SIDE = 60  # pairs; the table has more
MOST_LINES = 250  # of one side
MOST_LETTERS = 160  # of one line
MOST_NAMES = 30
STYLE = """
body { max-width: 80rem; } .sides { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; }
.sides > div { min-width: 0; }
.code { margin: .4rem 0 0; padding: .5rem 0; border: 1px solid var(--edge); border-radius: .4rem;
  overflow-x: auto; line-height: 1.45; overflow-wrap: normal; }
.code span { display: block; padding: 0 .6rem 0 .3rem; white-space: pre; min-width: max-content; }
.code b { display: inline-block; width: 1.8rem; text-align: right; margin-right: .7rem;
  color: var(--soft); font-weight: 400; }
.code .same { background: var(--mark); } .code .same b { color: var(--ink); font-weight: 700; }
section { margin-top: 2.2rem; } section h3 { margin-bottom: .2rem; }
@media (max-width: 45rem) { .sides { grid-template-columns: 1fr; } }
""".strip()


def texts(submissions: Iterable[Submission], found: Found, released: Released) -> dict[str, list]:
    """Return what the students of the first pairs wrote.

    This is a second reading, which keeps theirs and nobody else's.
    """
    wanted = {student for pair in found.pairs[:SIDE_BY_SIDE] for student in (pair.left, pair.right)}
    return (
        {
            one.student: student_cells(one.data, released)
            for one in submissions
            if one.student in wanted and one.data is not None
        }
        if wanted
        else {}
    )


def page_of(
    title: str,
    found: Found,
    released: Released,
    kept: Mapping[str, list],
    share: float,
    progress: Callable[[int], None] = lambda done: None,
) -> str:
    """Return the page; `kept` is what `texts` gave."""
    head = (
        f'<header><p class="note">Similar submissions</p><h1>{shown(title, 300)}</h1>\n'
        "<p><strong>Similarity is no proof.</strong>  Two who never spoke may write the same, "
        "most of all where the task leaves little "
        "choice, both learned from the same page, or worked together as they were told they may.  "
        "Read the passages, look at how "
        "unusual they are, and ask, before you conclude anything.</p></header>"
    )
    parts = [head, "<main>", _how(found, share), _groups(found), _pairs(found, share)]
    for number, pair in enumerate(found.pairs[:SIDE_BY_SIDE], 1):
        if pair.left in kept and pair.right in kept:
            try:
                with within(READING_SECONDS):
                    part = _side_by_side(
                        number,
                        pair,
                        *sides(kept[pair.left], kept[pair.right], released, found.common),
                    )
            except OverlongError as error:
                part = (
                    f'<section id="pair-{number}"><p>This pair is not shown: {error}.</p></section>'
                )
            parts.append(part)
        progress(number)
    parts.append("</main>")
    parts.append(
        "<footer><p>Names of students are in this file: keep it as you keep grades.</p></footer>"
    )
    return page(f"{title}: similar submissions", "\n".join(filter(None, parts)), STYLE)


def _how(found: Found, share: float) -> str:
    whose = "its" if found.short == 1 else "their"
    left_out = [
        f"{plural(found.short, 'submission')} with too little of {whose} own, beside what many "
        f"wrote (fewer than {FEWEST} runs)"
        if found.short
        else "",
        f"{found.nothing:,} where nothing was handed in" if found.nothing else "",
        f"{len(found.unread):,} that could not be read" if found.unread else "",
    ]
    missing = f"  Not compared: {'; '.join(filter(None, left_out))}." if any(left_out) else ""
    small = (
        "  In a class this small it cannot be told what everybody writes; expect right answers to "
        "resemble each other."
        if found.compared + found.short < 16
        else ""
    )
    return (
        f"<p>{plural(found.compared, 'submission')} {'was' if found.compared == 1 else 'were'} "
        f"compared, each with each.{missing}{small}</p>\n"
        "<details><summary>How it was compared</summary><p>Cells as they were released are taken "
        "out, and so are comments, docstrings "
        "and layout; names that a student may choose are alike.  Written answers count, word for "
        "word.  What is left is cut into runs "
        f"of {K} tokens within each cell, so that "
        "the order of cells does not count.  Runs of the released notebook are left out, and so "
        f"are {len(found.common):,} that more "
        "than an eighth of the class wrote, or more than a hundred: the task asks for those.  "
        "The share of a pair is how many of the "
        f"shorter one's remaining runs the other has too; pairs from {100 * share:.0f} % with at "
        f"least {FEWEST} runs in "
        "common are listed.</p></details>"
    )


def _groups(found: Found) -> str:
    if not found.groups:
        return ""

    def names(group) -> str:
        more = f" and {len(group) - MOST_NAMES:,} more" if len(group) > MOST_NAMES else ""
        return ", ".join(shown(name, 100) for name in group[:MOST_NAMES]) + more

    rows = [(f"{len(group):,}", names(group)) for group in found.groups[:100]]
    return (
        "<h2>The same throughout</h2>\n<p>Names, comments, layout and the order of cells aside, "
        "these handed in the same code and the same written answers.  "
        "Where a task has one obvious solution, that happens by itself.</p>\n"
        + table(("Students", "Who"), rows)
    )


def _pairs(found: Found, share: float) -> str:
    if not found.pairs:
        return (
            f"<h2>Pairs</h2>\n<p>No two submissions share {100 * share:.0f} % of what few "
            "others wrote.</p>"
        )
    rows = []
    for number, pair in enumerate(found.pairs, 1):
        name = f"{shown(pair.left, 100)} and {shown(pair.right, 100)}"
        rows.append(
            (
                f'<a href="#pair-{number}">{name}</a>' if number <= SIDE_BY_SIDE else name,
                f"{100 * pair.share:.0f} %",
                f"{100 * pair.left_share:.0f} %",
                f"{100 * pair.right_share:.0f} %",
                f"{pair.shared:,}",
            )
        )
    more = (
        f"<p>{found.more:,} more pairs are not listed; raise the share to see the strongest "
        "only.</p>"
        if found.more
        else ""
    )
    return (
        "<h2>Pairs</h2>\n"
        + table(
            ("Who", "Share of the shorter", "Of the first", "Of the second", "Runs in common"),
            rows,
            numbers=(1, 2, 3, 4),
        )
        + more
    )


def _side_by_side(number: int, pair: Pair, left: Side, right: Side) -> str:
    return (
        f'<section id="pair-{number}"><h3>{shown(pair.left, 100)} and {shown(pair.right, 100)}: '
        f"{100 * pair.share:.0f} %</h3>\n"
        '<p class="note">Marked is what both have and few others do; passages with the same '
        "number belong together.</p>\n"
        '<div class="sides">'
        f"<div>{_listing(pair.left, left)}</div>\n<div>{_listing(pair.right, right)}</div></div>"
        "</section>"
    )


def _listing(name: str, side: Side) -> str:
    lines = list(zip(side.lines, side.marks, strict=True))
    while lines and not lines[-1][0].strip():
        lines.pop()
    cut = (
        f'\n<p class="note">{len(lines) - MOST_LINES:,} more lines are not shown.</p>'
        if len(lines) > MOST_LINES
        else ""
    )
    plain, same = "<span>", '<span class="same">'
    body = "".join(
        f"{same if mark else plain}<b>{mark or ''}</b>{shown(line, MOST_LETTERS)}</span>"
        for line, mark in lines[:MOST_LINES]
    )
    return f'<h3>{shown(name, 100)}</h3><pre class="code" tabindex="0">{body}</pre>{cut}'
