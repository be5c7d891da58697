"""Tests of the search of the built book.

They cover what it holds, where its results lead, and its dialog in a browser.
"""

from __future__ import annotations

import fnmatch
import gzip
import json
import re
import subprocess
import tomllib
from functools import cache

from playwright.sync_api import expect

from handful.query import registry
from handful_site import bootstrap, search
from handful_site.build import ROOT, SITE
from handful_site.extensions import formula_reference as reference

MARKS = "CSS.highlights.get('find')?.size ?? 0"


def index_file():
    found = list((SITE / "_static/handful").glob("search-index-*.json"))
    assert len(found) == 1, "one index, under the name that the pages give it"
    return found[0]


@cache
def index() -> dict:
    return json.loads(index_file().read_text("utf-8"))


def entries(kind: str) -> list[list]:
    source = (ROOT / "lib/handful_site/web/search/text.js").read_text("utf-8")
    kinds = re.search(r"KINDS = \[(.*?)\]", source, re.S)[1]
    return [
        entry
        for entry in index()["entries"]
        if entry[0] == re.findall(r'"(\w+)"', kinds).index(kind)
    ]


def test_every_result_arrives():
    ids = {
        page: set(re.findall(r'\sid="([^"]*)"', (SITE / page).read_text("utf-8")))
        for page, _ in index()["pages"]
    }
    assert [
        entry[:4]
        for entry in index()["entries"]
        if entry[2] and entry[2] not in ids[index()["pages"][entry[1]][0]]
    ] == []


def test_formulas_letters_terms_claims_cards_and_problems_are_all_there():
    from handful.symbolic.quantities import table
    from handful_evidence.claims import load

    # Each formula at its entry in the reference, and those that a chapter shows there as well.
    listed = [
        entry[2]
        for entry in entries("formula")
        if index()["pages"][entry[1]][0].startswith("formulas-")
    ]
    assert sorted(listed) == sorted(f"formula-{name}" for name in registry())
    assert 100 < len(entries("formula")) - len(listed) < len(registry())
    assert len(entries("letter")) == len(set(table) - set(registry()))
    text = {
        page: (SITE / f"{page}.html").read_text("utf-8")
        for page in ("glossary", "review", "practice")
    }
    assert len(entries("term")) == len(re.findall(r'<dt [^>]*id="term-', text["glossary"]))
    assert {entry[2] for entry in entries("claim")} == {f"claim-{claim.id}" for claim in load()}
    assert {entry[2] for entry in entries("card")} == set(
        re.findall(r' id="(card-[^"]+)"', text["review"])
    )
    assert {entry[2] for entry in entries("problem")} == set(
        re.findall(r' id="(problem-[^"]+)"', text["practice"])
    )
    plots = {
        anchor
        for page in SITE.glob("*.html")
        for anchor in re.findall(
            r'<figure [^>]*class="(?:explorer|schematic)[" ][^>]*id="([^"]+)"',
            page.read_text("utf-8"),
        )
    }
    assert {entry[2] for entry in entries("plot")} == plots
    assert (
        len(entries("section")) > 200
        and len(entries("source")) > 40
        and len(entries("assignment")) == 11
    )


