"""Tests of every verdict on a learner's answer.

The right answers of the problems are worked out here by hand.
"""

from __future__ import annotations

import math
import re

import pytest

from handful.symbolic.dimensions import NONE, Dimension
from handful_study import problems
from handful_study.check import check, dimension_in_words, letter, near, right_choice, spellings
from handful_study.source import SourceError, read_text

HEAD = """## a-problem

```yaml
level: apply
section: latency-and-cost#the-question
{head}
```

Text

### Hint

One

### Hint

Two

### Solution

Three
"""


def made(head: str):
    [entry] = read_text(HEAD.format(head=head.strip()), "exercises/problems/a.md")
    return problems.make(entry)


# 140 GB over 3.35 TB/s are 41.8 ms.
TIME = made("""draw:
  hardware: H100 SXM
  devices: 1
  weights: 140 GB
units:
  weights: B
answer: weights / (devices * memory_bandwidth)
wrong:
  - value: weights / (8 * devices * memory_bandwidth)
    says: That is the time on {drawn}`2 * 4 digits=1` chips.""")
SHARE = made("answer: 1 / 4\nunit: '%'")
CHIPS = made("draw:\n  devices: 72\nanswer: devices")
PEOPLE = made("draw:\n  batch: 478\nanswer: batch")
LOSS = made("answer: 0 - 250")
NOTHING = made("answer: 3 - 3")
FORMULA = made("""answer: 2 * active_parameters * batch / peak_flops
letters: [active_parameters, batch, peak_flops]
wrong:
  - value: 2 * active_parameters / peak_flops
    says: Each sequence of the batch takes that long.""")
CHOICE = made("""draw:
  batch: [1, 1000]
choices:
  - text: few
    when: 100 - batch
    says: Below a hundred.
  - text: many
    when: batch - 100
    says: Above a hundred.""")


@pytest.mark.parametrize(
    "problem, text, kind, says",
    [
        (TIME, "41.8 ms", "right", "Right."),
        (TIME, "41.791 milliseconds", "right", "Right."),
        (TIME, "41,79 msec", "right", "Right."),
        (TIME, "41.8 jiffies", "unread", "'jiffies' is no unit of this book"),
        (TIME, "0.0418 s", "right", "Right."),
        (TIME, "T = 41.8 ms", "right", "Right."),
        (TIME, "41 800 µs", "right", "Right."),
        (TIME, "1 h 2 min", "wrong", "Not yet: that is too large."),
        (TIME, "41.8", "unread", "Which unit?  This answer is a time, and its unit counts."),
        (TIME, "41.8 GB", "wrong", "That is a number of bytes; asked for is a time."),
        (TIME, "41.8 GB/s", "wrong", "That is in B/s; asked for is a time."),
        (TIME, "forty", "unread", "'forty' is no number"),
        (TIME, "5.22 ms", "wrong", "That is the time on 8 chips."),
        (TIME, "-41.8 ms", "wrong", "The size is right, the sign is not."),
        (
            TIME,
            "41.8 s",
            "wrong",
            "The digits are right, but it is 1,000 times too large: look at the prefix.",
        ),
        (
            TIME,
            "41.8 µs",
            "wrong",
            "The digits are right, but it is 1,000 times too small: look at the prefix.",
        ),
        (
            TIME,
            "41.8 ns",
            "wrong",
            "The digits are right, but it is 1,000,000 times too small: look at the prefix.",
        ),
        (TIME, "60 ms", "wrong", "Not yet: that is too large."),
        (TIME, "20 ms", "wrong", "Not yet: that is too small."),
        (TIME, "0 ms", "wrong", "Not yet."),
        (TIME, "-20 ms", "wrong", "Not yet."),
        (SHARE, "25 %", "right", "Right."),
        (SHARE, "0.25", "right", "Right."),
        (SHARE, "25", "unread", "Write the sign % too"),
        (SHARE, "40 %", "wrong", "Not yet: that is too large."),
        (CHIPS, "72", "right", "Right."),
        (CHIPS, "72 chips", "right", "Right."),
        (
            CHIPS,
            "72 layers",
            "wrong",
            "That is a number of layers; asked for is a number of chips.",
        ),
        (LOSS, "-250", "right", "Right."),
        (LOSS, "250", "wrong", "The size is right, the sign is not."),
        (LOSS, "-300", "wrong", "Not yet: that is too large."),
        (LOSS, "-100", "wrong", "Not yet: that is too small."),
        (NOTHING, "0", "right", "Right."),
        (NOTHING, "1e-9", "wrong", "Not yet."),
    ],
)
def test_a_number(problem, text, kind, says):
    found = check(problem, text, seed=1)
    assert (found.kind, found.turn) == (kind, 0 if text == "5.22 ms" else None)
    assert found.says.replace("\xa0", " ").startswith(says)


