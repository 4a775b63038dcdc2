"""Datasheet of a build: sources, settings and every count, as JSON and Markdown."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from isogloss.building.candidates import CandidateSet
from isogloss.building.inputs import DumpFile
from isogloss.building.mentions import MentionTable
from isogloss.building.parts import ScanJob, read_counts
from isogloss.building.titles import Wiki
from isogloss.building.vocabulary import BIN_NAMES, IN_BASE, Vocabulary
from isogloss.data.files import atomic_write
from isogloss.version import __version__

DATASHEETS = ("datasheet.json", "datasheet.md")
# Counts that show that a dump has content of its kind.
_CONTENT = ("pages", "items", "entities other than items", "rows")
_DAMAGE = ("truncated files", "damaged streams")
_DATE = re.compile(r"(?<!\d)(20\d{6})(?!\d)")


@dataclass
class DatasheetCounts:
    """Counts of mentions by language and of pairs, by the reason for leaving them out, and of special candidates."""

    mentions: dict[str, Counter[str]] = field(default_factory=dict)
    pairs: Counter[str] = field(default_factory=Counter)
    candidates: Counter[str] = field(default_factory=Counter)


class InputFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A dump: its wiki, kind, date by its name, size, SHA-256 of the file, and counts, also of what is malformed."""

    name: str
    wiki: str
    kind: str
    date: str
    bytes: int
    sha256: str
    counts: dict[str, int]


class Datasheet(msgspec.Struct, frozen=True, kw_only=True):
    """Facts of a build.

    Attributes:
        version: version of Isogloss.
        settings: settings of the build.
        inputs: dumps, with their counts.
        ignored: files that were not read.
        vocabulary: numbers of items, and of viable ones by frequency bin.
        extraction: links by language and reason for leaving them out, "viable" for the others.
        splits: sampled mentions by split, language and frequency bin.
        entities: distinct gold entities by split.
        languages: mentions by split, description language and mention language, as in the paper's Table 9.
        candidates: candidates by language and by frequency bin.
        pairs: number of training pairs and their links by reason.
        notes: counts of special candidates.
        warnings: what the build lacks, one sentence each.
        outputs: SHA-256 of the files.
    """

    version: str
    settings: dict[str, Any]
    inputs: list[InputFacts]
    ignored: list[str]
    vocabulary: dict[str, int]
    extraction: dict[str, dict[str, int]]
    splits: dict[str, dict[str, dict[str, int]]]
    entities: dict[str, int]
    languages: dict[str, dict[str, dict[str, int]]]
    candidates: dict[str, dict[str, int]]
    pairs: dict[str, int]
    notes: dict[str, int]
    warnings: list[str]
    outputs: dict[str, str]

    @classmethod
    def of(  # noqa: PLR0913 - the parts of a build
        cls,
        settings: dict[str, Any],
        vocabulary: Vocabulary,
        *,
        splits: Mapping[str, MentionTable],
        candidates: CandidateSet,
        pairs: MentionTable | None,
        counts: DatasheetCounts,
        inputs: list[InputFacts],
        ignored: list[str],
        outputs: dict[str, str],
    ) -> "Datasheet":
        """Count everything."""
        bins = vocabulary.bins
        base = (vocabulary.flags & IN_BASE) > 0
        viable = base & (vocabulary.described > 0)
        by_bin = {name: int(np.sum(viable & (bins == place))) for place, name in enumerate(BIN_NAMES)}
        languages: Sequence[str] = settings["languages"]
        tables = {name: _bin_table(split, bins, languages) for name, split in splits.items()}
        pairings = {name: _language_table(split, candidates, languages, vocabulary) for name, split in splits.items()}
        by_language = Counter(np.array(vocabulary.languages)[candidates.languages].tolist())
        candidate_bins = Counter(BIN_NAMES[number] for number in bins[candidates.items].tolist())
        return cls(
            version=__version__,
            settings=settings,
            inputs=inputs,
            ignored=ignored,
            vocabulary={"items": len(base), "base": int(base.sum()), "with a description": int(viable.sum()), **by_bin},
            extraction={code: dict(sorted(each.items())) for code, each in counts.mentions.items()},
            splits=tables,
            entities={name: len(np.unique(split.item)) for name, split in splits.items()},
            languages=pairings,
            candidates={
                "languages": {code: by_language[code] for code in vocabulary.languages if by_language[code]},
                "bins": {name: candidate_bins[name] for name in BIN_NAMES},
            },
            pairs={"pairs": 0 if pairs is None else len(pairs.item), **dict(sorted(counts.pairs.items()))},
            notes=dict(sorted(counts.candidates.items())),
            warnings=[*_missing(settings, splits, candidates, pairs), *_faults(settings, inputs)],
            outputs=outputs,
        )


