"""Run the command ``handful formula``: list, find, show, evaluate and solve formulas.

>>> from handful.cli import main
>>> main(["formula", "drain_time", "memory_capacity=80 GB", "memory_bandwidth=3.35 TB/s"])
drain_time = 23.9 ms
...
0
"""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, Any

from .terminal import UsageError, print_columns, print_json, print_list, print_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .symbolic.formula import Formula
    from .symbolic.quantity import Quantity

EXAMPLES = """\
Without words, all formulas by subject.  With the name of one, its equation, inputs, source and
derivation.  With other words, those that they may mean:
  handful formula TPOT
  handful formula "how many sequences fit in memory"
With values, or with a chip and a model, its value; or the input that gives a value:
  handful formula step_time --hardware "H100 SXM" --model "Llama 3.1 70B" batch=64 context=8k
  handful formula step_time --hardware "H100 SXM" --solve batch step_time=20ms
  handful formula speculative_speedup acceptance=0.7 draft_time_ratio=5% --sweep drafts 1 2 4 8
Values may carry units: 70B, 8k (8,000; 8Ki is 8,192), "3.35 TB/s", "400 Gb/s", "2 $/hour"."""
# Formulas with one of these are of training, which is done in bf16 unless somebody says otherwise.
OF_TRAINING = {"pretraining_tokens", "training_flops", "trained_weight_bytes", "step_tokens"}
FITTED = {"memory_efficiency", "compute_efficiency", "network_efficiency", "layer_overhead"}
# Rates of a network, and the rows that have such a rate, where nobody said which network it is.
LINKS = {"link_bandwidth", "network_bandwidth", "tensor_bandwidth", "fsdp_bandwidth"}
CHOICES = ("hardware", "model", "precision", "weights", "cache")


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments to a parser."""
    command.add_argument(
        "words", nargs="*", metavar="WORD", help="a formula's name, words, or NAME=VALUE"
    )
    command.add_argument("--solve", metavar="INPUT", help="the input that gives a stated value")
    command.add_argument(
        "--sweep",
        nargs="+",
        metavar=("INPUT", "VALUE"),
        default=[],
        help="an input and the values that it takes in turn, for a table of results",
    )
    command.add_argument(
        "--hardware", metavar="H", help="a chip of the table accelerators, or its file"
    )
    command.add_argument(
        "--model", metavar="M", help="a model of the table shapes, or the path of a config.json"
    )
    command.add_argument(
        "--precision",
        metavar="P",
        help="bf16, fp8, fp4 or int8-weights, of weights, caches and arithmetic; default fp8, or "
        "bf16 on a chip without it",
    )
    command.add_argument(
        "--weights", metavar="P", help="precision of weights alone: bf16, fp8, fp4, int8 or int4"
    )
    command.add_argument("--cache", metavar="P", help="precision of key-value caches alone")
    command.add_argument(
        "--latex", action="store_true", help="the equation and its derivation in LaTeX"
    )


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    words = [word for word in options.words if "=" not in word]
    settings = dict(_setting(word) for word in options.words if "=" in word)
    if not words:
        if settings or _asks_for_a_number(options):
            raise UsageError("Values need the name of a formula before them, such as step_time.")
        return _list(options)
    from .query import ALIASES, find_formula, registry

    name = ALIASES.get(words[0], words[0])
    if len(words) > 1 or name not in registry():
        if settings or options.solve or "_" in words[0]:
            find_formula(" ".join(words))  # one sentence, which names the nearest
        return _search(" ".join(words), options)
    formula = registry()[name]
    if options.solve and options.sweep:
        raise UsageError("--sweep and --solve exclude each other.")
    if options.solve:
        return _solve(formula, settings, options)
    if settings or _asks_for_a_number(options):
        return _evaluate(formula, settings, options)
    return _show(formula, options)


def _asks_for_a_number(options: argparse.Namespace) -> bool:
    return bool(options.solve or options.sweep or any(getattr(options, kind) for kind in CHOICES))


def _setting(word: str) -> tuple[str, str]:
    name, _, text = word.partition("=")
    return name.strip(), text.strip()


def _list(options: argparse.Namespace) -> None:
    from .search import by_subject

    if options.json:
        return print_json(
            [
                {"subject": subject, **_entry(formula)}
                for subject, formulas in by_subject().items()
                for formula in formulas
            ]
        )
    for i, (subject, formulas) in enumerate(by_subject().items()):
        print_text(f"{chr(10) if i else ''}{subject}")
        _columns(formulas, options)


def _search(text: str, options: argparse.Namespace) -> None:
    from .search import answers, search

    found = search(text)
    if not found:
        raise UsageError(f"No formula is found by {text!r}; 'handful formula' lists all.")
    if options.json:
        return print_json([_entry(formula) for formula in found])
    if not answers(found[0], text):
        print_text("Nothing is called just so; the nearest by words:")
    _columns(found, options)


def _columns(formulas: Sequence[Formula], options: argparse.Namespace) -> None:
    print_columns(
        (f"  {formula.name}", formula.latex() if options.latex else formula.meaning)
        for formula in formulas
    )


def _entry(formula: Formula) -> dict[str, Any]:
    return {
        "name": formula.name,
        "gives": formula.gives.name,
        "unit": formula.gives.unit,
        "meaning": formula.meaning,
        "known_as": formula.known_as,
        "module": formula.module,
    }


def _show(formula: Formula, options: argparse.Namespace) -> None:
    from . import equation

    if options.json:
        return print_json(equation.as_object(formula))
    print_text(
        "\n".join(equation.as_latex(formula) if options.latex else equation.as_text(formula))
    )


# Numbers ------------------------------------------------------------------------------------------


def _known(
    formula: Formula, settings: dict[str, str], options: argparse.Namespace
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the values that are known, and where each comes from."""
    from . import scenario
    from .nearest import nearest
    from .query import registry
    from .symbolic.quantities import find
    from .symbolic.quantity import EVERYDAY, current_name

    chosen = {kind: name for kind in CHOICES if (name := getattr(options, kind)) is not None}
    if chosen and options.precision is None:
        chosen["precision"] = _usual_precision(formula, options)
    known, origin = scenario.named_values(**chosen) if chosen else ({}, {})
    names = [q.name for q in formula.inputs if not q.constant] + [formula.gives.name]
    within = _within(formula)
    for given, text in settings.items():
        meant = EVERYDAY.get(given.lower(), (current_name(given),))
        name = next((one for one in meant if one in names), None)
        name = name or next((one for one in meant if one in within), meant[0])
        if name not in names and name not in within and name in registry():
            raise UsageError(
                f"{formula.name} takes no {name}, which is a formula of its own: 'handful formula "
                f"{name}' says what it takes, and --solve finds an input of it."
            )
        if name not in names and name not in within:
            raise UsageError(
                f"{formula.name} takes no {given}; the nearest are: {nearest(given, names)}.  "
                f"'handful formula {formula.name}' says what it takes."
            )
        known[name], origin[name] = read_value(find(name), text), "given"
    return known, origin


