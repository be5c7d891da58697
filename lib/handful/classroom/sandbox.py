"""Asking a student's notebook: its cells run alone in a sandbox and answer over a pipe.

The sandbox is bubblewrap: namespaces of its own, no network, nothing of this machine but Python, read-only; bounds on
time, memory, processes and disk; a filter of system calls.  There is no way round it: without a sandbox nothing runs.
"""
from __future__ import annotations

import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path

from . import cgroup, seccomp
from .protocol import LONGEST_LINE, LONGEST_TALK, Answer, CellError, Limits, Outcome, ProtocolError, read

__all__ = ["Answer", "CellError", "Limits", "Outcome", "SandboxError", "ask", "describe"]

HOUSE = Path(__file__).resolve().parent
PACKAGE = HOUSE.parent
NOBODY = 65534
ROOM = "/room"
OLDEST = (0, 4)
START_SECONDS = 30.0
GRACE = 1.5
ADVICE = ("Student code runs in a sandbox only, and there is none here: install bubblewrap, 0.4 or newer "
          "(Debian, Ubuntu: apt-get install bubblewrap; Fedora: dnf install bubblewrap).")


class SandboxError(RuntimeError):
    """There is no sandbox on this machine; says what to install or to allow."""


def _tool(name: str) -> str:
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin")
    if found is None:
        raise SandboxError(ADVICE if name == "bwrap" else f"The sandbox needs the program {name} of util-linux, and it is not here.")
    return found


@cache
def _bwrap() -> tuple[str, tuple[int, ...], frozenset[str]]:
    """Path, version and options of bubblewrap."""
    if sys.platform != "linux":
        raise SandboxError("Student code runs in a sandbox of Linux (bubblewrap); on this system, grade within a Linux machine.")
    path = _tool("bwrap")
    version = tuple(map(int, re.findall(r"\d+", subprocess.run([path, "--version"], capture_output=True, text=True).stdout)[:3]))
    if version < OLDEST:
        raise SandboxError(ADVICE)
    help_text = subprocess.run([path, "--help"], capture_output=True, text=True)
    return path, version, frozenset(re.findall(r"--[\w-]+", help_text.stdout + help_text.stderr))


def _interpreter() -> Path:
    return Path(getattr(sys, "_base_executable", sys.executable)).resolve()


@cache
def _folders() -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """What of this machine is shown inside, and the folders of packages among it."""
    system = [Path(name) for name in ("/usr", "/lib", "/lib64", "/bin", "/lib32", "/etc/ld.so.cache") if Path(name).exists()]
    base = Path(sys.base_prefix).resolve()
    python = [_interpreter(), base / "lib", Path(sysconfig.get_path("stdlib")), Path(sysconfig.get_path("platstdlib"))]
    packages = list(dict.fromkeys(str(Path(sysconfig.get_path(name)).resolve()) for name in ("purelib", "platlib")))
    shown: list[Path] = []
    for path in (*system, *python, *map(Path, packages)):
        if path.exists() and not any(path.is_relative_to(other) for other in shown):
            shown.append(path)
    return tuple(shown), tuple(packages)


def _binds(library: bool) -> list[str]:
    """The part of bubblewrap's command that says what is seen inside."""
    shown, _ = _folders()
    parts: list[str] = []
    for path in shown:
        if path.is_symlink() and path.parent == Path("/"):
            parts += ["--symlink", os.readlink(path), str(path)]
        else:
            parts += ["--ro-bind", str(path), str(path)]
    # An installed package, or a course that lies below what is shown, is covered.
    root = PACKAGE.parent.parent
    for hidden in (PACKAGE, root / "exercises", root / "tests"):
        if any(hidden.is_relative_to(path) for path in shown) and hidden.is_dir():
            parts += ["--size", "4096", "--tmpfs", str(hidden)]
    student = HOUSE / "student.py"
    parts += ["--ro-bind", str(HOUSE / "inside.py"), f"{ROOM}/inside.py"]
    if library:
        parts += ["--ro-bind", str(PACKAGE), f"{ROOM}/handful", "--size", "65536", "--tmpfs", f"{ROOM}/handful/classroom"]
    if student.exists():
        parts += ["--ro-bind", str(student), f"{ROOM}/handful/classroom/student.py"]
    return parts


