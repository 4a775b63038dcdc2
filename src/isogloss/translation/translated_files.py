"""Translated examples: from Isogloss files, written by any translator, or else from published files.

Isogloss files have one JSON line per example, as `isogloss export` writes it, with the texts translated in place:

    translations/<task>/translate-train/<language>.jsonl       the English training set in another language
    translations/<task>/translate-test/[dev-]<language>.jsonl  a test (or dev) set in English

Examples are identified by their ids, and everything except the texts (labels in particular) comes from the original.
Training questions have their `answers` translated too: these are searched in the translated passage, and questions
without a match are dropped.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from isogloss.data.files import Digest, atomic_write, resolve
from isogloss.data.tables import jsonl
from isogloss.errors import DataError, IsoglossError, MissingDataError
from isogloss.tasks.examples import Column, Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.loading import data_folder, load
from isogloss.tasks.registry import task as find_task
from isogloss.tasks.task import Task
from isogloss.translation import published_files
from isogloss.translation.published_files import PROJECTED, project_answers, with_answers

DataFolder = str | os.PathLike[str] | None


def translations_folder(data: DataFolder) -> Path:
    """Return the translations folder: ISOGLOSS_TRANSLATIONS, or `translations` in the data folder."""
    named = os.environ.get("ISOGLOSS_TRANSLATIONS")
    return Path(named).expanduser() if named else data_folder(data) / "translations"


def translation_path(task: Task, language: str, split: str, data: DataFolder) -> Path:
    """Return the path of the training set in a language, or of its test or dev set in English."""
    regime = "translate-train" if split == "train" else "translate-test"
    name = f"dev-{language}.jsonl" if split == "dev" else f"{language}.jsonl"
    return translations_folder(data) / task.id / regime / name


def texts_to_replace(examples: Examples) -> tuple[str, ...]:
    """Return the columns that a translator replaces."""
    return tuple(name for name in kind_of(find_task(examples.task)).translatable if name in examples.columns)


def answers_to_project(examples: Examples) -> bool:
    """Return True if training examples have answers that must be found in their translated passages."""
    moving = [name for name in kind_of(find_task(examples.task)).moves_with_text if name in examples.columns]
    if examples.split != "train" or not moving:
        return False
    if not {*moving} <= {*PROJECTED}:
        what = f"{examples.task} cannot be translated: {' and '.join(moving)} would need projecting"
        raise IsoglossError(what)
    return True


def columns_to_translate(examples: Examples) -> list[str]:
    """Return the columns to translate: texts, and the answers of training questions."""
    return [*texts_to_replace(examples), *(PROJECTED[:1] if answers_to_project(examples) else ())]


def write_texts(path: Path, ids: Sequence[str], columns: Mapping[str, Sequence[Any]]) -> Path:
    """Write the texts of some examples to a file; return its path."""
    encode = msgspec.json.Encoder().encode
    with atomic_write(path) as stream:
        for identifier, *values in zip(ids, *columns.values(), strict=True):
            stream.write(encode({"id": identifier, **dict(zip(columns, values, strict=True))}).decode() + "\n")
    return path


@dataclass(frozen=True)
class TranslatedTexts:
    """Texts of a translation file, by example id."""

    path: Path
    lines: Mapping[str, Any]
    checksum: str

    @classmethod
    def read(cls, path: Path, originals: Examples) -> "TranslatedTexts":
        """Read the translations of some examples."""
        ids = set(originals.ids)
        digest = Digest()
        lines: dict[str, Any] = {}
        # One or several texts, as in the originals; other fields are ignored.
        fields: list[tuple[str, Any, None]] = []
        for name in columns_to_translate(originals):
            one_text = isinstance(next(iter(originals.column(name)), ""), str)
            fields.append((name, (str if one_text else tuple[str, ...]) | None, None))
        line_type: Any = msgspec.defstruct("TranslatedLine", [("id", str | int), *fields])
        for line in jsonl(path, line_type, digest):
            if str(line.id) not in ids:
                what = f"id {line.id!r} is not one of {originals.task}/{originals.language} {originals.split}"
                raise DataError(what, where=str(path), fix="Keep the exported ids")
            lines[str(line.id)] = line
        return cls(path, lines, digest.hex)

    def replace_texts(self, originals: Examples, language: str) -> Examples:
        """Return the originals with translated texts."""
        columns: dict[str, Column] = {}
        for name in texts_to_replace(originals):
            translations = [getattr(self.lines[identifier], name) for identifier in originals.ids]
            # Items are shaped like the originals: one text, or the same number of texts.
            for identifier, original, item in zip(originals.ids, originals.column(name), translations, strict=True):
                if item is None or (not isinstance(original, str) and len(item) != len(original)):
                    wanted = "a text" if isinstance(original, str) else f"{len(original)} texts"
                    raise self._incomplete(identifier, f"{name!r} is not {wanted}")
            columns[name] = translations
        return with_texts(originals, columns, language, self.checksum, (str(self.path),))

    def answers(self, ids: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the translated answers to some questions."""
        translated = []
        for identifier in ids:
            answers = self.lines[identifier].answers
            if answers is None:
                raise self._incomplete(identifier, "missing 'answers'")
            translated.append(answers)
        return translated

    def _incomplete(self, identifier: str, what: str) -> DataError:
        fix = "Translate the texts in place and keep the form"
        return DataError(f"example {identifier!r} is incomplete: {what}", where=str(self.path), fix=fix)


