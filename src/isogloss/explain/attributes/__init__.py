"""Attributes of examples, independent of any system: lengths, overlaps, question types, scripts.

`attributes_for("qa")` lists the attributes of a kind of task, `attribute("aLen").values(examples)` returns a column,
and `from_jsonl` reads a user's own column.
"""

from isogloss.explain.attributes.fertility import FERTILITY, fertility
from isogloss.explain.attributes.lengths import CONVENTIONS, Convention, count_tokens
from isogloss.explain.attributes.registry import ATTRIBUTES, attribute, attributes_for, from_jsonl

__all__ = [
    "ATTRIBUTES",
    "CONVENTIONS",
    "FERTILITY",
    "Convention",
    "attribute",
    "attributes_for",
    "count_tokens",
    "fertility",
    "from_jsonl",
]
