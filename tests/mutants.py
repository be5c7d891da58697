"""Change the formulas one small step at a time, and see that the tests notice: ``make mutants [MODULE=latency …]``.

Of each module of mathematics, every number, sign, operator, maximum and comparison in turn is changed; a mutant that
the module's own tests and doctests let pass is printed with its line.  Those that are left, and why each of them is
no fault of the tests, stand in ``tests/survivors.txt``; a survivor that is not there makes the command fail.

Tools that mutate functions do not reach formulas, which are expressions at the top of a module; hence these lines.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import shutil
import signal
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "lib" / "handful"
MODULES = ("latency", "balance", "sparsity", "overtraining", "chinchilla", "pipelining", "experts", "prices", "tiers",
           "memory_wall", "reversible", "ciphers", "validation")
LONGEST = 90  # seconds for the tests of one mutant
SWAPS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
         ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}
NAMES = {"Max": "Min", "Min": "Max", "max": "min", "min": "max", "floor": "ceiling", "ceiling": "floor"}


def changes(tree: ast.AST):
    """Yield (line, words, undo) with the tree changed in one place; undo puts it back."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            old, node.value = node.value, node.value + 1
            yield node.lineno, f"{old} → {node.value}"
            node.value = old
        elif isinstance(node, ast.BinOp) and type(node.op) in SWAPS:
            old, node.op = node.op, SWAPS[type(node.op)]()
            yield node.lineno, f"{type(old).__name__} → {type(node.op).__name__} in {ast.unparse(node)[:60]}"
            node.op = old
        elif isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in SWAPS:
            old, node.ops[0] = node.ops[0], SWAPS[type(node.ops[0])]()
            yield node.lineno, f"{type(old).__name__} → {type(node.ops[0]).__name__} in {ast.unparse(node)[:60]}"
            node.ops[0] = old
        elif isinstance(node, ast.Name) and node.id in NAMES and isinstance(node.ctx, ast.Load):
            old, node.id = node.id, NAMES[node.id]
            yield node.lineno, f"{old} → {node.id}"
            node.id = old


def survives(module: str, source: str) -> bool:
    """Whether the tests of `module` pass with `source` in its place."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "handful"
        shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "page/*.js"))
        (copy / f"{module}.py").write_text(source, "utf-8")
        child = os.fork()
        if child == 0:
            sys.path.insert(0, folder)
            signal.alarm(LONGEST)                             # a mutant that runs for ever has been noticed
            import pytest

            with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(io.StringIO()):
                options = ["-x", "-q", "-o", f"pythonpath={folder}", "-o", "cache_dir=" + folder, "--rootdir", str(ROOT)]
                own = [ROOT / f"tests/test_{module}.py", copy / f"{module}.py"]
                # Then what holds for every formula: that its derivation ends in it.
                code = pytest.main([*options, *map(str, own)]) or pytest.main([*options, str(ROOT / "tests/test_derivation.py")])
            os._exit(0 if code == 0 else 1)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def mutants(module: str) -> list[tuple[str, str]]:
    """(words, source) of each mutant of a module."""
    tree = ast.parse((PACKAGE / f"{module}.py").read_text("utf-8"))
    lines = (PACKAGE / f"{module}.py").read_text("utf-8").splitlines()
    return [(f"{module}: {words}  |  {lines[line - 1].strip()}", ast.unparse(tree)) for line, words in changes(tree)]


def main(names: list[str]) -> int:
    # Threads of the linear algebra do not survive a fork.
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")
    import hypothesis  # noqa: F401  (loaded before the forks, so that each mutant need not)
    import numpy  # noqa: F401
    import scipy.optimize  # noqa: F401
    import scipy.stats  # noqa: F401
    import sympy  # noqa: F401

    unknown = [name for name in names if name not in MODULES]
    if unknown:
        print(f"There is no module of mathematics {unknown[0]!r}; there are {', '.join(MODULES)}.", file=sys.stderr)
        return 2
    kept = (ROOT / "tests/survivors.txt").read_text("utf-8").splitlines()
    known, new, count = {line for line in kept if "  |  " in line}, [], 0
    with ProcessPoolExecutor(2, mp_context=get_context("fork")) as pool:
        for name in names or MODULES:
            jobs = {pool.submit(survives, name, source): words for words, source in mutants(name)}
            alive = []
            for done, job in enumerate(as_completed(jobs), 1):
                alive += [jobs[job]] if job.result() else []
                if done % 25 == 0 or done == len(jobs):
                    print(f"{name}: {done} of {len(jobs)} mutants, {len(alive)} survive", flush=True)
            count += len(jobs)
            new += [words for words in alive if words not in known]
    print(f"{count} mutants; survivors without an explanation: {len(new)}")
    print("\n".join(new))
    return 1 if new else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
