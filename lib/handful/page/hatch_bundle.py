"""Puts the built explorer script into the wheel, where the kernel's widget reads it."""

from __future__ import annotations

from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

BUNDLE = "_build/js/explorer.js"
INSIDE = "handful/page/explorer.bundle.js"


class CustomBuildHook(BuildHookInterface):
    """An editable install reads ``_build/js`` itself; a wheel must carry the script with it."""

    def initialize(self, version: str, build_data: dict) -> None:
        if version == "editable":
            return
        if not (Path(self.root) / BUNDLE).exists():
            raise FileNotFoundError(f"{BUNDLE} is missing: run `make bundle` before building the wheel.")
        build_data["force_include"][BUNDLE] = INSIDE
