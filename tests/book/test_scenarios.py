"""Tests of every page under every scenario: what the bar changes, and that it changes back."""

from __future__ import annotations

import functools
import http.server
import importlib
import json
import random
import time

import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import expect

from conftest import serving
from handful.scenario import DEFAULT, page_rows
from handful_explorers.plotting.explorer import Explorer
from handful_site.build import SITE

pytestmark = pytest.mark.browser

ROWS = page_rows()
CHIPS = [row["name"] for row in ROWS["hardware"]]
MODELS = [row["name"] for row in ROWS["model"]]
PRECISIONS = [row["name"] for row in ROWS["precision"]]


def explorers(path) -> list[dict]:
    page = BeautifulSoup(path.read_text("utf-8"), "html.parser")
    return [json.loads(script.string) for script in page.select("script.explorer-spec")]


PAGES = {path.stem: found for path in sorted(SITE.glob("*.html")) if (found := explorers(path))}
# the pages with a bar
FOLLOWING = [name for name in PAGES if "has-scenario" in (SITE / f"{name}.html").read_text("utf-8")]
SETTERS = """
window.choose = (kind, value) => {
  const field = document.getElementById(`bar-${kind}`);
  field.value = value;
  field.dispatchEvent(new Event(kind === "context" ? "input" : "change", { bubbles: true }));
};
window.frames2 = () =>
  new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
window.seen = () => Object.fromEntries([...document.querySelectorAll("figure.explorer")].map(
  (figure) => [figure.id, [
    ...[...figure.querySelectorAll("input, select")].map((e) => e.type === "checkbox"
      ? e.checked : e.getAttribute("aria-valuetext") ?? e.value),
    ...[...figure.querySelectorAll("[role=slider]")].map((e) => e.getAttribute("aria-valuenow")),
    ...[...figure.querySelectorAll(".ex-row:not([hidden])")].map((e) => e.textContent),
    ...[...figure.querySelectorAll("[aria-pressed=true]")].map((e) => e.textContent),
  ].join(" | ")]));
"""


@pytest.fixture(params=FOLLOWING)
def page(request, site, watch):
    """Open a page with explorers, on which nothing glides; all are drawn and at rest."""
    tab = watch(reduced_motion="reduce")
    tab.page.add_init_script(SETTERS)
    found = tab.open(f"{site}{request.param}.html")
    found.wait_for_function(
        "(count) => document.querySelectorAll('figure.explorer[data-mounted]').length === count",
        arg=len(PAGES[request.param]),
    )
    yield found
    assert tab.faults == []


def test_a_walk_that_ends_where_it_began_changes_nothing(page):
    """The bar through chips, models, precisions and contexts, and back, in three orders."""
    before = page.evaluate("seen()")
    draw = random.Random(page.url)
    for _ in range(3):
        walk = [
            *(("hardware", name) for name in draw.sample(CHIPS, 5)),
            *(("model", name) for name in draw.sample(MODELS, 5)),
            *(("precision", name) for name in draw.sample(PRECISIONS, 2)),
            *(("context", draw.randrange(300)) for _ in range(3)),
        ]
        draw.shuffle(walk)
        after = page.evaluate(
            """async ([walk, home]) => {
              const slider = document.getElementById("bar-context"), context = slider.value;
              for (const [kind, value] of walk) { choose(kind, value); await frames2(); }
              for (const [kind, value] of Object.entries(home)) choose(kind, value);
              choose("context", context);
              document.querySelector(".bar-reset").click();
              await frames2();
              return seen(); }""",
            [walk, {kind: DEFAULT[kind] for kind in ("hardware", "model", "precision")}],
        )
        assert after == before, walk


