"""The papers' analyses across languages, each a pure function that returns a `Finding`; `isogloss.analyze` runs one."""
