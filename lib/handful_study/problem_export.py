"""Export of problems: Markdown and JSON for a seed, Moodle XML and text2qti with variants.

Every answer is computed when the file is made, in the unit that the question then asks for.

>>> answer_unit(0.02314, "s"), answer_unit(2.7e-7, "$/token"), answer_unit(671e9, "parameter")
((0.001, 'ms'), (1e-06, 'dollars per million tokens'), (1000000000.0, 'billion parameters'))
>>> answer_unit(3.29e24, "FLOP"), answer_unit(0.25, "%")
((1.0, 'FLOP'), (0.01, '%'))
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast
from xml.dom.minidom import Document, Element

from handful.symbolic.parse_quantity import read
from handful.units import NBSP, format_value

from . import book, markup, words
from .check import letter, right_choice
from .order import title
from .problem_model import Problem
from .problems import LEVELS, problems
from .source import Part, SourceError

FORMATS = {"markdown": ".md", "json": ".json", "moodle": ".xml", "text2qti": ".txt"}
MOST = 100  # variants of a problem


def select_problems(
    chapter: str | None = None, level: str | None = None, names: Sequence[str] = ()
) -> list[Problem]:
    """Return the problems of a chapter and a level, or all, in book order."""
    if level is not None and level not in LEVELS:
        raise SourceError(f"There is no level {level!r}; there are {', '.join(LEVELS)}.")
    found = [
        problem
        for problem in book.of_chapter(problems(), "problems", chapter)
        if level in (None, problem.level)
    ]
    return [problem for problem in found if problem.id in names] if names else found


class Drawn:
    """A problem for a seed: its texts as Markdown, its answer in the unit that is asked for."""

    def __init__(self, problem: Problem, seed: int) -> None:
        self.problem, self.seed, self.id, self.kind = problem, seed, problem.id, problem.kind
        self.scale: float
        self.unit: str
        self.scale, self.unit = (
            answer_unit(problem.right(seed), problem.unit) if problem.kind == "number" else (1, "")
        )

    def words(self, part: Part | str) -> str:
        """Return a text of the problem as plain Markdown, with the numbers of the seed."""
        text = part.text if isinstance(part, Part) else part
        return words.markdown(text, lambda request: self.problem.drawn_text(request, self.seed))

    @property
    def text(self) -> str:
        """Return the question, with a sentence on the form of the answer."""
        return f"{self.words(self.problem.text)}\n\n{self.how}".strip()

    @property
    def how(self) -> str:
        """Return the sentence on the form of the answer; "" where none is needed."""
        if self.kind == "number":
            tolerance = f"{100 * self.problem.tolerance:g} %"
            return (
                f"Answer with a number{f' in {self.unit}' if self.unit else ''}; within "
                f"{tolerance} of the answer counts as right."
            )
        if self.kind == "expression":
            return (
                "Answer with a formula in "
                f"{', '.join(f'`{letter(name)}`' for name in self.problem.letters)}."
            )
        return ""

    @property
    def number(self) -> float:
        """Return the answer in the unit that is asked for."""
        return self.problem.right(self.seed) / self.scale

    @property
    def wrong(self) -> list[tuple[float, str]]:
        """Return, for each misconception of a numerical problem, its result and its feedback."""
        values = self.problem.wrong_values(self.seed)
        return [
            (value / self.scale, self.words(wrong.says))
            for value, wrong in zip(values, self.problem.wrong, strict=True)
        ]

    @property
    def choices(self) -> list[tuple[str, str, bool]]:
        """Return the choices, each as its text, its feedback and whether it is right."""
        if self.kind != "choice":
            return []
        right = right_choice(self.problem, self.seed)
        return [
            (self.words(choice.text), self.words(choice.says), i == right)
            for i, choice in enumerate(self.problem.choices)
        ]

    @property
    def solution(self) -> str:
        """Return the solution as Markdown, followed by the rubric, where there is one."""
        lines = [self.words(self.problem.solution)]
        if self.problem.rubric:
            lines.append(
                "A good answer:\n\n"
                + "\n".join(f"- {self.words(line)}" for line in self.problem.rubric)
            )
        return "\n\n".join(lines)

    @property
    def hints(self) -> list[str]:
        """Return the hints as Markdown."""
        return [self.words(hint) for hint in self.problem.hints]

    @property
    def shown(self) -> str:
        """Return the answer as the book writes it; "" where it is not a number."""
        return (
            format_value(self.problem.right(self.seed), self.problem.unit)
            if self.kind == "number"
            else ""
        )


def answer_unit(value: float, unit: str) -> tuple[float, str]:
    """Return the unit, with its prefix, in which a value is best asked for.

    `value` is in a unit of `handful.units`; the result is the size of the better unit in SI, and
    its name in words.
    """
    text = format_value(value, unit).replace(NBSP, " ")
    match = re.fullmatch(r"[−-]?(\$?)[\d,.]+(?: × 10[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)? ?(.*)", text)
    if match is None:
        raise ValueError(f"{text!r} is not a number with its unit.")
    sign, rest = match.groups()
    if unit == "$" and abs(value) < 0.01:
        return 1e-6, "millionths of a dollar"
    rest = {"chip": "chips", "token": "tokens", "sequence": "sequences", "layer": "layers"}.get(
        rest, rest
    )
    if not rest:
        return 1, "dollars" if sign else ""
    dollars = f"dollars {rest}" if rest.startswith("per") else f"{rest} dollars"
    return read(f"{sign}1 {rest}")[0], dollars if sign else rest


def variants(problem: Problem, seed: int, many: int) -> list[Drawn]:
    """Return a problem for several seeds, from `seed` on.

    There are as many variants as are asked for, or as many as differ in what is drawn.
    """
    if not 1 <= many <= MOST:
        raise SourceError(f"From 1 to {MOST} variants can be made; got {many}.")
    found: dict[str, Drawn] = {}
    for one in range(seed, seed + 20 * many):
        found.setdefault(
            json.dumps(problem.draw(one), sort_keys=True, default=str), Drawn(problem, one)
        )
        if len(found) == many:
            break
    return list(found.values())


# For programs and readers


def as_object(problem: Problem, seed: int, site: str = "") -> dict:
    """Return a problem for a seed as plain values.

    Texts are Markdown; `answer` and the misconceptions are in SI units.
    """
    drawn = Drawn(problem, seed)
    found: dict[str, Any] = {
        "id": problem.id,
        "kind": problem.kind,
        "level": problem.level,
        "chapter": problem.chapter,
        "section": problem.section,
        "section_address": book.section_address(site, problem.chapter, problem.section),
        "lecture": problem.lecture,
        "seed": seed,
        "text": drawn.words(problem.text),
        "hints": drawn.hints,
        "solution": drawn.words(problem.solution),
        "rubric": [drawn.words(line) for line in problem.rubric],
    }
    if problem.kind == "number":
        found |= {
            "answer": problem.right(seed),
            "unit": problem.unit,
            "shown": drawn.shown.replace(NBSP, " "),
            "tolerance": problem.tolerance,
            "wrong": [
                {"value": value, "says": says}
                for value, (_, says) in zip(problem.wrong_values(seed), drawn.wrong, strict=True)
            ],
        }
    elif problem.kind == "expression":
        found |= {
            "letters": {letter(name): name for name in problem.letters},
            "answer": problem.answer,
            "wrong": [
                {"value": wrong.tree, "says": drawn.words(wrong.says)} for wrong in problem.wrong
            ],
        }
    elif problem.kind == "choice":
        found["choices"] = [
            {"text": text, "says": says, "right": right} for text, says, right in drawn.choices
        ]
    return found


def as_json(some: Iterable[Problem], seed: int, site: str = "") -> str:
    """Return the problems for a seed as a JSON document."""
    made = {
        "title": book.TITLE,
        "licence": book.LICENCE,
        "problems": [as_object(problem, seed, site) for problem in some],
    }
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"


def as_markdown(some: Iterable[Problem], seed: int, site: str = "") -> str:
    """Return the problems as one Markdown document, with hints and solutions."""
    lines, chapter = [f"# {book.TITLE}: problems\n\nNumbers drawn from the seed {seed}.\n"], None
    for problem in some:
        if problem.chapter != chapter:
            chapter = problem.chapter
            lines.append(f"## {title(chapter)}\n")
        drawn = Drawn(problem, seed)
        head = f"{problem.level.capitalize()} · {book.section_and_lecture(problem, site)}"
        lines.append(f"### {problem.id}\n\n*{head}*\n\n{drawn.text}\n")
        lines += [
            f"{mark}. {text}\n"
            for mark, (text, _, _) in zip("ABCDEFGH", drawn.choices, strict=False)
        ]
        lines += [f"#### Hint\n\n{hint}\n" for hint in drawn.hints]
        lines.append(f"#### Solution\n\n{drawn.solution}\n")
        if right := right_letter(drawn):
            lines.append(f"Right is {right}.\n")
    return "\n".join(lines)


def right_letter(drawn: Drawn) -> str:
    """Return the letter of the right choice; "" where there are no choices."""
    marked = zip("ABCDEFGH", drawn.choices, strict=False)
    return next((mark for mark, (_, _, right) in marked if right), "")


# Moodle


NUMERICAL = {"unitgradingtype": "0", "unitpenalty": "0", "showunits": "3", "unitsleft": "0"}
MULTICHOICE = {"single": "true", "shuffleanswers": "true", "answernumbering": "ABCD"}
ESSAY = {
    "responseformat": "editor",
    "responserequired": "1",
    "responsefieldlines": "10",
    "attachments": "0",
}


def as_moodle(some: Iterable[Problem], seed: int, many: int) -> str:
    """Return the problems as Moodle XML, with a category for each chapter.

    Problems that ask for a number become numerical questions, those of judgement become multiple
    choice, and those that ask for a formula become essays.

    A misconception is an answer worth nothing with its sentence as feedback.  Moodle tries answers
    in their order, and the right one comes first.
    """
    page = Document()
    quiz = page.appendChild(page.createElement("quiz"))
    chapter = None
    for problem in some:
        if problem.chapter != chapter:
            chapter = problem.chapter
            category = _add(quiz, "question", type="category")
            _add_text(category, "category", f"$course$/top/{book.TITLE}/{title(chapter)}")
        for drawn in variants(problem, seed, many):
            _add_question(quiz, drawn)
    return page.toxml(encoding="utf-8").decode("utf-8") + "\n"


def _add(parent: Element, name: str, content: str | None = None, **attributes: str) -> Element:
    document = cast(Document, parent.ownerDocument)
    made = parent.appendChild(document.createElement(name))
    for key, value in attributes.items():
        made.setAttribute(key, value)
    if content is not None:
        made.appendChild(document.createTextNode(content))
    return made


def _add_text(parent: Element, name: str, content: str) -> None:
    _add(_add(parent, name), "text", content)


def _add_html(parent: Element, name: str, markdown: str) -> None:
    _fill_html(_add(parent, name, format="html"), markdown)


def _fill_html(made: Element, markdown: str) -> None:
    data = cast(Document, made.ownerDocument).createCDATASection(markup.html(markdown))
    _add(made, "text").appendChild(data)


def _add_fields(parent: Element, fields: Mapping[str, str]) -> None:
    for name, value in fields.items():
        _add(parent, name, value)


def _add_question(quiz: Element, drawn: Drawn) -> None:
    problem = drawn.problem
    kind = {"number": "numerical", "choice": "multichoice"}.get(problem.kind, "essay")
    question = _add(quiz, "question", type=kind)
    _add_text(question, "name", f"{problem.id}, seed {drawn.seed}")
    _add_html(question, "questiontext", drawn.text)
    _add_html(
        question, "generalfeedback", f"{drawn.solution}\n\n{book.section_and_lecture(problem)}"
    )
    _add_fields(question, {"defaultgrade": "1", "penalty": "0.3333333", "hidden": "0"})
    _add(question, "idnumber", f"{problem.id}-{drawn.seed}")
    if kind == "numerical":
        _add_numbers(question, drawn)
    elif kind == "multichoice":
        _add_choices(question, drawn)
    else:
        _add_fields(question, ESSAY)
        _add_html(question, "graderinfo", drawn.solution)
        _add_text_answer(question, 0, "", "")
        return
    for hint in drawn.hints:
        _add_html(question, "hint", hint)


def _add_numbers(question: Element, drawn: Drawn) -> None:
    answers = [(100, drawn.number, "Right."), *((0, *wrong) for wrong in drawn.wrong)]
    for fraction, result, says in answers:
        answer = _add_text_answer(question, fraction, f"{result:.10g}", says)
        _add(answer, "tolerance", f"{abs(result) * drawn.problem.tolerance:.6g}")
    _add_fields(question, NUMERICAL)


def _add_choices(question: Element, drawn: Drawn) -> None:
    _add_fields(question, MULTICHOICE)
    for text, says, right in drawn.choices:
        answer = _add(question, "answer", fraction="100" if right else "0", format="html")
        _fill_html(answer, text)
        _add_html(answer, "feedback", says)


def _add_text_answer(question: Element, fraction: int, text: str, says: str) -> Element:
    answer = _add(question, "answer", fraction=str(fraction), format="moodle_auto_format")
    _add(answer, "text", text)
    _add_html(answer, "feedback", says)
    return answer


# Canvas, by way of text2qti


def as_text2qti(some: Iterable[Problem], seed: int, many: int) -> str:
    """Return the plain text that the program text2qti turns into a quiz for Canvas.

    The variants of a problem form a group, from which one is drawn.
    """
    lines = [
        f"Quiz title: {book.TITLE}: problems",
        f"Quiz description: {book.LICENCE}, seeds from {seed}",
        "",
    ]
    for problem in some:
        made = variants(problem, seed, many)
        lines += ["GROUP", "pick: 1", "points per question: 1", ""] if len(made) > 1 else []
        for drawn in made:
            lines += (
                [f"Title: {problem.id}, seed {drawn.seed}", "Points: 1"]
                if len(made) == 1
                else [f"Title: {problem.id}, seed {drawn.seed}"]
            )
            lines += [*_hung("1.", drawn.text), *_hung("...", drawn.solution)]
            if problem.kind == "number":
                lines.append(f"=   {drawn.number:.10g} +- {100 * problem.tolerance:g}%")
            elif problem.kind == "choice":
                for mark, (text, says, right) in zip("abcdefgh", drawn.choices, strict=False):
                    lines += [*_hung(f"{'*' if right else ''}{mark})", text), *_hung("...", says)]
            else:
                lines.append("____")
            lines.append("")
        lines += ["END_GROUP", ""] if len(made) > 1 else []
    return "\n".join(lines) + "\n"


def _hung(mark: str, text: str) -> Iterator[str]:
    """Yield the lines of a text, indented below a mark as text2qti requires."""
    first, *rest = text.split("\n")
    yield f"{mark:<4}{first}"
    yield from (f"    {line}" if line.strip() else "" for line in rest)


def export(kind: str, some: Iterable[Problem], seed: int = 0, many: int = 1, site: str = "") -> str:
    """Return the text of a file in one of the formats of `FORMATS`."""
    if kind in ("moodle", "text2qti"):
        return (as_moodle if kind == "moodle" else as_text2qti)(some, seed, many)
    return (as_json if kind == "json" else as_markdown)(some, seed, site)
