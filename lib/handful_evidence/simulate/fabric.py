"""Simulate tokens routed at random over chips and switches, and count bytes on each link.

Against it stand the closed forms of ``experts``.  The graph: every chip has a link to the switch of
its scale-up domain and one to its own port; ports meet in a spine.  Copies take the shortest path:
two links inside a domain, four between domains.  A domain's switches are drawn as one; the spine is
never too narrow.

Exact counts for a uniform router are here too: ``distinct_destinations`` and
``expected_imbalance``.

>>> seen = simulate(400, experts=64, active_experts=4, devices=16, domain_devices=8)
>>> (
...     round(seen.fraction_leaving, 2),
...     round(distinct_destinations(64, 4, 2), 2),
...     round(seen.domains_reached, 2),
... )
(0.5, 1.89, 1.89)
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import NamedTuple

from handful import experts as closed


class FabricError(ValueError):
    """An error for an impossible layout or router."""


@dataclass(frozen=True)
class Traffic:
    """The counts of a simulation of one layer, activations out and answers back.

    `scale_up` and `scale_out` hold the bytes on a link to a switch and on a link to or from a port,
    each in one direction, as (mean, most); `time` is that of the slowest link in seconds;
    `imbalance` the load of the busiest chip over the mean.
    """

    fraction_leaving: float
    devices_reached: float
    domains_reached: float
    scale_up: tuple[float, float]
    scale_out: tuple[float, float]
    time: float
    imbalance: float


# Exact counts for a uniform router ----------------------------------------------------------------


def distinct_destinations(experts: int, active_experts: int, destinations: int) -> float:
    """Return the expected number of chips, nodes or racks that hold one of a token's experts.

    Parameters
    ----------
    experts, active_experts, destinations : int
        1 or more; `experts` a multiple of `destinations` and no fewer than `active_experts`.

    Raises
    ------
    FabricError
        Where these do not hold.

    Notes
    -----
    A token picks k different experts of E, so one of D places is missed with C(E − E/D, k) / C(E,
    k).

    >>> distinct_destinations(
    ...     experts=256, active_experts=256, destinations=8
    ... )  # all experts: every place
    8.0
    >>> distinct_destinations(experts=256, active_experts=8, destinations=72)
    Traceback (most recent call last):
    ...
    handful_evidence.simulate.fabric.FabricError: experts must be a multiple of the places that hold
    them;
    got 256 and 72.
    """
    _check(experts, active_experts, destinations)
    missed = math.comb(experts - experts // destinations, active_experts) / math.comb(
        experts, active_experts
    )
    return destinations * (1 - missed)


def expected_imbalance(tokens: int, active_experts: int, experts: int, devices: int) -> float:
    """Return the expected load of the busiest chip over the mean load, for a uniform router.

    Parameters
    ----------
    tokens : int
        Of one step, over all chips; at most 4 million.
    active_experts, experts, devices : int
        As in `distinct_destinations`, with `devices` for destinations.

    Raises
    ------
    FabricError
        Where these do not hold.

    Notes
    -----
    A chip's load is a sum of hypergeometric counts, and its distribution is exact.  The largest of
    n is taken as if loads were independent, its excess stretched by √(n/(n − 1)) as they share one
    total; simulations agree to 3 % of the excess.

    >>> round(
    ...     expected_imbalance(tokens=8192, active_experts=8, experts=256, devices=256), 2
    ... )  # 256 an expert
    1.18
    """
    import numpy as np

    _check(experts, active_experts, devices)
    _whole(tokens=tokens)
    if tokens > 4_000_000:
        raise FabricError(f"tokens must be at most 4,000,000; got {tokens}.")
    if devices == 1 or active_experts == experts:
        return 1.0
    here = experts // devices
    most = min(here, active_experts)
    ways = math.comb(experts, active_experts)
    one = [
        math.comb(here, i) * math.comb(experts - here, active_experts - i) / ways
        for i in range(most + 1)
    ]
    # The distribution of the sum over tokens: the transform of one token's, to the power of the
    # tokens.
    size = tokens * most + 1
    length = 1 << (size - 1).bit_length()
    load = np.fft.irfft(np.fft.rfft(one, length) ** tokens, length)[:size]
    below = np.clip(np.cumsum(load), 0, 1)
    excess = float(np.sum(1 - below**devices)) / (tokens * active_experts / devices) - 1
    return 1 + excess * math.sqrt(devices / (devices - 1))


# The simulation -----------------------------------------------------------------------------------


def network(devices: int, domain_devices: int):
    """Return the directed graph of chips, switches and ports.

    Nodes are the chips 0 to n − 1, ("switch", r) for each domain, ("port", i) for each chip, and
    "spine".  Every edge carries `kind`, "scale-up" or "scale-out"; edges are one-way, in pairs.

    >>> import networkx
    >>> racks = network(16, 8)
    >>> networkx.shortest_path(racks, 0, 7), networkx.shortest_path(racks, 0, 8)
    ([0, ('switch', 0), 7], [0, ('port', 0), 'spine', ('port', 8), 8])
    """
    import networkx

    _layout(devices, domain_devices)
    links = networkx.DiGraph()
    for chip in range(devices):
        port, switch = ("port", chip), ("switch", chip // domain_devices)
        pairs = (
            (chip, switch, "scale-up"),
            (chip, port, "scale-out"),
            (port, "spine", "scale-out"),
        )
        for a, b, kind in pairs:
            links.add_edge(a, b, kind=kind)
            links.add_edge(b, a, kind=kind)
    return links


def choose(
    tokens: int, experts: int, active_experts: int, domains: int, domain_limit: int | None, draw
):
    """Return the experts that each token picks, as an array (tokens, active_experts).

    `draw` is a NumPy Generator.  Scores are uniform and independent.  With a limit, a token keeps
    the domains with the highest sum of their best k/limit scores and picks among the experts there,
    as DeepSeek-V3 does (its report, section 2.1.2).
    """
    import numpy as np

    scores = draw.random((tokens, experts))
    if domain_limit is not None and domain_limit < domains:
        inside = scores.reshape(tokens, domains, experts // domains)
        best = np.sort(inside, axis=2)[:, :, -math.ceil(active_experts / domain_limit) :].sum(
            axis=2
        )
        dropped = np.argsort(best, axis=1)[:, : domains - domain_limit]
        np.put_along_axis(inside, dropped[:, :, None], -1.0, axis=1)
    return np.argpartition(scores, experts - active_experts, axis=1)[:, experts - active_experts :]


def simulate(
    tokens_per_device: int,
    *,
    experts: int,
    active_experts: int,
    devices: int,
    domain_devices: int,
    d_model: int = 7168,
    dispatch_bytes: float = 1,
    combine_bytes: float = 2,
    scale_up_bandwidth: float = 450e9,
    scale_out_bandwidth: float = 50e9,
    domain_limit: int | None = None,
    once: bool = False,
    seed: int = 1,
) -> Traffic:
    """Route the tokens of one layer and count the bytes on the links.

    Parameters
    ----------
    tokens_per_device, experts, active_experts, devices, domain_devices, d_model : int
        1 or more; `experts` a multiple of `devices`, `devices` of `domain_devices`.
    dispatch_bytes, combine_bytes : float
        Bytes of one number on the way out and back.
    scale_up_bandwidth, scale_out_bandwidth : float
        Bytes a second of a link, one way; the defaults are an H100's.
    domain_limit : int, optional
        Most domains that a token may use, with at least `active_experts` experts in them.
    once : bool
        One copy to each domain, to the chip of the sender's own place there, which hands copies on;
        else one copy an expert, straight to its chip.
    seed : int
        The same seed gives the same traffic.

    Raises
    ------
    FabricError
        Where a layout or a limit cannot be.

    >>> simulate(10, experts=60, active_experts=4, devices=16, domain_devices=8)
    Traceback (most recent call last):
    ...
    handful_evidence.simulate.fabric.FabricError: experts must be a multiple of the places that hold
    them;
    got 60 and 16.
    """
    import numpy as np

    _check(experts, active_experts, devices)
    _layout(devices, domain_devices)
    _whole(tokens_per_device=tokens_per_device, d_model=d_model)
    domains = devices // domain_devices
    if domain_limit is not None:
        _check_limit(domain_limit, experts // domains, active_experts)
    draw = np.random.default_rng(seed)
    total = tokens_per_device * devices
    picks = choose(total, experts, active_experts, domains, domain_limit, draw)
    home = np.repeat(np.arange(devices), tokens_per_device)  # the chip of each token
    to = picks // (experts // devices)  # the chip of each copy
    reached = np.zeros((total, devices), bool)
    np.put_along_axis(reached, to, True, axis=1)
    domains_hit = reached.reshape(total, domains, domain_devices).any(axis=2)

    links = network(devices, domain_devices)
    copies = _load(links, _sent(home, to, devices, domain_devices, once, domains_hit))
    rate = {"scale-up": scale_up_bandwidth, "scale-out": scale_out_bandwidth}
    kinds = {link: links.edges[link]["kind"] for link in links.edges}
    bytes_on = {
        kind: [
            d_model * (dispatch_bytes * copies[a, b] + combine_bytes * copies[b, a])
            for (a, b), of in kinds.items()
            if of == kind
        ]
        for kind in rate
    }
    # Answers run the other way, after the activations: each pass waits for its own slowest link.
    slowest = max(copies[link] / rate[kind] for link, kind in kinds.items())
    loads = np.bincount(to.ravel(), minlength=devices)
    return Traffic(
        fraction_leaving=float(np.mean(to // domain_devices != home[:, None] // domain_devices)),
        devices_reached=float(reached.sum(axis=1).mean()),
        domains_reached=float(domains_hit.sum(axis=1).mean()),
        scale_up=_mean_and_most(bytes_on["scale-up"]),
        scale_out=_mean_and_most(bytes_on["scale-out"]),
        time=slowest * d_model * (dispatch_bytes + combine_bytes),
        imbalance=float(loads.max() / loads.mean()),
    )


def _mean_and_most(values: list[float]) -> tuple[float, float]:
    import numpy as np

    return float(np.mean(values)), float(max(values))


def _sent(home, to, devices: int, domain_devices: int, once: bool, domains_hit):
    """Return how many copies go from each chip to each other.

    `home` is the chip of each token, `to` those of its copies, and `domains_hit` tells which
    domains it reaches.  With `once` a domain's copies go by the chip of the sender's place there.
    """
    import numpy as np

    sent, source = np.zeros((devices, devices), int), home[:, None]
    if not once:
        np.add.at(sent, (source, to), 1)
        return sent
    landing = to // domain_devices * domain_devices + source % domain_devices
    np.add.at(sent, (landing, to), 1)
    token, domain = np.nonzero(domains_hit)
    np.add.at(sent, (home[token], domain * domain_devices + home[token] % domain_devices), 1)
    return sent


def _load(links, sent) -> dict:
    """Return the copies on each link when every pair's copies take the shortest path."""
    import networkx

    copies = dict.fromkeys(links.edges, 0)
    for chip in range(len(sent)):
        paths = networkx.single_source_shortest_path(links, chip, cutoff=4)
        for other in sent[chip].nonzero()[0]:
            path = paths[int(other)]
            for link in itertools.pairwise(path):
                copies[link] += int(sent[chip, other])
    return copies


