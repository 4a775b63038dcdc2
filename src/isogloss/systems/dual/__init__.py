"""A dual encoder, trained by contrast, as a system for retrieval."""

from isogloss.systems.dual.system import DualEncoderSystem

__all__ = ["DualEncoderSystem"]
