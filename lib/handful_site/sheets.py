"""Trim the theme's style sheets: only the icons in use, and no ``data:`` address.

The theme ships all of Font Awesome as fonts of 400 kB and a script of 1.5 MB.  Here the one font is
cut down to the glyphs that the site shows, and the rules of the others go.  Pictures inside a sheet
(``url("data:…")``) become files, since the Content-Security-Policy allows what comes from this site
and nothing else.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from urllib.parse import unquote_to_bytes

ICON_RULE = re.compile(r'((?:\.fa-[\w-]+:{1,2}before,?)+)\{content:"(\\[0-9a-f]+(?: )?|.)"\}')
ICON_FACE = re.compile(r"@font-face\{[^{}]*Font Awesome[^{}]*\}")
CONTENT = re.compile(r"\\(f[0-9a-f]{3})\b|([\uf000-\uf8ff])")
DATA_URL = re.compile(
    r"url\((['\"]?)data:image/svg\+xml(;base64|;charset=utf-?8|;utf8)?,(.*?)\1\)", re.S
)
FONTS = {"900": "fa-solid-900.ttf", "400": "fa-regular-400.ttf"}


def without_unused_icons(css: str, used: set[str]) -> str:
    r"""Remove the rules of icons whose class is not in `used`.

    >>> print(
    ...     without_unused_icons(
    ...         r'.fa-sun:before{content:"\f185"}.fa-cat:before{content:"\f6be"}', {"fa-sun"}
    ...     )
    ... )
    .fa-sun:before{content:"\f185"}
    """

    def keep(rule: re.Match) -> str:
        names = [name for name in rule[1].split(",") if name.strip(".").partition(":")[0] in used]
        return f'{",".join(names)}{{content:"{rule[2]}"}}' if names else ""

    return ICON_RULE.sub(keep, css)


def glyphs(css: str) -> set[int]:
    """Return the code points in the private area that a sheet names, as icon fonts use them."""
    return {int(code, 16) if code else ord(letter) for code, letter in CONTENT.findall(css)}


def cut_font(source: Path, target: Path, points: set[int]) -> set[int]:
    """Write `source` with the glyphs of `points` only, and return the points that it has."""
    from fontTools import subset
    from fontTools.ttLib import TTFont

    font = TTFont(source, recalcTimestamp=False)
    have = points & set(font.getBestCmap())
    # woff rather than woff2: the latter needs a compressor that is not among the locked packages,
    # for 1 kB.
    options = subset.Options(
        flavor="woff", hinting=False, desubroutinize=True, notdef_outline=False, name_IDs=[1, 2]
    )
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=have)
    cutter.subset(font)
    for line in font["name"].names:  # its makers keep their name for the font as they made it
        line.string = "Icons of the book"
    font.flavor = "woff"
    font.save(target)
    return have


def icon_faces(static: Path, raw: Path, points: set[int], depth: int) -> str:
    """Make the subset fonts in ``_static/icons`` and return their @font-face rules."""
    (static / "icons").mkdir(parents=True, exist_ok=True)
    faces = []
    for weight, name in FONTS.items():
        source, target = (
            raw / "vendor/fontawesome/webfonts" / name,
            static / "icons" / f"{Path(name).stem}.woff",
        )
        if cut_font(source, target, points):
            faces.append(
                f'@font-face{{font-family:"Font Awesome 6 '
                f'Free";font-weight:{weight};font-display:block;'
                f'src:url({"../" * depth}icons/{target.name}) format("woff")}}'
            )
    return "".join(faces)


def without_data_urls(css: str, static: Path, depth: int) -> str:
    """Write pictures that a sheet embeds to ``_static/pictures``.

    `depth` is the number of folders between _static and the sheet.
    """

    def write(found: re.Match) -> str:
        text = found[3].replace('\\"', '"').replace("\\'", "'")
        if found[2] == ";base64":
            import base64

            body = base64.b64decode(text)
        else:
            body = unquote_to_bytes(text)
        name = f"{hashlib.sha256(body).hexdigest()[:12]}.svg"
        (static / "pictures").mkdir(parents=True, exist_ok=True)
        (static / "pictures" / name).write_bytes(body)
        return f"url({'../' * depth}pictures/{name})"

    return DATA_URL.sub(write, css)


def trim(static: Path, raw: Path, used: set[str]) -> None:
    """Trim every sheet under `static` (the site's _static), a copy of `raw` (the theme's).

    `used` holds the icon classes (``fa-sun``) that some page shows.
    """
    sheets = {
        path: without_unused_icons(path.read_text("utf-8"), used)
        for path in sorted(static.rglob("*.css"))
    }
    points = set().union(*map(glyphs, sheets.values()))
    for path, css in sheets.items():
        depth = len(path.relative_to(static).parts) - 1
        if ICON_FACE.search(css):
            css = ICON_FACE.sub("", css) + icon_faces(static, raw, points, depth)
        path.write_text(
            re.sub(r"/\*# sourceMappingURL=.*?\*/", "", without_data_urls(css, static, depth)),
            "utf-8",
        )
