"""Arbitrary input for all readers of submissions: ``make fuzz COUNT=100000``.

The readers take what a student or a learning platform sent. Each target takes one input and raises
nothing but its own refusal, in one sentence, within time in proportion to the input's length.
`tests/classroom/test_fuzz.py` runs a few hundred inputs of each with all other tests. Inputs are
drawn by Hypothesis: bytes, texts of an alphabet that the reader knows, and what the reader takes
with parts changed, left out, doubled, or repeated many times.
"""

from __future__ import annotations

import argparse
import gc
import io
import itertools
import json
import os
import shutil
import sys
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from handful_classroom import tables
from handful_classroom.grading import class_lists, notebook_reader, scoring, store, submissions
from handful_classroom.grading.notebook_reader import NotebookError
from handful_classroom.grading.roster import Roster
from handful_classroom.grading.submissions import Submission, SubmissionError
from handful_classroom.release.assignment import assignments
from handful_classroom.release.variants import plain_data, solutions
from handful_classroom.sandbox import protocol
from handful_classroom.sandbox.protocol import ProtocolError
from handful_classroom.tables import TableError

VARIANT = 7  # of an assignment
BATCH = 2_000  # inputs of one seed; Hypothesis remembers what it tried, and more would be slow
AT_LEAST, A_BYTE = (
    0.25,
    20e-6,
)  # seconds of processor time that any input may take, and for each of its bytes


@dataclass(frozen=True)
class Target:
    """A reader: inputs for it, what it is asked, and what it may raise."""

    inputs: st.SearchStrategy
    ask: Callable[[object, Path], int]  # the input, and a folder of its own; the bytes that it read
    refusals: tuple[type[Exception], ...]


@dataclass
class Tally:
    """Count what became of the inputs of a target, and the longest processor time of one."""

    ends: Counter
    slowest: float = 0.0


def tried(target: Target, given_one: object, folder: Path, tally: Tally) -> None:
    """Ask the target, and fail where it does not read or refuse its input properly.

    It must raise nothing but its refusals, give a sentence with each refusal, and not take too
    long.
    """
    for _ in range(3):
        began = time.process_time()
        try:
            size = target.ask(given_one, folder)
            end = "read"
        except target.refusals as error:
            size, end = length(given_one), type(error).__name__
            says = str(error)
            assert (
                says and says.endswith((".", "?", "!")) and "\n" not in says and len(says) < 1_000
            ), f"no sentence: {says!r}"
        took = time.process_time() - began
        if took <= AT_LEAST + A_BYTE * size:
            break
        gc.collect()  # what was left by others may have been cleared away within this one's time
    else:
        raise AssertionError(f"{size:,} bytes took {took:.2f} s")
    tally.ends[end] += 1
    tally.slowest = max(tally.slowest, took)


def length(one: object) -> int:
    if isinstance(one, (bytes, str)):
        return len(one)
    return (
        sum(map(length, one))
        if isinstance(one, (list, tuple))
        else length(list(one.items()))
        if isinstance(one, dict)
        else 1
    )


# Inputs


def weighted(*choices: tuple[int, st.SearchStrategy]) -> st.SearchStrategy:
    """Draw one of these strategies, each as often as its weight says.

    `one_of` counts a strategy that is listed twice only once.
    """
    return st.sampled_from([choice for weight, choice in choices for _ in range(weight)]).flatmap(
        lambda choice: choice
    )


