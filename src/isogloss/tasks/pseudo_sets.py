"""Pseudo test sets (XTREME, section 3.4): English test sets, machine-translated into languages without one.

A pseudo set is a split of its own, so that its scores never mix with those on human test sets: `pseudo` is made from
the English test set, `pseudo-dev` from the dev set. `isogloss translate --pseudo` writes one file per language:

    translations/<task>/pseudo/[dev-]<language>.jsonl

The first line describes the originals (`PseudoHeader`). Every other line is an example under its English id, with what
the translation changes: texts, and answers or tags as projected onto them. Labels come from the English set.
Examples without a translation, or that lost their gold, have no line.
"""

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from isogloss.data.files import Digest, resolve, unpacked_name
from isogloss.data.location import default_data_dir
from isogloss.data.tables import jsonl
from isogloss.errors import DataError, MissingDataError
from isogloss.languages.tags import parse_tag
from isogloss.tasks.examples import Column, Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.task import Task

PSEUDO = "pseudo"
# Split of the English originals, by split.
ORIGINAL_SPLITS: Mapping[str, str] = {PSEUDO: "test", f"{PSEUDO}-dev": "dev"}
# Pseudo split that accompanies a split.
PSEUDO_SPLITS: Mapping[str, str] = {"test": PSEUDO, "best": PSEUDO, "dev": f"{PSEUDO}-dev"}
PIVOT = "en"

DataPath = str | os.PathLike[str] | None


def is_pseudo(split: str) -> bool:
    """Return True for a split that was machine-translated from English."""
    return split in ORIGINAL_SPLITS


def translations_folder(data: DataPath) -> Path:
    """Return the translations folder: ISOGLOSS_TRANSLATIONS, or `translations` in the data folder."""
    named = os.environ.get("ISOGLOSS_TRANSLATIONS")
    root = Path(data) if data is not None else default_data_dir()
    return Path(named).expanduser() if named else root / "translations"


def pseudo_path(task: Task, language: str, split: str, data: DataPath) -> Path:
    """Return the path of a pseudo set."""
    prefix = "dev-" if ORIGINAL_SPLITS[split] == "dev" else ""
    return translations_folder(data) / task.id / PSEUDO / f"{prefix}{language}.jsonl"


def pseudo_languages(task: Task, split: str, data: DataPath) -> tuple[str, ...]:
    """Return the languages of the pseudo sets of a task, sorted."""
    folder = translations_folder(data) / task.id / PSEUDO
    if not folder.is_dir():
        return ()
    prefix = "dev-" if ORIGINAL_SPLITS[split] == "dev" else ""
    return languages_in((unpacked_name(path) for path in folder.iterdir()), prefix)


def languages_in(names: Iterable[str], prefix: str) -> tuple[str, ...]:
    """Return the languages of files named `<prefix><language>.jsonl`, sorted."""
    matches = (re.fullmatch(rf"{re.escape(prefix)}(.+)\.jsonl", name) for name in names)
    return tuple(sorted({match[1] for match in matches if match and is_tag(match[1])}))


def is_tag(language: str) -> bool:
    """Return True if a text is a language tag in canonical case, as in file names."""
    tag = parse_tag(language)
    return tag is not None and str(tag) == language


class PseudoHeader(msgspec.Struct, frozen=True, kw_only=True):
    """First line of a pseudo set.

    Attributes:
        task: id of the task.
        language: language of the translations.
        split: split of the English originals, "test" or "dev".
        originals: checksum of the English originals, see `originals_checksum`.
        examples: number of English originals.
        kept: number of examples in the file.
        translator: name and version of the translator, "" if unknown.
    """

    task: str
    language: str
    split: str
    originals: str
    examples: int
    kept: int
    translator: str = ""


def moved_columns(originals: Examples, task: Task) -> list[str]:
    """Return the columns that differ in a pseudo set: texts, and what was projected onto them."""
    kind = kind_of(task)
    return [name for name in (*kind.translatable, *kind.moves_with_text) if name in originals.columns]


def originals_checksum(originals: Examples, task: Task) -> str:
    """Return a checksum of English examples that does not depend on the layout of their files."""
    names = [*moved_columns(originals, task), originals.gold]
    encode, digest = msgspec.json.Encoder().encode, hashlib.sha256()
    for row in zip(originals.ids, *(originals.column(name) for name in dict.fromkeys(names)), strict=True):
        digest.update(encode(row) + b"\n")
    return digest.hexdigest()


# Types of projected columns; those of other kinds are unchecked.
_TYPES: Mapping[str, Any] = {
    "answers": list[str],
    "answer_starts": list[int],
    "tokens": list[str],
    "offsets": list[tuple[int, int]],
    "tags": list[str],
}


