"""Tests of the teacher's pages.

Every name that a course uses exists, and the program takes every command line that they show.
"""

from __future__ import annotations

import argparse
import itertools
import re
import shlex
from pathlib import Path

import pytest
import yaml

from handful import cli
from handful_classroom.release import assignment, variants
from handful_site.extensions import teaching

BOOK = Path(__file__).resolve().parents[2] / "book"
SMALLEST = Path(__file__).parents[1] / "data" / "smallest-assignment.md"
PAGES = ("teaching", "assignments", "administrators")
AT_SCALE = BOOK.parent / "lib" / "handful_classroom" / "AT_SCALE.md"
TEXT = {page: (BOOK / f"{page}.md").read_text("utf-8") for page in PAGES} | {
    "at-scale": AT_SCALE.read_text("utf-8")
}
COURSES = ("workshop", "module", "course")


# Courses


def test_every_course_is_shown():
    assert re.findall(r"\{course\} (\w+)", TEXT["teaching"]) == list(COURSES)


@pytest.mark.parametrize("name", COURSES)
def test_all_that_a_course_names_is_there(name):
    for session in teaching.course(name).sessions:
        assert session.minutes > 0 and (
            session.says or session.pages or session.title in ("Break", "Lunch")
        ), session.title


def test_the_long_course_sets_every_assignment_once_and_reads_every_chapter():
    sessions = teaching.course("course").sessions
    assert sorted(one.name for session in sessions for one in session.assignments) == sorted(
        teaching.assignments()
    )
    assert {page for session in sessions for page in session.pages} >= {
        one.chapter for one in teaching.assignments().values()
    }
    assert len({page for session in sessions for page in session.pages}) == sum(
        len(session.pages) for session in sessions
    )


def test_an_assignment_in_class_has_its_time():
    for session in teaching.course("workshop").sessions:
        assert session.minutes >= sum(one.minutes for one in session.assignments), session.title


def test_the_hours_of_a_day_follow_each_other():
    sessions = teaching.course("workshop").sessions
    for one, following in itertools.pairwise(sessions):
        assert one.starts + one.minutes == following.starts


@pytest.mark.parametrize(
    "row, says",
    [
        ({"title": "A", "minutes": 5, "page": ["pipelining"]}, "there is no field 'page'"),
        ({"title": "A", "minutes": 5, "pages": ["pipelines"]}, "there is no page 'pipelines'"),
        (
            {"title": "A", "minutes": 5, "pages": ["pipelining"], "show": ["roofline"]},
            "there is no explorer on its pages 'roofline'",
        ),
        ({"title": "A", "minutes": 5, "problems": ["bubble"]}, "there is no problem 'bubble'"),
        ({"title": "A", "minutes": 5, "assign": ["pipelines"]}, "there is no page 'pipelines'"),
    ],
)
def test_a_name_that_is_not_there_is_one_sentence(row, says):
    with pytest.raises(teaching.TeachingError, match=rf"^courses\.toml, day, 'A': {says}"):
        teaching._session("day", row, None)


def test_the_page_leads_to_every_page_to_teach():
    toc = yaml.safe_load((BOOK.parent / "_toc.yml").read_text("utf-8"))
    taught = {
        entry["file"]
        for part in toc["parts"]
        if part["caption"] in ("The lecture", "Beyond it", "To study")
        for entry in part["chapters"]
    }
    links = {
        link.split("#")[0].removesuffix(".md")
        for link in re.findall(r"\]\(([^)\s]+)\)", TEXT["teaching"])
    }
    read = {page for session in teaching.course("course").sessions for page in session.pages}
    assert len(taught) == 17 and taught <= links | read


def test_counts_are_those_of_the_sources():
    assert teaching.count("cards") == f"{len(list(teaching.cards())):,}"
    assert int(teaching.count("explorers")) == len(
        set(
            re.findall(
                r"(\S+\.md):from handful_explorers\."
                r"(?!tables|schematics|own_server_plot)\w+ import (\w+)",
                "\n".join(
                    f"{path.name}:{line}"
                    for path in BOOK.glob("*.md")
                    if path.stem != "index"
                    for line in path.read_text("utf-8").splitlines()
                ),
            )
        )
    )
    for name in re.findall(r"\{count\}`(\w+)`", "\n".join(TEXT.values())):
        assert int(teaching.count(name).replace(",", "")) > 0


# Commands


def lines(text: str) -> list[str]:
    """Return what stands behind each prompt, continued lines joined, remarks left out."""
    found = []
    for block in re.findall(
        r"^ *```(?:\{code-block\} )?console\n(.*?)^ *```", text, flags=re.S | re.M
    ):
        for line in re.sub(r"\\\n\s*", " ", block).splitlines():
            if line.strip():
                assert line.lstrip().startswith("$ "), line
                found.append(re.sub(r"\s+# .*", "", line.lstrip()[2:]))
    return found


SHOWN = [
    line
    for text in (*TEXT.values(), (BOOK.parent / "README.md").read_text("utf-8"))
    for line in lines(text)
]


def parser(words: list[str]) -> argparse.ArgumentParser:
    """Return the parser that these words lead to."""
    found = cli._parser(words)
    for word in words:
        below = [
            action for action in found._actions if isinstance(action, argparse._SubParsersAction)
        ]
        if not below:
            break
        assert word in below[0].choices, f"handful {' '.join(words)}: there is no {word}"
        found = below[0].choices[word]
    return found