def test_right_is_within_the_tolerance_and_no_further():
    right = 140e9 / 3.35e12
    assert TIME.tolerance == 0.02 and TIME.right(7) == pytest.approx(right)
    verdicts = [
        check(TIME, f"{right * factor!r} s", 7).kind for factor in (0.9799, 0.9801, 1.0199, 1.0201)
    ]
    assert verdicts == ["wrong", "right", "right", "wrong"]
    assert not near(math.inf, 1, 0.5) and not near(math.nan, 1, 0.5)


@pytest.mark.parametrize(
    "text, kind, says, turn",
    [
        ("2*N_active*B/F", "right", "Right.", None),
        ("B * N_active / (F / 2)", "right", "Right.", None),
        ("2 * active_parameters * batch / peak_flops", "right", "Right.", None),
        ("2N_activeB/F", "right", "Right.", None),
        ("2B^2N_active/FB", "right", "Right.", None),
        ("2*N_active/F", "wrong", "Each sequence of the batch takes that long.", 0),
        (
            "6*N_active*B/F",
            "wrong",
            "Only a factor is off: yours is always 3 times the answer.",
            None,
        ),
        (
            "-N_active*B/F",
            "wrong",
            "Only a factor is off: yours is always −0.5 times the answer.",
            None,
        ),
        ("2*N_active*B", "wrong", "Not yet: the answer depends on F too.", None),
        ("2*N_active*B^2/F", "wrong", "Not yet.", None),
        ("0*B*N_active*F", "wrong", "Not yet.", None),
        ("1/(N_active - N_active) + B + F", "wrong", "Not yet.", None),
        ("2*N*B/F", "unread", "'N' is none of the letters of this answer, which are ", None),
        ("2*(N_active", "unread", "A ')' is missing at the end", None),
        ("", "unread", "", None),
    ],
)
def test_a_formula(text, kind, says, turn):
    found = check(FORMULA, text, seed=0)
    assert (
        (found.kind, found.turn) == (kind, turn)
        and found.says.replace("\xa0", " ").startswith(says)
        and found.says
    )


def test_letters_may_be_written_as_the_book_prints_them_or_by_name():
    assert [letter(name) for name in FORMULA.letters] == ["N_active", "B", "F"]
    assert spellings(FORMULA) == {
        "N_active": "active_parameters",
        "active_parameters": "active_parameters",
        "B": "batch",
        "batch": "batch",
        "F": "peak_flops",
        "peak_flops": "peak_flops",
    }


def test_letters_side_by_side_are_a_product_where_they_can_be_read_in_one_way():
    """As the book prints them: a power is that of the last, and a divisor is all of them."""
    two = made("answer: batch * context\nletters: [batch, context, kv_bytes_per_token]")
    for text in ("BL", "LB", "B^2L/B", "BLb/b", "LBb^2/b^2"):
        assert check(two, text, seed=0).kind == "right", text
    assert check(two, "BLX", seed=0).says.startswith("'BLX' is none of the letters")
    unclear = made("answer: micro_batch\nletters: [micro_batch, batch, memory_bandwidth]")
    assert check(unclear, "BBW", seed=0).kind == "wrong"


def test_a_count_that_was_rounded_is_asked_for_as_it_was():
    """The question asks for the number before it is rounded; nobody has failed who rounded it."""
    chips = made("answer: 5.88 * devices\ndraw:\n  devices: 1")
    for text in ("6", "5 chips"):
        found = check(chips, text, seed=0)
        assert (found.kind, found.says[:15]) == ("unread", "That is rounded"), text
    assert check(chips, "7", seed=0).kind == "wrong"
    assert check(made("answer: 5.88 / 1"), "6", seed=0).kind == "wrong"
    assert check(made("answer: 5.88 / 1\nnamed_unit: rounds"), "6", seed=0).kind == "unread"
    assert check(made("answer: 1 / 4\nunit: '%'\nnamed_unit: '%'"), "1", seed=0).kind == "wrong"


