"""`isogloss.translate`: the verb as a Python function."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from isogloss.checked_settings import checked_settings
from isogloss.errors import IsoglossError, UnknownNameError, named, unknown
from isogloss.languages import language as find_language
from isogloss.tasks.examples import Examples
from isogloss.tasks.pseudo_sets import PSEUDO_SPLITS
from isogloss.tasks.registry import given_task as find_task
from isogloss.tasks.registry import no_language
from isogloss.tasks.task import SPLITS, Task
from isogloss.training.regimes import regime
from isogloss.translation.alignment import Aligner, open_aligner
from isogloss.translation.artefacts import compare_examples
from isogloss.translation.cached_translator import CachedTranslator, TranslationCounts
from isogloss.translation.pseudo_translation import no_pseudo_set, translate_pseudo
from isogloss.translation.translate import translate as translate_set
from isogloss.translation.translation_records import projection_notes
from isogloss.translation.translation_reports import (
    MEASURES,
    GarbageTranslationError,
    TranslationReport,
    allowed_limits,
)
from isogloss.translation.translators import TranslationFunction, Translator, UntranslatedError, open_translator

ENGLISH = "en"


@dataclass(frozen=True, kw_only=True)
class TranslatedSet:
    """A translated training or test set.

    Attributes:
        task: id of the task.
        language: the language other than English.
        split: "train", "dev", "test", "pseudo" or "pseudo-dev".
        path: the file, None if some texts have no translation or the translations are garbage.
        counts: counts of texts, None if the translator is a function.
        notes: remarks of the translator, and counts of projected answers or tags.
        report: artefacts of the translations, None if some texts have no translation.
        untranslated: texts without a translation, with the reasons.
        failure: why there is no file, "" if there is one.
    """

    task: str
    language: str
    split: str
    path: Path | None
    counts: TranslationCounts | None
    notes: tuple[str, ...] = ()
    report: TranslationReport | None = None
    untranslated: Mapping[str, str] = field(default_factory=dict, repr=False)
    failure: str = ""


class TranslationSettings:
    """Settings of the verb that may be written beside those of the translator."""

    align: str
    markers: bool
    limits: dict  # type: ignore[type-arg]  # by measure


def translate(  # noqa: PLR0913 - the settings of the verb
    task: str,
    languages: str | Sequence[str],
    translator: "str | Translator | TranslationFunction",
    *,
    split: str = "",
    pseudo: bool = False,
    data: str | os.PathLike[str] | None = None,
    settings: Mapping[str, Any] | None = None,
    cache: str | os.PathLike[str] | None = None,
    align: "str | Aligner | None" = None,
    markers: bool | None = None,
    limits: Mapping[str, float] | None = None,
    quiet: bool = False,
) -> list[TranslatedSet]:
    """Translate an English training set into languages, their test or dev sets into English, or make pseudo test sets.

    A pseudo test set is the English test set in a language without one, with its gold: the split "pseudo".

    Every distinct text is translated once and kept in a cache, so that a call that was interrupted continues where it
    stopped. Translations with a larger share of faults than a limit are not written.

    Args:
        task: name of the task.
        languages: languages other than English; for pseudo test sets any language, also those the task does not have.
        translator: a command, "apertium:PAIR", "hf:MODEL", "llm:MODEL" or "replay:PATH" (see `open_translator`); a
            `Translator`; or a function that returns one translation per text, which is not cached.
        split: "train" (from English, the default), or "test" or "dev" (into English); for pseudo test sets "test" (the
            default) or "dev", from English.
        pseudo: True to make pseudo test sets.
        data: data folder; default ISOGLOSS_DATA or the user's cache.
        settings: settings of the translator, such as `{"beams": 1}`; `align`, `markers` and `limits` may be among them.
        cache: folder of translated texts; default `translations` in the cache folder.
        align: aligner of words: "spelling" (default), an encoder (see `open_aligner`), or a function.
        markers: False to project answers and entities without translating texts once more with markers.
        limits: largest shares of faults by measure, which replace those of `LIMITS`; {} to accept everything.
        quiet: True to hide the progress bar.

    Returns:
        One set per language, with its file and counts. Without a translation of some texts, or if a limit is exceeded,
        the set has no file.

    Raises:
        UnknownNameError: unknown task, language, split, setting or measure.
        IsoglossError: no regime can use the translation, there are no texts, or the translator fails.

    Example:
        isogloss.translate("xnli", ["sw", "ur"], "hf:facebook/nllb-200-distilled-600M", data="data")
        isogloss.translate("xnli", "sw", my_function, pseudo=True, data="data")
    """
    request = TranslationRequest(
        task=task,
        languages=languages,
        translator=translator,
        split=split,
        pseudo=pseudo,
        data=data,
        settings=settings or {},
        cache=cache,
        align=align,
        markers=markers,
        limits=limits,
        quiet=quiet,
    )
    return list(request.sets())


@dataclass(frozen=True, kw_only=True)
class TranslationRequest:
    """Arguments of `translate`, which describes them."""

    task: str
    languages: str | Sequence[str]
    translator: "str | Translator | TranslationFunction"
    split: str = ""
    pseudo: bool = False
    data: str | os.PathLike[str] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    cache: str | os.PathLike[str] | None = None
    align: "str | Aligner | None" = None
    markers: bool | None = None
    limits: Mapping[str, float] | None = None
    quiet: bool = False

    def sets(self) -> Iterator[TranslatedSet]:
        """Yield each set when it is translated."""
        entry, chosen, split = checked_sets(self.task, self.languages, self.split, pseudo=self.pseudo)
        make = translate_pseudo if self.pseudo else translate_set
        own, settings = _own_settings(self.settings)
        align = own.get("align", "") if self.align is None else self.align
        aligner = open_aligner(align) if isinstance(align, str) else align
        mark = own.get("markers", True) if self.markers is None else self.markers
        limits = allowed_limits(own.get("limits") if self.limits is None else self.limits)
        for language in chosen:
            inspection = _Inspection(entry, language, self.data, limits)
            translator = self._translator(language, split, settings)
            cached = translator if isinstance(translator, CachedTranslator) else None
            path, reasons, failure = None, dict[str, str](), ""
            try:
                path = make(entry, language, split, self.data, translator, align=aligner, mark=mark, inspect=inspection)
            except UntranslatedError as error:
                reasons, failure = error.reasons, str(error)
            except GarbageTranslationError as error:
                failure = str(error)
            yield TranslatedSet(
                task=entry.id,
                language=language,
                split=split,
                path=path,
                counts=None if cached is None else cached.counts,
                notes=(*([] if cached is None else cached.notes), *([] if path is None else projection_notes(path))),
                report=inspection.report,
                untranslated=reasons,
                failure=failure,
            )

    def _translator(
        self, language: str, split: str, settings: Mapping[str, Any]
    ) -> "CachedTranslator | TranslationFunction":
        """Return the translator of a language, with a cache; a function has none."""
        opened = self.translator
        if isinstance(opened, str):
            source, target = (ENGLISH, language) if self.pseudo or split == "train" else (language, ENGLISH)
            opened = open_translator(opened, source, target, settings)
        root = None if self.cache is None else Path(self.cache)
        return CachedTranslator(opened, root, quiet=self.quiet) if isinstance(opened, Translator) else opened


@dataclass
class _Inspection:
    """Report on translations that are about to be written, and refusal of garbage."""

    task: Task
    language: str
    data: str | os.PathLike[str] | None
    limits: Mapping[str, float]
    report: TranslationReport | None = None

    def __call__(self, originals: Examples, translated: Examples) -> None:
        self.report = compare_examples(self.task, self.language, originals, translated, self.data)
        self.report.refuse_garbage(self.limits)


def _own_settings(settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the settings of the verb, and those of the translator."""
    names = TranslationSettings.__annotations__
    own = {name: value for name, value in settings.items() if name in names}
    checked = checked_settings(own, TranslationSettings, "setting of translate", "settings")
    if "limits" in checked:
        checked["limits"] = checked_settings(checked["limits"], dict.fromkeys(MEASURES, float), "measure", "limits")
    return checked, {name: value for name, value in settings.items() if name not in names}


def checked_sets(
    task: str, languages: str | Sequence[str], split: str, *, pseudo: bool = False
) -> tuple[Task, list[str], str]:
    """Return the task, the languages, each once, and the split of the translated sets: "train" or "pseudo" by default.

    Raises:
        UnknownNameError: unknown task, language or split.
        IsoglossError: no regime can use a translation of the task, or it cannot have pseudo test sets.
    """
    if pseudo:
        return checked_pseudo_request(task, languages, split)
    return *checked_request(task, languages, split or "train"), split or "train"


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
    chosen = list(dict.fromkeys(named("language", languages) or ()))
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