@pytest.mark.parametrize("line", [line for line in SHOWN if re.search(r"\bhandful ", line)])
def test_a_command_that_is_shown_is_taken(line):
    words = shlex.split(line[re.search(r"\bhandful ", line).end() :])
    options = cli._parser(words).parse_args(words)
    assert callable(options.run)


@pytest.mark.parametrize(
    "words",
    sorted(
        {
            " ".join(found.split())
            for text in TEXT.values()
            for found in re.findall(r"`handful ([^`]+)`", text)
        }
    ),
)
def test_a_command_that_is_named_is_there(words):
    parts = shlex.split(words)
    made = parser([part for part in parts if not part.startswith("-")])
    for part in parts:
        if part.startswith("-"):
            assert part.split("=")[0] in made._option_string_actions, words


@pytest.mark.parametrize(
    "option",
    sorted(
        {
            found
            for page in ("assignments", "administrators")
            for found in re.findall(r"`(--[\w-]+)", TEXT[page])
        }
    ),
)
def test_an_option_that_is_named_belongs_to_a_command_of_assignments(option):
    commands = parser(["assign"])
    below = next(
        action for action in commands._actions if isinstance(action, argparse._SubParsersAction)
    )
    assert any(option in made._option_string_actions for made in below.choices.values())


def test_what_is_made_can_be_made():
    makefile = (BOOK.parent / "Makefile").read_text("utf-8")
    named = {line.split()[1] for line in SHOWN if line.startswith("make ")} | {
        name for text in TEXT.values() for name in re.findall(r"`make ([\w-]+)", text)
    }
    assert named and all(re.search(rf"^{name}:", makefile, re.M) for name in named)


@pytest.mark.parametrize("line", [line for line in SHOWN if line.startswith("dask ")])
def test_dask_takes_what_is_shown(line):
    from distributed.cli import dask_scheduler, dask_worker

    _, which, *words = shlex.split(line)
    made = {"scheduler": dask_scheduler, "worker": dask_worker}[which].main
    assert made.make_context(which, words).params


@pytest.mark.parametrize("block", re.findall(r"```yaml\n(.*?)```", TEXT["at-scale"], flags=re.S))
def test_manifests_are_yaml_whose_parts_fit_together(block):
    found = list(yaml.safe_load_all(block))
    pods = [one["spec"] for one in found if one["kind"] == "Deployment"]
    for pod in pods:
        labels = pod["template"]["metadata"]["labels"]
        assert pod["selector"]["matchLabels"].items() <= labels.items()
        assert pod["template"]["spec"]["automountServiceAccountToken"] is False
    service = next(one for one in found if one["kind"] == "Service")
    assert (
        f"{service['metadata']['name']}:{service['spec']['ports'][0]['port']}"
        in block.split("args:")[1]
    )
    for word in re.findall(r"args: \[dask, (\w+)", block):
        assert word in ("worker", "scheduler")


def test_a_wheel_has_no_assignments():
    """Students install it, and a source holds solutions, hidden calls and model answers."""
    from handful_site.hatch_bundle import BUNDLES

    assert {"exercises/cards", "exercises/problems"} <= BUNDLES.keys()
    assert not any(Path("exercises/assignments").is_relative_to(path) for path in BUNDLES)


# The assignment that the page shows


def test_the_smallest_assignment_is_one():
    small = assignment.read(SMALLEST)
    question = small.questions["stream"]
    for variant in range(0, 200, 20):
        made = variants.calls(question, variant)
        right, ours = (
            variants.answers(question, found(small, variant)["stream"], made)
            for found in (variants.truths, variants.solutions)
        )
        mistaken = variants.answers(
            question, variants.misconceptions(small, variant)["stream"]["one-cache"], made
        )
        assert ours == pytest.approx(right, rel=question.tolerance)
        assert mistaken != pytest.approx(right, rel=question.tolerance)
    assert f"literalinclude}} ../tests/data/{SMALLEST.name}" in TEXT["assignments"]


# What an assignment says of itself


@pytest.mark.parametrize("name", sorted(assignment.assignments()))
def test_points_and_minutes_are_those_that_the_text_names(name):
    """The points and minutes are in plain Markdown, where nothing can compute them."""
    found = assignment.assignments()[name]
    text = "\n".join(piece.text for piece in found.pieces if piece.kind == "markdown")
    said = re.search(r"checked by program, for (\d+) points.{0,60}? for (\d+)\.", text, flags=re.S)
    assert said and (float(said[1]), float(said[2])) == (found.points, found.waiting)
    table = re.search(r"^\| Part \|(.*)\|\n\|[-:| ]+\|\n((?:\|.*\n?)+)", text, flags=re.M)
    if table:
        heads = [head.strip() for head in table[1].split("|")]
        rows = [
            [cell.strip() for cell in row.strip("| ").split("|")][1:]
            for row in table[2].splitlines()
        ]
        sums = {head: sum(float(row[i]) for row in rows) for i, head in enumerate(heads)}
        assert sums.get("Points", found.points + found.waiting) == found.points + found.waiting
        assert sums.get("Minutes", found.minutes) <= found.minutes
