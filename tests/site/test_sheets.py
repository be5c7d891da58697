"""The theme's sheets, cut down: icons that are shown keep their glyphs, pictures become files."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont

from handful_site import sheets

SUN, CAT, COPY = 0xF185, 0xF6BE, 0xF0C5
CSS = r"""@font-face{font-family:"Font Awesome 6 Free";src:url(a.woff2)}
.fa-sun:before{content:"\f185"}.fa-cat:before{content:"\f6be"}.fa-copy:before,.fa-clone:before{content:"\f0c5"}p{color:red}
/*# sourceMappingURL=a.css.map */"""


@pytest.fixture(scope="module")
def theme() -> Path:
    spec = importlib.util.find_spec("pydata_sphinx_theme")
    if spec is None:
        pytest.skip("the theme of the book is not installed")
    return Path(spec.origin).parent / "theme/pydata_sphinx_theme/static"


@pytest.fixture
def trimmed(tmp_path, theme):
    """Trim one sheet; returns its text and the folder."""

    def call(css: str, used: set[str], name: str = "styles/a.css"):
        static = tmp_path / "_static"
        (static / name).parent.mkdir(parents=True, exist_ok=True)
        (static / name).write_text(css, "utf-8")
        sheets.trim(static, theme, used)
        return (static / name).read_text("utf-8"), static

    return call


def glyphs(path: Path) -> set[int]:
    return set(TTFont(path).getBestCmap())


def test_only_icons_in_use_are_left(trimmed):
    css, static = trimmed(CSS, {"fa-sun", "fa-clone"})
    assert (
        "fa-sun:before" in css
        and "fa-cat" not in css
        and "fa-copy" not in css
        and ".fa-clone:before{" in css
    )
    assert "p{color:red}" in css and "sourceMappingURL" not in css and "a.woff2" not in css
    assert glyphs(static / "icons/fa-solid-900.woff") & {SUN, CAT, COPY} == {SUN, COPY}


def test_the_cut_font_is_small_and_named_from_where_the_sheet_lies(trimmed, theme):
    css, static = trimmed(CSS, {"fa-sun"})
    assert "url(../icons/fa-solid-900.woff)" in css and "font-weight:900" in css
    whole = theme / "vendor/fontawesome/webfonts/fa-solid-900.ttf"
    assert (static / "icons/fa-solid-900.woff").stat().st_size < whole.stat().st_size / 100


def test_a_glyph_that_a_font_lacks_asks_for_no_rule(trimmed):
    """The outlined sun is in both fonts; the cat in the solid one alone."""
    both, _ = trimmed(CSS, {"fa-sun"})
    solid, static = trimmed(CSS, {"fa-cat"})
    assert (
        both.count("@font-face") == 2
        and solid.count("@font-face") == 1
        and "fa-regular-400" not in solid
    )
    assert (static / "icons").is_dir()


def test_a_cut_font_is_the_same_every_time(theme, tmp_path):
    source = theme / "vendor/fontawesome/webfonts/fa-solid-900.ttf"
    made = [tmp_path / "a.woff", tmp_path / "b.woff"]
    for path in made:
        assert sheets.cut_font(source, path, {SUN, 0xF8FE}) == {SUN}
    assert made[0].read_bytes() == made[1].read_bytes()


@pytest.mark.parametrize(
    "url, body",
    [
        ("url(\"data:image/svg+xml;charset=utf-8,%3Csvg xmlns='a'/%3E\")", b"<svg xmlns='a'/>"),
        ("url('data:image/svg+xml;base64,PHN2Zy8+')", b"<svg/>"),
        (r"url('data:image/svg+xml,<svg a=\'b\'/>')", b"<svg a='b'/>"),
        ("url(data:image/svg+xml;utf8,%3Csvg/%3E)", b"<svg/>"),
    ],
)
def test_pictures_become_files_beside_the_sheet(tmp_path, url, body):
    css = sheets.without_data_urls(f"a{{background:{url}}}", tmp_path, depth=2)
    [picture] = (tmp_path / "pictures").iterdir()
    assert (
        css == f"a{{background:url(../../pictures/{picture.name})}}"
        and picture.read_bytes() == body
    )


def test_the_same_picture_is_one_file(trimmed):
    url = "url('data:image/svg+xml;base64,PHN2Zy8+')"
    css, static = trimmed(f"a{{background:{url}}}b{{background:{url}}}", set())
    assert css.count("../pictures/") == 2 and len(list((static / "pictures").iterdir())) == 1
    assert not (static / "icons").exists()  # a sheet without icons needs no font
    shutil.rmtree(static)
