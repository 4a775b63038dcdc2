"""Sequence-to-sequence models (mT5 and its like): every task as text that is rewritten as text."""

from isogloss.systems.text2text.system import Text2TextSystem

__all__ = ["Text2TextSystem"]
