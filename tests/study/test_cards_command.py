"""Tests of ``handful cards``: lists, exports, and what it says where something is missing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from handful.cli import main
from handful_study import command
from handful_study.export import cards_of_chapter

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT / "lib"), os.environ.get("PYTHONPATH")])),
}


@pytest.fixture
def run(capsys, tmp_path):
    def call(*argv):
        code = main(list(argv))
        return (code, *capsys.readouterr())

    return call


def test_cards_are_listed(run):
    code, out, _ = run("cards", "list")
    assert code == 0 and [line.split()[0] for line in out.splitlines()] == [
        card.id for card in cards_of_chapter()
    ]
    assert [card["id"] for card in json.loads(run("cards", "list", "--json")[1])] == [
        card.id for card in cards_of_chapter()
    ]
    one = cards_of_chapter()[0].chapter
    assert len(json.loads(run("cards", "list", "--chapter", one, "--json")[1])) == sum(
        card.chapter == one for card in cards_of_chapter()
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
            ["cards", "export", "--format", "csv", "-o", "/nowhere/at/all.csv"],
            "/nowhere/at/all.csv cannot be written: No such file or directory.",
        ),
        (["cards", "export"], "The following arguments are required: --format"),
    ],
)
def test_wrong_input_is_one_sentence_and_exit_code_2(run, argv, sentence):
    code, out, err = run(*argv)
    assert (
        (code, out) == (2, "") and err.startswith(f"handful: {sentence}") and err.count("\n") == 1
    )


@pytest.mark.parametrize(
    ("argv", "package"),
    [
        (["cards", "export", "--format", "anki"], "genanki"),
        (["cards", "print"], "markdown_it"),
    ],
)
def test_what_is_missing_is_named(run, argv, package, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    from handful_study import markup

    markup.parser.cache_clear()
    code, _, err = run(*argv)
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
        "check, command, export; sys.exit(main(['cards', 'list', '--json']))"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, env=ENVIRONMENT
    )
    assert (done.returncode, done.stderr) == (0, "")
