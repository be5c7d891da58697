"""Cards: one idea each, asked in the section that explains it and repeated on a schedule.

A card of ``exercises/cards/CHAPTER.md``::

    ## weights-set-the-floor

    ```yaml
    kind: recall
    section: latency-and-cost#what-a-token-costs
    lecture: "13:20"
    ```

    What sets the least time of a decode step, however small the batch?

    ### Back

    Reading the weights once: weights over memory bandwidth.

Fields: ``kind`` (recall, derivation, estimate, misconception), ``section`` (chapter#anchor) and,
where the lecture speaks of it, ``lecture`` (the time, in quotation marks).  Text is Markdown with
maths and the book's roles; a figure on a card is asked for by a role, never typed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from .source import Entry, Part, SourceError, check_fields, check_place, folder, read_all

KINDS = ("recall", "derivation", "estimate", "misconception")


@dataclass(frozen=True)
class Card:
    """A card; `front` and `back` are Markdown with the book's roles."""

    id: str
    kind: str
    chapter: str
    section: str
    lecture: str | None
    front: Part
    back: Part
    file: str


def make(entry: Entry) -> Card:
    """Return the card that an entry describes, or raise a SourceError."""
    check_fields(entry, ("kind", "section"), ("lecture",))
    kind = entry.one_of("kind", KINDS)
    chapter, section, lecture = check_place(entry)
    if [part.title for part in entry.parts] != ["", "Back"]:
        raise entry.error(
            "a card is its front, then ### Back; got "
            f"{', '.join(part.title or 'the front' for part in entry.parts)}."
        )
    front, back = entry.parts
    for name, part in (("front", front), ("back", back)):
        if not part.text:
            raise entry.error(f"the {name} is empty.")
    return Card(entry.id, kind, chapter, section, lecture, front, back, entry.file)


@cache
def cards() -> dict[str, Card]:
    """Return every card of the book, by id."""
    return read_all("cards", make)


def retired() -> set[str]:
    """Return the ids of cards that were published once and then removed.

    A learner's history of them is kept.
    """
    path = folder() / "cards" / "retired.txt"
    return (
        {line.split("#")[0].strip() for line in path.read_text("utf-8").splitlines()} - {""}
        if path.exists()
        else set()
    )


def card(name: str) -> Card:
    """Return the card of that id, or raise a SourceError that lists the nearest ids."""
    from handful.nearest import nearest

    if name not in cards():
        raise SourceError(f"There is no card {name!r}; the nearest are {nearest(name, cards())}.")
    return cards()[name]
