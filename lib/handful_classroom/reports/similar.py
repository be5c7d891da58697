"""Find submissions that resemble each other more than the task explains.

MinHash over runs of tokens finds candidate pairs, whose shares are then computed exactly.

What was released is removed, names and comments do not count, cells may be in any order, and what
many of the class wrote is left out, since the task asks for it.  A high share is a reason to read
two notebooks side by side and no proof of anything.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..grading.notebook_reader import NotebookError, mark
from ..grading.notebook_reader import read as read_notebook
from ..grading.watchdog import READING_SECONDS, OverlongError, within
from .tokens import MOST_CHARACTERS, MOST_SHINGLES, Token, fixed, shingles, tokens, words

if TYPE_CHECKING:
    import numpy as np

    from ..grading.submissions import Submission

SHARE = 0.5  # of the shorter one's own runs, from which a pair is reported
FEWEST = 30  # runs that two have to share, about six lines
MOST_COMMON = 100  # a run that more than these have is the task's, in a class of any size
MOST_PAIRS = 500
# Finds 99.6 % of the pairs of which a third of all runs are shared: half of each, where both are
# equally long.
_PERMUTATIONS, _BANDS, _ROWS = 96, 48, 2


@dataclass(frozen=True)
class Released:
    """The code and texts of the notebook that students get.

    It has cells as they are compared, the runs of their tokens, names that cannot be changed, and
    unfilled answers.
    """

    cells: frozenset[str] = frozenset()
    runs: frozenset[int] = frozenset()
    names: frozenset[str] = frozenset()
    texts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Pair:
    """Two submissions and the number of runs that both have and few others do.

    `left_share` and `right_share` are what part of each one's own runs those are.
    """

    left: str
    right: str
    shared: int
    left_share: float
    right_share: float

    @property
    def share(self) -> float:
        """Return the share of the shorter one."""
        return max(self.left_share, self.right_share)


@dataclass(frozen=True)
class Found:
    """The outcome of a search.

    `compared` were compared with each other; `short` have too little of their own for that.  The
    members of each of `groups` wrote the same throughout, code and answers.
    """

    compared: int
    pairs: tuple[Pair, ...]
    more: int
    groups: tuple[tuple[str, ...], ...]
    short: int
    unread: tuple[str, ...]
    nothing: int
    common: frozenset[int]


def released(
    sources: Iterable[str], names: Iterable[str] = (), texts: Mapping[str, str] = {}
) -> Released:
    """Return what is left out of every submission: these cells, and the runs of their tokens."""
    sources = list(sources)
    keep = fixed(sources, names)
    runs = {digest for source in sources for digest, _, _ in shingles(tokens(source, keep))}
    return Released(frozenset(map(mark, sources)), frozenset(runs), keep, texts)


def of_assignment(assignment) -> Released:
    """Return what an assignment's release holds."""
    from ..release.notebooks import notebook

    cells = [
        (cell["cell_type"], "".join(cell["source"]))
        for cell in notebook(assignment, "", "empty")["cells"]
    ]
    texts = read_notebook(
        json.dumps(
            {"cells": [{"cell_type": kind, "source": source} for kind, source in cells]}
        ).encode()
    ).texts
    return released(
        [source for kind, source in cells if kind == "code"],
        [*assignment.questions, *assignment.shows],
        texts,
    )


def student_cells(data: bytes, released: Released) -> list[tuple[str, list[Token]]]:
    """Return the cells that a student wrote or changed, each with its tokens.

    Raises NotebookError where the data is no notebook.
    """
    handed = read_notebook(data, released.cells, released.texts)
    room, found = MOST_CHARACTERS, []
    for source in handed.cells:
        if source.strip():
            source, room = source[:room], room - len(source[:room])
            found.append((source, tokens(source, released.names)))
    for text in handed.texts.values():
        text, room = text[:room], room - len(text[:room])
        found.append((text, words(text)))
    return found


def runs(cells: Iterable[tuple[str, list[Token]]], released: Released) -> np.ndarray:
    """Return the distinct runs of a submission that were not released, in order.

    There are at most MOST_SHINGLES, chosen by their digests.
    """
    import numpy as np

    found = {digest for _, tokens in cells for digest, _, _ in shingles(tokens)} - released.runs
    return np.array(sorted(found)[:MOST_SHINGLES], dtype=np.uint64)


