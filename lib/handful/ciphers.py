"""Small differences made large by ciphers: avalanche, differentials, distinguishers.

The lecture comes to them at 2:03:56.

The toy cipher is a Feistel network of our own on 32 bits: its round function adds a key to 16 bits,
puts each four of them through the S-box of PRESENT (Bogdanov et al. 2007), and spreads the four
bits over the other S-boxes.  It is there to be measured; do not hide anything with it.

>>> flips = avalanche(rounds=12).mean(
...     axis=(1, 2)
... )  # share of the 32 bits that one flipped bit flips
>>> [round(float(flips[r]), 2) for r in (0, 2, 4, 6, 12)]
[0.03, 0.19, 0.46, 0.5, 0.5]
>>> int(difference_table(PRESENT_SBOX)[1:].max())  # of 16: as even as four bits allow
4
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from .reversible import FeistelError, encrypt
from .symbolic import quantities as q
from .symbolic.formula import Formula

PRESENT_SBOX = tuple(int(digit, 16) for digit in "C56B90AD3EF84712")
HALF = 16  # bits of one half of the toy cipher

Function = Callable[[np.ndarray], np.ndarray]
Cipher = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]

characteristic_weight = Formula(
    q.characteristic_weight,
    q.active_sboxes.symbol * q.sbox_weight.symbol,
    source="Biham and Shamir 1991; Bogdanov et al. 2007, PRESENT",
    meaning="probabilities multiply through the rounds, so their weights add: one pair in "
    "2^weight follows",
    known_as=("differential cryptanalysis",),
    conventions=(
        "independent, uniform round keys (Markov ciphers: Lai, Massey and Murphy 1991)",
        "every active S-box at its likeliest difference",
    ),
)

# Differences: the derivative of a cipher ----------------------------------------------------------


def derivative(f: Callable[[Any], Any], point: Any, difference: Any) -> Any:
    """Return f(point ⊕ difference) ⊕ f(point).

    It is what a difference going in becomes, at this point.  Points and differences are whole
    numbers or arrays of them.

    A linear map has the same derivative everywhere, and so nothing to hide.

    >>> swap = lambda x: (x >> 2 | x << 2) & 15  # linear over GF(2)
    >>> {derivative(swap, x, 0b0001) for x in range(16)}
    {4}
    >>> sorted({derivative(PRESENT_SBOX.__getitem__, x, 0b0001) for x in range(16)})
    [3, 7, 9, 13]
    """
    return f(point ^ difference) ^ f(point)


def difference_table(sbox: Sequence[int]) -> np.ndarray:
    """Count how often each difference in (row) becomes each difference out (column).

    The counts are over all inputs.

    `sbox` lists 2^n values of n bits; every row sums to 2^n.
    """
    table = np.asarray(sbox)
    size = len(table)
    whole = size > 1 and table.dtype.kind in "iu"
    if not whole or size & (size - 1) or table.min() < 0 or table.max() >= size:
        raise FeistelError(
            "An S-box lists 2, 4, 8, 16, … whole numbers, each from 0 up and below their "
            f"count; got {reprlib.repr(list(sbox))}."
        )
    points = np.arange(size)
    counts = np.zeros((size, size), dtype=int)
    for difference in range(size):
        np.add.at(counts[difference], derivative(table.__getitem__, points, difference), 1)
    return counts


# The toy cipher -----------------------------------------------------------------------------------


@cache
def _spread() -> np.ndarray:
    """Return the spread of the 16 bits, for all 2^16 inputs.

    Bit i goes to 4 i mod 15, and the last one stays, as PRESENT does with 64 bits.
    """
    values, spread = np.arange(1 << HALF, dtype=np.uint16), np.zeros(1 << HALF, dtype=np.uint16)
    for i in range(HALF):
        spread |= ((values >> i) & 1) << (4 * i % (HALF - 1) if i < HALF - 1 else i)
    return spread


@cache
def _mix() -> np.ndarray:
    """Return the round function without its key, for all 2^16 inputs.

    It is four S-boxes, then the spread of bits.
    """
    values = np.arange(1 << HALF, dtype=np.uint16)
    box = np.array(PRESENT_SBOX, dtype=np.uint16)
    mixed: np.ndarray = _spread()[
        sum(box[(values >> shift) & 15] << shift for shift in (0, 4, 8, 12))
    ]
    return mixed


def round_functions(keys: Iterable[np.ndarray]) -> list[Function]:
    """Return one function of 16 bits for each row of `keys` (uint16).

    A row may hold a key for each block.

    >>> functions = round_functions(
    ...     np.random.default_rng(1).integers(0, 1 << 16, 8, dtype=np.uint16)
    ... )
    >>> x, y = np.array([7], dtype=np.uint16), np.array([9], dtype=np.uint16)
    >>> from handful.reversible import decrypt
    >>> decrypt(*encrypt(x, y, functions), functions) == (x, y)
    True
    """
    mix = _mix()

    def keyed(key: np.ndarray) -> Function:
        return lambda x: mix[x ^ key]

    return [keyed(key) for key in keys]


def _draw(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.integers(0, 1 << HALF, shape, dtype=np.uint16)


def avalanche(rounds: int = 12, samples: int = 1000, seed: int = 0) -> np.ndarray:
    """Return the share of pairs in which flipping an input bit flips an output bit.

    There is one after each of 0, 1, … `rounds` rounds.

    Shape (rounds + 1, 32 input bits, 32 output bits); a fresh block and fresh keys for each of the
    `samples`.  A strict avalanche is one half everywhere (Webster and Tavares 1985).
    """
    if rounds < 0 or samples < 1:
        raise FeistelError(
            f"An avalanche wants 0 rounds or more and 1 sample or more; got {rounds} and {samples}."
        )
    rng = np.random.default_rng(seed)
    bits = 2 * HALF
    flip = np.uint32(1) << np.arange(bits, dtype=np.uint32)[:, None]
    one = _draw(rng, bits, samples), _draw(rng, bits, samples)
    two = one[0] ^ (flip >> HALF).astype(np.uint16), one[1] ^ (flip & 0xFFFF).astype(np.uint16)
    shares = []
    for step in range(rounds + 1):
        if step:
            functions = round_functions([_draw(rng, bits, samples)])
            one, two = encrypt(*one, functions), encrypt(*two, functions)
        flipped = (one[0] ^ two[0]).astype(np.uint32) << HALF | (one[1] ^ two[1])
        shares.append([((flipped >> np.uint32(j)) & 1).mean(axis=1) for j in range(bits)])
    return np.array(shares).transpose(0, 2, 1)


# A chain of differences ---------------------------------------------------------------------------


class Characteristic(NamedTuple):
    """A chain of differences.

    It has the differences (x, y) before the first round and after each, and the probability that a
    pair follows them all.
    """

    differences: list[tuple[int, int]]
    probability: float
    active_sboxes: int


def likely_characteristic(x: int, y: int, rounds: int) -> Characteristic:
    """Follow the difference (x, y) through the rounds, at every S-box the likeliest way.

    Probabilities multiply.

    Choosing S-box by S-box finds a good chain, not always the best.

    >>> likely_characteristic(0, 1, 3).differences[1]  # nothing goes into the first f
    (1, 0)
    >>> [likely_characteristic(0, 1, r).probability for r in (1, 2, 3)]
    [1.0, 0.25, 0.015625]
    """
    if not (0 <= x < 1 << HALF and 0 <= y < 1 << HALF and rounds >= 0):
        raise FeistelError(
            f"A difference is two halves of {HALF} bits, and goes through 0 rounds or more; "
            f"got {x}, {y} and {rounds}."
        )
    table, differences, probability, active = difference_table(PRESENT_SBOX), [(x, y)], 1.0, 0
    for _ in range(rounds):
        out = 0
        for shift in (0, 4, 8, 12):
            row = table[x >> shift & 15]
            out |= int(row.argmax()) << shift
            probability *= row.max() / len(table)
            active += bool(x >> shift & 15)
        x, y = y ^ int(_spread()[out]), x
        differences.append((x, y))
    return Characteristic(differences, float(probability), active)


def share_that_follows(
    differences: Sequence[tuple[int, int]], samples: int = 200_000, seed: int = 0
) -> float:
    """Return the share of random pairs that show exactly these differences round after round.

    The keys are random too.
    """
    rng = np.random.default_rng(seed)
    (dx, dy), *later = differences
    one = _draw(rng, samples), _draw(rng, samples)
    two = one[0] ^ np.uint16(dx), one[1] ^ np.uint16(dy)
    follows = np.ones(samples, dtype=bool)
    for dx, dy in later:
        functions = round_functions([_draw(rng, samples)])
        one, two = encrypt(*one, functions), encrypt(*two, functions)
        follows &= (one[0] ^ two[0] == dx) & (one[1] ^ two[1] == dy)
    return float(follows.mean())


# How many rounds: Luby and Rackoff ----------------------------------------------------------------


def random_functions(rounds: int, bits: int = HALF, seed: int = 0) -> list[Function]:
    """Draw round functions without structure: tables of 2^bits random values, one a round.

    `bits` may be 1 to 20.
    """
    if not 1 <= bits <= 20 or rounds < 0:
        raise FeistelError(
            f"Random functions want 1 to 20 bits and 0 rounds or more; got {bits} and {rounds}."
        )
    rng = np.random.default_rng(seed)
    return [rng.integers(0, 1 << bits, 1 << bits).__getitem__ for _ in range(rounds)]


def _queries(bits: int, trials: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 1 << bits, (2, trials))
    return x, y, rng.integers(1, 1 << bits, trials)


def chosen_plaintext_share(
    there: Cipher, bits: int = HALF, trials: int = 10_000, seed: int = 1
) -> float:
    """Return the share of trials in which a test with chosen plaintexts recognises two rounds.

    Two blocks with the same x give second halves that differ as their y do.

    `there` encrypts arrays (x, y) of halves of `bits` bits.  Always so after two Feistel rounds; by
    chance, once in 2^bits, for a random permutation and after three.  Luby and Rackoff 1988: with
    pseudorandom functions, three rounds cannot be told from a random permutation by whoever may
    encrypt.  Failing one test shows no more than that this test fails; the theorem is about all.

    >>> for rounds in (2, 3):
    ...     functions = random_functions(rounds)
    ...     print(rounds, chosen_plaintext_share(lambda x, y: encrypt(x, y, functions)) > 0.001)
    2 True
    3 False
    """
    x, y, difference = _queries(bits, trials, seed)
    _, d = there(x, y)
    _, d_other = there(x, y ^ difference)
    return float((d ^ d_other == difference).mean())


def chosen_ciphertext_share(
    there: Cipher, back: Cipher, bits: int = HALF, trials: int = 10_000, seed: int = 1
) -> float:
    """Return the share of trials in which one decryption gives away three rounds.

    The test is open to whoever may decrypt as well as encrypt.

    `there` encrypts arrays (x, y) of halves of `bits` bits, `back` decrypts them.  Encrypt (x, y)
    to (c, d) and (x, y ⊕ δ) to (c', d'), then decrypt (c ⊕ δ, d): after three rounds its first half
    is x ⊕ d ⊕ d'.  Four rounds withstand this as well (Luby and Rackoff 1988: strong pseudorandom
    permutation).

    >>> from handful.reversible import decrypt
    >>> for rounds in (3, 4):
    ...     functions = random_functions(rounds)
    ...     there, back = (
    ...         (lambda x, y: encrypt(x, y, functions)),
    ...         (lambda x, y: decrypt(x, y, functions)),
    ...     )
    ...     print(rounds, chosen_ciphertext_share(there, back) > 0.001)
    3 True
    4 False
    """
    x, y, difference = _queries(bits, trials, seed)
    c, d = there(x, y)
    _, d_other = there(x, y ^ difference)
    found, _ = back(c ^ difference, d)
    return float((found == x ^ d ^ d_other).mean())


# Tables for a page --------------------------------------------------------------------------------
