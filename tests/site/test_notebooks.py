"""Tests of what a downloaded notebook does with its package, apart from the book."""

from __future__ import annotations

import sys
import types
import zipfile

import pytest
from bs4 import BeautifulSoup

from handful_site import inpage, notebooks, wheel
from handful_site.build import ROOT


@pytest.fixture
def package(tmp_path):
    path = tmp_path / "handful-9.9-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as made:
        for name in (
            "handful/balance.py",
            "handful/tests/test_a.py",
            "handful-9.9.dist-info/RECORD",
        ):
            made.writestr(name, "x = 1")
    return path


def test_first_cell_names_the_hash_of_the_wheel(package):
    from hashlib import sha256

    code = notebooks.first_cell(package, "https://example.org/book/")
    assert (
        f"https://example.org/book/_static/wheels/{package.name}#sha256={sha256(package.read_bytes()).hexdigest()}"
        in code
    )


def test_first_cell_without_an_address_says_what_to_do(package, tmp_path, monkeypatch):
    """One sentence names the file where both the package and its file are missing."""
    monkeypatch.chdir(tmp_path / "..")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    code = (
        notebooks.first_cell(package)
        .replace("%pip install --quiet", "pass  #")
        .replace(package.name, "absent.whl")
    )
    with pytest.raises(
        ModuleNotFoundError,
        match=r"Put absent\.whl, from the same download menu, beside this notebook",
    ):
        exec(code, {})


def test_a_notebook_asks_for_no_package_that_its_wheel_lacks(package, tmp_path):
    pages = ["claims", "your-machine", "your-model"]
    paths = notebooks.convert(ROOT / "book", tmp_path / "notebooks", pages, package)
    for path in paths:
        text = path.read_text("utf-8")
        assert "handful_site" not in text and "a part here that needs its scripts" in text
    assert len(paths) == len(pages)


def test_a_directory_where_no_wheel_can_be_built(tmp_path):
    (tmp_path / "pyproject.toml").write_text("this is no TOML")
    with pytest.raises(RuntimeError, match="The wheel could not be built"):
        wheel.build(tmp_path, tmp_path / "wheels", "state")


def test_what_goes_into_the_page_leaves_out_tests_and_the_record(package, tmp_path):
    inpage.pack([package], tmp_path / "packages.zip")
    first = (tmp_path / "packages.zip").read_bytes()
    assert zipfile.ZipFile(tmp_path / "packages.zip").namelist() == ["handful/balance.py"]
    inpage.pack([package], tmp_path / "packages.zip")
    assert (tmp_path / "packages.zip").read_bytes() == first


def test_without_pyodide_the_build_goes_on_and_pages_offer_nothing(package, tmp_path):
    assert "so pages do not offer Python" in inpage.prepare(
        tmp_path / "nothing", tmp_path / "pyodide", package
    )
    place, size = inpage.publish(tmp_path / "pyodide", tmp_path / "site")
    soup = BeautifulSoup(
        '<html><div class="cell"><div class="cell_input"><pre>1</pre></div></div></html>',
        "html.parser",
    )
    inpage.offer(soup, "", place, size)
    assert soup.select_one("button") is None and not soup.html.has_attr("data-python")


def test_without_a_network_the_build_goes_on(package, tmp_path, monkeypatch):
    npm = tmp_path / "npm"
    npm.mkdir()
    (npm / "pyodide.asm.wasm").write_bytes(b"")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    assert "could not be fetched, so pages do not offer it" in inpage.prepare(
        npm, tmp_path / "pyodide", package
    )


def test_colab_is_told_to_show_widgets(monkeypatch):
    from handful_explorers.balance import balance_against_context

    told = []
    output = types.SimpleNamespace(enable_custom_widget_manager=lambda: told.append(True))
    monkeypatch.setitem(sys.modules, "google.colab", types.SimpleNamespace(output=output))
    balance_against_context.widget()
    assert told
