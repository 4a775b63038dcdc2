"""The candidate set: gold entities and further ones by frequency, each with one description in a random language."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from isogloss.building.parts import Hashes, ScanJob, read_records
from isogloss.building.sampling import proportional_quotas, random_keys, uniform_quotas
from isogloss.building.scan import PageDescription
from isogloss.building.titles import Wiki
from isogloss.building.vocabulary import BIN_NAMES, IN_BASE, Items, Vocabulary
from isogloss.workers import Workers, in_parallel

# Entities that get their languages at a time.
_BATCH = 4096
_LAST = np.uint64(2**64 - 1)
_BINS = range(len(BIN_NAMES))


class CandidateSet(NamedTuple):
    """Items of the candidate set, sorted, and the position of each description's language."""

    items: Items
    languages: npt.NDArray[np.int64]


class _Describer:
    """Assigns every entity a language at random, and no first sentence to two entities."""

    def __init__(self, vocabulary: Vocabulary, seed: int) -> None:
        self._vocabulary = vocabulary
        self._seed = seed
        self._used: set[int] = set()
        self._descriptions = [vocabulary.descriptions(code) for code in vocabulary.languages]

    def languages(self, items: Items) -> Iterator[list[int]]:
        """Yield the languages of every item in random order."""
        count = len(self._vocabulary.languages)
        numbers = self._vocabulary.numbers[items].astype(np.uint64)[:, None] * np.uint64(64)
        keys = random_keys(numbers + np.arange(count, dtype=np.uint64)[None, :], self._seed, "languages")
        bits = (self._vocabulary.described[items][:, None] >> np.arange(count, dtype=np.uint64)[None, :]) & np.uint64(1)
        order = np.argsort(np.where(bits > 0, keys, _LAST), axis=1, kind="stable")
        for row, available in zip(order.tolist(), bits.sum(1).tolist(), strict=True):
            yield row[: int(available)]

    def assign(self, items: Items) -> Iterator[tuple[int, int]]:
        """Yield each item with its language, or -1 if other entities have all its descriptions."""
        for start in range(0, len(items), _BATCH):
            batch = items[start : start + _BATCH]
            for item, languages in zip(batch.tolist(), self.languages(batch), strict=True):
                yield item, next((language for language in languages if self._use(item, language)), -1)

    def _use(self, item: int, language: int) -> bool:
        described, _, sentences = self._descriptions[language]
        sentence = int(sentences[np.searchsorted(described, item)])
        if sentence in self._used:
            return False
        self._used.add(sentence)
        return True


def choose_candidates(
    vocabulary: Vocabulary, gold: Items, size: int, seed: int, *, uniform: bool, counts: Counter[str]
) -> CandidateSet:
    """Return the gold entities and a sample of others, stratified by frequency.

    Args:
        vocabulary: the entities.
        gold: items of the gold entities, without repetition.
        size: number of candidates, gold ones included; fewer if the vocabulary has fewer.
        seed: seed of the sample and of the languages.
        uniform: True for the same number of entities per frequency bin, False for the natural proportions.
        counts: receives the numbers of entities that share all their descriptions with others.
    """
    describer = _Describer(vocabulary, seed)
    chosen: dict[int, int] = {}
    for item, language in describer.assign(np.sort(gold)):
        if language < 0:  # keep it: it is the answer to a mention
            counts["gold entities that share their description"] += 1
        chosen[item] = language if language >= 0 else next(describer.languages(np.array([item])))[0]
    viable = ((vocabulary.flags & IN_BASE) > 0) & (vocabulary.described > 0)
    viable[gold] = False
    others = np.flatnonzero(viable)
    keys = random_keys(vocabulary.numbers[others], seed, "candidates")
    bins = vocabulary.bins[others]
    strata = [others[bins == number][np.argsort(keys[bins == number], kind="stable")] for number in _BINS]
    described = [describer.assign(members) for members in strata]
    left = [len(members) for members in strata]
    # Bins that run out, because their entities share all descriptions with others, leave their places to the rest.
    while (missing := size - len(chosen)) > 0 and any(left):
        quotas = uniform_quotas(left, missing) if uniform else proportional_quotas(left, missing)
        for number, quota in enumerate(quotas):
            enough = len(chosen) + quota
            while len(chosen) < enough and left[number]:
                item, language = next(described[number])
                left[number] -= 1
                if language < 0:
                    counts["entities that share all their descriptions"] += 1
                else:
                    chosen[item] = language
    items = np.array(sorted(chosen), np.int64)
    return CandidateSet(items, np.array([chosen[item] for item in items.tolist()], np.int64))


def described_pages(vocabulary: Vocabulary, code: str, items: Items) -> tuple[Hashes, Items]:
    """Return the pages that describe items in a language, sorted by hash, with their items."""
    described, pages, _ = vocabulary.descriptions(code)
    hashes = pages[np.searchsorted(described, items)]
    order = np.argsort(hashes, kind="stable")
    return hashes[order], items[order]


def find_descriptions(
    vocabulary: Vocabulary, jobs: Iterable[ScanJob], wanted: dict[str, Items], workers: Workers | None
) -> Iterator[tuple[str, list[tuple[int, PageDescription]]]]:
    """Yield the descriptions of items by language, with the language's code, one part of a dump at a time."""
    pages = {code: described_pages(vocabulary, code, items) for code, items in wanted.items() if len(items)}
    parts = [(job, *pages[job.dump.wiki.code]) for job in jobs if job.dump.wiki and job.dump.wiki.code in pages]
    seen: set[tuple[str, int]] = set()
    for code, descriptions in in_parallel(workers, _descriptions_in_part, parts):
        fresh = {item: record for item, record in reversed(descriptions) if (code, item) not in seen}
        seen.update((code, item) for item in fresh)
        yield code, list(reversed(fresh.items()))


def _descriptions_in_part(task: tuple[ScanJob, Hashes, Items]) -> tuple[str, list[tuple[int, PageDescription]]]:
    job, hashes, items = task
    places = dict(zip(hashes.tolist(), items.tolist(), strict=True))
    path = job.path / "descriptions.jsonl.gz"
    found_here = [
        (places[record.hash], record) for record in read_records(path, PageDescription) if record.hash in places
    ]
    return (job.dump.wiki.code if job.dump.wiki else ""), found_here


def entity_record(code: str, item: str, description: PageDescription, sentences: int) -> dict[str, Any]:
    """Return an entity with the first sentences of its description, in Mewsli-X's format."""
    spans = description.spans[:sentences]
    return {
        "entity_id": item,
        "title": description.title,
        "description": description.text[: spans[-1][1]],
        "description_url": Wiki("wikipedia", code).url(description.title),
        "description_language": code,
        "sentence_spans": [{"start": start, "end": end} for start, end in spans],
    }


def candidate_records(
    vocabulary: Vocabulary, jobs: Sequence[ScanJob], candidates: CandidateSet, sentences: int, workers: Workers | None
) -> Iterator[dict[str, Any]]:
    """Yield the entities of the candidate set, by language and page order of its dumps."""
    wanted = {code: candidates.items[candidates.languages == place] for place, code in enumerate(vocabulary.languages)}
    record = partial(entity_record, sentences=sentences)
    for code, descriptions in find_descriptions(vocabulary, jobs, wanted, workers):
        for item, description in descriptions:
            yield record(code, vocabulary.item_id(item), description)
