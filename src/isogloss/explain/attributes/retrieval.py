"""Attributes of queries, targets and candidate pools.

The examples' language is the cell's: for Tatoeba, queries are English and targets are in that language; elsewhere
queries are in that language and the pool has the language of every candidate. If a query has several targets (LAReQA:
one per language), the one in the query's language is used, or else the first.
"""

from collections import Counter

import numpy as np

from isogloss.errors import DataError
from isogloss.explain.attributes.lengths import Convention, count_tokens
from isogloss.explain.attributes.needs import cached_per_examples, has, text_language
from isogloss.explain.attributes.text import trigram_overlaps
from isogloss.explain.model import StrArray
from isogloss.metrics.statistics import FloatArray
from isogloss.tasks.examples import Examples, Pool

_UNKNOWN = "?"


def _pool(examples: Examples) -> Pool:
    if examples.pool is None:
        where = f"{examples.task}/{examples.language}"
        raise DataError("missing candidate pool", where=where, fix="Put its file next to the queries")
    return examples.pool


@cached_per_examples
def _targets(examples: Examples) -> list[tuple[str, str]]:
    """Return language and text of each query's representative target."""
    pool, own = _pool(examples), text_language(examples)
    language_of, text_of = pool.language_of, pool.target_text
    chosen = [
        next((target for target in targets if language_of.get(target) == own), targets[0])
        for targets in examples["targets"]
    ]
    return [(language_of.get(target, own), text_of.get(target, "")) for target in chosen]


def target_length(examples: Examples, convention: Convention = "script") -> FloatArray:
    """Return targetLen: tokens of the target, in its own language."""
    targets = _targets(examples)
    counts = np.zeros(len(targets))
    languages = np.array([language for language, _ in targets], dtype=np.str_)
    for language in np.unique(languages):
        rows = np.flatnonzero(languages == language)
        counts[rows] = count_tokens([targets[row][1] for row in rows], str(language), convention)
    return counts


def surface_overlap(examples: Examples) -> FloatArray:
    """Return the Jaccard index of the character trigrams of query and target: shared names, numbers and cognates."""
    return trigram_overlaps(examples["text"], [text for _, text in _targets(examples)])


def target_language(examples: Examples) -> StrArray:
    """Return targetLang: the language of the single target ("?" if it is not in the pool)."""
    language_of = _pool(examples).language_of
    if not has(examples, "single-target"):
        raise DataError(
            "queries have several targets in several languages",
            where=f"{examples.task}/{examples.language}",
            fix="Use the scores by language pair instead",
        )
    return np.array([language_of.get(targets[0], _UNKNOWN) for targets in examples["targets"]], dtype=np.str_)


def same_language(examples: Examples) -> StrArray:
    """Return sameLang: "same" if query and target share a language, else "different"."""
    return np.where(target_language(examples) == text_language(examples), "same", "different")


def pool_share(examples: Examples) -> FloatArray:
    """Return poolShare: the share of the pool in the target's language."""
    counts = Counter(_pool(examples).language_of.values())
    return np.array([counts[str(language)] for language in target_language(examples)]) / max(len(_pool(examples)), 1)
