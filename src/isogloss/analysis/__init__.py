"""The papers' analyses across languages, each a pure function that returns a `Finding`.

Run one with `isogloss.analyze("transfer-gap", "results.json")`. Each module is an analysis or shared by several.
"""
