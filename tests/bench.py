"""Measure the budgets and print each beside its limit: ``make bench``.

Nothing here fails: machines differ, and a timed test that fails on a busy one teaches people to
ignore it. Measures go by the names of their functions, and frames and load tasks by pages too:
``make bench ARGS="frames load_tasks balance-batch"``.
"""

from __future__ import annotations

import gzip
import json
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # -P leaves it out
import frames
import stock
from handful_site import bootstrap
from handful_site.build import SCRIPTS, SITE
from handful_site.serve import open_server


def line(what: str, value: float, limit: float | None, unit: str) -> None:
    share = f"{value / limit:6.2f} of the budget of {limit:g} {unit}" if limit else ""
    print(f"{what:58s} {value:9.4g} {unit:3s} {share}", flush=True)


def cold_import() -> None:
    """Time a new interpreter: its import of the package, and a first number."""
    code = (
        "import time; t = time.perf_counter(); import handful.latency; "
        "from handful.symbolic.formula import registry; "
        "f = registry['weight_time']; "
        "f(**{q.name: q.default or 0.5 for q in f.inputs}); print(time.perf_counter() - t)"
    )
    runs = [
        float(
            subprocess.run(
                [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True
            ).stdout
        )
        for _ in range(5)
    ]
    line("cold import and a first number (median of 5)", statistics.median(runs), 0.6, "s")


def sweeps() -> None:
    """Time a decode sweep over the batch, and the same sweep in NumPy written by hand."""
    import numpy as np

    from handful import scenario
    from handful.query import registry

    step = registry()["step_time"]
    values = {k: v for k, v in scenario.values(**scenario.page_rows()["default"]).items()}

    def best(call, repeats: int) -> float:
        call()
        times = []
        for _ in range(repeats):
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
        return min(times)

    batch = np.geomspace(1, 65536, 10_000)
    line(
        "10,000-point decode sweep, warm",
        best(lambda: step(values, batch=batch), 50) * 1e3,
        1,
        "ms",
    )

    v = values

    def by_hand(batch):
        """Compute the same formula as somebody who knows NumPy well would write it."""
        asleep = (1 - v["active_experts"] / v["experts"]) ** batch
        weights = v["bytes_per_parameter"] * (
            v["total_parameters"] - v["routed_parameters"] * asleep
        )
        windows = v["window_cache_memory"] * min(1, v["context"] / v["window_tokens"])
        caches = batch * (v["context"] * v["kv_bytes_per_token"] + windows)
        reading = (weights + caches) / (v["devices"] * v["memory_bandwidth"])
        return np.maximum(
            reading, 2 * batch * v["active_parameters"] / (v["devices"] * v["peak_flops"])
        )

    batch = np.geomspace(1, 65536, 1_000_000)
    assert np.allclose(by_hand(batch), step(values, batch=batch), rtol=1e-12)
    ratio = best(lambda: step(values, batch=batch), 9) / best(lambda: by_hand(batch), 9)
    line("1e6 points, over NumPy written by hand", ratio, 1.2, "×")


def every_sweep() -> None:
    """Each registered formula over 10,000 points of one input, the slowest three."""
    import numpy as np

    from handful.query import registry

    times = []
    for name, formula in registry().items():
        point = {
            q.name: q.default or (0.5 if q.upper == 1 else max(2.0, q.least or 0))
            for q in formula.inputs
        }
        # A part is at most its whole: both the same will do.
        swept = next(
            (q for q in formula.inputs if q.upper is None and not q.constant), formula.inputs[0]
        )
        point[swept.name] = np.geomspace(2, 4, 10_000)
        try:
            formula(point)
        except ValueError:
            point[swept.name] = np.geomspace(1, 2, 10_000)
        start = time.perf_counter()
        for _ in range(5):
            formula(point)
        times.append(((time.perf_counter() - start) / 5 * 1e3, name))
    for took, name in sorted(times)[-3:]:
        line(f"10,000 points of {name}, of {len(times)} formulas among the slowest", took, 1, "ms")


def cold_command() -> None:
    """Time `handful estimate` from a cold start."""
    runs = []
    for _ in range(5):
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-P", "-m", "handful", "estimate"], capture_output=True, check=True
        )
        runs.append(time.perf_counter() - start)
    line("cold `handful estimate` (median of 5)", statistics.median(runs), 1, "s")


def page_weights() -> None:
    """Each page's first visit in a real browser, compressed as served."""
    from playwright.sync_api import sync_playwright

    server = open_server(SITE, 0, quiet=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/"
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=bootstrap.find_browser(), args=["--headless", "--no-sandbox"]
        )
        for path in sorted(SITE.rglob("*.html")):
            context = browser.new_context(viewport={"width": 1280, "height": 900})
            page = context.new_page()
            page.goto(address + path.relative_to(SITE).as_posix(), wait_until="networkidle")
            sizes = page.evaluate("""() => performance.getEntriesByType("resource")
                .map((e) => [new URL(e.name).pathname, e.encodedBodySize])""")
            whole = page.evaluate("performance.getEntriesByType('navigation')[0].encodedBodySize")
            ours = sum(
                s
                for name, s in sizes
                if "/_static/handful/" in name
                and "/fonts/" not in name
                and "/search-index-" not in name
            )
            name = path.relative_to(SITE).as_posix()
            line(f"{name}: whole page", (whole + sum(s for _, s in sizes)) / 1e3, 600, "kB")
            line(f"{name}: our script and style", ours / 1e3, 120, "kB")
            context.close()
        browser.close()
    server.shutdown()


