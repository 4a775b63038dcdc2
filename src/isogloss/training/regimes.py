"""Regimes: the training sets a system learns from, and the translation of its test sets.

The names are those of the XTREME and XTREME-R papers. A regime lists the fits of a task and the languages each serves,
gathers a fit's training set, and loads the examples of a cell, translated if the regime requires it. Missing data only
skips the cells that need it.
"""

import hashlib
import random
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from isogloss.errors import DataError, MissingDataError, unknown
from isogloss.languages import language as find_language
from isogloss.tasks.examples import Column, Examples
from isogloss.tasks.held_out import without_dev
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.loading import load
from isogloss.tasks.task import Task
from isogloss.translation.translated_files import (
    DataFolder,
    translated_test_set,
    translated_training_set,
    with_translated_gold,
)

_MULTI = "multi-source"
_FEW, _FIRST = "in-language-", "first-"
_PROMPTED = "--regime none, english, in-language; with -native or -translate-test"


@dataclass(frozen=True)
class Fit:
    """One training run: the languages it serves, and its target language ("" for all)."""

    languages: tuple[str, ...]
    target: str = ""


@dataclass(frozen=True, kw_only=True)
class Regime:
    """Choice of training and test data."""

    name: str
    title: str
    sources: tuple[str, ...] = ("en",)  # languages of the training sets, unless one of the next two is set
    per_language: bool = False  # True to train one model per language, on that language's training set
    all_languages: bool = False  # True to train one model on the training sets of all languages that have one
    translated: bool = False  # True to use translations of the English training set for other languages
    asks_translated: bool = False  # True to translate test sets to English
    translated_gold: bool = False  # True to score on gold that is translated too, as XTREME does for question answering
    limit: int = 0  # maximum number of training examples, drawn by the seed; 0 for all
    first: bool = False  # True to take the first ones of the file instead, as XTREME's scripts do
    untrained: bool = False  # True to use no training set
    prompt_language: Literal["", "english", "native"] = ""  # of instructions; set for regimes of prompted systems only

    def mismatch(self, *, prompted: bool) -> str:
        """Return why the regime does not fit a system that is prompted, or one that is trained; "" if it does."""
        if self.prompt_language and not prompted:
            return f"{self.name} is for language models that are prompted"
        in_language = self.per_language and not self.translated and not self.limit
        if prompted and not self.prompt_language and not in_language:
            return f"{self.name} trains; a prompted model uses none, english or in-language examples ({_PROMPTED})"
        return ""

    @property
    def same_training(self) -> tuple["Regime", ...]:
        """Other named regimes with the same training sets, which translate test sets differently."""

        def training(regime: "Regime") -> "Regime":
            return replace(regime, name="", title="", asks_translated=False, translated_gold=False)

        return tuple(other for other in _NAMED if other.name != self.name and training(other) == training(self))

    @property
    def settings(self) -> dict[str, Any]:
        """Settings that the regime implies for a prompted system."""
        return {"prompt_language": self.prompt_language} if self.prompt_language else {}

    def refusal(self, task: Task, train_task: Task | None = None) -> str:
        """Return why a task is not possible under this regime, or "" if it is; it may train on another task's set."""
        reason = ""
        if self.translated:
            reason = kind_of(train_task or task).no_translated_training
        elif self.asks_translated:
            kind = kind_of(task)
            reason = kind.no_translated_test or (kind.no_translated_gold if self.translated_gold else "")
        return f"{self.name} is not available for {task.id}: {reason}" if reason else ""

    def fits(self, languages: Sequence[str]) -> list[Fit]:
        """Return the fits that serve some languages."""
        if self.per_language:
            return [Fit((language,), language) for language in languages]
        return [Fit(tuple(languages))] if languages else []

    def training(self, task: Task, fit: Fit, data: DataFolder, seed: int, *, whole: bool = False) -> Examples:
        """Return a fit's training set, several sets joined; raise a MissingDataError if it is not available.

        A dev split that is cut from the training set is left out, unless the set is to be `whole`.
        """
        notes: list[str] = []
        if self.all_languages:
            parts = []
            languages = tuple(dict.fromkeys(("en", *task.every_language)))
            for language in languages:
                with suppress(MissingDataError):
                    parts.append(self._part(task, language, data, whole))
            available = ", ".join(part.language for part in parts)
            if len(parts) < 2:
                only = f"only {available} is" if parts else "none is"
                what = f"{self.name} needs {task.id} training sets in several languages; {only} available"
                raise MissingDataError(what, fix="Add the files, or use another regime")
            if len(parts) < len(languages):
                notes = [f"{len(parts)} of {len(languages)} languages have one: {available}"]
        else:
            languages = (fit.target,) if self.per_language else self.sources
            parts = [self._part(task, language, data, whole) for language in languages]
        parts = [self._limited(part, seed) for part in parts]
        train = parts[0] if len(parts) == 1 else joined(parts)
        train.notes = [*notes, *train.notes]
        return train

    def examples(
        self, task: Task, language: str, split: str, data: DataFolder, *, allow_partial: bool = False
    ) -> Examples:
        """Return the examples of a cell, translated if the regime requires it, or raise a MissingDataError."""
        if self.translated_gold and language == "en":
            fix = "See the English score of zero-shot"
            raise MissingDataError(f"{self.name} translates to English, so it has no English cell", fix=fix)
        # Candidates of other languages compete with those in English.
        translated = self.asks_translated and (language != "en" or kind_of(task).shared_pool)
        read = translated_test_set if translated else load
        examples = read(task, language, split, data, allow_partial=allow_partial)
        return with_translated_gold(examples) if self.translated_gold else examples

    def _part(self, task: Task, language: str, data: DataFolder, whole: bool) -> Examples:
        name = "English" if language == "en" else language
        cuts_dev = bool(task.dev_from_train) and not whole
        if self.translated and language != "en":
            translated = translated_training_set(task, language, data)
            return without_dev(task, translated, _dev_ids(task, data)) if cuts_dev else translated
        if language not in task.every_language:
            raise _no_training_set(task, language)
        if language != "en" and task.english_training:
            what = f"{task.id} has only a machine-translated {name} training set"
            raise MissingDataError(what, fix="Use the regime translate-train")
        train = load(task, language, "train", data)
        return without_dev(task, train) if cuts_dev else train

    def _limited(self, examples: Examples, seed: int) -> Examples:
        """Return a subset of the regime's size, in the original order."""
        if not self.limit or len(examples) <= self.limit:
            return examples
        rng = random.Random(f"{self.name}/{examples.task}/{examples.language}/{seed}")  # noqa: S311 - not secret
        rows = [*range(self.limit)] if self.first else sorted(rng.sample(range(len(examples)), self.limit))
        drawn = examples.keep(rows)
        # Caches identify examples by checksum, so a subset needs its own.
        drawn.checksum = _checksum([f"{examples.checksum} {rows}"])
        how = "the first of the file" if self.first else f"drawn with seed {seed}"
        drawn.notes = [*examples.notes, f"{self.limit:,} of {len(examples):,} examples, {how}"]
        return drawn


