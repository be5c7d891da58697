"""Tests of the colours of a plot's series for every kind of vision.

They can be told apart without red, green or blue cones, and contrast enough with their background.
"""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest

from handful_explorers.plotting import figure
from handful_site import social

SHEET = (Path(figure.__file__).parents[1] / "web" / "palette.css").read_text("utf-8")
LIGHT, DARK = (
    [re.search(rf"--ex-{i}: (#\w{{6}})", part)[1] for i in range(8)]
    for part in SHEET.split('html[data-theme="dark"]')
)
SCHEMES = {"light": (LIGHT, "#fdfcf8"), "dark": (DARK, "#12181d")}  # the papers of the two

# What is left of linear red, green and blue where one kind of cone is missing: Machado, Oliveira
# and Fernandes, A physiologically-based model for simulation of color vision deficiency, 2009,
# table 1, severity 1.
EYES = {
    "all cones": np.eye(3),
    "no L cones": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "no M cones": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "no S cones": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
# Linear red, green and blue to cones, and their cube roots to OKLab: Ottosson, A perceptual color
# space, 2020.
CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
OKLAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def linear(colour: str) -> np.ndarray:
    """Linear red, green and blue of "#rrggbb"."""
    channel = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(channel <= 0.04045, channel / 12.92, ((channel + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    """Ratio of WCAG 2, from 1 to 21."""
    low, high = sorted(float(linear(colour) @ [0.2126, 0.7152, 0.0722]) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def distance(one: str, other: str, eye: np.ndarray) -> float:
    """Return the distance of two colours in OKLab as that eye sees them.

    Two patches side by side are told apart from about 0.02.
    """
    here, there = (
        OKLAB @ np.cbrt(CONES @ np.clip(eye @ linear(colour), 0, 1)) for colour in (one, other)
    )
    return float(np.linalg.norm(here - there))


def test_the_measures_are_those_of_the_papers():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(
        4.54, abs=0.01
    )  # the lightest grey for text on white
    assert distance("#000000", "#ffffff", EYES["all cones"]) == pytest.approx(1, abs=1e-3)
    # Red and green of one lightness, which some confuse and others do not.
    assert distance("#c00000", "#6f6f00", EYES["no M cones"]) < 0.3 * distance(
        "#c00000", "#6f6f00", EYES["all cones"]
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_names_on_curves_have_the_contrast_of_text(scheme):
    colours, paper = SCHEMES[scheme]
    assert min(contrast(colour, paper) for colour in colours) >= 4.5


@pytest.mark.parametrize("eye", ["all cones", "no L cones", "no M cones", "no S cones"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_any_eye_tells_any_two_series_apart(scheme, eye):
    colours, _ = SCHEMES[scheme]
    apart = {
        (i, j): distance(colours[i], colours[j], EYES[eye])
        for i, j in itertools.combinations(range(8), 2)
    }
    assert min(apart.values()) >= 0.055, min(apart, key=apart.get)
    # No plot of the book draws more than six: those are further apart.
    assert min(d for (_, j), d in apart.items() if j < 6) >= 0.065


def spaced(sheet: Path) -> str:
    """Return the text of a style sheet with a single space for each run of white space."""
    return re.sub(r"\s+", " ", sheet.read_text("utf-8"))


def test_still_pictures_have_the_same_colours_and_each_its_dashes():
    assert list(figure.PALETTE) == LIGHT
    assert len(set(figure.DASHES)) == len(LIGHT)
    sheet = spaced(Path(figure.__file__).parents[1] / "web" / "explorer.css")
    for i, colour in enumerate(LIGHT):
        for kind in ("stroke", "fill"):
            assert f'.explorer-static [{kind}="{colour}"] {{ {kind}: var(--ex-{i}); }}' in sheet
    dashes = re.findall(r"\.ex-curve\.ex-c(\d) \{ stroke-dasharray: ([\d. ]+);", sheet)
    assert len({pattern for _, pattern in dashes}) == len(dashes) == 7  # the first is drawn through


def test_every_colour_of_still_pictures_turns_with_the_theme():
    drawn = [
        figure.inline_svg(social.explorers()[name])
        for name in ("avalanche-with-depth", "laps", "wall")
    ]
    used = {found for svg in drawn for found in re.findall(r'(fill|stroke)="(#\w{6})"', svg)}
    used |= {
        (kind, colour)
        for kind in ("fill", "stroke")
        for colour in (*figure.PALETTE, figure.INK, figure.SOFT)
    }
    library = Path(figure.__file__).parents[2]
    sheets = ("handful_explorers/web/explorer.css", "handful_site/print/reader.css")
    for sheet in (library / name for name in sheets):
        rule = r'\.explorer-static \[(fill|stroke)="(#\w{6})"\] \{ \1: (\S+); \}'
        turned = re.findall(rule, spaced(sheet))
        assert {(kind, colour) for kind, colour, _ in turned} >= used, sheet.name
        assert not {colour for _, colour, _ in turned} - {colour for _, colour in used}, sheet.name
    # On a dark page of an e-reader the names are as easy to read as on the site's.
    names = [new for _, colour, new in turned if colour in LIGHT]
    assert names and all(contrast(new, SCHEMES["dark"][1]) >= 4.5 for new in names)
