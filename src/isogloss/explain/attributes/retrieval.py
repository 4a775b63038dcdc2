"""What can be said of a query, of what it looks for, and of the pool it looks in.

The language of the examples is the language of a task's cell: Tatoeba's queries are English there, what is looked for
is in that language; elsewhere the queries are in it and the pool knows the language of every candidate. Where a query
has several targets (LAReQA: one in each language), the one in the query's language stands for all, else the first.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from isogloss.errors import DataError
from isogloss.explain.attributes.caching import cached_per_examples
from isogloss.explain.attributes.lengths import Convention, count_tokens
from isogloss.explain.attributes.needs import has, text_language
from isogloss.explain.attributes.overlap import trigram_overlaps
from isogloss.explain.model import Attribute
from isogloss.tasks.examples import Examples, Pool

Numbers = npt.NDArray[np.float64]
Names = npt.NDArray[np.str_]

_UNKNOWN = "?"

# What depends on a system's answers has no column of the examples: only the analysis of one system can show it.
RANK = Attribute("rank", "rank of the first hit among 20", ("targets", "ranking"), discrete=True, level="answer")


def _pool(examples: Examples) -> Pool:
    if examples.pool is None:
        where = f"{examples.task}/{examples.language}"
        raise DataError("the pool of candidates is not at hand", where=where, fix="Put its file beside the queries")
    return examples.pool


def _target_languages(examples: Examples) -> list[str]:
    language_of = _pool(examples).language_of
    if not has(examples, "single-target"):
        raise DataError(
            "queries have several targets, in several languages",
            where=f"{examples.task}/{examples.language}",
            fix="Use the figures by language pair instead",
        )
    return [language_of.get(targets[0], _UNKNOWN) for targets in examples["targets"]]


@cached_per_examples
def _targets(examples: Examples) -> list[tuple[str, str]]:
    """Language and text of the target that stands for all of a query's."""
    pool, own = _pool(examples), text_language(examples)
    language_of, text_of = pool.language_of, pool.target_text
    found = []
    for targets in examples["targets"]:
        target = next((one for one in targets if language_of.get(one) == own), targets[0])
        found.append((language_of.get(target, own), text_of.get(target, "")))
    return found


def query_length(examples: Examples, convention: Convention = "script") -> Numbers:
    """queryLen: tokens of the query."""
    return count_tokens(examples["text"], text_language(examples), convention)


def target_length(examples: Examples, convention: Convention = "script") -> Numbers:
    """targetLen: tokens of the candidate that is looked for, in its own language."""
    found = _targets(examples)
    lengths = np.zeros(len(found))
    languages = np.array([language for language, _ in found], dtype=np.str_)
    for language in np.unique(languages):
        rows = np.flatnonzero(languages == language)
        lengths[rows] = count_tokens([found[row][1] for row in rows], str(language), convention)
    return lengths


def surface_overlap(examples: Examples) -> Numbers:
    """Jaccard index of the character trigrams of query and target: names, numbers and cognates they share."""
    return trigram_overlaps(examples["text"], [text for _, text in _targets(examples)])


def target_language(examples: Examples) -> Names:
    """targetLang: the language of the one candidate that is looked for ("?" where the pool lacks it)."""
    return np.array(_target_languages(examples), dtype=np.str_)


def same_language(examples: Examples) -> Names:
    """sameLang: "same" where query and target are in one language, else "different"."""
    own = text_language(examples)
    return np.where(target_language(examples) == own, "same", "different")


def pool_share(examples: Examples) -> Numbers:
    """poolShare: the share of the pool's candidates that are in the target's language."""
    share_of = Counter(_pool(examples).language_of.values())
    languages: Sequence[str] = _target_languages(examples)
    return np.array([share_of[language] for language in languages]) / max(len(_pool(examples)), 1)


def frequency_bin(examples: Examples) -> Names:
    """freqBin: Mewsli-X's bin of how often the entity is linked in Wikipedia (XTREME-R paper, Appendix E)."""
    return np.array([str(name) or _UNKNOWN for name in examples["frequency_bin"]], dtype=np.str_)
