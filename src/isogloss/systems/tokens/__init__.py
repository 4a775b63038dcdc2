"""Texts as model inputs: sub-word tokens, special tokens, windows over long passages, padding."""
