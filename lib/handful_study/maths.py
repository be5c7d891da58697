r"""Formulas away from the page: as MathML for paper, and as a line of text for a terminal.

Both come from one tree.

The tree is that of the library ``latex2mathml``, restricted to what it can do: it passes unknown
commands through as words, and does not escape text.  Where that happens the formula is shown as its
TeX, and `tree` raises a MathsError, which tests catch.

>>> (
...     text(r"t \ge \frac{N_\text{total} w}{n\,\mathrm{BW}}"),
...     text(r"2^{-\Delta} + x_1^2"),
...     text(r"\tfrac12 \max(a, b)"),
... )
('t ≥ (N_total w)/(n BW)', '2^(−Δ) + x₁²', '1/2 max(a, b)')
"""

from __future__ import annotations

import html
import re
from functools import cache
from xml.etree import ElementTree

# Environments that it does not know, and the ones of the same shape that it does.
_SAME = {"aligned": "split", "gathered": "matrix", "alignedat": "split"}
_UPPER = str.maketrans("0123456789+−=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ")
_LOWER = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_CLOSE = {",", ";"}  # written close to what stands before
_OPEN, _SHUT = set("([{⌈⌊⟨|"), set(")]}⌉⌋⟩|")
_TIGHT = {"⁡", "′", "!", "%", "$", "€", ".", "∂", "∇", "∑", "∏", "∫", "¬", "…", "∞", "∀", "∃"}


class MathsError(ValueError):
    """TeX that the library cannot turn into MathML."""


@cache
def tree(tex: str, display: bool = False) -> ElementTree.Element:
    r"""Return the MathML tree of a formula.

    >>> tree(r"\unheard{x}")
    Traceback (most recent call last):
    ...
    handful_study.maths.MathsError: '\\unheard{x}' holds \unheard, which cannot be shown away
    from the page.
    """
    from latex2mathml.converter import convert

    plain = re.sub(
        r"\\(begin|end)\{(\w+)\*?\}",
        lambda found: (
            rf"\{found[1]}{{{_SAME.get(found[2], found[2])}{'*' if found[2] == 'align' else ''}}}"
        ),
        tex,
    )
    plain = re.sub(r"\\(?:[bB]igg?[lrm]?)(?![A-Za-z])\s*", "", plain)
    try:
        made = convert(plain, display="block" if display else "inline")
        found = ElementTree.fromstring(
            re.sub(r"&(?!#?\w+;)", "&amp;", re.sub(r' xmlns="[^"]*"', "", made))
        )
    except Exception as error:  # the library's errors have no common base
        raise MathsError(
            f"{tex!r} cannot be shown away from the page: {error or type(error).__name__}."
        ) from None
    for element in found.iter():
        words = element.text or ""
        if "\\" in words or (words.strip() == "&"):
            raise MathsError(
                f"{tex!r} holds {words.strip()}, which cannot be shown away from the page."
            )
    return found


def mathml(tex: str, display: bool = False) -> str:
    """Return a formula as MathML; as its TeX where that is not possible."""
    try:
        found = ElementTree.tostring(tree(tex, display), encoding="unicode")
    except MathsError:
        return f"<code>{html.escape(tex)}</code>"
    return found


def text(tex: str) -> str:
    """Return a formula as one or more lines of text; as its TeX where that is not possible."""
    try:
        return re.sub(r"[ \xa0]+", " ", _as_text(tree(tex))).strip()
    except MathsError:
        return tex


