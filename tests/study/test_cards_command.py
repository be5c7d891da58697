"""Tests of ``handful cards`` in a terminal.

They cover the sitting, its log, undo, and what it says where something is missing.
"""

from __future__ import annotations

import dataclasses
import io
import json
import os
import select
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from handful.cli import main
from handful_site.bootstrap import node_command
from handful_study import command, terminal
from handful_study import review_session as sittings
from handful_study.cards import cards
from handful_study.export import chosen
from handful_study.log import LogFile, read_file
from handful_study.review_session import Sitting, span
from handful_study.source import Part
from handful_study.spaced_repetition import DAY, MINUTE, Study

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT / "lib"), os.environ.get("PYTHONPATH")])),
}
NOON = int(datetime(2026, 3, 9, 12, tzinfo=UTC).timestamp() * 1000)


class Clock:
    def __init__(self) -> None:
        self.now, self.zone = NOON, 60

    def __call__(self) -> tuple[int, int]:
        return self.now, self.zone


def made(number: int):
    like = cards()["what-sets-the-latency-floor"]
    return dataclasses.replace(
        like,
        id=f"card-{number}",
        front=Part("", f"Question {number}?", 1),
        back=Part("Back", f"Answer {number}: $\\frac{{a}}{{b}}$.", 1),
    )


CARDS = [made(number) for number in range(1, 4)]


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def start(tmp_path, clock):
    return lambda some=CARDS: Sitting(LogFile(tmp_path / "log.json"), some, clock)


def play(sitting: Sitting, typed: str, capsys) -> str:
    """Return what the terminal shows while these keys are pressed."""
    terminal.review(sitting, terminal.Screen(80), iter(typed), "https://example.org")
    return capsys.readouterr().out


def kinds(path) -> list[str]:
    return [event["kind"] for event in read_file(path)]


# A sitting


def test_a_whole_sitting(start, tmp_path, capsys, clock):
    shown = play(start(), "\n3\n1\n4\n3\n", capsys)
    for said in (
        "0 due · 3 new · 0 again   new card · Latency and cost",
        "Question 1?",
        "Answer 1: a/b.",
        "1 Again 10 min   2 Hard 15 min   3 Good 2 days   4 Easy 8 days",
        "Good: back in 2 days, on Wednesday 11 March.",
        "Again: back at the end, or in 10 min.",
        "0 due · 0 new · 1 again   recall",
        "You answered 4 cards today and held 3 of them, 75 %.",
        "Next: 1 card tomorrow, Tuesday 10 March.",
        "https://example.org/latency-and-cost.html#the-floor-under-latency",
    ):
        assert said in shown, said
    assert shown.index("Answer 2") < shown.index("Question 3") < shown.rindex("Question 2"), (
        "a missed card comes again at the end"
    )
    events = read_file(tmp_path / "log.json")
    assert [(e["card"], e["grade"], e["zone"]) for e in events] == [
        ("card-1", 3, 60),
        ("card-2", 1, 60),
        ("card-3", 4, 60),
        ("card-2", 3, 60),
    ]
    clock.now += 2 * DAY
    assert start().queue() == {"review": ["card-2", "card-1"], "new": [], "learning": []}
    assert "Nothing was answered today." in play(start([]), "", capsys)


def test_undo_goes_back_as_far_as_the_log(start, tmp_path, capsys):
    play(start(), "\n3\n3q", capsys)
    before = Study(read_file(tmp_path / "log.json")[:1]).states
    shown = play(start(), "\n3ubuuuu", capsys)
    assert (
        shown.count("undone") == 4
        and "“Good” undone." in shown
        and "“Not today” undone." in shown
        and "There is nothing to undo." in shown
    )
    study = Study(read_file(tmp_path / "log.json"))
    assert study.states == {} and before and kinds(tmp_path / "log.json").count("undo") == 4


def test_after_undo_the_answer_is_there_and_the_right_grade_one_key_away(start, tmp_path, capsys):
    shown = play(start(), "\n1u3q", capsys)
    assert shown.count("Answer 1") == 2 and "“Again” undone." in shown
    assert Study(read_file(tmp_path / "log.json")).states["card-1"].name == "review"


def test_undo_at_the_end(start, tmp_path, capsys):
    shown = play(start(CARDS[:1]), "\n4u2q", capsys)
    assert "u: undo the last answer" in shown and "Hard: back at the end" in shown
    assert Study(read_file(tmp_path / "log.json")).states["card-1"].name == "learning"


