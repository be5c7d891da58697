"""Tests of claims about experts on racks: segment 2."""

# The docstring of a test is a phrase that readers see in the ledger, after "Tested:".
# ruff: noqa: D205, D400, D401, D403

from __future__ import annotations

from handful import experts, facts, latency, multi_rack_pipelines, pipelining, racks
from handful.scenario import values

from .algebra import Findings, free_of, symbol
from .published import services


def expert_parallelism_in_services() -> Findings:
    """published decoding services of DeepSeek-V3: whether each chip keeps whole experts"""
    return {words: "EP" in row["parallelism"] for words, row, _ in services()}


def whole_experts_beat_slices() -> Findings:
    """an expert layer of DeepSeek-V3 on eight B200: whole experts, against experts cut four ways in
    two groups
    """
    from ...simulate.fabric import distinct_destinations, expected_imbalance

    at: dict = values("B200 SXM", "DeepSeek-V3", "fp8")
    chips, all_experts, k = 8, int(at["experts"]), int(at["active_experts"])

    def seconds(sequences: int, groups: int) -> float:
        # The busiest group sets the pace; its chips share the work of each of its experts.
        copies = expected_imbalance(sequences, k, all_experts, groups) * sequences * k / groups
        awake = min(all_experts / groups, copies)
        each = at["expert_parameters"] * groups / chips
        work = max(
            awake * each * at["bytes_per_parameter"] / at["memory_bandwidth"],
            copies * each * at["flops_per_multiply_add"] / at["peak_flops"],
        )
        sent = (
            max(1, sequences / chips)
            * distinct_destinations(all_experts, k, groups)
            * chips
            / groups
        )
        return (
            work
            + sent
            * at["d_model"]
            * (at["dispatch_bytes"] + at["combine_bytes"])
            / at["scale_up_bandwidth"]
        )

    return {
        f"{count:,} sequence{'s' * (count > 1)}": seconds(count, 8) < seconds(count, 2)
        for count in (2000, 1)
    }


def experts_stay_in_one_domain() -> Findings:
    """published decoding services of DeepSeek-V3: whether their experts lie within one scale-up
    domain
    """
    return {words: row["chips"] <= domain for words, row, domain in services()}


def all_to_all_fits_one_rack() -> Findings:
    """simulated: an expert layer on 32 GPUs behind one layer of switches, the copies on each
    link
    """
    from ...simulate.fabric import simulate

    tokens, chips = 64, 32
    seen = simulate(tokens, experts=256, active_experts=8, devices=chips, domain_devices=chips)
    own = tokens * experts.all_to_all_bytes(values()) * (1 - 1 / chips)
    mean, most = seen.scale_up
    return {
        "a link carries the copies of its own GPU only": abs(mean / own - 1) < 0.02,
        "no link is much busier than the mean": most < 1.25 * mean,
    }


def two_racks_slow_the_exchange() -> Findings:
    """an all-to-all over two racks of GB200 against one fabric for all: more than half as long
    again
    """
    found = {}
    for port, speed in (("400", "InfiniBand NDR"), ("800", "InfiniBand XDR")):
        at = {
            **values(),
            "scale_up_domains": 2,
            "domain_limit": 2,
            "scale_out_bandwidth": facts.get("interconnects", speed)["one_direction_bytes_per_s"],
        }
        for words, slowdown in (
            ("one copy an expert", racks.crossing_slowdown_of_chip),
            ("one copy a rack", racks.crossing_slowdown_once_of_chip),
        ):
            found[f"{port} Gb/s a GPU, {words}"] = slowdown(at) > 1.5
    return found


def _links(chip: str = "NVLink 5") -> int:
    """Return the links of one GPU, as the table of interconnects notes them."""
    return int(facts.get("interconnects", chip)["notes"].split()[0])


def _scale_up_network(gpus: int, switches: int):
    """Return the graph in which every GPU has a link to every switch chip."""
    import networkx

    return networkx.complete_bipartite_graph(gpus, switches)


def two_hops_between_gpus() -> Findings:
    """the graph of 72 GPUs, each with a link to every one of 18 switch chips: the longest shortest
    path
    """
    import networkx

    rack = facts.get("accelerators", "GB200 NVL72")["scaleup_domain_chips"]
    return {"GB200 NVL72": networkx.diameter(_scale_up_network(rack, _links())) == 2}


def links_double_with_gpus() -> Findings:
    """links within a rack of 144 GPUs against one of 72, at a given number of links for each GPU"""
    return {
        f"{chip}, {_links(chip)} links a GPU": _scale_up_network(144, _links(chip)).size()
        == 2 * _scale_up_network(72, _links(chip)).size()
        for chip in ("NVLink 5", "NVLink 6")
    }


def switches_in_layers_save_cables() -> Findings:
    """two racks of GB200 on one layer of switches, against the network that joins them"""
    gpu, switch = (facts.get("interconnects", name) for name in ("NVLink 5", "NVSwitch gen 4"))
    link = gpu["one_direction_bytes_per_s"] / _links()
    ports = float(switch["notes"].split()[0]) * 1e12 / 8 / link
    return {
        "fewer cables leave a rack: one for each port, not one for each NVLink": 72 * _links() > 72,
        "today's switch chip has too few ports for the GPUs of both": ports < 2 * 72,
    }


def five_trillion_in_a_rack() -> Findings:
    """weights of 5 trillion parameters and 2,000 caches like DeepSeek-V3's, against the memory of a
    GB200 rack
    """
    found = {}
    for precision in ("fp4", "fp8", "bf16"):
        for context in (8192, 100_000):
            at: dict = {
                **values(precision=precision, context=context),
                "total_parameters": 5e12,
                "micro_batch": 2000,
            }
            need = at["devices"] * multi_rack_pipelines.device_memory_of_stage(
                at, pipeline_stages=1
            )
            found[f"{precision}, {context:,} tokens each"] = need <= racks.domain_memory(at)
    return found


def more_active_and_finer_experts() -> Findings:
    """DeepSeek-V3 against Mixtral 8x7B, from a year before"""
    new, old = (facts.get("shapes", name) for name in ("DeepSeek-V3", "Mixtral 8x7B"))
    return {
        "more experts active for each token": new["active_experts"] > old["active_experts"],
        "each narrower, for the width of the model": new["expert_dim"] / new["d_model"]
        < old["expert_dim"] / old["d_model"],
    }


def google_had_large_domains() -> Findings:
    """scale-up domains by year of announcement"""
    tpu, gpu = (facts.get("accelerators", name) for name in ("TPU v4", "GB200 NVL72"))
    return {
        "TPU v4 before GB200 NVL72": tpu["year_announced"] < gpu["year_announced"],
        "and larger": tpu["scaleup_domain_chips"] > gpu["scaleup_domain_chips"],
    }


def active_by_compute_total_by_domain() -> Findings:
    """what the time of arithmetic and the largest model of a domain depend on, with and without
    stages
    """
    weights = pipelining.device_memory.expanded.subs(symbol("context"), 0)
    return {
        "arithmetic asks for active parameters only": free_of(
            latency.compute_time, "total_parameters"
        ),
        "memory of one domain asks for total parameters only": free_of(
            experts.largest_model, "active_parameters"
        ),
        "the domain limits them even if stages share the layers": not weights.has(
            symbol("pipeline_stages")
        ),
    }