def _usual_precision(formula: Formula, options: argparse.Namespace) -> str:
    """Return the precision that is taken where none is chosen."""
    from . import scenario

    if OF_TRAINING & ({q.name for q in formula.inputs} | _within(formula)):
        return "bf16"
    return scenario.usual_precision(
        options.hardware or scenario.DEFAULT["hardware"], options.weights
    )


def _within(formula: Formula, seen: frozenset[str] = frozenset()) -> set[str]:
    """Return the inputs of the formulas that may give a formula's inputs, and of theirs."""
    from .query import registry

    found: set[str] = set()
    for q in formula.inputs:
        inner = registry().get(q.name)
        if inner is not None and inner.name not in seen and inner is not formula:
            found |= {one.name for one in inner.inputs if not one.constant}
            found |= _within(inner, seen | {formula.name, inner.name})
    return found


def _computed(
    formula: Formula,
    known: dict[str, Any],
    origin: dict[str, str],
    but: str = "",
    above: tuple[str, ...] = (),
) -> list[Formula]:
    """Compute missing inputs that are formulas themselves, and return these formulas."""
    from .query import registry

    used: list[Formula] = []
    for q in formula.missing(known):
        inner = registry().get(q.name)
        if inner is None or q.name == but or inner.name in above or inner is formula:
            continue
        deeper = _computed(inner, known, origin, but, (*above, formula.name))
        if inner.missing(known):
            continue
        value = inner(known)
        if math.isfinite(value):
            known[q.name], origin[q.name] = value, "computed"
            used += [*deeper, inner]
    return used


