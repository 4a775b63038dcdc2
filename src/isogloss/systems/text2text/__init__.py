"""Sequence-to-sequence models (mT5 and similar): every task as text-to-text."""

from isogloss.systems.text2text.system import Text2TextSystem

__all__ = ["Text2TextSystem"]
