r"""Run a student's notebook alone in a sandbox, and put requests to it over a pipe.

The sandbox is bubblewrap: namespaces of its own, no network, nothing of this machine but Python,
read-only; bounds on time, memory, processes and disk; a filter of system calls.  There is no way
round it: without a sandbox nothing runs.

    outcome = ask(
        ["def double(x):\n    return 2 * x"],
        [{"call": "double", "arguments": {"x": 21}}, {"get": "half"}],
    )
    outcome.answers[0].value, outcome.answers[1].status  # 42, "missing"
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache

from . import cgroup, sandbox_process, seccomp
from .bubblewrap import ROOM, SandboxError, StartError, as_root, bubblewrap, visible_paths
from .protocol import (
    LONGEST_CODE,
    Answer,
    CellError,
    Limits,
    Outcome,
    ProtocolError,
    read,
    without_addresses,
)
from .sandbox_process import Sandbox

__all__ = [
    "Answer",
    "CellError",
    "Limits",
    "Outcome",
    "SandboxError",
    "StartError",
    "ask",
    "describe",
]

LIMITS = Limits()  # where a caller names none; frozen, so that all calls can share it
GRACE = 1.5
AGAIN = 5.0  # seconds within which a sandbox that does not start is tried once more
LATE = 2  # calls of one question that may be late before the others are not tried
SAYS = {
    "timeout": "The program did not stop when its time was over, and was ended.",
    "killed": "The program ended before it had answered.",
    "memory": "The program used more memory than it may, and was ended.",
    "forged": "The program wrote to the grader's own line, and was ended: ",
    "total": "The time for the whole notebook was over.",
}


def ask(
    cells: Sequence[str],
    requests: Sequence[Mapping[str, object]],
    inputs: Mapping[str, object] = {},
    limits: Limits = LIMITS,
    library: bool = False,
) -> Outcome:
    """Run the cells of a notebook in a sandbox and put the requests to it.

    A cell that raises is told of in `Outcome.cells`, and the next cell runs.  Where the process
    ends, hangs or talks nonsense, the request (or cell) that it was at is marked, with all of the
    same question, and a new sandbox goes on without it: at most ``limits.restarts`` times, and
    within ``limits.total_seconds``.

    Parameters
    ----------
    cells
        The code cells, in order.
    requests
        ``{"get": name}``, ``{"call": name, "arguments": {…}}`` or ``{"text": name}`` (text, or
        ``str()`` of what is there), each with ``"question": name`` where several belong together.
    inputs
        The inputs that `handful_study.student` hands to the notebook; inside, it finds them as
        ``handful_room.given``.
    limits
        Time, memory, disk, processes.
    library
        Whether `handful` may be imported inside.

    Raises
    ------
    SandboxError
        Where there is no sandbox; nothing has run then.  A `StartError` where this machine has
        sandboxes, and this one did not start.
    """
    if sum(map(len, cells)) > LONGEST_CODE:
        says = (
            f"The notebook has more than {LONGEST_CODE // 10**6} MB of code, and none of it "
            "was run."
        )
        return Outcome((Answer("error", None, says),) * len(requests), (), "killed", says)
    session = _Session(list(cells), list(requests), dict(inputs), limits)
    for _ in range(limits.restarts + 1):
        begin = time.monotonic()
        with _started(limits, library) as sandbox:
            session.until += time.monotonic() - begin  # the notebook does not pay for a slow start
            stop = session.use(sandbox)
        if stop is None or stop == "total" or None not in session.answers:
            break
    return session.outcome()


@contextmanager
def _started(limits: Limits, library: bool) -> Iterator[Sandbox]:
    """Yield a running sandbox.

    Where others have started before and this one fails at once, a second one is tried.
    """
    begin, sandbox = time.monotonic(), Sandbox(limits, library)
    try:
        sandbox.__enter__()
    except StartError:
        if not sandbox_process.began or time.monotonic() - begin > AGAIN:
            raise
        time.sleep(0.5)
        sandbox = Sandbox(limits, library)
        sandbox.__enter__()
    try:
        yield sandbox
    finally:
        sandbox.__exit__()


class _Session:
    """The state of one notebook, over all the sandboxes that it is run in."""

    def __init__(
        self,
        cells: list[str],
        requests: list[Mapping[str, object]],
        inputs: dict[str, object],
        limits: Limits,
    ) -> None:
        self.cells, self.requests, self.inputs, self.limits = cells, requests, inputs, limits
        self.answers: list[Answer | None] = [None] * len(requests)
        self.spoilt: dict[int, CellError] = {}
        self.end, self.says = "whole", ""
        self.at: tuple[str, int] | None = None  # the cell or request that the process is at
        self.until = time.monotonic() + limits.total_seconds

    def outcome(self) -> Outcome:
        rest = Answer(
            "timeout" if self.end == "timeout" else "killed",
            None,
            f"It was not asked any more: {self.says}",
        )
        answers, cells = (
            tuple(answer or rest for answer in self.answers),
            tuple(self.spoilt[cell] for cell in sorted(self.spoilt)),
        )
        return Outcome(answers, cells, self.end, self.says)

    def document(self) -> dict[str, object]:
        limits = self.limits
        skip = {
            str(number): [error.status, error.says]
            for number, error in self.spoilt.items()
            if error.status in ("killed", "timeout")
        }
        return {
            "cells": self.cells,
            "skip": skip,
            "inputs": self.inputs,
            "front": [ROOM],
            "paths": list(visible_paths()[2]),
            "patience": limits.patience,
            "cell_seconds": limits.cell_seconds,
            "call_seconds": limits.call_seconds,
            "late": LATE,
        }

    def use(self, sandbox: Sandbox) -> str | None:
        """Use one sandbox until all is answered (None) or it has to be stopped (the reason)."""
        self.at, why = None, ""
        try:
            if not self.run(sandbox):
                stop = "memory" if sandbox.overflowed() else "killed"
            elif None not in self.answers:
                return None
        except TimeoutError:
            stop = "total" if time.monotonic() >= self.until else "timeout"
        except ProtocolError as error:
            stop, why = "forged", str(error)
        self.record_stop(stop, why)
        return stop

    def run(self, sandbox: Sandbox) -> bool:
        """Run the cells and put the requests; return False where the process ended early."""
        sandbox.send(self.document())
        last = -1
        while last < len(self.cells):
            found = self.receive(sandbox, self.limits.cell_seconds)
            if found is None:
                return False
            kind, number, error = found
            if kind == "cell" and error is None and last < number <= len(self.cells):
                last, self.at = number, ("cell", number)
            elif isinstance(error, CellError) and self.at == ("cell", number):
                self.spoilt.setdefault(number, error)
                self.at = None
            else:
                raise ProtocolError("it spoke of something that was not its turn.")
        for number in [number for number, answer in enumerate(self.answers) if answer is None]:
            self.at = ("request", number)
            if not sandbox.quiet():
                raise ProtocolError("it answered before it was asked.")
            sandbox.send([number, self.requests[number]])
            found = self.receive(sandbox, self.limits.call_seconds)
            if found is None:
                return False
            answer = found[2]
            if found[:2] != self.at or not isinstance(answer, Answer):
                raise ProtocolError("it answered something that it was not asked.")
            if "text" in self.requests[number] and type(answer.value) is str:
                answer = Answer("value", without_addresses(answer.value))
            self.answers[number] = answer
        return True

    def receive(
        self, sandbox: Sandbox, seconds: float
    ) -> tuple[str, int, Answer | CellError | None] | None:
        """Return the next line, read within `seconds` of work; None where the process has ended."""
        line = sandbox.line(
            min(time.monotonic() + seconds * self.limits.patience + GRACE, self.until)
        )
        return None if line is None else read(line)

    def record_stop(self, stop: str, why: str) -> None:
        """Record what the process was at, so that the next sandbox leaves it out."""
        at, waiting = self.at, self.answers.index(None) if None in self.answers else None
        status = "timeout" if stop in ("timeout", "total") else "killed"
        self.end, self.says = status, SAYS[stop] + why
        if at and at[0] == "cell" and at[1] < len(self.cells):
            self.spoilt[at[1]] = CellError(at[1], status, self.says)
            return
        number = at[1] if at and at[0] == "request" else waiting
        if number is None:
            return
        question = self.requests[number].get("question", number)
        for other, request in enumerate(self.requests):
            if self.answers[other] is None and (
                other == number or request.get("question", other) == question
            ):
                self.answers[other] = Answer(
                    status,
                    None,
                    self.says if other == number else f"It was not asked again: {self.says}",
                )


@cache
def describe() -> str:
    """Describe this machine's sandbox and what it lacks, in lines for a teacher.

    Raises
    ------
    SandboxError
        Where there is none.
    """
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    _, version, options = bubblewrap()
    if as_root():
        yield (
            f"bubblewrap {version}, as root; the student's code runs as nobody, with no right "
            "of root's."
        )
    else:
        yield f"bubblewrap {version}, in a user namespace" + (
            ", in which no other can be made." if "--disable-userns" in options else "."
        )
    kind = cgroup.homes()[0]
    if kind:
        yield f"Memory and processes are bounded by control groups (version {kind})."
    elif cgroup.scope():
        yield (
            "Memory and processes are bounded by scopes of the user's service manager "
            "(systemd-run)."
        )
    else:
        yield (
            "No control groups are to be had: the kernel bounds the memory of each process of a "
            "notebook, and the grader that of all together, by looking every "
            f"{sandbox_process.LOOK:g} s; what the kernel itself keeps for them has no bound; and "
            "processes "
            + (
                "are not bounded but by time: grade as another user than root."
                if os.geteuid() == 0 and not as_root()
                else "are bounded for all notebooks together."
            )
        )
    yield (
        "Dangerous system calls are refused."
        if seccomp.program()
        else f"There is no filter of system calls for {os.uname().machine}."
    )
    if "--size" not in options:
        yield (
            "This bubblewrap cannot bound the size of the private disk (0.8 can): a notebook "
            "may fill memory with files."
        )
