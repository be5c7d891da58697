"""Explorers of the chapter on memory tiers.

They show what a cache is worth, where it waits, and how far it can grow.
"""

from __future__ import annotations

from ipywidgets import Dropdown, FloatLogSlider, FloatSlider, IntSlider

from handful import balance, facts, latency, memory_wall, price_surcharges, prices, tiers
from handful_evidence import price_lists

from .plotting.explorer import Control, Curve, Explorer, Guess, Mark, Preset, Readout, Scale, Sweep

# Sellers that list a price of writing, a row for each pair of ratios.
_WRITERS = (
    "claude-opus-4-5",
    "claude-opus-5-5",
    "claude-fable-5-2",
    "gpt-6-sol",
    "gpt-6.1-sol",
    "kimi-k3",
)


def _writers(names=_WRITERS) -> list[tuple[str, str, dict]]:
    """Return (label, name, what ``price_lists.interpret`` says) of each price list."""
    rows = [facts.get("prices", name) for name in names]
    return [
        (
            f"{price_surcharges.seller(row)}: {price_surcharges.spoken(row.name)}",
            row.name,
            price_lists.interpret(row),
        )
        for row in rows
    ]


def _ratios(found: dict) -> dict[str, float]:
    return {
        "cache_read_ratio": found["cached_over_input"],
        "cache_write_ratio": found["cache_write_over_input"],
    }


_OPUS = price_lists.interpret(facts.get("prices", _WRITERS[0]))

cache_bill = Explorer(
    "cache-bill",
    "When a cache has paid for itself",
    x=Sweep("reuses", 0, 12, log=False, at=1, title="Further uses of the same prompt"),
    y=Scale("Bill, in prices of computing it once", log=False, min=0),
    curves=[
        Curve(
            price_surcharges.bill_cached, "Kept, at the list's usual price", role="total", id="kept"
        ),
        Curve(price_surcharges.bill_computed, "Computed every time", id="computed"),
        Curve(
            price_surcharges.bill_cached,
            "Kept for an hour, at twice the input price",
            id="hour",
            given={"cache_write_ratio": _OPUS["long_cache_write_over_input"]},
        ),
    ],
    marks=[Mark(prices.break_even_reuses, "paid for")],
    controls=[
        Control(
            Dropdown(options=[(label, name) for label, name, _ in _writers()], value=_WRITERS[0]),
            "price_list",
            "Price list",
            rows={name: _ratios(found) for _, name, found in _writers()},
        )
    ],
    readouts=[Readout(prices.break_even_reuses, "Uses that pay for the write", whole="up")],
    presets=[
        Preset(
            "Used once more",
            {"reuses": 1, "price_list": "claude-opus-4-5"},
            "hits cost a tenth, writes a little more than computing",
            "1:48:58",
        ),
        Preset("Ten turns of a chat", {"reuses": 10, "price_list": "claude-opus-4-5"}, "", ""),
        Preset("A write at no extra price", {"reuses": 1, "price_list": "kimi-k3"}, "", ""),
    ],
    guess=Guess(
        "To write a prompt into a cache costs a quarter more than to compute it, and to read it "
        "back costs a tenth. After how many further uses has the cache paid for itself?",
        mark="paid for",
    ),
    caption="Every read is taken to fall within the time for which the cache is kept.",
)

_RENEWED = ("claude-opus-4-5", "claude-opus-5-5", "claude-fable-5-2")

