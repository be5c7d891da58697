"""Every table loads, names its sources, and refuses damage in one sentence."""

import csv
import re
import subprocess
import sys
from pathlib import Path

import pytest

from handful import facts
from handful.facts import schema

HERE = Path(facts.__file__).parent


@pytest.mark.parametrize("table", facts.tables())
def test_every_row_has_a_name_and_a_source(table):
    rows = facts.load(table)
    assert len(rows) >= 5
    for row in rows:
        assert row.name.strip()
        assert row.source.strip().lower() not in schema.NO_SOURCE


def test_every_file_is_a_table_and_every_table_a_file():
    assert sorted(path.stem for path in HERE.glob("*.csv")) == facts.tables()


def test_tables_hold_no_figure_that_the_book_computes():
    for table, columns in schema.TABLES.items():
        for column in columns:
            assert column == column.lower()
            assert not any(word in column for word in ("derived", "computed", "drain")), (
                table,
                column,
            )


def test_tables_name_no_place_on_a_machine():
    for path in HERE.glob("*.csv"):
        text = path.read_text(encoding="utf-8")
        assert not re.findall(r"(?<![\w./:)])/\w+/\w+", text), path.name


def test_rows_are_typed():
    row = facts.get("accelerators", "GB200 NVL72")
    assert row["scaleup_domain_chips"] == 72 and isinstance(row["scaleup_domain_chips"], int)
    assert row["fp4_dense_flops"] == 1e16 and row.verified is True
    assert facts.get("accelerators", "H100 SXM")["fp4_dense_flops"] is None
    assert facts.get("accelerators", "Vera Rubin NVL72").verified is False
    assert facts.get("accelerators", "gb200 nvl72") is row
    # A table without the mark holds no doubtful row.
    assert facts.get("prices", "claude-haiku-4-5").verified is True


def test_known_figures():
    """The tables agree with figures stated independently of them.

    These are of vendors' datasheets, as commonly quoted.
    """
    assert facts.get("accelerators", "H100 SXM")["hbm_bandwidth_bytes_per_s"] == pytest.approx(
        3.35e12
    )
    assert facts.get("accelerators", "A100 80GB")["bf16_dense_flops"] == pytest.approx(312e12)
    b200 = facts.get("accelerators", "B200 SXM")
    assert b200["fp4_dense_flops"] / 2 * 0.5 / b200["hbm_bandwidth_bytes_per_s"] == pytest.approx(
        281, abs=1
    )
    assert facts.get("interconnects", "NVLink 5")["one_direction_bytes_per_s"] == pytest.approx(
        900e9
    )
    serving = facts.get("measured_serving", "pope2022_decode")
    assert (serving["value"], serving["unit"]) == (29, "ms per token")


def test_tokens_per_chip_follow_from_value_and_chips():
    """A system's rate and a chip's agree in every row that gives both."""
    checked = 0
    for row in facts.load("measured_serving"):
        chip, chips, value = row["tokens_per_s_per_chip"], row["chips"], row["value"]
        if row["unit"] in ("Tokens/s", "tok/s") and chip and chips and value:
            assert value / chips == pytest.approx(chip, rel=0.01), row.name
            checked += 1
    assert checked > 30


@pytest.mark.parametrize(
    "name, nearest",
    [
        ("H100", "H100 SXM"),
        ("h200", "H200 SXM"),
        ("GB20 NVL72", "GB200 NVL72"),
        ("TPU v5x", "TPU v5"),
        ("MI300", "MI300X"),
    ],
)
def test_unknown_name_lists_the_closest(name, nearest):
    sentence = f"accelerators has no row {name!r}; the nearest are: .*{nearest}"
    with pytest.raises(facts.FactsError, match=sentence):
        facts.get("accelerators", name)


def test_unknown_table_and_column():
    with pytest.raises(facts.FactsError, match=r"'acelerators'.*accelerators"):
        facts.load("acelerators")
    with pytest.raises(facts.FactsError, match=r"'power'.*power_watts"):
        facts.get("accelerators", "H100 SXM")["power"]


# Damage: one cell of a real file is changed, and the sentence has to name file, line, row, column
# and what is allowed.


def damaged(tmp_path, table, name, column, value):
    with (HERE / f"{table}.csv").open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        rows = list(reader)
    [row] = [row for row in rows if row["name"] == name]
    row[column] = value
    path = tmp_path / f"{table}.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, reader.fieldnames)
        writer.writeheader()
        writer.writerows(rows)
    return path


H100 = r"accelerators\.csv, line 4, row 'H100 SXM', column {}: "


