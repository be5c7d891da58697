"""Tests of explorers in a real browser, on a page of their own.

They are moved by mouse, keyboard and address; test_book_explorers.py has those of the book.
"""

from __future__ import annotations

import re
import shutil
from urllib.parse import quote

import pytest
from ipywidgets import Checkbox, Dropdown, FloatLogSlider
from playwright.sync_api import expect

from handful import balance, latency
from handful_evidence import measured
from handful_explorers.plotting.explorer import (
    Control,
    Curve,
    Explorer,
    Mark,
    Points,
    Preset,
    Readout,
    Scale,
    Sweep,
)
from handful_site import build

pytestmark = pytest.mark.browser


def declared() -> dict[str, Explorer]:
    def context():
        return Control(FloatLogSlider(value=8192, min=3, max=6), "context")

    batch = Sweep("batch", 1, 65536, at=256)
    every = [
        Explorer(
            "latency",
            "Time of a step",
            batch,
            Scale("Time per step"),
            controls=[context()],
            curves=[
                Curve(latency.step_time, "step", "total", band=(1.3, 2.2)),
                Curve(latency.compute_time, "compute"),
                Curve(latency.kv_time, "read cache"),
                Curve(latency.latency_floor, "floor", "reference"),
            ],
            marks=[Mark(balance.balance_batch, "balance")],
            readouts=[latency.throughput],
            presets=[
                Preset("Slopes match", {"context": 1e5, "batch": 2000}),
                Preset("On an H100", {"hardware": "H100 SXM"}),
            ],
        ),
        Explorer(
            "banded",
            "A band for each class",
            batch,
            Scale("Time per step"),
            curves=[
                Curve(
                    latency.step_time,
                    "step",
                    "total",
                    bands=measured.page_bands(),
                    band_label="measured steps lie",
                )
            ],
            presets=[
                Preset("A node", {"hardware": "H100 SXM", "model": "Llama 3.1 70B", "batch": 64}),
                Preset("Alone", {"hardware": "H100 SXM", "model": "Llama 3.1 70B", "batch": 1}),
                Preset(
                    "No band", {"hardware": "GB200 NVL72", "model": "Llama 3.1 8B", "batch": 64}
                ),
            ],
        ),
        Explorer(
            "cost",
            "Cost of a token",
            batch,
            Scale("Cost", log=False, min=0),
            stack=True,
            controls=[context()],
            curves=[Curve(latency.weight_cost, "weights"), Curve(latency.kv_cost, "cache")],
        ),
        Explorer(
            "frontier",
            "Fast and slow",
            batch,
            Scale("Cost of a token"),
            controls=[context(), Control(Checkbox(value=True), "h100")],
            across=(latency.tokens_per_user, Scale("Tokens a second")),
            curves=[
                Curve(latency.cost_per_token, "here", "total"),
                Curve(latency.cost_per_token, "H100", scenario={"hardware": "H100 SXM"}),
            ],
        ),
        Explorer(
            "roofline",
            "Roofline",
            Sweep("arithmetic_intensity", 1, 1e4),
            Scale("Attainable"),
            curves=[Curve(balance.attainable_flops, "roof", "total")],
            controls=[
                Control(
                    Dropdown(
                        options=[("BF16", "bf16"), ("FP8", "fp8"), ("FP4", "fp4")], value="fp8"
                    ),
                    "precision",
                )
            ],
        ),
        Explorer(
            "bars",
            "Three bars",
            kind="bars",
            data={"log": True},
            readouts=[latency.step_time],
            numbers={
                "weights": Readout(latency.weight_time, "Read weights"),
                "caches": latency.kv_time,
                "work": latency.compute_time,
            },
            controls=[Control(FloatLogSlider(value=256, min=0, max=4), "batch")],
            presets=[Preset("Alone", {"batch": 1})],
        ),
        Explorer(
            "rows",
            "Rows and points",
            Sweep("batch", 1, 1024, at=64),
            Scale("Time"),
            curves=[Curve(latency.weight_time, "read", "total")],
            points=[
                Points("measured", [(8, 0.01, "one server"), (64, 0.02), (512, 0.03, "another")])
            ],
            controls=[
                Control(
                    Dropdown(options=["small", "large"]),
                    "model_row",
                    "Model",
                    rows={
                        "small": {"total_parameters": 8e9, "routed_parameters": 0},
                        "large": {"total_parameters": 70e9, "routed_parameters": 0},
                    },
                )
            ],
        ),
    ]
    return {explorer.name: explorer for explorer in every}


