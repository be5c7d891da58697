"""Tests that reading a student's text takes time in proportion to its length.

Twice the text takes about twice the time. Every regular expression of the classroom, and of what
the classroom imports, is found in the sources and has to be listed either in `MEETS`, with attacks
on it, or in `NEVER`, with the reason why no student's text reaches it; so has every call of
`unicodedata.normalize`, which takes quadratic time on combining marks.
"""

from __future__ import annotations

import ast
import gc
import itertools
import json
import math
import random
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from handful_classroom import build_command, html_report, tables
from handful_classroom.grading import (
    adjustments,
    class_lists,
    grade,
    grades,
    notebook_reader,
    rubric,
    scoring,
    store,
    submissions,
)
from handful_classroom.grading.roster import Roster
from handful_classroom.release.assignment import assignments
from handful_classroom.reports import feedback, similar, tokens
from handful_classroom.sandbox import protocol, sandbox_process
from handful_classroom.sandbox.protocol import Answer, Limits, ProtocolError
from handful_study import custom_scorers, expressions, pipeline_schedules, spreadsheet, student

LIB = Path(__file__).resolve().parents[2] / "lib"
ROOFLINE = assignments()["roofline"]
MOST = 1_000_000  # characters
LEAST = 0.03  # seconds of processor time below which nothing is concluded
RATIO = 3.0  # linear is 2, quadratic 4; the rest is for caches and noise


# Measuring


def seconds(work: Callable, text, times: int = 1) -> float:
    """Return the least processor time of several runs; refusals are as good as results."""
    found = []
    gc.disable()
    try:
        for _ in range(times):
            began = time.process_time()
            with suppress(ValueError):  # a refusal, which each of our own is
                work(text)
            found.append(time.process_time() - began)
    finally:
        gc.enable()
    return min(found)


