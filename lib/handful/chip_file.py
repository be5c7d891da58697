"""A chip of your own, in a file: the fields of the page's form as one object of JSON.

Numbers are in SI units: FLOP/s, B/s, bytes, and dollars a second.  ``name``, ``source`` and
``notes`` say what the chip is, where its numbers come from, and what to know of them; no field but
those in `NEEDED` has to be there, and a chip needs a peak in one precision.  ``handful measure
--output`` writes such a file, `handful.scenario.values` takes its path as hardware, and the page
*Your model, your hardware* reads it by ``handful_site/web/chip_file.js``.

>>> mine = read_chip('''{"bf16": 1e14, "memory_bandwidth": 1e12, "memory_capacity": 24e9,
...     "domain_devices": 2}''')
>>> mine["values"]["devices"], mine["values"]["device_price"], mine["peak_flops"]
(2, None, {'bf16': 100000000000000.0})
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .nearest import nearest

__all__ = ["FIELDS", "LONGEST", "NEEDED", "TEXTS", "ChipError", "read_chip"]

LONGEST = 100_000  # characters of a file; a chip takes some hundred

# The least and the most of each number; ``custom_scenario.js`` has the same.  Of int8 the page has
# no arithmetic, and passes it over.
FIELDS: dict[str, tuple[float, float]] = {
    "bf16": (1e9, 1e19),
    "fp8": (1e9, 1e19),
    "fp4": (1e9, 1e19),
    "int8": (1e9, 1e19),
    "memory_bandwidth": (1e8, 1e17),
    "memory_capacity": (1e8, 1e16),
    "domain_devices": (1, 1e5),
    "devices": (1, 1e5),
    "scale_up_bandwidth": (1e6, 1e17),
    "scale_out_bandwidth": (1e6, 1e17),
    "device_price": (1e-9, 1),
}
PEAKS = ("bf16", "fp8", "fp4", "int8")
WHOLE = ("domain_devices", "devices")
NEEDED = ("memory_bandwidth", "memory_capacity", "domain_devices")
TEXTS = ("name", "source", "notes")


class ChipError(ValueError):
    """A file that describes no chip, in one sentence."""

    exit_code = 2


def read_chip(source: str | Path) -> dict[str, Any]:
    """Return the chip that a file describes, as a row of the scenario bar.

    Parameters
    ----------
    source : str or path
        A file, or its text, which begins with a brace.  At most a hundred thousand characters.

    Raises
    ------
    ChipError
        In one sentence: no such file, no JSON, a field that no chip has, a number that is missing
        or out of range.

    Examples
    --------
    >>> read_chip('{"bf16": 1e14, "memory_bandwith": 1e12}')
    Traceback (most recent call last):
    ...
    handful.chip_file.ChipError: A chip has no field 'memory_bandwith'; the nearest are:
    memory_bandwidth...
    """
    if isinstance(source, str) and source.lstrip("\ufeff \t\r\n")[:1] == "{":
        return _row(_parsed(source), "Your chip")
    path = Path(source)
    try:
        return _row(_parsed(_text_of(path)), path.stem)
    except ChipError as error:
        raise ChipError(f"{path}: {error}") from None


def _text_of(path: Path) -> str:
    try:
        with path.open(encoding="utf-8") as file:
            return file.read(LONGEST + 1)
    except FileNotFoundError:
        raise ChipError("there is no such file.") from None
    except UnicodeDecodeError:
        raise ChipError("this is no text in UTF-8.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it cannot be opened"
        raise ChipError(f"this cannot be read: {reason}.") from None


def _parsed(text: str) -> dict[str, Any]:
    if len(text) > LONGEST:
        raise ChipError(f"A chip's file has at most {LONGEST:,} characters, and this has more.")
    try:
        found = json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        raise ChipError(
            f"This is no JSON: {error.msg[0].lower()}{error.msg[1:]}, in line {error.lineno}, "
            f"column {error.colno}."
        ) from None
    except (RecursionError, ValueError):  # ValueError: a whole number of thousands of digits
        raise ChipError("A chip's file is one object of short numbers and texts.") from None
    if not isinstance(found, dict):
        raise ChipError("A chip's file is one object in braces; this is something else.")
    return found


def _row(given: dict[str, Any], name: str) -> dict[str, Any]:
    for key in given:
        if key not in FIELDS and key not in TEXTS:
            raise ChipError(
                f"A chip has no field {key[:40]!r}; the nearest are: "
                f"{nearest(key, [*FIELDS, *TEXTS])}."
            )
    found = {key: _number(key, given.get(key)) for key in FIELDS}
    peaks = {key: found[key] for key in PEAKS if found[key]}
    if not set(peaks) & {"bf16", "fp8", "fp4"}:
        raise ChipError("A chip needs a peak in at least one precision: bf16, fp8 or fp4.")
    domain = found["domain_devices"] or 1  # never missing, but mypy cannot know
    devices = found["devices"] or domain
    if devices > domain:
        raise ChipError(f"devices must be at most domain_devices ({domain:g}); got {devices:g}.")
    notes = given.get("notes") or []
    if not isinstance(notes, list) or not all(isinstance(note, str) for note in notes):
        raise ChipError("notes must be a list of texts.")
    for key in ("name", "source"):
        if not isinstance(given.get(key) or "", str):
            raise ChipError(f"{key} must be a text.")
    called = " ".join((given.get("name") or name).split())[:100] or "Your chip"
    return {
        "name": called,
        "label": called,
        "verified": True,
        "values": {
            "memory_bandwidth": found["memory_bandwidth"],
            "memory_capacity": found["memory_capacity"],
            "devices": devices,
            "device_price": found["device_price"],
            "domain_devices": domain,
            "scale_up_bandwidth": found["scale_up_bandwidth"],
            "scale_out_bandwidth": found["scale_out_bandwidth"],
            "chip_power": None,
        },
        "peak_flops": peaks,
        "source": given.get("source") or "a chip of your own",
        "notes": notes,
    }


def _number(key: str, value: object) -> float | None:
    if value is None:
        if key in NEEDED:
            raise ChipError(f"{key} is missing.")
        return None
    least, most = FIELDS[key]
    whole = key in WHOLE
    if (
        not isinstance(value, (int, float))
        or isinstance(value, bool)
        or not least <= value <= most
        or (whole and value != int(value))
    ):
        kind = "whole number" if whole else "number"
        raise ChipError(
            f"{key} must be a {kind} from {least:g} to {most:g}; got {json.dumps(value)[:40]}."
        )
    return int(value) if whole else float(value)
