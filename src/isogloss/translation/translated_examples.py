"""Examples in another language: from our own files where there are some, else from those that others published."""

from isogloss.data.files import resolve
from isogloss.errors import DataError
from isogloss.tasks.examples import Column, Examples
from isogloss.tasks.loading import data_folder, load
from isogloss.tasks.task import Task
from isogloss.translation import published_files
from isogloss.translation.answer_projection import project_answers, with_answers
from isogloss.translation.translated_files import (
    DataFolder,
    TranslatedTexts,
    answers_to_project,
    texts_to_replace,
    translation_path,
    translations_folder,
    with_texts,
)


def translated_training_set(task: Task, language: str, data: DataFolder) -> Examples:
    """The English training set of a task, translated to a language; its `notes` count what was left out.

    Raises:
        DataError: there is none (without `where`), or it is damaged.
    """
    path = resolve(translation_path(task, language, "train", data))
    if path is None:
        found = _published(task, language, "train", data)
    else:
        originals = load(task, "en", "train", data)
        texts = TranslatedTexts.read(path, originals)
        kept = originals.keep([row for row, identifier in enumerate(originals.ids) if identifier in texts.lines])
        found = texts.replace_texts(kept, language)
        if answers_to_project(kept):
            found = with_answers(found, list(project_answers(kept, found, texts.answers(kept.ids))))
        if lost := len(originals) - len(kept):
            found.notes = [*found.notes, f"{lost:,} of {len(originals):,} examples are not translated"]
    if not len(found):
        raise DataError("no example is left to learn from", where=", ".join(found.sources), fix="; ".join(found.notes))
    return found


def translated_test_set(task: Task, language: str, split: str, data: DataFolder) -> Examples:
    """The test or dev set of a language in English: it is still that language's, and has its ids and gold.

    The column `language` says that the texts are English.

    Raises:
        DataError: there is no translation (without `where`), or it does not fit the originals.
    """
    originals = load(task, language, split, data)
    path = resolve(translation_path(task, language, split, data))
    if path is None:
        translated = _published_texts(originals, _published(task, language, split, data))
    else:
        texts = TranslatedTexts.read(path, originals)
        missing = [identifier for identifier in originals.ids if identifier not in texts.lines]
        if missing:
            what = f"{len(missing):,} of {len(originals):,} examples are not translated, {missing[0]!r} is the first"
            raise DataError(what, where=str(path), fix="Translate them all")
        translated = texts.replace_texts(originals, language)
    translated.columns["language"] = ["en"] * len(translated)
    return translated


def _published(task: Task, language: str, split: str, data: DataFolder) -> Examples:
    found = published_files.find(task, language, split, (translations_folder(data), data_folder(data)))
    if found is None:
        which = f"{task.id}'s English training set to" if split == "train" else f"{task.id}'s {split} set from"
        fix = f"isogloss translate makes one; it would be {translation_path(task, language, split, data)}"
        raise DataError(f"there is no translation of {which} {language}", fix=fix)
    found.root = data_folder(data)
    return found


def _published_texts(originals: Examples, translated: Examples) -> Examples:
    """The originals with the texts of published translations: the same examples in the same order."""
    if translated.ids != originals.ids:
        wanted = f"{originals.task}/{originals.language} {originals.split}"
        what = f"its {len(translated):,} examples are not the {len(originals):,} of {wanted}, one by one"
        raise DataError(what, where=", ".join(translated.sources))
    columns: dict[str, Column] = {name: translated.column(name) for name in texts_to_replace(originals)}
    return with_texts(originals, columns, originals.language, translated.checksum, translated.sources)
