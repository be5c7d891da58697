"""Tables for pages: what a model costs over its life."""

from __future__ import annotations

from handful import overtraining
from handful.lifetime_cost import best_run

from .table import Table

_FIT_NAMES = {"besiroglu": "Law, refitted", "hoffmann": "Law, as published"}


def lengths_table(
    active_parameters: float = 100e9,
    served_tokens: float = 200e12,
    decode_efficiency: float = 0.3,
) -> Table:
    r"""Return how long to train a model by equal bills and by two fits of one law, for a page.

    The columns are for users alone, and for as large a bill of reinforcement learning as theirs.

    >>> lengths_table()[1][1]  # doctest: +NORMALIZE_WHITESPACE
    ['Law, refitted', '76\xa0trillion tokens, ×\xa038', '120\xa0trillion tokens, ×\xa060']
    """
    from handful.units import format_value

    def told(tokens: float) -> str:
        times = float(f"{tokens:.2g}") / (20 * active_parameters)  # of the length as printed
        return f"{format_value(tokens, 'token', 2)}, ×\xa0{times:.0f}"

    equal = served_tokens * overtraining.pretraining_per_inference_token(
        decode_efficiency=decode_efficiency
    )
    rows = [["Equal bills", told(equal), told(equal)]]
    for fit, name in _FIT_NAMES.items():
        runs = (
            best_run(
                active_parameters,
                bills * served_tokens,
                fit=fit,
                decode_efficiency=decode_efficiency,
            )
            for bills in (1, 2)
        )
        rows.append([name, *(told(run["pretraining_tokens"]) for run in runs)])
    return Table(["How long?", "Users alone", "Users and learning"], rows)
