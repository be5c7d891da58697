"""The teacher's pages in Sphinx: course and assignment tables, counts, and example checks.

``{course} NAME`` and ``{assignments}`` are tables, ``{count}`` is a number of things, and
``{checked}`` is what a student's check says.

They depend on other files, so a page that uses them is out of date when its tables or numbers
change.
"""

from __future__ import annotations

import hashlib

from docutils import nodes
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective, SphinxRole

from handful.symbolic.quantity import title_of
from handful_study.cards import Card
from handful_study.order import title
from handful_study.problem_model import Problem
from handful_study.source import SourceError

from . import teaching
from .sphinx_exercises import exercise_part, made, said


def link(page: str, text: str, anchor: str = "") -> nodes.reference:
    """Return a link to another page, whose address `sphinx_exercises.link_sections` resolves."""
    return nodes.reference("", "", nodes.Text(text), internal=True, exercise=(page, anchor))


def line(*pieces) -> exercise_part:
    """Return a paragraph of texts and nodes."""
    return said(
        "p", "", *(nodes.Text(piece) if isinstance(piece, str) else piece for piece in pieces)
    )


def table(head: list[str], rows: list[list[list[nodes.Node]]]) -> exercise_part:
    """Return a table of rows of cells, each a list of nodes.

    On a narrow screen each cell goes under its column's name.
    """

    def row(cells) -> exercise_part:
        return made(
            "tr",
            "",
            *(
                made(
                    "th" if i == 0 else "td",
                    "",
                    *cell,
                    data={"scope": "row"} if i == 0 else {"data-head": head[i]} if cell else {},
                )
                for i, cell in enumerate(cells)
            ),
        )

    heads = made("tr", "", *(said("th", "", text=text) for text in head))
    return made(
        "div",
        "plain-table teaching-table",
        made("table", "", made("thead", "", heads), made("tbody", "", *map(row, rows))),
    )


class CountRole(SphinxRole):
    """The role ``{count}``: the number of things of a kind."""

    def run(self):
        """Return the number, or an error with the line."""
        try:
            watched(self.env).setdefault(self.env.docname, "")
            return [nodes.Text(teaching.count(self.text.strip()))], []
        except teaching.TeachingError as error:
            message = self.inliner.reporter.error(str(error), line=self.lineno)
            return [self.inliner.problematic(self.rawtext, self.rawtext, message)], [message]


class CourseDirective(SphinxDirective):
    """The directive ``{course} NAME``: the table of a course."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the table of the course, and the sums below it."""
        watched(self.env).setdefault(self.env.docname, "")
        try:
            course = teaching.course(self.arguments[0])
        except teaching.TeachingError as error:
            raise self.error(str(error)) from None
        return [
            table(*(self.day(course) if course.unit == "hour" else self.weeks(course))),
            self.sum(course),
        ]

    def day(self, course: teaching.Course):
        """Return the column heads and rows of a course of one day."""
        rows = []
        for one in course.sessions:
            pages = (
                [line("Page: ", *joined(link(page, teaching.pages()[page]) for page in one.pages))]
                if one.pages
                else []
            )
            todo = [line(one.says)] if one.says else []
            todo += (
                [line("Problems: ", *joined(problem_link(p) for p in one.problems))]
                if one.problems
                else []
            )
            todo += (
                [line("Assignment: ", *joined(assignment_link(a) for a in one.assignments))]
                if one.assignments
                else []
            )
            starts = "" if one.starts is None else f"{teaching.clock(one.starts)} "
            rows.append(
                [
                    [line(f"{starts}{one.title}")],
                    [*pages, *map(shown, one.show)],
                    todo,
                    [line(f"{one.minutes}\N{NO-BREAK SPACE}min")],
                ]
            )
        return ["Hour", "Show", "Do", "Time"], rows

    def weeks(self, course: teaching.Course):
        """Return the column heads and rows of a course of several weeks."""
        rows = []
        for number, one in enumerate(course.sessions, 1):
            read = [line(link(page, teaching.pages()[page])) for page in one.pages]
            practise = (
                [
                    line(
                        link(
                            "practice", f"{len(one.problems)} problems", f"practice-{one.pages[0]}"
                        )
                    ),
                    line(link("review", f"{one.cards} cards", f"review-{one.pages[0]}")),
                ]
                if one.problems
                else []
            )
            home = [line(assignment_link(a), f", {a.minutes} min") for a in one.assignments]
            rows.append(
                [
                    [
                        line(f"{number} {one.title}"),
                        said("p", "teaching-note", text=f"{one.minutes} min in class"),
                    ],
                    read,
                    [*map(shown, one.show)],
                    practise,
                    home,
                ]
            )
        return ["Week", "Read before", "Show in class", "Practise", "Assignment"], rows

    def sum(self, course: teaching.Course) -> nodes.Node:
        """Return the sentence with the hours and points of a course."""
        inside = sum(one.minutes for one in course.sessions)
        home = [a for one in course.sessions for a in one.assignments]
        text = f"Together: {teaching.hours(inside)} in class"
        if course.unit == "week" and home:
            asked = {p.id for one in course.sessions for p in one.problems}
            text += (
                f", {teaching.hours(sum(a.minutes for a in home))} on assignments "
                f"({sum(map(every, home)):g} points), "
                f"and {len(asked)} problems to choose from"
            )
        elif home:
            text += f", breaks among them, and {sum(map(every, home)):g} points to be earned"
        return nodes.paragraph("", "", nodes.Text(text + "."))


