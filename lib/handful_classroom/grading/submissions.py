r"""Read what a class handed in from a folder, a zip or a learning platform's download.

There is one submission for each student.

Known are ``ada.ipynb``; ``ada/anything.ipynb``; nbgrader's
``submitted/ada/roofline/roofline.ipynb``; Canvas'
``lovelaceada_LATE_12345_67890_roofline-1.ipynb``; Moodle's ``Ada
Lovelace_12345_assignsubmission_file_/roofline.ipynb``; and a zip of any of these.  Names and files
are a stranger's: nothing is extracted, no link is followed, sizes are bounded before anything is
read, and a name is shown with its invisible characters spelled out.  Files are read one at a time,
so that memory does not grow with the class.

Whose a file is follows from what the platform wrote, never from what the student did, who chooses
the file's own name and often the name on the platform too.  All names of a download together say of
which platform it is; where a name can be read as two students', that file is not graded, and a
sentence says why.

>>> shown("ada\u202e.ipynb"), owner_of(("lovelaceada_LATE_12_67_roofline-1.ipynb",)).student
('ada\\u202e.ipynb', 'lovelaceada_12')
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import stat
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, BinaryIO

from ..marks import limit_marks

if TYPE_CHECKING:
    from .roster import Roster

MOST_BYTES = 20_000_000  # of one file
MOST_FILES = 200_000  # of one class
MOST_DIRECTORY = 100_000_000  # bytes of a zip's own list of files
MOST_PACKED = 200  # a file in a zip, large as that, may be so many times its packed size
DEEPEST = 6
A_CLASS = 10  # notebooks: nobody hands in so many for one assignment
CAME_LATE = "It came late."
LONGEST_NAME = 120
MOST_READ = (
    1_000  # characters of a name that are composed, which takes the square of the marks on a letter
)
JUNK = {"__MACOSX", "Thumbs.db", "desktop.ini", "timestamp.txt"}

NBGRADER = {"submitted", "release", "source", "autograded", "feedback"}
# Canvas: lib/content_zipper.rb in instructure/canvas-lms.  Moodle, which leaves no _ in names:
# mod/assign/locallib.php in moodle/moodle.
_MOODLE = re.compile(r"_([0-9]{1,20})_assignsubmission_(?:file|onlinetext)")
_CANVAS_PAGE = re.compile(r"(?:text|link)(?:-[0-9]+)?\.html")
_AGAIN = re.compile(r"(?:-(\d{1,4})| ?\((\d{1,4})\))$")
_SEVERAL = re.compile(r"[0-9]+ notebooks were handed in: ")


class SubmissionError(ValueError):
    """A path, zip or roster that cannot be read as a class's submissions, in one sentence."""

    exit_code = 2


class RefusedError(ValueError):
    """One file that is not read, in one sentence for its author and the teacher."""


@dataclass(frozen=True)
class Submission:
    """One student's submission.

    `data` is None where nothing is there to be graded: nothing was handed in, or, where `refused`
    says why, it was not read.  `notice` has what the teacher should know; `known` has other names
    of the student, from the roster or the file's name.  `own_id` is the id whose inputs the
    notebook should have, where that is not `student`.
    """

    student: str
    name: str
    data: bytes | None
    notice: tuple[str, ...] = ()
    refused: str = ""
    known: tuple[str, ...] = ()
    own_id: str = ""


@dataclass(frozen=True)
class File:
    """One file as it was found; `load` raises a `RefusedError` where it is not read."""

    path: tuple[str, ...]
    load: Callable[[], bytes]
    refused: str = ""


@dataclass(frozen=True)
class Owner:
    """The reading of a path: whose file it is, other names, whether it is late, and the rest.

    `number` is the platform's own of the student, `who` the name there; both are empty where the
    path is no platform's.  `others` has numbers that a hostile reading of the same name finds,
    `refused` says why the path names nobody.
    """

    student: str
    known: tuple[str, ...]
    late: bool
    rest: tuple[str, ...]
    number: str = ""
    who: str = ""
    others: tuple[str, ...] = ()
    refused: str = ""


