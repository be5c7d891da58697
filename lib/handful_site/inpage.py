"""Python in the page: a folder with Pyodide, SymPy and this package, loaded on a click only.

``prepare`` makes the folder and ``offer`` tells a page of it.  The folder's name changes with its
contents, so that no browser mixes two of them.  Its files have a policy of their own (POLICY):
compiling WebAssembly needs a keyword that pages do not have, and a worker follows the policy of its
own script, not of its page.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from bs4 import BeautifulSoup

from .elements import one

HERE = Path(__file__).resolve().parent
LOCK = HERE / "pyodide.lock"
FOLDER = "_static/pyodide"  # on the site
POLICY = (
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; base-uri 'self'; object-src 'none'"
)
RUNTIME = ("pyodide.mjs", "pyodide.asm.mjs", "python_stdlib.zip")
OURS = ("worker.js", "session.py")
LEFT_OUT = ("/tests/", "/benchmarks/", "/RECORD")  # of all packages


def prepare(npm: Path, target: Path, package: Path) -> str:
    """Make the folder in `target`; return why it could not be made, or "".

    Parameters
    ----------
    npm : Path
        The folder of the npm package ``pyodide``.
    target : Path
        A folder of the build, replaced as a whole; ``target/files`` holds what goes to the site.
    package : Path
        This package as a wheel.
    """
    if not (npm / "pyodide.asm.wasm").exists():
        return (
            "The npm package pyodide is not installed, so pages do not offer Python; `make "
            "tools` installs it."
        )
    wheels = target.with_name(target.name + "-wheels")
    if wrong := _fetch(wheels):
        return wrong
    state = _state(npm, package)
    if (target / ".made-from").exists() and (target / ".made-from").read_text() == state:
        return ""
    shutil.rmtree(target, ignore_errors=True)
    files = target / "files"
    files.mkdir(parents=True)
    for name in RUNTIME:
        shutil.copy(npm / name, files)
    for name in OURS:
        shutil.copy(HERE / "python" / name, files)
    # Not every host compresses WebAssembly, so it lies compressed, and the worker unpacks it.
    (files / "runtime.bin").write_bytes(
        gzip.compress((npm / "pyodide.asm.wasm").read_bytes(), 9, mtime=0)
    )
    pack([*sorted(wheels.glob("*.whl")), package], files / "packages.zip")
    # Pyodide's own list of packages names addresses of a host that no page may ask.
    known = json.loads((npm / "pyodide-lock.json").read_text("utf-8"))
    (files / "pyodide-lock.json").write_text(
        json.dumps({"info": known["info"], "packages": {}}), "utf-8"
    )
    (target / ".made-from").write_text(state)
    return ""


def _state(npm: Path, package: Path) -> str:
    total = hashlib.sha256()
    for path in (
        npm / "package.json",
        package,
        LOCK,
        Path(__file__),
        *(HERE / "python" / name for name in OURS),
    ):
        total.update(path.read_bytes())
    return total.hexdigest()


def _fetch(folder: Path) -> str:
    """Download the locked wheels, once; return what went wrong, or ""."""
    stamp, want = folder / ".made-from", hashlib.sha256(LOCK.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == want:
        return ""
    shutil.rmtree(folder, ignore_errors=True)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--disable-pip-version-check",
            "--no-input",
            "--require-hashes",
            "--no-deps",
            "--only-binary=:all:",
            "--dest",
            str(folder),
            "--requirement",
            str(LOCK),
        ],
        capture_output=True,
        text=True,
    )
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or [
            done.stderr.strip()[-300:]
        ]
        return (
            "The packages for Python in the page could not be fetched, so pages do not offer "
            f"it: {said[-1]}"
        )
    stamp.write_text(want)
    return ""


def pack(wheels: list[Path], target: Path) -> None:
    """Pack several wheels into one archive, without LEFT_OUT; the same bytes each time."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as made:
        for wheel in wheels:
            with zipfile.ZipFile(wheel) as given:
                for name in sorted(given.namelist()):
                    if not any(part in name for part in LEFT_OUT):
                        made.writestr(
                            zipfile.ZipInfo(name), given.read(name), zipfile.ZIP_DEFLATED, 9
                        )


def publish(target: Path, site: Path) -> tuple[str, int]:
    """Copy the folder to its place on the site, and return its address there and its bytes.

    Where there is no folder, the result is ("", 0).
    """
    files = sorted((target / "files").glob("*")) if (target / ".made-from").exists() else []
    if not files:
        return "", 0
    total = hashlib.sha256()
    for path in files:
        total.update(path.name.encode() + path.read_bytes())
    place = f"{FOLDER}/{total.hexdigest()[:8]}"
    shutil.copytree(target / "files", site / place)
    return place, sum(path.stat().st_size for path in files)


def offer(soup: BeautifulSoup, up: str, place: str, size: int) -> None:
    """Add the button at the end of a page that has code cells.

    It says where Python is, and how much is loaded on a click.  Above, it would stand between a
    formula and the meaning of its letters.
    """
    text = soup.select_one("article")
    if not place or text is None or soup.select_one(".cell .cell_input pre") is None:
        return
    root = one(soup, "html")
    root["data-python"], root["data-python-size"] = f"{up}{place}/", f"{size / 1e6:.0f}"
    bar = BeautifulSoup(
        '<div class="python-bar"><button type="button">Show and run the code</button>'
        '<span role="status">The formulas of this page are Python. It runs in your browser; the '
        f"first run loads {size / 1e6:.0f} MB.</span></div>",
        "html.parser",
    )
    text.append(one(bar, "div"))
