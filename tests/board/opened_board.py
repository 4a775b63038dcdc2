"""Helpers that act on a page of the board and read it."""

import json
from collections.abc import Callable
from typing import Any

from waiting import wait_until

Open = Callable[..., Any]


# The page counts its renderings. The count may change while the address is set, or later if a file is loaded first.
_GO = """hash => new Promise((done, fail) => {
  if (location.hash === hash) return done();
  const root = document.documentElement, before = root.dataset.ready;
  location.hash = hash;
  if (root.dataset.ready !== before) return done();
  setTimeout(() => fail(new Error(`${hash} is not rendered`)), 60_000);
  new MutationObserver((_, observer) => {
    if (root.dataset.ready === before) return;
    observer.disconnect();
    done();
  }).observe(root, { attributes: true });
})"""


def go(tab: Any, hash_: str) -> None:
    """Open another page of the board and wait until it is rendered."""
    tab.evaluate(_GO, hash_)


def settle(tab: Any) -> None:
    """Wait for the parts that a page adds later: details from files, and rank intervals 60 ms after the table."""
    wait_until(tab, "() => !document.querySelector('main').textContent.includes('Loading details')")
    tab.evaluate("new Promise(done => setTimeout(done, 61))")


# Chromium drops some of many quick downloads: return the file that the button makes, without downloading it.
_FILE = """() => new Promise((done) => {
  const make = URL.createObjectURL;
  URL.createObjectURL = (file) => {
    URL.createObjectURL = make;
    done(file.text());
    return "data:,";
  };
  [...document.querySelectorAll(".files button")].find((button) => button.textContent === "JSON").click();
})"""


def exported(tab: Any) -> list[dict[str, Any]]:
    """Return the rows of the page's JSON file."""
    rows: list[dict[str, Any]] = json.loads(tab.evaluate(_FILE))["rows"]
    return rows


def column(tab: Any, name: str) -> list[str]:
    """Return the texts of a column of the first table, by the beginning of its heading."""
    heads = [
        text.replace("\n", " ") for text in tab.locator("table.data thead tr").last.locator("th").all_inner_texts()
    ]
    at = next(place for place, text in enumerate(heads) if text.startswith(name))
    return [
        text.strip()
        for text in tab.locator(f"table.data tbody:not(.before) tr > :nth-child({at + 1})").all_inner_texts()
    ]


# Open ranks show their range; the rank by score is in the text for screen readers.
_RANKS = """cells => cells.map((cell) => {
  const read = cell.querySelector(".sr")?.textContent.trim().match(/^[0-9]+/)?.[0];
  return read ?? (cell.querySelector("b") ?? cell).textContent.trim();
})"""


def ranks(tab: Any) -> list[str]:
    """Return the ranks by score, without the ranks that the test leaves open."""
    found: list[str] = tab.locator("table.data tbody:not(.before) td.rank").evaluate_all(_RANKS)
    return found
