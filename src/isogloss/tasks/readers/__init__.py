"""Readers that turn each distribution's files into examples, one small module per format."""
