"""The entities of a build: items, titles of all Wikipedias, frequencies and descriptions, as arrays on disk.

Titles are sorted 64-bit hashes with the 32-bit positions of their items, one pair of files per Wikipedia, mapped into
memory when they are needed. The whole vocabulary of 12 million items with 90 million pages and 60 million redirects
takes under 4 GB, of which a lookup touches little; building it needs the memory of its largest Wikipedia.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from isogloss.building.parts import Hashes, ScanJob, finishing, join_part_arrays, read_counts, read_part_array
from isogloss.building.scan import EXCLUDED
from isogloss.errors import DataError

Items = npt.NDArray[np.int64]
# Lower ends of the bins of entity frequency, and their names in the released Mewsli-X.
BIN_STARTS = (1, 10, 100, 1000)
BIN_NAMES = ("bin00_0-1", "bin01_1-10", "bin02_10-100", "bin03_100-1000", "bin04_1000-inf")
IN_BASE = 4
# Wikipedias that are mapped into memory at a time.
_MOST_MAPPED = 3
# Redirects to redirects that are followed.
_HOPS = 3
MISSING = -1


class _Titles(NamedTuple):
    hashes: Hashes
    items: npt.NDArray[np.uint32]

    def lookup(self, hashes: Hashes) -> Items:
        """Return the items of titles, MISSING for unknown ones."""
        if not len(self.hashes):
            return np.full(len(hashes), MISSING)
        places = np.minimum(np.searchsorted(self.hashes, hashes), len(self.hashes) - 1)
        return np.where(self.hashes[places] == hashes, self.items[places].astype(np.int64), MISSING)

    def extended(self, hashes: Hashes, items: Items) -> "_Titles":
        """Return the titles with further ones; of equal hashes, the first counts."""
        known = items != MISSING
        together = np.concatenate([self.hashes, hashes[known]])
        unique, first = np.unique(together, return_index=True)
        return _Titles(unique, np.concatenate([self.items, items[known].astype(np.uint32)])[first])


_NO_TITLES = _Titles(np.empty(0, np.uint64), np.empty(0, np.uint32))


class Vocabulary:
    """Entities of a build, in a folder that `build_vocabulary` wrote.

    Items are identified by their position in `numbers`, the sorted numbers of their Wikidata ids.
    """

    def __init__(self, folder: Path, languages: Sequence[str]) -> None:
        self.folder = folder
        self.languages = list(languages)
        self._titles: dict[str, _Titles] = {}

    @cached_property
    def numbers(self) -> npt.NDArray[np.uint32]:
        """Numbers of the Wikidata ids."""
        return read_part_array(self.folder, "numbers")

    @cached_property
    def flags(self) -> npt.NDArray[np.uint8]:
        """Flags of every item: EXCLUDED, IS_YEAR and IN_BASE."""
        return read_part_array(self.folder, "flags")

    @cached_property
    def frequencies(self) -> npt.NDArray[np.uint32]:
        """Number of links to every item in the Wikipedias of the build."""
        return read_part_array(self.folder, "frequencies")

    @cached_property
    def bins(self) -> npt.NDArray[np.uint8]:
        """Frequency bin of every item."""
        return np.searchsorted(BIN_STARTS, self.frequencies, side="right").astype(np.uint8)

    @cached_property
    def described(self) -> npt.NDArray[np.uint64]:
        """Languages in which every item has a description, one bit per position in `languages`."""
        return read_part_array(self.folder, "described")

    def is_viable(self, items: Items) -> npt.NDArray[np.bool_]:
        """Return True for items of the base vocabulary that have a description."""
        usable: npt.NDArray[np.bool_] = ((self.flags[items] & IN_BASE) > 0) & (self.described[items] > 0)
        return usable

    def item_id(self, item: int) -> str:
        """Return the Wikidata id of an item."""
        return f"Q{self.numbers[item]}"

    def lookup(self, code: str, hashes: Hashes) -> Items:
        """Return the items of pages of a Wikipedia, through redirects; MISSING for unknown ones."""
        return self._titles_of(code).lookup(hashes)

    def _titles_of(self, code: str) -> _Titles:
        if code not in self._titles:
            if len(self._titles) >= _MOST_MAPPED:
                del self._titles[next(iter(self._titles))]
            path = self.folder / f"{code}-hashes.npy"
            pair = (read_part_array(self.folder, f"{code}-{name}") for name in ("hashes", "items"))
            self._titles[code] = _Titles(*pair) if path.exists() else _NO_TITLES
        return self._titles[code]

    def descriptions(self, code: str) -> tuple[npt.NDArray[Any], Hashes, Hashes]:
        """Return the items with a description in a language, sorted, their pages, and hashes of first sentences."""
        items, pages, sentences = (
            read_part_array(self.folder, f"{code}-{name}")
            for name in ("described-items", "described-pages", "first-sentences")
        )
        return items, pages, sentences


def build_vocabulary(jobs: Iterable[ScanJob], folder: Path, languages: Sequence[str]) -> Vocabulary:
    """Merge the scanned parts into a vocabulary with descriptions in some languages, or return it if it exists.

    Raises:
        DataError: more than 64 languages, or neither Wikidata items nor page properties.
    """
    if len(languages) > 64:
        raise DataError(f"{len(languages)} languages of descriptions, at most 64 are supported")
    scans = list(jobs)
    identity = "\n".join([*languages, *(job.path.name for job in scans)])
    path = folder / f"vocabulary-{hashlib.sha256(identity.encode()).hexdigest()[:16]}"
    if not path.is_dir():
        with finishing(path) as unfinished:
            _Builder(scans, unfinished, languages).run()
    return Vocabulary(path, languages)


class _Builder:
    def __init__(self, jobs: list[ScanJob], folder: Path, languages: Sequence[str]) -> None:
        self._folder, self._languages = folder, languages
        self._parts: dict[str, dict[str, list[Path]]] = defaultdict(lambda: defaultdict(list))
        for job in jobs:
            wiki = job.dump.wiki
            if wiki is None or wiki.project == "wikipedia":
                self._parts[job.dump.kind][wiki.code if wiki else ""].append(job.path)
        self._numbers, self._flags = self._items()

    def run(self) -> None:
        """Write all arrays."""
        sites = self._sites()
        codes = sorted({*sites, *self._parts["pages"], *self._parts["page_props"]})
        for code in codes:
            self._save_titles(code, self._own_titles(code, sites.get(code, [])))
        vocabulary = Vocabulary(self._folder, self._languages)
        for code in codes:
            self._save_titles(code, self._with_redirects(code, vocabulary))
        np.save(self._folder / "numbers.npy", self._numbers)
        np.save(self._folder / "flags.npy", self._flags)
        vocabulary = Vocabulary(self._folder, self._languages)
        np.save(self._folder / "frequencies.npy", self._frequencies(vocabulary))
        np.save(self._folder / "described.npy", self._descriptions(vocabulary))

    def _save_titles(self, code: str, titles: _Titles) -> None:
        for name in ("hashes", "items"):
            path = self._folder / f"{code}-{name}.npy"
            fresh = path.with_suffix(".new.npy")
            np.save(fresh, getattr(titles, name))
            fresh.replace(path)  # the old one may be mapped

    def _items(self) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint8]]:
        """Return the numbers and flags of all items; without Wikidata, those of page properties."""
        if parts := self._parts["entities"][""]:
            numbers, flags = (join_part_arrays((part, name) for part in parts) for name in ("numbers", "flags"))
        else:
            props = [part for parts in self._parts["page_props"].values() for part in parts]
            numbers = join_part_arrays((part, "right") for part in props)
            flags = np.zeros(len(numbers), np.uint8)
        unique, first = np.unique(numbers.astype(np.uint32), return_index=True)
        if not len(unique):
            fix = "Name a Wikidata dump (.json), or page_props.sql dumps of the Wikipedias"
            raise DataError("no Wikidata items", fix=fix)
        return unique, flags[first]

    def _positions(self, numbers: npt.NDArray[Any]) -> Items:
        """Return the positions of items by their numbers; MISSING for unknown and excluded ones."""
        known = self._numbers
        places = np.minimum(np.searchsorted(known, numbers.astype(np.uint32)), len(known) - 1)
        is_usable = (known[places] == numbers) & ((self._flags[places] & EXCLUDED) == 0)
        return np.where(is_usable, places, MISSING)

    def _sites(self) -> dict[str, list[tuple[Path, int, int]]]:
        """Return the slices of parts with the sitelinks to every Wikipedia."""
        slices: dict[str, list[tuple[Path, int, int]]] = defaultdict(list)
        for part in self._parts["entities"][""]:
            ends = read_part_array(part, "site_ends").tolist()
            for code, start, end in zip(read_counts(part).codes, [0, *ends], ends, strict=False):
                slices[code].append((part, start, end))
        return slices

    def _own_titles(self, code: str, slices: list[tuple[Path, int, int]]) -> _Titles:
        """Return the titles of a Wikipedia's pages by sitelinks, then by page properties."""
        items, hashes = (
            join_part_arrays((part, name, start, end) for part, start, end in slices)
            for name in ("link_items", "link_hashes")
        )
        titles = _NO_TITLES.extended(hashes, self._positions(items))
        for part in self._parts["page_props"].get(code, ()):
            hashes = self._pages(code).of(read_part_array(part, "left"))
            items = self._positions(read_part_array(part, "right"))
            titles = titles.extended(hashes, np.where(hashes > 0, items, MISSING))
        if code in self._languages:
            self._flags[np.unique(titles.items)] |= IN_BASE
        return titles

    def _pages(self, code: str) -> "_PageNumbers":
        parts = [(part, "numbers", "hashes") for part in self._parts["pages"].get(code, ())]
        parts += [(part, "left", "right") for part in self._parts["page"].get(code, ())]
        numbers = join_part_arrays((part, name) for part, name, _ in parts)
        hashes = join_part_arrays((part, name) for part, _, name in parts)
        unique, first = np.unique(numbers, return_index=True)
        return _PageNumbers(unique, hashes[first])

    def _with_redirects(self, code: str, vocabulary: Vocabulary) -> _Titles:
        """Return the titles of a Wikipedia with pages known by their other languages, and redirects."""
        titles = vocabulary._titles_of(code)
        for part in self._parts["langlinks"].get(code, ()):
            hashes = self._pages(code).of(read_part_array(part, "left"))
            others, sites = read_part_array(part, "right"), read_part_array(part, "codes")
            items = np.full(len(hashes), MISSING)
            for site, other in enumerate(read_counts(part).codes):
                items[sites == site] = vocabulary.lookup(other, others[sites == site])
            titles = titles.extended(hashes, np.where(hashes > 0, items, MISSING))
            if code in self._languages:
                self._flags[np.unique(titles.items)] |= IN_BASE
        sources, targets = self._redirects(code)
        for _ in range(_HOPS):
            fewer, titles = titles, titles.extended(sources, titles.lookup(targets))
            if len(titles.hashes) == len(fewer.hashes):
                break
        return titles

    def _redirects(self, code: str) -> tuple[Hashes, Hashes]:
        parts = self._parts["pages"].get(code, ())
        sources, targets = (
            join_part_arrays([(part, name) for part in parts]) for name in ("redirect_from", "redirect_to")
        )
        for part in self._parts["redirect"].get(code, ()):
            further = self._pages(code).of(read_part_array(part, "left"))
            sources = np.concatenate([sources, further[further > 0]])
            targets = np.concatenate([targets, read_part_array(part, "right")[further > 0]])
        return sources, targets

    def _frequencies(self, vocabulary: Vocabulary) -> npt.NDArray[np.uint32]:
        """Count the links to every item."""
        totals = np.zeros(len(self._numbers), np.int64)
        for part in (part for parts in self._parts["pages"].values() for part in parts):
            hashes, counts = read_part_array(part, "link_hashes"), read_part_array(part, "link_counts")
            ends = read_part_array(part, "link_ends").tolist()
            for code, start, end in zip(read_counts(part).codes, [0, *ends], ends, strict=False):
                items = vocabulary.lookup(code, hashes[start:end])
                known = items != MISSING
                np.add.at(totals, items[known], counts[start:end][known])
        return np.minimum(totals, 2**32 - 1).astype(np.uint32)

    def _descriptions(self, vocabulary: Vocabulary) -> npt.NDArray[np.uint64]:
        """Write the pages that describe items, by language; return the languages of every item."""
        masks = np.zeros(len(self._numbers), np.uint64)
        for bit, code in enumerate(self._languages):
            parts = self._parts["pages"].get(code, ())
            pages, sentences = (
                join_part_arrays([(part, name) for part in parts]) for name in ("described", "description_hashes")
            )
            items = vocabulary.lookup(code, pages)
            known = np.flatnonzero(items != MISSING)
            unique, first = np.unique(items[known], return_index=True)
            masks[unique] |= np.uint64(1 << bit)
            np.save(self._folder / f"{code}-described-items.npy", unique.astype(np.uint32))
            np.save(self._folder / f"{code}-described-pages.npy", pages[known][first])
            np.save(self._folder / f"{code}-first-sentences.npy", sentences[known][first])
        return masks


class _PageNumbers(NamedTuple):
    """Hashes of a Wikipedia's pages by their numbers."""

    numbers: npt.NDArray[np.uint64]
    hashes: Hashes

    def of(self, numbers: npt.NDArray[np.uint64]) -> Hashes:
        """Return the hashes of pages, 0 for unknown ones."""
        if not len(self.numbers):
            return np.zeros(len(numbers), np.uint64)
        places = np.minimum(np.searchsorted(self.numbers, numbers), len(self.numbers) - 1)
        return np.where(self.numbers[places] == numbers, self.hashes[places], np.uint64(0))
