"""Explorers of the page on other calculators."""

from __future__ import annotations

from ipywidgets import Dropdown

from handful_evidence import calculators

from .plotting.explorer import Control, Explorer, Preset

_ASKED = {q.key: q for q in calculators.questions()}

one_question_many_answers = Explorer(
    "one-question-many-answers",
    "One question, many answers",
    kind="strip",
    data={
        "reference": "this book",
        "questions": {
            key: {
                "text": q.text,
                "unit": q.unit,
                "ours": q.ours,
                "answers": [[a.tool, a.value, a.cause] for a in q.answers],
            }
            for key, q in _ASKED.items()
        },
    },
    controls=[
        Control(
            Dropdown(options=[(q.text, key) for key, q in _ASKED.items()], value="decode-1"),
            "question",
            "Question",
        )
    ],
    presets=[
        Preset("A cache, four ways", {"question": "cache-v3"}),
        Preset("A peak for sparse arithmetic", {"question": "balance"}),
        Preset("Sparsity cancelled", {"question": "balance-v3"}),
    ],
    caption="Each dot is one tool's answer over this book's, on a log axis. The dots in "
    "colour are more than a quarter off; the text below says why.",
)
