"""Run the command ``handful runs``: a server's own measurements against the floor."""

from __future__ import annotations

import re
import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence

    from handful_evidence.own_server import Change, FirstToken, Fit, Point, Server

MOST_ROWS = 60  # of the table of points in a terminal
ABOUT = (
    "Reads what vllm bench serve, SGLang's bench_serving, GuideLLM, AIPerf and InferenceMAX\n"
    "write, MLPerf summaries, and plain tables (CSV).  Each point stands beside the floor of its\n"
    "own load; what the server adds is fitted, with intervals; and it says what would help most.\n"
    'Example: handful runs results/*.json --hardware "H100 SXM" --model "Llama 3.1 70B" \\\n'
    "  --precision fp8 --devices 8 --tpot 40ms"
)


def add(command) -> None:
    """Add the command; `command` makes a parser, as `handful.cli` does."""
    made = command("runs", _runs, "a server's own measurements against the floor", ABOUT)
    made.add_argument("files", nargs="+", metavar="FILE", help="result files of a benchmark")
    made.add_argument(
        "--hardware", metavar="H", help="the chip, or its file, where files do not say it"
    )
    made.add_argument("--model", metavar="M", help="the model, or the path of its config.json")
    made.add_argument(
        "--precision",
        metavar="P",
        help="bf16, fp8, fp4 or int8-weights; default what the model's name says, or what it was "
        "published in",
    )
    made.add_argument("--weights", metavar="P", help="precision of weights alone")
    made.add_argument("--cache", metavar="P", help="precision of key-value caches; default bf16")
    made.add_argument(
        "--devices",
        metavar="N",
        help="chips that share one copy of the model, where files do not say it",
    )
    made.add_argument(
        "--prompts-apart",
        action="store_true",
        help="in these runs, other chips worked through the prompts",
    )
    made.add_argument(
        "--tpot", metavar="T", help="time per output token that you promise, such as 40ms"
    )
    made.add_argument(
        "--context",
        metavar="C",
        help="context to predict at, such as 32k, or prompt+answer: 1000+500",
    )
    made.add_argument("--price", metavar="$", help="rent of one chip, such as 2.50$/hour")
    made.add_argument("--plot", metavar="FILE", help="draw the points, .svg or .png")


def _runs(options: argparse.Namespace) -> None:
    from handful import cli
    from handful_evidence import own_server
    from handful_evidence.result_files import read

    if options.plot:
        from .own_server_plot import check

        check(Path(options.plot))
    overrides = _overrides(options)
    step = _checked("tpot_target", options.tpot, "--tpot") if options.tpot else None
    runs, problems = read([Path(name) for name in options.files])
    if not runs:
        raise own_server.ServerError("\n".join(problems) or "The files hold no run.")
    given: dict[str, Any] = {
        "hardware": options.hardware,
        "model": options.model,
        "precision": options.precision,
        "weights": options.weights,
        "cache": options.cache,
    }
    found = own_server.points(runs, prompts_apart=options.prompts_apart, **{**given, **overrides})
    fitted, why_not = None, ""
    try:
        fitted = own_server.fit(found)
    except own_server.ServerError as error:
        why_not = str(error)
    usable = [one for one in found if not one.why_not]
    usual = own_server.usual_load(usable) if usable else {}
    if options.context and usable:
        usual = _load_at(usual, options.context)
    if step is None and usable:
        step = 1.5 * statistics.median(one.measured for one in usable)
    server = None
    if usable:
        server = own_server.server_of(usable[0].run, **given, devices=overrides.get("devices"))
    if options.plot:
        from .own_server_plot import save

        save(found, fitted, Path(options.plot))
    of_files = _of_the_files(found, options.model)
    if options.json:
        made = _as_object(found, problems, fitted, why_not, usual, step)
        return cli.print_json({"server": _told(server, usual), **made, "of_the_files": of_files})
    _print(found, problems, fitted, why_not, usual, step, options, server, of_files)
    if not usable:
        raise SystemExit(1)


def _overrides(options: argparse.Namespace) -> dict[str, float]:
    price = options.price
    if price and re.fullmatch(r"\$?[\d.]+", price):
        price = f"{price.lstrip('$')} $/hour"  # what a rent is told in
    given = {"devices": ("--devices", options.devices), "device_price": ("--price", price)}
    return {name: _checked(name, text, option) for name, (option, text) in given.items() if text}


SUCH_AS = {"--devices": "8", "--price": "2.50$/hour", "--tpot": "30ms", "--context": "32k"}