def joined(parts: st.SearchStrategy, most: int) -> st.SearchStrategy:
    """Parts one after the other, some of them many times."""
    often = st.sampled_from([*[1] * 8, *range(8), 40, 300, 2_000])
    return st.lists(st.tuples(parts, often), max_size=most).map(
        lambda found: "".join(part * min(count, 20_000 // (len(part) + 1)) for part, count in found)
    )


def changed(whole: st.SearchStrategy, parts: st.SearchStrategy) -> st.SearchStrategy:
    """Draw a text with up to four places cut out and something else put there instead."""
    place = st.integers(0, 10_000)

    def edit(text, edits):
        for start, many, part in edits:
            start %= len(text) + 1
            text = text[:start] + part + text[start + many % 40 :]
        return text

    return st.builds(edit, whole, st.lists(st.tuples(place, place, parts), max_size=4))


LETTERS = st.text(
    st.sampled_from(
        "abcABC012 _-.,;:'\"\\/\n\t\r\0\u0301\u0316\u00e9\u202e\ufeff\ud800\U0001f600İ=@"
    ),
    max_size=12,
)
WORDS = st.one_of(LETTERS, st.text(max_size=12))
MARKS = st.sampled_from(
    [
        *'{}[],:"\\- \n\ufeff',
        '\\"',
        "\\u0041",
        "\\ud800",
        "true",
        "null",
        "NaN",
        "-Infinity",
        "1e999",
        "9" * 299,
        "9" * 305,
        "0.5",
        '"request":',
        '"cell":',
        '"status":',
        '"value":',
        '"says":',
        '"line":',
        '"cells":',
        '"cell_type":',
        '"source":',
        '"code"',
        '"markdown"',
        '"metadata":',
        '"handful":',
        '"student":',
    ]
)
# Hypothesis takes milliseconds for a tree of JSON: most values are taken from a list, and some are
# such trees.
TREES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), LETTERS),
    lambda inside: st.one_of(
        st.lists(inside, max_size=3), st.dictionaries(LETTERS, inside, max_size=3)
    ),
    max_leaves=5,
).map(json.dumps)
SOME = st.sampled_from(
    [
        "0",
        "1",
        "2",
        "-1",
        "99999",
        "100000",
        "1.5",
        "-0",
        "1e5",
        "1e999",
        "NaN",
        "Infinity",
        "9" * 299,
        "9" * 305,
        "true",
        "null",
        '""',
        '"a"',
        '"\\n\\u0041"',
        '"\\ud800"',
        '"\\ud83d\\ude00"',
        '"0x7fffffff"',
        "[]",
        "{}",
        "[1,[2,[3]]]",
        '{"a":{"b":[]}}',
        '{"a":1,"a":2}',
        "[" * 19 + "]" * 19,
        "[" * 40 + "]" * 40,
        "[" * 40,
        '"' + "a" * 400 + '"',
        '"\u202e\u0301\u0316"',
        "[" + ",".join("0" * 500) + "]",
    ]
)
VALUES = weighted((6, SOME), (2, LETTERS.map(json.dumps)), (1, TREES))


def written(pairs: list[tuple[str, str]]) -> str:
    """Write an object of these names and values, each of which is JSON already."""
    return "{" + ",".join(f'"{name}":{value}' for name, value in pairs) + "}"


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def mixed(texts: st.SearchStrategy, parts: st.SearchStrategy) -> st.SearchStrategy:
    """Draw bytes: any, some of these parts, or one of these texts.

    The texts come as they are, with parts changed, and with bytes changed.
    """
    return weighted(
        (1, st.binary(max_size=60)),
        (2, joined(parts, 10).map(encoded)),
        (1, st.text(max_size=30).map(encoded)),
        (8, texts.map(encoded)),
        (4, changed(texts, parts).map(encoded)),
        (2, changed(texts.map(encoded), st.binary(max_size=4))),
    )


STATUS = weighted(
    (4, st.sampled_from([f'"{status}"' for status in protocol.STATUSES])), (1, VALUES)
)
FIELD = st.one_of(
    st.tuples(st.just("value"), VALUES),
    st.tuples(st.just("status"), STATUS),
    st.tuples(st.sampled_from(["says", "line", "cell", "request", ""]), VALUES),
)
REPLY = st.builds(
    lambda kind, number, fields: written([(kind, number), *fields]),
    st.sampled_from(["request", "cell", "request"]),
    weighted((5, st.sampled_from(["0", "7", "99999"])), (1, VALUES)),
    st.one_of(
        st.lists(FIELD, max_size=4),
        st.lists(FIELD, max_size=4, unique_by=lambda field: field[0]),
        st.builds(
            lambda status, value, says: [("status", status), ("value", value), ("says", says)],
            STATUS,
            VALUES,
            LETTERS.map(json.dumps),
        ),
        st.builds(
            lambda says, line: [("status", '"error"'), ("says", says), ("line", line)],
            LETTERS.map(json.dumps),
            VALUES,
        ),
    ),
)
LINES = mixed(REPLY, MARKS)

