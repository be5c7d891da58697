"""Tests that Python and the page agree on problems.

They agree on what is drawn, what is read, and what is said of every answer.
"""

from __future__ import annotations

import math
import random
import re
import shutil
from pathlib import Path

import pytest

import handful_site
from handful.symbolic.parse_quantity import WrittenError, fits, read, read_as
from handful.units import UNITS, format_value
from handful_evidence.simulate import pipeline
from handful_study import expressions
from handful_study.check import check, letter, right_choice
from handful_study.expressions import ExpressionError
from handful_study.order import by_chapter
from handful_study.pipeline_schedules import as_text
from handful_study.problem_model import schedule_goal as goal
from handful_study.problem_spec import spec
from handful_study.problems import problems
from handful_study.words import ROLE

pytestmark = pytest.mark.browser
LIBRARY = Path(handful_site.__file__).parents[1]
SEEDS = range(200)
# Seeds for which everything that people write is tried; for the rest, the answer and its wrong
# turns.
MANY = range(8)
CHAPTERS = by_chapter(problems().values())
# What answers are made of, and what they are not.
SIGNS = ("", "", "", "-", "−", "+", "- ", "$", "$ ", "−$", "--")
DIGITS = (
    "0",
    "7",
    "1,667",
    "12.5",
    "47 600",
    "1\u202f234\u2009567,5",
    "1 23",
    "1 234 5",
    ".5",
    "3.",
    "1,2,3",
    "1e3",
    "2.5e-3",
    "1E6",
    "1e+2",
    "4e−3",
    "1e400",
    "0.1",
    "123456789",
    "9007199254740993",
    "1..2",
    "٣",
    "x",
)
POWERS = (
    "",
    "",
    "",
    "",
    " × 10^3",
    "×10^-3",
    " x 10^6",
    "*10**2",
    " · 10 ^ +4",
    " × 10²⁴",
    "×10⁻⁵",
    "×10^400",
    " × 10 ",
    "10^3",
)
NAMES = (
    "B",
    "GB",
    "GiB",
    "bytes",
    "s",
    "ms",
    "µs",
    "μs",
    "us",
    "min",
    "minutes",
    "h",
    "days",
    "years",
    "FLOP",
    "TFLOP",
    "TFLOPS",
    "PFLOPs",
    "token",
    "tokens",
    "ktok",
    "Mtoken",
    "sequences",
    "parameters",
    "weights",
    "chips",
    "GPUs",
    "layer",
    "$",
    "dollars",
    "USD",
    "bits",
    "kbit",
    "%",
    "times",
    "×",
    "million",
    "billion tokens",
    "chip-hours",
    "token-hours",
    "parsecs",
    "h 5 min",
    "day, 2 hours and 3.5 minutes",
    "min 2 h",
    "h5min2s",
    "s 3 chips",
    "Bs",
    "m",
    "K",
    "constructor",
    "toString",
    "__proto__",
    "ZB",
    "YB",
    "s²",
    "😀",
    "GB's",
    'G"B',
    "\x01",
    "\u00ad",
    "ks",
)
JOINTS = ("/", " / ", " per ", "-", " ", "·", "*", " a ", "//", "\u00a0per\u00a0", "\u2009")
SPACES = ("", "", " ", "\u00a0", "\u202f", "\t", "\x1f", "\ufeff")