pause_bill = Explorer(
    "pause-bill",
    "A pause: keep reading, let it lapse, or pay for the hour",
    x=Sweep(
        "hold_time",
        30,
        8 * 3600,
        at=1200,
        points=481,
        title="Time until the prompt is wanted again",
    ),
    y=Scale("Bill, in prices of computing it once", log=False, min=0, max=3),
    curves=[
        Curve(
            price_surcharges.bill_of_reading,
            "Read it every five minutes",
            id="ping",
            given={"cache_retention": _OPUS["cache_retention_s"]},
        ),
        Curve(
            price_surcharges.bill_of_lapsing,
            "Let it lapse, write it again",
            role="total",
            id="lapse",
        ),
        Curve(
            price_surcharges.bill_of_reading,
            "Written for an hour, read every hour",
            id="hour",
            given={
                "cache_retention": _OPUS["long_cache_retention_s"],
                "write_ratio_added": _OPUS["long_cache_write_over_input"]
                - _OPUS["cache_write_over_input"],
            },
        ),
    ],
    marks=[
        Mark(prices.refresh_limit, "rule", given={"cache_retention": _OPUS["cache_retention_s"]})
    ],
    controls=[
        Control(
            Dropdown(
                options=[(label, name) for label, name, _ in _writers(_RENEWED)], value=_RENEWED[0]
            ),
            "price_list",
            "Price list",
            rows={name: _ratios(found) for _, name, found in _writers(_RENEWED)},
        )
    ],
    readouts=[
        Readout(
            prices.refresh_limit,
            "Reading pays up to",
            given={"cache_retention": _OPUS["cache_retention_s"]},
        )
    ],
    presets=[
        Preset("Twenty minutes", {"hold_time": 1200, "price_list": "claude-opus-4-5"}, "", ""),
        Preset("Two hours", {"hold_time": 7200, "price_list": "claude-opus-4-5"}, "", ""),
        Preset(
            "Reads at a twentieth", {"hold_time": 7200, "price_list": "claude-opus-5-5"}, "", ""
        ),
    ],
    caption="The first write is left out, since all three pay it; a read renews the time for "
    "which a cache is kept.",
)


def _device(start: str) -> facts.Row:
    """Return the row of the tiers whose name begins so."""
    return next(row for row in facts.load("memory_tiers") if row.name.startswith(start))


def _medium(start: str, chips: float) -> dict[str, float]:
    """Return the inputs of ``tiers.kept_cost`` for a device.

    The price is its own, else that of its kind, in the middle of its range.
    """
    row = _device(start)
    offer = next(offer for offer in tiers.offers() if offer["name"] == row.name)
    return {
        "storage_price": offer["usd_per_gb"] / 1e9,
        "tier_capacity": row["capacity_bytes"],
        "tier_bandwidth": row["read_bandwidth_bytes_per_s"],
        "waiting_chips": chips,
    }


hold_or_recompute = Explorer(
    "hold-or-recompute",
    "Compute again, hold, or fetch",
    x=Sweep("hold_time", 1e-2, 1e8, at=300, title="Time until it is wanted again"),
    y=Scale("Cost of one token of context", "$/token", min=1e-12, max=1e-6),
    curves=[
        Curve(tiers.kept_cost_in_memory, "Chip memory", id="memory"),
        Curve(
            tiers.kept_cost,
            "Memory of a Grace, as on GB200",
            given=_medium("Grace", 2),
            id="host",
        ),
        Curve(tiers.kept_cost, "Fast flash", given=_medium("Micron 9650 Pro 7.68", 1), id="flash"),
        Curve(
            tiers.kept_cost,
            "Spinning disk",
            given=_medium("Seagate Exos M 30 TB, SATA", 1),
            id="disk",
        ),
        Curve(
            tiers.rematerialise_cost_with_attention,
            "Compute again",
            role="reference",
            id="again",
        ),
    ],
    controls=[
        Control(
            FloatSlider(value=1, min=0, max=1, step=0.01),
            "idle_share",
            "Chips wait for this share of the reading",
        ),
        Control(
            FloatSlider(value=0.3, min=0.05, max=1, step=0.05),
            "model_flops_utilisation",
            "Share of the peak that prefill reaches",
        ),
        Control(
            Dropdown(
                options=[
                    ("three years", 3 * 365.25 * 86400.0),
                    ("five years", tiers.FIVE_YEARS),
                    ("ten years", 2 * tiers.FIVE_YEARS),
                ],
                value=tiers.FIVE_YEARS,
            ),
            "storage_lifetime",
            "A device is paid off in",
        ),
    ],
    presets=[
        Preset(
            "Five minutes",
            {"hold_time": 300, "idle_share": 1.0},
            "five minutes and an hour might identify flash and disk",
            "2:01:52",
        ),
        Preset(
            "One hour",
            {"hold_time": 3600, "idle_share": 1.0},
            "five minutes and an hour might identify flash and disk",
            "2:01:52",
        ),
        Preset(
            "Reading hidden behind other work",
            {"hold_time": 3600, "idle_share": 0.0},
            "the time held is probably the drain time of the tier",
            "2:00:37",
        ),
        Preset(
            "A month",
            {"hold_time": 2_592_000, "idle_share": 1.0},
            "three ways: compute, hold, retrieve",
            "1:56:32",
        ),
    ],
    caption="A line's flat part is its fare: what reading back costs. Its slope is its rent. The "
    "lowest line wins. "
    "Storage is its medium alone; chip memory is rented with its chip. Computing again counts "
    "attention over the context in the bar. The Grace is that of a GB200, which two chips share; "
    "other chips have a host of their own.",
)

