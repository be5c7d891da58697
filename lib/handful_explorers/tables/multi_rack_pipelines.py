"""Tables for pages: pipelines over several racks."""

from __future__ import annotations

from typing import Any

from handful.latency import weight_memory

from .table import Table


def memory_played(
    stages: tuple[int, ...] = (1, 2, 4, 8), micro_batch: float = 2000, **choice: Any
) -> Table:
    """Return the memory of a chip of a decoding pipeline, as head and rows of text.

    As few micro-batches are in flight as keep all stages busy.

    The number of micro-batches is found by playing the pipeline, not taken from a formula; `choice`
    is that of ``scenario.values``.

    >>> [row[:2] for row in memory_played()[1]]
    [['1', '1'], ['2', '2'], ['4', '4'], ['8', '8']]
    """
    from handful.latency import cache_memory
    from handful.scenario import values
    from handful.units import format_value
    from handful_evidence.simulate.pipeline import decode

    known: dict[str, Any] = values(**choice)  # none of those below is unknown
    rows = []
    for many in stages:
        busy = next(
            m
            for m in range(1, 4 * many)
            if decode(many, m, 1e-3, rounds=20)["utilisation"] > 1 - 1e-9
        )
        chips = many * known["devices"]
        weights = known["bytes_per_parameter"] * known["total_parameters"] / chips
        caches = busy * micro_batch * cache_memory(known) / chips
        rows.append(
            [
                str(many),
                str(busy),
                *(format_value(size, "B") for size in (weights, caches, weights + caches)),
            ]
        )
    return Table(
        [
            "Stages",
            "Micro-batches that fill them",
            "Weights on a chip",
            "Caches on a chip",
            "Both",
        ],
        rows,
    )


def domains_table(model: str = "DeepSeek-V3", precision: str = "fp8") -> Table:
    """Return scale-up domains of GPUs against that of the first H100, as head and rows of text.

    The last column is the time to read a model's weights.

    >>> [row for row in domains_table()[1] if row[0] == "GB200 NVL72"][0][1:4]
    ['72', '2.39', '21.5']
    """
    from handful.pipelining import domains
    from handful.scenario import values
    from handful.units import format_value

    size = weight_memory(values(model=model, precision=precision))
    found = {row["name"]: row for row in domains()}
    base, rows = found["H100 SXM"], []
    for name in (
        "A100 80GB",
        "H100 SXM",
        "H200 SXM",
        "B200 SXM",
        "GB200 NVL72",
        "GB300 NVL72",
        "Vera Rubin NVL72",
    ):
        row = found[name]
        chip = (
            row["bandwidth_bytes_per_s"]
            / row["devices"]
            / (base["bandwidth_bytes_per_s"] / base["devices"])
        )
        whole = row["bandwidth_bytes_per_s"] / base["bandwidth_bytes_per_s"]
        rows.append(
            [
                name if row["verified"] else f"{name} (announced)",
                str(row["devices"]),
                format_value(chip, "1"),
                format_value(whole, "1"),
                format_value(row["capacity_bytes"], "B"),
                format_value(row["drain_time_s"], "s"),
                format_value(size / row["bandwidth_bytes_per_s"], "s"),
            ]
        )
    return Table(
        [
            "Domain",
            "Chips",
            "Bandwidth of a chip, × H100",
            "Bandwidth of the domain, × H100",
            "Memory",
            "Reads it all in",
            f"Reads {model} in",
        ],
        rows,
    )
