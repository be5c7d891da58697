"""Read assignments from their sources.

One source holds prose, solutions and checks; a mistake in it is reported in one sentence that names
file, line and field.

The format stands in ``exercises/README.md``.  What a student is given, and what is right, is in
`variants`; the notebooks are made in `notebooks`, beside this module.

>>> from handful_study.student import VARIANTS
>>> roofline = assignments()["roofline"]
>>> roofline.questions["step_time"].kind, roofline.questions["step_time"].asks
('function', 'the time of a decode step')
>>> roofline.variant("ada") == roofline.variant("ada"), 0 <= roofline.variant("grace") < VARIANTS
(True, True)
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from handful.nearest import alike, nearest
from handful_study.source import Entry, SourceError, anchors, fields, folder

from .cells import Piece, bound, cut, imported, parse, split
from .checks import read_inputs, read_question
from .model import Assignment, Question


def read(path: str | Path) -> Assignment:
    """Read an assignment from its source file.

    Raises SourceError, one sentence that names file, line and field.
    """
    path = Path(path)
    try:
        source = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise SourceError(f"{path} is no text in UTF-8.") from None
    within = path.resolve().is_relative_to(folder().resolve())
    return read_text(source, f"exercises/assignments/{path.name}" if within else str(path))


def read_text(text: str, file: str) -> Assignment:
    """Read an assignment from the text of its source.

    Messages call the source `file`, and the stem of `file` is the assignment's name, but for the
    edition that a kept copy has at its end.
    """
    name = re.sub(r"-[0-9a-f]{12}$", "", Path(file).stem)
    edition = hashlib.sha256(text.encode()).hexdigest()[:12]
    lines = text.splitlines()
    if not lines or lines[0].strip() != "---":
        raise SourceError(
            f"{file}, line 1: an assignment begins with a head between two lines ---."
        )
    end = next((i for i in range(1, len(lines)) if lines[i].strip() == "---"), None)
    if end is None:
        raise SourceError(f"{file}, line 1: the head does not end; close it with a line ---.")
    head, places = fields("\n".join(lines[1:end]), 2, file, "the head")
    entry = Entry(name, file, 1, head, places, ())
    _check_head(entry)
    drawn, cases, shows = read_inputs(entry)
    pieces = tuple(split(lines[end + 1 :], end + 2, file))
    questions: dict[str, Question] = {}
    for piece in pieces:
        if piece.kind == "question":
            made = read_question(piece, entry, pieces)
            if made.name in questions:
                raise made.entry.error("this question stands twice; names are unique.")
            questions[made.name] = made
    if not questions:
        raise entry.error("there is no question; write one as a block ```{question} name.")
    _check_cells(entry, pieces, questions)
    return Assignment(
        name,
        str(head["title"]),
        head["chapter"],
        head["minutes"],
        str(head.get("library", "none")),
        edition,
        entry,
        pieces,
        questions,
        drawn,
        cases,
        shows,
    )


def _check_head(entry: Entry) -> None:
    required, optional = (
        ("title", "chapter", "minutes", "kernelspec"),
        ("given", "library", "jupytext"),
    )
    for name in required:
        if entry.head.get(name) in (None, ""):
            raise entry.error(f"the field {name} is missing; required are {', '.join(required)}.")
    for name in entry.head:
        if name not in required and name not in optional:
            raise entry.error(
                f"there is no such field; allowed are {', '.join((*required, *optional))}.", name
            )
    chapter, minutes = entry.head["chapter"], entry.head["minutes"]
    if anchors(str(chapter)) == {}:
        raise entry.error(
            f"there is no chapter {chapter!r}; the nearest are "
            f"{nearest(str(chapter), _chapters())}.",
            "chapter",
        )
    if isinstance(minutes, bool) or not isinstance(minutes, int) or not 1 <= minutes <= 600:
        raise entry.error(
            f"a whole number of minutes from 1 to 600 is expected; got {minutes!r}.", "minutes"
        )
    if "library" in entry.head:
        entry.one_of("library", ("none", "all"))


def _chapters() -> list[str]:
    return [path.stem for path in (Path(__file__).resolve().parents[3] / "book").glob("*.md")]


def _check_cells(
    entry: Entry, pieces: tuple[Piece, ...], questions: Mapping[str, Question]
) -> None:
    """Check the cells of an assignment against each other and against its questions.

    Cells have to be Python, answers have to belong to questions, questions need answers above them,
    and no cell may import what is missing during grading.
    """
    file, known = entry.file, set()
    for piece in pieces:
        if piece.kind == "model" and getattr(questions.get(piece.name), "kind", "") != "written":
            raise SourceError(
                f"{file}, line {piece.line - 1}: there is no written question {piece.name!r} for "
                "this model answer."
            )
        if (
            piece.kind == "question"
            and questions[piece.name].kind != "written"
            and piece.name not in known
        ):
            raise questions[piece.name].entry.error(
                "no cell tagged answer above defines this name."
            )
        if piece.kind != "code":
            continue
        made = cut(piece.text, piece.line, file)
        parse(piece.text, piece.line, file)
        if bool(made.taken) != (piece.tag == "answer"):
            wanted = (
                "needs its solution between # solution and # end, or on a line that ends in # "
                "solution"
                if piece.tag == "answer"
                else "holds a solution and has to be tagged answer"
            )
            raise SourceError(f"{file}, line {piece.line}: this cell {wanted}.")
        parse(made.empty, piece.line, file)
        if (
            entry.head.get("library", "none") == "none"
            and piece.tag != "explore"
            and "handful" in imported(piece.text)
        ):
            raise SourceError(
                f"{file}, line {piece.line}: this cell imports handful, which is not there when "
                "answers are graded (library: none)."
            )
        if piece.tag == "answer":
            names = [name for name in bound(made.solution) if not name.startswith("_")]
            for name in names:
                if name not in questions or questions[name].kind == "written":
                    raise SourceError(
                        f"{file}, line {piece.line}: the answer {name!r} belongs to no question; "
                        "questions are "
                        f"{', '.join(questions)}, and what only helps begins with an underscore."
                    )
            known |= set(names)


def source_folder() -> Path:
    """Return the folder that holds the sources of the assignments."""
    return folder() / "assignments"


@cache
def _read_named(name: str) -> Assignment:
    return read(source_folder() / f"{name}.md")


def assignments() -> dict[str, Assignment]:
    """Return every assignment of the book, by name."""
    return {name: _read_named(name) for name in _names()}


def _names() -> list[str]:
    return sorted(path.stem for path in source_folder().glob("*.md"))


def assignment(name: str) -> Assignment:
    """Return the assignment with that name, or from that file.

    The message for an unknown name suggests the nearest names.
    """
    if name.endswith(".md"):
        return read(name)
    if not _names():
        raise SourceError(
            "No assignments are installed here, since students install this package too; name "
            "the file, such as "
            f"course/exercises/assignments/{name}.md of a checkout."
        )
    if name not in _names():
        raise SourceError(
            f"There is no assignment {name!r}; there are {', '.join(_names())}."
            if not (near := alike(name, _names()))
            else f"There is no assignment {name!r}; the nearest are {', '.join(near)}."
        )
    return _read_named(name)
