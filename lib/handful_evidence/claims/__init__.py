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

from collections import Counter
from functools import cache
from pathlib import Path

from handful.nearest import nearest

from .claim import (
    BASES,
    CHAPTERS,
    ORDER,
    SEGMENTS,
    VERDICTS,
    Claim,
    ClaimsError,
    Finding,
    Value,
    judge,
)
from .reader import read

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

FOLDER = Path(__file__).parent


def find(name: str) -> Claim:
    """Return one claim by its id.

    >>> find("balance-is-3000")
    Traceback (most recent call last):
    ...
    handful_evidence.claims.claim.ClaimsError: There is no claim 'balance-is-3000';
    the nearest are balance-is-300...
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
