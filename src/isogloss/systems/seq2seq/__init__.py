"""Sequence-to-sequence models that translate."""
