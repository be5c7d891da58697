"""Measure grading: ``make bench-grading COUNT=1000``.

Beside it, a Jupyter kernel that only runs the same notebooks is measured: kernel-based graders
(nbgrader, otter) pay for the kernel first; it is their floor. Processor time is that of a control
group, because what runs in a sandbox outlives the process that waits for it; where no group can be
made, it is taken to be all cores for all of the time, which is the most that it can be. Where
NBGRADER or OTTER names an environment that has nbgrader, or otter-grader and ipykernel, that grades
the same assignment too. Nothing here fails.
"""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path

from handful_classroom.grading.cluster import cores
from handful_classroom.release import notebooks
from handful_classroom.release.assignment import assignments

CLASS = 10_000
KERNEL = """
import sys, nbformat
from pathlib import Path
from nbclient import NotebookClient
for path in sorted(Path(sys.argv[1]).glob("*.ipynb"))[:int(sys.argv[2])]:
    NotebookClient(nbformat.read(path, 4), timeout=60, kernel_name="python3").execute()
"""


@contextmanager
def account():
    """Make a control group that counts processor time.

    Yields the prefix of a command that joins the group, and a function that gives the group's
    seconds; an empty prefix and None where no group can be made.
    """
    for parent, counter, scale in (
        (Path("/sys/fs/cgroup/cpuacct"), "cpuacct.usage", 1e9),
        (Path("/sys/fs/cgroup"), "cpu.stat", 1e6),
    ):
        group = parent / f"handful-bench-{time.monotonic_ns()}"
        if not (parent / "cgroup.procs").exists():
            continue
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            yield (
                ["/bin/sh", "-c", f'echo 0 > {group}/cgroup.procs && exec "$@"', "sh"],
                lambda usage=group / counter, scale=scale: (
                    int(re.search(r"\d+", usage.read_text())[0]) / scale
                ),
            )
        finally:
            for _ in range(100):  # until what was killed last is gone
                with suppress(OSError):
                    group.rmdir()
                    break
                time.sleep(0.05)
        return
    yield [], None


