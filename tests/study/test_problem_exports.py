"""Tests of problems as files.

Every answer in every file is computed anew and compared with the problem itself.
"""

from __future__ import annotations

import io
import itertools
import json
import re
import sys
from xml.etree import ElementTree

import pytest

from handful.cli import main
from handful_study import book, browser, markup, maths, printing
from handful_study.cards import cards
from handful_study.check import check, near, right_choice
from handful_study.export import cards_of_chapter
from handful_study.order import by_chapter, title
from handful_study.problem_export import (
    Drawn,
    answer_unit,
    as_json,
    as_markdown,
    as_moodle,
    as_object,
    as_text2qti,
    right_letter,
    select_problems,
    variants,
)
from handful_study.problems import problems
from handful_study.source import SourceError

PROBLEMS = [pytest.param(problem, id=problem.id) for problem in select_problems()]
NUMBERS = [param for param in PROBLEMS if param.values[0].kind == "number"]
MANY = 3


@pytest.fixture
def run(capsys):
    def call(*argv):
        code = main(list(argv))
        return (code, *capsys.readouterr())

    return call


# A problem for a seed


@pytest.mark.parametrize("problem", NUMBERS)
def test_the_unit_that_is_asked_for_is_one_that_can_be_answered_in(problem):
    for seed in range(60):
        drawn = Drawn(problem, seed)
        assert 1e-3 < abs(drawn.number) < 1e6 or drawn.unit == "FLOP", (
            f"seed {seed}: {drawn.number} {drawn.unit}"
        )
        if drawn.unit != "millionths of a dollar":
            assert check(problem, f"{drawn.number!r} {drawn.unit}", seed).kind == "right", (
                f"seed {seed}: {drawn.number} {drawn.unit}"
            )
        assert near(drawn.number * drawn.scale, problem.right(seed), 1e-12)
        # Rounded to four digits, as somebody may answer, it is right still.
        assert near(float(f"{drawn.number:.4g}"), drawn.number, problem.tolerance)


@pytest.mark.parametrize(
    ("value", "unit", "found"),
    [
        (3.2e-3, "s", (1e-3, "ms")),
        (7200.0, "s", (3600.0, "h")),
        (1.0, "token", (1, "tokens")),
        (70e9, "parameter", (1e9, "billion parameters")),
        (-5, "1", (1, "")),
        (0.004, "$", (1e-6, "millionths of a dollar")),
        (12, "$", (1, "dollars")),
        (4e6, "$", (1e6, "million dollars")),
        (2.5 / 3600, "$/device/s", (1 / 3600, "dollars per chip-hour")),
    ],
)
def test_units(value, unit, found):
    scale, words = answer_unit(value, unit)
    assert (scale, words) == (pytest.approx(found[0]), found[1])


def test_variants_differ_in_what_is_drawn():
    for problem in select_problems():
        found = variants(problem, 0, MANY)
        assert 1 <= len(found) <= MANY and len(
            {json.dumps(problem.draw(one.seed), default=str) for one in found}
        ) == len(found)
        assert len(found) > 1 or not any(
            len(values) > 1 for values in problem.choices_drawn.values()
        )
    with pytest.raises(SourceError, match=r"100 .*got 0"):
        variants(problem, 0, 0)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_every_text_can_be_shown_anywhere(problem):
    for seed in range(4):
        drawn = Drawn(problem, seed)
        said = [says for _, says in drawn.wrong] if drawn.kind == "number" else []
        for text in [
            drawn.text,
            *drawn.hints,
            drawn.solution,
            *said,
            *(part for choice, says, _ in drawn.choices for part in (choice, says)),
        ]:
            for token in markup.parser().parse(text):
                for part in [token, *(token.children or ())]:
                    if part.type.startswith(("math", "amsmath")):
                        maths.tree(part.content.strip())  # a MathsError says what it cannot show
            shown = markup.text(text)
            assert shown and not re.search(r"\\[a-zA-Z]+|\{\w+\}`|nan", shown), shown


