"""A student's notebook, read strictly: which cells run, what was written, and whose inputs it says it has.

Everything in the file may be changed by the student, so nothing in it decides what is graded: answers are found by name,
and which cells need not run is found by comparing them with those that were released.

>>> notebook = {"nbformat": 4, "cells": [{"cell_type": "code", "source": ["x = 1\\n", "y = 2"]},
...             {"cell_type": "markdown", "source": "**Your answer: why**\\n\\nBecause."}]}
>>> read(json.dumps(notebook).encode())
Handed(cells=('x = 1\\ny = 2', ''), texts={'why': 'Because.'}, drawn_for=None)
"""
from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Mapping, Set
from dataclasses import dataclass

from .submissions import MOST_BYTES, shown

MOST_CELLS = 2_000
MOST_SOURCE = 1_000_000  # characters of all cells
MOST_PARTS = 4_000_000  # values of the whole file, outputs with them
DEEPEST = 200  # lists within lists; newer Pythons read far deeper ones than this one can walk
LONGEST_TEXT = 20_000
LONGEST_ID = 120
_ANSWER = re.compile(r"\s*\*\*Your answer: ([A-Za-z_]\w*)\*\*[ \t]*")
_STUDENT = re.compile(r"""^student\s*=\s*(?:"([^"\\\n]*)"|'([^'\\\n]*)')[ \t]*(?:#.*)?$""", re.M)


class NotebookError(ValueError):
    """A file that is no notebook that can be graded, in one sentence for its author."""


@dataclass(frozen=True)
class Handed:
    """A notebook: its cells' code in order ("" where a cell is not run), written answers by question, the id that it claims."""

    cells: tuple[str, ...]
    texts: Mapping[str, str]
    drawn_for: str | None


def read(data: bytes, released: Set[str] = frozenset(), empty: Mapping[str, str] = {}) -> Handed:
    """Read a notebook.

    Parameters
    ----------
    data : bytes
        The file.
    released : set of str
        Digests (`mark`) of cells that were released and need not run: explorations, checks, the setup.
    empty : mapping
        What stands under the heading of a written answer that is not filled in.

    Raises
    ------
    NotebookError
        In one sentence.
    """
    cells, texts, total = [], {}, 0
    document = _document(data)
    for number, cell in enumerate(_cells(document), 1):
        kind, source = _cell(cell, number)
        total += len(source)
        if total > MOST_SOURCE:
            raise NotebookError(f"Its cells hold more than {MOST_SOURCE:,} characters of text and code.")
        if answer := _ANSWER.match(source):  # whatever kind of cell the student made of it
            _written(texts, answer[1], source[answer.end():].strip(), empty)
            cells.append("")
        else:
            cells.append(source if kind == "code" and mark(source) not in released else "")
    return Handed(tuple(cells), texts, _drawn_for(document))


def _depth(document) -> int:
    """Return how deep lists and objects lie within each other, counted level by level up to one more than is allowed."""
    level, depth = [document], 0
    while level and depth <= DEEPEST:
        level = [child for part in level if isinstance(part, (dict, list))
                 for child in (part.values() if isinstance(part, dict) else part) if isinstance(child, (dict, list))]
        depth += 1
    return depth


def _document(data: bytes) -> dict:
    if len(data) > MOST_BYTES:
        raise NotebookError(f"It has {len(data) / 1e6:,.0f} MB; up to {MOST_BYTES // 1_000_000} MB are read.")
    if not data.strip():
        raise NotebookError("The file is empty.")
    if sum(map(data.count, (b",", b"[", b"{"))) > MOST_PARTS:  # before it takes a hundred times its size in memory
        raise NotebookError("It holds more values than a notebook has.")
    try:
        document = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise NotebookError("It is no notebook: its text is not in UTF-8.") from None
    except RecursionError:
        raise NotebookError("It is no notebook: its lists are nested too deep.") from None
    except ValueError:
        kind = next((name for start, name in ((b"PK", "a zip or an Office file"), (b"%PDF", "a PDF"), (b"\x89PNG", "a picture"), (b"<", "a web page"))
                     if data.lstrip().startswith(start)), "")
        raise NotebookError(f"It is no notebook, but {kind}." if kind else "It is no notebook: it is no JSON, or only part of one.") from None
    if _depth(document) > DEEPEST:
        raise NotebookError("It is no notebook: its lists are nested too deep.")
    if not isinstance(document, dict):
        raise NotebookError("It is no notebook: its JSON is no object.")
    return document


def _cells(document: dict) -> list:
    if "worksheets" in document:
        raise NotebookError("It is a notebook of format 3; open it in JupyterLab and save it, which brings it to format 4.")
    cells = document.get("cells")
    if not isinstance(cells, list):
        raise NotebookError("It is no notebook: it has no list of cells.")
    if len(cells) > MOST_CELLS:
        raise NotebookError(f"It has {len(cells):,} cells; up to {MOST_CELLS:,} are read.")
    return cells


def _cell(cell: object, number: int) -> tuple[str, str]:
    kind, source = (cell.get("cell_type"), cell.get("source", "")) if isinstance(cell, dict) else (None, None)
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
            texts[name] = texts[name][:LONGEST_TEXT - 1] + "…"


def mark(source: str) -> str:
    """The digest by which a cell is recognised: blanks at ends of lines do not count, nor whose notebook it is.

    >>> mark('student = "ada"  \\nx = 1\\n') == mark("student = ''\\nx = 1") != mark("x = 1")
    True
    """
    lines = source.replace("\r\n", "\n").strip().split("\n")
    return hashlib.sha256(_STUDENT.sub('student = ""', "\n".join(line.rstrip() for line in lines)).encode()).hexdigest()


def _drawn_for(document: dict) -> str | None:
    """The id that the notebook says its inputs were drawn for: as its build noted it, else as the setup cell says."""
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
    """Return an id as it can be shown, its letters composed; None where it is long or has invisible characters."""
    claimed = claimed.strip()
    if not claimed or len(claimed) > LONGEST_ID:  # before it is composed
        return None
    safe = shown(claimed)
    return safe if safe == unicodedata.normalize("NFC", claimed) else None
