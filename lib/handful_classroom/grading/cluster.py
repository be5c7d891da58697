"""Apply one function to many tasks: in this process, in worker processes, or on a Dask cluster.

Few tasks are under way at a time, so that memory does not grow with the class.  A process that dies
is replaced and its task tried once more; if that kills its process too, the task comes back as a
fault and the others go on.

Each task has `seconds` of this program's own processor time for reading what one student sent.
Beyond it the kernel ends the process that is at work, and the task comes back as a fault at once.
Under Dask each thread of a worker hands its tasks to a process of its own, since a thread can be
neither interrupted nor ended.  `here` has no process to lose: it raises between two steps of
Python, and cannot interrupt a single long call (`handful_classroom.grading.watchdog`).

>>> [found for _, found in here(abs, [-1, 2])]
[Done(result=1), Done(result=2)]
>>> [found for _, found in here(int, ["x"])]
[Fault(says="ValueError: invalid literal for int() with base 10: 'x'")]
"""

from __future__ import annotations

import math
import multiprocessing
import multiprocessing.connection
import os
import platform
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice

from . import watchdog
from .version import library

TRIES = 2
PRELOAD = [
    "handful_classroom.grading.grade"
]  # imported once, by the process that all workers are forked from
LOOK = 1.0  # seconds between looks at how long each has been at its task, and at who is there
# On a Dask cluster, in seconds: for which the scheduler may not answer, for which there may be no
# worker before it is said (one that restarts takes less), and between looks for results.
CONNECT, PATIENCE, BETWEEN = 10.0, 5.0, 0.02
# What stops the whole class, by the names of errors.
STOPPING = ("SandboxError", "StartError", "SourceError", "JudgeError", "GradingError")


class ClusterError(RuntimeError):
    """A reason why grading cannot go on, in one sentence; finished results are kept."""

    exit_code = 1


@dataclass(frozen=True)
class Done:
    """A finished task: `result`, and in `began` whether its process has started a sandbox."""

    result: object
    began: bool = field(default=False, repr=False, compare=False)


@dataclass(frozen=True)
class Fault:
    """A task at which this program failed, not the student's; `late` where it took too long."""

    says: str
    began: bool = field(default=False, repr=False, compare=False)
    late: bool = field(default=False, repr=False)


@dataclass(frozen=True)
class Stop:
    """A reason to stop the whole class: no sandbox, or a mistake in the assignment.

    `error` is the name of the error's class.
    """

    says: str
    error: str = ""
    began: bool = field(default=False, repr=False, compare=False)


def attempt(run: Callable, task) -> Done | Fault | Stop:
    """Run one task and return its outcome, whatever it is."""
    try:
        return Done(run(task), _began())
    except watchdog.OverlongError as error:
        return Fault(str(error), _began(), late=True)
    except Exception as error:
        name = type(error).__name__
        return (
            Stop(str(error), name, _began())
            if name in STOPPING
            else Fault(f"{name}: {error}"[:1000], _began())
        )


def _began() -> bool:
    """Return whether a sandbox has started in this process."""
    process = sys.modules.get("handful_classroom.sandbox.sandbox_process")
    return process is not None and process.began


def _check_outcome(found, began: bool, errors: tuple[str, ...] = ("StartError",)):
    """Return the outcome of a task; raise ClusterError for one that stops the class.

    A sandbox that fails stops the class only while none has started: `began` says whether one has,
    and `errors` names what this holds for.  Once one has, the machine can make them, and the
    failure costs the one submission only.
    """
    if isinstance(found, Stop):
        if began and found.error in errors:
            return Fault(found.says.rstrip("."), True)
        raise ClusterError(found.says)
    return found


def here(run: Callable, tasks: Iterable, seconds: float = math.inf) -> Generator[tuple, None, None]:
    """Yield each task with its outcome, one after the other in this process.

    Each task has `seconds` of processor time.
    """

    def watched(task):
        with watchdog.within(seconds):
            return run(task)

    for task in tasks:
        found = attempt(watched, task)
        yield task, _check_outcome(found, found.began)


