"""Tests of the log of reviews.

What is refused is what the page refuses, merging loses nothing, and a crash loses one answer at
most.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handful_site.bootstrap import node_command
from handful_study import log
from handful_study.log import LogError, LogFile, fault, make, merge, read, read_file, write

ROOT = Path(__file__).parents[2]
GRADE = {
    "id": "aaaaaaaa",
    "at": 1_773_000_000_000,
    "zone": 60,
    "kind": "grade",
    "card": "a-card",
    "grade": 3,
}
UNDO = {
    "id": "bbbbbbbb",
    "at": 1_773_000_000_001,
    "zone": -840,
    "kind": "undo",
    "undoes": "aaaaaaaa",
}
BURY = {"id": "cccccccc", "at": 0, "zone": 840, "kind": "bury", "card": "a-card"}
SETTING = {
    "id": "dddddddd",
    "at": 5,
    "zone": 0,
    "kind": "setting",
    "name": "retention",
    "value": 0.9,
}
ATTEMPT = {
    "id": "eeeeeeee",
    "at": 6,
    "zone": 0,
    "kind": "attempt",
    "problem": "p-1",
    "seed": 0,
    "given": "",
    "verdict": "right",
}
EVENTS = [GRADE, UNDO, BURY, SETTING, ATTEMPT]


def text(*events, **more) -> str:
    return json.dumps(
        {"format": "handful-study-log", "version": 1, "exported": 1, "events": list(events), **more}
    )


def without(event: dict, name: str) -> dict:
    return {key: value for key, value in event.items() if key != name}


FIELDS = {
    "id": ["", "short", "x" * 65, "with space", "tab\there", 7, None, "äöüäöüäö", "aaaaaaa\n"],
    "at": [-1, 1.5, "1", True, None, 8e12, 1e300, [1]],
    "zone": [-841, 841, 0.5, None, "UTC"],
    "kind": ["", "grades", None, 3, ["grade"], "toString", "__proto__"],
    "card": ["", "With-Capitals", "x" * 101, None, 3, "<script>", "a\n"],
    "grade": [0, 5, 2.5, "3", True, None],
    "took": [-1, 1.5, 86_400_001, None],
    "undoes": ["", None, "x"],
    "name": ["retentions", None, 1, ["retention"]],
    "verdict": ["Right", None, True],
    "seed": [-1, 2**32, 0.1, None],
    "given": [3, None, "x" * 301, "😀" * 151],
    "turn": [-1, 100, "0", None],
    "hints": [-1, 100],
    "problem": ["", "A"],
    "extra": [1],
    "__proto__": [1],
}
GOOD = {
    "every kind": text(*EVENTS),
    "nothing": text(),
    "whole numbers": text({**GRADE, "grade": 3.0, "took": 1e3}),
    "twice": text(GRADE, UNDO, GRADE),
    "an edge": text({**GRADE, "took": 86_400_000, "card": "9" * 100}),
    "a long answer": text({**ATTEMPT, "given": "😀" * 150, "turn": 0, "hints": 2}),
    "half of a sign": text({**ATTEMPT, "given": "\ud800"}),
    "markup": text({**ATTEMPT, "given": "<img src=x onerror=alert(1)>"}),
    "settings": text(
        *(
            {**SETTING, "id": f"dddddddd{i}", "name": name, "value": value}
            for i, (name, value) in enumerate(
                [
                    ("retention", 0.7),
                    ("retention", 0.99),
                    ("new_per_day", 0),
                    ("new_per_day", 1000),
                    ("chapters", []),
                    ("chapters", ["a", "b-c"]),
                ]
            )
        )
    ),
    "a field more": text(GRADE, written_by="somebody"),
    "a field twice": text(GRADE).replace('"grade": 3', '"grade": 9, "grade": 3'),
    "space": f"\n {text(GRADE)}\n",
}
BAD = {
    "empty": "",
    "spaces": " \n",
    "cut off": text(*EVENTS)[:-30],
    "a list": "[]",
    "a word": '"log"',
    "nothing at all": "null",
    "HTML": "<!doctype html>",
    "another format": '{"format": "anki", "version": 1, "events": []}',
    "NaN": text(GRADE).replace("60", "NaN"),
    "Infinity": text(GRADE).replace("60", "Infinity"),
    "a newer version": text(GRADE, version=2),
    "version 0": text(version=0),
    "version as text": text(version="1"),
    "no version": text(version=None),
    "version true": text(version=True),
    "no events": text(events=None),
    "events by name": text(events={}),
    "an event that is none": text([GRADE]),
    "a null": text(None),
    "a number": text(GRADE, 3),
    "one id, two events": text(GRADE, {**GRADE, "grade": 1}),
    "brackets": "[" * 100_000,
    "a huge number": text(GRADE).replace("60", "9" * 5000),
    "brackets in an event": text(GRADE).replace('"a-card"', "[" * 50_000 + "]" * 50_000),
    **{
        f"{event['kind']} without {name}": text(without(event, name))
        for event in EVENTS
        for name in event
    },
    **{
        f"{event['kind']} with {name}: {str(value)[:20]}": text({**event, name: value})
        for event in EVENTS
        for name, values in FIELDS.items()
        for value in values
        if name in event or name in ("extra", "__proto__")
    },
    **{
        f"a grade with {name}: {value}": text({**GRADE, name: value})
        for name in ("took", "undoes")
        for value in FIELDS[name]
    },
    **{
        f"{name}: {str(value)[:20]}": text({**SETTING, "name": name, "value": value})
        for name, values in {
            "retention": [0.69, 0.991, "0.9", True, None, [0.9]],
            "new_per_day": [-1, 1001, 1.5, True, "10"],
            "chapters": [None, "a", ["A"], [1], [[]], {"a": 1}, ["a"] * 201],
        }.items()
        for value in values
    },
}


@pytest.mark.parametrize("name", list(GOOD))
def test_good_files_are_read(name):
    events = read(GOOD[name])
    assert read(write(map(log.line, events), 7)) == events


@pytest.mark.parametrize("name", list(BAD))
def test_bad_files_are_refused_in_one_sentence(name):
    with pytest.raises(LogError) as found:
        read(BAD[name])
    said = str(found.value)
    assert said.endswith((".", ").")) and "\n" not in said and len(said) < 400


def test_the_page_reads_and_refuses_the_same():
    program = """
