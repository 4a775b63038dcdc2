"""Training pairs: mentions in English Wikipedia with their entities, none of them a candidate."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from isogloss.building.candidates import entity_record, find_descriptions
from isogloss.building.mentions import (
    MentionTable,
    collect_mentions,
    document_id,
    documents_of,
    mention_record,
    sentence_at,
)
from isogloss.building.parts import ScanJob
from isogloss.building.scan import PageDescription, PageLink, WikiDocument
from isogloss.building.titles import Wiki, normal_title, page_hash
from isogloss.building.vocabulary import MISSING, Items, Vocabulary
from isogloss.workers import Workers

# Sentences of context on each side of a mention's own.
_CONTEXT = 2


def choose_pairs(
    jobs: Sequence[ScanJob], vocabulary: Vocabulary, candidates: Items, size: int, seed: int, counts: Counter[str]
) -> MentionTable:
    """Return a simple random sample of English mentions of entities outside the candidate set."""
    mentions = collect_mentions(jobs, vocabulary, ["en"], seed, {"en": counts})
    english = np.uint64(1 << vocabulary.languages.index("en"))
    usable = ~np.isin(mentions.item, candidates) & ((vocabulary.described[mentions.item] & english) > 0)
    rows = np.flatnonzero(usable)
    return mentions.taken(np.sort(rows[np.argsort(mentions.key[rows], kind="stable")[:size]]))


def pair_records(
    jobs: Sequence[ScanJob],
    descriptions: Sequence[ScanJob],
    pairs: MentionTable,
    vocabulary: Vocabulary,
    *,
    sentences: int,
    workers: Workers | None,
) -> Iterator[dict[str, Any]]:
    """Yield the pairs in Mewsli-X's format, in document order; `descriptions` are the scans of English Wikipedia."""
    entities: dict[int, PageDescription] = {}
    for _, described in find_descriptions(vocabulary, descriptions, {"en": np.unique(pairs.item)}, workers):
        entities.update(described)
    places = zip(pairs.part.tolist(), pairs.document.tolist(), pairs.link.tolist(), pairs.item.tolist(), strict=True)
    wanted: dict[int, dict[int, list[tuple[int, int]]]] = {}
    for part, number, link, item in places:
        wanted.setdefault(part, {}).setdefault(number, []).append((link, item))
    for part, documents in sorted(wanted.items()):
        for number, document in enumerate(documents_of(jobs[part])):
            for link, item in documents.get(number, ()):
                entity = entity_record("en", vocabulary.item_id(item), entities[item], sentences)
                context = _contextual_mention(document, document.links[link], entity["entity_id"], vocabulary)
                yield {"contextual_mention": context, "entity": entity}


def _contextual_mention(document: WikiDocument, link: PageLink, item: str, vocabulary: Vocabulary) -> dict[str, Any]:
    """Return a mention with the sentences around it."""
    wiki = Wiki("wikipedia", "en")
    own = sentence_at(document.spans, link) or 0
    spans = document.spans[max(0, own - _CONTEXT) : own + _CONTEXT + 1]
    origin = spans[0][0]
    page = vocabulary.lookup("en", np.array([page_hash("en", normal_title(document.title))], np.uint64))[0]
    name = document_id(wiki, document)
    context = {
        "document_title": document.title,
        "document_url": wiki.url(document.title),
        "document_id": name if page == MISSING else vocabulary.item_id(page),
        "section_title": "",
        "language": "en",
        "text": document.text[origin : spans[-1][1]],
        "sentence_spans": [{"start": start - origin, "end": end - origin} for start, end in spans],
    }
    return {"context": context, "mention": mention_record(name, document, link, item, origin)}
