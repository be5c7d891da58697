"""Tests of the check cell, of what the command builds, and of what other graders get."""

import io
import json
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from handful.cli import main
from handful_classroom.exports import formats, gradescope
from handful_classroom.release import notebooks
from handful_classroom.release.assignment import assignments, read_text, source_folder
from handful_classroom.release.variants import inputs_of, solutions
from handful_study.source import SourceError
from handful_study.student import Assignment, digests, fits, plain_data, same

SMALL = """---
title: T
chapter: latency-and-cost
minutes: 60
kernelspec: {{display_name: Python 3, language: python, name: python3}}
---
```{{code-cell}} ipython3
:tags: [answer]
x = {answer}  # solution
```
```{{question}} x
kind: value
points: 1
{rest}
```
"""


@pytest.fixture(scope="module")
def roofline():
    return assignments()["roofline"]


def checked(assignment, name, thing, capsys, student="ada") -> str:
    mine = Assignment(notebooks.public(assignment), student)
    exec(
        f"check({name!r})",
        {"check": mine.check} if thing is None else {"check": mine.check, name: thing},
    )
    return capsys.readouterr().out.strip()


# The check cell


class Odd:
    """A value that breaks whoever looks at it."""

    def __eq__(self, other):
        raise RuntimeError("no")

    __hash__ = None
    __repr__ = __str__ = __eq__


def stops(**call):
    raise SystemExit("bye")


def fails(batch, context):
    return 1 / 0


@pytest.mark.parametrize(
    "thing, says",
    [
        (
            None,
            "step_time (4 points): there is nothing called step_time yet; run the cell that "
            "defines it.",
        ),
        (..., "step_time (4 points): not filled in yet."),
        (3.5, "a function is asked for; step_time is 3.5."),
        (
            lambda batch, context: 0.01,
            "✗ step_time(batch=1, context=1000) gives 0.01; expected is 0.0",
        ),
        (lambda batch, context: "0.01", "gives '0.01'; expected is"),
        (lambda batch: 0.01, "stops with TypeError: "),
        (lambda batch, context: None, "gives None; expected is"),
        (lambda batch, context: Odd(), "gives a Odd; expected is"),
        (
            fails,
            "✗ step_time(batch=1, context=1000) stops with ZeroDivisionError: division by zero",
        ),
        (stops, "stops with SystemExit: bye"),
    ],
)
def test_a_mistake_in_a_function_is_told_and_never_raised(roofline, thing, says, capsys):
    text = checked(roofline, "step_time", thing, capsys)
    assert says in text and "Traceback" not in text


@pytest.mark.parametrize(
    "thing, says",
    [
        ({"weights": 1.0, "caches": 1.0, "compute": 1.0}, "times (3 points): not right: {"),
        ({"weights": 1.0}, "this does not have the form that is asked for: the three times"),
        (7, "this does not have the form"),
        (Odd(), "cannot be checked|does not have the form"),
        (fails, "a value is asked for; times is a function."),
    ],
)
def test_a_mistake_in_a_value_is_told(roofline, thing, says, capsys):
    text = checked(roofline, "times", thing, capsys)
    assert any(one in text for one in says.split("|")), text


def test_a_mapping_says_which_parts_are_right(roofline, capsys):
    right = dict(solutions(roofline, roofline.variant("ada"))["times"])
    text = checked(roofline, "times", right | {"compute": right["compute"] / 2}, capsys)
    assert (
        text
        == "times (3 points): not all right.  Look again at compute; the other parts are right."
    )
    assert (
        checked(roofline, "times", {key: np.float64(value) for key, value in right.items()}, capsys)
        == "times (3 points): right."
    )


@pytest.mark.parametrize(
    "text, says",
    [
        ("w F N / (2 W A)", "right."),
        ("F*w*N/A/W/2", "right."),
        ("peak_flops * w * N / (2 * W * A)", "right."),
        ("w*F*N/(W*A)", "not right: "),
        ("w * G", "'G' is none of the letters, which are F, W, w, N, A, n."),
        ("w * (F", "this formula cannot be read.  A ')' is missing"),
        ("__import__('os')", "this formula cannot be read."),
        ("", "this formula cannot be read.  Nothing is written here yet"),
    ],
)
def test_a_formula_is_compared_by_value(roofline, text, says, capsys):
    assert says in checked(roofline, "balance_batch", text, capsys)


