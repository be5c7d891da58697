"""Values that the inputs of a formula can have together, drawn for tests that run every formula."""

import math
import random
from collections.abc import Callable, Sequence

from hypothesis import strategies as st

from handful.sparsity import coefficients
from handful.symbolic.formula import Formula
from handful.symbolic.quantities import PARTS

Between = Callable[[float, float], float]
Choose = Callable[[Sequence[str]], str]


def by_hypothesis(draw) -> tuple[Between, Choose]:
    """Return how hypothesis draws a number from a range, and one of a list."""
    return lambda low, high: draw(st.floats(low, high)), lambda names: draw(st.sampled_from(names))


def by_chance(seed: str) -> tuple[Between, Choose]:
    """Return the same for a seed: numbers come from everywhere, and seldom from an end."""
    chance = random.Random(seed)
    return (
        lambda low, high: math.exp(chance.uniform(math.log(low), math.log(high))),
        chance.choice,
    )


def point(formula: Formula, between: Between, choose: Choose) -> dict[str, float]:
    """Return a value for each input of a formula, none of which it refuses."""
    values = {
        i.name: between(0.01, 0.99) if i.upper == 1 else between(1e-3, 1e3) for i in formula.inputs
    }
    for i in formula.inputs:
        if i.name.endswith("_exponent"):
            values[i.name] = 0.1 + values[i.name] / 1e3  # powers of a law, not of a thousand
        if i.least is not None:
            values[i.name] = max(values[i.name], i.least)
    # A fitted law holds at its own coefficients only.
    if "loss_offset" in values or "loss_interaction" in values:
        law = coefficients(choose(["S-BASE", "RL-R", "HASH"]))
        values = {
            n: law.get(n, v * 1e6 if n == "dense_parameters" else 1 + v / 2)
            for n, v in values.items()
        }
    if "experts_limit" in values:
        values["experts_start"] = min(values["experts_start"], values["experts_limit"] / 2)
    for part, whole in PARTS:
        if part.name in values and whole.name in values:
            values[part.name] = values[whole.name] * between(0.01, 1)
    return values
