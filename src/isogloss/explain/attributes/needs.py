"""What an attribute needs: whether a kind of task provides it, and whether some examples really have it.

A need is the name of a column, or one of these words for what is no column:

    main-text       the text that is an example's own (`Kind.main_text`); every kind has one
    first-text      the first text of a pair, or a text with a label
    pool            the candidates of a search
    shared-pool     a pool in which the candidates of all languages compete
    ranking         answers that are ranked lists
    single-target   one right candidate for every query
    entities        rows that are the entities of a sentence
"""

from collections.abc import Sequence
from functools import cache

from isogloss.errors import DataError, UnknownNameError
from isogloss.explain.attributes.caching import cached_per_examples
from isogloss.explain.model import Attribute
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import Kind, kind_of
from isogloss.tasks.registry import task

# What a kind promises by a word, and examples cannot lack.
_PROMISES = ("ranking", "shared-pool", "entities")


@cache
def provided(kind: Kind) -> frozenset[str]:
    """All that attributes of a kind of tasks can be made from."""
    words = {*kind.provides, "main-text"}
    derived = {
        "first-text": "text_a" in words or words.issuperset(("text", "label")),
        "single-target": "targets" in words,
        "entities": kind.rows == "entity",
    }
    return frozenset(words.union(word for word, given in derived.items() if given))


def applies(attribute: Attribute, kind: Kind, examples: Examples | None = None) -> bool:
    """Whether an attribute can be computed for a kind of tasks, or for some examples of it."""
    if not provided(kind).issuperset(attribute.needs):
        return False
    return examples is None or all(has(examples, need) for need in attribute.needs)


@cached_per_examples
def has(examples: Examples, need: str) -> bool:
    """Whether the examples have what an attribute needs."""
    if need in _PROMISES:
        return True
    if need == "pool":
        return examples.pool is not None
    if need == "first-text":
        return has(examples, "text_a") or has(examples, "text")
    if need == "single-target":
        return has(examples, "targets") and all(len(targets) == 1 for targets in examples["targets"])
    try:
        _ = main_texts(examples) if need == "main-text" else examples.column(need)
    except (DataError, UnknownNameError):  # or a text that is still to be put together from other files
        return False
    return True


@cached_per_examples
def main_texts(examples: Examples) -> Sequence[str]:
    """The text of each example: question, premise, tagged sentence, query, document, or both texts of a pair."""
    return kind_of(task(examples.task)).main_text(examples)


def text_language(examples: Examples) -> str:
    """The language of these texts."""
    return kind_of(task(examples.task)).text_language(examples)
