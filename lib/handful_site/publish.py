"""The book as a folder for a web server: ``make publish BASE_URL=https://example.org/book/``.

``_build/public`` gets the site once axe-core has passed every page of it and every link works
(CHECK=no skips this), and beside it what a published copy needs: robots.txt, sitemap.xml, a page
for unknown addresses, pages where others have moved from, and headers for hosts that read them.
The book's address comes from BASE_URL, else from ``html: baseurl`` of
_config.yml; without one, whatever needs the whole address (the sitemap, canonical links) is left
out.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tomllib
from datetime import date
from pathlib import Path
from urllib.parse import urljoin, urlsplit
from xml.sax.saxutils import escape

import yaml
from bs4 import BeautifulSoup

from . import edition, hosting
from .bootstrap import ROOT
from .elements import having, one, value
from .theme import POLICY

PUBLIC = ROOT / "_build" / "public"
# What every edition is held to: axe-core on each of its pages, and each link within it.
CHECKS = ("tests/book/test_accessible.py", "tests/book/test_links.py")
# Pages that a search engine has no use for.
UNLISTED = {"404.html", "search.html"}


class PublishError(RuntimeError):
    """A reason why the book cannot be published, in one sentence."""


def base_url() -> str:
    """Return the book's address with a slash at its end; "" where it is not known.

    >>> before, os.environ["BASE_URL"] = os.environ.get("BASE_URL"), "https://example.org/book"
    >>> base_url()
    'https://example.org/book/'
    >>> _ = os.environ.pop("BASE_URL") if before is None else os.environ.update(BASE_URL=before)
    """
    config = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
    address = os.environ.get("BASE_URL") or (config.get("html") or {}).get("baseurl") or ""
    parts = urlsplit(address)
    if address and (
        parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment
    ):
        raise PublishError(
            f"The book's address is {address!r}; it has to be like https://example.org/book/."
        )
    return address.rstrip("/") + "/" if address else ""


def moves(path: Path) -> dict[str, str]:
    """Return the moved pages: old page → new page and anchor, as in ``book/redirects.toml``.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = Path(folder) / "redirects.toml"
    ...     _ = table.write_text('balance = "balance-batch#where-the-rule-breaks"')
    ...     moves(table)
    {'balance.html': 'balance-batch.html#where-the-rule-breaks'}
    """
    table = tomllib.loads(path.read_text("utf-8")) if path.exists() else {}
    found = {}
    for old, new in table.items():
        if (
            not isinstance(new, str)
            or not re.fullmatch(r"[\w/-]+", old)
            or not re.fullmatch(r"[\w/-]+(#[\w-]+)?", new)
        ):
            raise PublishError(
                f"{path.name}: {old} = {new!r} is no move; a line reads: old-page = "
                '"new-page#section"'
            )
        page, mark, anchor = new.partition("#")
        found[f"{old}.html"] = f"{page}.html{mark}{anchor}"
    return found


def check(site: Path, moved: dict[str, str]) -> None:
    """Refuse a move from a page that exists, and one to a page or place that does not."""
    for old, new in moved.items():
        page, _, anchor = new.partition("#")
        if (site / old).exists():
            raise PublishError(f"redirects.toml: {old} has not moved, it is a page of the book.")
        if not (site / page).exists():
            raise PublishError(
                f"redirects.toml: {old} cannot lead to {page}, which is no page of the book."
            )
        if anchor and f'id="{anchor}"' not in (site / page).read_text("utf-8"):
            raise PublishError(
                f"redirects.toml: {old} cannot lead to {new}: {page} has no such section."
            )


def moved_page(new: str, title: str, base: str) -> str:
    """Return a page that redirects, with scripts and without, for hosts without redirects."""
    canonical = (
        f'<link rel="canonical" href="{escape(urljoin(base, new.partition("#")[0]))}"/>'
        if base
        else ""
    )
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"/>'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}"/>'
        '<meta name="viewport" content="width=device-width"/><meta name="robots" '
        'content="noindex"/>'
        f'<meta http-equiv="refresh" content="0; url={escape(new)}"/>{canonical}<title>Moved: '
        f"{escape(title)}</title></head>"
        f'<body><main><p>This page has moved to <a href="{escape(new)}">{escape(title)}</a>.</p>'
        "</main></body></html>\n"
    )


def from_root(page: str, path: str) -> str:
    """Return a page whose addresses start at the host's root, in the folder `path`.

    A host shows the page for unknown addresses under any address, however deep.
    """
    soup = BeautifulSoup(page, "html.parser")
    for name in ("href", "src", "action"):
        for tag in having(soup, name):
            if not re.match(r"#|/|[a-z]+:", value(tag, name)):
                tag[name] = path + value(tag, name)
    for tag in having(soup, "data-search"):
        tag["data-search"] = path + value(tag, "data-search")
    one(soup, "html")["data-content_root"] = path
    one(soup, "head").append(soup.new_tag("meta", attrs={"name": "robots", "content": "noindex"}))
    return str(soup)


def sitemap(pages: list[str], base: str, changed: date) -> str:
    """Return the sitemap of the published pages.

    >>> print(
    ...     sitemap(
    ...         ["about.html", "index.html", "search.html"],
    ...         "https://example.org/",
    ...         date(2026, 11, 21),
    ...     )
    ... )
    <?xml version="1.0" encoding="UTF-8"?>
    <urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
    <url><loc>https://example.org/about.html</loc><lastmod>2026-11-21</lastmod></url>
    <url><loc>https://example.org/</loc><lastmod>2026-11-21</lastmod></url>
    </urlset>
    <BLANKLINE>
    """
    urls = [
        f"<url><loc>{escape(edition.address(base, page))}</loc><lastmod>{changed}</lastmod></url>\n"
        for page in pages
        if page not in UNLISTED
    ]
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<urlset '
        'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
        f"{''.join(urls)}</urlset>\n"
    )


def complete(site: Path, base: str, moved: dict[str, str]) -> list[str]:
    """Add to a finished site what a published copy needs, and return remarks, a line each.

    It only adds files, so the site's own service worker remains correct.
    """
    pages = sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))
    check(site, moved)
    path, said = urlsplit(base).path or "/", []
    for old, new in moved.items():
        target = (site / new.partition("#")[0]).read_text("utf-8")
        title = one(BeautifulSoup(target, "html.parser"), "title").get_text()
        (site / old).parent.mkdir(parents=True, exist_ok=True)
        (site / old).write_text(
            moved_page("../" * old.count("/") + new, title.partition(" — ")[0], base), "utf-8"
        )
    lost = site / "404.html"
    lost.write_text(from_root(lost.read_text("utf-8"), path), "utf-8")
    if base:
        (site / "sitemap.xml").write_text(sitemap(pages, base, edition.current().date), "utf-8")
    else:
        said.append(
            "no BASE_URL: without sitemap.xml and canonical links, and 404.html expects the book "
            "at the root of its host"
        )
    where = f"\nSitemap: {base}sitemap.xml" if base else ""
    (site / "robots.txt").write_text(f"User-agent: *\nAllow: /{where}\n", "utf-8")
    for name, text in hosting.files(site, path, moved).items():
        (site / name).write_text(text, "utf-8")
    shutil.copy(ROOT / "CITATION.cff", site)
    return said


def passes(site: Path, jobs: str) -> bool:
    """Check that every page of `site` is accessible and that every link in it works.

    pytest reports the failures as it runs.
    """
    environment = {**os.environ, "HANDFUL_SITE": str(site), "EVERY_PAGE": "1"}
    command = [
        sys.executable,
        "-P",
        "-m",
        "pytest",
        "--quiet",
        "-n",
        jobs,
        "--dist",
        "worksteal",
        "-m",
        "site",
        *CHECKS,
    ]
    return subprocess.run(command, cwd=ROOT, env=environment).returncode == 0


def main() -> None:
    """Publish the book, with the options of the command line."""
    from . import build

    parser = argparse.ArgumentParser(
        description="Write the book into _build/public, to be copied onto any web server."
    )
    parser.add_argument(
        "--check",
        choices=("yes", "no"),
        default="yes",
        help="look at every page in a browser before it becomes _build/public (default: yes)",
    )
    parser.add_argument("--jobs", default="2", help="how many browsers look at them (default: 2)")
    options = parser.parse_args()
    try:
        base, moved = base_url(), moves(ROOT / "book" / "redirects.toml")
        # It takes the place of what was published last once it has passed.
        fresh = PUBLIC.with_name("unchecked")
        build.book(fresh, base)
        said = complete(fresh, base, moved)
    except PublishError as error:
        build.stop(str(error))
    if options.check == "yes":
        build.say("every page in a browser, light and dark, and every link: some minutes")
        if not passes(fresh, options.jobs):
            build.stop(
                "The book is not fit to be published; what is wrong stands above, the pages in "
                f"{fresh.relative_to(ROOT)}."
            )
    else:
        said.append("not checked: CHECK=no leaves out axe-core and the links")
    shutil.rmtree(PUBLIC, ignore_errors=True)
    fresh.rename(PUBLIC)
    build.say(f"published in {PUBLIC.relative_to(ROOT)}")
    for line in said:
        build.say(line)
    build.say(f"to put it on a server: rsync -a --delete {PUBLIC.relative_to(ROOT)}/ HOST:FOLDER/")


if __name__ == "__main__":
    main()
