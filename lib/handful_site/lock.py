"""Resolve the lock files again from pyproject.toml: ``make lock``.

They are resolved for the oldest Python that pyproject.toml promises and for every newer one, on
every system, with one version of a package for all of them.  The locks hold names, versions and
hashes, and no address: whoever installs chooses the index.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from .bootstrap import LOCK, NODE_LOCK, ROOT, TEST_LOCK, oldest_python

# uv resolves for Pythons that are not on this machine, which pip-compile does not.
OPTIONS = [
    "pip",
    "compile",
    "--quiet",
    "--universal",
    "--fork-strategy",
    "fewest",
    "--generate-hashes",
    "--no-strip-markers",
    "--no-header",
    "--no-annotate",
    "--no-build",
]
EXTRAS = ["--extra", "book", "--extra", "study", "--extra", "classroom", "--extra", "house"]
TEST_EXTRAS = ["--extra", "print", "--extra", "test"]
ADDRESS = re.compile(r"://|^--(index|extra-index|find-links|trusted-host)", re.M)
ENTRY = re.compile(r"^[\w.-]+==.*(?:\n +.*)*\n", re.M)


def resolve(uv: Path, source: Path, target: Path, *extras: str) -> None:
    """Resolve the requirements of a file, and refuse a result that names an address."""
    index = subprocess.run(
        [sys.executable, "-m", "pip", "config", "get", "global.index-url"],
        capture_output=True,
        text=True,
    )
    environment = dict(os.environ)
    if address := os.environ.get("PIP_INDEX_URL") or index.stdout.strip():
        environment.setdefault("UV_DEFAULT_INDEX", address)
    subprocess.run(
        [
            str(uv),
            *OPTIONS,
            "--python-version",
            oldest_python(),
            *extras,
            "--output-file",
            str(target),
            str(source),
        ],
        cwd=ROOT,
        check=True,
        env=environment,
    )
    if found := ADDRESS.search(target.read_text("utf-8")):
        sys.exit(
            f"{target.name} holds an address ({found[0]}…); take it out before it is committed."
        )


def main() -> None:
    """Write requirements.lock, requirements-test.lock (what tests add to it) and node.lock."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        binaries = Path(folder) / "bin"
        subprocess.run(
            [str(binaries / "python"), "-m", "pip", "install", "--quiet", "uv"], check=True
        )
        uv, full_lock, node_package = (
            binaries / "uv",
            Path(folder) / "everything.lock",
            Path(folder) / "node.in",
        )
        print("resolving the lock files", flush=True)
        # First all of it, so that the book's packages stand at versions that the tests' packages
        # allow.
        resolve(uv, ROOT / "pyproject.toml", full_lock, *EXTRAS, *TEST_EXTRAS, "--upgrade")
        resolve(
            uv, ROOT / "pyproject.toml", LOCK, *EXTRAS, "--upgrade", "--constraint", str(full_lock)
        )
        book = set(ENTRY.findall(LOCK.read_text("utf-8")))
        TEST_LOCK.write_text(
            "".join(
                entry for entry in ENTRY.findall(full_lock.read_text("utf-8")) if entry not in book
            ),
            "utf-8",
        )
        node_package.write_text(NODE_LOCK.read_text("utf-8").split()[0] + "\n")
        resolve(uv, node_package, NODE_LOCK)


if __name__ == "__main__":
    main()
