"""Translated examples: from Isogloss files, written by any translator, or else from published files.

Isogloss files have one JSON line per example, as `isogloss export` writes it, with the texts translated in place:

    translations/<task>/translate-train/<language>.jsonl       the English training set in another language
    translations/<task>/translate-test/[dev-]<language>.jsonl  a test (or dev) set in English

Examples are identified by their ids, and everything except the texts (labels in particular) comes from the original.
Training questions have their `answers` translated too: these are searched in the translated passage, and questions
without a match are dropped. Published files are XTREME's archive and script output, XNLI, PAWS-X and XCOPA.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from isogloss.data import squad
from isogloss.data.files import Digest, atomic_write, resolve
from isogloss.data.tables import jsonl, rows
from isogloss.errors import DataError, IsoglossError, MissingDataError
from isogloss.tasks.examples import Column, Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.loading import data_folder, load
from isogloss.tasks.readers import copa, pairs
from isogloss.tasks.readers.split_files import SplitFiles
from isogloss.tasks.registry import task as find_task
from isogloss.tasks.task import Layout, Task

# Answers to one question, each with its (expected) offset in the passage.
Answers = list[tuple[str, int]]

# Columns to project onto translated passages; the first holds texts, which are translated too.
PROJECTED = ("answers", "answer_starts")


def project_answers(
    originals: Examples, translated: Examples, translations: Sequence[Sequence[str]]
) -> Iterator[Answers]:
    """Yield the separately translated answers to each question that occur in its translated passage."""
    before = zip(originals["context"], originals["answer_starts"], strict=True)
    for context, (original, starts), answers in zip(translated["context"], before, translations, strict=True):
        # A translated answer is at about the same relative position as the original.
        stretch = len(context) / max(1, len(original))
        offsets = [round(start * stretch) for start in starts] + [0] * len(answers)
        yield find_answers(context, list(zip(answers, offsets, strict=False)))


def find_answers(context: str, answers: Answers) -> Answers:
    """Return the answers found in a passage, as spelled there, at the occurrence nearest to the expected offset."""
    lower, matches = context.lower(), []
    for answer, expected in answers:
        text = answer.strip().rstrip(".")
        # Preferably in the same case. Lower-casing may change the length, and then offsets do not match.
        for passage, wanted in ((context, text), (lower if len(lower) == len(context) else "", text.lower())):
            starts = [match.start() for match in re.finditer(f"(?={re.escape(wanted)})", passage)] if wanted else []
            if starts:
                start = min(starts, key=lambda start: abs(start - expected))
                matches.append((context[start : start + len(wanted)], start))
                break
    return matches


def with_answers(examples: Examples, located: Sequence[Answers]) -> Examples:
    """Return the questions with answers found in their passages, with a note on how many were dropped."""
    rows = [row for row, answers in enumerate(located) if answers]
    answered = examples.keep(rows)
    answered.columns["answers"] = [[text for text, _ in located[row]] for row in rows]
    answered.columns["answer_starts"] = [[start for _, start in located[row]] for row in rows]
    if lost := len(examples) - len(rows):
        note = f"{lost:,} of {len(examples):,} questions dropped: the answer is not in the passage"
        answered.notes = [*answered.notes, note]
    return answered


_SQUAD = "SQuAD/translate-train/squad.translate.train.en-{lang}.json"


def _pair_files(train: str, test: str) -> Layout:
    """Return XTREME's layout of text pairs in two folders, or in one."""
    return Layout("pairs", train=f"{train}/en-{{lang}}-translated.tsv", test=f"{test}/test-{{lang}}-en-translated.tsv")


