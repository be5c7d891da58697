"""Tests of whose a submission is and whose inputs it has.

A student chooses neither, and no name takes long.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import time
import unicodedata
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handful import cli
from handful_classroom import html_report, tables
from handful_classroom.exports import gradescope
from handful_classroom.grading import (
    class_lists,
    grade,
    notebook_reader,
    store,
    submissions,
)
from handful_classroom.grading.roster import Roster
from handful_classroom.grading.submissions import Submission, SubmissionError, owner_of, read, shown
from handful_classroom.release import notebooks, variants
from handful_classroom.release.assignment import assignments
from handful_classroom.sandbox.protocol import Answer, Outcome
from handful_study import student

ROOFLINE = assignments()["roofline"]
CANVAS = (
    'Student,ID,SIS User ID,SIS Login ID,Section\n"Lovelace, Ada",12,u12,ada,A\n'
    '"Hopper, Grace",13,u13,grace,A\n"Mallory, Eve",14,u14,eve,A\n'
)
MOODLE = (
    "Identifier,Full name,ID number,Username\nParticipant 12,Ada Lovelace,13,ada\n"
    "Participant 13,Grace Hopper,14,grace\n"
    "Participant 14,Eve Mallory,12,eve\n"
)
NAMES = "student,name\nada,Ada Lovelace\ngrace,Grace Hopper\neve,Eve Mallory\n"


def packed(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def handed_in(
    folder: Path, files: dict[str, bytes], roster: str | None = None, as_zip: bool = False
) -> dict[str, Submission]:
    """Everything that is found, by student; no two have one name."""
    if as_zip:
        path = packed(folder / "class.zip", files)
    else:
        path = folder / "class"
        for name, data in files.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(data)
    if roster:
        (folder / "roster.csv").write_text(roster, "utf-8")
    found = list(read(path, "roofline", Roster.read(folder / "roster.csv") if roster else None))
    assert len({one.student for one in found}) == len(found)
    return {one.student: one for one in found}


def graded(found: dict[str, Submission]) -> dict[str, bytes]:
    return {name: one.data for name, one in found.items() if one.data is not None}


HONEST = {"lovelaceada_12_67_roofline.ipynb": b"ada", "hoppergrace_13_68_roofline.ipynb": b"grace"}


# Whose file it is


@pytest.mark.parametrize(
    "own",
    [
        "12_assignsubmission_file_roofline-99.ipynb",
        "12_assignsubmission_onlinetext_roofline-99.ipynb",
        "Ada Lovelace_12_assignsubmission_file_roofline-99.ipynb",
        "_12_assignsubmission_file_.ipynb",
    ],
)
@pytest.mark.parametrize("late", ["", "_LATE"])
@pytest.mark.parametrize("roster", [None, CANVAS])
def test_in_a_download_of_canvas_a_file_is_called_as_its_author_likes(tmp_path, own, late, roster):
    found = handed_in(tmp_path, HONEST | {f"malloryeve{late}_14_69_{own}": b"eve"}, roster)
    names = (
        ("ada", "grace", "eve") if roster else ("lovelaceada_12", "hoppergrace_13", "malloryeve_14")
    )
    assert (
        graded(found) == dict(zip(names, (b"ada", b"grace", b"eve"), strict=True))
        and len(found) == 3
    )
    assert bool(found[names[2]].notice) is bool(late)


@pytest.mark.parametrize("own", ["12_67_roofline-99.ipynb", "lovelaceada_12_67_roofline-99.ipynb"])
def test_in_a_flat_download_of_moodle_too(tmp_path, own):
    files = {
        "Ada Lovelace_12_assignsubmission_file_roofline.ipynb": b"ada",
        f"Eve Mallory_14_assignsubmission_file_{own}": b"eve",
    }
    assert graded(handed_in(tmp_path, files)) == {
        "Ada Lovelace_12": b"ada",
        "Eve Mallory_14": b"eve",
    }


def test_a_display_name_may_hold_anything_before_the_number_of_moodle(tmp_path):
    files = {
        "Ada Lovelace_12_assignsubmission_file_/roofline.ipynb": b"ada",
        "x_12_assignsubmission_file__14_assignsubmission_file_/roofline.ipynb": b"eve",
    }
    assert graded(handed_in(tmp_path, files, MOODLE)) == {"ada": b"ada", "eve": b"eve"}


@pytest.mark.parametrize(
    "files,roster,stopped",
    [
        # Renamed on the platform to look like another: the number says one, the name another.
        (
            {"12_14_assignsubmission_file_/r.ipynb": b"eve"},
            NAMES.replace("student,name", "participant,student,name")
            .replace("ada,", "12,ada,", 1)
            .replace("grace,", "13,grace,", 1)
            .replace("eve,", "14,eve,", 1),
            "12_14_assignsubmission_file_",
        ),
        (
            {"Ada Lovelace_14_assignsubmission_file_/r.ipynb": b"eve"},
            MOODLE,
            "Ada Lovelace_14_assignsubmission_file_",
        ),
        ({"lovelaceada_14_69_r.ipynb": b"eve"}, CANVAS, "lovelaceada_14_69_r.ipynb"),
        ({"ada_14_69_r.ipynb": b"eve"}, CANVAS, "ada_14_69_r.ipynb"),
        # A whole name of Canvas' within the name on the platform.
        (
            {"lovelaceada_12_67_r_14_69_r.ipynb": b"eve"},
            CANVAS,
            "lovelaceada_12_67_r_14_69_r.ipynb",
        ),
        ({"lovelaceada_12_14_69_r.ipynb": b"eve"}, CANVAS, "lovelaceada_12_14_69_r.ipynb"),
        ({"malloryeve_14_69_12_99_r.ipynb": b"eve"}, CANVAS, "malloryeve_14_69_12_99_r.ipynb"),
        (
            {"Eve Mallory_14_assignsubmission_file_12_assignsubmission_file_r.ipynb": b"eve"},
            MOODLE,
            "Eve Mallory_14_assignsubmission_file_12_assignsubmission_file_r.ipynb",
        ),
    ],
)
def test_a_name_that_leads_to_two_students_is_nobodys(tmp_path, files, roster, stopped):
    found = handed_in(tmp_path, files, roster)
    assert not graded(found) and len(found) == 4
    why = found[stopped].refused
    assert (
        why.startswith("Its name leads to 2 students of the roster, the number 1")
        and why.isprintable()
        and "'eve" in why
        and "'ada" in why
    )
    (tmp_path / "again").mkdir()
    honest = (
        {"Ada Lovelace_12_assignsubmission_file_/r.ipynb": b"ada"}
        if "assign" in stopped
        else HONEST
    )
    with_others = handed_in(tmp_path / "again", files | honest, roster)
    assert b"eve" not in graded(with_others).values() and b"ada" in graded(with_others).values()


def test_moodles_number_is_no_id_number(tmp_path):
    """The roster gives each student the ID number that is another's number in the download."""
    files = {
        f"{name}_{number}_assignsubmission_file_/r.ipynb": mail.encode()
        for name, number, mail in (
            ("Ada Lovelace", 12, "ada"),
            ("Grace Hopper", 13, "grace"),
            ("Eve Mallory", 14, "eve"),
        )
    }
    found = handed_in(tmp_path, files, MOODLE)
    assert all(one.data == name.encode() for name, one in found.items()) and len(found) == 3