import { LogError, read } from "./lib/handful_study/web/log.js";
let text = "";
for await (const part of process.stdin) text += part;
console.log(JSON.stringify(JSON.parse(text).map((file) => { 
  try { return read(file); } catch (error) {
    return error instanceof LogError ? error.message : error.stack; }
})));
"""
    files = {**GOOD, **BAD}
    done = subprocess.run(
        [*node_command(), "--input-type=module", "-e", program],
        input=json.dumps(list(files.values())),
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    for name, found in zip(files, json.loads(done.stdout), strict=True):
        if name in GOOD:
            assert found == read(GOOD[name]), name
        else:
            assert isinstance(found, str) and "\n" not in found, f"{name}: the page says {found!r}"


def test_a_mistake_is_named_with_its_place():
    for file, said in [
        (
            text(GRADE, {**UNDO, "zone": 900}),
            "Event 2 of 2 is not as it should be: zone is a whole number from -840 to 840; got "
            "900.",
        ),
        (
            text({**GRADE, "grades": 1}),
            'Event 1 of 1 is not as it should be: a grade has no field "grades"; it has id, at, '
            "zone, card, grade, took.",
        ),
        (
            text(GRADE)[:60],
            "The file is not complete JSON: it was cut off while it was saved, or it is no study "
            "log (line 1, column 61).",
        ),
        (
            text(GRADE, version=3),
            "The file is of version 3, made by a newer edition of the book; this one reads up to "
            "version 1.",
        ),
    ]:
        with pytest.raises(LogError) as found:
            read(file)
        assert str(found.value) == said


def test_too_much_is_refused(monkeypatch):
    monkeypatch.setattr(log, "MOST_EVENTS", 2)
    assert len(read(text(GRADE, UNDO))) == 2
    with pytest.raises(LogError, match="has 3 events; at most 2"):
        read(text(GRADE, UNDO, BURY))
    monkeypatch.setattr(log, "MOST_BYTES", 1_000_000)
    with pytest.raises(LogError, match="larger than 1 MB"):
        read(text(GRADE) + " " * 1_000_000)


events_of = st.lists(st.integers(0, 40), max_size=30).map(
    lambda numbers: [{**GRADE, "id": f"event-{n:03}", "at": n // 3} for n in numbers]
)


@given(events_of, events_of, events_of)
def test_merging_is_a_union(a, b, c):
    both = merge(a, b)
    assert both == merge(b, a) == merge(both, a) == merge(both) and merge(a, merge(b, c)) == merge(
        merge(a, b), c
    )
    assert {event["id"] for event in both} == {event["id"] for event in [*a, *b]}
    assert [(event["at"], event["id"]) for event in both] == sorted(
        (event["at"], event["id"]) for event in both
    )


def test_an_event_is_checked_before_it_is_noted():
    event = make("grade", 5, 60, card="a-card", grade=3, took=1200)
    assert fault(event) is None and make("undo", 5, 60, undoes=event["id"])["id"] != event["id"]
    with pytest.raises(LogError, match=r"grade .*got 5"):
        make("grade", 5, 60, card="a-card", grade=5)


# On disk


def test_a_file_grows_and_is_read_again(tmp_path):
    path = tmp_path / "deep" / "log.json"
    file = LogFile(path)
    assert file.events == [] and not path.exists()
    assert file.add([GRADE], 1) == [GRADE] and file.add([GRADE, BURY], 2) == [BURY]
    assert read(path.read_text("utf-8")) == LogFile(path).events == [BURY, GRADE]
    assert json.loads(path.read_text("utf-8"))["exported"] == 2
    assert [p.name for p in path.parent.iterdir() if not p.name.endswith(".lock")] == ["log.json"]


def test_two_programs_on_one_file_lose_nothing(tmp_path):
    one, two = LogFile(tmp_path / "log.json"), LogFile(tmp_path / "log.json")
    one.add([GRADE], 1)
    assert two.add([UNDO], 2) == [GRADE, UNDO] and one.add([BURY], 3) == [BURY, UNDO]
    assert LogFile(tmp_path / "log.json").events == [BURY, GRADE, UNDO]


def test_many_programs_at_once_lose_nothing(tmp_path):
    def write_some(number):
        file = LogFile(tmp_path / "log.json")
        for i in range(20):
            file.add([{**GRADE, "id": f"event-{number}-{i:03}"}], 1)

    threads = [threading.Thread(target=write_some, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(LogFile(tmp_path / "log.json").events) == 80


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "log.json"
    link.symlink_to(tmp_path / "elsewhere" / "real.json")
    LogFile(link).add([GRADE], 1)
    assert link.is_symlink() and read_file(tmp_path / "elsewhere" / "real.json") == [GRADE]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff\xfe", "no text in UTF-8"),
        (b"{}", "is no study log"),
        (text(GRADE)[:-9].encode(), "cut off while it was saved"),
        (b"", "The file is empty"),
    ],
)
def test_a_file_that_is_no_log_is_never_written_over(tmp_path, content, said):
    path = tmp_path / "log.json"
    path.write_bytes(content)
    with pytest.raises(LogError, match=said):
        LogFile(path)
    file = LogFile(tmp_path / "other.json")
    file.path = path
    with pytest.raises(LogError, match=said):
        file.add([GRADE], 1)
    assert path.read_bytes() == content


def test_a_full_disk_is_said_and_nothing_is_lost(tmp_path, monkeypatch):
    file = LogFile(tmp_path / "log.json")
    file.add([GRADE], 1)

    def full(number):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(
        LogError,
        match=r"log\.json cannot be written: No space left on device; the last answer is not "
        r"noted\.",
    ):
        file.add([UNDO], 2)
    monkeypatch.undo()
    assert read_file(tmp_path / "log.json") == [GRADE] and sorted(
        p.name for p in tmp_path.iterdir()
    ) == [".log.json.lock", "log.json"]


def test_a_folder_in_place_of_a_file(tmp_path):
    with pytest.raises(LogError, match="cannot be read: Is a directory"):
        LogFile(tmp_path)


def test_a_byte_order_mark_is_no_mistake(tmp_path):
    path = tmp_path / "log.json"
    path.write_text("\ufeff" + text(GRADE), "utf-8")
    assert read_file(path) == [GRADE]


def test_killed_at_any_moment_it_has_all_that_was_noted(tmp_path):
    program = f"""
import sys
from handful_study.log import LogFile
file = LogFile({str(tmp_path / "log.json")!r})
for i in range(100_000):
    file.add([{GRADE!r} | {{"id": f"event-{{i:06}}", "at": i}}], 1)
    print(i, flush=True)
"""
    chance = random.Random(1)
    for _ in range(4):
        child = subprocess.Popen(
            [sys.executable, "-P", "-c", program], stdout=subprocess.PIPE, text=True
        )
        for _ in range(chance.randrange(1, 40)):
            child.stdout.readline()
        child.send_signal(signal.SIGKILL)
        said = child.stdout.read().split()
        child.wait()
        child.stdout.close()
        found = read_file(tmp_path / "log.json")
        assert len(found) >= int(said[-1]) + 1 if said else found
        (tmp_path / "log.json").unlink()