def _notes(
    formula: Formula,
    known: dict[str, Any],
    origin: dict[str, str],
    options: argparse.Namespace,
    used: Sequence[Formula] = (),
) -> list[str]:
    """Return what to know of the choices: what nobody chose, what there is no room for."""
    from . import scenario

    chosen = {
        kind: getattr(options, kind) or scenario.DEFAULT[kind] for kind in ("hardware", "model")
    }
    usual = options.precision or _usual_precision(formula, options)
    names = {q.name for one in (formula, *used) for q in one.inputs}
    found = []
    taken = (origin.get(name, "").rpartition(", ")[2] for name in names)
    if options.precision is None and usual in taken:
        found.append(
            f"No precision was chosen: {usual} is taken, for weights, caches and arithmetic that "
            "no value was given of; --precision, --weights and --cache change it."
        )
    if "bytes_per_parameter" in names and origin.get("bytes_per_parameter") != "given":
        found += filter(None, [scenario.stored_note(options.weights)])
    if options.hardware:
        given = {name: known[name] for name, said in origin.items() if said == "given"}
        found += scenario.odd_for_a_chip(options.hardware, given)
        if formula.name.startswith("ring_") and not chosen["hardware"].upper().startswith("TPU"):
            found.append(
                f"A ring has two links a chip, as TPUs have.  Where each {options.hardware} has "
                f"one port, as for NCCL, {formula.name.replace('ring', 'switch')} counts it, and "
                "hierarchical_all_reduce_time nodes and the network between them."
            )
    if options.model and {"devices", "kv_bytes_per_token"} <= names:
        found += scenario.copied_caches(known)
    if "devices" in names and origin.get("devices", "given") not in ("given", "computed"):
        from .units import plural

        many = plural(int(known["devices"]), "chip")
        found.append(
            f"{many} are taken, the node or rack that {origin['devices']} comes in; devices=N "
            "changes it."
        )
    usual_width = "bytes_per_width" in names and origin.get("bytes_per_width") != "given"
    if usual_width and known.get("feed_forward_matrices") == 3:
        kind = "gated" if known.get("kv_heads") else "latent"
        found.append(
            f"{chosen['model']} has a gate in its feed-forward part, which the usual bytes a unit "
            f"of width leave out: layer_activation_bytes_{kind} counts it."
        )
    rules = []
    if options.hardware and "devices" in names:
        if "scale_up_bandwidth" in names and "scale_out_bandwidth" not in names:
            rules.append("domain")
        works = names & {"memory_bandwidth", "peak_flops"}  # the devices are chips, not disks
        if options.model and works and names & {"batch", "total_parameters", "active_parameters"}:
            rules += ["fits", "sequence"] if known.get("context") is not None else ["fits"]
    if options.model or rules:
        found += scenario.noted(known, **chosen, precision=usual, rules=rules)
    elif options.hardware:
        found += scenario.choose("hardware", options.hardware).get("notes", ())
    if "sequence" in rules:
        batch = known.get("batch") if "batch" in names else _promised_batch(formula, known)
        why = scenario.room_note({**known, "batch": batch}) if batch is not None else ""
        found += [why] if why else []
    return found


