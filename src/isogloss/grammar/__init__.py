"""How words fit together: one readable file per language, and the small engine that fills its sentences."""

from isogloss.grammar.file import CODES, Grammar, grammar

__all__ = ["CODES", "Grammar", "grammar"]
