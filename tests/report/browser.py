"""The installed browser, if any."""

import shutil
from collections.abc import Iterator
from typing import Any

# Chromium without a window system uses half the CPU time of Chromium with --headless.
_PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")
BROWSER = next(filter(None, map(shutil.which, _PROGRAMS)), None)
QUIET = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync")


def launched(playwright: Any) -> Iterator[Any]:
    """Yield the browser."""
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=QUIET)
        yield browser
        browser.close()
