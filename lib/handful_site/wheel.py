"""The package as a wheel, published beside the book for notebooks and for Python in the page."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

FOLDER = "_static/wheels"  # on the site


def build(root: Path, target: Path, state: str) -> Path:
    """Build the wheel in `target`, and return it.

    It is built again only where `state`, a hash of its sources, has changed.

    Raises
    ------
    RuntimeError
        With pip's last lines, where the build failed.
    """
    stamp = target / ".made-from"
    made = sorted(target.glob("*.whl"))
    if len(made) == 1 and stamp.exists() and stamp.read_text() == state:
        return made[0]
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
            "--no-build-isolation",
            "--wheel-dir",
            str(target),
            str(root),
        ],
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f"The wheel could not be built: {done.stderr.strip()[-1500:]}")
    stamp.write_text(state)
    return next(target.glob("*.whl"))


def name(version: str) -> str:
    """Return the file name of the package's wheel.

    >>> name("0.1.0")
    'handful-0.1.0-py3-none-any.whl'
    """
    return f"handful-{version}-py3-none-any.whl"


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, as pip writes it after ``#sha256=``."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def publish(source: Path, site: Path) -> list[Path]:
    """Copy the wheels of `source` to their place on the site, and return them there."""
    made = [site / FOLDER / path.name for path in sorted(source.glob("*.whl"))]
    for path in made:
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source / path.name, path)
    return made