def test_every_scenario_has_numbers_or_one_human_sentence(page):
    """No dash in prose, no empty axes, no name of a symbol; and a way to see the plot all the same.

    Each chip with a model of experts and a dense one, each model with a chip that has a price and
    one that has none.
    """
    pairs = [(chip, model) for chip in CHIPS for model in (DEFAULT["model"], "Llama 3.1 70B")]
    pairs += [(chip, model) for model in MODELS for chip in (DEFAULT["hardware"], "A100 80GB")]
    faults = page.evaluate(
        """async (pairs) => {
          const faults = new Set(), shown = (node) => node.offsetParent !== null;
          for (const [chip, model] of pairs) {
            choose("hardware", chip);
            choose("model", model);
            await frames2();
            const add = (what) => faults.add(`${what}, first on ${chip} with ${model}`);
            for (const span of document.querySelectorAll("article .live"))
              if (span.textContent === "–" && shown(span)) add(`${span.dataset.live} is a dash`);
            for (const figure of document.querySelectorAll("figure.explorer")) {
              if (!shown(figure)) continue;
              const notice = figure.querySelector(".ex-notice"),
                drawn = [...figure.querySelectorAll(".ex-stage")].some(shown);
              if (!notice.hidden && (/_|undefined|NaN/.test(notice.textContent)
                  || !notice.textContent.includes(".")
                  || !notice.querySelector("button")?.textContent.startsWith("Show it for ")))
                add(`${figure.id} says ${notice.textContent}`);
              if (!drawn && notice.hidden) add(`${figure.id} is empty without a word`);
              if (drawn && !figure.querySelector(".ex-row:not([hidden])"))
                add(`${figure.id} has empty axes`);
              for (const value of figure.querySelectorAll(".ex-row:not([hidden]) .ex-value"))
                if (shown(value) && /^–$|NaN/.test(value.textContent.trim()))
                  add(`${figure.id} shows ${value.closest(".ex-row").textContent}`);
            } }
          return [...faults]; }""",
        pairs,
    )
    assert faults == []


TOO_SMALL = (
    "hardware=A100+80GB&model=DeepSeek-V3&precision=bf16&context=8192"  # the book's own context
)
STILL = """() => [...document.querySelectorAll("figure.explorer")].map((figure) => ({
  name: figure.id.replace("explorer-", ""),
  words: figure.querySelector(".ex-words").textContent,
  over: figure.querySelector(".ex-over:not([hidden])")?.textContent ?? "",
  stale: [...figure.querySelectorAll(".ex-marks > *")]
    .filter((mark) => getComputedStyle(mark).display === "none" && mark.textContent)
    .map((mark) => mark.textContent) }))"""


@pytest.mark.parametrize("module, chapter", [("balance", "balance-batch")])
def test_what_does_not_fit_is_said_as_python_says_it(module, chapter, site, watch):
    """By the words under each plot and beside it; and no mark that is hidden keeps a number."""
    declared = {
        thing.name: thing
        for thing in vars(importlib.import_module(f"handful_explorers.{module}")).values()
        if isinstance(thing, Explorer)
    }
    small = {"hardware": "A100 80GB", "model": "DeepSeek-V3", "precision": "bf16"}
    tab = watch(reduced_motion="reduce")
    tab.page.add_init_script(SETTERS)
    found = tab.open(f"{site}{chapter}.html?{TOO_SMALL}")
    told = 0
    for plot in found.evaluate(STILL):
        explorer = declared[plot["name"]]
        if explorer.scene or not explorer.needs():
            continue
        told += 1
        words = explorer.alt_text(**small)
        assert " ".join(plot["words"].split()) == " ".join(words.split())
        assert plot["over"].startswith("The model itself does not fit: its weights fill 17 ")
    assert told
    # From a machine that holds it to one that does not.
    for kind, name in (("hardware", DEFAULT["hardware"]), ("hardware", "A100 80GB")):
        found.evaluate(f"async () => {{ choose({kind!r}, {name!r}); await frames2(); }}")
        assert [plot["stale"] for plot in found.evaluate(STILL) if plot["stale"]] == []
    assert tab.faults == []


