"""Who the languages are: XTREME-R's fifty and Hausa, and what the papers published about them.

`language("sw")`, `language("swh")` and `language("Swahili")` are the same entry. The published figures are in
`isogloss.languages.published`, which is read only when it is imported.
"""

from typing import TYPE_CHECKING

from isogloss.languages.registry import Language, Typology, all_languages, families, language, scripts

__all__ = ["CODES", "Language", "Typology", "all_languages", "families", "language", "scripts"]

CODES: tuple[str, ...]

if not TYPE_CHECKING:  # so that a checker still reports names that this module does not have

    def __getattr__(name: str) -> tuple[str, ...]:
        """`CODES`, made on first use: importing the package reads no file."""
        if name != "CODES":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = codes = tuple(entry.code for entry in all_languages())
        return codes