# Caches at a byte a number, so that kinds of attention are compared and not formats.
_TERMS = {name: memory_wall.kv_read_terms(name, bytes_per_element=1) for name in memory_wall.KINDS}
_LABELS = {
    "Llama 3.1 70B": "All (Llama 70B)",
    "Gemma 3 27B": "Windows (Gemma 3)",
    "DeepSeek-V3": "Latents (V3)",
    "DeepSeek-V3.2": "Chosen (V3.2)",
    "DeepSeek-V4-Pro": "Compressed (V4)",
}
_WHO = (
    "Llama 3.1 70B reads all tokens in all layers, Gemma 3 27B in one layer of six, DeepSeek-V3 "
    "all of them as latents, "
    "V3.2 a chosen few, V4-Pro compressed ones; at one byte a number. "
)
# Two-level selection with as many blocks as MiniMax M3 chooses; a block's summary as large as a
# token's entry.
_BLOCKS = {
    "kv_bytes_per_token": _TERMS["DeepSeek-V3"]["kv_bytes_per_token"],
    "selected_blocks": 16,
    "summary_bytes": _TERMS["DeepSeek-V3"]["kv_bytes_per_token"],
}

reads_against_context = Explorer(
    "reads-against-context",
    "What a step reads of one context",
    x=Sweep("context", 1e3, 1e8, at=131072),
    y=Scale("Read for one sequence", "B", min=1e6, max=1e14),
    curves=[
        *(
            Curve(
                memory_wall.kv_read_compressed,
                label,
                given=_TERMS[name],
                id=f"m{i}",
                role="total" if name == "DeepSeek-V3.2" else "part",
            )
            for i, (name, label) in enumerate(_LABELS.items())
        ),
        Curve(
            memory_wall.balanced_block_read,
            "Balanced blocks: a root",
            role="reference",
            given=_BLOCKS,
            id="root",
        ),
    ],
    marks=[
        Mark(
            memory_wall.readable,
            "your machine reads",
            axis="y",
            needs=latency.fewest_devices_for_weights,
            none="nothing of a cache in that time: its weights alone take longer",
        )
    ],
    controls=[
        Control(
            FloatLogSlider(value=0.02, min=-3, max=0, step=0.05),
            "read_budget",
            "A step may read for",
            "s",
        ),
        Control(IntSlider(value=64, min=1, max=4096), "batch", "Batch"),
    ],
    presets=[
        Preset(
            "Where choosing is nearly free",
            {"context": 4096},
            "a square root on the cache's term",
            "12:20",
        ),
        Preset(
            "Where it is linear again",
            {"context": 1048576},
            "a square root on the cache's term",
            "12:20",
        ),
        Preset(
            "A million tokens",
            {"context": 1e6, "batch": 64},
            "Patel: no company goes beyond a million",
            "1:52:22",
        ),
        Preset(
            "A month of an employee",
            {"context": 1e8, "batch": 1},
            "a hundred million tokens",
            "1:53:09",
        ),
    ],
    caption=_WHO + "Choosing tokens takes most of the reading away, and leaves a small key of "
    "every token to be read: constant, then linear again.",
)

