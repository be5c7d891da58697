"""The list of the external addresses that the book's pages name: tests/data/external_links.txt.

It also says when each was last reached.

    python tests/book/external_links.py update
        Add what the built book names and drop what it names no more; no network.
    python tests/book/external_links.py
        Try each address, with progress, and note today's date beside those that answer.

`make test` compares the list with the built book and asks nobody; `make links` is for whoever has a
network.
"""

from __future__ import annotations

import re
import sys
import time
import urllib.error
import urllib.request
from datetime import date
from html import unescape
from pathlib import Path
from urllib.parse import urldefrag, urlsplit

LIST = Path(__file__).parents[1] / "data" / "external_links.txt"
NEVER = "never"
HEAD = (
    "# Addresses outside of the book that its pages name, each with the day on which `make "
    "links` last reached it.\n"
)
LINK = re.compile(r'<a\s[^>]*?href="(https?://[^"]+)"')
AGENT = {"User-Agent": "Mozilla/5.0 (link check of A Handful of Equations)"}


def plain(address: str) -> str:
    """Return an address without its place on the page or its second in a video.

    >>> plain("https://www.youtube.com/watch?v=abc&t=12s"), plain("https://example.org/a#b")
    ('https://www.youtube.com/watch?v=abc', 'https://example.org/a')
    """
    return re.sub(r"[?&]t=\d+s?$", "", urldefrag(unescape(address))[0])


def used(site: Path) -> set[str]:
    """Every address outside that a page of the built site links to."""
    return {
        plain(found)
        for page in site.rglob("*.html")
        if "editions" not in page.relative_to(site).parts
        for found in LINK.findall(page.read_text("utf-8"))
    }


def listed(path: Path = LIST) -> dict[str, str]:
    """Address → the day it was last reached, or "never"."""
    lines = [
        line.split()
        for line in path.read_text("utf-8").splitlines()
        if line.strip() and not line.startswith("#")
    ]
    return {address: day for day, address in lines}


def write(found: dict[str, str]) -> None:
    LIST.write_text(
        HEAD + "".join(f"{day:<10}  {address}\n" for address, day in sorted(found.items())), "utf-8"
    )


def answer(address: str) -> str:
    """Nothing if the address answers, else what it said.

    Some hosts refuse programs: a refusal says that the page is there.
    """
    for method in ("HEAD", "GET"):
        try:
            urllib.request.urlopen(
                urllib.request.Request(address, method=method, headers=AGENT), timeout=20
            ).close()
            return ""
        except urllib.error.HTTPError as error:
            said = "" if error.code in (401, 403, 429, 999) else f"status {error.code}"
            if not said:
                return ""
        except OSError as error:
            said = str(getattr(error, "reason", error))
    return said


def main(arguments: list[str]) -> None:
    from handful_site.build import SITE

    known = listed() if LIST.exists() else {}
    known = {address: known.get(address, NEVER) for address in used(SITE)}
    write(known)
    if arguments == ["update"]:
        print(f"{len(known)} addresses in {LIST.name}")
        return
    lost, last = [], {}
    for number, address in enumerate(sorted(known), 1):
        host = urlsplit(address).netloc
        time.sleep(max(0, last.get(host, 0) + 1 - time.monotonic()))  # one a second from each host
        said, last[host] = answer(address), time.monotonic()
        print(
            f"[{number:3} of {len(known)}] {'ok  ' if not said else 'lost'} {address} {said}",
            flush=True,
        )
        if said:
            lost.append(f"{address}: {said}; last reached: {known[address]}")
        else:
            known[address] = date.today().isoformat()
            write(known)
    if lost:
        sys.exit(f"\n{len(lost)} of {len(known)} addresses did not answer:\n  " + "\n  ".join(lost))
    print(f"\nAll {len(known)} addresses answered.")


if __name__ == "__main__":
    main(sys.argv[1:])
