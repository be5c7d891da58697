"""Print to a terminal or a program, and the errors that a command ends with."""

from __future__ import annotations

import json
import math
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence

__all__ = [
    "MissingError",
    "UsageError",
    "print_columns",
    "print_json",
    "print_list",
    "print_text",
    "terminal_width",
]


class UsageError(ValueError):
    """A command line that cannot be understood, in one sentence."""

    exit_code = 2


class MissingError(RuntimeError):
    """A package or program that this machine lacks; the sentence says what to install."""

    exit_code = 1


def print_text(text: str, end: str = "\n") -> None:
    """Print text with plain spaces, so that it can be copied and searched."""
    print(text.replace("\u00a0", " "), end=end)


def print_json(value: object) -> None:
    """Print a value as JSON; a number that is not finite becomes null."""

    def finite(part: object) -> object:
        if isinstance(part, dict):
            return {key: finite(inner) for key, inner in part.items()}
        if isinstance(part, (list, tuple)):
            return [finite(inner) for inner in part]
        return None if isinstance(part, float) and not math.isfinite(part) else part

    print(json.dumps(finite(value), indent=2, ensure_ascii=False, allow_nan=False))


def print_columns(rows: Iterable[Sequence[str]]) -> None:
    """Print rows of text in columns, each as wide as its widest cell."""
    rows = [list(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print_text(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        )


def terminal_width() -> int:
    """Return the columns of the terminal, or a very large number for a pipe or a file."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 100_000


def print_list(head: str, lines: Sequence[str]) -> None:
    """Print lines under a head, indented; nothing where there are none."""
    if lines:
        print_text(f"\n{head}")
        for line in lines:
            print_text(
                textwrap.fill(line, terminal_width(), initial_indent="  ", subsequent_indent="    ")
            )