@pytest.fixture(scope="module")
def modules(module_server, shared):
    """Open a page under the strict policy that can import the modules as they are, unbundled."""
    folder, address = module_server
    for name in (
        "handful_explorers/web/tree.js",
        "handful_explorers/web/units.js",
        "handful_explorers/web/random.js",
        "handful_explorers/web/scenes/pipeline.js",
        "handful_explorers/web/parse_quantity.js",
        "handful_study/web/expressions.js",
        "handful_study/web/check.js",
        "handful_study/web/pipeline_schedules.js",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(LIBRARY / name, folder / name)
    (folder / "index.html").write_text("<!doctype html><title>modules</title>", "utf-8")
    tab = shared()
    yield tab.open(address)
    assert tab.faults == []


def safe(value: float):
    """Return a number as the page sends it; infinity is text, since JSON has none."""
    return value if math.isfinite(value) else str(value)


def same(ours, theirs) -> bool:
    if isinstance(ours, float | int) and isinstance(theirs, float | int):
        return math.isclose(ours, theirs, rel_tol=1e-13, abs_tol=0)
    return ours == theirs


# Values with units


def values(rng: random.Random, many: int) -> list[str]:
    found = []
    for _ in range(many):
        unit = "".join(rng.choice(NAMES) + rng.choice(JOINTS) for _ in range(rng.randrange(3))) + (
            rng.choice(NAMES) if rng.random() < 0.8 else ""
        )
        found.append(
            rng.choice(SPACES)
            + rng.choice(SIGNS)
            + rng.choice(DIGITS)
            + rng.choice(POWERS)
            + rng.choice(SPACES)
            + unit
            + rng.choice(SPACES)
        )
    return found


def python_reads(text: str):
    try:
        value, dimension = read(text)
    except WrittenError as error:
        return str(error)
    return [
        value,
        None if dimension is None else {base: int(power) for base, power in dimension.powers},
    ]


def test_values_are_read_the_same(modules):
    rng = random.Random(20)
    texts = [
        *values(rng, 3000),
        "",
        " ",
        "8 GB",
        *(
            "1,5",
            "0,125",
            "1,125",
            "12,345,678",
            "1.234,5",
            "1.234.567",
            "1,2,3",
            ",5",
            "5,",
            "1.5,",
        ),
        *("1,234.5", "1,234.", "1.2.3", "1,23,456", "00,125", "1,2345", "1.234,567", "0,000"),
        *("5 per cent", "5 percent", "3-fold", "3x", "2 gigabytes", "2 Megabits/s", "7 msec"),
        *("70B parameters", "70 bn params", "8 Gb/s", "30 cents", "2 weeks", "3 d", "2 kilotokens"),
        *("1.275 kW", "0.3 watt-hours", "20 kilowatt-hours", "$0.08 per kWh", "3 megajoules"),
        "3.35 TB/s",
        "$2.10 per chip-hour",
        "40 million tokens",
        "/s",
        "8 /",
        "8 GB/",
        "x" * 81,
        "1" * 80,
        "1 " + "😀" * 78,
        "a'b",
        'a"b',
        "a'b\"c",
        "\\",
        "\n",
        "\u2028",
        "\U000e0001",
        "8 \ud7ff",
        "1 s s s",
        "1 B/s/s",
    ]
    found = modules.evaluate(
        """async (texts) => {
        const { read, WrittenError } = await import("/handful_explorers/web/parse_quantity.js");
        return texts.map((text) => {
          try { return read(text); } catch (error) {
            if (error instanceof WrittenError) return error.message;
            throw error; } }); }""",
        texts,
    )
    found = [
        theirs if isinstance(theirs, str) else [float(theirs[0]), theirs[1]] for theirs in found
    ]
    wrong = [
        (text, ours, theirs)
        for text, theirs in zip(texts, found, strict=True)
        if (ours := python_reads(text)) != theirs
    ]
    assert wrong == []
    understood = [
        text for text, theirs in zip(texts, found, strict=True) if not isinstance(theirs, str)
    ]
    assert len(set(understood)) > 300 and len(texts) - len(understood) > 300


def test_what_is_wanted_decides_what_is_read_in_both(modules):
    from handful.symbolic.dimensions import Dimension

    cases = [
        ("70B", {"parameter": 1}, 70e9),
        (" 70.6 B ", {"parameter": 1}, 70.6e9),
        ("15B", {"token": 1, "sequence": -1}, 15e9),
        ("70B", {"byte": 1}, 70),
        ("70 GB", {"parameter": 1}, 70e9),
        ("400 Gb/s", {"byte": 1, "time": -1, "device": -1}, 50e9),
        ("400 Gb/s", {"bit": 1, "time": -1}, 400e9),
        ("400 Gbps", {"byte": 1, "time": -1}, 50e9),
        ("80 GiB", {"byte": 1}, 80 * 2**30),
        ("8Ki", {"token": 1, "sequence": -1}, 8192),
        ("1979 TOP/s", {"flop": 1, "time": -1, "device": -1}, 1979e12),
        ("1979 TOPS", {"flop": 1, "time": -1, "device": -1}, 1979e12),
    ]
    found = modules.evaluate(
        """async (cases) => {
        const { readAs } = await import("/handful_explorers/web/parse_quantity.js");
        return cases.map(([text, wanted]) => readAs(text, wanted)); }""",
        [case[:2] for case in cases],
    )
    for (text, wanted, value), (theirs, written) in zip(cases, found, strict=True):
        ours, dimension = read_as(text, Dimension(**wanted))
        assert ours == theirs == value, text
        assert written == (
            None if dimension is None else {base: int(power) for base, power in dimension.powers}
        )


def test_units_fit_and_are_called_the_same(modules):
    from handful.symbolic.dimensions import Dimension
    from handful_study.check import dimension_in_words

    dimensions = [
        *{read(f"1 {unit}")[1] for unit in UNITS if unit not in ("1", "W")},
        Dimension(),
        Dimension(time=-1),
        Dimension(byte=2, time=-2, token=-1),
        Dimension(token=1, sequence=-1),
        Dimension(byte=1, device=-1),
        Dimension(flop=1, device=-1, time=-1),
    ]
    pairs = [(a, b) for a in dimensions for b in dimensions]
    plain = [[{base: int(power) for base, power in one.powers} for one in pair] for pair in pairs]
    found = modules.evaluate(
        """async (pairs) => {
        const { fits } = await import("/handful_explorers/web/parse_quantity.js");
        const { dimensionInWords } = await import("/handful_study/web/check.js");
        return pairs.map(([a, b]) => [fits(a, b), dimensionInWords(a)]); }""",
        plain,
    )
    assert [[fits(a, b), dimension_in_words(a)] for a, b in pairs] == found


# Formulas

OPERATORS = (" + ", " - ", "*", " * ", "/", " ", "^", "**", "×", " · ", "÷", " − ")


def formula(rng: random.Random, depth: int = 0) -> str:
    kind = rng.randrange(9) if depth < 4 else rng.randrange(2)
    if kind == 0:
        return rng.choice(("2", "0.5", ".25", "1e3", "3.", "10", "0", "7e-2", "1e16"))
    if kind == 1:
        return rng.choice(("N", "F", "BW", "w", "x_1", "N_total"))
    if kind == 2:
        return f"({formula(rng, depth + 1)})"
    if kind == 3:
        return rng.choice(("-", "+", "−", "--", "-+")) + formula(rng, depth + 1)
    if kind == 4:
        name = rng.choice(expressions.FUNCTIONS)
        many = rng.choice((2, 3)) if name in ("max", "min") else 1
        return f"{name}({', '.join(formula(rng, depth + 1) for _ in range(many))})"
    left, sign = formula(rng, depth + 1), rng.choice(OPERATORS)
    return f"{left}{sign}{formula(rng, depth + 1)}"


def spoiled(rng: random.Random, text: str) -> str:
    at = rng.randrange(len(text) + 1)
    return (
        text[:at]
        + rng.choice(
            (
                "",
                "",
                "!",
                "(",
                ")",
                ",",
                "=",
                "'",
                "max",
                "sqrt ",
                "^",
                "*",
                "é",
                "😀",
                "\u00a0",
                "2 3",
                "..",
                "constructor",
                "log(",
            )
        )
        + text[at + rng.randrange(3) :]
    )


def python_parses(text: str, known: dict):
    try:
        tree = expressions.parse(text)
    except ExpressionError as error:
        return str(error)
    return [
        tree,
        safe(
            expressions.evaluate(
                tree, {name: known.get(name, 2.5) for name in expressions.names(tree)}
            )
        ),
        expressions.written_names(text),
    ]


def equal(ours, theirs) -> bool:
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(equal, ours, theirs))
    return same(
        ours,
        {"Infinity": "inf", "-Infinity": "-inf", "NaN": "nan"}.get(theirs, theirs)
        if isinstance(theirs, str)
        else theirs,
    )