def test_undo_of_a_card_that_the_book_no_longer_has(start, capsys):
    play(start(), "\n3q", capsys)
    assert "“Good” undone, on a card that is not asked here." in play(
        start(CARDS[1:]), "uq", capsys
    )


def test_not_today(start, capsys, clock):
    shown = play(start(), "bq", capsys)
    assert (
        "Put off until tomorrow." in shown
        and "Question 2?" in shown
        and "Put off until tomorrow: 1 card." in shown
    )
    assert start().queue()["new"] == ["card-2", "card-3"]
    clock.now += DAY
    assert start().queue()["new"] == ["card-1", "card-2", "card-3"]


def test_keys_that_do_nothing_yet(start, tmp_path, capsys):
    shown = play(start(), "3x?\n\n5zq", capsys)
    assert (
        "Look at the answer first: Enter." in shown
        and "I knew it with trouble" in shown
        and not (tmp_path / "log.json").exists()
    )


def test_a_leech_is_sent_back_to_its_section(start, capsys, clock):
    for _ in range(8):
        play(start(CARDS[:1]), "\n4", capsys)
        clock.now += 60 * DAY
        shown = play(start(CARDS[:1]), "\n1q", capsys)
        clock.now += 11 * MINUTE
    assert (
        "This card has slipped 8 times." in shown
        and shown.rstrip().count("https://example.org/latency-and-cost.html#") == 2
    )


def test_two_answers_of_one_millisecond_keep_their_order(start, tmp_path):
    sitting = start()
    for _ in range(3):
        sitting.grade(3)
    assert [event["card"] for event in read_file(tmp_path / "log.json")] == [
        "card-1",
        "card-2",
        "card-3",
    ]


def test_two_terminals_ask_no_card_twice(start):
    one, two = start(), start()
    one.grade(3)
    two.grade(3)
    assert (
        two.card.id == "card-2" and two.study.state("card-1").reps == 2
    )  # both had asked the first one
    two.grade(3)
    one.grade(3)
    assert one.card.id == "card-3"


def test_time_taken_is_noted_and_bounded(start, clock, tmp_path):
    sitting = start()
    clock.now += 2500
    sitting.grade(3)
    clock.now += 5 * 3_600_000
    sitting.grade(3)
    assert [event["took"] for event in read_file(tmp_path / "log.json")] == [2500, 600_000]