def test_a_formula_of_sympy_will_do(roofline, capsys):
    import sympy

    w, F, N, W, A = sympy.symbols("w F N W A")
    assert "right." in checked(roofline, "balance_batch", w * F * N / (2 * W * A), capsys)


def test_nobody_has_inputs_and_unknown_names_are_told(roofline, capsys):
    text = checked(roofline, "times", {}, capsys, student="  ")
    assert "write your id into the first cell" in text
    with pytest.raises(LookupError, match="write your id into the first cell"):
        Assignment(notebooks.public(roofline), "").given["batch"]
    assert "There is no question 'time'; there are times, step_time" in checked(
        roofline, "time", 3, capsys
    )


SAMPLES = [
    0.0,
    1.0,
    1,
    True,
    False,
    None,
    "a",
    "A",
    float("nan"),
    float("inf"),
    -1.0,
    1.0199,
    1.021,
    100,
    100.4,
]


@pytest.mark.parametrize("true", [one for one in SAMPLES if one is not None and one == one])
def test_a_digest_tells_what_comparing_tells(true):
    digest = digests("s", true, 0.02)[""]
    for answer in SAMPLES:
        assert fits("s", "", answer, digest, 0.02) == same(answer, true, 0.02), (answer, true)


@pytest.mark.parametrize("tolerance", [1e-9, 1e-6, 0.02, 0.5])
def test_digests_keep_to_the_tolerance(tolerance):
    rng = np.random.default_rng(1)
    for true in np.exp(rng.uniform(-60, 60, 20)) * rng.choice([-1, 1], 20):
        digest = digests("s", float(true), tolerance)[""]
        for share in (-1.01, -0.99, 0, 0.99, 1.01):
            assert fits("s", "", float(true) * (1 + share * tolerance), digest, tolerance) == (
                abs(share) < 1
            ), (true, share)


def test_plain_takes_arrays_and_sympy():
    import sympy

    given = {
        "a": np.array([[1, 2.5]]),
        "b": (sympy.Integer(3), sympy.Rational(1, 4)),
        "c": np.bool_(True),
    }
    assert plain_data(given) == {"a": [[1, 2.5]], "b": [3, 0.25], "c": True}


# Notebooks


@pytest.mark.parametrize(
    "install, line",
    [
        (None, "%pip install -q ipywidgets matplotlib numpy"),
        (
            "handful @ https://example.org/h.whl",
            '%pip install -q "handful @ https://example.org/h.whl"',
        ),
    ],
)
def test_the_first_cell_installs(roofline, install, line):
    assert notebooks.notebook(roofline, "ada", install=install)["cells"][0][
        "source"
    ].splitlines() == [line, 'student = "ada"']


@pytest.mark.parametrize(
    "words, says",
    [
        (
            ["export", "roofline", "--format", "gradescope"],
            "say where pip gets it from, with --install",
        ),
        (
            ["build", "advise"],
            "The students of advise use the package handful: say where pip gets it from, with "
            "--install",
        ),
    ],
)
def test_what_has_to_be_installed_is_asked_for(words, says, tmp_path, capsys):
    assert main(["assign", *words, "-o", str(tmp_path / "out")]) == 2
    assert says in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_without_the_package_the_setup_brings_its_checks(roofline):
    """Nothing of this project is on the path of that interpreter."""
    cells = {
        cell["id"]: cell["source"]
        for cell in notebooks.notebook(roofline, "ada", "solution")["cells"]
    }
    code = "\n".join(
        [
            'student = "ada"',
            cells["setup-2"],
            "import sys\nassert 'handful' not in sys.modules",
            next(source for source in cells.values() if "times = {" in source),
            cells["check-times"],
            'balance_batch = "w * F"',
            cells["check-balance-batch"],
        ]
    )
    told = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert (
        told == "times (3 points): right.\nbalance_batch (3 points): this formula is read after "
        "you hand in.\n"
    )


def test_ids_are_texts_of_python(roofline):
    space: dict = {}
    exec(
        notebooks.notebook(roofline, 'a"; import os #\n')["cells"][0]["source"].partition("\n")[2],
        space,
    )
    assert space["student"] == 'a"; import os #\n'


@pytest.mark.parametrize(
    "fill",
    [
        "full",
        ("wrong", "step_time", "added"),
        ("wrong", "steps", "added-not-max"),
        ("wrong", "step_time"),
    ],
)
def test_an_unknown_filling_is_refused(roofline, fill):
    with pytest.raises(
        SourceError,
        match=r"roofline.*one-chip",
    ):
        notebooks.notebook(roofline, "ada", fill)