def _sandbox(limits: Limits, library: bool, filter_fd: int | None, info_fd: int | None) -> list[str]:
    """bubblewrap's command, up to the program that it runs."""
    path, _, options = _bwrap()
    parts = [path, "--unshare-all", "--unshare-user", *(["--disable-userns"] if "--disable-userns" in options else []),
             "--die-with-parent", "--new-session", "--clearenv", "--uid", str(NOBODY), "--gid", str(NOBODY),
             "--cap-drop", "ALL", "--hostname", "room"]
    size = ["--size", str(limits.disk_bytes)] if "--size" in options else []
    parts += _binds(library)
    parts += [*size, "--tmpfs", "/tmp", *size, "--tmpfs", "/work", *(["--size", "65536"] if size else []), "--tmpfs", "/dev"]
    for device in ("null", "zero", "full", "random", "urandom"):
        parts += ["--dev-bind", f"/dev/{device}", f"/dev/{device}"]
    parts += [*size, "--tmpfs", "/dev/shm", "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/work"]
    for name, value in (("PATH", "/usr/bin:/bin"), ("HOME", "/work"), ("LANG", "C.UTF-8"), ("MPLBACKEND", "Agg"), ("MPLCONFIGDIR", "/tmp"),
                        ("OMP_NUM_THREADS", "1"), ("OPENBLAS_NUM_THREADS", "1"), ("MKL_NUM_THREADS", "1"), ("TMPDIR", "/tmp")):
        parts += ["--setenv", name, value]
    if filter_fd is not None:
        parts += ["--seccomp", str(filter_fd)]
    return parts + (["--info-fd", str(info_fd)] if info_fd is not None else [])


class Room:
    """One running sandbox."""

    def __init__(self, limits: Limits, library: bool, document: Mapping[str, object]) -> None:
        self.limits = limits
        self.group = cgroup.make(limits.memory_bytes, limits.processes)
        with ExitStack() as closing:
            out, out_end = self._pipe(closing)
            info, info_end = self._pipe(closing)
            filter_fd = self._filter(closing)
            command = [*self._front(), *_sandbox(limits, library, filter_fd, info_end), "--",
                       str(_interpreter()), "-I", "-S", "-B", "-X", "utf8", f"{ROOM}/inside.py", str(out_end)]
            passed = [out_end, info_end, *([filter_fd] if filter_fd is not None else [])]
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                            pass_fds=passed, close_fds=True, cwd="/", env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"})
            self.out, self.info = os.dup(out), os.dup(info)
        os.set_blocking(self.out, False)
        self.left, self.talk = b"", 0
        self.document = json.dumps(document, separators=(",", ":")).encode()

    @staticmethod
    def _pipe(closing: ExitStack) -> tuple[int, int]:
        ends = os.pipe()
        for end in ends:
            closing.callback(os.close, end)
        return ends

    @staticmethod
    def _filter(closing: ExitStack) -> int | None:
        steps = seccomp.program()
        if steps is None:
            return None
        fd = os.memfd_create("filter")
        closing.callback(os.close, fd)
        os.write(fd, steps)
        os.lseek(fd, 0, os.SEEK_SET)
        return fd

    def _front(self) -> list[str]:
        """What stands before bubblewrap: joining the control groups, then the bounds on each process, then the user nobody."""
        limits, front = self.limits, []
        if self.group:
            script = "".join(f"echo 0 > '{door}' && " for door in self.group.doors) + 'exec "$@"'
            front = ["/bin/sh", "-c", script, "sh"]
        seconds = int(limits.total_seconds) + 1
        front += [_tool("prlimit"), f"--cpu={seconds}:{seconds + 2}", f"--as={limits.memory_bytes + (512 << 20)}", f"--fsize={limits.disk_bytes}",
                  "--core=0", "--nofile=256", "--"]
        return front

    def send(self) -> None:
        self.process.stdin.write(self.document)
        self.process.stdin.close()

    def line(self, deadline: float) -> bytes | None:
        """The next line; None where the process has ended.

        Raises
        ------
        TimeoutError
            At the deadline (of `time.monotonic`).
        ProtocolError
            For a line, or a talk, that is too long.
        """
        while b"\n" not in self.left:
            wait = deadline - time.monotonic()
            if wait <= 0 or not select.select([self.out], [], [], wait)[0]:
                raise TimeoutError
            chunk = os.read(self.out, 1 << 16)
            if not chunk:
                return None
            self.left += chunk
            self.talk += len(chunk)
            if len(self.left) > LONGEST_LINE + (1 << 16) and b"\n" not in self.left or self.talk > LONGEST_TALK:
                raise ProtocolError("it sent more than the 8 MB that all answers may have.")
        line, _, self.left = self.left.partition(b"\n")
        return line

    def close(self) -> str:
        """End all that runs inside and clear up; gives what bubblewrap said."""
        try:
            self.process.kill()
            says = self.process.stderr.read(4000).decode("utf-8", "replace") if self.process.stderr else ""
            self.process.wait()
            for stream in (self.process.stdin, self.process.stderr):
                try:
                    stream.close()
                except OSError:
                    pass
        finally:
            os.close(self.out)
            os.close(self.info)
            if self.group:
                self.group.remove()
        return says