def steepest(work: Callable, make: Callable[[int], object], most: int = MOST) -> str:
    """Say where doubling a text takes more than about twice the time; "" where it never does.

    Sizes are doubled from small ones on, so that a quadratic function is found out before it takes
    minutes.
    """
    sizes = [most >> i for i in range(int(math.log2(most / 2000)) + 1)][::-1]
    before = 0.0
    for size in sizes:
        now = seconds(work, make(size))
        if (
            now > LEAST and now > RATIO * before
        ):  # measured again, and over two doublings: more memory than before makes one step
            for _ in range(3):
                quarter, before, now = (seconds(work, make(size // part), 2) for part in (4, 2, 1))
                if now <= max(LEAST, RATIO * before) or before <= RATIO * quarter:
                    break
            else:
                return (
                    f"{size:,} characters take {now:.2g} s, {now / before:.1f} times as long "
                    "as half of them"
                )
        before = now
    return ""


def pump(part: str, before: str = "", after: str = "") -> Callable[[int], str]:
    """Texts of about a given length: a part over and over, between a beginning and an end."""
    return lambda size: (
        before + part * max(1, (size - len(before) - len(after)) // len(part)) + after
    )


def test_a_quadratic_function_is_noticed_and_a_linear_one_is_not():
    assert "times as long" in steepest(
        lambda text: [text[i:].count("x") for i in range(0, len(text), 10)], pump("a")
    )
    assert steepest(lambda text: [letter for letter in text], pump("a")) == ""


# The regular expressions that there are

CALLS = {"compile", "match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer"}


def module_name(path: Path) -> str:
    parts = path.relative_to(LIB).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def reached(start: str) -> dict[str, ast.Module]:
    """Return the modules of ours that are imported by those whose names begin with `start`.

    They come with their syntax trees; indirect imports count, and so do the modules of that name.
    """
    paths = {module_name(path): path for path in LIB.rglob("*.py")}
    found, todo = {}, [name for name in paths if name.startswith(start)]
    while todo:
        name = todo.pop()
        if name in found:
            continue
        found[name] = tree = ast.parse(paths[name].read_text("utf-8"))
        package = name.split(".") if paths[name].name == "__init__.py" else name.split(".")[:-1]
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                todo += [alias.name for alias in node.names if alias.name in paths]
            elif isinstance(node, ast.ImportFrom):
                base = ".".join(
                    [
                        *(package[: len(package) - node.level + 1] if node.level else []),
                        *(node.module or "").split("."),
                    ]
                ).strip(".")
                todo += [
                    one
                    for one in (base, *(f"{base}.{alias.name}" for alias in node.names))
                    if one in paths
                ]
    return found


def uses(name: str, tree: ast.Module) -> list[str]:
    """Return each call of `re` and of `unicodedata.normalize` by name.

    The name is what the call is assigned to or else its function; several calls there are numbered.
    """
    found: list[str] = []

    def visit(node: ast.AST, scope: str) -> None:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            scope = node.name
        elif isinstance(node, ast.Assign) and not scope:
            scope = ", ".join(map(ast.unparse, node.targets)).strip("()")
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
        ):
            called = (node.func.value.id, node.func.attr)
            if called == ("unicodedata", "normalize") or (called[0] == "re" and called[1] in CALLS):
                found.append(f"{name.removeprefix('handful.')} {scope}")
        elif isinstance(node, ast.ImportFrom) and node.module in ("re", "unicodedata", "regex"):
            raise AssertionError(
                f"{name} imports names out of {node.module}, where this test does not see them; "
                f"write import {node.module}."
            )
        for child in ast.iter_child_nodes(node):
            visit(child, scope)

    visit(tree, "")
    counted = {one: itertools.count(1) for one in found}
    return [f"{one} {next(counted[one])}" if found.count(one) > 1 else one for one in found]


SOURCE = "reads the source of an assignment, which the teacher writes"
BOOK = "reads the book's own sources and names"
NEVER = {
    "handful_classroom.release.assignment read_text": SOURCE,
    "handful_classroom.grading.adjustments _AMOUNT": "reads the teacher's table",
    "handful_classroom.grading.adjustments _RULE": "reads the teacher's table",
    "handful_classroom.release.cells _FENCE": SOURCE,
    "handful_classroom.release.cells _BEGIN, _END, _INLINE 1": SOURCE,
    "handful_classroom.release.cells _BEGIN, _END, _INLINE 2": SOURCE,
    "handful_classroom.release.cells _BEGIN, _END, _INLINE 3": SOURCE,
    "handful_classroom.release.cells _ANSWER, _CLOSED 1": SOURCE,
    "handful_classroom.release.cells _ANSWER, _CLOSED 2": SOURCE,
    "handful_classroom.release.cells _block": SOURCE,
    "handful_classroom.release.cells cut": SOURCE,
    "handful_classroom.release.checks _number": SOURCE,
    "handful_classroom.release.checks _letters": SOURCE,
    "handful_classroom.exports.formats regions 1": SOURCE,
    "handful_classroom.exports.formats regions 2": SOURCE,
    "handful_classroom.reports.tokens _PARAMETERS": "reads the notebook as it was released",
    "handful_classroom.reports.tokens fixed": "reads the notebook as it was released",
    "handful_classroom.sandbox.sandbox_process _await_start": (
        "reads what bubblewrap says of itself before anything of a student's runs, at most 4,096 "
        "bytes"
    ),
    "handful_classroom.sandbox.memory _MAPPED": "reads what the kernel says of one process",
    "handful_classroom.sandbox.memory _SHARE": "reads what the kernel says of one process",
    "handful_classroom.sandbox.bubblewrap bubblewrap 1": "reads the version of bubblewrap",
    "handful_classroom.sandbox.bubblewrap bubblewrap 2": "reads the options of bubblewrap",
    "symbolic.quantity title_of": "reads names of quantities and of problems",
}
# Modules that the classroom imports and hands no student's text.
NEVER_THERE = {
    "query": BOOK,
    "units": "writes numbers, beside titles of the book",
    "handful_evidence.claims.reader": BOOK,
    "handful_evidence.claims.checks.serving": BOOK,
    "equation": BOOK,
    "memory_wall": BOOK,
    "tiers": BOOK,
    "symbolic.parse_quantity": "reads the command line and exercises of the book",
    "cli": "reads the command line",
    "scenario": "reads names of models, from the command line and result files of benchmarks",
    "model_config": "reads the configuration file of a model, from the command line",
    "search": "reads the command line",
    "handful_study.book": BOOK,
    "handful_study.check": BOOK,
    "handful_study.drawing": BOOK,
    "handful_study.maths": BOOK,
    "handful_study.pictures": BOOK,
    "handful_study.problem_export": BOOK,
    "handful_study.problem_model": BOOK,
    "handful_study.problems": BOOK,
    "handful_study.source": BOOK,
    "handful_study.words": BOOK,
    "handful_explorers.plotting.declare": BOOK,
    "handful_explorers.plotting.validation": BOOK,
    "handful_explorers.plotting.figure": "reads the SVG that matplotlib draws of numbers",
}

# What a student's text meets: the function, and attacks on it.
Attacks = tuple[Callable, list[Callable[[int], object]]]
EXPRESSION = next(
    question
    for question in (
        question for one in assignments().values() for question in one.questions.values()
    )
    if question.kind == "expression"
)
MEETS: dict[str, Attacks] = {
    "handful_classroom.grading.adjustments _MOODLE_LATE": (
        adjustments.late_in,
        [pump("1 day "), pump("- 1 day"), pump("- 1 d 1 h "), pump("1")],
    ),
    "handful_classroom.grading.adjustments _MOODLE_OVERDUE": (
        lambda text: adjustments.came_after(f"No submission {text}"),
        [pump("overdue by: "), pump("1 day ", "overdue by: "), pump("1", "overdue by: ")],
    ),
    "handful_classroom.grading.adjustments understood": (
        lambda text: adjustments.understood(f"Submitted {text}"),
        [pump("late"), pump(" lat"), pump("- 1 day ")],
    ),
    "handful_classroom.grading.class_lists _ABROAD": (
        class_lists._ABROAD.match,
        [pump("note "), pump("bewertun"), pump(" maximale", "note")],
    ),
    "handful_classroom.grading.class_lists _PARTICIPANT": (
        class_lists._PARTICIPANT.fullmatch,
        [pump("a"), pump(" ", "a"), pump("1", "abcdef "), pump("a 1")],
    ),
    "handful_classroom.grading.submissions _SEVERAL": (
        submissions.says_several,
        [pump("1"), pump("1 notebooks "), pump(" ")],
    ),
    "handful_classroom.grading.adjustments _DURATION": (
        adjustments.seconds,
        [pump("1 day "), pump("1d,"), pump("1"), pump(" ")],
    ),
    "handful_classroom.grading.adjustments seconds": (adjustments.seconds, [pump("1d1h ")]),
    "handful_classroom.sandbox.protocol _ADDRESS": (
        protocol.without_addresses,
        [pump("0x"), pump(" 0x1234"), pump("a", " 0x"), pump(" 0xabcde")],
    ),
    "handful_classroom.sandbox.protocol _MARKS": (
        protocol._depth,
        [
            lambda size: "[" * (size // 3) + '"' + '\\"' * (size // 3),
            pump('\\"', "[" * 30 + '"'),
            pump('["'),
            pump("\\", "[" * 30),
            pump("[{\\]"),
        ],
    ),
    "handful_classroom.reports.tokens _TOKEN": (
        tokens._split,
        [
            pump('"""\n\\'),
            pump("'''\n\\"),
            pump("\"\"\"\n\\'''\n\\"),
            pump('"""\n\\', after="\\"),
            pump("1_"),
            pump("1_", after="."),
            pump("0x_"),
            pump("1e"),
            pump('"\\\n'),
            pump("\\"),
            pump('r"'),
            pump("rb'''\\"),
            pump("a", "rb"),
            pump(" ", "\\"),
            pump("1.1e1.1"),
        ],
    ),
    "handful_classroom.reports.tokens words": (
        lambda text: [
            tokens.words(text[i : i + tokens.MOST_CHARACTERS])
            for i in range(0, len(text), tokens.MOST_CHARACTERS)
        ],
        [pump("a"), pump("a "), pump("İ"), pump("a\n")],
    ),
    "handful_classroom.grading.notebook_reader _ANSWER": (
        notebook_reader._ANSWER.match,
        [
            pump(" "),
            pump("a", "**Your answer: "),
            pump(" ", "**Your answer: a**"),
            pump("\n", after="**"),
        ],
    ),
    "handful_classroom.grading.notebook_reader _STUDENT": (
        lambda text: (notebook_reader._STUDENT.search(text), notebook_reader.mark(text)),
        [
            pump("student\n"),
            pump("student =\n"),
            pump("\n", "student"),
            pump(" ", "student = ''", "x"),
            pump('student = "a" #\n', after="x"),
            pump('student = "\n'),
            pump("student = 'a\n"),
            pump("student = ''\t"),
        ],
    ),
    "handful_classroom.grading.submissions _CANVAS_PAGE": (
        submissions._CANVAS_PAGE.fullmatch,
        [pump("text-"), pump("1", "text-"), pump("1", "link-", ".html")],
    ),
    "handful_classroom.grading.submissions _MOODLE": (
        submissions._MOODLE.search,
        [
            pump("_1"),
            pump("1", "a_"),
            pump("_1_assignsubmission_"),
            pump("_1_assignsubmission_fil"),
            pump("_11_assignsubmission_file", after="\n"),
            pump("_"),
        ],
    ),
    "handful_classroom.grading.submissions _AGAIN": (
        submissions._AGAIN.search,
        [pump("-1"), pump("-1111"), pump(" (1"), pump(" (1)"), pump("1", "-")],
    ),
    "handful_classroom.grading.notebook_reader _id": (
        notebook_reader._id,
        [pump("a"), pump("\u0301\u0316", "a"), pump("\u1100\u1161\u11a8"), pump("\u202e")],
    ),
    "handful_classroom.grading.notebook_reader _EDITION": (
        notebook_reader._EDITION.fullmatch,
        [pump("a"), pump("0a")],
    ),
    "handful_classroom.grading.notebook_reader _CHECK": (
        notebook_reader.is_check_or_setup,
        [
            pump("check()\n"),
            pump("check('a', 'b')"),
            pump(", 'a'", "check('a'"),
            pump("a", "check('"),
            pump(", ''", "check(", ")"),
        ],
    ),
    **{
        f"handful_study.student canonical {i}": (
            student.canonical,
            [
                pump("a"),
                pump("\u0301\u0316", "a"),
                pump("\u1100\u1161\u11a8"),
                pump("\u200b"),
                pump(" \u00a0"),
                pump("\ufdfa"),
            ],
        )
        for i in (1, 2, 3)
    },
    "handful_classroom.grading.submissions shown": (
        submissions.shown,
        [
            pump("\u0301\u0316", "a"),
            pump("\u0316\u0301", "a"),
            pump("\u1100\u1161\u11a8"),
            pump("\u202e"),
        ],
    ),
    "handful_classroom.grading.submissions _parts": (
        submissions._parts,
        [pump("a:"), pump("/"), pump("../"), pump("\\a")],
    ),
    "handful_classroom.html_report file_name 1": (
        html_report.file_name,
        [pump("-0"), pump("-"), pump("!"), pump("a!"), pump("-a", after="!")],
    ),
    "handful_classroom.html_report file_name 2": (
        html_report.file_name,
        [pump("-0123456"), pump("-01234567"), pump(".")],
    ),
    "handful_study.spreadsheet _START": (
        spreadsheet._START.match,
        [
            pump("'"),
            pump(" ", "'"),
            pump("'", after=" "),
            pump(" ", "'''"),
            pump("\t", "'"),
            pump("' "),
        ],
    ),
    "handful_study.spreadsheet _INSIDE": (
        lambda text: [one.sub("", text) for one in spreadsheet._INSIDE.values()],
        [pump(";"), pump(";'"), pump("' ", ";"), pump('; "'), pump(" ", ";")],
    ),
    "handful_study.spreadsheet _MARKED": (
        lambda text: [one.sub("", text) for one in spreadsheet._MARKED.values()],
        [pump(";'"), pump("'", ";"), pump("' ", ";'"), pump(";' ")],
    ),
    "handful_study.spreadsheet _UNFIT": (
        spreadsheet._UNFIT.search,
        [pump("a"), pump(" "), pump("'"), pump("a", after="\ud800")],
    ),
    "handful_classroom.tables _NUMBER": (
        lambda text: tables.points(text, 2, "here"),
        [pump("1"), pump("1."), pump("1", "1."), pump(","), pump(" ", after="1")],
    ),
    "handful_classroom.grading.scoring _parsed": (
        lambda text: scoring._expression(EXPRESSION, Answer("value", text)),
        [pump("Max"), pump("Max("), pump("Min "), pump("ceilin"), pump("(")],
    ),
    "handful_classroom.build_command folders": (
        lambda text: build_command.folders(text.split()),
        [pump("!"), pump("! "), pump(".")],
    ),
    "handful_study.expressions _TOKEN": (
        expressions._TOKEN.match,
        [pump(" "), pump("1"), pump("1", "1."), pump("1", "1e"), pump("a"), pump("*")],
    ),
    "handful_study.pipeline_schedules _LABEL": (
        partial(pipeline_schedules._LABEL.sub, ""),
        [
            pump(" "),
            pump("1"),
            pump("stage"),
            pump(" ", "stage"),
            pump("1 ", "stage "),
            pump(" ", "1"),
            pump("1", "stage ", "x"),
        ],
    ),
    "handful_study.pipeline_schedules _PIECE": (
        pipeline_schedules._PIECE.fullmatch,
        [pump("F"), pump("1", "F"), pump("F1")],
    ),
    "handful_study.pipeline_schedules read_orders 1": (
        partial(pipeline_schedules.read_orders, goal=pipeline_schedules.Goal(1, 2, 2, 0, 0.5, 1)),
        [pump("\n"), pump(";"), pump("F1 ")],
    ),
    "handful_study.pipeline_schedules read_orders 2": (
        partial(pipeline_schedules.read_orders, goal=pipeline_schedules.Goal(1, 2, 2, 0, 0.5, 1)),
        [pump(" ,"), pump(",F1"), pump(" ")],
    ),
}


def test_every_regular_expression_is_listed():
    found = [
        use
        for name, tree in reached("handful_classroom").items()
        if name.removeprefix("handful.") not in NEVER_THERE
        for use in uses(name, tree)
    ]
    assert len(found) > 30
    unlisted = sorted(set(found) - set(MEETS) - set(NEVER))
    assert not unlisted, (
        f"add {unlisted} to MEETS with attacks, or to NEVER with the reason why no student's text "
        "reaches them"
    )
    gone = sorted((set(MEETS) | set(NEVER)) - set(found))
    assert not gone, f"{gone} are not in the sources any more"
    assert not set(MEETS) & set(NEVER)


def test_what_is_left_out_is_imported_at_all():
    names = {name.removeprefix("handful.") for name in reached("handful_classroom")}
    assert set(NEVER_THERE) <= names


@pytest.mark.parametrize("name", list(MEETS))
def test_an_expression_grows_with_its_text(name):
    work, attacks = MEETS[name]
    for make in attacks:
        assert steepest(work, make) == "", make(40)


ALPHABET = [*" \t\n\"'\\-.=#()[]{}_!:/,", "a", "x", "0", "1", "e", "F", "\0", "İ"]
WORDS = [
    "student",
    "LATE",
    "_assignsubmission_",
    "stage",
    "0x",
    "0xa",
    '"""',
    "'''",
    "Max(",
    "**Your answer: ",
    "-01234567",
    "\\\n",
    "\r\n",
]


@pytest.mark.parametrize("name", list(MEETS))
def test_no_short_part_over_and_over_takes_long(name):
    """No function is slow on 6 kB of any two parts repeated.

    They come after any two parts and before any one; some hundreds of such texts are drawn.
    """
    work, draw, size = MEETS[name][0], random.Random(name), 6_000
    parts = [*ALPHABET, *WORDS]
    for _ in range(600):
        make = pump(
            "".join(draw.choices(parts, k=draw.choice((1, 2, 2, 3, 4)))),
            "".join(draw.choices(parts, k=draw.choice((0, 1, 2)))),
            "".join(draw.choices(parts, k=draw.choice((0, 1)))),
        )
        if seconds(work, make(size)) > LEAST:
            assert steepest(work, make, 4 * size) == "", make(40)


# Whole functions, where no regular expression is at work


def notebook(*cells: dict, **more) -> bytes:
    return json.dumps({"nbformat": 4, "cells": list(cells), **more}, ensure_ascii=False).encode(
        "utf-8", "surrogatepass"
    )


def code(source) -> dict:
    return {"cell_type": "code", "source": source}


def cut(text: str, size: int) -> list[str]:
    return [text[i : i + size] for i in range(0, len(text), size)]


def as_file(read: Callable[[Path], object], folder: Path) -> Callable[[str], object]:
    """Turn a function of a file into one of its text."""

    def work(text: str):
        path = folder / "text.csv"
        path.write_text(text, "utf-8", newline="")
        return read(path)

    return work


def wide(size: int) -> str:
    """Return a table with as many columns as rows, and rows that end after the first."""
    return (
        "student,"
        + ",".join(map(str, range(size // 12)))
        + "\n"
        + "\n".join(f"s{i}" for i in range(size // 12))
    )


def twice(size: int) -> str:
    return "student," + ",".join(map(str, range(size // 7))) + ",0\n"


def students(size: int) -> str:
    return "student,name\n" + "\n".join(f"s{i},Ada {i}" for i in range(size // 16))


def replies(size: int) -> str:
    return json.dumps(
        {
            "request": 0,
            "status": "value",
            "value": [1.5, "a\\\n\u00e9", {"x": [[1]]}] * (size // 40),
        }
    )


def chunks(talk: bytes) -> list[bytes]:
    """Return what a room's `line` takes for the end of a line in pieces of 8 bytes."""
    made = sandbox_process.Sandbox(Limits(), False)
    made.out = made.ended = 0
    pieces, found = iter([talk[i : i + 8] for i in range(0, len(talk), 8)]), []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sandbox_process, "_wait", lambda *arguments: True)
        patch.setattr(sandbox_process.os, "read", lambda fd, most: next(pieces, b""))
        while (line := made.line(math.inf)) is not None:
            found.append(line)
    return found


def result(text: str) -> dict:
    """Return a result with as much of a student's text in it as there can be, and more."""
    parts = [
        {
            "name": question.name,
            "asks": question.asks,
            "kind": question.kind,
            "status": "waiting" if question.kind == "written" else "wrong",
            "points": 0.0,
            "possible": question.points,
            "says": text,
            "turn": None,
            "right": [],
            "text": text,
        }
        for question in ROOFLINE.questions.values()
    ]
    return grade.grade_one(ROOFLINE, "ada", None) | {
        "status": "wrong",
        "submission": "x",
        "notices": [text],
        "questions": parts,
        "says": text,
    }


def _class_list(path):
    return class_lists.by_name(class_lists.joined([class_lists.read(path)] * 2))


def sides(text: str) -> None:
    cells = [(part, tokens.tokens(part)) for part in cut(text, tokens.MOST_CHARACTERS)]
    similar.sides(cells, cells, similar.released([]))


FUNCTIONS: dict[str, tuple[Callable, list[Callable[[int], object]], int]] = {
    "a reply": (
        lambda text: protocol.read(text.encode()),
        [
            replies,
            pump('\\"', "[" * 60 + '"'),
            pump("[", '{"request":'),
            pump("1", '{"request":'),
            pump('{"a":'),
            pump("\\u0041", '{"request":0,"says":"', '"}'),
            pump("\\ud800", '{"request":0,"says":"', '"}'),
            pump("0,", '{"request":0,"value":[', "0]}"),
            lambda size: json.dumps(dict.fromkeys(map(str, range(size // 12)))),
        ],
        999_000,
    ),
    "a sentence": (protocol.printable, [pump("\0"), pump("0x")], MOST),
    "a line in pieces": (
        lambda text: chunks(text.encode()),
        [pump("a", after="\n"), pump("a"), pump("aaaaaaa\n")],
        999_000,
    ),
    "a notebook": (
        notebook_reader.read,
        [
            lambda size: notebook(code("a" * size)),
            lambda size: notebook(code(cut("a" * size, 1))),
            lambda size: notebook(*map(code, cut("student\n" * (size // 8), 500))),
            lambda size: b"[" * size,
            lambda size: b'{"a":' * (size // 5),
            lambda size: notebook(code("\r" * size)),
            lambda size: b"1" * size,
            lambda size: b'"' + b"\\n" * (size // 2),
            lambda size: notebook(
                *(
                    {
                        "cell_type": "markdown",
                        "source": f"**Your answer: why**\n{i}" + "ab" * 200 + "c",
                    }
                    for i in range(min(2000, size // 450))
                )
            ),
            lambda size: notebook(
                {"cell_type": "markdown", "source": "**Your answer: why**\n" + " \n" * (size // 2)}
            ),
            lambda size: notebook(metadata={"handful": {"student": "\u0301\u0316" * (size // 4)}}),
            lambda size: b"[" + b",".join([b"9" * 4000] * (size // 4001)) + b"]",
            lambda size: json.dumps(dict.fromkeys(map(str, range(size // 12)))).encode(),
        ],
        MOST,
    ),
    "a cell's mark": (
        notebook_reader.mark,
        [pump(" \n"), pump("student = ''\n"), pump("\r\n")],
        MOST,
    ),
    "tokens": (
        lambda text: [tokens.tokens(part) for part in cut(text, tokens.MOST_CHARACTERS)],
        [pump("("), pump("()"), pump("a,"), pump("a."), pump("''\n"), pump("9")],
        MOST // 8,
    ),
    "runs of tokens": (
        lambda text: [
            similar.runs([(part, tokens.tokens(part))], similar.released([]))
            for part in cut(text, tokens.MOST_CHARACTERS)
        ],
        [pump("a+"), pump("(a.b) "), pump("a.b" + "c" * 300 + " ")],
        MOST // 8,
    ),
    "two side by side": (sides, [pump("a+b-c\n"), pump("a+"), pump("f(x, y)\n")], MOST // 16),
    "a text on a page": (
        lambda text: html_report.shown(text, most=MOST),
        [pump("\u202e"), pump("<"), pump("a")],
        MOST // 2,
    ),
    "a result as JSON": (
        lambda text: store.canonical({"a": text}),
        [pump("\u202e"), pump("a")],
        MOST,
    ),
    "a page of feedback": (
        lambda text: feedback.student_page(ROOFLINE, grades.Grade(result(text))),
        [pump("a"), pump("<")],
        MOST,
    ),
    "grades for a spreadsheet": (
        lambda text: grades.as_table(ROOFLINE, [grades.Grade(result(text))]),
        [pump("="), pump("'"), pump("a ")],
        MOST,
    ),
    "lines of a rubric": (
        lambda text: [line.id for line in rubric.lines_to_fill(ROOFLINE, [result(text)])],
        [pump("a")],
        MOST,
    ),
    "a value in a sentence": (
        lambda text: scoring.short([text]),
        [pump("a"), pump("\u202e")],
        MOST,
    ),
    "an order of work": (
        lambda text: custom_scorers._one(
            custom_scorers.goal({"stages": 4, "micro_batches": 8}), text
        ),
        [pump("F1 B1 "), pump("\n"), pump("1:")],
        MOST,
    ),
    "an order of work in lists": (
        lambda text: custom_scorers._one(
            custom_scorers.goal({"stages": 4, "micro_batches": 8}), [[[text]]] * 4
        ),
        [pump("F1 ")],
        MOST // 4,
    ),
    "a roster": (
        Roster.of,
        [
            students,
            wide,
            twice,
            pump("\n"),
            pump('"'),
            pump("a,"),
            lambda size: "student\n" + "\u0301\u0316" * (size // 2),
            lambda size: (
                "id,first name,last name\n" + "\n".join(f"{i},a,b" for i in range(size // 8))
            ),
        ],
        MOST // 4,
    ),
    "folders for a roster": (
        lambda text: build_command.folders(text.split()),
        [
            lambda size: " ".join(
                "!?@$%"[i % 5] * (i // 5 % 7 + 1) + "\u0301" * (i % 11) for i in range(size // 10)
            ),
            lambda size: " ".join(
                ("x" if i % 2 else "X") + "!?$%&"[i // 2 % 5] for i in range(size // 3)
            ),
        ],
        MOST // 4,
    ),
}
IN_FILES = {
    "a table": (
        tables.read,
        [
            students,
            wide,
            twice,
            pump("\n"),
            pump('"'),
            pump("a,"),
            pump(";"),
            pump("\t"),
            pump("\r"),
        ],
    ),
    "a class list": (_class_list, [students, wide, twice, pump("student,student ")]),
    "points by rubric": (
        rubric.read_table,
        [
            lambda size: (
                ",".join(rubric.HEAD)
                + "\n"
                + "\n".join(f"a,b,c,1,,,,r{i}" for i in range(size // 16))
            ),
            lambda size: ",".join(rubric.HEAD) + "," + wide(size),
        ],
    ),
}


@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_a_function_grows_with_its_text(name):
    work, attacks, most = FUNCTIONS[name]
    for place, make in enumerate(attacks):
        assert steepest(work, make, most) == "", f"attack {place}"


@pytest.mark.parametrize("name", list(IN_FILES))
def test_a_reader_of_files_grows_with_them(name, tmp_path):
    read, attacks = IN_FILES[name]
    for place, make in enumerate(attacks):
        assert steepest(as_file(read, tmp_path), make, MOST // 2) == "", f"attack {place}"


def test_the_attack_on_the_grader_s_own_line_takes_no_longer_than_twice_one_of_half_its_length():
    """The attack is many brackets and a string of escaped quotes that does not end.

    It took 20 s for 80 kB when each bracket read on to the end.
    """

    def attack(size: int) -> bytes:
        return (b"[" * (size // 3) + b'"' + b'\\"' * (size // 3))[:size]

    for make in (
        attack,
        lambda size: b'{"request":0,"value":["' + b'\\"' * (size // 2 - 20),
        lambda size: b'["' * (size // 2),
    ):
        assert steepest(lambda line: protocol.read(line), make, 999_000) == ""
    with pytest.raises(ProtocolError, match="20 deep"):
        protocol.parse(attack(999_000))


@pytest.mark.parametrize(
    "text,deep",
    [
        ("[" * 25, 25),
        ('["' + "[" * 40 + '"]' + "[" * 21 + "]" * 21, 21),
        ('"\\""' + "[" * 22, 22),
        ('"\\\\"' + "[" * 22, 22),
        ('"' + "[" * 30, 0),
        ("[]" * 30, 1),
        ("{[" * 15 + "]}" * 15, 30),
        ('"\\"' + "[" * 30, 0),
        ("\\[" + "[" * 30, 30),
    ],
)
def test_how_deep_lists_lie_is_counted_outside_of_strings(text, deep):
    assert protocol._depth(text) == deep


def test_long_names_stay_two_and_short_ones_as_they_were():
    one, other = "a" * 5_000 + "x", "a" * 5_000 + "y"
    assert (
        submissions.shown(one) != submissions.shown(other)
        and len(submissions.shown(one)) == submissions.LONGEST_NAME
    )
    assert submissions.shown(" " * 5_000) != submissions.shown(" " * 5_001)
    assert submissions.shown("e\u0301" * 60) == "\u00e9" * 60
    assert len(submissions.shown("\u0301" * 60_000).encode()) < 300


def test_a_row_that_ends_early_lacks_what_it_does_not_reach(tmp_path):
    (tmp_path / "t.csv").write_text("student,points,more\nada,1\n")
    rows, columns, _ = tables.read(tmp_path / "t.csv", ("student", "points"))
    assert columns == ["student", "points", "more"] and rows == [
        {"student": "ada", "points": "1", "": "2"}
    ]
    (tmp_path / "t.csv").write_text("student,points,more\nada\n")
    assert tables.read(tmp_path / "t.csv", ("student", "points"))[0] == [
        {"student": "ada", "points": "", "": "2"}
    ]


def test_folders_of_names_that_clash_are_numbered_on():
    found = build_command.folders(["!", "?", "_-2", "X!", "x?", "$"])
    assert list(found.values()) == ["_", "_-2", "_-2-2", "X_", "x_-2", "_-3"]


def test_a_line_is_the_same_however_it_comes_in_pieces():
    talk = b'{"cell":1}\n' * 3 + b"\n" + b"x" * 70_000 + b"\nrest"
    assert chunks(talk) == talk.split(b"\n")[:-1]
    with pytest.raises(ProtocolError, match="1 MB"):
        chunks(b"a" * 1_000_100)
    with pytest.raises(ProtocolError, match="8 MB"):
        chunks((b"a" * 999_999 + b"\n") * 9)