def test_formulas_are_read_and_computed_the_same(modules):
    rng, known = random.Random(4), {"N": 3.0, "F": -2.0, "BW": 0.5, "w": 0.0, "x_1": 7.0}
    good = [formula(rng) for _ in range(1500)]
    texts = [
        *good,
        *(spoiled(rng, text) for text in good),
        "",
        " ",
        "(" * 45 + "N" + ")" * 45,
        "-" * 60 + "N",
        "N^" * 60 + "2",
        "N" * 301,
        "max(N)",
        "sqrt(N, F)",
        "sqrt 2",
        "max N",
        "2)",
        "(2",
        "N(w+1)",
        "2^0.5^3",
        "1e999",
        "(-8)^(1/3)",
        "0^-1",
        "(0-0)^-1",
        "log(0)",
        "max(sqrt(-1), 2)",
        "min(2, log(-1))",
        "floor(1/0)",
        "ceil(-1/0)",
        "1^(1/0)",
        "(-2)^1025",
        "exp(1000)",
        "0/0",
        "1/(0-0)",
    ]
    found = modules.evaluate(
        """async ([texts, known]) => {
        const { parse, writtenNames, ExpressionError } =
          await import("/handful_study/web/expressions.js");
        const { compile, symbols } = await import("/handful_explorers/web/tree.js");
        const valueOf = (name) => [name, Object.hasOwn(known, name) ? known[name] : 2.5];
        return texts.map((text) => {
          try {
            const tree = parse(text), names = Object.fromEntries([...symbols(tree)].map(valueOf));
            const value = compile(tree)(names);
            return [tree, Number.isFinite(value) ? value : String(value), writtenNames(text)];
          } catch (error) {
            if (error instanceof ExpressionError) return error.message;
            throw error; } }); }""",
        [texts, known],
    )
    wrong = [
        (text, ours, theirs)
        for text, theirs in zip(texts, found, strict=True)
        if not equal(ours := python_parses(text, known), theirs)
    ]
    assert wrong == []
    assert (
        sum(isinstance(theirs, list) for theirs in found) > 300
        and sum(isinstance(theirs, str) for theirs in found) > 300
    )


