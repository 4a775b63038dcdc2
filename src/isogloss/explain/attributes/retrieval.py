"""What can be said of a query, of what it looks for, and of the pool it looks in.

The language of the examples is the language of a task's cell: Tatoeba's queries are English there, what is looked for
is in that language; elsewhere the queries are in it and the pool knows the language of every candidate. Where a query
has several targets (LAReQA: one in each language), the one in the query's language stands for all, else the first.
"""

from collections import Counter

import numpy as np

from isogloss.errors import DataError
from isogloss.explain.attributes.caching import cached_per_examples
from isogloss.explain.attributes.lengths import Convention, count_tokens
from isogloss.explain.attributes.needs import has, text_language
from isogloss.explain.attributes.overlap import trigram_overlaps
from isogloss.explain.model import StrArray
from isogloss.metrics.statistics import FloatArray
from isogloss.tasks.examples import Examples, Pool

_UNKNOWN = "?"


def _pool(examples: Examples) -> Pool:
    if examples.pool is None:
        where = f"{examples.task}/{examples.language}"
        raise DataError("the pool of candidates is missing", where=where, fix="Put its file beside the queries")
    return examples.pool


@cached_per_examples
def _targets(examples: Examples) -> list[tuple[str, str]]:
    """Language and text of the target that stands for all of a query's."""
    pool, own = _pool(examples), text_language(examples)
    language_of, text_of = pool.language_of, pool.target_text
    chosen = [
        next((target for target in targets if language_of.get(target) == own), targets[0])
        for targets in examples["targets"]
    ]
    return [(language_of.get(target, own), text_of.get(target, "")) for target in chosen]


def target_length(examples: Examples, convention: Convention = "script") -> FloatArray:
    """targetLen: tokens of the candidate that is looked for, in its own language."""
    targets = _targets(examples)
    counts = np.zeros(len(targets))
    languages = np.array([language for language, _ in targets], dtype=np.str_)
    for language in np.unique(languages):
        rows = np.flatnonzero(languages == language)
        counts[rows] = count_tokens([targets[row][1] for row in rows], str(language), convention)
    return counts


def surface_overlap(examples: Examples) -> FloatArray:
    """Jaccard index of the character trigrams of query and target: names, numbers and cognates they share."""
    return trigram_overlaps(examples["text"], [text for _, text in _targets(examples)])


def target_language(examples: Examples) -> StrArray:
    """targetLang: the language of the one candidate that is looked for ("?" where the pool lacks it)."""
    language_of = _pool(examples).language_of
    if not has(examples, "single-target"):
        raise DataError(
            "queries have several targets, in several languages",
            where=f"{examples.task}/{examples.language}",
            fix="Use the figures by language pair instead",
        )
    return np.array([language_of.get(targets[0], _UNKNOWN) for targets in examples["targets"]], dtype=np.str_)


def same_language(examples: Examples) -> StrArray:
    """sameLang: "same" where query and target are in one language, else "different"."""
    return np.where(target_language(examples) == text_language(examples), "same", "different")


def pool_share(examples: Examples) -> FloatArray:
    """poolShare: the share of the pool's candidates that are in the target's language."""
    counts = Counter(_pool(examples).language_of.values())
    return np.array([counts[str(language)] for language in target_language(examples)]) / max(len(_pool(examples)), 1)


def frequency_bin(examples: Examples) -> StrArray:
    """freqBin: Mewsli-X's bin of how often the entity is linked in Wikipedia (XTREME-R paper, Appendix E)."""
    return np.array([str(name) or _UNKNOWN for name in examples["frequency_bin"]], dtype=np.str_)
