"""Translated examples: from Isogloss files, written by any translator, or else from published files.

Isogloss files have one JSON line per example, as `isogloss export` writes it, with the texts translated in place:

    translations/<task>/translate-train/<language>.jsonl       the English training set in another language
    translations/<task>/translate-test/[dev-]<language>.jsonl  a test (or dev) set in English
    translations/<task>/translate-test/candidates-[dev-]<language>.jsonl  its candidates in this language, for retrieval

Pseudo test sets have files of their own (`tasks.pseudo_sets`).
Examples are identified by their ids, and everything except the texts (labels in particular) comes from the original.
What moves with the text is projected when the file is written: answers with their offsets, words with their tags,
and the alignment of words in test sets, along which predictions return to the original. Answers without offsets are
searched for in the translated passage. Examples that lose their gold are dropped from training sets and counted.
"""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from isogloss.data.files import Digest, atomic_write, resolve
from isogloss.data.tables import jsonl
from isogloss.errors import DataError, IsoglossError, MissingDataError
from isogloss.tasks.examples import Column, Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.loading import data_folder, load
from isogloss.tasks.pseudo_sets import is_pseudo, translations_folder
from isogloss.tasks.registry import task as find_task
from isogloss.tasks.task import Task
from isogloss.translation.published import LAYOUTS, find_published
from isogloss.translation.translated_answers import Answers, search_answers, steps_note, with_answers
from isogloss.translation.translation_records import read_record
from isogloss.translation.words import Offsets, token_offsets, word_texts

# Columns that are projected onto translated texts. Answers are translated too.
ANSWERS, TAGS = ("answers", "answer_starts"), ("tokens", "offsets", "tags")
Moving = Literal["", "answers", "tags"]

DataFolder = str | os.PathLike[str] | None


def translation_path(task: Task, language: str, split: str, data: DataFolder) -> Path:
    """Return the path of the training set in a language, or of its test or dev set in English."""
    regime = "translate-train" if split == "train" else "translate-test"
    name = f"dev-{language}.jsonl" if split == "dev" else f"{language}.jsonl"
    return translations_folder(data) / task.id / regime / name


def candidates_path(path: Path) -> Path:
    """Return the path of the translated candidates in a language, given that of its queries."""
    return path.with_name(f"candidates-{path.name}")


def texts_to_replace(examples: Examples) -> tuple[str, ...]:
    """Return the columns that a translator replaces."""
    return tuple(name for name in kind_of(find_task(examples.task)).translatable if name in examples.columns)


def from_english(examples: Examples) -> bool:
    """Return True if gold moves with the texts of some examples: training sets, and English sets to translate."""
    return examples.split == "train" or examples.language == "en"


def moving(examples: Examples) -> Moving:
    """Return what moves with the texts of some examples: answers, tags, or nothing.

    Raises:
        IsoglossError: training examples have other columns that would need projecting.
    """
    names = kind_of(find_task(examples.task)).moves_with_text
    if from_english(examples):
        names = tuple(name for name in names if name in examples.columns)
    if names and {*names} <= {*ANSWERS}:
        return "answers"
    if names and {*names} <= {*TAGS}:
        return "tags"
    if names and from_english(examples):
        raise IsoglossError(f"{examples.task} cannot be translated: {' and '.join(names)} would need projecting")
    return ""


def columns_to_translate(examples: Examples) -> list[str]:
    """Return the columns to translate: texts, and answers."""
    return [*texts_to_replace(examples), *(name for name in ANSWERS[:1] if name in examples.columns)]


# Fields of a line besides texts, by what moves with them; none is required.
_FIELDS: dict[Moving, dict[str, Any]] = {
    "": {},
    "answers": {"answers": tuple[str, ...], "answer_starts": tuple[int | None, ...], "alignment": str},
    "tags": {"tokens": list[str], "tags": list[str | None], "alignment": str},
}


def write_texts(path: Path, ids: Sequence[str], columns: Mapping[str, Sequence[Any]]) -> Path:
    """Write the texts of some examples to a file; return its path."""
    encode = msgspec.json.Encoder().encode
    with atomic_write(path) as stream:
        for identifier, *values in zip(ids, *columns.values(), strict=True):
            stream.write(encode({"id": identifier, **dict(zip(columns, values, strict=True))}).decode() + "\n")
    return path