def shown(name: str) -> str:
    r"""Return an untrusted name as it can be shown.

    It is composed, has 120 characters at most, few marks on a letter, and none that are invisible.

    >>> shown("a\nb"), len(shown("x" * 500)), len(shown("x" + "\u0301\u0316" * 30_000))
    ('a\\u000ab', 120, 22)
    """
    if len(name) <= LONGEST_NAME and name.isascii() and name.isprintable():
        return name.strip()
    spelled = "".join(
        f"\\u{ord(c):04x}"
        if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
        else c
        for c in name[:MOST_READ]
    )
    whole = unicodedata.normalize("NFC", spelled).strip()
    text = limit_marks(whole)
    if (
        len(text) > LONGEST_NAME or text != whole or len(name) > MOST_READ
    ):  # two long names stay two
        whole = whole if len(name) <= MOST_READ else name
        digest = hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        text = f"{text[: LONGEST_NAME - 13]}…{digest}"
    return text


def says_late(notice: str) -> bool:
    """Return whether a notice says that a submission came late; one kept from before may add how.

    >>> says_late(CAME_LATE), says_late("It came late, as the file's name says."), says_late("Hm.")
    (True, True, False)
    """
    return notice.startswith(CAME_LATE[:-1])


def says_several(notice: str) -> bool:
    """Return whether a notice says which of several notebooks was graded.

    >>> says_several("2 notebooks were handed in: a.ipynb was graded, b.ipynb not.")
    True
    """
    return bool(_SEVERAL.match(notice))


def _canvas(name: str) -> list[int]:
    """Return where Canvas' number of the student may stand in a file's name.

    Places count the parts between the _ of the name.

    The number of the file follows it, or the one word of an answer that is no file.

    >>> _canvas("lovelaceada_LATE_12_67_roofline.ipynb"), _canvas("lovelaceada_12_67_1_a.ipynb")
    ([2], [1, 2])
    >>> _canvas("a_12_b.ipynb"), _canvas("a_12_text.html")
    ([], [1])
    """
    parts = name.split("_")
    numeric = [part.isascii() and part.isdigit() and len(part) <= 20 for part in parts]
    return [
        i
        for i in range(1, len(parts) - 1)
        if numeric[i]
        and (
            (i + 2 < len(parts) and numeric[i + 1] and (i + 3 < len(parts) or parts[-1]))
            or (i + 2 == len(parts) and _CANVAS_PAGE.fullmatch(parts[i + 1]))
        )
    ]


def _moodle(name: str, folder: bool) -> list[re.Match]:
    """Return where Moodle's number of the student may stand in a name.

    It is at the end of a folder's name, and anywhere in a file's.

    >>> [
    ...     found[1]
    ...     for found in _moodle("x_7_assignsubmission_file__12_assignsubmission_file_", True)
    ... ]
    ['12']
    >>> _moodle("x_7_assignsubmission_file_ada", True)
    []
    """
    found = [one for one in _MOODLE.finditer(name) if one.start() > 0]
    return [one for one in found[-1:] if name[one.end() :] in ("", "_")] if folder else found


def form(paths: Iterable[tuple[str, ...]]) -> str:
    """Return whose download this is, by all of its names: canvas, moodle, plain or mixed.

    Plain is no platform's.

    >>> form([("a_12_67_roofline.ipynb",), ("b_13_68_12_assignsubmission_file_roofline.ipynb",)])
    'canvas'
    """
    kinds = set()
    leads = set()
    for first, folder in {(path[0], len(path) > 1) for path in paths}:
        canvas, moodle = [] if folder else _canvas(first), _moodle(first, folder)
        kinds.add((bool(canvas), bool(moodle)))
        if canvas and moodle:
            leads.add(
                "canvas"
                if len("_".join(first.split("_")[: canvas[0]])) < moodle[0].start()
                else "moodle"
            )
    if kinds <= {(False, False)}:
        return "plain"
    if all(canvas for canvas, _ in kinds) and all(moodle for _, moodle in kinds):
        return leads.pop() if len(leads) == 1 else "mixed"
    if all(canvas for canvas, _ in kinds):
        return "canvas"
    return "moodle" if all(moodle for _, moodle in kinds) else "mixed"