def test_a_name_taken_on_the_platform_costs_its_taker(tmp_path):
    """With ids in the list only numbers decide, and without them nobody is chosen.

    The new list has two students of one name.
    """
    renamed = CANVAS.replace("Mallory, Eve", "Lovelace, Ada")
    files = HONEST | {"lovelaceada_14_69_roofline-99.ipynb": b"eve"}
    assert graded(handed_in(tmp_path, files, renamed)) == {
        "ada": b"ada",
        "grace": b"grace",
        "eve": b"eve",
    }
    (tmp_path / "names").mkdir()
    found = handed_in(tmp_path / "names", files, NAMES)
    assert graded(found) == {"grace": b"grace"} and not found["ada"].refused
    assert [
        name for name, one in found.items() if "2 submissions go by names of 'ada'" in one.refused
    ] == ["lovelaceada_12_67_roofline.ipynb", "lovelaceada_14_69_roofline-99.ipynb"]


def test_nobody_takes_an_id_as_a_name():
    roster = Roster.of(CANVAS + '"ada",15,u15,zoe,A\n"12",16,u16,yan,A\n')
    assert roster.find("ada") == roster.find("12") == "ada"
    assert "ada" not in roster.known()["zoe"] and "12" not in roster.known()["yan"]
    listed = {"12": {"student": "Lovelace, Ada", "id": "12"}}
    taken = {"lovelaceada_12": {"student": "lovelaceada_12", "id": "14"}}
    assert (
        class_lists.listed_as(listed, "lovelaceada_12")
        and class_lists.listed_as(listed | taken, "lovelaceada_12") is None
    )


