"""What the chapter on experts says in words, of its rack and of others."""

from __future__ import annotations

import numpy as np
import pytest

from handful import facts
from handful.query import answer
from handful_evidence.simulate.fabric import expected_imbalance

OURS = 'hardware="GB200 NVL72" model="DeepSeek-V3" precision=fp8'
CROWD = f"batch=5760 {OURS}"


def of(request: str) -> float:
    return answer(request).value


def layer(racks: int, once: bool = False) -> tuple[float, float, float]:
    """Return the times of reading, computing and travelling on one rack or two."""
    chips = 72 * racks
    travel = (
        f"one_fabric_time scale_up_domains=1 {CROWD}"
        if racks == 1
        else f"scale_out_time_once_of_racks scale_up_domains={racks} domain_limit=2 {CROWD}"
        if once
        else f"scale_out_time_of_racks scale_up_domains={racks} {CROWD}"
    )
    return (
        of(f"expert_weight_time devices={chips} {CROWD}"),
        of(f"expert_compute_time devices={chips} {CROWD}"),
        of(travel),
    )


def test_a_second_rack_makes_the_layer_more_than_twice_as_long():
    """Travel, and then the slower of reading and computing."""
    one, two = layer(1), layer(2)
    assert one[0] > one[1] and two[0] > two[1]
    assert two[0] + two[2] == pytest.approx(2.15 * (one[0] + one[2]), rel=0.01)
    joined = of(f"one_fabric_time scale_up_domains=2 {CROWD}")
    assert two[0] + joined == pytest.approx((one[0] + one[2]) / 2, rel=0.01)
    for racks in (1, 2):
        whole = of(f"layer_time_of_racks kernel_overhead=0 scale_up_domains={racks} {CROWD}")
        assert whole == pytest.approx(layer(racks)[0] + layer(racks)[2])
    once = layer(2, once=True)
    assert once[0] + once[2] < one[0] + one[2]  # on bytes alone, merged copies gain
    # The fixed delay takes most of that from a single fabric too.
    delay = of("measured_latencies / exchange_nvl72_ep64 / seconds")
    assert 1 - (two[0] + joined + delay) / (one[0] + one[2] + delay) == pytest.approx(
        0.19, abs=0.01
    )


def test_the_crowd_is_about_the_balance():
    assert of(f"balance_batch {OURS}") == pytest.approx(5760, rel=0.04)
    reading, computing, _ = layer(1)
    assert computing < 0.7 * reading  # of the experts alone
    assert 5760 * 8 / 256 == 180 and 256 / 8 == 32
    assert 180 * reading / computing == pytest.approx(5e15 / 8e12 / 2)  # some three hundred
    assert 5760 / 72 * 8 / 256 == 2.5  # trips of a chip's tokens to one expert


def test_a_token_moves_hundreds_of_times_what_it_leaves():
    moved = of('token_traffic model="DeepSeek-V3"')
    left = of(f"resident_caches device_batch=1 context=1 {OURS}")
    assert 280 < moved / left < 300
    assert moved == pytest.approx(10e6, rel=0.01)  # ten megabytes
    shape = facts.get("shapes", "DeepSeek-V3")
    expert = 3 * shape["d_model"] * shape["expert_dim"]
    assert expert / of('all_to_all_bytes model="DeepSeek-V3" active_experts=1') == 2048
    assert 4 * expert / 8e12 == pytest.approx(layer(1)[0])
    assert shape["layers"] - shape["dense_layers"] == 58


def test_two_full_racks_are_the_worst_if_the_load_is_even():
    """Send (1 - 1/R)/R through the port of a chip, for a given crowd, whatever else."""
    racks = np.arange(2, 41)
    sent = [of(f"scale_out_time_of_racks scale_up_domains={r} {CROWD}") for r in racks]
    assert sent == sorted(sent, reverse=True)
    shares = [sent[i] / sent[0] / 4 for i in range(3)]
    assert shares == pytest.approx(
        [1 / 4, 2 / 9, 3 / 16]
    )  # a quarter, two ninths, three sixteenths