@pytest.mark.parametrize(
    "given, kind, says",
    [
        ("0", "right", "Below a hundred."),
        (0, "right", "Below a hundred."),
        (1, "wrong", "Above a hundred."),
        (2, "unread", "Choose one of the 2."),
        (-1, "unread", "Choose one of the 2."),
        ("B", "unread", "Choose one of the 2."),
    ],
)
def test_a_choice(given, kind, says):
    few = next(seed for seed in range(20) if CHOICE.draw(seed)["batch"] == 1)
    found = check(CHOICE, given, few)
    assert (found.kind, found.says, found.turn) == (kind, says, given if kind == "wrong" else None)


def test_what_is_drawn_decides_which_choice_is_right():
    assert {(CHOICE.draw(seed)["batch"], right_choice(CHOICE, seed)) for seed in range(20)} == {
        (1, 0),
        (1000, 1),
    }


@pytest.mark.parametrize("when, many", [("batch", 2), ("0 - batch", 0)])
def test_one_choice_has_to_be_right_and_one_only(when, many):
    both = made(
        f"draw:\n  batch: 3\nchoices:\n  - text: a\n    when: {when}\n    says: a\n  - text: b\n"
        f"    when: {when}\n    says: b"
    )
    with pytest.raises(
        SourceError,
        match=rf"^exercises/problems/a\.md, line 8: a-problem: choices: for the seed 5, {many} "
        r"choices are right; one is expected",
    ):
        check(both, 0, 5)


@pytest.mark.parametrize(
    "dimension, words",
    [
        (NONE, "a number without a unit"),
        (Dimension(time=1), "a time"),
        (Dimension(dollar=1, time=-1, device=-1), "in $/device/s"),
        (Dimension(byte=2, token=-3), "in byte^2/token^3"),
    ],
)
def test_dimensions_in_words(dimension, words):
    assert dimension_in_words(dimension) == words


@pytest.mark.parametrize(
    "name, written",
    [
        ("micro-batches-that-fill", "{:.6g} micro-batches"),
        ("micro-batches-that-fill", "{:.6g} micro batches"),
        ("blocks-until-the-drift-shows", "{:.6g} blocks"),
        ("systems-for-a-service", "{:.6g} systems"),
        ("what-caching-saves", "{:.6g}"),
        ("what-caching-saves", "{:.6g} dollars"),
        ("what-chance-adds", "{0:.6%}"),
        ("price-of-a-fast-mode", "{:.6g}x"),
        ("price-of-a-fast-mode", "{:.6g}-fold"),
        ("bytes-in-a-beat", "{:.6g}"),
        ("chips-for-a-promise", "{:.6g} chips"),
    ],
)
def test_what_the_question_names_may_be_written_or_left_out(name, written):
    one = problems.problem(name)
    assert check(one, written.format(one.right(1)), seed=1).kind == "right"


@pytest.mark.parametrize(
    ("problem", "text", "kind"),
    [
        (TIME, "≈ 41.8 ms", "right"),
        (TIME, "~41.8ms.", "right"),
        (TIME, "= 41.8 ms", "right"),
        (TIME, "t ≈ 41.8 ms", "right"),
        (TIME, "1/23.9 s", "right"),
        (TIME, "1/0 s", "unread"),
        (TIME, "1/239 s", "wrong"),
        (PEOPLE, "478 people", "right"),
        (PEOPLE, "478 users", "right"),
        (PEOPLE, "478 sequences", "right"),
        (PEOPLE, "478 s", "wrong"),
        (CHIPS, "72 people", "unread"),
    ],
)
def test_what_people_add_to_a_number_is_understood(problem, text, kind):
    assert check(problem, text, seed=1).kind == kind


