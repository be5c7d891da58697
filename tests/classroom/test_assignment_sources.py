"""Tests of errors in a source: each is one sentence with file, line and field."""

import textwrap

import pytest

from handful_classroom.release.assignment import assignment, read, read_text
from handful_classroom.release.variants import (
    answers,
    calls,
    inputs_of,
    misconceptions,
    solutions,
    truths,
)
from handful_study.source import SourceError

SOURCE = textwrap.dedent("""\
    ---
    title: Twice
    chapter: latency-and-cost
    minutes: 60
    kernelspec: {display_name: Python 3, language: python, name: python3}
    given:
      hardware: [H100 SXM, B200 SXM]
      batch: 16..64 times 2
      shows: [batch, hardware]
    ---

    # Twice

    ```{code-cell} ipython3
    :tags: [answer]
    def twice(x):
        # solution
        return 2 * x
        # end
    ```

    ```{question} twice
    kind: function
    points: 2
    asks: twice a number
    calls:
      - {x: 1}
    hidden:
      count: 3
      x: 2..9 by 1
    wrong:
      square:
        says: You squared it.
        code: |
          def twice(x):
              return x * x
    ```

    ```{code-cell} ipython3
    :tags: [answer]
    ratio = "F / W"  # solution
    ```

    ```{question} ratio
    kind: expression
    points: 1
    asks: the ratio
    letters: {F: peak_flops, W: memory_bandwidth}
    truth: F / W
    ```

    <!-- answer: why -->
    Because.
    <!-- end -->

    ```{question} why
    kind: written
    points: 2
    asks: why
    rubric:
      - {points: 2, text: Says why.}
    ```
    """)


def test_the_source_is_right_as_it_stands():
    made = read_text(SOURCE, "twice.md")
    assert (made.name, made.points, made.waiting, list(made.questions)) == (
        "twice",
        3,
        2,
        ["twice", "ratio", "why"],
    )
    assert made.questions["why"].model == "Because."
    question = made.questions["twice"]
    asked = calls(question, 5)
    assert len(asked) == 4 and len({call["x"] for call in asked}) == 4
    assert (
        answers(question, truths(made, 5)["twice"], asked)
        == answers(question, solutions(made, 5)["twice"], asked)
        == [2 * call["x"] for call in asked]
    )
    assert answers(question, misconceptions(made, 5)["twice"]["square"], asked) == [
        call["x"] ** 2 for call in asked
    ]
    assert inputs_of(made, 5).keys() == {"batch", "hardware"}


