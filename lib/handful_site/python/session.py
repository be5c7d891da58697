"""The Python that runs a page's cells in the browser: called by worker.js, inside Pyodide.

``run`` takes code and gives outputs.
"""

import ast
import builtins
import contextlib
import html
import importlib
import importlib.util
import io
import json
import linecache
import re
import sys

CELL = "this cell"
ABSENT = {
    "numpy": "NumPy",
    "scipy": "SciPy",
    "matplotlib": "Matplotlib",
    "ipywidgets": "ipywidgets",
    "networkx": "NetworkX",
    "simpy": "SimPy",
    "yaml": "PyYAML",
}
FORMULA = re.compile(r'<(div|span)\b[^>]*\bdata-tex="([^"]*)"[^>]*>.*?</\1>', re.S)

space = {"__name__": "__main__", "__builtins__": builtins}
outputs: list = []


def names(tree, kind):
    """Return the names that code reads (ast.Load) or binds (ast.Store)."""
    found = {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, kind)
    }
    if kind is ast.Store:
        for node in ast.walk(tree):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                found |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
            elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                found.add(node.name)
    return found


def supply(tree, earlier):
    """Bind the names that code reads and that are not defined.

    A name is bound by running the cell above that binds it, else as a module of the book.  So a
    reader may begin with any cell of a page.
    """
    for name in sorted(
        names(tree, ast.Load) - names(tree, ast.Store) - set(space) - set(dir(builtins))
    ):
        for i in reversed(range(len(earlier))):
            try:
                above = ast.parse(earlier[i])
            except SyntaxError:
                continue
            if name in names(above, ast.Store):
                supply(above, earlier[:i])
                with contextlib.redirect_stdout(io.StringIO()):
                    exec(compile(above, "a cell above", "exec"), space)
                break
        else:
            if name.isidentifier() and importlib.util.find_spec(f"handful.{name}"):
                space[name] = importlib.import_module(f"handful.{name}")


def mathml(tex, display=True):
    """Return a formula as MathML."""
    from handful_study.maths import mathml

    return mathml(tex, display)


def show(value):
    """Add a value to the outputs, in the best form that it has."""
    if value is None:
        return
    if hasattr(value, "_repr_html_") and (text := value._repr_html_()) is not None:
        text = FORMULA.sub(
            lambda m: (
                f'<div class="math">{mathml(html.unescape(m[2]))}</div>'
                if m[1] == "div"
                else mathml(html.unescape(m[2]), False)
            ),
            text,
        )
        outputs.append({"kind": "html", "html": text, "text": re.sub(r"<[^>]+>", " ", text)})
    elif tex := latex(value):
        outputs.append(
            {"kind": "html", "html": f'<div class="math">{mathml(tex)}</div>', "text": repr(value)}
        )
    else:
        outputs.append({"kind": "text", "text": repr(value)})


def latex(value):
    """Return the formula of a value, without dollar signs; None where it has none."""
    made = getattr(value, "_repr_latex_", lambda: None)()
    if made is None and isinstance(value, (list, tuple, dict, set)) and "sympy" in sys.modules:
        import sympy

        parts = [*value.keys(), *value.values()] if isinstance(value, dict) else value
        if any(isinstance(part, sympy.Basic) for part in parts):
            made = sympy.latex(value)
    return re.sub(r"^\\displaystyle\s*", "", made.strip().strip("$").strip()) if made else None


class Printed(io.StringIO):
    """A stream that adds what is printed to the outputs, in order."""

    def write(self, text):
        """Add a text to the outputs, and return its length."""
        if outputs and outputs[-1]["kind"] == "text" and outputs[-1].get("printed"):
            outputs[-1]["text"] += text
        else:
            outputs.append({"kind": "text", "text": text, "printed": True})
        return len(text)


def explain(error):
    """Return an exception in a few lines: where in the reader's cell, and what is wrong."""
    package = (error.name or "").split(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    if package in ABSENT:
        return (
            f"This cell needs {ABSENT[package]}, which is not part of the Python "
            "in this page. "
            "The chapter's notebook, in the download menu, runs it."
        )
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    if isinstance(error, SyntaxError) and error.filename == CELL:
        return (
            f"Line {error.lineno}: {(error.text or '').strip()}\n"
            f"{type(error).__name__}: {error.msg}"
        )
    at, trace = None, error.__traceback__
    while trace:
        at = trace.tb_lineno if trace.tb_frame.f_code.co_filename == CELL else at
        trace = trace.tb_next
    return f"Line {at}: {linecache.getline(CELL, at).strip()}\n{what}" if at else what


def run(code, earlier):
    """Run a cell and return its outputs as JSON.

    `earlier` is JSON, the code of the cells above it.
    """
    outputs.clear()
    space["display"] = lambda *values: [show(value) for value in values] and None
    linecache.cache[CELL] = (len(code), None, code.splitlines(True), CELL)
    try:
        tree = ast.parse(code, CELL)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        with contextlib.redirect_stdout(Printed()):
            supply(ast.parse(code), json.loads(earlier))
            exec(compile(tree, CELL, "exec"), space)
            if last is not None:
                show(eval(compile(ast.Expression(last.value), CELL, "eval"), space))
    except BaseException as error:  # SystemExit and the like end a cell, not the page's Python
        outputs.append({"kind": "error", "text": explain(error)})
    return json.dumps(outputs)
