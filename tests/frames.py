"""Time frames and loads in a real browser: ``make bench ARGS="frames load_tasks"``.

A frame is timed from a movement's event to the moment at which the main thread has handed its
frame on: what the event's handlers take, and what the frame does. Each chapter's first plot with a
slider is timed beside the same chapter as Jupyter Book makes it (``stock.py``), in turns, in the
same browser: a machine that is busy for a while slows both.
"""

from __future__ import annotations

import statistics
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from math import nan
from typing import Any

from playwright.sync_api import TimeoutError

import stock
from handful_site import bootstrap
from handful_site.build import SITE
from handful_site.serve import open_server

ROUNDS, MOVES, WARM = 5, 25, 5
FRAME = 1000 / 60  # ms
# The learner has asked for no questions: a plot that asks hides its curves and sliders.
ANSWERED = "localStorage.setItem('handful-guesses', '{\"never\": true}');"
# What moves: of ours the cursor and the first slider of the first plot that has both, or of the
# first that has each; of stock its slider.
SET_UP = """async () => {
    const plots = [...document.querySelectorAll(".ex")],
      slides = ".ex-controls input[type=range]",
      first = (...rules) => plots.find((ex) => rules.every((rule) => ex.querySelector(rule))),
      both = first(".ex-cursor", slides),
      pointed = both || first(".ex-cursor"),
      slid = both || first(slides),
      stock = document.querySelector("[role=slider]:not(.ex-cursor)");
    (slid || pointed || stock).scrollIntoView({ block: "center" });
    await new Promise((done) => setTimeout(done, 1500));
    window.moves = {};
    window.picture = () => (plots.length
      ? [...document.querySelectorAll(".ex-svg")].map((svg) => svg.innerHTML)
      : [...document.querySelectorAll(".jupyter-widgets img")]
        .filter((e) => e.offsetParent).map((e) => e.src)).join();
    if (!plots.length) {
      window.moves.slider = (i) => stock.dispatchEvent(new KeyboardEvent("keydown", {
        key: Math.floor(i / 20) % 2 ? "ArrowLeft" : "ArrowRight",
        bubbles: true, cancelable: true }));
    }
    if (pointed) {
      const svg = pointed.querySelector(".ex-svg"), box = svg.getBoundingClientRect(),
        send = (kind, i) => svg.dispatchEvent(new PointerEvent(kind, {
          clientX: box.left + box.width * (0.35 + 0.003 * (i % 100)), clientY: box.top + 90,
          button: 0, pointerId: 1, bubbles: true }));
      let down = false;
      svg.setPointerCapture = () => {};
      window.moves.cursor = (i) => {
        if (!down) send("pointerdown", i);
        down = true;
        send("pointermove", i); };
    }
    if (slid) {
      const input = slid.querySelector(slides), start = Number(input.value),
        span = input.max - input.min,
        step = Math.ceil(span / 100) * (start - input.min > span / 2 ? -1 : 1),
        count = Math.floor((step > 0 ? input.max - start : start - input.min) / Math.abs(step)) + 1;
      window.moves.slider = (i) => {
        input.value = start + step * (i % count);
        input.dispatchEvent(new Event("input", { bubbles: true })); };
    }
}"""
TIME = """async ([what, from, count]) => {
    const times = [], before = window.picture();
    let moved = false;
    for (let i = from; i < from + count; i += 1) {
      times.push(await new Promise((done) => {
        let start;
        requestAnimationFrame(() => { start = performance.now(); });
        const sent = performance.now();
        window.moves[what](i);
        const heard = performance.now() - sent;
        requestAnimationFrame(() => {
          const channel = new MessageChannel();
          channel.port1.onmessage = () => done(heard + performance.now() - start);
          channel.port2.postMessage(0);
        });
      }));
      if (i < from + 5) moved ||= window.picture() !== before;
    }
    if (!moved) throw new Error(`${location}: nothing moved by the ${what}`);
    return times;
}"""
# Nothing is left to do: every explorer stands, and the page has had idle time since.
READY = """() => new Promise((done) => {
    const look = (left) => requestIdleCallback(() => {
      if (document.querySelector("figure.explorer:not([data-mounted])")) look(5);
      else if (left) look(left - 1);
      else done(true);
    });
    look(5);
})"""
TASKS = """window.tasks = [];
new PerformanceObserver((list) => {
  for (const { startTime, duration } of list.getEntries()) window.tasks.push([startTime, duration]);
}).observe({ type: "longtask", buffered: true });"""


@contextmanager
def site(folder: Any = SITE) -> Iterator[str]:
    """Serve a folder; gives its address."""
    server = open_server(folder, 0, quiet=True)
    if folder != SITE:  # the stock page has inline scripts and pictures within its text
        server.RequestHandlerClass.said = staticmethod(lambda path: {})
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()


@contextmanager
def chromium() -> Iterator[Any]:
    """Start a browser that draws without a screen."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=bootstrap.find_browser(), args=["--headless", "--no-sandbox"]
        )
        yield browser
        browser.close()


def slow(page: Any, rate: float = 4) -> None:
    """Slow a page's processor down."""
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": rate})


def open_pair(browser: Any, ours: str, theirs: str, name: str) -> tuple[Any, Any] | None:
    """Open a chapter and its stock page, whose widgets do not come on every one."""
    page = open_chapter(browser, f"{ours}{name}.html", ".ex-cursor, .ex-controls input[type=range]")
    try:
        return page, open_chapter(browser, f"{theirs}{name}.html", "[role=slider]")
    except TimeoutError:
        print(f"{name:30s} its stock page shows no slider", flush=True)
        page.close()
        return None


