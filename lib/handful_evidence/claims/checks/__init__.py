"""Tests of claims that are not a number.

Each returns what it found, case by case, as {words: whether the claim agrees}.  A test's docstring
is a phrase that the ledger shows after "Tested:".  Nothing here is typed that the package computes:
formulas are compared as SymPy expressions, processes are simulated, deployments read from the
facts.
"""

from __future__ import annotations

from . import budgets, networks, pipelines, racks, serving

TESTS = {
    name: test
    for module in (serving, racks, pipelines, budgets, networks)
    for name, test in vars(module).items()
    if getattr(test, "__module__", "") == module.__name__ and not name.startswith("_")
}