def _no_training_set(task: Task, language: str) -> MissingDataError:
    """Return an error that names the regimes for which the task has training sets."""
    fix = ""
    if language == "en" and any(layout.train for layout in task.layouts) and not task.english_training:
        regimes = f"in-language, in-language-all or {_MULTI}:{task.languages[0]}"
        fix = f"It has some in other languages: use --regime {regimes}"
    name = "English" if language == "en" else language
    cause = f"{task.id} has no training set in the language"
    return MissingDataError(f"{task.id} has no {name} training set", fix=fix, cause=cause)


def _dev_ids(task: Task, data: DataFolder) -> set[str]:
    """Return the ids of the English dev split, or none if its files are missing: then it selects nothing."""
    with suppress(MissingDataError):
        return {*load(task, "en", "dev", data).ids}
    return set()


def demonstrations(regime: Regime, task: Task, fit: Fit, data: DataFolder) -> Examples:
    """Return the examples that prompts may show: the training set, or the dev set where there is none.

    Raises:
        MissingDataError: the language has neither.
    """
    language = fit.target if regime.per_language else "en"
    if language in task.every_language:
        translated = task.english_training and language != "en"
        for split in ("dev",) if translated else ("train", "dev"):
            with suppress(MissingDataError):
                examples = load(task, language, split, data)
                if examples.has_gold and not kind_of(task).placeholder(examples):
                    return examples
    what = f"{task.id} has no {language} examples with answers outside of its test set"
    raise MissingDataError(what, fix="Add its training or dev set, or prompt without examples (--regime none)")


