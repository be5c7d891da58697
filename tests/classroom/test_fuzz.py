"""Tests of each reader of what students send, on some hundred arbitrary inputs.

`make fuzz` tries many more.
"""

from __future__ import annotations

import runpy
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import strategies as st

fuzz = runpy.run_path(str(Path(__file__).parents[1] / "fuzz.py"))
Target, Tally, tried = fuzz["Target"], fuzz["Tally"], fuzz["tried"]
COUNT = 150


@pytest.mark.parametrize("name", list(fuzz["TARGETS"]))
def test_a_reader_reads_or_refuses(name):
    found = fuzz["run"](name, COUNT)
    assert found.ends.total() >= COUNT
    assert found.ends["read"] > COUNT / 20, "too few of these inputs come past the first refusal"


class RefusedError(ValueError):
    pass


def refuse(says: str):
    def ask(one, folder):
        raise RefusedError(says)

    return ask


def dawdle(one, folder):
    end = time.process_time() + 0.3
    while time.process_time() < end:
        pass
    return len(one)


@pytest.mark.parametrize(
    "ask,raised,why",
    [
        (refuse("It is no notebook."), None, ""),
        (lambda one, folder: len(one), None, ""),
        (refuse(""), AssertionError, "no sentence"),
        (refuse("Two\nlines."), AssertionError, "no sentence"),
        (refuse("list index out of range"), AssertionError, "no sentence"),
        (lambda one, folder: one[9], IndexError, "out of range"),
        (dawdle, AssertionError, "3 bytes took 0.3"),
    ],
)
def test_what_a_reader_may_not_do_is_noticed(tmp_path, ask, raised, why):
    target, tally = Target(st.binary(), ask, (RefusedError,)), Tally(Counter())
    if raised is None:
        tried(target, b"abc", tmp_path, tally)
        assert tally.ends.total() == 1
    else:
        with pytest.raises(raised, match=why):
            tried(target, b"abc", tmp_path, tally)