def _promised_batch(formula: Formula, known: dict[str, Any]) -> float | None:
    """Return the batch that a promised time per token allows, where a formula counts on it."""
    from .equation import used_formulas
    from .service_levels import tpot_batch

    if tpot_batch is not formula and tpot_batch not in used_formulas(formula):
        return None
    return None if tpot_batch.missing(known) else tpot_batch(known)


def _usual_unit(quantity: Quantity) -> str:
    from .units import UNITS

    usual = {"B/s": "GB/s", "FLOP/s": "TFLOP/s"}
    return usual.get(quantity.unit) or UNITS[quantity.unit].hint.replace("\u00a0", " ")


def read_value(quantity: Quantity, text: str) -> float:
    """Return a value in SI units; a rate, a price or a time needs its unit.

    Nobody quotes them in SI units.  Raises UsageError, or QuantityError where it is no value.

    >>> from handful.symbolic.quantities import tpot_target
    >>> read_value(tpot_target, "30 ms")
    0.03
    """
    from .symbolic.parse_quantity import WrittenError, read_as

    value: float = quantity.check(text)
    try:
        bare = read_as(text, quantity.dimension)[1] is None
    except WrittenError:  # refused by now
        bare = False
    time = quantity.unit in ("s", "device·s")
    if bare and (quantity.unit.startswith("$") or quantity.unit in ("B/s", "FLOP/s") or time):
        as_in = f"{text} {_usual_unit(quantity)}"
        as_in = f"{text} ms or {text} hours" if quantity.unit == "s" else as_in
        if not (time and value == 0):
            raise UsageError(f"{quantity.name} needs its unit, as in {as_in}; got {text!r}.")
    return value


def _evaluate(formula: Formula, settings: dict[str, str], options: argparse.Namespace) -> None:
    from .symbolic.quantities import find

    if formula.gives.name in settings:
        raise UsageError(
            f"{formula.gives.name} is what {formula.name} gives; to find an input from it, "
            f"add --solve INPUT."
        )
    if options.sweep:
        return _sweep(formula, settings, options)
    known, origin = _known(formula, settings, options)
    used = _computed(formula, known, origin)
    _complete(formula, known, origin)
    _unused(formula, used, origin)
    value = formula(known)
    inputs = _all_inputs(formula, used, known, origin)
    notes = _notes(formula, known, origin, options, used)
    if not math.isfinite(value):
        notes.insert(0, _why_none(formula, known, origin, value))
    capacity = known.get("memory_capacity")
    if formula.gives.name == "device_memory" and capacity and value > capacity:
        notes.insert(
            0,
            f"{_shown(value, formula.gives)} does not fit: one {options.hardware or 'chip'} has "
            f"{_shown(capacity, find('memory_capacity'))}.",
        )
    if options.json:
        value = value if math.isfinite(value) else None
        found = {"value": value, "inputs": _as_object(inputs), "notes": notes}
        return print_json({**_entry(formula), **found})
    none = "infinite" if math.isinf(value) else "no value"
    print_text(f"{formula.name} = {_shown(value, formula.gives) if math.isfinite(value) else none}")
    _print_rest(formula, inputs, notes)


def _sweep(formula: Formula, settings: dict[str, str], options: argparse.Namespace) -> None:
    from .symbolic.quantities import find

    name, *texts = options.sweep
    while texts and "=" in texts[-1]:  # values of other inputs, written last
        settings |= dict([_setting(texts.pop())])
    if not texts:
        one = name.partition("=")[0]
        raise UsageError(
            f"--sweep takes an input and then its values, such as --sweep {one} 1 2 4; got {name}."
        )
    if name in settings:
        raise UsageError(f"{name} is to take several values and has one; leave out one of the two.")
    quantity, rows, notes = find(name), [], []
    for text in texts:
        known, origin = _known(formula, {**settings, name: text}, options)
        used = _computed(formula, known, origin)
        _complete(formula, known, origin)
        _unused(formula, used, origin)
        rows.append((known[quantity.name], formula(known)))
        said = _notes(formula, known, origin, options, used)
        notes += [note for note in said if note not in notes]
    inputs = [
        one
        for one in _all_inputs(formula, used, known, origin)
        if one[0] is not quantity and one[2] != "computed"
    ]
    if options.json:
        values = [[x, y if math.isfinite(y) else None] for x, y in rows]
        found = {"over": quantity.name, "values": values, "inputs": _as_object(inputs)}
        return print_json({**_entry(formula), **found, "notes": notes})
    print_columns(
        [
            (quantity.name, formula.name),
            *((_shown(x, quantity), _shown(y, formula.gives)) for x, y in rows),
        ]
    )
    _print_rest(formula, inputs, notes)


