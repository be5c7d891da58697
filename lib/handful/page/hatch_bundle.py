"""Puts into the wheel what lies outside of the package: the built explorer script and its sheet,
cards and problems.

Assignments stay out: students install the wheel, and a source holds solutions, hidden calls and
model answers.
"""

from __future__ import annotations

from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

BUNDLES = {
    "_build/js/explorer.js": "handful/page/explorer.bundle.js",
    "_build/js/explorer.css": "handful/page/explorer.bundle.css",
    "_build/js/licences.txt": "handful/page/explorer.bundle.licences.txt",
    "exercises/README.md": "handful/exercise_sources/README.md",
    "exercises/cards": "handful/exercise_sources/cards",
    "exercises/problems": "handful/exercise_sources/problems",
}


class CustomBuildHook(BuildHookInterface):
    """An editable install reads ``_build/js`` and ``exercises`` themselves; a wheel must carry them
    along.
    """

    def initialize(self, version: str, build_data: dict) -> None:
        if version == "editable":
            return
        for built, inside in BUNDLES.items():
            if not (Path(self.root) / built).exists():
                raise FileNotFoundError(
                    f"{built} is missing: run `make bundle` before building the wheel."
                )
            build_data["force_include"][built] = inside
