"""Settings of all tests.

Tests that need what this machine lacks are skipped and counted, and no example fails for being
slow.
"""

import os
import signal
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("calm", deadline=None)
settings.load_profile("calm")
# A shell that starts the tests in the background has Ctrl+C ignored, and their children would too.
signal.signal(signal.SIGINT, signal.default_int_handler)
READERS = ("book", "notebooks")  # `make` looks for tests of the built book in these folders only


def pytest_collection_modifyitems(items):
    here = Path(__file__).parent
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")
        if item.get_closest_marker("site") and not any(
            item.path.is_relative_to(here / room) for room in READERS
        ):
            raise pytest.UsageError(
                f"{item.nodeid} is marked `site` and lies outside tests/book and tests/notebooks, "
                "where `make test` would not find it."
            )


@cache
def no_browser() -> str:
    """Return why no page can be opened on this machine; nothing where it can."""
    from handful_site.bootstrap import driver_error, find_browser

    return (
        driver_error()
        if find_browser()
        else "no Chromium or Chrome on this machine; `make browser` says how to get one"
    )


@cache
def no_sandbox() -> str:
    """Return why students' code cannot be run on this machine; nothing where it can."""
    from handful_classroom.sandbox import run

    try:
        run.describe()
    except run.SandboxError as error:
        return str(error)
    return ""


def pytest_runtest_setup(item):
    for marker, lacking in (("browser", no_browser), ("sandbox", no_sandbox)):
        # Where nobody reads what was skipped, what is lacking is a failure.
        if item.get_closest_marker(marker) and not os.environ.get("CI") and (reason := lacking()):
            pytest.skip(reason)