def _why_none(formula: Formula, known: dict[str, Any], origin: dict[str, str], value: float) -> str:
    """Return why a formula has no finite value, with the inputs that were given at an end."""
    ends = [
        f"{q.name} = {_shown(known[q.name], q)}"
        for q in formula.inputs
        if origin.get(q.name) == "given" and known[q.name] in (0, q.upper)
    ]
    here = f"at {', '.join(ends)}" if ends else "with these inputs"
    if math.isinf(value):
        conditions = "" if ends else "; the conventions say when"
        return f"The equation divides by 0 {here}{conditions}."
    inside = "; give a value just inside that limit" if ends else ""
    return f"The equation is not defined {here}, as 0/0 is not{inside}."


def _solve(formula: Formula, settings: dict[str, str], options: argparse.Namespace) -> None:
    from .symbolic.quantities import find

    quantity = find(options.solve)
    if formula.gives.name not in settings:
        raise UsageError(
            f"To find {quantity.name}, say what {formula.name} is to give: "
            f"{formula.gives.name}=VALUE."
        )
    if quantity.name in settings:
        raise UsageError(f"{quantity.name} is to be found and given; leave out one of the two.")
    known, origin = _known(formula, settings, options)
    known.pop(quantity.name, None)
    used = []
    if quantity in formula.inputs:
        used = _computed(formula, known, origin, quantity.name)
        _complete(formula, known, origin, quantity.name)
        _unused(formula, used, origin)
    roots = formula.roots(quantity.name, known)
    inputs = _all_inputs(formula, used, known, origin)
    solved = {**known, quantity.name: roots[-1]}
    notes = _notes(formula, solved, {**origin, quantity.name: "computed"}, options, used)
    if options.json:
        return print_json(
            {
                **_entry(formula),
                "solved_for": quantity.name,
                "values": roots,
                "value_unit": quantity.unit,
                "inputs": _as_object(inputs),
                "notes": notes,
            }
        )
    print_text(f"{quantity.name} = {' or '.join(_shown(root, quantity) for root in roots)}")
    wanted = _shown(known[formula.gives.name], formula.gives)
    print_text(f"  so that {formula.name} = {wanted}")
    _print_rest(formula, inputs, notes)


def _complete(
    formula: Formula, known: dict[str, Any], origin: dict[str, str], but: str = ""
) -> None:
    """Check that nothing is missing, but for the input that is looked for."""
    missing = [q for q in formula.missing(known) if q.name != but]
    if not missing:
        return
    from . import scenario

    rows, _ = scenario.named_values(scenario.DEFAULT["hardware"], scenario.DEFAULT["model"])
    choose = any(q.name not in known and rows.get(q.name) is not None for q in missing)
    listed = ", ".join(f"{q.name} ({_described(q, known, origin)})" for q in missing)
    raise UsageError(
        f"{formula.name} needs {listed}; give NAME=VALUE"
        + (", or choose a chip and a model with --hardware and --model." if choose else ".")
        + "".join(_from_what(q, {**rows, **known}, but) for q in missing)
        + (
            "  'handful runs' fits efficiencies and fixed time to your own measurements."
            if FITTED & {q.name for q in missing}
            else ""
        )
    )


