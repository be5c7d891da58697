"""Define a claim, the words that its row may hold, and how a verdict follows from values."""

from __future__ import annotations

from dataclasses import dataclass

from handful.query import QueryError, lecture_address, lecture_seconds

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


class ClaimsError(QueryError):
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
    agree = [agrees(value, spoken, within, at_least) for value in values]
    if QUANTIFIERS[of](agree):
        return "holds"
    if any(agree):
        return "mixed"
    if all(agrees(value, spoken, ORDER, at_least) for value in values):
        return "order of magnitude"
    return "mixed" if min(values) < spoken[0] and max(values) > spoken[1] else "wrong"


def agrees(
    value: float, spoken: tuple[float, float], factor: float, at_least: bool = False
) -> bool:
    """Return whether a value lies within a factor of what was said, or beyond if `at_least`."""
    # The last bit of a product should not decide.
    return spoken[0] / factor * (1 - 1e-9) <= value and (
        at_least or value <= spoken[1] * factor * (1 + 1e-9)
    )