def owner_of(path: tuple[str, ...], download: str | None = None) -> Owner:
    """Return whose file this is, by its path and by whose download it is in.

    `download` is what `form` gives; by default the file counts as if it were alone.

    >>> found = owner_of(("Ada Lovelace_7_assignsubmission_file_", "roofline.ipynb"))
    >>> found.student, found.number, found.who, found.known
    ('Ada Lovelace_7', '7', 'Ada Lovelace', ('7', 'Ada Lovelace', 'Participant 7'))
    >>> owner_of(("ada", "a.ipynb")).student, owner_of(("ada.ipynb",)).student
    ('ada', 'ada')
    """
    first, *rest = path
    download = form([path]) if download is None else download
    canvas = _canvas(first) if not rest and download in ("canvas", "mixed") else []
    moodle = _moodle(first, bool(rest)) if download in ("moodle", "mixed") else []
    if canvas and moodle:
        numbers = sorted({first.split("_")[canvas[0]], moodle[0][1]})
        return Owner(
            shown(first),
            (),
            False,
            (first,),
            others=tuple(numbers),
            refused=(
                "Its name can be read as Canvas' and as Moodle's, and so as two students'; "
                "put each download into a folder of its own and grade that."
            ),
        )
    if canvas:
        parts = first.split("_")
        at = canvas[0]
        late = at > 1 and parts[at - 1] in ("LATE", "late")
        who, number = shown("_".join(parts[: at - late])), parts[at]
        file = "_".join(parts[at + 1 + (at + 2 < len(parts)) :])
        return Owner(
            f"{who}_{number}",
            tuple(filter(None, (number, who))),
            late,
            (file,),
            number,
            who,
            tuple(dict.fromkeys(parts[i] for i in canvas[1:] if parts[i] != number)),
        )
    if moodle:
        found = moodle[0]
        who, number, file = (
            shown(first[: found.start()]),
            found[1],
            first[found.end() :].removeprefix("_"),
        )
        known = tuple(filter(None, (number, who, f"Participant {number}")))
        return Owner(
            f"{who}_{number}",
            known,
            False,
            tuple(rest) or (file or first,),
            number,
            who,
            tuple(dict.fromkeys(one[1] for one in moodle[1:] if one[1] != number)),
        )
    name = shown(first if rest else PurePosixPath(first).stem) or "?"
    return Owner(name, (name,), False, tuple(rest) or (first,))


@contextmanager
def opened(path: str | Path, assignment: str | None = None, roster: Roster | None = None):
    """Open the submissions at `path`, as a list of functions that read one each.

    They are in the order of the students' names.

    Parameters
    ----------
    assignment : str, optional
        The assignment's name: where a student handed in several notebooks, one of that name is
        taken.
    roster : Roster, optional
        The class: its names replace those of the files, and who handed in nothing is listed.

    Raises
    ------
    SubmissionError
        Where nothing can be read there at all.
    """
    with _files(Path(path), roster) as files:
        found = _by_student(_visible(files), assignment, roster)
        yield roster.matched(found) if roster else [one.read for one in named(_apart(found))]


def read(
    path: str | Path, assignment: str | None = None, roster: Roster | None = None
) -> Iterator[Submission]:
    """Yield the submissions at `path`, one at a time; see `opened`."""
    with opened(path, assignment, roster) as found:
        for one in found:
            yield one()


def _junk(path: tuple[str, ...]) -> bool:
    return any(part in JUNK or (part.startswith(".") and part not in (".", "..")) for part in path)


def _visible(files: list[File]) -> list[File]:
    """Return the files that are not hidden; of a folder that has no others, them, as not read."""
    seen = [file for file in files if not _junk(file.path)]
    tops = {file.path[0] for file in seen}
    alone = [
        replace(
            file,
            load=_never,
            refused=f"Only hidden files were handed in, such as {shown('/'.join(file.path[1:]))}, "
            "and those are not read.",
        )
        for file in files
        if len(file.path) > 1 and file.path[0] not in tops and not _junk(file.path[:1])
    ]
    return seen + alone


