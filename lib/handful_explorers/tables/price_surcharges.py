"""Tables for pages: what sellers charge."""

from __future__ import annotations

from handful import facts
from handful.price_surcharges import seller, spoken
from handful.units import format_value
from handful_evidence import price_lists

from .table import Table


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


def _times(ratio: float | None) -> str:
    return "–" if ratio is None else f"× {ratio:.4g}"
