"""What a reader does and sees on a page of the board."""

from collections.abc import Callable
from typing import Any

Open = Callable[..., Any]


def go(tab: Any, hash_: str) -> None:
    tab.evaluate("hash => { location.hash = hash; }", hash_)
    tab.wait_for_function("hash => location.hash === hash", arg=hash_)


def column(tab: Any, name: str) -> list[str]:
    """The texts of a column of the first table, by the words its heading begins with."""
    heads = [
        text.replace("\n", " ") for text in tab.locator("table.data thead tr").last.locator("th").all_inner_texts()
    ]
    at = next(place for place, text in enumerate(heads) if text.startswith(name))
    return [
        text.strip()
        for text in tab.locator(f"table.data tbody:not(.before) tr > :nth-child({at + 1})").all_inner_texts()
    ]
