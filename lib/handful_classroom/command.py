"""Commands ``handful assign …``, which `handful.cli` adds to the others."""

from __future__ import annotations

import importlib

from handful.cli import group

PARTS = ("build_command", "grade_command", "report_command")


def add(command) -> None:
    """Add the commands; `command` makes a parser, as `handful.cli` does."""
    within = group(command, "assign", "assignments: release, grade, report")
    for part in PARTS:
        importlib.import_module(f"{__package__}.{part}").add(within)
