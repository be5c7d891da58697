"""Make the ledger of the lecture's claims as a page, and its data as files.

The page is a list that can be read without scripts.

``ledger.js`` adds searching and filtering; what it needs to know stands in each entry's ``data-``
attributes.
"""

from __future__ import annotations

import csv
import html
import io
import json
from collections.abc import Sequence
from pathlib import Path

from handful_evidence.claims import BASES, CHAPTERS, SEGMENTS, VERDICTS, Claim, as_object, load
from handful_explorers.tables import Part

# What stands before a verdict, for those who do not see its colour.
MARKS = {
    "holds": "✓",
    "order of magnitude": "≈",
    "depends": "↔",
    "contested": "±",
    "true when said": "◷",
    "slip of the tongue": "~",
    "wrong": "✗",
    "not checkable": "?",
}
FILES = ("claims.json", "claims.csv")


def slug(verdict: str) -> str:
    """Return a verdict as the name of a class.

    >>> slug("order of magnitude")
    'order-of-magnitude'
    """
    return verdict.replace(" ", "-")


def badge(verdict: str) -> str:
    """Return the words of a verdict's badge.

    >>> badge("holds")
    '✓ holds'
    """
    return f"{MARKS[verdict]} {verdict}"


def overview() -> Part:
    """Return counts by verdict, what each means, and the place where ledger.js puts its fields.

    >>> "ledger-tools" in overview().text
    True
    """
    claims = load()
    rows = "".join(
        f'<tr><th scope="row"><span class="verdict verdict-{slug(name)}">{badge(name)}</span></th>'
        f"<td>{sum(claim.verdict == name for claim in claims)}</td><td>{html.escape(meaning)}</td>"
        "</tr>"
        for name, meaning in VERDICTS.items()
    )
    return Part(
        '<div class="ledger-overview"><table><thead><tr><th scope="col">Verdict</th>'
        '<th scope="col">Claims</th>'
        f'<th scope="col">When</th></tr></thead><tbody>{rows}</tbody></table></div>'
        '<div class="ledger-tools"></div>'
    )


def segment(number: int) -> Part:
    """Return the claims of one segment of the lecture.

    >>> segment(7).text.count("<li ")
    16
    """
    entries = "".join(_entry(claim) for claim in load() if claim.segment == number)
    return Part(
        f'<ol class="ledger" data-segment="{number}" '
        f'data-title="{html.escape(SEGMENTS[number])}">{entries}</ol>'
    )


def checked(chapter: str, only: Sequence[str] = ()) -> Part:
    """Return the claims of a chapter in the order of the lecture, with the verdict on each.

    What comes out is told where it is not simply what was said. With `only`, ids of claims, the
    others are left to the ledger, which the table links to.

    >>> checked("balance-batch").text.count("<tr>") - 1
    35
    >>> few = checked("balance-batch", only=["cache-hits-cost-less"])
    Traceback (most recent call last):
    ...
    ValueError: The chapter “balance-batch” has no claim “cache-hits-cost-less”.
    >>> checked("balances")
    Traceback (most recent call last):
    ...
    ValueError: The ledger has no claim of a chapter “balances”.
    """
    claims = [claim for claim in load() if claim.chapter == chapter]
    if not claims:
        raise ValueError(f"The ledger has no claim of a chapter “{chapter}”.")
    known = {claim.id for claim in claims}
    for name in only:
        if name not in known:
            raise ValueError(f"The chapter “{chapter}” has no claim “{name}”.")
    total = len(claims)
    claims = [claim for claim in claims if not only or claim.id in only]
    e = html.escape
    held = sum(claim.verdict == "holds" for claim in claims)
    rows = "".join(
        f'<tr><th scope="row"><a class="lecture-time" href="{e(claim.address)}">{claim.time}</a> '
        f"{claim.who}</th><td>{e(claim.statement)}"
        + (f"<p>{e(claim.reason)}</p>" if claim.verdict != "holds" else "")
        + f'</td><td><a class="claim verdict-{slug(claim.verdict)}" '
        f'href="claims.html#claim-{claim.id}">{badge(claim.verdict)}</a></td></tr>'
        for claim in sorted(claims, key=lambda claim: claim.seconds)
    )
    rest = (
        f'<p>The other {total - len(claims)} statements of this part are in <a href="claims.html">'
        "the ledger</a>.</p>"
        if total > len(claims)
        else ""
    )
    return Part(
        f'<details class="fold"><summary>{len(claims)} statements of the lecture, {held} of which '
        "hold without conditions</summary>"
        '<div class="ledger-checked plain-table"><table><thead><tr><th scope="col">Who</th>'
        '<th scope="col">What was said, and what comes out</th><th scope="col">Verdict</th></tr>'
        f"</thead><tbody>{rows}</tbody></table></div>{rest}</details>"
    )