def _from_what(quantity: Quantity, known: dict[str, Any], but: str) -> str:
    """Return what else would do, where a missing input is a formula itself.

    What a chip and a model give is left out, and what is looked for.
    """
    from .query import registry

    inner = registry().get(quantity.name)
    names = [q.name for q in inner.missing(known) if q.name != but] if inner else []
    return f"  In place of {quantity.name}, give {', '.join(names)}." if names else ""


def _described(quantity: Quantity, known: dict[str, Any], origin: dict[str, str]) -> str:
    """Return what a missing input means, and what the chosen rows have of it."""
    from .symbolic.quantities import find

    row = origin.get(quantity.name)
    if row:
        return f"{quantity.meaning}; {row} has none"
    if quantity.name in LINKS and known.get("scale_up_bandwidth"):
        rates = [
            f"{_shown(rate, find(name))} {where}"
            for name, where in (
                ("scale_up_bandwidth", "within its domain"),
                ("scale_out_bandwidth", "beyond"),
            )
            if (rate := known.get(name))
        ]
        return f"{quantity.meaning}: {origin['scale_up_bandwidth']} has {' and '.join(rates)}"
    return f"{quantity.meaning}"


def _inputs(
    formula: Formula, known: dict[str, Any], origin: dict[str, str]
) -> list[tuple[Quantity, float, str]]:
    """Return the inputs with their values, but for those that say what holds anyway."""
    from .symbolic.formula import DENSE

    usual = {q.name: q.default for q in formula.inputs}
    if not known.get("routed_parameters"):
        usual |= DENSE
    found = []
    for q in formula.inputs:
        value, said = known.get(q.name, q.default), origin.get(q.name, "default")
        if not q.constant and value is not None and (said == "given" or value != usual[q.name]):
            found.append((q, value, said))
    return found


def _as_object(inputs: Sequence[tuple[Quantity, float, str]]) -> dict[str, Any]:
    return {q.name: {"value": value, "unit": q.unit, "from": said} for q, value, said in inputs}


def _each(value: float, quantity: Quantity) -> str:
    """Return a value as the list of inputs shows it: what is of one chip says so."""
    shown = _shown(value, quantity)
    of_one = dict(quantity.dimension.powers).get("device", 0) == -1
    return f"{shown} per chip" if of_one and "chip" not in shown else shown


def _shown(value: float, quantity: Quantity) -> str:
    from .units import digits_of, format_value

    return format_value(value, quantity.unit, max(3, digits_of(value, quantity.unit, 3)))


def _all_inputs(
    formula: Formula, used: Sequence[Formula], known: dict[str, Any], origin: dict[str, str]
) -> list[tuple[Quantity, float, str]]:
    """Return the inputs of a formula, and of those that some of them were computed by."""
    found = _inputs(formula, known, origin)
    for one in used:
        found += [row for row in _inputs(one, known, origin) if row not in found]
    return found


def _unused(formula: Formula, used: Sequence[Formula], origin: dict[str, str]) -> None:
    """Refuse a value that nothing was computed from."""
    taken = {q.name for one in (formula, *used) for q in one.inputs} | {formula.gives.name}
    idle = [name for name, said in origin.items() if said == "given" and name not in taken]
    if idle:
        own = ", ".join(q.name for q in formula.inputs if not q.constant)
        raise UsageError(
            f"{formula.name} needs no {idle[0]} here, since what that would give is known without "
            f"it; it takes {own}."
        )


def _print_rest(
    formula: Formula, inputs: Sequence[tuple[Quantity, float, str]], notes: Sequence[str]
) -> None:
    print_text(f"  {formula.meaning}\n")
    print_columns((f"  {q.name}", _each(value, q), said) for q, value, said in inputs)
    listed = {q.name for q, _, _ in inputs}
    usual = [
        f"{q.name} = {_shown(q.default, q)}"
        for q in formula.inputs
        if q.name not in listed and not q.constant and q.default not in (None, 0, 1)
    ]
    if usual:
        print_text(f"\nAt usual values: {', '.join(usual)}")
    print_list("Note", notes)
    print_list("Conventions", formula.conventions)
    print_text(f"\nImport: from {formula.module} import {formula.name}")
