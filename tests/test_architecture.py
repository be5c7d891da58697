"""Tests that ARCHITECTURE.md shows the packages as they are."""

import itertools
import re
import tomllib
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
PACKAGES = SETTINGS["root_packages"]


def section(heading: str) -> str:
    """Return the text under a heading, up to the next of its level or a higher one."""
    level = heading.index(" ")
    return re.split(rf"\n#{{1,{level}}} ", TEXT.split(f"\n{heading}\n")[1])[0]


def drawn() -> set[tuple[str, str]]:
    """Return the arrows of the picture of the packages, from importer to imported."""
    [picture] = re.findall(r"```mermaid\n(.*?)```", section("## The packages"), re.DOTALL)
    kind, *lines = picture.split("\n")
    assert kind.startswith("flowchart")
    return {(a, b) for a, b in (line.split("-->") for line in map(no_space, lines) if line)}


def no_space(line: str) -> str:
    return line.replace(" ", "")


def imported() -> set[tuple[str, str]]:
    """Return which package imports which, leaving out what is imported for types only."""
    graph = grimp.build_graph(
        *PACKAGES,
        exclude_type_checking_imports=SETTINGS["exclude_type_checking_imports"],
        cache_dir=None,
    )
    for package in PACKAGES:
        graph.squash_module(package)
    return {
        (a, b)
        for a, b in itertools.permutations(PACKAGES, 2)
        if graph.direct_import_exists(importer=a, imported=b)
    }


def test_arrows_between_packages_are_their_imports():
    assert drawn() == imported()


def test_the_packages_are_those_of_the_contracts():
    folders = {path.parent.name for path in (ROOT / "lib").glob("*/__init__.py")}
    described = re.findall(r"^### `(\w+)`$", section("## The packages"), re.MULTILINE)
    assert sorted(described) == sorted(PACKAGES) == sorted(folders)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_folder_of_a_package_is_named(package):
    words = section(f"### `{package}`")
    top = ROOT / "lib" / package
    # A folder of compiled modules alone is what an older checkout left behind.
    files = (path.relative_to(top) for path in top.rglob("*") if path.is_file())
    found = {
        path.parts[0] for path in files if len(path.parts) > 1 and "__pycache__" not in path.parts
    }
    missing = [name for name in sorted(found) if f"`{name}/`" not in words]
    assert not missing


def test_every_file_that_is_named_exists():
    files = {path.name for folder in ("lib", "tests") for path in (ROOT / folder).rglob("*.*")}
    named = set(re.findall(r"`(?:[\w/]+/)?(\w+\.(?:py|js|css|svg|toml|lock|json))`", TEXT))
    missing = named - files - {path.name for path in ROOT.iterdir()}
    assert named and missing == {"sw.js"} - files
