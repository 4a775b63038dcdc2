"""Having a training or test set translated, and writing it where the regimes with translations look for it."""

from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from isogloss.errors import IsoglossError
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.loading import load
from isogloss.tasks.task import Task
from isogloss.translation.translated_files import DataFolder, columns_to_translate, translation_path, write_texts
from isogloss.translation.translators import Translator


def translate(task: Task, language: str, split: str, data: DataFolder, translator: Translator) -> Path:
    """Translate the English training set to a language, or its test or dev set to English.

    Args:
        task: whose examples.
        language: the one that is not English.
        split: train, test or dev.
        data: the data folder.
        translator: gets every line of text once.

    Returns:
        The file that was written.

    Raises:
        IsoglossError: the task cannot be translated, there is nothing to translate, or the translator fails.
    """
    originals = _originals(task, language, split, data)
    columns = {name: originals.column(name) for name in columns_to_translate(originals)}
    lines = dict.fromkeys(chain.from_iterable(map(_lines, _flat(chain(*columns.values())))))
    if not lines:
        raise IsoglossError("there is no text to translate", where=", ".join(originals.sources))
    known = dict(zip(lines, translator(list(lines)), strict=True))
    translated = {name: [_translated(item, known) for item in column] for name, column in columns.items()}
    return write_texts(translation_path(task, language, split, data), originals.ids, translated)


def write_untranslated(task: Task, language: str, split: str, data: DataFolder, path: Path) -> Path:
    """Write the same file with the texts as they are, to be translated in place by somebody else.

    Returns:
        The file that was written.

    Raises:
        IsoglossError: the task cannot be translated.
    """
    originals = _originals(task, language, split, data)
    columns = {name: originals.column(name) for name in columns_to_translate(originals)}
    return write_texts(path, originals.ids, columns)


def _originals(task: Task, language: str, split: str, data: DataFolder) -> Examples:
    if not kind_of(task).translatable:
        raise IsoglossError(f"{task.id} cannot be translated: {task.kind} has no regime with translations")
    return load(task, "en" if split == "train" else language, split, data)


def _flat(items: Iterator[Any]) -> Iterator[str]:
    """The texts of items that are a text or several."""
    for item in items:
        yield from (item,) if isinstance(item, str) else item


def _lines(text: str) -> list[str]:
    """The lines of a text that hold something to translate, without the white space around them."""
    return [line.strip() for line in text.split("\n") if line.strip()]


def _translated(item: Any, known: Mapping[str, str]) -> Any:
    """An item in its translation; its line breaks stay."""
    if not isinstance(item, str):
        return [_translated(text, known) for text in item]
    return "\n".join(known.get(line.strip(), "") for line in item.split("\n"))
