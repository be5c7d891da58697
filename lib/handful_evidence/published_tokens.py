"""Tokens that sellers published: those that models were trained on, and those that they served."""

from __future__ import annotations

from calendar import monthrange
from typing import Any

from handful.facts import get, load
from handful.overtraining import overtraining


def published_traffic() -> list[tuple[str, float, float]]:
    """Return Google's published token counts.

    Each is a label ("2025-07"), seconds since January 2024, and tokens a second over that month.

    They count all products, and tokens read as well as written.

    >>> [(label, round(rate / 1e6)) for label, _, rate in published_traffic()][-2:]
    [('2025-10', 485), ('2026-05', 1195)]
    """
    rows = [
        (row.name[-4:], row["value"])
        for row in load("scaling_laws")
        if row.name.startswith("google_tokens_")
    ]
    months = [(int(stamp[:2]) - 24) * 12 + int(stamp[2:]) - 1 for stamp, _ in rows]
    return [
        (
            f"20{stamp[:2]}-{stamp[2:]}",
            month * 365.25 / 12 * 86400,
            value / (monthrange(2000 + int(stamp[:2]), int(stamp[2:]))[1] * 86400),
        )
        for (stamp, value), month in zip(rows, months, strict=True)
    ]


def fleet_output() -> float:
    """Return the tokens a second that DeepSeek's service generated.

    They are over a day of February 2025, by its maker's count.

    >>> round(fleet_output() / 1e6, 2)
    1.94
    """
    return (
        float(get("measured_serving", "deepseek_fleet")["output_or_context_tokens"].split()[0])
        / 86400
    )


def trained_models(tokens_per_parameter: float = 20) -> list[dict[str, Any]]:
    """List the models whose pre-training tokens are published, the most over-trained first.

    Each is a dict of name, year, active_parameters, pretraining_tokens, overtraining_multiple,
    source, verified.

    >>> {row["name"]: round(row["overtraining_multiple"], 1) for row in trained_models()}[
    ...     "Llama 3.1 405B"
    ... ]
    1.9
    """
    rows = [
        {
            "name": row.name,
            "year": row["year"],
            "active_parameters": row["active_params_reported"],
            "pretraining_tokens": row["pretraining_tokens"],
            "source": row["tokens_source"] or row.source,
            "verified": not (row["tokens_source"] or "").startswith("unverified"),
            "overtraining_multiple": overtraining(
                pretraining_tokens=row["pretraining_tokens"],
                active_parameters=row["active_params_reported"],
                tokens_per_parameter=tokens_per_parameter,
            ),
        }
        for row in load("models")
        if row["pretraining_tokens"] and row["active_params_reported"]
    ]
    return sorted(rows, key=lambda row: -row["overtraining_multiple"])
