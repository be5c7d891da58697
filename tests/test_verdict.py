"""Tests of the last lines of ``make test``."""

import runpy
from pathlib import Path

verdict = runpy.run_path(str(Path(__file__).with_name("verdict.py")))["verdict"]

REPORT = (
    '<testsuites><testsuite><testcase name="a"/><testcase name="b"><failure message="no"/>'
    "</testcase>{more}</testsuite></testsuites>"
)


def test_what_could_not_run_is_counted_by_its_reason(tmp_path):
    one, two = tmp_path / "one.xml", tmp_path / "two.xml"
    one.write_text(REPORT.format(more='<testcase><skipped message="no Chromium"/></testcase>' * 2))
    two.write_text(
        REPORT.format(
            more='<testcase><skipped message="Skipped: no sandbox"/></testcase><testcase>'
            "<error/></testcase>"
        )
    )
    assert verdict([str(one), str(two)]).splitlines() == [
        "2 could not run: no Chromium",
        "1 could not run: no sandbox",
        "2 passed, 3 failed, 3 skipped",
    ]
