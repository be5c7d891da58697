"""Entries of the reference of formulas, as HTML: one for each formula, with a call that was run.

Nothing here knows a formula of its own: what is registered has an entry, on its subject's page.

>>> page_of("step_time"), anchor_of("step_time")
('formulas-decode-step', 'formula-step_time')
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from functools import cache

from handful.equation import cancelled_quantities, used_formulas
from handful.query import TIME, lecture_address, lecture_title, registry
from handful.search import by_subject
from handful.symbolic.formula import Formula
from handful.symbolic.quantities import Quantity
from handful.symbolic.quantity import title_of
from handful.units import format_value

from .worked_calls import WorkedCall, shown, subject_of, worked

__all__ = [
    "anchor_of",
    "call_text",
    "described",
    "explained",
    "page_of",
    "related",
    "slug_of",
    "title_of",
    "worked",
]

TIMES = re.compile(rf"(?<![\d:.]){TIME.pattern}(?![\d:])")
HEAD = (
    '<thead><tr><th scope="col">Letter</th><th scope="col">Input</th>'
    '<th scope="col">Example, and range</th></tr></thead>'
)


def slug_of(subject: str) -> str:
    """Return the name of a subject's page.

    >>> slug_of("Cost of a model's whole life"), slug_of("A decode step: latency, throughput, cost")
    ('formulas-cost-of-a-models-whole-life', 'formulas-decode-step')
    """
    first = re.sub(r"^(a|an|the) ", "", subject.partition(":")[0].lower().replace("'", ""))
    return f"formulas-{re.sub(r'[^a-z0-9]+', '-', first).strip('-')}"


def page_of(name: str) -> str:
    """Return the page that has the entry of a formula."""
    return slug_of(subject_of(registry()[name]))


def anchor_of(name: str) -> str:
    """Return the anchor of a formula's entry on its page."""
    return f"formula-{name}"


def _link(name: str) -> str:
    text = name.replace("_", "_<wbr>")
    return f'<a href="{page_of(name)}.html#{anchor_of(name)}"><code>{text}</code></a>'


def _links(formulas: Iterable[Formula]) -> str:
    return ", ".join(_link(one.name) for one in formulas)


def _maths(tex: str, tag: str) -> str:
    quoted = html.escape(tex, quote=True)
    open_, close = (r"\[", r"\]") if tag == "div" else (r"\(", r"\)")
    return (
        f'<{tag} class="math notranslate nohighlight" data-tex="{quoted}">'
        f"{open_}{html.escape(tex)}{close}</{tag}>"
    )


def _uses(formula: Formula) -> str:
    """Return the formulas that an equation uses, each after its letter, and what those use."""
    first = {
        one.name: f"{_maths(one.gives.latex, 'span')} {_link(one.name)}"
        for one in formula.using
        if one.name in registry()
    }
    rest = [
        one for one in used_formulas(formula) if one.name in registry() and one.name not in first
    ]
    through = f"; through them {_links(rest)}" if first and rest else _links(rest)
    return ", ".join(first.values()) + through


def _line(head: str, said: str) -> str:
    return f"<p><strong>{head}:</strong> {said}</p>" if said else ""


def sourced(text: str) -> str:
    """Return a source as HTML, with a link to the lecture at each of its times.

    >>> print(sourced("1:05; derived"))
    the lecture at <a class="lecture-time reference external"
    href="https://www.youtube.com/watch?v=xmkSf5IS-zw&amp;t=65s"
    title="lecture, 1 min 5 s">1:05</a>; derived
    """

    def link(found: re.Match[str]) -> str:
        address, title = lecture_address(found[0]), lecture_title(found[0])
        return (
            '<a class="lecture-time reference external" '
            f'href="{html.escape(address)}" title="{title}">{found[0]}</a>'
        )

    before = "the lecture at " if TIMES.match(text) else ""
    return before + TIMES.sub(link, html.escape(text))


def unit_words(unit: str) -> str:
    """Return a unit as it follows a number; "" for plain numbers and shares.

    >>> unit_words("device"), unit_words("B/s"), unit_words("$/token"), unit_words("1")
    ('chips', 'B/s', '$/token', '')
    """
    if unit in ("1", "%"):
        return ""
    found = re.fullmatch(r"2\s(.+)", format_value(2, unit))
    return found[1] if found else unit


def takes(q: Quantity) -> str:
    """Return the unit of a quantity, and the values that it can take, in words.

    >>> from handful.symbolic.quantities import find
    >>> takes(find("memory_bandwidth")), takes(find("pipeline_stages")), takes(find("acceptance"))
    ('B/s, above 0', '1 or more', '0 to 1')
    >>> takes(find("context")), takes(find("loss_offset"))
    ('tokens, 0 or more', 'any finite value')
    """
    least = "0" if q.zero else None if q.least is None else f"{q.least:g}"
    if q.upper is not None:
        top = shown(q.upper, q.unit)
        bounds = f"{least} to {top}" if least else f"above 0, at most {top}"
    else:
        bounds = "any finite value" if q.signed else f"{least} or more" if least else "above 0"
    return ", ".join(part for part in (unit_words(q.unit), bounds) if part)


