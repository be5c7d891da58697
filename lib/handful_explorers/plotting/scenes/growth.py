"""Draw how far two nearly equal inputs drift apart, for a cipher and for random networks.

``data``: "cipher" (a value a round), "gains" (name → kind → values a layer), "kinds" (kind →
label, in the order of drawing).  Values are thousandths of a decade: 1000 log10 of the distance
over that of two unrelated inputs.
"""

from __future__ import annotations

from typing import Any

from handful.units import format_value

from . import inputs, shapes

INPUTS = {
    "depth": ("Layers, or rounds", "1", 24),
    "gain": ("Weights", "1", "2"),
}
LEFT, TICKS, FLOOR = 46, {0: "1", -2: "0.01", -4: "10⁻⁴", -6: "10⁻⁶"}, -6.7
COLOURS = ("c1", "c4", "c2", "c0")


def value(thousandths: int) -> float:
    """Convert thousandths of a decade to a ratio."""
    return float(10 ** (thousandths / 1000))


def run(explorer, state: dict[str, Any]) -> dict[str, Any]:
    """Return the distances of the chosen gain, and those at the chosen depth."""
    v = inputs(explorer, state)
    v |= {
        "cipher": explorer.data["cipher"],
        "kinds": explorer.data["kinds"],
        "nets": explorer.data["gains"][v["gain"]],
    }
    v["rounds"] = min(v["depth"], len(v["cipher"]) - 1)
    v["found"] = {kind: value(v["nets"][kind][v["depth"]]) for kind in v["kinds"]}
    v["share"] = value(v["cipher"][v["rounds"]])
    return v


def picture(v: dict[str, Any], width: float) -> tuple[float, list[dict]]:
    """Draw the distances against the layers, on a log axis."""
    last = len(next(iter(v["nets"].values()))) - 1
    wide = width >= 560
    entries = [
        ("toy cipher, bits", "ink"),
        *((v["kinds"][kind], c) for kind, c in zip(v["kinds"], COLOURS, strict=False)),
    ]
    out = []
    for i, (label, colour) in enumerate(entries):
        x, y = (i % 2 * width / 2, 12 + i // 2 * 20) if wide else (0, 12 + i * 20)
        dots = [shapes.circle(x + 3 + 8 * n, y - 4, 2.4, colour) for n in range(3)]
        line = [shapes.path([(x, y - 4), (x + 22, y - 4)], colour, 2.5)]
        out += [*(dots if i else line), shapes.text(x + 30, y, label, "ink")]
    top = 12 + (len(entries) + 1) // 2 * 20 + 26 if wide else 12 + len(entries) * 20 + 26
    bottom, right = top + 270.0, width - 8.0

    def across(layer: float) -> float:
        return LEFT + (right - LEFT) * layer / last

    def up(thousandths: float) -> float:
        return top + (bottom - top) * (thousandths / 1000) / FLOOR

    for decade, label in TICKS.items():
        level = up(1000 * decade)
        out += [
            shapes.line(LEFT, level, right, level, "grid"),
            shapes.text(LEFT - 6, level + 4, label, "soft small", "end"),
        ]
    for layer in range(0, last + 1, 8 if wide else 16):
        out.append(shapes.text(across(layer), bottom + 18, str(layer), "soft small", "middle"))
    out.append(shapes.text(right, bottom + 36, "Layers, or rounds", "soft", "end"))
    out.append(
        shapes.text(LEFT + 6, top - 16, "Difference (1: as of two unrelated inputs)", "soft small")
    )
    here, drawn = across(v["depth"]), range(v["depth"] + 1)
    out.append(shapes.line(here, top, here, bottom, "ink dash"))
    for kind, colour in zip(v["kinds"], COLOURS, strict=False):
        seen = v["nets"][kind]
        out += [shapes.circle(across(i), up(seen[i]), 2.4, colour) for i in drawn[::2]]
    bits = v["cipher"]
    out.append(shapes.path([(across(i), up(bits[i])) for i in range(v["rounds"] + 1)], "ink", 2.5))
    out.append(shapes.circle(across(v["rounds"]), up(bits[v["rounds"]]), 5, "ink"))
    for kind, colour in zip(v["kinds"], COLOURS, strict=False):
        out.append(shapes.circle(here, up(v["nets"][kind][v["depth"]]), 5, colour))
    return bottom + 44, out


def readouts(v: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return each distance as a share of that of two unrelated inputs."""
    after = "1 round" if v["rounds"] == 1 else f"{v['rounds']} rounds"
    return [
        ("toy cipher", format_value(v["share"], "1", 2), f"after {after}"),
        *(
            (v["kinds"][kind], format_value(found, "1", 2), "")
            for kind, found in v["found"].items()
        ),
    ]


def words(v: dict[str, Any]) -> str:
    """Describe the distances at the chosen depth."""
    nets = "; ".join(
        f"{v['kinds'][kind]} {format_value(found, '1', 2)}" for kind, found in v["found"].items()
    )
    return (
        f"Distance of two nearly equal inputs, as a share of that of two unrelated ones. "
        f"Toy cipher, one bit flipped, round {v['rounds']}: {format_value(v['share'], '1', 2)}. "
        f"Random networks with weights of gain {v['gain']}, a nudge of a millionth, layer "
        f"{v['depth']}: {nets}."
    )


def rows(v: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of the data table: the distances at some depths."""

    def told(values, i: int) -> str:
        return format_value(value(values[i]), "1", 2) if i < len(values) else "–"

    layers = [0, 1, 2, 4, 6, 8, 16, 32, 64]
    return ["Layers, or rounds", "cipher", *v["kinds"].values()], [
        [str(i), told(v["cipher"], i), *(told(v["nets"][kind], i) for kind in v["kinds"])]
        for i in layers
    ]
