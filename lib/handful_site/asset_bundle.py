"""One style sheet for the site, and names of shared files that change with what they hold."""

from __future__ import annotations

import hashlib
import json
import posixpath
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from .theme import FONTS

SHARED = (
    "site.css",
    "handful/handful.js",
    "handful/color_mode_init.js",
    "handful/database.js",
    "handful/boxes.json",
)
# How one of our modules names another that it asks for later, with a mark made of what that one
# holds.
LATER = re.compile(r"((?:[\w-]+/)*[\w-]+\.js)\?v=([0-9a-f]{8})")


def bundle(static: Path, sheets: Iterable[str], node: list[str], root: Path) -> str:
    """Write site.css from the sheets and remove them; return what went wrong, or ""."""
    job = {"static": str(static), "sheets": list(sheets)}
    command = [*node, str(Path(__file__).with_suffix(".mjs"))]
    done = subprocess.run(command, input=json.dumps(job), capture_output=True, text=True, cwd=root)
    if done.returncode:
        return done.stderr.strip() or "no reason given"
    for name in job["sheets"]:
        (static / "handful" / name).unlink()
    # Fonts and pictures that our sheet names have gone to _static/files.
    for name in ("*.woff2", "favicon-*.svg", "katex"):
        for copy in (static / "handful").glob(name):
            shutil.rmtree(copy) if copy.is_dir() else copy.unlink()
    return ""


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