SOURCE = st.one_of(
    LETTERS,
    joined(
        st.sampled_from(
            [
                "student",
                " = ",
                '"ada"',
                "'",
                "\n",
                "\r\n",
                "#",
                "**Your answer: why**",
                "**Your answer: ",
                "x",
                " ",
                "\t",
                "\\",
                "\u0301",
                "\ud800",
            ]
        ),
        6,
    ),
)
SOURCES = weighted(
    (5, SOURCE.map(json.dumps)), (5, st.lists(SOURCE, max_size=3).map(json.dumps)), (1, VALUES)
)
CELL = weighted(
    (1, VALUES),
    (
        20,
        st.builds(
            lambda kind, source: written([("cell_type", kind), ("source", source)]),
            st.sampled_from(
                [
                    '"code"',
                    '"code"',
                    '"code"',
                    '"markdown"',
                    '"markdown"',
                    '"raw"',
                    '"heading"',
                    "null",
                ]
            ),
            SOURCES,
        ),
    ),
)
CELLS = st.lists(CELL, max_size=4).map(lambda cells: f"[{','.join(cells)}]")
OWNER = st.one_of(VALUES, LETTERS.map(json.dumps)).map(
    lambda student: '{"handful":{"student":' + student + "}}"
)
NOTEBOOK = st.builds(
    lambda cells, more: written([("cells", cells), *more]),
    weighted((8, CELLS), (1, VALUES)),
    st.lists(
        st.one_of(
            st.tuples(st.just("metadata"), weighted((3, OWNER), (1, VALUES))),
            st.tuples(st.sampled_from([*["nbformat"] * 9, "worksheets"]), VALUES),
        ),
        max_size=2,
    ),
)
DEEP = st.builds(
    lambda opens, many: opens * many,
    st.sampled_from(["[", '{"a":', '{"cells":[', "[["]),
    st.integers(0, 3_000),
)
NOTEBOOKS = weighted(
    (20, mixed(NOTEBOOK, MARKS)),
    (1, DEEP.map(encoded)),
    (
        1,
        st.builds(
            lambda start, rest: start + rest,
            st.sampled_from([b"PK", b"%PDF", b"\x89PNG", b"<", b"\xef\xbb\xbf"]),
            st.binary(max_size=20),
        ),
    ),
)

NAME = st.one_of(
    WORDS,
    joined(
        st.sampled_from(
            [
                "ada",
                "_",
                "12",
                "LATE",
                "_assignsubmission_",
                "file",
                "onlinetext",
                "_file_",
                "-1",
                " (2)",
                ".ipynb",
                ".",
                "..",
                "/",
                "\\",
                "C:",
                "submitted",
                "roofline",
                "__MACOSX",
                "\u0301",
                "\u202e",
                "\ud800",
                "\n",
                " ",
                "İ",
            ]
        ),
        8,
    ),
)
PATH = st.lists(NAME, min_size=1, max_size=4).map(tuple)

