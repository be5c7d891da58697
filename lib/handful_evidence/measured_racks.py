"""Compare published all-to-alls over many chips with the closed forms of ``handful.racks``."""

from __future__ import annotations

from typing import Any

from handful import experts, racks
from handful.facts import get, load

_USER_SPEED = 21  # tokens a second: DeepSeek's overview of its service says 20 to 22, and no batch


def services() -> list[dict[str, Any]]:
    """Return published services over many nodes.

    Each has its step, and the least time that the all-to-alls of a step take.

    A dictionary a row: `name`, `chips`, `device_batch`, `step` and `traffic` in seconds.  Where no
    batch is published it follows from the speed that users see.

    >>> [
    ...     0.3 < row["traffic"] / row["step"] < 0.5 for row in services()
    ... ]  # less than half: two half-batches hide it
    [True, True, True]
    """
    found = []
    for name in ("deepseek_decode", "deepseek_profile_decode", "sglang_h100_decode_2k"):
        row = get("measured_serving", name)
        speed = row["tokens_per_s_per_chip"]
        each = float(row["batch"].split()[0]) if row["batch"] else speed / _USER_SPEED
        known = experts.expert_values("H100 SXM", "DeepSeek-V3", precision="fp8") | {
            "devices": row["chips"],
            "batch": each * row["chips"],
        }
        found.append(
            {
                "name": f"{row['model']}, {row['system'].split(' ')[0]}, {row['date'][:7]}",
                "chips": row["chips"],
                "device_batch": each,
                "step": each / speed,
                "traffic": experts.communication_time(known),
            }
        )
    return found


def all_to_all_kernels(hardware: str = "H100 SXM") -> list[dict[str, float]]:
    """Return measured all-to-all kernels beside the computed ones.

    The computed ones are ``dispatch_time`` and ``combine_time`` without their constant.

    A dictionary a row, in seconds: `devices`, `dispatch` and `combine` measured, `dispatch_bytes`
    and `combine_bytes` the time of the bytes alone.

    >>> rest = [
    ...     row["dispatch"] - row["dispatch_bytes"] for row in all_to_all_kernels()[1:]
    ... ]  # what bytes do not explain
    >>> all(40e-6 < seconds < 60e-6 for seconds in rest)
    True
    """
    found = []
    for row in load("measured_all_to_all"):
        known = experts.expert_values(hardware, row["model"], precision="fp8") | {
            "devices": row["chips"],
            "device_batch": row["tokens_per_chip"],
            "kernel_overhead": 0,
        }
        found.append(
            {
                "devices": row["chips"],
                "dispatch": row["dispatch_s"],
                "combine": row["combine_s"],
                "dispatch_bytes": racks.dispatch_time(known),
                "combine_bytes": racks.combine_time(known),
            }
        )
    return found
