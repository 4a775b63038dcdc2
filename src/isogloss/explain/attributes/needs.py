"""Requirements of attributes: provided by a kind of task, and present in some examples.

A need is the name of a column, or one of these words:

    main-text       an example's own text (`Kind.main_text`); every kind has one
    first-text      the first text of a pair, or a text with a label, labels, a number or references
    pool            the candidates of a search
    shared-pool     a pool in which the candidates of all languages compete
    ranking         answers that are ranked lists
    single-target   one correct candidate per query
    entities        rows that are the entities of a sentence
"""

from collections.abc import Callable, Hashable, Sequence
from functools import cache, wraps
from typing import Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from isogloss.errors import DataError, UnknownNameError
from isogloss.explain.model import Attribute
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import Kind, kind_of
from isogloss.tasks.registry import task

# Needs that a kind guarantees, so examples need no check.
_PROMISES = ("ranking", "shared-pool", "entities")

# Gold columns of kinds that judge a text as a whole.
_JUDGED = ("label", "labels", "score", "references")

T = TypeVar("T")
P = ParamSpec("P")


def cached_per_examples(make: Callable[Concatenate[Examples, P], T]) -> Callable[Concatenate[Examples, P], T]:
    """Cache what several attributes share, for as long as the examples live."""
    results: WeakKeyDictionary[Examples, dict[Hashable, T]] = WeakKeyDictionary()

    @wraps(make)
    def cached(examples: Examples, /, *rest: P.args, **named: P.kwargs) -> T:
        made = results.setdefault(examples, {})
        key = (rest, tuple(named.items()))
        if key not in made:
            made[key] = make(examples, *rest, **named)
        return made[key]

    return cached


@cache
def provided(kind: Kind) -> frozenset[str]:
    """Return everything that a kind of task provides to attributes."""
    words = {*kind.provides, "main-text"}
    derived = {
        "first-text": "text_a" in words or ("text" in words and not words.isdisjoint(_JUDGED)),
        "single-target": "targets" in words,
        "entities": kind.rows == "entity",
    }
    return frozenset(words.union(word for word, present in derived.items() if present))


def applies(attribute: Attribute, kind: Kind, examples: Examples | None = None) -> bool:
    """Return True if an attribute can be computed for a kind of task, or for some of its examples."""
    if not provided(kind).issuperset(attribute.needs):
        return False
    return examples is None or all(has(examples, need) for need in attribute.needs)


@cached_per_examples
def has(examples: Examples, need: str) -> bool:
    """Return True if the examples have what an attribute needs."""
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
    except (DataError, UnknownNameError):  # or a text yet to be assembled from other files
        return False
    return True


@cached_per_examples
def main_texts(examples: Examples) -> Sequence[str]:
    """Return the text of each example: question, premise, tagged sentence, query, document, or both texts of a pair."""
    return kind_of(task(examples.task)).main_text(examples)


def text_language(examples: Examples) -> str:
    """Return the language of the main texts."""
    return kind_of(task(examples.task)).text_language(examples)