def _checked(name: str, text: str, option: str) -> float:
    """Return the value of an option; a sentence about it names the option and not the symbol."""
    from handful.formula_command import read_value
    from handful.symbolic.quantities import find
    from handful_evidence.own_server import ServerError

    try:
        return read_value(find(name), text)
    except ValueError as error:
        if "needs its unit" in str(error):
            said = f"{option} needs its unit, as in {text} ms; got {text!r}."
        else:
            said = f"{option} must be a value above 0, such as {SUCH_AS[option]}; got {text!r}."
        raise ServerError(said) from None


def _load_at(usual: dict[str, Any], text: str) -> dict[str, Any]:
    """Return the load at a context, or at lengths of prompt and answer such as 1000+500."""
    from handful_evidence import own_server

    prompt, plus, answer = text.partition("+")
    if not plus:
        return own_server.at_context(usual, _checked("context", text, "--context"))
    asked, told = (_checked("context", part, "--context") for part in (prompt, answer))
    if told < 1:
        raise own_server.ServerError("An answer has at least 1 token.")
    return {**usual, "context": asked + told / 2, "prompt_per_answer": asked / told}


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms" if seconds < 10 else f"{seconds:,.0f} s"


def _seconds(seconds: float) -> str:
    return _milliseconds(seconds) if seconds < 1 else f"{seconds:.3g} s"