def texts_checksum(originals: Examples) -> str:
    """Return the SHA-256 of the ids and texts to translate of some examples."""
    encode, digest = msgspec.json.Encoder().encode, Digest()
    for row in zip(originals.ids, *map(originals.column, texts_to_replace(originals)), strict=True):
        digest.update(encode(row))
    return digest.hex


@dataclass(frozen=True)
class TranslatedTexts:
    """Texts of a translation file, by example id."""

    path: Path
    lines: Mapping[str, Any]
    checksum: str

    @classmethod
    def read(cls, path: Path, originals: Examples) -> "TranslatedTexts":
        """Read the translations of some examples."""
        ids, digest = set(originals.ids), Digest()
        lines: dict[str, Any] = {}
        # One or several texts, as in the originals; other fields are ignored.
        types: dict[str, Any] = {**_FIELDS[moving(originals)], "projection": tuple[str, ...]}
        for name in texts_to_replace(originals):
            one_text = isinstance(next(iter(originals.column(name)), ""), str)
            types[name] = str if one_text else tuple[str, ...]
        fields = [(name, kind | None, None) for name, kind in types.items()]
        line_type: Any = msgspec.defstruct("TranslatedLine", [("id", str | int), *fields])
        for line in jsonl(path, line_type, digest):
            if str(line.id) not in ids:
                what = f"id {line.id!r} is not one of {originals.task}/{originals.language} {originals.split}"
                raise DataError(what, where=str(path), fix="Keep the exported ids")
            if str(line.id) in lines:
                raise DataError(f"id {line.id!r} occurs more than once", where=str(path))
            lines[str(line.id)] = line
        texts = cls(path, lines, digest.hex)
        texts._check_originals(originals)
        return texts

    def _check_originals(self, originals: Examples) -> None:
        """Refuse translations of other texts under the same ids, which are often row numbers."""
        record = read_record(self.path)
        if record is None or record.checksum != self.checksum or not record.originals:
            return  # written or changed by others
        rows = [row for row, identifier in enumerate(originals.ids) if identifier in self.lines]
        if texts_checksum(originals.keep(rows)) != record.originals:
            what = f"translated from another version of {originals.task}/{originals.language} {originals.split}"
            raise DataError(
                what, where=str(self.path), fix="Run isogloss translate again: only new texts are translated"
            )

    @classmethod
    def read_all(cls, path: Path, originals: Examples) -> "TranslatedTexts":
        """Read the translations of some examples; all must have one."""
        texts = cls.read(path, originals)
        if missing := [identifier for identifier in originals.ids if identifier not in texts.lines]:
            what = f"{len(missing):,} of {len(originals):,} examples are not translated, first {missing[0]!r}"
            raise DataError(what, where=str(path), fix="Translate all of them")
        return texts

    def replace_texts(self, originals: Examples, language: str) -> Examples:
        """Return the originals with translated texts."""
        columns: dict[str, Column] = {}
        for name in texts_to_replace(originals):
            translations = [getattr(self.lines[identifier], name) for identifier in originals.ids]
            # Items are shaped like the originals: one text, or the same number of texts.
            for identifier, original, item in zip(originals.ids, originals.column(name), translations, strict=True):
                if item is None or (not isinstance(original, str) and len(item) != len(original)):
                    wanted = "a text" if isinstance(original, str) else f"{len(original)} texts"
                    raise self._incomplete(identifier, f"{name!r} is not {wanted}")
            columns[name] = translations
        return with_texts(originals, columns, language, self.checksum, (str(self.path),))

    def field(self, name: str, ids: Sequence[str]) -> list[Any]:
        """Return a field of some examples, None where it is missing."""
        return [getattr(self.lines[identifier], name) for identifier in ids]

    def steps(self, ids: Sequence[str]) -> Counter[str]:
        """Return the number of projected units by step."""
        return Counter(step for steps in self.field("projection", ids) for step in steps or ())

    def answers(self, ids: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the translated answers to some questions."""
        answers = self.field("answers", ids)
        if (row := next((row for row, answer in enumerate(answers) if answer is None), None)) is not None:
            raise self._incomplete(ids[row], "missing 'answers'")
        return answers

    def located_answers(self, originals: Examples, translated: Examples) -> tuple[list[Answers], str]:
        """Return the answers to each question with their offsets in its translated passage, and a note."""
        answers, starts = self.answers(originals.ids), self.field("answer_starts", originals.ids)
        if any(start is None for start in starts):
            located, steps = search_answers(originals, translated, answers)
            return located, steps_note(steps, "answers")
        for identifier, context, texts, offsets in zip(
            originals.ids, translated["context"], answers, starts, strict=True
        ):
            for text, offset in zip(texts, offsets, strict=False):
                if len(texts) != len(offsets) or (offset is not None and not context.startswith(text, offset)):
                    raise self._incomplete(identifier, "an answer is not at its offset in 'answer_starts'")
        located = [
            [(text, start) for text, start in zip(*one, strict=True) if start is not None and text]
            for one in zip(answers, starts, strict=True)
        ]
        return located, steps_note(self.steps(originals.ids), "answers")

    def words(self, identifier: str) -> tuple[list[str], Offsets]:
        """Return the words of a translated sentence and their offsets: those of the file, or else our own."""
        line = self.lines[identifier]
        tokens = word_texts(line.text) if line.tokens is None else line.tokens
        offsets = token_offsets(line.text, tokens)
        if offsets is None:
            raise self._incomplete(identifier, "'tokens' do not occur in 'text' in this order")
        return tokens, offsets

    def replace_tags(self, translated: Examples) -> Examples:
        """Return the translated sentences with projected tags; those without are dropped and counted."""
        tags = dict(zip(translated.ids, self.field("tags", translated.ids), strict=True))
        tagged = translated.keep([row for row, identifier in enumerate(translated.ids) if tags[identifier] is not None])
        words = [self.words(identifier) for identifier in tagged.ids]
        for identifier, (tokens, _) in zip(tagged.ids, words, strict=True):
            if len(tags[identifier]) != len(tokens):
                raise self._incomplete(identifier, f"{len(tags[identifier])} tags for {len(tokens)} words")
        tagged.columns["tokens"] = [tokens for tokens, _ in words]
        tagged.columns["offsets"] = [offsets for _, offsets in words]
        tagged.columns["tags"] = [tags[identifier] for identifier in tagged.ids]
        if note := steps_note(self.steps(translated.ids), "tags"):
            tagged.notes = [*tagged.notes, note]
        if lost := len(translated) - len(tagged):
            note = f"{lost:,} of {len(translated):,} sentences dropped: too few tags could be projected"
            tagged.notes = [*tagged.notes, note]
        return tagged

    def _incomplete(self, identifier: str, what: str) -> DataError:
        fix = "Translate the texts in place and keep the form"
        return DataError(f"example {identifier!r} is incomplete: {what}", where=str(self.path), fix=fix)


def with_texts(
    originals: Examples, columns: Mapping[str, Column], language: str, checksum: str, sources: tuple[str, ...]
) -> Examples:
    """Return examples with other texts."""
    both = Digest()
    both.update(f"{originals.checksum} {checksum}".encode())
    changed = originals.keep(range(len(originals)))
    changed.columns.update(columns)
    changed.language, changed.checksum, changed.sources = language, both.hex, (*originals.sources, *sources)
    return changed


def translated_training_set(task: Task, language: str, data: DataFolder) -> Examples:
    """Return the English training set in a language, with notes on dropped examples, or raise a MissingDataError."""
    path = resolve(translation_path(task, language, "train", data))
    if path is None:
        translated = _published(task, language, "train", data)
    else:
        originals = load(task, "en", "train", data)
        texts = TranslatedTexts.read(path, originals)
        present = originals.keep([row for row, identifier in enumerate(originals.ids) if identifier in texts.lines])
        translated = texts.replace_texts(present, language)
        match moving(present):
            case "answers":
                located, note = texts.located_answers(present, translated)
                translated = with_answers(translated, located)
                translated.notes = [*filter(None, (note,)), *translated.notes]
            case "tags":
                translated = texts.replace_tags(translated)
        if lost := len(originals) - len(present):
            translated.notes = [*translated.notes, f"{lost:,} of {len(originals):,} examples are not translated"]
    if not len(translated):
        where, fix = ", ".join(translated.sources), "; ".join(translated.notes)
        raise DataError("no example left to train on", where=where, fix=fix)
    return translated


def translated_test_set(
    task: Task, language: str, split: str, data: DataFolder, *, allow_partial: bool = False
) -> Examples:
    """Return the test or dev set of a language in English, with the original ids and gold, or raise a MissingDataError;
    the column `language` marks the texts as English.
    """
    if is_pseudo(split):
        raise MissingDataError(f"translate-test of {task.id} needs human test sets, not those translated from English")
    originals = load(task, language, split, data, allow_partial=allow_partial)
    if kind_of(task).retrieval:
        from isogloss.translation.retrieval_sides import translated_retrieval  # imports this module

        return translated_retrieval(task, originals, data)
    path = resolve(translation_path(task, language, split, data))
    if path is None:
        published = _published(task, language, split, data)
        if published.ids != originals.ids:  # they have the same examples in the same order
            wanted = f"{task.id}/{language} {split}"
            what = f"the {len(published):,} examples do not match the {len(originals):,} of {wanted}"
            raise DataError(what, where=", ".join(published.sources))
        columns: dict[str, Column] = {name: published.column(name) for name in texts_to_replace(originals)}
        translated = with_texts(originals, columns, language, published.checksum, published.sources)
    else:
        texts = TranslatedTexts.read_all(path, originals)
        translated = _with_alignment(originals, texts.replace_texts(originals, language), texts)
    translated.columns["language"] = ["en"] * len(translated)
    return translated


# Columns of translated test sets: alignments of words, and the gold answers with their offsets in the translation.
ALIGNMENTS, TRANSLATED_ANSWERS = "alignment", ("translated_answers", "translated_answer_starts")


def _with_alignment(originals: Examples, translated: Examples, texts: TranslatedTexts) -> Examples:
    """Return a translated test set with what is needed to score it: alignments, words, and translated answers."""
    kind = moving(originals)
    if kind:
        translated.columns[ALIGNMENTS] = texts.field("alignment", originals.ids)
    if kind == "answers":
        translated.columns.pop("answer_starts", None)
        if originals.has_gold and all(answers is not None for answers in texts.field("answers", originals.ids)):
            located, note = texts.located_answers(originals, translated)
            translated.columns[TRANSLATED_ANSWERS[0]] = [[text for text, _ in answers] for answers in located]
            translated.columns[TRANSLATED_ANSWERS[1]] = [[start for _, start in answers] for answers in located]
            translated.notes = [*translated.notes, *filter(None, (note and f"gold {note}",))]
    elif kind == "tags":
        words = [texts.words(identifier) for identifier in originals.ids]
        translated.columns["tokens"] = [tokens for tokens, _ in words]
        translated.columns["offsets"] = [offsets for _, offsets in words]
        translated.columns.pop("tags", None)
    return translated


def with_translated_gold(translated: Examples) -> Examples:
    """Return the translated questions with answers that were located in the translation, and these as gold.

    This is how XTREME scores translate-test for question answering. The examples are marked as partial, so that no
    average includes them.

    Raises:
        MissingDataError: the file has no translated answers.
    """
    texts, starts = TRANSLATED_ANSWERS
    if texts not in translated.columns:
        what = f"the translation of {translated.task}/{translated.language} {translated.split} has no answers"
        raise MissingDataError(what, fix="Translate the answers too, with isogloss translate")
    answers, offsets = translated[texts], translated[starts]
    rows = [row for row, located in enumerate(answers) if located]
    gold = translated.keep(rows)
    for name in TRANSLATED_ANSWERS:
        gold.columns.pop(name)
    gold.columns["answers"] = [answers[row] for row in rows]
    gold.columns["answer_starts"] = [offsets[row] for row in rows]
    gold.partial = gold.translated_gold = True
    gold.notes = [*gold.notes, f"answers located in the translation: {len(rows):,} of {len(translated):,} questions"]
    return gold


def _fetched_by(task: Task, language: str, split: str) -> list[str]:
    """Return the names of datasets with published translations."""
    from isogloss.data.fetch.catalog import datasets_with  # imports the downloaders

    patterns = (getattr(layout, split) for layout in LAYOUTS.get(task.id, ()))
    return datasets_with(pattern.format(lang=language) for pattern in patterns if pattern)


def _published(task: Task, language: str, split: str, data: DataFolder) -> Examples:
    examples = find_published(task, language, split, (translations_folder(data), data_folder(data)))
    if examples is None:
        described = f"{task.id}'s English training set to" if split == "train" else f"{task.id}'s {split} set from"
        fix = f"Run isogloss translate to create {translation_path(task, language, split, data)}"
        if fetched := _fetched_by(task, language, split):
            fix = f"Run {' or '.join(f'isogloss fetch {name}' for name in fetched)}, or {fix[0].lower()}{fix[1:]}"
        raise MissingDataError(f"no translation of {described} {language}", fix=fix)
    examples.root = data_folder(data)
    return examples