def test_two_full_racks_travel_longer_than_one_if_ports_are_four_times_slower():
    """Of two racks each has half of the tokens, and sends half of their trips through its ports."""
    one = of(f"one_fabric_time scale_up_domains=1 {CROWD}") * 72 / 71  # a chip's own trips too
    for ratio in (3.2, 4, 18):
        port = f"scale_out_bandwidth={900e9 / ratio}"
        two = of(f"scale_out_time_of_racks scale_up_domains=2 {port} {CROWD}")
        assert two / one == pytest.approx(ratio / 4)
    h800 = of("interconnects / H800 NVLink / one_direction_bytes_per_s")
    assert h800 / of("interconnects / InfiniBand NDR / one_direction_bytes_per_s") < 4


def test_handing_on_is_quick():
    handed = of(f"one_fabric_time active_experts=4 scale_up_domains=2 {CROWD}")
    assert handed == pytest.approx(40 * 4 * 3 * 7168 / 900e9, rel=0.01)
    reading, _, crossing = layer(2, once=True)
    assert 28e-6 < reading + crossing < reading + crossing + handed < 32.1e-6  # about thirty


def test_layouts_as_the_plot_has_them():
    """Each formula of a layout is the step of one rack or of two, put together by hand."""
    both = f"scale_up_domains=2 context=4096 {CROWD}"
    replicas = of(f"step_time_of_model_copies kernel_overhead=30.2e-6 {both}")
    assert replicas == pytest.approx(copies(constants=True))
    merged = of(f"step_time_once_of_racks domain_limit=2 kernel_overhead=50e-6 {both}")
    late = 58 * (layer(2)[2] - layer(2, once=True)[2])
    assert merged == pytest.approx(step(2, constants=True) - late)
    one = f"scale_up_domains=1 kernel_overhead=30.2e-6 context=4096 {CROWD}"
    for name in ("step_time_of_model_copies", "step_time_once_of_racks domain_limit=1"):
        assert of(f"{name} {one}") == pytest.approx(step(1, constants=True))


def test_what_a_chip_sends_with_an_even_load():
    assert 72 * 4 >= 256 and 144 * 2 >= 256  # four experts on each chip, or two
    # What a chip sends with an even load: its own copies out, and as many answers back.
    own, got = 80 * 8, 5760 * 8 / 72
    assert own == got and own * 7168 + got * 2 * 7168 == 80 * 172_032
    fabric, port = 900e9, 50e9
    assert fabric / port == 18 and layer(2)[2] == pytest.approx(
        9 * of(f"one_fabric_time scale_up_domains=2 {CROWD}"), rel=0.01
    )


def test_a_token_of_eight_nodes_would_reach_five_or_so():
    assert 5 < of("domains_reached_of_racks scale_up_domains=8 active_experts=8") < 5.5
    assert of("measured_pipelines / v3_stages / value") == 16  # beside experts over eight nodes
    assert "over 8 nodes" in facts.get("measured_pipelines", "v3_stages")["notes"]


def test_the_fixed_delay_of_real_journeys():
    rack = of("measured_latencies / exchange_nvl72_ep64 / seconds")
    assert rack / layer(1)[2] == pytest.approx(4, rel=0.02)
    assert rack == pytest.approx(2 * 30.2e-6)
    assert of('fixed_traffic_time kernel_overhead=50e-6 model="DeepSeek-V3"') == pytest.approx(
        58 * 100e-6
    )


def test_a_whole_pod_is_slower_than_a_port():
    """Average the distance to a chip over all of a torus, its own place included."""
    ring = np.minimum(np.arange(16), 16 - np.arange(16)).mean()
    small = np.minimum(np.arange(4), 4 - np.arange(4)).mean()
    assert (
        3 * small == 3
        and 3 * ring == 12
        and of("accelerators / TPU v4 / scaleup_domain_chips") == 16**3
    )
    sends = of("accelerators / TPU v4 / scaleup_bw_per_chip_one_direction_bytes_per_s") / 12
    port = of("interconnects / InfiniBand NDR / one_direction_bytes_per_s")
    assert sends == pytest.approx(port / 2, rel=0.15)  # about half


