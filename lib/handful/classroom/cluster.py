"""The same function over many tasks: in this process, in processes beside it, or on a Dask cluster.

Few tasks are under way at a time, so that memory does not grow with the class.  A process that dies is replaced and its
task tried once more; if that kills its process too, the task comes back as a fault and the others go on.

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
import signal
import sys
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

TRIES = 2
PRELOAD = ["handful.classroom.grade"]  # imported once, by the process that all workers are forked from
LOOK = 1.0  # seconds between looks at how long each has been at its task
# What stops the whole class, by the names of errors.
STOPPING = ("SandboxError", "StartError", "SourceError", "JudgeError", "GradingError")


class ClusterError(RuntimeError):
    """Grading that cannot go on, in one sentence; what is done is kept."""


@dataclass(frozen=True)
class Done:
    """`began`: whether a sandbox has started in the process that did it."""

    result: object
    began: bool = field(default=False, repr=False, compare=False)


@dataclass(frozen=True)
class Fault:
    """A task that this program, and not the student's, failed at."""

    says: str
    began: bool = field(default=False, repr=False, compare=False)


@dataclass(frozen=True)
class Stop:
    """What makes it pointless to go on: no sandbox, a mistake in the assignment; with the error's name."""

    says: str
    error: str = ""
    began: bool = field(default=False, repr=False, compare=False)


def attempt(run: Callable, task) -> Done | Fault | Stop:
    """One task, whatever comes of it."""
    try:
        return Done(run(task), _began())
    except Exception as error:
        name = type(error).__name__
        return Stop(str(error), name, _began()) if name in STOPPING else Fault(f"{name}: {error}"[:1000], _began())


def _began() -> bool:
    """Whether a sandbox has started in this process."""
    room = sys.modules.get(f"{__package__}.room")
    return room is not None and room.began


def _checked(found, began: bool, errors: tuple[str, ...] = ("StartError",)):
    """What came of a task, unless it stops the class.

    A sandbox that fails stops the class only while none has started: `began` says whether one has, and `errors` names
    what this holds for.  Once one has, the machine can make them, and the failure costs the one submission only.
    """
    if isinstance(found, Stop):
        if began and found.error in errors:
            return Fault(found.says.rstrip("."), True)
        raise ClusterError(found.says)
    return found


def here(run: Callable, tasks: Iterable) -> Iterator[tuple]:
    """Each task and what came of it, one after the other in this process."""
    for task in tasks:
        found = attempt(run, task)
        yield task, _checked(found, found.began)


# Processes of this machine

def cores() -> int:
    """The processors that this program may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _serve(connection, run: Callable) -> None:
    """A worker: takes tasks until its pipe is closed, which the end of the grader does too, however it comes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        while True:
            connection.send(attempt(run, connection.recv()))
    except (EOFError, OSError):
        pass


@dataclass
class _Worker:
    process: multiprocessing.process.BaseProcess
    connection: multiprocessing.connection.Connection
    task: object = None
    tries: int = 0
    until: float = math.inf


def _hired(context, run: Callable) -> _Worker:
    own, other = context.Pipe()
    process = context.Process(target=_serve, args=(other, run), daemon=True)
    process.start()
    other.close()
    return _Worker(process, own)


def _dismissed(worker: _Worker) -> int | None:
    worker.connection.close()
    worker.process.terminate()
    worker.process.join()
    code = worker.process.exitcode
    worker.process.close()
    return code


