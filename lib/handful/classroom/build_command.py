"""The commands of `handful assign` that build."""
from __future__ import annotations


def add(command) -> None:
    """Add the commands; `command` makes a parser, as `handful.cli` does."""