def ask(cells: Sequence[str], requests: Sequence[Mapping[str, object]], given: Mapping[str, object] = {}, limits: Limits = Limits(),
        library: bool = False) -> Outcome:
    """Run the cells of a notebook in a sandbox and put the requests to it.

    Parameters
    ----------
    cells
        The code cells, in order.
    requests
        ``{"get": name}``, ``{"call": name, "arguments": {…}}`` or ``{"text": name}``, each with ``"question": name`` where several belong together.
    given
        The inputs that `handful.classroom.student` hands to the notebook.
    limits
        Time, memory, disk, processes.
    library
        Whether `handful` may be imported inside.

    Raises
    ------
    SandboxError
        Where there is no sandbox.
    """
    answers: list[Answer | None] = [None] * len(requests)
    spoilt: dict[int, CellError] = {}
    end, says, until = "whole", "", time.monotonic() + limits.total_seconds
    for attempt in range(limits.restarts + 1):
        left = [number for number, answer in enumerate(answers) if answer is None]
        if attempt and not left:
            break
        stopped = _attempt(cells, requests, given, limits, library, answers, spoilt, left, until)
        if stopped is None:
            break
        end, says = stopped
        if time.monotonic() >= until:
            break
    last = Answer("timeout", None, "The time for the whole notebook was over.") if end == "timeout" else Answer("killed", None, says)
    return Outcome(tuple(answer or last for answer in answers), tuple(spoilt[cell] for cell in sorted(spoilt)), end, says)


def _attempt(cells, requests, given, limits, library, answers, spoilt, left, until) -> tuple[str, str] | None:
    """One sandbox for the requests that are left; gives how it was stopped, or None where it came to its end."""
    skip = {str(number): [error.status, error.says] for number, error in spoilt.items() if error.status in ("killed", "timeout")}
    document = {"cells": list(cells), "skip": skip, "requests": [[number, requests[number]] for number in left], "given": dict(given),
                "front": [ROOM], "paths": list(_folders()[1]), "cell_seconds": limits.cell_seconds, "call_seconds": limits.call_seconds,
                "patience": limits.patience, "late": 2}
    room = Room(limits, library, document)
    at: tuple[str, int] | None = None
    waiting = iter(left)
    expected = next(waiting, None)
    sent = False
    try:
        deadline = time.monotonic() + START_SECONDS
        while True:
            line = room.line(min(deadline, until) if sent else deadline)
            if line is None:
                return _stopped("killed", at, requests, answers, spoilt, room) if expected is not None or at else None
            if not sent:
                room.send()
                sent = True
                deadline = time.monotonic() + START_SECONDS
                continue
            kind, number, found = read(line)
            if kind == "cell" and number < len(cells):
                at = ("cell", number)
                deadline = time.monotonic() + limits.cell_seconds * limits.patience + GRACE
                if found is not None:
                    spoilt.setdefault(number, found)
                    at = None
            elif kind == "request" and number == expected:
                at = ("request", number)
                deadline = time.monotonic() + limits.call_seconds * limits.patience + GRACE
                if found is not None:
                    answers[number] = found
                    at, expected = None, next(waiting, None)
                    if expected is None:
                        return None
            else:
                raise ProtocolError("it sent an answer to something else than what was asked.")
    except TimeoutError:
        return _stopped("timeout", at, requests, answers, spoilt, room)
    except ProtocolError as error:
        return _stopped("forged", at, requests, answers, spoilt, room, str(error))
    finally:
        trouble = room.close()
        if not sent:
            raise SandboxError(f"The sandbox did not start: {trouble.strip() or 'it said nothing'}")


def _stopped(how, at, requests, answers, spoilt, room, why="") -> tuple[str, str]:
    """Write down what the process was at when it had to be stopped, so that the next sandbox leaves that out."""
    memory = room.group is not None and how == "killed" and room.group.overflowed()
    status = "timeout" if how == "timeout" else "killed"
    says = {"timeout": "The program did not stop when its time was over, and was ended.",
            "killed": "The program ended itself or was ended by the system." if not memory else "The program used more memory than it may.",
            "forged": f"The program wrote to the grader's own line: {why}"}[how]
    if at is None:
        at = ("request", next((number for number, answer in enumerate(answers) if answer is None), None))
    kind, number = at
    if kind == "cell":
        spoilt[number] = CellError(number, status, says)
    elif number is not None:
        question = requests[number].get("question", number)
        for other, request in enumerate(requests):
            if answers[other] is None and (other == number or request.get("question", other) == question):
                answers[other] = Answer(status, None, says if other == number else f"It was not asked again: {says}")
    return status, says


@cache
def describe() -> str:
    """What this machine's sandbox is and what it lacks, in lines for a teacher.

    Raises
    ------
    SandboxError
        Where there is none.
    """
    _, version, options = _bwrap()
    version_text = ".".join(map(str, version))
    lines = [f"bubblewrap {version_text}"]
    return "\n".join(lines)
