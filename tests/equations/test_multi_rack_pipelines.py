"""Tests of the memory, latency and gradients of a pipeline.

They are compared with the lecture's cases, published figures and schedules played through.
"""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handful import balance, latency, pipelining
from handful import multi_rack_pipelines as on_stages
from handful.facts import get
from handful.scenario import page_rows, values
from handful_evidence.simulate import pipeline as sim

RACK = values()  # GB200 NVL72, DeepSeek-V3, fp8, 8,192 tokens


@given(stages=st.integers(1, 64), micro_batch=st.floats(1, 1e4), context=st.floats(1, 1e6))
def test_parts_and_whole(stages, micro_batch, context):
    known = RACK | dict(pipeline_stages=stages, micro_batch=micro_batch, context=context)
    whole = on_stages.device_memory_of_stage(known)
    assert whole == pytest.approx(
        on_stages.weights_on_device(known) + on_stages.caches_on_device(known)
    )
    assert on_stages.memory_used(known) == pytest.approx(whole / known["memory_capacity"])
    if known["window_cache_memory"] == 0:
        assert whole == pytest.approx(
            pipelining.device_memory(known, stage_devices=known["devices"])
        )


def test_the_lectures_stages():
    """With micro-batches of 2,000 even two stages leave the caches dominant (1:11:44).

    This is for V3 at 8,192 tokens in fp8.
    """
    known = RACK | dict(micro_batch=2000)
    assert 1 < on_stages.equal_stages(known) < 2
    at = known | dict(pipeline_stages=on_stages.equal_stages(known))
    assert on_stages.weights_on_device(at) == pytest.approx(on_stages.caches_on_device(at))


def test_room_for_context():
    known = RACK | dict(micro_batch=2000)
    for stages in (1, 2, 8):
        context = on_stages.context_of_stages(known, pipeline_stages=stages)
        full = on_stages.device_memory_of_stage(
            known | dict(pipeline_stages=stages, context=context)
        )
        assert full == pytest.approx(known["memory_capacity"])
    assert on_stages.context_of_stages(known, pipeline_stages=1e9) == pytest.approx(
        on_stages.context_of_many_stages(known)
    )
    assert (
        on_stages.context_of_stages(values("H100 SXM"), micro_batch=64, pipeline_stages=1) == 0
    )  # 671 GB into 640 GB


def test_a_rack_as_published():
    """45:28: 8 Hopper GPUs 640 GB; 72 × 8 TB/s = 576 TB/s, of which V3 in fp8 takes 1.2 ms."""
    assert on_stages.devices_memory(devices=8, memory_capacity=80e9) == 640e9
    rack = on_stages.domain_bandwidth(RACK)
    assert rack == pytest.approx(576e12)
    floor = latency.latency_floor(RACK)
    assert floor == pytest.approx(1.2e-3, rel=0.04)
    assert on_stages.bandwidth_needed(RACK, latency_floor=floor) == pytest.approx(rack)
    assert on_stages.bandwidth_at_drain(
        devices_memory=on_stages.devices_memory(RACK), drain_time=186 / 8000
    ) == pytest.approx(rack)


@pytest.mark.parametrize("stages", [2, 4, 8])
def test_a_port_hands_on_one_micro_batch_in_each_turn_of_its_stage(stages):
    known = RACK | dict(batch=2000, pipeline_stages=stages, activation_bytes=2)
    whole = latency.step_time(known)
    turn = on_stages.stage_time_of_step(known)
    assert turn == pytest.approx(whole / stages)
    # Played with as many micro-batches as stages, the first stage starts one in each turn.
    starts = [
        start for _, _, stage, start, _ in sim.circle(stages, stages, turn, 0, 3) if not stage
    ]
    gaps = {round((b - a) / turn, 6) for a, b in itertools.pairwise(starts)}
    assert gaps == {1.0}
    # A chip hands on 2,000 / 72 copies of 7,168 numbers, two bytes each.
    assert pipelining.handed_on(known) == 14336
    busy = 2000 / 72 * 14336 / known["scale_out_bandwidth"]
    assert on_stages.port_use(known) == pytest.approx(busy / turn)


