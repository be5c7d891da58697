"""Build self-contained HTML pages for teachers and students.

They have no script, fetch nothing, and suit light and dark, phone and paper.

Whatever a student wrote goes through `shown`; the policy of a page allows its one style sheet, by
its digest, and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from html import escape

from .marks import limit_marks

STYLE = """
:root { color-scheme: light dark; --ink: #1f2328; --soft: #57606a; --paper: #fff; --wash: #f5f6f8;
  --edge: #d0d6de; --grid: #e4e7ec;
  --0: #0068a8; --1: #b04456; --2: #0a401e; --3: #943b71; --good: #0a401e; --bad: #b04456;
  --wait: #393b9a; --mark: #fff1c9; }
@media screen and (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --soft: #a3acb8;
  --paper: #14181e; --wash: #1d232b; --edge: #454e59; --grid: #2b323b;
  --0: #75c9ff; --1: #d26b21; --2: #089e78; --3: #d682b8; --good: #089e78; --bad: #d67028;
  --wait: #979af1; --mark: #4a3b10; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 2rem 1.25rem 3rem;
  font: 1rem/1.5 system-ui, "Helvetica Neue", Arial, sans-serif; color: var(--ink);
  background: var(--paper); overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 .25rem; }
h2 { font-size: 1.2rem; margin: 2.4rem 0 .6rem; break-after: avoid; }
h3 { font-size: 1rem; margin: 0; } p, ul, ol { margin: 0 0 .6rem; } ul, ol { padding-left: 1.3rem; }
a { color: var(--0); }
.note { color: var(--soft); font-size: .9rem; } .good { color: var(--good); }
.bad { color: var(--bad); } .wait { color: var(--wait); }
.num { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
code, pre { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: .86rem; }
.scroll { overflow-x: auto; margin: 0 0 .6rem; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th, td { text-align: start; vertical-align: baseline; padding: .35rem .7rem .35rem 0;
  border-bottom: 1px solid var(--grid); min-width: 6rem; }
td:not(.num):last-child { min-width: 9rem; } th { font-weight: 600; }
thead th { color: var(--soft); }
tbody th { font-weight: 400; }
th.num, td.num { text-align: right; padding-left: .7rem; min-width: 0; }
.num + :not(.num) { padding-left: .8rem; } tr { break-inside: avoid; }
.key { display: inline-block; margin-right: .9rem; white-space: nowrap; }
.key svg { display: inline-block; width: .8em; height: .8em; vertical-align: -.05em; }
figure { margin: .6rem 0; }
svg { display: block; width: 100%; height: auto;
  font-family: system-ui, "Helvetica Neue", Arial, sans-serif; }
figcaption { color: var(--soft); font-size: .9rem; }
details { margin: .4rem 0; } summary { cursor: pointer; color: var(--soft); font-size: .9rem; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .75rem;
  margin: 1.2rem 0; }
.tile { border: 1px solid var(--edge); border-radius: .5rem; padding: .7rem .9rem;
  background: var(--wash); }
.tile b { display: block; font-size: 1.5rem; line-height: 1.2;
  font-variant-numeric: tabular-nums; }
.tile span { color: var(--soft); font-size: .85rem; }
.card { border: 1px solid var(--edge); border-left: .3rem solid var(--edge); border-radius: .4rem;
  padding: .8rem 1rem; margin: .8rem 0; break-inside: avoid; }
.card.good { border-left-color: var(--good); } .card.bad { border-left-color: var(--bad); }
.card.wait { border-left-color: var(--wait); } .card { color: var(--ink); }
.head { display: flex; flex-wrap: wrap; gap: .2rem 1rem; justify-content: space-between;
  align-items: baseline; margin: 0 0 .4rem; }
.head .num { font-weight: 600; margin-left: auto; } .card p:last-child { margin-bottom: 0; }
.answer { white-space: pre-wrap; background: var(--wash); border-radius: .3rem;
  padding: .6rem .8rem; margin: 0 0 .6rem; }
.misconception { border-left: 3px solid var(--1); padding-left: .7rem; }
.bar { height: .5rem; border-radius: .25rem; background: var(--grid); overflow: hidden;
  margin: .5rem 0; }
footer { margin-top: 2.5rem; border-top: 1px solid var(--grid); padding-top: .8rem;
  color: var(--soft); font-size: .85rem; }
@media (max-width: 30rem) { body { padding: 1.2rem .9rem 2rem; }
  .tiles { grid-template-columns: 1fr 1fr; } }
@media print { body { max-width: none; padding: 0; font-size: 10.5pt; }
  details:not([open])::details-content { content-visibility: visible; block-size: auto; }
  a { color: inherit; } }
""".strip()
# The colours of plotting/style.py, which an SVG holds as attributes, follow the reader's light or
# dark.
INKS = {
    "#1f2328": "ink",
    "#57606a": "soft",
    "#dfe3e8": "grid",
    "#0068a8": "0",
    "#b04456": "1",
    "#0a401e": "2",
    "#943b71": "3",
}
SVG_STYLE = "\n".join(
    f'svg [fill="{ink}"] {{ fill: var(--{name}); }} svg [stroke="{ink}"] {{ stroke: '
    f"var(--{name}); }}"
    for ink, name in INKS.items()
)
MOST = 20_000  # characters of one student's text on a page


def shown(text: object, most: int = MOST) -> str:
    r"""Return untrusted text as HTML: escaped, bounded, with invisible characters spelled out.

    Characters that turn the line about count as invisible.  Of combining marks in a row few are
    shown (`handful_classroom.marks`), since many would cover the lines above and below.

    >>> shown("<script>alert(1)</script>")
    '&lt;script&gt;alert(1)&lt;/script&gt;'
    >>> shown("ad\u202egnp.exe\x00"), shown("x" * 9, most=4)
    ('ad⟨U+202E⟩gnp.exe⟨U+0000⟩', 'xxxx… (5 more characters)')
    """
    text = str(text)
    rest = len(text) - most
    return escape("".join(_visible(letter) for letter in limit_marks(text[:most]))) + (
        f"… ({rest:,} more characters)" if rest > 0 else ""
    )


# Joiners make emoji and the letters of several scripts; they move nothing.
_HARMLESS = {"\n", "\t", "\u200c", "\u200d", "\u00ad"}


def _visible(letter: str) -> str:
    if (
        letter in _HARMLESS
        or letter.isprintable()
        or unicodedata.category(letter) not in ("Cc", "Cf", "Cs", "Zl", "Zp")
    ):
        return letter
    return "" if letter == "\r" else f"⟨U+{ord(letter):04X}⟩"


def page(title: str, body: str, style: str = "") -> str:
    """Return a whole document; `body` is HTML already."""
    sheet = f"\n{STYLE}\n{style}\n" if style else f"\n{STYLE}\n"
    digest = base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{shown(title, 200)}</title>\n<style>{sheet}</style>\n</head>\n<body>\n{body}\n"
        "</body>\n</html>\n"
    )


def table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    numbers: Sequence[int] = (),
    caption: str = "",
) -> str:
    """Return a table that scrolls on a phone.

    Cells are HTML already, the columns in `numbers` are aligned to the right, and the first column
    is each row's name.
    """
    kind = [' class="num"' if i in numbers else "" for i in range(len(heads))]

    def cell(i: int, inside: str) -> str:
        return f"<td{kind[i]}>{inside}</td>" if i else f'<th scope="row"{kind[i]}>{inside}</th>'

    body = "\n".join("<tr>" + "".join(map(cell, range(len(row)), row)) + "</tr>" for row in rows)
    head = "".join(f'<th scope="col"{kind[i]}>{name}</th>' for i, name in enumerate(heads))
    named = f'<caption class="note">{caption}</caption>\n' if caption else ""
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>\n'
        f"{named}<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>"
    )


def number(value: float) -> str:
    """Return points as people write them.

    >>> number(7.5), number(4.0), number(1 / 3), number(0.0)
    ('7.5', '4', '0.33', '0')
    """
    return f"{value:.2f}".rstrip("0").rstrip(".")


def file_name(student: str) -> str:
    """Return a portable name for the files of a student; no two students share one.

    >>> file_name("ada"), file_name("Ada_12.b-c")
    ('ada', 'Ada_12.b-c-497d7603')
    >>> file_name("../../etc/passwd")[:11]
    'etc-passwd-'
    """
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", student).strip("-.")[:60]
    # Capitals get the digest as well: two names that differ in nothing else are one file on some
    # systems.
    clear = (
        plain == student == plain.lower()
        and plain.partition(".")[0] not in _RESERVED
        and not re.search(r"-[0-9a-f]{8}$", plain)
    )
    if plain and clear:
        return plain
    digest = hashlib.sha256(student.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{plain or 'student'}-{digest}"


_RESERVED = {"con", "prn", "aux", "nul"} | {
    f"{port}{i}" for port in ("com", "lpt") for i in range(1, 10)
}