# Moodle


def moodle(some=None, seed: int = 0, many: int = MANY):
    return ElementTree.fromstring(
        as_moodle(select_problems() if some is None else some, seed, many).encode()
    )


def text_of(element, path: str) -> str:
    return element.find(path).text or ""


def test_moodle_has_a_category_for_each_chapter_and_a_question_for_each_variant():
    quiz = moodle()
    names = [
        text_of(question, "category/text")
        for question in quiz
        if question.get("type") == "category"
    ]
    assert names == [
        f"$course$/top/{book.TITLE}/{title(chapter)}" for chapter in by_chapter(problems().values())
    ]
    ids = [text_of(question, "idnumber") for question in quiz if question.get("type") != "category"]
    assert ids == [
        f"{one.id}-{one.seed}"
        for problem in select_problems()
        for one in variants(problem, 0, MANY)
    ] and len(set(ids)) == len(ids)
    named = quiz.findall("question[name]")
    assert len(named) == len(ids)
    assert all("<" not in text_of(question, "name/text") for question in named)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_every_answer_that_moodle_is_given_is_computed_anew(problem):
    for question in moodle([problem], seed=5).findall("question[idnumber]"):
        seed = int(text_of(question, "idnumber").rpartition("-")[2])
        text, answers = text_of(question, "questiontext/text"), question.findall("answer")
        assert question.find("questiontext").get("format") == "html" and text_of(
            question, "generalfeedback/text"
        ).startswith("<p>")
        if problem.kind == "number":
            assert question.get("type") == "numerical" and [
                answer.get("fraction") for answer in answers
            ] == ["100", *["0"] * len(problem.wrong)]
            unit = re.search(
                r"Answer with a number(?: in (.*?))?; within (.*?) % of the answer", text
            )
            assert float(unit[2]) == pytest.approx(100 * problem.tolerance)
            ranges = [
                (float(text_of(answer, "text")), float(text_of(answer, "tolerance")))
                for answer in answers
            ]
            for turn, ((value, tolerance), answer) in enumerate(
                zip(ranges, answers, strict=True), -1
            ):
                assert tolerance == pytest.approx(problem.tolerance * abs(value), rel=1e-4)
                if unit[1] != "millionths of a dollar":
                    verdict = check(problem, f"{value!r} {unit[1] or ''}".strip(), seed)
                    assert (verdict.kind, verdict.turn) == (
                        ("right", None) if turn < 0 else ("wrong", turn)
                    )
                assert text_of(answer, "feedback/text").startswith("<p>")
            # No value can be taken for two answers.
            ordered = sorted((value - tolerance, value + tolerance) for value, tolerance in ranges)
            assert all(high < low for (_, high), (low, _) in itertools.pairwise(ordered))
        elif problem.kind == "choice":
            assert question.get("type") == "multichoice" and text_of(question, "single") == "true"
            assert [answer.get("fraction") for answer in answers].index("100") == right_choice(
                problem, seed
            )
            assert (
                len(answers) == len(problem.choices)
                and sum(answer.get("fraction") == "100" for answer in answers) == 1
            )
            assert all(
                answer.get("format") == "html" and text_of(answer, "feedback/text")
                for answer in answers
            )
        else:
            assert question.get("type") == "essay" and text_of(
                question, "graderinfo/text"
            ).startswith("<p>")
        if question.get("type") != "essay":
            assert len(question.findall("hint")) == 2


def test_moodle_s_html_is_data_and_its_maths_is_maths():
    text = as_moodle(select_problems(), 0, 1)
    assert text.startswith('<?xml version="1.0" encoding="utf-8"?>') and "<script" not in text
    html = re.findall(r"<!\[CDATA\[(.*?)\]\]>", text, re.S)
    assert len(html) > 5 * len(problems()) and any(r"\(" in part for part in html)
    for part in html:
        ElementTree.fromstring(f"<div>{part}</div>")  # well-formed by itself
        assert "$" not in re.sub(r"\$[\d.,]+", "", part), part


