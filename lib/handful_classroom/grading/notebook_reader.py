r"""Read a student's notebook strictly.

That gives which cells run, what was written, whose inputs the notebook says it has, and its
edition.

Everything in the file may be changed by the student, so nothing in it decides what is graded:
answers are found by name.  Which cells need not run is found by comparing them with those that were
released; checks and setup cells of another edition, or of another version of the library, are known
by their form.  A cell's tags decide nothing.

>>> notebook = {
...     "nbformat": 4,
...     "cells": [
...         {"cell_type": "code", "source": ["x = 1\n", "y = 2"]},
...         {"cell_type": "markdown", "source": "**Your answer: why**\n\nBecause."},
...     ],
... }
>>> read(json.dumps(notebook).encode())
Handed(cells=('x = 1\ny = 2', ''), texts={'why': 'Because.'}, drawn_for=None,
    origin=Origin(assignment=None, edition=None, inputs={}, released=False))
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, field

from .submissions import MOST_BYTES, shown

MOST_CELLS = 2_000
MOST_SOURCE = 1_000_000  # characters of all cells
MOST_PARTS = 4_000_000  # values of the whole file, outputs with them
DEEPEST = 200  # lists within lists; newer Pythons read far deeper ones than this one can walk
LONGEST_TEXT = 20_000
LONGEST_ID = 120
_ANSWER = re.compile(r"\s*\*\*Your answer: ([A-Za-z_]\w*)\*\*[ \t]*")
_STUDENT = re.compile(r"""^student\s*=\s*(?:"([^"\\\n]*)"|'([^'\\\n]*)')[ \t]*(?:#.*)?$""", re.M)


_EDITION = re.compile(r"[0-9a-f]{12}")
# One statement of a released check cell.
_CHECK = re.compile(r"""check\((?:"\w*"|'\w*')?(?:, ?(?:"\w*"|'\w*'))*\)""")
# Released setup cells, of any edition: how the second one begins and ends, and where its inputs
# stand.
_BEGINS, _ENDS = (
    "from handful_study.student import Assignment",
    "given, check = assignment.given, assignment.check",
)
_LITERAL = "assignment = Assignment(r'''", "''', student)"


class NotebookError(ValueError):
    """A reason why a file is no gradable notebook, in one sentence for its author."""


@dataclass(frozen=True)
class Origin:
    """The origin that a notebook claims: assignment, edition, and inputs of every variant.

    ``released`` says that its inputs are those that are released now; then they are not read.
    ``by_spelling`` says that its setup is of a version in which an id drew other inputs in other
    capitals.
    """

    assignment: str | None = None
    edition: str | None = None
    inputs: Mapping[str, object] = field(default_factory=dict)
    released: bool = False
    by_spelling: bool = field(default=False, repr=False)

    def shown(self, variant: int) -> dict[str, object]:
        """Return the inputs that the notebook shows to a variant, by name.

        Inputs that do not have the released form are left out.

        >>> Origin(
        ...     inputs={
        ...         "batch": {"values": [32, 64], "index": [0, 1, 0]},
        ...         "speed": {"values": [60]},
        ...         "odd": 3,
        ...     }
        ... ).shown(1)
        {'batch': 64, 'speed': 60}
        """
        found = {}
        for name, spread in self.inputs.items():
            if isinstance(spread, dict) and isinstance(spread.get("values"), list):
                index, values = spread.get("index", [0] * (variant + 1)), spread["values"]
                at = index[variant] if isinstance(index, list) and variant < len(index) else None
                if type(at) is int and 0 <= at < len(values):
                    found[name] = values[at]
        return found


@dataclass(frozen=True)
class Handed:
    """A notebook as it was handed in.

    It has the cells' code in order ("" where a cell is not run), the written answers by question,
    the id that it claims, and its origin.
    """

    cells: tuple[str, ...]
    texts: Mapping[str, str]
    drawn_for: str | None
    origin: Origin = Origin()