def every(assignment) -> float:
    """Return all points of an assignment, the grader's and the teacher's."""
    return assignment.points + assignment.waiting


def joined(pieces) -> list[nodes.Node]:
    """Return nodes with commas between them."""
    found: list[nodes.Node] = []
    for piece in pieces:
        found += [nodes.Text(", ")] if found else []
        found.append(piece)
    return found


def shown(one: teaching.Shown) -> nodes.Node:
    """Return a line with a link to an explorer."""
    return line(link(one.page, one.title, one.anchor))


def problem_link(one) -> nodes.reference:
    """Return a link to a problem."""
    return link("practice", title_of(one.id), f"problem-{one.id}")


def assignment_link(one) -> nodes.reference:
    """Return a link to an assignment."""
    return link("assignments", one.title, f"assignment-{one.name}")


class AssignmentsDirective(SphinxDirective):
    """The directive ``{assignments}``: the table of all assignments.

    A row has its name, minutes and points; its page and what the questions ask are folded below.
    """

    def run(self) -> list[nodes.Node]:
        """Return the table of all assignments, and the fold with their questions."""
        watched(self.env).setdefault(self.env.docname, "")
        rows: list[list[list[nodes.Node]]] = []
        asked: list[list[list[nodes.Node]]] = []
        for one in teaching.assignments().values():
            points = f"{every(one):g}" + (f", {one.waiting:g} by rubric" if one.waiting else "")
            points = points.replace(" ", "\N{NO-BREAK SPACE}")
            head = made("div", "", line(one.title), ids=[f"assignment-{one.name}"])
            rows.append(
                [
                    [head],
                    [line(nodes.literal("", one.name))],
                    [line(f"{one.minutes}\N{NO-BREAK SPACE}min")],
                    [line(points)],
                ]
            )
            asks = " · ".join(
                f"{question.asks} ({question.points:g})" for question in one.questions.values()
            )
            questions = made("div", "", line(asks), ids=[f"questions-{one.name}"])
            page = said("p", "teaching-note", link(one.chapter, teaching.pages()[one.chapter]))
            asked.append([[line(one.title), page], [questions]])
        return [
            table(["Assignment", "Name", "Time", "Points"], rows),
            made(
                "details",
                "fold",
                said(
                    "summary", text="The questions with their points, and the page to read before"
                ),
                table(["Assignment", "Questions"], asked),
            ),
        ]


class CheckedDirective(SphinxDirective):
    """The directive ``{checked} ASSIGNMENT QUESTION MISCONCEPTION STUDENT``.

    It shows what that student's notebook says to that misconception.
    """

    required_arguments = 4

    def run(self) -> list[nodes.Node]:
        """Return the output of the check as a literal block."""
        watched(self.env).setdefault(self.env.docname, "")
        try:
            said = teaching.checked(*self.arguments)
        except KeyError as error:
            raise self.error(
                f"There is no {error} among the assignments, their questions or their "
                "misconceptions."
            ) from None
        return [nodes.literal_block(said, said, language="text")]


# When a page is out of date


def watched(env) -> dict[str, str]:
    """Return, for each page, the digest of the sources of its tables and numbers."""
    if not hasattr(env, "handful_teaching"):
        env.handful_teaching = {}
    return env.handful_teaching


def digest() -> str:
    """Return the hash of the sources of all tables and numbers."""
    exercises: list[Card | Problem] = [*teaching.cards().values(), *teaching.problems().values()]
    texts = [
        str(len(teaching.explorers())),
        repr(list(teaching.pages().items())),
        teaching.COURSES.read_text("utf-8"),
        *(f"{one.id} {title(one.chapter)}" for one in exercises),
        *(f"{one.name} {one.edition}" for one in teaching.assignments().values()),
    ]
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def outdated(app, env, added, changed, removed) -> list[str]:
    """Return the pages whose tables or numbers have changed."""
    now = digest()
    return [page for page, was in watched(env).items() if was != now and page in env.found_docs]


def remember(app, env) -> None:
    """Note the present digest for the pages that were read."""
    now = digest()
    for page in watched(env):
        watched(env)[page] = now


def purge(app, env, docname: str) -> None:
    """Forget the digest of a page."""
    watched(env).pop(docname, None)


def merge(app, env, docnames, other) -> None:
    """Take over the digests of another process's pages."""
    watched(env).update({name: entry for name, entry in watched(other).items() if name in docnames})


def check(app) -> None:
    """Stop the build with one sentence where a source file cannot be read."""
    try:
        teaching.assignments()
    except (SourceError, ValueError) as error:
        raise ExtensionError(str(error)) from None


def setup(app):
    """Register the role, the directives and the handlers."""
    app.add_role("count", CountRole())
    app.add_directive("course", CourseDirective)
    app.add_directive("assignments", AssignmentsDirective)
    app.add_directive("checked", CheckedDirective)
    app.connect("builder-inited", check)
    app.connect("env-get-outdated", outdated)
    app.connect("env-updated", remember)
    app.connect("env-purge-doc", purge)
    app.connect("env-merge-info", merge)
    return {
        "version": "1",
        "env_version": 1,
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
