"""A chapter as Jupyter Book makes it by default, to be measured beside ours: ``make bench``.

The same chapter's text under Jupyter Book's own settings: MathJax sets the mathematics in the
browser, RequireJS and html-manager mount the widgets. Its first explorer is the one thing that
moves on such a page without a kernel: a Stack of pictures that a slider leafs through. The other
explorers stand as still pictures, numbers as plain text. What the page would fetch from a content
network lies beside it, so that it is measured at its best.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import threading
from pathlib import Path

import yaml

from handful_site import bootstrap, build
from handful_site.serve import open_server

PLACE = build.BUILD / "stock"
MADE = PLACE / "made" / "_build" / "html"
CHAPTER = "latency-and-cost"
PACKAGES = {"@jupyter-widgets/html-manager": "1.0.14", "requirejs": "2.3.7", "mathjax": "3.2.2"}
FRAMES = 26
# The first explorer with an axis to move along is leafed through; the others stand still.
SHOWN = """
import io
import numpy as np
import ipywidgets as widgets
import matplotlib.pyplot as plt
from IPython.display import display

def picture(explorer, at):
    figure = explorer.figure(**{explorer.x.name: float(at)})
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=100)
    plt.close(figure)
    return widgets.Image(value=file.getvalue(), format="png")

def leafed(explorer):
    x = explorer.x
    places = (np.geomspace if x.log else np.linspace)(x.low, x.high, FRAMES)
    slider = widgets.IntSlider(min=0, max=FRAMES - 1, description=x.name)
    stack = widgets.Stack(children=[picture(explorer, at) for at in places], selected_index=0)
    widgets.jslink((slider, "value"), (stack, "selected_index"))
    return widgets.VBox([slider, stack])

def shown(explorer):
    global moving
    if getattr(explorer, "x", None) and not moving:
        moving = True
        return leafed(explorer)
    return explorer.figure() if callable(getattr(explorer, "figure", None)) else explorer