# Problems

CHECK = """async ([spec, jobs]) => {
  const { check, draw, shownTexts, rightValue, rightChoice } =
    await import("/handful_study/web/check.js");
  const safe = (x) => (typeof x === "number" && !Number.isFinite(x) ? String(x) : x);
  return jobs.map(([seed, answers]) => ({ drawn: draw(spec, seed), shown: shownTexts(spec, seed),
    right: spec.kind === "number" ? safe(rightValue(spec, seed))
      : spec.kind === "choice" ? rightChoice(spec, seed) : null,
    said: answers.map((answer) => {
      const { kind, says, turn } = check(spec, answer, seed);
      return [kind, says ?? null, turn ?? null]; }) })); }"""


def requests(problem) -> list[str]:
    """Return what the problem's texts draw, each once, as the pages number it."""
    texts = [
        problem.text.text,
        *(c.text for c in problem.choices),
        *(c.says for c in problem.choices),
        *(w.says for w in problem.wrong),
        *(hint.text for hint in problem.hints),
        problem.solution.text,
        *problem.rubric,
    ]
    return list(
        dict.fromkeys(
            " ".join(inside.split())
            for text in texts
            for role, _, inside in ROLE.findall(text)
            if role == "drawn"
        )
    )


def in_si(value: float, unit: str) -> str:
    return (
        f"{value!r} "
        f"{'' if unit in ('1', '%') else unit.replace('device', 'chip').replace('·', '-')}"
    ).strip()


