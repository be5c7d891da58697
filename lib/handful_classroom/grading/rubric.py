"""Keep the table that the teacher grades in, and the sheets that show the answers.

The table has a row for each line of a rubric and each student.

A row is known by its id, a digest of student, question, line and answer.  Points that a teacher
filled in are never thrown away: where a student handed in another answer, or the rubric changed,
the old row stays at the foot of the table and counts no more.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby, islice
from operator import itemgetter
from pathlib import Path

from handful.units import plural

from .. import html_report, tables

NAME = "rubric.csv"
HEAD = ("student", "question", "line", "possible", "points", "comment", "answer", "id")
MOST_TOLD = 10  # wrong cells, in one message
A_SHEET = 100  # students on one sheet of answers


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a rubric for one student; `points` is None until the teacher has given some.

    `id` is that of its row.
    """

    student: str
    question: str
    text: str
    possible: float
    id: str
    points: float | None = None
    comment: str = ""


def _id(student: str, question: str, text: str, answer: str) -> str:
    """Return the id of a row.

    It begins with a letter, so that no spreadsheet takes it for a number.
    """
    parts = "\0".join((student, question, text, answer)).encode("utf-8", "surrogatepass")
    return "r" + hashlib.sha256(parts).hexdigest()[:15]


def rubric(question) -> list[tuple[float, str]]:
    """Return points and text of each line of a written question's rubric.

    A question without a rubric has a single line.
    """
    lines = [(float(one.points), one.text) for one in question.rubric]
    return lines or [(float(question.points), question.asks)]


def lines_to_fill(assignment, results: Iterable[Mapping]) -> list[Line]:
    """Return the lines that the teacher has to fill: by question, then by student."""
    rubrics = {
        name: rubric(question)
        for name, question in assignment.questions.items()
        if question.kind == "written"
    }
    found: dict[str, list[Line]] = {name: [] for name in rubrics}
    for result in results:
        student = result["student"]
        for name, answer in _answers(result):
            found.get(name, []).extend(
                Line(student, name, text, points, _id(student, name, text, answer))
                for points, text in rubrics.get(name, ())
            )
    return list(chain.from_iterable(found.values()))


def _answers(result: Mapping) -> Iterator[tuple[str, str]]:
    """Yield the question and the text of each answer that waits for the teacher."""
    for part in result["questions"]:
        if part["status"] == "waiting":
            yield part["name"], part.get("text") or ""


def read_table(path: Path) -> tuple[dict[str, dict[str, str]], list[str], str]:
    """Return the rows of the table by id, its columns and its delimiter.

    Where there is no table yet, there are no rows.
    """
    if not path.exists():
        return {}, list(HEAD), ","
    rows, columns, delimiter = tables.read(path, HEAD)
    found: dict[str, dict[str, str]] = {}
    for row in rows:
        other = found.setdefault(row["id"].strip(), row)
        if other is not row and other["points"].strip() != row["points"].strip():
            raise tables.TableError(
                f"{NAME}, rows {other['']} and {row['']}: they are the same line of "
                f"{row['student']} with different "
                f"points; keep one."
            )
    return found, columns, delimiter


def with_points(lines: Sequence[Line], found: dict[str, dict[str, str]]) -> list[Line]:
    """Return the lines with what the teacher filled in."""
    done, wrong = [], []
    for line in lines:
        if row := found.get(line.id):
            try:
                points = tables.points(row["points"], line.possible, f"{NAME}, row {row['']}")
            except tables.TableError as error:
                wrong.append(str(error))
                continue
            line = replace(line, points=points, comment=row["comment"].strip())
        done.append(line)
    if wrong:
        more = [f"{len(wrong) - MOST_TOLD} more cells are wrong."] * (len(wrong) > MOST_TOLD)
        raise tables.TableError("\n".join([*wrong[:MOST_TOLD], *more]))
    return done


