"""Tests of the cards for links.

They are drawn in the book's fonts, and named in the head once the book's address is known.
"""

from __future__ import annotations

from bs4 import BeautifulSoup
from PIL import Image

from handful_site import page_metadata, social
from handful_site.bootstrap import ROOT

PAGE = """<html><head><title>t</title>{}</head><body><article class="article">\
<p class="eyebrow">Chapter 1</p><section>
<h1>Latency and cost</h1><p>Two things take time in a decode step, reading and computing. \
Others do not.</p></section></article></body></html>"""


def test_a_card_needs_an_address(tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(social, "write", lambda target, *rest: drawn.append((target, rest[2])))
    alone = {"one.html": BeautifulSoup(PAGE.format(""), "html.parser")}
    page_metadata.describe(alone, tmp_path, ROOT)
    assert drawn == [] and not alone["one.html"].select('meta[property="og:image"]')
    placed = {
        "one.html": BeautifulSoup(
            PAGE.format('<link rel="canonical" href="https://example.org/book/one.html"/>'),
            "html.parser",
        )
    }
    page_metadata.describe(placed, tmp_path, ROOT)
    assert drawn == [(tmp_path / "_static/social/one.png", "Latency and cost")]
    assert (
        placed["one.html"].select_one('meta[property="og:image"]')["content"]
        == "https://example.org/book/_static/social/one.png"
    )
    assert (
        placed["one.html"].select_one('meta[name="twitter:card"]')["content"]
        == "summary_large_image"
    )


def test_a_card_has_its_size_and_is_kept(tmp_path, monkeypatch):
    from handful_explorers.latency import latency_against_batch as plot

    monkeypatch.setattr(
        social, "explorers", lambda: {plot.name: plot}
    )  # all of them take seconds to import
    made = [tmp_path / name for name in ("a.png", "b.png")]
    for target in made:
        social.write(
            target,
            tmp_path / "kept",
            ROOT,
            "Latency and cost",
            "Two things take time in a decode step.",
            "Chapter 1",
            plot.name,
        )
    with Image.open(made[0]) as card:
        assert card.size == social.SIZE
        # Both halves hold something: the title at the left, the plot at the right.
        for half in (card.crop((0, 0, 560, 630)), card.crop((640, 0, 1200, 630))):
            assert len(half.convert("RGB").getcolors(1 << 20)) > 50
    assert (
        made[0].read_bytes() == made[1].read_bytes()
        and len(list((tmp_path / "kept").glob("*.png"))) == 1
    )
