"""A dual encoder, trained contrastively, as a system for retrieval."""

from isogloss.systems.dual.system import DualEncoderSystem

__all__ = ["DualEncoderSystem"]