COLUMN = st.one_of(
    st.sampled_from(
        [
            "student",
            "Student",
            "ID",
            "name",
            "Section",
            "username",
            "SIS Login ID",
            "email",
            "first name",
            "Last name",
            "full name",
            "id",
            "points",
            "comment",
            "Student, Test",
            "Points Possible",
            "\ufeffstudent",
            "Lovelace, Ada",
            "Ada Lovelace",
            "12",
        ]
    ),
    WORDS,
)
SIGN = st.sampled_from(
    [
        ",",
        ";",
        "\t",
        "\n",
        "\r\n",
        "\r",
        '"',
        '""',
        "'",
        "=",
        " ",
        "\0",
        "student",
        "ada",
        "\u0301\u0316",
        "\ud800",
    ]
)
HEADS = st.lists(
    st.sampled_from(
        [
            "student",
            "Student",
            "ID",
            "name",
            "Section",
            "username",
            "SIS Login ID",
            "email",
            "first name",
            "last name",
            "points",
            "comment",
        ]
    ),
    min_size=1,
    max_size=5,
    unique_by=str.lower,
)
ROWS = st.builds(
    lambda between, end, head, rows: end.join(between.join(row) for row in [*head, *rows]),
    st.sampled_from(",,,;\t"),
    st.sampled_from(["\n", "\r\n"]),
    weighted((4, st.tuples(HEADS)), (1, st.just(()))),
    st.lists(st.lists(COLUMN, max_size=5), max_size=6),
)
TABLES = weighted(
    (12, mixed(ROWS, SIGN)),
    (1, st.one_of(ROWS, joined(SIGN, 10)).map(lambda text: text.encode("utf-16", "surrogatepass"))),
    (
        2,
        st.builds(
            lambda column, rows: encoded(
                f"student,{column}\n" + "\n".join(f"{i},{column}" for i in range(rows))
            ),
            COLUMN,
            st.integers(0, 60),
        ),
    ),
)


# What they are asked


def ask_reply(line: bytes, folder: Path) -> int:
    kind, number, said = protocol.read(line)
    assert (
        kind in ("cell", "request")
        and type(number) is int
        and (said is None or len(said.says) <= protocol.LONGEST_SAYS)
    )
    return len(line)


def ask_parse(line: bytes, folder: Path) -> int:
    assert type(protocol.parse(line)) is dict
    return len(line)


def ask_place(path: tuple[str, ...], folder: Path) -> int:
    found = submissions.owner_of(path)
    for name in (found.student, *found.known):
        assert (
            name
            and len(name) <= 2 * submissions.LONGEST_NAME + 1
            and "\n" not in name
            and name.encode()
        )
    assert found.rest and all(type(part) is str for part in found.rest)
    return length(path)


def shown_all(path: Path, roster: Path | None = None) -> None:
    """Read a class, and look at each submission."""
    with submissions.opened(path, "roofline", roster and Roster.read(roster)) as found:
        read = [one() for one in found]
    assert len({one.student for one in read}) == len(read)
    for one in read:
        assert (
            type(one) is Submission
            and one.student.encode()
            and (one.data is None) >= bool(one.refused)
        )
        assert all(
            "\n" not in says and says.encode() is not None
            for says in (one.name, one.refused, *one.notice)
        )


def empty(folder: Path) -> Path:
    """Make a folder with nothing in it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def ask_folder(files: list[tuple[tuple[str, ...], bytes, str]], folder: Path) -> int:
    """Ask about a folder of these files, as far as a file system takes them.

    Links and pipes may be among them.
    """
    root = empty(folder / "class")
    for path, data, kind in files:
        try:
            parts = [
                part.encode("utf-8", "surrogatepass")[:200].replace(b"/", b"-").replace(b"\0", b"-")
                or b"x"
                for part in path
            ]
            if any(part in (b".", b"..") for part in parts):
                continue
            where = os.path.join(os.fsencode(root), *parts)
            os.makedirs(os.path.dirname(where), exist_ok=True)
            if kind == "file":
                with open(
                    where, "xb"
                ) as file:  # never into a pipe of the same name, which would wait for a reader
                    file.write(data)
            elif kind == "link":
                os.symlink(b"/etc/passwd", where)
            elif kind == "pipe":
                os.mkfifo(where)
            else:
                os.makedirs(where, exist_ok=True)
        except OSError:  # two of them want one place
            continue
    shown_all(root)
    return length(files)


FOLDERS = st.lists(
    st.tuples(
        PATH,
        st.binary(max_size=8),
        st.sampled_from(["file", "file", "file", "link", "pipe", "folder"]),
    ),
    max_size=5,
)


def packed(files: list[tuple[str, bytes, dict]], comment: bytes) -> bytes:
    """Make a zip of these files, with what its directory says of them."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # two files of one name
        for name, data, more in files:
            info = zipfile.ZipInfo("x")
            # Its length has two bytes.
            info.filename = name.encode("utf-8", "replace")[:65_535].decode("utf-8", "ignore")
            for key, value in more.items():
                setattr(info, key, value)
            try:
                archive.writestr(info, data)
            except (ValueError, zipfile.LargeZipFile, RuntimeError, NotImplementedError):
                continue
        archive.comment = comment
    return made.getvalue()


