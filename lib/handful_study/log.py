"""The log of a learner's reviews: append-only events, from which every state is replayed.

``web/log.js`` follows the same rules.

A file has the same form whether the page, the terminal or a backup wrote it::

    {
        "format": "handful-study-log",
        "version": 1,
        "exported": ms,
        "events": [
            {
                "id": "Wq2fP0aS",
                "at": 1773000000000,
                "zone": 60,
                "kind": "grade",
                "card": "what-sets-the-latency-floor",
                "grade": 3,
            }
        ],
    }

`at` is in ms since 1970 UTC, `zone` the offset from UTC in minutes, positive east; `KINDS` lists
the further fields of each kind. Nothing in a file is trusted: every field is checked.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import tempfile
from bisect import insort
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

FORMAT, VERSION = "handful-study-log", 1
MOST_BYTES, MOST_EVENTS = 50_000_000, 1_000_000
LATEST = 7_258_118_400_000  # the year 2200


class LogError(ValueError):
    """A log that cannot be read or written; the sentence says where and why."""

    exit_code = 2


class StoreError(LogError):
    """A log that cannot be written here: a full disk, or a folder without write permission."""

    exit_code = 1


class Field(NamedTuple):
    """A rule for the value of a field: a test, and its description in words."""

    fits: Callable[[Any], bool]
    words: str
    required: bool = True


def _whole(least: int, most: int, required: bool = True) -> Field:
    return Field(
        lambda value: type(value) is int and least <= value <= most,
        f"a whole number from {least} to {most}",
        required,
    )


def _text(pattern: str, words: str) -> Field:
    shape = re.compile(pattern)
    return Field(lambda value: isinstance(value, str) and bool(shape.fullmatch(value)), words)


def _one_of(*values: str) -> Field:
    return Field(
        lambda value: isinstance(value, str) and value in values,
        " or ".join(f"“{value}”" for value in values),
    )


def _length(text: str) -> int:
    """Return the length of a text as a browser counts it, in UTF-16 code units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


_NAME = _text("[a-z0-9-]{1,100}", "1 to 100 lower-case letters, figures and hyphens")
_ID = _text("[A-Za-z0-9_-]{8,64}", "8 to 64 letters, figures, _ and -")
SETTINGS = {
    "retention": Field(
        lambda value: type(value) in (int, float) and 0.7 <= value <= 0.99,
        "a number from 0.7 to 0.99",
    ),
    "new_per_day": _whole(0, 1000),
    "chapters": Field(
        lambda value: isinstance(value, list) and len(value) <= 200 and all(map(_NAME.fits, value)),
        "a list of at most 200 chapter names",
    ),
}
COMMON = {"id": _ID, "at": _whole(0, LATEST), "zone": _whole(-840, 840)}
KINDS: dict[str, dict[str, Field]] = {
    "grade": {"card": _NAME, "grade": _whole(1, 4), "took": _whole(0, 86_400_000, required=False)},
    "undo": {"undoes": _ID},
    "bury": {"card": _NAME},
    "setting": {"name": _one_of(*SETTINGS), "value": Field(lambda value: True, "")},
    "attempt": {
        "problem": _NAME,
        "seed": _whole(0, 2**32 - 1),
        "given": Field(
            lambda value: isinstance(value, str) and _length(value) <= 300,
            "text of at most 300 characters",
        ),
        "verdict": _one_of("right", "wrong"),
        "turn": _whole(0, 99, required=False),
        "hints": _whole(0, 99, required=False),
    },
}