# Processes of this machine


def cores() -> int:
    """Return how many processors this program may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _serve(connection, run: Callable, seconds: float = math.inf) -> None:
    """Run tasks from a pipe until it is closed.

    The pipe closes when the grader ends, even if it is killed.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        while True:
            task = connection.recv()
            watchdog.end_after(seconds)
            found = attempt(run, task)
            watchdog.end_after(math.inf)
            connection.send(found)
    except (EOFError, OSError):
        pass


def _fault_of_lost(
    code: int | None, late: bool, tries: int, seconds: float, longest: float
) -> Fault | None:
    """Return the fault of a task whose process ended, or None where it is tried again.

    `code` is the exit code of the process.
    """
    if code == -signal.SIGPROF:
        return Fault(watchdog.says(seconds), late=True)
    if late:
        return Fault(
            f"grading it took more than {longest:,.0f} seconds, so it was given up", late=True
        )
    return (
        None
        if tries < TRIES
        else Fault(f"the process that graded it ended {tries} times (exit code {code})")
    )


@dataclass
class _Worker:
    process: multiprocessing.process.BaseProcess
    connection: multiprocessing.connection.Connection
    task: object = None
    tries: int = 0
    until: float = math.inf
    late: bool = False


def _start_worker(context, run: Callable, seconds: float) -> _Worker:
    own, other = context.Pipe()
    process = context.Process(target=_serve, args=(other, run, seconds), daemon=True)
    process.start()
    other.close()
    return _Worker(process, own)


def _end_worker(worker: _Worker) -> int | None:
    worker.connection.close()
    worker.process.terminate()
    worker.process.join()
    code = worker.process.exitcode
    worker.process.close()
    return code


def pool(
    run: Callable, tasks: Iterable, jobs: int, longest: float = math.inf, seconds: float = math.inf
) -> Generator[tuple, None, None]:
    """Yield each task with its outcome, as they finish, from `jobs` processes of this machine.

    A task that takes longer than `longest` seconds on the wall, or `seconds` of processor time, is
    given up.
    """
    again: deque[tuple] = deque()  # tasks whose process died, and how often each was tried
    context, tasks = multiprocessing.get_context("forkserver"), iter(tasks)
    context.set_forkserver_preload(PRELOAD)
    workers: list[_Worker] = []
    began = False  # whether a sandbox has started in any process, all being on this machine

    def upcoming() -> tuple | None:
        """Return the next task and how often it was tried."""
        return again.popleft() if again else next(((task, 0) for task in tasks), None)

    def give(worker: _Worker, task, tries: int) -> None:
        worker.task, worker.tries, worker.until = task, tries + 1, time.monotonic() + longest
        with suppress(OSError):  # it is dead, which its end of the pipe says too
            worker.connection.send(task)

    try:
        while True:
            while len(workers) < jobs and (one := upcoming()):
                workers.append(_start_worker(context, run, seconds))
                give(workers[-1], *one)
            if not workers:
                return
            ready = multiprocessing.connection.wait(
                [worker.connection for worker in workers], timeout=LOOK
            )
            for worker in workers:
                if worker.until < time.monotonic() and worker.connection not in ready:
                    worker.late = True
                    worker.process.kill()
            for worker in [worker for worker in workers if worker.connection in ready]:
                task, found = worker.task, _receive(worker)
                if found is None or not (one := upcoming()):
                    workers.remove(worker)
                    code = _end_worker(worker)
                else:
                    give(worker, *one)
                found = found or _fault_of_lost(code, worker.late, worker.tries, seconds, longest)
                if found is None:
                    again.append((task, worker.tries))
                else:
                    began = began or found.began
                    yield task, _check_outcome(found, began, ("SandboxError", "StartError"))
    finally:
        for worker in workers:
            _end_worker(worker)


