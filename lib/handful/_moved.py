"""Modules of the last edition under their old names, for one edition.

Whoever imports one gets the module that has its content now, and a sentence that says so.

>>> import warnings
>>> with warnings.catch_warnings(record=True) as said:
...     warnings.simplefilter("always")
...     from handful.formula import Formula
>>> print(said[0].message)
handful.formula is now handful.symbolic.formula; the old name goes with the next edition.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

SYMBOLIC = (
    "derivation",
    "dimensions",
    "formula",
    "printing",
    "quantities",
    "quantity",
    "uncertainty",
)
EVIDENCE = ("calculators", "claims", "estimate", "measure", "measured", "measured_pipelines")
# The longest that fits counts: what lies below an old name lies below the new one.
MOVED = {
    "handful.ask": "handful.query",
    "handful.tree": "handful.symbolic.expression_tree",
    "handful.written": "handful.symbolic.parse_quantity",
    "handful.simulate": "handful_evidence.simulate",
    "handful.validation": "handful_evidence.validation",
    "handful.bills": "handful.price_surcharges",
    "handful.passes": "handful.prefill_decode",
    "handful.stages": "handful.multi_rack_pipelines",
    "handful.lifetime": "handful.lifetime_cost",
    "handful.reversible_networks": "handful_evidence.simulate.reversible_networks",
    "handful.nudges": "handful.perturbation_growth",
    "handful.explorers": "handful_explorers",
    "handful.explorers.stages": "handful_explorers.multi_rack_pipelines",
    "handful.notation": "handful_explorers.tables.notation",
    "handful.page.tables": "handful_explorers.tables",
    "handful.exercises": "handful_study",
    "handful.classroom.student": "handful_study.student",
    **{f"handful.{name}": f"handful.symbolic.{name}" for name in SYMBOLIC},
    **{f"handful.{name}": f"handful_evidence.{name}" for name in EVIDENCE},
}
PARENTS = ("handful.page", "handful.classroom")  # they hold nothing else any more


def now(name: str) -> str:
    """Return where a module of the last edition is now; "" where it is none.

    >>> now("handful.explorers.latency"), now("handful.latency")
    ('handful_explorers.latency', '')
    """
    for old in sorted(MOVED, key=len, reverse=True):
        if name == old or name.startswith(f"{old}."):
            return MOVED[old] + name.removeprefix(old)
    return ""


class _Old(ModuleType):
    """A module under its old name; what it holds is looked up in the new one."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(importlib.import_module(now(self.__name__)), name)


class _Finder(MetaPathFinder, Loader):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not (now(fullname) or fullname in PARENTS):
            return None
        return ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Old(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        if new := now(module.__name__):
            importlib.import_module(new)
            warnings.warn(
                f"{module.__name__} is now {new}; the old name goes with the next edition.",
                DeprecationWarning,
                stacklevel=2,
            )


def old_formulas(module: str, renamed: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a module's ``__getattr__``, by which formulas answer to names of the last edition.

    >>> import handful.balance
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     handful.balance.machine_balance.name
    'weight_uses_at_balance'
    """

    def get(name: str) -> Any:
        if name not in renamed:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        short = module.rpartition(".")[2]
        warnings.warn(
            f"{short}.{name} is now {short}.{renamed[name]}; the old name goes with the next "
            "edition.",
            DeprecationWarning,
            stacklevel=2,
        )
        return getattr(sys.modules[module], renamed[name])

    return get


def install() -> None:
    """Let old names be imported; real modules of the same name come first."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())
