"""Tests of the fabric.

Simulated traffic is compared with closed forms, conservation and counting by hand; and refusals are
tested.
"""

import itertools
import math
import statistics

import networkx
import numpy as np
import pytest

from handful import experts
from handful_evidence.simulate import fabric

V3 = {"experts": 256, "active_experts": 8}
LAYOUTS = [(8, 8), (16, 8), (64, 8), (128, 64), (128, 8)]


def known(tokens: int, devices: int, domain_devices: int, **more) -> dict:
    """Return what the closed forms take for one of these layouts.

    The wires are those that `simulate` has by default.
    """
    return {
        **V3,
        "devices": devices,
        "domain_devices": domain_devices,
        "batch": tokens * devices,
        "d_model": 7168,
        "dispatch_bytes": 1,
        "combine_bytes": 2,
        "scale_up_bandwidth": 450e9,
        "scale_out_bandwidth": 50e9,
        "domain_limit": devices // domain_devices,
        **more,
    }


@pytest.mark.parametrize("devices, domain_devices", LAYOUTS)
@pytest.mark.parametrize("once", [False, True])
def test_mean_links_carry_what_the_closed_forms_say(devices, domain_devices, once):
    tokens = 20_000 // devices
    seen = fabric.simulate(tokens, devices=devices, domain_devices=domain_devices, once=once, **V3)
    layout = known(tokens, devices, domain_devices)
    # 160,000 copies, each here or there by chance: four standard deviations of the count.
    assert seen.fraction_leaving == pytest.approx(experts.fraction_leaving(layout), abs=0.005)
    here = 160_000 * (1 if once else experts.copies_inside(layout) / 8)
    up, out = (
        (experts.scale_up_time_once, experts.scale_out_time_once)
        if once
        else (experts.scale_up_time, experts.scale_out_time)
    )
    assert seen.scale_up[0] == pytest.approx(450e9 * up(layout), rel=4 / math.sqrt(here))
    # Independent picks cost up to 1.4 % of the domains that a token reaches.
    assert seen.scale_out[0] == pytest.approx(50e9 * out(layout), rel=0.02)
    whole = experts.all_to_all_time_once(layout) if once else experts.all_to_all_time(layout)
    assert 0.99 * whole < seen.time < 1.35 * whole


def test_the_slowest_link_nears_the_mean_as_tokens_grow():
    def excess(tokens):
        return (
            fabric.simulate(tokens, devices=16, domain_devices=8, **V3).time
            / experts.all_to_all_time(known(tokens, 16, 8))
            - 1
        )

    few, many = excess(20), excess(8000)
    assert 0 < many < 0.01 < 0.03 < few


@pytest.mark.parametrize("once", [False, True])
def test_what_is_sent_arrives(once):
    tokens, devices = 100, 32
    seen = fabric.simulate(tokens, devices=devices, domain_devices=8, once=once, **V3)
    # Every crossing uses four one-way links to or from ports, twice; there are four for each chip.
    copies = (
        (seen.domains_reached * (1 - 1 / 4) if once else 8 * seen.fraction_leaving)
        * tokens
        * devices
    )
    expected = copies * 7168 * (1 + 2) / devices
    assert seen.scale_out[0] == pytest.approx(expected, rel=0.01 if once else 1e-9)
    assert seen.scale_out[1] >= seen.scale_out[0] and seen.scale_up[1] >= seen.scale_up[0]


def test_every_token_to_every_expert_can_be_counted_by_hand():
    # No chance left: 4 chips in 2 domains, 4 experts, all chosen, 10 tokens a chip, activations of
    # 1 byte each way.
    plain = {
        "experts": 4,
        "active_experts": 4,
        "devices": 4,
        "domain_devices": 2,
        "d_model": 1,
        "combine_bytes": 1,
    }
    seen = fabric.simulate(10, **plain)
    assert (seen.fraction_leaving, seen.devices_reached, seen.domains_reached, seen.imbalance) == (
        0.5,
        4,
        2,
        1,
    )
    assert seen.scale_up == (
        20,
        20,
    )  # one neighbour: 10 out and 10 answers for the other, on each link
    assert seen.scale_out == (40, 40)  # two chips elsewhere
    assert seen.time == 2 * 20 / 50e9
    handed = fabric.simulate(10, once=True, **plain)
    assert handed.scale_out == (20, 20)  # once to the other domain
    assert handed.scale_up == (40, 40)  # own tokens and those that landed, on to the neighbour


