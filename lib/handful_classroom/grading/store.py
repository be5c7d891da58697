"""Store results on disk, one file each, so that grading may be stopped and go on.

A file is there whole or not at all.

A results folder has ``results/KEY.json``, one a result, and ``class.json``, which names those of
the class as last graded.  KEY is the digest of all that a result follows from; the same key is
never graded twice.  Each file holds its own digest: one that was damaged is graded again.  One
program writes into a folder at a time.

>>> import tempfile
>>> with tempfile.TemporaryDirectory() as folder, opened(folder) as store:
...     store.put("0" * 64, {"student": "ada", "points": 3})
...     store.finish("roofline", [("ada", "0" * 64)], complete=True)
...     [result["points"] for result in results(folder)]
[3]
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SCHEMA = 1
LARGEST = 4_000_000  # bytes of one result


class StoreError(RuntimeError):
    """A reason why a results folder cannot be read or written now, in one sentence."""

    exit_code = 1


def canonical(value) -> bytes:
    r"""Return JSON in its one spelling: keys sorted, no spaces, ASCII.

    >>> canonical({"b": 1.0, "a": "é"})
    b'{"a":"\\u00e9","b":1.0}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def key(*parts) -> str:
    """Return the digest of what a result follows from.

    >>> key("ab", "c") != key("a", "bc")
    True
    """
    return hashlib.sha256(canonical(parts)).hexdigest()


class GivenError(StoreError):
    """A reason why a folder or a key that was named is not one that can be taken."""

    exit_code = 2


# Signatures


def make_key(path: str | Path) -> None:
    """Write a new secret of the teacher's into a file that nobody else may read.

    An existing file is left alone.
    """
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise GivenError(
            f"{path} is there already; a key that results were signed with is worth keeping, so "
            "name another file."
        ) from None
    except OSError as error:
        raise GivenError(f"{path} cannot be written: {error.strerror}.") from None
    with os.fdopen(handle, "w") as file:
        file.write(secrets.token_hex(32) + "\n")


def read_key(path: str | Path) -> bytes:
    """Read a secret that `make_key` wrote; raise StoreError where there is none."""
    try:
        text = Path(path).read_bytes()[:200].strip()
        secret = bytes.fromhex(text.decode("ascii"))
    except OSError as error:
        raise GivenError(f"The key {path} cannot be read: {error.strerror}.") from None
    except ValueError:
        secret = b""
    if len(secret) != 32:
        raise GivenError(f"{path} is no key; 'handful assign key FILE' makes one.")
    return secret


def signature(result: dict, secret: bytes) -> str:
    """Return HMAC-SHA256 over everything of a result but its signature and digest.

    >>> signature({"points": 1}, b"k") == signature(
    ...     {"points": 1, "digest": "x"}, b"k"
    ... ) != signature({"points": 2}, b"k")
    True
    """
    return hmac.new(secret, canonical(_rest(result)), "sha256").hexdigest()


def _rest(result: dict) -> dict:
    return {name: value for name, value in result.items() if name not in ("signature", "digest")}


def signed(result: dict, secret: bytes | None) -> dict:
    """Return the result with its signature, an empty one where there is no key."""
    return _rest(result) | {"signature": signature(result, secret) if secret else ""}


def verified(result: dict, secret: bytes) -> bool:
    """Return whether a result is as it was signed with this key."""
    found = result.get("signature")
    return isinstance(found, str) and hmac.compare_digest(
        found.encode(), signature(result, secret).encode()
    )


# The folder


@dataclass
class Store:
    """A results folder that this program alone writes into; `opened` makes one."""

    folder: Path

    def path(self, key: str) -> Path:
        """Return the file of the result with that key."""
        return self.folder / "results" / f"{key}.json"

    def get(self, key: str) -> dict | None:
        """Return the result with that key, or None where it is missing or damaged."""
        return load(self.path(key))

    def put(self, key: str, result: dict) -> None:
        """Write a result, so that it is on the disk on return and never there by half."""
        body = _without(result)
        write(self.path(key), canonical(body | {"digest": _digest(key, body)}) + b"\n")

    def finish(
        self, assignment: str, listed: Iterable[tuple[str, str]], complete: bool, **more
    ) -> None:
        """Name the results that count now, as pairs of student and key.

        They are in the order in which the class is listed.
        """
        students = [{"student": student, "key": key} for student, key in listed]
        write(
            self.folder / "class.json",
            canonical(
                {
                    "schema": SCHEMA,
                    "assignment": assignment,
                    "complete": complete,
                    "students": students,
                    **more,
                }
            )
            + b"\n",
        )


@contextmanager
def opened(folder: str | Path):
    """Open a results folder, made where it is missing, and lock it while it is open."""
    import fcntl

    folder = Path(folder)
    try:
        (folder / "results").mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise GivenError(
            f"The results folder {folder} cannot be written: {error.strerror}."
        ) from None
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            who = os.read(lock, 20).decode("ascii", "replace").strip()
            raise StoreError(
                f"Another grading{f' (process {who})' if who else ''} is writing into {folder}; "
                "wait for it, or name another folder."
            ) from None
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
        for left in (folder / "results").glob(".writing-*"):  # of a grader that was killed
            left.unlink()
        yield Store(folder)
    finally:
        os.close(lock)


def write(path: Path, content: bytes) -> None:
    """Write a file whole, or not at all."""
    made = path.with_name(f".writing-{path.name}")
    try:
        with open(made, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(made, path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror}.") from None


def _without(result: dict) -> dict:
    return {name: value for name, value in result.items() if name != "digest"}


def _digest(key: str, body: dict) -> str:
    """Return the digest of a result in its place: one moved to another key counts as damaged."""
    return hashlib.sha256(key.encode() + canonical(body)).hexdigest()


def load(path: Path) -> dict | None:
    """Read a result's file without its digest; return None where it is missing or damaged."""
    try:
        with open(path, "rb") as file:
            found = json.loads(file.read(LARGEST + 1))
        if isinstance(found, dict) and found.get("digest") == _digest(path.stem, _without(found)):
            return _without(found)
    except (OSError, ValueError, RecursionError):
        pass
    return None


def overview(folder: str | Path) -> dict:
    """Read ``class.json``: assignment, whether grading was complete, students and keys."""
    path = Path(folder) / "class.json"
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise GivenError(
            f"{folder} holds no graded class; 'handful assign grade SUBMISSIONS --assignment NAME "
            f"-o {folder}' makes one."
        ) from None
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}.") from None
    except ValueError:
        found = None
    if (
        not isinstance(found, dict)
        or found.get("schema") != SCHEMA
        or not isinstance(found.get("students"), list)
    ):
        raise StoreError(
            f"{path} is damaged; grade again, which takes what is there and makes it anew."
        )
    return found


@dataclass
class _Results:
    """The results of a folder, read one by one each time that they are gone through."""

    folder: Path
    students: list[dict[str, str]]

    def __len__(self) -> int:
        return len(self.students)

    def __iter__(self) -> Iterator[dict]:
        for one in self.students:
            found = load(self.folder / "results" / f"{one['key']}.json")
            if found is None:
                raise StoreError(
                    f"The result of {one['student']} in {self.folder} is missing or damaged; grade "
                    "again, which makes it anew."
                )
            yield found


def results(folder: str | Path) -> _Results:
    """Return the results of a class as last graded, in the class's order.

    They stay on the disk, and each is read, without its digest, when it is its turn; they can be
    gone through several times, and are the same each time.

    Raises
    ------
    StoreError
        Where no class was graded there, or, while going through them, a result is missing or
        damaged.
    """
    return _Results(Path(folder), overview(folder)["students"])
