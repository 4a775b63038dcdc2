"""What holds across languages: the papers' analyses, each a pure function that ends in a `Finding`.

`isogloss.analyze("transfer-gap", "results.json")` is the verb; a module here is one analysis, or what several share.
"""
