"""Translate training and test sets, and write them where the translation regimes look for them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from isogloss.data.files import atomic_write
from isogloss.decoding import decode_json
from isogloss.errors import IsoglossError
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.kinds.tagging import marks_entities
from isogloss.tasks.loading import load
from isogloss.tasks.task import Task
from isogloss.translation.alignment import Aligner, alignment_text, spelling_aligner
from isogloss.translation.lines import LineTranslator
from isogloss.translation.projection import LOST, SpanProjector, SpanToProject, steps_text
from isogloss.translation.tag_projection import TranslatedSentence, project_tags
from isogloss.translation.translated_files import (
    DataFolder,
    columns_to_translate,
    from_english,
    moving,
    texts_to_replace,
    translation_path,
    write_texts,
)
from isogloss.translation.translators import TranslationFunction, Translator
from isogloss.translation.words import word_texts


class ProjectionCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Counts of a projection, as written beside a translated file: units by step, and the share lost.

    `dropped` is the number of examples that a training set loses.
    """

    task: str
    language: str
    split: str
    unit: str
    total: int
    steps: dict[str, int]
    lost_share: float
    dropped: int
    examples: int


def projection_path(path: Path) -> Path:
    """Return the path of the counts beside a translated file."""
    return path.with_suffix(".projection.json")


def projection_notes(path: Path) -> list[str]:
    """Return the counts beside a translated file in words, if it has any."""
    counts_path = projection_path(path)
    if not counts_path.exists():
        return []
    raw, what = counts_path.read_bytes(), "counts of a projection"
    counts: ProjectionCounts = decode_json(raw, str(counts_path), ProjectionCounts, what=what)
    dropped = [f"{counts.dropped:,} of {counts.examples:,} examples dropped"] if counts.dropped else []
    return [steps_text(counts.steps, counts.total, counts.unit), *dropped]


def translate(
    task: Task,
    language: str,
    split: str,
    data: DataFolder,
    translator: Translator | TranslationFunction,
    *,
    align: Aligner | None = None,
    mark: bool = True,
) -> Path:
    """Translate the English training set to a language, or its test or dev set to English, and return the file.

    The translator is called with every distinct line once. Answers and tags are projected onto the translation, and
    the counts of lost ones are written beside it (`projection_path`).

    Args:
        task: task to translate.
        language: the language other than English.
        split: "train" (from English), or "test" or "dev" (to English).
        data: data folder.
        translator: translator, or function from lines to their translations.
        align: aligner of words; default: compares the translations of single words with those of the text.
        mark: True to translate texts once more with markers around each answer or entity.

    Raises:
        IsoglossError: the task cannot be translated, there is nothing to translate, or the translator fails.
    """
    originals = _originals(task, language, split, data)
    columns, projected = translated_columns(task, originals, translator, align=align, mark=mark)
    path = translation_path(task, language, split, data)
    if projected.steps is not None:
        write_counts(path, task, language, originals, projected)
    return write_texts(path, originals.ids, {**columns, **projected.columns})


def translated_columns(
    task: Task,
    originals: Examples,
    translator: Translator | TranslationFunction,
    *,
    align: Aligner | None = None,
    mark: bool = True,
) -> "tuple[dict[str, Sequence[Any]], Projected]":
    """Return the translated texts of some examples by column, and what was projected onto them; see `translate`."""
    lines = LineTranslator(translator)
    names = texts_to_replace(originals)
    lines.texts([text for name in names for text in _texts(originals.column(name))])  # all of them in one call
    columns: dict[str, Sequence[Any]] = {name: _translated(originals.column(name), lines) for name in names}
    if not any(map(any, columns.values())):
        raise IsoglossError("no text to translate", where=", ".join(originals.sources))
    aligner = spelling_aligner(lines.dictionary) if align is None else align
    projector = SpanProjector(lines, aligner, mark=mark)
    projected = Projected()
    match moving(originals):
        case "answers":
            projected = _projected_answers(originals, columns, projector, aligner)
        case "tags":
            projected = _projected_tags(task, originals, columns, projector, aligner)
    return columns, projected


def write_untranslated(task: Task, language: str, split: str, data: DataFolder, path: Path) -> Path:
    """Write the same file with untranslated texts, to be translated in place by others, and return its path."""
    originals = _originals(task, language, split, data)
    names = columns_to_translate(originals)
    if moving(originals) == "tags":
        names += ["tokens", *(["tags"] if split == "train" else [])]
    return write_texts(path, originals.ids, {name: originals.column(name) for name in names})


