"""Build hook that adds to the wheel the explorer script and its sheet, cards and problems.

These lie outside of the package.  Assignments are left out: students install the wheel, and their
sources hold solutions, hidden calls and model answers.
"""

from __future__ import annotations

from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

BUNDLES = {
    "_build/js/explorer.js": "handful_explorers/plotting/explorer.bundle.js",
    "_build/js/explorer.css": "handful_explorers/plotting/explorer.bundle.css",
    "_build/js/licences.txt": "handful_explorers/plotting/explorer.bundle.licences.txt",
    "exercises/README.md": "handful_study/exercise_sources/README.md",
    "exercises/cards": "handful_study/exercise_sources/cards",
    "exercises/problems": "handful_study/exercise_sources/problems",
}


class CustomBuildHook(BuildHookInterface):
    """The build hook of hatch for the wheel.

    An editable install reads ``_build/js`` and ``exercises`` themselves; a wheel has to contain
    them.
    """

    def initialize(self, version: str, build_data: dict) -> None:
        """Add the files to the wheel, or raise FileNotFoundError where one is missing."""
        if version == "editable":
            return
        for built, inside in BUNDLES.items():
            if not (Path(self.root) / built).exists():
                raise FileNotFoundError(
                    f"{built} is missing: run `make bundle` before building the wheel."
                )
            build_data["force_include"][built] = inside
