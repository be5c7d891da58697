"""Chapters as ``.ipynb`` files, which nbmake runs and a reader downloads.

The sources are MyST notebooks.  Their text is written out as plain Markdown (notebook_text.py), the
first cell gets the package, and the last one holds the chapter's problems.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from . import wheel
from .notebook_text import citations, relink, to_markdown, written_out

if TYPE_CHECKING:
    from nbformat import NotebookNode

CELL = re.compile(r"^\s*(`{3,}|:{3,}|~{3,})\{code-cell\}", re.M)

# `handful` is a name on a public index that is not ours: nothing here may install by name.
FROM_SITE = """\
# The book's package, from the book's own site; nothing happens where it is installed already.
from importlib.util import find_spec

if find_spec("handful") is None:
    %pip install --quiet "handful[study] @ {address}#sha256={digest}\""""
FROM_FILE = """\
# The book's package is on no public index: its wheel comes from the download \
menu of the page that this notebook
# comes from, and is installed from beside this file.  Nothing happens \
where the package is installed already.
from importlib.util import find_spec
from pathlib import Path

if find_spec("handful") is None:
    if not Path("{name}").exists():
        raise ModuleNotFoundError("Put {name}, from the same download menu, beside this \
notebook, and run this cell again.")
    %pip install --quiet "./{name}[study]\""""


def has_code(text: str) -> bool:
    r"""Check whether a page holds a code cell.

    >>> (
    ...     has_code("# A\n\n```{code-cell} ipython3\n1\n```"),
    ...     has_code("# A\n\n```python\n1\n```"),
    ... )
    (True, False)
    """
    return bool(CELL.search(text))


def first_cell(package: Path, site: str = "") -> str:
    """Return the code that installs the wheel `package`.

    It comes from the site with its hash, or from a file where the site's address is unknown.
    """
    if site:
        return FROM_SITE.format(
            address=f"{site}{wheel.FOLDER}/{package.name}", digest=wheel.digest(package)
        )
    return FROM_FILE.format(name=package.name)


def apart_from_the_site(cells: list[NotebookNode]) -> list[NotebookNode]:
    """Return cells, with a word in the place of each that needs the site's own package.

    That is not in the wheel: it makes what only the scripts of a page can work.

    >>> from nbformat.v4 import new_code_cell as cell
    >>> sources = "from handful_site.extensions import ledger", "ledger.segment(1)", "1 + 1"
    >>> [one.cell_type for one in apart_from_the_site([cell(text) for text in sources])]
    ['markdown', 'markdown', 'code']
    """
    from nbformat.v4 import new_markdown_cell

    names: set[str] = set()
    found = []
    for cell in cells:
        code = cell.source if cell.cell_type == "code" else ""
        asked = re.findall(r"^from handful_site[\w.]* import (.+)$", code, re.M)
        names.update(name.strip() for line in asked for name in line.split(","))
        needs = asked or any(re.search(rf"\b{name}\.", code) for name in names)
        note = "*The page on the site has a part here that needs its scripts.*"
        found.append(new_markdown_cell(note) if needs else cell)
    return found


def problems(page: str) -> tuple[str, str] | None:
    """Return text and code of the cells with a chapter's problems, or None where it has none."""
    from handful_study.problems import problems as known

    ids = [one.id for one in known().values() if one.chapter == page]
    if not ids:
        return None
    listed = "\n".join(f'# practise("{name}")' for name in ids[1:])
    return (
        "## Problems\n\nEach draws numbers of its own, knows the common misconceptions, and shows "
        "the solution for its numbers.\n"
        "Take the mark from the line of another problem to work on it.",
        f'from handful_study.notebook import practise\n\n{listed}\npractise("{ids[0]}")',
    )


def convert(
    book: Path, target: Path, pages: list[str], package: Path, site: str = ""
) -> list[Path]:
    """Write a notebook for each page that holds code, and return them in order.

    A page with code and without a kernelspec would be published with its cells unrun, so it is
    refused.

    Parameters
    ----------
    book : Path
        The folder of sources.
    target : Path
        Where the notebooks go; replaced as a whole.
    pages : list of str
        Page names in reading order.
    package : Path
        The wheel that the first cell installs.
    site : str
        Where the book is published, with a slash at its end; "" where that is unknown.
    """
    import jupytext
    from nbformat.v4 import new_code_cell, new_markdown_cell

    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    texts = {
        page: text for page in pages if has_code(text := (book / f"{page}.md").read_text("utf-8"))
    }
    references, made = citations(book / "references.bib"), []
    for page, text in texts.items():
        notebook = jupytext.reads(text, fmt="md:myst")
        if "kernelspec" not in notebook.metadata:
            raise ValueError(
                f"{page}.md holds code cells but its header names no kernelspec: "
                "copy the header of another chapter."
            )
        notebook.metadata.pop("jupytext", None)
        notebook.cells = apart_from_the_site(notebook.cells)
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                cell.source = relink(
                    to_markdown(written_out(cell.source), site, references), site, texts
                )
        notebook.cells.insert(
            0, new_code_cell(first_cell(package, site), metadata={"tags": ["setup"]})
        )
        if found := problems(page):
            notebook.cells += [new_markdown_cell(found[0]), new_code_cell(found[1])]
        for number, cell in enumerate(notebook.cells):
            cell["id"] = f"cell-{number}"
        path = target / f"{page.replace('/', '-')}.ipynb"
        jupytext.write(notebook, path, fmt="ipynb")
        made.append(path)
    return made
