"""Tests that no result is typed in a chapter's prose.

What the prose says in figures is asked for, marked, or an input of what stands beside it. A bare
figure is let through where it is part of a name (H100, Llama 3.1 70B), a year, within maths or
code, or an input that a live number of the same section is given. Anything else has to be
``{live}``, ``{fact}``, ``{spoken}``, ``{lecture}``, ``{cite}`` or, where it is an
input of the book's own, ``{given}``.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

import pytest

from handful import facts
from handful.query import registry
from handful_site.extensions.roles import RoleError, parse_live

BOOK = Path(__file__).resolve().parents[2] / "book"
ROLE = re.compile(r"\{([\w-]+)\}(`+)(.+?)\2", re.S)
FIGURE = re.compile(r"(?<![\w.,])[−-]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?(?![\w])")
DATE = re.compile(
    r"\b(?:\d{1,2} "
    r")?(?:January|February|March|April|May|June|July|August|September|October|November|December)"
    r"(?: \d{1,2},?)?(?: \d{4})?\b|\b\d{4}-\d{2}-\d{2}\b|\b(?:19|20)\d\d\b"
)
# Names with figures in them that are no row of the facts.
NAMES = re.compile(
    r"arXiv[: "
    r"]\d{4}\.\d{4,5}|(?:GPT|Gemini|Claude|Opus|Sonnet|Haiku|Llama|Qwen|Gemma|Kimi|GLM|MiniMax|Phi|Mistral|Mixtral|"
    r"Grok|DeepSeek|DALL-E|CC "
    r"BY|Python|Chapter|chapter|HTTP|Apache|AES|SHA|Rubin|PCIe|DDR|HBM|NVMe|CXL|Gen|gen|"
    r"Ubuntu|Linux|WSL|Chrome|Edge|Firefox|Safari|containerd|CRI-O|runc|crun|"
    r"1F1B|ZB-H1)[ -]?\w*\d[\w.-]*(?: \d[\w.-]*)?"
)


def known_names() -> re.Pattern:
    """Names of chips, models and other rows of the facts, longest first."""
    found = {
        row.name
        for table in ("accelerators", "shapes", "models", "prices")
        for row in facts.load(table)
    }
    return re.compile(
        "|".join(
            re.escape(name)
            for name in sorted(found, key=len, reverse=True)
            if re.search(r"\d", name)
        )
    )


def sections(text: str) -> list[tuple[int, str]]:
    """Return (line of its beginning, text) of each part between headings.

    Front matter, code and maths are left out.
    """
    text = re.sub(r"\A---\n.*?\n---\n", lambda m: "\n" * m[0].count("\n"), text, flags=re.S)

    def gone(match: re.Match) -> str:
        return "\n" * match[0].count("\n")

    # What a sentence holds under is no prose; the sentence is.
    text = re.sub(r"\{(?:where|always)\}(`{2,})[^|`]+\|(.+?)\1(?!`)", r"\2", text, flags=re.S)
    text = re.sub(r"^(`{3,}|:{3,})\{(?:where|always)\}.*$", r"\1", text, flags=re.M)
    # Fences of code and of directives that hold no prose; admonitions keep theirs.
    text = re.sub(
        r"^(`{3,}|~{3,})\{?(?:code-cell|code|console|python|bash|text|math|image|glossary"
        r"|bibliography|toctree|json|toml)\b.*?^\1 *$",
        gone,
        text,
        flags=re.S | re.M,
    )
    # A question that a chapter asks is prose, and its fence does not open another.
    text = re.sub(r"^```\{(?:ask|recall)\}.*?\n(.*?)^```$", r"\n\1", text, flags=re.S | re.M)
    text = re.sub(r"^```\n.*?^```$|^:\w+:[^\n]*$|<!--.*?-->", gone, text, flags=re.S | re.M)
    text = re.sub(r"\$\$.*?\$\$|(?<!\\)\$[^$\n]+\$", gone, text, flags=re.S)
    found, start = [], 0
    for match in [*re.finditer(r"^#+ .*$", text, flags=re.M), None]:
        end = match.start() if match else len(text)
        found.append((text[:start].count("\n") + 1, text[start:end]))
        start = end
    return [part for part in found if part[1].strip()]


def value(figure: str) -> float:
    return float(figure.replace(",", "").replace("−", "-"))


def bare_figures(text: str) -> list[str]:
    """Return the bare figures of a text as 'line: figure in “the words around it”'."""
    names, found = known_names(), []
    for first, section in sections(text):
        inputs = set()
        for role, _, inside in ROLE.findall(section):
            if role == "live":
                with suppress(RoleError):
                    inputs |= {
                        float(v)
                        for v in parse_live(" ".join(inside.split()))[1].values()
                        if not isinstance(v, str)
                    }

        def blank(match: re.Match) -> str:
            return re.sub(r"[^\n]", " ", match[0])

        rest = ROLE.sub(blank, section)
        rest = re.sub(r"^ *\d+\. ", blank, rest, flags=re.M)  # numbered lists
        rest = re.sub(r"`[^`\n]+`|\]\([^)]*\)|https?://\S+", blank, rest)
        for pattern in (names, NAMES, DATE):
            rest = pattern.sub(blank, rest)
        for match in FIGURE.finditer(rest):
            if value(match[0]) not in inputs:
                around = " ".join(section[max(0, match.start() - 40) : match.end() + 30].split())
                found.append(
                    f"line {first + section[: match.start()].count(chr(10))}: {match[0]} in "
                    f"“{around}”"
                )
    return found


def assert_no_figures(path: Path, text: str) -> None:
    found = bare_figures(text)
    assert not found, (
        f"{path.name}, {found[0]}: a number in prose is computed ({{live}}, {{fact}}, {{drawn}}), "
        f"marked as chosen or as quoted ({{given}}, {{spoken}}), or a word; {len(found) - 1} more"
    )


@pytest.mark.parametrize("path", sorted(BOOK.glob("*.md")), ids=lambda path: path.stem)
def test_no_result_is_typed(path):
    assert_no_figures(path, path.read_text("utf-8"))


@pytest.mark.parametrize(
    "path",
    sorted(
        path
        for kind in ("cards", "problems")
        for path in BOOK.parent.glob(f"exercises/{kind}/*.md")
    ),
    ids=lambda path: f"{path.parent.name}/{path.stem}",
)
def test_no_result_is_typed_in_exercises(path):
    """Heads are data, drawn or computed; what they say to the learner is prose as well.

    Of assignments: test_assignment_figures.
    """
    text = path.read_text("utf-8")
    said = re.sub(r"^(?! +(?:- )?(?:says|text): ).*$", "", text, flags=re.M)
    prose = re.sub(
        r"^```yaml\n.*?^```$", lambda m: "\n" * m[0].count("\n"), text, flags=re.S | re.M
    )
    assert_no_figures(path, re.sub(r"^## .*$", "##", prose, flags=re.M))
    assert_no_figures(path, re.sub(r"^ +(?:- )?(?:says|text): ", "", said, flags=re.M))


@pytest.mark.parametrize(
    "text, caught",
    [
        ("A step takes 3.5 ms.", 1),
        ("A step takes {live}`step_time batch=256`.", 0),
        ("At a batch of 256 it takes {live}`step_time batch=256`.", 0),
        ("At a batch of 257 it takes {live}`step_time batch=256`.", 1),
        ("## One\n{live}`step_time batch=256`\n## Two\nA batch of 256.", 1),
        ("Eight H100, Llama 3.1 70B, FP8, in 2026, on 3 April 2026.", 0),
        ("It holds $x^2 + 7$ and `a = 5`.", 0),
        ("The lecture says {spoken}`300`; we take {given}`4,096`.", 0),
        ("```{code-cell} ipython3\nx = 5\n```\nThen 5 again.", 1),
        ("````{admonition} Is it 17?\n:class: dropdown\nNo: 18.\n````", 2),
        (":::{where} context > 8192\nIt is 17.\n:::", 1),
        ("```{ask} full\nHow many of 17?\n\n- people\n```\nIt is 18.\n```{recall}\n```", 2),
        ("{where}``context > 8192 | It is 17.``", 1),
    ],
)
def test_what_counts_as_bare(text, caught):
    assert len(bare_figures(text)) == caught


COLOURS = re.compile(
    r"\b(red|orange|yellow|green|blue|purple|violet|pink|brown|grey|gray|darker|pale(r)?)\b"
    r"|\bis dark\b|\b(black|white|dark|light(er)?) (line|square|curve|dot|bar|box)",
    re.I,
)


@pytest.mark.parametrize(
    "path",
    [*sorted(BOOK.glob("*.md")), *sorted((BOOK.parent / "lib/handful_explorers").glob("*.py"))],
    ids=lambda path: path.stem,
)
def test_what_is_drawn_goes_by_name_and_not_by_colour(path):
    """A palette has two themes and a print; a curve has one name."""
    lines = path.read_text("utf-8").splitlines()
    assert [line for line in lines if COLOURS.search(line)] == []


LIVE_NUMBER = re.compile(r"\{live\}`([^`]+)`")
COUNTED = re.compile(r"\{live\}`(\w+)([^`]*)`")


def test_your_models_counts_are_whole():
    """There is no half sequence, token or network: "room for 26.5" is room for 26."""
    text = (BOOK / "your-model.md").read_text("utf-8")
    counts = {
        name + rest
        for name, rest in COUNTED.findall(text)
        if (registry()[name].gives.unit in ("sequence", "token") or name == "domains_to_hold")
        and name != "weight_uses_at_balance"  # a ratio of two rates
    }
    assert len(counts) > 10
    assert [asked for asked in sorted(counts) if "whole=" not in asked] == []


def test_your_models_table_says_where_the_room_ends():
    text = (BOOK / "your-model.md").read_text("utf-8")
    after = text.split("| Sequences at once |")[1].split("## What does it cost?")[0]
    last = max(int(asked) for asked in re.findall(r"batch=(\d+)", after))
    assert f"{{where}} batch_that_fits >= 1 and batch_that_fits < {last}\n" in after
    assert "{where} batch_that_fits < 1\n" in after


@pytest.mark.parametrize("page", sorted(path.stem for path in BOOK.glob("*.md")))
def test_a_page_rounds_a_number_once(page):
    """What a chapter, its cards and its problems ask for twice has the same digits in all."""
    exercises = BOOK.parent / "exercises"
    found: dict[tuple, set] = {}
    for folder in (BOOK, exercises / "cards", exercises / "problems"):
        path = folder / f"{page}.md"
        for asked in LIVE_NUMBER.findall(path.read_text("utf-8") if path.exists() else ""):
            name, given, digits = parse_live(asked)
            given.pop("unit", None)
            whole = given.pop("whole", "")
            key = name, tuple(sorted((key, str(value)) for key, value in given.items()))
            found.setdefault(key, set()).add((digits, whole))
    assert {key: shown for key, shown in found.items() if len(shown) > 1} == {}
