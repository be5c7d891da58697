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

import math
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any, overload

import sympy
from sympy.printing.numpy import NumPyPrinter
from sympy.printing.pycode import PythonCodePrinter

from ..nearest import nearest
from ..units import format_value
from .dimensions import NONE, DimensionError, dimension_of
from .expression_tree import Tree, to_tree
from .printing import Latex
from .quantities import PARTS, Quantity, QuantityError, dimension_of_symbol, find, table
from .quantity import EVERYDAY, RENAMED, current_name
from .roots import Found, grid, search
from .solving import Cancels, FormulaError, NoInverse, inverses, limits, steps, verify

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
        merged = self._merged(known, values)
        self._assume_dense(merged)
        arguments = [self._value(q, merged) for q in self.inputs]
        self._check_parts(arguments)
        if all(isinstance(a, (int, float)) for a in arguments):
            try:
                return float(self._scalar(*map(float, arguments)))
            except (ArithmeticError, ValueError, TypeError):
                # Out of reach, beyond max(0, …) say: infinite, 0/0, or a root of what is below 0.
                import numpy as np

                with np.errstate(all="ignore"):
                    return float(self._array(*map(np.float64, arguments)))
        import numpy as np

        with np.errstate(
            divide="ignore", over="ignore", invalid="ignore"
        ):  # as for scalars: infinite, or 0/0
            return self._array(*(np.asarray(a, dtype=float) for a in arguments))

    def _merged(
        self, known: Mapping[str, Any] | None, values: Mapping[str, Any], also: str = ""
    ) -> dict[str, Any]:
        """Return what is known with `values` over it, which must be inputs, or named `also`.

        Names of the last edition become those of this one.
        """
        if old := [name for name in RENAMED if name in values or (known and name in known)]:
            known = {current_name(n, 4) if n in old else n: v for n, v in (known or {}).items()}
            values = {current_name(n, 4) if n in old else n: v for n, v in values.items()}
        if values:
            names = {q.name for q in self.inputs} | ({also} if also else set())
            for name in values:
                if meant := [one for one in EVERYDAY.get(name.lower(), ()) if one in names]:
                    raise FormulaError(
                        f"{self.name} has no input {name!r}; what is meant may be {meant[0]}."
                    )
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
        return {**(known or {}), **values}

    def _value(self, quantity: Quantity, merged: Mapping[str, Any]) -> Any:
        value = merged.get(quantity.name, quantity.default)
        if value is None:
            raise FormulaError(f"{self.name} needs {quantity.name} ({quantity.meaning}).")
        return quantity.check(value)

    def _check_parts(self, arguments: list[Any], but: int = -1) -> None:
        """Raise QuantityError where a part exceeds its whole; the argument `but` is not there."""
        for part, whole in self._parts:
            if but in (part, whole):
                continue
            over = arguments[part] > arguments[whole]
            if over if isinstance(over, bool) else over.any():
                raise QuantityError(
                    f"{self.inputs[part].name} must be at most {self.inputs[whole].name} "
                    f"({arguments[whole]}); got {arguments[part]}."
                )

    def missing(self, known: Mapping[str, Any]) -> tuple[Quantity, ...]:
        """Return the inputs that have neither a value in `known` nor a default.

        Raises FormulaError as a call does, where a mixture of experts lacks what makes it one.

        >>> from handful.latency import weight_time
        >>> [q.name for q in weight_time.missing({"total_parameters": "70B", "batch": 1})]
        ['devices', 'bytes_per_parameter', 'memory_bandwidth']
        """
        values = dict(known)
        self._assume_dense(values)
        return tuple(q for q in self.inputs if values.get(q.name, q.default) is None)

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
        """Solve the same relation for one of the inputs, in closed form.

        Where the expression is a maximum of increasing functions of that input, the answer is the
        minimum of the branches' solutions (and the other way round), which is how a roofline is
        inverted.  Every solution is put back at drawn values and checked.  It holds for what the
        formula can give: where it is flat, it is one end of the flat part.

        Raises FormulaError where the input cancels, where several values or whole ranges of it give
        the same, and where the algebra does not come to an end; `roots` computes them then.

        >>> from handful import balance, latency
        >>> balance.drain_time.solve("memory_capacity").expression
        drain_time*memory_bandwidth
        >>> latency.step_time.solve("batch")
        Traceback (most recent call last):
        ...
        handful.symbolic.solving.FormulaError: step_time has no single closed form for batch: batch
        stands in several places, and algebra does not bring them together;
        step_time.roots("batch", …, step_time=…) computes its values.
        """
        quantity = self._input(name)
        if self.gives in self.inputs:
            raise FormulaError(
                f"{self.name} gives {self.gives.name} and takes it too, and an inverse cannot have "
                f"both under one name; {self._roots_of(name)}."
            )
        try:
            candidates = inverses(self.expanded, self.gives.symbol, quantity.symbol)
        except Cancels:
            raise FormulaError(self._cancels(name)) from None
        except NoInverse as error:
            raise FormulaError(self._no_single(name, str(error))) from None
        conventions = self.conventions
        if self.expanded.has(sympy.Max, sympy.Min):
            conventions += (f"holds for values of {self.gives.name} that the formula can give",)
        refused: list[str] = []
        for candidate in candidates:
            solution = Formula(
                quantity,
                candidate,
                name=f"{self.name}_for_{name}",
                register=False,
                meaning=f"{quantity.meaning}, from {self.gives.meaning}",
                source=f"{self.name} solved for {name}",
                conventions=conventions,
            )
            reason = verify(self, quantity, solution)
            if not reason:
                return solution
            refused.append(reason)
        raise FormulaError(self._no_single(name, refused[0]))

    def roots(
        self, name: str, known: Mapping[str, Any] | None = None, /, **values: float | str | None
    ) -> tuple[float, ...]:
        """Compute all values of one input for which the formula gives a value that is wanted.

        `known` and keywords are as in a call; the value that is wanted has the name of what the
        formula gives, or the formula's own where the former is an input as well.  Values of the
        input named, in a scenario say, are passed over.

        Returns the admissible values in increasing order, in SI units, found by bisection between
        1e-30 and 1e36 and put back.  Where a whole range gives the value (a step of a rounded
        count, the flat side of a roofline), its two ends are among them, or the one that it has.
        Where a rounded count makes a saw of the formula, they are complete up to a count of 1000.

        Raises FormulaError where no value, or every value, gives what is wanted, with the range of
        what the formula gives; QuantityError for values that a quantity cannot take.

        >>> from handful import latency, scenario
        >>> served = scenario.values(hardware="H100 SXM", model="Llama 3.1 70B", precision="fp8")
        >>> (batch,) = latency.step_time.roots("batch", served, step_time="50 ms")
        >>> round(latency.step_time(served, batch=batch), 9)
        0.05
        >>> latency.step_time.roots("batch", served, step_time="1 ms")
        Traceback (most recent call last):
        ...
        handful.symbolic.solving.FormulaError: No value of batch gives step_time 1 ms: it is at
        least 2.63 ms whatever batch is, with the other values as given.
        """
        quantity = self._input(name)
        target = self.name if self.gives in self.inputs else self.gives.name
        merged = self._merged(known, values, target)
        if name in values:
            raise FormulaError(f"{self.name}.roots looks for {name}, and takes no value of it.")
        wanted = merged.get(target)
        if wanted is None:
            raise FormulaError(
                f"{self.name}.roots needs {target}, the value wanted ({self.gives.meaning})."
            )
        if isinstance(wanted, str):
            wanted = self.gives.read(wanted)
        merged.pop(name, None)
        if name not in DENSE:
            self._assume_dense(merged)
        place = self.inputs.index(quantity)
        arguments = [math.nan if q is quantity else self._value(q, merged) for q in self.inputs]
        for q, value in [(self.gives, wanted), *zip(self.inputs, arguments, strict=True)]:
            if not isinstance(value, (int, float)) or math.isinf(value):
                raise QuantityError(f"{q.name} must be one finite number here; got {value!r}.")
        if math.isnan(wanted):
            raise QuantityError(
                f"{self.gives.name} must be one finite number here; got {wanted!r}."
            )
        self._check_parts(arguments, place)

        def value_at(x: float) -> float:
            try:
                found = self._scalar(*arguments[:place], x, *arguments[place + 1 :])
                return math.nan if isinstance(found, complex) else float(found)
            except (ArithmeticError, ValueError, TypeError):  # infinite, or complex on the way
                return math.nan

        others = {q.name: v for q, v in zip(self.inputs, arguments, strict=True) if q != quantity}
        low, high = limits(quantity, others)
        known_symbols = {find(n).symbol: float(v) for n, v in others.items()}
        edges = steps(self.expanded, quantity.symbol, known_symbols)
        points = {*grid(low, high, quantity.zero), *(x for x in edges if low < x <= high)}
        found = search(value_at, float(wanted), sorted(points))
        if not found.values:
            raise FormulaError(self._no_root(quantity, float(wanted), found))
        return found.values

    def _no_root(self, quantity: Quantity, wanted: float, found: Found) -> str:
        """Return why no single value of an input gives what is wanted."""
        name, gives = quantity.name, self.gives.name
        low, high, jump = found.low, found.high, found.jump
        if math.isnan(low):
            return f"{self.name} has no finite value, whatever {name} is, with the others as given."
        if high - low <= 1e-12 * abs(high):
            seen = [low] if abs(wanted - low) <= 1e-12 * abs(low) else [low, wanted]
        else:
            seen = [wanted, *([low, high] if not low <= wanted <= high or not jump else jump[1:])]
        digits = 3
        while digits < 15 and len(set(seen)) > len({self._shown(v, digits) for v in seen}):
            digits += 1
        none = f"No value of {name} gives {gives} {self._shown(wanted, digits)}"
        rest = f"whatever {name} is, with the other values as given."
        if len(seen) == 1:
            return f"Every value of {name} gives that: {gives} is {self._shown(low, 3)} {rest}"
        if len(seen) == 2:
            return f"{none}: it is {self._shown(low, digits)} {rest}"
        if wanted < low:
            return f"{none}: it is at least {self._shown(low, digits)} {rest}"
        if wanted > high:
            return f"{none}: it is at most {self._shown(high, digits)} {rest}"
        if jump:
            place = format_value(jump[0], quantity.unit, 6).replace("\u00a0", " ")
            before, after = (self._shown(v, digits) for v in jump[1:])
            return (
                f"{none} that was found: it jumps from {before} to {after} where {name} is "
                f"{place}, with the other values as given."
            )
        return f"{none} that was found, from 1e-30 to 1e36, with the other values as given."

    def _shown(self, value: float, digits: int) -> str:
        return format_value(value, self.gives.unit, digits).replace("\u00a0", " ")

    def _input(self, name: str) -> Quantity:
        quantity = find(name)
        if quantity not in self.inputs:
            raise FormulaError(
                f"{self.name} does not depend on {name}; it can be solved for "
                f"{', '.join(q.name for q in self.inputs if not q.constant)}."
            )
        return quantity

    def _cancels(self, name: str) -> str:
        others = ", ".join(q.name for q in self.inputs if not q.constant and q.name != name)
        return f"{name} cancels in {self.name}, which depends on {others}."

    def _no_single(self, name: str, reason: str) -> str:
        why = reason.replace("{name}", name)
        return f"{self.name} has no single closed form for {name}: {why}; {self._roots_of(name)}."

    def _roots_of(self, name: str) -> str:
        target = self.name if self.gives in self.inputs else self.gives.name
        return f'{self.name}.roots("{name}", …, {target}=…) computes its values'

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
