"""Compare the answers of other calculators with this book's, and explain the differences.

Answers were got by running the tools (``facts/calculators.csv``).  Where a tool's figure is a
mistake that can be made again, the row holds the arithmetic that makes it, and tests do so.

>>> v3 = next(q for q in questions() if q.key == "cache-v3")
>>> round(v3.ours), max(round(a.ratio, 1) for a in v3.answers)  # one tool is off by a factor of 57
(70272, 56.9)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from handful import facts
from handful import query as ask

_NODE = 'hardware="H100 SXM" model="Llama 3.1 70B" precision=bf16'
_ASKED = {
    "decode-1": (
        "One decode step for one user: Llama 3 70B in bf16 on eight H100, 4,096 tokens of context",
        f"step_time batch=1 context=4096 {_NODE}",
    ),
    "decode-256": ("The same step for 256 users", f"step_time batch=256 context=4096 {_NODE}"),
    "prompt-70b": (
        "A prompt of 4,096 tokens: Llama 3 70B on eight H100",
        f"compute_time batch=4096 {_NODE}",
    ),
    "prompt-v3": (
        "A prompt of 4,096 tokens: DeepSeek-V3 in bf16, time on one H100",
        'compute_time batch=4096 devices=1 hardware="H100 SXM" model="DeepSeek-V3" precision=bf16',
    ),
    "balance": (
        "Batch at which an H100 in bf16 balances a dense model",
        'weight_uses_at_balance hardware="H100 SXM" precision=bf16',
    ),
    "balance-v3": (
        "Batch at which it balances DeepSeek-V3",
        'balance_batch hardware="H100 SXM" model="DeepSeek-V3" precision=bf16',
    ),
    "cache-v3": (
        "Cache for a token of DeepSeek-V3 in bf16",
        "= 2 * [models / DeepSeek-V3 / kv_elements_per_token_growing]",
    ),
    "cache-405b": (
        "Cache for a token of Llama 3.1 405B in bf16",
        "= 2 * [models / Llama 3.1 405B / kv_elements_per_token_growing]",
    ),
    "cache-gemma": (
        "Cache for a token of Gemma 2 27B in bf16, windows not yet full",
        "= 2 * 46 * 2 * 16 * 128",
    ),
    "bubble": (
        "Share of a pipeline's time that is bubble: eight stages, eight micro-batches",
        "bubble_of_total pipeline_stages=8 micro_batches=8",
    ),
    "training": (
        "Training GPT-3: 175 billion parameters, 300 billion tokens",
        "training_flops active_parameters=175e9 pretraining_tokens=300e9",
    ),
}
_UNITS = {
    "decode-1": "s",
    "decode-256": "s",
    "prompt-70b": "s",
    "prompt-v3": "s",
    "balance": "token",
    "balance-v3": "sequence",
    "cache-v3": "B",
    "cache-405b": "B",
    "cache-gemma": "B",
    "bubble": "%",
    "training": "FLOP",
}


@dataclass(frozen=True)
class Answer:
    """A tool's figure in SI units, its ratio to this book's, and what makes the difference."""

    tool: str
    version: str
    value: float
    ratio: float
    cause: str
    remade: str
    source: str


@dataclass(frozen=True)
class Question:
    """A question, the request that gives this book's answer, and the answers of other tools.

    Those are sorted, least first.
    """

    key: str
    text: str
    unit: str
    request: str
    ours: float
    answers: tuple[Answer, ...]

    @property
    def spread(self) -> float:
        """Return the largest over the least answer of the tools."""
        return self.answers[-1].value / self.answers[0].value


@cache
def questions() -> tuple[Question, ...]:
    """Return every question in the order of the page."""
    rows = facts.load("calculators")
    if odd := {row["question"] for row in rows} ^ set(_ASKED):
        raise ValueError(f"calculators.csv and the questions differ in {', '.join(sorted(odd))}.")
    found = []
    for key, (text, request) in _ASKED.items():
        ours = ask.answer(request).value
        answers = sorted(
            (
                Answer(
                    row["tool"],
                    row["version"],
                    row["value"],
                    row["value"] / ours,
                    row["cause"],
                    row["remade"] or "",
                    row["source"],
                )
                for row in rows
                if row["question"] == key
            ),
            key=lambda a: a.value,
        )
        found.append(Question(key, text, _UNITS[key], request, ours, tuple(answers)))
    return tuple(found)
