"""Languages: XTREME-R's fifty and Hausa, with published results, and any other by its BCP 47 tag.

`language("sw")`, `language("swh")`, `language("swah1253")` and `language("Swahili")` are the same entry, and so are
`language("zh-Hant")` and `language("zho_Hant")`. Published results are in `isogloss.languages.published`, imported
separately, and scripts of texts in `isogloss.languages.text_scripts`.
"""

from typing import TYPE_CHECKING

from isogloss.languages.registry import (
    UNKNOWN,
    Language,
    Typology,
    all_languages,
    codes_meant_by,
    expected_scripts,
    families,
    further_languages,
    known_language,
    language,
    listed_language,
    scripts,
    world_languages,
)

__all__ = [
    "CODES",
    "UNKNOWN",
    "Language",
    "Typology",
    "all_languages",
    "codes_meant_by",
    "expected_scripts",
    "families",
    "further_languages",
    "known_language",
    "language",
    "listed_language",
    "scripts",
    "world_languages",
]

CODES: tuple[str, ...]

if not TYPE_CHECKING:  # so that type checkers still report unknown names

    def __getattr__(name: str) -> tuple[str, ...]:
        """Return `CODES`, computed on first use: importing the package reads no file."""
        if name != "CODES":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = codes = tuple(entry.code for entry in all_languages())
        return codes