def missed(wanted: list[tuple[str, str]]) -> dict[str, list[str]]:
    """Return the first three results of queries whose address is not among them.

    A star in an address stands for any number: those of a page are counted anew at each change.
    """
    done = subprocess.run(
        [*bootstrap.node_command(), "tests/book/searches.mjs", str(index_file())],
        input=json.dumps([query for query, _ in wanted]),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    answers = zip(wanted, json.loads(done.stdout), strict=True)
    return {
        query: found for (query, address), found in answers if not fnmatch.filter(found, address)
    }


def test_what_readers_type_is_among_the_first_three():
    wanted = tomllib.loads((ROOT / "tests/data/searches.toml").read_text("utf-8"))
    assert missed(list(wanted.items())) == {}


# A word that readers know as a term, whose definition and letter come before the formula.
TERMS = {"overtraining"}


def test_a_formulas_name_leads_to_its_entry_in_the_reference():
    asked = [
        (name, f"{reference.page_of(name)}.html#{reference.anchor_of(name)}") for name in registry()
    ]
    assert set(missed(asked)) <= TERMS


def test_every_other_name_leads_to_its_place():
    names = search.other_names()
    assert len(names) > 60
    assert missed([(name, place) for place, found in names.items() for name in found]) == {}


def test_variants_of_a_formula_share_a_number():
    variants = {entry[3]: entry[8] for entry in entries("formula")}
    assert variants["Balance batch"] > 0 and 0 in variants.values()
    assert {"Balance batch by experts", "Balance batch of chip"} <= {
        name for name, number in variants.items() if number == variants["Balance batch"]
    }
    assert variants["Full weight time"] != variants["Balance batch"], "on another page"


def test_index_is_light_and_sphinxs_is_gone():
    assert (
        len(gzip.compress(index_file().read_bytes(), 9)) <= 320_000
    )  # fetched when somebody searches; a third of it is the ledger, and 20 kB are formulas
    gone = (
        "searchindex.js",
        "_static/searchtools.js",
        "_static/language_data.js",
        "_static/sphinx_highlight.js",
    )
    assert [name for name in gone if (SITE / name).exists()] == []


def test_dialog_by_keyboard(site, watch):
    tab = watch()
    page = tab.open(site + "pipelining.html")
    assert not any(
        "search" in address
        for address in page.evaluate("performance.getEntriesByType('resource').map((e) => e.name)")
    ), "nothing of the search is fetched before a reader reaches for it"
    page.locator(".search-button:visible").first.focus()
    page.keyboard.press("/")
    field, options = (
        page.get_by_role("combobox", name="Search this book"),
        page.locator("#find-list [role=option]"),
    )
    expect(field).to_be_focused()
    page.keyboard.type("weight time")
    expect(options.first).to_contain_text("Weight time", timeout=20_000)
    expect(options.first.locator(".katex").first).to_be_visible()
    expect(field).to_have_attribute("aria-expanded", "true")
    assert not field.get_attribute("aria-activedescendant")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert field.get_attribute("aria-activedescendant") == options.nth(1).get_attribute("id")
    assert (
        options.nth(1).get_attribute("aria-selected") == "true"
        and page.locator("[aria-selected=true]").count() == 1
    )
    # One sentence when the typing has paused.
    expect(page.locator(".find-heard")).to_have_text(
        re.compile(r"^\d+ results\. First: Weight time, Formula\.$")
    )
    # A result says what it is after its name, and where it stands at the end.
    assert re.search(
        r"option \"Weight time ?, Formula ?\. \w[^\"]*[^.\s] ?\. In: Formulas: a decode step\"",
        page.locator("#find-list").aria_snapshot(),
    )
    # One kind alone.
    every = options.count()
    page.get_by_role("radio", name=re.compile("^Cards")).check()
    assert (
        0 < options.count() < every
        and page.locator(".find-kind").all_inner_texts() == ["Card"] * options.count()
    )
    # Found under another name, which it says.
    field.fill("TTFT")
    expect(options.filter(has_text="Also called TTFT.").first).to_be_visible()
    # Nothing found: what can be done.
    field.fill("qqqqqqqqq")
    expect(page.locator(".find-says")).to_contain_text("Nothing in the book matches “qqqqqqqqq”.")
    expect(field).to_have_attribute("aria-expanded", "false")
    page.keyboard.press("Escape")
    expect(field).to_be_hidden()
    expect(page.locator(".search-button:visible").first).to_be_focused()
    # Enter opens the first, and the place is shown with its words marked.
    page.keyboard.press("Control+k")
    field.fill("key-value cache")
    expect(options.first).to_contain_text("key-value cache")
    page.keyboard.press("Enter")
    page.wait_for_url("**/glossary.html#term-key-value-cache")
    expect(page.locator("#term-key-value-cache")).to_be_in_viewport()
    expect(page.locator("#term-key-value-cache")).to_have_class(re.compile("find-here"))
    page.get_by_role("button", name="Clear the marks").wait_for()
    assert page.evaluate(MARKS) > 3
    page.keyboard.press("Escape")
    assert page.evaluate(MARKS) == 0 and page.locator(".find-here, .find-clear").count() == 0
    assert tab.faults == []


def test_results_lead_into_what_is_folded(site, watch):
    """Results lead to a problem, to a card among two hundred, and far down a long table.

    The problem is on the page of all problems; the last is one letter of the table; all on a phone.
    """
    tab = watch(width=390, height=800, color_scheme="dark")
    page = tab.open(site + "index.html")
    for query, anchor in (
        ("two feistel rounds by hand", "problem-two-feistel-rounds-by-hand"),
        ("ridge of the roofline", "card-what-is-a-ridge"),
        ("kv_bytes_per_token", "symbol-row-kv_bytes_per_token"),
    ):
        page.locator(".search-button:visible").last.click()
        page.get_by_role("combobox", name="Search this book").fill(query)
        hit = page.locator(f'.find-hit[href$="#{anchor}"]')
        hit.wait_for()
        box = page.locator("dialog.find").bounding_box()
        assert (box["width"], box["height"]) == (390, 800)
        hit.click()
        page.wait_for_url(f"**#{anchor}")
        place = page.locator(f"#{anchor}")
        place.wait_for(state="attached")
        expect(place).to_be_in_viewport()
        page.get_by_role("button", name="Clear the marks").click()
    assert tab.faults == []


def test_page_of_all_results(site, watch):
    tab = watch(width=390)
    page = tab.open(site + "search.html?q=roofline")
    results = page.locator(".find-list .find-hit")
    expect(results.first).to_have_attribute("href", re.compile(r"/glossary\.html#term-roofline$"))
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("textbox", name="Search this book").fill("pipeline bubble")
    expect(results.first).to_contain_text("bubble", ignore_case=True)
    page.wait_for_url("**/search.html?q=pipeline+bubble")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("textbox", name="Search this book")).to_be_focused()
    assert page.locator("dialog.find").count() == 0
    for signs in ("$", "%", "?!"):  # which are no words
        page.get_by_role("textbox", name="Search this book").fill(signs)
        expect(page.locator(".find-says")).to_have_text(
            re.compile(f"^“{re.escape(signs)}” has neither a letter nor a digit")
        )
    page.get_by_role("textbox", name="Search this book").fill("")
    expect(page.locator(".find-says")).to_contain_text("For example")
    assert tab.faults == []