def measured(command: list[str]) -> tuple[float, float]:
    """Return (processor seconds, wall seconds) of a command and of all that it starts."""
    with account() as (join, used):
        began = time.perf_counter()
        done = subprocess.run([*join, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        wall = time.perf_counter() - began
        if done.returncode:
            raise SystemExit(
                f"{' '.join(command[:6])} … failed:\n{done.stdout[-2000:].decode(errors='replace')}"
            )
        return used() if used else wall * cores(), wall


def written(folder: Path, count: int) -> Path:
    """Write a class of solved notebooks, each student with inputs of their own.

    Nothing is installed from the network.
    """
    folder.mkdir()
    roofline = assignments()["roofline"]
    for i in range(count):
        made = notebooks.text(notebooks.notebook(roofline, f"s{i:05}", "solution"))
        (folder / f"s{i:05}.ipynb").write_text(re.sub(r"%pip install[^\\]*\\n", "", made), "utf-8")
    return folder


def watched(command: list[str]) -> tuple[float, float, int]:
    """Return the same as `measured`, and the most memory of any one process in bytes."""
    processor, wall = measured(command)
    return processor, wall, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024


def by_nbgrader(root: Path, place: Path, runs: int) -> float:
    """Return the core-seconds of `nbgrader autograde` for each further submission.

    The submissions are of the same assignment, exported and solved.
    """
    import nbgrader_check as check
    from handful_classroom.exports import formats

    roofline, course = assignments()["roofline"], root / "course"
    for name, content in formats.FORMATS["nbgrader"](roofline, None).items():
        (course / name).parent.mkdir(parents=True, exist_ok=True)
        (course / name).write_text(content)
    (course / "nbgrader_config.py").write_text(
        "c = get_config()\nc.CourseDirectory.course_id = 'bench'\n"
    )
    check.nbgrader(place, course, "generate_assignment", roofline.name)
    made = json.loads((course / "release" / roofline.name / f"{roofline.name}.ipynb").read_text())
    solved = json.dumps(check.submissions(roofline, made)["solved"])
    for i in range(runs):
        path = course / "submitted" / f"s{i}" / roofline.name / f"{roofline.name}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(solved)
    command = [
        "env",
        "-C",
        str(course),
        "-u",
        "PYTHONPATH",
        f"PATH={place / 'bin'}:{os.environ['PATH']}",
        str(place / "bin" / "nbgrader"),
        "autograde",
        roofline.name,
        "--force",
    ]
    first, _ = measured([*command, "--student", "s0"])
    whole, _ = measured(command)
    return (whole - first) / (runs - 1)


def by_otter(root: Path, place: Path, runs: int) -> float:
    """Return the core-seconds of `otter run` for each further submission.

    The submissions hold the functions of the same assignment, with each call as a case.
    """
    from handful_classroom.release.variants import calls, truths

    roofline, tests = assignments()["roofline"], root / "otter" / "tests"
    tests.mkdir(parents=True)
    variant = roofline.variant("s00000")
    for name, question in roofline.questions.items():
        if question.kind == "function":
            truth = truths(roofline, variant)[name]
            cases = [
                {
                    "code": f">>> abs({name}(**{call!r}) / {float(truth(**call))!r} - 1) < 1e-6\n"
                    "True",
                    "hidden": False,
                    "locked": False,
                }
                for call in calls(question, variant)
            ]
            suite = {"cases": cases, "scored": True, "setup": "", "teardown": "", "type": "doctest"}
            (tests / f"{name}.py").write_text(
                "OK_FORMAT = True\ntest = "
                f"{dict(name=name, points=question.points, suites=[suite])!r}\n"
            )
    made = notebooks.notebook(roofline, "s00000", "solution")
    own = "import otter\ngrader = otter.Notebook()"
    made["cells"].insert(0, notebooks.cell("code", "otter", own))
    made["cells"] = [
        cell for cell in made["cells"] if "explore" not in cell["metadata"].get("tags", ())
    ]
    (root / "otter" / "s.ipynb").write_text(
        re.sub(r"%pip install[^\\]*\\n", "", notebooks.text(made)), "utf-8"
    )
    front = [
        "env",
        "-C",
        str(root / "otter"),
        "-u",
        "PYTHONPATH",
        f"PATH={place / 'bin'}:{os.environ['PATH']}",
    ]
    measured(
        [
            *front,
            str(place / "bin" / "otter"),
            "generate",
            "-t",
            "tests",
            "--no-environment",
            "-o",
            "autograder.zip",
        ]
    )
    return (
        sum(
            measured(
                [*front, str(place / "bin" / "otter"), "run", "s.ipynb", "-a", "autograder.zip"]
            )[0]
            for _ in range(runs)
        )
        / runs
    )


def main(count: int) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        few, many = written(root / "few", max(4, count // 10)), written(root / "many", count)
        small = len(list(few.iterdir()))

        def grade(folder: Path) -> list[str]:
            return [
                sys.executable,
                "-P",
                "-m",
                "handful",
                "assign",
                "grade",
                str(folder),
                "--assignment",
                "roofline",
                "-o",
                str(root / f"{folder.name}-out"),
                "--json",
            ]

        started, _, memory_few = watched(grade(few))
        processor, wall, memory = watched(grade(many))
        each = (processor - started) / (count - small)
        print(
            f"{count:,} submissions of roofline: {wall:.1f} s on {cores()} cores, "
            f"{processor / count:.4f} core-seconds each with starting up, {each:.4f} without"
        )
        print(
            f"largest process: {memory_few / 1e6:.0f} MB with {small} submissions, "
            f"{memory / 1e6:.0f} MB with {count:,}"
        )
        whole = (started - small * each + CLASS * each) / cores()
        print(f"{CLASS:,} would take {whole / 60:.1f} min on {cores()} cores (budget: 30 min on 2)")
        runs = 6
        first, _ = measured([sys.executable, "-P", "-c", KERNEL, str(many), "1"])
        kernel, _ = measured([sys.executable, "-P", "-c", KERNEL, str(many), str(runs)])
        kernel = (kernel - first) / (runs - 1)
        print(
            f"a Jupyter kernel that runs the same notebook: {kernel:.3f} core-seconds each, "
            f"{kernel / each:.1f} times as much (budget: 10)"
        )
        if os.environ.get("NBGRADER"):
            other = by_nbgrader(root, Path(os.environ["NBGRADER"]), runs)
            print(
                f"nbgrader autograde of the same assignment: {other:.3f} core-seconds each, "
                f"{other / each:.1f} times as much (budget: 10)"
            )
        if os.environ.get("OTTER"):
            other = by_otter(root, Path(os.environ["OTTER"]), runs)
            print(
                f"otter run of its functions: {other:.3f} core-seconds each, {other / each:.1f} "
                "times as much (budget: 10)"
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
