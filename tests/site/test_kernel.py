"""The loop that the page times, in Node."""

from __future__ import annotations

import subprocess

from handful_site import bootstrap


def test_in_node():
    done = subprocess.run(
        [*bootstrap.node_command(), "--test", "tests/site/kernel.test.mjs"],
        cwd=bootstrap.ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
