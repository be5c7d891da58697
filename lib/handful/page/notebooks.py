"""Chapters as ``.ipynb`` files: what nbmake runs and what a reader downloads.

The sources are MyST notebooks.  Roles that only the site can resolve ({live}, {lecture}, …) are written out as the
text that they show, so that the notebook reads well in JupyterLab, whatever extension is there or not.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

CELL = re.compile(r"^\s*(`{3,}|:{3,}|~{3,})\{code-cell\}", re.M)
ROLE = re.compile(r"\{(live|lecture|spoken|given|fact|claim)\}(`+)(.+?)\2", re.S)


def has_code(text: str) -> bool:
    """Whether a page holds a code cell.

    >>> has_code("# A\\n\\n```{code-cell} ipython3\\n1\\n```"), has_code("# A\\n\\n```python\\n1\\n```")
    (True, False)
    """
    return bool(CELL.search(text))


def plain(text: str) -> str:
    """Resolve the book's own roles to text and links.

    >>> plain("see {lecture}`9:40` for {spoken}`2,400`")
    'see [9:40](https://www.youtube.com/watch?v=xmkSf5IS-zw&t=580s) for 2,400'
    >>> plain("once {claim}`batch-is-2400`")
    'once (✗ wrong)'
    """
    from . import roles

    def resolve(found: re.Match) -> str:
        role, body = found[1], " ".join(found[3].split())
        if role == "lecture":
            return f"[{body}]({roles.lecture_address(body)})"
        if role == "live":
            return roles.live(body)["text"]
        if role == "claim":
            return f"({roles.claim(body)['text']})"
        return roles.fact(body)["text"] if role == "fact" else body

    return ROLE.sub(resolve, text)


def convert(book: Path, target: Path, pages: list[str]) -> list[Path]:
    """Write a notebook for each page that holds code; returns them in order.

    A page with code and without a kernelspec would be published with its cells unrun, so it is refused.
    """
    import jupytext

    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    made = []
    for page in pages:
        source = book / f"{page}.md"
        text = source.read_text("utf-8")
        if not has_code(text):
            continue
        notebook = jupytext.reads(text, fmt="md:myst")
        if "kernelspec" not in notebook.metadata:
            raise ValueError(f"{source.name} holds code cells but its header names no kernelspec: "
                             "copy the header of another chapter.")
        notebook.metadata.pop("jupytext", None)
        for number, cell in enumerate(notebook.cells):
            cell["id"] = f"cell-{number}"
            if cell.cell_type == "markdown":
                cell.source = plain(cell.source)
        path = target / f"{page.replace('/', '-')}.ipynb"
        jupytext.write(notebook, path, fmt="ipynb")
        made.append(path)
    return made
