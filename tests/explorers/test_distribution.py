"""The distribution's draws, and its numbers against those of handful.symbolic.uncertainty."""

import numpy as np
import pytest

from handful.overtraining import overtraining, overtraining_from_traffic, training_cost_of_run
from handful_explorers.plotting.explorer import Explorer, ExplorerError, Preset, Readout
from handful_explorers.plotting.scenes import distribution as d

traffic = Explorer(
    "three-guesses",
    "What traffic calls for",
    kind="distribution",
    numbers={
        "result": Readout(overtraining_from_traffic, "Over-training"),
        "spoken": Readout(
            overtraining,
            "as spoken",
            given={
                "pretraining_tokens": 200e12,
                "active_parameters": 100e9,
                "tokens_per_parameter": 20,
            },
        ),
    },
    data=d.uncertain(
        overtraining_from_traffic,
        service_throughput="tokens that the model writes a second",
        service_life="its life",
        active_parameters="its active size",
    ),
    given={
        "service_throughput": 50e6,
        "service_life": 60 * 86400.0,
        "active_parameters": 100e9,
        "tokens_per_parameter": 20,
        "pretraining_per_inference_token": 1,
    },
    controls=[
        d.factor(1, 2, "Traffic written, known to within ×"),
        d.factor(2, 2, "Life known to within ×"),
        d.factor(3, 2, "Active size known to within ×"),
    ],
    presets=[Preset("Traffic is the weak guess", {"factor_1": 5, "factor_2": 2, "factor_3": 2})],
)
price_of_a_run = Explorer(
    "price-of-a-run",
    "What a run costs",
    kind="distribution",
    numbers={"result": Readout(training_cost_of_run, "Rent for the final run")},
    data=d.uncertain(
        training_cost_of_run,
        pretraining_tokens="tokens of pre-training",
        active_parameters="active size",
        model_flops_utilisation="use of the chips",
        device_price="rent of a chip",
    ),
    given={
        "pretraining_tokens": 200e12,
        "active_parameters": 100e9,
        "model_flops_utilisation": 0.35,
        "peak_flops": 989e12,
        "device_price": 2 / 3600,
    },
    controls=[
        d.factor(1, 2, "Tokens known to within ×"),
        d.factor(2, 2, "Active size known to within ×"),
        d.factor(3, 1.4, "Use of the chips, ×", 2.5),
        d.factor(4, 1.5, "Rent of a chip, ×", 4),
    ],
    presets=[Preset("Known model", {"factor_1": 1, "factor_2": 1})],
)


def test_draws_are_standard_normal_and_independent():
    z = d.draws(d.MOST)
    assert np.abs(z.mean(axis=1)).max() < 1e-3 and z.var(axis=1) == pytest.approx(
        np.ones(d.MOST), abs=0.005
    )
    assert np.abs(np.corrcoef(z) - np.eye(d.MOST)).max() < 0.01


@pytest.mark.parametrize("explorer", [traffic, price_of_a_run])
def test_it_gives_the_interval_of_uncertainty(explorer):
    for preset in [{}, *(p.set for p in explorer.presets)]:
        v = explorer.values(**preset)
        number = explorer.numbers["result"]
        names = [n["name"] for n in explorer.data["uncertain"]]
        found = number.formula.uncertain(
            explorer.symbol_values(explorer.state(**preset)),
            dict(zip(names, v["factors"], strict=True)),
        )
        assert (v["median"], v["low"], v["high"]) == pytest.approx(
            (found.median, found.low, found.high), rel=0.03
        )
        assert (v["worst_low"], v["worst_high"]) == pytest.approx(
            (found.worst_low, found.worst_high)
        )
        assert v["shares"] == pytest.approx([found.shares[name] for name in names], abs=0.02)


def test_a_product_of_powers_is_exact():
    """Three factors of two make 2 to the root of three, and guesses alike have like shares."""
    v = traffic.values()
    assert v["high"] / v["median"] == pytest.approx(2**3**0.5, rel=1e-12)
    assert v["median"] / v["low"] == pytest.approx(2**3**0.5, rel=1e-12)
    v = price_of_a_run.values()
    assert v["shares"][0] == pytest.approx(v["shares"][1], rel=1e-9)
    assert v["shares"][0] == pytest.approx(0.388, abs=5e-4)


def test_certain_inputs_are_one_value():
    certain = {f"factor_{i}": 1.0 for i in range(1, 4)}
    v = traffic.values(**certain)
    assert (
        v["low"] == pytest.approx(v["high"]) == pytest.approx(v["worst_low"])
        and sum(v["shares"]) == 0
    )
    height, shapes = d.picture(v, 360)
    assert height > 0 and all(
        np.isfinite(n) for s in shapes for n in s.values() if isinstance(n, float)
    )
    assert "every input exact" in traffic.alt_text(**certain)


def test_an_input_cannot_pass_its_bound():
    """Use of the chips is a share: draws above 1 count as 1."""
    v = price_of_a_run.values(factor_1=1.0, factor_2=1.0, factor_3=2.5, factor_4=1.0)
    assert (
        v["worst_high"] / v["median"] == pytest.approx(2.5, rel=0.01)
        and v["worst_low"] / v["median"] >= 0.35
    )


def test_too_many_uncertain_inputs():
    with pytest.raises(ExplorerError, match="1 to 5 uncertain inputs; got 0"):
        d.uncertain(training_cost_of_run)


@pytest.mark.parametrize("width", [300, 343, 720])
def test_words_stay_within_the_drawing(width):
    for preset in [{}, *(p.set for p in traffic.presets)]:
        _, shapes = d.picture(traffic.values(**preset), width)
        for shape in shapes:
            if shape["t"] == "text":
                left = {"start": 0, "middle": 0.5, "end": 1}[shape["a"]] * 6.2 * len(shape["s"])
                assert (
                    shape["x"] - left >= -2
                    and shape["x"] - left + 6.2 * len(shape["s"]) <= width + 6
                )
