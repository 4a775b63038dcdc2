"""The checklist: template tests of simple things in 51 languages, and the audit that proves them answerable."""

from typing import TYPE_CHECKING, Any

__all__ = ["matches"]

if TYPE_CHECKING:
    from isogloss.checklist.matching import matches
else:

    def __getattr__(name: str) -> Any:
        """`matches`, loaded when it is first used."""
        if name != "matches":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from isogloss.checklist.matching import matches

        return matches
