"""Drafts of task files, from the files of a dataset."""
