"""Prompts for language models: recipes and words as data, requests and answers as pure functions."""