def test_an_assignment_without_draws_needs_no_id(capsys):
    made = read_text(SMALL.format(answer='"a\'b"', rest="asks: it's x"), "t.md")
    space: dict = {"student": ""}
    exec(notebooks.notebook(made)["cells"][1]["source"], space)
    exec('x = "a\'b"\ncheck()', space)
    assert capsys.readouterr().out == "x (1 point): right.\n"


# The command


def test_list_check_and_build(tmp_path, capsys):
    assert main(["assign", "list", "--json"]) == 0
    found = {one["name"]: one for one in json.loads(capsys.readouterr().out)}
    assert found["roofline"]["points"] == 20 and found["roofline"]["waiting"] == 6
    assert main(["assign", "check", "roofline", "--variants", "2"]) == 0
    assert "known mistakes wrong" in capsys.readouterr().out
    roster = tmp_path / "class.csv"
    roster.write_text("student,name\nada,Ada Lovelace\n../grace,Grace Hopper\n")
    assert (
        main(
            [
                "assign",
                "build",
                "roofline",
                "-o",
                str(tmp_path / "out"),
                "--students",
                str(roster),
                "--no-pdf",
            ]
        )
        == 0
    )
    files = sorted(
        str(path.relative_to(tmp_path / "out"))
        for path in (tmp_path / "out").rglob("*")
        if path.is_file()
    )
    assert files == [
        "release/_grace/roofline.ipynb",
        "release/ada/roofline.ipynb",
        f"teacher/editions/roofline-{found['roofline']['edition']}.md",
        "teacher/roofline-solution.ipynb",
        "teacher/rubric.md",
    ]
    assert "those in the roster's column 'student', such as 'ada'." in capsys.readouterr().err
    made = json.loads((tmp_path / "out/release/_grace/roofline.ipynb").read_text())
    assert made["metadata"]["handful"]["student"] == "../grace"
    assert "max(read" in (tmp_path / "out/teacher/roofline-solution.ipynb").read_text()


def test_list_and_export(tmp_path, capsys):
    assert main(["assign", "list"]) == 0
    assert "80 min  20 + 6 points  Write the roofline" in capsys.readouterr().out
    for kind, file in (
        ("nbgrader", "source/roofline/roofline.ipynb"),
        ("gradescope", "roofline-gradescope.zip"),
    ):
        assert (
            main(
                [
                    "assign",
                    "export",
                    "roofline",
                    "--format",
                    kind,
                    "-o",
                    str(tmp_path),
                    "--install",
                    "handful[classroom] @ file:///wheel",
                ]
            )
            == 0
        )
        assert (
            str(tmp_path / file) in capsys.readouterr().err
            and (tmp_path / file).stat().st_size > 1000
        )


SECOND = """```{code-cell} ipython3
:tags: [answer]
y = x + 1  # solution
```
```{question} y
kind: value
points: 1
asks: y
```
"""


@pytest.mark.parametrize("scores", [(1, 2), (1.5, 2.5)])
def test_mistakes_that_stay_behind_when_points_are_raised_are_noted(tmp_path, capsys, scores):
    """`times` of a mended roofline gets 4 points instead of 3, and its mistakes more or not."""
    source = (source_folder() / "roofline.md").read_text()
    text, at, question = source.partition("{question} times")
    own, end, rest = question.partition("\n```")
    own = own.replace("points: 3", "points: 4")
    for was, now in zip((1, 2), scores, strict=True):
        own = own.replace(f"score: {was}\n", f"score: {now}\n")
    mended = tmp_path / "roofline.md"
    mended.write_text(text + at + own + end + rest)
    assert main(["assign", "check", str(mended), "--variants", "1"]) == 0
    said = capsys.readouterr().err
    told = "times has 4 points, which were 3, and its mistakes give at most 2, as before"
    assert (told in said) == (scores == (1, 2))
    assert "which were" not in said.replace(told, "")


def test_a_mistake_that_is_paid_twice_is_noted(tmp_path, capsys):
    (tmp_path / "t.md").write_text(
        SMALL.format(answer="3", rest="asks: x\nwrong:\n  four: {says: Four., code: x = 4}")
        + SECOND
    )
    assert main(["assign", "check", str(tmp_path / "t.md"), "--variants", "1"]) == 0
    assert "Note: t: x: the misconception four makes y wrong too" in capsys.readouterr().err