def damaged(data: bytes, edits: list[tuple[int, bytes]]) -> bytes:
    """Return bytes with some of them written over.

    They are counted from the end, where the directory of a zip is.
    """
    data = bytearray(data)
    for place, part in edits:
        start = max(0, len(data) - 1 - place % (len(data) + 1))
        data[start : start + len(part)] = part
    return bytes(data)


INFO = st.fixed_dictionaries(
    {},
    optional={
        "compress_type": st.sampled_from([0, 8]),
        "external_attr": st.sampled_from([0, 0o120777 << 16, 0o40755 << 16, 0xFFFFFFFF]),
        "create_system": st.integers(0, 255),
        "extra": st.one_of(
            st.just(b""), st.binary(max_size=12), st.just(b"\x01\x00\x10\x00" + b"\xff" * 16)
        ),
    },
)
BYTES = st.one_of(
    st.binary(min_size=1, max_size=4),
    st.sampled_from(
        [
            b"\0",
            b"\xff" * 4,
            b"\0" * 4,
            b"PK\x05\x06",
            b"PK\x06\x06",
            b"PK\x06\x07",
            b"PK\x01\x02",
            b"PK\x03\x04",
            b"\x01\0",
        ]
    ),
)
ZIPS = st.builds(
    damaged,
    st.builds(
        packed,
        st.lists(
            st.tuples(st.one_of(NAME, PATH.map("/".join)), st.binary(max_size=30), INFO), max_size=3
        ),
        st.one_of(st.just(b""), st.binary(max_size=6)),
    ),
    st.one_of(st.just([]), st.lists(st.tuples(st.integers(0, 400), BYTES), max_size=4)),
)


def ask_zip(data: bytes, folder: Path) -> int:
    (folder / "class.zip").write_bytes(data)
    shown_all(folder / "class.zip")
    return len(data)


def ask_notebook(data: bytes, folder: Path) -> int:
    found = notebook_reader.read(data, frozenset(), {"why": "Nothing."})
    assert all(type(cell) is str for cell in found.cells) and all(
        len(text) <= notebook_reader.LONGEST_TEXT for text in found.texts.values()
    )
    assert found.drawn_for is None or (
        found.drawn_for
        and found.drawn_for.encode()
        and len(found.drawn_for) <= notebook_reader.LONGEST_ID
    )
    return len(data)


def ask_roster(data: bytes, folder: Path) -> int:
    (folder / "roster.csv").write_bytes(data)
    found = Roster.read(folder / "roster.csv")
    assert len(set(found.students)) == len(found.students) and set(
        filter(None, [*found.ids.values(), *found.called.values()])
    ) <= set(found.students)
    assert set(found.known()) == set(found.students)
    files = [
        submissions.File((name,), lambda: b"{}")
        for name in ("ada.ipynb", "lovelaceada_LATE_12_67_roofline.ipynb", "x.ipynb")
    ]
    read = [one() for one in found.matched(submissions._by_student(files, "roofline", found))]
    assert len(read) >= len(found.students)
    return len(data)


def ask_roster_text(data: bytes, folder: Path) -> int:
    Roster.of(data.decode("utf-8", "replace"))
    return len(data)


