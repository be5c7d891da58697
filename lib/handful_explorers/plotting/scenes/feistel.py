"""Draw Feistel rounds on a block of bits and on a copy with one bit flipped.

The rounds run forwards and back.

``data``: "sbox" (16 values of 4 bits), "keys" (one of 16 bits a round), "block" (the halves
x, y).  Bits are numbered from the left, 1 to 32; 0 flips none.
"""

from __future__ import annotations

from typing import Any

from . import inputs, shapes

INPUTS = {
    "rounds": ("Rounds", "1", 6),
    "flip": ("Input bit to flip, 0 for none", "1", 20),
    "f": ("Round function", "1", "sboxes"),
    "back": ("Run the rounds backwards", "1", False),
}
HALF, MASK = 16, 0xFFFF
NAMES = {
    "sboxes": "S-boxes, then a shuffle of bits",
    "square": "a square, cut to 16 bits",
    "constant": "the key alone, whatever x is",
}
GAP, WIRE, HEAD, NARROW = 14, 11, 30, 520


def spread(x: int) -> int:
    """Move bit i to bit 4 i mod 15, and leave the last one in place."""
    return sum((x >> i & 1) << (4 * i % (HALF - 1) if i < HALF - 1 else i) for i in range(HALF))


def round_function(name: str, x: int, key: int, sbox: list[int]) -> int:
    """Return f of one round, 16 bits to 16 bits; of these only the S-boxes can be undone.

    >>> [round_function(name, 3, 5, list(range(16))) for name in ("constant", "square", "sboxes")]
    [5, 64, 272]
    """
    if name == "constant":
        return key
    x ^= key if name != "square" else 0
    if name == "square":
        return (x + key) ** 2 & MASK
    return spread(sum(sbox[x >> shift & 15] << shift for shift in (0, 4, 8, 12)))


def forwards(block: list[int], v: dict[str, Any]) -> list[list[int]]:
    """Return the block before the first round and after each."""
    found = [list(block)]
    for key in v["keys"]:
        x, y = found[-1]
        found.append([y ^ round_function(v["f"], x, key, v["sbox"]), x])
    return found


def backwards(block: list[int], v: dict[str, Any]) -> list[list[int]]:
    """Undo the rounds, last one first, and return the block after each step.

    The function f itself is run as it was before.
    """
    found = [list(block)]
    for key in reversed(v["keys"]):
        x, y = found[-1]
        found.append([y, x ^ round_function(v["f"], y, key, v["sbox"])])
    return found


def differing(a: list[int], b: list[int]) -> int:
    """Return the number of bits in which two blocks differ."""
    return sum((p ^ q).bit_count() for p, q in zip(a, b, strict=True))


def run(explorer, state: dict[str, Any]) -> dict[str, Any]:
    """Run the chosen rounds on both blocks, and back where that is chosen."""
    v = inputs(explorer, state)
    v |= {"sbox": explorer.data["sbox"], "keys": explorer.data["keys"][: v["rounds"]]}
    start = explorer.data["block"]
    mask = 1 << 32 - v["flip"] if v["flip"] else 0
    other = [start[0] ^ mask >> HALF, start[1] ^ mask & MASK]
    v["one"], v["two"] = forwards(start, v), forwards(other, v)
    v["one_back"] = backwards(v["one"][-1], v) if v["back"] else []
    v["two_back"] = backwards(v["two"][-1], v) if v["back"] else []
    v["recovered"] = v["back"] and v["one_back"][-1] == start and v["two_back"][-1] == other
    return v


def written(block: list[int]) -> str:
    """Write a block as two groups of hexadecimal digits."""
    return f"{block[0]:04x} {block[1]:04x}"


