"""Read claims from the rows of the ledger, and recompute each.

An error names file, claim and key, and says what is allowed there.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, TypeGuard

from handful.nearest import nearest
from handful.query import QueryError, answer, lecture_seconds
from handful.units import UNITS, format_value

from .claim import (
    CHAPTERS,
    ORDER,
    QUANTIFIERS,
    SEGMENTS,
    SPEAKERS,
    VERDICTS,
    Claim,
    ClaimsError,
    Finding,
    Value,
    agrees,
    judge,
)

Stop = Callable[[str, str], NoReturn]  # raises, given the key and what is wrong with it
KEYS = {"id", "time", "who", "statement", "reason", "source", "link"}
OPTIONS = ("of", "at_least", "depends", "contrary", "slip")
MAY = {"spoken", "said", "unit", "within", "values", "check", "verdict", *OPTIONS}


def read(path: Path) -> list[Claim]:
    """Read the claims of one file, whose name says segment and chapter."""
    segment, _, chapter = path.stem.partition("-")
    if not segment.isdecimal() or int(segment) not in SEGMENTS or chapter not in CHAPTERS:
        raise ClaimsError(
            f"{path.name} should be named SEGMENT-CHAPTER.toml, with a segment from 1 to 7 and "
            "one of the "
            f"chapters {', '.join(CHAPTERS)}."
        )
    try:
        rows = tomllib.loads(path.read_text("utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ClaimsError(f"{path.name} is no TOML: {error}.") from None
    if set(rows) != {"claim"}:
        raise ClaimsError(
            f"{path.name} should hold [[claim]] tables only; got "
            f"{', '.join(sorted(rows)) or 'nothing'}."
        )
    return [to_claim(row, path.name, int(segment), chapter) for row in rows["claim"]]


def to_claim(row: dict[str, Any], file: str, segment: int, chapter: str) -> Claim:
    """Return the claim of a row, recomputed and judged."""
    stop = partial(_stop, file, row.get("id") or f"after {row.get('time', 'nothing')}")
    _check_texts(row, chapter, stop)
    basis = _basis(row, stop)
    _check_options(row, stop)
    found = {"values": _recompute, "check": _test, "verdict": _look_up}[basis](row, stop)
    found["verdict"] = _verdict(row, found["verdict"], stop)
    texts = {key: row[key].strip() for key in KEYS}
    numbers = {value.label: value.text for value in found.get("values", ())}
    texts["reason"] = _fill_in(texts["reason"], numbers, stop)
    options = {key: row[key] for key in OPTIONS if key in row}
    return Claim(segment=segment, chapter=chapter, basis=basis, **texts, **options, **found)


def _stop(file: str, name: str, key: str, problem: str) -> NoReturn:
    raise ClaimsError(f"{file}, claim {name}, {key}: {problem}.")


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _check_texts(row: dict[str, Any], chapter: str, stop: Stop) -> None:
    """Check the keys that every row has."""
    for key in sorted(KEYS):
        if not _is_text(row.get(key)):
            stop(key, "is missing; it must be a text")
    for key in sorted(set(row) - KEYS - MAY):
        stop(key, f"is no key of a claim; there are {', '.join(sorted(KEYS | MAY))}")
    if row["who"] not in SPEAKERS:
        stop("who", f"must be one of {', '.join(SPEAKERS)}; got {row['who']!r}")
    if not row["link"].startswith("https://") and row["link"] != f"{chapter}.html":
        stop(
            "link",
            f"must be an address that starts with https://, or {chapter}.html for what the book "
            f"derives; got {row['link']!r}",
        )
    try:
        lecture_seconds(row["time"].removeprefix("about "))
    except QueryError as error:
        stop("time", str(error).rstrip("."))


def _basis(row: dict[str, Any], stop: Stop) -> str:
    """Return the key that says how the row is judged, of which it has one."""
    ways = [key for key in ("values", "check", "verdict") if key in row]
    if len(ways) != 1:
        stop(
            "values",
            "a claim has values, or a check, or a verdict, and one of them only; "
            f"got {' and '.join(ways) or 'none'}",
        )
    if ("values" in row) != ("spoken" in row):
        stop("spoken", "what was said and the values that it is held against come together")
    return ways[0]


def _check_options(row: dict[str, Any], stop: Stop) -> None:
    """Check the keys that a row may have whatever it is judged by."""
    for key in ("depends", "contrary", "slip"):
        if key in row and not _is_text(row[key]):
            stop(key, f"must be a text; got {row[key]!r}")
    if row.get("of", "all") not in QUANTIFIERS:
        stop("of", f"must be one of {', '.join(QUANTIFIERS)}; got {row['of']!r}")
    if "at_least" in row and not (isinstance(row["at_least"], bool) and "spoken" in row):
        stop(
            "at_least",
            f"must be true or false, and stand beside what was spoken; got {row['at_least']!r}",
        )


def _verdict(row: dict, found: str, stop: Stop) -> str:
    """Return the verdict that is shown: what was found, with what the row says of it.

    The row must hold no more than that verdict needs.
    """
    for key, wanted in (
        ("depends", ("mixed", "depends")),
        ("contrary", ("mixed", "contested")),
        ("slip", ("wrong", "mixed", "order of magnitude", "slip of the tongue")),
    ):
        if key in row and found not in wanted:
            stop(key, f"has nothing to explain, since the verdict is {found!r}")
    if "slip" in row:
        return "slip of the tongue"
    if found == "mixed" and ("depends" in row) == ("contrary" in row):
        stop(
            "depends",
            "some values agree and others do not: say on what it depends, or name the contrary "
            "source as contrary",
        )
    if (
        found in ("depends", "contested", "slip of the tongue")
        and {"depends": "depends", "contested": "contrary"}.get(found, "slip") not in row
    ):
        stop("verdict", f"{found!r} needs its reason: depends, contrary or slip")
    return ("contested" if "contrary" in row else "depends") if found == "mixed" else found


def _fill_in(reason: str, known: dict[str, str], stop: Stop) -> str:
    """Fill in the numbers that stand in braces in a reason.

    Each is the label of a value, or a request of its own.
    """

    def number(found: re.Match) -> str:
        if found[1] in known:
            return known[found[1]]
        try:
            asked = answer(found[1])
        except QueryError as error:
            stop("reason", str(error).rstrip("."))
        return format_value(asked.value, asked.unit or "1")

    return re.sub(r"\{([^{}]+)\}", number, reason)


def _look_up(row: dict[str, Any], stop: Stop) -> dict[str, Any]:
    """Return the verdict of a row that its authors judged."""
    if row["verdict"] not in VERDICTS:
        stop("verdict", f"must be one of {', '.join(VERDICTS)}; got {row['verdict']!r}")
    return {"verdict": row["verdict"]}


def _test(row: dict[str, Any], stop: Stop) -> dict[str, Any]:
    """Return the findings of the test that a row names, and the verdict that follows."""
    from .checks import TESTS

    if row["check"] not in TESTS:
        stop(
            "check",
            f"there is no test {row['check']!r}; the nearest are "
            f"{nearest(str(row['check']), TESTS)}",
        )
    test = TESTS[row["check"]]
    findings = tuple(Finding(label, bool(agrees)) for label, agrees in test().items())
    agree = [finding.agrees for finding in findings]
    verdict = (
        "holds" if QUANTIFIERS[row.get("of", "all")](agree) else "mixed" if any(agree) else "wrong"
    )
    return {
        "check": row["check"],
        "tested": " ".join((test.__doc__ or "").split()),
        "findings": findings,
        "verdict": verdict,
    }


def _recompute(row: dict[str, Any], stop: Stop) -> dict[str, Any]:
    """Return what was said, the same under each convention, and the verdict that follows."""
    unit, within, of = row.get("unit"), row.get("within"), row.get("of", "all")
    if unit not in UNITS:
        stop("unit", f"must be one of {', '.join(UNITS)}; got {unit!r}")
    if not _is_number(within) or not 1 <= within < ORDER:
        stop("within", f"must be a factor from 1 to below {ORDER:g}, such as 1.1; got {within!r}")
    spoken, at_least = _spoken(row, unit, stop), row.get("at_least", False)
    values = _values(
        row, unit, stop, partial(agrees, spoken=spoken, factor=within, at_least=at_least)
    )
    ends = dict.fromkeys(format_value(end, unit, 4) for end in spoken)
    return {
        "spoken": spoken,
        "spoken_text": row.get("said") or " to ".join(ends),
        "unit": unit,
        "within": float(within),
        "values": values,
        "verdict": judge([value.value for value in values], spoken, within, of, at_least),
    }


def _spoken(row: dict[str, Any], unit: str, stop: Stop) -> tuple[float, float]:
    """Return the number that was said, twice, or the ends of the range."""
    ends = row["spoken"] if isinstance(row["spoken"], list) else [row["spoken"]]
    if not 1 <= len(ends) <= 2 or any(not isinstance(end, (int, float, str)) for end in ends):
        stop("spoken", f"must be a number or a range of two; got {row['spoken']!r}")
    low, high = (_ask("spoken", end, unit, stop)[0] for end in (ends[0], ends[-1]))
    if not 0 < low <= high:
        stop("spoken", f"must be above 0 and rise; got {row['spoken']!r}")
    return low, high


def _values(
    row: dict[str, Any], unit: str, stop: Stop, fits: Callable[[float], bool]
) -> tuple[Value, ...]:
    """Return the number under each convention; `fits` says whether it agrees with what was said."""
    if not isinstance(row["values"], dict) or not row["values"]:
        stop("values", "must be a table of at least one convention and its request")
    found = []
    for label, request in row["values"].items():
        key = f"values {label!r}"
        if not isinstance(request, str):
            stop(key, f"must be a request for a formula, a fact or arithmetic; got {request!r}")
        value, verified = _ask(key, request, unit, stop)
        text = format_value(value, unit)
        found.append(Value(label, request, value, text, verified, fits(value)))
    return tuple(found)


def _ask(key: str, request: Any, unit: str, stop: Stop) -> tuple[float, bool]:
    """Return a number, or the answer to a request for one, and whether its facts are verified."""
    if _is_number(request):
        return float(request), True
    try:
        found = answer(request)
    except QueryError as error:
        stop(key, str(error).rstrip("."))
    if found.unit not in (None, unit):
        stop(key, f"{request!r} is in {found.unit}, but the claim is in {unit}")
    return found.value, found.verified