moving = False
""".replace("FRAMES", str(FRAMES))


def chapters() -> list[str]:
    """Name the chapters of the lecture, in order."""
    parts = yaml.safe_load((build.ROOT / "_toc.yml").read_text("utf-8"))["parts"]
    return [chapter["file"] for chapter in parts[0]["chapters"]]


def packages() -> None:
    """Fetch from npm what such a page fetches from content networks."""
    stamp = PLACE / "made-from"
    if stamp.exists() and stamp.read_text() == json.dumps(PACKAGES):
        return
    build.say(f"{', '.join(PACKAGES)} into {PLACE.relative_to(build.ROOT)}")
    PLACE.mkdir(parents=True, exist_ok=True)
    (PLACE / "package.json").write_text('{"private": true}\n')
    done = subprocess.run(
        [
            *bootstrap.npm_command(),
            "install",
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
            "--no-save",
            *(f"{name}@{version}" for name, version in PACKAGES.items()),
        ],
        cwd=PLACE,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        build.stop(
            f"The packages of the stock page could not be installed: {done.stderr.strip()[-800:]}"
        )
    stamp.write_text(json.dumps(PACKAGES))


def source(chapter: str) -> str:
    """Return the chapter as a notebook, with its explorers made stock."""
    notebook = json.loads((build.NOTEBOOKS / f"{chapter}.ipynb").read_text("utf-8"))
    first = True
    for cell in notebook["cells"]:
        text = "".join(cell["source"]).strip()
        if cell["cell_type"] == "code" and "handful_explorers" in text:
            *before, name = text.split("\n\n")
            head, first = (SHOWN if first else ""), False
            cell["source"] = "\n".join([head, *before, f"shown({name})"])
    return json.dumps(notebook)


def page(names: list[str]) -> Path:
    """Build chapters, those that have changed since; returns the folder that holds them."""
    packages()
    book = PLACE / "book"
    sources = {name: source(name) for name in names}
    built = [
        name
        for name, text in sources.items()
        if (MADE / f"{name}.html").exists()
        and (book / f"{name}.ipynb").exists()
        and (book / f"{name}.ipynb").read_text("utf-8") == text
    ]
    if len(built) == len(names):
        return MADE
    build.say(f"{len(names)} chapters as Jupyter Book makes them into {MADE.parent.parent}")
    shutil.rmtree(book, ignore_errors=True)
    book.mkdir()
    for name, text in sources.items():
        (book / f"{name}.ipynb").write_text(text, "utf-8")
    (book / "_toc.yml").write_text(
        yaml.safe_dump(
            {
                "format": "jb-book",
                "root": names[0],
                "chapters": [{"file": name} for name in names[1:]],
            }
            if len(names) > 1
            else {"format": "jb-book", "root": names[0]}
        )
    )
    shutil.copy(build.ROOT / "book" / "references.bib", book)
    (book / "_config.yml").write_text(
        yaml.safe_dump(
            {
                "title": "Stock",
                "bibtex_bibfiles": ["references.bib"],
                "execute": {"execute_notebooks": "force", "timeout": 180},
                "sphinx": {
                    "config": {
                        "nb_ipywidgets_js": {
                            "npm/require.js": {},
                            "npm/embed-amd.js": {"data-jupyter-widgets-cdn": "_static/npm/"},
                        },
                        "mathjax_path": "npm/mathjax/tex-mml-chtml.js",
                    }
                },
            },
            sort_keys=False,
        )
    )
    done = subprocess.run(
        [
            str(Path(sys.executable).with_name("jupyter-book")),
            "build",
            str(book),
            "--path-output",
            str(PLACE / "made"),
            "--all",
        ],
        capture_output=True,
        text=True,
        cwd=build.ROOT,
        env={**os.environ, "NO_COLOR": "1", "PYTHONWARNINGS": "ignore"},
    )
    if done.returncode or not all((MADE / f"{name}.html").exists() for name in names):
        build.stop(f"The stock pages did not build: {(done.stdout + done.stderr)[-2000:]}")
    npm = MADE / "_static" / "npm"
    npm.mkdir(exist_ok=True)
    shutil.copy(PLACE / "node_modules" / "requirejs" / "require.js", npm)
    shutil.copy(
        PLACE / "node_modules" / "@jupyter-widgets" / "html-manager" / "dist" / "embed-amd.js", npm
    )
    shutil.copytree(PLACE / "node_modules" / "mathjax" / "es5", npm / "mathjax", dirs_exist_ok=True)
    return MADE


# When a frame with a slider in it that can be moved was handed to the screen.
SLIDER = """new MutationObserver((_, observer) => {
    if (!document.querySelector("input[type=range], [role=slider]")) return;
    observer.disconnect();
    requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => { window.sliderAt = performance.now(); };
      channel.port2.postMessage(0); });
}).observe(document, { childList: true, subtree: true });"""
# From a key on the slider to the frame that shows the plot moved; each page's slider answers to the
# same keys.
KEYS = """async (rule) => {
    const slider = document.querySelector(rule);
    slider.scrollIntoView({ block: "center" });
    await new Promise((done) => setTimeout(done, 1500));
    const press = (right) => {
      if (slider.matches("input")) {
        if (right) slider.stepUp(3); else slider.stepDown(3);
        slider.dispatchEvent(new Event("input", { bubbles: true }));
      } else slider.dispatchEvent(new KeyboardEvent("keydown", {
        key: right ? "ArrowRight" : "ArrowLeft", bubbles: true, cancelable: true }));
    };
    const plot = () => [...document.querySelectorAll(".ex-svg")].map((e) => e.innerHTML).join()
      || [...document.querySelectorAll(".widget-image, .jupyter-widgets img")]
        .filter((e) => e.offsetParent).map((e) => e.src).join();
    const before = plot(), times = [];
    let moved = false;
    for (let i = 0; i < 80; i += 1) {
      times.push(await new Promise((done) => {
        let start;
        requestAnimationFrame(() => { start = performance.now(); });
        press(Math.floor(i / 20) % 2 === 0);
        requestAnimationFrame(() => {
          const channel = new MessageChannel();
          channel.port1.onmessage = () => done(performance.now() - start);
          channel.port2.postMessage(0); });
      }));
      if (i === 15) moved = plot() !== before;
    }
    return { moved, times: times.slice(10).sort((a, b) => a - b) };
}"""


def measured(browser, address: str, rule: str, loads: int = 3) -> dict[str, float]:
    """Measure the weight and the requests of a first visit, and two times.

    The times, with the processor slowed four times, are from load to slider and from key to frame.
    """
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(180_000)
    page.goto(address, wait_until="networkidle")
    page.wait_for_selector(rule, state="attached")
    page.wait_for_load_state("networkidle")
    sizes = page.evaluate(
        "performance.getEntriesByType('resource')"
        ".concat(performance.getEntriesByType('navigation')).map((e) => e.encodedBodySize)"
    )
    page.close()
    waits = []
    for last in range(loads):
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(180_000)
        page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 4})
        page.add_init_script(SLIDER)
        page.goto(address, wait_until="load")
        page.wait_for_function("() => window.sliderAt")
        waits.append(page.evaluate("window.sliderAt") / 1e3)
        if last == loads - 1:
            page.wait_for_load_state("networkidle")
            page.wait_for_selector(rule, state="attached")
            frames = page.evaluate(KEYS, rule)
        page.close()
    if not frames["moved"]:
        raise RuntimeError(
            f"{address}: the plot did not follow its slider, so there is nothing to measure"
        )
    return {
        "weight, kB": sum(sizes) / 1e3,
        "requests": len(sizes),
        "load to first slider, s": statistics.median(waits),
        "slider to frame, median, ms": frames["times"][35],
        "slider to frame, 95th percentile, ms": frames["times"][66],
    }


def compare() -> None:
    """Print both pages' figures and their ratio."""
    from playwright.sync_api import sync_playwright

    made = page(chapters())
    servers = [open_server(folder, 0, quiet=True) for folder in (build.SITE, made)]
    servers[1].RequestHandlerClass.said = staticmethod(
        lambda path: {}
    )  # the stock page has inline scripts and pictures within its text
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=bootstrap.find_browser(), args=["--headless", "--no-sandbox"]
        )
        rules = (".ex-controls input[type=range]", "[role=slider]")
        ours, stock = (
            measured(browser, f"http://127.0.0.1:{server.server_port}/{CHAPTER}.html", rule)
            for server, rule in zip(servers, rules, strict=True)
        )
        browser.close()
    for server in servers:
        server.shutdown()
    print(f"{CHAPTER}, CPU ÷ 4 for times" + f"{'ours':>20s}{'stock':>12s}{'stock/ours':>12s}")
    for what, value in ours.items():
        print(
            f"    {what:44s}{value:12.4g}{stock[what]:12.4g}{stock[what] / value:12.2f}", flush=True
        )


if __name__ == "__main__":
    compare()
