"""Claims of the lecture, each with its time, its recomputation, a verdict and a source.

A TOML file a chapter beside this module, ``SEGMENT-CHAPTER.toml``, holds the rows; `load` reads,
recomputes and judges.  A row says who said it and when: to the second, or about.  It holds what was
said (`spoken`, in `unit`) and asks for the same number under each admissible convention (`values`,
in the grammar of `handful.query`); the verdict follows by `judge`.  A claim without a number names
a function of `checks` that tests it.  Where only a document can decide, the authors do, and the
page
says so.

What a claim asks of its values is part of it: a claim of something that *can* be (`of = "some"`)
holds where one case does, a claim about *most* where more than half do, and one that gives a bound
(`at_least = true`) wherever it is exceeded.  Where some values agree and others do not, the row
says what it `depends` on; only a named contrary source or measurement (`contrary`) makes it
contested.  What a speaker took back or plainly misspoke is a `slip`.

>>> claim = find("balance-is-300")
>>> claim.who, claim.chapter, claim.of
('Pope', 'balance-batch', 'most')
>>> [value.label for value in claim.values if value.agrees][:1]
['H100, fp8']
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NoReturn

from handful.query import AskError, answer, lecture_address, lecture_seconds, nearest
from handful.units import UNITS, format_value

__all__ = [
    "BASES",
    "CHAPTERS",
    "ORDER",
    "SEGMENTS",
    "VERDICTS",
    "Claim",
    "ClaimsError",
    "Finding",
    "Value",
    "find",
    "judge",
    "load",
    "read",
]

Stop = Callable[[str, str], NoReturn]  # raises, given the key and what is wrong with it
FOLDER = Path(__file__).parent
SEGMENTS = {
    1: "Batch, latency and cost",
    2: "Experts on racks",
    3: "Pipelining",
    4: "Why pipelining is not wise",
    5: "Reinforcement learning and over-training",
    6: "Reading API prices",
    7: "Ciphers and networks",
}
CHAPTERS = {
    "latency-and-cost": "Latency and cost",
    "balance-batch": "The balance batch",
    "experts-on-racks": "Experts on racks",
    "pipelining": "Pipelining",
    "why-pipelining-is-not-wise": "Why pipelining is not wise",
    "over-training": "Over-training",
    "reading-api-prices": "Reading API prices",
    "memory-tiers": "Memory tiers",
    "ciphers-and-networks": "Ciphers and networks",
}
# The lecturer; the host; the host with the lecturer's assent; nobody in the lecture, but a summary
# of it.
SPEAKERS = ("Pope", "Patel", "Patel (Pope agrees)", "a later summary")
VERDICTS = {
    "holds": "the admissible readings agree, as many of them as the claim speaks of",
    "order of magnitude": "no reading agrees, but none is further off than three times",
    "depends": "some readings agree and others do not; the entry says on what it depends",
    "contested": "a named source or measurement says otherwise",
    "true when said": "it has changed since",
    "slip of the tongue": "corrected by the speaker, or plainly meant otherwise",
    "wrong": "no reading agrees",
    "not checkable": "nothing that can be looked up or computed decides it",
}
ORDER = 3.0  # what "order of magnitude" allows, as a factor
# How many of its values a claim speaks of.
QUANTIFIERS = {"all": all, "most": lambda agree: sum(agree) > len(agree) / 2, "some": any}
# How a verdict was reached.
BASES = {
    "values": "recomputed",
    "check": "tested",
    "verdict": "judged by the authors from the source",
}
KEYS = {"id", "time", "who", "statement", "reason", "source", "link"}
MAY = {
    "spoken",
    "said",
    "unit",
    "within",
    "values",
    "check",
    "verdict",
    "of",
    "at_least",
    "depends",
    "contrary",
    "slip",
}


class ClaimsError(AskError):
    """An error in a row of the ledger, which names file, claim and key."""

    exit_code = 2


@dataclass(frozen=True)
class Value:
    """The claimed number under one convention.

    `agrees` says whether it is within the tolerance of what was said.
    """

    label: str
    request: str
    value: float
    text: str
    verified: bool
    agrees: bool


@dataclass(frozen=True)
class Finding:
    """The result of a test in one case, for a claim without a number."""

    label: str
    agrees: bool


@dataclass(frozen=True)
class Claim:
    """A claim of the lecture; `spoken` is the interval that was said, in SI units."""

    id: str
    segment: int
    chapter: str
    time: str
    who: str
    statement: str
    reason: str
    source: str
    link: str
    verdict: str
    basis: str
    spoken: tuple[float, float] | None = None
    spoken_text: str = ""
    unit: str = ""
    within: float = 1.0
    values: tuple[Value, ...] = ()
    check: str = ""
    tested: str = ""
    findings: tuple[Finding, ...] = ()
    of: str = "all"
    at_least: bool = False
    depends: str = ""
    contrary: str = ""
    slip: str = ""

    @property
    def about(self) -> bool:
        """Return whether its time is known to some fifteen seconds only."""
        return self.time.startswith("about ")

    @property
    def seconds(self) -> int:
        """Return the (approximate) second of the claim in the lecture."""
        return lecture_seconds(self.time.removeprefix("about "))

    @property
    def address(self) -> str:
        """Return the address of the lecture at that second."""
        return lecture_address(self.time.removeprefix("about "))


def judge(
    values, spoken: tuple[float, float], within: float, of: str = "all", at_least: bool = False
) -> str:
    """Return the verdict on a spoken interval from the values of the admissible conventions.

    The verdict is "mixed" where it depends on the convention.

    Parameters
    ----------
    values : sequence of float
        One for each convention, in the unit of `spoken`.
    spoken : (float, float)
        What was said: twice the same number, or a range, which holds where it covers.
    within : float
        Tolerance as a factor, 1 or above.
    of : str
        How many of the values the claim speaks of: all, most (more than half), or some (one will
        do).
    at_least : bool
        Whether a value beyond what was said agrees as well.

    Examples
    --------
    >>> judge([295, 281], (300, 300), 1.25)
    'holds'
    >>> judge([295, 153], (300, 300), 1.25), judge([295, 281, 153], (300, 300), 1.25, of="most")
    ('mixed', 'holds')
    >>> (
    ...     judge([550], (300, 300), 1.25),
    ...     judge([950], (300, 300), 1.25),
    ...     judge([90, 950], (300, 300), 1.25),
    ... )
    ('order of magnitude', 'wrong', 'mixed')
    >>> judge([130, 8700], (1000, 1000), 1, of="some", at_least=True)
    'holds'
    """
    agree = [_near(value, spoken, within, at_least) for value in values]
    if QUANTIFIERS[of](agree):
        return "holds"
    if any(agree):
        return "mixed"
    if all(_near(value, spoken, ORDER, at_least) for value in values):
        return "order of magnitude"
    return "mixed" if min(values) < spoken[0] and max(values) > spoken[1] else "wrong"


def _near(value: float, spoken: tuple[float, float], factor: float, at_least: bool = False) -> bool:
    # The last bit of a product should not decide.
    return spoken[0] / factor * (1 - 1e-9) <= value and (
        at_least or value <= spoken[1] * factor * (1 + 1e-9)
    )


def find(name: str) -> Claim:
    """Return one claim by its id.

    >>> find("balance-is-3000")
    Traceback (most recent call last):
    ...
    handful_evidence.claims.ClaimsError: There is no claim 'balance-is-3000';
    the nearest are balance-is-300 or ...
    """
    known = {claim.id: claim for claim in load()}
    if name not in known:
        raise ClaimsError(f"There is no claim {name!r}; the nearest are {nearest(name, known)}.")
    return known[name]


@cache
def load() -> tuple[Claim, ...]:
    """Return all claims in the order of the lecture, recomputed.

    Raises
    ------
    ClaimsError
        In one sentence: which file, which claim, which key, and what is allowed.
    """
    found = [claim for path in sorted(FOLDER.glob("*.toml")) for claim in read(path)]
    twice = [name for name, times in Counter(claim.id for claim in found).items() if times > 1]
    if twice:
        raise ClaimsError(
            f"The id {twice[0]!r} stands in two rows of the ledger; each row needs its own."
        )
    return tuple(sorted(found, key=lambda claim: (claim.segment, claim.seconds)))


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
    return [_claim(row, path.name, int(segment), chapter) for row in rows["claim"]]


def _claim(row: dict, file: str, segment: int, chapter: str) -> Claim:
    name = row.get("id") or f"after {row.get('time', 'nothing')}"

    def stop(key: str, problem: str) -> NoReturn:
        raise ClaimsError(f"{file}, claim {name}, {key}: {problem}.")

    for key in sorted(KEYS):
        if not isinstance(row.get(key), str) or not row[key].strip():
            stop(key, "is missing; it must be a text")
    for key in sorted(set(row) - KEYS - MAY):
        stop(key, f"is no key of a claim; there are {', '.join(sorted(KEYS | MAY))}")
    if row["who"] not in SPEAKERS:
        stop("who", f"must be one of {', '.join(SPEAKERS)}; got {row['who']!r}")
    if not row["link"].startswith("https://") and row["link"] != f"{chapter}.html":
        stop(
            "link",
            f"must be an address that starts with https://, or {chapter}.html for what the book "
            "derives; "
            f"got {row['link']!r}",
        )
    try:
        lecture_seconds(row["time"].removeprefix("about "))
    except AskError as error:
        stop("time", str(error).rstrip("."))
    ways = [key for key in ("values", "check", "verdict") if key in row]
    if len(ways) != 1:
        stop(
            "values",
            "a claim has values, or a check, or a verdict, and one of them only; "
            f"got {' and '.join(ways) or 'none'}",
        )
    if ("values" in row) != ("spoken" in row):
        stop("spoken", "what was said and the values that it is held against come together")
    common = {
        "segment": segment,
        "chapter": chapter,
        "basis": ways[0],
        **{key: row[key].strip() for key in KEYS},
    }
    for key in ("depends", "contrary", "slip"):
        if key in row and (not isinstance(row[key], str) or not row[key].strip()):
            stop(key, f"must be a text; got {row[key]!r}")
    if row.get("of", "all") not in QUANTIFIERS:
        stop("of", f"must be one of {', '.join(QUANTIFIERS)}; got {row['of']!r}")
    if not isinstance(row.get("at_least", False), bool) or (
        "at_least" in row and "spoken" not in row
    ):
        stop(
            "at_least",
            f"must be true or false, and stand beside what was spoken; got {row['at_least']!r}",
        )
    if "verdict" in row:
        if row["verdict"] not in VERDICTS:
            stop("verdict", f"must be one of {', '.join(VERDICTS)}; got {row['verdict']!r}")
        more = {"verdict": row["verdict"]}
    else:
        more = _checked(row, stop) if "check" in row else _recomputed(row, stop)
    more["verdict"] = _settled(row, more["verdict"], stop)
    common |= {
        key: row[key] for key in ("of", "at_least", "depends", "contrary", "slip") if key in row
    }
    common["reason"] = _filled(
        common["reason"], {value.label: value.text for value in more.get("values", ())}, stop
    )
    return Claim(**common, **more)


def _settled(row: dict, found: str, stop: Stop) -> str:
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


def _filled(reason: str, known: dict[str, str], stop: Stop) -> str:
    """Fill in the numbers that stand in braces in a reason.

    Each is the label of a value, or a request of its own.
    """

    def number(found: re.Match) -> str:
        if found[1] in known:
            return known[found[1]]
        try:
            asked = answer(found[1])
        except AskError as error:
            stop("reason", str(error).rstrip("."))
        return format_value(asked.value, asked.unit or "1")

    return re.sub(r"\{([^{}]+)\}", number, reason)


def _checked(row: dict, stop: Stop) -> dict:
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


def _recomputed(row: dict, stop: Stop) -> dict:
    unit = row.get("unit")
    if unit not in UNITS:
        stop("unit", f"must be one of {', '.join(UNITS)}; got {unit!r}")
    within = row.get("within")
    if isinstance(within, bool) or not isinstance(within, (int, float)) or not 1 <= within < ORDER:
        stop("within", f"must be a factor from 1 to below {ORDER:g}, such as 1.1; got {within!r}")

    def number(key: str, asked) -> tuple[float, bool]:
        if isinstance(asked, (int, float)) and not isinstance(asked, bool):
            return float(asked), True
        try:
            found = answer(asked)
        except AskError as error:
            stop(key, str(error).rstrip("."))
        if found.unit not in (None, unit):
            stop(key, f"{asked!r} is in {found.unit}, but the claim is in {unit}")
        return found.value, found.verified

    said = row["spoken"] if isinstance(row["spoken"], list) else [row["spoken"]]
    if not 1 <= len(said) <= 2 or any(not isinstance(part, (int, float, str)) for part in said):
        stop("spoken", f"must be a number or a range of two; got {row['spoken']!r}")
    low, high = (number("spoken", part)[0] for part in (said[0], said[-1]))
    if not 0 < low <= high:
        stop("spoken", f"must be above 0 and rise; got {row['spoken']!r}")
    if not isinstance(row["values"], dict) or not row["values"]:
        stop("values", "must be a table of at least one convention and its request")
    values = []
    for label, asked in row["values"].items():
        if not isinstance(asked, str):
            stop(
                f"values {label!r}",
                f"must be a request for a formula, a fact or arithmetic; got {asked!r}",
            )
        value, verified = number(f"values {label!r}", asked)
        values.append(
            Value(
                label,
                asked,
                value,
                format_value(value, unit),
                verified,
                _near(value, (low, high), within, row.get("at_least", False)),
            )
        )
    text = row.get("said") or " to ".join(
        dict.fromkeys(format_value(part, unit, 4) for part in (low, high))
    )
    return {
        "spoken": (low, high),
        "spoken_text": text,
        "unit": unit,
        "within": float(within),
        "values": tuple(values),
        "verdict": judge(
            [value.value for value in values],
            (low, high),
            within,
            row.get("of", "all"),
            row.get("at_least", False),
        ),
    }


def as_object(claim: Claim) -> dict:
    """Return a claim as JSON.

    Numbers are in SI units (and dollars, tokens, …), None where there are none.
    """
    return {
        "id": claim.id,
        "segment": claim.segment,
        "chapter": claim.chapter,
        "time": claim.time,
        "seconds": claim.seconds,
        "who": claim.who,
        "statement": claim.statement,
        "spoken": {
            "low": claim.spoken[0],
            "high": claim.spoken[1],
            "unit": claim.unit,
            "text": claim.spoken_text,
            "within": claim.within,
        }
        if claim.spoken
        else None,
        "recomputed": [
            {
                "convention": value.label,
                "request": value.request,
                "value": value.value,
                "verified": value.verified,
                "agrees": value.agrees,
            }
            for value in claim.values
        ],
        "of": claim.of,
        "depends": claim.depends or None,
        "contrary": claim.contrary or None,
        "slip": claim.slip or None,
        "tested": claim.tested or None,
        "found": [{"case": finding.label, "agrees": finding.agrees} for finding in claim.findings],
        "verdict": claim.verdict,
        "basis": BASES[claim.basis],
        "reason": claim.reason,
        "source": claim.source,
        "link": claim.link,
        "lecture": claim.address,
    }
