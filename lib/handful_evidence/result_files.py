r"""Read the result files of benchmarks of LLM servers, as runs in SI units.

``read`` takes files and gives a ``Run`` for each measured point, whatever tool wrote it:

- vLLM: ``vllm bench serve`` (one JSON object, or one a line), ``throughput`` and ``latency``;
- SGLang: ``bench_serving``, JSON lines; files without a time per output token get it from the whole
  latency, the time to the first token and the length of the answer;
- GuideLLM, a run for each of its benchmarks, from the requests that succeeded;
- AIPerf and GenAI-Perf: the JSON export of a profile;
- InferenceMAX and InferenceX: aggregates, one or a list of them;
- MLPerf Inference: ``mlperf_log_summary.txt``;
- CSV, a run a row, with the columns in ``COLUMNS``.

What is in a file tells its kind, not its name.  The same word means different things: GuideLLM's
time_per_output_token_ms holds the wait for the first token, so its inter_token_latency_ms is read;
vLLM's and SGLang's itl is the gap between chunks of the stream, which may hold several tokens, so
it never is.  What a reader of a run should know stands in its ``notes``.

Columns of a CSV: concurrency, input_tokens, output_tokens, tpot_ms or time_per_output_token_s (the
first token left out), ttft_ms or ttft_s, output_tokens_per_s and requests_per_s (of the whole
server), hardware, devices, model, precision.  They stand in any order, between commas, semicolons
or tabs; others are passed over, an empty cell says nothing, and numbers have a decimal point.

The page reads the same files by ``handful_site/runs/result_files.js``.

Nothing in a file is run.  A file has at most ``MOST_BYTES`` bytes, ``MOST_PARTS`` objects and
lists, ``MOST_DEPTH`` of them inside one another, and ``MOST_RUNS`` runs.

>>> import tempfile
>>> table = "concurrency;output_tokens;tpot_ms;ttft_ms;output_tokens_per_s\n16;101;20;500;640\n"
>>> with tempfile.TemporaryDirectory() as folder:
...     path = Path(folder, "mine.csv")
...     _ = path.write_text(table + "16;101;-20;500;640\n", "utf-8")
...     [run], [problem] = read([path])
>>> run.source, run.time_per_output_token, run.time_to_first_token
('mine.csv, row 2', 0.02, 0.5)
>>> round(run.in_flight, 2)  # 640 tokens/s of answers that take 0.5 + 100 × 0.02 s
15.84
>>> problem
'mine.csv, row 3: tpot_ms must be a finite number, 0 or more; got -20.'
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import stat
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from handful.units import plural

from .result_tools import (
    COLUMN_NAMES,
    COLUMNS,
    CSV,
    FOR_THE_MEAN,
    GUIDELLM,
    KINDS,
    LONGEST,
    MLPERF,
    TABLES,
    TEXTS,
    Fields,
    Kind,
    UnknownKind,
    Unreadable,
    shown,
    told,
)

__all__ = [
    "COLUMNS",
    "MOST_BYTES",
    "MOST_DEPTH",
    "MOST_PARTS",
    "MOST_RUNS",
    "Run",
    "read",
]

_MOST: dict[str, int] = TABLES["most"]
MOST_BYTES = _MOST["bytes"]  # of a file; the times of every token take tens of millions
MOST_RUNS = _MOST["runs"]  # in a file
MOST_PARTS = _MOST["parts"]  # brackets and braces that open, which bounds what memory they take
MOST_DEPTH = _MOST["depth"]  # of objects and lists inside one another; tools' own take about ten
LONGEST_SUMMARY = _MOST["summary"]  # characters of MLPerf's, which has some thousand
LONGEST_HEAD = _MOST["head"]  # characters of the first line of a CSV
KNOWN: str = TABLES["known"]


@dataclass(frozen=True)
class Run:
    """One measured point of a server, in SI units; None where the file does not say.

    ``concurrency`` is the requests in flight, on average where the tool measures it, else the cap.
    Lengths are means over requests, in tokens.  Times are in seconds, means over requests, or
    medians where a note says so; ``time_per_output_token`` leaves the first token out.  Throughputs
    are of the whole server: ``output_throughput`` in tokens/s of answers, ``total_throughput`` with
    those of prompts, ``request_throughput`` in requests/s.  ``batch_latency`` is the time in
    seconds of a whole offline batch, prompts and answers.  ``devices`` counts chips.  ``source`` is
    the file's name and, where it holds several runs, which.
    """

    source: str
    tool: str
    concurrency: float | None = None
    input_tokens: float | None = None
    output_tokens: float | None = None
    time_per_output_token: float | None = None
    time_to_first_token: float | None = None
    output_throughput: float | None = None
    request_throughput: float | None = None
    hardware: str = ""
    model: str = ""
    precision: str = ""
    devices: int | None = None
    notes: tuple[str, ...] = ()
    total_throughput: float | None = None
    batch_latency: float | None = None

    @property
    def in_flight(self) -> float | None:
        """Return the requests in flight on average, by Little's law, or None.

        They are the answers a second times what one takes.

        >>> run = Run("a.json", "CSV", output_tokens=201, time_per_output_token=0.01)
        >>> run.in_flight is None
        True
        """
        if (
            self.output_throughput is None
            or self.time_to_first_token is None
            or self.time_per_output_token is None
            or not self.output_tokens
            or self.output_tokens < 1
        ):
            return None
        whole = self.time_to_first_token + (self.output_tokens - 1) * self.time_per_output_token
        return self.output_throughput / self.output_tokens * whole


def read(paths: Iterable[Path]) -> tuple[list[Run], list[str]]:
    """Return the runs of result files, and a sentence for each file or run that cannot be read.

    The sentence names the file, what was there and what is allowed; everything else is still read.
    Raises nothing for what a file holds.

    >>> read([Path("no such file.json")])
    ([], ['no such file.json: there is no such file.'])
    """
    runs: list[Run] = []
    problems: list[str] = []
    given = [Path(path) for path in paths]
    names = Counter(path.name for path in given)
    for path in given:
        name = path.name if names[path.name] == 1 and path.name else str(path)[-LONGEST:]
        for found in _runs_of(path, shown(name)):
            if isinstance(found, Run):
                runs.append(found)
            else:
                problems.append(found)
    return runs, problems


# A file and its parts -----------------------------------------------------------------------------


def _runs_of(path: Path, name: str) -> list[Run | str]:
    """Return the runs of a file and the sentences about it, in its order."""
    found: list[Run | str] = []
    strangers: list[UnknownKind] = []
    try:
        for which, part in _parts(_text_of(path)):
            source = name + which
            try:
                if isinstance(part, Unreadable):
                    raise part
                kind, fields = part
                found.append(_run(source, kind, kind.read(fields), fields.notes))
            except UnknownKind as error:
                strangers.append(error)
                found.append(f"{source}: {error}")
            except Unreadable as error:
                found.append(f"{source}: {error}")
    except Unreadable as error:
        return [f"{name}: {error}"]
    if strangers and len(strangers) == len(found):  # a file of another kind: once is enough
        return [f"{name}: {strangers[0]}"]
    return found


def _text_of(path: Path) -> str:
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise Unreadable("this is a folder; name the files in it, as in results/*.json.")
        if not stat.S_ISREG(mode):  # a pipe might never end
            raise Unreadable("this is no ordinary file.")
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise Unreadable("there is no such file.") from None
    except (OSError, ValueError) as error:
        if isinstance(error, Unreadable):
            raise
        reason = getattr(error, "strerror", None) or "it has no possible name"
        raise Unreadable(f"this cannot be opened: {reason}.") from None
    if len(data) > MOST_BYTES:
        raise Unreadable(
            f"this has more than {MOST_BYTES:,} bytes, the most that is read; save the results "
            "without the details of each request."
        )
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Unreadable("this is text in UTF-16; save it in UTF-8.")
    if b"\0" in data:
        raise Unreadable(f"this is no text: byte {data.index(0):,} is zero.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(f"this is no text in UTF-8; byte {error.start:,} is none of it.") from None
    if not text.strip():
        raise Unreadable("this is empty.")
    return text


_Part = tuple[str, tuple[Kind, Fields] | Unreadable]


def _parts(text: str) -> Iterator[_Part]:
    """Yield which run of a text it is, and its kind with its fields, or what is wrong with it."""
    if text.lstrip()[:1] in ("{", "["):
        for which, value in _documents(text):
            yield from _known(which, value)
    elif "MLPerf Results Summary" in text:
        yield "", (MLPERF, Fields(_lines(text)))
    else:
        yield from _rows(text)


def _documents(text: str) -> list[tuple[str, Any]]:
    """Return the JSON objects of a text, each with where it stands, or what is wrong with it."""
    if text.count("{") + text.count("[") > MOST_PARTS:
        raise Unreadable(
            f"this has more than {MOST_PARTS:,} objects and lists, the most that are read."
        )
    try:
        value = _parsed(text)
    except Unreadable as error:
        lines = [(i, line) for i, line in enumerate(text.split("\n"), 1) if line.strip()]
        if len(lines) < 2 or not any(
            line.startswith("{") and line.rstrip().endswith("}") for _, line in lines
        ):
            raise error from None
        _bound(len(lines))
        found: list[tuple[str, Any]] = []
        for i, line in lines:
            try:
                found.append((f", line {i}", _parsed(line)))
            except Unreadable as wrong:
                found.append((f", line {i}", wrong))
        return found
    if not isinstance(value, list):
        return [("", value)]
    _bound(len(value))
    if not any(isinstance(one, dict) for one in value):
        raise Unreadable(
            "this must be an object in braces or a list of them; got "
            f"{'a list of other things' if value else 'an empty list'}."
        )
    if all(isinstance(one, dict) and isinstance(one.get("metric"), dict) for one in value):
        raise Unreadable(
            "this is the table for PyTorch that vLLM writes beside its results; "
            "give the file without .pytorch in its name."
        )
    return [(f", run {i}", one) for i, one in enumerate(value, 1)]


def _bound(count: int) -> None:
    if count > MOST_RUNS:
        raise Unreadable(f"this holds more than {MOST_RUNS:,} runs, the most that are read.")


def _parsed(text: str) -> Any:
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_int=_whole)
    except json.JSONDecodeError as error:
        reason = f"{error.msg[0].lower()}{error.msg[1:]}".rstrip(".:")
        if error.pos >= len(text.rstrip()) or reason.startswith("unterminated"):
            reason = "the text ends early"
        raise Unreadable(
            f"this is no JSON: {reason}, in line {error.lineno:,}, column {error.colno:,}."
        ) from None
    except RecursionError:
        raise _too_deep() from None
    level = [value]
    for _ in range(MOST_DEPTH):
        level = [
            inner
            for part in level
            if isinstance(part, (dict, list))
            for inner in (part.values() if isinstance(part, dict) else part)
            if isinstance(inner, (dict, list))
        ]
    if level:
        raise _too_deep()
    return value


def _too_deep() -> Unreadable:
    return Unreadable(f"this has more than {MOST_DEPTH} objects and lists inside one another.")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        [twice, *_] = (key for key, n in Counter(key for key, _ in pairs).items() if n > 1)
        raise Unreadable(f"{shown(twice)} stands twice in one object, and only one can count.")
    return found


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) < 20 else float(digits)  # Python refuses very long ones


# The names of a run's values in notes and sentences.
_LABELS: dict[str, str] = TABLES["labels"]
_MEASURED = tuple(_LABELS)[3:]


def _run(source: str, kind: Kind, values: dict[str, Any], notes: list[str]) -> Run:
    """Return the run, with notes on what its values say together."""
    for name, label in _LABELS.items():
        value = values.get(name)
        if value is not None and not math.isfinite(value):
            raise Unreadable(f"its numbers are so large or small that {label} is not finite.")
        if value == 0:
            values[name] = None
            notes.append(f"{label} is 0, so it counts as not measured")
    if all(values.get(name) is None for name in _MEASURED):
        raise Unreadable(f"this holds no measurement; one of {kind.needs} is needed, and above 0.")
    run = Run(source, kind.tool, **values)
    at_once, said = run.in_flight, run.concurrency
    if at_once is not None and not math.isfinite(at_once):
        raise Unreadable("its numbers are so large that the requests in flight are not finite.")
    if at_once is not None and not any(FOR_THE_MEAN in note for note in notes):
        if said is None:
            notes.append(
                f"by its throughput and times, {at_once:.3g} requests were in flight on average"
            )
        elif at_once > 1.1 * said:
            notes.append(
                f"its throughput and times put {at_once:.3g} requests in flight on average, more "
                f"than the {said:.3g} that it states: the numbers do not belong together"
            )
        elif at_once < 0.8 * said:
            notes.append(
                f"its throughput and times put only {at_once:.3g} requests in flight on average, "
                f"of the {said:.3g} that it states"
            )
    return replace(run, notes=tuple(dict.fromkeys(notes)))


def _known(which: str, value: Any) -> Iterator[_Part]:
    """Yield the runs of one JSON object, each with its kind."""
    if isinstance(value, Unreadable):
        yield which, value
    elif not isinstance(value, dict):
        yield which, Unreadable(f"a run must be an object in braces; got {told(value)}.")
    elif "benchmarks" in value:
        yield from _benchmarks(which, value)
    else:
        for kind in KINDS:
            if any(all(_has(value, key) for key in sign.split()) for sign in kind.signs):
                yield which, (kind, Fields(value))
                return
        names = ", ".join(shown(key, 40) for key in list(value)[:5]) or "none at all"
        yield which, UnknownKind(f"its keys ({names}) are those of no result known here: {KNOWN}.")


def _has(value: dict[str, Any], key: str) -> bool:
    return isinstance(value.get(key[:-1]), dict) if key.endswith(".") else key in value


def _benchmarks(which: str, value: dict[str, Any]) -> Iterator[_Part]:
    """Yield the benchmarks of a file of GuideLLM."""
    listed = value["benchmarks"]
    if not isinstance(listed, list) or not listed:
        got = "an empty list" if listed == [] else told(listed)
        yield which, Unreadable(f"benchmarks must be a list of one or more; got {got}.")
        return
    _bound(len(listed))
    args = value.get("args")
    model = args.get("model") if isinstance(args, dict) else None
    for i, one in enumerate(listed):
        where = f"{which}, benchmark {i + 1}" if len(listed) > 1 else which
        if not isinstance(one, dict):
            yield where, Unreadable(f"benchmarks[{i}] must be an object; got {told(one)}.")
        elif "metrics" not in one:
            yield where, UnknownKind(f"benchmarks[{i}] has no metrics, as GuideLLM's have.")
        else:
            named = {"model": model if isinstance(model, str) else None}
            yield where, (GUIDELLM, Fields(one | named, f"benchmarks[{i}]."))


# Text ---------------------------------------------------------------------------------------------

# Each digit can be matched in one way only, or a long text of them would take for ever.
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_NO_UNIT: list[str] = TABLES["no_unit"]


def _typed(text: str) -> float | str | None:
    """Return the number that a text is, the text where it is none, or None where it is empty."""
    text = text.strip()
    return float(text) if _NUMBER.fullmatch(text) else text or None


def _lines(text: str) -> dict[str, Any]:
    """Return the lines "name : value" of a summary by name; the first of a name counts."""
    if len(text) > LONGEST_SUMMARY:
        raise Unreadable(
            f"a summary of MLPerf has some thousand characters, and this has {len(text):,}, more "
            f"than the {LONGEST_SUMMARY:,} that are read."
        )
    values: dict[str, Any] = {}
    for line in text.splitlines():
        key, colon, value = line.partition(":")
        if colon and len(key) < LONGEST:
            values.setdefault(" ".join(key.split()).lower(), _typed(value))
    return values


def _rows(text: str) -> Iterator[_Part]:
    """Yield the rows of a CSV."""
    if "Serving Benchmark Result" in text:
        raise Unreadable(
            "this is what the benchmark printed; have it write its results to a file, as with "
            "--save-result, and give that."
        )
    text = text.lstrip("\r\n")
    [first] = re.findall(r"\A[^\r\n]*", text)
    if len(first) > LONGEST_HEAD:
        raise Unreadable(
            f"this is no JSON, and its first line has more than {LONGEST_HEAD:,} characters, too "
            "many for the columns of a CSV."
        )

    def known(mark: str) -> int:
        return sum(_column(cell) in COLUMN_NAMES for cell in first.split(mark))

    separator = max(",;\t", key=known)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows: list[tuple[int, list[str]]] = []
    try:
        head = [_column(cell) for cell in next(reader)]
        _check_columns(head)
        for row in reader:
            if any(map(str.strip, row)):
                rows.append((reader.line_num, row))
                _bound(len(rows))
    except csv.Error as error:
        reason = shown(str(error))
        raise Unreadable(f"this is no CSV, in line {reader.line_num:,}: {reason}.") from None
    if not rows:
        raise Unreadable("this CSV has a first line and no rows.")
    notes = [f"the column {name} has no unit and is left out" for name in head if name in _NO_UNIT]
    for i, row in rows:
        if len(row) != len(head):
            cells = plural(len(head), "cell")
            yield f", row {i}", Unreadable(f"a row must have {cells} here; got {len(row):,}.")
            continue
        values = {
            column: cell.strip() or None if COLUMN_NAMES[column] in TEXTS else _typed(cell)
            for column, cell in zip(head, row, strict=True)
            if column in COLUMN_NAMES
        }
        yield f", row {i}", (CSV, Fields(values, notes=[*notes]))


def _column(cell: str) -> str:
    return re.sub("[^a-z0-9]+", "_", cell.lower()).strip("_")


def _check_columns(head: list[str]) -> None:
    found: dict[str, str] = {}
    for column in head:
        name = COLUMN_NAMES.get(column)
        if name is None or column.startswith("median"):  # a median may stand beside its mean
            continue
        if name in found:
            raise Unreadable(f"the columns {found[name]} and {column} say the same; keep one.")
        found[name] = column
    if not any(COLUMN_NAMES.get(column) in _MEASURED for column in head):
        raise Unreadable(
            "this is neither JSON nor a CSV whose first line names tpot_ms, ttft_ms, "
            f"output_tokens_per_s or requests_per_s; known are {KNOWN}."
        )
