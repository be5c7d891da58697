"""Cards that other sites show for a link: 1200 × 630, with the page's title, line and first plot.

They are drawn in the book's own type and colours when the book is built for an address
(``html_baseurl``), since such sites take absolute addresses only.  A card is kept under a hash of
what it shows: twenty-six of them take ten seconds.
"""

from __future__ import annotations

import hashlib
import importlib
import pkgutil
import re
import shutil
import textwrap
from functools import cache
from pathlib import Path

from . import icons

SIZE = (1200, 630)
PAPER, INK, SOFT, ACCENT = "#fdfcf8", "#1d2228", "#555b63", "#0068a8"
FONTS = (
    "source-serif-4-latin-400-normal",
    "source-sans-3-latin-400-normal",
    "source-sans-3-latin-700-normal",
)
SERIF, SANS = ["Source Serif 4", "DejaVu Serif"], ["Source Sans 3", "DejaVu Sans"]


@cache
def fonts(root: Path, folder: Path) -> None:
    """Make the book's fonts, which are woff files, available to matplotlib as TrueType."""
    from fontTools.ttLib import TTFont
    from matplotlib import font_manager

    folder.mkdir(parents=True, exist_ok=True)
    for name in FONTS:
        source = (
            root
            / "node_modules/@fontsource"
            / name.partition("-latin")[0]
            / "files"
            / f"{name}.woff"
        )
        target = folder / f"{name}.ttf"
        if not target.exists():
            font = TTFont(source)
            font.flavor = None
            font.save(target)
        font_manager.fontManager.addfont(target)


@cache
def explorers() -> dict:
    """Return every declared explorer by its name."""
    import handful_explorers as package
    from handful_explorers.plotting.explorer import Explorer

    modules = [
        importlib.import_module(f"{package.__name__}.{module.name}")
        for module in pkgutil.iter_modules(package.__path__)
    ]
    return {
        value.name: value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, Explorer)
    }


def draw(title: str, line: str, above: str, explorer):
    """Return the card as a matplotlib Figure; `explorer` may be None."""
    import numpy as np
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    width, height = SIZE
    line = re.split(r"(?<=[.:;]) ", line)[0] if len(line) > 110 else line
    with rc_context({"font.family": SANS}):
        card = Figure(figsize=(width / 100, height / 100), dpi=100, facecolor=PAPER)
        room = 22 if explorer is None else 13
        lines = textwrap.wrap(title, room)
        size = 54 if len(lines) < 3 else 45 if len(lines) < 4 else 37
        icons.draw(card.add_axes((60 / width, 1 - 116 / height, 56 / width, 56 / height)))
        card.text(
            134 / width,
            1 - 88 / height,
            "A Handful of Equations",
            color=INK,
            fontsize=21,
            family=SERIF,
            va="center",
        )
        if above:
            card.text(
                60 / width,
                1 - 168 / height,
                above,
                color=ACCENT,
                fontsize=17,
                weight="bold",
                va="top",
            )
        card.text(
            58 / width,
            1 - 204 / height,
            "\n".join(lines),
            color=INK,
            fontsize=size,
            family=SERIF,
            va="top",
            linespacing=0.86,
        )
        words = textwrap.wrap(line, 42 if explorer else 84)
        words = [*words[:3], words[3] + " …"] if len(words) > 4 else words
        card.text(
            60 / width,
            56 / height,
            "\n".join(words),
            color=SOFT,
            fontsize=17,
            va="bottom",
            linespacing=1.1,
        )
        if explorer is not None:
            figure = explorer.figure(5.1, 4.1)
            figure.set(dpi=124, facecolor=PAPER)
            for axes in figure.axes:
                axes.set_facecolor("none")
            canvas = FigureCanvasAgg(figure)
            canvas.draw()
            plot = np.asarray(canvas.buffer_rgba())
            card.figimage(
                plot, width - 40 - plot.shape[1], max(30, (height - plot.shape[0]) // 2 - 20)
            )
    return card


def write(
    target: Path,
    kept: Path,
    root: Path,
    title: str,
    line: str,
    above: str = "",
    name: str = "",
    drawing: str = "",
) -> None:
    """Write a card's PNG.

    `name` is the explorer on it, and `drawing` the markup of its still figure, which is part of the
    key under which it is kept.
    """
    parts = (
        title,
        line,
        above,
        name,
        drawing,
        Path(__file__).read_text("utf-8"),
        icons.SOURCE.read_text("utf-8"),
    )
    made = kept / f"{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:16]}.png"
    if not made.exists():
        kept.mkdir(parents=True, exist_ok=True)
        fonts(root, kept)
        draw(title, line, above, explorers().get(name)).savefig(
            made, facecolor=PAPER, metadata={"Software": None}
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(made, target)