@pytest.fixture(scope="module")
def explorers():
    return declared()


@pytest.fixture(scope="module")
def demo_page(module_server, explorers):
    """Return the address of a page that holds all explorers, under the book's policy."""
    build.bundle()
    folder, address = module_server
    for name in ("handful.js", "handful.css", "favicon.svg"):
        if (build.SCRIPTS / name).exists():
            shutil.copy(build.SCRIPTS / name, folder / name)
    figures = "".join(explorer.html() for explorer in explorers.values())
    (folder / "index.html").write_text(
        '<!doctype html><html lang="en" data-theme="light"><head><meta charset="utf-8">'
        "<title>demo</title>"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="icon" href="favicon.svg">'
        '<link rel="stylesheet" href="handful.css"><script type="module" src="handful.js">'
        "</script></head>"
        f'<body class="has-scenario"><main><article>{figures}</article></main></body></html>',
        "utf-8",
    )
    return address


@pytest.fixture
def demo(demo_page, shared):
    """Open it in a shared tab: demo("?…", width=375)."""
    tabs = []

    def open_page(query: str = "", wait: str = "#explorer-rows .ex", **options):
        tab = shared(**options)
        tabs.append(tab)
        page = tab.page
        page.goto(demo_page + query, wait_until="load")
        page.wait_for_selector(wait)
        return page

    yield open_page
    assert [fault for tab in tabs for fault in tab.faults] == []


def soon(page, holds) -> bool:
    """Return whether it holds once transitions are over and the words have followed."""
    for _ in range(200):
        if holds():
            return True
        page.wait_for_timeout(25)
    return holds()


def drawn(page) -> None:
    """Wait until what was asked of a plot is on the screen: it draws at the next frame."""
    page.evaluate("() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))")


def shown(page, name: str) -> str:
    """All that a reader sees of an explorer's state: drawing, numbers, words."""
    return page.locator(f"#explorer-{name}").evaluate(
        "(f) => f.querySelector('.ex-svg').innerHTML + f.querySelector('.ex-values').textContent"
    )


def words(page, name: str) -> str:
    return page.locator(f"#explorer-{name} .ex-words").inner_text()


def flat(text: str) -> str:
    return re.sub(r"\s+", " ", text)


# One page with every kind -------------------------------------------------------------------------


def test_words_are_those_of_python(demo, explorers):
    page = demo()
    for name, explorer in explorers.items():
        assert flat(words(page, name)) == flat(explorer.alt_text()), name


def test_a_band_is_that_of_the_class_and_where_there_is_none_the_page_says_so(demo, explorers):
    page, explorer = demo(), explorers["banded"]
    notes = ("measured steps lie", "no measured band at this batch")
    for preset, shaded, begins in zip(
        explorer.presets,
        (1, 1, 0),
        (*notes, "no measured band for a dense model on more than 8 chips"),
        strict=True,
    ):
        page.locator("#explorer-banded").get_by_role("button", name=preset.label).click()
        said = flat(explorer.alt_text(**preset.set))
        assert soon(page, lambda said=said: flat(words(page, "banded")) == said)
        assert soon(
            page,
            lambda shaded=shaded: (
                page.locator("#explorer-banded .ex-svg .ex-band:visible").count() == shaded
            ),
        )
        note = page.locator("#explorer-banded .ex-values .ex-note").first.inner_text()
        assert note.startswith(begins)


def test_tables_are_those_of_python(demo, explorers):
    page = demo()
    for name, explorer in explorers.items():
        page.locator(f"#explorer-{name} .ex summary").click()
        page.locator(f"#explorer-{name} .ex tbody tr").first.wait_for()
        head, rows = explorer.table()
        found = page.locator(f"#explorer-{name} .ex-data tr").evaluate_all(
            "(rows) => rows.map((r) => [...r.cells].map((c) => c.textContent))"
        )
        assert found == [head, *rows], name


