"""Tables for pages: how ciphers mix."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import numpy as np

from handful.ciphers import (
    HALF,
    Function,
    avalanche,
    chosen_ciphertext_share,
    chosen_plaintext_share,
    likely_characteristic,
    random_functions,
    share_that_follows,
)
from handful.reversible import decrypt, encrypt

from .table import Table


def avalanche_table(rounds: int = 8, samples: int = 1000) -> Table:
    """Return how many of the 32 bits one flipped bit turns, as head and rows of text.

    The last two columns are the extremes over pairs of bits.

    >>> avalanche_table(rounds=1, samples=10)[1][0]
    ['0', '1', '0 %', '100 %']
    """
    shares = avalanche(rounds, samples)
    return Table(
        ["Rounds", "Bits turned, of 32", "Least likely pair", "Likeliest pair"],
        [
            [
                str(r),
                f"{32 * share.mean():.3g}",
                f"{100 * share.min():.0f} %",
                f"{100 * share.max():.0f} %",
            ]
            for r, share in enumerate(shares)
        ],
    )


def characteristic_table(rounds: int = 5, samples: int = 200_000) -> Table:
    """Return the likeliest chain of differences for each number of rounds, as head and rows.

    Chains begin with one or two single bits; each is predicted and counted.
    """
    starts = [0, *(1 << i for i in range(HALF))]
    rows = []
    for r in range(1, rounds + 1):
        best = max(
            (likely_characteristic(x, y, r) for x in starts for y in starts if x or y),
            key=lambda chain: chain.probability,
        )
        rows.append(
            [
                str(r),
                str(best.active_sboxes),
                f"1 in {1 / best.probability:,.0f}",
                f"{samples * best.probability:,.0f}",
                f"{samples * share_that_follows(best.differences, samples):,.0f}",
            ]
        )
    return Table(
        [
            "Rounds",
            "S-boxes on the way",
            "Predicted",
            f"Pairs expected, of {samples:,}",
            "Pairs counted",
        ],
        rows,
    )


def distinguisher_table(trials: int = 10_000) -> Table:
    """Return how often each of the two tests recognises random functions, as head and rows.

    The rows are two to five rounds.

    >>> [row[1:] for row in distinguisher_table(trials=1000)[1]]
    [['100 %', '100 %'], ['0 %', '100 %'], ['0 %', '0 %'], ['0 %', '0 %']]
    """
    rows = []
    for rounds in (2, 3, 4, 5):
        functions = random_functions(rounds)
        there = functools.partial(_through, encrypt, functions)
        back = functools.partial(_through, decrypt, functions)
        found = (
            chosen_plaintext_share(there, trials=trials),
            chosen_ciphertext_share(there, back, trials=trials),
        )
        rows.append([str(rounds), *(f"{100 * share:.0f} %" for share in found)])
    return Table(["Rounds", "May encrypt", "May encrypt and decrypt"], rows)


def _through(
    way: Callable[..., tuple[np.ndarray, np.ndarray]],
    functions: Sequence[Function],
    x: np.ndarray,
    y: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    return way(x, y, functions)
