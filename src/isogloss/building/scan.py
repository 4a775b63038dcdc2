"""Scan of one part of a dump: the only step that reads the dumps, once each, in parallel, and resumable."""

import re
from array import array
from collections import Counter
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from isogloss.building.dumps import DumpStream
from isogloss.building.entities import YEAR_CLASSES, item_number, items_of
from isogloss.building.inputs import TABLES
from isogloss.building.pages import Page, namespaces_of, pages_of
from isogloss.building.parts import Hashes, ScanJob, ScanSettings, finishing, records_file, write_arrays, write_counts
from isogloss.building.sentences import sentence_spans
from isogloss.building.sql import rows_of
from isogloss.building.titles import LinkResolver, Wiki, normal_title, page_hash
from isogloss.building.wikitext import LEAST_LETTERS, linked_titles, prose_of
from isogloss.grouping import group_by

EXCLUDED, IS_YEAR = 1, 2
# Most sentences of a description, as in the released Mewsli-X.
DESCRIPTION_SENTENCES = 3
_LONGEST_DESCRIPTION = 2_000
# Links counted at a time.
_BATCH = 1 << 21
# Dumps of old versions of MediaWiki name no redirects. Every wiki accepts the English word.
_REDIRECT_TEXT = re.compile(r"\s*#\s*redirect\s*:?\s*\[\[([^\[\]|\n]{1,500})", re.IGNORECASE)

Span = tuple[int, int]


class PageLink(msgspec.Struct, frozen=True, array_like=True):
    """A link of a document: start and end of its text, Wikipedia and title of its target."""

    start: int
    end: int
    code: str
    title: str


class WikiDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A page with its running text, sentences and links to articles."""

    number: int
    revision: int
    title: str
    text: str
    spans: list[Span]
    links: list[PageLink]


class PageDescription(msgspec.Struct, frozen=True, kw_only=True):
    """First sentences of an article; `hash` identifies the page."""

    hash: int
    title: str
    text: str
    spans: list[Span]


def scan_part(job: ScanJob) -> None:
    """Scan a part and write its result, unless it exists."""
    if job.is_finished:
        return
    stream = DumpStream(job.part, Counter())
    with finishing(job.path) as folder:
        if job.dump.kind == "entities":
            _scan_entities(stream, frozenset(job.settings.classes), folder)
        elif job.dump.wiki is not None and job.dump.kind == "pages":
            _PageScan(job.dump.wiki, job.settings, stream, folder).run()
        elif job.dump.wiki is not None:
            _scan_table(stream, job.dump.kind, job.dump.columns, job.dump.wiki, folder)


def _scan_entities(stream: DumpStream, excluded: frozenset[str], folder: Path) -> None:
    numbers, flags = array("I"), array("B")
    link_items, link_sites, link_hashes = array("I"), array("H"), array("Q")
    sites: dict[str, int] = {}
    for item in items_of(stream):
        flag = EXCLUDED * bool(item.classes & excluded) | IS_YEAR * bool(item.classes & YEAR_CLASSES)
        stream.counts["items left out by class"] += flag & EXCLUDED
        numbers.append(item.number)
        flags.append(flag)
        for code, title in item.titles.items():
            link_items.append(item.number)
            link_sites.append(sites.setdefault(code, len(sites)))
            link_hashes.append(page_hash(code, normal_title(title)))
    sites_array = np.array(link_sites, np.uint16)
    order = np.argsort(sites_array, kind="stable")
    write_arrays(
        folder,
        numbers=np.array(numbers, np.uint32),
        flags=np.array(flags, np.uint8),
        link_items=np.array(link_items, np.uint32)[order],
        link_hashes=np.array(link_hashes, np.uint64)[order],
        site_ends=np.searchsorted(sites_array[order], np.arange(len(sites)), side="right"),
    )
    write_counts(folder, stream, list(sites))


def _scan_table(stream: DumpStream, table: str, columns: tuple[str, ...], wiki: Wiki, folder: Path) -> None:
    """Write the rows of a table as pairs of numbers."""
    left, right, codes = array("Q"), array("Q"), array("H")
    sites: dict[str, int] = {}
    resolver = LinkResolver(wiki, {})
    for row in rows_of(stream, columns, TABLES[table]):
        pair = _row_pair(table, row, resolver)
        if pair is not None:
            left.append(pair[0])
            right.append(pair[1])
            codes.append(sites.setdefault(pair[2], len(sites)))
    write_arrays(
        folder, left=np.array(left, np.uint64), right=np.array(right, np.uint64), codes=np.array(codes, np.uint16)
    )
    write_counts(folder, stream, list(sites))


def _row_pair(table: str, row: tuple[bytes, ...], resolver: LinkResolver) -> tuple[int, int, str] | None:
    """Return a page's number and its hash, item, target or other language's page, with that page's wiki."""
    values = [value.decode("utf-8", "replace") for value in row]
    if not (values[0].isascii() and values[0].isdecimal() and len(values[0]) <= 18):
        return None
    number, wiki = int(values[0]), resolver.wiki
    if table == "page_props":
        item = item_number(values[2]) if values[1] == "wikibase_item" else None
        return (number, item, wiki.code) if item else None
    if table == "langlinks":
        target = resolver.resolve(f":{values[1]}:{values[2]}")
        return (number, target.hash, target.code) if target.kind == "article" and values[2] else None
    is_elsewhere = table == "redirect" and values[3] != ""
    if values[1] != "0" or is_elsewhere:
        return None
    return number, page_hash(wiki.code, normal_title(values[2])), wiki.code


