"""A check of our exports with nbgrader itself: ``make nbgrader``.

It takes nbgrader's whole way, with an exchange in a scratch folder: the teacher generates and
releases an assignment; three students fetch it into folders of their own and submit, one a solved,
one an empty and one a wrong notebook; the teacher collects and autogrades. ``make nbgrader``
installs nbgrader into an environment of its own (400 MB, outside this project's) and runs this; it
is no part of ``make test``. NBGRADER names an environment that has nbgrader already.
"""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from handful_classroom.exports import formats
from handful_classroom.release.assignment import Assignment, Question, assignments
from handful_classroom.release.variants import answers, calls, misconceptions, truths
from handful_study.student import same

# All students are one user of this machine here, so whose a submission is follows from its name.
CONFIG = """c = get_config()
c.CourseDirectory.course_id = "check"
c.CourseDirectory.student_id = {student!r}
c.Exchange.root = "{root}/exchange"
c.Exchange.cache = "{root}/cache"
c.ExchangeCollect.check_owner = False
"""


def environment() -> Path:
    """Return an environment that has nbgrader, and make it where there is none."""
    made = Path(os.environ.get("NBGRADER") or Path(tempfile.gettempdir()) / "handful-nbgrader")
    if not (made / "bin" / "nbgrader").exists():
        print(f"nbgrader into {made}", flush=True)
        venv.create(made, with_pip=True)
        subprocess.run(
            [made / "bin" / "pip", "install", "-q", "nbgrader>=0.9.5", "numpy"], check=True
        )
    return made


def nbgrader(place: Path, folder: Path, *arguments: str) -> None:
    """Run nbgrader in the folder of a teacher or of a student."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {
        "PATH": f"{place / 'bin'}:{os.environ['PATH']}"
    }
    done = subprocess.run(
        [place / "bin" / "nbgrader", *arguments],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        sys.exit(
            f"nbgrader {' '.join(arguments)} failed:\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
        )


def desk(root: Path, name: str, student: str = "*") -> Path:
    """Make the folder of a teacher or of a student, with nbgrader's settings for it."""
    made = root / name
    made.mkdir()
    (made / "nbgrader_config.py").write_text(CONFIG.format(root=root, student=student))
    return made


def submissions(assignment: Assignment, released: dict) -> dict[str, dict]:
    """Return the released notebook as it is, solved, and with a known mistake in one function."""
    solved, wrong = json.loads(json.dumps(released)), json.loads(json.dumps(released))
    question = mistaken(assignment)
    for made in (solved, wrong):
        for cell in made["cells"]:
            name = cell["metadata"].get("nbgrader", {}).get("grade_id", "")
            if cell["cell_type"] == "code" and name.startswith("answer-"):
                cell["source"] = assignment.cuts[int(name.removeprefix("answer-"))].solution
                if made is wrong and question and f"def {question.name}(" in cell["source"]:
                    # After the solution, whose imports other cells use.
                    cell["source"] += "\n\n" + list(question.wrong.values())[-1].code
    return {"solved": solved, "empty": released, "wrong": wrong}


def check(place: Path, assignment: Assignment) -> None:
    name = assignment.name
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "exchange").mkdir()
        (root / "exchange").chmod(0o777)  # as its manual asks
        course = desk(root, "course")
        for path, content in formats.FORMATS["nbgrader"](assignment, None).items():
            (course / path).parent.mkdir(parents=True)
            (course / path).write_text(content)
        nbgrader(place, course, "generate_assignment", name)
        nbgrader(place, course, "release_assignment", name)
        fetched = {}
        for student in ("solved", "empty", "wrong"):
            own = desk(root, student, student)
            nbgrader(place, own, "fetch_assignment", name)
            fetched[student] = own / name / f"{name}.ipynb"
        text = fetched["solved"].read_text()
        for line in [
            line for cut in assignment.cuts.values() for line in cut.taken if len(line.strip()) > 9
        ] + [formats.BEGIN, formats.SOLUTION[0]]:
            assert json.dumps(line.strip())[1:-1] not in text, (
                f"the release of {name} holds {line!r}"
            )
        for student, made in submissions(assignment, json.loads(text)).items():
            fetched[student].write_text(json.dumps(made))
            nbgrader(place, root / student, "submit", name)
        nbgrader(place, course, "collect", name)
        collected = {path.name for path in (course / "submitted").iterdir()}
        assert collected == fetched.keys(), f"collected of {name} were {sorted(collected)}"
        nbgrader(place, course, "autograde", name)
        nbgrader(place, course, "export", "--to", "grades.csv")
        grades = {
            row["student_id"]: float(row["raw_score"])
            for row in csv.DictReader((course / "grades.csv").open())
        }
    print(f"{assignment.name}: {grades}", flush=True)
    question = mistaken(assignment)
    assert grades["solved"] == assignment.points, (
        f"the solution of {assignment.name} gets {grades['solved']} of {assignment.points} points"
    )
    assert grades["empty"] == 0, (
        f"the empty notebook of {assignment.name} gets {grades['empty']} points"
    )
    lost = question.points * (1 - partial(assignment, question)) if question else 0
    assert abs(grades["wrong"] - (assignment.points - lost)) < 1e-3, (
        f"a mistake in {assignment.name} gets {grades['wrong']}, {lost} are to be lost"
    )


def mistaken(assignment: Assignment) -> Question | None:
    """Return the first function with known mistakes that no other answer builds on.

    The last of its mistakes is the one tried.
    """
    answered = [
        assignment.cuts[i].solution
        for i, piece in enumerate(assignment.pieces)
        if piece.kind == "code" and piece.tag == "answer"
    ]
    return next(
        (
            one
            for one in assignment.questions.values()
            if one.kind == "function"
            and one.wrong
            and sum(bool(re.search(rf"\b{one.name}\b", code)) for code in answered) == 1
        ),
        None,
    )


def partial(assignment: Assignment, question: Question) -> float:
    """Return the share of calls that the mistake gets right."""
    made, misconception = calls(question, formats.VARIANT), list(question.wrong)[-1]
    wrong, right = (
        misconceptions(assignment, formats.VARIANT)[question.name][misconception],
        truths(assignment, formats.VARIANT)[question.name],
    )
    pairs = [answers(question, thing, made) for thing in (wrong, right)]
    return sum(same(a, b, question.tolerance) for a, b in zip(*pairs, strict=True)) / len(made)


if __name__ == "__main__":
    where = environment()
    for one in assignments().values():
        if (
            one.library == "none"
            and all(question.kind != "judged" for question in one.questions.values())
            and sys.argv[1:] in ([], [one.name])
        ):
            check(where, one)
