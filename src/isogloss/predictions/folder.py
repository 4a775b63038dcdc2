"""Prediction folders: the cells they have, in any layout, and the answers of a cell."""

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import product
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

# Folder of cell records, in a run folder and in each of its seed folders.
CELL_RECORDS = ".cells"


@dataclass(frozen=True)
class PredictionFile:
    """File with the answers of a cell.

    Attributes:
        path: path of the file.
        layout: "jsonl", "xtreme", "one-file" or "embeddings".
        passed_over: further files of the cell, which are ignored.
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
            what = "expected a folder, got a file" if self.root.exists() else "no such folder"
            raise PredictionError(what, where=str(self.root), fix="Pass the folder with one subfolder per task")

    @cached_property
    def system(self) -> dict[str, Any]:
        """Metadata from `system.toml`; without that file, the folder's name.

        Raises:
            PredictionError: the file is not TOML.
        """
        path = self.root / "system.toml"
        try:
            metadata = read_toml(path) if path.is_file() else {}
        except DataError as error:
            raise PredictionError(error.what, where=error.where, fix=error.fix) from None
        name = str(metadata.get("name", "")).strip() or self.root.resolve().name.strip() or "system"
        return printable_system({"name": "", **metadata} | {"name": name})

    def folders(self, task: Task) -> list[Path]:
        """Return the task's folders, under its own name or an alias."""
        names = [task.id, *(alias for alias, name in ALIASES.items() if name == task.id)]
        return [self.root / name for name in names if (self.root / name).is_dir()]

    def find(self, task: Task, language: str, split: str) -> PredictionFile | None:
        """Return the file of a cell, or None; our own layout comes first.

        Raises:
            DataError: the file with all languages of a task cannot be read.
        """
        files = [
            PredictionFile(path, layout)
            for folder in self.folders(task)
            for name, layout in _file_names(task, language, split).items()
            for suffix in SUFFIXES
            if (path := folder / f"{name}{suffix}").is_file()
        ]
        whole = self._one_file(task) if split == "test" else None
        if whole is not None and language in _by_language(whole, stamp(whole)):
            files.append(PredictionFile(whole, "one-file"))
        if not files:
            return None
        return replace(files[0], passed_over=tuple(other.path for other in files[1:]))

    def has(self, task: Task) -> bool:
        """Return True if the folder has a file or folder of the task."""
        return bool(self.folders(task)) or self._one_file(task) is not None

    def _one_file(self, task: Task) -> Path | None:
        return resolve(self.root / f"{task.id}.json") if kind_of(task).one_file_for_all else None

    def unknown_files(self, task: Task) -> list[Path]:
        """Return entries of the task's folders that are not named after one of its languages."""
        accepted = file_names(task)
        return [
            path
            for folder in self.folders(task)
            for path in sorted(folder.iterdir())
            if not path.name.startswith((".", "candidates", "dev-candidates")) and unpacked_name(path) not in accepted
        ]

    def unknown_languages(self, task: Task) -> list[str]:
        """Return keys of the file with all languages that are not languages of the task.

        Raises:
            DataError: the file cannot be read.
        """
        whole = self._one_file(task)
        if whole is None:
            return []
        return [code for code in _by_language(whole, stamp(whole)) if code not in task.every_language]

    def read(self, task: Task, file: PredictionFile, examples: Examples) -> Answers:
        """Read the answers of a cell in any layout.

        Raises:
            DataError: the file cannot be read; invalid answers are listed in `Answers.problems` instead.
            PredictionError: vectors are damaged or missing.
        """
        kind = kind_of(task)
        if file.layout == "jsonl":
            answers = json_lines(file.path, kind)
            answers.ids = kind.known_ids(answers.ids, examples)
            return answers
        if file.layout == "xtreme":
            rows = kind.row_ids(examples)
            read = file_format(kind.label_format).read
            return read(file.path, kind, lambda row: rows[row] if row < len(rows) else f"row {row}")
        if file.layout == "one-file":
            answers = Answers(file.path)
            for identifier, value in _by_language(file.path, stamp(file.path))[examples.language].items():
                answers.convert(kind, identifier, value)
            return answers
        from isogloss.predictions.embeddings import answers_of_vectors

        return answers_of_vectors(task, file.path, examples)


@lru_cache(maxsize=1)
def _by_language(path: Path, _stamp: Stamp) -> dict[str, dict[str, Any]]:
    """Read a file with all languages of a task, once for all of them; the types of answers are unchecked."""
    what, fix = "a JSON object by language", "One file per task maps language to {question id: answer}"
    expected = dict[str, dict[str, Any]]
    answers: dict[str, dict[str, Any]] = decode_json(read_bytes(path), str(path), expected, what=what, fix=fix)
    return answers


def file_names(task: Task) -> set[str]:
    """Return the accepted file names of a task, unpacked, without a shared pool of candidates."""
    # These accompany `queries-<language>.npy`.
    vectors = ("queries-{}.ids.txt", "candidates-{}.npy", "candidates-{}.ids.txt")
    cells = list(product(task.every_language, ("test", "dev")))
    return {
        *(name for language, split in cells for name in _file_names(task, language, split)),
        *(split_prefix(split) + name.format(language) for language, split in cells for name in vectors),
    }


def _file_names(task: Task, language: str, split: str) -> dict[str, str]:
    """Return the accepted file names of a cell with their layouts, our own first."""
    kind = kind_of(task)
    prefix = split_prefix(split)
    names = {f"{prefix}{language}.jsonl": "jsonl"}
    if kind.label_format:
        names[f"{split}-{language}{file_format(kind.label_format).suffix}"] = "xtreme"
    if kind.retrieval:
        names[f"{prefix}queries-{language}.npy"] = "embeddings"
    return names
