"""Find formulas by subject, and by what somebody calls what they are looking for.

A question is broken into words; synonyms become one word, and endings go.  A formula scores for
each word that it shares with the question, more for rare words, and most where the word stands in
what people call it (`Formula.known_as`) or in its name.

>>> [formula.name for formula in search("TPOT", limit=1)]
['step_time']
>>> search("hair dryer")
[]
"""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

from .query import registry
from .symbolic.quantity import title_of

if TYPE_CHECKING:
    from .symbolic.formula import Formula

__all__ = ["SUBJECTS", "answers", "by_subject", "search"]

# Subjects, as the reference lists them, and the modules whose formulas belong to each.
SUBJECTS = {
    "A decode step: latency, throughput, cost": ("latency", "serving"),
    "Balance and the roofline": ("balance", "matmul"),
    "Prefill": ("prefill_decode",),
    "Service levels: goodput, disaggregation": ("service_levels",),
    "Speculative decoding": ("speculative_decoding",),
    "Batches on a schedule, and waiting": ("queueing",),
    "Mixtures of experts": ("experts", "sparsity"),
    "Racks": ("racks", "multi_rack_pipelines"),
    "Pipelines": ("pipelining",),
    "Collectives": ("collectives",),
    "Sharding": ("sharding",),
    "The memory wall": ("memory_wall",),
    "Memory tiers": ("tiers",),
    "Training: size, data, time": ("chinchilla", "overtraining"),
    "Cost of a model's whole life": ("lifetime_cost",),
    "Memory in training": ("training_memory", "reversible"),
    "Reliability: failures and checkpoints": ("reliability",),
    "Small changes through a network": ("perturbation_growth",),
    "API prices": ("prices", "price_surcharges"),
    "Money and energy of a fleet": ("fleet_cost",),
    "Chips": ("chip",),
    "Ciphers": ("ciphers",),
}

# Words that say nothing about which formula is meant.
_EMPTY = (
    "a an and are as at be before by can do does each for from get given how i in into is it its "
    "many me more much my need needed number of on one or our per should so than that the their "
    "them then there they this to until we what when where which while will with you your"
)
EMPTY = frozenset(_EMPTY.split())

# What is written in several ways, as one; the left side is a regular expression over plain words.
SYNONYMS = {
    r"all ?reduce": "allreduce",
    r"all ?gather": "allgather",
    r"reduce ?scatter": "reducescatter",
    r"all ?to ?all|a2a": "alltoall",
    r"check ?point(s|ed|ing)?": "checkpoint",
    r"key value": "kv",
    r"eagle|medusa|mtp|multi token prediction": "speculative eagle",
    r"quanti[sz](e|ed|ing|ation)|w\d+a\d+|awq|gptq|int ?[48]": "quantised",
    r"utili[sz]ation": "utilisation",
    r"oom|out of memory": "oom memory",
    r"sync(s|ed|ing)?|synchroni[sz](e|ed|ing|ation)": "sync",
    r"off ?load(s|ed|ing)?": "offload",
    r"pcie|ssds?|nvme|disks?|cpus?": "storage",
    r"kv ?caches?|kvcache": "kv cache",
    r"mixtures? of experts|moe": "expert",
    r"(fully )?sharded data parallel(ism)?|fsdp": "fsdp zero",
    r"tp|tensor parallel(ism)?": "tensor parallel",
    r"pp": "pipeline",
    r"ep": "expert parallel",
    r"dp|ddp": "data parallel",
    r"sp": "sequence parallel",
    r"parallelism": "parallel",
    r"nvswitch|nvlink|switch(ed)?": "switch",
    r"compute bound|arithmetic bound": "balance compute",
    r"memory bound|bandwidth bound": "balance memory",
    r"network bound|communication bound|comms bound": "bound network",
    r"gpus?|tpus?|npus?|accelerators?|devices?|chips?": "chip",
    r"hbm|vram|dram|ram": "memory",
    r"params?|parameters?|weights?": "parameter",
    r"seqs?|sequences?|concurren(t|cy)|users?|streams?": "sequence",
    r"requests?|queries|qps|rps": "request",
    r"prices?|costs?|expens(e|es|ive)|dollars?|usd|cheap(er|est)?|dear(er|est)?": "cost",
    r"rent(s|al|ing)?|hire|cluster|fleet": "rent",
    r"max(imum|imal)?|most|largest|biggest|longest|highest": "largest",
    r"min(imum|imal)?|fewest|smallest|least|shortest|lowest": "smallest",
    r"optim(al|um|ise|ize)|best|ideal": "best",
    r"days?|hours?|duration|long|takes?": "time",
    r"slo|sla|slos|slas": "service level",
    r"speed ?up|faster|acceleration": "speedup",
    r"draft(s|ed)?|guess(es|ed)?|spec|speculat(e|ed|ive|ion)": "speculative",
    r"fit(s|ting)?|hold(s|ing)?|held": "fit",
    r"gemm|matrix (product|multipl\w*)|mat ?mul(s|tiplication)?": "matmul",
    r"fractions?|shares?|percentages?|per ?cent": "share",
    r"ratios?": "ratio",
    r"interconnect|ici|infiniband|ethernet|fabrics?|comm(s|unication)?|networks?": "network",
    r"stages?": "stage",
    r"joules?|watt( ?hours?)?|electricity": "energy",
    r"budget": "flop",
    r"f?flop(s|/s)?": "flop",
    r"decod(e|ing|er)|generation": "decode",
    r"read(s|ing)?|fetch(es|ed|ing)?|load(s|ing)?": "read",
    r"train(s|ed|ing)?": "training",
    r"optimi[sz]ers?|adamw?": "optimiser",
    r"caches?|cached|caching": "cache",
}
_SYNONYMS = [(re.compile(rf"\b(?:{left})\b"), right) for left, right in SYNONYMS.items()]
_ENDINGS = re.compile(r"(?<=\w{3})(ies|es|s|ed|ing)$")