def _missing(
    settings: dict[str, Any], splits: Mapping[str, MentionTable], candidates: CandidateSet, pairs: MentionTable | None
) -> Iterator[str]:
    """Yield a sentence for each size that is not reached, and for languages without mentions."""
    sizes = {f"{name} mentions": (len(split.item), settings[name]) for name, split in splits.items()}
    sizes["candidates"] = (len(candidates.items), settings["candidates"])
    sizes["training pairs"] = (0 if pairs is None else len(pairs.item), settings["pairs"])
    for name, (count, wanted) in sizes.items():
        if count < wanted:
            yield f"{count:,} of {wanted:,} {name}: the dumps have no more"
    mentioned = {place for split in splits.values() for place in split.language.tolist()}
    if absent := [code for place, code in enumerate(settings["languages"]) if place not in mentioned]:
        yield f"no mentions in {', '.join(absent)}"


def _faults(settings: dict[str, Any], inputs: Sequence[InputFacts]) -> Iterator[str]:
    """Yield a sentence for each kind of dump that is missing, and for damaged and empty ones."""
    present = {each.wiki for each in inputs if each.kind == "pages"}
    absent = [code for code in settings["description_languages"] if Wiki("wikipedia", code).name not in present]
    if absent:
        yield f"no Wikipedia dump in {len(absent)} of the description languages: {', '.join(absent)}"
    if not any(each.kind == "entities" for each in inputs):
        yield "no Wikidata dump: lists and disambiguation pages are not left out"
    for each in inputs:
        if each.sha256 and not any(each.counts.get(name) for name in _CONTENT):
            yield f"nothing was read from {each.name}"
        if damage := [f"{name} {each.counts[name]:,}" for name in _DAMAGE if each.counts.get(name)]:
            yield f"{each.name} is damaged: {', '.join(damage)}"


def _bin_table(split: MentionTable, bins: Any, languages: Sequence[str]) -> dict[str, dict[str, int]]:
    pairs = Counter(zip(split.language.tolist(), bins[split.item].tolist(), strict=True))
    return {
        code: {name: pairs[row, column] for column, name in enumerate(BIN_NAMES)} for row, code in enumerate(languages)
    }


def _language_table(
    split: MentionTable, candidates: CandidateSet, languages: Sequence[str], vocabulary: Vocabulary
) -> dict[str, dict[str, int]]:
    """Count mentions by description language, the paper's order: mention languages first, then the others."""
    description = candidates.languages[np.searchsorted(candidates.items, split.item)]
    pairs = Counter(zip(description.tolist(), split.language.tolist(), strict=True))
    positions = {code: place for place, code in enumerate(vocabulary.languages)}
    rows = [code for code in languages if code in positions]
    rows += [code for code in vocabulary.languages if code not in languages]
    table = {code: {name: pairs[positions[code], place] for place, name in enumerate(languages)} for code in rows}
    return {code: row for code, row in table.items() if any(row.values())}


def input_facts(files: Sequence[DumpFile], jobs: Sequence[ScanJob], digests: Mapping[Path, str]) -> list[InputFacts]:
    """Return the facts of every dump, summed over its parts."""
    facts = []
    for dump in files:
        counts: Counter[str] = Counter()
        for job in jobs:
            if job.dump == dump:
                counts.update(read_counts(job.path).counts)
        date = _DATE.search(dump.path.name)
        facts.append(
            InputFacts(
                name=dump.name,
                wiki=dump.wiki.name if dump.wiki else "",
                kind=dump.kind,
                date=date[1] if date else "",
                bytes=dump.path.stat().st_size,
                sha256=digests.get(dump.path.resolve(), ""),
                counts=dict(sorted(counts.items())),
            )
        )
    return facts