kept_against_context = Explorer(
    "kept-against-context",
    "What has to be kept of it",
    x=Sweep("context", 1e3, 1e8, at=1e6),
    y=Scale("Kept for one sequence", "B", min=1e6, max=1e14),
    curves=[
        Curve(
            memory_wall.kv_stored,
            label,
            given=_TERMS[name],
            id=f"m{i}",
            role="total" if name == "DeepSeek-V3.2" else "part",
        )
        for i, (name, label) in enumerate(_LABELS.items())
    ],
    marks=[
        Mark(
            memory_wall.cache_room,
            "your machine has room for",
            axis="y",
            limit=True,
            needs=latency.fewest_devices_for_weights,
        )
    ],
    controls=[Control(IntSlider(value=64, min=1, max=4096), "batch", "Batch")],
    presets=[
        Preset(
            "A million tokens",
            {"context": 1e6, "batch": 64},
            "the limit is bandwidth and capacity",
            "1:52:52",
        ),
        Preset(
            "A month of an employee",
            {"context": 1e8, "batch": 1},
            "a hundred million tokens",
            "1:53:09",
        ),
    ],
    caption="Every chosen token may be another one next time, so all are kept: the lines of "
    "DeepSeek-V3 and V3.2 "
    "lie together here and apart above.",
)

wall = Explorer(
    "wall",
    "The memory wall of one machine",
    x=Sweep("batch", 1, 65536, at=64),
    y=Scale("Context of every sequence", "token", min=100, max=1e9),
    curves=[
        Curve(
            memory_wall.context_that_fits,
            "Caches fill the memory",
            role="total",
            whole="down",
            none="at no context",
            needs=latency.fewest_devices_for_weights,
        ),
        Curve(memory_wall.wall_context, "Caches are half of what is read", whole="near"),
    ],
    marks=[
        Mark(balance.balance_context, "caches take as long as arithmetic", axis="y", whole="near")
    ],
    presets=[
        Preset(
            "A full machine",
            {"batch": 2000},
            "the limit is memory bandwidth and capacity",
            "1:52:52",
        ),
        Preset(
            "Sixty-four at a time",
            {"batch": 64},
            "Patel: no company goes beyond a million",
            "1:52:22",
        ),
        Preset(
            "A dense 70B on eight H100",
            {"batch": 64, "model": "Llama 3.1 70B", "hardware": "H100 SXM", "precision": "fp8"},
            "",
            "",
        ),
    ],
    caption="Above the line of full memory a batch does not fit; where that line is missing, no "
    "batch does. Above the other a step spends most of its reading on caches.",
)

block_size = Explorer(
    "block-size",
    "Where a square root comes from",
    x=Sweep("block_tokens", 1, 65536, at=128, title="Block"),
    y=Scale("Read for one sequence", "B"),
    curves=[
        Curve(memory_wall.block_read, "Summaries and chosen blocks", role="total"),
        Curve(memory_wall.kv_read_dense, "All tokens", role="reference"),
    ],
    marks=[
        Mark(memory_wall.block_tokens, "balanced block", whole="near"),
        Mark(memory_wall.balanced_block_read, "least", axis="y"),
    ],
    given=_BLOCKS,
    controls=[
        Control(
            FloatLogSlider(value=1048576, base=2, min=12, max=27, step=0.25), "context", "Context"
        ),
        Control(IntSlider(value=16, min=1, max=64), "selected_blocks", "Blocks read in full"),
    ],
    presets=[
        Preset(
            "A million tokens",
            {"context": 2.0**20, "block_tokens": 128, "selected_blocks": 16},
            "",
            "",
        ),
        Preset(
            "Four times the context",
            {"context": 2.0**22, "block_tokens": 128, "selected_blocks": 16},
            "a square root on the cache's term",
            "12:20",
        ),
    ],
    caption="Small blocks have many summaries, large ones are read at length. Only a block that "
    "is cut anew as the "
    "context grows sits in the valley; at a fixed block the reading is linear.",
)