# Where files are


@contextmanager
def _files(path: Path, listed=None):
    try:
        kind = path.stat().st_mode
    except OSError as error:
        raise SubmissionError(f"{shown(str(path))} cannot be read: {error.strerror}.") from None
    if stat.S_ISDIR(kind):
        files = list(_folder(path, ()))
        if why := _no_class(path, files):
            raise SubmissionError(f"{shown(str(path))} {why}.")
        yield files
    elif path.suffix.lower() == ".zip":
        name = shown(str(path))
        try:
            file = path.open("rb")
        except OSError as error:
            raise SubmissionError(f"{name} cannot be read: {error.strerror}.") from None
        with file, _archive(file, name) as archive:
            found = list(_zipped(archive, name, path.stat().st_size))
            yield _unwrapped(found, listed)
    elif path.suffix.lower() == ".ipynb":
        yield [File((path.name,), partial(_load, path))]
    else:
        raise SubmissionError(f"{shown(str(path))} is neither a folder, nor a zip, nor a notebook.")


def _no_class(path: Path, files: list[File]) -> str:
    """Return why a folder is none of submissions: another of ours, or with a download in a zip."""
    if (path / "class.json").is_file() and (path / "results").is_dir():
        return "holds results; name the folder or the zip of what students handed in"
    own = path.resolve()
    built = own.parent if own.name in ("release", "teacher") else own
    if (built / "teacher" / "editions").is_dir() and (built / "release").is_dir():
        return "is what 'handful assign build' made; name what students handed in"
    if any(file.path[-1].lower().endswith(".ipynb") for file in files):
        return ""
    zips = [path / file.path[0] for file in files if file.path[0].lower().endswith(".zip")]
    whole = [shown(str(one)) for one in zips if one.is_file() and _of_a_class(one)]
    return f"holds no notebook, but a class in a zip; name {' or '.join(whole)}" if whole else ""


def _of_a_class(path: Path) -> bool:
    """Return whether a zip is a platform's download, or has more notebooks than one student has."""
    try:
        with path.open("rb") as file, _archive(file, path.name) as archive:
            found = [one.path for one in _zipped(archive, path.name, path.stat().st_size)]
    except (OSError, SubmissionError):
        return False
    notebooks = [one for one in found if one[-1].lower().endswith(".ipynb")]
    return len(notebooks) >= A_CLASS or (len(notebooks) > 1 and form(notebooks) != "plain")


def _folder(root: Path, within: tuple[str, ...], count: list[int] | None = None) -> Iterator[File]:
    count = [0] if count is None else count
    try:
        with os.scandir(root.joinpath(*within)) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except OSError as error:
        if not within:
            raise SubmissionError(f"{shown(str(root))} cannot be read: {error.strerror}.") from None
        yield File(
            within,
            _never,
            f"The folder {shown('/'.join(within))} cannot be read: {error.strerror}.",
        )
        return
    for entry in entries:
        count[0] += 1
        if count[0] > MOST_FILES:
            raise SubmissionError(
                f"{shown(str(root))} holds more than {MOST_FILES:,} files; name the folder of one "
                "assignment."
            )
        path = (*within, entry.name)
        name = shown("/".join(path))
        if entry.is_symlink():
            yield File(path, _never, f"{name} is a link, and links are not followed.")
        elif entry.is_dir(follow_symlinks=False):
            if len(path) >= DEEPEST:
                yield File(
                    path,
                    _never,
                    f"{name} lies {DEEPEST} folders deep, and nothing is looked for below.",
                )
            else:
                yield from _folder(root, path, count)
        else:
            yield File(path, partial(_load, root.joinpath(*path)))


def _never() -> bytes:
    raise RefusedError("It is not read.")


def _load(path: Path) -> bytes:
    """Read a file's bytes, but open neither a link nor a pipe.

    That holds even where one has just taken the file's place.
    """
    name = shown(path.name)
    try:
        handle = os.open(
            path,
            os.O_RDONLY
            | getattr(os, "O_NOFOLLOW", 0)
            | getattr(os, "O_NONBLOCK", 0)
            | getattr(os, "O_BINARY", 0),
        )
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
    return (
        f"{name} has {size / 1e6:,.0f} MB; up to {MOST_BYTES // 1_000_000} MB are read (clear "
        "the outputs and hand in again)."
    )


