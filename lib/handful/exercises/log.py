"""The log of reviews: what is stored and carried between page and terminal, append-only.  ``page/study/log.js`` says the same.

A file is ``{"format": "handful-study-log", "version": 1, "exported": ms, "events": [...]}``.  Each event has ``id``, ``at``
(ms since 1970 UTC), ``zone`` (minutes east of UTC, then and there), ``kind``, and what `KINDS` lists for its kind.  All
else, due dates too, is a replay of the log (`handful.exercises.schedule`), so to merge two is to unite their events.
"""
from __future__ import annotations

import json
import math
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

FORMAT, VERSION = "handful-study-log", 1
LARGEST = 64_000_000  # bytes of a file
MANY = 500_000  # events of a log
LATEST = 8.64e15  # ms since 1970: the last instant that a browser can tell


class LogError(ValueError):
    """A log that cannot be read or kept, in one sentence that says where and why."""


def _whole(low: float, high: float) -> Callable[[object], bool]:
    def fits(value) -> bool:
        return type(value) is int and low <= value <= high

    fits.__doc__ = f"a whole number from {low:,.0f} to {high:,.0f}"
    return fits


def _text(longest: int, pattern: str = "") -> Callable[[object], bool]:
    shape = re.compile(pattern, re.S)

    def fits(value) -> bool:
        return isinstance(value, str) and len(value) <= longest and bool(shape.fullmatch(value) if pattern else value)

    fits.__doc__ = f"text of at most {longest} characters" + (f" of the form {pattern}" if pattern else "")
    return fits


def _one_of(*allowed) -> Callable[[object], bool]:
    def fits(value) -> bool:
        return type(value) in map(type, allowed) and value in allowed

    fits.__doc__ = f"one of {', '.join(map(str, allowed))}"
    return fits


_ID, _NAME = _text(64, "[A-Za-z0-9_-]{8,64}"), _text(100, "[a-z0-9]+(?:-[a-z0-9]+)*")
ALWAYS = {"id": _ID, "at": _whole(0, LATEST), "zone": _whole(-840, 840)}
# kind → required fields, optional fields
KINDS: dict[str, tuple[dict, dict]] = {
    "grade": ({"card": _NAME, "grade": _one_of(1, 2, 3, 4)}, {"took": _whole(0, 1e12)}),
    "undo": ({"undoes": _ID}, {}),
    "bury": ({"card": _NAME}, {}),
    "setting": ({"name": _one_of("retention", "new_per_day", "chapters")}, {}),
    "attempt": ({"problem": _NAME, "seed": _whole(0, 2**32 - 1), "given": _text(300), "verdict": _one_of("right", "wrong")},
                {"turn": _whole(0, 1000), "hints": _whole(0, 1000)}),
}


def _setting(name: str, value) -> str:
    """What is wrong with the value of a setting, or ""."""
    if name == "retention":
        good = type(value) in (int, float) and 0.7 <= value <= 0.99
        return "" if good else "a number from 0.7 to 0.99 is expected"
    if name == "new_per_day":
        return "" if _whole(0, 1000)(value) else "a whole number from 0 to 1,000 is expected"
    good = isinstance(value, list) and len(value) <= 100 and all(map(_NAME, value))
    return "" if good else "a list of names of chapters is expected"


def check(event, where: str) -> None:
    """Refuse what is no event of this version.

    >>> check({"id": "abcdefgh", "at": 1, "zone": 0, "kind": "grade", "card": "a", "grade": 5}, "event 3")
    Traceback (most recent call last):
    ...
    handful.exercises.log.LogError: Event 3: grade: one of 1, 2, 3, 4 is expected; got 5.
    """
    def refuse(text: str):
        raise LogError(f"{where[0].upper()}{where[1:]}: {text}.")

    if not isinstance(event, dict):
        refuse(f"an object is expected; got {_shown(event)}")
    kind = event.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        refuse(f"kind: one of {', '.join(KINDS)} is expected; got {_shown(kind)}")
    required, optional = KINDS[kind]
    required = {**ALWAYS, **required}
    value = event.get("value")
    for name, fits in {**required, **optional}.items():
        if name in event:
            if not fits(event[name]):
                refuse(f"{name}: {fits.__doc__} is expected; got {_shown(event[name])}")
        elif name in required:
            refuse(f"{name} is missing")
    known = {*required, *optional, "kind"}
    if kind == "setting":
        known.add("value")
        if wrong := _setting(event["name"], value):
            refuse(f"value of {event['name']}: {wrong}; got {_shown(value)}")
    for name in event:
        if name not in known:
            refuse(f"there is no field {_shown(name)} in an event of kind {kind}")


def _shown(value) -> str:
    try:
        text = json.dumps(value)
    except (RecursionError, ValueError):
        text = "something without end"
    return text if len(text) <= 60 else text[:57] + "..."


def _integers(value):
    """A number as JavaScript knows it: 3.0 is the whole number 3."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def parse(text: str) -> list[dict]:
    """The events of a file's text, each once, in order; LogError where it is no log of a version that is known.

    >>> parse('{"format": "handful-study-log", "version": 2, "exported": 1, "events": []}')
    Traceback (most recent call last):
    ...
    handful.exercises.log.LogError: This log is of version 2; version 1 is known here, so a newer handful wrote it: update, then import again.
    """
    if len(text) > LARGEST:
        raise LogError(f"This file is larger than {LARGEST // 1_000_000} MB, which no log of ours is.")
    try:
        found = json.loads(text, parse_constant=_no_constant, object_hook=lambda made: {k: _integers(v) for k, v in made.items()})
    except json.JSONDecodeError as error:
        raise LogError(f"This file is no JSON, or only a part of it: line {error.lineno}, column {error.colno}: {error.msg}.") from None
    except (RecursionError, ValueError) as error:
        raise LogError(f"This file is no log: {error}.") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise LogError(f'This file is no log of reviews; one begins with {{"format": "{FORMAT}"}}.')
    version = found.get("version")
    if not _whole(1, 1e6)(version):
        raise LogError(f"version: a whole number is expected; got {_shown(version)}.")
    if version > VERSION:
        raise LogError(f"This log is of version {version}; version {VERSION} is known here, so a newer handful wrote it: "
                       f"update, then import again.")
    for name in found:
        if name not in ("format", "version", "exported", "events"):
            raise LogError(f"There is no field {_shown(name)} in a log of version {VERSION}.")
    if not ALWAYS["at"](found.get("exported")):
        raise LogError(f"exported: {ALWAYS['at'].__doc__} is expected; got {_shown(found.get('exported'))}.")
    events = found.get("events")
    if not isinstance(events, list):
        raise LogError(f"events: a list is expected; got {_shown(events)}.")
    if len(events) > MANY:
        raise LogError(f"This log has {len(events):,} events; at most {MANY:,} can be kept.")
    for number, event in enumerate(events, 1):
        check(event, f"event {number}")
    return merge(events)


def _no_constant(name: str):
    raise ValueError(f"{name} is no number of JSON")


def merge(*logs: Iterable[dict]) -> list[dict]:
    """The union of logs by id, in the order of replay: the same whatever the order, and however often.

    Two events with one id are one event; should they differ, which no run of ours makes, the one whose text sorts
    first is kept, so that both sides agree.
    """
    found: dict[str, dict] = {}
    for log in logs:
        for event in log:
            other = found.get(event["id"])
            found[event["id"]] = event if other is None else min(event, other, key=_line)
    return sorted(found.values(), key=lambda event: (event["at"], event["id"]))


def _line(event: dict) -> str:
    return json.dumps(event, sort_keys=True, separators=(",", ":"), allow_nan=False)