@pytest.mark.parametrize("name", sorted(declared()))
def test_every_slider_by_keyboard(demo, explorers, name):
    page = demo()
    sliders = page.locator(f"#explorer-{name} input[type=range]")
    for i in range(sliders.count()):
        before, told = shown(page, name), sliders.nth(i).get_attribute("aria-valuetext")
        sliders.nth(i).focus()
        for _ in range(5):
            page.keyboard.press("ArrowRight")
        assert soon(page, lambda before=before: shown(page, name) != before)
        assert sliders.nth(i).get_attribute("aria-valuetext") != told


@pytest.mark.parametrize("name", ["latency", "cost", "frontier", "roofline"])
def test_cursor_by_keyboard(demo, explorers, name):
    page = demo()
    cursor = page.locator(f"#explorer-{name} [role=slider]")
    cursor.focus()
    x = explorers[name].x
    for key, expected in (("End", x.high), ("Home", x.low)):
        page.keyboard.press(key)
        wanted = pytest.approx(expected, rel=1e-5)
        assert soon(
            page, lambda wanted=wanted: float(cursor.get_attribute("aria-valuenow")) == wanted
        )
    page.keyboard.press("ArrowRight")
    assert soon(page, lambda: float(cursor.get_attribute("aria-valuenow")) > x.low)
    assert ":" in cursor.get_attribute("aria-valuetext")


@pytest.mark.parametrize("name", ["latency", "cost", "frontier", "roofline"])
def test_cursor_by_mouse(demo, name):
    page = demo()
    surface = page.locator(f"#explorer-{name} [data-part=surface]")
    surface.scroll_into_view_if_needed()
    box = surface.bounding_box()
    cursor = page.locator(f"#explorer-{name} [role=slider]")
    seen = []
    page.mouse.move(box["x"] + box["width"] * 0.55, box["y"] + 120)
    page.mouse.down()
    for share in (0.5, 0.62, 0.74):
        page.mouse.move(box["x"] + box["width"] * share, box["y"] + 120)
        drawn(page)
        seen.append(float(cursor.get_attribute("aria-valuenow")))
    page.mouse.up()
    assert len(set(seen)) == 3 and seen in (sorted(seen), sorted(seen, reverse=True))
    page.mouse.move(box["x"] + 10, box["y"] + 120)
    drawn(page)
    assert float(cursor.get_attribute("aria-valuenow")) == seen[-1], (
        "a mouse that is up moves nothing"
    )


def test_slider_by_mouse(demo):
    page = demo()
    slider = page.locator("#explorer-latency input[type=range]")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    before = shown(page, "latency")
    page.mouse.click(box["x"] + box["width"] * 0.9, box["y"] + box["height"] / 2)
    assert soon(page, lambda: shown(page, "latency") != before)


def test_numbers_after_a_move_are_pythons(demo, explorers):
    page = demo("?e.latency.context=123000&e.latency.batch=777")
    assert flat(words(page, "latency")) == flat(
        explorers["latency"].alt_text(context=123000, batch=777)
    )


def test_preset_is_applied_and_reset(demo, explorers):
    page = demo()
    button = page.get_by_role("button", name="Slopes match")
    button.click()
    assert soon(
        page,
        lambda: (
            flat(words(page, "latency"))
            == flat(explorers["latency"].alt_text(context=1e5, batch=2000))
        ),
    )
    assert button.get_attribute("aria-pressed") == "true"
    page.get_by_role("button", name="On an H100").click()
    assert soon(
        page, lambda: "H100 SXM" in page.locator("#explorer-latency .ex-scene").inner_text()
    )
    page.locator("#explorer-latency").get_by_role("button", name="Reset").click()
    assert soon(page, lambda: flat(words(page, "latency")) == flat(explorers["latency"].alt_text()))


def test_checkbox_hides_its_curve(demo):
    page = demo()
    row = page.locator("#explorer-frontier .ex-row", has_text="H100")
    assert row.is_visible()
    page.locator("#explorer-frontier input[type=checkbox]").uncheck()
    expect(row).to_be_hidden()


