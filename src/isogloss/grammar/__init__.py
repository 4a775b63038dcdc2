"""Grammar: one readable file per language, and the small engine that fills its templates."""

from isogloss.grammar.file import CODES, Grammar, grammar

__all__ = ["CODES", "Grammar", "grammar"]