def test_an_uneven_load_by_chance_and_by_favourites():
    for devices, busiest in ((72, 1 / 10), (144, 1 / 7)):  # a tenth on one rack, a seventh on two
        copies_each = 5760 * 8 / devices
        most = np.random.default_rng(1).poisson(copies_each, (4000, devices)).max(axis=1).mean()
        assert most / copies_each - 1 == pytest.approx(busiest, abs=0.01)
    for devices in (32, 64):  # the exact excess, of which problems speak too
        for batch in (512, 1024, 2048, 4096, 8192):
            most = of(f"load_imbalance devices={devices} active_experts=8 batch={batch}") - 1
            exact = expected_imbalance(batch, 8, 256, devices) - 1
            assert exact / most == pytest.approx(0.8, abs=0.035)
    assert of("load_imbalance devices=32 active_experts=8 batch=524288") < 1.01


def step(racks: int, people: float = 5760, context: float = 4096, constants: bool = False) -> float:
    """Return the time of a step: on one rack, or with its layers spread over two."""
    constant = (30.2e-6 if racks == 1 else 50e-6) if constants else 0
    return of(
        f"step_time_of_racks scale_up_domains={racks} batch={people} context={context}"
        f" kernel_overhead={constant} {OURS}"
    )


def copies(**settings) -> float:
    """Return the time of a step with a copy of the model on either rack."""
    return step(1, people=2880, **settings)


def test_steps_on_one_rack_and_on_two():
    """Add what the fullest chip reads, and what its port sends."""
    rate = facts.get("accelerators", "GB200 NVL72")["hbm_bandwidth_bytes_per_s"]
    shared = 671e9 - 58 * 256 * 3 * 7168 * 2048
    assert 671e9 / shared == pytest.approx(40, rel=0.03)  # a fortieth
    caches = 80 * of(f"resident_caches device_batch=1 context=4096 {OURS}")
    one, two = (shared + caches) / rate, (shared + caches / 2) / rate

    def of_layer(racks, people=5760):
        reading, _, travel = layer(racks)
        return reading + travel * people / 5760

    rack, network = of("measured_latencies / exchange_nvl72_ep64 / seconds"), 100e-6
    assert one + 58 * of_layer(1) == pytest.approx(step(1), rel=0.01)
    assert two + 58 * of_layer(2) == pytest.approx(step(2), rel=0.01)
    assert one + 58 * (of_layer(1) + rack) == pytest.approx(step(1, constants=True), rel=0.01)
    assert two + 58 * (of_layer(2) + network) == pytest.approx(step(2, constants=True), rel=0.01)
    replica = two + 58 * (of_layer(1, 2880) + rack)
    assert replica == pytest.approx(copies(constants=True), rel=0.01)
    assert 1e3 * shared / rate == pytest.approx(2.1, abs=0.05)
    longer = step(2, constants=True) / step(1, constants=True)
    assert longer == pytest.approx(1.44, abs=0.01)  # nearly half as long again
    gained = 1 - copies(constants=True) / step(1, constants=True)
    assert gained == pytest.approx(1 / 8, abs=0.005)