def find(
    submissions: Iterable[Submission],
    released: Released,
    share: float = SHARE,
    progress: Callable[[int], None] = lambda done: None,
) -> Found:
    """Compare every submission with every other.

    Parameters
    ----------
    submissions : iterable of Submission
        Read once, one at a time; of each only its runs are kept, 8 bytes a run.
    released : Released
        What is left out.
    share : float
        Report pairs from this share of the shorter one's own runs, above 0 and at most 1.
    progress : callable
        Called with how many submissions have been read.
    """
    import numpy as np

    students: list[str] = []
    sets: list[np.ndarray] = []
    unread, nothing = [], 0
    for done, one in enumerate(submissions, 1):
        try:
            if one.refused:
                unread.append(one.student)
            elif one.data is None:
                nothing += 1
            else:
                with within(READING_SECONDS):
                    found = runs(student_cells(one.data, released), released)
                sets.append(found)
                students.append(one.student)
        except (NotebookError, OverlongError):
            unread.append(one.student)
        progress(done)
    groups = _groups(students, sets)
    most = max(4, min(len(sets) // 8, MOST_COMMON))
    everything, counts = (
        np.unique(np.concatenate(sets), return_counts=True)
        if sets
        else (np.array([], np.uint64), np.array([], int))
    )
    common = everything[counts > most]
    sets = [np.setdiff1d(one, common, assume_unique=True) for one in sets]
    long = [place for place, one in enumerate(sets) if len(one) >= FEWEST]
    pairs = []
    for i, j in _candidates(sets, long):
        shared = len(np.intersect1d(sets[i], sets[j], assume_unique=True))
        if shared >= FEWEST and shared >= share * min(len(sets[i]), len(sets[j])):
            left, right = sorted((i, j), key=lambda place: students[place])
            pairs.append(
                Pair(
                    students[left],
                    students[right],
                    shared,
                    shared / len(sets[left]),
                    shared / len(sets[right]),
                )
            )
    pairs.sort(key=lambda pair: (-pair.share, -pair.shared, pair.left, pair.right))
    return Found(
        len(long),
        tuple(pairs[:MOST_PAIRS]),
        max(0, len(pairs) - MOST_PAIRS),
        groups,
        len(sets) - len(long),
        tuple(unread),
        nothing,
        frozenset(common.tolist()),
    )


def _groups(students: Sequence[str], sets: Sequence[np.ndarray]) -> tuple[tuple[str, ...], ...]:
    """Return groups of students whose code and answers are all the same, the largest first.

    What many of the class wrote counts here, too.
    """
    found: dict[bytes, list[str]] = {}
    for student, one in zip(students, sets, strict=True):
        if len(one) >= FEWEST:
            found.setdefault(one.tobytes(), []).append(student)
    return tuple(
        sorted(
            (tuple(sorted(group)) for group in found.values() if len(group) > 1),
            key=lambda group: (-len(group), group),
        )
    )


def _candidates(sets: Sequence[np.ndarray], long: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield pairs that may resemble each other, from datasketch's index."""
    from datasketch import MinHash, MinHashLSH

    empty = MinHash(num_perm=_PERMUTATIONS, seed=1, hashfunc=int)
    index = MinHashLSH(num_perm=_PERMUTATIONS, params=(_BANDS, _ROWS))
    for place in long:
        sketch = empty.copy()
        sketch.update_batch((sets[place] >> 32).tolist())
        for other in index.query(sketch):
            yield other, place
        index.insert(place, sketch)


# Side by side


@dataclass(frozen=True)
class Side:
    """A student's own cells as lines, and the number of the shared passage on each line.

    The number is 0 where a line belongs to no passage that the other has too.
    """

    lines: tuple[str, ...]
    marks: tuple[int, ...]


def sides(
    left: list[tuple[str, list[Token]]],
    right: list[tuple[str, list[Token]]],
    released: Released,
    common: Set[int] = frozenset(),
) -> tuple[Side, Side]:
    """Return two submissions with the passages that they share, numbered from the left one."""
    first, second = _covered(left, released, common), _covered(right, released, common)
    passages: dict[int, int] = {}
    lines, marks, number, before = [], [], 0, False
    at = 0
    for source, _ in left:
        for line in source.split("\n"):
            here = [digest for digest in first.get(at, ()) if digest in second["runs"]]
            if here and not before:
                number += 1
            before = bool(here)
            for digest in here:
                passages.setdefault(digest, number)
            lines.append(line)
            marks.append(number if here else 0)
            at += 1
        lines.append("")
        marks.append(0)
        before, at = False, at + 1
    other_lines, other_marks, at = [], [], 0
    for source, _ in right:
        for line in source.split("\n"):
            votes = Counter(passages[digest] for digest in second.get(at, ()) if digest in passages)
            other_lines.append(line)
            other_marks.append(min(votes, key=lambda mark: (-votes[mark], mark)) if votes else 0)
            at += 1
        other_lines.append("")
        other_marks.append(0)
        at += 1
    return Side(tuple(lines), tuple(marks)), Side(tuple(other_lines), tuple(other_marks))


def _covered(cells: list[tuple[str, list[Token]]], released: Released, common: Set[int]) -> dict:
    """Return the runs that stand on each line, by line, and all of them under "runs".

    Lines are counted over all cells, with a blank line after each.
    """
    found: dict = {"runs": set()}
    start = 0
    for source, split in cells:
        for digest, low, high in shingles(split):
            if digest not in released.runs and digest not in common:
                found["runs"].add(digest)
                for line in range(low, min(high, low + 50) + 1):
                    found.setdefault(start + line, set()).add(digest)
        start += source.count("\n") + 2
    return found
