"""Every chapter with code becomes a notebook, and every notebook runs from top to bottom."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

import pytest
import yaml

from handful.page.build import NOTEBOOKS, ROOT, chapters
from handful.page.notebooks import has_code

pytestmark = pytest.mark.site
PARTS = 8


def pages_with_code() -> list[str]:
    """By looking into every source in book/, whether the contents list it or not."""
    sources = sorted((ROOT / "book").rglob("*.md"))
    return [p.relative_to(ROOT / "book").with_suffix("").as_posix() for p in sources if has_code(p.read_text("utf-8"))]


def test_one_notebook_for_each_page_with_code():
    made = sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb"))
    assert made == sorted(page.replace("/", "-") for page in pages_with_code()) and made


def test_every_page_is_in_the_contents():
    listed = chapters(yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8")))
    assert set(pages_with_code()) <= set(listed)


def test_roles_are_resolved():
    """A notebook is read where the book's roles mean nothing."""
    for path in NOTEBOOKS.glob("*.ipynb"):
        assert not re.search(r"\{(live|lecture|spoken|fact)\}`", path.read_text("utf-8")), path.name


@pytest.mark.parametrize("part", list(range(PARTS)))
def test_notebooks_run(tmp_path, part):
    """nbmake passes over folders named _build, hence the copy; what it ran is counted.

    In parts, so that all workers have their share; the largest first, each to another part.
    """
    mine = sorted(NOTEBOOKS.glob("*.ipynb"), key=lambda path: (-path.stat().st_size, path.name))[part::PARTS]
    for path in mine:
        shutil.copy(path, tmp_path)
    done = subprocess.run([sys.executable, "-m", "pytest", "--nbmake", "--nbmake-timeout=300", "-q", "-p", "no:cacheprovider",
                           "-c", "/dev/null", "--rootdir", str(tmp_path), str(tmp_path)],
                          capture_output=True, text=True, timeout=1200)
    passed = re.search(r"(\d+) passed", done.stdout)
    assert done.returncode == 0, done.stdout[-6000:]
    assert int(passed[1]) == len(mine) > 0
