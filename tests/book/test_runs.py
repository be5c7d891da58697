"""Tests of the place for result files: what is dropped there, and what the page says of it."""

from __future__ import annotations

import csv
import json
import re
from xml.etree import ElementTree

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


def say(page, field, text):
    """Write into a field of the form."""
    page.get_by_label(field).fill(text)
    page.get_by_label(field).blur()


def number(page, name):
    return page.locator("#runs dl > div", has_text=name).locator("strong").inner_text()


def dots(page):
    """Count the points in the plot."""
    paths = page.locator("#runs .runs-plot path.runs-dot").all()
    return sum(path.get_attribute("d").count("M") for path in paths)


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
    assert dots(page) == 38
    names = page.locator("#runs .runs-plot .runs-name").all_inner_texts()
    assert len(names) == 4 == page.locator("#runs .runs-plot .runs-fit:not(.runs-other)").count()
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
    expect(page.locator("#runs .runs-fault")).to_have_text(
        "The file does not say how many chips served one copy: fill in above what it was."
    )
    say(page, "Chips for one copy", "8")
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
    say(page, "Chips for one copy", "4")
    say(page, "Time per token you promise", "40 ms")
    say(page, "Rent, $ per chip and hour", "2.50")
    expect(page.locator(SAID)).to_contain_text("on 4 × H100 SXM")
    expect(page.locator("#runs h3", has_text="Within 40")).to_be_visible()
    expect(page.locator("#runs td", has_text="$").first).to_be_visible()
    expect(page.locator("#runs .runs-promised")).to_have_text("promised: 40\xa0ms")
    for field, text, problem in (
        ("Time per token you promise", "quick", "Time per token:"),
        ("Time per token you promise", "30", "Write the unit too, as in 30\xa0ms;"),
        ("Time per token you promise", "", ""),
        ("Chips for one copy", "1.5", "Chips are a whole number, 1 or more."),
        ("Chips for one copy", "", "how many chips"),
        ("Chips for one copy", "8", ""),
    ):
        say(page, field, text)
        fault = page.locator("#runs .runs-fault")
        expect(fault).to_contain_text(problem) if problem else expect(fault).to_be_hidden()


def test_another_server_is_asked_for_anew(page):
    """What was said of one server does not hold for files that name another model."""
    chip, model = page.get_by_label("Chip", exact=True), page.get_by_label("Model", exact=True)
    chip.select_option("H100 SXM")
    say(page, "Chips for one copy", "4")
    llama = {f"{n}.json": good(n) for n in (1, 4, 16, 64)}
    drop(page, llama)
    expect(page.locator(SAID)).to_contain_text("4 points of Llama 3.1 70B on 4 × H100 SXM")
    model.select_option("Llama 3.1 8B")
    expect(page.locator("#runs li", has_text="is what files say")).to_contain_text(
        "“meta-llama/Llama-3.1-70B-Instruct” is what files say, and Llama 3.1 8B what was chosen."
    )
    drop(page, {n: text.replace("3.1-70B", "3.1-405B") for n, text in llama.items()})
    expect(page.locator("#runs .runs-fault")).to_have_text(
        "The file does not say its chip, or how many chips served one copy: fill in above what "
        "it was."
    )
    assert chip.input_value() == model.input_value() == ""


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


def test_words_and_plot_are_saved(page):
    with page.expect_download() as waited:
        page.get_by_role("button", name="Save these words").click()
    said = waited.value.path().read_text("utf-8")
    assert said.startswith("The public run: 38 points of MiniMax-M2.5 on 8 × H100 SXM")
    assert "## What the server adds" in said and "| as it is |" in said
    with page.expect_download() as waited:
        page.get_by_role("button", name="Save the plot").click()
    drawing = ElementTree.fromstring(waited.value.path().read_text("utf-8"))
    paths = drawing.findall("{http://www.w3.org/2000/svg}path")
    assert sum(path.get("d").count("h0") for path in paths) == 38
    assert all(path.get("stroke").startswith("rgb") for path in paths)


def test_each_number_has_its_name_on_a_phone(watch, site):
    page = watch(width=390).open(site + PAGE)
    page.locator("#runs").scroll_into_view_if_needed()
    row = page.locator("#runs tr", has_text="as it is")
    row.scroll_into_view_if_needed()
    for name in ("Batch", "Tokens a second", "$ a million"):
        cell = row.locator(f"td[data-of='{name}']")
        box = cell.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 390
        assert name in cell.evaluate("cell => getComputedStyle(cell, '::before').content")


def test_ten_thousand_points_are_read_and_drawn(page):
    head, *rows = public_run().splitlines()
    many = [head, *(rows[k % 38] for k in range(10_000))]
    page.set_input_files("#runs-files", files({"many.csv": "\n".join(many)}))
    expect(page.locator(SAID)).to_contain_text("10,000 points", timeout=30_000)
    assert dots(page) == 10_000
    assert number(page, "Fixed time").startswith("7.08")
    expect(page.locator("#runs .runs-points summary")).to_contain_text("10,000")


def test_nothing_to_read_is_said(page):
    page.set_input_files("#runs-files", files({"a.txt": "hello"}))
    expect(page.locator(SAID)).to_have_text("No run could be read.")
    expect(page.locator("#runs h4", has_text="Not read")).to_be_visible()
