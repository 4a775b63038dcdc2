"""Check a set of translations: artefacts of machine translation, and BLEU and chrF against human translations."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from isogloss.data.files import resolve
from isogloss.errors import DataError, IsoglossError, MissingDataError
from isogloss.escaping import printable
from isogloss.metrics.translation_quality import (
    bleu_signature,
    bleu_statistics,
    chrf_signature,
    chrf_statistics,
    tokenizer_for,
)
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.loading import load
from isogloss.tasks.pseudo_sets import ORIGINAL_SPLITS, PIVOT, PSEUDO_SPLITS, is_pseudo
from isogloss.tasks.task import Task
from isogloss.translation import text_checks
from isogloss.translation.retrieval_sides import joined_sides
from isogloss.translation.text_checks import Check
from isogloss.translation.translate import sides_to_translate
from isogloss.translation.translated_files import (
    DataFolder,
    TranslatedTexts,
    from_english,
    texts_to_replace,
    translated_test_set,
    translated_training_set,
    translation_path,
)
from isogloss.translation.translation_reports import (
    MEASURES,
    ArtefactShare,
    FaultyText,
    QualityScore,
    TranslationReport,
)

# Examples per measure, and characters of their texts, that a report keeps.
SHOWN = 3
_EXCERPT = 120


@dataclass(frozen=True, kw_only=True)
class ParallelTexts:
    """Texts with their translations.

    Attributes:
        sources: the original texts.
        translations: their translations, in the same order.
        source_language: language of the originals.
        target_language: language of the translations.
        references: human translations of all texts, one or several: `references[k][row]`. They give BLEU and chrF,
            and the first one's own shares of every measure.
        ids: names of the texts, for the examples in the report; row numbers by default.
        clusters: source of each text (article, document); texts that share one vary together.
        name: name of the set.
    """

    sources: Sequence[str]
    translations: Sequence[str]
    source_language: str
    target_language: str
    references: Sequence[Sequence[str]] = ()
    ids: Sequence[str] | None = None
    clusters: Sequence[str] | None = None
    name: str = "texts"

    def __post_init__(self) -> None:
        """Check that all parts have the same length."""
        parts = {"translations": self.translations, "ids": self.ids, "clusters": self.clusters}
        parts |= {f"reference {number}": texts for number, texts in enumerate(self.references, 1)}
        for what, items in parts.items():
            if items is not None and len(items) != len(self.sources):
                message = f"{len(self.sources):,} sources, but {len(items):,} items in {what}"
                raise IsoglossError(message, where=self.name)


def judge_translations(
    texts: ParallelTexts, human_texts: Sequence[str] | None = None, *, tokenizer: str = ""
) -> TranslationReport:
    """Return the report on some translations.

    Args:
        texts: texts with their translations.
        human_texts: texts written in the target language that the style is compared with; default: the first human
            translation.
        tokenizer: of BLEU; default by the target language (see `tokenizer_for`).

    Raises:
        UnknownNameError: unknown tokenizer.
    """
    reference = texts.references[0] if texts.references else None
    own = _checks(texts, texts.translations)
    human = {} if reference is None else _checks(texts, reference)
    compared = reference if human_texts is None else human_texts
    style, *others = text_checks.text_styles(
        texts.target_language, texts.translations, *([] if compared is None else [compared])
    )
    return TranslationReport(
        name=texts.name,
        source_language=texts.source_language,
        target_language=texts.target_language,
        texts=len(texts.sources),
        length_ratio=_median_ratio(texts.sources, texts.translations),
        human_length_ratio=None if reference is None else _median_ratio(texts.sources, reference),
        shares=tuple(_share(measure, own[measure], human.get(measure), texts) for measure in MEASURES),
        scores=_scores(texts, tokenizer),
        style=style,
        human_style=others[0] if others else None,
    )


def _median_ratio(sources: Sequence[str], translations: Sequence[str]) -> float | None:
    ratios = text_checks.length_ratios(sources, translations)
    return float(np.median(ratios)) if len(ratios) else None


def _checks(texts: ParallelTexts, translations: Sequence[str]) -> dict[str, Check]:
    """Return the checks of some translations by measure."""
    sources, source_language, target_language = texts.sources, texts.source_language, texts.target_language
    return {
        "empty": text_checks.empty(sources, translations),
        "untranslated": text_checks.untranslated(sources, translations, source_language),
        "copied": text_checks.copied(sources, translations, source_language),
        "looped": text_checks.looped(sources, translations),
        "length": text_checks.odd_lengths(sources, translations),
        "script": text_checks.other_script(translations, target_language),
        "language": text_checks.other_language(translations, target_language),
        "numbers": text_checks.lost_numbers(sources, translations),
        "links": text_checks.lost_links(sources, translations),
        "names": text_checks.lost_names(sources, translations, source_language, target_language),
    }


def _share(measure: str, own: Check, human: Check | None, texts: ParallelTexts) -> ArtefactShare:
    examples = []
    for row in np.flatnonzero(own.faults)[:SHOWN].tolist():
        name = str(row) if texts.ids is None else texts.ids[row]
        shown = (printable(text[:_EXCERPT]) for text in (name, texts.sources[row], texts.translations[row]))
        examples.append(FaultyText(*shown))
    human_checked = int(human.checked.sum()) if human else 0
    return ArtefactShare(
        measure=measure,
        count=int(own.faults.sum()),
        checked=int(own.checked.sum()),
        human=int(human.faults.sum()) / human_checked if human and human_checked else None,
        examples=tuple(examples),
    )


def _scores(texts: ParallelTexts, tokenizer: str = "") -> tuple[QualityScore, ...]:
    if not texts.references or not texts.sources:
        return ()
    count, tokenizer = len(texts.references), tokenizer or tokenizer_for(texts.target_language)
    bleu = bleu_statistics(texts.translations, texts.references, tokenizer)
    chrf = chrf_statistics(texts.translations, texts.references)
    return (
        QualityScore.of("BLEU", bleu, texts.clusters, bleu_signature(count, tokenizer)),
        QualityScore.of("chrF2", chrf, texts.clusters, chrf_signature(count)),
    )


def check_translations(
    task: Task, language: str, split: str, data: DataFolder = None, *, references: Examples | None = None
) -> TranslationReport:
    """Return the report on the translated examples of a task, each distinct pair of texts once.

    Args:
        task: the task.
        language: language of the translated training set, of the test or dev set that was translated to English, or
            of a pseudo test set.
        split: "train", "test", "dev", "pseudo" or "pseudo-dev".
        data: data folder.
        references: human translations with the same units (or ids); by default, for a test or dev set, the English
            examples of a parallel task if they exist.

    Raises:
        MissingDataError: there is no translation.
        DataError: the translations cannot be matched with the originals by id.
    """
    if is_pseudo(split):
        originals, translated = load(task, PIVOT, ORIGINAL_SPLITS[split], data), load(task, language, split, data)
    elif split == "train":
        originals = load(task, "en", split, data)
        translated = _translated_training_texts(task, language, data, originals)
    elif kind_of(task).retrieval:
        originals, translated = _translated_sides(task, language, split, data)
    else:
        originals, translated = load(task, language, split, data), translated_test_set(task, language, split, data)
    row_of = {identifier: row for row, identifier in enumerate(originals.ids)}
    if missing := next((identifier for identifier in translated.ids if identifier not in row_of), None):
        what = f"translated example {missing!r} is not one of the originals"
        where, fix = f"{task.id}/{language} {split}", "Only translations with the ids of their originals can be checked"
        raise DataError(what, where=where, fix=fix)
    originals = originals.keep([row_of[identifier] for identifier in translated.ids])
    return compare_examples(task, language, originals, translated, data, references=references)


def compare_examples(
    task: Task,
    language: str,
    originals: Examples,
    translated: Examples,
    data: DataFolder = None,
    *,
    references: Examples | None = None,
) -> TranslationReport:
    """Return the report on translated examples, given their originals with the same ids in the same order.

    Arguments are those of `check_translations`.
    """
    return judge_translations(_compared_texts(task, language, originals, translated, data, references))


def _compared_texts(
    task: Task,
    language: str,
    originals: Examples,
    translated: Examples,
    data: DataFolder,
    references: Examples | None = None,
) -> ParallelTexts:
    """Return the texts of translated examples and, of a parallel test set, human translations."""
    forward, split = from_english(originals), originals.split
    if references is None and split != "train" and originals.units:
        references = _human(task, language if forward else PIVOT, split, data)
    pair = (PIVOT, language) if forward else (language, PIVOT)
    made = PSEUDO_SPLITS[split] if forward and split != "train" else split
    return _distinct_texts(originals, translated, references, (*pair, f"{task.id}/{language} {made}"))


def pseudo_quality(task: Task, language: str, split: str, data: DataFolder = None) -> tuple[QualityScore, ...]:
    """Return BLEU and chrF2 of a pseudo test set against the human one, or nothing if there is no parallel one."""
    translated, originals = load(task, language, split, data), load(task, PIVOT, ORIGINAL_SPLITS[split], data)
    row_of = {identifier: row for row, identifier in enumerate(originals.ids)}
    originals = originals.keep([row_of[identifier] for identifier in translated.ids])
    return _scores(_compared_texts(task, language, originals, translated, data))


def _translated_training_texts(task: Task, language: str, data: DataFolder, originals: Examples) -> Examples:
    """Return the translated training set, including questions without their answer in the translated passage."""
    if path := resolve(translation_path(task, language, "train", data)):
        texts = TranslatedTexts.read(path, originals)
        present = [row for row, identifier in enumerate(originals.ids) if identifier in texts.lines]
        return texts.replace_texts(originals.keep(present), language)
    published = translated_training_set(task, language, data)
    count = len(published)
    if count < len(originals) and published.ids == originals.ids[:count]:
        # Ids are row numbers of the rows that are left.
        what = f"{count:,} rows of {len(originals):,} are left, so they cannot be matched with the originals"
        raise DataError(what, where=", ".join(published.sources))
    return published


def _translated_sides(task: Task, language: str, split: str, data: DataFolder) -> tuple[Examples, Examples]:
    """Return queries and candidates in a language, and their translations."""
    sides = sides_to_translate(task, language, split, data)
    translated = []
    for side, path in sides:
        if (file := resolve(path)) is None:
            fix = f"Run isogloss translate {task.id} --languages {language} --split {split}"
            raise MissingDataError(f"no translation {path}", fix=fix)
        translated.append(TranslatedTexts.read_all(file, side).replace_texts(side, "en"))
    return joined_sides([side for side, _ in sides]), joined_sides(translated)


def _human(task: Task, language: str, split: str, data: DataFolder) -> Examples | None:
    """Return the human examples of a split, or None if there are none."""
    if language not in task.every_language:
        return None
    try:
        return load(task, language, split, data)
    except MissingDataError:
        return None


def _distinct_texts(
    originals: Examples, translated: Examples, references: Examples | None, named: tuple[str, str, str]
) -> ParallelTexts:
    """Return each distinct pair of original and translated text, and its human translation.

    `named` has the two languages and the name of the set.

    Texts of examples without a human translation are left out if there are any human translations.
    """
    human_row = {} if references is None else {unit: row for row, unit in enumerate(references.units or references.ids)}
    units = originals.units or originals.ids
    clusters = originals.clusters or units
    pairs: dict[tuple[str, str], tuple[str, str, str]] = {}
    for column in texts_to_replace(originals):
        theirs = originals.column(column), translated.column(column)
        human = None if references is None else references.column(column)
        for row, (source, translation) in enumerate(zip(*theirs, strict=True)):
            if human is not None and units[row] not in human_row:
                continue
            reference = source if human is None else human[human_row[units[row]]]
            for part, texts in enumerate(zip(*map(_parts, (source, translation, reference)), strict=True)):
                label = f"{originals.ids[row]} {column}" + ("" if isinstance(source, str) else f" {part + 1}")
                pairs.setdefault(texts[:2], (label, texts[2], clusters[row]))
    source_language, target_language, name = named
    return ParallelTexts(
        sources=[source for source, _ in pairs],
        translations=[translation for _, translation in pairs],
        source_language=source_language,
        target_language=target_language,
        references=[] if references is None else [[reference for _, reference, _ in pairs.values()]],
        ids=[label for label, _, _ in pairs.values()],
        clusters=[cluster for _, _, cluster in pairs.values()],
        name=name,
    )


def _parts(item: Any) -> Sequence[str]:
    """Return the texts of an item, which is one text or several."""
    return (item,) if isinstance(item, str) else item
