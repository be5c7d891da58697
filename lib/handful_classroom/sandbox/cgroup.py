"""Bound memory, processes and processor time (one core) with Linux control groups.

The bounds hold across forks, on machines that let us make control groups.

`make` gives a fresh group for one sandbox; a process joins it by writing 0 to each file of
`Group.doors`.
"""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

TOP = Path("/sys/fs/cgroup")
NO_LIMIT = 1 << 60
_count = itertools.count()


@dataclass(frozen=True)
class Group:
    """Folders of the control groups of one sandbox; `version` 1 or 2."""

    version: int
    folders: tuple[Path, ...]

    @property
    def doors(self) -> tuple[str, ...]:
        """Return the files through which a process joins the group."""
        return tuple(str(folder / "cgroup.procs") for folder in self.folders)

    def overflowed(self) -> bool:
        """Return whether the kernel killed a process of the group for using too much memory."""
        name, word = (
            ("memory.oom_control", "oom_kill")
            if self.version == 1
            else ("memory.events", "oom_kill")
        )
        try:
            lines = (self.folders[0] / name).read_text().splitlines()
        except OSError:
            return False
        return any(line.split()[0] == word and int(line.split()[1]) > 0 for line in lines)

    def remove(self) -> None:
        """End what is left in the group and remove it."""
        for folder in self.folders:
            for _ in range(200):
                try:
                    folder.rmdir()
                    break
                except FileNotFoundError:
                    break
                except OSError:
                    for door in (folder / "cgroup.procs").read_text().split():
                        with suppress(OSError, ValueError):
                            os.kill(int(door), signal.SIGKILL)
                    time.sleep(0.005)


def _own(controller: str) -> str | None:
    """Return the group of this process for a controller of version 1 ("" for version 2)."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, names, path = line.split(":", 2)
        if controller in names.split(",") if controller else not names:
            return path
    return None


def _home_1(controller: str) -> Path | None:
    """Return the folder in which groups of version 1 can be made, or None.

    It is our own group where that has a memory limit, else the top.
    """
    path = _own(controller)
    if path is None or not (TOP / controller).is_dir():
        return None
    own = TOP / controller / path.lstrip("/")
    bound = own / "memory.limit_in_bytes"
    bounded = bound.exists() and int(bound.read_text()) < NO_LIMIT
    home = own if bounded else TOP / controller
    return home if os.access(home, os.W_OK) else None


def _home_2() -> Path | None:
    """Return the folder in which groups of version 2 can be made, or None.

    It is the nearest ancestor that delegates memory and processes, if it is writable.
    """
    path = _own("")
    if path is None or not (TOP / "cgroup.controllers").exists():
        return None
    group = TOP / path.lstrip("/")
    for folder in (group, *group.parents):
        if folder == TOP.parent:
            return None
        try:
            handed_on = (folder / "cgroup.subtree_control").read_text().split()
        except OSError:
            continue
        if {"memory", "pids"} <= set(handed_on):
            return (
                folder
                if os.access(folder, os.W_OK) and os.access(folder / "cgroup.procs", os.W_OK)
                else None
            )
    return None


@cache
def homes() -> tuple[int, tuple[Path, ...]]:
    """Return the usable version of control groups (0: none) and the folders to make groups in."""
    if sys.platform != "linux":
        return 0, ()
    try:
        first, processor, second = (
            tuple(map(_home_1, ("memory", "pids"))),
            _home_1("cpu"),
            _home_2(),
        )
    except (OSError, ValueError):
        return 0, ()
    for version, wanted in ((1, (*first, *([processor] if processor else []))), (2, (second,))):
        places = tuple(home for home in wanted if home is not None)
        if len(places) == len(wanted) and _serves(version, places):
            for home in places:
                _sweep(home)
            return version, places
    return 0, ()


def _serves(version: int, places: tuple[Path, ...]) -> bool:
    """Return whether a group can be made in these folders and joined."""
    group = _make(version, places, 1 << 28, 16)
    if group is None:
        return False
    try:
        script = " && ".join(f"echo 0 > '{door}'" for door in group.doors)
        return (
            subprocess.run(["/bin/sh", "-c", script], capture_output=True, timeout=20).returncode
            == 0
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    finally:
        group.remove()


def _sweep(home: Path) -> None:
    """Remove groups that a grader left when it was killed, and end what is in them.

    A killed grader takes its sandboxes with it, but for one that bubblewrap is just making: its
    inner half may wait for ever for the outer one.  Nothing of a student's runs in it.
    """
    for folder in home.glob("handful-*-*"):
        if not Path("/proc", folder.name.split("-")[1]).exists():
            with suppress(OSError):
                Group(0, (folder,)).remove()


def make(memory_bytes: int, processes: int) -> Group | None:
    """Make a group with these bounds; return None where control groups are unavailable."""
    version, places = homes()
    return _make(version, places, memory_bytes, processes) if version else None


def _make(
    version: int, places: tuple[Path, ...], memory_bytes: int, processes: int
) -> Group | None:
    name = f"handful-{os.getpid()}-{next(_count)}"
    folders = tuple(place / name for place in places)
    group = Group(version, folders)
    try:
        for folder in folders:
            folder.mkdir()
        if version == 1:
            (folders[0] / "memory.limit_in_bytes").write_text(str(memory_bytes))
            swap = folders[0] / "memory.memsw.limit_in_bytes"
            if swap.exists():
                swap.write_text(str(memory_bytes))
            (folders[1] / "pids.max").write_text(str(processes))
            quota = folders[-1] / "cpu.cfs_quota_us"
            if quota.exists():
                quota.write_text((folders[-1] / "cpu.cfs_period_us").read_text())
        else:
            for file, value in (
                ("memory.max", memory_bytes),
                ("memory.swap.max", 0),
                ("memory.oom.group", 1),
                ("pids.max", processes),
                ("cpu.max", "100000 100000"),
            ):
                if (folders[0] / file).exists():
                    (folders[0] / file).write_text(str(value))
    except OSError:
        group.remove()
        return None
    return group


@cache
def scope() -> Callable[[int, int], list[str]] | None:
    """Return a function that prefixes a command with systemd-run, or None without systemd.

    With that prefix, the user's service manager bounds the command.
    """
    program = shutil.which("systemd-run")
    if (
        program is None
        or not os.environ.get("XDG_RUNTIME_DIR")
        or not Path("/run/systemd/system").is_dir()
    ):
        return None

    def front(memory_bytes: int, processes: int) -> list[str]:
        return [
            program,
            "--user",
            "--scope",
            "--quiet",
            "--collect",
            "-p",
            f"MemoryMax={memory_bytes}",
            "-p",
            "MemorySwapMax=0",
            "-p",
            f"TasksMax={processes}",
            "-p",
            "CPUQuota=100%",
            "--",
        ]

    try:
        tried = subprocess.run([*front(1 << 26, 16), "/bin/true"], capture_output=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return front if tried.returncode == 0 else None
