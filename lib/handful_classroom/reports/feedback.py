"""Write a feedback page for each student, question by question.

A page says what is right, what came back wrong, and what waits for the teacher.

It holds what a result holds and nothing more: no hidden input and no expected value is in either.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from handful.units import plural

from .. import tables
from ..grading import class_lists
from ..grading.student_grade import UNTOUCHED, Grade, most, question_points
from ..grading.watchdog import READING_SECONDS, OverlongError, within
from ..html_report import SVG_STYLE, file_name, number, page, shown

# A submission's status in words for its author; the sentence of the grade follows it.
OUTCOMES = {
    "ok": "Everything that is checked by the computer is right.",
    "wrong": "Some answers came back wrong.",
    "missing": "Some answers are missing.",
    "error": "Some code stopped with an error.",
    "timeout": "Some code took too long and was stopped.",
    "killed": "Some code was ended because it went beyond its limits.",
    "ungradable": "This submission could not be graded.",
}
WORDS = {
    "ok": ("✓", "right", "good"),
    "wrong": ("✗", "not right", "bad"),
    "missing": ("–", "missing", "bad"),
    "error": ("!", "stopped with an error", "bad"),
    "timeout": ("!", "took too long", "bad"),
    "killed": ("!", "ended", "bad"),
    "ungradable": ("!", "could not be graded", "bad"),
    "waiting": ("…", "waits for your teacher", "wait"),
}


def misconception_says(assignment, question: str, misconception: str) -> str:
    """Return the message of a named misconception.

    Where the assignment does not know it (any more), the message is its name in words.
    """
    known = assignment.questions.get(question)
    wrong = known and known.wrong.get(misconception)
    return wrong.says if wrong else f"{misconception.replace('-', ' ').capitalize()}."


def write(
    folder: Path,
    assignment,
    grades: Iterable[Grade],
    site: str = "",
    progress: Callable[[int], None] = lambda done: None,
) -> None:
    """Write feedback/STUDENT.html for each student, and feedback.zip with all of them.

    The same grades give the same bytes.

    Parameters
    ----------
    folder : Path
        Where results/ is.
    assignment
        The assignment, for its title, its chapter and the sentences of misconceptions.
    grades : iterable of Grade
        One for each student, with all of its result, as `grades.with_results` gives them.
    site : str, optional
        Where the book is published; without it the chapter is named and not linked.
    progress : callable, optional
        Called with how many pages are done.
    """
    pages: list[tuple[str, str]] = []  # a name in an archive, and the page
    of_moodle: list[tuple[str, str]] = []
    listed = class_lists.kept(folder)
    for done, grade in enumerate(grades, 1):
        row = class_lists.listed_as(listed, grade.student) or {}
        name = f"feedback/{file_name(grade.student)}.html"
        html = _page_in_time(assignment, grade, site, class_lists.full_name(row))
        tables.write_atomically(folder / name, html.encode())
        pages.append((name, name))
        waits = grade.graded and not grade.final
        if not waits and (theirs := moodles_name(row)):
            of_moodle.append((theirs, name))
        progress(done)
    made = {folder / name for name, _ in pages}
    tables.remove_others((folder / "feedback").glob("*.html"), made)
    _pack(folder / "feedback.zip", folder, pages)
    if of_moodle:
        _pack(folder / "lms" / "moodle-feedback.zip", folder, of_moodle)


def _pack(path: Path, folder: Path, pages: Iterable[tuple[str, str]]) -> None:
    """Write an archive of pages of a folder, each under the name that goes before it."""
    with tables.replacing(path) as file, zipfile.ZipFile(file, "w") as archive:
        for name, page in pages:
            archive.writestr(_entry(name), (folder / page).read_bytes())


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
    return entry


def moodles_name(row: Mapping[str, str]) -> str:
    """Return the name by which Moodle knows whose a file of feedback is, "" without a number.

    Its import takes a name apart at each _: the student, the number of the participant, and what
    stores it (``mod/assign/feedback/file/importziplib.php`` in moodle/moodle).

    >>> moodles_name({"identifier": "Participant 71", "full name": "Ada_L/x"})
    'Ada L x_71_assignfeedback_file_feedback.html'
    """
    digits = row.get("identifier", "").rpartition(" ")[2]
    if not (digits.isascii() and digits.isdigit()):
        return ""
    who = "".join(c if c.isalnum() or c in "-." else " " for c in class_lists.full_name(row))
    return f"{' '.join(who.split())[:60]}_{digits}_assignfeedback_file_feedback.html"


def _page_in_time(assignment, grade: Grade, site: str, called: str = "") -> str:
    """Return the page of one student, or only the score where the page takes too long to write."""
    try:
        with within(READING_SECONDS):
            return student_page(assignment, grade, site, called)
    except OverlongError:
        return page(
            f"{assignment.title}: {grade.student}",
            f"<main>{_score(grade)}<p>This page took too long to write; ask your teacher for the "
            "rest of it.</p></main>",
            SVG_STYLE,
        )


def student_page(assignment, grade: Grade, site: str = "", called: str = "") -> str:
    """Return the page of one student, with the full name where a class list has one."""
    result = grade.result
    who = f"{called} ({grade.student})" if called else grade.student
    status = result["status"]
    outcome = UNTOUCHED if grade.untouched else OUTCOMES.get(status, "")
    says = [outcome if grade.handed_in else "", grade.sum_says]
    if status == "ungradable" or grade.excused:
        says = [grade.sum_says if not grade.excused else ""]
    parts = [
        f'<header><p class="note">{shown(who, 200)}</p>'
        f"<h1>{shown(assignment.title, 300)}</h1></header>",
        "<main>",
        _score(grade),
    ]
    parts += [f"<p>{shown(text, 2000)}</p>" for text in dict.fromkeys(filter(None, says))]
    if changes := _changes(grade):
        parts.append(changes)
    if told := [text for text in grade.notices if text not in says]:
        notices = "".join(f"<li>{shown(text, 2000)}</li>" for text in told)
        parts.append(f'<div class="card wait"><h3>To know</h3><ul>{notices}</ul></div>')
    if result["questions"]:
        parts.append("<h2>Question by question</h2>")
        parts += [_question(assignment, grade, part, site) for part in result["questions"]]
    parts += ["</main>", _foot(result)]
    return page(f"{assignment.title}: {grade.student}", "\n".join(parts), SVG_STYLE)


def _changes(grade: Grade) -> str:
    """Return what the teacher changed of the total; a question's changes stand at the question."""
    asked = {part["name"] for part in grade.result["questions"]}
    about = [note for note in grade.notes if note.partition(":")[0] not in asked]
    if not about:
        return ""
    listed = "".join(f"<li>{shown(text, 2000)}</li>" for text in about)
    return f'<div class="card wait"><h3>Changed by your teacher</h3><ul>{listed}</ul></div>'


