"""Count the tests of several pytest runs: the last lines of ``make test``.

It also says what could not run on this machine.
"""

from __future__ import annotations

import sys
from collections import Counter
from xml.etree import ElementTree


def verdict(reports: list[str]) -> str:
    """Return a line for each reason why tests were skipped, then the sum, from JUnit reports."""
    failed = passed = 0
    skipped: Counter[str] = Counter()
    for report in reports:
        for case in ElementTree.parse(report).iter("testcase"):
            reason = case.find("skipped")
            if reason is not None:
                skipped[reason.get("message", "").removeprefix("Skipped: ")] += 1
            elif case.find("failure") is not None or case.find("error") is not None:
                failed += 1
            else:
                passed += 1
    lines = [f"{count} could not run: {reason}" for reason, count in skipped.most_common()]
    return "\n".join([*lines, f"{passed} passed, {failed} failed, {skipped.total()} skipped"])


if __name__ == "__main__":
    print(verdict(sys.argv[1:]))