# (what stands in the source, what is put in its place, what the sentence says)
MISTAKES = [
    ("---\ntitle", "title", "line 1: an assignment begins with a head"),
    (
        "  shows: [batch, hardware]\n---\n",
        "  shows: [batch, hardware]\n",
        "line 1: the head does not end",
    ),
    (
        "minutes: 60\n",
        "",
        "the field minutes is missing; required are title, chapter, minutes, kernelspec",
    ),
    (
        "minutes: 60",
        "minutes: soon",
        "line 4: twice: minutes: a whole number of minutes from 1 to 600 is expected; got 'soon'",
    ),
    (
        "minutes: 60",
        "minutes: 60\nauthor: me",
        "line 5: twice: author: there is no such field; allowed are title,",
    ),
    ("minutes: 60", "minutes: 60\nminutes: 70", "line 5: the head has the field minutes twice"),
    ("minutes: 60", "minutes: [60", "the head is no YAML"),
    (
        "chapter: latency-and-cost",
        "chapter: latency",
        "there is no chapter 'latency'; the nearest are latency-and-cost",
    ),
    (
        "minutes: 60",
        "minutes: 60\nlibrary: some",
        "library: one of none, all is allowed; got 'some'",
    ),
    (
        "[H100 SXM, B200 SXM]",
        "[H100 SXM, B200]",
        "hardware: there is no 'B200'; the nearest are B200 SXM",
    ),
    (
        "16..64 times 2",
        "64..16 times 2",
        "line 8: twice: given.batch: batch: '64..16 times 2' goes nowhere",
    ),
    (
        "shows: [batch, hardware]",
        "shows: [batches, hardware]",
        "given.shows: there is nothing called 'batches' to show; the nearest are batch",
    ),
    (
        "  shows: [batch, hardware]\n",
        "",
        "given: lines of the form name: value are expected, and shows",
    ),
    (
        "[answer]\ndef",
        "[answers]\ndef",
        "line 15: a cell is tagged answer or explore, or not at all",
    ),
    ("[answer]\ndef", "[setup]\ndef", "the build makes the setup cell"),
    ("    # end\n", "", "line 17: the solution does not end; close it with # end."),
    (
        "    # solution\n    return 2 * x\n    # end",
        "    return 2 * x",
        "this cell needs its solution between # solution and # end",
    ),
    (":tags: [answer]\ndef", "def", "this cell holds a solution and has to be tagged answer"),
    ("    return 2 * x\n", "    return 2 * * x\n", "line 18: this is no Python"),
    (
        "    return 2 * x\n",
        "    import handful\n    return 2 * x\n",
        "imports handful, which is not there when answers are graded (library: none)",
    ),
    (
        "def twice(x):\n    # solution",
        "def double(x):\n    # solution",
        "belongs to no question; questions are twice, ratio, why",
    ),
    (
        'ratio = "F / W"  # solution',
        'share = "F / W"  # solution',
        "the answer 'share' belongs to no question",
    ),
    (
        "kind: function\n",
        "kind: functions\n",
        "kind: one of value, function, expression, judged, written is allowed; got 'functions'",
    ),
    (
        "points: 2\nasks: twice",
        "asks: twice",
        "twice: the field points is missing; a question of the kind function needs kind, points, "
        "asks",
    ),
    (
        "points: 2\nasks: twice",
        "points: 0\nasks: twice",
        "points: a number of points up to 100 is expected; got 0",
    ),
    (
        "points: 2\nasks: twice",
        "points: 2\nletters: {F: batch}\nasks: twice",
        "a question of the kind function has no such field",
    ),
    ("  - {x: 1}", "  - {y: 1}", "every call has the same arguments, y; this one has x"),
    ("  - {x: 1}", "  - [1]", "calls: a list of mappings is expected"),
    ("calls:\n  - {x: 1}\n", "", "a function needs a visible call at least"),
    ("count: 3", "count: 0", "a whole number of calls from 1 to 200 is expected as count; got 0"),
    ("x: 2..9 by 1", "x: 9..2 by 1", "hidden.x: x: '9..2 by 1' goes nowhere"),
    ("x: 2..9 by 1", "x: 2..9", "hidden.x: x: '2..9' begins like a range and is none; write low"),
    ("x: 2..9 by 1", "x: 2..9 step 1", "hidden.x: x: '2..9 step 1' begins like a range and is"),
    ("x: 2..9 by 1", "x: 2 to 9 by 1", "hidden.x: x: '2 to 9 by 1' begins like a range and is"),
    ("x: 2..9 by 1", "x: 2-9 by 1", "hidden.x: x: '2-9 by 1' begins like a range and is none"),
    (
        "says: You squared it.\n",
        "says: You squared it.\n    score: 2\n",
        "a score from 0 to less than the question's 2 points is expected; got 2",
    ),
    ("    says: You squared it.\n", "", "a misconception needs says and code"),
    (
        "  square:",
        "  Square:",
        "an id is lower-case words and figures joined by hyphens; got 'Square'",
    ),
    (
        "      def twice(x):\n          return x * x",
        "      def square(x):\n          return x * x",
        "wrong.square.code: the code does not define twice",
    ),
    (
        "{F: peak_flops,",
        "{F: peak_flop,",
        "there is no quantity 'peak_flop'; the nearest are peak_flops",
    ),
    (
        "truth: F / W",
        "truth: F / W / batch",
        "the expression holds batch, which is not among its letters",
    ),
    ("truth: F / W", "truth: F / / W", "truth: '/' stands where a number or a name should"),
    ("truth: F / W\n", "", "the field truth is missing; a question of the kind expression needs"),
    (
        "- {points: 2, text: Says why.}",
        "- {points: 1, text: Says why.}",
        "the rubric's points come to 1; the question has 2",
    ),
    (
        "- {points: 2, text: Says why.}",
        "- Says why.",
        "rubric: a list is expected, each with points and text",
    ),
    (
        "<!-- answer: why -->\nBecause.\n<!-- end -->\n",
        "",
        "a written question needs its model answer",
    ),
    ("<!-- end -->\n", "", "the model answer to why does not end"),
    (
        "<!-- answer: why -->",
        "<!-- answer: who -->",
        "why: a written question needs its model answer",
    ),
    ("```{question} ratio", "```{question} twice", "this question stands twice; names are unique"),
    (
        "```{question} why",
        "```{question} why not",
        "a question is called as its answer, a Python name; got 'why not'",
    ),
    ("```{question} why", "```{exercise} why", "{exercise} is no block of an assignment"),
    ("# Twice\n", "# Twice\n\n<!-- end -->\n", "line 14: <!-- end --> closes nothing"),
    (
        "[answer]\ndef",
        "[answer]\n:name: two\ndef",
        "a cell's options are :tags: [answer] or :tags: [explore]; got ':name: two'",
    ),
    (
        "    # solution\n    return",
        "    # solution\n    # solution\n    return",
        "line 18: # solution stands within a solution",
    ),
    ("    # solution\n    return 2 * x\n", "    return 2 * x\n", "# end closes nothing"),
    ("    return 2 * x\n    # end", "    # end", "line 17: the solution is empty"),
    (
        'ratio = "F / W"  # solution',
        'print("F / W")  # solution',
        "a line that ends in # solution is name = value",
    ),
    ("batch: 16..64 times 2", "batch size: 16", "given.batch size: 'batch size' is no name"),
    (
        "batch: 16..64 times 2",
        "batch: []",
        "given.batch: a value, a list, or low..high by step is expected",
    ),
    ("batch: 16..64 times 2", "batch: many", "given.batch: batch: 'many' is no number"),
    ("batch: 16..64 times 2", "batch: 1..9e9 by 1", "'1..9e9 by 1' has more than 200 values"),
    ("batch: 16..64 times 2", "batch: 1..9-9 by 1", "'1..9-9 by 1' has no numbers"),
    ("batch: 16..64 times 2", "batch: 16..64 x 2", "'16..64 x 2' begins like a range and is none"),
    ("batch: 16..64 times 2", "mine: 16..64", "given.mine: mine: '16..64' begins like a range and"),
    ("batch: 16..64 times 2", "batch: .inf", "a finite number is expected; got inf"),
    ("batch: 16..64 times 2", "batch: [true]", "a number is expected; got True"),
    (
        "batch: 16..64 times 2",
        "cases: [1]",
        "given.cases: a list of mappings is expected, each with a name",
    ),
    (
        "asks: twice a number",
        "asks: 2",
        "asks: words are expected, such as: the time of a decode step; got 2",
    ),
    (
        "hidden:\n  count: 3\n  x: 2..9 by 1",
        "hidden: 3",
        "hidden: count, and a line for each argument, are expected",
    ),
    ("x: 2..9 by 1", "x: []", "hidden.x: a value, a list, or low..high by step is expected"),
    (
        "x: 2..9 by 1",
        "x: [2024-01-01]",
        "arguments are numbers, texts, true and false, lists and mappings of them",
    ),
    (
        "asks: twice a number",
        "asks: twice a number\ntruth: [1]",
        "truth: code is expected; got [1]",
    ),
    (
        "letters: {F: peak_flops, W: memory_bandwidth}",
        "letters: [F, W]",
        "a mapping of letters to quantities is expected",
    ),
    ("letters: {F: peak_flops,", "letters: {max: peak_flops,", "'max' cannot be a letter"),
    (
        "wrong:\n  square:\n    says: You squared it.\n    code: |\n      def twice(x):\n"
        "          return x * x",
        "wrong: [square]",
        "wrong: misconceptions by their ids are expected",
    ),
    (
        "says: You squared it.",
        "says: 3",
        "says is a sentence for the student, and code makes the mistake",
    ),
    (
        "kind: expression\npoints: 1\nasks: the ratio\nletters: {F: peak_flops, W: "
        "memory_bandwidth}\ntruth: F / W",
        "kind: judged\npoints: 1\nasks: the ratio\njudge: some one",
        "the name of a function of handful_study.custom_scorers is expected; got 'some one'",
    ),
    ("# Twice\n", "# Twice\n\n~~~python\nx\n", "does not end; close it with ~~~"),
]


