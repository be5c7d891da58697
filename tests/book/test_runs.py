"""Tests of the place for result files: what is dropped there, and what the page says of it."""

from __future__ import annotations

import csv
import json
import re

import pytest
from playwright.sync_api import expect

from handful_evidence import own_server
from handful_explorers.tables.own_server import points, public_run

pytestmark = pytest.mark.browser
PAGE = "your-server.html"
SAID = "#runs .runs-said"
GOOD = {
    "model_id": "meta-llama/Llama-3.1-70B-Instruct",
    "num_prompts": 100,
    "mean_tpot_ms": 25.0,
    "mean_ttft_ms": 200.0,
    "total_input_tokens": 100_000,
    "total_output_tokens": 50_000,
    "completed": 100,
    "duration": 60.0,
}


def good(users: int, **more):
    """Return a file of ``vllm bench serve`` whose numbers agree with each other."""
    step = 0.02 + 0.0002 * users
    whole = 0.2 + 499 * step
    made = GOOD | {
        "max_concurrency": users,
        "mean_tpot_ms": 1e3 * step,
        "request_throughput": 0.98 * users / whole,
        "output_throughput": 0.98 * users / whole * 500,
    }
    return json.dumps(made | more)


def hostile():
    """Return thirty damaged or hostile files, by name."""
    html = "<img src=x onerror=window.ran=1>"
    deep = "[" * 5000 + "]" * 5000
    texts = {
        f"{html}.json": good(2, model_id=html),
        "cut.json": good(2)[:100],
        "empty.json": "",
        "deep.json": deep,
        "nan.json": good(2).replace("60.0", "NaN").replace("0.98", "NaN"),
        "negative.json": good(2, mean_tpot_ms=-5),
        "text.json": good(2, mean_tpot_ms="fast"),
        "list.json": good(2, mean_tpot_ms=[1]),
        "huge-number.json": good(2, mean_tpot_ms=10**400),
        "other.json": '{"hello": 1}',
        "proto.json": '{"__proto__": {"mean_tpot_ms": 1}, "constructor": 2}',
        "script.json": f"<script>window.ran=1</script>{good(2)}",
        "page.html": f"<html><body>{html}</body></html>",
        "null.json": "null",
        "number.json": "5",
        "string.json": f'"{html}"',
        "binary.json": "\x00\x01\x02\x03",
        "empty.csv": "concurrency,tpot_ms\n",
        "unknown.csv": "a,b\n1,2\n",
        "units.csv": "concurrency,tpot_ms\n1,20 ms\n",
        "formula.csv": "concurrency,tpot_ms,model\n1,x,=cmd|' /C calc'!A0\n",
        "inf.csv": "concurrency,tpot_ms\n1,inf\n",
        "quote.csv": 'concurrency,tpot_ms\n1,"20\n',
        "mlperf.txt": "MLPerf Results Summary\nScenario : Server\nMode : AccuracyOnly\n",
        "guide.json": '{"benchmarks": {"a": 1}}',
        "guide2.json": '{"benchmarks": [{"metrics": 5}], "metadata": {"guidellm_version": 1}}',
        "perf.json": '{"inter_token_latency": {"avg": "x", "unit": "parsec"}}',
        "twice.json": '{"mean_tpot_ms": 1, "mean_tpot_ms": {}}',
        "lines.json": f"{good(2, mean_tpot_ms=None, mean_ttft_ms={})}\n{{]\n",
        "surrogate.json": good(2, mean_tpot_ms="\\ud800"),
    }
    assert len(texts) == 30
    return texts


def files(texts):
    return [
        {"name": name, "mimeType": "text/plain", "buffer": text.encode("utf-8", "surrogatepass")}
        for name, text in texts.items()
    ]


@pytest.fixture
def page(watch, site):
    tab = watch()
    page = tab.open(site + PAGE)
    page.locator("#runs").scroll_into_view_if_needed()
    expect(page.locator(SAID)).to_contain_text("The public run: 38 points")
    yield page
    assert tab.faults == []


def number(page, name):
    return page.locator("#runs dl > div", has_text=name).locator("strong").inner_text()


def drop(page, texts):
    """Drop files as a hand does, and not through the button."""
    page.evaluate(
        """(given) => {
        const data = new DataTransfer();
        for (const [name, text] of given) data.items.add(new File([text], name));
        for (const kind of ["dragenter", "dragover", "drop"])
          document.querySelector("#runs").dispatchEvent(
            new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true }));
      }""",
        list(texts.items()),
    )


def test_the_public_run_stands_there_with_pythons_numbers(page):
    fit = own_server.fit(points())
    assert number(page, "Fixed time") == f"{fit.values['fixed_time'] * 1e3:.3g}\xa0ms"
    assert number(page, "Reading at") == "100\xa0%"
    assert page.locator("#runs .runs-plot path.runs-dot").get_attribute("d").count("M") == 38
    page.get_by_text("The points, one by one (38)").click()
    assert page.locator("#runs .runs-points tbody tr").count() == 38