def test_link_holds_the_state(demo, explorers):
    page = demo()
    # No clipboard here: the link goes to the address bar then, and says so.
    page.evaluate(
        "Object.defineProperty(navigator, 'clipboard', { value: { writeText: (t) => { "
        "window.copied = t; return Promise.resolve(); } } })"
    )
    page.get_by_role("button", name="Slopes match").click()
    assert soon(
        page,
        lambda: (
            flat(words(page, "latency"))
            == flat(explorers["latency"].alt_text(context=1e5, batch=2000))
        ),
    )
    page.locator("#explorer-latency").get_by_role("button", name="Copy link").click()
    link = page.evaluate("window.copied")
    assert (
        "e.latency.context=100000" in link
        and "e.latency.batch=2000" in link
        and link.endswith("#explorer-latency")
    )
    before = words(page, "latency")
    again = demo(link[link.index("?") :])
    assert words(again, "latency") == before


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        (
            "e.latency.context=banana",
            "asks for Context = “banana”; allowed is a number from 1,000 tokens to 1 million "
            "tokens",
        ),
        ("e.latency.context=-5", "asks for Context = “-5”"),
        ("e.latency.context=", "asks for Context = “”"),
        (
            "e.latency.batch=1e99",
            "asks for Batch = “1e99”; allowed is a number from 1 sequence to 65,536 sequences",
        ),
        (
            "e.latency.colour=red",
            "sets “colour”, which this plot does not have; it has context, batch.",
        ),
        ("e.frontier.h100=maybe", "allowed is 1 (shown) or 0 (hidden)"),
        ("e.roofline.precision=fp3", "allowed is BF16, FP8, FP4"),
    ],
)
def test_damaged_state_is_one_sentence(demo, explorers, query, sentence):
    name = query.split(".")[1]
    page = demo("?" + quote(query, safe="=&.+-"))
    notice = page.locator(f"#explorer-{name} .ex-notice")
    assert sentence in flat(notice.inner_text())
    assert flat(words(page, name)) == flat(explorers[name].alt_text())
    assert page.locator(".ex-notice:visible").count() == 1


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("hardware=H100+SMX", "There is no chip “H100 SMX” in this book; the nearest are H100 SXM"),
        (
            "model=DeepSeek",
            "There is no model “DeepSeek” in this book; the nearest are DeepSeek-V3",
        ),
        (
            "context=lots",
            "The context must be a number from 128 to 1 million tokens, and “lots” is not",
        ),
        ("hardware=A100+80GB&precision=fp4", "has no fp4 arithmetic; it has bf16, int8."),
        ("e.nothing.x=1", "The address speaks of a plot “nothing”, which this page does not have."),
    ],
)
def test_damaged_scenario_is_one_sentence(demo, query, sentence):
    page = demo("?" + query)
    assert sentence in flat(page.locator(".bar-notes").inner_text())
    assert page.locator(".ex").count() == len(declared())


def test_a_price_that_a_chip_has_not_does_not_linger(demo):
    page = demo("?hardware=TPU+v5e&model=Llama+3.1+8B&precision=bf16")
    for name in ("cost", "frontier"):
        notice = page.locator(f"#explorer-{name} .ex-notice")
        assert "No price per hour was found for TPU v5e." in notice.inner_text()
    assert page.locator("#explorer-latency .ex-notice").is_hidden()
    page.locator("#explorer-cost details:has(.ex-table) > summary").click()
    listed = page.locator("#explorer-cost .ex-table")
    assert soon(page, lambda: "nothing to list" in listed.inner_text())  # filled when opened
    assert listed.locator("table").count() == 0


def test_scenario_moves_every_plot_and_is_remembered(demo, explorers):
    page = demo(width=1280)
    before = {name: shown(page, name) for name in ("latency", "cost", "frontier", "roofline")}
    page.locator("#bar-hardware").select_option("H200 SXM")
    for name, state in before.items():
        assert soon(page, lambda name=name, state=state: shown(page, name) != state), name
    assert soon(
        page,
        lambda: (
            flat(words(page, "latency")) == flat(explorers["latency"].alt_text(hardware="H200 SXM"))
        ),
    )
    page.reload(wait_until="networkidle")
    assert page.locator("#bar-hardware").input_value() == "H200 SXM"
    page.locator(".bar").get_by_role("button", name="Reset").click()
    assert soon(page, lambda: flat(words(page, "latency")) == flat(explorers["latency"].alt_text()))


