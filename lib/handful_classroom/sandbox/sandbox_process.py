"""Start one sandbox, exchange lines with the worker in it, and end it."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import time
from contextlib import ExitStack, suppress

from . import cgroup, memory, seccomp
from .bubblewrap import (
    ROOM,
    StartError,
    as_root,
    bounds,
    bubblewrap_command,
    memory_file,
    visible_paths,
    worker_files,
)
from .protocol import LONGEST_LINE, LONGEST_TALK, Limits, ProtocolError

START_SECONDS, END_SECONDS = 60.0, 10.0
LOOK = 0.2  # seconds between looks at the memory where no control group bounds it
began = False  # whether a sandbox has started in this process


class Sandbox:
    """A running sandbox in which the worker waits for its document.

    It is a context manager that leaves nothing running.

    Raises
    ------
    SandboxError
        Where there is none on this machine; a `StartError` where this one does not start.
    """

    def __init__(self, limits: Limits, library: bool) -> None:
        self.limits, self.library = limits, library
        self.left, self.talk = bytearray(), 0
        self.group: cgroup.Group | None = None
        self.first: int | None = None
        self.first_number, self.looked, self.over = 0, time.monotonic(), False

    def __enter__(self) -> Sandbox:
        root = as_root()
        with ExitStack() as closing:
            self.group = cgroup.make(self.limits.memory_bytes, self.limits.processes)
            if self.group:
                closing.callback(self.group.remove)
            with ExitStack() as starting:  # what only bubblewrap keeps
                self.out, out_end = _pipe(closing, starting)
                self.info, info_end = _pipe(closing, starting)
                files = {file: memory_file(data, starting) for file, data in worker_files().items()}
                steps = seccomp.program()
                refused = memory_file(steps, starting) if steps else None
                passed = [
                    out_end,
                    info_end,
                    *files.values(),
                    *([refused] if refused is not None else []),
                ]
                command = [
                    *bounds(self.limits, self.group, root, max(passed)),
                    *bubblewrap_command(self.limits, self.library, root, files, refused, info_end),
                    "--",
                    visible_paths()[1],
                    "-P",
                    "-s",
                    "-S",
                    "-B",
                    "-X",
                    "utf8",
                    f"{ROOM}/sandbox_worker.pyc",
                    str(out_end),
                    f"handful-{os.getpid()}",
                ]
                self.process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    bufsize=0,
                    pass_fds=passed,
                    cwd="/",
                    env={**_for_scope(), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
                )
            assert self.process.stdin is not None and self.process.stderr is not None  # pipes
            self.stdin, self.stderr = self.process.stdin, self.process.stderr
            closing.callback(self._end)
            self.ended = os.pidfd_open(self.process.pid)
            closing.callback(os.close, self.ended)
            for fd in (self.out, self.info, self.stdin.fileno(), self.stderr.fileno()):
                os.set_blocking(fd, False)
            self._await_start()
            self.closing = closing.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self.closing.close()

    def _await_start(self) -> None:
        global began
        try:
            started = self.line(time.monotonic() + START_SECONDS) == b"{}"
        except (TimeoutError, ProtocolError):
            started = False
        if not started:
            self.process.kill()
            self.process.wait()
            says = " ".join((self.stderr.read() or b"").decode("utf-8", "replace").split())[:400]
            says = says or "it said nothing; memory or processes may be bounded too tightly"
            raise StartError(f"The sandbox did not start: {says}")
        told = re.search(rb'"child-pid":\s*([0-9]+)', os.read(self.info, 4096))
        if told:
            with suppress(ProcessLookupError):
                self.first_number = int(told[1])
                self.first = os.pidfd_open(self.first_number)
        began = True

    def send(self, message: object) -> None:
        """Send the worker a line; before the first one, nothing of the student's runs."""
        left = memoryview(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        until, pipe = time.monotonic() + START_SECONDS, self.stdin.fileno()
        with suppress(BrokenPipeError):  # it has ended: the next line says so
            while left and time.monotonic() < until:
                if _wait((pipe,), 1.0, select.POLLOUT):
                    left = left[os.write(pipe, left) :]

    def quiet(self) -> bool:
        """Return whether there is no unread output.

        Without any, nobody may have answered before being asked.
        """
        return not self.left and not _wait((self.out,), 0)

    def line(self, deadline: float) -> bytes | None:
        """Return the next line, or None where no process is left to write one.

        Raises
        ------
        TimeoutError
            At the deadline (of `time.monotonic`).
        ProtocolError
            For a line, or a talk, that is too long.
        """
        seen = 0
        while (end := self.left.find(b"\n", seen)) < 0:
            # Whatever comes byte by byte is looked at once, and an array grows without being copied
            # each time.
            seen = len(self.left)
            left = deadline - time.monotonic()
            if not _wait((self.out, self.ended), min(left, LOOK) if self._looks() else left):
                if left > LOOK:
                    continue
                raise TimeoutError
            try:
                chunk = os.read(self.out, 1 << 16)
            except BlockingIOError:  # bubblewrap has ended, and nothing is left to read
                chunk = b""
            if not chunk:
                return None
            self.left += chunk
            self.talk += len(chunk)
            if (
                len(self.left) > LONGEST_LINE + 1
                and self.left.find(b"\n", min(seen, LONGEST_LINE), LONGEST_LINE + 1) < 0
            ):
                raise ProtocolError("a line is longer than the 1 MB that an answer may have.")
            if self.talk > LONGEST_TALK:
                raise ProtocolError("all answers together are longer than 8 MB.")
        line = bytes(self.left[:end])
        del self.left[: end + 1]
        return line

    def _looks(self) -> bool:
        """Return whether the memory has to be measured from here.

        Measures it where it is time, and ends the sandbox that holds too much.
        """
        if self.group is not None or self.first is None or cgroup.scope():
            return False
        if time.monotonic() >= self.looked + LOOK and not self.over:
            if memory.held(self.first_number, self.limits.memory_bytes) > self.limits.memory_bytes:
                self.over = True
                with suppress(ProcessLookupError):
                    signal.pidfd_send_signal(self.first, signal.SIGKILL)
            self.looked = time.monotonic()
        return True

    def overflowed(self) -> bool:
        """Return whether the memory was used up."""
        return self.over or (self.group is not None and self.group.overflowed())

    def _end(self) -> None:
        """End all that runs inside, and wait until it has ended."""
        # The first process within the pid namespace is killed: the kernel ends all others with it,
        # before it is reported dead.
        if self.first is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.first, signal.SIGKILL)
            _wait((self.first,), END_SECONDS)
            os.close(self.first)
        # And should that have failed: bubblewrap dies with its parent, and all within with it.
        self.process.kill()
        self.process.wait()
        for stream in (self.stdin, self.stderr):
            with suppress(OSError):
                stream.close()


def _wait(fds: tuple[int, ...], seconds: float, event: int = select.POLLIN) -> bool:
    """Return whether one of the descriptors becomes ready within so many seconds.

    A descriptor that is closed at its other end is ready as well.
    """
    poll = select.poll()
    for fd in fds:
        poll.register(fd, event)
    return bool(poll.poll(max(seconds, 0) * 1000))


def _for_scope() -> dict[str, str]:
    """Return the variables that systemd-run needs to find the user's service manager."""
    return {
        name: os.environ[name]
        for name in ("XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")
        if name in os.environ
    }


def _pipe(reading: ExitStack, writing: ExitStack) -> tuple[int, int]:
    ends = os.pipe()
    reading.callback(os.close, ends[0])
    writing.callback(os.close, ends[1])
    return ends