class Comparison(NamedTuple):
    """A quantity of one layer's traffic as counted and in closed form, by a key of `UNITS`."""

    quantity: str
    simulated: float
    closed_form: float
    unit: str


DEEPSEEK = {
    "experts": 256,
    "active_experts": 8,
    "devices": 64,
    "domain_devices": 8,
    "d_model": 7168,
    "dispatch_bytes": 1,
    "combine_bytes": 2,
    "scale_up_bandwidth": 450e9,
    "scale_out_bandwidth": 50e9,
}  # DeepSeek-V3 over 64 chips in nodes of 8


def compare(
    tokens_per_device: int = 128,
    *,
    once: bool = False,
    domain_limit: int | None = None,
    seed: int = 1,
    **layout,
) -> list[Comparison]:
    """Return what `simulate` counts beside the closed forms of `handful.experts`.

    `layout` holds what else `simulate` takes, over the settings of `DEEPSEEK`.

    >>> leaving = compare(512, devices=16)[0]  # two nodes: half of the copies leave
    >>> round(leaving.simulated, 2), leaving.closed_form
    (0.5, 0.5)
    """
    settings = DEEPSEEK | layout
    seen = simulate(tokens_per_device, once=once, domain_limit=domain_limit, seed=seed, **settings)
    limit = domain_limit or settings["devices"] // settings["domain_devices"]
    known = settings | {"batch": tokens_per_device * settings["devices"], "domain_limit": limit}
    up, out, whole = (
        (closed.scale_up_time_once, closed.scale_out_time_once, closed.all_to_all_time_once)
        if once
        else (closed.scale_up_time, closed.scale_out_time, closed.all_to_all_time)
    )
    chips, domains = closed.domains_reached(known, domain_devices=1), closed.domains_reached(known)
    up_bytes = up(known) * settings["scale_up_bandwidth"]
    out_bytes = out(known) * settings["scale_out_bandwidth"]
    leaving, imbalance = closed.fraction_leaving(known), closed.load_imbalance(known)
    return [
        Comparison("Share of copies that leave", seen.fraction_leaving, leaving, "1"),
        Comparison("Chips that a token reaches", seen.devices_reached, chips, "1"),
        Comparison("Domains that a token reaches", seen.domains_reached, min(domains, limit), "1"),
        Comparison("Mean link to a switch", seen.scale_up[0], up_bytes, "B"),
        Comparison("Mean link to a port", seen.scale_out[0], out_bytes, "B"),
        Comparison("Busiest chip over the mean", seen.imbalance, imbalance, "1"),
        Comparison("Slowest link; mean link", seen.time, whole(known), "s"),
    ]


def _check(experts: int, active_experts: int, places: int) -> None:
    _whole(experts=experts, active_experts=active_experts, places=places)
    if experts % places:
        raise FabricError(
            f"experts must be a multiple of the places that hold them; got {experts} and {places}."
        )
    if active_experts > experts:
        raise FabricError(
            f"active_experts must be at most experts ({experts}); got {active_experts}."
        )


def _layout(devices: int, domain_devices: int) -> None:
    _whole(devices=devices, domain_devices=domain_devices)
    if devices % domain_devices:
        raise FabricError(
            f"devices must be a multiple of domain_devices; got {devices} and {domain_devices}."
        )


def _check_limit(domain_limit: int, experts_of_domain: int, active_experts: int) -> None:
    _whole(domain_limit=domain_limit)
    left = domain_limit * experts_of_domain
    if left < active_experts:
        raise FabricError(
            f"domain_limit must leave {active_experts} experts or more to choose from; "
            f"{domain_limit} leaves {left}."
        )


def _whole(**counts) -> None:
    for name, count in counts.items():
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise FabricError(f"{name} must be a whole number, 1 or more; got {count!r}.")
