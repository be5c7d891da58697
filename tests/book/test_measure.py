"""Tests of the measurement in the page *Your machine*: by a worker, with a policy of its own."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from handful_evidence.measure import fitted_knee
from handful_site import bootstrap, hosting

pytestmark = pytest.mark.browser
PAGE = "your-machine.html"
WORKER = "**/measure/worker.*"
PLOT = "#explorer-one-layer-on-this-computer"
LONG = 120_000  # ms, where other work has the cores
# Each timing lasts so many milliseconds; what workers find, and how many there are, is noted.
TIMED = """window.found = [], window.running = 0;
const Real = window.Worker;
window.Worker = class extends Real {{
  constructor(...given) {{
    super(...given);
    window.running += 1;
    this.addEventListener("message", ({{ data }}) => data.found && window.found.push(data.found));
  }}
  postMessage(request) {{ super.postMessage({{ ...request, least: {least} }}); }}
  terminate() {{ window.running -= 1; super.terminate(); }}
}};"""
# A worker that has measured a GPU already.
GPU_FOUND = """window.Worker = class {
  postMessage({ batches }) {
    const about = { kind: "gpu", name: "acme nine", fused: true, cores: 8 };
    const found = batches
      ? { ...about, points: batches.map((batch) => [batch, 1e-3 * Math.max(1, batch / 60)]) }
      : { ...about, memory_bandwidth: { best: 1e11, worst: 9e10, runs: 9 },
          peak_flops: { best: 2e12, worst: 1e12, runs: 4 } };
    queueMicrotask(() => this.onmessage({ data: { found } }));
  }
  terminate() {}
};"""


def opened(watch, site, script: str, **options):
    tab = watch(**options)
    tab.page.add_init_script(script)
    return tab, tab.open(site + PAGE)


def prefix_worker(page, code: str) -> None:
    """Let the worker run this code before its own."""

    def answer(route):
        got = route.fetch()
        route.fulfill(response=got, body=f"{code};{got.text()}")

    page.context.route(WORKER, answer)


def button(page, name: str):
    return page.locator("#measure").get_by_role("button", name=name)


def measured(page, name: str):
    return page.locator(f"#measure [data-found='{name}'] strong")


def test_a_click_measures_and_a_second_checks(watch, site):
    asked = {}
    tab, page = watch(), None
    tab.page.on(
        "response",
        lambda r: asked.update({r.url: r.headers.get("content-security-policy", "")}),
    )
    tab.page.add_init_script(TIMED.format(least=4))
    page = tab.open(site + PAGE)
    assert not [url for url in asked if "/measure" in url]
    kept = page.evaluate("JSON.stringify(localStorage)")
    arithmetic = page.locator(f"{PLOT} .ex-controls").inner_text()

    start = button(page, "Measure this computer")
    start.focus()
    start.press("Enter")
    button(page, "Check the prediction").wait_for(timeout=LONG)
    (worker,) = [url for url in asked if "/measure/" in url]
    assert hosting.lasting(worker) and "'wasm-unsafe-eval'" in asked[worker]
    assert "unsafe" not in asked[site + PAGE]
    assert page.evaluate("document.activeElement.textContent") == "Measure again"

    (found,) = page.evaluate("window.found")
    assert found["kind"] == "processor"
    bandwidth, flops = found["memory_bandwidth"], found["peak_flops"]
    assert 1e7 < bandwidth["worst"] <= bandwidth["best"] < 1e13
    assert 1e7 < flops["worst"] <= flops["best"] < 1e13
    knee = flops["best"] * 4 / (2 * bandwidth["best"])
    shown = float(measured(page, "Predicted knee").inner_text().split()[1].replace(",", ""))
    assert shown == pytest.approx(knee, rel=0.01)
    # The plot has these rates, and its recorded dots are gone.
    expect(page.locator(f"{PLOT} .ex-controls")).not_to_have_text(arithmetic)
    rates = [measured(page, name).inner_text() for name in ("Arithmetic", "Memory")]
    for text in rates:
        expect(page.locator(f"{PLOT} .ex-controls")).to_contain_text(text.replace("\xa0", " "))
    assert page.locator(f"{PLOT} .ex-svg .ex-point circle").count() == 0

    button(page, "Check the prediction").click()
    expect(measured(page, "Measured knee")).to_have_count(1, timeout=LONG)
    points = page.evaluate("window.found")[1]["points"]
    assert len(points) >= 8 and all(time > 0 for _, time in points)
    words = page.locator("#measure [data-found='Measured knee']").inner_text()
    fitted = fitted_knee([b for b, _ in points], [t for _, t in points])
    if "none" not in words:
        assert float(re.search(r"batch ([\d.]+)", words)[1]) == pytest.approx(fitted, rel=0.01)
    else:
        assert not points[0][0] * 1.01 < fitted < points[-1][0] / 1.01
    expect(page.locator(f"{PLOT} .ex-svg .ex-point circle")).to_have_count(len(points))
    assert page.evaluate("JSON.stringify(localStorage)") == kept
    assert page.evaluate("window.running") == 0 and tab.faults == []


def test_what_was_measured_becomes_the_books_chip_on_request_only(watch, site):
    tab, page = opened(watch, site, GPU_FOUND)
    button(page, "Measure this computer").click()
    expect(page.locator("#measure")).to_contain_text("your graphics processor (acme nine)")
    expect(page.locator("#measure")).to_contain_text("the best of 4 runs; the worst came to 50")
    button(page, "Check the prediction").click()
    assert re.fullmatch(r"batch (59\.\d|60(\.\d)?)", measured(page, "Measured knee").inner_text())
    assert "1.5 times the prediction" in page.locator("#measure").inner_text()
    assert "yours" not in page.evaluate("JSON.stringify(localStorage)")

    button(page, "Make it the book’s chip").click()
    page.locator("#measure").get_by_role("link", name="Your model, your hardware").click()
    tab.rest()
    expect(page.locator("#yours-hardware-bf16")).to_have_value("2")
    expect(page.locator("#yours-hardware-memory_bandwidth")).to_have_value("0.1")
    assert page.locator("select", has_text="This computer (your chip)").count()
    assert tab.faults == []


@pytest.mark.parametrize("back", ["Reset", "The recorded machine"])
def test_reset_and_preset_bring_the_recorded_run_back(watch, site, back):
    """Rates and dots go together: those of the recorded machine, or the reader's own."""
    tab, page = opened(watch, site, GPU_FOUND)
    values = page.locator(f"{PLOT} .ex-values")
    page.locator(PLOT).scroll_into_view_if_needed()
    expect(values).to_contain_text("measured on")
    recorded = values.inner_text()
    button(page, "Measure this computer").click()
    button(page, "Check the prediction").click()
    expect(values).to_contain_text("measured here")
    assert "roofline" not in page.locator("#measure [role=status]").inner_text()
    page.locator(PLOT).get_by_role("button", name=back).click()
    expect(page.locator(PLOT).get_by_role("button", name=back)).to_be_focused()
    expect(values).to_have_text(re.compile("measured on"))
    assert values.inner_text() == recorded
    button(page, "Check the prediction").click()
    expect(values).to_contain_text("measured here")
    assert tab.faults == []


