"""Measure from /proc how much memory the processes of a sandbox hold together.

This is the bound where there are no control groups.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

_MAPPED = re.compile(rb"^Rss(?:Anon|Shmem):\s+([0-9]{1,12}) kB$", re.M)
_SHARE = re.compile(rb"^Pss_(?:Anon|Shmem):\s+([0-9]{1,12}) kB$", re.M)


def family(first: int) -> list[int]:
    """Return the process ids of a process and of all its descendants.

    An orphan of a pid namespace becomes a child of the namespace's first process, so that nobody in
    it gets away.

    >>> family(os.getpid())[0] == os.getpid()
    True
    """
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdecimal():
            with suppress(OSError):
                # After the program's name, which may hold brackets of its own: state, parent.
                parent = Path("/proc", name, "stat").read_bytes().rpartition(b")")[2].split()[1]
                children.setdefault(int(parent), []).append(int(name))
    found = [first]
    for one in found:
        found += children.get(one, ())
    return found


def held(first: int, bound: int) -> int:
    """Return how many bytes a process and its descendants hold, without mapped files.

    What several of them share is counted for each of them, which is quick; where that exceeds
    `bound` bytes, once.

    >>> 10**6 < held(os.getpid(), 1 << 40) < 10**11
    True
    """
    sizes = {}
    for one in family(first):
        with suppress(OSError):
            sizes[one] = _sum(_MAPPED, one, "status")
    if sum(sizes.values()) > bound:
        for one in sizes:
            with suppress(OSError):  # where a process hides its shares, all that it maps counts
                sizes[one] = _sum(_SHARE, one, "smaps_rollup") or sizes[one]
    return sum(sizes.values())


def _sum(lines: re.Pattern[bytes], process: int, file: str) -> int:
    return 1024 * sum(map(int, lines.findall(Path("/proc", str(process), file).read_bytes())))
