"""Tests of the data with which a page sets and judges a problem.

The page gets every number that it needs and makes none of its own.
"""

from __future__ import annotations

import itertools
import json
import math

import pytest

from handful.symbolic.parse_quantity import fits, read
from handful.units import UNITS, format_value
from handful_study import problems as book
from handful_study.check import dimension_in_words, letter
from handful_study.expressions import evaluate, names
from handful_study.problem_spec import WRITTEN, answer_prompt, spec
from handful_study.source import SourceError, read_text
from handful_study.words import ROLE

ALL = [pytest.param(one, id=one.id) for one in book.problems().values()]
SEEDS = range(12)


def shown_in(problem) -> list[str]:
    """Return what the problem's texts draw."""
    texts = [
        problem.text.text,
        problem.solution.text,
        *(hint.text for hint in problem.hints),
        *problem.rubric,
        *(c.text for c in problem.choices),
        *(c.says for c in problem.choices),
        *(w.says for w in problem.wrong),
    ]
    return list(
        dict.fromkeys(
            " ".join(inside.split())
            for text in texts
            for role, _, inside in ROLE.findall(text)
            if role == "drawn"
        )
    )


def values_of(made: dict, drawn: dict) -> dict[str, float]:
    """Return the values that a page has at hand for what is drawn.

    They follow the rule that the spec states for ``by``.
    """
    found, options = dict(made["values"]), dict(made["draw"])
    for name, (rows, values) in made["by"].items():
        places = list(itertools.product(*(options[row] for row in rows)))
        assert len(values) == len(places)
        found[name] = values[places.index(tuple(drawn[row] for row in rows))]
    numbers = {**drawn, **drawn.get("case", {})}
    return found | {
        name: value for name, value in numbers.items() if isinstance(value, (int, float))
    }


@pytest.mark.parametrize("problem", ALL)
def test_the_page_s_values_give_the_same_answers(problem):
    requests = shown_in(problem)
    made = json.loads(json.dumps(spec(problem, requests), allow_nan=False))  # as it travels
    for seed in SEEDS:
        drawn = problem.draw(seed)
        values = values_of(made, drawn)
        if problem.kind == "number":
            assert evaluate(made["answer"], values) == problem.right(seed)
            assert [evaluate(tree, values) for tree in made["wrong"]] == problem.wrong_values(seed)
        if problem.kind == "choice":
            positive = [i for i, tree in enumerate(made["when"]) if evaluate(tree, values) > 0]
            assert len(positive) == 1
        if problem.kind == "schedule":
            assert {name: evaluate(tree, values) for name, tree in made["schedule"].items()} == {
                name: evaluate(tree, problem.values(seed))
                for name, tree in problem.schedule.items()
            }
        for request, shown in zip(requests, made["drawn"], strict=True):
            if "row" in shown:
                text = drawn["case"]["name"] if shown["row"] == "case" else str(drawn[shown["row"]])
            else:
                text = format_value(evaluate(shown["tree"], values), shown["unit"], shown["digits"])
            assert text == problem.drawn_text(request, seed)


@pytest.mark.parametrize("problem", ALL)
def test_no_value_is_sent_that_no_tree_asks_for(problem):
    made = spec(problem, shown_in(problem))
    trees = [
        made.get("answer", 0),
        *made.get("when", ()),
        *made.get("schedule", {}).values(),
        *(shown.get("tree", 0) for shown in made["drawn"]),
        *(made.get("wrong", ()) if problem.kind != "schedule" else ()),
    ]
    wanted = set().union(*map(names, trees))
    assert {*made["values"], *made["by"]} <= wanted and not set(made["values"]) & set(made["by"])
    if problem.kind != "expression":  # whose letters stand for any value
        given = {*problem.choices_drawn, *(name for case in problem.cases for name in case)}
        assert wanted <= {*made["values"], *made["by"], *given}
    # What is the same for every row is sent once.
    assert all(len(set(values)) > 1 for _, values in made["by"].values())