def test_for_whom_the_engineers_are_right():
    """Whether spread layers lose depends on the context, not on the batch; a replica beats both."""
    for people in (72, 720, 1800, 5760, 50_000):
        spread, whole = (
            of(
                f"layer_time_of_racks kernel_overhead={constant} scale_up_domains={racks}"
                f" batch={people} {OURS}"
            )
            for racks, constant in ((2, 50e-6), (1, 30.2e-6))
        )
        assert spread > whole
    assert step(2, context=26_800, constants=True) > step(1, context=26_800, constants=True)
    assert step(2, context=27_500, constants=True) < step(1, context=27_500, constants=True)
    for context in (0, 4096, 15_000, 100_000, 1_000_000):
        for constants in (False, True):
            settings = {"context": context, "constants": constants}
            assert copies(**settings) < step(2, **settings)
            assert copies(**settings) <= step(1, **settings)
    # Merged copies, the delay included, gain on one rack beyond ten thousand tokens or so.
    once = layer(2, once=True)
    assert once[0] + once[2] == pytest.approx(28e-6, abs=0.5e-6)
    late = 58 * (layer(2)[2] - once[2])
    lead = [
        step(1, context=context, constants=True) - step(2, context=context, constants=True) + late
        for context in (4096, 9_500, 11_500)
    ]
    assert lead[0] < 0 and lead[1] < 0 < lead[2]
    assert -lead[0] / step(1, constants=True) == pytest.approx(1 / 9, abs=0.005)  # a ninth
    # If handing on pays the rack's delay once more, they gain beyond thirty thousand or so.
    a_token = (lead[2] - lead[1]) / 2000
    handed = 58 * of("measured_latencies / exchange_nvl72_ep64 / seconds")
    assert 4096 + (handed - lead[0]) / a_token == pytest.approx(30e3, rel=0.05)
    # The network's delay at which merged copies tie with replicas.
    tie = 100e-6 + (lead[0] - step(1, constants=True) + copies(constants=True)) / 58
    assert tie == pytest.approx(62e-6, abs=0.5e-6)


def played(layers: int, stages: tuple[float, float, float], halves: int) -> float:
    """Play a step on one processor: attention, journey, experts, journey, in every layer.

    Each half goes through its layers in turn, and whichever is ready first gets the processor.
    """
    attention, experts, journey = stages
    ready, done, free = [0.0] * halves, [0] * halves, 0.0
    while any(count < 2 * layers for count in done):
        turn = min((h for h in range(halves) if done[h] < 2 * layers), key=lambda h: ready[h])
        free = max(free, ready[turn]) + (experts if done[turn] % 2 else attention)
        ready[turn], done[turn] = free + journey, done[turn] + 1
    return max(ready)


@pytest.mark.parametrize(("racks", "people"), [(2, 5760), (1, 2880)])
def test_two_halves_in_turn_take_as_long_as_one_half_alone_at_best(racks, people):
    half = step(racks, people=people / 2, constants=True)
    reading, _, travel = layer(racks)
    delay = 60.4e-6 if racks == 1 else 100e-6
    # What a chip does for one half in a layer: its own weights and caches, journeys, experts.
    journey = (travel * people / 2 / 5760 + delay) / 2
    attention = (half - 58 * (reading + 2 * journey)) / 58
    alone, both = (played(58, (attention, reading, journey), halves) for halves in (1, 2))
    assert alone == pytest.approx(half, rel=0.01)
    assert alone <= both < (1.03 if racks == 2 else 1.15) * alone
    # Even so the spread layers stay behind the replicas.
    spread, replicas = (step(r, people=n, constants=True) for r, n in ((2, 2880), (1, 1440)))
    assert spread > 1.4 * replicas


def test_why_deepseek_spread_its_layers():
    assert of("measured_serving / deepseek_decode / chips") == 18 * 8
    on_chip = [of(f'experts_per_device devices={n} model="DeepSeek-V3"') for n in (8, 144)]
    assert on_chip == [32, 2]
    cut = of("interconnects / H800 NVLink / one_direction_bytes_per_s")
    port = of("interconnects / InfiniBand NDR / one_direction_bytes_per_s")
    assert 3 < cut / port < 4


def test_a_limit_of_nodes_bounds_what_leaves():
    """Eight experts lie in fewer than four of four nodes, picked evenly."""
    reached = of("domains_reached_of_racks scale_up_domains=4 active_experts=8")
    assert reached == pytest.approx(3.6, abs=0.01)
    for nodes in (8, 40):
        limited = f"scale_up_domains={nodes} domain_limit=4 active_experts=8"
        assert of(f"copies_leaving_once_of_racks {limited}") > reached * (1 - 1 / nodes)


def test_merged_copies_have_the_lower_hump():
    taken = {
        racks: of(
            f"scale_out_time_once_of_racks scale_up_domains={racks} domain_limit={racks} {CROWD}"
        )
        for racks in range(2, 20)
    }
    assert max(taken, key=taken.get) == 4 and taken[4] < layer(2)[2]
