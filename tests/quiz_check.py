"""The quizzes read back by programs that are not ours: ``make quiz-check``.

text2qti packs our text into a QTI 1.2 zip for Canvas, and pyslet, an implementation of QTI, reads
that zip; moodle-xml-parser reads the Moodle XML.  Both come by pip into an environment of their
own, _build/quizzes.  What they find right, and how far a number may be off, is compared with the
problems.
"""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from handful_site.build import BUILD, say, stop
from handful_study import markup
from handful_study.check import right_choice
from handful_study.problem_export import Drawn, as_moodle, as_text2qti, select_problems, variants

PLACE = BUILD / "quizzes"
PACKAGES = ("pyslet==0.7.20170805", "moodle-xml-parser==0.3.1")
MANY = 3
# text2qti rounds the ends of a range to four decimals.
ROUNDED = 1e-4

QTI_READER = """
import json, sys, zipfile
from pyslet.qtiv1 import item, xml


def items(section):
    for one in section.SectionItemMixin:
        yield from [one] if isinstance(one, item.Item) else items(one)


archive = zipfile.ZipFile(sys.argv[1])
(name,) = [name for name in archive.namelist()
           if name.endswith(".xml") and "questestinterop" in archive.read(name)[:300].decode()]
document = xml.QTIDocument()
document.read(src=archive.read(name))
found = {}
for one in [one for part in document.root.Assessment.SectionMixin for one in items(part)]:
    conditions = [condition for process in one.ResProcessing
                  for condition in process.find_children_depth_first(item.RespCondition)]
    found[one.title] = {
        "choices": {label.ident: "".join(text.get_value() for text in
                                         label.find_children_depth_first(item.common.MatText))
                    for label in one.Presentation.find_children_depth_first(item.ResponseLabel)},
        "right": [[type(part).__name__, part.get_value()] for condition in conditions
                  if any(points.get_value() == "100" for points in condition.SetVar)
                  for part in condition.ConditionVar.find_children_depth_first(object)
                  if type(part).__name__ in ("VarEqual", "VarGTE", "VarLTE")],
        "feedback": len(one.ItemFeedback),
    }
json.dump(found, sys.stdout)
"""

MOODLE_READER = """
import json, sys
from moodle_xml_parser.parser import parse_file

json.dump({one.name: {"single": one.single,
                      "options": [[option.answer, option.score_fraction, option.feedback]
                                  for option in one.options]}
           for one in parse_file(sys.argv[1])["multichoice"]}, sys.stdout)
"""


def environment() -> str:
    """Put both readers into _build/quizzes; returns its Python."""
    stamp = PLACE / ".made-from"
    if not stamp.exists() or stamp.read_text() != "\n".join(PACKAGES):
        say("readers of quizzes in an environment of their own")
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(PLACE)], check=True)
        pip = [str(PLACE / "bin" / "pip"), "install", "-q", "--disable-pip-version-check"]
        subprocess.run([*pip, *PACKAGES], check=True)
        stamp.write_text("\n".join(PACKAGES))
    return str(PLACE / "bin" / "python")


def read(python: str, reader: str, path: Path) -> dict:
    done = subprocess.run([python, "-c", reader, str(path)], capture_output=True, text=True)
    if done.returncode:
        stop(f"{path.name} could not be read:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout)


def words(text: str) -> str:
    """Return the letters and digits of a text, so that two renderings can be compared."""
    return re.sub(r"\W|_", "", html.unescape(re.sub(r"<[^>]*>", "", text)))


def check_qti(found: dict, drawn: Drawn) -> None:
    """Compare a question for Canvas with its problem."""
    name = f"{drawn.id}, seed {drawn.seed}"
    if drawn.kind == "number":
        ends = {kind: float(value) for kind, value in found["right"]}
        low, high = ends["VarGTE"], ends["VarLTE"]
        reach = drawn.problem.tolerance * abs(drawn.number)
        assert abs(low - (drawn.number - reach)) <= ROUNDED, name
        assert abs(high - (drawn.number + reach)) <= ROUNDED, name
        assert 0.95 < (high - low) / (2 * reach) < 1.05, f"{name}: {low} to {high}"
        assert not any(low <= value <= high for value, _ in drawn.wrong), name
    elif drawn.kind == "choice":
        assert [kind for kind, _ in found["right"]] == ["VarEqual"], name
        (_, ident) = found["right"][0]
        text = drawn.choices[right_choice(drawn.problem, drawn.seed)][0]
        assert len(found["choices"]) == len(drawn.choices), name
        if "$" not in text:  # text2qti makes pictures of formulas
            assert words(found["choices"][ident]) == words(markup.html(text)), name
        assert found["feedback"] == 1 + len(drawn.choices), name
    else:
        assert not found["right"], name


def check_moodle(found: dict, drawn: Drawn) -> None:
    """Compare a multiple choice for Moodle with its problem."""
    name = f"{drawn.id}, seed {drawn.seed}"
    assert found["single"], name
    assert [(words(text), points, words(says)) for text, points, says in found["options"]] == [
        (words(markup.html(text)), 100 * right, words(markup.html(says)))
        for text, says, right in drawn.choices
    ], name


def main() -> None:
    python, problems = environment(), select_problems()
    drawn = {
        f"{one.id}, seed {one.seed}": one
        for problem in problems
        for one in variants(problem, 0, MANY)
    }
    with tempfile.TemporaryDirectory(prefix="quiz-") as folder:
        text, xml = Path(folder) / "problems.txt", Path(folder) / "problems.xml"
        text.write_text(as_text2qti(problems, 0, MANY), "utf-8")
        xml.write_text(as_moodle(problems, 0, MANY), "utf-8")
        text2qti = str(Path(sys.executable).parent / "text2qti")
        subprocess.run([text2qti, str(text)], check=True, capture_output=True)
        qti = read(python, QTI_READER, text.with_suffix(".zip"))
        moodle = read(python, MOODLE_READER, xml)
    assert qti.keys() == drawn.keys()
    assert moodle.keys() == {name for name, one in drawn.items() if one.kind == "choice"}
    for name, found in qti.items():
        check_qti(found, drawn[name])
    for name, found in moodle.items():
        check_moodle(found, drawn[name])
    say(f"{len(qti)} questions of the QTI zip and {len(moodle)} of the Moodle XML are as drawn")


if __name__ == "__main__":
    main()
