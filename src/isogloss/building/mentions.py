"""Mentions: links of documents that name entities, filtered and sampled as Mewsli-X's are."""

import re
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b, md5
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from isogloss.building.parts import ScanJob, read_records
from isogloss.building.sampling import random_keys, stratified_sample
from isogloss.building.scan import IS_YEAR, PageLink, Span, WikiDocument
from isogloss.building.titles import Wiki, page_hash
from isogloss.building.vocabulary import BIN_NAMES, IN_BASE, MISSING, Items, Vocabulary
from isogloss.grouping import group_by

# A number of one to four digits in any script, as years are written, also with "year" in Chinese and Japanese.
_YEAR = re.compile(r"\d{1,4}\s?年?")
_COLUMNS = ("part", "document", "link", "item", "language", "key")


class MentionTable(NamedTuple):
    """Viable mentions as arrays: their place in the documents, item, language (by position) and key for sampling."""

    part: npt.NDArray[np.int64]
    document: npt.NDArray[np.int64]
    link: npt.NDArray[np.int64]
    item: Items
    language: npt.NDArray[np.int64]
    key: npt.NDArray[np.uint64]

    def taken(self, rows: npt.NDArray[Any]) -> "MentionTable":
        """Return some of the mentions."""
        return MentionTable(*(column[rows] for column in self))


class DocumentMention(NamedTuple):
    """A mention in a document, by the position of its link, with the entity that it names."""

    link: int
    item: int


def document_id(wiki: Wiki, document: WikiDocument) -> str:
    """Return the id of a document, such as en-34985."""
    return f"{wiki.code}-{document.number}"


def example_id(name: str, link: PageLink, item: str) -> str:
    """Return the id of a mention, which depends only on its place and entity."""
    return blake2b(f"{name}:{link.start}:{link.end}:{item}".encode(), digest_size=16).hexdigest()


def resolved_items(document: WikiDocument, vocabulary: Vocabulary) -> list[int]:
    """Return the item that every link of a document leads to, or MISSING."""
    items = [MISSING] * len(document.links)
    for code, places in group_by(range(len(items)), key=lambda place: document.links[place].code).items():
        hashes = [page_hash(code, document.links[place].title) for place in places]
        for place, item in zip(places, vocabulary.lookup(code, np.array(hashes, np.uint64)).tolist(), strict=True):
            items[place] = item
    return items


def viable_mentions(document: WikiDocument, vocabulary: Vocabulary, counts: Counter[str]) -> Iterator[DocumentMention]:
    """Yield the mentions of a document that pass every filter, and count the others by reason."""
    seen: set[tuple[str, int]] = set()
    for position, (link, item) in enumerate(zip(document.links, resolved_items(document, vocabulary), strict=True)):
        surface = document.text[link.start : link.end]
        reason = _reason_against(surface, item, vocabulary)
        if not reason and sentence_at(document.spans, link) is None:
            reason = "across sentences"
        if not reason and (surface, item) in seen:
            reason = "repeated in the document"
        counts[reason or "viable"] += 1
        if not reason:
            seen.add((surface, item))
            yield DocumentMention(position, item)


def _reason_against(surface: str, item: int, vocabulary: Vocabulary) -> str:
    if item == MISSING or not vocabulary.flags[item] & IN_BASE:
        return "outside the vocabulary"
    if _YEAR.fullmatch(surface) or vocabulary.flags[item] & IS_YEAR:
        return "years"
    if not any(map(str.isalpha, surface)):
        return "without letters"
    return "" if vocabulary.described[item] else "without a description"


def sentence_at(spans: Sequence[Span], link: PageLink) -> int | None:
    """Return the position of the sentence that contains a link, or None if it is not inside one."""
    place = bisect_left(spans, link.end, key=itemgetter(1))
    return place if place < len(spans) and spans[place][0] <= link.start else None


