"""Split Python into tokens that renaming, reformatting and commenting do not change.

They are for comparing, never for running.

The text is a stranger's: it is split by one expression in time that grows with its length, and
whatever is no Python is split as well.
"""

from __future__ import annotations

import builtins
import hashlib
import keyword
import re
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass

K = 7  # tokens of a shingle
MOST_CHARACTERS = 60_000  # of one submission's own code
MOST_SHINGLES = 3_000
_TOKEN = re.compile(
    r"""
  (?P<skip>[ \t\f\r]+|\\\r?\n|\#[^\n]*)
| (?P<line>\n)
| (?P<string>[rRbBuUfF]{0,2}(?:
      \"{3}(?:[^\\]|\\.|\\\Z)*?(?:\"{3}|\Z)
    | '{3}(?:[^\\]|\\.|\\\Z)*?(?:'{3}|\Z)
    | "(?:[^"\\\n]|\\.)*"?
    | '(?:[^'\\\n]|\\.)*'?
  ))
| (?P<number>(?:0[xXoObB][\da-fA-F_]+|(?:\d[\d_]*)?\.?\d[\d_]*\.?(?:[eE][-+]?\d[\d_]*)?)[jJ]?)
| (?P<name>[^\W\d]\w*)
| (?P<sign>\*\*=?|//=?|<<=?|>>=?|[-+*/%&|^@=<>!:]=|->|\.\.\.|.)
""",
    re.X | re.S,
)
_FIXED = frozenset(keyword.kwlist) | frozenset(
    name for name in dir(builtins) if not name.startswith("_")
)
_PARAMETERS = re.compile(r"^\s*def\s+\w+\s*\(([^)]*)\)", re.M)


@dataclass(frozen=True)
class Token:
    """The compared form of a token, and the line of its cell on which it stands."""

    text: str
    line: int


def fixed(released: Iterable[str], names: Iterable[str] = ()) -> frozenset[str]:
    """Return names that a student cannot rename.

    These are the names given, and the parameters of functions that were released.

    >>> sorted(fixed(["def step_time(batch, context=1): ..."], ["step_time"]))
    ['batch', 'context', 'given', 'step_time']
    """
    found = {"given", *names}
    for source in released:
        for inside in _PARAMETERS.findall(source):
            found.update(re.findall(r"[^\W\d]\w*(?=\s*(?:[,:=]|$))", inside))
    return frozenset(found)


def tokens(source: str, keep: Set[str] = frozenset()) -> list[Token]:
    r"""Return the tokens of a cell, with the student's own names all alike.

    Comments, docstrings, blank space and brackets that only group are left out.

    >>> one = tokens("def f(x):\n    '''Doc.'''\n    speed = (x * 2)  # why\n    return speed")
    >>> two = tokens("def g(y): return_ = y*2; return return_")
    >>> [token.text for token in one] == [
    ...     token.text for token in two
    ... ] == "def · ( · ) : · = · * 2.0 return ·".split()
    True
    """
    found = _split(source[:MOST_CHARACTERS])
    grouping = _grouping(found)
    kept, attribute = [], False
    for place, (kind, text, line) in enumerate(found):
        if (
            kind == "line"
            or place in grouping
            or text == ";"
            or (kind == "string" and _alone(found, place))
        ):
            continue
        if kind == "name":
            made = text if text in _FIXED or text in keep or attribute else "·"
        elif kind == "string":
            inside = text.lstrip("rRbBuUfF").strip("\"'")
            made = f'"{inside}"' if inside in keep else '"'
        elif kind == "number":
            made = _number(text)
        else:
            made = text
        attribute = text == "."
        kept.append(Token(made, line))
    return [
        token
        for place, token in enumerate(kept)
        if not (
            token.text == "," and place + 1 < len(kept) and kept[place + 1].text in (")", "]", "}")
        )
    ]


def _split(source: str) -> list[tuple[str, str, int]]:
    found, line = [], 0
    for match in _TOKEN.finditer(source):
        kind, text = str(match.lastgroup), match[0]  # every alternative has a name
        if kind != "skip":
            found.append((kind, text, line))
        line += text.count("\n")
    return found


def _grouping(found: list[tuple[str, str, int]]) -> set[int]:
    """Return the places of round brackets that call nothing and make no tuple."""
    grouping, opened, before = set(), [], ""
    for place, (kind, text, _) in enumerate(found):
        if kind == "line":
            continue
        if kind == "sign" and text in ("(", "[", "{"):
            calls = before in (")", "]") or (
                before.isidentifier() and not keyword.iskeyword(before)
            )
            opened.append([place, text == "(" and not calls, False])
        elif kind == "sign" and text == "," and opened:
            opened[-1][2] = True
        elif kind == "sign" and text in (")", "]", "}") and opened:
            start, groups, tuples = opened.pop()
            if groups and not tuples and text == ")":
                grouping |= {start, place}
        before = text
    return grouping


def _alone(found: list[tuple[str, str, int]], place: int) -> bool:
    """Return whether a string is a statement of its own: a docstring or a kind of comment."""
    before = found[place - 1] if place else ("line", "\n", 0)
    after = found[place + 1] if place + 1 < len(found) else ("line", "\n", 0)
    return (before[0] == "line" or before[1] in (":", ";")) and (
        after[0] == "line" or after[1] == ";"
    )


def _number(text: str) -> str:
    try:
        return repr(float(text.replace("_", "")))
    except ValueError:
        return text.lower()


def words(text: str) -> list[Token]:
    """Return the words of a written answer.

    >>> [token.text for token in words("The *weights*, read once.")]
    ['the', 'weights', 'read', 'once']
    """
    return [
        Token(word, line)
        for line, part in enumerate(text[:MOST_CHARACTERS].casefold().split("\n"))
        for word in re.findall(r"\w+", part)
    ]


def shingles(found: list[Token]) -> Iterator[tuple[int, int, int]]:
    """Yield each run of K tokens: its digest, and the lines of its first and last token.

    Where there are fewer tokens, there is one shorter run.
    """
    texts = [token.text for token in found]
    for start in range(max(1, len(found) - K + 1) if found else 0):
        run = "\x1f".join(texts[start : start + K])
        digest = int.from_bytes(
            hashlib.blake2b(run.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big"
        )
        yield digest, found[start].line, found[min(start + K, len(found)) - 1].line
