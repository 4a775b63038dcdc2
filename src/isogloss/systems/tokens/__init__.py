"""Texts as models read them: sub-word tokens, special tokens, windows over long passages, padded inputs."""
