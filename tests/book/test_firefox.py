"""A few steps of the walk through the book (`browsers.py`), where this machine has Firefox.

``make test`` does not install it; ``make browsers`` does, and walks on in three browsers.
"""

from __future__ import annotations

import pytest

import browsers
from browsers import tab, walk  # noqa: F401 (fixtures)


@pytest.fixture(scope="module")
def window(request):
    with browsers.opened("firefox", request) as found:
        yield found


def test_a_chapter_opens(tab):  # noqa: F811
    browsers.test_every_page_opens_without_fault_at_two_widths(tab, "latency-and-cost.html")


def test_a_plot_answers(tab):  # noqa: F811
    browsers.test_explorer(tab, "curves")


def test_a_card_is_remembered(tab):  # noqa: F811
    browsers.test_a_card_is_graded_and_remembered(tab)


def test_search_opens_a_hit(tab):  # noqa: F811
    browsers.test_search_finds_and_opens(tab)
