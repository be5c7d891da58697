"""Tests of mistakes in the sources of cards and problems.

Each is reported in one sentence that names file, line and field.
"""

from __future__ import annotations

import re

import pytest

from handful_study import cards, problems
from handful_study.check import right_choice
from handful_study.source import SourceError, read_all, read_text

CARD = """# A chapter

## one-card

```yaml
kind: recall
section: latency-and-cost#the-question
lecture: "1:05"
```

Front

### Back

Back
"""
PROBLEM = """# A chapter

## one-problem

```yaml
level: apply
section: latency-and-cost#the-question
draw:
  batch: 16..64 times 2
answer: step_time
wrong:
  - value: weight_time
    says: Only the weights.
```

Text {drawn}`batch`

### Hint

One

### Hint

Two

### Solution

It is {drawn}`step_time`.
"""
CHOICE = (
    PROBLEM.replace(
        "draw:\n  batch: 16..64 times 2\nanswer: step_time\nwrong:\n  - value: weight_time\n"
        "    says: Only the weights.\n",
        "choices:\n  - text: A\n    says: a\n  - text: B\n    right: true\n    says: b\n",
    )
    .replace("{drawn}`batch`", "")
    .replace("{drawn}`step_time`", "b")
)
LETTERS = (
    PROBLEM.replace(
        "draw:\n  batch: 16..64 times 2\nanswer: step_time\n",
        "answer: 2 * batch\nletters: [batch]\n",
    )
    .replace("weight_time", "batch")
    .replace("{drawn}`batch`", "")
    .replace("{drawn}`step_time`", "$2B$")
)
SCHEDULE = (
    PROBLEM.replace(
        "draw:\n  batch: 16..64 times 2\nanswer: step_time\nwrong:\n  - value: weight_time\n"
        "    says: Only the weights.\n",
        "schedule:\n  stages: 2\n  micro_batches: 2\n  bubble_at_most: 1\n  in_flight_at_most: 2\n"
        "wrong:\n  - value: gpipe\n    says: no\n",
    )
    .replace("{drawn}`batch`", "")
    .replace("{drawn}`step_time`", "b")
)


def made(text: str, make, name: str = "exercises/x/a.md") -> list:
    return [make(entry) for entry in read_text(text, name)]


def refused(text: str, make, line: int, sentence: str, field: str | None) -> None:
    with pytest.raises(SourceError) as caught:
        made(text, make)
    said = str(caught.value)
    assert said.startswith(f"exercises/x/a.md, line {line}: "), said
    assert sentence in said and "\n" not in said and said.endswith("."), said
    if field:
        assert f": {field}: " in said, said


def test_the_sound_ones_are_read():
    assert [one.id for one in made(CARD, cards.make)] == ["one-card"]
    assert [made(text, problems.make)[0].kind for text in (PROBLEM, CHOICE, LETTERS, SCHEDULE)] == [
        "number",
        "choice",
        "expression",
        "schedule",
    ]


SHAPE = [
    (
        "## one-card",
        "## One card",
        3,
        "an id is lower-case words and figures joined by hyphens; got 'One card'",
    ),
    ("## one-card", "### one-card", 3, "a part stands before the first entry"),
    (
        "```yaml\nkind",
        "kind",
        3,
        "one-card has no head; after its heading a block ```yaml is expected",
    ),
    ('1:05"\n```', '1:05"', 5, "the head of one-card does not end; close it with ```"),
    ("kind: recall", "kind: [recall", 7, "the head of one-card is no YAML"),
    (
        'kind: recall\nsection: latency-and-cost#the-question\nlecture: "1:05"',
        "- recall",
        6,
        "has to be lines of the form field: value",
    ),
]


@pytest.mark.parametrize("old, new, line, sentence", SHAPE)
def test_a_file_that_cannot_be_taken_apart(old, new, line, sentence):
    assert old in CARD
    refused(CARD.replace(old, new), cards.make, line, sentence, None)


CARDS = [
    ("kind: recall\n", "", 3, "the field kind is missing; required are kind, section", None),
    ("section: latency-and-cost#the-question\n", "", 3, "the field section is missing", None),
    (
        "kind: recall\n",
        "kind: recall\ncolour: red\n",
        7,
        "there is no such field; allowed are kind, section, lecture",
        "colour",
    ),
    (
        "kind: recall",
        "kind: quiz",
        6,
        "one of recall, derivation, estimate, misconception is allowed; got 'quiz'",
        "kind",
    ),
    (
        "latency-and-cost#the-question",
        "latency-and-cost",
        7,
        "chapter#section is expected",
        "section",
    ),
    (
        "#the-question",
        "#the-questions",
        7,
        "latency-and-cost has no section 'the-questions'; the nearest are the-question",
        "section",
    ),
    (
        "latency-and-cost#the-question",
        "nowhere#the-question",
        7,
        "nowhere has no section 'the-question'",
        "section",
    ),
    ('"1:05"', '"nine"', 8, "'nine' is no time in the lecture", "lecture"),
    ('"1:05"', "1:05", 8, "Write it in quotation marks", "lecture"),
    ("### Back", "### Front", 3, "a card is its front, then ### Back; got the front, Front", None),
    ("Front\n", "", 3, "the front is empty", None),
    ("\nBack\n", "\n", 3, "the back is empty", None),
]


