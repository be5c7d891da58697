"""What a class handed in, one submission a student, from a folder, a zip or a download of a learning platform.

Known are ``ada.ipynb``; ``ada/anything.ipynb``; nbgrader's ``submitted/ada/roofline/roofline.ipynb``; Canvas'
``lovelaceada_LATE_12345_67890_roofline-1.ipynb``; Moodle's ``Ada Lovelace_12345_assignsubmission_file_/roofline.ipynb``;
and a zip of any of these.  Names and files are a stranger's: nothing is extracted, no link is followed, sizes are bounded
before anything is read, and a name is shown with its invisible characters spelled out.  Files are read one at a time, so
that memory does not grow with the class.

>>> shown("ada\\u202e.ipynb"), place(("lovelaceada_LATE_12_67_roofline-1.ipynb",)).student
('ada\\\\u202e.ipynb', 'lovelaceada_12')
"""
from __future__ import annotations

import hashlib
import os
import re
import stat
import unicodedata
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath

MOST_BYTES = 20_000_000  # of one file
MOST_FILES = 200_000  # of one class
MOST_DIRECTORY = 100_000_000  # bytes of a zip's own list of files
MOST_PACKED = 200  # a file in a zip, large as that, may be so many times its packed size
DEEPEST = 6
LONGEST_NAME = 120
JUNK = {"__MACOSX", "Thumbs.db", "desktop.ini", "timestamp.txt"}

_CANVAS = re.compile(r"(?P<who>[^_]+)(?:_(?P<late>LATE))?_(?P<number>\d+)_\d+_(?P<file>.+)", re.S)
_MOODLE = re.compile(r"(?P<who>.+?)_(?P<number>\d+)_assignsubmission_(?:file|onlinetext)_?(?P<file>.*)", re.S)
_AGAIN = re.compile(r"(?:-(\d{1,4})| \((\d{1,4})\))$")


class SubmissionError(ValueError):
    """A path, zip or roster that cannot be read as a class's submissions, in one sentence."""


class RefusedError(ValueError):
    """One file that is not read, in one sentence for its author and the teacher."""


@dataclass(frozen=True)
class Submission:
    """What one student handed in.

    `data` is None where nothing is there to be graded: nothing was handed in, or, where `refused` says why, it was not read.
    `notice` has what the teacher should know; `known` has other names of the student, from the roster.
    """

    student: str
    name: str
    data: bytes | None
    notice: tuple[str, ...] = ()
    refused: str = ""
    known: tuple[str, ...] = ()


@dataclass(frozen=True)
class File:
    """One file as it was found; `load` raises a `RefusedError` where it is not read."""

    path: tuple[str, ...]
    load: Callable[[], bytes]
    refused: str = ""


@dataclass(frozen=True)
class Place:
    """What a path says: whose file it is, that person's other names, whether it came late, what is left of the path."""

    student: str
    known: tuple[str, ...]
    late: bool
    rest: tuple[str, ...]


def shown(name: str) -> str:
    """A stranger's name as it can be shown: composed, no control or direction characters, no longer than 120 characters.

    >>> shown("a\\nb"), len(shown("x" * 500))
    ('a\\\\u000ab', 120)
    """
    text = "".join(c if unicodedata.category(c)[0] != "C" and unicodedata.category(c) not in ("Zl", "Zp") else f"\\u{ord(c):04x}"
                   for c in unicodedata.normalize("NFC", name)).strip()
    if len(text) > LONGEST_NAME:  # two long names stay two
        text = f"{text[:LONGEST_NAME - 13]}…{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    return text


def place(path: tuple[str, ...]) -> Place:
    """Whose file this is, by its path alone.

    >>> place(("Ada Lovelace_7_assignsubmission_file_", "roofline.ipynb"))
    Place(student='Ada Lovelace_7', known=('7', 'Ada Lovelace', 'Participant 7'), late=False, rest=('roofline.ipynb',))
    >>> place(("ada", "a.ipynb")).student, place(("ada.ipynb",)).student
    ('ada', 'ada')
    """
    first, *rest = path
    if found := _MOODLE.fullmatch(first):
        who, number = shown(found["who"]), found["number"]
        return Place(f"{who}_{number}", (number, who, f"Participant {number}"), False, (found["file"] or first, *rest) if not rest else tuple(rest))
    if not rest and (found := _CANVAS.fullmatch(first)):
        who, number = shown(found["who"]), found["number"]
        return Place(f"{who}_{number}", (number, who), bool(found["late"]), (found["file"],))
    name = shown(first if rest else PurePosixPath(first).stem) or "?"
    return Place(name, (name,), False, tuple(rest) or (first,))


@contextmanager
def opened(path: str | Path, assignment: str | None = None, roster: str | Path | None = None):
    """The submissions at `path`, as a list of functions that read one each, in the order of the students' names.

    Parameters
    ----------
    assignment : str, optional
        The assignment's name: where a student handed in several notebooks, one of that name is taken.
    roster : path, optional
        A CSV file of the class (`handful.classroom.roster`): its names replace those of the files, and who handed in nothing is listed.

    Raises
    ------
    SubmissionError
        Where nothing can be read there at all.
    """
    from .roster import Roster

    path = Path(path)
    listed = Roster.read(roster) if roster else None
    with _files(path) as files:
        found = _by_student([one for one in files if not _junk(one.path)], assignment)
        yield listed.matched(found) if listed else [partial(_chosen, name, *more) for name, more in sorted(found.items())]


