"""The installed browser, if any."""

import shutil
from collections.abc import Iterator
from typing import Any

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
QUIET = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync")


def launched(playwright: Any) -> Iterator[Any]:
    """Yield the browser."""
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=QUIET)
        yield browser
        browser.close()
