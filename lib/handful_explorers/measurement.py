"""Explorers of the page on theory against measurement."""

from __future__ import annotations

import math
from functools import cache

from ipywidgets import Dropdown, FloatLogSlider

from handful import latency, serving
from handful_evidence import validation

from .plotting.explorer import Control, Curve, Explorer, Points, Preset, Scale, Sweep


def _rounded(points) -> list[list[float]]:
    return [[float(f"{x:.4g}"), float(f"{y:.4g}")] for x, y in points]


_PAIRS = {
    f"{model}-{chip}".lower().replace(" ", "-"): (model, chip)
    for model, chip in validation.fitted_pairs()
}


@cache
def _sets() -> dict[str, dict]:
    """Return predictions for each model and chip, by the floor and by fits.

    The fits had not seen the row that they predict.
    """
    found = {}
    for key, (model, chip) in _PAIRS.items():
        rows = validation.rows_of(model, chip)
        ratios = validation.cross_validate(rows)
        found[key] = {
            "text": f"{model} on {chip}",
            "unit": "s",
            "shown": {
                "floor": {
                    "text": "the floor alone",
                    "at": _rounded((latency.step_time_mixed(c.known), c.measured) for c in rows),
                },
                "terms": {
                    "text": "a fit to other rows",
                    "at": _rounded(
                        (c.measured / r, c.measured) for c, r in zip(rows, ratios, strict=True)
                    ),
                },
            },
        }
    return {"sets": found}


predicted_and_measured = Explorer(
    "predicted-and-measured",
    "Time of a token, predicted and measured",
    kind="scatter",
    data=_sets,
    controls=[
        Control(
            Dropdown(
                options=[(f"{model} on {chip}", key) for key, (model, chip) in _PAIRS.items()],
                value="llama-3.1-70b-h100-sxm",
            ),
            "set",
            "Servers",
        ),
        Control(
            Dropdown(
                options=[("the floor alone", "floor"), ("floor and four numbers", "terms")],
                value="floor",
            ),
            "shown",
            "Predicted by",
        ),
    ],
    presets=[
        Preset("The floor, a dense model", {"set": "llama-3.1-70b-h100-sxm", "shown": "floor"}),
        Preset("With four numbers", {"set": "llama-3.1-70b-h100-sxm", "shown": "terms"}),
        Preset("Hundreds of experts", {"set": "deepseek-v3-b200-sxm", "shown": "terms"}),
    ],
    caption="Each dot is a server under steady load. On the diagonal measured and predicted "
    "agree; "
    "with four numbers, each dot is predicted by a fit that has not seen it.",
)


_DENSE = ("Llama 3.1 70B", "H100 SXM")
_HERE = {"model": _DENSE[0], "hardware": _DENSE[1], "precision": "fp8"}
_SERVED = {
    name: value for name, value in validation.terms(*_DENSE).items() if name != "acceptance"
} | {"kept_share": 1, "reduce_bytes": 2}
_REACH = validation.fitted_range(*_DENSE)
_FEW, _MANY, _SHORT, _LONG = (int(end) for name in ("batch", "context") for end in _REACH[name])
_ROWS = sorted(
    {
        (c.batch, c.measured)
        for c in validation.rows_of(*_DENSE)
        if c.devices == 8 and c.precision == "fp8" and abs(c.known["prompt_per_answer"] - 1) < 0.01
    }
)

what_a_server_adds = Explorer(
    "what-a-server-adds",
    "What a server adds to the floor",
    x=Sweep("batch", _FEW, _MANY, at=_MANY),
    y=Scale("Time of a step", "s"),
    curves=[
        Curve(serving.served_step_time, "Served step", role="total", given=_SERVED, scenario=_HERE),
        Curve(latency.step_time_mixed, "Floor, with prompts", role="reference", scenario=_HERE),
        Curve(latency.memory_time, "Read", scenario=_HERE),
        Curve(
            serving.tensor_parallel_time,
            "All-reduces",
            given={"kept_share": 1, "reduce_bytes": 2},
            scenario=_HERE,
        ),
        Curve(
            serving.overhead_time,
            "Cost of each layer",
            given={"layer_overhead": _SERVED["layer_overhead"]},
            scenario=_HERE,
        ),
    ],
    given={"prompt_per_answer": 1},
    controls=[
        Control(
            FloatLogSlider(
                value=_SHORT,
                min=math.floor(math.log10(_SHORT) * 1e7) / 1e7,
                max=math.ceil(math.log10(_LONG) * 1e7) / 1e7,
                step=0.01,
            ),
            "context",
            "Context of every sequence",
        )
    ],
    presets=[
        Preset("As measured", {"context": _SHORT, "batch": _MANY}),
        Preset("Few users", {"context": _SHORT, "batch": _FEW}),
        Preset("Long conversations", {"context": _LONG, "batch": _MANY}),
    ],
    points=[Points("measured", _ROWS)],
    caption="Llama 3.1 70B in fp8 on eight H100, whatever the bar above says, since that is what "
    "was measured: "
    f"a prompt token for each answer token, {_SHORT:,} tokens of context. "
    f"The plot ends where the fit does: {_FEW} to {_MANY} sequences, {_SHORT:,} to {_LONG:,} "
    "tokens.",
)
