"""What can be said of an example without asking a system: lengths, overlaps, question types, scripts.

`attributes_for("qa")` lists what there is for a kind of tasks, `attribute("aLen").values(examples)` is a column, and
`from_jsonl` makes a column of a user's own.
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