@pytest.mark.parametrize("stages", [1, 2, 4, 8])
def test_three_ways_to_use_racks(stages):
    known = RACK | dict(batch=256, hop_time=5e-6)
    whole = latency.step_time(known)
    # As a pipeline: each stage reads its share of layers with a rack of its own; played through.
    played = sim.decode(stages, 1, whole / stages, 5e-6)["token_latency"]
    assert on_stages.token_latency_of_stages(known, pipeline_stages=stages) == pytest.approx(
        played, rel=1e-9
    )
    # As one domain: the same step on that many times the chips.
    wide = latency.step_time(known | dict(devices=72 * stages))
    assert on_stages.token_latency_of_one_domain(known, pipeline_stages=stages) == pytest.approx(
        wide
    )
    # One rack cut up: a stage has a share of the layers and of the chips, so its work takes as long
    # as the whole did.
    cut = latency.step_time(known | dict(devices=72 / stages)) / stages
    played = sim.decode(stages, 1, cut, 5e-6)["token_latency"]
    assert on_stages.token_latency_of_cut_rack(known, pipeline_stages=stages) == pytest.approx(
        played, rel=1e-9
    )


def test_gradients_of_published_runs():
    """Austin et al. give 2,475 tokens per H100 for 8 ports' worth of 400 GB/s a node.

    Stages divide what is asked.
    """
    h100 = dict(gradient_bytes=2, peak_flops=990e12, scale_out_bandwidth=400e9)
    assert on_stages.critical_tokens_of_stages(h100, pipeline_stages=1) == pytest.approx(2475)
    assert on_stages.critical_tokens_of_stages(h100, pipeline_stages=16) == pytest.approx(2475 / 16)
    v3 = dict(
        batch=get("measured_pipelines", "v3_batch")["value"],
        sequence_tokens=get("measured_pipelines", "v3_sequence")["value"],
        devices=get("measured_pipelines", "v3_chips")["value"],
    )
    assert on_stages.tokens_per_chip(v3) == pytest.approx(
        30_700, rel=2e-3
    )  # as the same book has it
    ratio = on_stages.gradient_ratio(v3, **h100, pipeline_stages=16)
    assert ratio == pytest.approx(2475 / 16 / 30_720)


def test_the_bubble_of_a_batch_is_bounded():
    known = dict(batch=15360, devices=2048, micro_batch=1)
    shares = [
        pipelining.bubble_of_batch(known, pipeline_stages=stages) for stages in (1, 2, 16, 1e9)
    ]
    assert shares[0] == 0 and shares[1] == pytest.approx(shares[3] / 2)
    assert shares[3] == pytest.approx(2048 / 15360)
    played = sim.run(sim.one_forward_one_backward(16, 120), 1.0, 2.0)  # its 120 micro-batches
    assert shares[2] == pytest.approx(played.bubble / (120 * 3))


def test_training_memory_is_what_the_schedule_holds():
    known = dict(
        pipeline_stages=8,
        micro_batches=32,
        micro_batch=1,
        sequence_tokens=4096,
        layer_activation_bytes=34 * 8192,
        layers=80,
        stage_devices=8,
    )
    one = 4096 * 34 * 8192 * 80 / 8 / 8
    for formula, make in (
        (on_stages.activations_on_device, sim.one_forward_one_backward),
        (on_stages.activations_on_device_gpipe, sim.gpipe),
    ):
        assert formula(known) == pytest.approx(max(sim.run(make(8, 32), 1.0, 2.0).held) * one)
    assert (
        on_stages.training_state(
            training_bytes=16, total_parameters=70e9, stage_devices=8, pipeline_stages=1
        )
        == 140e9
    )
    assert (
        on_stages.training_state(
            training_bytes=16, total_parameters=70e9, stage_devices=8, pipeline_stages=4
        )
        == 35e9
    )


WINDOWED = values(model="gpt-oss-120b", hardware="H100 SXM", precision="fp8", context=20_000)


def test_windows_count_too():
    """Half of gpt-oss-120b's 36 layers keep their 128 latest tokens only.

    They take 2 × 8 × 64 numbers a token and layer, in fp8.
    """
    known = WINDOWED | dict(micro_batch=100, pipeline_stages=2)
    cache = 18 * 1024 * 20_000 + 18 * 1024 * 128
    assert on_stages.caches_on_device(known) == pytest.approx(100 * cache / 8)
    assert on_stages.device_memory_of_stage(known) == pytest.approx(
        known["total_parameters"] / 16 + 100 * cache / 8
    )
    assert on_stages.equal_stages(known) == pytest.approx(known["total_parameters"] / (100 * cache))
    room = on_stages.context_of_stages(known)
    assert on_stages.device_memory_of_stage(known | dict(context=room)) == pytest.approx(80e9)
    assert on_stages.context_of_many_stages(known) == pytest.approx(
        (80e9 * 8 / 100 - 18 * 1024 * 128) / (18 * 1024)
    )


