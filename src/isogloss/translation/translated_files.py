"""Our own files of translated examples, which any translator can fill.

They have one JSON line an example, as `isogloss export` writes it, with the texts translated in place:

    translations/<task>/translate-train/<language>.jsonl       the English training set in another language
    translations/<task>/translate-test/[dev-]<language>.jsonl  a test (or dev) set in English

Examples are known by their ids, and all but the texts (labels above all) is the original's. Questions to learn from
have their `answers` translated too: these are looked for in the translated passage, and a question whose answer is not
in it is left out.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from isogloss.data.files import Digest, atomic_write
from isogloss.data.tables import jsonl
from isogloss.errors import DataError, IsoglossError
from isogloss.tasks.examples import Column, Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.loading import data_folder
from isogloss.tasks.registry import task as find_task
from isogloss.tasks.task import Task
from isogloss.translation.answer_projection import PROJECTED

DataFolder = str | os.PathLike[str] | None


def translations_folder(data: DataFolder) -> Path:
    """The folder that ISOGLOSS_TRANSLATIONS names, else `translations` in the data folder."""
    named = os.environ.get("ISOGLOSS_TRANSLATIONS")
    return Path(named).expanduser() if named else data_folder(data) / "translations"


def translation_path(task: Task, language: str, split: str, data: DataFolder) -> Path:
    """Where our own file is, with the training set in a language, or with a test or dev set from it in English."""
    regime = "translate-train" if split == "train" else "translate-test"
    name = f"dev-{language}.jsonl" if split == "dev" else f"{language}.jsonl"
    return translations_folder(data) / task.id / regime / name


def texts_to_replace(examples: Examples) -> tuple[str, ...]:
    """The columns of some examples that a translator replaces."""
    return tuple(name for name in kind_of(find_task(examples.task)).translatable if name in examples.columns)


def answers_to_project(examples: Examples) -> bool:
    """Whether examples to learn from have answers, which must be found again in their translated passages."""
    moving = [name for name in kind_of(find_task(examples.task)).moves_with_text if name in examples.columns]
    if examples.split != "train" or not moving:
        return False
    if not {*moving} <= {*PROJECTED}:
        what = f"{examples.task} cannot be translated: {' and '.join(moving)} would have to move with the texts"
        raise IsoglossError(what)
    return True


def columns_to_translate(examples: Examples) -> list[str]:
    """The columns a translator is given: the texts it replaces, and the answers to questions to learn from."""
    return [*texts_to_replace(examples), *(PROJECTED[:1] if answers_to_project(examples) else ())]


def write_texts(path: Path, ids: Sequence[str], columns: Mapping[str, Sequence[Any]]) -> Path:
    """Write a file with the texts of some examples; gives its path."""
    encode = msgspec.json.Encoder().encode
    with atomic_write(path) as stream:
        for identifier, *values in zip(ids, *columns.values(), strict=True):
            stream.write(encode({"id": identifier, **dict(zip(columns, values, strict=True))}).decode() + "\n")
    return path


@dataclass(frozen=True)
class TranslatedTexts:
    """The texts of one of our files, by the ids of the examples."""

    path: Path
    lines: Mapping[str, Any]
    checksum: str

    @classmethod
    def read(cls, path: Path, originals: Examples) -> "TranslatedTexts":
        """The translations of some examples."""
        known = set(originals.ids)
        digest = Digest()
        lines: dict[str, Any] = {}
        for line in jsonl(path, _line_type(originals), digest):
            if str(line.id) not in known:
                what = f"id {line.id!r} is not one of {originals.task}/{originals.language} {originals.split}"
                raise DataError(what, where=str(path), fix="Keep the ids of the texts you are given")
            lines[str(line.id)] = line
        return cls(path, lines, digest.hex)

    def replace_texts(self, originals: Examples, language: str) -> Examples:
        """The originals in these words."""
        columns: dict[str, Column] = {name: list(self._column(originals, name)) for name in texts_to_replace(originals)}
        return with_texts(originals, columns, language, self.checksum, (str(self.path),))

    def answers(self, ids: Sequence[str]) -> list[tuple[str, ...]]:
        """The translated answers to some questions."""
        found = []
        for identifier in ids:
            answers = self.lines[identifier].answers
            if answers is None:
                raise self._incomplete(identifier, "it has no 'answers'")
            found.append(answers)
        return found

    def _column(self, originals: Examples, name: str) -> Iterator[Any]:
        """A column, each item in the form of the original's: a text, or as many texts as it has."""
        for identifier, original in zip(originals.ids, originals.column(name), strict=True):
            translation = getattr(self.lines[identifier], name)
            if translation is None or (not isinstance(original, str) and len(translation) != len(original)):
                wanted = "a text" if isinstance(original, str) else f"{len(original)} texts"
                raise self._incomplete(identifier, f"its {name!r} is not {wanted}")
            yield translation

    def _incomplete(self, identifier: str, what: str) -> DataError:
        fix = "Translate the texts in place and keep the form"
        return DataError(f"example {identifier!r} is not whole: {what}", where=str(self.path), fix=fix)


def with_texts(
    originals: Examples, columns: Mapping[str, Column], language: str, checksum: str, sources: tuple[str, ...]
) -> Examples:
    """Examples with other texts."""
    both = Digest()
    both.update(f"{originals.checksum} {checksum}".encode())
    changed = originals.keep(range(len(originals)))
    changed.columns.update(columns)
    changed.language = language
    changed.checksum = both.hex
    changed.sources = (*originals.sources, *sources)
    return changed


def _line_type(originals: Examples) -> Any:
    """What a line of a file holds: a text, or several, wherever the originals do; what it has beyond is passed over."""
    fields: list[tuple[str, Any, None]] = []
    for name in columns_to_translate(originals):
        one_text = isinstance(next(iter(originals.column(name)), ""), str)
        fields.append((name, (str if one_text else tuple[str, ...]) | None, None))
    return msgspec.defstruct("TranslatedLine", [("id", str | int), *fields])