def picture(v: dict[str, Any], width: float) -> tuple[float, list[dict]]:
    """Draw both blocks round by round, with the changed bits."""
    narrow = width < NARROW  # on a phone: short labels, so that a bit stays large enough to see
    left, room = (26, 22) if narrow else (62, 62)
    size = min(18.0, (width - left - room - GAP) / (2 * HALF))
    right = left + 2 * HALF * size + GAP
    middle = [left + 8 * size, left + 24 * size + GAP]
    out = [
        shapes.text(middle[0], 14, "x", "ink strong", "middle"),
        shapes.text(middle[1], 14, "y", "ink strong", "middle"),
        shapes.text(
            width if narrow else right + 8,
            14,
            "changed",
            "soft small",
            "end" if narrow else "start",
        ),
    ]
    y = float(HEAD)

    def row(label: str, one: list[int], two: list[int]) -> None:
        out.append(shapes.text(0, y + size / 2 + 4, label, "soft small"))
        for half in (0, 1):
            for i in range(HALF):
                bit = one[half] >> HALF - 1 - i & 1
                turned = (one[half] ^ two[half]) >> HALF - 1 - i & 1
                x = left + (half * HALF + i) * size + half * GAP
                colour = "c1" if turned else "soft"
                out.append(
                    shapes.rect(
                        x + 0.5,
                        y + 0.5,
                        size - 1.5,
                        size - 1.5,
                        colour + ("" if bit else " pale outline" if not turned else " outline"),
                    )
                )
        if v["flip"]:
            count = f"{differing(one, two)}" if narrow else f"{differing(one, two)} of 32"
            out.append(shapes.text(right + 8, y + size / 2 + 4, count, "ink small"))

    rounds = len(v["keys"])
    for i, (one, two) in enumerate(zip(v["one"], v["two"], strict=True)):
        row((f"{i}" if i else "in") if narrow else f"round {i}" if i else "input", one, two)
        if i < rounds:
            out.append(shapes.line(middle[0], y + size, middle[1], y + size + WIRE, "soft"))
        y += size + WIRE
    if v["back"]:
        y += 22
        out.append(shapes.text(0, y - 10, "and back: the same f, last round first", "ink strong"))
        for i, (one, two) in enumerate(zip(v["one_back"][1:], v["two_back"][1:], strict=True), 1):
            row(f"−{rounds - i + 1}" if narrow else f"undo {rounds - i + 1}", one, two)
            if i < rounds:
                out.append(shapes.line(middle[1], y + size, middle[0], y + size + WIRE, "soft"))
            y += size + WIRE
        if not rounds:
            out.append(shapes.text(0, y + 6, "nothing to undo", "soft"))
            y += 16
    return y, out


def readouts(v: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return the blocks in hexadecimal, the changed bits, and whether the input was recovered."""
    found = [("Block in", written(v["one"][0]), ""), ("Block out", written(v["one"][-1]), "")]
    if v["flip"]:
        changed = differing(v["one"][-1], v["two"][-1])
        found.append(("Bits changed", f"{changed} of 32", "by pure chance: 16"))
    if v["back"]:
        found.append(("Input recovered", "yes, both blocks" if v["recovered"] else "no", ""))
    return found


def words(v: dict[str, Any]) -> str:
    """Describe what the rounds do to the block and to its copy."""
    rounds = len(v["keys"])
    times, turn = ("1 round", "turns") if rounds == 1 else (f"{rounds} rounds", "turn")
    told = (
        f"{times} with {NAMES[v['f']]} {turn} the block {written(v['one'][0])} into "
        f"{written(v['one'][-1])}."
    )
    if v["flip"]:
        changed = differing(v["one"][-1], v["two"][-1])
        told += (
            f" With bit {v['flip']} of the input flipped, {changed} of the 32 bits "
            f"{'comes' if changed == 1 else 'come'} out changed."
        )
    if v["back"]:
        told += " Run backwards, the rounds give "
        told += "the input back, bit for bit." if v["recovered"] else "something else."
    return told


def rows(v: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of the data table: both blocks after each round."""

    def line(label: str, one: list[int], two: list[int]) -> list[str]:
        return [label, written(one), written(two), str(differing(one, two))]

    rounds = len(v["keys"])
    return ["After", "Block", "With the bit flipped", "Bits changed"], [
        *(
            line(f"round {i}" if i else "input", *pair)
            for i, pair in enumerate(zip(v["one"], v["two"], strict=True))
        ),
        *(
            line(f"undo {rounds - i + 1}", *pair)
            for i, pair in enumerate(zip(v["one_back"], v["two_back"], strict=True))
            if i
        ),
    ]
