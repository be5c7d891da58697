"""Assignments as their sources say them: questions, misconceptions, criteria, and variants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from handful_study.source import Entry
from handful_study.student import variant as variant_of

from .cells import Cut, Piece, cut

KINDS = ("value", "function", "expression", "judged", "written")


@dataclass(frozen=True)
class Misconception:
    """A known mistake: its message, its points, and code that makes it.

    For an expression, the code is the text of the wrong expression.
    """

    id: str
    says: str
    score: float
    code: str
    tree: object = None  # of an expression


@dataclass(frozen=True)
class Criterion:
    """One line of the rubric of a written answer."""

    points: float
    text: str


@dataclass(frozen=True)
class Question:
    """One question; what does not belong to its `kind` is empty.

    ``hidden`` has the values that each argument of a hidden call is drawn from, ``count`` says how
    many calls are drawn.  Of an expression, ``letters`` maps what a student may write to
    quantities, and ``tree`` is the answer in quantities.
    """

    name: str
    kind: str
    points: float
    asks: str
    assignment: str
    entry: Entry
    visible: tuple[Mapping[str, object], ...] = ()
    hidden: Mapping[str, tuple] = field(default_factory=dict)
    count: int = 0
    tolerance: float = 0.0
    truth: str = ""
    tree: object = None
    wrong: Mapping[str, Misconception] = field(default_factory=dict)
    letters: Mapping[str, str] = field(default_factory=dict)
    judge: str = ""
    rubric: tuple[Criterion, ...] = ()
    model: str = ""  # the model answer to a written question


@dataclass(frozen=True, eq=False)
class Assignment:
    """An assignment as its source says it; two are equal if name and edition are.

    ``drawn`` maps names of the head's `given` to the values they are drawn from, ``shows`` lists
    the names that a student's `given` holds.  ``edition`` is the start of the SHA-256 of the
    source.
    """

    name: str
    title: str
    chapter: str
    minutes: int
    library: str
    edition: str
    entry: Entry
    pieces: tuple[Piece, ...]
    questions: Mapping[str, Question]
    drawn: Mapping[str, tuple] = field(default_factory=dict)
    cases: tuple[Mapping[str, object], ...] = ()
    shows: tuple[str, ...] = ()

    def __eq__(self, other) -> bool:
        return isinstance(other, Assignment) and (self.name, self.edition) == (
            other.name,
            other.edition,
        )

    def __hash__(self) -> int:
        return hash((self.name, self.edition))

    def variant(self, student: str) -> int:
        """Return which of the 200 sets of inputs a student gets, 0 to 199.

        It depends on the assignment's name and the student's id, whose capitals and width of
        letters do not count.
        """
        return variant_of(self.name, student)

    @property
    def file(self) -> str:
        """Return the name of the source file."""
        return self.entry.file

    @property
    def points(self) -> float:
        """Return the points that the grader gives, without those of written answers (`waiting`)."""
        return sum(one.points for one in self.questions.values() if one.kind != "written")

    @property
    def waiting(self) -> float:
        """Return the points that the teacher gives for written answers."""
        return sum(one.points for one in self.questions.values() if one.kind == "written")

    @cached_property
    def cuts(self) -> dict[int, Cut]:
        """Return both forms of each code cell, by the cell's index in `pieces`."""
        return {
            i: cut(piece.text, piece.line, self.file)
            for i, piece in enumerate(self.pieces)
            if piece.kind == "code"
        }

    @cached_property
    def explored(self) -> frozenset[str]:
        """Return the stripped code of the explore cells.

        A cell of a submission that equals one of these need not be run.
        """
        return frozenset(piece.text.strip() for piece in self.pieces if piece.tag == "explore")
