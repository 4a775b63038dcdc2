"""Predictions, what a system answered: reading, checking, writing and importing prediction folders."""
