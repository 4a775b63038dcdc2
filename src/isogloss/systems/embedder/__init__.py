"""Any sentence encoder as a system for retrieval: ONNX files, sentence-transformers, transformers."""

from isogloss.systems.embedder.system import EmbedderSystem

__all__ = ["EmbedderSystem"]