def _print(
    found: Sequence[Point],
    problems: Sequence[str],
    fitted: Fit | None,
    why_not: str,
    usual: dict[str, Any],
    step: float | None,
    options: argparse.Namespace,
    server: Server | None,
    of_files: Sequence[str],
) -> None:
    from handful import cli
    from handful_evidence import own_server

    usable = [one for one in found if not one.why_not]
    if server is not None:
        cli.print_text(f"{_header(server, usual, options)}\n")
        shown = sorted(usable, key=lambda one: one.known["batch"])
        cut = shown if len(shown) <= MOST_ROWS else shown[:: -(-len(shown) // MOST_ROWS)]
        cli.print_columns(
            [
                ("batch", "context", "measured", "floor", "over", "reading", "arithmetic", "run"),
                *(
                    (
                        f"{one.known['batch']:.3g}",
                        f"{one.known['context']:,.0f}",
                        _milliseconds(one.measured),
                        _milliseconds(one.floor),
                        f"{one.over_floor:.2f}",
                        f"{one.bandwidth_utilisation:.0%}",
                        f"{one.flops_utilisation:.0%}",
                        one.run.source,
                    )
                    for one in cut
                ),
            ]
        )
        if len(cut) < len(shown):
            print(f"{len(cut)} of {len(shown):,} points are shown; --json has all.")
        cli.print_text(
            "\nMeasured is the time per output token; the floor is the slower of reading weights "
            "and caches and of arithmetic, prompts included, at peak rates; the percentages are "
            "what of either the server reaches."
        )
    said = [own_server.held_back(found), own_server.uneven_heads(usual) if usual else ""]
    cli.print_list("Note", [one for one in said if one])
    cli.print_list("Not compared", _grouped((one.why_not, one.run.source) for one in found))
    cli.print_list("Not read", list(problems))
    cli.print_list("Of the files", list(of_files))
    if options.hardware:
        from handful import scenario

        chip = scenario.choose("hardware", options.hardware)
        cli.print_list("Of the chip", chip.get("notes", ()))
    if fitted is None:
        cli.print_text(f"\n{why_not}")
        return
    _print_fit(found, fitted, usual)
    missed = own_server.missed_near(usable, fitted, usual["context"])
    if missed and abs(missed - 1) > 0.15:
        cli.print_text(
            f"Points measured at such contexts are {abs(missed - 1):.0%} "
            f"{'slower' if missed > 1 else 'faster'} than the fit: correct these by as much."
        )
    longest = max(one.known["context"] for one in usable)
    if usual["context"] > 1.2 * longest:
        cli.print_text(
            f"No context above {longest:,.0f} tokens was measured: beyond it attention's own "
            "arithmetic, which the floor leaves out, makes steps longer than these."
        )
    if step is not None:
        _print_advice(fitted, usual, step, usable, given=bool(options.tpot))


WHO = {  # says in which precision weights are
    "given": "",
    "name": ", as the model's name says",
    "published": ", as the model is published (--precision)",
    "nobody": ", as nobody says (--precision)",
}


def _header(server: Server, known: dict[str, Any], options: argparse.Namespace) -> str:
    """Return what was taken, in one line: what nobody chose can be wrong."""
    from handful.symbolic.quantities import find
    from handful.units import format_value

    price = known.get("device_price")
    rent = (
        f"{format_value(price, find('device_price').unit, 3)}"
        f"{'' if options.price else ', where --price says no other'}"
        if price
        else "no price: --price gives one"
    )
    return (
        f"{_name('model', server.model)}: weights in {server.weights}{WHO[server.says]}, "
        f"arithmetic in {_arithmetic(server.precision)}, caches in {server.cache}"
        f"{'' if options.cache else ', as nobody says (--cache)'}, on {server.devices:g} × "
        f"{_name('hardware', server.hardware)}; {rent}"
    )


def _arithmetic(precision: str) -> str:
    from handful import scenario

    return str(scenario.choose("precision", precision)["arithmetic"])


def _told(server: Server | None, known: dict[str, Any]) -> dict[str, Any] | None:
    """Return the server as JSON has it; its price is in dollars an hour and chip."""
    from dataclasses import asdict

    if server is None:
        return None
    price = known.get("device_price")
    return {
        **asdict(server),
        "hardware": _name("hardware", server.hardware),
        "model": _name("model", server.model),
        "price_per_chip_hour": price and price * 3600,
    }


def _name(kind: str, text: str) -> str:
    """Return the name of the row, or that in a file of one's own."""
    from handful import scenario

    return str(scenario.choose(kind, text)["name"])


def _of_the_files(found: Sequence[Point], named: str | None) -> list[str]:
    notes = ((note, one.run.source) for one in found for note in one.run.notes)
    return [*_other_models(found, named), *_grouped(notes)]


def _grouped(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Return each sentence once, with the runs that it is about."""
    found: dict[str, list[str]] = {}
    for says, source in pairs:
        if says:
            found.setdefault(says, []).append(source)
    return [
        f"{says} ({', '.join(who[:3])}{f' and {len(who) - 3} more' if len(who) > 3 else ''})"
        for says, who in found.items()
    ]


def _other_models(found: Sequence[Point], named: str | None) -> list[str]:
    """Return a sentence where files say another model than the one that was named."""
    from handful import scenario

    def row(name: str) -> str:
        try:
            return str(scenario.choose("model", name)["name"])
        except ValueError:
            return ""

    said = {one.run.model for one in found if one.run.model}
    others = {name: row(name) for name in said}
    wanted = row(named) if named else ""
    told = [name for name, known in others.items() if known and wanted and known != wanted]
    if told:
        return [f"{', '.join(sorted(told)[:3])} is what files say, and {wanted} what was named"]
    return (
        ["files of several models are fitted as one server: " + ", ".join(sorted(said)[:4])]
        if named and len(set(others.values()) - {""}) > 1
        else []
    )


def _print_fit(found: Sequence[Point], fitted: Fit, usual: dict[str, Any]) -> None:
    from handful import cli
    from handful_evidence import own_server

    values, ends = fitted.values, fitted.intervals
    print("\nWhat the server adds, with intervals of 90 %")
    cli.print_columns(
        [
            (
                "  reading at",
                f"{values['memory_efficiency']:.0%} of the peak",
                "{:.0%} to {:.0%}".format(*ends["memory_efficiency"]),
            ),
            (
                "  arithmetic, and all that grows with tokens, at",
                f"{values['compute_efficiency']:.0%}",
                "{:.0%} to {:.0%}".format(*ends["compute_efficiency"]),
            ),
            (
                "  fixed time of a step",
                _milliseconds(values["fixed_time"]),
                " to ".join(map(_milliseconds, ends["fixed_time"])),
            ),
        ]
    )
    cli.print_list("Note", list(fitted.warnings))
    print(f"\nA load: {usual['batch']:.3g} sequences of {usual['context']:,.0f} tokens, by the fit")
    cli.print_columns(
        [
            ("", "a step", "90 %", "tokens/s"),
            *(
                (f"  {name}", f"memory holds {one['memory_holds']}", "", "")
                if "memory_holds" in one
                else (
                    f"  {name}",
                    _milliseconds(one["step_time"]),
                    " to ".join(map(_milliseconds, one["interval"])),
                    f"{one['tokens_per_second']:,.0f}",
                )
                for name, one in _loads(fitted, usual).items()
            ),
        ]
    )
    cli.print_text(_step_line(own_server.parts(fitted, usual)))
    if told := _first_token_line(own_server.first_token(found, fitted, usual)):
        cli.print_text(told)
    knee = own_server.knee(fitted, usual)
    print(f"Half of what any batch could give (the knee): {max(knee, 1):,.0f} sequences at a time")


def _loads(fitted: Fit, usual: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return what the fit predicts of a load, of twice its batch and of twice its context."""
    from handful_evidence import own_server

    found: dict[str, dict[str, Any]] = {}
    for name, known in (
        ("this load", usual),
        ("twice the batch", {**usual, "batch": 2 * usual["batch"]}),
        ("twice the context", own_server.at_context(usual, 2 * usual["context"])),
    ):
        load = {"batch": known["batch"], "context": known["context"]}
        if (room := _too_few(known)) is not None:
            found[name] = {**load, "memory_holds": room}
            continue
        step = float(fitted.predicted(known))
        found[name] = {
            **load,
            "step_time": step,
            "interval": list(fitted.interval(known)),
            "tokens_per_second": known["batch"] / step,
        }
    return found


def _step_line(parts: dict[str, float]) -> str:
    """Return where the time of a step goes, and what binds."""
    from handful_evidence import own_server

    whole = sum(parts.values())
    names = {
        "weights": "reading weights",
        "caches": "reading caches",
        "prompts": "arithmetic for prompts",
        "answers": "arithmetic for answers",
        "fixed": "fixed time",
    }
    told = [
        f"{names[name]} {_milliseconds(one)} ({one / whole:.0%})"
        for name, one in parts.items()
        if one or name != "prompts"
    ]
    most = own_server.limit(parts)
    return f"Of this load's step: {', '.join(told)}.  Most of it is {most}: that is what binds."


def _first_token_line(told: FirstToken) -> str:
    """Return what is known of the time to the first token, "" where nothing is."""
    found = ""
    if told.nearest is not None:
        near = told.nearest
        found = (
            f"measured {_seconds(near.run.time_to_first_token or 0)} with "
            f"{near.known['batch']:.3g} sequences that decode"
        )
        if near.run.concurrency:
            found += f" and {near.run.concurrency:.3g} requests in flight"
        if told.count > 1:
            found += (
                f" (median of {told.count} points at such contexts {_seconds(told.median)}, "
                f"{_seconds(told.low)} to {_seconds(told.high)})"
            )
    if told.alone:
        found += "; " if found else ""
        found += (
            f"a prompt of {told.prompt:,.0f} tokens by itself takes {_seconds(told.alone)} by the "
            "fit, and waiting comes on top"
        )
    return f"Time to first token: {found}." if found else ""


def _too_few(known: dict[str, Any]) -> int | None:
    """Return how many sequences memory holds, where those are fewer than the load's."""
    from handful import scenario

    room = scenario.room(known)
    return room if room is not None and room < known["batch"] else None


def _print_advice(
    fitted: Fit, usual: dict[str, Any], step: float, usable: Sequence[Point], given: bool
) -> None:
    from handful import cli
    from handful_evidence import own_server

    most = max(one.known["batch"] for one in usable)
    reach = own_server.REACH * most
    now = own_server.best_at(fitted, usual, step, reach)
    measured = own_server.best_measured(usable, step)
    chosen = "as promised" if given else "half as much again as the median; --tpot sets it"
    print(
        f"\nWithin {_milliseconds(step)} a token ({chosen}), at {usual['context']:,.0f} tokens of "
        f"context and {usual['prompt_per_answer']:.3g} of prompt for each of the answer"
    )
    if not now.batch:
        cli.print_text("  Not one sequence keeps within that time, or memory does not hold it.")
        return
    found = own_server.changes(fitted, usual, step, reach)
    cli.print_columns(
        [
            ("", "batch", "chips", "tokens/s", "per chip", "cost per million, 90 %", "gain, 90 %"),
            *([_measured_row(measured)] if measured else []),
            *(_row(one, reach) for one in (now, *found)),
        ]
    )
    if max(one.batch for one in (now, *found)) > 1.2 * most:
        cli.print_text(
            f"\nNo more than {most:,.3g} sequences at a time were measured: beyond them these "
            "numbers carry the fit on, and a server may refuse, or wait for memory."
        )
    if any(_is_bound(one, reach) for one in (now, *found)):
        cli.print_text(
            f"\n+ stands where the promise would allow more than {reach:,.0f} sequences, "
            f"{own_server.REACH} times what was measured: gains between such lines say little."
        )
    cli.print_list("Assumed", [f"{one.name}: {one.assumes}" for one in found])


def _is_bound(one: Change, reach: float) -> bool:
    return one.batch >= int(reach)


def _measured_row(one: Point) -> tuple[str, ...]:
    made = _measured(one)
    return (
        f"  measured ({made['context']:,.0f} tokens)",
        f"{made['batch']:,.0f}",
        f"{made['devices']:.3g}",
        f"{made['throughput']:,.0f}",
        f"{made['each']:,.0f}",
        "" if made["cost"] is None else f"${1e6 * made['cost']:.3g}",
        "",
    )


def _row(one: Change, reach: float) -> tuple[str, ...]:
    def ends(pair: tuple[float, float] | None, factor: float, form: str) -> str:
        return "" if pair is None else "–".join(format(end * factor, form) for end in pair)

    cost = (
        "" if one.cost is None else f"${one.cost * 1e6:.3g} ({ends(one.cost_interval, 1e6, '.3g')})"
    )
    gain = f"{one.gain:.2f} × ({ends(one.gain_interval, 1, '.2f')})" if one.assumes else ""
    return (
        f"  {one.name}",
        f"{one.batch:,.0f}{'+' if _is_bound(one, reach) else ''}",
        f"{one.devices:.3g}",
        f"{one.throughput:,.0f}",
        f"{one.each:,.0f}",
        cost,
        gain,
    )


def _as_object(
    found: Sequence[Point],
    problems: Sequence[str],
    fitted: Fit | None,
    why_not: str,
    usual: dict[str, Any],
    step: float | None,
) -> dict[str, Any]:
    from dataclasses import asdict

    from handful_evidence import own_server

    made: dict[str, Any] = {
        "points": [
            {
                "run": one.run.source,
                "tool": one.run.tool,
                "batch": one.known["batch"],
                "context": one.known["context"],
                "measured": one.measured,
                "floor": one.floor,
                "binds": one.binds,
                "bandwidth_utilisation": one.bandwidth_utilisation,
                "flops_utilisation": one.flops_utilisation,
                "notes": list(one.run.notes),
            }
            for one in found
            if not one.why_not
        ],
        "not_compared": {one.run.source: one.why_not for one in found if one.why_not},
        "not_read": list(problems),
    }
    if fitted is None:
        return {**made, "fit": None, "why_not": why_not}
    made["fit"] = {
        "values": dict(fitted.values),
        "intervals": {name: list(ends) for name, ends in fitted.intervals.items()},
        "warnings": list(fitted.warnings),
        "knee": own_server.knee(fitted, usual),
    }
    parts = own_server.parts(fitted, usual)
    first = own_server.first_token(found, fitted, usual)
    near = first.nearest
    made["load"] = {
        "batch": usual["batch"],
        "context": usual["context"],
        "prompt_per_answer": usual["prompt_per_answer"],
        "step": parts,
        "binds": own_server.limit(parts),
        "predicted": _loads(fitted, usual),
        "time_to_first_token": {
            "measured_median": first.median if near else None,
            "measured_low": first.low if near else None,
            "measured_high": first.high if near else None,
            "measured_points": first.count,
            "nearest": near and near.run.source,
            "nearest_measured": near and near.run.time_to_first_token,
            "nearest_batch": near and near.known["batch"],
            "nearest_in_flight": near and near.run.concurrency,
            "prompt": first.prompt,
            "prompt_alone": first.alone or None,
        },
    }
    if step is not None:
        usable = [one for one in found if not one.why_not]
        reach = own_server.REACH * max(one.known["batch"] for one in usable)
        now = own_server.best_at(fitted, usual, step, reach)
        more = own_server.changes(fitted, usual, step, reach) if now.batch else []
        best = own_server.best_measured(usable, step)
        made["within"] = {
            "time_per_output_token": step,
            "measured": best and _measured(best),
            "now": asdict(now),
            "changes": [asdict(one) for one in more],
        }
    return made


def _measured(one: Point) -> dict[str, Any]:
    """Return the best measured point within a promise, as JSON has it."""
    known = one.known
    throughput = known["batch"] / one.measured
    price = known.get("device_price")
    return {
        "run": one.run.source,
        "batch": known["batch"],
        "context": known["context"],
        "in_flight": one.run.concurrency,
        "measured": one.measured,
        "devices": known["devices"],
        "throughput": throughput,
        "each": throughput / known["devices"],
        "cost": known["devices"] * price / throughput if price else None,
    }