def spelled(tree, problem) -> str:
    """Write a tree as a learner may write it."""
    if isinstance(tree, str):
        return letter(tree) if tree in problem.letters else repr(problem_default(tree))
    if not isinstance(tree, list):
        return f"({tree!r})" if tree < 0 else repr(tree)
    head, *parts = tree
    texts = [spelled(part, problem) for part in parts]
    return f"({f' {head} '.join(texts)})" if head in "+*/^" else f"{head}({', '.join(texts)})"


def problem_default(name: str) -> float:
    from handful.symbolic.quantities import table

    return table[name].default


def answers(problem, seed: int, rng: random.Random) -> list:
    """Return the right answer, each misconception, and what else people write."""
    if problem.kind == "choice":
        return [*range(len(problem.choices)), -1, 99, "", "two"]
    if problem.kind == "number":
        right, unit = problem.right(seed), problem.unit
        near = [
            right * factor
            for factor in (
                1,
                1.001,
                1 + problem.tolerance * 0.99,
                1 + problem.tolerance * 1.01,
                -1,
                1e3,
                1e-3,
                1e6,
                1e-9,
                1e12,
                1.7,
                0.3,
                0,
                -3,
            )
        ]
        first = [in_si(value, unit) for value in (right, *problem.wrong_values(seed))]
        return (
            first
            if seed not in MANY
            else [
                *first,
                *(in_si(value, unit) for value in near),
                format_value(right, unit, 6),
                repr(right),
                repr(right * 100),
                *(in_si(right * factor, unit) for factor in (2, 0.5, 8, 1 / 8, 72)),
                *(
                    in_si(right * problem.values(seed)[name] ** power, unit)
                    for name in problem.factors
                    for power in (1, -1)
                    if problem.values(seed)[name]
                ),
                *(
                    re.sub(r"^(-?[0-9]+)[.]([0-9]+)", r"\1,\2", format_value(right, unit, digits))
                    for digits in (3, 4, 6)
                ),
                f"{right:.6g} {problem.named_unit}",
                f"{right:.6g} {problem.named_unit.removesuffix('s').replace('-', '')}",
                f"US$ {right:.6g}",
                f"usd\u00a0{right:.6g}",
                *(
                    f"{sign}{right * 1e6:.6g}{rate}"
                    for sign in ("", "$", "USD ")
                    for rate in ("", "/M", " per 1M\u00a0tokens", " a million", "/MTok ", "/k")
                ),
                *(in_si(whole, unit) for whole in (math.floor(right), math.ceil(right))),
                f"{right / 1e9:.6g}B",
                f"{right * 8 / 1e9:.6g} Gb/s",
                "8 GB",
                "3 ms",
                "12 TB/s",
                "4 chips",
                "7 tokens per second",
                "50 %",
                "",
                "about ten",
                *(
                    form.format(in_si(right, unit))
                    for form in ("≈ {}", "~{}", "= {}", "T ≈ {}.", "1/{}", "3 / 7{}", "1/0 {}")
                ),
                f"{right:.6g} people",
                f"{right:.6g} users.",
                "1/277 s",
                "2/3e-3 s",
                "1/2,5 s",
                rng.choice(values(rng, 1)),
            ]
        )
    if problem.kind == "expression":
        if seed:
            return []
        trees = [problem.answer, *(wrong.tree for wrong in problem.wrong)]
        return [
            *(spelled(tree, problem) for tree in trees),
            *(f"{factor}*({spelled(trees[0], problem)})" for factor in (3, "-0.5", 1000, "(1/3)")),
            *map(letter, problem.letters),
            problem.letters[0],
            f"({spelled(trees[0], problem)})^2",
            *(re.sub(r"(?<=\w)\*(?=[A-Za-z])", "", spelled(tree, problem)) for tree in trees),
            "".join(map(letter, problem.letters)),
            "".join(map(letter, problem.letters)) + "^2/X",
            "1",
            "0",
            "1/0",
            "sqrt(-1)",
            "NOBODY",
            "2 +",
            "",
            "max(1, 2)",
            *(formula(rng) for _ in range(20)),
        ]
    asked = goal(problem, seed)
    size = asked.stages, asked.micro_batches
    known = [
        as_text(pipeline.SCHEDULES[name](*size).orders) for name in ("1f1b", "gpipe", "zero_bubble")
    ]
    alone = "\n".join(" ".join(f"F{j} B{j}" for j in range(1, size[1] + 1)) for _ in range(size[0]))
    return [
        *known,
        alone,
        *(shuffled(rng, text) for text in known for _ in range(6 if seed in MANY else 0)),
    ]


