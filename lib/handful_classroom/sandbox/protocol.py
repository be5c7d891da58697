"""Define what grader and sandbox exchange: lines of strict, bounded JSON.

Towards the sandbox goes a line with cells and limits, then one for each request, when the one
before is answered: until a notebook's cells have run, nothing of what it will be asked is inside.
Back come lines, each of one of these forms::

    {"cell":3}                                     the worker has begun this cell (or, past the
                                                   last one, is done with them)
    {"cell":3,"status":"error","says":…,"line":2}  and it did not end well
    {"request":0,"status":"value","value":[1.5]}   an answer

Whatever comes back was written by someone whom nobody trusts: every line is bounded before it is
read, and what is not exactly of these forms ends the conversation.  NaN and the infinities are
written as Python's `json` writes them.
"""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass, field

LONGEST_LINE, LONGEST_TALK = 1_000_000, 8_000_000
DEEPEST, DIGITS, LONGEST_SAYS = 20, 300, 300
STATUSES = ("value", "error", "missing", "timeout", "killed")
LONGEST_CODE = 4_000_000
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{5,}")
_MARKS = re.compile(r'\\.|["\[\]{}]', re.S)


class ProtocolError(ValueError):
    """Output of a sandbox that is no reply, described in one sentence."""


@dataclass(frozen=True)
class Limits:
    """The resources of a notebook: seconds, bytes, processes, and sandboxes after the first.

    Cells and calls are timed by the processor; on the wall they may take `patience` times as long,
    so that a busy machine does not make an honest notebook late.  `total_seconds` are of the wall,
    for all sandboxes of a notebook together.

    >>> Limits(call_seconds=0)
    Traceback (most recent call last):
        ...
    ValueError: call_seconds has to be above 0; got 0.
    """

    cell_seconds: float = 10.0
    call_seconds: float = 2.0
    total_seconds: float = 90.0
    patience: float = 3.0
    memory_bytes: int = 1 << 30
    disk_bytes: int = 32 << 20
    processes: int = 40
    restarts: int = 5

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not value > 0 and name != "restarts":
                raise ValueError(f"{name} has to be above 0; got {value!r}.")


@dataclass(frozen=True)
class Answer:
    """The reply to one request: `value` holds plain data, `says` a sentence for the student."""

    status: str
    value: object = None
    says: str = ""


@dataclass(frozen=True)
class CellError:
    """A cell that did not end well.

    `cell` is its place (from 0), `status` is "error", "timeout" or "killed", `says` is a sentence,
    and `line` is the line within the cell.
    """

    cell: int
    status: str
    says: str
    line: int | None = None


@dataclass(frozen=True)
class Outcome:
    """All replies of a notebook: an answer for each request, in their order.

    `end` is "whole" where every request was put to the notebook, "killed" or "timeout" where it had
    to be stopped.
    """

    answers: tuple[Answer, ...]
    cells: tuple[CellError, ...] = field(default=())
    end: str = "whole"
    says: str = ""


def printable(text: str, longest: int = LONGEST_SAYS) -> str:
    r"""Return a student's words as one line of printable text without memory addresses.

    The text is cut at `longest` characters.

    >>> printable("a\x00b\u202etxt.exe\n c"), printable("<object at 0x7f3a80b0c1d0>")
    ('a b txt.exe c', '<object at 0x…>')
    """
    kept = "".join(
        " " if unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") else letter
        for letter in text[: 4 * longest]
    )
    kept = without_addresses(" ".join(kept.split()))
    return kept if len(kept) <= longest else kept[: longest - 1] + "…"


def without_addresses(text: str) -> str:
    """Return the text without addresses in memory, which differ from run to run."""
    return _ADDRESS.sub("0x…", text)


def _depth(text: str) -> int:
    """Return how deep lists and objects are nested, 0 where there are too few to be too deep.

    One pass over the text suffices.
    """
    if text.count("[") + text.count("{") <= DEEPEST:
        return 0
    depth = deepest = 0
    quoted = False
    for found in _MARKS.finditer(
        text
    ):  # each match is one or two characters long, so that none is read twice
        mark = found[0]
        if mark == '"':
            quoted = not quoted
        elif not quoted and mark in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif not quoted and mark in "]}":
            depth -= 1
    return deepest


def _whole(text: str) -> int:
    if len(text) > DIGITS + 1:
        raise ProtocolError(f"an integer may have {DIGITS} digits.")
    return int(text)


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ProtocolError("a name stands twice in one object.")
    return found


def parse(line: bytes) -> dict[str, object]:
    """Parse one line as a dict.

    Raises
    ------
    ProtocolError
        For what is no object of bounded, strict JSON.

    >>> parse(b'{"request":0,"status":"value","value":[1,2.5,NaN]}')
    {'request': 0, 'status': 'value', 'value': [1, 2.5, nan]}
    >>> parse(b'{"request":' + b"[" * 200_000)
    Traceback (most recent call last):
        ...
    handful_classroom.sandbox.protocol.ProtocolError: lists may lie 20 deep.
    """
    if len(line) > LONGEST_LINE:
        raise ProtocolError(f"a reply may have {LONGEST_LINE:,} bytes.")
    try:
        text = line.decode("utf-8")
        if _depth(text) > DEEPEST + 1:
            raise ProtocolError(f"lists may lie {DEEPEST} deep.")
        found = json.loads(text, parse_int=_whole, object_pairs_hook=_once)
        text.encode("utf-8")
        if "\\u" in text:
            json.dumps(found, ensure_ascii=False).encode(
                "utf-8"
            )  # a lone surrogate, written as an escape, is no text
    except ProtocolError:
        raise
    except (ValueError, RecursionError):
        raise ProtocolError("what came back is no JSON.") from None
    if type(found) is not dict:
        raise ProtocolError("a reply has to be an object.")
    return found


def read(line: bytes) -> tuple[str, int, Answer | CellError | None]:
    """Parse one line into "cell" or "request", its number, and what is said of it.

    Where a cell has just begun, nothing is said of it (None).

    >>> read(b'{"request":2,"status":"missing","says":"There is no x."}')
    ('request', 2, Answer(status='missing', value=None, says='There is no x.'))
    >>> read(b'{"cell":1}')
    ('cell', 1, None)
    """
    found = parse(line)
    kind = "cell" if "cell" in found else "request"
    number = found.pop(kind, None)
    if type(number) is not int or not 0 <= number < 100_000:
        raise ProtocolError("a reply names its cell or its request by number.")
    if not found:
        return kind, number, None
    status, says, line_number = (
        found.pop("status", None),
        found.pop("says", ""),
        found.pop("line", None),
    )
    value = found.pop("value", None)
    if (
        found
        or status not in STATUSES
        or type(says) is not str
        or not (line_number is None or type(line_number) is int)
    ):
        raise ProtocolError("a reply has a status, and a value or a sentence.")
    if kind == "request":
        return (
            kind,
            number,
            Answer(status, value, printable(says))
            if status == "value"
            else Answer(status, None, printable(says)),
        )
    if status not in ("error", "timeout"):
        raise ProtocolError("a cell ends in an error or out of time.")
    return kind, number, CellError(number, status, printable(says), line_number)