def test_a_class_list_keeps_ids_apart_from_names(tmp_path):
    (tmp_path / "list.csv").write_text(
        'Student,ID,SIS Login ID\n"Lovelace, Ada",12,ada\nada,14,eve\n12,15,zoe\n'
    )
    known = class_lists.by_name(class_lists.read(tmp_path / "list.csv"))
    assert known["ada"]["id"] == known["12"]["id"] == "12"


@pytest.mark.parametrize("extra", ["lovelaceada", "Ada Lovelace", "ADA", "\uff41da"])
def test_a_folder_that_goes_by_anothers_name_takes_no_ones_place(tmp_path, extra):
    found = handed_in(
        tmp_path, {"ada/roofline.ipynb": b"ada", f"{extra}/roofline-99.ipynb": b"eve"}, NAMES
    )
    assert (
        graded(found) == {"ada": b"ada"}
        and "handed in under an id or number too" in found[shown(extra)].refused
    )
    (tmp_path / "alone").mkdir()
    assert graded(handed_in(tmp_path / "alone", {f"{extra}/roofline.ipynb": b"ada"}, NAMES)) == {
        "ada": b"ada"
    }


def test_in_a_mixed_folder_a_name_has_to_say_one_thing(tmp_path):
    files = {
        "grace.ipynb": b"grace",
        "lovelaceada_12_67_roofline.ipynb": b"ada",
        "x_12_assignsubmission_file_/roofline-9.ipynb": b"eve",
        "malloryeve_14_69_12_assignsubmission_file_r.ipynb": b"eve",
    }
    found = handed_in(tmp_path, files, CANVAS)
    assert graded(found) == {"grace": b"grace", "ada": b"ada"}
    assert "both have to agree" in found["x_12_assignsubmission_file_"].refused
    assert (
        "as Canvas' and as Moodle's"
        in found["malloryeve_14_69_12_assignsubmission_file_r.ipynb"].refused
    )
    (tmp_path / "alone").mkdir()
    assert "malloryeve_14_69_12_assignsubmission_file_r.ipynb" in handed_in(
        tmp_path / "alone", files
    )


def test_without_a_roster_a_doubtful_name_joins_nobody(tmp_path):
    found = handed_in(tmp_path, HONEST | {"lovelaceada_12_14_69_roofline-99.ipynb": b"eve"})
    assert graded(found) == {"lovelaceada_12": b"ada", "hoppergrace_13": b"grace"}
    assert (
        "the student with the number 14" in found["lovelaceada_12_14_69_roofline-99.ipynb"].refused
    )
    (tmp_path / "own").mkdir()
    found = handed_in(
        tmp_path / "own",
        {
            "lovelaceada_12_67_1_roofline.ipynb": b"ada",
            "lovelaceada_12_68_2_plot.png": b"",
            "lovelaceada_12_text.html": b"",
        },
    )
    assert graded(found) == {"lovelaceada_12": b"ada"} and len(found) == 1