def _originals(task: Task, language: str, split: str, data: DataFolder) -> Examples:
    """Return the examples to translate."""
    if not kind_of(task).translatable:
        raise IsoglossError(f"{task.id} cannot be translated: {task.kind} has no regime with translations")
    return load(task, "en" if split == "train" else language, split, data)


def _texts(column: Sequence[Any]) -> list[str]:
    """Return all texts of a column."""
    return [text for item in column for text in ((item,) if isinstance(item, str) else item)]


def _translated(column: Sequence[Any], lines: LineTranslator) -> list[Any]:
    """Return the translations of a column, of one or several texts per example."""
    translations = iter(lines.texts(_texts(column)))
    return [next(translations) if isinstance(item, str) else [next(translations) for _ in item] for item in column]


@dataclass(frozen=True)
class Projected:
    """Further columns of a translated file, and the steps of each example's units; None if nothing moves."""

    columns: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    steps: list[list[str]] | None = None
    unit: str = ""
    dropped: int = 0


def _projected_answers(
    originals: Examples, columns: Mapping[str, Sequence[Any]], projector: SpanProjector, align: Aligner
) -> Projected:
    passages = originals["context"]
    contexts = columns.get("context", passages)
    added: dict[str, Sequence[Any]] = {}
    steps: list[list[str]] = [[] for _ in originals.ids]
    if originals.has_gold:
        answers, starts = originals["answers"], originals["answer_starts"]
        units = [(row, *one) for row in range(len(originals)) for one in zip(answers[row], starts[row], strict=True)]
        spans = [
            SpanToProject(original=passages[row], translation=contexts[row], span=(start, start + len(text)))
            for row, text, start in units
        ]
        texts: list[list[str]] = [[] for _ in originals.ids]
        offsets: list[list[int | None]] = [[] for _ in originals.ids]
        translations = projector.translations([text for _, text, _ in units])
        for (row, *_), place, separate in zip(units, projector.project(spans), translations, strict=True):
            texts[row].append(contexts[row][slice(*place.span)] if place else separate)
            offsets[row].append(place.span[0] if place else None)
            steps[row].append(place.step if place else LOST)
        added = {"answers": texts, "answer_starts": offsets, "projection": steps}
    if not from_english(originals):
        both = list(dict.fromkeys(zip(passages, contexts, strict=True)))  # questions share passages
        pairs = align([(word_texts(passage), word_texts(context)) for passage, context in both])
        texts_of = dict(zip(both, map(alignment_text, pairs), strict=True))
        added["alignment"] = [texts_of[one] for one in zip(passages, contexts, strict=True)]
    dropped = sum({*row_steps} <= {LOST} for row_steps in steps) if originals.has_gold else 0
    return Projected(added, steps, "answers", dropped)


def _projected_tags(
    task: Task, originals: Examples, columns: Mapping[str, Sequence[Any]], projector: SpanProjector, align: Aligner
) -> Projected:
    unit = "entities" if marks_entities(task) else "words"
    texts = columns["text"]
    if not from_english(originals):
        tokens = [word_texts(text) for text in texts]
        pairs = align(list(zip(originals["tokens"], tokens, strict=True)))
        return Projected({"tokens": tokens, "alignment": [alignment_text(one) for one in pairs]}, None, unit)
    names = ("text", "tokens", "offsets", "tags")
    sentences = [TranslatedSentence(*one) for one in zip(*(originals[name] for name in names), texts, strict=True)]
    tagged = project_tags(task, sentences, projector, align)
    steps = [one.steps for one in tagged]
    tags: dict[str, Sequence[Any]] = {"tokens": [one.tokens for one in tagged], "tags": [one.tags for one in tagged]}
    return Projected({**tags, "projection": steps}, steps, unit, sum(one.tags is None for one in tagged))


def write_counts(
    path: Path, task: Task, language: str, originals: Examples, projected: Projected, split: str = ""
) -> None:
    """Write the counts of a projection beside a translated file; the split is that of the originals by default."""
    steps = Counter(step for row_steps in projected.steps or () for step in row_steps)
    counts = ProjectionCounts(
        task=task.id,
        language=language,
        split=split or originals.split,
        unit=projected.unit,
        total=steps.total(),
        steps=dict(steps),
        lost_share=steps[LOST] / max(1, steps.total()),
        dropped=projected.dropped,
        examples=len(originals),
    )
    with atomic_write(projection_path(path)) as stream:
        stream.write(msgspec.json.format(msgspec.json.encode(counts), indent=1).decode() + "\n")
