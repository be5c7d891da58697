"""Commands ``handful assign …``, which `handful.cli` adds to the others."""

from __future__ import annotations

import importlib

from handful.cli import group

EXITS = (
    "Exit codes: 0 done; 1 not done, or not for everybody, though what was given is right;\n"
    "2 something that was given is wrong (an option, a file, a folder or a row), and is named."
)
PARTS = ("build_command", "grade_command", "report_command")


def add(command) -> None:
    """Add the commands; `command` makes a parser, as `handful.cli` does."""
    within = group(command, "assign", "assignments: release, grade, report", exits=EXITS)
    for part in PARTS:
        importlib.import_module(f"{__package__}.{part}").add(within)