@pytest.mark.parametrize(
    "written",
    [
        "{}",
        "${}",
        "$ {}",
        "US${}",
        "US$ {}",
        "USD {}",
        "{} $",
        "{} dollars",
        "${}/M",
        "${} / M",
        "{}/M",
        "${}/Mtoken",
        "${}/Mtok",
        "${}/MTok",
        "${}/1M tokens",
        "${} per million",
        "{} per million tokens",
        "${} a million tokens",
        "${} per 1M",
        "${} per M tokens",
        "{} dollars per million tokens",
        "0{} USD/M",
    ],
)
def test_a_price_is_read_as_people_write_it(written):
    one = problems.problem("price-of-a-token")
    for seed in range(5):
        price = f"{one.right(seed) * 1e6:.4g}"
        assert check(one, written.format(price), seed).kind == "right"
        assert check(one, written.format(f"{float(price) * 1.3:.4g}"), seed).kind == "wrong"


@pytest.mark.parametrize(
    "written", ["{} cents", "{}¢", "{} ct", "{} cents per million tokens", "{} cents/M"]
)
def test_cents_are_read_as_the_question_asks_for_dollars(written):
    one = problems.problem("price-of-a-token")
    for seed in range(5):
        cents = one.right(seed) * 1e8
        assert check(one, written.format(f"{cents:.4g}"), seed).kind == "right"
        assert check(one, written.format(f"{cents * 1.3:.4g}"), seed).kind == "wrong"
    assert check(one, "$36.4", 0).kind == "wrong" == check(one, "364 cents", 0).kind


@pytest.mark.parametrize("text", ["€0.36", "$", "$/M", "0.36 euros", "$0.36 per parsec", "cheap"])
def test_a_price_that_cannot_be_read_does_not_count(text):
    assert check(problems.problem("price-of-a-token"), text, seed=1).kind == "unread"


def test_dollars_may_stand_before_an_amount():
    for name in ("what-caching-saves", "bill-of-a-long-prompt", "a-conversation-on-flash"):
        one = problems.problem(name)
        for written in ("${:.6g}", "US${:.6g}", "USD {:.6g}", "{:.6g} USD"):
            assert check(one, written.format(one.right(1)), seed=1).kind == "right"


def test_a_percentage_that_is_asked_for_needs_no_sign():
    one = problems.problem("what-chance-adds")
    for text in ("{:.6g}", "{:.6g} per cent", "{:.6g} percent", "{:.6g} %"):
        assert check(one, text.format(100 * one.right(1)), seed=1).kind == "right"


@pytest.mark.parametrize("one", problems.problems().values(), ids=lambda one: one.id)
def test_a_question_that_names_its_unit_takes_a_bare_number(one):
    asked = re.search(r"\bin dollars\b|how many bytes|how many per cent", one.text.text, re.I)
    if one.kind == "number" and asked:
        assert one.named_unit, asked[0]


def test_a_comma_is_decimal_where_it_can_be_nothing_else():
    one = problems.problem("step-of-a-dense-model")
    milliseconds = f"{one.right(1) * 1e3:.4f}".replace(".", ",")
    assert check(one, f"{milliseconds} ms", seed=1).kind == "right"
    found = check(one, f"{one.right(1) * 1e3:.3f} ms".replace(".", ","), seed=1)
    assert found.kind == "unread" and "A comma before three digits" in found.says


def test_a_superfluous_factor_has_a_name():
    one = problems.problem("step-of-a-dense-model")
    right = one.right(1)
    assert check(one, f"{right / 2:.6g} s", seed=1).says == (
        "Not yet: that is too small by a factor of 2, which you have left out."
    )
    context = one.values(1)["context"]
    says = check(one, f"{right * context:.6g} s", seed=1).says
    assert says.startswith("Not yet: that is too large by a factor of ") and "context" in says


def test_billions_and_bits_are_understood_where_they_are_meant():
    one = problems.problem("experts-to-store")
    assert check(one, f"{one.right(1) / 1e9:.6g}B", seed=1).kind == "right"
    one = problems.problem("port-as-good-as-one-fabric")
    assert check(one, f"{one.right(1) * 8 / 1e9:.6g} Gb/s", seed=1).kind == "right"
    one = problems.problem("step-of-a-dense-model")
    assert check(one, "8 Gb", seed=1).says == "That is a number of bits; asked for is a time."
