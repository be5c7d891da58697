"""One style sheet and one script for the site, so that a page loads three files, not thirty.

The theme and its extensions bring nine sheets, most of their rules for things that the book does
not have.  A browser asks for them one after the other and matches every rule against every element.
"""

from __future__ import annotations

import hashlib
import json
import posixpath
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit

from bs4 import BeautifulSoup

from .elements import one

SHARED = ("site.css", "handful/handful.js", "handful/boxes.json")
OURS = "_static/handful/"
# Every page is set in these two, so they are asked for beside the sheet that names them: text that
# changes its font under a reader's eyes moves.  The bundler puts a mark behind their names.
FONTS = (
    "files/source-serif-4-latin-400-normal.woff2",
    "files/source-sans-3-latin-wght-normal.woff2",
)
# Sets light or dark before the first paint, and so may not wait.
EARLY = "data-cfasync"
# How one of our modules names another that it asks for later, with a mark made of what that one
# holds.
LATER = re.compile(r"([\w-]+\.js)\?v=([0-9a-f]{8})")


def address(tag, page: str) -> str:
    """Return the file within the site that a link or script of `page` names.

    >>> tag = BeautifulSoup('<script src="../_static/a.js?v=1"></script>', "html.parser").script
    >>> address(tag, "part/one.html")
    '_static/a.js'
    """
    name = tag.get("src") or tag["href"]
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), urlsplit(name).path))


def sheets(soup: BeautifulSoup) -> list:
    """Return the links to style sheets, except those within <noscript>."""
    return [tag for tag in soup.select('link[rel="stylesheet"]') if not tag.find_parent("noscript")]


def shared(pages: dict[str, BeautifulSoup]) -> list[str]:
    """Return the sheets that every page loads, in order; pages that load none are ignored."""
    lists = [[address(tag, page) for tag in sheets(soup)] for page, soup in pages.items()]
    lists = [names for names in lists if names]
    return [
        name
        for name in dict.fromkeys(lists[0] if lists else ())
        if all(name in names for names in lists)
    ]


def relink(soup: BeautifulSoup, page: str, sheet_names: list[str]) -> None:
    """Make a page load the one sheet in place of those that go into it."""
    up = "../" * page.count("/") + "_static/"
    for tag in sheets(soup):
        if address(tag, page) in sheet_names:
            tag.decompose()
    # Browsers stop looking ahead at a policy, so what the page waits for is named first.
    first = [
        soup.new_tag("link", rel="stylesheet", href=up + "site.css"),
        one(soup, 'script[type="module"]').extract(),
        *(
            soup.new_tag(
                "link",
                attrs={
                    "rel": "preload",
                    "as": "font",
                    "type": "font/woff2",
                    "crossorigin": "",
                    "href": up + name,
                },
            )
            for name in FONTS
        ),
        *(tag.extract() for tag in soup.select(f"script[{EARLY}]")),
    ]
    one(soup, 'meta[http-equiv="Content-Security-Policy"]').insert_after(*first)


def bundle(site: Path, sheet_names: list[str], node: list[str], root: Path) -> str:
    """Write site.css from the files and remove them; return what went wrong, or ""."""
    job = {
        "root": str(site),
        "sheets": sheet_names,
        "foreign": [name for name in sheet_names if not name.startswith(OURS)],
    }
    command = [*node, str(Path(__file__).with_suffix(".mjs"))]
    done = subprocess.run(command, input=json.dumps(job), capture_output=True, text=True, cwd=root)
    if done.returncode == 0:
        for name in sheet_names:
            (site / name).unlink()
        # Fonts and pictures that our sheet names have gone to _static/files.
        for name in ("*.woff2", "favicon-*.svg", "katex"):
            for copy in (site / OURS).glob(name):
                shutil.rmtree(copy) if copy.is_dir() else copy.unlink()
        return ""
    return done.stderr.strip() or "no reason given"


def stamp(site: Path, pages: Iterable[str]) -> None:
    """Give each shared file a name that changes with its contents.

    A host may then let it be kept indefinitely.

    A module that another asks for later (``new URL("./study.js?v=1b2c3d4e", import.meta.url)``) is
    renamed first, since its name is part of the other's text.
    """
    ours = site / "_static" / "handful"
    texts = {path: path.read_text("utf-8") for path in ours.glob("*.js")}
    later = {
        name: mark
        for text in texts.values()
        for name, mark in LATER.findall(text)
        if (ours / name).exists()
    }
    for path, text in texts.items():
        path.write_text(
            LATER.sub(lambda m: marked(m[1], m[2]) if m[1] in later else m[0], text), "utf-8"
        )
    for name, mark in later.items():
        (ours / name).rename(ours / marked(name, mark))
    names = {f"handful/{name}": marked(f"handful/{name}", mark) for name, mark in later.items()}
    for name in SHARED:
        if (path := site / "_static" / name).exists():
            names[name] = marked(name, hashlib.sha256(path.read_bytes()).hexdigest()[:8])
            path.rename(site / "_static" / names[name])
    for name in FONTS:
        plain = site / "_static" / name
        for path in plain.parent.glob(f"{plain.stem}-*.woff2"):
            names[name] = f"files/{path.name}"
    wanted = re.compile(rf'(?<=_static/)({"|".join(map(re.escape, names))})(?=")')
    for page in pages:
        text = (site / page).read_text("utf-8")
        (site / page).write_text(wanted.sub(lambda m: names[m[1]], text), "utf-8")


def marked(name: str, mark: str) -> str:
    """Return a file name with a mark before its suffix.

    >>> marked("handful/study.js", "1b2c3d4e")
    'handful/study.1b2c3d4e.js'
    """
    stem, suffix = posixpath.splitext(name)
    return f"{stem}.{mark}{suffix}"
