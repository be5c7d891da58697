r"""Compute one call of a formula as a reader would type it, for the reference of formulas.

A chip and a model give what they can, ``typical_values.toml`` the rest.

>>> call = worked(registry()["drain_time"])
>>> print(call.code)
from handful import scenario
from handful.balance import drain_time
<BLANKLINE>
here = scenario.values(hardware="GB200 NVL72", model="DeepSeek-V3")
drain_time(here)
>>> call.shown.replace("\xa0", " "), call.values["memory_capacity"]
('23.2 ms', 186000000000.0)
"""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from handful import scenario
from handful.query import registry
from handful.search import by_subject
from handful.symbolic.formula import Formula
from handful.units import digits_of, format_value

__all__ = ["WorkedCallError", "registry", "shown", "subject_of", "worked"]

HARDWARE = scenario.DEFAULT["hardware"]
# The second for formulas of what the first lacks, such as heads of keys and values.
MODELS = (scenario.DEFAULT["model"], "Llama 3.1 70B")
LONGEST = 64  # characters of a call on one line


class WorkedCallError(ValueError):
    """A formula that cannot be called with the values at hand; the message says what to add."""


@dataclass(frozen=True)
class WorkedCall:
    """A call of a formula: its code, the values of all inputs in SI units, and the result.

    `given` are the inputs that the call names; `shown` is the result with its unit.
    """

    code: str
    given: dict[str, float | str]
    values: dict[str, float]
    result: float
    shown: str


@cache
def _typical() -> dict[str, dict[str, Any]]:
    return tomllib.loads(Path(__file__).with_name("typical_values.toml").read_text("utf-8"))


@cache
def _subjects() -> dict[str, str]:
    return {one.name: subject for subject, found in by_subject().items() for one in found}


def subject_of(formula: Formula) -> str:
    """Return the subject of a formula, as the reference lists it; "" where it is in none."""
    return _subjects().get(formula.name, "")


@cache
def _values(model: str) -> dict[str, float | None]:
    return scenario.values(hardware=HARDWARE, model=model)


def _model(formula: Formula) -> str:
    """Return the model that gives most of a formula's inputs, the first of several."""
    return max(
        MODELS, key=lambda one: sum(_values(one).get(q.name) is not None for q in formula.inputs)
    )


def _given(formula: Formula, here: dict[str, float | None]) -> dict[str, float | str]:
    """Return what the call has to name: inputs that nothing else gives, or that are set for it."""
    typical, found = _typical(), {}
    own = {
        **typical["subject"].get(subject_of(formula), {}),
        **typical["formula"].get(formula.name, {}),
    }
    for q in formula.inputs:
        if q.name in own:
            found[q.name] = own[q.name]
        elif q.default is None and here.get(q.name) is None:
            middle = q.upper / 2 if q.upper is not None else typical["unit"].get(q.unit)
            if (value := typical["any"].get(q.name, middle)) is None:
                raise WorkedCallError(
                    f"{formula.name} has no worked call: {q.name} (in {q.unit}) needs a value in "
                    "typical_values.toml."
                )
            found[q.name] = value
    return found


def shown(value: float, unit: str) -> str:
    r"""Return a value as the reference prints it, with three digits, or more of a small count.

    >>> shown(1234.0, "sequence").replace("\xa0", " "), shown(0.25, "%").replace("\xa0", " ")
    ('1,234 sequences', '25 %')
    """
    return format_value(value, unit, max(3, digits_of(value, unit, 3)))


def worked(formula: Formula) -> WorkedCall:
    """Return the worked call of a formula.

    Raises WorkedCallError, which names the formula and the input, where an input has no value, and
    where the result is not finite.
    """
    model = _model(formula)
    here = _values(model)
    given = _given(formula, here)
    usual = {q.name: q.default for q in formula.inputs if q.default is not None}
    known = {q.name: here.get(q.name) for q in formula.inputs}
    takes_here = any(known[name] is not None and name not in given for name in known)
    try:
        result = formula(here, **given) if takes_here else formula(**given)
        values = {
            q.name: q.check({**usual, **known, **given}[q.name] or usual.get(q.name, 0.0))
            for q in formula.inputs
        }
    except ValueError as error:
        raise WorkedCallError(f"{formula.name} has no worked call: {error}") from error
    if not math.isfinite(result):
        raise WorkedCallError(
            f"{formula.name} gives {result} in its worked call; set its inputs under "
            f"[formula.{formula.name}] in typical_values.toml."
        )
    settings = [f'{n}="{v}"' if isinstance(v, str) else f"{n}={v}" for n, v in given.items()]
    call = _call(formula.name, ["here"] * takes_here + settings)
    loads = ["from handful import scenario"] * takes_here
    loads += [f"from {formula.module} import {formula.name}", ""]
    code = "\n".join([*loads, *[_assigned(model)] * takes_here, call])
    return WorkedCall(code, given, values, result, shown(result, formula.gives.unit))


def _assigned(model: str) -> str:
    return f'here = scenario.values(hardware="{HARDWARE}", model="{model}")'


def _call(name: str, arguments: list[str]) -> str:
    line = f"{name}({', '.join(arguments)})"
    if len(line) <= LONGEST:
        return line
    return "\n".join([f"{name}(", *(f"    {one}," for one in arguments), ")"])
