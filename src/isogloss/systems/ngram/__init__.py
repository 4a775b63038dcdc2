"""The floor: hashed character n-grams and linear models. No download, no torch, all of XTREME-R's kinds of tasks."""

from isogloss.systems.ngram.system import NgramSystem

__all__ = ["NgramSystem"]
