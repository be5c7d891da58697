"""Mutation tests of the formulas: ``make mutants [MODULE=latency …]``.

In each module of mathematics every number, sign, operator, maximum and comparison is changed in
turn, one small step at a time; a mutant that the module's own tests and doctests let pass is
printed with its line. The known survivors, with the reason why each is no fault of the tests, are
listed in ``tests/survivors.txt``; a survivor that is not listed makes the command fail.

Tools that mutate functions do not reach formulas, which are expressions at the top of a module;
hence this module.
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import gc
import importlib
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from importlib.machinery import SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = ROOT / "lib"
MODULES = (
    "latency",
    "balance",
    "sparsity",
    "matmul",
    "chip",
    "overtraining",
    "chinchilla",
    "lifetime_cost",
    "pipelining",
    "racks",
    "multi_rack_pipelines",
    "experts",
    "prices",
    "prefill_decode",
    "service_levels",
    "speculative_decoding",
    "fleet_cost",
    "price_surcharges",
    "tiers",
    "memory_wall",
    "reversible",
    "training_memory",
    "reliability",
    "perturbation_growth",
    "ciphers",
    "queueing",
    "serving",
    "collectives",
    "sharding",
    "handful_evidence.price_lists",
    "handful_evidence.measured_racks",
    "handful_evidence.published_tokens",
    "handful_evidence.validation",
)
# Nobody reads what a failed test says, and what test files themselves would do as doctests is
# nothing.
QUICK = [
    "-q",
    "--tb=no",
    "--assert=plain",
    "-p",
    "no:unraisableexception",
    "-p",
    "no:threadexception",
    "-o",
    "addopts=--import-mode=importlib --strict-markers",
]
JOBS = int(os.environ.get("JOBS", 2))  # mutants at a time
LONGEST = 90  # seconds of a processor for the tests of one mutant
TESTS = {
    "balance": ("balance", "latency", "train"),
    "sparsity": ("latency",),
    "serving": ("serving", "validation"),
    "handful_evidence.price_lists": ("prices",),
    "handful_evidence.measured_racks": ("racks",),
    "handful_evidence.published_tokens": ("overtraining",),
}  # where they are not in a file of the same name
SWAPS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}
NAMES = {
    "Max": "Min",
    "Min": "Max",
    "max": "min",
    "min": "max",
    "floor": "ceiling",
    "ceiling": "floor",
}


def owners(tree: ast.Module) -> dict[ast.AST, str]:
    """Return the name of the function, class or value of the module that each node is part of."""
    found = {}
    for statement in tree.body:
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            name = statement.name
        elif isinstance(statement, ast.Assign):
            name = ast.unparse(statement.targets[0])
        elif isinstance(statement, ast.AnnAssign):
            name = ast.unparse(statement.target)
        else:
            name = "module"
        found |= dict.fromkeys(ast.walk(statement), name)
    return found


def changes(tree: ast.Module):
    """Yield (owner, words) with the tree changed in one place, and put it back after."""
    names = owners(tree)
    for node in ast.walk(tree):
        name = names.get(node, "module")
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            # One more; a third more where one is nothing.
            old, node.value = (
                node.value,
                node.value + 1 if node.value < 100 else node.value * 4 // 3,
            )
            yield name, f"{old} → {node.value}"
            node.value = old
        elif isinstance(node, ast.BinOp) and type(node.op) in SWAPS:
            old, node.op = node.op, SWAPS[type(node.op)]()
            yield (
                name,
                f"{type(old).__name__} → {type(node.op).__name__} in {ast.unparse(node)[:60]}",
            )
            node.op = old
        elif isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in SWAPS:
            old, node.ops[0] = node.ops[0], SWAPS[type(node.ops[0])]()
            yield (
                name,
                f"{type(old).__name__} → {type(node.ops[0]).__name__} in {ast.unparse(node)[:60]}",
            )
            node.ops[0] = old
        elif isinstance(node, ast.Name) and node.id in NAMES and isinstance(node.ctx, ast.Load):
            old, node.id = node.id, NAMES[node.id]
            yield name, f"{old} → {node.id}"
            node.id = old


def full_name(module: str) -> str:
    """Return the name to import; one without a package is an equation's."""
    return module if "." in module else f"handful.{module}"


def source_of(module: str) -> Path:
    """Return the file of a module."""
    return (LIBRARY / Path(*full_name(module).split("."))).with_suffix(".py")


class Mutant(SourceFileLoader):
    """A finder and loader that takes one module from other source than its file's.

    Everything else is imported as it is.
    """

    def __init__(self, module: str, source: str) -> None:
        super().__init__(full_name(module), str(source_of(module)))
        self.source = source

    def find_spec(self, name, path=None, target=None):
        return spec_from_file_location(name, self.path, loader=self) if name == self.name else None

    def get_code(self, fullname):
        return compile(self.source, self.path, "exec")


class Order:
    """The order of the test files: those that noticed a mutant latest, then the quick ones.

    A file hands it on to the next mutant.
    """

    def __init__(self, notes: Path) -> None:
        self.notes = notes
        lines = (line.split(" ", 1) for line in notes.read_text("utf-8").splitlines())
        self.ranks = {name: float(rank) for rank, name in lines}

    def note(self, rank: float, name: str) -> None:
        with self.notes.open("a", encoding="utf-8") as file:
            file.write(f"{rank} {name}\n")

    def pytest_collection_modifyitems(self, items) -> None:
        items.sort(key=lambda item: self.ranks.get(item.nodeid, 0))

    def pytest_runtest_logreport(self, report) -> None:
        if report.failed:
            self.note(-time.time(), report.nodeid)
        elif report.when == "call" and report.nodeid not in self.ranks:
            self.note(report.duration, report.nodeid)