def test_dropped_files_are_compared_and_damaged_ones_named(page):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    texts = {f"run-{n}.json": good(n) for n in (1, 4, 16, 64)} | hostile()
    drop(page, texts)
    expect(page.locator(SAID)).to_contain_text("read; not compared yet")
    expect(page.locator("#runs .runs-fault")).to_contain_text("does not say its chip")
    page.get_by_label("Chip", exact=True).select_option("H100 SXM")
    expect(page.locator(SAID)).to_contain_text("Llama 3.1 70B on 8 × H100 SXM")
    told = page.locator("#runs h4:text-is('Not read') + ul li").all_inner_texts()
    compared = page.locator("#runs .runs-results").inner_text()
    for name in texts:
        if name.startswith("run-"):
            continue
        assert any(text.startswith(name) for text in told) or name in compared, name
    assert all(text.endswith(".") for text in told) and len(told) >= 25
    assert page.evaluate("window.ran") is None and page.locator("#runs img").count() == 0
    assert asked == []  # nothing leaves the browser, and nothing comes
    page.get_by_role("button", name="Take the public run").click()
    expect(page.locator(SAID)).to_contain_text("The public run: 38 points")  # alive


def test_what_the_reader_says_counts(page):
    page.set_input_files("#runs-files", files({f"{n}.json": good(n) for n in (1, 4, 16, 32, 64)}))
    page.get_by_label("Chip", exact=True).select_option("H100 SXM")
    expect(page.locator(SAID)).to_contain_text("5 points of Llama 3.1 70B on 8 × H100 SXM")
    page.get_by_label("Chips for one copy").fill("4")
    page.get_by_label("Time per token you promise").fill("40 ms")
    page.get_by_label("Rent, $ per chip and hour").fill("2.50")
    page.get_by_label("Rent, $ per chip and hour").blur()
    expect(page.locator(SAID)).to_contain_text("on 4 × H100 SXM")
    expect(page.locator("#runs h3", has_text="Within 40")).to_be_visible()
    expect(page.locator("#runs td", has_text="$").first).to_be_visible()
    page.get_by_label("Time per token you promise").fill("quick")
    page.get_by_label("Time per token you promise").blur()
    expect(page.locator("#runs .runs-fault")).to_contain_text("Time per token:")
    page.get_by_label("Time per token you promise").fill("")
    page.get_by_label("Chips for one copy").fill("1.5")
    page.get_by_label("Chips for one copy").blur()
    expect(page.locator("#runs .runs-fault")).to_have_text("Chips are a whole number, 1 or more.")
    page.get_by_label("Chips for one copy").fill("")
    page.get_by_label("Chips for one copy").blur()
    expect(page.locator("#runs .runs-fault")).to_be_hidden()


def test_weights_and_caches_may_be_stored_otherwise(page):
    def read(name):
        text = number(page, name)
        return float(re.match(r"[\d.]+", text)[0])

    page.get_by_text("Stored otherwise").click()
    before = page.locator("#runs .runs-said").inner_text()
    page.get_by_label("Weights", exact=True).select_option("int4")
    expect(page.locator("#runs .runs-fault")).to_be_hidden()
    expect(page.locator(SAID)).to_contain_text("weights in int4")
    assert page.locator(SAID).inner_text() != before and read("Fixed time") > 0
    page.get_by_label("Caches", exact=True).select_option("bf16")
    expect(page.locator(SAID)).to_contain_text("caches in bf16")


def test_the_points_are_saved_as_a_table(page):
    page.get_by_text("The points, one by one").click()
    with page.expect_download() as waited:
        page.get_by_role("button", name="Save all as a table").click()
    rows = list(csv.DictReader(waited.value.path().read_text("utf-8").splitlines()))
    assert waited.value.suggested_filename == "points.csv" and len(rows) == 38
    known = sorted(points(), key=lambda one: one.known["batch"])[0]
    assert float(rows[0]["floor_s"]) == pytest.approx(known.floor)


def test_ten_thousand_points_are_read_and_drawn(page):
    head, *rows = public_run().splitlines()
    many = [head, *(rows[k % 38] for k in range(10_000))]
    page.set_input_files("#runs-files", files({"many.csv": "\n".join(many)}))
    expect(page.locator(SAID)).to_contain_text("10,000 points", timeout=30_000)
    assert page.locator("#runs path.runs-dot").get_attribute("d").count("M") == 10_000
    assert number(page, "Fixed time").startswith("7.1")
    expect(page.locator("#runs .runs-points summary")).to_contain_text("10,000")


def test_nothing_to_read_is_said(page):
    page.set_input_files("#runs-files", files({"a.txt": "hello"}))
    expect(page.locator(SAID)).to_have_text("No run could be read.")
    expect(page.locator("#runs h4", has_text="Not read")).to_be_visible()