WEIGHTS = {"known": 5.0, "name": 4.0, "meaning": 2.5, "gives": 1.5, "said": 0.8, "inputs": 0.4}


def words(text: str) -> list[str]:
    """Return the words of a text that a search goes by.

    >>> words("How many GPUs do I need for 8-way TP?")
    ['chip', '8', 'way', 'tensor', 'parallel']
    """
    plain = re.sub(r"[^\w/%$]+", " ", text.lower().replace("_", " "))
    plain = plain.replace("tokens/s", "token second").replace("/s", " second ").replace("/", " ")
    for pattern, word in _SYNONYMS:
        plain = pattern.sub(word, plain)
    return [
        _ENDINGS.sub(lambda found: "y" if found[0] == "ies" else "", word)
        for word in plain.split()
        if word not in EMPTY
    ]


def by_subject() -> dict[str, list[Formula]]:
    """Return the formulas of every subject, in the order of `SUBJECTS`, and of definition.

    >>> [formula.name for formula in by_subject()["Prefill"]][:2]
    ['pass_memory_time', 'pass_compute_time']
    """
    of_module: dict[str, list[Formula]] = {}
    for formula in registry().values():
        of_module.setdefault(formula.module.rpartition(".")[2], []).append(formula)
    return {
        subject: [formula for module in modules for formula in of_module[module]]
        for subject, modules in SUBJECTS.items()
    }


def _fields(formula: Formula) -> dict[str, str]:
    return {
        "known": " . ".join(formula.known_as),
        "name": formula.name,
        "meaning": formula.meaning,
        "gives": f"{title_of(formula.gives.name)} {formula.gives.meaning}",
        "said": " ".join(formula.conventions),
        "inputs": " ".join(title_of(q.name) for q in formula.inputs if not q.constant),
    }


@cache
def _index() -> tuple[dict[str, dict[str, float]], dict[str, float]]:
    """Return the weight of each word in each formula, and how rare each word is."""
    weights: dict[str, dict[str, float]] = {}
    for name, formula in registry().items():
        found: dict[str, float] = {}
        for field, text in _fields(formula).items():
            for word in words(text):
                found[word] = max(found.get(word, 0.0), WEIGHTS[field])
        weights[name] = found
    seen = Counter(word for found in weights.values() for word in found)
    return weights, {word: math.log(1 + len(weights) / count) for word, count in seen.items()}


def search(text: str, limit: int = 8) -> list[Formula]:
    """Return the formulas that a text asks for, best first; none where no word of it is known.

    Parameters
    ----------
    text : str
        A name, a term, an abbreviation or a question.
    limit : int
        How many at most.

    >>> search("how many sequences fit in HBM")[0].name
    'batch_that_fits'
    """
    weights, rare = _index()
    asked = dict.fromkeys(words(text))
    exact = text.strip().lower()
    scores: dict[str, float] = {}
    for name, formula in registry().items():
        found = weights[name]
        score = sum(rare[word] * found[word] for word in asked if word in found)
        if not score:
            continue
        for called in (name, *formula.known_as):
            terms = words(called)
            share = sum(term in asked for term in terms) / max(1, len(terms))
            # All of a name or a term in the question counts for more than its words.
            if share == 1 and terms:
                score += 4 * sum(rare.get(term, 1.0) for term in set(terms))
        unasked = sum(word not in asked for word in set(words(name)))
        scores[name] = score * (1 - 0.06 * unasked)
        if exact in (name, *map(str.lower, formula.known_as)):
            scores[name] = math.inf
    best = sorted(scores, key=lambda name: -scores[name])[:limit]
    return [registry()[name] for name in best]


def answers(formula: Formula, text: str) -> bool:
    """Return whether a formula's name, terms and meaning have a third of what a text asks.

    Words count by how rare they are; one that no formula has counts as the rarest.

    >>> found = search("availability of replicas in a service")[0]
    >>> answers(found, "availability of replicas in a service"), answers(search("TPOT")[0], "TPOT")
    (False, True)
    """
    weights, rare = _index()
    most = max(rare.values())
    asked = {word: rare.get(word, most) for word in words(text)}
    found = sum(
        worth
        for word, worth in asked.items()
        if weights[formula.name].get(word, 0) >= WEIGHTS["meaning"]
    )
    return found >= sum(asked.values()) / 3