def open_chapter(browser: Any, address: str, rule: str) -> Any:
    """Open a page and make ready what moves on it."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(180_000)
    page.add_init_script(ANSWERED)
    page.goto(address, wait_until="networkidle")
    page.wait_for_selector(rule, state="attached", timeout=20_000)
    page.wait_for_load_state("networkidle")
    page.evaluate(SET_UP)
    return page


def timed(page: Any, what: str, first: int, count: int) -> list[float]:
    """Move something some times; returns the milliseconds that each took."""
    return page.evaluate(TIME, [what, first, count])


def percentiles(times: list[float]) -> tuple[float, float]:
    """Return the median and the 95th percentile."""
    times = sorted(times)
    return statistics.median(times), times[int(len(times) * 0.95)]


def in_turns(moved: dict[str, tuple[Any, str]]) -> dict[str, tuple[float, float]]:
    """Time several pages' movements in turns; the first moves of a turn only warm up."""
    times: dict[str, list[float]] = {name: [] for name in moved}
    for turn in range(ROUNDS):
        for name, (page, what) in moved.items():
            times[name] += timed(page, what, turn * MOVES, MOVES)[WARM:]
    return {name: percentiles(found) for name, found in times.items()}


def frames(only: list[str]) -> None:
    """Time cursor and slider of each chapter beside stock's slider, slowed four times and not."""
    names = stock.chapters()
    folder = stock.page(names)
    print(
        f"{'to frame, ms (median, 95 %)':30s}{'cursor':>16s}{'slider':>16s}{'stock':>16s}"
        f"{'cursor ÷ stock':>18s}{'slider ÷ stock':>16s}{'unslowed, 95 %':>18s}"
    )
    with site() as ours, site(folder) as theirs, chromium() as browser:
        for name in [one for one in names if not only or one in only]:
            pair = open_pair(browser, ours, theirs, name)
            if not pair:
                continue
            page, other = pair
            moved = {what: (page, what) for what in page.evaluate("Object.keys(window.moves)")}
            quick = in_turns(moved)
            slow(page)
            slow(other)
            t = in_turns({**moved, "stock": (other, "slider")})
            ways = [t.get(what, (nan, nan)) for what in ("cursor", "slider", "stock")]
            cells = [f"{value:8.1f}" for times in ways for value in times] + ["  "]
            cells += [f"{w[i] / ways[2][i]:8.2f}" for w in ways[:2] for i in (0, 1)] + ["  "]
            cells += [f"{late:7.1f}{' ' if late <= FRAME else '!'}" for _, late in quick.values()]
            print(f"{name:30s}{''.join(cells)}", flush=True)
            page.close()
            other.close()


def busy(page: Any, what: str) -> float:
    """Return the main thread's processor time of a movement, in milliseconds, unslowed."""
    cdp = page.context.new_cdp_session(page)
    cdp.send("Performance.enable", {"timeDomain": "threadTicks"})

    def task_time() -> float:
        metrics = cdp.send("Performance.getMetrics")["metrics"]
        return next(one["value"] for one in metrics if one["name"] == "TaskDuration") * 1000

    timed(page, what, 0, 20)
    before = task_time()
    timed(page, what, 20, 60)
    after = task_time()
    cdp.detach()
    return (after - before) / 60


def processor_time(only: list[str]) -> None:
    """Print what each chapter's movements take of the main thread beside stock's (least of three).

    Waits for a busy machine do not count, and all that a movement sets off does: of a stock page
    also the loading of its next picture, which comes after the first frame.
    """
    names = stock.chapters()
    folder = stock.page(names)
    print(
        f"{'main thread for a movement, ms':30s}  cursor  slider   stock   ÷ stock: cursor, slider"
    )
    with site() as ours, site(folder) as theirs, chromium() as browser:
        for name in [one for one in names if not only or one in only]:
            pair = open_pair(browser, ours, theirs, name)
            if not pair:
                continue
            page, other = pair
            has = page.evaluate("Object.keys(window.moves)")
            ways = ((page, "cursor"), (page, "slider"), (other, "slider"))
            turns = [[busy(*w) if w[1] in has else nan for w in ways] for _ in range(3)]
            cursor, slider, least = (min(times) for times in zip(*turns, strict=True))
            print(
                f"{name:30s}{cursor:8.2f}{slider:8.2f}{least:8.2f}"
                f"{cursor / least:18.2f}{slider / least:8.2f}",
                flush=True,
            )
            page.close()
            other.close()


def load_tasks(only: list[str]) -> None:
    """Print the longest task of each page's load, slowed four times (median of three loads)."""
    with site() as address, chromium() as browser:
        for path in sorted(SITE.rglob("*.html")):
            name = path.relative_to(SITE).as_posix()
            if only and name.removesuffix(".html") not in only:
                continue
            longest = []
            for _ in range(3):
                page = browser.new_page(viewport={"width": 1280, "height": 900})
                page.set_default_timeout(180_000)
                slow(page)
                page.add_init_script(TASKS)
                page.goto(address + name, wait_until="networkidle")
                page.wait_for_function(READY)
                longest.append(
                    max(page.evaluate("window.tasks"), key=lambda task: task[1], default=[0, 0])
                )
                page.close()
            start, took = sorted(longest, key=lambda task: task[1])[1]
            said = "" if took < 100 else "over 100 ms"
            print(f"{name:40s} longest task {took:5.0f} ms at {start:6.0f} ms {said}", flush=True)