def collect_mentions(
    jobs: Sequence[ScanJob],
    vocabulary: Vocabulary,
    languages: Sequence[str],
    seed: int,
    counts: dict[str, Counter[str]],
) -> MentionTable:
    """Return the viable mentions of all documents; a page that a dump repeats counts once."""
    rows = {name: array("Q") for name in _COLUMNS}
    seen: set[str] = set()
    for part, job in enumerate(jobs):
        wiki = job.dump.wiki
        if wiki is None:
            continue
        for number, document in enumerate(documents_of(job)):
            name = document_id(wiki, document)
            if name in seen:
                counts[wiki.code]["in a repeated page"] += len(document.links)
                continue
            if document.links:
                seen.add(name)
            for mention in viable_mentions(document, vocabulary, counts[wiki.code]):
                identity = example_id(name, document.links[mention.link], vocabulary.item_id(mention.item))
                values = (part, number, mention.link, mention.item, languages.index(wiki.code), int(identity[:16], 16))
                for column, value in zip(_COLUMNS, values, strict=True):
                    rows[column].append(value)
    arrays = {name: np.array(rows[name], np.int64) for name in _COLUMNS[:-1]}
    return MentionTable(**arrays, key=random_keys(np.array(rows["key"], np.uint64), seed, "mentions"))


def documents_of(job: ScanJob) -> Iterator[WikiDocument]:
    """Yield the documents that a scan kept."""
    return read_records(job.path / "documents.jsonl.gz", WikiDocument)


def sample_splits(mentions: MentionTable, vocabulary: Vocabulary, sizes: dict[str, int], seed: int) -> dict[str, Any]:
    """Return the sampled mentions of each split.

    Splits have different entities: each entity belongs to one split at random, in proportion to the sizes. Within a
    split, all strata of language and frequency bin get the same number of mentions, as far as they have them.
    """
    names = [name for name, size in sizes.items() if size]
    limits = np.cumsum([sizes[name] for name in names]) / max(1, sum(sizes.values()))
    shares = random_keys(vocabulary.numbers[mentions.item], seed, "splits") / 2**64
    split_of = np.searchsorted(limits, shares, side="right")
    strata = mentions.language * len(BIN_NAMES) + vocabulary.bins[mentions.item]
    splits = {}
    for place, name in enumerate(names):
        rows = np.flatnonzero(split_of == place)
        splits[name] = mentions.taken(rows[stratified_sample(strata[rows], mentions.key[rows], sizes[name])])
    return splits


def mention_records(
    jobs: Sequence[ScanJob], mentions: MentionTable, vocabulary: Vocabulary
) -> Iterator[dict[str, Any]]:
    """Yield one record per document with its sampled mentions, in Mewsli-X's format."""
    wanted: dict[int, dict[int, list[DocumentMention]]] = {}
    for part, document, link, item in zip(*(column.tolist() for column in mentions[:4]), strict=True):
        wanted.setdefault(part, {}).setdefault(document, []).append(DocumentMention(link, item))
    for part, places in sorted(wanted.items()):
        wiki = jobs[part].dump.wiki
        for number, document in enumerate(documents_of(jobs[part])):
            if wiki is not None and number in places:
                yield _document_record(wiki, document, places[number], vocabulary)


def _document_record(
    wiki: Wiki, document: WikiDocument, mentions: Iterable[DocumentMention], vocabulary: Vocabulary
) -> dict[str, Any]:
    name = document_id(wiki, document)
    metadata = {
        "curid": str(document.number),
        "revid": str(document.revision),
        "text_md5": md5(document.text.encode(), usedforsecurity=False).hexdigest(),
    }
    context = {
        "document_title": document.title,
        "document_url": f"https://{wiki.code}.{wiki.project}.org/wiki?curid={document.number}",
        "document_id": name,
        "language": wiki.code,
        "text": document.text,
        "sentence_spans": [{"start": start, "end": end} for start, end in document.spans],
    }
    records = []
    for mention in mentions:
        link = document.links[mention.link]
        extra = {
            "mention_url": Wiki("wikipedia", link.code).url(link.title),
            "bin_name": BIN_NAMES[vocabulary.bins[mention.item]],
        }
        records.append(
            mention_record(name, document, link, vocabulary.item_id(mention.item)) | {"metadata": metadata | extra}
        )
    return {"context": context, "mentions": records}


def mention_record(name: str, document: WikiDocument, link: PageLink, item: str, origin: int = 0) -> dict[str, Any]:
    """Return the record of a mention, with positions relative to an origin in the text."""
    span = {"start": link.start - origin, "end": link.end - origin, "text": document.text[link.start : link.end]}
    return {"example_id": example_id(name, link, item), "mention_span": span, "entity_id": item}