@pytest.mark.parametrize(
    "column, value, sentence",
    [
        ("source", "", "is empty; a text is allowed"),
        (
            "source",
            "unverified",
            "got 'unverified', which is no source; a named document, file or address is allowed",
        ),
        ("hbm_bandwidth_bytes_per_s", "-3.35e12", "got '-3.35e12'; a number above 0 is allowed"),
        ("hbm_bandwidth_bytes_per_s", "0", "got '0'; a number above 0 is allowed"),
        ("hbm_bandwidth_bytes_per_s", "3.35 TB/s", "got '3.35 TB/s'; a number above 0 is allowed"),
        ("hbm_bandwidth_bytes_per_s", "nan", "got 'nan'; a number above 0 is allowed"),
        ("hbm_bandwidth_bytes_per_s", "inf", "got 'inf'; a number above 0 is allowed"),
        ("hbm_capacity_bytes", "", "is empty; a number above 0 is allowed"),
        ("scaleup_domain_chips", "8.5", "got '8.5'; a whole number above 0 is allowed"),
        ("verified", "maybe", "got 'maybe'; yes or no is allowed"),
        (
            "fp8_dense_flops",
            "3.958e15",
            "got 3.958e.15, the peak with 2:4 structured sparsity; the dense peak "
            r"\(1.979e.15\) is allowed",
        ),
        ("bf16_dense_flops", "1.979e15", "got 1.979e.15, the peak with 2:4 structured sparsity"),
        (
            "int8_dense_ops",
            "3e15",
            "got 3 times bf16_dense_flops, which looks like a sparse peak; at most 2.2 "
            "times is allowed unless peak_note says why",
        ),
    ],
)
def test_damaged_cell_is_refused(tmp_path, column, value, sentence):
    path = damaged(tmp_path, "accelerators", "H100 SXM", column, value)
    with pytest.raises(facts.FactsError, match="^" + H100.format(column) + sentence) as caught:
        facts.load("accelerators", path)
    message = str(caught.value)
    assert message.count("\n") == 0 and message.endswith(".") and message.count(". ") == 0


def test_a_sparse_peak_of_an_unknown_chip_is_refused_by_its_ratio(tmp_path):
    path = damaged(tmp_path, "accelerators", "TPU7x", "fp8_dense_flops", "9.228e15")
    with pytest.raises(facts.FactsError, match="row 'TPU7x', column fp8_dense_flops: "):
        facts.load("accelerators", path)
    explained = damaged(tmp_path, "accelerators", "GB300 NVL72", "peak_note", "")
    with pytest.raises(facts.FactsError, match="row 'GB300 NVL72', column fp4_dense_flops: "):
        facts.load("accelerators", explained)


def test_empty_and_double_names_are_refused(tmp_path):
    path = damaged(tmp_path, "accelerators", "H100 SXM", "name", " ")
    with pytest.raises(facts.FactsError, match="line 4, row '', column name: "):
        facts.load("accelerators", path)
    path = damaged(tmp_path, "accelerators", "H200 SXM", "name", "H100 SXM")
    with pytest.raises(facts.FactsError, match="line 5, row 'H100 SXM', column name: "):
        facts.load("accelerators", path)


def test_other_tables_are_checked_across_columns(tmp_path):
    path = damaged(tmp_path, "interconnects", "NVLink 5", "bidirectional_bytes_per_s", "9e11")
    with pytest.raises(
        facts.FactsError, match=r"'NVLink 5', column bidirectional_bytes_per_s: got 9e.11"
    ):
        facts.load("interconnects", path)
    path = damaged(tmp_path, "models", "Mixtral 8x7B", "active_params_reported", "5e10")
    with pytest.raises(facts.FactsError, match=r"column active_params_reported: got 5e.10"):
        facts.load("models", path)


@pytest.mark.parametrize(
    "edit, sentence",
    [
        (
            lambda text: text.replace("hbm_type", "hbm_typ", 1),
            "line 1: the column 'hbm_typ' is not allowed; the nearest are: hbm_type",
        ),
        (lambda text: text.replace(",hbm_type", "", 1), "line 1: the column 'hbm_type' is missing"),
        (
            lambda text: text.replace("hbm_type", "status", 1),
            "line 1: the column 'status' stands there twice",
        ),
        (
            lambda text: text.replace("NVIDIA,2022", "NVIDIA,,2022", 1),
            "'H100 SXM': 27 cells, but 26 are",
        ),
    ],
)
def test_damaged_layout_is_refused(tmp_path, edit, sentence):
    path = tmp_path / "accelerators.csv"
    path.write_text(edit((HERE / "accelerators.csv").read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(facts.FactsError, match=sentence):
        facts.load("accelerators", path)


def test_reading_a_table_from_elsewhere_leaves_the_books_own_alone(tmp_path):
    path = damaged(tmp_path, "accelerators", "H100 SXM", "hbm_bandwidth_bytes_per_s", "1e12")
    assert facts.load("accelerators", path).get("H100 SXM")["hbm_bandwidth_bytes_per_s"] == 1e12
    assert facts.get("accelerators", "H100 SXM")["hbm_bandwidth_bytes_per_s"] == 3.35e12


# Figures as a page shows them


def test_reading_facts_needs_no_heavy_package():
    code = (
        "import sys; from handful import facts; facts.load('accelerators');"
        "heavy = {'numpy', 'pandas', 'sympy', 'scipy'} & set(sys.modules); assert not heavy, heavy"
    )
    lib = str(HERE.parents[1])
    subprocess.run(
        [
            sys.executable,
            "-c",
            f"import sys; sys.path.insert(0, {lib!r}); import types; "
            f"p = types.ModuleType('handful'); p.__path__ = [{lib + '/handful'!r}]; "
            f"sys.modules['handful'] = p; {code}",
        ],
        check=True,
    )