def write(folder: Path, assignment, results: Iterable[Mapping]) -> tuple[list[Line], list[str]]:
    """Bring the table and the sheets of answers up to date; go through the results several times.

    Returns the lines, and sentences about what no longer counts.

    Raises
    ------
    TableError
        Where the teacher's table cannot be read; it is then left as it is.
    """
    path = folder / NAME
    found, columns, delimiter = read_table(path)
    lines = with_points(lines_to_fill(assignment, results), found)
    places = _places(lines)
    extra = [column for column in columns if column not in HEAD]
    now = {line.id for line in lines}
    kept = [
        row
        for name, row in found.items()
        if name not in now and (row["points"].strip() or row["comment"].strip())
    ]

    def rows() -> Iterator[list[str]]:
        for line in lines:
            old = found.get(line.id, {})
            yield [
                line.student,
                line.question,
                tables.one_line(line.text),
                html_report.number(line.possible),
                old.get("points", "").strip(),
                old.get("comment", "").strip(),
                places[line.question, line.student],
                line.id,
                *(old.get(column, "") for column in extra),
            ]
        for row in kept:
            yield [row.get(column, "") for column in (*HEAD, *extra)]

    if lines or kept or path.exists():
        tables.write_atomically(
            path, tables.as_csv((*HEAD, *extra), rows(), mark=True, delimiter=delimiter), sure=True
        )
    for name, html in _sheets(assignment, lines, places, results):
        tables.write_atomically(folder / name, html.encode())
    notes = []
    worth = [
        line
        for line in lines
        if line.points is not None
        and found[line.id]["possible"].strip() not in ("", html_report.number(line.possible))
    ]
    if worth:
        notes.append(
            f"{plural(len(worth), 'filled row')} of {NAME} {'was' if len(worth) == 1 else 'were'} "
            f"given when the line was worth other points than now, and count as they are: "
            f"{', '.join(sorted({f'{one.student} ({one.question})' for one in worth})[:5])}."
        )
    if kept:
        who = sorted({f"{row['student']} ({row['question']})" for row in kept})
        stand, counts = ("stands", "counts") if len(kept) == 1 else ("stand", "count")
        notes.append(
            f"{plural(len(kept), 'filled row')} of {NAME} {stand} at its foot and no "
            f"longer {counts}, since the answer or the rubric has changed: "
            f"{', '.join(who[:5])}{' …' if len(who) > 5 else ''}."
        )
    return lines, notes


def _places(lines: Sequence[Line]) -> dict[tuple[str, str], str]:
    """Return the sheet that shows each answer, by question and student."""
    places: dict[tuple[str, str], str] = {}
    seen: dict[str, int] = {}
    for line in lines:
        if (line.question, line.student) not in places:
            place = seen[line.question] = seen.get(line.question, -1) + 1
            name = f"written/{html_report.file_name(line.question)}-{place // A_SHEET + 1}.html"
            places[line.question, line.student] = f"{name}#{html_report.file_name(line.student)}"
    return places


def _sheets(
    assignment,
    lines: Sequence[Line],
    places: dict[tuple[str, str], str],
    results: Iterable[Mapping],
) -> Iterator[tuple[str, str]]:
    """Yield the names of the sheets of answers and their HTML.

    The students of a question stand one below the other.
    """
    asks = {name: question.asks for name, question in assignment.questions.items()}
    for question, numbered in groupby(enumerate(lines, 2), lambda pair: pair[1].question):
        of_student = groupby(numbered, lambda pair: pair[1].student)
        answers = groupby(_of_question(question, results), itemgetter(0))
        parts = (
            (student, next(texts)[1], list(rows))
            for (student, rows), (_, texts) in zip(of_student, answers, strict=True)
        )
        while shown := list(islice(parts, A_SHEET)):
            name = places[question, shown[0][0]].partition("#")[0]
            body = [
                f"<header><h1>{html_report.shown(question)}</h1>"
                f"<p>{html_report.shown(asks[question])}.  "
                f"{plural(len(shown), 'answer')}, students "
                f"{html_report.shown(shown[0][0], 80)} to "
                f"{html_report.shown(shown[-1][0], 80)}.</p>"
                f'<p class="note">Give points in the column points of {NAME}, where you may leave '
                "a comment too, and run the report "
                "again.</p></header>"
            ]
            body += [_answer(*part) for part in shown]
            yield name, html_report.page(f"{assignment.title}: {question}", "\n".join(body))


def _of_question(question: str, results: Iterable[Mapping]) -> Iterator[tuple[str, str]]:
    """Yield each student whose answer to a question waits, with its text."""
    for result in results:
        for name, answer in _answers(result):
            if name == question:
                yield result["student"], answer


def _answer(student: str, answer: str, rows: Sequence[tuple[int, Line]]) -> str:
    done = [
        (
            f"{row}",
            html_report.shown(line.text),
            html_report.number(line.possible),
            "" if line.points is None else html_report.number(line.points),
            html_report.shown(line.comment, 2000),
        )
        for row, line in rows
    ]
    return (
        f'<section class="card" id="{html_report.file_name(student)}">'
        f"<h3>{html_report.shown(student, 200)}</h3>\n"
        f'<div class="answer">{html_report.shown(answer)}</div>\n'
        + html_report.table(
            ("Row", "Worth points for", "Up to", "Given", "Comment"), done, numbers=(2, 3)
        )
        + "</section>"
    )
