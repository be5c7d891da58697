"""Curves as paths, and guesses that a reader comes back to, in Node."""

from __future__ import annotations

import subprocess

import pytest

from handful_site import bootstrap


@pytest.mark.parametrize("name", ["path", "guess"])
def test_in_node(name):
    done = subprocess.run(
        [*bootstrap.node_command(), "--test", f"tests/explorers/{name}.test.mjs"],
        cwd=bootstrap.ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
