"""A formula: one expression that is called, solved, shown, exported and differentiated.

>>> from handful.symbolic import quantities as q
>>> drain = Formula(
...     q.drain_time,
...     q.memory_capacity.symbol / q.memory_bandwidth.symbol,
...     name="doctest_drain",
...     meaning="time to read the whole memory",
...     source="definition",
...     register=False,
... )
>>> round(drain(memory_capacity=80e9, memory_bandwidth=3.35e12) * 1e3, 1)  # an H100: milliseconds
23.9
>>> drain.latex().startswith("t_{")
True
>>> drain(memory_capacity=80e9, memory_bandwidth=0)
Traceback (most recent call last):
...
handful.symbolic.quantity.QuantityError: memory_bandwidth must be above 0 (in byte/(time·device));
got 0.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any, overload

import sympy
from sympy.printing.numpy import NumPyPrinter
from sympy.printing.pycode import PythonCodePrinter

from ..nearest import nearest
from .dimensions import NONE, DimensionError, dimension_of
from .expression_tree import Tree, to_tree
from .printing import Latex
from .quantities import PARTS, Quantity, QuantityError, dimension_of_symbol, find, table
from .solving import FormulaError, invert, verify

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from .derivation import Derivation
    from .uncertainty import Spread

registry: dict[str, Formula] = {}

# A dense model, as a mixture of experts: what its formulas take where the caller names none of it.
DENSE = {"routed_parameters": 0, "experts": 1, "active_experts": 1}


class _NumPy(NumPyPrinter):
    """A printer of NumPy code with maxima and minima as chains of two-argument calls.

    SymPy's own amax((a, b)) stacks copies and does not broadcast.
    """

    def _print_Max(self, expr: sympy.Max) -> str:
        printed: list[str] = [self._print(arg) for arg in expr.args]
        return reduce(lambda a, b: f"numpy.maximum({a}, {b})", printed)

    def _print_Min(self, expr: sympy.Min) -> str:
        printed: list[str] = [self._print(arg) for arg in expr.args]
        return reduce(lambda a, b: f"numpy.minimum({a}, {b})", printed)


class Formula:
    """One quantity given by an expression in others.

    Parameters
    ----------
    gives : Quantity
        What the formula computes.
    expression : sympy expression in the symbols of quantities
        Checked for dimension when the formula is made: it must have that of `gives`.
    meaning, source : str
        One line each; the source is a time in the lecture ("3:20"), a paper, or "derived".
    conventions : sequence of str
        What has to hold for the number to mean what it says.
    known_as : sequence of str
        What else people call it, such as "TPOT"; `handful.search` finds it by these too.
    using : sequence of Formula
        Formulas whose results stand in `expression` as symbols; `expanded` has them filled in.
    derivation : callable, optional
        Returns the Derivation; called when somebody asks, since algebra takes time.
    """

    def __init__(
        self,
        gives: Quantity,
        expression: sympy.Expr,
        *,
        meaning: str,
        source: str,
        name: str | None = None,
        conventions: Iterable[str] = (),
        known_as: Iterable[str] = (),
        using: Iterable[Formula] = (),
        derivation: Callable[[], Derivation] | None = None,
        register: bool = True,
    ) -> None:
        self.name = name or gives.name
        self.gives = gives
        self.expression = sympy.sympify(expression)
        self.meaning = meaning
        self.source = source
        self.conventions = tuple(conventions)
        self.known_as = tuple(known_as)
        self.module: str = sys._getframe(1).f_globals["__name__"]  # where it is imported from
        self.using = tuple(using)
        self._derivation = derivation
        if not meaning or not source:
            raise FormulaError(f"{self.name} needs a meaning and a source.")
        found = dimension_of(self.expression, dimension_of_symbol)
        if found != gives.dimension:
            raise DimensionError(
                f"{self.name} should be a {gives.dimension}, but {self.expression} is a {found}."
            )
        if register:
            if self.name in registry:
                raise FormulaError(
                    f"A formula named {self.name} exists already; give this one another name."
                )
            registry[self.name] = self

    def __repr__(self) -> str:
        return f"<Formula {self.name}: {self.gives.name} = {self.expression}>"

    # Filled in when first asked for: SymPy takes a while to put one maximum into another, and a
    # first number should not wait for forty formulas.

    @cached_property
    def expanded(self) -> sympy.Expr:
        """Return the expression in inputs alone, with the formulas of `using` filled in."""
        return self.expression.xreplace({f.gives.symbol: f.expanded for f in self.using})

    @cached_property
    def inputs(self) -> tuple[Quantity, ...]:
        """Return the quantities in the expanded expression, in the order of the table."""
        found = self.expanded.free_symbols
        return tuple(q for q in table.values() if q.symbol in found)

    @cached_property
    def _parts(self) -> list[tuple[int, int]]:
        return [
            (self.inputs.index(part), self.inputs.index(whole))
            for part, whole in PARTS
            if part in self.inputs and whole in self.inputs
        ]

    # Numbers

    # Scalars give a float and arrays an array.  The values of most mappings are of any type, and
    # then the type of the result is not known.
    @overload
    def __call__(
        self, known: Mapping[str, float | str | None] | None = None, /, **values: float | str | None
    ) -> float: ...

    @overload
    def __call__(self, known: Mapping[str, Any] | None = None, /, **values: Any) -> Any: ...

    def __call__(self, known: Mapping[str, Any] | None = None, /, **values: Any) -> Any:
        """Compute the value, in SI units, for scalars or arrays that broadcast.

        `known` is a mapping such as a Scenario; what the formula does not use is passed over.
        Keywords win over it, and must be inputs of this formula.
        """
        merged = dict(known) if known else {}
        if values:
            names = {q.name for q in self.inputs}
            for name in values:
                if name not in names and name not in table:
                    raise FormulaError(
                        f"{self.name} has no input {name!r}; the nearest are: "
                        f"{nearest(name, sorted(names))}."
                    )
                if name not in names and not known:
                    raise FormulaError(
                        f"{self.name} does not depend on {name}; it takes "
                        f"{', '.join(sorted(names))}."
                    )
            merged.update(values)
        arguments = []
        self._assume_dense(merged)
        for q in self.inputs:
            value = merged.get(q.name, q.default)
            if value is None:
                raise FormulaError(f"{self.name} needs {q.name} ({q.meaning}).")
            arguments.append(q.check(value))
        for part, whole in self._parts:
            over = arguments[part] > arguments[whole]
            if over if isinstance(over, bool) else over.any():
                raise QuantityError(
                    f"{self.inputs[part].name} must be at most {self.inputs[whole].name} "
                    f"({arguments[whole]}); got {arguments[part]}."
                )
        if all(isinstance(a, (int, float)) for a in arguments):
            try:
                return float(self._scalar(*map(float, arguments)))
            except (
                ZeroDivisionError,
                OverflowError,
            ):  # out of reach, beyond max(0, …) say: infinite, or 0/0
                import numpy as np

                with np.errstate(all="ignore"):
                    return float(self._array(*map(np.float64, arguments)))
        import numpy as np

        with np.errstate(
            divide="ignore", over="ignore", invalid="ignore"
        ):  # as for scalars: infinite, or 0/0
            return self._array(*(np.asarray(a, dtype=float) for a in arguments))

    def _assume_dense(self, values: dict[str, Any]) -> None:
        """Fill in what a dense model has in the place of experts, where nothing says otherwise.

        Raises FormulaError where a model that is not dense lacks them.
        """
        routed = values.get("routed_parameters")
        none = routed is None or (isinstance(routed, (int, float)) and routed == 0)
        if not (self._of_experts and none):
            return
        named = [name for name in DENSE if values.get(name) is not None]
        active, total = (values.get(f"{kind}_parameters") for kind in ("active", "total"))
        if not named and self._sparse(active, total):
            raise FormulaError(
                f"{self.name} needs {', '.join(DENSE)} too: with fewer active than total "
                "parameters the model is a mixture of experts."
            )
        if not named or "routed_parameters" in named:
            values.update({name: value for name, value in DENSE.items() if name not in named})

    @staticmethod
    def _sparse(active: Any, total: Any) -> bool:
        if active is None or total is None:
            return False
        active, total = (
            find(name).check(value)
            for name, value in (("active_parameters", active), ("total_parameters", total))
        )
        fewer = active < total
        return fewer if isinstance(fewer, bool) else bool(fewer.any())

    @cached_property
    def _of_experts(self) -> bool:
        return any(q.name == "routed_parameters" for q in self.inputs)

    @cached_property
    def _scalar(self) -> Callable[..., float]:
        """Return a function of plain numbers.

        It uses the math module, so that the first number need not wait for NumPy to load.
        """
        printer = PythonCodePrinter(
            {"fully_qualified_modules": False, "inline": True, "allow_unknown_functions": True}
        )
        function: Callable[..., float] = sympy.lambdify(
            [q.symbol for q in self.inputs],
            self.expanded,
            modules="math",
            printer=printer,
            cse=True,
        )
        return function

    @cached_property
    def _array(self) -> Callable[..., npt.NDArray[np.float64]]:
        """Return a function of NumPy arrays."""
        printer = _NumPy(
            {"fully_qualified_modules": True, "inline": True, "allow_unknown_functions": True}
        )
        function: Callable[..., npt.NDArray[np.float64]] = sympy.lambdify(
            [q.symbol for q in self.inputs],
            self.expanded,
            modules="numpy",
            printer=printer,
            cse=True,
        )
        return function

    # Looks

    def latex(self, *, expanded: bool = False, plain: bool = True) -> str:
        """Return `gives = expression` in LaTeX.

        `plain` fills in the constants (2 for a multiply-add, 1 token a step).
        """
        return (
            f"{self.gives.latex} = "
            f"{latex_of(self.expanded if expanded else self.expression, plain=plain)}"
        )

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    def tree(self) -> Tree:
        """Return the JSON tree of the expanded expression, with constants filled in."""
        return to_tree(fill_constants(self.expanded))

    @cached_property
    def derivation(self) -> Derivation:
        """Return the checked steps that lead to this formula.

        Raises FormulaError where it has none.
        """
        if self._derivation is None:
            raise FormulaError(f"{self.name} has no derivation of its own: {self.source}.")
        return self._derivation()

    # Algebra

    def solve(self, name: str) -> Formula:
        """Solve the same relation for one of the inputs.

        Every solution is put back and checked.

        Where the expression is a maximum of increasing functions of that input, the answer is the
        minimum of the branches' solutions (and the other way round), which is how a roofline is
        inverted.
        """
        quantity = find(name)
        if quantity not in self.inputs:
            raise FormulaError(
                f"{self.name} does not depend on {name}; it can be solved for "
                f"{', '.join(q.name for q in self.inputs if not q.constant)}."
            )
        solution = invert(self.expanded, self.gives.symbol, quantity.symbol)
        verify(self, quantity, solution)
        return Formula(
            quantity,
            solution,
            name=f"{self.name}_for_{name}",
            register=False,
            meaning=f"{quantity.meaning}, from {self.gives.meaning}",
            source=f"{self.name} solved for {name}",
            conventions=self.conventions,
        )

    def elasticity(self, name: str) -> Formula:
        """Return the elasticity d ln f / d ln x with respect to an input.

        It is the per cent by which the result moves when the input moves by one per cent.
        """
        quantity = find(name)
        if quantity not in self.inputs:
            raise FormulaError(
                f"{self.name} does not depend on {name}, so its elasticity there is zero."
            )
        x = quantity.symbol
        expression = sympy.simplify(x * sympy.diff(self.expanded, x) / self.expanded)
        return Formula(
            _elasticity,
            expression,
            name=f"{self.name}_elasticity_{name}",
            register=False,
            meaning=f"elasticity of {self.name} with respect to {name}",
            source="derived",
        )

    def uncertain(
        self, values: Mapping[str, Any], spread: Mapping[str, float], **options: int
    ) -> Spread:
        """Return the distribution of the result when inputs are known to within factors.

        See `handful.symbolic.uncertainty`.
        """
        from .uncertainty import propagate

        return propagate(self, values, spread, **options)


_elasticity = Quantity("elasticity", r"\varepsilon", NONE, "1", "per cent out for a per cent in")


def fill_constants(expression: sympy.Expr) -> sympy.Expr:
    """Replace the constants that no reader changes by their values."""
    return expression.xreplace(
        {q.symbol: sympy.nsimplify(q.default) for q in _standing(expression).values() if q.constant}
    )


def fill_defaults(expression: sympy.Expr) -> sympy.Expr:
    """Replace every quantity that has a default by it, but for those that are printed."""
    return expression.subs(
        {
            q.symbol: sympy.nsimplify(q.default)
            for q in _standing(expression).values()
            if q.default is not None and not q.printed
        }
    )


def stand_ins(
    expression: sympy.Expr, form: str
) -> dict[sympy.Symbol, tuple[sympy.Symbol, Quantity]]:
    """Return a symbol that sorts as the table does for each quantity of an expression.

    The name of the symbol is the quantity's place in the table, written in `form`.
    """
    return {
        q.symbol: (sympy.Symbol(form.format(place), positive=True), q)
        for place, q in _standing(expression).items()
    }


def _standing(expression: sympy.Expr) -> dict[int, Quantity]:
    """Return the quantities that an expression contains, by their places in the table.

    They are a few of the hundreds that the table has.
    """
    found = expression.free_symbols
    return {place: q for place, q in enumerate(table.values()) if q.symbol in found}


def latex_of(expression: sympy.Expr, *, plain: bool = True) -> str:
    """Return LaTeX in the book's letters, with factors in the order of quantities.py."""
    if plain:
        expression = fill_defaults(expression)
    # Stand-ins whose names sort in table order, so that products print as the field writes them.
    named = stand_ins(expression, "{:03d}")
    names = {stand_in: q.latex for stand_in, q in named.values()}
    renamed = expression.xreplace({symbol: stand_in for symbol, (stand_in, _) in named.items()})
    printer = Latex({"symbol_names": names, "order": "none", "ln_notation": True})
    return str(printer.doprint(renamed))
