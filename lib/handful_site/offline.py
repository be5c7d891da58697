"""The book without a network: the list of its files, its service worker, and its manifest.

``dress`` gives a page its manifest; ``write`` is the very last step of a build, since an edition is
identified by the contents of its files.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from fnmatch import fnmatch
from pathlib import Path

from bs4 import BeautifulSoup

from .theme import PAPER

SOURCES = Path(__file__).parent / "web" / "offline"
TITLE, SHORT = "A Handful of Equations", "Equations"
ICONS = (
    ("icon-192.png", "192x192", "any"),
    ("icon-512.png", "512x512", "any"),
    ("icon-maskable-512.png", "512x512", "maskable"),
    ("favicon.svg", "any", "any"),
)
# Not of an edition: large and asked for by few, or for other programs.  They always come from the
# host.
LEFT_OUT = (
    "*.pdf",
    "*.epub",
    "*.ipynb",
    "*.apkg",
    "*.csv",
    "*.bib",
    "*.inv",
    "*.zip",
    "*.whl",
    "*.map",
    "*.xml",
    "*.txt",
    "*.md",
    "*.py",
    "_sources/*",
    "_static/downloads/*",
    "*/pyodide/*",
    "_static/social/*",
    "claims.json",
    "_static/handful/explorer.*",
    "_static/handful/katex/*",
    "sw.js",
    "404.html",
    "_headers",
    "_redirects",
    ".*",
    "*/.*",
)


def manifest(site: Path) -> dict:
    """Return the manifest of the site, with the icons that it has.

    >>> made = manifest(Path("no site"))
    >>> made["display"], made["start_url"], made["icons"]
    ('standalone', './', [])
    """
    found = [
        (f"_static/handful/{name}", size, purpose)
        for name, size, purpose in ICONS
        if (site / "_static" / "handful" / name).exists()
    ]
    return {
        "name": TITLE,
        "short_name": SHORT,
        "lang": "en",
        "start_url": "./",
        "scope": "./",
        "display": "standalone",
        "background_color": PAPER["light"],
        "theme_color": PAPER["light"],
        "description": "The mathematics of how large language models are trained and served.",
        "icons": [
            {
                "src": name,
                "sizes": size,
                "purpose": purpose,
                "type": "image/svg+xml" if name.endswith(".svg") else "image/png",
            }
            for name, size, purpose in found
        ],
    }


def is_in_edition(name: str) -> bool:
    """Check whether a file of that name is kept on a reader's device.

    >>> [
    ...     is_in_edition(n)
    ...     for n in ("index.html", "_static/site.css", "book.pdf", "_static/pyodide/pyodide.wasm")
    ... ]
    [True, True, False, False]
    """
    return not any(fnmatch(name, pattern) for pattern in LEFT_OUT)


def page_title(html: str) -> str:
    """Return a page's title without the book's.

    >>> page_title("<head><title>Review — A Handful of Equations</title></head>")
    'Review'
    """
    found = BeautifulSoup(html[: html.find("</head>") + 7], "html.parser").title
    return re.sub(rf" [—-] {TITLE}", "", found.get_text()).strip() if found else ""


def edition_files(site: Path) -> dict[str, Path]:
    """Return the files that are kept on a reader's device, by name."""
    return {
        name: path
        for path in sorted(site.rglob("*"))
        if path.is_file() and is_in_edition(name := path.relative_to(site).as_posix())
    }


def edition(site: Path, policy: str) -> dict:
    """Return what the service worker knows of an edition.

    This is its name, the core that all pages share, the pages with their titles, and a mark for
    each file.
    """
    files = {
        name: hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        for name, path in edition_files(site).items()
    }
    front = site / "index.html"
    menu = re.findall(r'href="([^"#?]+\.html)"', front.read_text("utf-8")) if front.exists() else []
    order = {name: place for place, name in enumerate(dict.fromkeys(["index.html", *menu]))}
    found = sorted(
        (name for name in files if name.endswith(".html")),
        key=lambda name: (order.get(name, len(order)), name),
    )
    pages = {name: page_title((site / name).read_text("utf-8")) for name in found}
    known = {
        "core": [name for name in files if name not in pages],
        "pages": pages,
        "files": files,
        "policy": policy,
    }
    worker = (SOURCES / "sw.js").read_text("utf-8")
    return {"name": hashlib.sha256((json.dumps(known) + worker).encode()).hexdigest()[:8], **known}


def write(site: Path, policy: str) -> dict:
    """Write the manifest and sw.js for the site as it stands.

    Return the compressed sizes in bytes, "core" and "whole".

    Pages with data-offline get the size of the whole in words.  Nothing of the site may change
    afterwards.
    """
    (site / "_static" / "handful").mkdir(parents=True, exist_ok=True)
    (site / "_static" / "handful" / "offline.css").write_bytes(
        (SOURCES / "offline.css").read_bytes()
    )
    (site / "manifest.webmanifest").write_text(json.dumps(manifest(site), indent=1) + "\n", "utf-8")
    files = edition_files(site)
    sizes = {name: len(gzip.compress(path.read_bytes(), 6)) for name, path in files.items()}
    whole = sum(sizes.values())
    for path in (path for path in files.values() if path.suffix == ".html"):
        text = path.read_text("utf-8")
        if 'data-offline=""' in text:
            path.write_text(
                text.replace('data-offline=""', f'data-offline="{whole / 1e6:.1f} MB"'), "utf-8"
            )
    known = edition(site, policy)
    line = json.dumps(known, ensure_ascii=False, separators=(",", ":"))
    (site / "sw.js").write_text(
        f"const EDITION = {line};\n{(SOURCES / 'sw.js').read_text('utf-8')}", "utf-8"
    )
    return {"core": sum(sizes[name] for name in known["core"]), "whole": whole}