@pytest.mark.parametrize("old, new, line, sentence, field", CARDS)
def test_a_card_that_is_not_as_it_should_be(old, new, line, sentence, field):
    assert old in CARD
    refused(CARD.replace(old, new, 1), cards.make, line, sentence, field)


PROBLEMS = [
    (PROBLEM, "level: apply\n", "", 3, "the field level is missing", None),
    (
        PROBLEM,
        "level: apply",
        "level: think",
        6,
        "one of apply, derive, judge is allowed; got 'think'",
        "level",
    ),
    (
        PROBLEM,
        "### Hint\n\nTwo\n\n",
        "",
        3,
        "a problem is its text, two times ### Hint, then ### Solution; got the text, Hint, "
        "Solution",
        None,
    ),
    (PROBLEM, "\nTwo\n", "\n", 3, "Hint is empty", None),
    (
        PROBLEM,
        "answer: step_time\n",
        "",
        3,
        "a problem has either an answer, choices or a schedule",
        None,
    ),
    (
        PROBLEM,
        "answer: step_time\n",
        "answer: step_time\nchoices: []\n",
        3,
        "a problem has either an answer, choices or a schedule",
        None,
    ),
    (
        PROBLEM,
        "answer: step_time",
        "answer: step_tim",
        10,
        "there is no formula or quantity 'step_tim'; the nearest are step_time",
        "answer",
    ),
    (
        PROBLEM,
        "answer: step_time",
        "answer: 2 * (step_time",
        10,
        "A ')' is missing at the end",
        "answer",
    ),
    (
        PROBLEM,
        "answer: step_time",
        "answer: step_time(colour=1)",
        10,
        "step_time does not depend on 'colour'",
        "answer",
    ),
    (
        PROBLEM,
        "answer: step_time",
        "answer: batch(context=1)",
        10,
        "batch is no formula, so it takes no settings",
        "answer",
    ),
    (
        PROBLEM,
        "answer: step_time",
        "answer: step_time + batch",
        10,
        "differ in dimension",
        "answer",
    ),
    (
        PROBLEM,
        "answer: step_time\n",
        "answer: step_time\nunit: parsec\n",
        11,
        "there is no unit 'parsec'; there are s, B, ",
        "unit",
    ),
    (
        PROBLEM,
        "value: weight_time",
        "value: weight_tim",
        11,
        "there is no formula or quantity 'weight_tim'",
        "wrong",
    ),
    (
        PROBLEM,
        "  - value: weight_time\n",
        "  - valu: weight_time\n",
        11,
        "each needs value and says",
        "wrong",
    ),
    (
        PROBLEM,
        "wrong:\n  - value: weight_time\n    says: Only the weights.",
        "wrong: weight_time",
        11,
        "a list is expected",
        "wrong",
    ),
    (
        PROBLEM,
        "draw:\n  batch: 16..64 times 2",
        "draw: [1, 2]",
        8,
        "lines of the form name: value are expected",
        "draw",
    ),
    (PROBLEM, "16..64 times 2", "64..16 times 2", 8, "'64..16 times 2' goes nowhere", "draw"),
    (PROBLEM, "16..64 times 2", "16..64 by 0.01", 8, "has more than 200 values", "draw"),
    (PROBLEM, "16..64 times 2", "true", 8, "a number is expected; got True", "draw"),
    (PROBLEM, "16..64 times 2", "many", 8, "batch: 'many' is no number", "draw"),
    (PROBLEM, "16..64 times 2", "'[nothing at all]'", 8, "batch: ", "draw"),
    (PROBLEM, "16..64 times 2", ".inf", 8, "a finite number is expected", "draw"),
    (
        PROBLEM,
        "  batch: 16",
        "  hardware: H1000\n  batch: 16",
        8,
        "there is no 'H1000'; the nearest are",
        "draw",
    ),
    (
        PROBLEM,
        "  batch: 16",
        "  apples: 3\n  batch: 16",
        8,
        "'apples' is no quantity, so it needs a unit in units",
        "draw",
    ),
    (
        PROBLEM,
        "answer: step_time\n",
        "answer: step_time\ncases:\n  - batch: 3\n",
        11,
        "each case needs a name",
        "cases",
    ),
    (
        PROBLEM,
        "answer: step_time\n",
        "answer: step_time\ncases:\n  - name: A\n    batch: x\n",
        11,
        "batch: 'x' is no number",
        "cases",
    ),
    (
        PROBLEM,
        "answer: step_time\n",
        "answer: step_time\ntolerance: 0\n",
        11,
        "a share up to one half is expected, such as 2 %; got 0",
        "tolerance",
    ),
    (
        PROBLEM,
        "answer: step_time\n",
        "answer: step_time\ntolerance: 80 %\n",
        11,
        "a share up to one half is expected",
        "tolerance",
    ),
    (
        LETTERS,
        "letters: [batch]",
        "letters: [bach]",
        9,
        "a list of quantities is expected; ['bach'] are none",
        "letters",
    ),
    (
        LETTERS,
        "letters: [batch]",
        "letters: batch",
        9,
        "a list of quantities is expected",
        "letters",
    ),
    (
        LETTERS,
        "letters: [batch]",
        "letters: [context]",
        9,
        "the answer holds batch, which is not among its letters",
        "letters",
    ),
    (CHOICE, "  - text: A\n    says: a\n", "", 8, "two choices at least are expected", "choices"),
    (
        CHOICE,
        "    says: a\n",
        "",
        8,
        "each needs text and says, and may have right or when",
        "choices",
    ),
    (
        CHOICE,
        "    right: true\n",
        "    when: batc\n",
        8,
        "there is no formula or quantity 'batc'",
        "choices",
    ),
    (
        SCHEDULE,
        "  stages: 2\n",
        "",
        8,
        "stages, micro_batches, bubble_at_most, in_flight_at_most are needed",
        "schedule",
    ),
    (
        SCHEDULE,
        "  stages: 2\n",
        "  stages: 2\n  colour: 2\n",
        8,
        "and backward and weights may be given",
        "schedule",
    ),
    (
        SCHEDULE,
        "stages: 2",
        "stages: 2 +",
        8,
        "The formula ends where a number or a name should stand",
        "schedule",
    ),
    (
        SCHEDULE,
        "value: gpipe",
        "value: pipedream",
        13,
        "gpipe and one_at_a_time are known; got 'pipedream'",
        "wrong",
    ),
]