@pytest.mark.parametrize("roster", [None, NAMES])
def test_a_student_called_submitted_is_not_the_class(tmp_path, roster):
    files = {
        "submitted/ada/roofline/roofline.ipynb": b"eve",
        "ada/roofline/roofline.ipynb": b"ada",
        "grace/roofline/roofline.ipynb": b"grace",
    }
    found = handed_in(tmp_path, files, roster)
    assert (
        found["ada"].data == b"ada"
        and found["grace"].data == b"grace"
        and found["submitted"].data == b"eve"
    )
    assert any("nbgrader" in note for note in found["submitted"].notice)


def test_a_students_own_folder_is_not_the_class(tmp_path):
    files = {
        f"Eve Mallory_14_assignsubmission_file_/{name}.ipynb": name.encode()
        for name in ("ada", "grace")
    }
    for where, roster, own in (("a", None, "Eve Mallory_14"), ("b", MOODLE, "eve")):
        (tmp_path / where).mkdir()
        found = handed_in(tmp_path / where, files, roster, as_zip=True)
        assert len(graded(found)) == 1 and found[own].data
    (tmp_path / "c").mkdir()
    assert list(
        graded(
            handed_in(
                tmp_path / "c", {"eve/ada.ipynb": b"1", "eve/grace.ipynb": b"2"}, NAMES, as_zip=True
            )
        )
    ) == ["eve"]
    (tmp_path / "d").mkdir()
    assert list(
        graded(handed_in(tmp_path / "d", {"class/lovelaceada_12_67_r.ipynb": b"1"}, as_zip=True))
    ) == ["lovelaceada_12"]


def test_nbgraders_students_are_no_platforms(tmp_path):
    found = handed_in(
        tmp_path,
        {
            "submitted/ada/roofline/r.ipynb": b"ada",
            "submitted/x_12_assignsubmission_file_/roofline/r.ipynb": b"eve",
            "release/roofline/r.ipynb": b"-",
        },
        CANVAS,
    )
    assert graded(found) == {"ada": b"ada", "x_12_assignsubmission_file_": b"eve"}


def test_canvas_says_late_in_small_letters_too(tmp_path):
    found = handed_in(
        tmp_path, {"lovelaceada_late_12_67_r.ipynb": b"ada", "_13_68_r.ipynb": b"grace"}, CANVAS
    )
    assert graded(found) == {"ada": b"ada", "grace": b"grace"} and found["ada"].notice


PARTS = st.sampled_from(
    [
        "12",
        "13",
        "14",
        "67",
        "LATE",
        "assignsubmission",
        "file",
        "lovelaceada",
        "malloryeve",
        "Ada Lovelace",
        "x",
        "r.ipynb",
        "",
        "text.html",
        "\uff11\uff12",
    ]
)


LISTED = Roster.of(CANVAS)


@settings(max_examples=400)
@given(st.lists(PARTS, max_size=5), st.lists(PARTS, max_size=6))
def test_whatever_a_student_is_called_and_calls_a_file_it_is_never_anothers(name, own):
    """Eve's number stands where the platform writes it.

    Her name there and her file's are hers to choose.
    """
    student = "_".join(name).replace("_", " ") or "Eve"
    for files in (
        {f"{'_'.join(name)}_14_69_{'_'.join(own) or 'r'}.ipynb": b"eve"} | HONEST,
        {
            f"{student}_14_assignsubmission_file_{'_'.join(own)}.ipynb": b"eve",
            "Ada Lovelace_12_assignsubmission_file_r.ipynb": b"ada",
            "Grace Hopper_13_assignsubmission_file_r.ipynb": b"grace",
        },
    ):
        found = [submissions.File((one,), lambda data=data: data) for one, data in files.items()]
        reads = {
            one().student: one().data
            for one in LISTED.matched(submissions._by_student(found, "roofline", LISTED))
        }
        assert (
            reads["ada"] == b"ada" and reads["grace"] == b"grace" and reads["eve"] in (b"eve", None)
        ), files