def read_pseudo(
    task: Task, language: str, split: str, data: DataPath, originals_of: Callable[[str], Examples]
) -> Examples:
    """Return a pseudo set; `originals_of` loads the English examples of a split, with gold.

    Raises:
        MissingDataError: there is no such set.
        DataError: the file is damaged, or made from other English examples.
    """
    path = resolve(pseudo_path(task, language, split, data)) if is_tag(language) else None
    if path is None:
        raise _no_set(task, language, split, data)
    originals = originals_of(ORIGINAL_SPLITS[split])
    names, digest = moved_columns(originals, task), Digest()
    lines = _lines(path, task, originals, names, digest)
    header = _checked_header(path, task, language, split, next(lines, None), originals)
    rows_of = {identifier: row for row, identifier in enumerate(originals.ids)}
    line_of: dict[int, Any] = {}
    for line in lines:
        row = rows_of.get(str(line.id))
        if row is None or row in line_of:
            what = f"id {line.id!r} " + ("occurs twice" if row is not None else f"is not in {task.id}/{PIVOT}")
            raise DataError(what, where=str(path), fix=_again(task, language, split))
        line_of[row] = line
    if len(line_of) != header.kept or not line_of:
        what = f"{len(line_of):,} of {header.kept:,} examples: the file is incomplete" if header.kept else "no examples"
        raise DataError(what, where=str(path), fix=_again(task, language, split))
    rows = sorted(line_of)
    columns: dict[str, Column] = {name: [getattr(line_of[row], name) for row in rows] for name in names}
    _check_columns(path, [originals.ids[row] for row in rows], columns)
    return _examples(originals, rows, columns, header, split, path, digest)


def _lines(path: Path, task: Task, originals: Examples, names: list[str], digest: Digest) -> Any:
    """Yield the lines of a file, the header first."""
    types: dict[str, Any] = {}
    for name in names:
        one_text = isinstance(next(iter(originals.column(name)), ""), str)
        text = str if one_text else list[str]
        types[name] = text if name in kind_of(task).translatable else _TYPES.get(name, Any)
    fields = [(name, kind | None, None) for name, kind in types.items()]
    line_type: Any = msgspec.defstruct(
        "PseudoLine", [("id", str | int, ""), ("pseudo", PseudoHeader | None, None), *fields]
    )
    return jsonl(path, line_type, digest)


def _checked_header(path: Path, task: Task, language: str, split: str, first: Any, originals: Examples) -> PseudoHeader:
    header: PseudoHeader | None = None if first is None else first.pseudo
    fix = _again(task, language, split)
    if header is None:
        raise DataError("not a pseudo test set: the first line does not describe it", where=str(path), fix=fix)
    expected = task.id, language, ORIGINAL_SPLITS[split]
    if (header.task, header.language, header.split) != expected:
        what = f"a pseudo set of {header.task}/{header.language} {header.split}, expected {' '.join(expected)}"
        raise DataError(what, where=str(path), fix=fix)
    if header.originals != originals_checksum(originals, task):
        what = f"made from another version of the English {originals.split} set of {task.id}"
        raise DataError(what, where=str(path), fix=fix)
    return header


def _check_columns(path: Path, ids: list[str], columns: Mapping[str, Column]) -> None:
    """Refuse missing fields, answers that are not at their offsets, and tags that do not match their words."""
    named: dict[str, Any] = dict(columns)
    for name, column in named.items():
        for identifier, value in zip(ids, column, strict=True):
            if value is None:
                raise DataError(f"example {identifier!r} has no {name!r}", where=str(path), fix="Translate it again")
    for row, identifier in enumerate(ids):
        one = {name: column[row] for name, column in named.items()}
        wrong = ""
        if {"context", *_TYPES} & {*one} >= {"context", "answers", "answer_starts"}:
            texts, starts = one["answers"], one["answer_starts"]
            located = all(one["context"].startswith(*pair) for pair in zip(texts, starts, strict=False))
            wrong = "" if located and len(texts) == len(starts) > 0 else "an answer is not at its offset"
        elif "tags" in one:
            sizes = {len(one[name]) for name in ("tokens", "offsets", "tags")}
            wrong = "" if len(sizes) == 1 else "tokens, offsets and tags differ in number"
        if wrong:
            raise DataError(f"example {identifier!r}: {wrong}", where=str(path), fix="Translate it again")


def _examples(
    originals: Examples,
    rows: list[int],
    columns: dict[str, Column],
    header: PseudoHeader,
    split: str,
    path: Path,
    digest: Digest,
) -> Examples:
    both = hashlib.sha256(f"{header.originals} {digest.hex}".encode()).hexdigest()
    examples = originals.keep(rows)
    examples.columns.update(columns)
    examples.language, examples.split, examples.checksum = header.language, split, both
    examples.sources = (*originals.sources, str(path))
    # All pseudo sets of a task are translations of the same examples.
    examples.units = examples.units or examples.ids
    if lost := header.examples - header.kept:
        note = f"{lost:,} of {header.examples:,} examples have no translation, or lost their gold in it: left out"
        examples.notes = [*originals.notes, note]
    return examples


def _again(task: Task, language: str, split: str) -> str:
    dev = " --split dev" if ORIGINAL_SPLITS[split] == "dev" else ""
    return f"Run isogloss translate {task.id} --pseudo -l {language}{dev} --with … again"


def _no_set(task: Task, language: str, split: str, data: DataPath) -> MissingDataError:
    others = pseudo_languages(task, split, data)
    has = f"; there are {', '.join(others)}" if others else ""
    what = f"no {split} test set of {task.id}/{language} in {translations_folder(data)}{has}"
    fix = _again(task, language, split).removesuffix(" again")
    return MissingDataError(what, fix=fix, cause=f"no {split} test set in {translations_folder(data)}")
