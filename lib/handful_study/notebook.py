"""Problems in a notebook, with the sources, draws and checks of the page and the terminal.

>>> box = practise("step-of-a-dense-model", seed=1)
>>> box.answer.value = "3 GB"
>>> box.check.click()
>>> "a number of bytes" in box.verdict.value
True
"""

from __future__ import annotations

import random
from functools import partial

import ipywidgets as widgets

from .check import check, letter
from .problem_model import Problem
from .problems import problem
from .source import SourceError

KINDS = {"right": "✓", "wrong": "✗", "unread": "?"}


class Practice(widgets.VBox):
    """The widgets of one problem; its numbers are drawn from `seed`, which can be set."""

    def __init__(self, found: Problem, seed: int) -> None:
        self.problem, self.hints_shown = found, 0
        full = widgets.Layout(width="100%")
        self.text, self.help, self.verdict = (widgets.HTMLMath(layout=full) for _ in range(3))
        if found.kind == "choice":
            self.answer = widgets.RadioButtons(layout=full)
        elif found.kind == "schedule":
            self.answer = widgets.Textarea(
                placeholder="a line a stage, such as F1 F2 B1 B2", rows=6, layout=full
            )
        else:
            self.answer = widgets.Text(
                placeholder="in " + ", ".join(map(letter, found.letters))
                if found.letters
                else "with its unit, such as 12 ms",
                continuous_update=False,
            )
        self.check, self.hint, self.solution, self.again = (
            widgets.Button(description=text, tooltip=text, button_style=style)
            for text, style in [
                ("Check", "primary"),
                ("A hint", ""),
                ("The solution", ""),
                ("New numbers", ""),
            ]
        )
        self.check.on_click(lambda _: self._judge())
        self.hint.on_click(lambda _: self._hint())
        self.solution.on_click(lambda _: self._show(self.problem.solution.text))
        self.again.on_click(lambda _: self.draw(random.randrange(2**32)))
        super().__init__(
            [
                self.text,
                self.answer,
                widgets.HBox([self.check, self.hint, self.solution, self.again]),
                self.verdict,
                self.help,
            ]
        )
        self.draw(seed)

    def draw(self, seed: int) -> None:
        """Draw the numbers of a seed, and start over."""
        self.seed, self.hints_shown = seed, 0
        letters = "".join(
            f"<li><code>{letter(name)}</code> {_meaning(name)}</li>"
            for name in self.problem.letters
        )
        self.text.value = self._html(self.problem.text.text) + (
            f"<ul>{letters}</ul>" if letters else ""
        )
        self.verdict.value = self.help.value = ""
        self.hint.disabled = False
        if self.problem.kind == "choice":
            # A radio button's label is plain text.
            self.answer.options = [
                (self.problem.words(choice.text, seed), i)
                for i, choice in enumerate(self.problem.choices)
            ]
            self.answer.value = None
        else:
            self.answer.value = ""

    def _html(self, markdown: str) -> str:
        from . import markup
        from .words import markdown as words

        return markup.html(words(markdown, partial(self.problem.drawn_text, seed=self.seed)))

    def _judge(self) -> None:
        given = self.answer.value
        if given is None:
            self.verdict.value = "Choose one first."
            return
        found = check(self.problem, given, self.seed)
        self.verdict.value = f"<b>{KINDS[found.kind]}</b> " + self._html(found.says).removeprefix(
            "<p>"
        ).removesuffix("</p>")

    def _hint(self) -> None:
        self.hints_shown += 1
        self._show("\n\n".join(part.text for part in self.problem.hints[: self.hints_shown]))
        self.hint.disabled = self.hints_shown >= len(self.problem.hints)

    def _show(self, markdown: str) -> None:
        self.help.value = self._html(markdown)


def _meaning(name: str) -> str:
    from handful.symbolic.quantities import table

    return table[name].meaning


def practise(name: str, seed: int | None = None) -> Practice:
    """Return the problem of that id as widgets, to be answered in the notebook.

    Parameters
    ----------
    name : str
        Its id, as ``handful problems list`` shows it.
    seed : int, optional
        0 to 2**32 - 1; the same seed draws the same numbers for everybody.  Drawn at random if left
        out.

    Raises
    ------
    SourceError
        For an unknown id or seed; the sentence says what is allowed.

    >>> practise("step-of-a-dense-mode")
    Traceback (most recent call last):
    ...
    handful_study.source.SourceError: There is no problem 'step-of-a-dense-mode';
    the nearest are step-of-a-dense-model...
    """
    found = problem(name)
    if seed is None:
        seed = random.randrange(2**32)
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**32:
        raise SourceError(f"A seed is a whole number from 0 to {2**32 - 1}; got {seed!r}.")
    try:
        return Practice(found, seed)
    except ModuleNotFoundError as missing:
        raise SourceError(
            f"Problems in a notebook need the package {missing.name}; install handful with its "
            "extra: "
            'pip install "handful[study]".'
        ) from None