# Whose inputs it has


def spellings(text: str):
    """Return a text in every mixture of capitals, composed and not.

    Each of them is also full-width, in blanks, and with something that shows nothing.
    """
    for capitals in itertools.product(*({c.lower(), c.upper()} for c in text)):
        one = "".join(capitals)
        yield one
    wide = "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)
    for one in (text, text.upper(), wide, wide.upper(), text[:3] + wide[3:]):
        for form in ("NFC", "NFD", "NFKC", "NFKD"):
            for around in (
                "{}",
                " {}",
                "{} ",
                "\u00a0{}\t\u3000",
                "\u200b{}",
                "{}\ufeff",
                "{}\ufe0f",
                "\u2060{}\u00ad",
            ):
                yield around.format(unicodedata.normalize(form, one))


@pytest.mark.parametrize(
    "text",
    [
        "lovelace",
        "lovel-07",
        "zo\u00ebm\u00fcll",
        "\u0436\u0443\u0440\u043d\u0430\u043b\u044b\u0439",
        "stra\u00dfe",
        "\u1f84\u03c9\u03c2",
        "\u01c6o\ufb01",
        "ma\u0308\u0323ri",
    ],
)
def test_an_id_has_one_variant_however_it_is_written(text):
    found = set(spellings(text))
    assert len(found) > 30 and {ROOFLINE.variant(one) for one in found} == {ROOFLINE.variant(text)}
    assert len({student.canonical(one) for one in found}) == 1


def test_an_id_of_plain_small_letters_has_the_variant_that_was_published():
    assert [
        ROOFLINE.variant(one) for one in ("ada", "grace", "emmy", 'o\'neil \\ "quoted"', "s000")
    ] == [96, 38, 102, 158, 106]


@settings(max_examples=1000)
@given(st.text(max_size=30))
def test_the_canonical_form_is_its_own(text):
    once = student.canonical(text)
    assert student.canonical(once) == once and student.canonical(
        text.upper().lower()
    ) == student.canonical(text.lower().upper().lower())


@pytest.mark.parametrize("typed", ["ADA", "Ada", "\uff41\uff44\uff41", "ada ", "a\u200bda"])
def test_a_students_own_machine_draws_what_the_grader_draws(tmp_path, typed):
    """The setup cells run as a student has them, without the library."""
    made = notebooks.notebook(ROOFLINE, typed, "solution")
    code = (
        "".join(made["cells"][0]["source"]).replace("%pip", "# %pip")
        + "\n"
        + "".join(made["cells"][1]["source"])
        + "\nimport json; print(json.dumps(given))"
    )
    (tmp_path / "own.py").write_text(code, "utf-8")
    out = subprocess.run(
        [sys.executable, "-I", "-S", str(tmp_path / "own.py")],
        capture_output=True,
        text=True,
        check=True,
        encoding="utf-8",
    ).stdout
    assert json.loads(out) == json.loads(
        json.dumps(variants.inputs_of(ROOFLINE, ROOFLINE.variant("ada")))
    )
    result = grade.grade_one(ROOFLINE, "ada", notebooks.text(made).encode(), ask=silent)
    assert (result["variant"], result["notices"]) == (ROOFLINE.variant("ada"), [])


def silent(cells, requests, given, limits, library):
    """Nothing runs, and nothing is answered."""
    return Outcome(tuple(Answer("missing") for _ in requests))


