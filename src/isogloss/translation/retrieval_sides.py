"""Sides of retrieval tasks that are translated to English: queries, and candidates by their language."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from isogloss.data.files import resolve
from isogloss.errors import MissingDataError
from isogloss.tasks.examples import Examples, Pool
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.task import Task
from isogloss.translation.translated_files import (
    DataFolder,
    TranslatedTexts,
    candidates_path,
    translated_test_set,
    translation_path,
    with_texts,
)

ENGLISH = "en"


def queries_are_english(task: Task, examples: Examples) -> bool:
    """Return True if the queries are in English whatever the language of the examples, as in Tatoeba."""
    return kind_of(task).text_language(examples) == ENGLISH


def candidate_side(examples: Examples, language: str) -> Examples | None:
    """Return the candidates in a language as examples with a text each, or None if there are none."""
    pool = examples.pool
    rows = [] if pool is None else [row for row, code in enumerate(pool.languages) if code == language]
    if pool is None or not rows:
        return None
    ids, texts = pool.ids, pool.text
    return Examples(
        examples.task,
        language,
        examples.split,
        [ids[row] for row in rows],
        {"text": [texts[row] for row in rows]},
        examples.gold,
        checksum=examples.checksum,
        sources=examples.sources,
        root=examples.root,
    )


def joined_sides(sides: Sequence[Examples]) -> Examples:
    """Return queries and candidates as one set of texts; one side stays as it is."""
    if len(sides) == 1:
        return sides[0]
    ids = [f"candidate {name}" if number else name for number, side in enumerate(sides) for name in side.ids]
    texts = [text for side in sides for text in side["text"]]
    return replace(sides[0].keep([]), ids=ids, columns={"text": texts}, units=None, clusters=None)


def languages_to_translate(pool: Pool) -> list[str]:
    """Return the languages of candidates other than English, in order."""
    return sorted({*pool.languages} - {ENGLISH})


def translated_pool(pool: Pool, translations: Mapping[str, str]) -> Pool:
    """Return a pool with translated texts, given the translations by candidate id; languages stay as they are."""

    def texts() -> Sequence[str]:
        return [translations.get(identifier, text) for identifier, text in zip(pool.ids, pool.text, strict=True)]

    return Pool(lambda: pool.language_of, texts)


def translated_retrieval(task: Task, originals: Examples, data: DataFolder) -> Examples:
    """Return a retrieval test set with queries and candidates in English, or raise a MissingDataError."""
    language, split = originals.language, originals.split
    translated = originals.keep(range(len(originals)))
    if not queries_are_english(task, originals):
        path = _written(task, language, split, translation_path(task, language, split, data))
        translated = TranslatedTexts.read_all(path, originals).replace_texts(originals, language)
    if originals.pool is not None and (codes := languages_to_translate(originals.pool)):
        paths = {code: candidates_path(translation_path(task, code, split, data)) for code in codes}
        if missing := [code for code, path in paths.items() if resolve(path) is None]:
            raise _no_candidates(task, missing, split)
        texts: dict[str, str] = {}
        for code, path in paths.items():
            side = candidate_side(originals, code)
            if side is not None and (file := resolve(path)) is not None:
                read = TranslatedTexts.read_all(file, side)
                texts.update(zip(side.ids, read.replace_texts(side, code)["text"], strict=True))
                translated = with_texts(translated, {}, language, read.checksum, (str(file),))
        translated.pool = translated_pool(originals.pool, texts)
    translated.columns["language"] = [ENGLISH] * len(translated)
    translated.read_dev = lambda: translated_test_set(task, language, "dev", data)
    return translated


def _written(task: Task, language: str, split: str, path: Path) -> Path:
    if (file := resolve(path)) is None:
        fix = f"Run isogloss translate {task.id} --languages {language} --split {split} to create {path}"
        raise MissingDataError(f"no translation of {task.id}'s {split} queries from {language}", fix=fix)
    return file


def _no_candidates(task: Task, codes: Sequence[str], split: str) -> MissingDataError:
    what = f"no translation of {task.id}'s {split} candidates from {', '.join(codes)}"
    fix = f"Run isogloss translate {task.id} --languages {','.join(codes)} --split {split}"
    return MissingDataError(what, fix=fix)
