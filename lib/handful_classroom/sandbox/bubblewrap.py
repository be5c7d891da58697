"""Build bubblewrap's command: what is visible inside the sandbox, and the bounds before it."""

from __future__ import annotations

import importlib.util
import marshal
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path

from . import cgroup, seccomp
from .protocol import Limits

HERE = Path(__file__).resolve().parent
LIBRARY = HERE.parents[1]  # the folder of all packages
COURSE = LIBRARY.parent
# What a student may import, and what only the grader has.
READERS = ("handful", "handful_evidence", "handful_explorers", "handful_study")
GRADERS = ("handful_classroom", "handful_site")
NOBODY = 65534
ROOM, PYTHON, PACKAGES = "/room", "/python", "/packages"
OLDEST = (0, 5)
ADVICE = (
    "Student code runs in a sandbox only, and there is none here: install bubblewrap, 0.5 or newer "
    "(Debian, Ubuntu: apt-get install bubblewrap; Fedora: dnf install bubblewrap)."
)
BLOCKED = (
    "Student code runs in a sandbox only, and this system does not let bubblewrap make one ({}). "
    "On Ubuntu 23.10 and newer an "
    "AppArmor profile for bwrap is needed, or kernel.apparmor_restrict_unprivileged_userns=0; in "
    "a container, the right to make "
    "user namespaces."
)
# Of /usr, what Python does not need, and what a machine's owner may have put there.
UNSEEN = ("/usr/local", "/usr/src", "/usr/share", "/usr/games", "/usr/include", "/usr/etc")
DEVICES = ("null", "zero", "full", "random", "urandom")
# Names are given in full: nothing of the grader's own environment goes in.  A fixed seed of hashes
# makes sets the same everywhere.
ENVIRONMENT = {
    "PATH": "/usr/bin",
    "HOME": "/desk",
    "TMPDIR": "/tmp",
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0",
    "LD_LIBRARY_PATH": f"{PYTHON}/lib",
    "MPLBACKEND": "Agg",
    "MPLCONFIGDIR": "/tmp",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}


class SandboxError(RuntimeError):
    """A machine without a sandbox; the message says what to install or to allow."""

    exit_code = 1


class StartError(SandboxError):
    """A sandbox that did not start."""


def tool(name: str, advice: str) -> str:
    """Return the path of a program, also where PATH leaves out the system's folders."""
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin")
    if found is None:
        raise SandboxError(advice)
    return found


@cache
def bubblewrap() -> tuple[str, str, frozenset[str]]:
    """Return path, version and options of bubblewrap.

    Raises
    ------
    SandboxError
        Where it is missing or too old.
    """
    if sys.platform != "linux":
        raise SandboxError(
            "Student code runs in a sandbox of Linux (bubblewrap); on this system, grade within a "
            "Linux machine."
        )
    path = tool("bwrap", ADVICE)
    version = subprocess.run([path, "--version"], capture_output=True, text=True).stdout.split()[
        -1:
    ] or ["0"]
    if tuple(map(int, re.findall(r"\d+", version[0])[:2])) < OLDEST:
        raise SandboxError(ADVICE)
    told = subprocess.run([path, "--help"], capture_output=True, text=True)
    return path, version[0], frozenset(re.findall(r"--[\w-]+", told.stdout + told.stderr))


@cache
def visible_paths() -> tuple[tuple[tuple[Path, str], ...], str, tuple[str, ...]]:
    """Return what of this machine is visible inside, the interpreter, and its package folders.

    The first is pairs (folder here, folder inside); the interpreter and the folders of packages are
    paths inside.

    Python and its packages have the same names inside on every machine, so that no message tells
    where the grader lives.
    """
    pairs = [
        (Path(name), name)
        for name in ("/usr", "/lib", "/lib64", "/etc/ld.so.cache")
        if Path(name).exists()
    ]
    interpreter = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    base = Path(sys.base_prefix).resolve()
    if base == Path("/usr"):
        inside = str(interpreter)
    else:
        inside = f"{PYTHON}/bin/{interpreter.name}"
        pairs += [(interpreter, inside), (base / "lib", f"{PYTHON}/lib")]
        if (base / "lib64").is_dir() and not (base / "lib64").is_symlink():
            pairs.append((base / "lib64", f"{PYTHON}/lib64"))
    places = [Path(sysconfig.get_path(name)).resolve() for name in ("purelib", "platlib")]
    numpy = importlib.util.find_spec("numpy")
    places += [Path(numpy.origin).resolve().parent.parent] if numpy and numpy.origin else []
    folders: list[str] = []
    for place in dict.fromkeys(place for place in places if place.is_dir()):
        folders.append(f"{PACKAGES}{len(folders) or ''}")
        pairs.append((place, folders[-1]))
    return tuple(pairs), inside, tuple(folders)


@cache
def worker_files() -> dict[str, bytes]:
    """Return the worker's files, compiled once for all sandboxes of this process."""
    head = importlib.util.MAGIC_NUMBER + bytes(12)
    return {
        f"{ROOM}/{name}.pyc": head
        + marshal.dumps(
            compile((HERE / f"{name}.py").read_bytes(), f"<{name}>", "exec", dont_inherit=True)
        )
        for name in ("sandbox_worker", "import_stubs")
    }