CHAPTER = values(context=100_000)  # of "Why pipelining is not wise"


def test_what_a_chain_of_eight_racks_saves():
    """Count the bytes of eight racks: a chain lacks seven copies of the weights, and no caches."""
    cache = 100_000 * 35_136
    spare = 7 * CHAPTER["total_parameters"] / cache
    apart = on_stages.batch_of_copies(CHAPTER, pipeline_stages=8)
    chained = 8 * on_stages.batch_of_stages(CHAPTER, pipeline_stages=8)
    assert apart == pytest.approx(8 * (72 * 186e9 - CHAPTER["total_parameters"]) / cache)
    assert chained - apart == pytest.approx(spare)
    assert chained == pytest.approx(latency.batch_that_fits(CHAPTER | dict(devices=8 * 72)))
    assert 0.045 < chained / apart - 1 < 0.05  # not quite five per cent
    gain = on_stages.room_gain(CHAPTER, pipeline_stages=8)
    assert gain == pytest.approx(chained / apart)
    assert on_stages.room_gain(CHAPTER | dict(context=5000), pipeline_stages=8) == gain
    assert on_stages.batch_of_stages(values("H100 SXM"), pipeline_stages=1) == 0


def test_whole_layers_take_back_what_a_chain_saves():
    """Deal 61 layers to racks one at a time, and fill the rack that got the most."""

    def chained(racks, held=CHAPTER["total_parameters"], memory=72 * 186e9):
        dealt = [0] * racks
        for layer in range(61):
            dealt[layer % racks] += 1
        most = max(dealt)
        assert sum(dealt) == 61
        return (memory - held * most / 61) / (100_000 * 35_136 * most / 61)

    apart = latency.batch_that_fits(CHAPTER)
    assert chained(8) == pytest.approx(28_900, abs=50) and chained(8) < 8 * int(apart) == 28_960
    gains = {racks: chained(racks) / (racks * apart) - 1 for racks in range(1, 11)}
    assert all(gains[racks] == pytest.approx(0.01, abs=0.004) for racks in (2, 7, 9))
    assert max(gains.values()) < 0.015 and gains[10] == pytest.approx(-0.09, abs=0.005)
    # With a copy on each chip of what lies outside the experts.
    held = 654e9 + 72 * 17e9
    copies = 8 * (72 * 186e9 - held) / (100_000 * 35_136)
    assert copies == pytest.approx(26_200, abs=50)
    assert chained(8, held) == pytest.approx(28_500, abs=50)
    assert chained(8, held) / copies - 1 == pytest.approx(0.09, abs=0.003)
    # The nine boxes: their people, and dollars for a million tokens.
    people = chained(9, memory=8 * 186e9)
    assert people == pytest.approx(3500, abs=5) and people / 2088 == pytest.approx(5 / 3, abs=0.02)
    lap = (9 * 671e9 * 7 / 61 + people * 100_000 * 35_136 * 7 / 61) / (8 * 8e12)
    price = balance.rent(CHAPTER, rented_time=lap) / people * 1e6
    assert price == pytest.approx(0.62, abs=0.005)
    assert 1 - price / 0.73 == pytest.approx(1 / 7, abs=0.01)


def test_a_full_micro_batch_fills_a_stage():
    for stages in (1, 2, 8):
        known = CHAPTER | dict(pipeline_stages=stages)
        people = on_stages.batch_of_stages(known)
        assert on_stages.device_memory_of_stage(known, micro_batch=people) == pytest.approx(186e9)


def test_a_crowd_fills_one_domain_and_no_more():
    """On any chip, with any model: full where the weights fit, and nobody where they do not."""
    rows = page_rows()
    for chip, model in itertools.product(rows["hardware"], rows["model"]):
        known = values(chip["name"], model["name"], "bf16", context=100_000)
        known = known | dict(micro_batch=25e3, pipeline_stages=1)
        if known["total_parameters"] * 2 < known["devices"] * known["memory_capacity"]:
            held = on_stages.device_memory_of_crowd(known)
            assert held == pytest.approx(known["memory_capacity"])
            chained = on_stages.caches_of_crowd(known, pipeline_stages=8)
            assert chained == on_stages.caches_of_crowd(known)
        else:
            assert on_stages.crowd(known) == 0 == on_stages.caches_of_crowd(known)
    assert on_stages.crowd(CHAPTER | dict(micro_batch=3620.5)) == pytest.approx(3620, abs=1)
    assert on_stages.crowd(CHAPTER | dict(micro_batch=2000)) == 2000