@pytest.mark.parametrize("was, put, says", MISTAKES)
def test_a_mistake_is_one_sentence(was, put, says):
    assert SOURCE.count(was) >= 1
    with pytest.raises(SourceError) as error:
        read_text(SOURCE.replace(was, put, 1), "twice.md")
    text = str(error.value)
    assert text.startswith("twice.md, line ") and "\n" not in text and text.endswith(".")
    assert says in text


def test_what_may_stand_in_a_source_besides():
    text = SOURCE.replace("# Twice\n", "# Twice\n\n~~~python\nshown(1)\n~~~\n").replace(
        "[answer]\ndef", "[answer]\n\ndef"
    )
    text = text.replace(
        "  shows: [batch, hardware]",
        "  plan: [slow, fast]\n  share: 1..3 by 1\n  cases:\n    - {name: small, context: 1000}\n"
        "    - {name: large, context: 1 Mtoken}\n  shows: [batch, hardware, plan, share, case, "
        "context]",
    )
    made = read_text(text, "twice.md")
    assert made.pieces[0].text == "# Twice\n\n~~~python\nshown(1)\n~~~"
    drawn = [inputs_of(made, variant) for variant in range(200)]
    assert {one["plan"] for one in drawn} == {"slow", "fast"} and {
        one["share"] for one in drawn
    } == {1, 2, 3}
    assert {(one["case"], one["context"]) for one in drawn} == {
        ("small", 1000),
        ("large", 1_000_000),
    }