def read(data: bytes, released: Set[str] = frozenset(), empty: Mapping[str, str] = {}) -> Handed:
    """Read a notebook.

    Parameters
    ----------
    data : bytes
        The file.
    released : set of str
        Digests (`mark`) of cells that were released and need not run: explorations, checks, the
        setup.
    empty : mapping
        What stands under the heading of a written answer that is not filled in.

    Raises
    ------
    NotebookError
        In one sentence.
    """
    cells: list[str] = []
    texts: dict[str, str] = {}
    total, setup, current = 0, "", False
    document = _document(data)
    for number, cell in enumerate(_cells(document), 1):
        kind, source = _cell(cell, number)
        total += len(source)
        if total > MOST_SOURCE:
            raise NotebookError(
                f"Its cells hold more than {MOST_SOURCE:,} characters of text and code."
            )
        if answer := _ANSWER.match(source):  # whatever kind of cell the student made of it
            _written(texts, answer[1], source[answer.end() :].strip(), empty)
            cells.append("")
        else:
            known = kind == "code" and mark(source) in released
            if not setup and kind == "code" and _brings_inputs(source):
                setup, current = source, known
            cells.append(
                source if kind == "code" and not known and not is_check_or_setup(source) else ""
            )
    return Handed(tuple(cells), texts, _drawn_for(document), _origin(document, setup, current))


def is_check_or_setup(source: str) -> bool:
    r"""Return whether a cell is a released check or setup cell, of whatever edition.

    Such a cell brings nothing of the student's.

    >>> (
    ...     is_check_or_setup('check("step_time")  # 4 points: the time'),
    ...     is_check_or_setup("step_time = 3\ncheck()"),
    ...     is_check_or_setup("check(step_time := 3)"),
    ... )
    (True, False, False)
    """
    return _checks(source) or _begins(source) or _brings_inputs(source)


def _statements(source: str) -> list[str]:
    """Return lines of code without comments; a # within quotation marks may cut a line too."""
    return [code for line in source.split("\n") if (code := line.partition("#")[0].strip())]


def _checks(source: str) -> bool:
    """Return whether a cell does nothing but ask for checks."""
    return "check" in source and all(
        _CHECK.fullmatch(code.rstrip("; ")) for code in _statements(source) or ("",)
    )


def _begins(source: str) -> bool:
    """Return whether a cell is the first of the setup.

    It installs packages and says whose notebook this is.
    """
    return "student" in source and all(
        code.startswith(("%pip ", "!pip ")) or _STUDENT.fullmatch(code)
        for code in _statements(source) or ("",)
    )


def _brings_inputs(source: str) -> bool:
    """Return whether a cell is the second of the setup, which brings inputs and checks.

    With code of the student's below, it is not.
    """
    if not source.rstrip().endswith(_ENDS):
        return False
    head = source[: source.find(_BEGINS) + len(_BEGINS)]
    first = [line.strip() for line in head.split("\n") if line.strip() and not line.startswith("#")]
    return first in ([_BEGINS], ["try:", _BEGINS])


def _origin(document: dict, setup: str, current: bool) -> Origin:
    """Return a notebook's origin: as its setup cell says, else as its build noted it."""
    metadata = document.get("metadata")
    noted, shown = metadata.get("handful") if isinstance(metadata, dict) else None, None
    if not current:
        with suppress(ValueError, RecursionError):
            shown = json.loads(setup.rpartition(_LITERAL[0])[2].rpartition(_LITERAL[1])[0])
    public = shown if isinstance(shown, dict) and _depth(shown) <= DEEPEST else {}
    noted = noted if isinstance(noted, dict) else {}
    name, edition = (public.get(key, noted.get(key)) for key in ("assignment", "edition"))
    known = isinstance(edition, str) and _EDITION.fullmatch(edition)
    inputs = public.get("given")
    return Origin(
        _id(name) if isinstance(name, str) else None,
        edition if known else None,
        inputs if isinstance(inputs, dict) else {},
        current,
        "def variant(" in setup and "def canonical(" not in setup,
    )


def _depth(document) -> int:
    """Return how deep lists and objects are nested, up to one more than is allowed.

    The depth is counted level by level.
    """
    level, depth = [document], 0
    while level and depth <= DEEPEST:
        level = [
            child
            for part in level
            if isinstance(part, (dict, list))
            for child in (part.values() if isinstance(part, dict) else part)
            if isinstance(child, (dict, list))
        ]
        depth += 1
    return depth


