"""Path patterns with `{language}` and `{split}`, from the paths of files."""

import re
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from isogloss.errors import near_names
from isogloss.languages import Language, all_languages, further_languages, known_language, listed_language
from isogloss.tasks.declaring.folder_survey import DataFile
from isogloss.tasks.task import SPLITS

# Names of splits in paths and columns.
SPLIT_NAMES: Mapping[str, str] = {
    **dict.fromkeys(("test", "testing", "tst", "eval", "evaluation"), "test"),
    **dict.fromkeys(("dev", "valid", "validation", "val", "development"), "dev"),
    **dict.fromkeys(("train", "training", "trn"), "train"),
}
_PARTS = re.compile(r"([^/._\- ]+)")
# Parts of a path that one language's name may have: toba_batak, zh_Hant_TW.
_MOST_PARTS = 3
# Similarity from which a name is suggested.
_SIMILAR = 0.75


@dataclass(kw_only=True)
class PathPatterns:
    """Path patterns of a dataset.

    Attributes:
        files: pattern by split.
        languages: languages by their spelling in the paths; "" for one that is not known. Empty if paths do not name
            them.
        members: files by language (as spelt, "" without) and split.
        left_out: files that do not fit.
    """

    files: dict[str, str]
    languages: dict[str, str] = field(default_factory=dict)
    members: dict[tuple[str, str], DataFile] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)


@cache
def spelt_language(text: str) -> tuple[str, bool]:
    """Return the tag of a language as files spell it, "" if it is not one, and True if the registry lists it."""
    for spelling in (text, text.replace("_", " ")):
        if entry := listed_language(spelling):
            return entry.code, True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a language is not listed
        entry = known_language(text)
    return (entry.code, False) if entry else ("", False)


@cache
def spelt_tag(text: str) -> str:
    """Return the tag of a language as a task file may spell it, "" if it is not one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        entry = known_language(text)
    return entry.code if entry else ""


def near_language(text: str) -> Language | None:
    """Return the language with a similar name, for a spelling that is not known: Banjar for banjarese."""
    names = {entry.name.lower(): entry for entry in (*all_languages(), *further_languages())}
    close = near_names(text.replace("_", " "), names, 1, cutoff=_SIMILAR)
    return names[close[0]] if close else None


@dataclass(frozen=True)
class _Reading:
    """One way to read a path."""

    file: DataFile
    template: str
    language: str
    split: str


def path_patterns(files: Sequence[DataFile]) -> PathPatterns:
    """Return the patterns that most files fit."""
    readings = [reading for file in files for reading in _readings(file)]
    templates: dict[str, list[_Reading]] = {}
    for reading in readings:
        templates.setdefault(reading.template, []).append(reading)
    best = max(templates, key=lambda template: _merit(template, templates[template]))
    is_named = _merit(best, templates[best])[0] > 0
    chosen = templates[best] if is_named else [each for each in readings if not each.language]
    if is_named:  # spellings that the registry does not know, at the same place
        chosen = [*chosen, *_unknown_languages(best, files, chosen)]
    patterns = _of_splits(chosen)
    used = {reading.file.relative for reading in chosen if _fits(reading, patterns)}
    for reading in readings:
        # A training set without a language in its path, beside test sets with one.
        lacks = reading.split and reading.split not in patterns
        if not reading.language and lacks and reading.file.relative not in used:
            patterns[reading.split] = reading.file.relative
            chosen.append(reading)
            used.add(reading.file.relative)
    members = {(each.language, each.split or "test"): each.file for each in chosen if each.file.relative in used}
    spellings = sorted({each.language for each in chosen if each.language and each.file.relative in used})
    return PathPatterns(
        files={split: patterns[split] for split in (*SPLITS, "") if split in patterns},
        languages={spelling: spelt_language(spelling)[0] for spelling in spellings},
        members=members,
        left_out=[file.relative for file in files if file.relative not in used],
    )


def _readings(file: DataFile) -> list[_Reading]:
    """Return the ways to read a path: with each language that it may name, and without one."""
    path = file.relative
    parts = list(_PARTS.finditer(path))
    split_part = next((part for part in reversed(parts) if part[0].lower() in SPLIT_NAMES), None)
    split = SPLIT_NAMES[split_part[0].lower()] if split_part else ""
    spellings: dict[str, None] = {}
    for first in range(len(parts)):
        for last in range(first, min(first + _MOST_PARTS, len(parts))):
            text = path[parts[first].start() : parts[last].end()]
            is_name = "/" not in text and not (last == len(parts) - 1 and last > 0 and "." in path)
            if is_name and text.lower() not in SPLIT_NAMES and spelt_language(text)[0]:
                spellings[text] = None
    readings = [_Reading(file, _template(path, "", split_part[0] if split_part else ""), "", split)]
    for spelling in spellings:
        readings.append(_Reading(file, _template(path, spelling, split_part[0] if split_part else ""), spelling, split))
    return readings


def _template(path: str, language: str, split: str) -> str:
    for value, name in ((language, "{language}"), (split, "{split}")):
        if value:
            path = re.sub(rf"(?<![^/._\- ]){re.escape(value)}(?![^/._\- ])", name, path)
    return path


def _merit(template: str, readings: Sequence[_Reading]) -> tuple[int, int, int]:
    """Return what makes a template good: listed languages, files, and longer names of languages."""
    languages = {reading.language for reading in readings if reading.language}
    listed = sum(spelt_language(language)[1] for language in languages)
    # A single language may be a word that looks like a code, unless it is the file's whole name or folder.
    if len(languages) == 1 and not re.search(r"(?:^|/)\{language\}(?:/|\.[^/]*$)", template):
        listed = 0
    return (listed, len(readings), sum(map(len, languages))) if listed else (0, 0, 0)


def _unknown_languages(template: str, files: Iterable[DataFile], chosen: Sequence[_Reading]) -> list[_Reading]:
    """Return readings of files that fit a template with something else in the place of the language."""
    escaped = re.escape(template).replace(r"\{language\}", "{language}").replace(r"\{split\}", "{split}")
    expression = escaped.replace("{language}", "(?P<language>[^/]+)", 1).replace("{language}", "(?P=language)")
    expression = expression.replace("{split}", f"(?P<split>{'|'.join(SPLIT_NAMES)})", 1).replace(
        "{split}", "(?P=split)"
    )
    matcher = re.compile(expression)
    known = {reading.file.relative for reading in chosen}
    added = []
    for file in files:
        match = matcher.fullmatch(file.relative) if file.relative not in known else None
        if match and match["language"].lower() not in SPLIT_NAMES:
            split = SPLIT_NAMES[match["split"]] if "{split}" in template else ""
            added.append(_Reading(file, template, match["language"], split))
    return added


def _of_splits(readings: Sequence[_Reading]) -> dict[str, str]:
    """Return one pattern per split: the most frequent."""
    patterns: dict[str, Counter[str]] = {}
    for reading in readings:
        path = reading.file.relative
        pattern = _template(path, reading.language, "")
        patterns.setdefault(reading.split, Counter())[pattern] += 1
    return {split: counts.most_common(1)[0][0] for split, counts in patterns.items()}


def _fits(reading: _Reading, patterns: Mapping[str, str]) -> bool:
    return patterns.get(reading.split) == _template(reading.file.relative, reading.language, "")
