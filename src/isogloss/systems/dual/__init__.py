"""A contrastively trained dual encoder for retrieval."""

from isogloss.systems.dual.system import DualEncoderSystem

__all__ = ["DualEncoderSystem"]