def ask_table(data: bytes, folder: Path) -> int:
    (folder / "table.csv").write_bytes(data)
    rows, columns, delimiter = tables.read(folder / "table.csv")
    assert all(set(row) <= {*columns, ""} for row in rows) and delimiter in ",;\t"
    return len(data)


def ask_class_list(data: bytes, folder: Path) -> int:
    (folder / "list.csv").write_bytes(data)
    found = class_lists.kept(folder, folder / "list.csv")
    for student in [*found, "ada_12"]:
        class_lists.listed_as(found, student)
    return len(data)


# Answers, judged


@cache
def solved() -> list[tuple[str, str, list[str]]]:
    """Return each question of each assignment with its right answers, for one variant.

    The answers are those to all requests, as JSON.
    """
    found = []
    for name, one in assignments().items():
        right, asked = solutions(one, VARIANT), scoring.requests(one, VARIANT)
        for question in [
            question for question in one.questions.values() if question.kind != "written"
        ]:
            own = [request for request in asked if request["question"] == question.name]
            thing = right[question.name]
            made = [
                str(thing)
                if "text" in request
                else thing(**request["arguments"])
                if "call" in request
                else thing
                for request in own
            ]
            found.append((name, question.name, [json.dumps(plain_data(value)) for value in made]))
    return found


def places(value: object, path: tuple = ()) -> list[tuple]:
    """Return the paths to all parts of a value."""
    below = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [path, *(place for key, part in below for place in places(part, (*path, key)))]


def edited(value: object, edits: list[tuple[int, str, str]]) -> object:
    """Return a value with parts of it replaced, left out, or put in again many times."""
    for number, how, part in edits:
        found = places(value)
        path = found[number % len(found)]
        holder = value
        for key in path[:-1]:
            holder = holder[key]
        if how == "replace":
            try:
                new = protocol.parse(f'{{"value":{part}}}'.encode("utf-8", "replace"))["value"]
            except ProtocolError:  # which never comes as far as this
                continue
            if path:
                holder[path[-1]] = new
            else:
                value = new
        elif path and how == "drop":
            del holder[path[-1]]
        elif path and isinstance(holder, list):
            holder[path[-1] : path[-1]] = [holder[path[-1]]] * (
                5_000 // len(found) if how == "many" else 1
            )
    return value


def ask_judge(one: tuple[int, list[tuple[int, str, str, list]]], folder: Path) -> int:
    """Ask the judge about one question of one assignment.

    The answers are right but for some edits, or say something else.
    """
    number, answers = one
    name, asked, right = solved()[number % len(solved())]
    assignment = assignments()[name]
    made = [protocol.Answer("value", json.loads(value)) for value in right]
    for place, status, says, edits in answers:
        value = edited(made[place % len(made)].value, edits)
        made[place % len(made)] = protocol.Answer(
            status, value if status == "value" else None, protocol.printable(says)
        )
    own = iter(made)
    missing = protocol.Answer("missing", None, "It is left empty.")
    given = [
        next(own) if request["question"] == asked else missing
        for request in scoring.requests(assignment, VARIANT)
    ]
    result = next(one for one in scoring.judge(assignment, VARIANT, given) if one["name"] == asked)
    assert result["status"] in scoring.WORST or result["status"] == "ok"
    assert 0 <= result["points"] <= result["possible"] and len(result["says"]) < 3_000
    store.canonical(result)
    return 10_000 + len(json.dumps([answer.value for answer in given]))