def shuffled(rng: random.Random, text: str) -> str:
    """Exchange a few pieces of a schedule.

    At times a piece is lost, doubled or foreign.
    """
    lines = [line.split() for line in text.split("\n")]
    for _ in range(rng.randrange(1, 4)):
        line = rng.choice(lines)
        i = rng.randrange(len(line) - 1)
        line[i], line[i + 1] = line[i + 1], line[i]
    if rng.random() < 0.3:
        line = rng.choice(lines)
        line[rng.randrange(len(line))] = rng.choice(
            ("", "F1", "B2", "W1", "I2", "F99", "f2", "X1", "F1 B1", "F0", "B٣")
        )
    return rng.choice(("\n", ";", " \n\n")).join(
        rng.choice(("", "1: ", "Stage 2 :")) + rng.choice((" ", ", ")).join(line) for line in lines
    )


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_answer_is_judged_the_same(modules, chapter):
    for problem in CHAPTERS[chapter]:
        rng, asked = random.Random(problem.id), requests(problem)
        jobs = [[seed, answers(problem, seed, rng)] for seed in SEEDS]
        found = modules.evaluate(CHECK, [spec(problem, asked), jobs])
        for (seed, given), theirs in zip(jobs, found, strict=True):
            compare(problem, seed, given, theirs, asked)


def compare(problem, seed: int, given: list, theirs: dict, asked: list[str]) -> None:
    where = f"{problem.id}, seed {seed}"
    assert theirs["drawn"] == problem.draw(seed), where
    assert theirs["shown"] == [problem.drawn_text(request, seed) for request in asked], where
    if problem.kind == "number":
        assert same(theirs["right"], problem.right(seed)), where
    if problem.kind == "choice":
        assert theirs["right"] == right_choice(problem, seed), where
    for answer, said in zip(given, theirs["said"], strict=True):
        ours = check(problem, answer, seed)
        # What is said of a known turn, or of a choice, stands in the page itself, with the numbers
        # compared above.
        spoken = (
            None
            if ours.turn is not None or (problem.kind == "choice" and ours.kind != "unread")
            else ours.says
        )
        assert said == [ours.kind, spoken, ours.turn], f"{where}: {answer!r}"


def test_what_the_book_prints_can_be_written_back():
    """A learner may copy how the book writes a number, whatever its unit."""
    rng = random.Random(1)
    for unit in set(UNITS) - {"cent"}:  # a cent is read as a share of a dollar
        for _ in range(60):
            value = 10 ** rng.uniform(-9, 24)
            text = format_value(value, unit, 6)
            found, dimension = read(text)
            assert math.isclose(found, value, rel_tol=1e-3 if unit[0] == "$" else 1e-5), text
            assert dimension is None if unit == "1" else dimension == read(f"1 {unit}")[1], text
