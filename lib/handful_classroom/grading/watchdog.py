"""Bound the processor time that this program itself spends on one student's submission.

The sandbox bounds the student's code.  The code outside it, which reads the notebook, the replies
and the texts, takes time in proportion to their length.  Should a mistake in that code let one
submission take hours, the submission is given up and the others are graded.  Processor time is
counted, so that a busy machine or a slow disk makes nobody late; the sandbox runs in another
process, whose time does not count here.

>>> from contextlib import suppress
>>> with suppress(OverlongError), within(0.05):
...     while True:
...         pass
>>> with within(0.05):
...     sum(range(10))
45
"""

from __future__ import annotations

import math
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

READING_SECONDS = (
    60.0  # a notebook takes some milliseconds, and the first of an assignment a second or two
)
AGAIN = (
    1.0  # seconds after which the signal comes again, where it came while nothing could be raised
)


class OverlongError(BaseException):
    """A submission that takes too long to read, in one sentence.

    No `Exception`, so that nothing which expects errors of a notebook's content takes it for one.
    """


def says(seconds: float) -> str:
    """Return the sentence for a submission on which the grader spent more than so many seconds.

    >>> says(60.0)
    'reading it took the grader more than 60 seconds of processor time, so it was given up'
    """
    return (
        f"reading it took the grader more than {seconds:g} seconds of processor time, so it "
        "was given up"
    )


def end_after(seconds: float) -> None:
    """Let the kernel end this process with SIGPROF after so many more seconds of processor time.

    An infinite number removes the bound.

    For processes that do nothing but grade: it holds in the midst of a C function, too.
    """
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, seconds if math.isfinite(seconds) else 0)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise `OverlongError` in the block once it has used so many seconds of processor time.

    Signals reach the main thread only: in another thread, in a process that `end_after` watches, or
    on a system without such timers, the block runs without a bound of its own.  A call of a C
    function is interrupted when it returns; regular expressions look for signals themselves.
    """
    if (
        not hasattr(signal, "setitimer")
        or threading.current_thread() is not threading.main_thread()
        or not math.isfinite(seconds)
        or signal.getitimer(signal.ITIMER_PROF)[0]
    ):
        yield
        return

    def ring(number, frame) -> None:
        raise OverlongError(says(seconds))

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds, AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, signal.SIG_DFL if before is None else before)
