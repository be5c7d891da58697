"""Formatting, linters, types and the layers of packages, in seconds: ``make check``.

All of them run, also after one has failed, and the last line names those that did.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from handful_site.bootstrap import ROOT, node_command

BIN, NPM = Path(sys.executable).parent, ROOT / "node_modules"


def commands() -> dict[str, list[str]]:
    """Return what is run, by the name that a failure is told under."""
    node = [str(part) for part in node_command() or ("node",)]
    tsc = [*node, str(NPM / "typescript/bin/tsc"), "--noEmit", "-p"]
    return {
        "ruff": [str(BIN / "ruff"), "check", "lib", "tests"],
        "ruff format": [str(BIN / "ruff"), "format", "--check", "lib", "tests"],
        "mypy": [str(BIN / "mypy"), "lib"],
        "import-linter": [str(BIN / "lint-imports"), "--no-cache"],
        "ESLint": [
            *node,
            str(NPM / "eslint/bin/eslint.js"),
            "--config",
            "lib/eslint.config.js",
            ".",
        ],
        "Prettier": [*node, str(NPM / "prettier/bin/prettier.cjs"), "--check", "."],
        "tsc": [*tsc, "lib"],
        "tsc of the workers": [*tsc, "lib/tsconfig.workers.json"],
    }


def main() -> None:
    """Run everything, and show what the failing ones print."""
    failed = []
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "lib")}
    for name, command in commands().items():
        began = time.monotonic()
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
        says = "ok" if done.returncode == 0 else "failed"
        print(f"{name}: {says}, {time.monotonic() - began:.1f} s", flush=True)
        if done.returncode:
            failed.append(name)
            print(done.stdout + done.stderr, flush=True)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
