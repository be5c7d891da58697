"""Code cells that only name a formula: a page shows the equation without the line that asks for it.

Python in the page (``python/cells.js``) brings the code back, notebooks have it in any case, and
editions for paper and e-readers leave it out.
"""

from __future__ import annotations

import ast

from bs4 import Tag

from .elements import classes, set_classes

NAMES_FORMULA = "names-formula"


def only_names(source: str) -> bool:
    r"""Return whether a cell imports and names one thing, or solves it for an input, and no more.

    >>> only_names("from handful import latency\n\nlatency.kv_time")
    True
    >>> only_names("latency.kv_time.derivation"), only_names('latency.kv_time.solve("batch")')
    (True, True)
    >>> only_names("x = 1\nx"), only_names("latency.kv_time(batch=2)"), only_names("import json")
    (False, False, False)
    """
    try:
        lines = [
            line
            for line in ast.parse(source).body
            if not isinstance(line, (ast.Import, ast.ImportFrom))
        ]
    except SyntaxError:  # a command of IPython
        return False
    if len(lines) != 1 or not isinstance(lines[0], ast.Expr):
        return False
    named = lines[0].value
    if isinstance(named, ast.Call) and isinstance(named.func, ast.Attribute):
        if named.func.attr != "solve" or not all(isinstance(a, ast.Constant) for a in named.args):
            return False
        named = named.func
    while isinstance(named, ast.Attribute):
        named = named.value
    return isinstance(named, ast.Name)


def hide(root: Tag) -> None:
    """Hide the code of cells that only name what their output shows."""
    for cell in root.select("div.cell"):
        code, shown = cell.select_one(".cell_input"), cell.select_one(".cell_output")
        if code and shown and only_names(code.get_text()):
            code["hidden"] = ""
            set_classes(code, [*classes(code), NAMES_FORMULA])