# Canvas


def test_text2qti_has_every_question():
    text = as_text2qti(select_problems(), 0, MANY)
    assert (
        len(re.findall(r"^Title: ", text, re.M))
        == len(re.findall(r"^1\.  ", text, re.M))
        == sum(len(variants(problem, 0, MANY)) for problem in select_problems())
    )
    answers = [float(value) for value in re.findall(r"^=   (\S+) \+- 2%$", text, re.M)]
    assert answers and min(map(abs, answers)) * 0.98 >= 1e-4  # which is the least that it takes
    assert len(re.findall(r"^\*[a-h]\) ", text, re.M)) == sum(
        len(variants(problem, 0, MANY)) for problem in select_problems() if problem.kind == "choice"
    )
    assert text.count("\nGROUP\n") == text.count("\nEND_GROUP\n")


def test_text2qti_reads_it():
    from text2qti.config import Config
    from text2qti.quiz import Question, Quiz

    quiz = Quiz(
        as_text2qti(select_problems(), 0, MANY), config=Config(), source_name="problems.txt"
    )
    assert quiz.title_raw == f"{book.TITLE}: problems"
    read = [one for one in quiz.questions_and_delims if isinstance(one, Question)]
    assert len(read) == sum(len(variants(problem, 0, MANY)) for problem in select_problems())


# For programs and readers


def test_json_gives_text_answer_unit_and_tolerance_for_a_seed():
    found = {
        row["id"]: row
        for row in json.loads(as_json(select_problems(), 7, "https://example.org"))["problems"]
    }
    assert list(found) == [problem.id for problem in select_problems()]
    for problem in select_problems():
        row = found[problem.id]
        assert (row["kind"], row["level"], row["seed"], len(row["hints"])) == (
            problem.kind,
            problem.level,
            7,
            2,
        )
        assert (
            row["section_address"]
            == f"https://example.org/{problem.chapter}.html#{problem.section}"
            and "{drawn}" not in json.dumps(row)
        )
        if problem.kind == "number":
            assert (row["answer"], row["unit"], row["tolerance"]) == (
                problem.right(7),
                problem.unit,
                problem.tolerance,
            )
            assert [wrong["value"] for wrong in row["wrong"]] == problem.wrong_values(7)
        elif problem.kind == "choice":
            assert [choice["right"] for choice in row["choices"]].index(True) == right_choice(
                problem, 7
            )


def test_markdown_has_every_problem_with_its_solution():
    text = as_markdown(select_problems(), 3)
    assert re.findall(r"^### (.*)$", text, re.M) == [problem.id for problem in select_problems()]
    assert text.count("\n#### Hint\n") == 2 * len(problems()) and text.count(
        "\n#### Solution\n"
    ) == len(problems())
    assert len(re.findall(r"^Right is [A-H]\.$", text, re.M)) == sum(
        problem.kind == "choice" for problem in select_problems()
    )


# Paper


def parsed(html: str):
    from bs4 import BeautifulSoup

    return BeautifulSoup(html, "html.parser")


def test_a_sheet_asks_for_nothing_and_runs_nothing():
    for html in (
        printing.card_sheets(cards_of_chapter()),
        printing.problem_sheets(select_problems(), [0, 1], solutions=True),
    ):
        soup = parsed(html)
        assert not soup.find_all(["script", "link", "iframe", "object"]) and not soup.find_all(
            src=re.compile("^(?!data:)")
        )
        links = soup.find_all("a")
        assert links and all(link["href"].startswith("https://www.youtube.com/") for link in links)
        assert soup.find_all("math") and not any(
            "\\" in code.text for code in soup.find_all("code")
        ), "a formula stayed TeX"
        assert "default-src 'none'" in html


def test_cards_on_paper():
    soup = parsed(printing.card_sheets(cards_of_chapter(), "https://example.org"))
    pairs = soup.select(".pair")
    assert len(pairs) == len(cards()) and [h.text for h in soup.select("h2")] == [
        title(chapter) for chapter in by_chapter(cards().values())
    ]
    assert all(len(pair.find_all(recursive=False)) == 2 for pair in pairs)


