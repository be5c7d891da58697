"""Print an assignment and its rubric for the teacher."""

from __future__ import annotations

from html import escape

from handful.units import plural
from handful_study import book
from handful_study.order import title
from handful_study.printing import html, page

from .assignment import Assignment, Question
from .notebooks import worth

ROOM = '<div class="problem"><div class="room"></div></div>'


def sheet(assignment: Assignment, solutions: bool = False) -> str:
    """Return the assignment as one HTML document for printing.

    With `solutions`, answers stand in their places.

    >>> from handful_classroom.release.assignment import assignments
    >>> made = sheet(assignments()["roofline"])
    >>> "Write the roofline" in made, "max(read" in made
    (True, False)
    """
    points = f"{assignment.points:g} points by program" + (
        f", {assignment.waiting:g} by your teacher" if assignment.waiting else ""
    )
    parts = [
        f'<div class="head"><span>{escape(book.TITLE)}</span><span>Name:</span><span>Date:</span>'
        "</div>",
        f'<p class="note">{escape(title(assignment.chapter))} · about {assignment.minutes} '
        f"minutes · {points}</p>",
    ]
    where = assignment.file
    for i, piece in enumerate(assignment.pieces):
        if piece.kind == "markdown":
            parts.append(html(piece.text, where))
        elif piece.kind == "code":
            cut = assignment.cuts[i]
            parts.append(
                f"<pre><code>{escape(cut.solution if solutions else cut.empty)}</code></pre>"
            )
        elif piece.kind == "model":
            parts.append(html(piece.text, where) if solutions else ROOM)
        else:
            parts.append(
                "<p "
                f'class="note"><strong>{escape(worth(assignment.questions[piece.name]))}</strong>'
                "</p>"
            )
    return page(
        assignment.title, '<article class="assignment">\n' + "\n".join(parts) + "\n</article>"
    )


def rubric(assignment: Assignment) -> str:
    """Return the rubric in Markdown: what the teacher grades by, and what the program checks.

    >>> from handful_classroom.release.assignment import assignments
    >>> "added-not-max" in rubric(assignments()["roofline"])
    True
    """
    lines = [
        f"# Rubric: {assignment.title}",
        "",
        f"{assignment.points:g} points are given by program, {assignment.waiting:g} by the "
        "teacher.  "
        f"Edition {assignment.edition} of `{assignment.name}`.",
        "",
        "## Read by the teacher",
    ]
    written = [one for one in assignment.questions.values() if one.kind == "written"]
    for question in written:
        lines += ["", f"### {question.name}: {worth(question)}", ""]
        lines += [f"- [ ] {plural(item.points, 'point')}: {item.text}" for item in question.rubric]
        lines += [
            "",
            "A model answer:",
            "",
            *(f"> {line}".rstrip() for line in question.model.splitlines()),
        ]
    if not written:
        lines += ["", "Nothing; every question is checked by program."]
    lines += ["", "## Checked by program"]
    for question in assignment.questions.values():
        if question.kind != "written":
            lines += ["", *_checked(question)]
    return "\n".join(lines) + "\n"


def _checked(question: Question) -> list[str]:
    how = {
        "value": f"a value, within {question.tolerance * 100:g} %",
        "expression": "a formula, compared by value",
        "judged": "judged: many answers are right",
        "function": f"a function: {plural(len(question.visible), 'call')} that students see, "
        f"{question.count} that they do not",
    }[question.kind]
    lines = [f"### {question.name}: {worth(question)}", "", f"{how[0].upper()}{how[1:]}."]
    if question.wrong:
        lines += [
            "",
            "| known mistake | points | what the student is told |",
            "| --- | ---: | --- |",
        ]
        lines += [
            f"| {one.id} | {one.score:g} | "
            f"{' '.join(one.says.split()).replace('|', chr(92) + '|')} |"
            for one in question.wrong.values()
        ]
    return lines
