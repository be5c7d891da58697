"""Facts: numbers about chips, models, prices and measurements, each row with its source.

A table is a CSV file beside this module, with units in its column names.  It is read and checked on
first use; nothing is read at import.  `schema.py` declares what a table may hold.

>>> h100 = get("accelerators", "H100 SXM")
>>> h100["hbm_bandwidth_bytes_per_s"]
3350000000000.0
>>> h100.verified, h100.source.startswith("aiconfigurator-core")
(True, True)
"""

from __future__ import annotations

import csv
import math
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

from ..nearest import nearest
from .schema import CHECKS, NO_SOURCE, TABLES

__all__ = ["FactsError", "Row", "Table", "get", "load", "tables"]

HERE = Path(__file__).parent


class FactsError(ValueError):
    """A row that the table does not allow, or a name that it does not have."""

    exit_code = 2


class Row(dict[str, Any]):
    """A row of a table: column name to value; None where the file is empty.

    An unknown column raises with the nearest ones.

    >>> get("accelerators", "H100 SXM")["hbm_bandwidth"]
    Traceback (most recent call last):
    ...
    handful.facts.FactsError: The table accelerators has no column 'hbm_bandwidth'; the nearest are:
    hbm_bandwidth_bytes_per_s.
    """

    def __init__(self, values: dict[str, Any], table: str, line: int) -> None:
        super().__init__(values)
        self.table, self.line = table, line

    def __missing__(self, column: str) -> NoReturn:
        raise FactsError(
            f"The table {self.table} has no column {column!r}; the nearest are: "
            f"{nearest(column, self)}."
        )

    @property
    def name(self) -> str:
        """Return the name of the row, which is unique in its table."""
        return str(self["name"])

    @property
    def source(self) -> str:
        """Return the document, file or address that the row was read from."""
        return str(self["source"])

    @property
    def verified(self) -> bool:
        """Return False where the row holds something that was not found in what was read."""
        return bool(self.get("verified", True))


class Table(tuple[Row, ...]):
    """The rows of a table, in the order of the file.

    >>> len(load("accelerators")) > 15
    True
    """

    name: str

    def get(self, name: str) -> Row:
        """Return the row of that name, in capitals or not.

        An unknown name raises FactsError, which gives the nearest ones.
        """
        wanted = str(name).strip().lower()
        for row in self:
            if row.name.lower() == wanted:
                return row
        raise FactsError(
            f"The table {self.name} has no row {name!r}; the nearest are: "
            f"{nearest(name, [row.name for row in self])}."
        )

    @property
    def names(self) -> list[str]:
        """Return the names of the rows."""
        return [row.name for row in self]


def tables() -> list[str]:
    """Return the names of the tables.

    >>> "accelerators" in tables()
    True
    """
    return sorted(TABLES)


def get(table: str, name: str) -> Row:
    """Return the row of that name in that table.

    Raises FactsError where there is no such table or row.

    >>> get("accelerators", "H100")
    Traceback (most recent call last):
    ...
    handful.facts.FactsError: The table accelerators has no row 'H100'; the nearest are: H100 SXM...
    """
    return load(table).get(name)


def load(table: str, path: str | Path | None = None) -> Table:
    """Return the rows of a table, each checked.

    They are read from `path` instead of the book's own file where it is given.

    Raises `FactsError`, naming file, line, row and column and what is allowed, at the first cell
    that is wrong.

    >>> load("chips")
    Traceback (most recent call last):
    ...
    handful.facts.FactsError: There is no table 'chips'; there are: accelerators, calculators, ...
    """
    if table not in TABLES:
        raise FactsError(f"There is no table {table!r}; there are: {', '.join(tables())}.")
    return _own(table) if path is None else _read(table, Path(path))


@cache
def _own(table: str) -> Table:
    return _read(table, HERE / f"{table}.csv")


def _read(table: str, path: Path) -> Table:
    schema = TABLES[table]
    with path.open(newline="", encoding="utf-8") as file:
        lines = csv.reader(file)
        header = next(lines, [])
        _check_header(path, schema, header)
        rows: list[Row] = []
        seen: dict[str, int] = {}
        for cells in lines:
            if not cells:
                continue
            row = _row(table, path, lines.line_num, header, cells)
            if row.name in seen:
                raise FactsError(
                    f"{path.name}, line {lines.line_num}, row {row.name!r}, column name: this "
                    f"name stands on line {seen[row.name]} already; each name is allowed once."
                )
            seen[row.name] = lines.line_num
            rows.append(row)
    result = Table(rows)
    result.name = table
    return result


def _check_header(path: Path, schema: dict[str, str], header: list[str]) -> None:
    twice = sorted({column for column in header if header.count(column) > 1})
    if twice:
        raise FactsError(
            f"{path.name}, line 1: the column {twice[0]!r} stands there twice; once is allowed."
        )
    unknown = [column for column in header if column not in schema]
    if unknown:
        raise FactsError(
            f"{path.name}, line 1: the column {unknown[0]!r} is not allowed; the nearest are: "
            f"{nearest(unknown[0], schema)}."
        )
    missing = [column for column in schema if column not in header]
    if missing:
        raise FactsError(f"{path.name}, line 1: the column {missing[0]!r} is missing.")


def _row(table: str, path: Path, line: int, header: list[str], cells: list[str]) -> Row:
    name = dict(zip(header, cells, strict=False)).get("name", "").strip()
    where = f"{path.name}, line {line}, row {name!r}"
    if len(cells) != len(header):
        raise FactsError(
            f"{where}: {len(cells)} cells, but {len(header)} are allowed, one a column."
        )
    values = {}
    for column, cell in zip(header, cells, strict=True):
        problem, values[column] = _cell(TABLES[table][column], cell.strip())
        if problem is None and column == "source" and cell.strip().lower() in NO_SOURCE:
            problem = (
                f"got {cell.strip()!r}, which is no source; a named document, file or address is "
                "allowed"
            )
        if problem:
            raise FactsError(f"{where}, column {column}: {problem}.")
    row = Row(values, table, line)
    wrong = CHECKS[table](row) if table in CHECKS else None
    if wrong:
        raise FactsError(f"{where}, column {wrong[0]}: {wrong[1]}.")
    return row


def _number(cell: str) -> float | None:
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) and "_" not in cell else None


def _cell(kind: str, cell: str) -> tuple[str | None, float | str | None]:
    """Return what is wrong with a cell (or None), and its value."""
    required, kind = kind.endswith("!"), kind.rstrip("!")
    if not cell:
        return ("is empty; " + ALLOWED[kind] + " is allowed" if required else None), None
    if kind == "text":
        return None, cell
    if kind == "flag":
        return (
            None if cell in ("yes", "no") else f"got {cell!r}; {ALLOWED[kind]} is allowed"
        ), cell == "yes"
    value = _number(cell)
    if (
        value is None
        or not {
            "positive": value > 0,
            "nonnegative": value >= 0,
            "number": True,
            "count": value > 0 and value == int(value),
            "whole": value >= 0 and value == int(value),
        }[kind]
    ):
        return f"got {cell!r}; {ALLOWED[kind]} is allowed", None
    return None, int(value) if kind in ("count", "whole") else value


ALLOWED = {
    "text": "a text",
    "flag": "yes or no",
    "number": "a number",
    "positive": "a number above 0",
    "nonnegative": "a number from 0 up",
    "count": "a whole number above 0",
    "whole": "a whole number from 0 up",
}
