"""Tests of requests for numbers by name."""

from __future__ import annotations

import pytest

from handful import equation, query, serving
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


@pytest.mark.parametrize("way, fits", [("down", 26), ("up", 27), ("near", 26)])
def test_a_count_is_shown_as_a_whole_number(way, fits):
    """A fraction of a sequence has no seat: 26.4 of them are 26, and to hold them takes 27."""
    request = "batch_that_fits devices=1 memory_capacity=100 total_parameters=48 context=1"
    found = evaluate(
        f"{request} bytes_per_parameter=1 kv_bytes_per_token=1.97 window_cache_memory=0 whole={way}"
    )
    assert (found.value, found.whole) == (fits, way)


def test_a_whole_number_of_no_kind_is_refused():
    with pytest.raises(QueryError, match=r"^whole=about in .* is none of up, down and near\.$"):
        evaluate("batch_that_fits whole=about")


def test_a_formula_of_the_last_edition_is_found_by_its_old_name():
    with pytest.warns(DeprecationWarning, match="now serving.tensor_parallel_time"):
        old = serving.all_reduce_time
    assert old is serving.tensor_parallel_time is query.find_formula("all_reduce_time")
    assert query.evaluate("all_reduce_time batch=8 prompt_per_answer=0").formula is old
    assert equation.formula_entry("all_reduce_time")["label"] == "Tensor parallel time"
    with pytest.raises(AttributeError, match="has no attribute 'all_reduce'"):
        _ = serving.all_reduce
    for former, now in query.ALIASES.items():
        assert former not in query.registry() and now in query.registry()