def test_a_precision_that_the_chip_lacks_cannot_be_picked(demo):
    page = demo()
    page.locator("#bar-hardware").select_option("H100 SXM")
    option = page.locator("#bar-precision option[value=fp4]")
    assert option.is_disabled() and "has no fp4 arithmetic; it has bf16" in option.get_attribute(
        "title"
    )


def test_bar_folds_on_a_phone(demo):
    page = demo(width=375)
    assert page.locator("#bar-hardware").is_hidden()
    summary = page.locator(".bar-summary")
    summary.click()
    assert (
        page.locator("#bar-hardware").is_visible()
        and summary.get_attribute("aria-expanded") == "true"
    )


@pytest.mark.parametrize("width", [320, 375, 1280])
def test_labels_neither_overlap_nor_leave(demo, width):
    page = demo(width=width)
    faults = page.evaluate("""() => [...document.querySelectorAll(".ex-svg")].flatMap((svg) => {
        const box = svg.getBoundingClientRect(), seen = [];
        const texts = [...svg.querySelectorAll("text")].filter((t) =>
          t.textContent && t.checkVisibility() && !t.closest(".ex-cursor"));
        const out = [];
        for (const t of texts) {
            const r = t.getBoundingClientRect();
            if (!r.width) continue;
            if (r.left < box.left - 3 || r.right > box.right + 3) out.push("cut: " + t.textContent);
            for (const [u, q] of seen)
              if (r.left < q.right - 2 && q.left < r.right - 2
                  && r.top < q.bottom - 5 && q.top < r.bottom - 5)
                out.push(u + " / " + t.textContent);
            seen.push([t.textContent, r]);
        }
        return out; })""")
    assert faults == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_reduced_motion_jumps(demo, explorers):
    page = demo(reduced_motion="reduce")
    page.get_by_role("button", name="Slopes match").click()
    drawn(page)
    assert "100,000" in page.locator("#explorer-latency output").inner_text()


def test_without_scripts_the_figure_stands(demo, explorers):
    page = demo(java_script_enabled=False, wait=".explorer-static svg")
    assert page.locator(".explorer-static svg").count() == len(explorers)
    assert flat(page.locator("#explorer-latency .explorer-words").inner_text()) == flat(
        explorers["latency"].alt_text()
    )


# In a notebook ------------------------------------------------------------------------------------


def test_the_module_serves_anywidget(folder_server, watch, explorers):
    """A stand-in for anywidget's model passes traits in and movements out.

    The ipywidgets' own controls are left out.
    """
    build.bundle()
    folder, address = folder_server
    shutil.copy(build.SCRIPTS / "explorer.js", folder / "explorer.js")
    (folder / "index.html").write_text(
        "<!doctype html><title>notebook</title><div id=el></div>", "utf-8"
    )
    page = watch().open(address)
    text, traits, sliders = page.evaluate(
        """async (spec) => {
        const { default: { render } } = await import("/explorer.js"), heard = {};
        const traits = { spec, driven: ["context"], context: 8192, batch: 256 };
        const model = { get: (k) => traits[k], set: (k, v) => { traits[k] = v; },
          save_changes() { traits.saved = true; }, on: (k, f) => { heard[k] = f; } };
        const el = document.querySelector("#el"), stop = render({ model, el });
        const rest = () => new Promise((done) => setTimeout(done, 900));
        traits.context = 123000; heard["change:context"]();
        el.querySelector("[role=slider]")
          .dispatchEvent(new KeyboardEvent("keydown", { key: "End" }));
        await rest();
        const text = el.querySelector(".ex-words").textContent;
        stop();
        return [
          text, { batch: traits.batch, saved: traits.saved }, el.querySelectorAll("input").length,
        ]; }""",
        explorers["latency"].spec(),
    )
    assert flat(text) == flat(explorers["latency"].alt_text(context=123000, batch=65536))
    assert traits == {"batch": 65536, "saved": True} and sliders == 0
