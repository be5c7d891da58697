"""Tables for pages: what the lecture said in a chapter, held against the book."""

from __future__ import annotations

from handful_evidence.claims import load

from .table import Table


def lecture_checked(chapter: str) -> Table:
    """Return the claims of a chapter in the order of the lecture, with the verdict on each.

    What comes out is told where it is not simply what was said.

    >>> lecture_checked("balance-batch").head
    ['At', 'Who', 'What was said', 'Verdict', 'What comes out']
    >>> lecture_checked("balances")
    Traceback (most recent call last):
    ...
    ValueError: The ledger has no claim of a chapter “balances”.
    """
    claims = [claim for claim in load() if claim.chapter == chapter]
    if not claims:
        raise ValueError(f"The ledger has no claim of a chapter “{chapter}”.")
    rows = [
        [
            claim.time,
            claim.who,
            claim.statement,
            claim.verdict,
            "" if claim.verdict == "holds" else claim.reason,
        ]
        for claim in sorted(claims, key=lambda claim: claim.seconds)
    ]
    return Table(["At", "Who", "What was said", "Verdict", "What comes out"], rows)
