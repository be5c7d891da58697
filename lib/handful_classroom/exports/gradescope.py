"""Build an autograder for Gradescope, and run it there.

The autograder is an archive of ``setup.sh``, ``run_autograder`` and the assignment's source.

It runs our own grader in Gradescope's container, where that lets bubblewrap make namespaces; where
it does not, nothing is run and ``results.json`` has no score, only a sentence, so that the
submission counts as not graded and never as a 0.

What was verified here: the archive unpacks and its scripts run, ``results.json`` has the form that
Gradescope documents, and a container without a sandbox refuses.  What was not: a run at Gradescope,
whose containers are its own.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from handful_study.source import SourceError

from ..grading.submissions import shown
from ..release.assignment import Assignment, read, source_folder

SETUP = """#!/usr/bin/env bash
# Gradescope runs this once, when it builds the container.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
apt-get update
apt-get install -y --no-install-recommends bubblewrap python3 python3-venv
python3 -m venv /autograder/venv
/autograder/venv/bin/pip install --no-input {install}
"""
RUN = """#!/usr/bin/env bash
# Gradescope runs this for each submission.
exec /autograder/venv/bin/python -P -m handful_classroom.exports.gradescope /autograder
"""


def archive(assignment: Assignment, install: Sequence[str]) -> bytes:
    """Return the zip to upload; the same bytes each time."""
    requirements = " ".join("'" + one.replace("'", "'\\''") + "'" for one in install)
    files: dict[str, str | bytes] = {
        "setup.sh": SETUP.format(install=requirements),
        "run_autograder": RUN,
        f"assignment/{assignment.name}.md": _source(assignment),
    }
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, content in files.items():
            info = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            info.external_attr = (0o644 if name.endswith(".md") else 0o755) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            zipped.writestr(info, content)
    return made.getvalue()


def _source(assignment: Assignment) -> bytes:
    path = (
        source_folder() / f"{assignment.name}.md"
        if assignment.file.startswith("exercises/")
        else Path(assignment.file)
    )
    return path.read_bytes()


def results(result: Mapping) -> dict:
    """Convert one of our results to Gradescope's results.json.

    >>> made = results(
    ...     {
    ...         "status": "wrong",
    ...         "says": "One answer is not right.",
    ...         "points": 1,
    ...         "possible": 3,
    ...         "waiting": 0,
    ...         "notices": [],
    ...         "questions": [
    ...             {
    ...                 "name": "f",
    ...                 "asks": "the time",
    ...                 "kind": "function",
    ...                 "status": "wrong",
    ...                 "points": 1,
    ...                 "possible": 3,
    ...                 "says": "1 of 3 calls are right.",
    ...             }
    ...         ],
    ...     }
    ... )
    >>> made["tests"][0]["score"], made["tests"][0]["max_score"], made["output"]
    (1, 3, 'One answer is not right.')
    >>> "tests" in results(
    ...     {"status": "ungradable", "says": "It is no notebook.", "notices": [], "questions": []}
    ... )
    False
    """
    output = "\n".join(
        [result["says"], *result["notices"]]
    ).strip()  # which says what the teacher reads
    if not result["questions"]:
        return {"output": output}
    tests = [
        {
            "name": f"{one['name']}: {one['asks']}",
            "score": one["points"],
            "max_score": one["possible"],
            "output": one["says"],
            "output_format": "text",
            "status": "passed" if one["status"] == "ok" else "failed",
            "visibility": "visible",
        }
        for one in result["questions"]
        if one["kind"] != "written"
    ]
    return {"output": output, "output_format": "text", "tests": tests}


def run(root: Path) -> dict:
    """Grade the submission in Gradescope's folder, and write ``results/results.json``."""
    (root / "results").mkdir(parents=True, exist_ok=True)
    made = _graded(root)
    (root / "results" / "results.json").write_text(json.dumps(made), "utf-8")
    return made


def _graded(root: Path) -> dict:
    sources, notebooks = (
        sorted((root / "source" / "assignment").glob("*.md")),
        sorted((root / "submission").glob("*.ipynb")),
    )
    if len(sources) != 1:
        raise SourceError(
            f"{root / 'source' / 'assignment'} holds {len(sources)} assignments; one is expected."
        )
    if len(notebooks) != 1:
        return {
            "output": f"One notebook (.ipynb) is expected; there {'are' if notebooks else 'is'} "
            f"{len(notebooks) or 'none'}.  Nothing was graded."
        }
    from ..grading.grade import grade_one
    from ..grading.watchdog import READING_SECONDS, OverlongError, within
    from ..sandbox.run import SandboxError

    try:
        with within(READING_SECONDS):
            return results(grade_one(read(sources[0]), _student(root), notebooks[0].read_bytes()))
    except OverlongError as error:
        return {"output": f"Nothing was graded: {error}."}
    except SandboxError as error:
        return {
            "output": "Nothing was graded: this container has no sandbox to run your notebook in.  "
            f"{error}"
        }


def _student(root: Path) -> str:
    """Return the e-mail address of who handed in, as Gradescope knows it."""
    try:
        users = json.loads((root / "submission_metadata.json").read_text("utf-8"))["users"]
        return (
            shown(str(users[0].get("email") or users[0].get("sid") or users[0]["name"]))
            or "unknown"
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return "unknown"


if __name__ == "__main__":
    import sys

    run(Path(sys.argv[1]))