def test_a_plot_that_cannot_be_computed_is_shown_for_another_model(site, watch):
    tab = watch(reduced_motion="reduce")
    found = tab.open(f"{site}experts-on-racks.html?model=Llama+3.1+70B&hardware=H100+SXM")
    figure = found.locator("#explorer-over-racks")
    expect(figure.locator(".ex-notice")).to_contain_text("Llama 3.1 70B is a dense model")
    assert figure.locator(".ex-stage").is_hidden()
    figure.get_by_role("button", name="Show it for DeepSeek-V3").click()
    expect(figure.locator(".ex-notice")).to_be_hidden()
    expect(figure.locator(".ex-stage")).to_be_visible()
    assert "H100 SXM, DeepSeek-V3" in figure.locator(".ex-scene").inner_text()
    assert found.locator("#bar-model").input_value() == "Llama 3.1 70B"
    figure.get_by_role("button", name="Reset").click()
    expect(figure.locator(".ex-stage")).to_be_hidden()
    assert tab.faults == []


def test_a_precision_is_remembered_across_chips_that_lack_it(site, watch):
    found = watch().open(f"{site}index.html")
    for chip, used in (("A100 80GB", "bf16"), ("H100 SXM", "fp8"), (DEFAULT["hardware"], "fp8")):
        found.locator("#bar-hardware").select_option(chip)
        assert found.locator("#bar-precision").input_value() == used
    found.locator("#bar-hardware").select_option("A100 80GB")
    found.reload()
    found.locator("#bar-hardware").select_option("H100 SXM")
    assert found.locator("#bar-precision").input_value() == "fp8"


class Halting(http.server.SimpleHTTPRequestHandler):
    """A server that waits for a second between the head of a page and its body."""

    def do_GET(self):
        if not self.path.endswith(".html"):
            return super().do_GET()
        head, body = (SITE / self.path.strip("/")).read_bytes().split(b"</head>")
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(head + b"</head>")
        self.wfile.flush()
        time.sleep(1)
        self.wfile.write(body)

    def log_message(self, *values):
        pass


def test_a_page_whose_body_comes_late_starts_from_its_own_scenario(watch):
    """Scripts may be there before the body is."""
    folder = functools.partial(Halting, directory=str(SITE))
    for address in serving(http.server.ThreadingHTTPServer(("127.0.0.1", 0), folder)):
        page = watch(service_workers="block").page
        page.goto(address + "latency-and-cost.html")
        page.locator(".bar").wait_for()
        assert "H100" in page.locator(".bar").inner_text()


def test_a_rent_is_the_readers_and_stays(site, watch):
    """A chip without a price has costs once its rent is typed; others keep their own."""
    tab = watch(reduced_motion="reduce")
    found = tab.open(f"{site}index.html")
    rent, cost = found.locator("#bar-rent"), found.locator("[data-live^=cost_per_token]").nth(1)
    assert rent.input_value() == "3.30"
    found.locator("#bar-hardware").select_option("A100 80GB")
    assert rent.input_value() == "" and cost.is_hidden()
    assert "(no price)" in found.locator("#bar-hardware option:checked").inner_text()
    rent.fill("$1,80")
    rent.press("Enter")
    expect(cost).to_be_visible()
    assert "(no price)" not in found.locator("#bar-hardware option:checked").inner_text()
    assert "8 chips, $1.80 an hour each" in found.locator(".bar-machine").inner_text()
    rent.fill("free")
    rent.press("Enter")
    assert "A rent is a number of dollars" in found.locator(".bar-notes").inner_text()
    assert rent.input_value() == "free"
    found.locator("#bar-hardware").select_option("H100 SXM")
    assert rent.input_value() != "1.80"
    found.reload()
    found.locator("#bar-hardware").select_option("A100 80GB")
    assert rent.input_value() == "1.80"
    found.locator(".bar-reset").click()
    found.locator("#bar-hardware").select_option("A100 80GB")
    assert rent.input_value() == ""
    assert tab.faults == []