def test_the_chapter_says_what_is_computed():
    rent = balance.rent(CHAPTER, rented_time=86400)
    assert 1.5 < rent / 3620 < 1.6
    assert 6.5 < 100 * (rent / 3620 - rent / 3787) < 7.5  # cents a day
    costs = [latency.cost_per_token(CHAPTER, batch=people) for people in (3620, 3787)]
    assert costs[1] / costs[0] == pytest.approx(1, abs=0.005)  # what it did
    steps = [latency.step_time(CHAPTER, batch=people) for people in (3620, 3787)]
    assert steps[1] / steps[0] == pytest.approx(1.04, abs=0.005)  # four per cent more slowly
    # With a copy on each chip of the weights outside the experts, as in the chapter on experts.
    shared = 671e9 - 58 * 256 * 3 * 7168 * 2048
    assert shared == pytest.approx(17e9, rel=0.02) and 671e9 - shared == pytest.approx(654e9, 0.001)
    assert 671e9 + 71 * shared == pytest.approx(1.9e12, abs=0.05e12)
    kept = (671e9 - shared + 72 * shared) / on_stages.devices_memory(CHAPTER)
    assert kept == pytest.approx(1 / 7, rel=0.03)  # of a rack
    assert latency.weight_memory(CHAPTER) / on_stages.devices_memory(CHAPTER) == pytest.approx(
        1 / 20, abs=0.002
    )
    # 450 people, an eighth of a crowd, with conversations eight times as long.
    longer = CHAPTER | dict(micro_batch=450, context=800_000)
    assert on_stages.memory_used(longer, pipeline_stages=8) < 1
    assert on_stages.memory_used(longer, pipeline_stages=1) < 1  # on a rack of its own as well
    # At 5,000 tokens the caches of 2,000 people are ahead from the second stage on.
    short = CHAPTER | dict(micro_batch=2000, context=5000)
    assert 1 < on_stages.equal_stages(short) < 2
    assert on_stages.equal_stages(CHAPTER | dict(micro_batch=2000)) < 1


