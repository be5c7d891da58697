"""The PDF and the EPUB on the site, offered only while they match the sources."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

from .bootstrap import ROOT

FOLDER, STEM = ROOT / "_build" / "editions", "a-handful-of-equations"
WHAT = {"pdf": "PDF, for paper and for screens", "epub": "EPUB 3, for e-readers"}
PLACE = "_static/downloads"  # which the site's offline copy leaves out
SUFFIXES = {".py", ".csv", ".toml", ".json", ".md", ".bib", ".css", ".mjs", ".svg"}


def source_digest() -> str:
    """Return the SHA-256 of all sources of the files, 16 digits."""
    total = hashlib.sha256()
    files = [
        ROOT / name
        for name in (
            "_toc.yml",
            "_config.yml",
            "CITATION.cff",
            "requirements.lock",
            "package-lock.json",
        )
    ]
    for folder in ("book", "exercises", "lib"):
        files += [path for path in (ROOT / folder).rglob("*") if path.suffix in SUFFIXES]
    for path in sorted(files):
        total.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return total.hexdigest()[:16]


def _known(folder: Path) -> dict[str, str]:
    path = folder / "made-from.json"
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def stamp(kind: str, digest: str, folder: Path = FOLDER) -> None:
    """Record what the file of `kind` was made from: the `source_digest` before its making."""
    (folder / "made-from.json").write_text(
        json.dumps({**_known(folder), kind: digest}, sort_keys=True), "utf-8"
    )


def current(folder: Path = FOLDER) -> list[Path]:
    """Return the files that were made from the sources as they are now.

    A file made from older sources is left out.
    """
    known = _known(folder)
    now = source_digest() if known else ""
    paths = [folder / f"{STEM}.{kind}" for kind in WHAT if known.get(kind) == now]
    return [path for path in paths if path.exists()]


def copy_to(site: Path, files: list[Path]) -> None:
    """Copy the files into a site."""
    for path in files:
        (site / PLACE).mkdir(parents=True, exist_ok=True)
        shutil.copy(path, site / PLACE)


def add_links(soup, up: str, files: list[Path]) -> None:
    """Offer the files in a page's download menu, and in its boxes of class "bound-files"."""
    menu = soup.select_one("details.downloads > ul")
    for path in files if menu else ():
        item, link = soup.new_tag("li"), soup.new_tag("a", href=f"{up}{PLACE}/{path.name}")
        link["title"], link["download"] = WHAT[path.suffix[1:]], ""
        link.string = f"The whole book ({path.suffix})"
        item.append(link)
        menu.append(item)
    for box in soup.select(".bound-files"):
        if not files:
            box.decompose()
            continue
        box.name = "ul"
        box.clear()
        for path in files:
            item = soup.new_tag("li")
            link = soup.new_tag("a", href=f"{up}{PLACE}/{path.name}", download="")
            link.string = f"{WHAT[path.suffix[1:]]} ({path.stat().st_size / 1e6:.1f} MB)"
            item.append(link)
            box.append(item)