def test_no_question_is_no_assignment():
    with pytest.raises(SourceError, match="there is no question; write one as a block"):
        read_text(SOURCE[: SOURCE.index("```{code-cell}")], "twice.md")


def test_a_package_without_sources_says_so(monkeypatch, tmp_path):
    import handful_classroom.release.assignment as module

    monkeypatch.setattr(module, "source_folder", lambda: tmp_path)
    with pytest.raises(SourceError, match="No assignments are installed here"):
        assignment("roofline")


def test_a_question_needs_its_answer_above_it():
    cell, question = (
        SOURCE[SOURCE.index(start) :]
        for start in ("```{code-cell} ipython3\n:tags: [answer]\nratio", "```{question} ratio")
    )
    cell, question = cell[: cell.index("```{question}")], question[: question.index("<!--")]
    with pytest.raises(SourceError, match=r"ratio: .*answer"):
        read_text(SOURCE.replace(cell + question, question + cell), "twice.md")


def test_a_solution_that_fails_is_named():
    made = read_text(
        SOURCE.replace('ratio = "F / W"  # solution', 'ratio = "F" + given["nothing"]  # solution'),
        "twice.md",
    )
    with pytest.raises(
        SourceError,
        match=r"twice\.md, line \d+: .*variant 3: KeyError: 'nothing'",
    ):
        solutions(made, 3)


def test_files_that_are_not_there_or_no_text(tmp_path):
    with pytest.raises(SourceError, match="cannot be read: No such file"):
        read(tmp_path / "none.md")
    (tmp_path / "latin.md").write_bytes("é".encode("latin-1"))
    with pytest.raises(SourceError, match="is no text in UTF-8"):
        read(tmp_path / "latin.md")
    (tmp_path / "twice.md").write_text(SOURCE)
    assert assignment(str(tmp_path / "twice.md")).title == "Twice"
    with pytest.raises(SourceError, match=r"'rooflines'.*roofline"):
        assignment("rooflines")


@pytest.mark.parametrize("variant", [-1, 200, True, "3"])
def test_a_variant_is_one_of_two_hundred(variant):
    with pytest.raises(ValueError, match="0 to 199"):
        inputs_of(read_text(SOURCE, "twice.md"), variant)
