"""Show on standard error how much of a long task is done, and how long the rest takes."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TextIO

ON_TERMINAL, ELSEWHERE = 0.2, 10.0  # seconds between lines


class Progress:
    """A line with how many are done and how long the rest takes, within a ``with`` block.

    On a terminal the line is overwritten; elsewhere, where a log would fill up, a new one is
    printed every ten seconds.  The last line says that all is done.

    Parameters
    ----------
    verb, things : str
        What is done to which things, such as "Read" and "results".
    total : int or None
        How many there are, where that is known.
    quiet : float, optional
        Seconds without a line; a task that ends within them prints none.
    stream, clock : optional
        Where the line goes, and what returns the time in seconds.

    >>> import io
    >>> seconds, out = iter([0, 1, 4, 5, 9]), io.StringIO()
    >>> with Progress("Wrote", "pages", 400, 3, out, lambda: next(seconds)) as show:
    ...     for done in (100, 200, 201, 400):
    ...         show(done)
    >>> out.getvalue().splitlines()
    ['Wrote 200 of 400 pages; less than a minute left', 'Wrote 400 of 400 pages']
    """

    def __init__(
        self,
        verb: str,
        things: str,
        total: int | None,
        quiet: float = 0.0,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.verb, self.things, self.total, self.clock = verb, things, total, clock
        self.stream = sys.stderr if stream is None else stream
        self.start = clock()
        self.between = ON_TERMINAL if self.stream.isatty() else ELSEWHERE
        self.due = self.start + (quiet or self.between)  # when the next line may be printed
        self.silent = quiet > 0  # until the first line
        self.earlier: int | None = None  # done before the first call: it took no time
        self.width = 0  # of the line on a terminal

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *error: object) -> None:
        self._end_line()

    def __call__(self, done: int, detail: str = "") -> None:
        """Print how many are done, with `detail`, unless the last line is too recent."""
        now = self.clock()
        self.earlier = done - 1 if self.earlier is None else self.earlier
        if now >= self.due or (done == self.total and not self.silent):
            self.due, self.silent = now + self.between, False
            self._print(self._line(done, detail, now - self.start))

    def say(self, sentence: str) -> None:
        r"""Print a sentence on a line of its own, at once.

        >>> import io
        >>> out = io.StringIO()
        >>> Progress("Graded", "", None, stream=out).say("A worker has come.")
        >>> out.getvalue()
        'A worker has come.\n'
        """
        self._end_line()
        self.stream.write(f"{sentence}\n")
        self.stream.flush()

    def _end_line(self) -> None:
        if self.width:
            self.stream.write("\n")
            self.stream.flush()
            self.width = 0

    def _line(self, done: int, detail: str, elapsed: float) -> str:
        of = "" if self.total is None else f" of {self.total:,}"
        left = ""
        new = done - (self.earlier or 0)
        if self.total and new and done < self.total:
            left = f"; {duration(elapsed / new * (self.total - done))} left"
        things = f" {self.things}" if self.things else ""
        return f"{self.verb} {done:,}{of}{things}{f': {detail}' if detail else ''}{left}"

    def _print(self, line: str) -> None:
        if self.stream.isatty():
            self.stream.write(f"\r{line:{self.width}s}")
            self.width = len(line)
        else:
            self.stream.write(f"{line}\n")
        self.stream.flush()


def duration(seconds: float) -> str:
    """Describe a duration in seconds.

    >>> duration(20), duration(200), duration(20_000)
    ('less than a minute', 'about 3 min', 'about 5.6 h')
    """
    if seconds < 50:
        return "less than a minute"
    return f"about {seconds / 60:.0f} min" if seconds < 5400 else f"about {seconds / 3600:.1f} h"