def _document(data: bytes) -> dict:
    if len(data) > MOST_BYTES:
        raise NotebookError(
            f"It has {len(data) / 1e6:,.0f} MB; up to {MOST_BYTES // 1_000_000} MB are read."
        )
    if not data.strip():
        raise NotebookError("The file is empty.")
    if (
        sum(map(data.count, (b",", b"[", b"{"))) > MOST_PARTS
    ):  # before it takes a hundred times its size in memory
        raise NotebookError("It holds more values than a notebook has.")
    try:
        document = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise NotebookError("It is no notebook: its text is not in UTF-8.") from None
    except RecursionError:
        raise NotebookError("It is no notebook: its lists are nested too deep.") from None
    except ValueError:
        kind = next(
            (
                name
                for start, name in (
                    (b"PK", "a zip or an Office file"),
                    (b"%PDF", "a PDF"),
                    (b"\x89PNG", "a picture"),
                    (b"<", "a web page"),
                )
                if data.lstrip().startswith(start)
            ),
            "",
        )
        raise NotebookError(
            f"It is no notebook, but {kind}."
            if kind
            else "It is no notebook: it is no JSON, or only part of one."
        ) from None
    if _depth(document) > DEEPEST:
        raise NotebookError("It is no notebook: its lists are nested too deep.")
    if not isinstance(document, dict):
        raise NotebookError("It is no notebook: its JSON is no object.")
    return document


def _cells(document: dict) -> list:
    if "worksheets" in document:
        raise NotebookError(
            "It is a notebook of format 3; open it in JupyterLab and save it, which brings it to "
            "format 4."
        )
    cells = document.get("cells")
    if not isinstance(cells, list):
        raise NotebookError("It is no notebook: it has no list of cells.")
    if len(cells) > MOST_CELLS:
        raise NotebookError(f"It has {len(cells):,} cells; up to {MOST_CELLS:,} are read.")
    return cells


def _cell(cell: object, number: int) -> tuple[str, str]:
    kind, source = (
        (cell.get("cell_type"), cell.get("source", "")) if isinstance(cell, dict) else (None, None)
    )
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(source, str) or kind not in ("code", "markdown", "raw", "heading"):
        raise NotebookError(f"It is no notebook: cell {number} is neither code nor text.")
    try:
        source.encode("utf-8")
    except UnicodeEncodeError:
        raise NotebookError(f"Cell {number} holds characters that are no text.") from None
    return kind, source.replace("\r\n", "\n").replace("\r", "\n")


def _written(texts: dict[str, str], name: str, text: str, empty: Mapping[str, str]) -> None:
    text = "\n".join(line.rstrip() for line in text.split("\n"))
    if text and text != empty.get(name, "").strip() and text not in texts.get(name, ""):
        texts[name] = f"{texts[name]}\n\n{text}" if name in texts else text
        if len(texts[name]) > LONGEST_TEXT:
            texts[name] = texts[name][: LONGEST_TEXT - 1] + "…"


def mark(source: str) -> str:
    r"""Return the digest by which a cell is recognised.

    Blanks at ends of lines do not count, nor does the student's id.

    >>> mark('student = "ada"  \nx = 1\n') == mark("student = ''\nx = 1") != mark("x = 1")
    True
    """
    lines = source.replace("\r\n", "\n").strip().split("\n")
    return hashlib.sha256(
        _STUDENT.sub('student = ""', "\n".join(line.rstrip() for line in lines)).encode()
    ).hexdigest()


def _drawn_for(document: dict) -> str | None:
    """Return the id that the notebook says its inputs were drawn for.

    It is the id that the build noted, else the one in the setup cell.
    """
    metadata = document.get("metadata")
    own = metadata.get("handful") if isinstance(metadata, dict) else None
    claimed = own.get("student") if isinstance(own, dict) else None
    if isinstance(claimed, str) and claimed.strip():
        return _id(claimed)
    for number, cell in enumerate(_cells(document), 1):
        kind, source = _cell(cell, number)
        found = _STUDENT.search(source) if kind == "code" else None
        if found:
            return _id(found[1] or found[2] or "")
    return None


def _id(claimed: str) -> str | None:
    """Return an id in its composed form, or None where it is long or has invisible characters."""
    claimed = claimed.strip()
    if not claimed or len(claimed) > LONGEST_ID:  # before it is composed
        return None
    safe = shown(claimed)
    return safe if safe == unicodedata.normalize("NFC", claimed) else None