def _few_examples(limit: int, *, first: bool = False) -> Regime:
    which = f"the first {limit:,}" if first else f"{limit:,}"
    title = f"trained on {which} examples of the target language, one model per language"
    return Regime(name=f"{_FEW}{_FIRST * first}{limit}", title=title, per_language=True, limit=limit, first=first)


_ENGLISH_TO_TARGET = "trained on English translated to the target language, one model per language"
_TRANSLATIONS = "trained on English and all its translations"


def _prompted(name: str, title: str, **choices: Any) -> Regime:
    return Regime(name=name, title=f"prompted {title}", **{"prompt_language": "english", **choices})


_NATIVE = "instructions in the task's language"
_NAMED = (
    Regime(name="zero-shot", title="trained on English"),
    Regime(name="translate-train", title=_ENGLISH_TO_TARGET, per_language=True, translated=True),
    Regime(name="translate-train-all", title=_TRANSLATIONS, all_languages=True, translated=True),
    Regime(name="translate-test", title="trained on English, tested on translations to English", asks_translated=True),
    Regime(
        name="translate-test-xtreme",
        title="trained on English, tested on translations to English with translated gold (not comparable)",
        asks_translated=True,
        translated_gold=True,
    ),
    Regime(name="in-language", title="trained on the target language, one model per language", per_language=True),
    _few_examples(1000),
    Regime(name="in-language-all", title="trained on the training sets of all languages", all_languages=True),
    _prompted("none", "without examples", untrained=True),
    _prompted("none-native", f"without examples, {_NATIVE}", untrained=True, prompt_language="native"),
    _prompted(
        "none-translate-test", "without examples, on translations to English", untrained=True, asks_translated=True
    ),
    _prompted("english", "with English examples"),
    _prompted("english-native", f"with English examples, {_NATIVE}", prompt_language="native"),
    _prompted("english-translate-test", "with English examples, on translations to English", asks_translated=True),
    _prompted(
        "in-language-native",
        f"with examples of the target language, {_NATIVE}",
        per_language=True,
        prompt_language="native",
    ),
)
REGIMES = {regime.name: regime for regime in _NAMED}


def regime(name: str) -> Regime:
    """Return a regime by name.

    `in-language-500` learns from any number of examples, `in-language-first-500` from the first ones of the file,
    `multi-source:en,de` from the training sets of any languages.

    Raises:
        UnknownNameError: unknown regime or language.
    """
    if name in REGIMES:
        return REGIMES[name]
    if few := re.fullmatch(rf"{_FEW}({_FIRST})?([1-9][0-9]{{0,8}})", name, re.ASCII):
        return _few_examples(int(few[2]), first=bool(few[1]))
    # Also accept the folder name, multi-source-de-en.
    codes = re.split("[-:,]", name.removeprefix(_MULTI)) if name.startswith(_MULTI) else ()
    sources = tuple(sorted({find_language(code.strip()).code for code in codes if code.strip()}))
    if not sources:
        raise unknown("regime", name, (*REGIMES, f"{_MULTI}:en,de"))
    title = f"trained on the training sets of {', '.join(sources)}"
    return Regime(name="-".join((_MULTI, *sources)), title=title, sources=sources)


def joined(parts: Sequence[Examples]) -> Examples:
    """Join training sets of several languages, as `en+de`; ids start with the language, also in a column `language`."""
    first = parts[0]
    for part in parts:
        if part.gold not in part.columns:
            raise DataError("the training file has no gold labels", where=", ".join(part.sources))
    shared = [name for name in first.columns if all(name in part.columns for part in parts)]

    def chained(name: str) -> list[Any]:
        return [item for part in parts for item in part.column(name)]

    columns: dict[str, Column] = {name: partial(chained, name) for name in shared}
    columns["language"] = [part.language for part in parts for _ in range(len(part))]
    return replace(
        first,
        language="+".join(part.language for part in parts),
        ids=[f"{part.language}:{identifier}" for part in parts for identifier in part.ids],
        columns=columns,
        units=None,
        clusters=None,
        checksum=_checksum([f"{part.language} {part.checksum}" for part in parts]),
        sources=tuple(dict.fromkeys(source for part in parts for source in part.sources)),
        notes=[f"{part.language}: {note}" for part in parts for note in part.notes],
    )


def _checksum(lines: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
