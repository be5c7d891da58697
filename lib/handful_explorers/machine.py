"""The explorer of the page on the reader's own machine."""

from __future__ import annotations

from ipywidgets import Dropdown, FloatLogSlider

from handful import balance, latency, scenario
from handful_evidence import measure

from .plotting.explorer import Control, Curve, Explorer, Mark, Points, Preset, Scale, Sweep

_RECORDED = measure.recorded_reports()[0]
_LAYER = {
    "devices": 1,
    "total_parameters": _RECORDED.width**2,
    "active_parameters": _RECORDED.width**2,
    "context": 0,
    "kv_bytes_per_token": 0,
    "window_cache_memory": 0,
    "window_tokens": 1,
    "routed_parameters": 0,
    **scenario.CONSTANTS,
}


def _slider(value: float, low: float, high: float) -> FloatLogSlider:
    return FloatLogSlider(value=value, min=low, max=high, step=0.01)


one_layer_on_this_computer = Explorer(
    "one-layer-on-this-computer",
    "One layer, predicted from two rates",
    x=Sweep("batch", 1, 1024, at=8),
    y=Scale("Time of one product", "s"),
    curves=[
        Curve(latency.step_time_lecture, "Roofline", role="total"),
        Curve(latency.full_weight_time, "Read weights"),
        Curve(latency.compute_time, "Compute"),
    ],
    marks=[Mark(balance.balance_batch, "predicted knee", whole="near")],
    points=[
        Points(
            f"measured on {_RECORDED.name}",
            [(p.batch, p.measured) for p in _RECORDED.points],
            when={"bytes_per_parameter": _RECORDED.bytes_per_parameter},
        )
    ],
    given=_LAYER,
    controls=[
        Control(
            Dropdown(
                options=[("32 bits", _RECORDED.bytes_per_parameter), ("16 bits", 2)],
                value=_RECORDED.bytes_per_parameter,
            ),
            "bytes_per_parameter",
            "Numbers of",
        ),
        Control(_slider(_RECORDED.peak_flops, 9, 15), "peak_flops", "Arithmetic"),
        Control(_slider(_RECORDED.memory_bandwidth, 9, 13), "memory_bandwidth", "Memory bandwidth"),
    ],
    presets=[
        Preset(
            "The recorded machine",
            {
                "bytes_per_parameter": _RECORDED.bytes_per_parameter,
                "peak_flops": float(f"{_RECORDED.peak_flops:.3g}"),
                "memory_bandwidth": float(f"{_RECORDED.memory_bandwidth:.3g}"),
            },
        ),
        Preset(
            "A large GPU in 16 bits",
            {"bytes_per_parameter": 2, "peak_flops": 989e12, "memory_bandwidth": 3.35e12},
        ),
    ],
    caption="A square layer against a batch of vectors. "
    "The measurement in the page, in 32 bits, sets both sliders for your machine, and so can you.",
)