# File locations below the translations folder or the data folder, best first.
_LAYOUTS = {
    "xnli": (
        _pair_files("XNLI/translate-train", "XNLI/translate-test"),
        _pair_files("xnli/XNLI-Translated", "xnli/XNLI-Translated"),
        Layout("pairs", train="xnli/XNLI-MT-1.0/multinli/multinli.train.{lang}.tsv"),
    ),
    "pawsx": (
        _pair_files("PAWSX/translate-train", "PAWSX/translate-test"),
        _pair_files("pawsx/translated", "pawsx/translated"),
        Layout("pawsx", train="pawsx/{lang}/translated_train.tsv"),
    ),
    "xquad": (Layout("squad", train=_SQUAD),),
    "mlqa": (
        Layout("squad", train=_SQUAD),
        Layout("squad", train="mlqa/mlqa-translate-train/{lang}_squad-translate-train-train-v1.1.json"),
    ),
    "tydiqa": (Layout("squad", train="TyDiQA-GoldP/translate-train/tydiqa.translate.train.en-{lang}.json"),),
    "xcopa": (
        Layout(
            "copa",
            train="xcopa_translate_train/xcopa_{lang}_translate_train.jsonl",
            test="xcopa/data-gmt/{lang}/test.{lang}.jsonl",
            dev="xcopa/data-gmt/{lang}/val.{lang}.jsonl",
        ),
    ),
}


def published_folders(task: Task) -> set[str]:
    """Return the data subfolders that may have translations of a task."""
    patterns = (pattern for layout in _LAYOUTS.get(task.id, ()) for pattern in (layout.train, layout.dev, layout.test))
    return {pattern.partition("/")[0] for pattern in patterns if pattern}


def find_published(task: Task, language: str, split: str, roots: Sequence[Path]) -> Examples | None:
    """Return the training set in a language, or a test set translated to English; None if there is no file."""
    for layout in _LAYOUTS.get(task.id, ()):
        for root in roots:
            if pattern := getattr(layout, split):
                files = SplitFiles(task=task, language=language, split=split, root=root, pattern=pattern)
                if (examples := _READERS[layout.reader](files)) is not None:
                    return examples
    return None


def _pairs(source: SplitFiles) -> Examples | None:
    """Read XTREME's pairs, tab-separated `a, b, a translated, b translated, label`, or only the last three (scripts).

    XNLI's own translations have the last three below a header. Labels of a test file are ignored, since gold comes
    from the original.
    """
    path = source.path()
    if path is None:
        return None
    table = list(rows(path, (1, 64), source.digest))
    if source.split == "train":
        return _labelled(source, table[1:] if table and table[0][-1] == "label" else table)
    for number, row in enumerate(table, 1):
        if not 2 <= len(row) <= 5:
            raise DataError(f"expected 2 to 5 columns, got {len(row)}", where=f"{source.where()}:{number}")
    texts = [row[2:4] if len(row) > 3 else row[:2] for row in table]
    columns: dict[str, Column] = {"text_a": [row[0] for row in texts], "text_b": [row[1] for row in texts]}
    return source.examples(source.row_ids(len(texts)), columns, "label")


def _labelled(source: SplitFiles, table: Sequence[list[str]]) -> Examples:
    """Return rows with a valid label; others are dropped and counted, as some published rows are damaged."""
    labels = {"contradictory": "contradiction"}  # XTREME's XNLI files spell one label as in the release
    rows = [(*row[-3:-1], labels.get(row[-1].strip(), row[-1].strip())) for row in table if len(row) in (3, 5)]
    valid = [row for row in rows if row[2] in source.task.labels]
    lost = len(table) - len(valid)
    if lost > len(table) / 2:
        what = f"{lost:,} of {len(table):,} rows are not pairs with a label of {source.task.id}"
        fix = "XTREME's columns are a, b, a translated, b translated, label"
        raise DataError(what, where=source.where(), fix=fix)
    names = ("text_a", "text_b", "label")
    columns: dict[str, Column] = {name: [row[index] for row in valid] for index, name in enumerate(names)}
    examples = source.examples(source.row_ids(len(valid)), columns, "label")
    if lost:
        examples.notes.append(f"{lost:,} of {len(table):,} damaged rows dropped")
    return examples


def _squad(source: SplitFiles) -> Examples | None:
    """Read XTREME's questions; search for answers that are not at their offset."""
    path = source.path()
    if path is None:
        return None
    questions = list(squad.questions(squad.read(path, source.digest)))
    ids = [str(question.id) for _, question in questions]
    columns: dict[str, Column] = {
        "question": [question.question for _, question in questions],
        "context": [paragraph.context for paragraph, _ in questions],
    }
    # Published ids need not be unique, and training ids are not used otherwise.
    unique = ids if len(set(ids)) == len(ids) else source.row_ids(len(ids))
    answers = [
        find_answers(paragraph.context, [(answer.text, answer.answer_start) for answer in question.answers])
        for paragraph, question in questions
    ]
    return with_answers(source.examples(unique, columns, "answers"), answers)


