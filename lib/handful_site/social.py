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
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    width, height = SIZE
    line = re.split(r"(?<=[.:;]) ", line)[0] if len(line) > 110 else line
    words = textwrap.wrap(line, 42 if explorer else 84)
    words = [*words[:3], words[3] + " …"] if len(words) > 4 else words
    lines = textwrap.wrap(title, 13 if explorer else 22)
    size = 54 if len(lines) < 3 else 45 if len(lines) < 4 else 37
    with rc_context({"font.family": SANS}):
        card = Figure(figsize=(width / 100, height / 100), dpi=100, facecolor=PAPER)

        def add_text(
            x: int, y: int, text: str, size: int, color: str, va: str = "top", **how
        ) -> None:
            card.text(x / width, y / height, text, fontsize=size, color=color, va=va, **how)

        icons.draw(card.add_axes((60 / width, 1 - 116 / height, 56 / width, 56 / height)))
        add_text(134, height - 88, "A Handful of Equations", 21, INK, "center", family=SERIF)
        add_text(60, height - 168, above, 17, ACCENT, weight="bold")
        add_text(58, height - 204, "\n".join(lines), size, INK, family=SERIF, linespacing=0.86)
        add_text(60, 56, "\n".join(words), 17, SOFT, "bottom", linespacing=1.1)
        if explorer is not None:
            draw_plot(card, explorer)
    return card


def draw_plot(card, explorer) -> None:
    """Put an explorer's still plot at the right of a card."""
    import numpy as np
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    width, height = SIZE
    figure = explorer.figure(5.1, 4.1)
    figure.set(dpi=124, facecolor=PAPER)
    for axes in figure.axes:
        axes.set_facecolor("none")
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    plot = np.asarray(canvas.buffer_rgba())
    card.figimage(plot, width - 40 - plot.shape[1], max(30, (height - plot.shape[0]) // 2 - 20))


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