@pytest.mark.parametrize("problem", ALL)
def test_each_kind_has_what_it_is_judged_by(problem):
    made = spec(problem)
    assert made["kind"] == problem.kind and made["drawn"] == []
    assert ("answer" in made) == (problem.kind in ("number", "expression")) and (
        "when" in made
    ) == (problem.kind == "choice")
    assert ("letters" in made) == (problem.kind == "expression") and ("unit" in made) == (
        problem.kind == "number"
    )
    if problem.kind == "number":
        assert (
            made["called"] == dimension_in_words(problem.dimension) and 0 < made["tolerance"] <= 0.5
        )
        assert {base: power for base, power in problem.dimension.powers} == made["dimension"]
    if problem.kind == "expression":
        assert made["letters"] == [[letter(name), name] for name in problem.letters]
        assert len({typed for typed, _ in made["letters"]}) == len(problem.letters)


@pytest.mark.parametrize("problem", [one for one in ALL if one.values[0].kind == "number"])
def test_the_unit_that_the_field_names_is_one_that_will_do(problem):
    says = answer_prompt(problem)
    if says == "Your answer, a number":
        assert UNITS[problem.unit].kind == "count"
        return
    unit = says.removeprefix("Your answer, in ").removeprefix(
        "Your answer, with its unit, such as "
    )
    assert unit == WRITTEN[problem.unit]
    for one in unit.split(" or "):
        assert fits(read("12 %")[1] if one == "%" else read(f"1 {one}")[1], problem.dimension)


def test_what_is_asked_for_of_the_other_kinds():
    kinds = {
        one.kind: answer_prompt(one) for one in book.problems().values() if one.kind != "number"
    }
    assert kinds == {
        "expression": "Your formula, such as 2*A/B",
        "choice": "Your answer",
        "schedule": "Your answer",
    }


HEAD = """## a-problem

```yaml
level: apply
section: latency-and-cost#the-question
draw:
  hardware: {hardware}
  model: {model}
  precision: {precision}
answer: {answer}
```

Text

### Hint

One

### Hint

Two

### Solution

Three
"""


def made_of(**head):
    [entry] = read_text(HEAD.format(**head), "exercises/problems/a.md")
    return book.make(entry)


def test_a_value_is_sent_for_those_rows_only_on_which_it_depends():
    """A chip's bandwidth does not depend on the model, nor a model's size on the chip.

    The bytes of a weight depend on the precision alone.
    """
    made = spec(
        made_of(
            hardware="[H100 SXM, H200 SXM]",
            model="[Llama 3.1 8B, Llama 3.1 70B]",
            precision="[bf16, fp8]",
            answer="bytes_per_parameter * total_parameters / memory_bandwidth",
        )
    )
    assert {name: rows for name, (rows, _) in made["by"].items()} == {
        "memory_bandwidth": ["hardware"],
        "total_parameters": ["model"],
        "bytes_per_parameter": ["precision"],
    }
    assert made["by"]["memory_bandwidth"][1] == [3.35e12, 4.8e12]  # NVIDIA's data sheets
    assert made["by"]["bytes_per_parameter"][1] == [2, 1]
    assert made["values"] == {}


def test_what_no_row_changes_is_a_plain_value():
    made = spec(
        made_of(
            hardware="H100 SXM", model="Llama 3.1 70B", precision="fp8", answer="memory_bandwidth"
        )
    )
    assert (made["values"], made["by"]) == ({"memory_bandwidth": 3.35e12}, {})


def test_a_scenario_that_cannot_be_is_a_mistake_of_the_file():
    with pytest.raises(
        SourceError, match=r"^exercises/problems/a\.md, line 6: a-problem: draw: .*A100 80GB.*fp4"
    ):
        spec(
            made_of(
                hardware="[B200 SXM, A100 80GB]",
                model="Llama 3.1 8B",
                precision="fp4",
                answer="step_time(batch=1, context=1000)",
            )
        )


def test_infinity_is_never_sent():
    sent = 0
    for problem in book.problems().values():
        made = spec(problem, shown_in(problem))
        numbers = [
            *made["values"].values(),
            *(value for _, values in made["by"].values() for value in values if value is not None),
        ]
        assert all(math.isfinite(number) for number in numbers), problem.id
        sent += len(numbers)
    assert sent