class _LinkCounts:
    """Counts of link targets, merged in batches: memory grows with distinct targets only."""

    def __init__(self) -> None:
        self._batch = array("Q")
        self._hashes: Hashes = np.empty(0, np.uint64)
        self._counts = np.empty(0, np.int64)

    def add(self, targets: list[int]) -> None:
        """Count links."""
        self._batch.extend(targets)
        if len(self._batch) >= _BATCH:
            self.merge()

    def merge(self) -> tuple[Hashes, Any]:
        """Return the distinct targets, sorted, and their counts."""
        fresh, counts = np.unique(np.array(self._batch, np.uint64), return_counts=True)
        self._batch = array("Q")
        together = np.concatenate([self._hashes, fresh])
        self._hashes, inverse = np.unique(together, return_inverse=True)
        weights = np.concatenate([self._counts, counts])
        self._counts = np.bincount(inverse, weights, len(self._hashes)).astype(np.int64)
        return self._hashes, self._counts


class _PageScan:
    """Scan of the pages of a wiki."""

    def __init__(self, wiki: Wiki, settings: ScanSettings, stream: DumpStream, folder: Path) -> None:
        self._wiki, self._settings, self._stream, self._folder = wiki, settings, stream, folder
        self._resolver = LinkResolver(wiki, namespaces_of(stream.part))
        self._numbers, self._hashes = array("Q"), array("Q")
        self._redirects = (array("Q"), array("Q"))
        self._described = (array("Q"), array("Q"))
        self._links: dict[str, _LinkCounts] = {}
        # Hashes are uniform, so those below the limit are a random share of the pages.
        self._document_limit = int(settings.documents * 2**64)

    def run(self) -> None:
        """Scan all pages of the part."""
        with (
            records_file(self._folder / "documents.jsonl.gz") as documents,
            records_file(self._folder / "descriptions.jsonl.gz") as descriptions,
        ):
            for page in pages_of(self._stream):
                if page.namespace == 0:
                    self._scan(page, documents, descriptions)
        self._finish()

    def _scan(self, page: Page, documents: Any, descriptions: Any) -> None:
        counts = self._stream.counts
        title = normal_title(page.title)
        page_id = page_hash(self._wiki.code, title)
        self._numbers.append(page.number)
        self._hashes.append(page_id)
        redirect = page.redirect or ((match := _REDIRECT_TEXT.match(page.text)) and match[1])
        if redirect:
            counts["redirects"] += 1
            target = self._resolver.resolve(redirect)
            if target.kind == "article" and target.code == self._wiki.code:
                self._redirects[0].append(page_id)
                self._redirects[1].append(target.hash)
            return
        counts["articles"] += 1
        if self._settings.links:
            self._count_links(page)
        if page_id < self._document_limit:
            documents.write(msgspec.json.encode(self._document(page)) + b"\n")
        if self._settings.descriptions and (described := self._description(page, page_id, title)):
            descriptions.write(msgspec.json.encode(described) + b"\n")

    def _count_links(self, page: Page) -> None:
        targets = list(map(self._resolver.resolve, linked_titles(page.text)))
        for kind, count in Counter(map(attrgetter("kind"), targets)).items():
            self._stream.counts[f"{kind} links"] += count
        for code, articles in group_by(targets, key=attrgetter("code")).items():
            if code:
                self._links.setdefault(code, _LinkCounts()).add([target.hash for target in articles])

    def _document(self, page: Page) -> WikiDocument:
        prose = prose_of(page.text, self._resolver, self._markup_counts())
        # As in the released Mewsli-X, the text of news begins with the title.
        head = f"{page.title}\n\n" if self._wiki.project == "wikinews" else ""
        text = head + prose.text
        links = [
            PageLink(link.start + len(head), link.end + len(head), link.target.code, link.target.title)
            for link in prose.links
        ]
        return WikiDocument(
            number=page.number,
            revision=page.revision,
            title=page.title,
            text=text,
            spans=sentence_spans(text, self._wiki.code),
            links=links,
        )

    def _markup_counts(self) -> Counter[str]:
        # Links are counted once, with all links of the page; unbalanced markup here.
        return self._stream.counts if not self._settings.links else Counter()

    def _description(self, page: Page, page_id: int, title: str) -> PageDescription | None:
        lead: Counter[str] = Counter()
        prose = prose_of(page.text, self._resolver, lead, only_opening=True)
        for name in ("unbalanced braces", "unbalanced links", "unbalanced elements"):
            self._stream.counts[f"{name} in leads"] += lead[name]
        paragraph = prose.text.rpartition("\n")[2]
        spans = sentence_spans(paragraph, self._wiki.code)[:DESCRIPTION_SENTENCES]
        if sum(map(str.isalpha, paragraph)) < LEAST_LETTERS or spans[0][1] - spans[0][0] > _LONGEST_DESCRIPTION:
            self._stream.counts["articles without a first sentence"] += 1
            return None
        while spans[-1][1] - spans[0][0] > _LONGEST_DESCRIPTION:
            spans.pop()
        origin = spans[0][0]
        text = paragraph[origin : spans[-1][1]]
        first = paragraph[origin : spans[0][1]]
        self._described[0].append(page_id)
        self._described[1].append(page_hash("", first))
        shifted = [(start - origin, end - origin) for start, end in spans]
        return PageDescription(hash=page_id, title=title, text=text, spans=shifted)

    def _finish(self) -> None:
        codes = sorted(self._links)
        merged = [self._links[code].merge() for code in codes]
        write_arrays(
            self._folder,
            numbers=np.array(self._numbers, np.uint64),
            hashes=np.array(self._hashes, np.uint64),
            redirect_from=np.array(self._redirects[0], np.uint64),
            redirect_to=np.array(self._redirects[1], np.uint64),
            described=np.array(self._described[0], np.uint64),
            description_hashes=np.array(self._described[1], np.uint64),
            link_hashes=np.concatenate([hashes for hashes, _ in merged] or [np.empty(0, np.uint64)]),
            link_counts=np.concatenate([counts for _, counts in merged] or [np.empty(0, np.int64)]),
            link_ends=np.cumsum([len(hashes) for hashes, _ in merged], dtype=np.int64),
        )
        write_counts(self._folder, self._stream, codes)