def test_problems_on_paper_with_and_without_solutions():
    some = select_problems("latency-and-cost")
    without, more = (
        parsed(printing.problem_sheets(some, [3, 4], solutions=value)) for value in (False, True)
    )
    assert len(without.select(".problem")) == len(more.select(".problem")) == 2 * len(some)
    assert not without.select(".solution") and len(more.select(".solution")) == 2 * len(some)
    for number, (shown, problem) in enumerate(
        zip(more.select(".solution"), [*some, *some], strict=True), 1
    ):
        drawn = Drawn(problem, 3 if number <= len(some) else 4)
        assert (drawn.shown or f"{right_letter(drawn)}.") in shown.h3.text
    numbers = [shown.text for shown in without.select(".problem")]
    assert numbers[: len(some)] != numbers[len(some) :]
    # What is to be found is not given away.
    for problem, shown in zip(some, without.select(".problem")[: len(some)], strict=True):
        drawn = Drawn(problem, 3)
        assert not drawn.shown or drawn.shown not in shown.text


def test_a_picture_is_within_the_page(tmp_path, monkeypatch):
    import dataclasses

    from handful_study import pictures
    from handful_study.source import Part

    (tmp_path / "cards").mkdir()
    (tmp_path / "cards" / "a.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    monkeypatch.setattr(pictures, "folder", lambda: tmp_path)
    card = dataclasses.replace(cards_of_chapter()[0], back=Part("Back", "![A figure](a.svg)", 1))
    assert parsed(printing.card_sheets([card])).img["src"].startswith("data:image/svg+xml;base64,")


@pytest.mark.browser
def test_pdf(run, tmp_path):
    path = tmp_path / "sheet.pdf"
    code, out, _ = run(
        "problems",
        "print",
        "--chapter",
        "latency-and-cost",
        "--seed",
        "3",
        "--variants",
        "2",
        "--solutions",
        "--pdf",
        "-o",
        str(path),
    )
    assert (
        (code, out) == (0, "")
        and path.read_bytes().startswith(b"%PDF-")
        and path.stat().st_size > 10_000
    )
    assert len(re.findall(rb"/Type\s*/Page\b", path.read_bytes())) >= 4
    assert run("cards", "print", "--pdf", "--chapter", "latency-and-cost", "-o", str(path))[
        0
    ] == 0 and path.read_bytes().startswith(b"%PDF-")


def test_without_chromium_one_sentence(run, monkeypatch, tmp_path):

    monkeypatch.setattr(browser, "find_browser", lambda: None)
    code, out, err = run("cards", "print", "--pdf", "-o", str(tmp_path / "x.pdf"))
    assert (
        (code, out) == (1, "")
        and err.startswith("handful: A PDF needs Chromium or Chrome and the package playwright")
        and err.count("\n") == 1
    )
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "playwright.sync_api", None)
    assert run("cards", "print", "--pdf", "-o", str(tmp_path / "x.pdf"))[0] == 1


# The commands


def test_problems_are_listed(run):
    code, out, _ = run("problems", "list")
    assert code == 0 and [line.split()[0] for line in out.splitlines()] == [
        problem.id for problem in select_problems()
    ]
    judged = json.loads(run("problems", "list", "--level", "judge", "--json")[1])
    assert [row["id"] for row in judged] == [
        problem.id for problem in select_problems() if problem.level == "judge"
    ]