def read(path: str | Path, assignment: str | None = None, roster: str | Path | None = None) -> Iterator[Submission]:
    """The submissions at `path`, one at a time; see `opened`."""
    with opened(path, assignment, roster) as found:
        for one in found:
            yield one()


def _junk(path: tuple[str, ...]) -> bool:
    return any(part in JUNK or part.startswith(".") and part not in (".", "..") for part in path)


# Where files are

@contextmanager
def _files(path: Path):
    try:
        kind = path.stat().st_mode
    except OSError as error:
        raise SubmissionError(f"{shown(str(path))} cannot be read: {error.strerror}.") from None
    if stat.S_ISDIR(kind):
        yield list(_folder(path, ()))
    elif path.suffix.lower() == ".zip":
        with _archive(path) as archive:
            yield _unwrapped(list(_zipped(archive, path)))
    elif path.suffix.lower() == ".ipynb":
        yield [File((path.name,), partial(_load, path))]
    else:
        raise SubmissionError(f"{shown(str(path))} is neither a folder, nor a zip, nor a notebook.")


def _folder(root: Path, within: tuple[str, ...], count: list[int] | None = None) -> Iterator[File]:
    count = [0] if count is None else count
    try:
        with os.scandir(root.joinpath(*within)) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except OSError as error:
        if not within:
            raise SubmissionError(f"{shown(str(root))} cannot be read: {error.strerror}.") from None
        yield File(within, _never, f"The folder {shown('/'.join(within))} cannot be read: {error.strerror}.")
        return
    for entry in entries:
        count[0] += 1
        if count[0] > MOST_FILES:
            raise SubmissionError(f"{shown(str(root))} holds more than {MOST_FILES:,} files; name the folder of one assignment.")
        path = (*within, entry.name)
        name = shown("/".join(path))
        if entry.is_symlink():
            yield File(path, _never, f"{name} is a link, and links are not followed.")
        elif entry.is_dir(follow_symlinks=False):
            if len(path) >= DEEPEST:
                yield File(path, _never, f"{name} lies {DEEPEST} folders deep, and nothing is looked for below.")
            else:
                yield from _folder(root, path, count)
        else:
            yield File(path, partial(_load, root.joinpath(*path)))


def _never() -> bytes:
    raise RefusedError("It is not read.")


def _load(path: Path) -> bytes:
    """A file's bytes; neither a link nor a pipe is opened, even where one has just taken the file's place."""
    name = shown(path.name)
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except OSError as error:
        raise RefusedError(f"{name} cannot be read: {error.strerror}.") from None
    with os.fdopen(handle, "rb") as file:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode):
            raise RefusedError(f"{name} is no ordinary file.")
        data = file.read(MOST_BYTES + 1) if about.st_size <= MOST_BYTES else b""
    if about.st_size > MOST_BYTES or len(data) > MOST_BYTES:
        raise RefusedError(_too_large(name, max(about.st_size, len(data))))
    return data


def _too_large(name: str, size: int) -> str:
    return f"{name} has {size / 1e6:,.0f} MB; up to {MOST_BYTES // 1_000_000} MB are read (clear the outputs and hand in again)."


def _archive(path: Path) -> zipfile.ZipFile:
    """The zip, opened once its list of files is known to be of a bearable size."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 65_557 - 76))
            tail = file.read()
        end = tail.rfind(b"PK\x05\x06")
        listing = int.from_bytes(tail[end + 12:end + 16], "little") if end >= 0 else 0
        if listing == 0xFFFFFFFF and (wide := tail.rfind(b"PK\x06\x06", 0, end)) >= 0:
            listing = int.from_bytes(tail[wide + 40:wide + 48], "little")
        if listing > MOST_DIRECTORY:
            raise SubmissionError(f"{shown(str(path))} lists too many files; at most {MOST_FILES:,} are read.")
        return zipfile.ZipFile(path)
    except OSError as error:
        raise SubmissionError(f"{shown(str(path))} cannot be read: {error.strerror}.") from None
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        if isinstance(error, SubmissionError):
            raise
        raise SubmissionError(f"{shown(str(path))} is no zip that can be read.") from None


def _zipped(archive: zipfile.ZipFile, path: Path) -> Iterator[File]:
    listed = [info for info in archive.infolist() if not info.is_dir()]
    if len(listed) > MOST_FILES:
        raise SubmissionError(f"{shown(str(path))} holds more than {MOST_FILES:,} files; zip one assignment only.")
    if sum(info.compress_size for info in listed) > path.stat().st_size:
        raise SubmissionError(f"{shown(str(path))} is no honest zip: its files lie on top of each other.")
    for info in sorted(listed, key=lambda info: info.filename):
        yield File(_parts(info.filename), partial(_unzip, archive, info), _unfit(info))


def _parts(name: str) -> tuple[str, ...]:
    """The parts of a path in a zip; one that leads outside becomes a name of its own, and so no student's."""
    parts = tuple(part for part in name.replace("\\", "/").split("/") if part not in ("", "."))
    outside = name.startswith(("/", "\\")) or ".." in parts or bool(re.match(r"[A-Za-z]:", name))
    return ("outside: " + name.replace("/", "⁄").replace("\\", "⁄"), "") if outside or not parts else parts


