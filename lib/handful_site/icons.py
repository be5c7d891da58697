"""Icons as pixels, drawn from favicon.svg when the book is built.

The drawing is the knee of a roofline with a point on it.  Home screens want PNG files of fixed
sizes; a maskable one keeps its drawing within the circle that a phone may cut out, and fills the
rest with its background.
"""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

SOURCE = Path(__file__).with_name("favicon.svg")
# Name: size in pixels, share of the side that the drawing takes, whether the ground is rounded as
# in the source.
ICONS = {
    "icon-192.png": (192, 1.0, True),
    "icon-512.png": (512, 1.0, True),
    "icon-maskable-512.png": (512, 0.72, False),
    "apple-touch-icon.png": (180, 0.86, False),
}


def draw(axes, share: float = 1.0, rounded: bool = True) -> None:
    """Draw the icon into square axes; the drawing takes `share` of the side."""
    from matplotlib.patches import Circle, FancyBboxPatch, Rectangle

    ground, line, spot = ElementTree.parse(SOURCE).getroot()
    side = float(ground.attrib["width"])
    points = axes.get_position().width * axes.figure.get_figwidth() * 72 / side * share
    axes.set(xlim=(0, side), ylim=(side, 0))
    axes.set_axis_off()

    def place(number: str) -> float:
        return side / 2 + (float(number) - side / 2) * share

    colour = ground.attrib["fill"]
    if rounded:
        r = float(ground.attrib["rx"])
        axes.add_patch(
            FancyBboxPatch(
                (r, r), side - 2 * r, side - 2 * r, f"round,pad={r}", fc=colour, ec="none"
            )
        )
    else:
        axes.add_patch(Rectangle((0, 0), side, side, fc=colour, ec="none"))
    xy = [place(number) for number in re.findall(r"[\d.]+", line.attrib["points"])]
    axes.plot(
        xy[::2],
        xy[1::2],
        color=line.attrib["stroke"],
        linewidth=float(line.attrib["stroke-width"]) * points,
        solid_capstyle="round",
        solid_joinstyle="round",
    )
    axes.add_patch(
        Circle(
            (place(spot.attrib["cx"]), place(spot.attrib["cy"])),
            float(spot.attrib["r"]) * share,
            zorder=3,
            fc=spot.attrib["fill"],
            ec=spot.attrib["stroke"],
            lw=float(spot.attrib["stroke-width"]) * points,
        )
    )


def write(folder: Path) -> list[Path]:
    """Write every icon into `folder`, and return the files."""
    from matplotlib.figure import Figure

    made = []
    for name, (size, share, rounded) in ICONS.items():
        figure = Figure(figsize=(size / 100, size / 100), dpi=100)
        draw(figure.add_axes((0, 0, 1, 1)), share, rounded)
        figure.savefig(folder / name, transparent=True, metadata={"Software": None})
        made.append(folder / name)
    return made