def test_a_time_below_the_roofline_asks_for_another_measurement(watch, site):
    tab, page = opened(watch, site, GPU_FOUND.replace("best: 1e11", "best: 1e10"))
    button(page, "Measure this computer").click()
    button(page, "Check the prediction").click()
    expect(page.locator("#measure [role=status]")).to_contain_text(
        "below its own roofline, where no time can"
    )
    assert tab.faults == []


def test_a_measurement_can_be_stopped_and_begun_again(watch, site):
    tab, page = opened(watch, site, TIMED.format(least=600_000))
    button(page, "Measure this computer").click()
    page.locator("#measure progress").wait_for()
    button(page, "Stop").click()
    expect(page.locator("#measure [role=status]")).to_have_text("Stopped.")
    expect(page.locator("#measure progress")).to_be_hidden()
    assert page.evaluate("window.running") == 0 and page.locator("#measure dl").count() == 0
    button(page, "Measure this computer").click()
    button(page, "Stop").click()
    expect(page.locator("#measure [role=status]")).to_have_text("Stopped.")
    assert tab.faults == []


@pytest.mark.parametrize(
    ("before", "said"),
    [
        (
            "Object.defineProperty(navigator, 'gpu', { value: undefined });"
            "WebAssembly.validate = () => false",
            "This browser has neither WebGPU nor WebAssembly with SIMD.",
        ),
        ("Float32Array.prototype.map = function () { return this; }", "Measuring failed: a sum of"),
        ("self.onmessage = () => {}; throw new Error('broken')", "Measuring failed:"),
    ],
    ids=["nothing to measure with", "a wrong sum", "a broken worker"],
)
def test_what_cannot_be_measured_is_said(watch, site, before, said):
    _, page = opened(watch, site, TIMED.format(least=4))
    prefix_worker(page, before)
    button(page, "Measure this computer").click()
    expect(page.locator("#measure [role=status]")).to_contain_text(said, timeout=LONG)
    assert button(page, "Measure this computer").is_enabled()
    assert page.evaluate("window.running") == 0


def test_without_its_script_the_page_says_so(watch, site):
    page = watch().open(site + PAGE)
    page.context.route("**/measure.*.js", lambda route: route.abort())
    button(page, "Measure this computer").click()
    expect(page.locator("#measure [role=status]")).to_contain_text("could not be loaded")


def test_without_scripts_there_is_no_button(watch, site):
    page = watch(java_script_enabled=False).page
    page.goto(site + PAGE)
    assert page.locator("#measure .measure-still").is_visible()
    assert page.locator("#measure button").is_hidden()


def test_the_gpus_sums_are_exact(browser, site):
    """Run the shader on WebGPU as the processor plays it, where this Chromium has that."""
    flags = ["--headless", "--no-sandbox", "--enable-unsafe-webgpu"]
    chromium = browser.browser_type.launch(
        executable_path=bootstrap.find_browser(),
        args=[*flags, "--use-webgpu-adapter=swiftshader"],
    )
    page = chromium.new_page()
    page.goto(site + PAGE)
    has_gpu = page.evaluate("async () => !!(await navigator.gpu?.requestAdapter())")
    with page.expect_worker() as worker:
        button(page, "Measure this computer").click()
    told = page.evaluate(
        """(address) => new Promise((done) => {
          const worker = new Worker(address);
          worker.onmessage = ({ data }) => (data.found || data.failed) && done(data);
          worker.postMessage({ batches: [1, 4], least: 1, software: true });
        })""",
        worker.value.url,
    )
    chromium.close()
    if not has_gpu:
        pytest.skip("This Chromium plays no WebGPU.")
    assert told["found"]["kind"] == "gpu"
    assert [batch for batch, _ in told["found"]["points"]] == [1, 4]
