"""Every chapter with code becomes a notebook, and every notebook runs from top to bottom."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys

import nbformat
import pytest
import yaml

from handful_site.build import NOTEBOOKS, ROOT, SITE, WHEELS, chapters
from handful_site.notebooks import first_cell, has_code

pytestmark = pytest.mark.site
PARTS = 4


def pages_with_code() -> list[str]:
    """Return the pages with code of all sources in book/, whether the contents list them or not."""
    sources = sorted((ROOT / "book").rglob("*.md"))
    return [
        p.relative_to(ROOT / "book").with_suffix("").as_posix()
        for p in sources
        if has_code(p.read_text("utf-8"))
    ]


def test_one_notebook_for_each_page_with_code():
    made = sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb"))
    assert made == sorted(page.replace("/", "-") for page in pages_with_code()) and made


def test_every_page_is_in_the_contents():
    listed = chapters(yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8")))
    assert set(pages_with_code()) <= set(listed)


def test_roles_are_resolved():
    """A notebook is read where the book's roles mean nothing."""
    for path in NOTEBOOKS.glob("*.ipynb"):
        assert not re.search(
            r"\{(live|lecture|spoken|fact|given|claim|cite|count)\}`", path.read_text("utf-8")
        ), path.name


def test_text_is_plain_markdown():
    """The text has no directive, no definition list, and no dollar sign before a price.

    Such a dollar sign would begin a formula.
    """
    for path in NOTEBOOKS.glob("*.ipynb"):
        text = "\n".join(
            cell.source
            for cell in nbformat.read(path, as_version=4).cells
            if cell.cell_type == "markdown"
        )
        assert not re.search(
            r"^\s*(:{3,}|`{3,}\{)|^: |^\([\w-]+\)=|(?<!\\)\$\d+(\.\d+)? per", text, re.M
        ), path.name


def test_no_notebook_installs_by_name():
    """The name is not ours on a public index: a file, or the site's address with a hash."""
    package = next(WHEELS.glob("*.whl"))
    assert f'%pip install --quiet "./{package.name}[study]"' in first_cell(package)
    hashed = hashlib.sha256(package.read_bytes()).hexdigest()
    assert f"https://example.org/_static/wheels/{package.name}#sha256={hashed}" in first_cell(
        package, "https://example.org/"
    )
    for path in NOTEBOOKS.glob("*.ipynb"):
        code = [
            cell.source
            for cell in nbformat.read(path, as_version=4).cells
            if cell.cell_type == "code"
        ]
        lines = [
            line for line in "\n".join(code).split("\n") if re.search(r"\bpip3? install", line)
        ]
        assert len(lines) == 1 and lines[0] in code[0], path.name
        assert re.fullmatch(
            r'    %pip install --quiet "(\./\S+\.whl\[study\]|handful\[study\] @ '
            r'https?://\S+#sha256=[0-9a-f]{64})"',
            lines[0],
        ), path.name


def test_the_package_lies_beside_the_notebooks():
    page = (SITE / "balance-batch.html").read_text("utf-8")
    package = next(WHEELS.glob("*.whl"))
    assert (
        f'href="_static/wheels/{package.name}"' in page
        and 'href="_sources/balance-batch.ipynb"' in page
    )
    assert (SITE / "_static/wheels" / package.name).read_bytes() == package.read_bytes()


@pytest.mark.parametrize("part", list(range(PARTS)))
def test_notebooks_run(tmp_path, part):
    """Nbmake passes over folders named _build, hence the copy; what it ran is counted.

    In parts, so that all workers have their share; the largest first, each to another part.
    """
    mine = sorted(NOTEBOOKS.glob("*.ipynb"), key=lambda path: (-path.stat().st_size, path.name))[
        part::PARTS
    ]
    for path in mine:
        shutil.copy(path, tmp_path)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "--nbmake",
            "--nbmake-timeout=300",
            "-q",
            "-p",
            "no:cacheprovider",
            "-c",
            "/dev/null",
            "--rootdir",
            str(tmp_path),
            str(tmp_path),
        ],
        capture_output=True,
        text=True,
        timeout=1200,
    )
    passed = re.search(r"(\d+) passed", done.stdout)
    assert done.returncode == 0, done.stdout[-6000:]
    assert int(passed[1]) == len(mine) > 0