def tested(module: str, source: str, notes: Path) -> int:
    """Run the tests of `module` with `source` in its place; return 0 if they pass.

    They run in a process of their own.
    """
    # A mutant that runs for ever has been noticed; one that waits for a busy machine has not.
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
    sys.meta_path.insert(0, Mutant(module, source))
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
        import pytest

        def fails(*names: str) -> int:
            files = [str(path) for name in names for path in ROOT.glob(f"tests/*/test_{name}.py")]
            return pytest.main(
                ["-x", *QUICK, "--rootdir", str(ROOT), *files], plugins=[Order(notes)]
            )

        if fails(*tests_of(module)):
            return 1
        flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
        if doctest.testmod(importlib.import_module(full_name(module)), optionflags=flags).failed:
            return 1
        # Then what holds for every formula: that its derivation reaches it.
        return fails("derivation")


def tests_of(module: str) -> tuple[str, ...]:
    """Return the names of a module's tests, without "test_"."""
    return TESTS.get(module, (module.rpartition(".")[2],))


def start(module: str, source: str, notes: Path) -> int:
    pid = os.fork()
    if pid == 0:
        code = 1
        with contextlib.suppress(BaseException):
            code = int(tested(module, source, notes))
        os._exit(code)
    return pid


def survivors(module: str, folder: str) -> tuple[int, list[str]]:
    """Return how many mutants a module has, and those that its tests let pass.

    JOBS run at a time.
    """
    notes = Path(folder) / module
    notes.touch()
    # Unchanged it has to pass, or every mutant would count as noticed.
    start(module, source_of(module).read_text("utf-8"), notes)
    if os.wait()[1]:
        sys.exit(f"The tests of {module} do not pass as they are.")
    todo, running, alive = mutants(module), {}, []
    for done in range(len(todo) + 1):
        if done < len(todo):
            words, source = todo[done]
            running[start(module, source, notes)] = words
        while len(running) >= (JOBS if done < len(todo) else 1):
            pid, status = os.wait()
            words = running.pop(pid)
            if status == 0:
                alive.append(words)
                print(words, flush=True)
        if done % 25 == 0 or done == len(todo):
            print(f"{module}: {done} of {len(todo)} mutants, {len(alive)} survive", flush=True)
    return len(todo), alive


def mutants(module: str) -> list[tuple[str, str]]:
    """Return (words, source) of each mutant of a module.

    Mutants of equal words are numbered, because one would otherwise hide another.
    """
    tree = ast.parse(source_of(module).read_text("utf-8"))
    found, often = [], Counter()
    for owner, change in changes(tree):
        words = f"{module}: {change}  |  {owner}"
        often[words] += 1
        found.append(
            (words if often[words] == 1 else f"{words}  [{often[words]}]", ast.unparse(tree))
        )
    return found


def main(names: list[str]) -> int:
    # Threads of the linear algebra do not survive a fork.
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")
    # What plugins there are is looked up once a mutant and takes longer than most tests.
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    sys.path.insert(0, str(LIBRARY))
    import hypothesis  # noqa: F401  (loaded before the forks, so that each mutant need not)
    import numpy  # noqa: F401
    import pytest  # noqa: F401
    import scipy.optimize
    import scipy.stats  # noqa: F401
    import sympy

    import handful.symbolic.derivation
    import handful.symbolic.formula
    import handful.symbolic.quantities
    import handful.units  # noqa: F401

    # A sum of letters, and a function made of it, load a third of SymPy.
    a, b = sympy.symbols("a b")
    sympy.lambdify((a, b), sympy.solve(a + b - 1, a)[0])(1, 2)
    gc.freeze()
    if loaded := [name for name in MODULES if full_name(name) in sys.modules]:
        sys.exit(f"{loaded[0]} was loaded before it could be changed.")
    unknown = [name for name in names if name not in MODULES]
    if unknown:
        print(
            f"There is no module of mathematics {unknown[0]!r}; there are {', '.join(MODULES)}.",
            file=sys.stderr,
        )
        return 2
    for name in names or MODULES:
        for test in tests_of(name):
            if not list(ROOT.glob(f"tests/*/test_{test}.py")):
                sys.exit(f"{name} has no tests: there is no test_{test}.py; see TESTS.")
    kept = (ROOT / "tests/survivors.txt").read_text("utf-8").splitlines()
    known, new, count = {line for line in kept if "  |  " in line}, [], 0
    there = {words for name in names or MODULES for words, _ in mutants(name)}
    if gone := [
        line for line in known if line.split(":")[0] in (names or MODULES) and line not in there
    ]:
        sys.exit(f"survivors.txt lists what is no mutant any more: {gone[0]}")
    with tempfile.TemporaryDirectory() as folder:
        for name in names or MODULES:
            tried, alive = survivors(name, folder)
            count += tried
            new += [words for words in alive if words not in known]
    print("\n".join([f"{count} mutants; survivors without an explanation: {len(new)}", *new]))
    return 1 if new else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
