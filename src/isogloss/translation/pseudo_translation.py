"""Translate English test sets into languages without one, with the gold that moves along."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from isogloss.data.files import atomic_write
from isogloss.errors import IsoglossError
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.loading import load_gold
from isogloss.tasks.pseudo_sets import (
    ORIGINAL_SPLITS,
    PIVOT,
    DataPath,
    PseudoHeader,
    moved_columns,
    originals_checksum,
    pseudo_path,
)
from isogloss.tasks.task import Task
from isogloss.translation.alignment import Aligner
from isogloss.translation.tag_projection import gold_tags
from isogloss.translation.translate import Inspection, Projected, SetTranslation
from isogloss.translation.translated_files import texts_to_replace, with_texts
from isogloss.translation.translators import TranslationFunction, Translator, UntranslatedError
from isogloss.translation.words import token_offsets


def no_pseudo_set(task: Task) -> str:
    """Return why a task cannot have pseudo test sets, or ""."""
    kind = kind_of(task)
    if not kind.translatable:
        return f"{task.kind} declares no text to translate"
    if kind.retrieval:
        return "its candidates would need translating too"
    return "" if PIVOT in task.every_language else "it has no English test set"


def translate_pseudo(
    task: Task,
    language: str,
    split: str,
    data: DataPath,
    translator: Translator | TranslationFunction,
    *,
    align: Aligner | None = None,
    mark: bool = True,
    inspect: Inspection | None = None,
) -> Path:
    """Translate the English test or dev set into a language, and return the file.

    Labels are kept. Answers and tags are projected; examples that lose them, or that stored translations lack, are left
    out and counted.

    Args:
        task: task to translate.
        language: target language.
        split: "pseudo" (the test set) or "pseudo-dev".
        data: data folder.
        translator: translator, or function from lines to their translations.
        align: aligner of words, as in `translate`.
        mark: True to translate texts once more with markers around each answer or entity.
        inspect: called with originals and translated examples before anything is written.

    Raises:
        IsoglossError: the task cannot be translated, has no English gold, loses all of it, or the translator fails.
    """
    if reason := no_pseudo_set(task):
        raise IsoglossError(f"{task.id} cannot have pseudo test sets: {reason}")
    every = load_gold(task, PIVOT, ORIGINAL_SPLITS[split], data)
    work = SetTranslation(task, language, translator, align=align, mark=mark)
    side = work.translated(_covered(task, every, translator))
    originals = side.originals
    if inspect is not None:
        inspect(originals, with_texts(originals, side.columns, language, "", ()))
    projected = work.projected(side)
    columns, rows = _with_gold(task, originals, side.columns, projected)
    path = pseudo_path(task, language, split, data)
    if not rows:
        what = f"no example of {task.id}/{language} keeps its gold: {len(originals):,} lost in projection"
        raise IsoglossError(what, where=str(path), fix="Check the translations, or use another translator")
    header = PseudoHeader(
        task=task.id,
        language=language,
        split=originals.split,
        originals=originals_checksum(every, task),
        examples=len(every),
        kept=len(rows),
        translator=f"{translator.name} {translator.version}".strip() if isinstance(translator, Translator) else "",
    )
    names = moved_columns(originals, task)
    encode = msgspec.json.Encoder().encode
    with atomic_write(path) as stream:
        stream.write(encode({"pseudo": header}).decode() + "\n")
        for row in rows:
            line = {"id": originals.ids[row], **{name: columns[name][row] for name in names}}
            stream.write(encode(line).decode() + "\n")
    work.record(originals, projected, path, split).write(path)
    return path


def _covered(task: Task, originals: Examples, translator: Translator | TranslationFunction) -> Examples:
    """Return the examples with all texts among stored translations: published sets often cover only a part.

    Raises:
        UntranslatedError: there is no stored translation of any example.
    """
    if not isinstance(translator, Translator) or not translator.is_stored:
        return originals
    if translator.stored_examples(task, originals) is not None:
        return originals  # covered by id, not by text
    columns = [originals.column(name) for name in texts_to_replace(originals)]
    parts = [[part for item in row for part in _lines(item)] for row in zip(*columns, strict=True)]
    known: dict[str, str] = {}
    try:
        for batch in translator.batches(list(dict.fromkeys(line for lines in parts for line in lines))):
            known |= batch
    except UntranslatedError:
        rows = [row for row, lines in enumerate(parts) if all(line in known for line in lines)]
        if not rows:
            raise
        return originals.keep(rows)
    return originals


def _lines(item: str | Sequence[str]) -> list[str]:
    """Return the lines of a text, or of several, without blank ones."""
    texts = (item,) if isinstance(item, str) else item
    return [line.strip() for text in texts for line in text.split("\n") if line.strip()]


def _with_gold(
    task: Task, originals: Examples, texts: Mapping[str, Sequence[Any]], projected: Projected
) -> tuple[dict[str, Sequence[Any]], list[int]]:
    """Return the columns of a pseudo set, and the rows that keep their gold."""
    columns: dict[str, Sequence[Any]] = {**texts, **projected.columns}
    if "answer_starts" in columns:
        located = [
            [(text, start) for text, start in zip(*pair, strict=True) if start is not None and text]
            for pair in zip(columns["answers"], columns["answer_starts"], strict=True)
        ]
        columns["answers"] = [[text for text, _ in answers] for answers in located]
        columns["answer_starts"] = [[start for _, start in answers] for answers in located]
        return columns, [row for row, answers in enumerate(located) if answers]
    if "tags" in columns:
        sentences = zip(columns["text"], columns["tokens"], strict=True)
        columns["offsets"] = [token_offsets(text, tokens) for text, tokens in sentences]
        columns["tags"] = [tags and gold_tags(task, tags) for tags in columns["tags"]]
        return columns, [row for row, tags in enumerate(columns["tags"]) if tags]
    return columns, list(range(len(originals)))
