"""Build the same sources with plain Sphinx 9 and myst-nb: ``make sphinx9``.

So the book can outlive Jupyter Book 1. Sphinx 9 and Jupyter Book 1 do not fit into one environment,
so this one has its own, in ``_build/sphinx9``, with nothing of Jupyter Book in it. Its
configuration is read from _config.yml. Cells come from the last build's cache where there is one,
and run otherwise. Warnings are errors, and what makes the book has to be on its pages.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import yaml
from bs4 import BeautifulSoup

from handful_site import build

PLACE = build.BUILD / "sphinx9"
PYTHON = PLACE / "env" / "bin" / "python"
TOOLS = [
    "sphinx>=9,<10",
    "myst-nb>=1.4",
    "sphinx-external-toc>=1.0",
    "accessible-pygments",
    "sphinxcontrib-bibtex>=2.6",
    "ipykernel",
]
# Of the package's extras, what its Sphinx extensions import.
EXTRAS = "study"
# Jupyter Book's own, which plain Sphinx does without.
LEFT_OUT = {"jupyter_book"}


def environment() -> None:
    """Make the environment, or leave it as it is while what goes into it stands."""
    import tomllib

    project = tomllib.loads((build.ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = [*TOOLS, *project["dependencies"], *project["optional-dependencies"][EXTRAS]]
    stamp = PLACE / "made-from"
    if stamp.exists() and stamp.read_text() == "\n".join(wanted):
        return
    build.say("plain Sphinx 9 into an environment of its own")
    stamp.unlink(missing_ok=True)
    venv.create(PLACE / "env", with_pip=True, clear=True)
    done = subprocess.run(
        [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted]
    )
    if done.returncode:
        build.stop("Sphinx 9 could not be installed; the lines above say why.")
    stamp.write_text("\n".join(wanted))


def configuration() -> str:
    """Return the text of conf.py, made from _config.yml."""
    book = yaml.safe_load((build.ROOT / "_config.yml").read_text("utf-8"))
    extensions = book["sphinx"]["config"]["extensions"]
    settings = {
        "project": book["title"],
        "author": book["author"],
        "copyright": book["copyright"],
        "external_toc_path": str(build.ROOT / "_toc.yml"),
        "external_toc_exclude_missing": True,
        "html_title": book["title"],
        "myst_enable_extensions": book["parse"]["myst_enable_extensions"],
        "bibtex_bibfiles": [str(build.ROOT / "book" / name) for name in book["bibtex_bibfiles"]],
        "nb_execution_mode": book["execute"]["execute_notebooks"],
        "nb_execution_timeout": book["execute"]["timeout"],
        "nb_execution_cache_path": str(PLACE / "cache"),
        **book["sphinx"]["config"],
        "extensions": [name for name in extensions if name not in LEFT_OUT],
    }
    return "".join(f"{name} = {value!r}\n" for name, value in settings.items())


def cache() -> None:
    """Copy the cells that the last build ran, if the package is still what it was."""
    shutil.rmtree(PLACE / "cache", ignore_errors=True)
    state = build.digest([*build.package_files(scripts=False), build.ROOT / "requirements.lock"])
    if (made := build.BUILD / "book" / state / "cache").exists():
        shutil.copytree(made, PLACE / "cache")
    else:
        build.say("no cells in store for the package as it is: every cell runs")


def sphinx() -> Path:
    """Run it; returns the folder of pages."""
    conf, pages = PLACE / "conf", PLACE / "html"
    shutil.rmtree(pages, ignore_errors=True)
    conf.mkdir(exist_ok=True)
    (conf / "conf.py").write_text(configuration(), "utf-8")
    environment = {
        **os.environ,
        "PYTHONPATH": str(build.ROOT / "lib"),
        "PYTHONHASHSEED": "0",
        "NO_COLOR": "1",
        "PYTHONWARNINGS": "ignore",
        "PATH": f"{PYTHON.parent}:{os.environ['PATH']}",
    }
    build.say("pages (Sphinx 9)")
    command = [
        PYTHON,
        "-m",
        "sphinx",
        "-b",
        "html",
        "-W",
        "--keep-going",
        "-q",
        "-E",
        "-c",
        conf,
        "-d",
        PLACE / "doctrees",
        build.ROOT / "book",
        pages,
    ]
    if subprocess.run(command, env=environment, cwd=build.ROOT).returncode:
        build.stop("The sources do not build with plain Sphinx 9; the warnings are above.")
    return pages


def census(page: Path) -> dict[str, int]:
    """Count our parts on a page: explorers, live numbers, cards, problems and formulas.

    The JSON of an explorer has to be whole.
    """
    soup = BeautifulSoup(page.read_text("utf-8"), "html.parser")
    for block in soup.select('script[type="application/json"]'):
        json.loads(block.string)
    return {
        "explorers": len(soup.select("script.explorer-spec")),
        "live numbers": len(soup.select("[data-live]")),
        "cards": len(soup.select("[data-card]")),
        "problems": len(soup.select("[data-problem]")),
        "formulas": len(soup.select("[data-tex], .math")),
    }


def main() -> None:
    PLACE.mkdir(parents=True, exist_ok=True)
    environment()
    cache()
    plain = sphinx()
    names = build.chapters(yaml.safe_load((build.ROOT / "_toc.yml").read_text("utf-8")))
    lost, total = [], {}
    state = build.digest([*build.package_files(scripts=False), build.ROOT / "requirements.lock"])
    ours = build.BUILD / "book" / state / "_build" / "html"
    for name in names:
        found = census(plain / f"{name}.html")
        total = {kind: total.get(kind, 0) + count for kind, count in found.items()}
        wanted = census(ours / f"{name}.html") if (ours / f"{name}.html").exists() else found
        lost += [
            f"{name}: {found[kind]} {kind} instead of {wanted[kind]}"
            for kind in found
            if found[kind] != wanted[kind]
        ]
    lost += [f"no {kind} on any page" for kind, count in total.items() if not count]
    if lost:
        build.stop(
            "Built with plain Sphinx 9, the pages differ from Jupyter Book's:\n  "
            + "\n  ".join(lost)
        )
    build.say(
        f"{len(names)} pages with plain Sphinx 9, "
        + ", ".join(f"{count:,} {kind}" for kind, count in total.items())
        + (": as many as Jupyter Book's" if ours.exists() else "")
    )


if __name__ == "__main__":
    sys.exit(main())