def test_the_chapter_on_boxes():
    h200 = values("H200 SXM", context=100_000)
    share = latency.weight_memory(h200) / on_stages.devices_memory(h200)
    assert share == pytest.approx(3 / 5, abs=0.01)
    assert on_stages.devices_memory(h200) < on_stages.devices_memory(CHAPTER) / 10
    one, four, eight = (on_stages.batch_of_stages(h200, pipeline_stages=p) for p in (1, 4, 8))
    two = on_stages.batch_of_stages(h200, pipeline_stages=2)
    assert (two - one) / (eight - one) == pytest.approx(4 / 7)  # of it the second box brings
    limit = on_stages.room_gain(h200, pipeline_stages=1e9)
    assert limit == pytest.approx(1 / (1 - share)) and limit == pytest.approx(1 / 0.4, rel=0.02)
    racks = on_stages.room_gain(CHAPTER, pipeline_stages=1e9)
    assert racks == pytest.approx(1 / 0.95, rel=0.001)
    for known, at in ((h200, share), (CHAPTER, 1 - 1 / racks)):
        for stages in (1, 2, 8):
            of_share = on_stages.room_gain_of_share(weight_memory_share=at, pipeline_stages=stages)
            assert of_share == pytest.approx(on_stages.room_gain(known, pipeline_stages=stages))
    assert on_stages.room_gain_of_share(weight_memory_share=0.5, pipeline_stages=1e9) == (
        pytest.approx(2)
    )
    for stages, room in ((1, one), (4, four), (8, eight)):
        assert on_stages.room_gain(h200, pipeline_stages=stages) == pytest.approx(room / one)
    assert latency.weight_memory(h200) > on_stages.devices_memory(values("H100 SXM"))
    boxes = CHAPTER | dict(hop_time=0, pipeline_stages=9)
    full = on_stages.token_latency_of_cut_rack(boxes, batch=402) / latency.step_time(
        CHAPTER, batch=3620
    )
    few = on_stages.token_latency_of_cut_rack(boxes, batch=100) / latency.step_time(
        CHAPTER, batch=900
    )
    # A million tokens from the full chain cost what nine turns of eight chips do for 402 people.
    rate = balance.rent(CHAPTER, rented_time=1)
    chain = rate * on_stages.token_latency_of_cut_rack(boxes, batch=402) / (9 * 402)
    assert latency.cost_per_token(CHAPTER, batch=402) == pytest.approx(chain)
    assert full == pytest.approx(1.4, abs=0.01) and 2.2 < few < 2.5
    # One reading of the weights takes the same chip time on a box, in the chain and on the rack;
    # the rest of a token's price is its own cache, and so is the same.
    read = [n * latency.full_weight_time(CHAPTER, devices=n) for n in (8, 72)]
    assert read[0] == pytest.approx(read[1])
    own = {
        latency.cost_per_token(CHAPTER, devices=n, batch=people)
        - CHAPTER["device_price"] * read[0] / people
        for n, people in ((8, 232), (8, 402), (72, 3620))
    }
    assert max(own) == pytest.approx(min(own), rel=0.003)
    copies, chained = (latency.cost_per_token(CHAPTER, devices=8, batch=b) for b in (232, 402))
    together = latency.cost_per_token(CHAPTER, batch=3620)
    shown = [round(1e6 * cost, 2) for cost in (copies, chained, together)]
    assert shown == [0.73, 0.59, 0.42]
    assert 1 - chained / copies == pytest.approx(1 / 5, abs=0.01)  # a fifth cheaper
    # The chain by hand, as the chapter does it.
    weights, caches = 671e9 / 9, 402 * 3.514e9 / 9
    assert (round(weights / 1e9), round(caches / 1e9)) == (75, 157)
    turn = (weights + caches) / 64e12
    assert turn == pytest.approx(3.6e-3, abs=0.05e-3)
    assert 9 * turn == pytest.approx(
        on_stages.token_latency_of_cut_rack(boxes, batch=402), rel=0.002
    )
    assert rate == pytest.approx(0.066) and rate * 9 * turn / 3620 * 1e6 == pytest.approx(
        0.59, abs=0.005
    )
    # Experts over all nine boxes: what each chip sends and gets through its port, if nothing hides.
    people, layers = 3620 / 72, 58
    through = layers * people * 8 * (8 / 9) * 3 * 7168 / 50e9
    delays = layers * 100e-6
    assert through == pytest.approx(9e-3, abs=0.3e-3) and delays == pytest.approx(6e-3, abs=0.3e-3)
    spread = latency.step_time(CHAPTER, batch=3620) + through + delays
    assert spread == pytest.approx(38e-3, abs=0.5e-3)
    assert rate * spread / 3620 * 1e6 == pytest.approx(0.69, abs=0.01)
    # With the latency of the layers, 900 people on the rack are 1.8 times as fast.
    lost = latency.fixed_time(CHAPTER)
    slow = on_stages.token_latency_of_cut_rack(boxes, batch=100)
    fast = latency.step_time(CHAPTER, batch=900)
    assert (slow + lost) / (fast + lost) == pytest.approx(1.8, abs=0.02)
    assert fast < slow / 2
    work = latency.attention_time(CHAPTER, batch=900) + latency.compute_time(CHAPTER, batch=900)
    assert slow > work / 0.6 > fast  # at 60 per cent of the peak it sets the pace of the rack
    assert (slow + lost) / (work / 0.6 + lost) == pytest.approx(1.7, abs=0.02)
    # Hardly an expert goes unread, even in a box of 232.
    assert (31 / 32) ** 232 < 0.001
    kimi = values("H200 SXM", "Kimi K2", context=100_000)
    shares = [latency.weight_memory(kimi) / p / on_stages.devices_memory(kimi) for p in (1, 2)]
    assert shares[0] > 0.9 and shares[1] < 0.5
    assert on_stages.batch_of_stages(kimi, pipeline_stages=2) > 3 * on_stages.batch_of_stages(
        kimi, pipeline_stages=1
    )
    state = on_stages.training_state(
        training_bytes=16, total_parameters=405.9e9, stage_devices=8, pipeline_stages=1
    )
    assert state / 80e9 == pytest.approx(10, abs=0.2)
    assert pytest.approx(3.7, abs=0.01) == 6300 / 1700  # words a second, Sutskever et al. 2014