def _input_name(name: str) -> str:
    return _link(name) if name in registry() else f"<code>{name.replace('_', '_<wbr>')}</code>"


def _inputs(formula: Formula, call: WorkedCall) -> str:
    """Return the table of the inputs that the equation shows."""
    rows = []
    for q in formula.inputs:
        if q.constant or _is_left_out(q):
            continue
        letter = q.latex.removeprefix(r"\,").removesuffix(r"\,")
        default = f"; {q.default:g} unless said otherwise" if q.default is not None else ""
        rows.append(
            f'<tr><td>{_maths(letter, "span")}</td><th scope="row">{_input_name(q.name)}<br>'
            f"{html.escape(q.meaning)}</th><td>{html.escape(shown(call.values[q.name], q.unit))}"
            f"<br><small>{html.escape(takes(q) + default)}</small></td></tr>"
        )
    if not rows:
        return ""
    return (
        f'<div class="plain-table formula-inputs"><table>{HEAD}'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _is_left_out(q: Quantity) -> bool:
    """Return whether equations leave a quantity out, since it has a usual value."""
    return q.default is not None and not q.printed


def _usual(formula: Formula) -> str:
    """Return the inputs that the equation leaves out, with what they are unless set."""
    return "; ".join(
        f"{_input_name(q.name)} is {html.escape(shown(q.default or 0.0, q.unit))}, "
        f"{html.escape(q.meaning)} ({html.escape(takes(q))})"
        for q in formula.inputs
        if not q.constant and _is_left_out(q)
    )


def described(formula: Formula, call: WorkedCall) -> str:
    """Return what stands before the call: meaning, other names, equation, inputs, conventions."""
    meaning = formula.meaning[:1].upper() + formula.meaning[1:]
    unit = "" if formula.gives.unit in ("1", "%") else f" ({formula.gives.unit})"
    # Steps on the way that have no entry of their own are written out.
    within = [
        _maths(one.latex(), "span") for one in used_formulas(formula) if one.name not in registry()
    ]
    cancels = ", ".join(f"<code>{q.name}</code>" for q in cancelled_quantities(formula))
    return "".join(
        [
            f"<p>{html.escape(meaning)}.</p>",
            _line("Also called", html.escape(", ".join(formula.known_as))),
            f'<div class="math-block">{_maths(formula.latex(), "div")}</div>',
            _line("Gives", html.escape(f"{formula.gives.meaning}{unit}")),
            _line("With", ", ".join(within)),
            _line("Uses", _uses(formula)),
            _inputs(formula, call),
            _line("Unless set", _usual(formula)),
            _line("Cancels", cancels),
            _line("Holds if", html.escape("; ".join(formula.conventions))),
        ]
    )


def call_text(call: WorkedCall) -> str:
    """Return the code of a call, and below it its result as a comment."""
    return f"{call.code}\n# {call.shown.replace(chr(0xA0), ' ')}"


def explained(formula: Formula) -> str:
    """Return what stands after the call: source, derivation and related formulas.

    The finish fills in which chapter shows the formula, since only whole pages tell.
    """
    derivation = ""
    if formula._derivation is not None:
        derivation = (
            '<details class="fold"><summary>Its derivation, step by step</summary>'
            f"{formula.derivation._repr_html_()}</details>"
        )
    same, used_by = related(formula)
    return "".join(
        [
            _line("Source", sourced(formula.source)),
            f'<p data-formula-chapter="{formula.name}"></p>',
            derivation,
            _line(f"Also give <code>{formula.gives.name}</code>", _links(same)),
            _line("Used by", _links(used_by)),
        ]
    )


@cache
def _related() -> tuple[dict[str, list[Formula]], dict[str, list[Formula]]]:
    gives: dict[str, list[Formula]] = {}
    used: dict[str, list[Formula]] = {}
    for one in registry().values():
        gives.setdefault(one.gives.name, []).append(one)
        for part in one.using:
            used.setdefault(part.name, []).append(one)
    return gives, used


def related(formula: Formula) -> tuple[Sequence[Formula], Sequence[Formula]]:
    """Return the formulas that give the same quantity, and those that use this one.

    >>> same, used_by = related(registry()["weight_time"])
    >>> "memory_time" in [one.name for one in used_by]
    True
    """
    gives, used = _related()
    same = [one for one in gives[formula.gives.name] if one is not formula]
    return same, used.get(formula.name, [])


def counts() -> dict[str, int]:
    """Return the number of formulas of each subject."""
    return {subject: len(formulas) for subject, formulas in by_subject().items()}