@pytest.mark.parametrize(
    "given, says",
    [
        ({"stages": 1}, "not all right.  "),
        (None, "not filled in yet."),
        (ZeroDivisionError("no"), "stops with ZeroDivisionError: no"),
        (KeyError, "stops with KeyError"),
    ],
)
def test_a_judged_answer_is_judged_at_once(given, says, capsys):
    def plan(**call):
        if given is None:
            raise NotImplementedError
        if not isinstance(given, dict):
            raise given
        return given

    schedule = assignments()["schedule"]
    name = next(
        one.name for one in schedule.questions.values() if one.kind == "judged" and one.visible
    )
    assert says in checked(schedule, name, plan, capsys)


@pytest.mark.parametrize(
    "arguments, says",
    [
        (["build", "rooflin"], "There is no assignment 'rooflin'; the nearest are roofline"),
        (["build", "zzzzz"], "There is no assignment 'zzzzz'; there are advise, balance"),
        (["check", "roofline", "--variants", "0"], "1 to 200 variants can be checked; got 0."),
        (
            ["build", "roofline", "--no-pdf", "--students", "/none.csv"],
            "The roster /none.csv cannot be read",
        ),
        (["build", "roofline", "--no-pdf", "-o", "/dev/null/x"], "cannot be written"),
        (["export", "roofline", "--format", "otter"], "otter"),
    ],
)
def test_commands_refuse_in_a_sentence(arguments, says, capsys):
    assert main(["assign", *arguments]) == 2
    assert says in capsys.readouterr().err