# The moment at which a frame with the first slider in it was handed to the screen, and the same for
# an explorer's.
FIRST = """new MutationObserver((_, observer) => {
    for (const [name, rule] of [
      ["firstSlider", "input[type=range], [role=slider]"], ["firstExplorer", ".ex-cursor"],
    ]) {
      if (window[name] !== undefined || !document.querySelector(rule)) continue;
      window[name] = 0;
      requestAnimationFrame(() => {
        const channel = new MessageChannel();
        channel.port1.onmessage = () => { window[name] = performance.now(); };
        channel.port2.postMessage(0); });
    }
    if (window.firstExplorer !== undefined) observer.disconnect();
}).observe(document, { childList: true, subtree: true });"""


def sliders() -> None:
    """Time the first working slider from the page load, with the processor slowed four times."""
    from playwright.sync_api import sync_playwright

    server = open_server(SITE, 0, quiet=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=bootstrap.find_browser(), args=["--headless", "--no-sandbox"]
        )
        for name in ("index", "latency-and-cost", "balance-batch"):
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 4})
            page.add_init_script(FIRST)
            page.goto(f"http://127.0.0.1:{server.server_port}/{name}.html", wait_until="load")
            page.wait_for_function("() => window.firstExplorer")
            line(
                f"{name}: load to first slider, CPU ÷ 4",
                page.evaluate("window.firstSlider") / 1e3,
                1,
                "s",
            )
            line(
                f"{name}: load to first explorer, CPU ÷ 4",
                page.evaluate("window.firstExplorer") / 1e3,
                None,
                "s",
            )
            page.close()
        browser.close()
    server.shutdown()


# Twenty reviews of each of 5,000 cards, the book's own first, written as they are; the page works
# out the rest.
LEARNER = """async () => {
    const db = await new Promise((done) => {
      const r = indexedDB.open("handful-study");
      r.onsuccess = () => done(r.result); });
    const own = [...document.querySelectorAll("[data-card]")].map((node) => node.dataset.card);
    for (let review = 0; review < 20; review += 1) {
      const tx = db.transaction(["events", "meta"], "readwrite"), events = tx.objectStore("events");
      for (let card = 0; card < 5000; card += 1) {
        events.put({ id: `bench-${card}-${review}`.padEnd(12, "_"),
          at: Date.now() - (20 - review) * 15 * 86_400_000 + card * 1000,
          zone: 0, kind: "grade", card: own[card] || `other-${card}`,
          grade: 1 + (7 * card + 3 * review) % 4, took: 9000 });
      }
      tx.objectStore("meta").put({ name: "cache", rules: 0, revision: 1, count: 0 });
      await new Promise((done) => { tx.oncomplete = done; });
    }
    db.close();
}"""
UP = """new MutationObserver((_, observer) => {
    if (!document.querySelector(".study-stage > *")) return;
    observer.disconnect();
    requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => { window.reviewUp = performance.now(); };
      channel.port2.postMessage(0); });
}).observe(document, { childList: true, subtree: true });"""
GRADE = """async () => {
    const stage = document.querySelector(".study-stage");
    stage.querySelector("details").open = true;
    while (!stage.querySelector(".study-grade")) await new Promise((done) => setTimeout(done, 5));
    const start = performance.now();
    stage.querySelector(".study-grade-3").click();
    while (!stage.querySelector("details:not([open])"))
      await new Promise((done) => setTimeout(done, 1));
    return performance.now() - start;
}"""


def review() -> None:
    """Time the page Review and an answer, with the processor slowed four times.

    The store holds 5,000 cards and 100,000 reviews.
    """
    from playwright.sync_api import sync_playwright

    server = open_server(SITE, 0, quiet=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=bootstrap.find_browser(), args=["--headless", "--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(300_000)
        page.add_init_script(UP)
        page.goto(f"http://127.0.0.1:{server.server_port}/review.html")
        page.wait_for_function("() => window.reviewUp")
        page.evaluate(LEARNER)
        page.reload()
        page.wait_for_function("() => window.reviewUp")
        line(
            "Review: 100,000 answers worked out anew, to the first card",
            page.evaluate("window.reviewUp") / 1e3,
            None,
            "s",
        )
        page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 4})
        times = []
        for _ in range(5):
            page.reload()
            page.wait_for_function("() => window.reviewUp")
            times.append(page.evaluate("window.reviewUp") / 1e3)
        line(
            "Review: load to the first card, CPU ÷ 4 (median of 5)",
            statistics.median(times),
            1,
            "s",
        )
        line(
            "Review: answer to the next card, CPU ÷ 4 (median of 9)",
            statistics.median(page.evaluate(GRADE) for _ in range(9)),
            None,
            "ms",
        )
        browser.close()
    server.shutdown()


