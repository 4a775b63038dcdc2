"""Hashed character n-grams and linear models: a baseline for all XTREME-R tasks, without torch or downloads."""

from isogloss.systems.ngram.system import NgramSystem

__all__ = ["NgramSystem"]
