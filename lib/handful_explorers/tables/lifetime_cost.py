"""Tables for pages: what a model costs over its life."""

from __future__ import annotations

from handful import chinchilla
from handful.lifetime_cost import best_run, bill_ratio_at_optimum, matching_tokens, split_excess

from .table import Table

_FIT_NAMES = {"hoffmann": "as published", "besiroglu": "refitted"}


def splits_table(active_parameters: float = 100e9, pretraining_tokens: float = 200e12) -> Table:
    r"""Return what three rules for the split would cost, as head and rows of text for a page.

    They are for a model of this size and training.

    By each fit, the model is taken to be the cheapest for its life, which fixes the best split.

    >>> splits_table()[1][0]
    ['as published', '× 1.6', '4\xa0%', '1\xa0%', '8\xa0%']
    """
    rows = []
    for fit, name in _FIT_NAMES.items():
        best = bill_ratio_at_optimum(
            chinchilla.law(fit),
            active_parameters=active_parameters,
            pretraining_tokens=pretraining_tokens,
        )
        costs = [split_excess(chosen, best, fit=fit) for chosen in (1, 2, 3)]
        rows.append([name, f"× {best:.1f}"] + [f"{100 * cost:.0f}\xa0%" for cost in costs])
    return Table(
        [
            "Law",
            "Decoding over pre-training at the least cost",
            "Two equal bills cost more",
            "Three equal bills",
            "25, 25 and 50",
        ],
        rows,
    )


def runs_table(
    active_parameters: float = 100e9,
    served: tuple[float, ...] = (200e12, 100e12),
    decode_efficiency: float = 0.3,
) -> Table:
    r"""Return `best_run` by both fits, as head and rows of text for a page.

    The rows are with and without reinforcement learning.

    Where it is counted, its bill is that of serving, as in the lecture's three equal bills.

    >>> runs_table()[1][0]  # doctest: +NORMALIZE_WHITESPACE
    ['200\xa0trillion tokens', 'as much as serving', '250\xa0trillion tokens', '× 126',
     '120\xa0trillion tokens', '× 61']
    """
    from handful.units import format_value

    head = ["Tokens served", "Bill of reinforcement learning"] + [
        f"{what}, {name}"
        for name in _FIT_NAMES.values()
        for what in ("Tokens to train on", "over the rule of 20")
    ]
    rows = []
    for tokens in served:
        for bills, label in ((2, "as much as serving"), (1, "none")):
            row = [format_value(tokens, "token"), label]
            for fit in _FIT_NAMES:
                run = best_run(
                    active_parameters, bills * tokens, fit=fit, decode_efficiency=decode_efficiency
                )
                row += [
                    format_value(run["pretraining_tokens"], "token", 2),
                    f"× {run['tokens_per_parameter'] / 20:.0f}",
                ]
            rows.append(row)
    return Table(head, rows)


def approaches_table() -> Table:
    r"""Return tokens for each parameter by Hoffmann's three approaches and by the refit.

    The form is head and rows of text for a page.

    The three are `chinchilla.published_optima`; the last column is `matching_tokens` by the refit.

    >>> approaches_table()[1][-1]
    ['1\xa0trillion', '21', '26', '94', '16']
    """
    from handful.units import format_value

    published: dict[float, list[float]] = {}
    for row in sorted(chinchilla.published_optima(), key=lambda row: row["approach"]):
        published.setdefault(row["active_parameters"], []).append(row["pretraining_tokens"])
    refit = chinchilla.law("besiroglu")
    rows = []
    for size, tokens in published.items():
        tokens.append(matching_tokens(refit, compute_optimal_parameters=size))
        rows.append([format_value(size, "1")] + [f"{count / size:.0f}" for count in tokens])
    return Table(
        [
            "Compute-optimal size",
            "Approach 1",
            "Approach 2",
            "Approach 3",
            "Refit of approach 3",
        ],
        rows,
    )