def _receive(worker: _Worker):
    """Return what a worker sends, or None where it died."""
    try:
        return worker.connection.recv()
    except (EOFError, OSError):
        worker.process.join()
        return None


# A Dask cluster


# Started by a thread of a Dask worker.  No `multiprocessing.Process`, for Dask's workers are
# daemons, which may have none.
_APART = """
import sys
from multiprocessing.connection import Connection
from handful_classroom.grading.cluster import _serve
connection = Connection(int(sys.argv[1]))
_serve(connection, *connection.recv())
"""
_own = threading.local()  # its `worker` is the process of this thread


class _Apart:
    """A process that takes tasks from one thread of this program.

    It ends with that thread or with this program.
    """

    def __init__(self, run: Callable, seconds: float) -> None:
        self.made = run, seconds
        self.connection, other = multiprocessing.Pipe()
        with other:
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-c", _APART, str(other.fileno())],
                stdin=subprocess.DEVNULL,
                pass_fds=[other.fileno()],
                env=environment,
            )
        self.connection.send(self.made)

    def outcome_of(self, task, longest: float) -> tuple[Done | Fault | Stop | None, bool]:
        """Return a task's outcome and whether it was late.

        The outcome is None where the process died or was ended for being late.
        """
        late = False
        try:
            self.connection.send(task)
            late = not self.connection.poll(longest if math.isfinite(longest) else None)
            if not late:
                return self.connection.recv(), False
        except (EOFError, OSError):
            pass
        self.end()
        return None, late

    def end(self) -> int:
        self.connection.close()
        self.process.kill()
        return self.process.wait()


def apart(
    run: Callable,
    task,
    longest: float = math.inf,
    seconds: float = math.inf,
    version: str | None = None,
) -> Done | Fault | Stop:
    """Run one task in this thread's own process, and return its outcome.

    The process is kept for the next task.  Where `version` is not that of the library here, nothing
    runs, and the outcome stops the class.
    """
    if version not in (None, library()):
        return Stop(
            f"A worker on {platform.node()} has handful {library()}, and here is {version}; "
            "results would differ.  Install the same on all.",
            "VersionError",
        )
    tries = 0
    while True:  # until there is an outcome, which `_fault_of_lost` makes of the last try
        tries += 1
        worker = getattr(_own, "worker", None)
        if worker is not None and worker.made != (run, seconds):
            worker.end()
            worker = None
        _own.worker = worker = worker or _Apart(run, seconds)
        found, late = worker.outcome_of(task, longest)
        if found is None:
            _own.worker = None
            found = _fault_of_lost(worker.process.returncode, late, tries, seconds, longest)
        if found is not None:
            return found


