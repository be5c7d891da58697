"""Give a student's notebook its own inputs, and checks that answer in words.

The standard library serves, but for formulas.

What is released holds no answer: of a function, the visible calls with what they should give; of a
value or a formula, salted digests that tell a right answer from a wrong one.  Nothing here is asked
when an answer is graded.

>>> public = {
...     "assignment": "double",
...     "given": {"x": {"values": [2, 3]}},
...     "questions": {
...         "twice": {
...             "kind": "value",
...             "points": 1,
...             "asks": "twice x",
...             "tolerance": 0.02,
...             "digests": {"values": [digests("double.twice", 4.0, 0.02)]},
...         }
...     },
... }
>>> mine = Assignment(public, "ada")
>>> twice = 4.02
>>> mine.check("twice")
twice (1 point): right.
>>> twice = 5
>>> mine.check("twice")
twice (1 point): not right: 5.
"""

from __future__ import annotations

import copy
import hashlib
import json
import math
import sys
import unicodedata

VARIANTS = 200
LONGEST = 1_000  # characters of an id
STEPS = 500  # parts of a tolerance that a digest tells apart
NO_ID = (
    'your inputs depend on who you are: write your id into the first cell, student = "…", and '
    "run that cell and the next."
)
ZERO = 1e-12  # as good as a truth that is exactly 0


# Characters that show nothing, beside the category Cf: a joiner of marks, fillers, selectors of a
# letter's form.
UNSEEN = {
    0x034F,
    0x115F,
    0x1160,
    0x17B4,
    0x17B5,
    *range(0x180B, 0x1810),
    *range(0xFE00, 0xFE10),
    *range(0xE0100, 0xE01F0),
}


def canonical(student: str) -> str:
    """Return the canonical form of a student's id, which decides whose inputs belong to it.

    Neither capitals nor the width or composition of letters count (Unicode NFKC, case-folded), nor
    characters that show nothing; blanks count as one between words and not at the ends.  Plain
    lower-case letters and digits stay as they are.  An id is read up to 1,000 characters: to
    compose more marks takes time that grows with the square of their number.

    >>> (
    ...     canonical(" \uff21da\u200b  LOVELACE\u00a0"),
    ...     canonical("Zoe\u0308") == canonical("zo\u00eb"),
    ...     canonical("ada-7"),
    ... )
    ('ada lovelace', True, 'ada-7')
    """
    student = student[:LONGEST]
    if student.isascii():
        return " ".join(student.lower().split())
    text = "".join(
        c
        for c in unicodedata.normalize("NFKD", student)
        if unicodedata.category(c) != "Cf" and ord(c) not in UNSEEN
    )
    for _ in range(2):  # letters whose lower case has to be taken apart again
        text = unicodedata.normalize("NFKD", text.casefold())
    return " ".join(unicodedata.normalize("NFKC", text).split())


def variant(name: str, student: str) -> int:
    """Return which of the 200 sets of inputs a student has.

    It is SHA-256 of the name and the id's `canonical` form, mod 200.

    >>> variant("roofline", "ada"), variant("roofline", "Ada "), variant("roofline", "grace")
    (96, 96, 38)
    """
    text = f"{name}\0{canonical(student)}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha256(text).digest(), "big") % VARIANTS


# Comparing


def same(answer, true, tolerance: float) -> bool:
    """Return whether an answer is the true one.

    Numbers agree within a relative tolerance, whole numbers exactly, lists and mappings part by
    part.

    >>> (
    ...     same(1.0199, 1.0, 0.02),
    ...     same(100.4, 100, 0.02),
    ...     same(True, 1, 0),
    ...     same({"a": [1, 2.0]}, {"a": [1, 2.0]}, 0),
    ... )
    (True, False, False, True)
    """
    if isinstance(true, bool) or true is None or isinstance(true, str):
        return type(answer) is type(true) and answer == true
    if isinstance(true, (int, float)):
        if isinstance(answer, bool) or not isinstance(answer, (int, float)):
            return False
        return answer == true if isinstance(true, int) else near(answer, true, tolerance)
    if isinstance(true, list):
        return (
            isinstance(answer, list)
            and len(answer) == len(true)
            and all(same(answer[i], one, tolerance) for i, one in enumerate(true))
        )
    if isinstance(true, dict):
        return (
            isinstance(answer, dict)
            and answer.keys() == true.keys()
            and all(same(answer[key], true[key], tolerance) for key in true)
        )
    return False


