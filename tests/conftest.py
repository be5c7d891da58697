"""For every test: no example fails for being slow, since machines are shared and noisy."""
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("calm", deadline=None)
settings.load_profile("calm")
READERS = ("pages", "notebooks")  # `make` looks for tests of the built book in these folders only


def pytest_collection_modifyitems(items):
    here = Path(__file__).parent
    for item in items:
        if item.get_closest_marker("site") and not any(item.path.is_relative_to(here / room) for room in READERS):
            raise pytest.UsageError(f"{item.nodeid} is marked `site` and lies outside tests/pages and tests/notebooks, "
                                    "where `make test` would not find it.")
