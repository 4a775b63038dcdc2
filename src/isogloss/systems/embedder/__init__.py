"""Sentence encoders as retrieval systems: ONNX files, sentence-transformers, transformers."""

from isogloss.systems.embedder.system import EmbedderSystem

__all__ = ["EmbedderSystem"]
