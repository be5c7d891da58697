"""Cards as files.

The Anki package is opened by Anki's own library: what it holds, and what a later one does to a
learner's.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import re
import zipfile
from contextlib import contextmanager

import pytest

from handful_study import anki, book, export, markup, maths, pictures, words
from handful_study.cards import cards
from handful_study.order import by_chapter, title
from handful_study.source import ExportError, Part, SourceError, folder

genanki = pytest.importorskip("genanki")
SITE = "https://example.org/book"


def made(number: int, back: str = "Back", **more):
    """Return a card that is not in the book."""
    like = cards()["what-sets-the-latency-floor"]
    return dataclasses.replace(
        like,
        id=f"card-{number}",
        front=Part("", f"Front {number}", 1),
        back=Part("Back", back, 1),
        **more,
    )


SOME = [
    made(1, "At $a < b$:\n\n$$\\frac{N w}{\\mathrm{BW}}$$", kind="derivation"),
    made(2),
    made(3, chapter="pipelining", lecture=None),
]


@contextmanager
def collection(tmp_path):
    """Open a learner's collection, with a function that imports a package into it.

    The function tells what came of the import.
    """
    Collection = pytest.importorskip("anki.collection").Collection
    from anki.collection import ImportAnkiPackageOptions, ImportAnkiPackageRequest

    opened = Collection(str(tmp_path / "learner.anki2"))

    def bring(some, when: int) -> dict[str, int]:
        path = tmp_path / "deck.apkg"
        path.write_bytes(anki.package(some, SITE, when))
        log = opened.import_anki_package(
            ImportAnkiPackageRequest(package_path=str(path), options=ImportAnkiPackageOptions())
        ).log
        found = {
            name: len(getattr(log, name))
            for name in (
                "new",
                "updated",
                "duplicate",
                "conflicting",
                "first_field_match",
                "missing_notetype",
                "missing_deck",
                "empty_first_field",
            )
        }
        return {name: count for name, count in found.items() if count}

    try:
        yield opened, bring
    finally:
        opened.close()


def test_anki_opens_every_card_of_the_book(tmp_path):
    some = export.cards_of_chapter()
    with collection(tmp_path) as (learner, bring):
        assert bring(some, 1_800_000_000) == {"new": len(some)}
        assert learner.note_count() == learner.card_count() == len(some)
        for card in some:
            [name] = learner.find_notes(f"Id:{card.id}")
            note = learner.get_note(name)
            assert note.guid == genanki.guid_for("handful", card.id) and set(note.tags) == {
                card.kind,
                card.chapter,
            }
            [shown] = note.cards()
            deck = learner.decks.name(shown.did)
            assert deck.startswith(f"{book.TITLE}::") and deck.endswith(title(card.chapter))
            question, answer = shown.question(), shown.answer()
            assert (
                note["Front"] in question
                and note["Back"] not in question
                and note["Front"] in answer
                and note["Back"] in answer
            )
            assert f'{SITE}/{card.chapter}.html#{card.section}"' in answer
            assert "{" not in re.sub(
                r"\\[(\[].*?\\[)\]]|<style>.*?</style>", "", answer, flags=re.S
            ), "a role was left over"
            assert learner.media.check().missing == []
        assert (
            learner.sched.deck_due_tree().children[0].children
            if len({card.chapter for card in some})
            else True
        )


def test_new_cards_come_in_the_order_of_the_book(tmp_path):
    with collection(tmp_path) as (learner, bring):
        bring(SOME, 1_800_000_000)
        learner.decks.select(learner.decks.id_for_name(book.TITLE))
        queued = [
            learner.get_card(one.card.id).note()["Id"]
            for one in learner.sched.get_queued_cards(fetch_limit=9).cards
        ]
        assert queued == ["card-1", "card-2", "card-3"]


def test_an_edit_updates_a_note_and_keeps_its_history(tmp_path):
    with collection(tmp_path) as (learner, bring):
        bring(SOME, 1_800_000_000)
        learner.decks.select(learner.decks.id_for_name(book.TITLE))
        card = learner.sched.getCard()
        card.start_timer()
        learner.sched.answerCard(card, 3)
        history = learner.db.all("select * from revlog")
        state = learner.get_card(card.id)
        kept = (state.reps, state.type, state.due, state.memory_state)
        assert history and bring(SOME, 1_800_000_000) == {"duplicate": 3}
        edited = [made(1, "Another back"), *SOME[1:], made(4)]
        assert bring(edited, 1_800_000_100) == {"new": 1, "updated": 3}
        assert (
            learner.note_count() == learner.card_count() == 4
            and learner.db.all("select * from revlog") == history
        )
        state = learner.get_card(card.id)
        assert (state.reps, state.type, state.due, state.memory_state) == kept and state.note()[
            "Back"
        ] == "<p>Another back</p>"
        assert len(learner.models.all_names_and_ids()) == len(
            {m.name for m in learner.models.all_names_and_ids()}
        )
        assert sum(m.name.startswith(book.TITLE) for m in learner.models.all_names_and_ids()) == 1


def test_names_by_which_anki_knows_things_never_change():
    """A change of these names doubles the cards of every learner."""
    assert genanki.guid_for("handful", "what-sets-the-latency-floor") == "F{~NBq{.Zu"
    assert (anki.MODEL, anki.deck_id("latency-and-cost")) == (1607392319, 1431650293)
    assert anki.FIELDS == ("Front", "Back", "Place", "Id")


def test_the_same_cards_are_the_same_bytes(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1800000000")
    first = anki.package(SOME)
    assert (
        first
        == anki.package(SOME)
        == anki.package(SOME, when=1_800_000_000)
        != anki.package(SOME, when=1_800_000_001)
    )
    with zipfile.ZipFile(io.BytesIO(first)) as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_a_package_bears_the_time_of_its_sources(monkeypatch, tmp_path):
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    when = anki.sources_time()
    assert when == anki.sources_time() > 1_700_000_000
    monkeypatch.setenv("PATH", str(tmp_path))  # no git
    assert anki.sources_time() >= max(int(path.stat().st_mtime) for path in folder().rglob("*.md"))


def test_maths_is_anki_s_and_nothing_else_is_markup():
    assert (
        markup.html("$a<b$ <script>alert(1)</script>")
        == r"<p>\(a&lt;b\) &lt;script&gt;alert(1)&lt;/script&gt;</p>"
    )
    assert markup.html("$$\nx\n= 1\n$$") == r"<p>\[x = 1\]</p>"
    assert "<a" not in markup.html("[x](javascript:alert(1))")


def test_a_picture_goes_along(tmp_path, monkeypatch):
    (tmp_path / "cards").mkdir()
    (tmp_path / "cards" / "a b.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    monkeypatch.setattr(pictures, "folder", lambda: tmp_path)
    with collection(tmp_path) as (learner, bring):
        assert bring([made(1, "![A figure](<a b.svg>)")], 1_800_000_000) == {"new": 1}
        [name] = learner.find_notes("")
        source = re.search(r'src="([^"]+)"', learner.get_note(name)["Back"])[1]
        assert learner.media.have(source) and learner.media.check().missing == []


@pytest.mark.parametrize(
    "source",
    [
        "missing.png",
        "https://example.org/x.png",
        "../../../etc/passwd",
        "/etc/hostname.png",
        "notes.txt",
    ],
)
def test_no_other_file_goes_along(source):
    with pytest.raises(ExportError, match=r"card-1 shows the picture .* no picture beside"):
        anki.package([made(1, f"![A figure](<{source}>)")], when=1)


def test_it_reads_well_by_day_and_by_night():
    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        parts = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), parts, strict=True))

    def contrast(a, b):
        high, low = sorted(map(luminance, (a, b)), reverse=True)
        return (high + 0.05) / (low + 0.05)

    day, night = anki.STYLE.split(".nightMode", 1)
    for part in (day, night):
        background = re.search(r"background: (#\w{6})", part)[1]
        colours = re.findall(r"[ {]color: (#\w{6})", part)
        assert colours and all(contrast(colour, background) >= 4.5 for colour in colours)


# Text formats


def test_csv_is_a_table_that_runs_no_formula():
    text = export.as_csv(
        [made(1, "=1+1"), made(2, "@SUM(1)"), made(3, '- a list\n- of "two"; a, b')]
    )
    assert text.startswith("\ufeff")
    rows = list(csv.DictReader(io.StringIO(text[1:], newline="")))
    assert list(rows[0]) == ["id", "chapter", "kind", "front", "back"]
    assert [row["back"] for row in rows] == ["'=1+1", "'@SUM(1)", "'- a list\n'- of \"two\"; a, b"]
    everything = export.as_csv(export.cards_of_chapter())[1:]
    for separator in ",;\t":  # whatever list separator the spreadsheet has
        for row in csv.reader(io.StringIO(everything, newline=""), delimiter=separator):
            assert not any(
                cell.lstrip(' "').startswith(("=", "+", "-", "@", "\t", "\r")) for cell in row
            )


def test_json_holds_every_card():
    found = json.loads(export.as_json(export.cards_of_chapter(), SITE))
    assert [card["id"] for card in found["cards"]] == [
        card.id for card in export.cards_of_chapter()
    ] and found["licence"] == "CC BY 4.0"
    for row, card in zip(found["cards"], export.cards_of_chapter(), strict=True):
        assert (row["front"], row["back"]) == (
            words.markdown(card.front.text),
            words.markdown(card.back.text),
        )
        assert row["section_address"] == f"{SITE}/{card.chapter}.html#{card.section}"
        assert (row["lecture_address"] or "").startswith("https://www.youtube.com/watch") == bool(
            card.lecture
        )


def test_markdown_holds_every_card():
    text = export.as_markdown(export.cards_of_chapter(), SITE)
    assert re.findall(r"^### (.*)$", text, re.M) == [card.id for card in export.cards_of_chapter()]
    for card in export.cards_of_chapter():
        assert words.markdown(card.front.text) in text and words.markdown(card.back.text) in text


def test_cards_stand_in_the_order_of_the_book():
    assert list(dict.fromkeys(card.chapter for card in export.cards_of_chapter())) == list(
        by_chapter(cards().values())
    )
    one = export.cards_of_chapter()[0].chapter
    assert export.cards_of_chapter(one) == [
        card for card in export.cards_of_chapter() if card.chapter == one
    ]
    with pytest.raises(SourceError, match="'nowhere'"):
        export.cards_of_chapter("nowhere")


def test_the_files_of_the_site(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1800000000")
    found = export.site_files(tmp_path / "downloads")
    assert [path.name for path in found] == ["cards.apkg", "cards.csv", "cards.md", "cards.json"]
    first = [path.read_bytes() for path in found]
    assert [path.read_bytes() for path in export.site_files(tmp_path / "downloads")] == first


@pytest.mark.parametrize("card", [pytest.param(card, id=card.id) for card in cards().values()])
def test_every_card_can_be_read_in_a_terminal(card):
    for part in (card.front, card.back):
        for tex in _formulas(part.text):
            maths.tree(tex)  # a MathsError says what it cannot show
        shown = markup.text(words.markdown(part.text), 72)
        assert shown and not re.search(r"\\[a-zA-Z]+|\$[^\d]|</?\w+>", shown), shown


def _formulas(text: str) -> list[str]:
    found = []
    for token in markup.parser().parse(words.markdown(text)):
        found += [
            part.content
            for part in [token, *(token.children or ())]
            if part.type.startswith(("math", "amsmath"))
        ]
    return found