FORMULA = joined(
    st.sampled_from(
        [
            "x",
            "B",
            "n",
            "N",
            "P",
            "W",
            "*",
            "**",
            "/",
            "-",
            "+",
            "(",
            ")",
            "1",
            "0",
            "9",
            ".5",
            "1e308",
            "1e-308",
            "max(",
            "min(",
            "ceil(",
            "log(",
            "sqrt(",
            "Max(",
            ",",
            " ",
            "^",
            "e",
            "9**9**9",
            "\u221e",
            "inf",
            "nan",
            "**-1",
            "/0",
            "\ud800",
        ]
    ),
    8,
).map(json.dumps)
EDITS = st.lists(
    st.tuples(
        st.integers(0, 10_000),
        st.sampled_from(["replace", "replace", "drop", "twice", "many"]),
        weighted((4, VALUES), (1, FORMULA)),
    ),
    max_size=3,
)
ANSWERS = st.tuples(
    st.integers(0, 10_000),
    st.lists(
        st.tuples(
            st.integers(0, 50),
            st.sampled_from([*["value"] * 6, *protocol.STATUSES]),
            LETTERS,
            EDITS,
        ),
        min_size=1,
        max_size=3,
    ),
)


TARGETS = {
    "reply": Target(LINES, ask_reply, (ProtocolError,)),
    "reply-json": Target(LINES, ask_parse, (ProtocolError,)),
    "place": Target(PATH, ask_place, ()),
    "folder": Target(FOLDERS, ask_folder, (SubmissionError,)),
    "zip": Target(ZIPS, ask_zip, (SubmissionError,)),
    "notebook": Target(NOTEBOOKS, ask_notebook, (NotebookError,)),
    "judge": Target(ANSWERS, ask_judge, ()),
    "roster": Target(TABLES, ask_roster, (SubmissionError,)),
    "roster-text": Target(TABLES, ask_roster_text, (SubmissionError,)),
    "table": Target(TABLES, ask_table, (TableError,)),
    "class-list": Target(TABLES, ask_class_list, (TableError,)),
}


@contextmanager
def in_memory():
    """Make a folder in memory, where the system has one."""
    with tempfile.TemporaryDirectory(
        dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None, prefix="handful-fuzz-"
    ) as folder:
        yield Path(folder)


def run(
    name: str,
    count: int,
    first: int = 0,
    progress: Callable[[int, Tally], None] = lambda done, tally: None,
) -> Tally:
    """Try `count` inputs of a target, in batches of a seed each.

    Raises what Hypothesis makes of the first input that fails.
    """
    target, tally = TARGETS[name], Tally(Counter())
    with in_memory() as folder:
        for number in itertools.count(first):

            @seed(number)
            @settings(
                max_examples=min(BATCH, count - tally.ends.total()),
                database=None,
                deadline=None,
                suppress_health_check=list(HealthCheck),
                phases=[Phase.generate, Phase.shrink],
                print_blob=False,
            )
            @given(target.inputs)
            def batch(one):
                tried(target, one, folder, tally)

            batch()
            progress(tally.ends.total(), tally)
            if tally.ends.total() >= count:
                return tally


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "targets", nargs="*", metavar="TARGET", help=f"by default all: {', '.join(TARGETS)}"
    )
    parser.add_argument(
        "--count", type=int, default=100_000, metavar="N", help="inputs of each; 100,000 by default"
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=0,
        metavar="N",
        help="the first of the seeds, so that another run tries other inputs",
    )
    options = parser.parse_args()
    if unknown := set(options.targets) - set(TARGETS):
        parser.error(
            f"there is no target {', '.join(sorted(unknown))}; there are {', '.join(TARGETS)}"
        )
    for name in options.targets or TARGETS:
        began = said = time.monotonic()

        def progress(done: int, tally: Tally, name=name, began=began) -> None:
            nonlocal said
            now = time.monotonic()
            if now - said > 10 and done < options.count:
                said = now
                print(
                    f"{name}: {done:,} of {options.count:,}, "
                    f"{(now - began) * (options.count - done) / done:.0f} s left",
                    file=sys.stderr,
                    flush=True,
                )

        tally = run(name, options.count, options.seed, progress)
        ends = ", ".join(f"{end} {many:,}" for end, many in tally.ends.most_common())
        print(
            f"{name}: {tally.ends.total():,} inputs in {time.monotonic() - began:.0f} s ({ends}); "
            f"the slowest took {1000 * tally.slowest:.1f} ms",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
