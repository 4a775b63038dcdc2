"""A pretrained encoder (mBERT, XLM-R, …) with a head for each kind of task."""

from isogloss.systems.encoder.system import EncoderSystem

__all__ = ["EncoderSystem"]
