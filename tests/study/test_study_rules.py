"""Tests of the page's rules of study in Node: schedule, log, and store."""

from __future__ import annotations

import subprocess

import pytest

from handful_site import bootstrap


@pytest.mark.parametrize(
    "arguments",
    [
        ["--test", "tests/study/study.test.mjs"],
        ["--test", "tests/study/log.test.mjs"],
        ["tests/data/make_schedule.mjs", "--check"],
    ],
    ids=["rules", "log", "fixture"],
)
def test_in_node(arguments):
    done = subprocess.run(
        [*bootstrap.node_command(), *arguments], cwd=bootstrap.ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
