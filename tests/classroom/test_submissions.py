"""Tests of what a class hands in, in every form in which it comes.

Some of the forms mean harm.
"""

from __future__ import annotations

import io
import json
import os
import stat
import sys
import zipfile
from pathlib import Path

import pytest

from handful_classroom.grading import notebook_reader, submissions
from handful_classroom.grading.notebook_reader import NotebookError
from handful_classroom.grading.roster import Roster
from handful_classroom.grading.submissions import MOST_BYTES, SubmissionError, read, shown

NOTEBOOK = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}).encode()


def tree(root: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return root


def zipped(path: Path, files: dict[str, bytes], kind: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", kind) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def students(path: Path, **more) -> dict[str, submissions.Submission]:
    found = list(read(path, "roofline", **more))
    assert len({one.student for one in found}) == len(found)
    return {one.student: one for one in found}


FORMS = {
    "notebooks": ({"ada.ipynb": b"a", "bob.ipynb": b"b"}, ["ada", "bob"]),
    "folders": ({"ada/whatever.ipynb": b"a", "bob/x/y.ipynb": b"b"}, ["ada", "bob"]),
    "canvas": (
        {
            "lovelaceada_12_67890_roofline.ipynb": b"a",
            "bobbybob_LATE_13_67891_roofline-1.ipynb": b"b",
        },
        ["lovelaceada_12", "bobbybob_13"],
    ),
    "moodle": (
        {
            "Ada Lovelace_12_assignsubmission_file_/roofline.ipynb": b"a",
            "Bob O'Neil_13_assignsubmission_file_/x.ipynb": b"b",
        },
        ["Ada Lovelace_12", "Bob O'Neil_13"],
    ),
    "moodle-flat": (
        {
            "Ada Lovelace_12_assignsubmission_file_roofline.ipynb": b"a",
            "Bob_13_assignsubmission_file_x.ipynb": b"b",
        },
        ["Ada Lovelace_12", "Bob_13"],
    ),
    "nbgrader": (
        {
            "submitted/ada/roofline/x.ipynb": b"a",
            "submitted/ada/roofline/timestamp.txt": b"-",
            "submitted/ada/balance/x.ipynb": b"-",
            "submitted/bob/roofline/x.ipynb": b"b",
            "release/roofline/x.ipynb": b"-",
        },
        ["ada", "bob"],
    ),
    "nbgrader-inner": (
        {"ada/roofline/x.ipynb": b"a", "ada/balance/x.ipynb": b"-", "bob/roofline/x.ipynb": b"b"},
        ["ada", "bob"],
    ),
}


@pytest.mark.parametrize("form", list(FORMS))
@pytest.mark.parametrize("packed", ["folder", "zip", "zip of the folder"])
def test_each_form_gives_the_same_two_students(tmp_path, form, packed):
    files, names = FORMS[form]
    if packed == "folder":
        path = tree(tmp_path / "class", files)
    else:
        path = zipped(
            tmp_path / "class.zip",
            {("class/" if packed != "zip" else "") + name: data for name, data in files.items()},
        )
    found = students(path)
    assert {name: one.data for name, one in found.items()} == dict(
        zip(names, [b"a", b"b"], strict=True)
    )
    late = [one.student for one in found.values() if any("late" in note for note in one.notice)]
    assert late == (["bobbybob_13"] if form == "canvas" else [])


def test_one_notebook_is_a_class_of_one(tmp_path):
    assert [
        (one.student, one.data)
        for one in read(tree(tmp_path, {"ada.ipynb": NOTEBOOK}) / "ada.ipynb")
    ] == [("ada", NOTEBOOK)]


def test_what_computers_leave_behind_is_nobodys(tmp_path):
    tree(
        tmp_path,
        {
            "ada/a.ipynb": b"a",
            "ada/.ipynb_checkpoints/a-checkpoint.ipynb": b"-",
            "__MACOSX/ada/._a.ipynb": b"-",
            ".DS_Store": b"-",
            "Thumbs.db": b"-",
        },
    )
    assert list(students(tmp_path)) == ["ada"]
    assert not students(tmp_path)["ada"].notice


def test_of_several_notebooks_one_is_graded_and_all_are_named(tmp_path):
    tree(
        tmp_path,
        {
            "ada/scratch.ipynb": b"-",
            "ada/roofline.ipynb": b"-",
            "ada/roofline-2.ipynb": b"a",
            "ada/roofline (1).ipynb": b"-",
            "bob.ipynb": b"-",
            "bob/roofline.ipynb": b"b",
            "cy_1_5_roofline.ipynb": b"-",
            "cy_1_9_roofline-1.ipynb": b"c",
        },
    )
    found = students(tmp_path)
    assert {name: one.data for name, one in found.items()} == {
        "ada": b"a",
        "bob": b"b",
        "cy_1": b"c",
    }
    assert found["ada"].notice == (
        "4 notebooks were handed in: roofline-2.ipynb was graded, roofline (1).ipynb, "
        "roofline.ipynb, scratch.ipynb not.",
    )
    assert "2 notebooks" in found["bob"].notice[0] and "2 notebooks" in found["cy_1"].notice[0]


def test_a_file_that_is_no_notebook_has_a_reason(tmp_path):
    tree(tmp_path, {"ada.pdf": b"%PDF", "bob/report.docx": b"PK", "bob/data.csv": b""})
    found = students(tmp_path)
    assert all(one.data is None for one in found.values())
    assert found["ada"].refused == "No notebook was handed in: ada.pdf does not end in .ipynb."
    assert "data.csv, report.docx" in found["bob"].refused


# Hostile files


def test_no_link_is_followed(tmp_path):
    secret = tree(tmp_path / "outside", {"solution.ipynb": b"secret"})
    root = tree(tmp_path / "class", {"good.ipynb": b"g"})
    (root / "ada.ipynb").symlink_to(secret / "solution.ipynb")
    (root / "bob").symlink_to(secret)
    (root / "cy").mkdir()
    (root / "cy" / "x.ipynb").symlink_to("../good.ipynb")
    os.mkfifo(root / "dee.ipynb")
    found = students(root)
    assert found["good"].data == b"g"
    for name in ("ada", "bob", "cy"):
        assert found[name].data is None and found[name].refused.endswith(
            "is a link, and links are not followed."
        )
    assert found["dee"].data is None and found["dee"].refused == "dee.ipynb is no ordinary file."


def test_a_link_that_takes_a_files_place_is_not_opened(tmp_path):
    tree(tmp_path, {"class/ada.ipynb": b"a", "secret": b"secret"})
    with submissions.opened(tmp_path / "class") as found:
        (tmp_path / "class" / "ada.ipynb").unlink()
        (tmp_path / "class" / "ada.ipynb").symlink_to(tmp_path / "secret")
        (one,) = [load() for load in found]
    assert one.data is None and "cannot be read" in one.refused


def test_a_large_file_is_refused_unread(tmp_path):
    tree(tmp_path, {"bob.ipynb": b"b"})
    with (tmp_path / "ada.ipynb").open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    found = students(tmp_path)
    assert found["ada"].data is None and "20 MB; up to 20 MB are read" in found["ada"].refused
    assert found["bob"].data == b"b"


@pytest.mark.parametrize(
    "name",
    ["../../bob.ipynb", "/etc/bob.ipynb", "..\\bob.ipynb", "C:\\bob.ipynb", "ada/../bob.ipynb"],
)
def test_a_zip_leads_nowhere(tmp_path, name):
    path = zipped(tmp_path / "class.zip", {"bob.ipynb": b"b", "cy.ipynb": b"c", name: b"evil"})
    found = students(path)
    assert found["bob"].data == b"b" and len(found) == 3
    (other,) = (one for one in found.values() if one.student not in ("bob", "cy"))
    assert other.data is None and "outside the zip" in other.refused
    assert sorted(os.listdir(tmp_path)) == ["class.zip"]


def test_a_file_without_a_name_costs_nobody_anything(tmp_path):
    path = tmp_path / "class.zip"
    nameless = zipfile.ZipInfo("x")
    nameless.filename = ""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("ada.ipynb", b"a")
        archive.writestr(nameless, b"evil")
    found = students(path)
    assert found.pop("ada").data == b"a"
    (other,) = found.values()
    assert other.data is None and other.refused == "A file in it has no name."


def test_a_bomb_in_a_zip_costs_its_author_only(tmp_path):
    path = tmp_path / "class.zip"
    link = zipfile.ZipInfo("eve.ipynb")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ada.ipynb", b"\0" * (MOST_BYTES + 1))
        archive.writestr("bob.ipynb", b"\0" * (MOST_BYTES - 1))
        archive.writestr("cy.ipynb", b"c")
        archive.writestr("dee.ipynb", b"d", zipfile.ZIP_LZMA)
        archive.writestr(link, "/etc/passwd")
    found = students(path)
    assert found["cy"].data == b"c"
    assert "up to 20 MB are read" in found["ada"].refused
    assert "-fold, as no notebook is" in found["bob"].refused
    assert "deflate" in found["dee"].refused and "link" in found["eve"].refused
    assert all(found[name].data is None for name in ("ada", "bob", "dee", "eve"))


def packed(files: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return made.getvalue()


@pytest.mark.parametrize("within", ["folder", "zip"])
def test_a_zipped_notebook_is_looked_into_with_the_same_bounds(tmp_path, within):
    files = {
        "ada/roofline.zip": packed({"roofline.ipynb": b"a", "__MACOSX/._roofline.ipynb": b"x"}),
        "bob.zip": packed({"work/scratch.ipynb": b"s", "work/roofline.ipynb": b"b"}),
        "cy.zip": packed({"notes.txt": b"c"}),
        "dee.zip": b"no zip at all",
        "eve.zip": packed({"roofline.ipynb": bytes(5_000_000)}),
        "fay.zip": packed({"../../grades.csv": b"evil", "roofline.ipynb": b"f"}),
        "gus.zip": packed({"inner.zip": packed({"roofline.ipynb": b"g"})}),
    }
    path = zipped(tmp_path / "class.zip", files)
    if within == "folder":
        with zipfile.ZipFile(path) as archive:
            archive.extractall(path := tmp_path / "class")
    found = {one.student: one for one in read(path, "roofline")}
    assert {name: one.data for name, one in found.items()} == {
        "ada": b"a",
        "bob": b"b",
        "cy": None,
        "dee": None,
        "eve": None,
        "fay": b"f",
        "gus": None,
    }
    assert found["ada"].notice == ("The notebook was in a zip: roofline.zip.",)
    assert "2 notebooks were handed in: work/roofline.ipynb was graded" in found["bob"].notice[1]
    assert "No notebook was handed in: cy.zip" in found["cy"].refused
    assert found["dee"].refused == "dee.zip is no zip that can be read."
    assert "-fold, as no notebook is" in found["eve"].refused


def test_hidden_files_alone_are_called_hidden(tmp_path):
    for name in (
        "ada/.roofline.ipynb",
        "bob/.ipynb_checkpoints/roofline-checkpoint.ipynb",
        ".git/x",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"{}")
    (tmp_path / "cy.ipynb").write_bytes(b"c")
    found = students(tmp_path)
    assert set(found) == {"ada", "bob", "cy"} and found["cy"].data == b"c"
    for name, hidden in (("ada", ".roofline.ipynb"), ("bob", ".ipynb_checkpoints/roofline")):
        assert found[name].data is None
        assert f"Only hidden files were handed in, such as {hidden}" in found[name].refused


def test_a_size_that_a_zip_lies_about_is_not_believed(tmp_path):
    path = zipped(tmp_path / "class.zip", {"ada.ipynb": os.urandom(1000) * 3000, "bob.ipynb": b"b"})
    raw = bytearray(path.read_bytes())
    at = raw.rfind(b"PK\x01\x02", 0, raw.rfind(b"PK\x01\x02"))
    raw[at + 24 : at + 28] = (100).to_bytes(4, "little")  # 100 bytes, says the list of files
    path.write_bytes(raw)
    found = students(path)
    assert found["ada"].data is None and "damaged" in found["ada"].refused
    assert found["bob"].data == b"b"


def test_files_that_lie_on_top_of_each_other_are_no_class(tmp_path):
    path = zipped(
        tmp_path / "class.zip",
        {f"{i}.ipynb": os.urandom(5000) for i in range(3)},
        zipfile.ZIP_STORED,
    )
    raw = bytearray(path.read_bytes())
    at = -1
    while (at := raw.find(b"PK\x01\x02", at + 1)) >= 0:
        raw[at + 20 : at + 24] = (14_000).to_bytes(4, "little")
    path.write_bytes(raw)
    with pytest.raises(SubmissionError, match="on top of each other"):
        list(read(path))


@pytest.mark.parametrize(
    "data", [b"", b"PK\x05\x06", b"no zip at all" * 100, b"PK\x05\x06" + b"\xff" * 18]
)
def test_what_is_no_zip_is_named(tmp_path, data):
    (tmp_path / "class.zip").write_bytes(data)
    with pytest.raises(SubmissionError, match=r"class\.zip"):
        list(read(tmp_path / "class.zip"))


@pytest.mark.parametrize(
    "path,why",
    [("nowhere", "No such file"), ("class.txt", "neither a folder, nor a zip, nor a notebook")],
)
def test_what_cannot_be_read_is_named(tmp_path, path, why):
    (tmp_path / "class.txt").write_bytes(b"")
    with pytest.raises(SubmissionError, match=why):
        list(read(tmp_path / path))


def test_names_are_shown_safely_and_stay_apart(tmp_path):
    names = [
        "ada\u202egnp",
        "ada\u200b",
        "a\nb",
        "ada",
        "x" * 200,
        "x" * 199 + "y",
        "é",
        "ада",
        "=cmd",
        "a\x1b[31m",
    ]
    tree(tmp_path, {f"{name}/n.ipynb": name.encode() for name in names})
    found = students(tmp_path)
    assert sorted(one.data.decode() for one in found.values()) == sorted(names)
    for name, one in found.items():
        assert name.isprintable() and len(name) <= 120 and shown(name) == name
        assert not one.notice


def test_one_name_in_two_spellings_of_unicode_is_one_student(tmp_path):
    tree(tmp_path, {"caf\u00e9.ipynb": b"1", "cafe\u0301/x.ipynb": b"2"})
    (one,) = read(tmp_path)
    assert one.student == "caf\u00e9" and "2 notebooks" in one.notice[0]


def test_bytes_that_are_no_text_make_a_name(tmp_path):
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe.ipynb"))).write_bytes(b"x")
    (one,) = read(tmp_path)
    assert one.data == b"x" and one.student.isprintable()
    one.student.encode("utf-8")


def test_a_folder_deeper_than_any_is_left(tmp_path):
    tree(tmp_path, {"ada/" + "d/" * 30 + "x.ipynb": b"x", "bob.ipynb": b"b"})
    found = students(tmp_path)
    assert (
        found["ada"].data is None and "deep" in found["ada"].refused and found["bob"].data == b"b"
    )


def test_memory_does_not_grow_with_the_class(tmp_path):
    """Ten thousand notebooks are read in an address space that could not hold them.

    They are of 100 kB each, a gigabyte unpacked.
    """
    path = tmp_path / "class.zip"
    data = json.dumps({"cells": [], "pad": os.urandom(500).hex() * 100}).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for i in range(10_000):
            archive.writestr(f"s{i}/x.ipynb", data if i % 10 == 0 else b"{}")
    import subprocess

    code = (
        "import resource, sys; from handful_classroom.grading.submissions import read\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "count = total = 0\n"
        "for one in read(sys.argv[1]):\n    count += 1; total += len(one.data)\n"
        "print(count, total, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    out = subprocess.run(
        [sys.executable, "-P", "-c", code, str(path)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ).stdout
    count, total, grown = map(int, out.split())
    assert count == 10_000 and total > 100_000_000
    assert grown < 60_000  # kB: what is kept is names, not files


# The roster

CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Roofline (1)\n    Points Possible,,,,,20\n"
    '"Lovelace, Ada",12,u12,ada,A,\n'
    '"Hopper, Grace",13,u13,grace,A,\n"Student, Test",99,,,A,\n'
)
MOODLE = (
    "Identifier,Full name,Email address\nParticipant 12,Ada Lovelace,ada@x.org\n"
    "Participant 13,Grace Hopper,grace@x.org\n"
)
PLAIN = "student,name\nada,Ada Lovelace\ngrace,Grace Hopper\n"


@pytest.mark.parametrize(
    "text,files,ids",
    [
        (CANVAS, {"lovelaceada_12_5_roofline.ipynb": b"a"}, ("ada", "grace")),
        (CANVAS, {"ada.ipynb": b"a"}, ("ada", "grace")),
        (
            MOODLE,
            {"Ada Lovelace_12_assignsubmission_file_/r.ipynb": b"a"},
            ("ada@x.org", "grace@x.org"),
        ),
        (PLAIN, {"Ada Lovelace_12_assignsubmission_file_/r.ipynb": b"a"}, ("ada", "grace")),
        (PLAIN, {"lovelaceada_77_5_roofline.ipynb": b"a"}, ("ada", "grace")),
        (PLAIN.replace(",", ";"), {"ada.ipynb": b"a"}, ("ada", "grace")),
        (PLAIN.replace(",", "\t"), {"ada.ipynb": b"a"}, ("ada", "grace")),
        (
            "id,last_name,first_name,email\nada,Lovelace,Ada,\ngrace,Hopper,Grace,\n",
            {"submitted/ada/roofline/r.ipynb": b"a"},
            ("ada", "grace"),
        ),
    ],
)
def test_a_roster_says_who_handed_in_nothing(tmp_path, text, files, ids):
    root = tree(
        tmp_path / "class",
        files | {"stranger.ipynb": b"s"}
        if "submitted/ada/roofline/r.ipynb" not in files
        else files,
    )
    (tmp_path / "roster.csv").write_text(text, "utf-8")
    found = students(root, roster=Roster.read(tmp_path / "roster.csv"))
    assert list(found)[:2] == list(ids)
    assert found[ids[0]].data == b"a" and found[ids[1]].data is None and not found[ids[1]].refused
    if "stranger" in found:
        assert found["stranger"].notice == ("This student is not on the roster.",)


def test_a_folder_that_holds_no_class_is_said_to_be_none(tmp_path):
    results = tree(tmp_path / "results", {"class.json": b"{}", "results/a.json": b"{}"})
    built = {"teacher/editions/r-1.md": b"", "teacher/s.ipynb": b"", "release/r.ipynb": b""}
    names = [f"lovelaceada_{i}_{i}_roofline.ipynb" for i in (12, 13)]
    canvas = tree(tmp_path / "downloads", {"gradebook.csv": b"", "feedback.zip": b"no zip"})
    zipped(canvas / "submissions.zip", dict.fromkeys(names, b""))
    plain = tree(tmp_path / "plain", {"list.csv": b""})
    zipped(plain / "all.zip", {f"s{i}.ipynb": b"" for i in range(10)})
    for folder, why in (
        (results, "holds results"),
        (tree(tmp_path / "built", built), "is what 'handful assign build' made"),
        (canvas, f"in a zip; name {canvas / 'submissions.zip'}."),
        (plain, f"in a zip; name {plain / 'all.zip'}."),
    ):
        with pytest.raises(SubmissionError) as raised:
            students(folder)
        assert why in str(raised.value) and raised.value.exit_code == 2
    # Students may zip what they hand in, with more than one notebook in it.
    own = tree(tmp_path / "own", {"ben.pdf": b""})
    zipped(own / "ada.zip", {"roofline.ipynb": b"", "roofline-2.ipynb": b"", "try.ipynb": b""})
    assert set(students(own)) == {"ada", "ben"}


def test_two_files_of_one_student_on_the_roster_are_one_submission(tmp_path):
    root = tree(tmp_path / "class", {"ada.ipynb": b"1", "lovelaceada_12_5_roofline.ipynb": b"2"})
    (tmp_path / "r.csv").write_text(CANVAS)
    found = students(root, roster=Roster.read(tmp_path / "r.csv"))
    assert (
        list(found) == ["ada", "grace"]
        and found["ada"].data == b"2"
        and "2 notebooks" in found["ada"].notice[0]
    )


def test_a_name_that_two_students_share_finds_neither():
    roster = Roster.of("student,name\na1,Ada Lovelace\na2,Ada Lovelace\n")
    assert (
        roster.find("Ada Lovelace") is None
        and roster.find("lovelaceada") is None
        and roster.find("a2") == "a2"
    )


@pytest.mark.parametrize(
    "text,why",
    [
        ("", "no column"),
        ("x,y\n1,2\n", "no column"),
        ("student\nada\nada\n", "'ada' twice, the second time in line 3"),
        ('student\n"ada', None),
    ],
)
def test_a_roster_with_a_mistake_is_named(text, why):
    if why is None:
        assert Roster.of(text).students == ("ada",)
        return
    with pytest.raises(SubmissionError, match=why):
        Roster.of(text, "roster.csv")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_roster_s_lines_end_as_any_system_ends_them(tmp_path, end):
    (tmp_path / "r.csv").write_bytes(
        end.join(["student,name", "ada,Ada Lovelace", "bob,Bob"]).encode()
    )
    assert Roster.read(tmp_path / "r.csv").students == ("ada", "bob")


def test_a_roster_that_is_no_text_is_named(tmp_path):
    (tmp_path / "r.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SubmissionError, match="not in UTF-8"):
        Roster.read(tmp_path / "r.csv")


# Notebooks


def notebook(*cells, **more) -> bytes:
    return json.dumps(
        {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": list(cells), **more}
    ).encode()


def code(source) -> dict:
    return {
        "cell_type": "code",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
        "source": source,
    }


@pytest.mark.parametrize(
    "data,why",
    [
        (b"", "The file is empty"),
        (b"  \n", "The file is empty"),
        (b"PK\x03\x04", "a zip"),
        (b"%PDF-1.4", "a PDF"),
        (b"<html>", "a web page"),
        (b"{", "no JSON, or only part"),
        (b"[]", "no object"),
        (b"null", "no object"),
        (b"\xff\xfe", "not in UTF-8"),
        (b"{}", "no list of cells"),
        (b'{"cells": {}}', "no list of cells"),
        (b'{"worksheets": []}', "format 3"),
        (b"[" * 100_000 + b"]" * 100_000, "nested too deep"),
        (b'{"cells": ' + b"[" * 300 + b"]" * 300 + b"}", "nested too deep"),
        (b'{"a":' * 50_000 + b"1" + b"}" * 50_000, "nested too deep"),
        (b"1" * 10_000, "no JSON"),
        (b"[" + b"1," * 5_000_000 + b"1]", "more values"),
        (b" " * (MOST_BYTES + 1), "20 MB"),
        (notebook(*[code("x = 1")] * 100_000), "100,000 cells"),
        (notebook(3), "cell 1"),
        (notebook({}), "cell 1"),
        (notebook(code(7)), "cell 1"),
        (notebook(code("x"), code([1])), "cell 2"),
        (notebook({"cell_type": "evil", "source": ""}), "cell 1"),
        (notebook(code("x = '\ud800'")), "no text"),
        (notebook(code("#" * 1_000_001)), "1,000,000 characters"),
    ],
)
def test_what_is_no_notebook_is_refused_in_a_sentence(data, why):
    with pytest.raises(NotebookError, match=why) as caught:
        notebook_reader.read(data)
    assert str(caught.value).endswith(".") and str(caught.value).isprintable()


def test_a_student_does_not_decide_what_is_not_run():
    released = frozenset(
        {notebook_reader.mark("check('x')"), notebook_reader.mark('student = ""\nsetup()')}
    )
    cells = [
        code('student = "ada"\nsetup()  '),
        code("check('x')\n"),
        {**code("x = 1"), "metadata": {"tags": ["check", "explore", "setup"]}},
        code("check('y')"),
        code("check('y'); x = 2"),
    ]
    assert notebook_reader.read(notebook(*cells), released).cells == (
        "",
        "",
        "x = 1",
        "",
        "check('y'); x = 2",
    )  # asking for a check brings nothing


@pytest.mark.parametrize(
    "metadata,source,claimed",
    [
        ({"handful": {"student": "ada"}}, 'student = "bob"', "ada"),
        ({}, "import os\nstudent = 'bob'  # me", "bob"),
        ({}, "x = 1", None),
        ({"handful": {"student": ["ada"]}}, 'student = ""', None),
        ({"handful": "ada"}, 'student = f"{1}"', None),
        ({}, 'student = "a\\x41"', None),
        ({"handful": {"student": "a\u202eb"}}, "", None),
        ({"handful": {"student": "x" * 1000}}, "", None),
        ({"handful": {"student": "  "}}, 'student = " bob "', "bob"),
        ("handful", 'student = "' + "x" * 500_000, None),
    ],
)
def test_whose_inputs_a_notebook_says_it_has(metadata, source, claimed):
    assert notebook_reader.read(notebook(code(source), metadata=metadata)).drawn_for == claimed


def test_written_answers_are_found_by_name_whatever_the_cell():
    empty = {"why": "*Write here.*"}
    cells = [
        {"cell_type": "raw", "source": "**Your answer: why**\n\nOne."},
        code("**Your answer: why**\nTwo."),
        {"cell_type": "markdown", "source": "**Your answer: why**\n\n*Write here.*"},
        {"cell_type": "markdown", "source": ["**Your answer: ", "how**\n", "\n"]},
    ]
    found = notebook_reader.read(notebook(*cells), empty=empty)
    assert found.texts == {"why": "One.\n\nTwo."} and found.cells == ("", "", "", "")
    long = notebook_reader.read(
        notebook({"cell_type": "markdown", "source": "**Your answer: why**" + "x" * 100_000})
    ).texts["why"]
    assert len(long) == notebook_reader.LONGEST_TEXT
