"""Tests of requests for numbers by name."""

from __future__ import annotations

import pytest

from handful.query import QueryError, evaluate
from handful.units import format_value


@pytest.mark.parametrize(
    ("request_text", "shown"),
    [
        ("weights_in_caches hardware='H100 SXM' model='Llama 3.1 70B' precision=bf16", "105"),
        ("expert_coverage model='DeepSeek-V3' batch=1 digits=1", "3\u00a0%"),
    ],
)
def test_a_number_is_shown_in_the_unit_that_its_sentence_wants(request_text, shown):
    unit = "%" if "coverage" in request_text else "1"
    found = evaluate(f"{request_text} context=4096 unit={unit}")
    assert format_value(found.value, found.unit, found.digits) == shown


@pytest.mark.parametrize(
    "request_text",
    ["step_time batch=1 unit=1", "step_time batch=1 unit=ms", "batch_that_fits unit=%"],
)
def test_another_unit_is_refused_by_name(request_text):
    with pytest.raises(QueryError, match=r"^unit=.* cannot show .* possible\.$"):
        evaluate(request_text)