def test_a_full_memory_is_read_in_capacity_over_bandwidth():
    """Whatever is in it: one copy and its caches, or a ninth of the machine with a copy."""
    drained = 186e9 / 8e12
    for devices, people in ((72, 3620), (8, 232)):
        known = CHAPTER | dict(devices=devices, batch=people)
        assert latency.step_time(known) == pytest.approx(drained, rel=0.002)
    # A hundred people in each of nine boxes wait as long as nine hundred in the chain.
    alone = latency.step_time(CHAPTER | dict(devices=8, batch=100))
    chain = on_stages.token_latency_of_cut_rack(
        CHAPTER | dict(hop_time=0, pipeline_stages=9, batch=100)
    )
    assert alone == pytest.approx(chain)
    # And pay as much; a full chain is cheaper for the people whom the copies' room lets in.
    cost = latency.cost_per_token
    same = CHAPTER | dict(batch=232)
    assert cost(same | dict(devices=8)) == pytest.approx(cost(same))
    assert cost(CHAPTER | dict(batch=402)) / cost(same) == pytest.approx(0.81, abs=0.01)
    # Arithmetic hides behind the reading at three quarters of the peak of fp8, but not at 60 %.
    full = CHAPTER | dict(batch=3620)
    busy = latency.attention_time(full) + latency.compute_time(full)
    assert busy == pytest.approx(18e-3, abs=0.2e-3)
    assert busy / drained == pytest.approx(3 / 4, abs=0.02)
    assert 29e-3 < busy / 0.6 < 30e-3
    # In bf16 it sets the pace of the rack and of the chain alike, whose chips have as much to do.
    chain = CHAPTER | dict(devices=8, batch=402)
    work = latency.attention_time(chain) + latency.compute_time(chain)
    assert work == pytest.approx(busy, rel=0.002)
    turns = on_stages.token_latency_of_cut_rack(
        CHAPTER | dict(hop_time=0, pipeline_stages=9, batch=402)
    )
    assert drained < turns < 2 * work
    half = latency.compute_time(full) + 2 * latency.attention_time(full)
    assert half == pytest.approx(35e-3, abs=0.4e-3) and half > turns
    # At 55 per cent of the peak of fp8 it takes the rack as long as reading takes the chain.
    assert busy / turns == pytest.approx(0.55, abs=0.01)
    # Below 44 per cent it takes the copies longer than their reading, and a token costs the same on
    # all three; with attention in bf16 below 87.
    alone = CHAPTER | dict(devices=8, batch=232)
    copies = latency.attention_time(alone) + latency.compute_time(alone)
    assert copies / 232 == pytest.approx(9 * busy / 3620, rel=0.002)
    assert copies / drained == pytest.approx(0.44, abs=0.005)
    half = latency.compute_time(alone) + 2 * latency.attention_time(alone)
    assert half / drained == pytest.approx(0.87, abs=0.005)
    # At 60 per cent only the rack gets more expensive, and it stays the cheapest.
    assert busy / 0.6 < turns and copies / 0.6 < drained
    rate = balance.rent(CHAPTER, rented_time=1)
    assert 1e6 * rate * busy / 0.6 / 3620 == pytest.approx(0.54, abs=0.005)


@pytest.mark.parametrize("crowds, lap, people", [(1, 178e-3, 452), (2, 90e-3, 905)])
def test_few_crowds_with_long_conversations_need_no_chain(crowds, lap, people):
    """Give the room of missing crowds to longer conversations: racks side by side have it too."""
    longer = CHAPTER | dict(context=100_000 * 8 // crowds)
    assert latency.batch_that_fits(longer) >= people
    assert people == crowds * 3620 // 8
    turn = latency.step_time(longer, batch=3620 / 8) - latency.full_weight_time(longer) * 7 / 8
    assert 8 * turn == pytest.approx(lap, rel=0.01)
    assert latency.step_time(longer, batch=people) == pytest.approx(23e-3, abs=0.5e-3)


def test_the_fullest_rack_sets_the_pace():
    """A chain of eight with whole layers, filled: its lap, and what a token costs."""
    people = 28_900
    lap = 8 * (671e9 + people / 8 * 3.5136e9) * 8 / 61 / (72 * 8e12)
    apart = latency.step_time(CHAPTER, batch=3620)
    assert lap == pytest.approx(24.3e-3, abs=0.05e-3)
    assert apart == pytest.approx(23.2e-3, abs=0.05e-3)
    assert (lap / people) / (apart / 28_960) == pytest.approx(1.05, abs=0.003)