def _as_text(element: ElementTree.Element) -> str:
    parts = list(element)
    match element.tag:
        case "mi" | "mn" | "mo" | "mtext":
            return element.text or ""
        case "mspace":
            return " "
        case "mfrac":
            over, under = map(_as_text, parts)
            return f"{_parenthesized(over)}/{_parenthesized(under)}"
        case "msup" | "mover":
            base, upper = map(_as_text, parts)
            return (
                _with_accent(base, upper)
                if element.tag == "mover"
                else _with_superscript(base if base in _SHUT else _parenthesized(base), upper)
            )
        case "msub" | "munder":
            base, lower = map(_as_text, parts)
            return _with_subscript(base, lower)
        case "msubsup" | "munderover":
            base, lower, upper = map(_as_text, parts)
            return _with_superscript(_with_subscript(base, lower), upper)
        case "msqrt":
            return f"√{_parenthesized(_row(parts))}"
        case "mroot":
            return (
                f"{_with_superscript('', _as_text(parts[1]))}√{_parenthesized(_as_text(parts[0]))}"
            )
        case "mtable":
            return "\n".join(
                " ".join(filter(None, (_as_text(cell).strip() for cell in row))) for row in parts
            )
        case _:
            return _row(parts)


def _row(parts: list[ElementTree.Element]) -> str:
    """Join parts side by side, with the spaces that a reader needs to tell them apart."""
    line, before, letters = "", "start", False  # before: what the last part was
    for part in parts:
        if part.tag == "mspace":
            line += " "
            continue
        if not (shown := _as_text(part).strip(" ")):
            continue
        kind, upright = _kind_of_part(part, shown, before), part.get("mathvariant") == "normal"
        if letters and upright:
            line += shown  # a name of several upright letters
        elif kind == "sign":
            line = f"{line.rstrip(' ')} {shown} "
        elif kind == "comma":
            line = f"{line.rstrip(' ')}{shown} "
        elif (
            kind in ("prefix", "shut")
            or before in ("open", "prefix", "start", "tight")
            or kind == "tight"
        ) or (kind == "open" and before == "name"):
            line += shown
        else:
            line = (
                f"{line.rstrip(' ')} {shown}"
                if line and not line.endswith((" ", "\n"))
                else line + shown
            )
        before, letters = "sign" if kind == "comma" else kind, upright
    return line


def _kind_of_part(part: ElementTree.Element, shown: str, before: str) -> str:
    if shown in _CLOSE:
        return "comma" if part.tag == "mo" else "tight"  # f(a, b), and 10{,}000
    if shown in _OPEN and not (shown == "|" and before in ("value", "shut")):
        return "open"
    if shown[0] in _SHUT:
        return "shut"
    if shown in _TIGHT:
        return "tight"
    if part.tag == "mo" and shown.isalpha():
        return "name"
    if part.tag == "mo" or (part.tag == "mi" and len(shown) == 1 and not shown.isalnum()):
        return (
            "prefix"
            if shown in "−-+±" and before in ("start", "sign", "open", "prefix")
            else "sign"
        )
    return "name" if part.tag == "mi" else "value"


def _parenthesized(shown: str) -> str:
    """Return the text in parentheses, unless it is a single token."""
    whole = re.fullmatch(r"[\w.,′%$€₀-₉⁰-⁹ⁿ̂̄]+|\([^()]*\)|\w+\([^()]*\)", shown.strip())
    return shown.strip() if whole else f"({shown.strip()})"


def _with_superscript(base: str, upper: str) -> str:
    if upper.strip() in ("′", "*", "⋆", "∗"):
        return base + upper.strip()
    small = upper.translate(_UPPER)
    return (
        base + small
        if all(sign in "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ" for sign in small)
        else f"{base}^{_parenthesized(upper)}"
    )


def _with_subscript(base: str, lower: str) -> str:
    if lower in "⏞⏟":
        return base
    return base + lower.translate(_LOWER) if lower.isdigit() else f"{base}_{_parenthesized(lower)}"


def _with_accent(base: str, upper: str) -> str:
    marks = {
        "¯": "\u0304",
        "‾": "\u0304",
        "^": "\u0302",
        "˜": "\u0303",
        "~": "\u0303",
        "˙": "\u0307",
        "→": "\u20d7",
    }
    return (
        base + marks[upper]
        if upper in marks and len(base) == 1
        else base
        if upper in ("⏞", "⏟")
        else f"{base}^{_parenthesized(upper)}"
    )
