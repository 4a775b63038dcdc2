"""Translated data: a folder of our own that any translator can fill, and the files of others.

Our own folder has one JSON line an example, as `isogloss export` writes it, with the texts translated in place:

    translations/<task>/translate-train/<language>.jsonl       the English training set in another language
    translations/<task>/translate-test/[dev-]<language>.jsonl  a test (or dev) set in English

Examples are known by their ids, and all but the texts (labels above all) is the original's. Questions to learn from
have their `answers` translated too: these are looked for in the translated passage, and a question whose answer is not
in it is left out.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from isogloss.data.files import Digest, resolve
from isogloss.data.tables import jsonl
from isogloss.errors import DataError
from isogloss.tasks.examples import Column, Examples
from isogloss.tasks.loading import data_folder, load
from isogloss.tasks.registry import task as find_task
from isogloss.tasks.task import Task
from isogloss.translation import published_files
from isogloss.translation.aligned import Answers, located, with_answers

# The columns that are translated, by kind; COPA's question is a word of its format (cause, effect), not of a language.
TEXTS = {
    "classification": ("text", "text_a", "text_b"),
    "choice": ("premise", "choices"),
    "qa": ("question", "context"),
}

Data = str | os.PathLike[str] | None


class _Row(msgspec.Struct):
    """A line of a file of our own folder; what it has beyond this is passed over."""

    id: str | int
    text: str | None = None
    text_a: str | None = None
    text_b: str | None = None
    premise: str | None = None
    choices: tuple[str, ...] | None = None
    question: str | None = None
    context: str | None = None
    answers: list[str] | None = None


def _folder(data: Data) -> Path:
    """The folder that ISOGLOSS_TRANSLATIONS names, else `translations` in the data folder."""
    named = os.environ.get("ISOGLOSS_TRANSLATIONS")
    return Path(named).expanduser() if named else data_folder(data) / "translations"


def own_file(task: Task, language: str, split: str, data: Data) -> Path:
    """The file of our own folder with the training set in a language, or with a test or dev set from it in English."""
    regime = "translate-train" if split == "train" else "translate-test"
    return _folder(data) / task.id / regime / (f"dev-{language}.jsonl" if split == "dev" else f"{language}.jsonl")


def texts_of(examples: Examples) -> list[str]:
    """The columns of some examples that are translated."""
    return [name for name in TEXTS.get(find_task(examples.task).kind, ()) if name in examples.columns]


def training(task: Task, language: str, data: Data) -> Examples:
    """The English training set of a task, translated to a language; its `notes` count what was left out.

    Raises:
        DataError: there is none (without `where`), or it is damaged.
    """
    path = resolve(own_file(task, language, "train", data))
    if path is None:
        found = _published(task, language, "train", data)
    else:
        originals = load(task, "en", "train", data)
        texts = _Texts.read(path, originals)
        rows = [row for row, identifier in enumerate(originals.ids) if identifier in texts.rows]
        found = texts.over(originals.keep(rows), language)
        if "answers" in originals.columns:
            found = with_answers(found, list(texts.answers(originals.keep(rows), found)))
        if lost := len(originals) - len(rows):
            found.notes = [*found.notes, f"{lost:,} of {len(originals):,} examples are not translated"]
    if not len(found):
        raise DataError("no example is left to learn from", where=", ".join(found.sources), fix="; ".join(found.notes))
    return found


def questions(task: Task, language: str, split: str, data: Data) -> Examples:
    """The examples of a language in English: they are still that language's, and have its ids and gold.

    The column `language` says that the texts are English.

    Raises:
        DataError: there is no translation (without `where`), or it does not fit the originals.
    """
    originals = load(task, language, split, data)
    path = resolve(own_file(task, language, split, data))
    if path is None:
        return _in_english(originals, _published(task, language, split, data))
    texts = _Texts.read(path, originals)
    missing = [identifier for identifier in originals.ids if identifier not in texts.rows]
    if missing:
        what = f"{len(missing):,} of {len(originals):,} examples are not translated, {missing[0]!r} is the first"
        raise DataError(what, where=str(path), fix="Translate them all: every one is asked")
    asked = texts.over(originals, language)
    asked.columns["language"] = ["en"] * len(asked)
    return asked


def _published(task: Task, language: str, split: str, data: Data) -> Examples:
    found = published_files.find(task, language, split, (_folder(data), data_folder(data)))
    if found is None:
        which = f"{task.id}'s English training set to" if split == "train" else f"{task.id}'s {split} set from"
        fix = f"isogloss translate makes one; it would be {own_file(task, language, split, data)}"
        raise DataError(f"there is no translation of {which} {language}", fix=fix)
    found.root = data_folder(data)
    return found


def _in_english(originals: Examples, translated: Examples) -> Examples:
    """The originals with the texts of published translations: the same examples in the same order."""
    if translated.ids != originals.ids:
        wanted = f"{originals.task}/{originals.language} {originals.split}"
        what = f"its {len(translated):,} examples are not the {len(originals):,} of {wanted}, one by one"
        raise DataError(what, where=", ".join(translated.sources))
    columns: dict[str, Column] = {name: translated.column(name) for name in texts_of(originals)}
    columns["language"] = ["en"] * len(originals)
    return _retold(originals, columns, originals.language, translated.checksum, translated.sources)


def _retold(
    originals: Examples, columns: Mapping[str, Column], language: str, checksum: str, sources: tuple[str, ...]
) -> Examples:
    """Examples with other texts."""
    both = Digest()
    both.update(f"{originals.checksum} {checksum}".encode())
    told = originals.keep(range(len(originals)))
    told.columns.update(columns)
    told.language = language
    told.checksum = both.hex
    told.sources = (*originals.sources, *sources)
    return told


@dataclass(frozen=True)
class _Texts:
    """The translated texts of a file of our own folder, by id."""

    path: Path
    rows: Mapping[str, _Row]
    checksum: str

    @classmethod
    def read(cls, path: Path, originals: Examples) -> "_Texts":
        """The file of some examples."""
        known = set(originals.ids)
        digest = Digest()
        rows: dict[str, _Row] = {}
        for row in jsonl(path, _Row, digest):
            if str(row.id) not in known:
                what = f"id {row.id!r} is not one of {originals.task}/{originals.language} {originals.split}"
                raise DataError(what, where=str(path), fix="Keep the ids of the texts you are given")
            rows[str(row.id)] = row
        return cls(path, rows, digest.hex)

    def over(self, originals: Examples, language: str) -> Examples:
        """The originals in these words."""
        columns: dict[str, Column] = {name: list(self._column(originals, name)) for name in texts_of(originals)}
        return _retold(originals, columns, language, self.checksum, (str(self.path),))

    def _column(self, originals: Examples, name: str) -> Iterator[Any]:
        """A column, each item in the form of the original's: a text, or as many texts as it has."""
        for identifier, original in zip(originals.ids, originals.column(name), strict=True):
            given = getattr(self.rows[identifier], name)
            if given is None or (not isinstance(original, str) and len(given) != len(original)):
                wanted = "a text" if isinstance(original, str) else f"{len(original)} texts"
                raise self._lacking(identifier, f"its {name!r} is not {wanted}")
            yield given

    def answers(self, originals: Examples, told: Examples) -> Iterator[Answers]:
        """The answers to each question that are in its translated passage."""
        before = zip(originals["context"], originals["answer_starts"], strict=True)
        for identifier, context, (original, starts) in zip(told.ids, told["context"], before, strict=True):
            answers = self.rows[identifier].answers
            if answers is None:
                raise self._lacking(identifier, "it has no 'answers'")
            # A translated answer is about as far into its passage as the original.
            stretch = len(context) / max(1, len(original))
            places = [round(start * stretch) for start in starts] + [0] * len(answers)
            yield located(context, list(zip(answers, places, strict=False)))

    def _lacking(self, identifier: str, what: str) -> DataError:
        fix = "Translate the texts in place and keep the form"
        return DataError(f"example {identifier!r} is not whole: {what}", where=str(self.path), fix=fix)
