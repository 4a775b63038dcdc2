"""Translate training and test sets, and write them where the translation regimes look for them."""

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from isogloss.errors import IsoglossError
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.loading import load
from isogloss.tasks.task import Task
from isogloss.translation.translated_files import DataFolder, columns_to_translate, translation_path, write_texts
from isogloss.translation.translators import TranslationFunction, Translator


def translate(
    task: Task, language: str, split: str, data: DataFolder, translator: Translator | TranslationFunction
) -> Path:
    """Translate the English training set to a language, or its test or dev set to English, and return the file.

    The translator is called with every distinct line once.

    Raises:
        IsoglossError: the task cannot be translated, there is nothing to translate, or the translator fails.
    """
    originals, columns = _originals(task, language, split, data)
    # Items are one or several texts; each distinct line is translated once.
    items = chain(*columns.values())
    texts = chain.from_iterable((item,) if isinstance(item, str) else item for item in items)
    lines = dict.fromkeys(line.strip() for text in texts for line in text.split("\n") if line.strip())
    if not lines:
        raise IsoglossError("no text to translate", where=", ".join(originals.sources))
    translations = dict(zip(lines, translator(list(lines)), strict=True))
    translated = {name: [_translated(item, translations) for item in column] for name, column in columns.items()}
    return write_texts(translation_path(task, language, split, data), originals.ids, translated)


def write_untranslated(task: Task, language: str, split: str, data: DataFolder, path: Path) -> Path:
    """Write the same file with untranslated texts, to be translated in place by others, and return its path."""
    originals, columns = _originals(task, language, split, data)
    return write_texts(path, originals.ids, columns)


def _originals(task: Task, language: str, split: str, data: DataFolder) -> tuple[Examples, dict[str, Sequence[Any]]]:
    """Return the examples, and the columns to translate."""
    if not kind_of(task).translatable:
        raise IsoglossError(f"{task.id} cannot be translated: {task.kind} has no regime with translations")
    originals = load(task, "en" if split == "train" else language, split, data)
    return originals, {name: originals.column(name) for name in columns_to_translate(originals)}


def _translated(item: Any, translations: Mapping[str, str]) -> Any:
    """Return the translation of an item, keeping its line breaks."""
    if not isinstance(item, str):
        return [_translated(text, translations) for text in item]
    return "\n".join(translations.get(line.strip(), "") for line in item.split("\n"))