def fault(event: object) -> str | None:
    """Return the fault of an event in one sentence; None if it has none.

    >>> fault({"id": "abcdefgh", "at": 1, "zone": 0, "kind": "grade", "card": "a", "grade": 5})
    'grade is a whole number from 1 to 4; got 5.'
    """
    if not isinstance(event, dict):
        return f"an event is an object; got {_shown(event)}."
    kind = event.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        return f"its kind is one of {', '.join(KINDS)}; got {_shown(kind)}."
    fields = COMMON | KINDS[kind]
    for name, field in fields.items():
        if name not in event:
            if field.required:
                return f"{name} is missing" + (f"; it is {field.words}." if field.words else ".")
        elif not field.fits(event[name]):
            return f"{name} is {field.words}; got {_shown(event[name])}."
    if kind == "setting" and not SETTINGS[event["name"]].fits(event["value"]):
        return (
            f"the value of {event['name']} is {SETTINGS[event['name']].words}; got "
            f"{_shown(event['value'])}."
        )
    for name in event:
        if name != "kind" and name not in fields:
            return f"a {kind} has no field {_shown(name)}; it has {', '.join(fields)}."
    return None


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=True)
    return text if len(text) <= 60 else f"{text[:60]}…"


def make(kind: str, at: int, zone: int, **fields) -> dict:
    """Make a new event, or raise a LogError where it is not a valid one."""
    event = {"id": secrets.token_urlsafe(16), "at": at, "zone": zone, "kind": kind, **fields}
    if wrong := fault(event):
        raise LogError(f"This cannot be noted: {wrong}")
    return event


def merge(*logs: Iterable[dict]) -> list[dict]:
    """Merge logs by event id, in the order of replay.

    The result does not depend on the order or the number of merges.
    """
    found: dict[str, dict] = {}
    for event in (event for log in logs for event in log):
        known = found.setdefault(event["id"], event)
        if known != event:
            raise LogError(
                f"The event {event['id']} stands there twice with different content, so one of "
                "the two was "
                f"changed by hand; nothing was taken over."
            )
    return sorted(found.values(), key=lambda event: (event["at"], event["id"]))


def line(event: dict) -> str:
    """Return an event as one line of a file."""
    return json.dumps(event, separators=(",", ":"), allow_nan=False)


def write(lines: Iterable[str], now: int) -> str:
    """Return the text of a file, given the lines of its events."""
    return (
        f'{{"format":"{FORMAT}","version":{VERSION},"exported":{now},"events":[\n'
        + ",\n".join(lines)
        + "\n]}\n"
    )


def read(text: str) -> list[dict]:
    """Read the events of a file, each once and in order.

    Where the file is not valid, the LogError says what is wrong and where.

    >>> read('{"format": "handful-study-log", "version": 2, "events": []}')
    Traceback (most recent call last):
    ...
    handful_study.log.LogError: The file is of version 2, made by a newer edition of the book;
    this one reads up to version 1.
    """
    if _length(text) > MOST_BYTES:
        raise LogError(
            f"The file is larger than {MOST_BYTES // 1_000_000} MB, which no study log is."
        )
    if not text.strip():
        raise LogError("The file is empty.")
    try:
        file = json.loads(text, parse_constant=_refuse, parse_float=_number)
    except json.JSONDecodeError as error:
        raise LogError(
            "The file is not complete JSON: it was cut off while it was saved, or it is no study "
            "log "
            f"(line {error.lineno}, column {error.colno})."
        ) from None
    except (
        RecursionError,
        ValueError,
    ):  # brackets without end; numbers of thousands of figures; NaN
        raise LogError("The file is no JSON that a study log could hold.") from None
    if not isinstance(file, dict) or file.get("format") != FORMAT:
        raise LogError(
            "The file is no study log: its format is "
            f"{_shown(file.get('format') if isinstance(file, dict) else None)} "
            f"instead of “{FORMAT}”."
        )
    version = file.get("version")
    if type(version) is not int or version < 1:
        raise LogError(
            f"The file's version is {_shown(version)}; versions from 1 to {VERSION} can be read."
        )
    if version > VERSION:
        raise LogError(
            f"The file is of version {version}, made by a newer edition of the book; this one "
            f"reads up to version {VERSION}."
        )
    events = file.get("events")
    if not isinstance(events, list):
        raise LogError("The file has no list of events.")
    if len(events) > MOST_EVENTS:
        raise LogError(f"The file has {len(events)} events; at most {MOST_EVENTS} can be read.")
    for place, event in enumerate(events, 1):
        if wrong := fault(event):
            raise LogError(f"Event {place} of {len(events)} is not as it should be: {wrong}")
    return merge(events)