# Every prefix of what a reader types: from the keystroke to results in the page, and to the frame
# that shows them.
TYPE = """async (queries) => {
    const input = document.querySelector("dialog.find input"),
      list = document.querySelector("#find-list"), results = [], frames = [];
    const next = () => new Promise((done) => {
      const channel = new MessageChannel();
      channel.port1.onmessage = done; channel.port2.postMessage(0); });
    for (const query of queries) for (let i = 1; i <= query.length; i += 1) {
      const start = performance.now();
      input.value = query.slice(0, i);
      input.dispatchEvent(new Event("input", { bubbles: true }));
      await next();
      results.push(performance.now() - start);
      await new Promise(requestAnimationFrame);
      await next();
      frames.push(performance.now() - start);
    }
    return [results, frames].map((times) => times.sort((a, b) => a - b));
}"""


def search() -> None:
    """Measure the search: the weight of its script and index, and its times.

    The times, of loading and of typing, are taken with the processor slowed four times.
    """
    from playwright.sync_api import sync_playwright

    folder = SITE / "_static/handful"
    script = next(folder.glob("search*.js")).name  # the mark of its content may stand in its name
    for pattern, limit in (
        (script, None),
        ("search-index-*.json", 250),
        ("search-maths-*.json", None),
    ):
        for path in folder.glob(pattern):
            line(
                f"{path.name}, compressed",
                len(gzip.compress(path.read_bytes(), 9)) / 1e3,
                limit,
                "kB",
            )
    server = open_server(SITE, 0, quiet=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=bootstrap.find_browser(), args=["--headless", "--no-sandbox"]
        )
        loads = []
        for _ in range(5):
            for earlier in browser.contexts:
                earlier.close()
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(
                f"http://127.0.0.1:{server.server_port}/glossary.html", wait_until="networkidle"
            )
            page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 4})
            loads.append(
                page.evaluate(
                    """async (script) => {
                const address = new URL(document.body.dataset.search, document.baseURI),
                  search = await import(new URL(script, address));
                const start = performance.now();
                await search.loadIndex(address);
                return performance.now() - start;
            }""",
                    script,
                )
            )
        line(
            "search: index fetched, parsed and ready, CPU ÷ 4 (median of 5)",
            statistics.median(loads),
            300,
            "ms",
        )
        page.keyboard.press("Control+k")
        page.locator(".find-try").first.wait_for()
        queries = [
            "weight time",
            "balance batch",
            "KV cache",
            "N_total",
            "pipeline bubble",
            "speculative decodign",
            "why is a long prompt dear",
        ]
        page.evaluate(TYPE, queries[:2])
        results, frames = page.evaluate(TYPE, queries)
        for what, times in (("results", results), ("their frame", frames)):
            line(
                f"search: keystroke to {what}, CPU ÷ 4, median", times[len(times) // 2], None, "ms"
            )
            line(
                f"search: keystroke to {what}, CPU ÷ 4, 95th percentile",
                times[int(len(times) * 0.95)],
                50 if what == "results" else None,
                "ms",
            )
        browser.close()
    server.shutdown()


def bundles() -> None:
    """Print what each module adds to the scripts, the five largest first."""
    for name in ("handful", "explorer", "study"):
        for suffix in ("js", "css") if name != "study" else ("js",):
            line(
                f"{name}.{suffix}, compressed",
                len(gzip.compress((SCRIPTS / f"{name}.{suffix}").read_bytes(), 9)) / 1e3,
                None,
                "kB",
            )
        outputs = json.loads((SCRIPTS / f"{name}.meta.json").read_text())["outputs"]
        inputs = next(o["inputs"] for path, o in outputs.items() if path.endswith(".js"))
        largest = sorted(inputs.items(), key=lambda item: -item[1]["bytesInOutput"])[:5]
        print(
            "    "
            + ", ".join(f"{path} {part['bytesInOutput'] / 1e3:.1f}" for path, part in largest)
            + " kB raw"
        )


def beside_stock() -> None:
    """Measure the same chapter as Jupyter Book makes it by default, in the same run."""
    stock.compare()


def main(chosen: list[str]) -> None:
    by_page = (frames.frames, frames.processor_time, frames.load_tasks)
    measures = (
        cold_import,
        cold_command,
        sweeps,
        every_sweep,
        sliders,
        review,
        search,
        bundles,
        page_weights,
        beside_stock,
        *by_page,
    )
    names = {measure.__name__ for measure in measures}
    pages = [name for name in chosen if name not in names]
    for measure in measures:
        if names.intersection(chosen) and measure.__name__ not in chosen:
            continue
        try:
            if measure in by_page:
                measure(pages)
            else:
                measure()
        except (ImportError, KeyError) as missing:
            print(f"{measure.__name__}: not measured, {missing!r}")


if __name__ == "__main__":
    main(sys.argv[1:])
