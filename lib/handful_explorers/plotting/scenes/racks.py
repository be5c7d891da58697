"""Draw racks of chips, the copies of one token on their way, and how long each link is busy.

The links' times are for all tokens.  ``data`` holds `experts`, `active`, the `limit` on racks of a
token, and for each option of the control `machine` its `chips` in a domain, the `columns` they are
drawn in, and what a domain is called (`place`).  ``numbers`` holds copies, times and slowdowns of
the ways to cross, under the keys of ``KEYS`` with the endings `_each`, `_once` and `_limited`, and
`joined`.
"""

from __future__ import annotations

import math
from typing import Any

from handful.units import format_value, plural
from handful_evidence.simulate.router import token

from . import inputs, shapes

INPUTS = {
    "scale_up_domains": ("Racks or nodes", "1", 2),
    "device_batch": ("Tokens of each chip", "1", 128),
    "machine": ("Machine", "1", ""),
    "way": ("A token crosses", "1", "each"),
    "which": ("Which token", "1", 1),
}
KEYS = ("inside", "leaving", "fabric", "network", "slowdown")
GAP, HEAD, PAD, TRUNK = 18, 20, 8, 34


def run(explorer, state: dict[str, Any]) -> dict[str, Any]:
    """Return the token's chips, and the numbers of the chosen way to cross."""
    settings, found, data = inputs(explorer, state), explorer.numbers_at(state), explorer.data
    machine, racks = data["machines"][settings["machine"]], settings["scale_up_domains"]
    way = settings["way"]
    home, picks = token(
        data["experts"],
        data["active"],
        racks * machine["chips"],
        machine["chips"],
        data["limit"] if way == "limited" else racks,
        settings["which"],
    )
    return {
        **{key: found[f"{key}_{way}"] for key in KEYS},
        "joined": found["joined"],
        "racks": racks,
        "home": home,
        "picks": picks,
        "once": way != "each",
        "bound": "at most" if way == "limited" and racks > data["limit"] else "mean",
        **machine,
    }


