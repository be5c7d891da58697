"""Write tables in which no spreadsheet runs a cell, and read those that spreadsheets saved."""

from __future__ import annotations

import csv
import filecmp
import io
import os
import re
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from handful_study.spreadsheet import MOST, escape_cell, unescape_cell

from .marks import limit_marks

_NUMBER = re.compile(r"\d+(\.\d+)?")


class TableError(ValueError):
    """A table that cannot be read, in one sentence that names the file, the row and the column."""

    exit_code = 2


def one_line(text: object) -> str:
    """Return a text on one line, for programs that read a file line by line."""
    return " ".join(str(text).split())


def few(names: Sequence[str], most: int = 5) -> str:
    """Return the first few names, and how many more there are.

    >>> few(["ada", "ben"]), few(["ada", "ben", "cyn"], 1)
    ('ada, ben', 'ada and 2 more')
    """
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def as_csv(
    head: Sequence[str], rows: Iterable[Sequence[object]], mark: bool = False, delimiter: str = ","
) -> bytes:
    """Return CSV in UTF-8, with the line ends of RFC 4180.

    With `mark`, it begins with the byte order mark by which Excel knows UTF-8.  A cell that is a
    float is ours, and stands as the number that it is, with its sign.
    """
    from .html_report import number

    packed = io.BytesIO()
    out = io.TextIOWrapper(packed, "utf-8-sig" if mark else "utf-8", newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\r\n")
    for row in chain([head], rows):
        # A dash alone after a comma is nothing to run, and Moodle's mark for no grade.
        writer.writerow(
            [
                number(cell)
                if isinstance(cell, float)
                else cell
                if place and cell == "-" and delimiter == ","
                else escape_cell(limit_marks(str(cell)[:MOST]), delimiter)
                for place, cell in enumerate(row)
            ]
        )
    out.flush()
    return packed.getvalue()


def read(path: Path, needed: Sequence[str] = ()) -> tuple[list[dict[str, str]], list[str], str]:
    """Read a table as Excel, LibreOffice or an LMS saved it.

    Returns rows by column, the columns, and the delimiter.

    A row that ends early lacks the columns that it does not reach, other than those of `needed`,
    which are empty then.

    Raises
    ------
    TableError
        Where the file is no table, or lacks a column of `needed`.
    """
    name = path.name
    try:
        data = path.read_bytes()
    except OSError as error:
        raise TableError(f"{name} cannot be read: {error.strerror}.") from None
    encoding = _encoding(data)
    head = data.decode(encoding, "replace").lstrip("\r\n").partition("\n")[0]
    delimiter = max(",;\t", key=head.count)
    try:
        lines = _lines(data, encoding, delimiter)
    except csv.Error as error:
        raise TableError(f"{name} is no table of comma-separated values: {error}.") from None
    filled = [
        (place, row) for place, row in enumerate(lines, 1) if any(cell.strip() for cell in row)
    ]
    columns = [unescape_cell(cell, delimiter).strip() for cell in filled[0][1]] if filled else []
    for column in needed:
        if column not in columns:
            raise TableError(f"{name} has no column {column!r}; it needs {', '.join(needed)}.")
    if len(set(columns)) < len(columns):
        twice = max(columns, key=Counter(columns).__getitem__)
        raise TableError(
            f"{name} has two columns {twice[:40]!r}; every column needs a name of its own."
        )
    rows = []
    for place, row in filled[1:]:
        if any(cell.strip() for cell in row[len(columns) :]):
            raise TableError(
                f"{name}, row {place}: it has {len(row)} cells, and there are {len(columns)} "
                "columns."
            )
        found = dict.fromkeys(needed, "") | {
            column: unescape_cell(cell, delimiter)
            # A spreadsheet leaves out empty cells at the end of a row, or adds some.
            for column, cell in zip(columns, row, strict=False)
        }
        rows.append(found | {"": str(place)})  # "": the row's number, as a spreadsheet shows it
    return rows, columns, delimiter


def _encoding(data: bytes) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"  # Excel's "Unicode text"
    try:
        data.decode("utf-8-sig")
        return "utf-8-sig"
    except UnicodeDecodeError:
        return "cp1252"  # Excel's plain "CSV" on a western computer


def _lines(data: bytes, encoding: str, delimiter: str) -> list[list[str]]:
    """Return the cells of each line; of one that many lines have, there is one copy."""
    text = io.TextIOWrapper(io.BytesIO(data), encoding, "replace", newline="")
    alike: dict[str, str] = {}
    old = csv.field_size_limit(10_000_000)
    try:
        return [
            [alike.setdefault(cell, cell) for cell in row]
            for row in csv.reader(text, delimiter=delimiter, strict=False)
        ]
    finally:
        csv.field_size_limit(old)


def points(text: str, most: float, where: str) -> float | None:
    """Parse points as a teacher types them; return None for an empty cell.

    >>> points("1,5", 2, "rubric.csv, row 7"), points(" ", 2, "rubric.csv, row 7")
    (1.5, None)
    >>> points("3", 2, "rubric.csv, row 7")
    Traceback (most recent call last):
    ...
    handful_classroom.tables.TableError: rubric.csv, row 7, column points: '3' is not within
    0 to 2.
    """
    text = text.strip()
    if not text:
        return None
    from .html_report import number

    bare = text.replace(",", ".")
    if not _NUMBER.fullmatch(bare):
        raise TableError(
            f"{where}, column points: {text[:40]!r} is no number; 0 to {number(most)} is allowed."
        )
    if len(bare) > 12 or float(bare) > most:
        raise TableError(
            f"{where}, column points: {text[:40]!r} is not within 0 to {number(most)}."
        )
    return float(bare)


def write_atomically(path: Path, data: bytes, sure: bool = False) -> None:
    """Write a file whole or not at all, unless it holds these bytes already.

    With `sure`, wait until the disk has it.
    """
    if path.exists() and path.read_bytes() == data:
        return
    with replacing(path) as file:
        file.write(data)
        if sure:
            file.flush()
            os.fsync(file.fileno())


def remove_others(found: Iterable[Path], made: Collection[Path]) -> None:
    """Remove files that were not made now, of students who are gone, and folders left empty."""
    for path in [path for path in found if path not in made]:
        path.unlink()
        with suppress(OSError):  # something else is in it
            path.parent.rmdir()


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a file that takes another's place at the end of the block, whole or not at all.

    One that comes out with the same bytes is left as it is.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    made = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        if not (path.exists() and filecmp.cmp(made, path, shallow=False)):
            made.chmod(0o644)
            made.replace(path)
    finally:
        made.unlink(missing_ok=True)