@pytest.mark.parametrize(
    "typed,own_id,known,says",
    [
        ("ada", "", ("ada lovelace",), ""),
        ("Ada", "", (), ""),
        (
            "Ada  Lovelace",
            "",
            ("ada lovelace",),
            "were drawn for 'Ada  Lovelace', another name of the student, and not for the id 'ada'",
        ),
        (
            "bob",
            "",
            ("ada lovelace",),
            "says that its inputs were drawn for 'bob'; it was handed in for 'ada'",
        ),
        ("12", "12", ("12", "ada"), ""),
        ("ada", "12", ("12", "ada"), "another name of the student, and not for the id '12'"),
    ],
)
def test_who_has_several_names_chooses_among_their_inputs_with_a_notice(typed, own_id, known, says):
    data = notebooks.text(notebooks.notebook(ROOFLINE, typed, "solution")).encode()
    result = grade.grade_one(ROOFLINE, "ada", data, known=known, own_id=own_id, ask=silent)
    assert result["variant"] == ROOFLINE.variant(typed)
    assert (
        (says in result["notices"][0] and len(result["notices"]) == 1)
        if says
        else not result["notices"]
    )


def test_on_a_platform_without_a_roster_the_number_is_the_id(tmp_path):
    """A student may be called anything there, and could choose among all inputs by it."""
    found = handed_in(tmp_path, {"anything_12_67_roofline.ipynb": b"ada"})["anything_12"]
    assert found.own_id == "12" and found.known == ("12", "anything")
    own = grade.grade_one(
        ROOFLINE,
        found.student,
        notebooks.text(notebooks.notebook(ROOFLINE, "")).encode(),
        own_id=found.own_id,
        ask=silent,
    )
    assert own["variant"] == ROOFLINE.variant("12")


def test_two_notebooks_of_one_student_are_named_whatever_they_call_themselves(tmp_path):
    def one(who, typed, known=()):
        return Submission(
            who,
            "x.ipynb",
            notebooks.text(notebooks.notebook(ROOFLINE, typed, "empty")).encode(),
            (),
            "",
            known,
        )

    done = grade.run(
        ROOFLINE,
        [
            one("ada", "ADA", ("ada lovelace",)),
            one("eve", "Ada Lovelace"),
            one("bob", "\uff41da"),
            one("zoe", "zoe"),
        ],
        tmp_path,
        jobs=0,
        ask=silent,
    )
    assert done.claims == {"ada": ["ada", "bob", "eve"]} == store.overview(tmp_path)["claims"]


def test_two_ids_that_differ_in_capitals_only_are_no_roster():
    with pytest.raises(
        SubmissionError,
        match=r"'ADA' .*line 4.*'ada'",
    ):
        Roster.of("student\nada\ngrace\nADA\n", "class.csv")


def test_what_a_notebook_says_is_read_composed():
    def says(text):
        return notebook_reader.read(
            json.dumps({"metadata": {"handful": {"student": text}}, "cells": []}).encode()
        ).drawn_for

    assert (
        says("zoe\u0308") == says("zo\u00eb") == "zo\u00eb"
        and says("zo\u200be") is None
        and says("z" + "\u0308" * 60_000) is None
    )


# Names of any length

LONG = {
    "one mark": "x" + "\u0301" * 30_000,
    "two kinds": "x" + "\u0301\u0316" * 15_000,
    "letters": "\u0436" * 30_000,
    "mixed": "\u00e9\u0316" * 15_000,
    "digits": "_1" * 15_000,
    "blanks": " " * 30_000 + "x",
    "controls": "\x00" * 30_000,
    "numbers": "1" * 30_000,
    "surrogates": "\ud800" * 30_000,
    "moodle": "_1_assignsubmission_file" * 1_200,
    "joiners": "x\u0301\u200d" * 10_000,
}


def seconds(what, *arguments) -> float:
    best = float("inf")
    for _ in range(3):
        began = time.perf_counter()
        what(*arguments)
        best = min(best, time.perf_counter() - began)
    return best


