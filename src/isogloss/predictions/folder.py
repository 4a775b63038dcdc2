"""A folder of predictions: which cells it has, in which layout, and the answers of one cell."""

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from isogloss.data.files import SUFFIXES, Stamp, read_bytes, read_toml, resolve, stamp, unpacked_name
from isogloss.decoding import decode_json
from isogloss.errors import DataError, PredictionError
from isogloss.escaping import printable_system
from isogloss.predictions.formats import Answers, file_format, json_lines
from isogloss.predictions.write import split_prefix
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.registry import ALIASES
from isogloss.tasks.task import Task

# Where a run keeps the records of its cells, below its own folder and that of each seed.
CELL_RECORDS = ".cells"


@dataclass(frozen=True)
class PredictionFile:
    """Where the answers of a cell are.

    Attributes:
        path: the file.
        layout: "jsonl", "xtreme", "one-file" or "embeddings".
        passed_over: further files that would be the cell's if this one were not there.
    """

    path: Path
    layout: str
    passed_over: tuple[Path, ...] = ()


@dataclass(frozen=True)
class PredictionFolder:
    """A prediction folder in any accepted layout."""

    root: Path

    def __post_init__(self) -> None:
        if not self.root.is_dir():
            what = "is a file, not a folder" if self.root.exists() else "there is no such folder"
            raise PredictionError(what, where=str(self.root), fix="Give the folder that holds the folders of the tasks")

    @cached_property
    def system(self) -> dict[str, Any]:
        """What `system.toml` says of the system; its folder's name where there is none.

        Raises:
            PredictionError: the file is not TOML.
        """
        path = self.root / "system.toml"
        try:
            found = read_toml(path) if path.is_file() else {}
        except DataError as error:
            raise PredictionError(error.what, where=error.where, fix=error.fix) from None
        # A name of blanks is no name.
        name = str(found.get("name", "")).strip() or self.root.resolve().name.strip() or "system"
        return printable_system({"name": "", **found} | {"name": name})

    def folders(self, task: Task) -> list[Path]:
        """The task's folder, under its own name or an alias."""
        names = [task.id, *(alias for alias, name in ALIASES.items() if name == task.id)]
        return [self.root / name for name in names if (self.root / name).is_dir()]

    def find(self, task: Task, language: str, split: str) -> PredictionFile | None:
        """Where the answers of a cell are, None for nowhere; our own layout is looked for first.

        Raises:
            DataError: a file for all languages of a task cannot be read.
        """
        found = [
            PredictionFile(path, layout)
            for folder in self.folders(task)
            for name, layout in _file_names(task, language, split).items()
            for suffix in SUFFIXES
            if (path := folder / f"{name}{suffix}").is_file()
        ]
        whole = self._one_file(task) if split == "test" else None
        if whole is not None and language in _by_language(whole, stamp(whole)):
            found.append(PredictionFile(whole, "one-file"))
        if not found:
            return None
        return replace(found[0], passed_over=tuple(other.path for other in found[1:]))

    def has(self, task: Task) -> bool:
        """Whether there is anything for the task."""
        return bool(self.folders(task)) or self._one_file(task) is not None

    def _one_file(self, task: Task) -> Path | None:
        return resolve(self.root / f"{task.id}.json") if kind_of(task).one_file_for_all else None

    def unknown_files(self, task: Task) -> list[Path]:
        """What is in the task's folders, but belongs to no language of the task."""
        known = file_names(task)
        return [
            path
            for folder in self.folders(task)
            for path in sorted(folder.iterdir())
            if not path.name.startswith((".", "candidates", "dev-candidates")) and unpacked_name(path) not in known
        ]

    def unknown_languages(self, task: Task) -> list[str]:
        """What the file for all languages of a task has answers for, but is none of its languages.

        Raises:
            DataError: the file cannot be read.
        """
        whole = self._one_file(task)
        return [] if whole is None else [c for c in _by_language(whole, stamp(whole)) if c not in task.every_language]

    def read(self, task: Task, found: PredictionFile, examples: Examples) -> Answers:
        """The answers of a cell, whatever the layout.

        Raises:
            DataError: the file cannot be read at all; what is wrong with single answers is among their problems.
            PredictionError: vectors that are damaged, or lack an example.
        """
        kind = kind_of(task)
        if found.layout == "jsonl":
            answers = json_lines(found.path, kind)
            answers.ids = kind.known_ids(answers.ids, examples)
            return answers
        if found.layout == "xtreme":
            rows = kind.row_ids(examples)
            name_of = lambda row: rows[row] if row < len(rows) else f"row {row}"  # noqa: E731 - it is one
            return file_format(kind.label_format).read(found.path, kind, name_of)
        if found.layout == "one-file":
            answers = Answers(found.path)
            for identifier, value in _by_language(found.path, stamp(found.path))[examples.language].items():
                answers.convert(kind, identifier, value)
            return answers
        from isogloss.predictions.embeddings import answers_of_vectors

        return answers_of_vectors(task, found.path, examples)


@lru_cache(maxsize=1)
def _by_language(path: Path, _stamp: Stamp) -> dict[str, dict[str, Any]]:
    """The answers of a file that has those of all languages, read once for all of them; their types are unchecked."""
    fix = "One file per task maps language to {question id: answer}"
    expected = dict[str, dict[str, Any]]
    found: dict[str, dict[str, Any]] = decode_json(
        read_bytes(path), str(path), expected, what="such a JSON file", fix=fix
    )
    return found


def file_names(task: Task) -> set[str]:
    """What the files of a task may be called, unpacked; a common pool of candidates is not among them."""
    return {
        name
        for language in task.every_language
        for split in ("test", "dev")
        for name in (*_file_names(task, language, split), *_vector_files(language, split))
    }


def _file_names(task: Task, language: str, split: str) -> dict[str, str]:
    """What a cell's file may be called, and the layout that means; our own first."""
    kind = kind_of(task)
    prefix = split_prefix(split)
    names = {f"{prefix}{language}.jsonl": "jsonl"}
    if kind.label_format:
        names[f"{split}-{language}{file_format(kind.label_format).suffix}"] = "xtreme"
    if kind.retrieval:
        names[f"{prefix}queries-{language}.npy"] = "embeddings"
    return names


def _vector_files(language: str, split: str) -> list[str]:
    """The files that may lie beside `queries-<language>.npy`."""
    names = (f"queries-{language}.ids.txt", f"candidates-{language}.npy", f"candidates-{language}.ids.txt")
    return [split_prefix(split) + name for name in names]
