r"""Schematics: drawings that build up in steps, declared once.

Python draws all steps when the book is built, as one SVG with the state of each element in each
step; ``web/schematic.js`` shows step after step.  Without scripts and on paper stand the last
picture and the sentences of all steps; a notebook shows the pictures one under another.

>>> from .. import schematics
>>> schematics.decode_step.told["weights"].replace("\xa0", " ")
'141 GB'
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from html import escape
from typing import Any, NamedTuple

from handful.query import Answer, answer
from handful.units import format_value

from . import svg

WIDTH = 340  # of every drawing, in its own pixels: those of a small phone
DIGITS = 2  # of a number that nothing else is said of


class SchematicError(ValueError):
    """A declaration that cannot be drawn; the message names the schematic."""


class Number(NamedTuple):
    """A number that a schematic shows.

    `request` asks for it (see `handful.query`); another number of the schematic, declared before,
    stands in it by its name in braces.  `unit` is that of arithmetic, which has none of its own.
    """

    request: str
    digits: int = DIGITS
    unit: str = ""


class Step(NamedTuple):
    """One step: what is told, what is drawn, and the drawing in words.

    `sentence` and `words` name numbers in braces, as ``str.format`` takes them; `words` describe
    the whole picture to those who do not see it.  `label` is what the step is chosen by: if all
    steps have one, a page shows a button for each, instead of those that lead back and on.
    """

    sentence: str
    words: str
    label: str = ""


class Schematic:
    """A drawing that builds up in steps.

    Parameters
    ----------
    name : str
        Lower-case letters, digits and hyphens; its id on the page begins with ``schematic-``.
    title : str
    height : float
        Of the drawing, which is `WIDTH` wide, in pixels.
    numbers : mapping of name to request or `Number`
        All numbers that sentences and drawing show.
    steps : sequence of Step
    draw : function
        Takes the number of a step, from 1, and the schematic, and returns the shapes of that step
        (``plotting/scenes/shapes.py``), later ones on earlier ones.  A shape with a key ``k`` is
        the same element in all steps, and moves where its place changes; any other is the same
        element where it is the same shape.
    caption : str
        What holds for all steps, in braces as above.
    """

    def __init__(
        self,
        name: str,
        title: str,
        *,
        height: float,
        numbers: Mapping[str, str | Number],
        steps: Sequence[Step],
        draw: Callable[[int, Schematic], list[dict[str, Any]]],
        caption: str = "",
    ) -> None:
        self.name, self.title, self.height = name, title, height
        self.numbers = {
            key: n if isinstance(n, Number) else Number(n) for key, n in numbers.items()
        }
        self.steps, self._draw, self._caption = tuple(steps), draw, caption

    def __repr__(self) -> str:
        return f"<Schematic {self.name}: {self.title}>"

    @cached_property
    def answers(self) -> dict[str, Answer]:
        """Return the answer to each request, by the name of its number."""
        found: dict[str, Answer] = {}
        for name, number in self.numbers.items():
            known = {key: repr(one.value) for key, one in found.items()}
            found[name] = answer(number.request.format_map(known))
        return found

    def value(self, name: str) -> float:
        """Return a number of the schematic in base units."""
        return self.answers[name].value

    @cached_property
    def told(self) -> dict[str, str]:
        """Return the numbers as readers see them, by name."""
        return {
            name: format_value(found.value, number.unit or found.unit or "1", number.digits)
            for (name, number), found in zip(
                self.numbers.items(), self.answers.values(), strict=True
            )
        }

    def sentences(self) -> list[str]:
        """Return the sentence of each step, with its numbers."""
        return [self._filled(step.sentence) for step in self.steps]

    def words(self) -> list[str]:
        """Return the picture of each step in words."""
        return [self._filled(step.words) for step in self.steps]

    @property
    def caption(self) -> str:
        """Return what holds for all steps, with its numbers."""
        return self._filled(self._caption)

    def _filled(self, text: str) -> str:
        try:
            return text.format_map(self.told)
        except KeyError as error:
            raise SchematicError(f"{self.name}: there is no number {error} to tell.") from None

    @cached_property
    def pictures(self) -> list[list[dict[str, Any]]]:
        """Return the shapes of each step."""
        return [self._draw(step, self) for step in range(1, len(self.steps) + 1)]

    def html(self) -> str:
        """Return the figure for a page, which stands alone without scripts."""
        try:
            drawing = svg.stepped(self.pictures, WIDTH, self.height)
        except ValueError as error:
            raise SchematicError(f"{self.name}: {error}") from None
        words = self.words()

        def label(step: Step) -> str:
            return f' data-label="{escape(step.label)}"' if step.label else ""

        steps = "".join(
            f'<li data-words="{escape(says)}"{label(step)}>{escape(sentence, quote=False)}</li>'
            for step, sentence, says in zip(self.steps, self.sentences(), words, strict=True)
        )
        return (
            f'<figure class="schematic" id="schematic-{self.name}" '
            f'aria-label="{escape(self.title)}">'
            f'<p class="explorer-title">{escape(self.title)}</p>'
            '<div class="schematic-body"><div class="schematic-stage">'
            '<div class="schematic-picture explorer-static" role="img" '
            f'aria-label="{escape(words[-1])}">{drawing}</div></div>'
            f'<ol class="schematic-steps">{steps}</ol></div>{self._caption_element()}</figure>'
        )

    def notebook_html(self) -> str:
        """Return all pictures one under another, each with its sentence, for a notebook.

        They stand on white, since no sheet repaints them for a dark notebook.
        """
        told = zip(self.pictures, self.sentences(), self.words(), strict=True)
        steps = "".join(
            f'<li style="margin-bottom:2em">{escape(sentence, quote=False)}'
            f'<div role="img" aria-label="{escape(words)}" style="background:#fff;'
            f'max-width:30em;padding:1em">{svg.still(shapes, WIDTH, self.height)}</div></li>'
            for shapes, sentence, words in told
        )
        title = f"<p><strong>{escape(self.title)}</strong></p>"
        return f'<div style="max-width:42em">{title}<ol>{steps}</ol>{self._caption_element()}</div>'

    def _caption_element(self) -> str:
        caption = escape(self.caption, quote=False)
        return (
            f'<figcaption><p class="explorer-caption">{caption}</p></figcaption>' if caption else ""
        )

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        plain = [self.title, *(f"{n}. {s}" for n, s in enumerate(self.sentences(), 1))]
        bundle = {"text/html": self.html(), "text/plain": "\n".join(plain)}
        if os.environ.get("HANDFUL_STATIC"):  # no kernel will answer a widget
            return bundle
        from ipywidgets import HTML

        # Notebooks prefer a widget to HTML, and pages of the book take the HTML.
        view = HTML(self.notebook_html())._repr_mimebundle_()
        return {**bundle, **{k: v for k, v in (view or {}).items() if "widget-view" in k}}


def named(key: str, shape: dict[str, Any]) -> dict[str, Any]:
    """Return the shape as one element of all steps, which moves where its place changes.

    >>> named("weights", {"t": "rect", "x": 0})
    {'t': 'rect', 'x': 0, 'k': 'weights'}
    """
    return {**shape, "k": key}


def texts(shapes: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return what is written in a picture.

    >>> texts([{"t": "text", "s": "weights"}, {"t": "rect"}])
    ['weights']
    """
    return [shape["s"] for shape in shapes if shape["t"] == "text"]