def _score(grade: Grade) -> str:
    if grade.excused:
        return '<p><strong class="good">Excused.</strong></p>'
    if not grade.graded:
        return '<p><strong class="bad">No grade yet.</strong></p>'
    possible, got = grade.possible - grade.waiting, grade.total
    waits = (
        f'<div class="tile"><b class="wait">{number(grade.waiting)}</b>'
        "<span>points wait for your teacher</span></div>"
        if grade.waiting
        else ""
    )
    share = min(max(got / possible, 0), 1) if possible else 0
    # A picture without a style attribute, which the page's policy would refuse.
    bar = (
        '<svg viewBox="0 0 100 2" preserveAspectRatio="none" height="8" aria-hidden="true">'
        '<rect width="100" height="2" fill="#dfe3e8"/>'
        f'<rect width="{100 * share:.1f}" height="2" fill="#0a401e"/></svg>'
    )
    return (
        f'<div class="tiles"><div class="tile"><b>{number(got)} of {number(possible)}</b>'
        "<span>points"
        f"{' so far' if grade.waiting else ''}</span></div>{waits}</div>\n"
        f'<div class="bar">{bar}</div>'
    )


def _question(assignment, grade: Grade, part: Mapping, site: str) -> str:
    status = part["status"]
    points, lines = (
        question_points(grade, part["name"]),
        [line for line in grade.lines if line.question == part["name"]],
    )
    possible, out = most(grade, part), part["name"] in grade.left_out
    if out:
        sign, word, kind = "–", "excused", "wait"
    elif status == "waiting" and points is not None:
        sign, word, kind = "✓", "graded by your teacher", "good" if points >= possible else "wait"
    else:
        sign, word, kind = WORDS.get(status, ("?", status, "wait"))
    if status == "wrong" and points and not out:
        sign, word = "◐", "partly right"
    worth = (
        f"{number(points)} of {count_points(possible)}"
        if points is not None
        else count_points(possible)
    )
    name = (
        f"<h3>{shown(_capital(part['asks']), 500)} <code "
        f'class="note">{shown(part["name"], 100)}</code></h3>'
    )
    body = [
        f'<div class="head">{name}<span class="num">{worth}</span></div>',
        f'<p class="{kind}"><span aria-hidden="true">{sign}</span> '
        f"{shown(_capital(word), 100)}{_calls(part)}</p>",
    ]
    # Of an answer that the teacher has read, the lines of the rubric below say it.
    says = "" if status == "waiting" and (points is not None or out) else str(part["says"] or "")
    explained = (
        misconception_says(assignment, part["name"], str(part["turn"])) if part.get("turn") else ""
    )
    if explained and explained in says:
        says = says.replace(explained, "").strip()
    if says and says.rstrip(".").casefold() != word:
        body.append(f"<p>{shown(says, 2000)}</p>")
    if explained:
        body.append(
            f'<p class="misconception">{shown(explained, 1000)} {_link(assignment, site)}</p>'
        )
    if part.get("text"):
        body.append(f'<div class="answer">{shown(part["text"])}</div>')
    body += [
        f"<p>Your teacher: {shown(change.says, 1000)}</p>"
        for change in grade.changes
        if change.question == part["name"]
    ]
    if lines:
        body.append("<ul>" + "".join(_line(line) for line in lines) + "</ul>")
    return f'<section class="card {kind}">\n' + "\n".join(body) + "\n</section>"