def test_without_a_browser_all_but_the_pdf_is_built(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("HANDFUL_BROWSER", "no-such-browser")
    assert main(["assign", "build", "roofline", "-o", str(tmp_path)]) == 1
    assert (
        "All but the PDF is built; leave it out with --no-pdf.  A PDF needs Chromium"
        in capsys.readouterr().err
    )
    assert (tmp_path / "release/roofline.ipynb").exists() and (
        tmp_path / "teacher/rubric.md"
    ).exists()


def test_jupytext_opens_a_source(roofline):
    import jupytext

    cells = jupytext.read(source_folder() / "roofline.md").cells
    assert [cell.source for cell in cells if cell.cell_type == "code"] == [
        piece.text for piece in roofline.pieces if piece.kind == "code"
    ]


@pytest.mark.browser
def test_the_sheet_prints(tmp_path, capsys):
    assert main(["assign", "build", "roofline", "-o", str(tmp_path)]) == 0
    assert (tmp_path / "release/roofline.pdf").read_bytes().startswith(b"%PDF")


def test_a_faulty_assignment_is_named(tmp_path, capsys):
    text = SMALL.format(
        answer="3", rest="asks: x\ntruth: |\n  x = 4\nwrong:\n  four: {says: Four., code: x = 4}"
    )
    (tmp_path / "t.md").write_text(text)
    assert main(["assign", "check", str(tmp_path / "t.md"), "--variants", "2"]) == 2
    out = capsys.readouterr()
    assert "x: the solution is not what handful gives (variants 0, 1)" in out.out
    assert "x: the misconception four is right (variants 0, 1)" in out.out
    assert "2 faults in t." in out.err


# Other graders


def outcome(cell: str, space: dict) -> float:
    """Return the outcome of a test cell for nbgrader: its last value as partial credit."""
    body, _, last = cell.rstrip().rpartition("\n")
    exec(body, space)
    return eval(last, space)


@pytest.mark.parametrize("name", sorted(assignments()))
def test_nbgrader_tests_give_solutions_all_points(name):
    assignment = assignments()[name]
    made = formats.nbgrader(assignment)
    graded = [cell for cell in made["cells"] if cell["metadata"].get("nbgrader", {}).get("grade")]
    assert (
        sum(cell["metadata"]["nbgrader"]["points"] for cell in graded)
        == assignment.points + assignment.waiting
    )
    space, empty = ({"given": inputs_of(assignment, formats.VARIANT)} for _ in range(2))
    for i, piece in enumerate(assignment.pieces):
        if piece.kind == "code" and piece.tag != "explore":
            exec(assignment.cuts[i].solution, space)
    for cell in graded:
        if cell["cell_type"] == "code":
            assert outcome(cell["source"], space) == pytest.approx(
                cell["metadata"]["nbgrader"]["points"]
            ), cell["id"]
            with pytest.raises(NameError):
                outcome(cell["source"], empty)


def test_nbgrader_hides_what_is_hidden(roofline):
    cells = {cell["id"]: cell["source"] for cell in formats.nbgrader(roofline)["cells"]}
    test = cells["test-step-time"]
    shown = test[: test.index(formats.BEGIN)] + test[test.index(formats.END) :]
    assert shown.count("'batch':") == 3 and test.count("'batch':") == 11
    assert (
        cells["code-12"].startswith("import matplotlib")
        and "### BEGIN SOLUTION\n_read" in cells["answer-03"]
    )


def test_the_archive_for_gradescope(roofline):
    archive = gradescope.archive(roofline, ["handful", "handful-classroom"])
    assert archive == gradescope.archive(roofline, ["handful", "handful-classroom"])
    zipped = zipfile.ZipFile(io.BytesIO(archive))
    assert zipped.namelist() == ["setup.sh", "run_autograder", "assignment/roofline.md"]
    assert zipped.getinfo("run_autograder").external_attr >> 16 == 0o755
    assert (
        "pip install --no-input 'handful' 'handful-classroom'\n" in zipped.read("setup.sh").decode()
    )
    assert (
        "'it'\\''s'"
        in zipfile.ZipFile(io.BytesIO(gradescope.archive(roofline, ["it's"])))
        .read("setup.sh")
        .decode()
    )


@pytest.mark.parametrize(
    "files, says",
    [
        ([], "there is none.  Nothing was graded."),
        (["a.ipynb", "b.ipynb"], "there are 2.  Nothing was graded."),
        (["a.ipynb"], "Nothing was graded: this container has no sandbox"),
    ],
)
def test_gradescope_gets_no_score_where_nothing_was_graded(
    roofline, files, says, tmp_path, monkeypatch
):
    from handful_classroom.grading import grade
    from handful_classroom.sandbox import run

    def refuse(*_):
        raise run.SandboxError("bubblewrap cannot make namespaces here.")

    monkeypatch.setattr(grade, "grade_one", refuse)
    zipfile.ZipFile(
        io.BytesIO(gradescope.archive(roofline, ["handful", "handful-classroom"]))
    ).extractall(tmp_path / "source")
    (tmp_path / "submission").mkdir()
    for name in files:
        (tmp_path / "submission" / name).write_text("{}")
    gradescope.run(tmp_path)
    found = json.loads((tmp_path / "results/results.json").read_text())
    assert says in found["output"] and "score" not in found and "tests" not in found


def test_gradescope_grades_as_we_do(roofline, tmp_path, monkeypatch):
    """A real submission in Gradescope's folders, judged by answers that the sandbox would bring."""
    from handful_classroom.grading import grade

    seen = {}

    def graded(assignment, student, data):
        seen.update(name=assignment.name, edition=assignment.edition, student=student)
        return {
            "status": "wrong",
            "says": "Well.",
            "notices": ["A notice."],
            "questions": [
                {
                    "name": "f",
                    "asks": "f",
                    "kind": "function",
                    "status": "wrong",
                    "points": 1,
                    "possible": 3,
                    "says": "1 of 3 calls are right.",
                },
                {
                    "name": "w",
                    "asks": "why",
                    "kind": "written",
                    "status": "waiting",
                    "points": 0,
                    "possible": 6,
                    "says": "Your teacher reads this.",
                },
            ],
        }

    monkeypatch.setattr(grade, "grade_one", graded)
    zipfile.ZipFile(
        io.BytesIO(gradescope.archive(roofline, ["handful", "handful-classroom"]))
    ).extractall(tmp_path / "source")
    (tmp_path / "submission").mkdir()
    (tmp_path / "submission/roofline.ipynb").write_text("{}")
    (tmp_path / "submission_metadata.json").write_text(
        json.dumps({"users": [{"email": "ada@example.org", "name": "Ada"}]})
    )
    made = gradescope.run(tmp_path)
    assert seen == {"name": "roofline", "edition": roofline.edition, "student": "ada@example.org"}
    assert made["tests"] == [
        {
            "name": "f: f",
            "score": 1,
            "max_score": 3,
            "output": "1 of 3 calls are right.",
            "output_format": "text",
            "status": "failed",
            "visibility": "visible",
        }
    ]
    assert made["output"] == "Well.\nA notice."
