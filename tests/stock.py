"""A chapter the way Jupyter Book makes it by default, to be measured beside ours: part of ``make bench``.

The same chapter's text under Jupyter Book's own settings: MathJax sets the mathematics in the browser, RequireJS and
html-manager mount the widgets.  Its first explorer is the one thing that moves on such a page without a kernel: a Stack
of pictures that a slider leafs through.  The other explorers stand as still pictures, numbers as plain text.  What the
page would fetch from a content network lies beside it, so that it is measured at its best.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

from handful.page import bootstrap, build

PLACE = build.BUILD / "stock"
CHAPTER = "latency-and-cost"
PACKAGES = {"@jupyter-widgets/html-manager": "1.0.14", "requirejs": "2.3.7", "mathjax": "3.2.2"}
FRAMES = 26
LEAFED = """
import io
import numpy as np
import ipywidgets as widgets
import matplotlib.pyplot as plt

def picture(batch):
    figure = explorer.figure(**{explorer.x.name: float(batch)})
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=100)
    plt.close(figure)
    return widgets.Image(value=file.getvalue(), format="png")

pictures = [picture(x) for x in np.geomspace(explorer.x.low, explorer.x.high, FRAMES)]
slider = widgets.IntSlider(min=0, max=FRAMES - 1, description=explorer.x.name)
stack = widgets.Stack(children=pictures, selected_index=0)
widgets.jslink((slider, "value"), (stack, "selected_index"))
widgets.VBox([slider, stack])
"""


def packages() -> None:
    """What such a page fetches from content networks, from npm instead."""
    stamp = PLACE / "made-from"
    if stamp.exists() and stamp.read_text() == json.dumps(PACKAGES):
        return
    build.say(f"{', '.join(PACKAGES)} into {PLACE.relative_to(build.ROOT)}")
    PLACE.mkdir(parents=True, exist_ok=True)
    (PLACE / "package.json").write_text('{"private": true}\n')
    done = subprocess.run([*bootstrap.npm_command(), "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-save",
                           *(f"{name}@{version}" for name, version in PACKAGES.items())], cwd=PLACE, capture_output=True, text=True)
    if done.returncode:
        build.stop(f"The packages of the stock page could not be installed: {done.stderr.strip()[-800:]}")
    stamp.write_text(json.dumps(PACKAGES))


def source(book: Path) -> None:
    """The chapter as a notebook, its explorers made stock."""
    notebook = json.loads((build.NOTEBOOKS / f"{CHAPTER}.ipynb").read_text("utf-8"))
    first = True
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        if "from handful.explorers" in text:
            imported, name = text.strip().split("\n\n")[-2:]
            shown = LEAFED.replace("FRAMES", str(FRAMES)) if first else "explorer.figure()"
            cell["source"], first = f"{imported}\nexplorer = {name}\n{shown}", False
    (book / f"{CHAPTER}.ipynb").write_text(json.dumps(notebook), "utf-8")


def page() -> Path:
    """Build it; returns the folder that holds it."""
    packages()
    book, made = PLACE / "book", PLACE / "made" / "_build" / "html"
    shutil.rmtree(book, ignore_errors=True)
    book.mkdir()
    source(book)
    (book / "_toc.yml").write_text(yaml.safe_dump({"format": "jb-book", "root": CHAPTER}))
    shutil.copy(build.ROOT / "book" / "references.bib", book)
    (book / "_config.yml").write_text(yaml.safe_dump({
        "title": "Stock", "bibtex_bibfiles": ["references.bib"], "execute": {"execute_notebooks": "force", "timeout": 180},
        "sphinx": {"config": {"nb_ipywidgets_js": {"npm/require.js": {}, "npm/embed-amd.js": {"data-jupyter-widgets-cdn": "_static/npm/"}},
                              "mathjax_path": "npm/mathjax/tex-mml-chtml.js"}}}))
    done = subprocess.run([str(Path(sys.executable).with_name("jupyter-book")), "build", str(book), "--path-output", str(PLACE / "made"), "--all"],
                          capture_output=True, text=True, cwd=build.ROOT, env={**os.environ, "NO_COLOR": "1", "PYTHONWARNINGS": "ignore"})
    if done.returncode or not (made / f"{CHAPTER}.html").exists():
        build.stop(f"The stock page did not build: {(done.stdout + done.stderr)[-2000:]}")
    npm = made / "_static" / "npm"
    npm.mkdir(exist_ok=True)
    shutil.copy(PLACE / "node_modules" / "requirejs" / "require.js", npm)
    shutil.copy(PLACE / "node_modules" / "@jupyter-widgets" / "html-manager" / "dist" / "embed-amd.js", npm)
    shutil.copytree(PLACE / "node_modules" / "mathjax" / "es5", npm / "mathjax", dirs_exist_ok=True)
    return made


if __name__ == "__main__":
    print(page())