def count_points(value: float) -> str:
    """Return a number of points with its unit.

    >>> count_points(1), count_points(2.5)
    ('1 point', '2.5 points')
    """
    return plural(float(number(value)), "point")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _calls(part: Mapping) -> str:
    """Return how many calls were right, where the sentence does not say so.

    It gives no input away.
    """
    right = part.get("right") or []
    if len(right) < 2 or part["status"] != "wrong" or " of " in str(part["says"]):
        return ""
    if part.get("turn"):  # a known mistake has points of its own
        return ""
    if part["points"] and not any(right):  # a judge gave a share, and counted nothing
        return ""
    return f": {sum(map(bool, right))} of {plural(len(right), 'check')}"


def _link(assignment, site: str) -> str:
    from handful_study.order import title

    name = shown(title(assignment.chapter))
    if site:
        address = f"{shown(site.rstrip('/'), 500)}/{shown(assignment.chapter)}.html"
        return f'<a href="{address}" rel="noreferrer">Read it again in the book: {name}</a>'
    return f'<span class="note">Read it again in the book: {name}.</span>'


def _line(line) -> str:
    points = "" if line.points is None else f"<strong>{number(line.points)}</strong> of "
    said = (
        f'<br><span class="note">Your teacher: {shown(line.comment, 2000)}</span>'
        if line.comment
        else ""
    )
    return f"<li>{points}{count_points(line.possible)}: {shown(line.text, 1000)}{said}</li>"


def _foot(result: Mapping) -> str:
    submission = (
        f"submission <code>{shown(result['submission'], 64)}</code>, "
        if result["submission"] not in ("", "unread")
        else ""
    )
    return (
        f"<footer><p>Graded from {submission}assignment {shown(result['assignment'], 100)}, "
        f"edition <code>{shown(result['edition'], 40)}</code>, "
        f"handful {shown(result['library'], 40)}.  Quote this line when you ask about your "
        "grade.</p></footer>"
    )
