"""A folder of predictions: which cells it has, in which layout, and the answers of one cell."""

import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from isogloss.data.files import SUFFIXES, read_bytes, resolve
from isogloss.errors import DataError, PredictionError
from isogloss.predictions.formats import Answers, json_lines, line_reader
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import Kind, kind
from isogloss.tasks.registry import ALIASES
from isogloss.tasks.task import Task


@dataclass(frozen=True)
class Found:
    """Where the answers of a cell are, and in which layout: "jsonl", "xtreme", "one-file" or "embeddings"."""

    path: Path
    layout: str


@dataclass(frozen=True)
class Folder:
    """A prediction folder in any accepted layout."""

    root: Path

    def __post_init__(self) -> None:
        if not self.root.is_dir():
            what = "is a file, not a folder" if self.root.exists() else "there is no such folder"
            raise PredictionError(what, where=str(self.root), fix="Give the folder that holds the folders of the tasks")

    @cached_property
    def system(self) -> dict[str, Any]:
        """What `system.toml` says of the system; its folder's name where there is none."""
        path = self.root / "system.toml"
        if not path.is_file():
            return {"name": self.root.resolve().name}
        try:
            return {"name": self.root.resolve().name, **tomllib.loads(path.read_text(encoding="utf-8"))}
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise PredictionError(f"not TOML: {error}", where=str(path)) from None

    def folders(self, task: Task) -> list[Path]:
        """The task's folder, under its own name or an alias."""
        names = [task.id, *(alias for alias, name in ALIASES.items() if name == task.id)]
        return [self.root / name for name in names if (self.root / name).is_dir()]

    def find(self, task: Task, language: str, split: str) -> Found | None:
        """The answers of a cell; our own layout is looked for first."""
        prefix = "" if split == "test" else f"{split}-"
        suffix, _ = line_reader(task.kind)
        for folder in self.folders(task):
            for name, layout in (
                (f"{prefix}{language}.jsonl", "jsonl"),
                (f"{split}-{language}{suffix}", "xtreme"),
                (f"{prefix}queries-{language}.npy", "embeddings"),
            ):
                path = resolve(folder / name)
                if path is not None:
                    return Found(path, layout)
        whole = resolve(self.root / f"{task.id}.json") if task.kind == "qa" and split == "test" else None
        return Found(whole, "one-file") if whole and language in self._languages_in(whole) else None

    def has(self, task: Task) -> bool:
        """Whether there is anything for the task."""
        return bool(self.folders(task)) or bool(task.kind == "qa" and resolve(self.root / f"{task.id}.json"))

    def unknown_files(self, task: Task) -> list[Path]:
        """Files in the task's folders that belong to no language of the task."""
        known = {
            path.name
            for language in (*task.languages, *task.also)
            for split in ("test", "dev")
            for path in self._names(task, language, split)
        }
        return [
            path
            for folder in self.folders(task)
            for path in sorted(folder.iterdir())
            if path.is_file() and not path.name.startswith((".", "candidates")) and _stem(path) not in known
        ]

    def _names(self, task: Task, language: str, split: str) -> list[Path]:
        suffix, _ = line_reader(task.kind)
        prefix = "" if split == "test" else f"{split}-"
        names = (
            f"{prefix}{language}.jsonl",
            f"{split}-{language}{suffix}",
            f"{prefix}queries-{language}.npy",
        )
        return [Path(name) for name in (*names, *(f"{prefix}{side}-{language}{end}" for side, end in _SIDES))]

    def read(self, task: Task, found: Found, examples: Examples) -> Answers:
        """The answers of a cell, whatever the layout."""
        of_kind = kind(task.kind)
        if found.layout == "jsonl":
            answers = json_lines(found.path, of_kind)
            return _unsorted(answers, examples) if task.kind == "bitext" else answers
        if found.layout == "xtreme":
            _, reader = line_reader(task.kind)
            rows = xtreme_rows(task, examples)
            return reader(found.path, of_kind, lambda row: rows[row] if row < len(rows) else f"row {row}")
        if found.layout == "one-file":
            return self._from_one_file(found.path, of_kind, examples.language)
        from isogloss.predictions.embeddings import answer

        return answer(task, found.path, examples)

    def _languages_in(self, path: Path) -> dict[str, dict[str, str]]:
        try:
            return msgspec.json.decode(read_bytes(path), type=dict[str, dict[str, str]])
        except msgspec.DecodeError as error:
            fix = "One file per task maps language to {question id: answer}"
            raise DataError(f"not such a JSON file: {error}", where=str(path), fix=fix) from None

    def _from_one_file(self, path: Path, of_kind: Kind, language: str) -> Answers:
        answers = Answers(path)
        for identifier, value in self._languages_in(path)[language].items():
            answers.add(identifier, of_kind.normalize(value))
        return answers


_SIDES = (("queries", ".ids.txt"), ("candidates", ".npy"), ("candidates", ".ids.txt"))


def _stem(path: Path) -> str:
    for suffix in SUFFIXES[1:]:
        if path.name.endswith(suffix):
            return path.name.removesuffix(suffix)
    return path.name


def xtreme_rows(task: Task, examples: Examples) -> list[str]:
    """The ids of the rows of a file in XTREME's layout, which has none.

    Rows are in the dataset's order, but Tatoeba's are in the order of the sorted English sentences.
    """
    if task.kind != "bitext" or "text" not in examples.columns:
        return examples.split_ids or examples.ids
    english = examples["text"]
    return [examples.ids[row] for row in sorted(range(len(english)), key=english.__getitem__)]


def _unsorted(answers: Answers, examples: Examples) -> Answers:
    """Tatoeba answers to rows of XTREME's sorted file (`sorted-<row>`) under the original line numbers."""
    if any(identifier.startswith("sorted-") for identifier in answers.ids) and not examples.ids[0].startswith("sorted"):
        english = examples["text"]
        order = sorted(range(len(english)), key=english.__getitem__)
        names = {f"sorted-{place}": examples.ids[row] for place, row in enumerate(order)}
        answers.ids = [names.get(identifier, identifier) for identifier in answers.ids]
    return answers
