"""Predictions beside measurements: the ratios that others found with their own code, and the direction of each."""
import pytest

from handful import measured


def test_kernel_ratios_are_those_of_an_independent_comparison():
    # Worked out by hand from the published parameter count and the tables: 1.88, 1.84, 2.17, 1.91, 1.95.
    assert [round(r.ratio, 2) for r in measured.kernels()] == pytest.approx([1.88, 1.84, 2.17, 1.91, 1.95], abs=0.011)


def test_nothing_measured_is_faster_than_the_floor():
    assert min(r.ratio for r in (*measured.kernels(), *measured.servers())) > 1


def test_one_chip_is_nearer_to_the_floor_than_a_node():
    def middle(devices):
        return sum(measured.within([r for r in measured.servers() if r.devices == devices])) / 2

    assert middle(1) < middle(2) < middle(4) < middle(8)


def test_efficiency_falls_as_chips_get_faster():
    def top(chip, precision):
        return measured.within([r for r in measured.servers()
                                if (r.chip, r.precision, r.devices) == (chip, precision, 1)])[1]

    assert top("H200 SXM", "fp8") < top("B200 SXM", "fp8") < top("B200 SXM", "fp4")


def test_band_holds_single_chips_and_kernels():
    low, high = measured.band()
    inside = [r for r in (*measured.kernels(), *measured.servers()) if r.kind == "kernels" or r.devices == 1]
    assert sum(low <= r.ratio <= high for r in inside) / len(inside) > 0.9


def test_table_and_figure_show_every_row():
    head, rows = measured.table()
    assert sum(int(row[4]) for row in rows) == len(measured.kernels()) + len(measured.servers())
    assert all(len(row) == len(head) for row in rows)
    assert len(measured.figure().axes) == 2
