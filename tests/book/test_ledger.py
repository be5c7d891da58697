"""Tests of the ledger of claims in a real browser.

They cover what its fields keep, what the address remembers, and the page without scripts.
"""

from __future__ import annotations

import re
import shutil
from urllib.parse import parse_qs, urlsplit

import pytest

from handful_evidence.claims import SEGMENTS, VERDICTS, load
from handful_site import build
from handful_site.extensions import ledger

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(module_server):
    build.bundle()
    folder, address = module_server
    for name in ("handful.js", "handful.css", "favicon.svg"):
        shutil.copy(build.SCRIPTS / name, folder / name)
    parts = "".join(
        f"<section><h2>{title}</h2><div class='cell'>{ledger.segment(number).text}</div></section>"
        for number, title in SEGMENTS.items()
    )
    (folder / "index.html").write_text(
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>claims</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="icon" href="favicon.svg">'
        '<link rel="stylesheet" href="handful.css"><script type="module" src="handful.js">'
        "</script></head>"
        '<body><main><article class="article"><section><div '
        f'class="cell">{ledger.overview().text}</div>{parts}</section>'
        "</article></main></body></html>",
        "utf-8",
    )
    return address


@pytest.fixture
def tab(shared):
    made = shared()
    yield made
    assert made.faults == []


def shown(page) -> list[str]:
    return page.eval_on_selector_all(
        "li.entry", "all => all.filter((e) => e.offsetParent).map((e) => e.id.slice(6))"
    )


def ids(**want) -> list[str]:
    return [
        claim.id
        for claim in load()
        if all(getattr(claim, key) in allowed for key, allowed in want.items())
    ]


def test_all_claims_stand_there_at_first_with_their_counts(address, tab):
    page = tab.open(address)
    assert shown(page) == [claim.id for claim in load()]
    assert page.locator(".ledger-find output").inner_text() == f"{len(load())} claims"
    for name in VERDICTS:
        button = page.locator(".ledger-verdict button").filter(has_text=name)
        assert button.inner_text().split()[-1] == str(len(ids(verdict=[name])))
        assert button.get_attribute("aria-pressed") == "false"


def test_choices_of_a_group_add_and_groups_narrow(address, tab):
    page = tab.open(address)
    for name in ("wrong", "contested"):
        page.locator(".ledger-verdict button").filter(has_text=name).click()
    assert shown(page) == ids(verdict=["wrong", "contested"])
    page.locator(".ledger-segment button").first.click()
    kept = ids(verdict=["wrong", "contested"], segment=[1])
    assert (
        shown(page) == kept
        and page.locator(".ledger-find output").inner_text()
        == f"{len(kept)} of {len(load())} claims"
    )
    # A segment with nothing left goes with its heading, and numbers on the others' buttons say what
    # they would show.
    assert page.locator("h2:visible").all_inner_texts() == [SEGMENTS[1]]
    assert page.locator(".ledger-segment button").nth(1).inner_text().split()[-1] == str(
        len(ids(verdict=["wrong", "contested"], segment=[2]))
    )
    page.locator(".ledger-clear").click()
    assert shown(page) == [claim.id for claim in load()] and urlsplit(page.url).query == ""


def test_words_are_looked_for_everywhere_in_an_entry(address, tab):
    page = tab.open(address)
    page.locator("#ledger-words").fill("character.ai GLOBAL")
    assert shown(page) == ["all-layers-share-a-context"]
    page.locator("#ledger-words").fill("no such words at all")
    assert shown(page) == [] and page.locator(".ledger-find output").inner_text().startswith("0 of")


def test_the_address_keeps_what_was_chosen(address, tab):
    page = tab.open(address)
    page.locator("#ledger-words").fill("disk")
    page.locator(".ledger-who button").filter(has_text=re.compile(r"^Pope\b")).click()
    assert parse_qs(urlsplit(page.url).query) == {"claim": ["disk"], "who": ["Pope"]}
    before = shown(page)
    assert before and shown(tab.open(page.url)) == before
    # What no button knows is left out of the choice.
    assert shown(tab.open(f"{address}?verdict=wrong,nonsense&segment=99")) == ids(verdict=["wrong"])


def test_a_link_to_a_claim_shows_it_whatever_is_hidden(address, tab):
    page = tab.open(f"{address}?verdict=wrong#claim-rack-makes-128k")
    assert "rack-makes-128k" in shown(page)
    page.goto(f"{address}#claim-feistel-inverts-any-f")
    page.wait_for_function("""() => {
      const entry = document.getElementById("claim-feistel-inverts-any-f");
      const { top } = entry.getBoundingClientRect();
      return top >= 0 && top < 900; }""")
    page.locator("#claim-feistel-inverts-any-f .entry-id").click()
    assert page.url.endswith("#claim-feistel-inverts-any-f")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_reads_on_a_phone(address, watch, scheme):
    tab = watch(width=375, color_scheme=scheme)
    page = tab.open(address)
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    assert tab.faults == []


def test_without_scripts_it_is_a_plain_list(address, browser):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    assert (
        page.locator("li.entry").count() == len(load())
        and page.locator(".ledger-tools form").count() == 0
    )
    context.close()
