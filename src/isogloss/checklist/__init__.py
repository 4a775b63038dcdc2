"""The checklist: template tests of basic abilities in 51 languages, and an audit of their answerability."""

from typing import TYPE_CHECKING, Any

__all__ = ["matches"]

if TYPE_CHECKING:
    from isogloss.checklist.matching import matches
else:

    def __getattr__(name: str) -> Any:
        if name != "matches":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from isogloss.checklist.matching import matches

        return matches
