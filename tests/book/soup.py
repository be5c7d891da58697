"""The built pages' markup, each parsed once for all tests of a process; not to be changed."""

from __future__ import annotations

from functools import cache

from bs4 import BeautifulSoup

from handful import scenario
from handful_site.build import SITE


@cache
def soup(name: str) -> BeautifulSoup:
    """Return the parsed markup of a file in the site: ``soup("index.html")``."""
    return BeautifulSoup((SITE / name).read_text("utf-8"), "html.parser")


def starts_from(name: str) -> scenario.Choice:
    """Return the chip, model, precision and context from which a built page starts."""
    root = soup(name).html
    assert root is not None
    if not (own := root.get("data-scenario")):
        return {**scenario.DEFAULT}
    hardware, model, precision, context = str(own).split(", ")
    return {"hardware": hardware, "model": model, "precision": precision, "context": int(context)}