def write_datasheet(folder: Path, datasheet: Datasheet) -> list[Path]:
    """Write the datasheet as JSON and Markdown; return the paths."""
    paths = [folder / name for name in DATASHEETS]
    content = (msgspec.json.format(msgspec.json.encode(datasheet)).decode() + "\n", _markdown(datasheet))
    for path, text in zip(paths, content, strict=True):
        with atomic_write(path) as stream:
            stream.write(text)
    return paths


def _markdown(sheet: Datasheet) -> str:
    sections = [
        "# Datasheet of a Mewsli-X build",
        f"Built with Isogloss {sheet.version}, seed {sheet.settings['seed']}.",
    ]
    if sheet.warnings:
        sections.append("\n".join(f"- Warning: {_plain(warning)}" for warning in sheet.warnings))
    for split, table in sheet.splits.items():
        sections.append(f"## Mentions: {split}, {sheet.entities[split]:,} entities, by frequency bin")
        sections.append(_table("language", list(BIN_NAMES), table))
        sections.append(f"## Mentions: {split}, by mention language (columns) and description language (rows)")
        sections.append(_table("", list(sheet.settings["languages"]), sheet.languages[split]))
    sections.append("## Candidates")
    sections.append(_table("", ["count"], {key: {"count": n} for key, n in sheet.candidates["bins"].items()}))
    sections.append(
        _table("language", ["count"], {key: {"count": n} for key, n in sheet.candidates["languages"].items()})
    )
    facts = {**sheet.vocabulary, **{f"training pairs: {key}": n for key, n in sheet.pairs.items()}, **sheet.notes}
    sections += [
        "## Vocabulary and training pairs",
        _table("", ["count"], {key: {"count": n} for key, n in facts.items()}),
    ]
    reasons = sorted({reason for row in sheet.extraction.values() for reason in row})
    sections += ["## Links by outcome", _table("language", reasons, sheet.extraction)]
    sections.append("## Dumps")
    for each in sheet.inputs:
        counts = ", ".join(f"{name} {count:,}" for name, count in each.counts.items()) or "not needed"
        date = f", {each.date}" if each.date else ""
        digest = f", SHA-256 `{each.sha256}`" if each.sha256 else ""
        sections.append(f"- `{_plain(each.name)}` ({each.kind}{date}, {each.bytes:,} bytes{digest}): {counts}")
    if sheet.ignored:
        sections.append(f"Not read: {', '.join(f'`{_plain(name)}`' for name in sheet.ignored)}")
    sections.append("## Settings")
    sections.append("\n".join(f"- {name}: {_shown(value)}" for name, value in sheet.settings.items()))
    sections.append("## Files")
    sections.append("\n".join(f"- `{name}`: SHA-256 `{digest}`" for name, digest in sheet.outputs.items()))
    return "\n\n".join(sections) + "\n"


def _plain(name: str) -> str:
    """Return a text from outside without marks of Markdown that would end a code span or begin HTML."""
    return name.translate({ord("`"): "'", ord("<"): "‹", ord(">"): "›"})


def _shown(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _table(corner: str, columns: list[str], rows: Mapping[str, Mapping[str, int]]) -> str:
    """Return a Markdown table with totals, if there are several rows or columns."""
    lines = [[corner, *columns, *(["total"] if len(columns) > 1 else [])]]
    for name, row in rows.items():
        values = [row.get(column, 0) for column in columns]
        lines.append([name, *(f"{value:,}" for value in [*values, *([sum(values)] if len(columns) > 1 else [])])])
    if len(columns) > 1:
        totals = [sum(row.get(column, 0) for row in rows.values()) for column in columns]
        lines.append(["total", *(f"{value:,}" for value in [*totals, sum(totals)])])
    lines.insert(1, ["---"] + ["---:"] * (len(lines[0]) - 1))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