def test_each_letter_draws_little_and_what_has_not_changed_stays(site, watch):
    tab = watch()
    page = tab.open(site + "glossary.html")
    page.keyboard.press("Control+k")
    field, hits = (
        page.get_by_role("combobox", name="Search this book"),
        page.locator("#find-list .find-hit"),
    )
    field.fill("weights")
    expect(hits).to_have_count(30)
    expect(page.locator("#find-list .katex").first).to_be_visible()
    # One letter less has the same best answer; after two letters, what a screen shows is there at
    # once.
    same, at_once = page.evaluate("""async () => {
      const field = document.querySelector("dialog.find input"),
        first = document.querySelector(".find-hit");
      const type = async (text) => {
        field.value = text;
        field.dispatchEvent(new Event("input"));
        await new Promise((done) => setTimeout(done)); };
      await type("weight");
      const same = first === document.querySelector(".find-hit") && first.isConnected;
      await type("we");
      return [same, document.querySelectorAll(".find-hit").length];
    }""")
    assert same and 5 <= at_once < 30
    page.keyboard.press("ArrowUp")  # to the last, which an arrow does not wait for
    assert (
        field.get_attribute("aria-activedescendant")
        == "find-hit-29"
        == hits.last.get_attribute("id")
    )
    page.goto(site + "search.html?q=weights")
    expect(hits).to_have_count(60)
    first = hits.first.element_handle()
    page.get_by_role("button", name="Show more").click()
    assert hits.count() > 60 and first.evaluate(
        "node => node === document.querySelector('.find-hit')"
    )
    assert tab.faults == []


def test_without_scripts_and_without_an_index(site, browser, watch):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(site + "search.html")
    # Playwright's own reading passes over <noscript>, shown or not.
    assert page.locator("article noscript").text_content().startswith("The search needs a script")
    assert page.locator("article a[href='claims.html']").bounding_box()
    context.close()
    tab = watch()
    page = tab.open(site + "index.html")
    page.route("**/search-index-*", lambda route: route.abort())
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Search this book").fill("batch")
    expect(page.locator(".find-says")).to_contain_text("could not be fetched", timeout=20_000)
    page.unroute("**/search-index-*")
    page.get_by_role("combobox", name="Search this book").press_sequentially("e")
    expect(page.locator("#find-list [role=option]").first).to_be_visible()