def _archive(file: BinaryIO, name: str) -> zipfile.ZipFile:
    """Open a zip, once its list of files is known to be of a bearable size."""
    try:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 65_557 - 76))
        tail = file.read()
        end = tail.rfind(b"PK\x05\x06")
        listing = int.from_bytes(tail[end + 12 : end + 16], "little") if end >= 0 else 0
        if listing == 0xFFFFFFFF and (wide := tail.rfind(b"PK\x06\x06", 0, end)) >= 0:
            listing = int.from_bytes(tail[wide + 40 : wide + 48], "little")
        if listing > MOST_DIRECTORY:
            raise SubmissionError(f"{name} lists too many files; at most {MOST_FILES:,} are read.")
        return zipfile.ZipFile(file)
    except OSError as error:
        raise SubmissionError(f"{name} cannot be read: {error.strerror}.") from None
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        if isinstance(error, SubmissionError):
            raise
        raise SubmissionError(f"{name} is no zip that can be read.") from None


def _zipped(archive: zipfile.ZipFile, name: str, size: int) -> Iterator[File]:
    """Yield the files of a zip of so many bytes."""
    listed = [info for info in archive.infolist() if not info.filename.endswith("/")]
    if len(listed) > MOST_FILES:
        raise SubmissionError(
            f"{name} holds more than {MOST_FILES:,} files; zip one assignment only."
        )
    if sum(info.compress_size for info in listed) > size:
        raise SubmissionError(f"{name} is no honest zip: its files lie on top of each other.")
    for info in sorted(listed, key=lambda info: info.filename):
        yield File(_parts(info.filename), partial(_unzip, archive, info), _unfit(info))


def _parts(name: str) -> tuple[str, ...]:
    """Return the parts of a path in a zip.

    A path that leads outside becomes a name of its own, and so no student's.
    """
    parts = tuple(part for part in name.replace("\\", "/").split("/") if part not in ("", "."))
    outside = name.startswith(("/", "\\")) or ".." in parts or bool(re.match(r"[A-Za-z]:", name))
    return (
        ("outside: " + name.replace("/", "⁄").replace("\\", "⁄"), "")
        if outside or not parts
        else parts
    )


def _unfit(info: zipfile.ZipInfo) -> str:
    """Return why a file of a zip is not read, or "" where it is."""
    name = shown(info.filename)
    if not info.filename:
        return "A file in it has no name."
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
        return (
            f"{name} is packed {info.file_size // max(info.compress_size, 1):,}-fold, as no "
            "notebook is."
        )
    return ""


