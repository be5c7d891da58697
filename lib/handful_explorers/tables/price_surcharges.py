"""Tables for pages: what sellers charge."""

from __future__ import annotations

from typing import Any

from handful import facts
from handful.price_surcharges import measured_ratios, seller, spoken
from handful.units import format_value
from handful_evidence import price_lists

from .table import Table


def surcharge_table(**choice: Any) -> Table:
    """Return every kind of surcharge on long prompts that is on file, as head and rows of text.

    The last column is the cache that it would imply.

    `choice` is what ``price_lists.interpret`` assumes: chip, precision, active parameters.

    >>> head, rows = surcharge_table()
    >>> head[2:5], [row[2:5] for row in rows if "Gemini 3.1" in row[0]]
    (['Prompts', 'Cached', 'Answers'], [['× 2', '× 2', '× 1.5']])
    """
    kinds: dict[tuple[str, ...], list[str]] = {}
    for row in facts.load("prices"):
        found = price_lists.interpret(row, **choice)
        at = found["long_context_threshold_tokens"]
        if at:
            steps = tuple(
                _times(found[f"long_{what}"])
                for what in ("input_over_input", "cached_over_cached", "output_over_output")
            )
            key = (
                seller(row),
                format_value(at, "token"),
                *steps,
                format_value(found["implied_kv_bytes_per_token"], "B/token"),
            )
            kinds.setdefault(key, []).append(spoken(row.name))
    head = ["Price list", "Above", "Prompts", "Cached", "Answers", "Cache it would imply"]
    return Table(
        head, [[f"{key[0]}: {', '.join(names)}", *key[1:]] for key, names in kinds.items()]
    )


def cache_table() -> Table:
    """Return the lists that charge for writing a cache, as head and rows of text.

    The columns are what they ask and what keeping comes to.

    "Keeping" is the price that the two retentions differ by, over the time that they differ by,
    from the lowest to the highest of a row's lists.

    >>> head, rows = cache_table()
    >>> [cell.replace(chr(160), " ") for cell in rows[0][1:4]]  # thirteen lists of one seller
    ['× 0.1', '× 1.25 for 5 min', '× 2 for 1 h']
    """
    kinds: dict[tuple[str, ...], list[tuple[facts.Row, float]]] = {}
    for row in facts.load("prices"):
        found = price_lists.interpret(row)
        if found["cache_write_over_input"] is None:
            continue
        writes = [
            f"{_times(found[f'{long}cache_write_over_input'])} for "
            f"{format_value(found[f'{long}cache_retention_s'], 's')}"
            for long in ("", "long_")
        ]
        key = (seller(row), _times(found["cached_over_input"]), *writes)
        kinds.setdefault(key, []).append((row, found["hold_usd_per_mtok_hour"]))
    head, rows = (
        ["Price list", "Hit", "Write", "Longer write", "Keeping, per million tokens and hour"],
        [],
    )
    for (name, *cells), members in kinds.items():
        more = f" and {len(members) - 1} more" if len(members) > 1 else ""
        ends = dict.fromkeys(
            format_value(end(rate for _, rate in members), "$") for end in (min, max)
        )
        rows.append([f"{name}: {spoken(members[-1][0].name)}{more}", *cells, " to ".join(ends)])
    return Table(head, rows)


def output_table() -> Table:
    """Return what sellers charge for a token of an answer, as head and rows of text.

    The unit is the price of a prompt's token.

    >>> next(row for row in output_table()[1] if row[0] == "Anthropic")
    ['Anthropic', '17', '5', '5']
    """
    found: dict[str, list[float]] = {}
    for row in facts.load("prices"):
        found.setdefault(seller(row), []).append(
            row["output_usd_per_mtok"] / row["input_usd_per_mtok"]
        )
    rows = [
        [
            name,
            str(len(ratios)),
            format_value(min(ratios), "1", 2),
            format_value(max(ratios), "1", 2),
        ]
        for name, ratios in found.items()
    ]
    return Table(
        ["Seller", "Price lists", "Lowest ratio", "Highest ratio"],
        sorted(rows, key=lambda row: -int(row[1])),
    )


def measured_ratio_table() -> Table:
    """Return `measured_ratios` as head and rows of text for a page.

    >>> measured_ratio_table()[1][0][-1]
    '2.2'
    """
    rows = [
        [
            f"{_team(pair['name'])}, {pair['date']}",
            pair["system"].split(" node")[0],
            format_value(pair["prefill"], "token/s"),
            format_value(pair["decode"], "token/s"),
            format_value(pair["ratio"], "1", 2),
        ]
        for pair in measured_ratios()
    ]
    return Table(["Published by", "Chip", "Prefill, a chip", "Decode, a chip", "Ratio"], rows)


def _team(name: str) -> str:
    kind, _, rest = name.partition("_")
    team = {"deepseek": "DeepSeek", "sglang": "SGLang", "vllm": "vLLM"}[kind]
    return (
        f"{team} ({'profile' if 'profile' in rest else 'service'})" if kind == "deepseek" else team
    )


def _times(ratio: float | None) -> str:
    return "–" if ratio is None else f"× {ratio:.4g}"
