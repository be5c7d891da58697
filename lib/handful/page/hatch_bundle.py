"""Puts the built explorer script and its style sheet into the wheel, where the kernel's widget reads them."""

from __future__ import annotations

from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

BUNDLES = {"_build/js/explorer.js": "handful/page/explorer.bundle.js",
           "_build/js/explorer.css": "handful/page/explorer.bundle.css"}


class CustomBuildHook(BuildHookInterface):
    """An editable install reads ``_build/js`` itself; a wheel must carry them along."""

    def initialize(self, version: str, build_data: dict) -> None:
        if version == "editable":
            return
        for built, inside in BUNDLES.items():
            if not (Path(self.root) / built).exists():
                raise FileNotFoundError(f"{built} is missing: run `make bundle` before building the wheel.")
            build_data["force_include"][built] = inside
