"""The browser of this machine; the standard library only, since it is asked before any install."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

# The headless shell, where there is one, is the same engine without windows, menus and extensions:
# a third less work.
BROWSERS = (
    "chromium-headless-shell",
    "chrome-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
)


MAC_BROWSER = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")


def find_browser() -> str | None:
    """Return the path of a Chromium on this machine; None where there is none.

    This is the one that HANDFUL_BROWSER names, else the first on the PATH.
    """
    named = os.environ.get("HANDFUL_BROWSER")
    if named:
        return shutil.which(named)
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    return found or (str(MAC_BROWSER) if MAC_BROWSER.exists() else None)
