"""Mewsli-X from public dumps: the recipe of XTREME-R's appendix E."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from isogloss.building.candidates import candidate_records, choose_candidates
from isogloss.building.datasheet import DATASHEETS, Datasheet, DatasheetCounts, input_facts, write_datasheet
from isogloss.building.dumps import PART_BYTES, FilePart, split_file
from isogloss.building.edition import check_name, write_edition
from isogloss.building.entities import EXCLUDED_CLASSES
from isogloss.building.inputs import DumpFile, find_dumps
from isogloss.building.mentions import collect_mentions, mention_records, sample_splits
from isogloss.building.pairs import choose_pairs, pair_records
from isogloss.building.parts import Hashes, ScanJob, ScanSettings, join_part_arrays, remove_leftovers, stored_checksum
from isogloss.building.scan import DESCRIPTION_SENTENCES, scan_part
from isogloss.building.titles import WIKIPEDIA_CODES, wikipedia_code
from isogloss.building.vocabulary import Vocabulary, build_vocabulary
from isogloss.data.files import atomic_write, remove_file, sha256_of, stamp
from isogloss.errors import DataError, unknown
from isogloss.grouping import group_by
from isogloss.languages import all_languages
from isogloss.tasks.shipped import MEWSLIX
from isogloss.workers import Workers, in_parallel

# Share of a dump's pages that may be in other dumps of the wiki: a page may move while they are written.
_MOST_SHARED = 0.1
_MENTIONS = {split: f"wikinews_mentions-{split}.jsonl" for split in ("test", "dev")}
_CANDIDATES, _PAIRS = "candidate_set_entities.jsonl", "wikipedia_pairs-train.jsonl"
_OUTPUTS = (*_MENTIONS.values(), _CANDIDATES, _PAIRS)
ScanProgress = Callable[[int, int], None]


# Default name of the task of a build.
BUILT = "mewslix-built"


@dataclass(frozen=True, kw_only=True)
class MewslixSettings:
    """Settings of a build; the defaults are the paper's.

    Attributes:
        languages: languages of mentions.
        description_languages: languages of descriptions and of the Wikipedias that count frequencies; at most 64.
        test: number of test mentions.
        dev: number of development mentions.
        candidates: number of candidates, gold entities included.
        pairs: number of English training pairs.
        pair_pages: share of English Wikipedia's pages to take training pairs from.
        sentences: sentences per description, up to 3.
        natural_frequencies: True to draw candidates in proportion to the frequency bins, not equally from each.
        mentions_from: "wikinews", or "wikipedia" to take mentions from encyclopedia articles.
        excluded_classes: classes of Wikidata items that are not entities.
        seed: seed of all samples.
        part_bytes: packed bytes per part of a multistream dump.
    """

    languages: tuple[str, ...] = MEWSLIX.languages
    description_languages: tuple[str, ...] = ()
    test: int = 15_000
    dev: int = 3_000
    candidates: int = 1_000_000
    pairs: int = 115_000
    pair_pages: float = 0.02
    sentences: int = 1
    natural_frequencies: bool = False
    mentions_from: str = "wikinews"
    excluded_classes: tuple[str, ...] = EXCLUDED_CLASSES
    seed: int = 0
    part_bytes: int = PART_BYTES

    def __post_init__(self) -> None:
        if not self.description_languages:
            codes = tuple(each.code for each in all_languages() if each.paper_name and each.code != "ha")
            object.__setattr__(self, "description_languages", codes)
        for name in ("languages", "description_languages"):
            codes = tuple(dict.fromkeys(map(wikipedia_code, getattr(self, name))))
            if wrong := [code for code in codes if code not in WIKIPEDIA_CODES]:
                raise unknown("Wikipedia", wrong[0], WIKIPEDIA_CODES)
            object.__setattr__(self, name, codes)
        if self.mentions_from not in ("wikinews", "wikipedia"):
            raise unknown("source of mentions", self.mentions_from, ("wikinews", "wikipedia"))
        if min(self.test, self.dev, self.pairs) < 0 or self.test + self.dev < 1:
            raise DataError("no mentions to sample", fix="Set test or dev to 1 or more, and none below 0")
        if not 1 <= self.sentences <= DESCRIPTION_SENTENCES:
            raise DataError(f"descriptions of {self.sentences} sentences", fix=f"Use 1 to {DESCRIPTION_SENTENCES}")
        if not 0 <= self.pair_pages <= 1:
            raise DataError(f"a share of {self.pair_pages} of the pages", fix="Use a number from 0 to 1")

    def scan_settings(self, dump: DumpFile) -> ScanSettings | None:
        """Return what to extract from a dump, or None if the build does not need it."""
        if dump.wiki is None:
            return ScanSettings(classes=tuple(sorted(self.excluded_classes)))
        project, code = dump.wiki
        if dump.kind != "pages":
            return ScanSettings() if project == "wikipedia" else None
        is_source = project == self.mentions_from and code in self.languages
        if project == "wikinews":
            return ScanSettings(documents=1.0) if is_source else None
        is_described = code in self.description_languages
        share = self.pair_pages if code == "en" and self.pairs else 0.0
        return ScanSettings(links=is_described, descriptions=is_described, documents=1.0 if is_source else share)


class BuiltMewslix(msgspec.Struct, frozen=True, kw_only=True):
    """Result of a build: its files and datasheet."""

    files: list[Path]
    datasheet: Datasheet


def build_mewslix(
    dumps: Iterable[str | os.PathLike[str]],
    *,
    out: str | os.PathLike[str],
    settings: MewslixSettings | None = None,
    workers: Workers | None = None,
    work: str | os.PathLike[str] | None = None,
    task: str = BUILT,
    progress: ScanProgress | None = None,
) -> BuiltMewslix:
    """Build a Mewsli-X from dumps of Wikinews, Wikipedia and Wikidata.

    The result depends on dumps and settings only: not on workers, interruptions or earlier builds. Scanned parts are
    kept in the work folder: the same call resumes, and a build with another seed or size reads no dump again.

    Args:
        dumps: files and folders; `WIKI=FILE` names the wiki of a file without Wikimedia's name.
        out: data folder; writes `mewslix/` in it, as `isogloss.load(task, "de", data=out)` reads it, and the task file.
        settings: sizes, languages and seed.
        workers: workers that scan the dumps, all of which must see them and the work folder; None for this process.
        work: folder for scanned parts; `<out>/mewslix-work` by default.
        task: name of the task with the languages and sizes of the build, declared in `<out>/mewslix/<task>.toml`.
        progress: called with the number of scanned parts and their total.

    Returns:
        The files and the datasheet.

    Raises:
        DataError: a missing or unknown dump, no mentions, no entities, or a folder that cannot be written.

    Example:
        isogloss.build_mewslix(["dumps"], out="data")
    """
    check_name(task)
    settings = settings or MewslixSettings()
    folder = Path(out) / "mewslix"
    work_folder = (Path(work) if work else Path(out) / "mewslix-work").resolve()
    files, ignored = find_dumps(dumps, [folder, work_folder])
    for each in (work_folder, work_folder / "parts"):
        remove_leftovers(each)
    jobs = _scan_jobs(files, settings, work_folder / "parts")
    _scan(jobs, workers, progress or (lambda *_: None))
    _check_overlaps(jobs)
    vocabulary = build_vocabulary(jobs, work_folder, settings.description_languages)
    counts = DatasheetCounts()
    sources, splits = _mentions(jobs, settings, vocabulary, counts)
    gold = np.unique(np.concatenate([split.item for split in splits.values()]))
    candidates = choose_candidates(
        vocabulary,
        gold,
        settings.candidates,
        settings.seed,
        uniform=not settings.natural_frequencies,
        counts=counts.candidates,
    )
    described = [job for job in jobs if job.settings.descriptions]
    english = [job for job in jobs if _is_english(job) and job.settings.documents]
    has_pairs = bool(english) and "en" in settings.description_languages and settings.pairs > 0
    written = {}
    for name, split in splits.items():
        written[_MENTIONS[name]] = mention_records(sources, split, vocabulary)
    written[_CANDIDATES] = candidate_records(vocabulary, described, candidates, settings.sentences, workers)
    pairs = None
    if has_pairs:
        pairs = choose_pairs(english, vocabulary, candidates.items, settings.pairs, settings.seed, counts.pairs)
        written[_PAIRS] = pair_records(
            english, english, pairs, vocabulary, sentences=settings.sentences, workers=workers
        )
    # The datasheet is written last: a folder without one is incomplete.
    for name in (*DATASHEETS, *(name for name in _OUTPUTS if name not in written)):
        remove_file(folder / name)
    paths = [path for name, records in written.items() if (path := _write(folder / name, records))]
    datasheet = Datasheet.of(
        asdict(settings),
        vocabulary,
        splits=splits,
        candidates=candidates,
        pairs=pairs,
        counts=counts,
        inputs=input_facts(files, jobs, _digests(jobs, workers)),
        ignored=ignored,
        outputs={path.name: sha256_of(path) for path in paths},
    )
    sheets, declared = write_datasheet(folder, datasheet), write_edition(Path(out), task, datasheet)
    return BuiltMewslix(files=[*paths, *sheets, declared], datasheet=datasheet)


def _is_english(job: ScanJob) -> bool:
    return job.dump.wiki is not None and job.dump.wiki == ("wikipedia", "en")


def _scan_jobs(files: Sequence[DumpFile], settings: MewslixSettings, folder: Path) -> list[ScanJob]:
    jobs = []
    for dump in files:
        needed = settings.scan_settings(dump)
        if needed is None:
            continue
        path = dump.path.resolve()
        # Tables are read whole: their columns are at the beginning.
        parts = split_file(path, settings.part_bytes) if dump.kind in ("pages", "entities") else [FilePart(path)]
        state = stamp(path)
        jobs += [ScanJob(dump=dump, part=part, stamp=state, settings=needed, folder=folder) for part in parts]
    return jobs


def _scan(jobs: Sequence[ScanJob], workers: Workers | None, progress: ScanProgress) -> None:
    """Scan what is missing."""
    missing = [job for job in jobs if not job.is_finished]
    done = len(jobs) - len(missing)
    progress(done, len(jobs))
    for _ in in_parallel(workers, scan_part, missing):
        done += 1
        progress(done, len(jobs))
    for job in missing:
        if not job.is_finished:
            fix = "Workers must see the work folder under the same path; run the same command again"
            raise DataError("missing result of a scan", where=str(job.path), fix=fix)


def _check_overlaps(jobs: Sequence[ScanJob]) -> None:
    """Raise a DataError if dumps of one wiki have the same pages, as the multistream form of a dump does."""
    pages = [job for job in jobs if job.dump.kind == "pages"]
    for scans in group_by(pages, key=lambda job: job.dump.wiki).values():
        seen: Hashes = np.empty(0, np.uint64)
        for path, parts in group_by(scans, key=lambda job: job.part.path).items():
            hashes = np.unique(join_part_arrays((job.path, "hashes") for job in parts))
            shared = int(np.isin(hashes, seen, assume_unique=True).sum())
            if shared > _MOST_SHARED * len(hashes):
                what = f"{shared:,} of its {len(hashes):,} pages are in other dumps of the same wiki"
                raise DataError(what, where=str(path), fix="Name one of them: links would count twice")
            seen = np.union1d(seen, hashes)


def _digests(jobs: Sequence[ScanJob], workers: Workers | None) -> dict[Path, str]:
    """Return the checksums of the dumps that were read."""
    paths = list(dict.fromkeys(job.part.path for job in jobs))
    folder = jobs[0].folder.with_name("checksums")
    return dict(zip(paths, in_parallel(workers, partial(stored_checksum, folder=folder), paths), strict=True))


def _mentions(
    jobs: Sequence[ScanJob], settings: MewslixSettings, vocabulary: Vocabulary, counts: DatasheetCounts
) -> tuple[list[ScanJob], dict[str, Any]]:
    """Return the scans with mentions, and the sampled mentions of each split."""
    wikis = {(settings.mentions_from, code) for code in settings.languages}
    sources = [job for job in jobs if job.dump.kind == "pages" and job.dump.wiki in wikis]
    for code in settings.languages:
        counts.mentions[code] = Counter()
    mentions = collect_mentions(sources, vocabulary, settings.languages, settings.seed, counts.mentions)
    if not len(mentions.item):
        what = f"no mentions of known entities in pages of {settings.mentions_from}"
        fix = "Name pages-articles dumps of its languages, and the Wikidata items and Wikipedias that they link to"
        raise DataError(what, fix=fix)
    return sources, sample_splits(mentions, vocabulary, {"test": settings.test, "dev": settings.dev}, settings.seed)


def _write(path: Path, records: Iterator[dict[str, Any]]) -> Path | None:
    """Write records as JSON lines; without any, remove the file of an earlier build and return None."""
    first = next(records, None)
    if first is None:
        remove_file(path)
        return None
    with atomic_write(path) as stream:
        for record in chain([first], records):
            stream.buffer.write(msgspec.json.encode(record) + b"\n")
    return path
