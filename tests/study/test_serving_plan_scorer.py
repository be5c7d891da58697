"""Tests of the judges of conditions and of plans.

Whatever a stranger sends gets a share and a sentence, and only what works gets points.
"""

import pytest

from handful_study.serving_plan_scorer import ratio_conditions, serving_plan

LIST = {
    "peak_flops": 2.25e15,
    "memory_bandwidth": 8e12,
    "bytes_per_parameter": 2,
    "active_parameters": 6e10,
    "total_parameters": 6e11,
    "kv_bytes_per_token": 7e4,
    "output_over_input": 5,
}
COMPANY = {
    "candidates": "H200 SXM, B200 SXM",
    "model": "GLM-4.5",
    "precision": "fp8",
    "context": 8000,
    "tokens_per_user": 30,
    "service_throughput": 200e3,
    "roofline_share": 0.6,
    "busy_share": 0.5,
}
PLAN = {"hardware": "B200 SXM", "stages": 1, "batch": 400, "domains": 40}
STRANGE = [
    None,
    True,
    3,
    10**400,
    "x",
    [],
    {},
    [[], []],
    [{}, {}],
    [{"batch": "1", "context": 1000}] * 2,
    [{"batch": float("nan"), "context": 1000}] * 2,
    [{"batch": 10**400, "context": -(10**400)}] * 2,
    [{"batch": 1e-300, "context": 1e308}] * 2,
]
STRANGE_PLANS = [
    {**PLAN, name: value}
    for name in PLAN
    for value in (
        None,
        True,
        0,
        -1,
        1.5,
        10**400,
        float("inf"),
        float("nan"),
        "B200 SXM ",
        [],
        {"a": 1},
        1e308,
    )
]


@pytest.mark.parametrize("answer", STRANGE, ids=repr)
def test_strange_conditions_get_nothing(answer):
    share, says, turn = ratio_conditions(None, LIST, [], [answer])
    assert (share, turn) == (0.0, None) and says.endswith(".")


@pytest.mark.parametrize("answer", [*STRANGE, *STRANGE_PLANS], ids=repr)
def test_strange_plans_get_nothing(answer):
    share, says, turn = serving_plan(None, COMPANY, [], [answer])
    assert (share, turn) == (0.0, None) and says.endswith(".")


def test_no_answer_gets_nothing():
    assert ratio_conditions(None, LIST, [], [])[0] == serving_plan(None, COMPANY, [], [])[0] == 0


@pytest.mark.parametrize(
    ("change", "share", "word"),
    [
        ({"batch": 5000}, 0.0, "fit"),
        ({"batch": 722}, 0.0, "fit"),
        ({"batch": 721}, 0.0, "slow"),
        ({"domains": 1}, 0.0, "carry"),
        ({"stages": 3}, 0.0, "multiple"),
        ({"stages": 9, "domains": 45}, 0.0, "stages"),
        ({"stages": 2}, 0.4, "more than the cheapest"),
    ],
)
def test_what_a_plan_fails_at_is_named(change, share, word):
    found = serving_plan(None, COMPANY, [], [{**PLAN, **change}])
    assert found[0] == share and word in found[1]


def test_fewer_domains_cost_less_until_they_do_not_carry_the_hour():
    shares = [
        serving_plan(None, COMPANY, [], [{**PLAN, "batch": 600, "domains": domains}])[0::2]
        for domains in range(1, 30)
    ]
    works = [share for share, turn in shares if share and not turn]
    assert works == sorted(works, reverse=True) and max(works) == 1
    assert ("sized-for-the-mean" in [turn for _, turn in shares]) and shares[0] == (0.0, None)