def test_reset_takes_back_a_rent_that_cannot_be_read(site, watch):
    found = watch(reduced_motion="reduce").open(f"{site}index.html")
    rent, reset = found.locator("#bar-rent"), found.locator(".bar-reset")
    before = rent.input_value()
    assert reset.is_disabled()
    rent.fill("abc")
    rent.press("Enter")
    reset.click()
    assert rent.input_value() == before and rent.get_attribute("aria-invalid") is None
    assert reset.is_disabled() and not found.locator(".bar-notes").is_visible()


def test_reset_leaves_the_scenarios_of_other_pages_alone(site, watch):
    """Reset on one page keeps nothing that would move another from its own scenario."""
    first, other = (name for name in FOLLOWING if name in ("latency-and-cost", "experts-on-racks"))
    tab = watch(reduced_motion="reduce")
    chosen = "[...document.querySelectorAll('.bar select')].map((field) => field.value)"
    alone = tab.open(f"{site}{other}.html").evaluate(chosen)
    found = tab.open(f"{site}{first}.html")
    own = found.evaluate(chosen)
    assert own != alone
    found.locator("#bar-hardware").select_option("A100 80GB")
    found.locator(".bar-reset").click()
    assert found.evaluate(chosen) == own
    assert tab.open(f"{site}{other}.html").evaluate(chosen) == alone
    assert tab.faults == []


def test_what_the_reader_pays_travels_in_the_address(site, watch):
    found = watch().open(f"{site}index.html?hardware=A100+80GB&rent=1.5")
    assert found.locator("#bar-rent").input_value() == "1.50"
    found = watch().open(f"{site}index.html?hardware=A100+80GB&rent=cheap")
    assert "A rent is a number of dollars" in found.locator(".bar-notes").inner_text()


# Plots are drawn when they come near, and cards start when the browser has time: so each plot is
# visited, and the page is read once it says the same three times in a row.
SHOWN = """async () => {
  const rest = (time) => new Promise((done) => setTimeout(() => requestAnimationFrame(done), time));
  const read = () => {
    const text = document.querySelector("article").cloneNode(true);
    for (const node of text.querySelectorAll(".ex-scene")) node.remove();
    return [text.textContent,
      ...[...document.querySelectorAll("[data-where]")].map((node) => node.hidden),
      ...[...document.querySelectorAll(".ex-svg :is(path, polyline, polygon)")].map((line) =>
        line.getAttribute("d") ?? line.getAttribute("points")),
    ].join("|"); };
  await document.fonts.ready;
  for (const figure of document.querySelectorAll("figure.explorer")) {
    figure.scrollIntoView({ behavior: "instant" });
    await rest(0);
  }
  let now = read();
  for (let same = 0; same < 3;) {
    await rest(100);
    const next = read();
    same = next === now ? same + 1 : 0;
    now = next;
  }
  return now; }"""


@pytest.mark.parametrize("name", sorted(path.stem for path in SITE.glob("*.html")))
def test_the_bar_stands_where_something_follows_it(site, watch, name):
    """And nowhere else: a reader who turns it expects the page to answer."""
    found = []
    for query in (
        "",
        "?hardware=H100+SXM&model=Kimi+K2&precision=bf16&context=100000&rent=9",
        "?hardware=A100+80GB&model=Llama+3.1+8B&precision=bf16&context=1000000&rent=20",
    ):
        page = watch(reduced_motion="reduce").open(f"{site}{name}.html{query}")
        page.wait_for_function(
            "(count) => document.querySelectorAll('figure.explorer[data-mounted]').length >= count",
            arg=len(PAGES.get(name, [])),
        )
        if not page.locator("article").count():
            continue
        found.append(page.evaluate(SHOWN))
        assert page.locator(".bar").count() == page.locator(".has-scenario").count()
    follows = len(set(found)) > 1
    assert follows == (page.locator(".has-scenario").count() == 1)
