"""The list of an edition, and what is written for the worker."""

from __future__ import annotations

import json

from handful_site import offline

POLICY = "default-src 'self'"


def site(folder, text="one"):
    (folder / "_static" / "handful").mkdir(parents=True, exist_ok=True)
    (folder / "_static" / "handful" / "handful.js").write_text("1;")
    (folder / "_static" / "handful" / "icon-192.png").write_bytes(b"png")
    (folder / "book.pdf").write_bytes(b"pdf")
    head = (
        "<!doctype html><html><head><title>{} — A Handful of Equations</title></head>"
        "<body>{}</body></html>"
    )
    (folder / "index.html").write_text(
        head.format("A Handful of Equations", '<a href="b.html">b</a><a href="a.html#x">a</a>')
    )
    (folder / "a.html").write_text(head.format("First", f'<div data-offline=""></div>{text}'))
    (folder / "b.html").write_text(head.format("Second", "two"))
    return folder


def written(folder) -> dict:
    line = (folder / "sw.js").read_text("utf-8").split("\n")[0]
    return json.loads(line.removeprefix("const EDITION = ").removesuffix(";"))


def test_an_edition_is_what_its_files_hold(tmp_path):
    first = offline.write(site(tmp_path), POLICY)
    known = written(tmp_path)
    assert list(known["pages"].items()) == [
        ("index.html", "A Handful of Equations"),
        ("b.html", "Second"),
        ("a.html", "First"),
    ]
    assert "_static/handful/handful.js" in known["core"] and "manifest.webmanifest" in known["core"]
    assert {"book.pdf", "sw.js"} & set(known["files"]) == set() and known["policy"] == POLICY
    assert 0 < first["core"] < first["whole"]
    assert 'data-offline="0.0 MB"' in (tmp_path / "a.html").read_text("utf-8")
    # Again the same, byte for byte; another word is another edition, in which only that page has
    # another mark.
    offline.write(site(tmp_path), POLICY)
    assert written(tmp_path) == known
    offline.write(site(tmp_path, "changed"), POLICY)
    after = written(tmp_path)
    assert after["name"] != known["name"]
    assert [name for name in after["files"] if after["files"][name] != known["files"][name]] == [
        "a.html"
    ]


def test_the_manifest_names_the_icons_that_are_there(tmp_path):
    offline.write(site(tmp_path), POLICY)
    found = json.loads((tmp_path / "manifest.webmanifest").read_text("utf-8"))
    assert [icon["src"] for icon in found["icons"]] == ["_static/handful/icon-192.png"]
    assert found["start_url"] == found["scope"] == "./"