def dask(
    run: Callable,
    tasks: Iterable,
    address: str,
    longest: float = math.inf,
    seconds: float = math.inf,
    say: Callable[[str], object] = lambda sentence: None,
) -> Generator[tuple, None, None]:
    """Yield each task with its outcome, as they finish, from the workers of a Dask scheduler.

    `address` is the scheduler's.

    The scheduler gives the tasks of a worker that is lost to others, and those of one that stands
    still too, once it has noticed: by default (`worker-ttl`) that takes five to ten minutes.
    Workers may come and go.  While there is none this waits, and tells `say` so in a sentence, and
    when it goes on.  A task that takes longer than `longest` seconds on the wall, or `seconds` of
    processor time, is given up, and so are all under way when there are workers and none has
    brought anything for twice `longest`.
    """
    import distributed

    # Dask bounds the time of connecting, and not that of the first answer.
    mute = threading.Timer(
        CONNECT + 2,
        say,
        [f"Something at {address} takes connections, but answers as no Dask scheduler."],
    )
    mute.start()
    try:
        client = distributed.Client(address, timeout=CONNECT, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise ClusterError(
            f"No Dask scheduler answers at {address}: "
            f"{str(error).splitlines()[0] if str(error) else type(error).__name__}."
        ) from None
    finally:
        mute.cancel()
    try:
        ask = partial(apart, run, longest=longest, seconds=seconds, version=library())
        waiting = distributed.as_completed(loop=client.loop, with_results=True, raise_errors=False)
        yield from _dasked(client, waiting, ask, iter(tasks), address, 2 * longest, say)
    finally:
        client.close(timeout=5)


def _dasked(
    client,
    waiting,
    ask: Callable,
    tasks: Iterator,
    address: str,
    silence: float,
    say: Callable[[str], object],
) -> Iterator[tuple]:
    """Yield each task with its outcome; `waiting` is `distributed.as_completed` with results.

    Nothing here waits for one worker: one that stands still would hold up the others.
    """
    under_way: dict = {}
    began = False  # whether a sandbox has started on any worker
    threads, look = 0, -math.inf  # those of all workers, and when to count them again
    seen = moved = time.monotonic()  # when there was a worker last, and when one brought something
    told = False  # that there is none

    def submit(task, tries: int = 1) -> None:
        if client.status != "running":
            raise _gone(address)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sending large graph")
            future = client.submit(ask, task, pure=False)
        under_way[future] = task, tries
        waiting.add(future)

    while True:
        if time.monotonic() >= look:
            threads = _threads(client, address)
            look = time.monotonic() + LOOK
        for task in islice(tasks, max(0, max(2, 2 * threads) - len(under_way))):
            submit(task)
            moved = time.monotonic()
        if not under_way:
            return
        now = time.monotonic()
        if threads:
            seen = now
            if told:
                say("A worker has come, and grading goes on.")
            told = False
        else:
            moved = now
            if not told and now - seen > PATIENCE:
                told = True
                say(
                    f"The Dask scheduler at {address} has no worker: start one with "
                    f"'dask worker {address} --nthreads 1', or press Ctrl+C; what was graded is "
                    "kept."
                )
        batch = waiting.next_batch(block=False)
        for future, came in batch:
            task, tries = under_way.pop(future)
            moved = time.monotonic()
            began = began or getattr(came, "began", False)
            found = _outcome_of(came, began, tries, address)
            if found is None:
                submit(task, tries + 1)
            else:
                yield task, found
        if not batch and now - moved <= silence:
            time.sleep(BETWEEN)
        elif not batch:
            waiting.clear()
            given_up, under_way = under_way, {}
            for task, _ in given_up.values():
                yield task, Fault(f"no worker brought it back within {silence:,.0f} seconds")


def _outcome_of(came, began: bool, tries: int, address: str) -> Done | Fault | None:
    """Return the outcome in what came from Dask, or None for a task that is tried again.

    An error of Dask's, as `(type, error, traceback)`, is that of a worker that cannot even begin.
    """
    if isinstance(came, BaseException):  # it was cancelled, by nobody here
        raise _gone(address)
    failed = came[1] if isinstance(came, tuple) else None
    if tries < TRIES and (
        failed or (began and isinstance(came, Stop) and came.error == "SandboxError")
    ):
        return None  # a worker that has no sandbox, or no `handful`; another may have one
    if failed is None:
        return _check_outcome(came, began)
    if type(failed).__name__ == "KilledWorker":
        return Fault(f"the workers that graded it were lost {tries} times")
    raise ClusterError(
        f"A worker of {address} cannot grade: {type(failed).__name__}: {failed}; it needs handful "
        f"{library()}."
    )


def _threads(client, address: str) -> int:
    """Return how many threads the workers have, all together."""
    with suppress(OSError):  # of which a timeout is one
        if client.status == "running":
            return sum(client.sync(client.scheduler.ncores, callback_timeout=CONNECT).values())
    raise _gone(address)


def _gone(address: str) -> ClusterError:
    return ClusterError(
        f"The Dask scheduler at {address} is gone or was restarted; the same command goes on "
        "where this one stopped."
    )
