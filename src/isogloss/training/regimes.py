"""Regimes: which training sets a system learns from, and whether its test sets are translated.

The names are those of the XTREME and XTREME-R papers. A regime says which fits a task needs and which languages each of
them serves, gathers what a fit learns from, and gives the examples of a cell, translated where the regime has it so.
What is not there is a `DataError` without a place, as everywhere: the cells that need it are skipped, and no others.
"""

import hashlib
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from isogloss.errors import DataError, unknown
from isogloss.languages import language as find_language
from isogloss.tasks.examples import Column, Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.loading import load
from isogloss.tasks.task import Task
from isogloss.translation.translated_examples import translated_test_set, translated_training_set
from isogloss.translation.translated_files import DataFolder

_MULTI = "multi-source"
_FEW = "in-language-"


@dataclass(frozen=True)
class Fit:
    """One fit: the languages it serves, and the one it is made for ("" where it is for all)."""

    languages: tuple[str, ...]
    target: str = ""


@dataclass(frozen=True)
class Regime:
    """What a system learns from.

    Attributes:
        name: as in folders and tables.
        title: what it is, in a line.
        sources: the languages of the training sets, unless the next two say otherwise.
        per_language: every language has its own fit, on its own training set.
        all_languages: one fit learns from the training sets of all languages that have one.
        translated: training sets other than the English are the English one, translated.
        asks_translated: test sets are translated to English.
        limit: training examples at most, a subset drawn by the seed; 0 for all.
    """

    name: str
    title: str
    sources: tuple[str, ...] = ("en",)
    per_language: bool = False
    all_languages: bool = False
    translated: bool = False
    asks_translated: bool = False
    limit: int = 0

    def refusal(self, task: Task, train_task: Task | None = None) -> str:
        """Why a task cannot be done under this regime, "" if it can.

        Args:
            task: whose examples are predicted.
            train_task: the task whose training set is used, where it is another.
        """
        reason = ""
        if self.translated:
            reason = kind_of(train_task or task).no_translated_training
        elif self.asks_translated:
            reason = kind_of(task).no_translated_test
        return f"{self.name} is not for {task.id}: {reason}" if reason else ""

    def fits(self, languages: Sequence[str]) -> list[Fit]:
        """The fits that serve some languages."""
        if self.per_language:
            return [Fit((language,), language) for language in languages]
        return [Fit(tuple(languages))] if languages else []

    def training(self, task: Task, fit: Fit, data: DataFolder, seed: int) -> Examples:
        """What a fit learns from: one training set, or several one after the other.

        Of several, ids begin with the language, the column `language` has the language of each row, and the language of
        the whole is `en+de`.

        Raises:
            DataError: a training set is not there (without `where`), or damaged.
        """
        parts = [self._limited(part, seed) for part in self._parts(task, fit, data)]
        return parts[0] if len(parts) == 1 else joined(parts)

    def examples(self, task: Task, language: str, split: str, data: DataFolder) -> Examples:
        """The examples of a cell, translated where the regime has it so.

        Raises:
            DataError: they, or their translation, are not there (without `where`), or damaged.
        """
        if self.asks_translated and language != "en":
            return translated_test_set(task, language, split, data)
        return load(task, language, split, data)

    def _parts(self, task: Task, fit: Fit, data: DataFolder) -> list[Examples]:
        if not self.all_languages:
            languages = (fit.target,) if self.per_language else self.sources
            return [self._part(task, language, data) for language in languages]
        everyone = dict.fromkeys(("en", *task.every_language))
        parts = [part for language in everyone if (part := self._part_if_there(task, language, data)) is not None]
        if len(parts) < 2:
            only = f"only of {parts[0].language}" if parts else "of no language"
            what = f"{self.name} is about many languages, but training sets of {task.id} are here {only}"
            raise DataError(what, fix="Add the files, or use another regime")
        return parts

    def _part_if_there(self, task: Task, language: str, data: DataFolder) -> Examples | None:
        try:
            return self._part(task, language, data)
        except DataError as error:
            if error.where:
                raise
            return None

    def _part(self, task: Task, language: str, data: DataFolder) -> Examples:
        """The training set of a language."""
        name = "English" if language == "en" else language
        if self.translated and language != "en":
            return translated_training_set(task, language, data)
        if language not in task.every_language:
            raise DataError(f"{task.id} has no {name} training set")
        if language != "en" and task.english_training:
            what = f"{task.id} has no {name} training set but machine-translated ones"
            raise DataError(what, fix="The regime for those is translate-train")
        return load(task, language, "train", data)

    def _limited(self, examples: Examples, seed: int) -> Examples:
        """A subset of the regime's size, in the order of the whole."""
        if not self.limit or len(examples) <= self.limit:
            return examples
        rng = random.Random(f"{self.name}/{examples.task}/{examples.language}/{seed}")  # noqa: S311 - not secret
        rows = sorted(rng.sample(range(len(examples)), self.limit))
        kept = examples.keep(rows)
        # Others know examples by their checksum, and a subset is not the whole.
        kept.checksum = _checksum([f"{examples.checksum} {rows}"])
        kept.notes = [*examples.notes, f"{self.limit:,} of {len(examples):,} examples, drawn with seed {seed}"]
        return kept


