"""Tables of a page: text in, HTML out; and the notation's, which every letter of the book is in."""

from __future__ import annotations

import pytest
from bs4 import BeautifulSoup

from handful.symbolic import quantities as q
from handful_evidence import measured
from handful_explorers.plotting.measured_ratios import MeasuredRatios, fits
from handful_explorers.tables import (
    Table,
    classes_table,
    notation,
)


def test_a_table_is_its_texts_and_no_markup_of_theirs():
    soup = BeautifulSoup(
        Table(["Chip", "<b>"], [["H100", "3 < 4"], ["B200", "&amp;"]])._repr_html_(), "html.parser"
    )
    assert [[cell.text for cell in row.find_all(["th", "td"])] for row in soup.find_all("tr")] == [
        ["Chip", "<b>"],
        ["H100", "3 < 4"],
        ["B200", "&amp;"],
    ]
    assert [th.get("scope") for th in soup.find_all("th")] == ["col", "col", "row", "row"]


def test_a_row_of_another_length_is_refused():
    with pytest.raises(ValueError, match=r"A row of this table has 2 cells; got 1: \['H100'\]"):
        Table(["Chip", "Rate"], [["B200", "1"], ["H100"]])._repr_html_()


def test_every_letter_is_in_the_notation_once():
    soup = BeautifulSoup(notation.notation()._repr_html_(), "html.parser")
    rows = soup.select("tr[id]")
    assert [row["id"] for row in rows] == [f"symbol-row-{name}" for name in q.table]
    for row, quantity in zip(rows, q.table.values(), strict=True):
        letter, name, meaning, dimension = (cell.text for cell in row.find_all("td"))
        assert (
            name == quantity.name
            and meaning.startswith(quantity.meaning)
            and dimension == str(quantity.dimension)
        )
        assert row.span["data-tex"] == quantity.latex and letter == rf"\({quantity.latex}\)"
        assert ("unless said otherwise" in meaning) == (quantity.default is not None)


def test_the_notation_is_in_its_sections():
    listing = notation.Listing([q.batch, q.context])
    soup = BeautifulSoup(listing._repr_html_(), "html.parser")
    assert len(listing) == 2 and len(soup.select("tbody tr[id]")) == 2
    heads = [head.text for head in soup.select("caption")]
    assert heads == list(dict.fromkeys([q.batch.section, q.context.section]))


def test_table_and_figure_show_every_class_and_every_row_of_the_dense_model():
    head, rows = classes_table()
    assert sum(int(row[1]) for row in rows) == len(measured.ratios())
    assert all(len(row) == len(head) for row in rows) and len(rows) == 6
    assert rows[2][3] == "no band: fewer than 30"
    # "On eight, whole steps took from three to ten times as long", and not sums of parts.
    whole = [
        row.ratio
        for row in measured.ratios()
        if row.model == measured.MODEL and row.devices == 8 and row.publisher != "kernels"
    ]
    assert min(whole) == pytest.approx(3, abs=0.1) and max(whole) == pytest.approx(10, abs=0.2)
    drawn = MeasuredRatios().figure()
    assert len(drawn.axes) == 2
    shown = sum(
        len(line.get_xdata())
        for axes in drawn.axes
        for line in axes.lines
        if line.get_marker() != "None"
    )
    assert shown == sum(
        row.model == measured.MODEL and row.devices in (1, 8) and fits(row)
        for row in measured.ratios()
    )
