"""Tables for pages: traffic that sellers disclosed."""

from __future__ import annotations

from handful_evidence.published_tokens import trained_models

from .table import Table


def disclosed_table(tokens_per_parameter: float = 20) -> Table:
    """Return `trained_models` as head and rows of text for a page.

    What we have not read ourselves is left out.
    """
    from handful.units import format_value

    return Table(
        ["Model", "Active parameters", "Tokens", f"Over {tokens_per_parameter:g} for each"],
        [
            [
                row["name"],
                format_value(row["active_parameters"], "1"),
                format_value(row["pretraining_tokens"], "1"),
                "× "
                + format_value(
                    row["overtraining_multiple"],
                    "1",
                    3 if row["overtraining_multiple"] >= 100 else 2,
                ),
            ]
            for row in trained_models(tokens_per_parameter)
            if row["verified"]
        ],
    )