def _few_examples(limit: int) -> Regime:
    title = f"for each language, on {limit:,} examples of its own"
    return Regime(f"{_FEW}{limit}", title, per_language=True, limit=limit)


_NAMED = (
    Regime("zero-shot", "trained on English"),
    Regime("translate-train", "for each language, on English translated to it", per_language=True, translated=True),
    Regime("translate-train-all", "on English and all its translations", all_languages=True, translated=True),
    Regime("translate-test", "trained on English, asked in translations to English", asks_translated=True),
    Regime("in-language", "for each language, on its own training set", per_language=True),
    _few_examples(1000),
    Regime("in-language-all", "on the training sets of all languages together", all_languages=True),
)
REGIMES = {one.name: one for one in _NAMED}


def regime(name: str) -> Regime:
    """A regime by name.

    `in-language-500` learns from any number of examples, `multi-source:en,de` from the training sets of any languages.

    Raises:
        UnknownNameError: no such regime, or no such language.
    """
    if name in REGIMES:
        return REGIMES[name]
    if re.fullmatch(rf"{_FEW}[1-9][0-9]{{0,8}}", name, re.ASCII):
        return _few_examples(int(name.removeprefix(_FEW)))
    if not name.startswith(_MULTI):
        raise unknown("regime", name, (*REGIMES, f"{_MULTI}:en,de"))
    # The folder's name, multi-source-de-en, is understood as well as the user's.
    codes = name.removeprefix(_MULTI).replace("-", ",").replace(":", ",").split(",")
    sources = tuple(sorted({find_language(code.strip()).code for code in codes if code.strip()}))
    if not sources:
        raise unknown("regime", name, (*REGIMES, f"{_MULTI}:en,de"))
    return Regime("-".join((_MULTI, *sources)), f"on the training sets of {', '.join(sources)}", sources=sources)


def joined(parts: Sequence[Examples]) -> Examples:
    """Training sets of several languages, one after the other; see `Regime.training`."""
    first = parts[0]
    for part in parts:
        if part.gold not in part.columns:
            raise DataError("the training file has no gold answers", where=", ".join(part.sources))
    shared = [name for name in first.columns if all(name in part.columns for part in parts)]
    columns: dict[str, Column] = {name: _chained(parts, name) for name in shared}
    columns["language"] = [part.language for part in parts for _ in range(len(part))]
    return replace(
        first,
        language="+".join(part.language for part in parts),
        ids=[f"{part.language}:{identifier}" for part in parts for identifier in part.ids],
        columns=columns,
        units=None,
        checksum=_checksum([f"{part.language} {part.checksum}" for part in parts]),
        sources=tuple(dict.fromkeys(source for part in parts for source in part.sources)),
        notes=[f"{part.language}: {note}" for part in parts for note in part.notes],
    )


def _chained(parts: Sequence[Examples], name: str) -> Callable[[], Sequence[Any]]:
    return lambda: [item for part in parts for item in part.column(name)]


def _checksum(lines: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
