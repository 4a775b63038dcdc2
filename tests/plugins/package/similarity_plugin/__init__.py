"""A package that adds to Isogloss from outside: a kind, two tasks, a suite, a metric, an attribute and a system."""