def _number(text: str) -> int | float:
    """Read a number as JavaScript does, where 3.0 and 3 are the same."""
    value = float(text)
    return int(value) if value.is_integer() else value


def _refuse(name: str):
    raise ValueError(f"{name} is no number of JSON")


# On disk


class LogFile:
    """A log in a file that is replaced atomically, so that no crash leaves it incomplete.

    A new event is written to a temporary file beside it, which replaces the file once it is on
    disk, so that a crash loses at most the event that was not yet written.  Events that another
    program has added in between are kept.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(os.path.realpath(path))  # a link stays a link
        self.events: list[dict] = []
        self._lines: dict[str, str] = {}
        self._seen: tuple | None = None
        self._refresh()

    def add(self, events: Iterable[dict], now: int) -> list[dict]:
        """Record events, and return all that are new here, including another program's."""
        with _alone(self.path):
            known = set(self._lines)
            self._refresh()
            self._take(events)
            self._replace(write((self._lines[event["id"]] for event in self.events), now))
        return [event for event in self.events if event["id"] not in known]

    def _take(self, events: Iterable[dict]) -> None:
        events = list(events)
        if (
            len(events) == 1 and events[0]["id"] not in self._lines
        ):  # an answer: no need to sort the whole log
            insort(self.events, events[0], key=lambda event: (event["at"], event["id"]))
        else:
            self.events = merge(self.events, events)
        for event in events:
            self._lines.setdefault(event["id"], line(event))

    def _refresh(self) -> None:
        """Read the file, unless it is the version that was read or written last."""
        try:
            state = self.path.stat()
            if (seen := (state.st_ino, state.st_mtime_ns, state.st_size)) != self._seen:
                self._take(read_file(self.path))
                self._seen = seen
        except FileNotFoundError:
            pass
        except OSError as error:
            raise LogError(f"{self.path} cannot be read: {error.strerror}.") from None

    def _replace(self, text: str) -> None:
        beside = None
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(
                "w",
                encoding="utf-8",
                dir=self.path.parent,
                prefix=f".{self.path.name}.",
                delete=False,
            ) as file:
                beside = file.name
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
                state = os.stat(beside)
            os.replace(beside, self.path)
            self._seen = (state.st_ino, state.st_mtime_ns, state.st_size)
            if hasattr(os, "O_DIRECTORY"):  # the new name too has to reach the disk
                folder = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY)
                with suppress(OSError):
                    os.fsync(folder)
                os.close(folder)
        except OSError as error:
            if beside:
                with suppress(OSError):
                    os.unlink(beside)
            raise StoreError(
                f"{self.path} cannot be written: {error.strerror}; the last answer is not noted."
            ) from None


def read_file(path: Path | str) -> list[dict]:
    """Read the events of a file; a LogError names the file."""
    try:
        if (
            os.path.getsize(path) > 4 * MOST_BYTES
        ):  # not even as UTF-8; do not fill the memory with it
            raise LogError(
                f"The file is larger than {MOST_BYTES // 1_000_000} MB, which no study log is."
            )
        return read(Path(path).read_text("utf-8-sig"))
    except UnicodeDecodeError:
        raise LogError(f"{path} cannot be read: the file is no text in UTF-8.") from None
    except LogError as error:
        raise LogError(f"{path} cannot be read: {error}") from None
    except FileNotFoundError:
        raise
    except OSError as error:
        raise LogError(f"{path} cannot be read: {error.strerror}.") from None


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Hold the log's lock, so that two terminals take turns, where the system has locks."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Closed by the `with` below, whose own errors are not to be caught here.
        lock = open(path.with_name(f".{path.name}.lock"), "w")  # noqa: SIM115
    except OSError as error:
        raise StoreError(
            f"{path} cannot be written: {error.strerror}; the last answer is not noted."
        ) from None
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
