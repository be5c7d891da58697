"""Tests of claims that are not a number.

Each returns what it found, case by case, as {words: whether the claim agrees}.  A test's docstring
is a phrase that the ledger shows after "Tested:".  Nothing here is typed that the package computes:
formulas are compared as SymPy expressions, processes are simulated, deployments read from the
facts.
"""

from __future__ import annotations

from . import budgets, networks, racks, serving, stages

TESTS = {
    name: test
    for room in (serving, racks, stages, budgets, networks)
    for name, test in vars(room).items()
    if getattr(test, "__module__", "") == room.__name__ and not name.startswith("_")
}