@pytest.mark.parametrize("held, active, places", [(8, 3, 4), (6, 2, 3), (8, 2, 8), (6, 4, 2)])
def test_distinct_destinations_against_all_choices(held, active, places):
    here = held // places
    counted = statistics.fmean(
        len({e // here for e in picks}) for picks in itertools.combinations(range(held), active)
    )
    assert fabric.distinct_destinations(held, active, places) == pytest.approx(counted, rel=1e-12)


@pytest.mark.parametrize(
    "held, active, places, gap",
    [(256, 8, 8, 0.01), (256, 8, 256, 0.02), (128, 4, 16, 0.02), (16, 4, 16, 0.1)],
)
def test_the_closed_form_stays_below_the_exact_count(held, active, places, gap):
    exact = fabric.distinct_destinations(held, active, places)
    closed = experts.domains_reached(devices=places, domain_devices=1, active_experts=active)
    assert closed < exact < (1 + gap) * closed
    seen = fabric.simulate(
        20_000 // places, experts=held, active_experts=active, devices=places, domain_devices=1
    )
    assert seen.domains_reached == seen.devices_reached == pytest.approx(exact, rel=0.01)


@pytest.mark.parametrize("domains, limit", [(8, 4), (8, 2), (16, 4), (8, 6)])
def test_a_router_with_a_limit_keeps_to_it_and_nearly_uses_it_up(domains, limit):
    tokens, devices = 4000 // domains, 4 * domains
    seen = fabric.simulate(
        tokens, devices=devices, domain_devices=4, domain_limit=limit, once=True, **V3
    )
    expected = min(
        limit, experts.domains_reached(devices=devices, domain_devices=4, active_experts=8)
    )
    assert 0.95 * expected < seen.domains_reached <= limit
    free = fabric.simulate(tokens, devices=devices, domain_devices=4, once=True, **V3)
    assert seen.scale_out[0] < free.scale_out[0]
    layout = known(tokens, devices, 4, domain_limit=limit)
    assert 0.94 < seen.scale_out[0] / (50e9 * experts.scale_out_time_once(layout)) < 1.01


@pytest.mark.parametrize(
    "tokens, held, active, devices",
    [(32, 256, 8, 8), (64, 256, 8, 2), (16, 256, 8, 64), (64, 8, 2, 8), (8, 256, 8, 256)],
)
def test_expected_imbalance_is_the_mean_of_many_draws(tokens, held, active, devices):
    draw = np.random.default_rng(11)
    busiest = []
    for _ in range(400):
        picks = fabric.choose(tokens * 8, held, active, 1, None, draw)
        loads = np.bincount((picks // (held // devices)).ravel(), minlength=devices)
        busiest.append(loads.max() / loads.mean())
    error = statistics.stdev(busiest) / math.sqrt(len(busiest))
    exact = fabric.expected_imbalance(tokens * 8, active, held, devices)
    assert abs(statistics.fmean(busiest) - exact) < 4 * error + 0.03 * (exact - 1)
    # The closed form is above it, but where a chip gets two copies: there the tail is longer than a
    # normal's.
    closed = experts.load_imbalance(devices=devices, active_experts=active, batch=tokens * 8)
    assert (closed > exact) == (tokens * 8 * active / devices >= 8)


def test_expected_imbalance_of_two_chips_is_the_mean_deviation_of_coins():
    # k = 1 of 2 experts: the larger of heads and tails in 1,000 tosses.
    tosses = 1000
    mean = sum(math.comb(tosses, h) * max(h, tosses - h) for h in range(tosses + 1)) / 2**tosses
    assert fabric.expected_imbalance(tosses, 1, 2, 2) - 1 == pytest.approx(mean / 500 - 1, rel=0.03)
    assert (
        fabric.expected_imbalance(tosses, 1, 2, 1)
        == fabric.expected_imbalance(tosses, 4, 4, 2)
        == 1
    )


def test_two_hops_in_a_rack_and_four_between():
    links = fabric.network(12, 4)
    for a, b in itertools.permutations(range(12), 2):
        assert networkx.shortest_path_length(links, a, b) == (2 if a // 4 == b // 4 else 4)
    kinds = [kind for *_, kind in links.edges(data="kind")]
    assert kinds.count("scale-up") == 2 * 12 and kinds.count("scale-out") == 4 * 12


def test_the_same_seed_gives_the_same_traffic():
    layout = {"devices": 16, "domain_devices": 8, **V3}
    first = fabric.simulate(50, seed=4, **layout)
    assert first == fabric.simulate(50, seed=4, **layout) != fabric.simulate(50, seed=5, **layout)


def test_choices_are_different_experts_and_all_alike():
    picks = fabric.choose(4000, 32, 4, 1, None, np.random.default_rng(2))
    assert all(len(set(row)) == 4 for row in picks.tolist())
    counts = np.bincount(picks.ravel(), minlength=32)
    # Each expert is picked 500 times, give or take √(4000 × ⅛ × ⅞) = 21.
    assert abs(counts - 500).max() < 4.5 * 21


@pytest.mark.parametrize(
    "more", [{}, {"once": True}, {"once": True, "domain_limit": 4}, {"devices": 8}]
)
def test_counts_agree_with_the_closed_forms(more):
    found = fabric.compare(256, **more)
    assert len(found) == 7
    for row in found:
        assert row.simulated == pytest.approx(row.closed_form, rel=0.15), row.quantity


@pytest.mark.parametrize(
    "call, sentence",
    [
        (
            lambda: fabric.simulate(0, devices=8, domain_devices=8, **V3),
            "tokens_per_device must be a whole number, 1 or more; got 0",
        ),
        (
            lambda: fabric.simulate(10, devices=72, domain_devices=72, **V3),
            "a multiple of the places that hold them; got 256 and 72",
        ),
        (
            lambda: fabric.simulate(10, devices=16, domain_devices=6, **V3),
            "devices must be a multiple of domain_devices; got 16 and 6",
        ),
        (
            lambda: fabric.simulate(10, devices=8, domain_devices=8, experts=8, active_experts=9),
            r"at most experts \(8\); got 9",
        ),
        (
            lambda: fabric.simulate(
                10, devices=8, domain_devices=2, experts=8, active_experts=4, domain_limit=1
            ),
            "4 experts or more to choose from; 1 leaves 2",
        ),
        (
            lambda: fabric.simulate(10, devices=8, domain_devices=2, domain_limit=0, **V3),
            "domain_limit must be a whole number",
        ),
        (
            lambda: fabric.distinct_destinations(8.0, 2, 4),
            "experts must be a whole number, 1 or more; got 8.0",
        ),
        (lambda: fabric.expected_imbalance(10**7, 8, 256, 8), "at most 4,000,000; got 10000000"),
        (lambda: fabric.network(True, 1), "devices must be a whole number, 1 or more; got True"),
    ],
)
def test_bad_layouts_get_a_sentence(call, sentence):
    with pytest.raises(fabric.FabricError, match=sentence) as caught:
        call()
    assert "\n" not in str(caught.value)
