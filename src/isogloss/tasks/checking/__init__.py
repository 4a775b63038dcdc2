"""Checks of a task's files: counts, labels, duplicates, overlaps, encodings, scripts and gold."""