def test_spans_are_worded_as_in_the_page():
    asked = [{"minutes": n} for n in (0, 1, 10, 15, 59, 60, 89, 90, 600)] + [
        {"days": n} for n in (1, 2, 59, 60, 200, 729, 730, 900, 3652, 3653, 36500)
    ]
    program = (
        f'import {{ span }} from "./lib/handful_study/web/spaced_repetition.js"; '
        f"console.log(JSON.stringify({json.dumps(asked)}.map(span)));"
    )
    done = subprocess.run(
        [*node_command(), "--input-type=module", "-e", program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == [span(**one) for one in asked]


def test_lines_fit_the_terminal(start, capsys):
    long = dataclasses.replace(CARDS[0], front=Part("", "word " * 60, 1))
    terminal.review(start([long]), terminal.Screen(50), iter("q"))
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 54


def test_keys_from_a_pipe(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n3\n good\n"))
    with terminal.keyboard() as pressed:
        assert list(pressed) == ["\n", "3", "g"]


def test_a_terminal_is_left_as_it_was_found(monkeypatch):
    termios = pytest.importorskip("termios")
    ours, theirs = os.openpty()
    with os.fdopen(theirs) as typed:
        monkeypatch.setattr(sys, "stdin", typed)
        before = termios.tcgetattr(typed)
        with terminal.keyboard() as pressed:
            os.write(ours, b"3\x1b[Aq")  # a key, an arrow that means nothing, a key: no Enter
            assert [next(pressed), next(pressed)] == ["3", "q"]
            assert not termios.tcgetattr(typed)[3] & (termios.ECHO | termios.ICANON)
        assert termios.tcgetattr(typed) == before
        with pytest.raises(ZeroDivisionError), terminal.keyboard():
            raise ZeroDivisionError
        assert termios.tcgetattr(typed) == before
    os.close(ours)


def test_keys_from_a_terminal(tmp_path):
    """A real terminal: single keys, arrows that mean nothing, Ctrl+D."""
    pty = pytest.importorskip("pty")
    log = tmp_path / "log.json"
    child, terminal_end = pty.fork()
    if child == 0:  # pragma: no cover
        os.environ.update(ENVIRONMENT)
        os.execv(
            sys.executable,
            [sys.executable, "-P", "-m", "handful", "cards", "review", "--log", str(log)],
        )
    shown = b""

    def until(text: bytes) -> None:
        nonlocal shown
        while text not in shown:
            assert select.select([terminal_end], [], [], 60)[0], (
                f"{text} never came; there was {shown}"
            )
            shown += os.read(terminal_end, 4096)
        shown = shown.split(text)[-1]

    until(b"q quit")
    os.write(terminal_end, b"\x1b[B")  # arrow down is no b
    os.write(terminal_end, b" ")
    until(b"4 Easy")
    os.write(terminal_end, b"3")
    until(b"Good: back in 2 days")
    os.write(terminal_end, b"\x04")
    until(b"Kept in")
    try:
        while os.read(terminal_end, 4096):
            pass
    except OSError:
        pass  # the other end is closed
    os.close(terminal_end)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert [(event["kind"], event.get("grade")) for event in read_file(log)] == [("grade", 3)]


# The commands


@pytest.fixture
def run(capsys, tmp_path):
    def call(*argv):
        code = main(list(argv))
        return (code, *capsys.readouterr())

    return call


def test_cards_are_listed(run):
    code, out, _ = run("cards", "list")
    assert code == 0 and [line.split()[0] for line in out.splitlines()] == [
        card.id for card in chosen()
    ]
    assert [card["id"] for card in json.loads(run("cards", "list", "--json")[1])] == [
        card.id for card in chosen()
    ]
    one = chosen()[0].chapter
    assert len(json.loads(run("cards", "list", "--chapter", one, "--json")[1])) == sum(
        card.chapter == one for card in chosen()
    )


def test_what_is_due(run, tmp_path):
    log = str(tmp_path / "log.json")
    code, out, _ = run("cards", "due", "--log", log)
    many = min(10, len(cards()))
    assert (
        code == 0
        and out.startswith(f"0 cards due, {many} new, 0 to be asked again\n")
        and out.count("\nnew ") == many
    )
    assert (
        json.loads(run("cards", "due", "--log", log, "--json")[1])["new"]
        == [card.id for card in chosen()][:many]
    )


def test_review_from_a_pipe(run, tmp_path, monkeypatch):
    log = tmp_path / "log.json"
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n3\nq\n"))
    code, out, err = run("cards", "review", "--log", str(log))
    assert (
        code == 0
        and "Good: back in 2 days" in out
        and err == f"\nKept in {log}\n"
        and kinds(log) == ["grade"]
    )


def test_the_log_is_taken_over_and_handed_on(run, tmp_path):
    here, there, backup = (
        str(tmp_path / name) for name in ("here.json", "there.json", "backup.json")
    )
    sitting = Sitting(LogFile(there), CARDS, Clock())
    for grade in (3, 1, 4):
        sitting.grade(grade)
    code, out, _ = run(
        "cards",
        "log",
        "--log",
        here,
        "--import",
        there,
        there,
        "--set",
        "new_per_day=4",
        "--set",
        "chapters=pipelining",
        "--export",
        backup,
    )
    assert code == 0 and "Imported: 3 new entries." in out and "New per day  4\n" in out
    assert run("cards", "log", "--log", here, "--import", there)[1].endswith(
        "Imported: 0 new entries; 3 stood here already.\n"
    )
    assert read_file(backup) == read_file(here) and len(read_file(here)) == 5
    found = json.loads(run("cards", "log", "--log", here, "--json")[1])
    assert (found["events"], found["cards"], found["settings"]) == (
        5,
        3,
        {"retention": 0.9, "new_per_day": 4, "chapters": ["pipelining"]},
    )


def test_where_the_log_is(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    assert command.log_path(None).name == "study-log.json" and command.log_path("x.json") == Path(
        "x.json"
    )


@pytest.mark.parametrize(
    ("format", "start"),
    [
        ("csv", b"\xef\xbb\xbfid,chapter"),
        ("markdown", b"# A Handful"),
        ("json", b"{"),
        ("anki", b"PK"),
    ],
)
def test_exports(run, tmp_path, format, start, monkeypatch):
    path = tmp_path / "cards.out"
    code, out, err = run(
        "cards", "export", "--format", format, "-o", str(path), "--site", "https://example.org"
    )
    assert (
        (code, out) == (0, "")
        and path.read_bytes().startswith(start)
        and err == f"{path}: {path.stat().st_size:,} bytes\n"
    )
    monkeypatch.chdir(tmp_path)
    done = subprocess.run(
        [sys.executable, "-P", "-m", "handful", "cards", "export", "--format", format],
        capture_output=True,
        cwd=tmp_path,
        env=ENVIRONMENT,
    )
    assert done.returncode == 0 and (
        done.stdout.startswith(start)
        or (format == "anki" and (tmp_path / "handful-cards.apkg").read_bytes().startswith(start))
    )


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["cards", "lost"], "Argument COMMAND: invalid choice: 'lost'"),
        (
            ["cards", "list", "--chapter", "nowhere"],
            "There are no cards of a chapter 'nowhere'; there are some of latency-and-cost",
        ),
        (
            ["cards", "log", "--set", "speed=3"],
            "There is no setting 'speed'; there are retention, new_per_day and chapters.",
        ),
        (
            ["cards", "log", "--set", "retention=x"],
            "'retention=x' is no setting; write retention=0.9",
        ),
        (
            ["cards", "log", "--set", "retention=2"],
            "This cannot be noted: the value of retention is a number from 0.7 to 0.99; got 2.0.",
        ),
        (["cards", "log", "--import", "not-here.json"], "There is no file not-here.json."),
        (
            ["cards", "export", "--format", "csv", "-o", "/nowhere/at/all.csv"],
            "/nowhere/at/all.csv cannot be written: No such file or directory.",
        ),
        (["cards", "export"], "The following arguments are required: --format"),
    ],
)
def test_wrong_input_is_one_sentence_and_exit_code_2(run, argv, sentence, tmp_path):
    more = ["--log", str(tmp_path / "log.json")] if argv[1] == "log" else []
    code, out, err = run(*argv, *more)
    assert (
        (code, out) == (2, "") and err.startswith(f"handful: {sentence}") and err.count("\n") == 1
    )
    assert not (tmp_path / "log.json").exists()


def test_a_log_that_cannot_be_written_is_exit_code_1(run, tmp_path, monkeypatch):
    def full(number):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n3\n"))
    code, _, err = run("cards", "review", "--log", str(tmp_path / "log.json"))
    assert (
        code == 1
        and "log.json cannot be written: No space left on device; the last answer is not noted."
        in err
    )
    assert run("cards", "due", "--log", str(tmp_path))[2].startswith(
        f"handful: {tmp_path} cannot be read: Is a directory."
    )
    assert run("cards", "due", "--log", __file__ + "/log.json")[2].endswith(
        "cannot be read: Not a directory.\n"
    )


@pytest.mark.parametrize(
    ("argv", "package"),
    [
        (["cards", "due"], "fsrs"),
        (["cards", "review"], "fsrs"),
        (["cards", "export", "--format", "anki"], "genanki"),
        (["cards", "review"], "markdown_it"),
        (["cards", "due"], "platformdirs"),
    ],
)
def test_what_is_missing_is_named(run, argv, package, monkeypatch, tmp_path):
    for name in [
        name
        for name in sys.modules
        if name.split(".")[0] == package
        or name
        in (
            "handful_study.spaced_repetition",
            "handful_study.review_session",
            "handful_study.terminal",
        )
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    from handful_study import markup

    markup.parser.cache_clear()
    more = (
        ["--log", str(tmp_path / "log.json")]
        if package != "platformdirs" and argv[1] != "export"
        else []
    )
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n3\n"))
    code, _, err = run(*argv, *more)
    assert (
        code == 1
        and f"handful: This command needs the package {package.replace('_', '-')}, which is "
        "not installed; pip install 'handful[study]' brings it.\n"
        in err
    )


def test_the_library_imports_without_them():
    blocked = (
        "import sys\nfor name in "
        + repr(sorted(command.EXTRAS["study"]))
        + ": sys.modules[name] = None\n"
    )
    code = (
        blocked + "from handful.cli import main; from handful_study import cards, problems, "
        "check, command, log, export; sys.exit(main(['cards', 'list', '--json']))"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, env=ENVIRONMENT
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_clock_is_this_machine_s():
    now, zone = sittings.clock()
    assert abs(now / 1000 - datetime.now().timestamp()) < 60 and -840 <= zone <= 840
