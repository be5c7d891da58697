"""Tests of the list of licences: it names all third-party files of the site.

The files are found here from the site itself.
"""

from __future__ import annotations

import json
import re
import zipfile
from importlib import metadata

from handful_site.build import SCRIPTS, SITE

STATIC = SITE / "_static"


def listed() -> dict[str, str]:
    """Names in the list, in small letters, with the text below each."""
    text = (STATIC / "handful" / "licences.txt").read_text("utf-8")
    parts = re.split(r"={78}\n(.+)\n={78}\n", text)
    return {name.lower(): body.strip() for name, body in zip(parts[1::2], parts[2::2], strict=True)}


def test_every_npm_package_in_a_script_or_sheet_is_listed():
    held = {
        found[1]
        for path in SCRIPTS.glob("*.meta.json")
        for output in json.loads(path.read_text())["outputs"].values()
        for name, part in output["inputs"].items()
        if part["bytesInOutput"] and (found := re.search(r"node_modules/((?:@[^/]+/)?[^/]+)", name))
    }
    assert (
        {"d3-array", "minisearch", "ts-fsrs", "@fontsource/source-serif-4"} <= held <= set(listed())
    )


def test_every_font_is_listed_under_the_whole_of_its_licence():
    owners = {
        "KaTeX": "katex's fonts",
        "fa-": "font awesome free, its fonts",
        "source-serif-4": "@fontsource/source-serif-4",
        "source-sans-3": "@fontsource-variable/source-sans-3",
    }
    fonts = [path.name for path in STATIC.rglob("*.wof*")]
    assert fonts
    for name in fonts:
        owner = next(owner for start, owner in owners.items() if name.startswith(start))
        text = next(text for entry, text in listed().items() if entry.startswith(owner))
        assert "with Reserved Font Name" in text, name
        assert all(
            part in text
            for part in (
                "PREAMBLE",
                "PERMISSION & CONDITIONS",
                "TERMINATION",
                "OTHER DEALINGS IN THE FONT SOFTWARE",
            )
        ), name


def test_every_python_package_whose_files_lie_on_the_site_is_listed():
    """A file is a package's if the package installs one of the same name and bytes."""
    files = {path.name: path.read_bytes() for path in STATIC.rglob("*") if path.is_file()}
    owners = {
        package.name.lower()
        for package in metadata.distributions()
        for path in package.files or ()
        if path.name in files
        and package.name != "handful"
        and path.locate().exists()
        and path.read_binary() == files[path.name]
    }
    # Sphinx and its extensions lay none of theirs there; the colours of code are generated.
    assert owners <= set(listed()) and {"pygments", "accessible-pygments"} <= set(listed())


def test_what_python_in_the_page_is_made_of_is_listed():
    packed = next(STATIC.rglob("packages.zip"))
    with zipfile.ZipFile(packed) as given:
        inside = {
            name.partition("/")[0]
            for name in given.namelist()
            if not name.partition("/")[0].endswith((".dist-info", ".data", ".py"))
        }
    ours = {name for name in inside if name.startswith("handful")}
    assert {"handful", "sympy", "mpmath"} <= inside <= {*listed(), *ours}
    assert not {"handful_classroom", "handful_site"} & ours
    assert {"pyodide", "cpython and its standard library"} <= set(listed())
    assert "Exhibit B" in listed()["pyodide"] and all(len(text) > 700 for text in listed().values())