def places(v: dict[str, Any], width: float) -> dict[str, Any]:
    """Return the places of boxes, chips and the network."""
    across = min(v["racks"], 4 if width >= 560 else 2)
    box = (width - GAP * (across - 1)) / across
    pitch = min(26.0, (box - 2 * PAD) / v["columns"], 200 / v["columns"])
    deep = math.ceil(v["chips"] / v["columns"]) * pitch
    tall = HEAD + deep + PAD
    rows = math.ceil(v["racks"] / across)

    def corner(r: int) -> tuple[float, float]:
        row = r // across
        # Rows stand in pairs with the network between them.
        return (r % across) * (box + GAP), (row // 2) * (2 * tall + 2 * TRUNK + GAP) + (row % 2) * (
            tall + 2 * TRUNK
        )

    def chip(i: int) -> tuple[float, float]:
        x, y = corner(i // v["chips"])
        k = i % v["chips"]
        left = x + (box - pitch * v["columns"]) / 2
        return left + (k % v["columns"] + 0.5) * pitch, y + HEAD + (k // v["columns"] + 0.5) * pitch

    def bar(r: int) -> float:
        return (r // across // 2) * (2 * tall + 2 * TRUNK + GAP) + tall + TRUNK

    pairs = math.ceil(rows / 2)
    last = tall if v["racks"] == 1 else tall + TRUNK + 12 if rows % 2 else 2 * tall + 2 * TRUNK
    return {
        "box": box,
        "tall": tall,
        "pitch": pitch,
        "corner": corner,
        "chip": chip,
        "bar": bar,
        "across": across,
        "bottom": (pairs - 1) * (2 * tall + 2 * TRUNK + GAP) + last,
    }


def picture(v: dict[str, Any], width: float) -> tuple[float, list[dict]]:
    """Draw the racks, the token's copies and the times of the links."""
    at = places(v, width)
    chips, racks, home = v["chips"], v["racks"], v["home"]
    out: list[dict] = []
    trunk = 1.5 + 1.5 * v["leaving"] if racks > 1 else 0
    # Wires between racks, as wide as what leaves.
    for r in range(racks):
        x, y = at["corner"](r)
        up = at["bar"](r) > y + at["tall"]
        if racks > 1:
            edge = y + at["tall"] if up else y
            out.append(
                shapes.path(
                    [(x + at["box"] / 2, edge), (x + at["box"] / 2, at["bar"](r))], "c1 pale", trunk
                )
            )
        if racks > 1 and up and r % at["across"] == 0:
            end = at["corner"](min(r + at["across"], racks) - 1)[0] + at["box"] / 2
            out.append(
                shapes.path(
                    [
                        (x + at["box"] / 2, at["bar"](r)),
                        (max(end, x + at["box"] / 2 + 1), at["bar"](r)),
                    ],
                    "c1 pale",
                    trunk,
                )
            )
    if racks > 2 * at["across"]:
        x = at["box"] / 2
        out.append(shapes.path([(x, at["bar"](0)), (x, at["bar"](racks - 1))], "c1 pale", trunk))
    for r in range(racks):
        x, y = at["corner"](r)
        out.append(shapes.rect(x + 0.5, y + 0.5, at["box"] - 1, at["tall"] - 1, "paper"))
        out.append(shapes.rect(x + 0.5, y + 0.5, at["box"] - 1, at["tall"] - 1, "soft outline"))
        out.append(shapes.text(x + PAD, y + 14, f"{v['place']} {r + 1}", "soft small"))
    picked = set(v["picks"])
    # Where a rack's one copy arrives, unless that chip holds an expert too.
    landing = {i // chips * chips + home for i in picked if i >= chips} if v["once"] else set()
    size = at["pitch"] * 0.72
    for i in range(racks * chips):
        x, y = at["chip"](i)
        c = (
            "ink"
            if i == home
            else ("c0" if i < chips else "c1")
            if i in picked
            else "c1 pale"
            if i in landing
            else "c0 faint"
        )
        out.append(shapes.rect(x - size / 2, y - size / 2, size, size, c))
    out += _routes(v, at)
    if racks > 1:
        out.append(
            shapes.text(width / 2, at["bar"](0) - 8 - trunk / 2, "network", "c1 small", "middle")
        )
    return _meters(v, at["bottom"] + 26, width, out)


def _routes(v: dict[str, Any], at: dict[str, Any]) -> list[dict]:
    """Draw the token's routes, straight inside a rack and over the network between racks."""
    chips, home, out = v["chips"], v["home"], []
    start, landed = at["chip"](home), set()
    for i in v["picks"]:
        if i == home:
            continue
        r, end = i // chips, at["chip"](i)
        if r == 0:
            out.append(shapes.path([start, end], "c0", 1.4))
            continue
        landing = at["chip"](r * chips + home) if v["once"] else end
        if not (v["once"] and r in landed):
            a, b = at["corner"](0)[0] + at["box"] / 2, at["corner"](r)[0] + at["box"] / 2
            first, last = at["bar"](0), at["bar"](r)
            turn = [] if first == last else [(at["box"] / 2, first), (at["box"] / 2, last)]
            out.append(shapes.path([start, (a, first), *turn, (b, last), landing], "c1", 1.4))
            landed.add(r)
        if v["once"] and landing != end:
            out.append(shapes.path([landing, end], "c0", 1.4))
    return out


def _meters(
    v: dict[str, Any], top: float, width: float, out: list[dict]
) -> tuple[float, list[dict]]:
    """Draw how long a chip's two links are busy with the tokens of all chips."""
    most = max(v["fabric"], v["network"], v["joined"])
    for i, (label, key, c) in enumerate(
        (
            ("Each chip's link to its fabric", "fabric", "c0"),
            ("Each chip's port to the network", "network", "c1"),
            ("If one fabric joined all chips", "joined", "soft"),
        )
    ):
        y = top + 40 * i
        wide = (width - 96) * v[key] / most if most > 0 else 0
        out.append(shapes.text(0, y, label, "ink"))
        out.append(shapes.rect(0, y + 6, max(wide, 1), 13, c))
        out.append(shapes.text(wide + 6, y + 17, format_value(v[key], "s"), "ink strong"))
    return top + 40 * 2 + 24, out


def counts(v: dict[str, Any]) -> dict[str, int]:
    """Count the drawn token's copies at home, inside and outside, and other racks reached."""
    racks = [i // v["chips"] for i in v["picks"]]
    own = sum(i == v["home"] for i in v["picks"])
    away = [r for r in racks if r]
    return {
        "own": own,
        "inside": len(racks) - len(away) - own,
        "outside": len(away),
        "reached": len(set(away)),
    }


def readouts(v: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return the means over tokens, with those of the drawn token as notes."""
    n = counts(v)
    crossing = n["reached"] if v["once"] else n["outside"]
    inside = n["inside"] + (n["outside"] if v["once"] else 0)
    return [
        (
            "Copies on the fabric, mean",
            format_value(v["inside"], "1"),
            f"about {inside} for this token" if v["once"] else f"{inside} for this token",
        ),
        (
            f"Copies that leave, {v['bound']}",
            format_value(v["leaving"], "1"),
            f"{crossing} for this token",
        ),
        (
            "All-to-all, times one fabric",
            format_value(v["slowdown"], "1"),
            "the slower of fabric and network",
        ),
    ]


def words(v: dict[str, Any]) -> str:
    """Describe where the token's experts lie and which link sets the pace."""
    n, place = counts(v), v["place"]
    where = (
        f"all in its own {place}"
        if not n["outside"]
        else (
            f"{n['own'] + n['inside']} in its own {place} and {n['outside']} outside, in "
            f"{plural(n['reached'], 'other')}"
        )
    )
    slower = "network" if v["network"] > v["fabric"] else "fabric"
    return (
        f"{v['racks']} × {v['chips']} chips. The token shown has its experts {where}. On average "
        f"{format_value(v['inside'], '1')} "
        f"copies cross the fabric and {'at most ' if v['bound'] == 'at most' else ''}"
        f"{format_value(v['leaving'], '1')} leave; the {slower} sets the pace, "
        f"{format_value(max(v['fabric'], v['network']), 's')} in one layer against "
        f"{format_value(v['joined'], 's')} on one fabric."
    )


def rows(v: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of the data table: the copies and the times of each link."""
    return ["Over", f"Copies of a token, {v['bound']}", "Time in one layer"], [
        ["fabric", format_value(v["inside"], "1"), format_value(v["fabric"], "s")],
        ["network", format_value(v["leaving"], "1"), format_value(v["network"], "s")],
        ["one fabric for all", "–", format_value(v["joined"], "s")],
    ]