def _unfit(info: zipfile.ZipInfo) -> str:
    """Why a file of a zip is not read; nothing where it is."""
    name = shown(info.filename)
    if not _parts(info.filename)[-1]:
        return f"{name} names a place outside the zip."
    if stat.S_ISLNK(info.external_attr >> 16):
        return f"{name} is a link, and links are not followed."
    if info.flag_bits & 1:
        return f"{name} is locked with a password."
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return f"{name} is packed in a way that is not read; deflate is."
    if info.file_size > MOST_BYTES:
        return _too_large(name, info.file_size)
    if info.file_size > 1_000_000 and info.file_size > MOST_PACKED * max(info.compress_size, 1):
        return f"{name} is packed {info.file_size // max(info.compress_size, 1):,}-fold, as no notebook is."
    return ""


def _unzip(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    try:
        with archive.open(info) as file:
            data = file.read(MOST_BYTES + 1)
    except (zipfile.BadZipFile, OSError, EOFError, ValueError, RuntimeError, NotImplementedError, zipfile.zlib.error):
        raise RefusedError(f"{shown(info.filename)} is damaged in the zip.") from None
    if len(data) > MOST_BYTES:
        raise RefusedError(_too_large(shown(info.filename), len(data)))
    return data


def _unwrapped(files: list[File]) -> list[File]:
    """Without the one folder that holds everything, where a zip was made of the folder rather than of what is in it."""
    seen = [file for file in files if not _junk(file.path)]
    tops = {file.path[0] for file in seen}
    if len(tops) == 1 and all(len(file.path) > 1 for file in seen) and "submitted" not in tops:
        if len({file.path[1] for file in seen}) > 1:
            return [File(file.path[1:], file.load, file.refused) for file in seen]
    return seen


# Whose files are whose

def _by_student(files: list[File], assignment: str | None) -> dict[str, tuple]:
    """Student → (assignment, known names, late, files), files with what is left of their paths."""
    if any(file.path[0] == "submitted" and len(file.path) > 3 for file in files):  # nbgrader's
        files = [File(file.path[1:], file.load, file.refused) for file in files if file.path[0] == "submitted" and len(file.path) > 2]
    found: dict[str, tuple] = {}
    for file in files:
        where = place(file.path)
        _, known, late, own = found.get(where.student, (assignment, where.known, False, []))
        own.append(File(where.rest, file.load, file.refused))
        found[where.student] = (assignment, known, late or where.late, own)
    return found


def _chosen(student: str, assignment: str | None, known: tuple[str, ...], late: bool, files: list[File],
            notice: tuple[str, ...] = ()) -> Submission:
    """The one notebook of a student's files that is graded, and what has to be said of the others."""
    if any(len(file.path) > 1 and file.path[0] == assignment for file in files):  # a folder an assignment
        files = [file for file in files if file.path[0] == assignment]
    names = {id(file): shown("/".join(file.path)) for file in files}
    notebooks = [file for file in files if file.path[-1].lower().endswith(".ipynb")]
    notice += ("It came late, as the file's name says.",) if late else ()
    if not notebooks:
        reasons = [file.refused for file in files if file.refused]
        listed = ", ".join([names[id(file)] for file in files][:3]) + (" …" if len(files) > 3 else "")
        why = reasons[0] if reasons else f"No notebook was handed in: {listed} does not end in .ipynb."
        return Submission(student, listed, None, notice, why, known)
    best = max(notebooks, key=lambda file: (not file.refused, *_rank(file.path[-1], assignment), file.path))
    others = sorted(names[id(file)] for file in notebooks if file is not best)
    if others:
        listed = ", ".join(others[:5]) + (f" and {len(others) - 5} more" if len(others) > 5 else "")
        notice += (f"{len(notebooks)} notebooks were handed in: {names[id(best)]} was graded, {listed} not.",)
    try:
        if best.refused:
            raise RefusedError(best.refused)
        return Submission(student, names[id(best)], best.load(), notice, "", known)
    except RefusedError as error:
        return Submission(student, names[id(best)], None, notice, str(error), known)


def _rank(name: str, assignment: str | None) -> tuple[bool, bool, int]:
    """The assignment's own name first, then the latest of numbered copies.

    >>> _rank("roofline-2.ipynb", "roofline"), _rank("scratch.ipynb", "roofline")
    ((True, True, 2), (False, False, 0))
    """
    stem = PurePosixPath(name).stem
    again = _AGAIN.search(stem)
    base = stem[:again.start()] if again else stem
    return bool(assignment) and base == assignment, bool(assignment) and assignment in stem, int(again[1] or again[2]) if again else 0