def mounts(library: bool) -> list[str]:
    """Return bubblewrap's options that say which files are visible inside."""
    # Made by hand, since bubblewrap keeps the folders that it makes on the way to a file from
    # everyone but root.
    parts: list[str] = []
    for folder in (
        "/etc",
        PYTHON,
        f"{PYTHON}/bin",
        ROOM,
        *([] if library else [f"{ROOM}/handful_study"]),
    ):
        parts += ["--perms", "0755", "--dir", folder]
    for here, there in visible_paths()[0]:
        if here.is_symlink() and str(here) == there:
            parts += ["--symlink", os.readlink(here), there]
            continue
        parts += ["--ro-bind", str(here), there]
        # Where the package, or the course that it is part of, lies below what is shown, it is
        # covered.
        for hidden in (
            *(LIBRARY / name for name in (*READERS, *GRADERS)),
            *(COURSE / name for name in ("exercises", "tests", "book")),
        ):
            if hidden.is_relative_to(here.resolve()) and hidden.is_dir():
                parts += [
                    "--perms",
                    "0755",
                    "--size",
                    "4096",
                    "--tmpfs",
                    f"{there}/{hidden.relative_to(here.resolve())}",
                ]
    for unseen in UNSEEN:
        if Path(unseen).is_dir():
            parts += ["--perms", "0755", "--size", "65536", "--tmpfs", unseen]
    if library:
        for name in READERS:
            parts += ["--ro-bind", str(LIBRARY / name), f"{ROOM}/{name}"]
    else:
        student = LIBRARY / "handful_study" / "student.py"
        parts += ["--ro-bind", str(student), f"{ROOM}/handful_study/student.py"]
    return parts


def bubblewrap_command(
    limits: Limits,
    library: bool,
    as_root: bool,
    data: Mapping[str, int],
    filter_fd: int | None,
    info_fd: int | None,
) -> list[str]:
    """Return bubblewrap's command up to the program that it is to run.

    As root, the process inside becomes nobody itself (`sandbox_worker.drop_privileges`): the
    kernel then counts and checks it as nobody.  As anybody else, it lives in a user namespace in
    which no other can be made.
    """
    path, _, options = bubblewrap()
    parts = [
        path,
        "--unshare-ipc",
        "--unshare-pid",
        "--unshare-net",
        "--unshare-uts",
        "--unshare-cgroup-try",
        "--die-with-parent",
        "--new-session",
        "--clearenv",
        "--hostname",
        "room",
        "--cap-drop",
        "ALL",
    ]
    if as_root:
        parts += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        parts += ["--unshare-user", "--uid", str(NOBODY), "--gid", str(NOBODY)]
        parts += ["--disable-userns"] if "--disable-userns" in options else []
    parts += mounts(library)
    for file, fd in data.items():
        parts += ["--perms", "0444", "--ro-bind-data", str(fd), file]
    size = ["--perms", "1777", *(["--size", str(limits.disk_bytes)] if "--size" in options else [])]
    for folder in ("/tmp", "/desk"):
        parts += [*size, "--tmpfs", folder]
    parts += ["--perms", "0755", "--tmpfs", "/dev"]
    for device in DEVICES:
        parts += ["--dev-bind", f"/dev/{device}", f"/dev/{device}"]
    parts += [
        *size,
        "--tmpfs",
        "/dev/shm",
        "--remount-ro",
        "/dev",
        "--remount-ro",
        "/",
        "--chdir",
        "/desk",
    ]
    for name, value in ENVIRONMENT.items():
        parts += ["--setenv", name, value]
    if filter_fd is not None:
        parts += ["--seccomp", str(filter_fd)]
    return parts + (["--info-fd", str(info_fd)] if info_fd is not None else [])


def _tasks(user: int) -> int:
    """Return how many processes and threads a user has, as RLIMIT_NPROC counts them."""
    count = 0
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            with suppress(OSError):
                count += len(os.listdir(folder / "task")) if folder.stat().st_uid == user else 0
    return count


def bounds(limits: Limits, group: cgroup.Group | None, as_root: bool, highest_fd: int) -> list[str]:
    """Return the command before bubblewrap's, which sets bounds.

    It joins the control groups, then bounds each process.
    """
    front: list[str] = []
    if group:
        front = [
            "/bin/sh",
            "-c",
            "".join(f"echo 0 > '{door}' && " for door in group.doors) + 'exec "$@"',
            "sh",
        ]
    elif scope := cgroup.scope():
        front = scope(limits.memory_bytes, limits.processes)
    seconds = int(limits.total_seconds) + 1
    front += [
        tool("prlimit", "The sandbox needs the program prlimit of util-linux, and it is not here."),
        f"--cpu={seconds}:{seconds + 2}",
        f"--as={limits.memory_bytes}",
        f"--fsize={limits.disk_bytes}",
        "--core=0",
        f"--nofile={highest_fd + 200}",
    ]
    if not group and not cgroup.scope():
        # The bound is the user's in all, and other sandboxes may be running as the same one.
        user = NOBODY if as_root else os.getuid()
        front.append(f"--nproc={_tasks(user) + limits.processes * (os.cpu_count() or 1)}")
    return [*front, "--"]


def memory_file(data: bytes, closing: ExitStack) -> int:
    """Return the descriptor of a file in memory with this data, closed with `closing`.

    It is read from its start.
    """
    fd = os.memfd_create("handful")
    closing.callback(os.close, fd)
    os.write(fd, data)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


@cache
def as_root() -> bool:
    """Return whether root itself makes sandboxes (True), or a user namespace (False).

    This is tried out once.

    Raises
    ------
    SandboxError
        Where neither can be had.
    """
    trouble = ""
    for root in (True, False) if os.geteuid() == 0 and seccomp.program() else (False,):
        try:
            command = [
                *bubblewrap_command(Limits(), False, root, {}, None, None),
                "--",
                "/usr/bin/true",
            ]
            tried = subprocess.run(command, capture_output=True, text=True, timeout=60)
        except subprocess.TimeoutExpired:
            trouble = "it did not answer within 60 s"
            continue
        if tried.returncode == 0:
            return root
        trouble = tried.stderr.strip()
    raise SandboxError(BLOCKED.format(trouble or "it says nothing"))