def with_texts(
    originals: Examples, columns: Mapping[str, Column], language: str, checksum: str, sources: tuple[str, ...]
) -> Examples:
    """Return examples with other texts."""
    both = Digest()
    both.update(f"{originals.checksum} {checksum}".encode())
    changed = originals.keep(range(len(originals)))
    changed.columns.update(columns)
    changed.language = language
    changed.checksum = both.hex
    changed.sources = (*originals.sources, *sources)
    return changed


def translated_training_set(task: Task, language: str, data: DataFolder) -> Examples:
    """Return the English training set of a task, translated to a language; `notes` count dropped examples.

    Raise a MissingDataError if the translation is missing.
    """
    path = resolve(translation_path(task, language, "train", data))
    if path is None:
        translated = _published(task, language, "train", data)
    else:
        originals = load(task, "en", "train", data)
        texts = TranslatedTexts.read(path, originals)
        present = originals.keep([row for row, identifier in enumerate(originals.ids) if identifier in texts.lines])
        translated = texts.replace_texts(present, language)
        if answers_to_project(present):
            answers = project_answers(present, translated, texts.answers(present.ids))
            translated = with_answers(translated, list(answers))
        if lost := len(originals) - len(present):
            translated.notes = [*translated.notes, f"{lost:,} of {len(originals):,} examples are not translated"]
    if not len(translated):
        where, fix = ", ".join(translated.sources), "; ".join(translated.notes)
        raise DataError("no example left to train on", where=where, fix=fix)
    return translated


def translated_test_set(task: Task, language: str, split: str, data: DataFolder) -> Examples:
    """Return the test or dev set of a language in English, with the original ids and gold.

    The column `language` marks the texts as English. Raise a MissingDataError if the translation is missing.
    """
    originals = load(task, language, split, data)
    path = resolve(translation_path(task, language, split, data))
    if path is None:
        published = _published(task, language, split, data)
        if published.ids != originals.ids:  # they have the same examples in the same order
            wanted = f"{task.id}/{language} {split}"
            what = f"the {len(published):,} examples do not match the {len(originals):,} of {wanted}"
            raise DataError(what, where=", ".join(published.sources))
        columns: dict[str, Column] = {name: published.column(name) for name in texts_to_replace(originals)}
        translated = with_texts(originals, columns, language, published.checksum, published.sources)
    else:
        texts = TranslatedTexts.read(path, originals)
        missing = [identifier for identifier in originals.ids if identifier not in texts.lines]
        if missing:
            what = f"{len(missing):,} of {len(originals):,} examples are not translated, first {missing[0]!r}"
            raise DataError(what, where=str(path), fix="Translate all of them")
        translated = texts.replace_texts(originals, language)
    translated.columns["language"] = ["en"] * len(translated)
    return translated


def _published(task: Task, language: str, split: str, data: DataFolder) -> Examples:
    examples = published_files.find(task, language, split, (translations_folder(data), data_folder(data)))
    if examples is None:
        described = f"{task.id}'s English training set to" if split == "train" else f"{task.id}'s {split} set from"
        fix = f"Run isogloss translate to create {translation_path(task, language, split, data)}"
        raise MissingDataError(f"no translation of {described} {language}", fix=fix)
    examples.root = data_folder(data)
    return examples