def near(answer, true: float, tolerance: float) -> bool:
    """Return whether a number is the true one, within a relative tolerance.

    >>> (
    ...     near(100.0, 99.0, 0.02),
    ...     near(float("nan"), 1.0, 1),
    ...     near(10**400, 1.0, 1),
    ...     near(1e-13, 0.0, 0.02),
    ... )
    (True, False, False, True)
    """
    try:
        answer = float(answer)
    except OverflowError:
        return False
    if not math.isfinite(true) or not math.isfinite(answer):
        return answer == true or (math.isnan(answer) and math.isnan(true))
    return abs(answer - true) <= (tolerance * abs(true) * (1 + 1e-9) if true else ZERO)


def plain_data(value):
    """Return a value as plain data: tuples and arrays as lists, NumPy's numbers as Python's.

    >>> plain_data(((1, 2), {3: "a"}))
    [[1, 2], {'3': 'a'}]
    """
    if isinstance(value, dict):
        return {str(key): plain_data(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_data(one) for one in value]
    if hasattr(value, "tolist"):
        return plain_data(value.tolist())
    if getattr(value, "is_number", False) and hasattr(value, "is_Integer"):  # SymPy's
        return int(value) if value.is_Integer else float(value)
    return value


plain = plain_data  # its name in the last edition


# Digests


def leaves(value, path: str = "") -> dict:
    """Return the parts of a value by their paths, with the length of each list.

    A whole number stands for itself.

    >>> leaves({"a": [1, 2.5]})
    {'.a.length': 2, '.a[0]': 1, '.a[1]': 2.5}
    """
    if isinstance(value, dict):
        return {
            where: leaf
            for key in sorted(value)
            for where, leaf in leaves(value[key], f"{path}.{key}").items()
        }
    if isinstance(value, list):
        inside = {
            where: leaf
            for i, one in enumerate(value)
            for where, leaf in leaves(one, f"{path}[{i}]").items()
        }
        return {f"{path}.length": len(value), **inside}
    return {path: value}


def _hash(salt: str, text: str) -> str:
    return hashlib.sha256(f"{salt}\0{text}".encode()).hexdigest()[:12]


def _bucket(value: float, tolerance: float) -> tuple[str, int]:
    """Return a number's sign, and its place on a logarithmic scale.

    The scale has `STEPS` parts to a tolerance.
    """
    return "-" if value < 0 else "+", round(math.log(abs(value)) / (tolerance / STEPS))


def _exact_text(value) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if isinstance(value, float) and (not math.isfinite(value) or value != int(value)):
            return f"number {value!r}"
        return f"number {int(value)}"
    return f"{type(value).__name__} {value!r}"


def _has_tolerance(value, tolerance: float) -> bool:
    return isinstance(value, float) and bool(value) and math.isfinite(value) and tolerance > 0


def digests(salt: str, value, tolerance: float) -> dict:
    """Return what is released of a right answer: a salted digest of each part.

    Its first character says whether the part is to be met within the tolerance.
    """
    return {
        where: (
            "~" + _hash(salt + where, "{} {}".format(*_bucket(leaf, tolerance)))
            if _has_tolerance(leaf, tolerance)
            else "=" + _hash(salt + where, _exact_text(leaf))
        )
        for where, leaf in leaves(value).items()
    }


def fits(salt: str, where: str, leaf, digest: str, tolerance: float) -> bool:
    """Return whether one part of an answer has that digest.

    >>> [
    ...     fits("s", "", x, digests("s", 1.0, 0.02)[""], 0.02)
    ...     for x in (0.98, 1.0, 1.0199, 1.021, 0.979, True, "1.0", 0)
    ... ]
    [True, True, True, False, False, False, False, False]
    """
    if digest[0] == "=":
        return digest[1:] == _hash(salt + where, _exact_text(leaf)) or (
            isinstance(leaf, (int, float))
            and not isinstance(leaf, bool)
            and abs(leaf) <= ZERO
            and digest[1:] == _hash(salt + where, "number 0")
        )
    if (
        isinstance(leaf, bool)
        or not isinstance(leaf, (int, float))
        or not leaf
        or not math.isfinite(leaf)
    ):
        return False
    sign, at = _bucket(leaf, tolerance)
    width = tolerance / STEPS
    # An answer y is right if the truth t has |y - t| <= tolerance |t|.
    low, high = math.ceil(math.log1p(-tolerance) / width), math.floor(math.log1p(tolerance) / width)
    return any(
        digest[1:] == _hash(salt + where, f"{sign} {at - off}") for off in range(low, high + 1)
    )


# The notebook's own


class NoInputs(dict):
    """A stand-in for inputs while the student's id is unknown."""

    def __missing__(self, key):
        raise LookupError(NO_ID)


class Assignment:
    """An assignment as a student has it.

    `public` is what the build released, as a mapping or as JSON.
    """

    def __init__(self, public: dict | str, student: str) -> None:
        self._public = json.loads(public) if isinstance(public, str) else public
        self.name, self.student = self._public["assignment"], str(student).strip()
        varies = any(
            "index" in one
            for one in [
                *self._public["given"].values(),
                *(
                    part
                    for question in self._public["questions"].values()
                    for part in question.values()
                    if isinstance(part, dict)
                ),
            ]
        )
        self.variant = variant(self.name, self.student)
        known = bool(canonical(self.student)) or not varies
        self.given = (
            {name: self.of_variant(one) for name, one in self._public["given"].items()}
            if known
            else NoInputs()
        )
        self._known = known

    def of_variant(self, spread: dict):
        """Return the value for this student's variant out of those of all variants."""
        return copy.deepcopy(
            spread["values"][spread["index"][self.variant] if "index" in spread else 0]
        )

    def check(self, *names: str) -> None:
        """Report which of the named answers are right.

        Without a name, all are checked, with one line each.
        """
        space = sys._getframe(1).f_globals
        for name in names or self._public["questions"]:
            question = self._public["questions"].get(name)
            if question is None:
                print(
                    f"There is no question {name!r}; there are "
                    f"{', '.join(self._public['questions'])}."
                )
                continue
            points = f"{question['points']:g} point{'' if question['points'] == 1 else 's'}"
            if not self._known and question["kind"] != "written":
                print(f"{name} ({points}): {NO_ID}")
                continue
            try:
                says = self._says(name, question, space)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # whatever a student's object does when it is looked at
                says = f"this answer cannot be checked ({_error_text(error)})."
            print(f"{name} ({points}): {says if names else says.partition(chr(10))[0]}")

    def _says(self, name: str, question: dict, space: dict) -> str:
        if question["kind"] == "written":
            return "your teacher reads this answer."
        if name not in space:
            return f"there is nothing called {name} yet; run the cell that defines it."
        if space[name] is ...:
            return "not filled in yet."
        return _CHECKS[question["kind"]](self, name, question, space[name])


def _check_value(assignment: Assignment, name: str, question: dict, answer) -> str:
    if callable(answer):
        return f"a value is asked for; {name} is a function."
    salt = f"{assignment.name}.{name}"
    given, wanted = leaves(plain_data(answer)), assignment.of_variant(question["digests"])
    if set(given) != set(wanted):
        return (
            f"this does not have the form that is asked for: {question['asks']}.  Yours "
            f"is {_short_text(answer)}."
        )
    right = [
        where
        for where in wanted
        if fits(salt, where, given[where], wanted[where], question["tolerance"])
    ]
    if len(right) == len(wanted):
        return "right."
    if len(wanted) == 1 or not right:
        return f"not right: {_short_text(answer)}."
    wrong = [where.lstrip(".") for where in wanted if where not in right]
    return (
        "not all right.  Look again at "
        f"{', '.join(wrong[:8])}{' and others' if len(wrong) > 8 else ''}; the other "
        "parts are right."
    )


def _check_function(assignment: Assignment, name: str, question: dict, function) -> str:
    if not callable(function):
        return f"a function is asked for; {name} is {_short_text(function)}."
    lines, right, empty = [], 0, 0
    expected, calls = assignment.of_variant(question["expected"]), question["calls"]
    for call, true in zip(calls, expected, strict=True):
        spelled = (
            f"{name}({', '.join(f'{key}={_short_text(value)}' for key, value in call.items())})"
        )
        try:
            answer = plain_data(function(**copy.deepcopy(call)))
        except KeyboardInterrupt:
            raise
        except NotImplementedError:
            empty += 1
            continue
        except BaseException as error:  # sys.exit and the like are mistakes too
            lines.append(f"    ✗ {spelled} stops with {_error_text(error)}")
            continue
        if same(answer, true, question["tolerance"]):
            right += 1
            lines.append(f"    ✓ {spelled} gives {_short_text(answer)}")
        else:
            lines.append(
                f"    ✗ {spelled} gives {_short_text(answer)}; expected is {_short_text(true)}"
            )
    total = len(calls)
    if empty == total:
        return "not filled in yet."
    hidden = (
        f"; {question['hidden']} more are tried after you hand in" if question["hidden"] else ""
    )
    head = (
        f"{'right' if right == total else 'not right yet'}: {right} of {total} "
        f"call{'' if total == 1 else 's'}{hidden}."
    )
    return "\n".join([head, *lines])


def _check_expression(assignment: Assignment, name: str, question: dict, answer) -> str:
    try:
        from . import expressions
    except ImportError:
        return "this formula is read after you hand in."
    text = str(answer)
    for sympy, ours in (
        ("Max(", "max("),
        ("Min(", "min("),
        ("Abs(", "abs("),
        ("ceiling(", "ceil("),
    ):
        text = text.replace(sympy, ours)
    try:
        tree = expressions.replace(expressions.parse(text), question["spelled"])
        unknown = [one for one in expressions.written_names(text) if one not in question["spelled"]]
    except expressions.ExpressionError as error:
        return f"this formula cannot be read.  {error}"
    if unknown:
        return f"{unknown[0]!r} is none of the letters, which are {', '.join(question['letters'])}."
    salt = f"{assignment.name}.{name}"
    values = [expressions.evaluate(tree, point) for point in question["points_at"]]
    right = all(
        fits(salt, str(i), values[i], digest, question["tolerance"])
        for i, digest in enumerate(question["digests"])
    )
    return "right." if right else f"not right: {_short_text(answer)}."


def _check_judged(assignment: Assignment, name: str, question: dict, answer) -> str:
    calls, answers = question["calls"], []
    try:
        for call in calls:
            answers.append(plain_data(answer(**copy.deepcopy(call))))
    except KeyboardInterrupt:
        raise
    except NotImplementedError:
        return "not filled in yet."
    except BaseException as error:
        return f"stops with {_error_text(error)}"
    if not calls:
        answers = [plain_data(answer)]
    try:
        from . import custom_scorers

        judge = custom_scorers.find_judge(question["judge"])
    except (ImportError, ValueError):
        return "this answer is judged after you hand in."
    share, says, _ = judge(
        _Asked(name, question), dict(assignment.given), copy.deepcopy(calls), answers
    )
    return "right." if share >= 1 else f"not all right.  {says}"


_CHECKS = {
    "value": _check_value,
    "function": _check_function,
    "expression": _check_expression,
    "judged": _check_judged,
}


class _Asked:
    """The part of a question that a judge may look at."""

    def __init__(self, name: str, question: dict) -> None:
        self.name, self.kind, self.judge = name, "judged", question["judge"]
        self.points, self.asks = question["points"], question["asks"]
        self.tolerance = question.get("tolerance", 0.0)


def _short_text(value) -> str:
    """Return a value as short text for a sentence."""
    try:
        text = f"{value:.6g}" if isinstance(value, float) else repr(value)
    except Exception:
        text = f"a {type(value).__name__}"
    return text if len(text) <= 100 else f"{text[:97]}…"


def _error_text(error: BaseException) -> str:
    try:
        text = " ".join(str(error).split())
    except Exception:
        text = ""
    return f"{type(error).__name__}: {text[:200]}" if text else type(error).__name__