def _entry(claim: Claim) -> str:
    e = html.escape
    return (
        f'<li class="entry" id="claim-{claim.id}" data-verdict="{claim.verdict}" '
        f'data-who="{claim.who}">'
        f'<p class="entry-head"><a class="lecture-time" href="{e(claim.address)}">{claim.time}</a> '
        f'<span class="entry-who">{claim.who}</span> '
        f'<span class="verdict verdict-{slug(claim.verdict)}">{badge(claim.verdict)}</span> '
        f'<a class="entry-id" href="#claim-{claim.id}">{claim.id}</a></p>'
        f'<p class="entry-said">{e(claim.statement)}</p>{_found(claim)}'
        f'<p class="entry-why">{e(claim.reason)}{_more(claim)}</p>'
        f'<p class="entry-source">{BASES[claim.basis].capitalize()}. Source: '
        f'<a href="{e(claim.link)}">{e(claim.source)}</a>. '
        f'Chapter: <a href="{claim.chapter}.html">{e(CHAPTERS[claim.chapter])}</a>.</p></li>'
    )


def _more(claim: Claim) -> str:
    """Return what a verdict rests on besides the values.

    That is what it depends on, who says otherwise, and what was corrected.
    """
    said = (("depends", "It depends on "), ("contrary", "Against it: "), ("slip", "A slip: "))
    return "".join(
        f' <span class="entry-{key}">{words}{html.escape(getattr(claim, key).rstrip("."))}.</span>'
        for key, words in said
        if getattr(claim, key)
    )


def _found(claim: Claim) -> str:
    """Return what was recomputed, convention by convention, or what a test found, case by case."""
    e = html.escape
    if claim.values:
        tolerance = (
            f"a factor of {claim.within:g} is allowed" if claim.within > 1 else "no tolerance"
        )
        tolerance += {"most": "; said of most", "some": "; said to be possible"}.get(
            claim.of, ""
        ) + ("; or beyond it" if claim.at_least else "")
        head = f"Said: <strong>{e(claim.spoken_text)}</strong> ({tolerance}). Recomputed:"
        rows = [
            (value.label, value.text + ("" if value.verified else " (unverified)"), value.agrees)
            for value in claim.values
        ]
    elif claim.findings:
        head = f"Tested: {e(claim.tested)}."
        rows = [(finding.label, "", finding.agrees) for finding in claim.findings]
    else:
        return ""
    body = "".join(
        f'<tr class="{"agrees" if agrees else "differs"}"><th scope="row">{e(label)}</th>'
        + (f"<td>{e(text)}</td>" if text else "")
        + f"<td>{'✓ agrees' if agrees else '✗ differs'}</td></tr>"
        for label, text, agrees in rows
    )
    return (
        f'<p class="entry-how" id="how-{claim.id}">{head}</p>'
        f'<table class="entry-found" aria-labelledby="how-{claim.id}"><tbody>{body}</tbody></table>'
    )


# Data for others ----------------------------------------------------------------------------------


def as_csv() -> str:
    """Return all claims as CSV, one a row.

    The conventions and cases of a claim share a cell, separated by semicolons.
    """
    columns = (
        "id",
        "segment",
        "chapter",
        "time",
        "seconds",
        "who",
        "statement",
        "spoken_low",
        "spoken_high",
        "unit",
        "within",
        "recomputed",
        "verdict",
        "basis",
        "reason",
        "source",
        "link",
    )
    out = io.StringIO()
    table = csv.DictWriter(out, columns, lineterminator="\n", extrasaction="ignore")
    table.writeheader()
    for claim in load():
        found = as_object(claim)
        said = found.pop("spoken") or {}
        cells = [f"{value.label} = {value.value!r}" for value in claim.values] or [
            f"{finding.label}: {'agrees' if finding.agrees else 'differs'}"
            for finding in claim.findings
        ]
        table.writerow(
            {
                **found,
                "spoken_low": said.get("low"),
                "spoken_high": said.get("high"),
                "unit": said.get("unit"),
                "within": said.get("within"),
                "recomputed": "; ".join(cells),
            }
        )
    return out.getvalue()


def publish(folder: Path) -> None:
    """Write the ledger's data beside its page."""
    data = {
        "lecture": load()[0].address.partition("&t=")[0],
        "claims": [as_object(claim) for claim in load()],
    }
    texts = (json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False), as_csv())
    for name, text in zip(FILES, texts, strict=True):
        (folder / name).write_text(text, "utf-8")