@pytest.mark.parametrize("kind", list(LONG))
def test_no_name_takes_long(kind):
    name = LONG[kind]
    marks = "".join(sorted(name, key=unicodedata.combining))
    for text in (name, name[::-1], name + ".ipynb", marks):
        assert seconds(shown, text) < 0.02
        assert seconds(owner_of, (text,)) < 0.2 and seconds(owner_of, (text, "x.ipynb")) < 0.2
        found = shown(text)
        assert (
            len(found) <= submissions.LONGEST_NAME and shown(found) == found and found.isprintable()
        )
        assert (
            seconds(Roster.of, f'student,name\n"{text.replace(chr(0), "")[:30_000]}",b c\n') < 0.5
            if text.strip()
            else True
        )


def test_long_names_stay_apart():
    names = {"x" + "\u0301" * n for n in (9, 10, 30_000, 30_001)} | {
        "y" * n for n in (120, 121, 30_000, 30_001)
    }
    assert len(set(map(shown, names))) == len(names)


def test_few_marks_stand_on_a_letter_wherever_a_name_is_shown():
    text = "x" + "\u0301\u0316" * 30 + "y"
    for made in (shown(text), html_report.shown(text), tables.as_csv(("a",), [(text,)]).decode()):
        assert 2 <= sum(map(bool, map(unicodedata.combining, made))) <= 8
    for kept in (
        "Ti\u1ebfng Vi\u1ec7t",
        "\u05d1\u05bc\u05b0\u05e8\u05b5\u05d0\u05e9\u05c1\u05b4\u0596\u05d9\u05ea",
        "\u0e17\u0e35\u0e48",
        "\u0915\u094d\u0937\u093f",
    ):
        kept = unicodedata.normalize("NFC", kept)
        assert shown(kept) == html_report.shown(kept) == tables.escape_cell(kept) == kept


def test_gradescope_says_who_in_a_bounded_name(tmp_path):
    (tmp_path / "submission_metadata.json").write_text(
        json.dumps({"users": [{"name": "x" + "\u0301\u0316" * 30_000}]})
    )
    assert len(gradescope._student(tmp_path)) <= 120


GERMAN = (
    "ID,Vollständiger Name,ID-Nummer,E-Mail-Adresse,Status,Bewertung\n"
    "Teilnehmer/in 50001,Ada Lovelace,s1001,ada@x,Zur Bewertung abgegeben,\n"
)


@pytest.mark.parametrize(
    "text",
    [
        GERMAN,
        GERMAN.replace("/in 5", "/in5"),
        GERMAN.replace(",", ";"),
        GERMAN.replace("ID,Vollständiger Name", "Identifier,Full name"),
        "Identifiant,Nom complet,Statut\nParticipant 7,Ada Lovelace,Remis\n",
    ],
)
def test_a_worksheet_in_another_language_is_refused_and_not_guessed_at(tmp_path, capsys, text):
    (tmp_path / "list.csv").write_text(text)
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "s1001.ipynb").write_text("{}")
    asked = ["assign", "grade", str(tmp_path / "class"), "--assignment", "roofline"]
    code = cli.main([*asked, "-o", str(tmp_path / "out"), "--roster", str(tmp_path / "list.csv")])
    err = capsys.readouterr().err
    assert code == 2 and not (tmp_path / "out").exists()
    assert "is Moodle's grading worksheet in another language than English, by its columns" in err
    assert "needed are Identifier, Full name, ID number, Email address, Status, Grade." in err
    with pytest.raises(tables.TableError, match="needed are Identifier"):
        class_lists.read(tmp_path / "list.csv")


def test_a_list_of_a_teacher_s_own_may_have_columns_in_any_language(tmp_path):
    text = "student,Vollständiger Name,Bewertung\nstudent 1,Ada Lovelace,1\n"
    assert Roster.of(text.replace("student 1", "s1001")).students == ("s1001",)
    (tmp_path / "list.csv").write_text(text)
    assert class_lists.read(tmp_path / "list.csv")[0]["student"] == "student 1"