@pytest.mark.parametrize("text, old, new, line, sentence, field", PROBLEMS)
def test_a_problem_that_is_not_as_it_should_be(text, old, new, line, sentence, field):
    assert old in text
    refused(text.replace(old, new, 1), problems.make, line, sentence, field)


@pytest.mark.parametrize(
    "request_, sentence",
    [
        ("hardware", "the text shows 'hardware', which is not drawn"),
        ("case", "the text shows 'case', which is not drawn"),
        ("nonsense", "there is no formula or quantity 'nonsense'"),
        (
            "step_time unit=parsec",
            "asks for what is no unit, or no number of digits; units are s, B, ",
        ),
        ("step_time digits=many", "asks for what is no unit, or no number of digits"),
        ("2 *", "The formula ends where a number or a name should stand"),
    ],
)
def test_what_a_text_cannot_show(request_, sentence):
    (one,) = made(PROBLEM, problems.make)
    with pytest.raises(SourceError, match=re.escape(sentence)) as caught:
        one.drawn_text(request_, 0)
    assert str(caught.value).startswith("exercises/x/a.md, line 3: one-problem: ")


def test_a_choice_needs_one_right_answer():
    (none,) = made(CHOICE.replace("    right: true\n", ""), problems.make)
    with pytest.raises(
        SourceError,
        match=r"a\.md, line 8: one-problem: choices: .*seed 0",
    ):
        right_choice(none, 0)


def test_an_id_stands_once(tmp_path):
    (tmp_path / "cards").mkdir()
    for name in ("a.md", "b.md"):
        (tmp_path / "cards" / name).write_text(CARD, "utf-8")
    with pytest.raises(
        SourceError,
        match=r"cards/b\.md, line 3: one-card: .*cards/a\.md, line 3",
    ):
        read_all("cards", cards.make, tmp_path)


@pytest.mark.parametrize("find, kind", [(cards.card, "card"), (problems.problem, "problem")])
def test_an_unknown_id_gets_the_nearest(find, kind):
    with pytest.raises(SourceError, match=f"There is no {kind} 'nobody'; the nearest are "):
        find("nobody")
