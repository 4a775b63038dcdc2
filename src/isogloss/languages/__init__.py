"""Languages: XTREME-R's fifty and Hausa, with published results.

`language("sw")`, `language("swh")` and `language("Swahili")` are the same entry. Published results are in
`isogloss.languages.published`, imported separately.
"""

from typing import TYPE_CHECKING

from isogloss.languages.registry import Language, Typology, all_languages, codes_meant_by, families, language, scripts

__all__ = ["CODES", "Language", "Typology", "all_languages", "codes_meant_by", "families", "language", "scripts"]

CODES: tuple[str, ...]

if not TYPE_CHECKING:  # so that type checkers still report unknown names

    def __getattr__(name: str) -> tuple[str, ...]:
        """Return `CODES`, computed on first use: importing the package reads no file."""
        if name != "CODES":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = codes = tuple(entry.code for entry in all_languages())
        return codes