_READERS: dict[str, Callable[[SplitFiles], Examples | None]] = {
    "copa": copa.copa,
    "pairs": _pairs,
    "pawsx": pairs.pawsx,
    "squad": _squad,
}


DataFolder = str | os.PathLike[str] | None


def translations_folder(data: DataFolder) -> Path:
    """Return the translations folder: ISOGLOSS_TRANSLATIONS, or `translations` in the data folder."""
    named = os.environ.get("ISOGLOSS_TRANSLATIONS")
    return Path(named).expanduser() if named else data_folder(data) / "translations"


def translation_path(task: Task, language: str, split: str, data: DataFolder) -> Path:
    """Return the path of the training set in a language, or of its test or dev set in English."""
    regime = "translate-train" if split == "train" else "translate-test"
    name = f"dev-{language}.jsonl" if split == "dev" else f"{language}.jsonl"
    return translations_folder(data) / task.id / regime / name


def texts_to_replace(examples: Examples) -> tuple[str, ...]:
    """Return the columns that a translator replaces."""
    return tuple(name for name in kind_of(find_task(examples.task)).translatable if name in examples.columns)


def answers_to_project(examples: Examples) -> bool:
    """Return True if training examples have answers that must be found in their translated passages."""
    moving = [name for name in kind_of(find_task(examples.task)).moves_with_text if name in examples.columns]
    if examples.split != "train" or not moving:
        return False
    if not {*moving} <= {*PROJECTED}:
        raise IsoglossError(f"{examples.task} cannot be translated: {' and '.join(moving)} would need projecting")
    return True


def columns_to_translate(examples: Examples) -> list[str]:
    """Return the columns to translate: texts, and the answers of training questions."""
    return [*texts_to_replace(examples), *(PROJECTED[:1] if answers_to_project(examples) else ())]


def write_texts(path: Path, ids: Sequence[str], columns: Mapping[str, Sequence[Any]]) -> Path:
    """Write the texts of some examples to a file; return its path."""
    encode = msgspec.json.Encoder().encode
    with atomic_write(path) as stream:
        for identifier, *values in zip(ids, *columns.values(), strict=True):
            stream.write(encode({"id": identifier, **dict(zip(columns, values, strict=True))}).decode() + "\n")
    return path


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
        fields: list[tuple[str, Any, None]] = []
        for name in columns_to_translate(originals):
            one_text = isinstance(next(iter(originals.column(name)), ""), str)
            fields.append((name, (str if one_text else tuple[str, ...]) | None, None))
        line_type: Any = msgspec.defstruct("TranslatedLine", [("id", str | int), *fields])
        for line in jsonl(path, line_type, digest):
            if str(line.id) not in ids:
                what = f"id {line.id!r} is not one of {originals.task}/{originals.language} {originals.split}"
                raise DataError(what, where=str(path), fix="Keep the exported ids")
            lines[str(line.id)] = line
        return cls(path, lines, digest.hex)

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

    def answers(self, ids: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the translated answers to some questions."""
        translated = {identifier: self.lines[identifier].answers for identifier in ids}
        for identifier, answers in translated.items():
            if answers is None:
                raise self._incomplete(identifier, "missing 'answers'")
        return list(translated.values())

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
        if answers_to_project(present):
            answers = project_answers(present, translated, texts.answers(present.ids))
            translated = with_answers(translated, list(answers))
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
    originals = load(task, language, split, data, allow_partial=allow_partial)
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
        texts = TranslatedTexts.read(path, originals)
        if missing := [identifier for identifier in originals.ids if identifier not in texts.lines]:
            what = f"{len(missing):,} of {len(originals):,} examples are not translated, first {missing[0]!r}"
            raise DataError(what, where=str(path), fix="Translate all of them")
        translated = texts.replace_texts(originals, language)
    translated.columns["language"] = ["en"] * len(translated)
    return translated


def _fetched_by(task: Task, language: str, split: str) -> list[str]:
    """Return the names of datasets with published translations."""
    from isogloss.data.fetch.catalog import datasets_with  # imports the downloaders

    patterns = (getattr(layout, split) for layout in _LAYOUTS.get(task.id, ()))
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
