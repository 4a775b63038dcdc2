"""`isogloss.translate`: the verb as a Python function."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from isogloss.errors import IsoglossError, UnknownNameError, unknown
from isogloss.languages import language as find_language
from isogloss.tasks.pseudo_sets import PSEUDO_SPLITS
from isogloss.tasks.registry import no_language
from isogloss.tasks.registry import task as find_task
from isogloss.tasks.task import SPLITS, Task
from isogloss.training.regimes import regime
from isogloss.translation.cached_translator import CachedTranslator, TranslationCounts
from isogloss.translation.pseudo_translation import no_pseudo_set, translate_pseudo
from isogloss.translation.translate import projection_notes
from isogloss.translation.translate import translate as translate_set
from isogloss.translation.translators import TranslationFunction, Translator, UntranslatedError, open_translator

ENGLISH = "en"


@dataclass(frozen=True, kw_only=True)
class TranslatedSet:
    """A translated training or test set.

    Attributes:
        task: id of the task.
        language: the language other than English.
        split: "train", "dev", "test", "pseudo" or "pseudo-dev".
        path: the file, None if some texts have no translation.
        counts: counts of texts, None if the translator is a function.
        notes: remarks of the translator, and counts of projected answers or tags.
        untranslated: texts without a translation, with the reasons.
        failure: the reasons in words, "" if the set is complete.
    """

    task: str
    language: str
    split: str
    path: Path | None
    counts: TranslationCounts | None
    notes: tuple[str, ...] = ()
    untranslated: Mapping[str, str] = field(default_factory=dict, repr=False)
    failure: str = ""


def translate(  # noqa: PLR0913 - the options of the verb
    task: str,
    languages: str | Sequence[str],
    translator: "str | Translator | TranslationFunction",
    *,
    split: str = "",
    pseudo: bool = False,
    data: str | os.PathLike[str] | None = None,
    settings: Mapping[str, Any] | None = None,
    cache: str | os.PathLike[str] | None = None,
    quiet: bool = False,
) -> list[TranslatedSet]:
    """Translate an English training set into languages, their test or dev sets into English, or make pseudo test sets.

    A pseudo test set is the English test set in a language without one, with its gold: the split "pseudo".

    Every distinct text is translated once and kept in a cache, so that a call that was interrupted continues where it
    stopped.

    Args:
        task: name of the task.
        languages: languages other than English; for pseudo test sets any language, also those the task does not have.
        translator: a command, "apertium:PAIR", "hf:MODEL", "llm:MODEL" or "replay:PATH" (see `open_translator`); a
            `Translator`; or a function that returns one translation per text, which is not cached.
        split: "train" (from English, the default), or "test" or "dev" (into English); for pseudo test sets "test" (the
            default) or "dev", from English.
        pseudo: True to make pseudo test sets.
        data: data folder; default ISOGLOSS_DATA or the user's cache.
        settings: settings of the translator, such as `{"beams": 1}`.
        cache: folder of translated texts; default `translations` in the cache folder.
        quiet: True to hide the progress bar.

    Returns:
        One set per language, with its file and counts. Without a translation of some texts, the set has no file.

    Raises:
        UnknownNameError: unknown task, language, split or setting.
        IsoglossError: no regime can use the translation, there are no texts, or the translator fails.
    """
    sets = translated_sets(
        task,
        languages,
        translator,
        split=split,
        pseudo=pseudo,
        data=data,
        settings=settings,
        cache=cache,
        quiet=quiet,
    )
    return list(sets)


def translated_sets(  # noqa: PLR0913 - the options of the verb
    task: str,
    languages: str | Sequence[str],
    translator: "str | Translator | TranslationFunction",
    *,
    split: str = "",
    pseudo: bool = False,
    data: str | os.PathLike[str] | None = None,
    settings: Mapping[str, Any] | None = None,
    cache: str | os.PathLike[str] | None = None,
    quiet: bool = False,
) -> Iterator[TranslatedSet]:
    """Yield each set when it is translated; see `translate`."""
    if pseudo:
        entry, chosen, split = checked_pseudo_request(task, languages, split)
    else:
        split = split or "train"
        entry, chosen = checked_request(task, languages, split)
    make = translate_pseudo if pseudo else translate_set
    for language in chosen:
        source, target = (ENGLISH, language) if pseudo or split == "train" else (language, ENGLISH)
        opened = open_translator(translator, source, target, settings) if isinstance(translator, str) else translator
        root = None if cache is None else Path(cache)
        cached = CachedTranslator(opened, root, quiet=quiet) if isinstance(opened, Translator) else None
        path, reasons, failure = None, dict[str, str](), ""
        try:
            path = make(entry, language, split, data, cached or opened)
        except UntranslatedError as error:
            reasons, failure = error.reasons, str(error)
        yield TranslatedSet(
            task=entry.id,
            language=language,
            split=split,
            path=path,
            counts=None if cached is None else cached.counts,
            notes=(*(() if cached is None else cached.notes), *([] if path is None else projection_notes(path))),
            untranslated=reasons,
            failure=failure,
        )


def checked_request(task: str, languages: str | Sequence[str], split: str) -> tuple[Task, list[str]]:
    """Return the task and the languages, each once; refuse what no regime can use.

    Raises:
        UnknownNameError: unknown task, language or split.
        IsoglossError: no regime can use a translation of the task.
    """
    entry = find_task(task)
    if split not in SPLITS:
        raise unknown("split", split, SPLITS)
    others = {*entry.every_language} - {ENGLISH}
    chosen = list(dict.fromkeys([languages] if isinstance(languages, str) else languages))
    if not chosen or ENGLISH in chosen:
        fix = f"Choose one of {', '.join(sorted(others))}"
        raise UnknownNameError("expected a language other than English", fix=fix)
    for language in chosen:
        if language not in others:
            raise no_language(entry.id, language, others)
    if reason := regime("translate-train" if split == "train" else "translate-test").refusal(entry):
        raise IsoglossError(f"no regime can use this translation: {reason}")
    return entry, chosen


def checked_pseudo_request(task: str, languages: str | Sequence[str], split: str) -> tuple[Task, list[str], str]:
    """Return the task, the languages, each once, and the split of the pseudo test sets, "pseudo" by default.

    Raises:
        UnknownNameError: unknown task, language or split.
        IsoglossError: the task cannot have pseudo test sets.
    """
    entry = find_task(task)
    if (split or "test") not in ("test", "dev"):
        raise unknown("split of a pseudo test set", split, ("test", "dev"))
    if reason := no_pseudo_set(entry):
        raise IsoglossError(f"{entry.id} cannot have pseudo test sets: {reason}")
    named = [languages] if isinstance(languages, str) else languages
    chosen = list(dict.fromkeys(find_language(name).code for name in named))
    if not chosen or ENGLISH in chosen:
        raise UnknownNameError("expected a language other than English", fix="Name the languages to translate into")
    return entry, chosen, PSEUDO_SPLITS[split or "test"]