def _unzip(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    try:
        with archive.open(info) as file:
            data = file.read(MOST_BYTES + 1)
    except (
        zipfile.BadZipFile,
        OSError,
        EOFError,
        ValueError,
        RuntimeError,
        NotImplementedError,
        zlib.error,
    ):
        raise RefusedError(f"{shown(info.filename)} is damaged in the zip.") from None
    if len(data) > MOST_BYTES:
        raise RefusedError(_too_large(shown(info.filename), len(data)))
    return data


def _unwrapped(files: list[File], listed=None) -> list[File]:
    """Remove the one folder that holds everything.

    A zip has it that was made of the folder rather than of what is in it.

    A student's own folder is none, for the names in it are the student's choice.
    """
    seen = [file for file in files if not _junk(file.path)]
    tops = {file.path[0] for file in seen}
    if len(tops) != 1 or not all(len(file.path) > 1 for file in seen):
        return seen
    top, inner = tops.pop(), {file.path[1:] for file in seen}
    if top == "submitted" or _moodle(top, True) or (listed and listed.find(top)):
        return seen
    firsts = {path[0] for path in inner}
    if len(firsts) > 1 or firsts == {"submitted"} or form(inner) != "plain":
        return [File(file.path[1:], file.load, file.refused) for file in seen]
    return seen


# Whose files are whose


@dataclass(eq=False)
class Entry:
    """Files that were handed in under one name, before it is known who that is."""

    owner: Owner
    assignment: str | None
    top: str  # the name as it was found
    mixed: bool = False  # with other names that are no platform's
    late: bool = False
    files: list[File] = field(default_factory=list)
    notice: tuple[str, ...] = ()
    refused: str = ""

    @property
    def student(self) -> str:
        """Return the student's name or id, as the path says it."""
        return self.owner.student

    @property
    def notebook(self) -> bool:
        """Return whether there is a notebook among the files."""
        return any(file.path[-1].lower().endswith(".ipynb") for file in self.files)

    def stopped(self, why: str) -> Entry:
        """Return the same entry, not graded, under the name as it was found."""
        owner = replace(self.owner, student=shown(self.top) or "?", known=(), number="")
        return replace(self, owner=owner, refused=why)

    def read(
        self, student: str | None = None, known: tuple[str, ...] = (), notice: tuple[str, ...] = ()
    ) -> Submission:
        """Return the submission, of the student it names or of `student`.

        `student` is known by the ids and names `known`.
        """
        if self.refused:
            listed = ", ".join(shown("/".join(file.path)) for file in self.files[:3]) + (
                " …" if len(self.files) > 3 else ""
            )
            return Submission(self.student, listed, None, self.notice + notice, self.refused)
        made = _chosen(
            student or self.student,
            self.assignment,
            known if student else self.owner.known,
            self.late,
            self.files,
            self.notice + notice,
        )
        return made if student else replace(made, own_id=self.owner.number)


def _nbgrader(files: list[File], listed) -> bool:
    """Return whether this is nbgrader's folder.

    A class may have a student who is called submitted.
    """
    if not any(file.path[0] == "submitted" and len(file.path) > 3 for file in files):
        return False
    beside = {file.path[0] for file in files if len(file.path) > 1 and file.path[0] not in NBGRADER}
    if listed:
        return not any(map(listed.find, {"submitted", *beside}))
    return not any(
        file.path[0] in beside and file.path[-1].lower().endswith(".ipynb") for file in files
    )


def _by_student(files: list[File], assignment: str | None, listed=None) -> list[Entry]:
    """Return what was handed in under each name.

    Files whose names can be read in two ways stand alone.
    """
    beside = any(file.path[0] == "submitted" and len(file.path) > 3 for file in files)
    if nbgrader := _nbgrader(files, listed):
        files = [
            File(file.path[1:], file.load, file.refused)
            for file in files
            if file.path[0] == "submitted" and len(file.path) > 2
        ]
    download = "plain" if nbgrader else form([file.path for file in files])
    found: dict[tuple, Entry] = {}
    owners: dict[tuple[str, bool], Owner] = {}
    for file in files:
        top = file.path[0], len(file.path) > 1
        if top not in owners:
            owners[top] = owner_of(file.path, download)
        owner = owners[top]
        rest = file.path[1:] if top[1] else owner.rest
        key = owner.student, (owner.others or owner.refused) and top
        one = found.setdefault(key, Entry(owner, assignment, file.path[0], download == "mixed"))
        one.late, one.refused = one.late or owner.late, owner.refused
        one.files.append(File(rest, file.load, file.refused))
        if beside and not nbgrader and file.path[0] == "submitted":
            one.notice = (
                "This folder may be nbgrader's, and folders that nbgrader does not know stand "
                "beside it; "
                "name it itself to grade what is in it.",
            )
    return list(found.values())


def _apart(found: list[Entry]) -> list[Entry]:
    """Settle, without a roster, which notebooks may be one student's.

    Those whose names can be read in two ways are nobody's.
    """
    made = [one for one in found if one.refused]
    by_name: dict[str, list[Entry]] = {}
    for one in found:
        if not one.refused:
            by_name.setdefault(one.student, []).append(one)
    for name, several in by_name.items():
        several.sort(key=lambda one: bool(one.owner.others))  # at most one is clear
        clear = several[0] if not several[0].owner.others else None
        notebooks = [one for one in several if one.notebook]
        kept = clear if clear in notebooks or len(notebooks) > 1 else (notebooks or several)[0]
        for one in several:
            if one is kept:
                made.append(one)
            elif kept and not one.notebook:
                kept.files = [*kept.files, *one.files]
            else:
                made.append(
                    one.stopped(
                        f"Its name can be read as that of {name} or of the student with the number "
                        f"{one.owner.others[0]}; a roster that has these numbers tells which "
                        "(--roster)."
                    )
                )
    return made


def named(found: Iterable[Entry], taken: Iterable[str] = ()) -> list[Entry]:
    """Return the entries in the order of their names, each with a name of its own.

    No name is one of `taken`.
    """
    made, seen = [], set(taken)
    for one in sorted(found, key=lambda one: (one.student, one.top)):
        name, number = one.student, 2
        while name in seen:
            name, number = f"{one.student} ({number})", number + 1
        seen.add(name)
        made.append(
            one if name == one.student else replace(one, owner=replace(one.owner, student=name))
        )
    return made


def _chosen(
    student: str,
    assignment: str | None,
    known: tuple[str, ...],
    late: bool,
    files: list[File],
    notice: tuple[str, ...] = (),
) -> Submission:
    """Choose the one notebook of a student's files that is graded, and describe the others."""
    if any(
        len(file.path) > 1 and file.path[0] == assignment for file in files
    ):  # a folder an assignment
        files = [file for file in files if file.path[0] == assignment]
    names = {id(file): shown("/".join(file.path)) for file in files}
    notebooks = [file for file in files if file.path[-1].lower().endswith(".ipynb")]
    notice += (CAME_LATE,) if late else ()
    zips = [file for file in files if file.path[-1].lower().endswith(".zip") and not file.refused]
    if not notebooks and len(zips) == 1:
        packed = names[id(zips[0])]
        try:
            data = zips[0].load()
            with io.BytesIO(data) as file, _archive(file, packed) as archive:
                inside = _visible(list(_zipped(archive, packed, len(data))))
                if any(one.path[-1].lower().endswith(".ipynb") for one in inside):
                    notice += (f"The notebook was in a zip: {packed}.",)
                    return _chosen(student, assignment, known, False, inside, notice)
        except (RefusedError, SubmissionError) as error:
            return Submission(student, packed, None, notice, str(error), known)
    if not notebooks:
        reasons = [file.refused for file in files if file.refused]
        listed = ", ".join([names[id(file)] for file in files][:3]) + (
            " …" if len(files) > 3 else ""
        )
        why = (
            reasons[0]
            if reasons
            else f"No notebook was handed in: {listed} does not end in .ipynb."
        )
        return Submission(student, listed, None, notice, why, known)
    best = max(
        notebooks, key=lambda file: (not file.refused, *_rank(file.path[-1], assignment), file.path)
    )
    others = sorted(names[id(file)] for file in notebooks if file is not best)
    if others:
        listed = ", ".join(others[:5]) + (f" and {len(others) - 5} more" if len(others) > 5 else "")
        notice += (
            f"{len(notebooks)} notebooks were handed in: {names[id(best)]} was graded, {listed} "
            "not.",
        )
    try:
        if best.refused:
            raise RefusedError(best.refused)
        return Submission(student, names[id(best)], best.load(), notice, "", known)
    except RefusedError as error:
        return Submission(student, names[id(best)], None, notice, str(error), known)


def _rank(name: str, assignment: str | None) -> tuple[bool, bool, int]:
    """Rank a file's name: the assignment's own name first, then the latest numbered copy.

    >>> _rank("roofline-2.ipynb", "roofline"), _rank("scratch.ipynb", "roofline")
    ((True, True, 2), (False, False, 0))
    >>> _rank("roofline(1).ipynb", "roofline") == _rank("roofline (1).ipynb", "roofline")
    True
    """
    stem = PurePosixPath(name).stem
    again = _AGAIN.search(stem)
    base = stem[: again.start()] if again else stem
    return (
        bool(assignment and base == assignment),
        bool(assignment and assignment in stem),
        int(again[1] or again[2]) if again else 0,
    )
