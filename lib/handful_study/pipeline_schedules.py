"""Pipeline schedules written by a learner: parsed, simulated, and compared with the goal.

``web/pipeline_schedules.js`` is the twin of this module.

The head of such a problem::

    schedule:
      stages: pipeline_stages
      micro_batches: micro_batches
      bubble_at_most: bubble_of_total
      in_flight_at_most: min(pipeline_stages, micro_batches)
    wrong:
      - value: gpipe
        says: All forward passes, then all backward passes: …

Each is an author's expression.  Times are in forward passes: ``backward`` is 2 where it is not
given, and with ``weights``, its part for the gradients of the weights, a backward pass B may be
written as its halves I and W.  An answer has a line for each stage, its pieces in order: ``F1 F2 B1
B2``.  Misconceptions are named by `PATTERNS`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from handful.units import format_value
from handful_evidence.simulate.pipeline import Piece, Run, Schedule, run

FIELDS, OPTIONAL = (
    ("stages", "micro_batches", "bubble_at_most", "in_flight_at_most"),
    ("backward", "weights"),
)
DEFAULTS = {"backward": 2}
LONGEST = 4000
_LABEL = re.compile(r"^\s*(?:stage\s*)?[0-9]+\s*:", re.I)
_PIECE = re.compile(r"([FBIW])([0-9]{1,3})", re.I)


class OrdersError(ValueError):
    """Text that is not a schedule of the given pipeline; the message is one sentence."""


@dataclass(frozen=True)
class Goal:
    """The goal of a schedule, for one seed.

    `weights` is 0 where backward passes are not split.
    """

    stages: int
    micro_batches: int
    backward: float
    weights: float
    bubble_at_most: float
    in_flight_at_most: float


def read_orders(text: str, goal: Goal) -> list[list[Piece]]:
    """Read the order of each stage, from one line per stage.

    >>> two = Goal(1, 2, 2, 0, 0.5, 1)
    >>> [piece.kind for piece in read_orders("stage 1: F1 B1, f2 b2", two)[0]]
    ['F', 'B', 'F', 'B']
    >>> read_orders("F1 B1 F2", two)
    Traceback (most recent call last):
    ...
    handful_study.pipeline_schedules.OrdersError: Stage 1 has no B2.
    """
    if len(text) > LONGEST:
        raise OrdersError(
            f"A schedule of {len(text)} characters is too long; {LONGEST} are allowed."
        )
    lines = [
        line for line in (_LABEL.sub("", line).strip() for line in re.split("[\n;]", text)) if line
    ]
    if len(lines) != goal.stages:
        raise OrdersError(
            f"A line for each of the {goal.stages} stages is expected; there "
            f"{'is' if len(lines) == 1 else 'are'} {len(lines)}."
        )
    orders = []
    for stage, line in enumerate(lines):
        order = [_piece(word, stage, goal) for word in re.split(r"[\s,]+", line) if word]
        seen: set[Piece] = set()
        for piece in order:
            if piece in seen:
                raise OrdersError(f"Stage {stage + 1} has {piece_name(piece)} twice.")
            seen.add(piece)
        for number in range(goal.micro_batches):
            _check_pieces(
                stage, number, {piece.kind for piece in seen if piece.micro_batch == number}
            )
        orders.append(order)
    return orders


def _piece(word: str, stage: int, goal: Goal) -> Piece:
    found = _PIECE.fullmatch(word)
    kinds = "FBIW" if goal.weights else "FB"
    if not found or found[1].upper() not in kinds:
        halves = ", or I1 and W1 for its halves" if goal.weights else ""
        raise OrdersError(
            f"{word!r} on stage {stage + 1} is no piece of work; write F1 for the forward pass of "
            "micro-batch 1 and B1 for "
            f"its backward pass{halves}."
        )
    number = int(found[2])
    if not 1 <= number <= goal.micro_batches:
        raise OrdersError(f"There is no micro-batch {number}; they are 1 to {goal.micro_batches}.")
    return Piece(found[1].upper(), 0, stage, number - 1)


def _check_pieces(stage: int, number: int, kinds: set[str]) -> None:
    if "F" not in kinds:
        raise OrdersError(f"Stage {stage + 1} has no F{number + 1}.")
    if "B" in kinds and kinds & {"I", "W"}:
        raise OrdersError(
            f"Stage {stage + 1} has B{number + 1} and a half of it too; write the whole or both "
            "halves."
        )
    for half, other in (("I", "W"), ("W", "I")):
        if half in kinds and other not in kinds:
            raise OrdersError(
                f"Stage {stage + 1} has {half}{number + 1} without {other}{number + 1}."
            )
    if not kinds & {"B", "I"}:
        raise OrdersError(f"Stage {stage + 1} has no B{number + 1}.")


def piece_name(piece: Piece) -> str:
    """Return a piece as a learner writes it, such as "F1"."""
    return f"{piece.kind}{piece.micro_batch + 1}"


def as_text(orders: list[list[tuple[Piece, ...]]]) -> str:
    """Return orders as a learner writes them.

    >>> from handful_evidence.simulate.pipeline import gpipe
    >>> print(as_text(gpipe(2, 1).orders))
    F1 B1
    F1 B1
    """
    return "\n".join(
        " ".join(piece_name(piece) for step in order for piece in step) for order in orders
    )


def play(orders: list[list[Piece]], goal: Goal) -> Run:
    """Simulate a schedule, or raise a `handful_evidence.simulate.pipeline.Deadlock`.

    The result has the times of all pieces.
    """
    plan = Schedule(
        "yours",
        goal.stages,
        goal.stages,
        goal.micro_batches,
        [[(piece,) for piece in order] for order in orders],
        lambda stream, stage: stage,
    )
    return run(plan, 1.0, goal.backward, goal.weights or None)


def explain_deadlock(orders: list[list[Piece]], stuck: Mapping[int, tuple[Piece, ...]]) -> str:
    """Explain a deadlock: the first piece that waits forever, and what it waits for."""
    stage = min(stuck)
    (piece,) = stuck[stage]
    order, own = orders[stage], piece._replace(kind="F")
    if piece.kind == "W":  # waits for the other half of its own
        return (
            f"It comes to a stop: on stage {stage + 1}, {piece_name(piece)} waits for ever for "
            f"I{piece.micro_batch + 1}, which stands after it."
        )
    if piece.kind != "F" and order.index(own) > order.index(piece):
        return (
            f"It comes to a stop: on stage {stage + 1}, {piece_name(piece)} waits for ever for "
            f"{piece_name(own)}, which stands after it."
        )
    other = stage - 1 if piece.kind == "F" else stage + 1
    wanted = {"F"} if piece.kind == "F" else {"B", "I"}
    need = next(
        one for one in orders[other] if one.kind in wanted and one.micro_batch == piece.micro_batch
    )
    (there,) = stuck[other]
    where = (
        "which waits too"
        if there == need
        else f"which stands behind {piece_name(there)}, and that waits too"
    )
    return (
        f"It comes to a stop: on stage {stage + 1}, {piece_name(piece)} waits for ever for "
        f"{piece_name(need)} of stage {other + 1}, {where}."
    )


def _forward_first(orders: list[list[Piece]], played: Run) -> bool:
    return all(
        kinds == sorted(kinds, key=lambda kind: kind != "F")
        for kinds in ([piece.kind for piece in order] for order in orders)
    )


def _one_at_a_time(orders: list[list[Piece]], played: Run) -> bool:
    spans: dict[int, list[float]] = {}
    for bar in played.bars:
        span = spans.setdefault(bar.pieces[0].micro_batch, [bar.start, bar.end])
        span[:] = min(span[0], bar.start), max(span[1], bar.end)
    found = sorted(spans.values())
    return len(found) > 1 and all(before[1] <= after[0] for before, after in pairwise(found))


PATTERNS = {"gpipe": _forward_first, "one_at_a_time": _one_at_a_time}


def percent(share: float) -> str:
    """Return a share in percent, with its sign."""
    return format_value(share, "%")