@pytest.mark.parametrize("kind", ["number", "expression", "choice"])
def test_a_problem_is_shown_and_its_solution_only_on_demand(run, kind):
    problem = next(problem for problem in select_problems() if problem.kind == kind)
    code, out, _ = run("problems", "show", problem.id, "--seed", "4")
    assert (
        code == 0
        and out.startswith(f"{problem.id} · {problem.level} · seed 4\n")
        and "Hint" not in out
        and "Solution" not in out
    )
    assert ("\nA. " in out) == (kind == "choice") and ("formula in" in out) == (
        kind == "expression"
    )
    code, out, _ = run("problems", "show", problem.id, "--seed", "4", "--hints", "--solution")
    assert out.count("\nHint: ") == 2 and "\nSolution: " in out
    assert json.loads(
        run("problems", "show", problem.id, "--seed", "4", "--json")[1]
    ) == json.loads(json.dumps(as_object(problem, 4)))
    assert re.match(
        rf"{problem.id} · {problem.level} · seed \d+\n", run("problems", "show", problem.id)[1]
    )


@pytest.mark.parametrize("problem", PROBLEMS)
def test_answers_are_checked(run, problem):
    seed = 2
    drawn = Drawn(problem, seed)
    if problem.kind == "choice":
        right, wrong = right_letter(drawn), "A" if right_letter(drawn) != "A" else "B"
        assert (
            json.loads(
                run("problems", "check", problem.id, "--seed", "2", right.lower(), "--json")[1]
            )["verdict"]
            == "right"
        )
        assert (
            json.loads(run("problems", "check", problem.id, "--seed", "2", wrong, "--json")[1])[
                "verdict"
            ]
            == "wrong"
        )
    elif problem.kind == "number" and drawn.unit != "millionths of a dollar":
        assert run(
            "problems", "check", problem.id, "--seed", "2", f"{drawn.number!r} {drawn.unit}"
        )[:2] == (0, "Right.\n")
        if drawn.wrong and drawn.wrong[0][0] > 0:
            value, says = drawn.wrong[0]
            assert run("problems", "check", problem.id, "--seed", "2", f"{value!r} {drawn.unit}")[
                :2
            ] == (0, markup.text(says, 80) + "\n")


@pytest.mark.parametrize(
    ("format", "start"),
    [("markdown", "# A Handful"), ("json", "{"), ("moodle", "<?xml"), ("text2qti", "Quiz title:")],
)
def test_exports(run, tmp_path, format, start):
    path = tmp_path / "problems.out"
    code, out, _ = run(
        "problems",
        "export",
        "--format",
        format,
        "--seed",
        "3",
        "--variants",
        "2",
        "--level",
        "judge",
        "-o",
        str(path),
    )
    assert (code, out) == (0, "") and path.read_text("utf-8").startswith(start)


def test_without_a_name_it_goes_to_the_terminal(run, monkeypatch):
    out = io.TextIOWrapper(io.BytesIO(), "utf-8")
    monkeypatch.setattr(sys, "stdout", out)
    assert main(["problems", "export", "--format", "json", "--chapter", "pipelining"]) == 0
    assert json.loads(out.buffer.getvalue())["title"] == book.TITLE


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (
            ["problems", "show", "step-of-a-dense"],
            "There is no problem 'step-of-a-dense'; the nearest are step-of-a-dense-model",
        ),
        (
            ["problems", "show", "step-of-a-dense-model", "--seed", "-1"],
            "A seed is a whole number from 0 to 4294967295; got -1.",
        ),
        (
            ["problems", "check", "step-of-a-dense-model", "3 ms"],
            "The following arguments are required: --seed",
        ),
        (
            ["problems", "check", "step-of-a-dense-model", "--seed", "1", "three"],
            "'three' is no number",
        ),
        (
            ["problems", "list", "--level", "hard"],
            "There is no level 'hard'; there are apply, derive, judge.",
        ),
        (
            ["problems", "export", "--format", "moodle", "--variants", "1000"],
            "From 1 to 100 variants can be made; got 1000.",
        ),
        (["problems", "print", "--variants", "0"], "From 1 to 100 variants can be made; got 0."),
        (["problems", "print", "--only", "nothing"], "There is no problem 'nothing'"),
    ],
)
def test_wrong_input_is_one_sentence_and_exit_code_2(run, argv, sentence):
    code, out, err = run(*argv)
    assert (
        (code, out) == (2, "") and err.startswith(f"handful: {sentence}") and err.count("\n") == 1
    )
