"""Tests of live numbers and facts within prose.

They cover what is shown, what the boxes hold, and what an author may get wrong.
"""

import pytest

from handful import latency, scenario
from handful.units import format_value
from handful_site.extensions import roles


def test_a_live_number_is_the_formula_for_the_page_s_scenario():
    shown = roles.live('step_time batch=256 hardware="H200 SXM" digits=2')
    assert shown["text"] == format_value(
        latency.step_time(scenario.values(hardware="H200 SXM"), batch=256), "s", 2
    )
    assert shown["formula"] == "step_time" and shown["set"] == {
        "batch": 256.0,
        "hardware": "H200 SXM",
    }
    assert roles.live("kv_time batch=1 context=4096")["text"] == format_value(
        latency.kv_time(scenario.values(context=4096), batch=1), "s"
    )


@pytest.mark.parametrize(
    "text, shown",
    [
        ("fraction_leaving devices=144", "50 %"),
        ("experts_per_device", "4"),  # two racks; 256 experts on 72 chips
        ("all_to_all_bytes", "172 kB/token"),  # 8 × 7168 × (1 + 2)
        ('scale_out_time batch=1024 devices=8 domain_devices=4 hardware="H100 SXM"', "220 µs"),
    ],
)
def test_shapes_and_wires_are_of_the_scenario(text, shown):
    assert roles.live(text)["text"].replace("\xa0", " ") == shown


def test_its_box_knows_formula_inputs_and_source():
    entry = roles.formula_entry("step_time")
    assert (
        entry["tree"] == latency.step_time.tree()
        and entry["gives"] == "step_time"
        and entry["unit"] == "s"
    )
    assert {"batch", "context", "memory_bandwidth"} <= {line["name"] for line in entry["inputs"]}
    assert "flops_per_multiply_add" not in {line["name"] for line in entry["inputs"]}  # a constant
    maths = roles.maths(["step_time", "kv_time"])
    assert (
        set(maths["formulas"]) == {"step_time", "kv_time"}
        and maths["formulas"]["step_time"]["latex"] == latency.step_time.latex()
    )
    assert set(maths["letters"]) == {
        line["name"] for name in maths["formulas"] for line in roles.formula_entry(name)["inputs"]
    }


@pytest.mark.parametrize(
    "text, message",
    [
        ('step_time hardware="H100', "is no live number"),
        ("step_time batch", "'batch' in .* is no setting; write name=value"),
        ("step_time batch=many", "batch=many in .* is no number"),
        ("step_tiem batch=1", "There is no formula 'step_tiem'; the nearest are: step_time"),
        ("step_time batch=1 drain_time=2", "step_time does not depend on 'drain_time'; it takes"),
        ("step_time batch=-1", "cannot be computed: batch must be above 0"),
        (
            'communication_time batch=1 model="Llama 3.1 8B"',
            "communication_time needs dispatch_bytes",
        ),
        ('step_time batch=1 hardware="H1000"', "cannot be computed: There is no hardware"),
    ],
)
def test_a_wrong_live_number_is_one_sentence(text, message):
    with pytest.raises(roles.RoleError, match=message):
        roles.live(text)


@pytest.mark.parametrize(
    "text, shown",
    [
        ("accelerators / H100 SXM / hbm_capacity_bytes", "80 GB"),
        ("models / DeepSeek-V3 / n_layers", "61"),
        ("models / DeepSeek-V3 / attention_kind", "MLA"),
        ("prices / claude-3-opus-latest / output_usd_per_mtok", "$75 per million tokens"),
    ],
)
def test_a_fact_is_shown_with_its_unit_and_source(text, shown):
    found = roles.fact(text)
    assert found["text"].replace("\xa0", " ") == shown and found["source"]


@pytest.mark.parametrize(
    "text, message",
    [
        ("accelerators / H100 SXM", "is no fact; write table / row / column"),
        ("accelerators / H100 / hbm_capacity_bytes", "cannot be shown"),
        ("accelerators / H100 SXM / fp4_dense_flops", "that cell is empty; the row knows"),
    ],
)
def test_a_wrong_fact_is_one_sentence(text, message):
    with pytest.raises(roles.RoleError, match=message):
        roles.fact(text)


def test_a_guess_that_nothing_asks_for_is_one_sentence():
    with pytest.raises(roles.RoleError, match="Nothing named 'train' asks for a guess; these do: "):
        roles.guess("train")


def test_unverified_facts_say_so():
    assert roles.fact("accelerators / Vera Rubin NVL72 / hbm_bandwidth_bytes_per_s")[
        "text"
    ].endswith("(unverified)")


@pytest.mark.parametrize("time, seconds", [("3:20", 200), ("1:05:00", 3900)])
def test_times_in_the_lecture_are_links(time, seconds):
    assert roles.lecture_address(time).endswith(f"t={seconds}s")


@pytest.mark.parametrize("time", ["3.20", "1:75", "later"])
def test_a_wrong_time_is_refused(time):
    with pytest.raises(roles.RoleError):
        roles.lecture_address(time)
