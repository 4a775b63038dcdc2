"""A suite: which tasks make one number, and how."""

from isogloss.tasks import Suite

SUITE = Suite("outside", "Two tasks from outside", ("likeness", "subjects"), "flat", weights={"likeness": 3.0})
