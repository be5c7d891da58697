"""Resolve requirements.lock again from pyproject.toml: ``make lock``.

Works in an environment of its own, so that the resolver's packages stay out of the book's.  The lock holds names,
versions and hashes, and no address: whoever installs it says where from.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from .bootstrap import LOCK, NODE_LOCK, ROOT

OPTIONS = ["--quiet", "--generate-hashes", "--allow-unsafe", "--strip-extras", "--no-header", "--no-annotate",
           "--no-emit-index-url", "--no-emit-find-links", "--no-emit-trusted-host"]
EXTRAS = ["--extra", "book", "--extra", "study", "--extra", "classroom", "--extra", "test", "--extra", "house"]
ADDRESS = re.compile(r"://|^--(index|extra-index|find-links|trusted-host)", re.M)


def resolve(compiler: Path, source: Path, target: Path, *extras: str) -> None:
    """Run pip-compile and refuse a result that names an address."""
    subprocess.run([str(compiler), *OPTIONS, *extras, "--output-file", str(target), str(source)], cwd=ROOT, check=True)
    if found := ADDRESS.search(target.read_text("utf-8")):
        sys.exit(f"{target.name} holds an address ({found[0]}…); take it out before it is committed.")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        binaries = Path(folder) / "bin"
        subprocess.run([str(binaries / "python"), "-m", "pip", "install", "--quiet", "pip-tools"], check=True)
        print("resolving requirements.lock: some minutes", flush=True)
        resolve(binaries / "pip-compile", ROOT / "pyproject.toml", LOCK, *EXTRAS)
        wanted = Path(folder) / "node.in"
        wanted.write_text(re.match(r"\S+", NODE_LOCK.read_text("utf-8"))[0] + "\n")
        resolve(binaries / "pip-compile", wanted, NODE_LOCK)


if __name__ == "__main__":
    main()