def pool(run: Callable, tasks: Iterable, jobs: int, longest: float = math.inf) -> Iterator[tuple]:
    """Each task and what came of it, as they end, from `jobs` processes of this machine; one that takes longer than `longest` seconds is killed."""
    context, tasks, again = multiprocessing.get_context("forkserver"), iter(tasks), deque()
    context.set_forkserver_preload(PRELOAD)
    workers: list[_Worker] = []
    began = False  # whether a sandbox has started in any process, all being on this machine

    def upcoming() -> tuple | None:
        """The next task, with how often it was tried."""
        return again.popleft() if again else next(((task, 0) for task in tasks), None)

    def give(worker: _Worker, task, tries: int) -> None:
        worker.task, worker.tries, worker.until = task, tries + 1, time.monotonic() + longest
        try:
            worker.connection.send(task)
        except OSError:
            pass  # it is dead, which its end of the pipe says too

    try:
        while True:
            while len(workers) < jobs and (one := upcoming()):
                workers.append(_hired(context, run))
                give(workers[-1], *one)
            if not workers:
                return
            ready = multiprocessing.connection.wait([worker.connection for worker in workers], timeout=LOOK)
            for worker in workers:
                if worker.until < time.monotonic() and worker.connection not in ready:
                    worker.process.kill()
            for worker in [worker for worker in workers if worker.connection in ready]:
                task, found = worker.task, _heard(worker)
                if found is None or not (one := upcoming()):
                    workers.remove(worker)
                    code = _dismissed(worker)
                else:
                    give(worker, *one)
                if found is None and worker.tries < TRIES:
                    again.append((task, worker.tries))
                else:
                    found = found or Fault(f"the process that graded it ended {worker.tries} times (exit code {code})")
                    began = began or found.began
                    yield task, _checked(found, began, ("SandboxError", "StartError"))
    finally:
        for worker in workers:
            _dismissed(worker)


def _heard(worker: _Worker):
    """What a worker sends; None where it died."""
    try:
        return worker.connection.recv()
    except (EOFError, OSError):
        worker.process.join()
        return None


# A Dask cluster

def _version() -> str:
    from .grade import library

    return library()


def dask(run: Callable, tasks: Iterable, address: str) -> Iterator[tuple]:
    """Each task and what came of it, as they end, from the workers of the Dask scheduler at `address`.

    The scheduler gives the tasks of a worker that is lost to others; workers may come and go.
    """
    import distributed
    from concurrent.futures import CancelledError

    try:
        client = distributed.Client(address, timeout=15, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise ClusterError(f"No Dask scheduler answers at {address}: {str(error).splitlines()[0] if str(error) else type(error).__name__}.") from None
    try:
        _check_workers(client, address)
        yield from _dasked(distributed, client, run, iter(tasks))
    except (CancelledError, OSError) as error:
        raise ClusterError(f"The Dask scheduler at {address} is gone ({type(error).__name__}); the same command goes on where this one stopped.") from None
    finally:
        client.close(timeout=5)


def _check_workers(client, address: str) -> None:
    """That there are workers, and that they have this library."""
    try:
        client.wait_for_workers(1, timeout=15)
    except TimeoutError:
        raise ClusterError(f"The Dask scheduler at {address} has no workers; start one with: dask worker {address}") from None
    own = _version()
    try:
        found = client.run(_version)
    except Exception as error:
        raise ClusterError(f"A worker of {address} cannot use handful: {type(error).__name__}: {error}; install handful {own} there.") from None
    for worker, version in sorted(found.items()):
        if version != own:
            raise ClusterError(f"The worker {worker} has handful {version}, and here is {own}; results would differ.  Install the same on all.")


def _dasked(distributed, client, run: Callable, tasks: Iterator) -> Iterator[tuple]:
    under_way: dict = {}
    began = False  # whether a sandbox has started on any worker

    def submit(task, tries: int = 1):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sending large graph")
            future = client.submit(attempt, run, task, pure=False)
        under_way[future] = task, tries
        return future

    def room() -> int:
        return max(2, 2 * sum(client.nthreads().values()))

    waiting = distributed.as_completed([submit(task) for task in islice(tasks, room())], loop=client.loop)
    for future in waiting:
        task, tries = under_way.pop(future)
        if future.status == "finished":
            found = future.result()
            began = began or found.began
            if began and isinstance(found, Stop) and found.error == "SandboxError" and tries < TRIES:
                waiting.add(submit(task, tries + 1))  # a worker that has none; another may have one
                continue
            found = _checked(found, began)
        elif future.status == "error" and tries < TRIES:
            waiting.add(submit(task, tries + 1))
            continue
        elif future.status == "error":
            found = Fault(f"the workers that graded it were lost {tries} times ({type(future.exception()).__name__})")
        else:
            raise ClusterError("The Dask scheduler gave up a task; the same command goes on where this one stopped.")
        for task_next in islice(tasks, max(0, room() - len(under_way))):
            waiting.add(submit(task_next))
        yield task, found
