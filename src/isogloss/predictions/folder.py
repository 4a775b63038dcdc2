"""Prediction folders: the cells they have, in any layout, and the answers of a cell."""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from itertools import chain, product
from pathlib import Path
from typing import Any

from isogloss.data.files import SUFFIXES, Stamp, read_bytes, read_toml, resolve, stamp, unpacked_name
from isogloss.decoding import decode_json
from isogloss.errors import DataError, PredictionError, near_names
from isogloss.escaping import printable_system
from isogloss.languages import codes_meant_by
from isogloss.predictions.formats import Answers, file_format, json_lines
from isogloss.predictions.problems import Problem, ProblemCode, first_problems
from isogloss.predictions.write import split_prefix
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.pseudo_sets import ORIGINAL_SPLITS, languages_in
from isogloss.tasks.registry import ALIASES, TASKS
from isogloss.tasks.registry import task as find_task
from isogloss.tasks.task import Task

# Folder of cell records, in a run folder and in each of its seed folders.
CELL_RECORDS = ".cells"
# Name of the exported subset in the folder of a task, `dev-` before it for dev.
SUBSET_FILE = "subset.json"
# Start of the names of files with answers to translated questions, which must not be scored on the original gold.
TRANSLATED = "translated-"
# Words that precede the language in a file name.
_FILE_NAME_WORDS = {"dev", "test", "queries", "candidates"}
# Files that may accompany the task folders.
_COMPANIONS = {"system.toml", "results.json", "scores.csv", "README.md"} | {
    f"{split_prefix(split)}results.json" for split in ("dev", *ORIGINAL_SPLITS)
}


@dataclass(frozen=True)
class PredictionFile:
    """File with the answers of a cell."""

    path: Path
    layout: str  # "jsonl", "xtreme", "one-file", "embeddings" or "memory"
    passed_over: tuple[Path, ...] = ()  # further files of the cell, which are ignored


@dataclass(frozen=True)
class PredictionFolder:
    """A prediction folder in any accepted layout."""

    root: Path

    def __post_init__(self) -> None:
        if not self.root.is_dir():
            what = "expected a folder, got a file" if self.root.exists() else "no such folder"
            raise PredictionError(what, where=str(self.root), fix="Pass the folder with one subfolder per task")

    @cached_property
    def metadata(self) -> dict[str, Any]:
        """Content of `system.toml`; empty without that file."""
        path = self.root / "system.toml"
        try:
            return read_toml(path) if path.is_file() else {}
        except DataError as error:
            raise PredictionError(error.what, where=error.where, fix=error.fix) from None

    @property
    def system(self) -> dict[str, Any]:
        """Metadata of the system; without a name in `system.toml`, that of the folder."""
        return self.described(self.metadata)

    def described(self, metadata: dict[str, Any]) -> dict[str, Any]:
        """Return metadata with printable texts and a name, by default that of the folder."""
        name = str(metadata.get("name", "")).strip() or self.root.resolve().name.strip() or "system"
        return printable_system({"name": "", **metadata} | {"name": name})

    def folders(self, task: Task) -> list[Path]:
        """Return the task's folders, under its own name or an alias."""
        names = [task.id, *(alias for alias, name in ALIASES.items() if name == task.id)]
        return [self.root / name for name in names if (self.root / name).is_dir()]

    def find(self, task: Task, language: str, split: str) -> PredictionFile | None:
        """Return the file of a cell, or None; our own layout comes first."""
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
        return replace(files[0], passed_over=tuple(other.path for other in files[1:])) if files else None

    def pseudo_languages(self, task: Task, split: str) -> tuple[str, ...]:
        """Return the languages with answers to pseudo test sets of a split, sorted."""
        names = (unpacked_name(path) for folder in self.folders(task) for path in folder.iterdir())
        return languages_in(names, split_prefix(split))

    def has(self, task: Task) -> bool:
        """Return True if the folder has a file or folder of the task."""
        return bool(self.folders(task)) or self._one_file(task) is not None

    def _one_file(self, task: Task) -> Path | None:
        return resolve(self.root / f"{task.id}.json") if kind_of(task).one_file_for_all else None

    def misnamed(self, task: Task) -> Iterator[Problem]:
        """Report entries of the task's folders and its file with all languages that are not named after a language."""
        accepted = _all_file_names(task) | {
            f"{split_prefix(split)}{code}.jsonl"
            for split in ORIGINAL_SPLITS
            for code in self.pseudo_languages(task, split)
        }
        problem = partial(Problem, code=ProblemCode.UNKNOWN_LANGUAGE, task=task.id)
        for path in (path for folder in self.folders(task) for path in sorted(folder.iterdir())):
            ignored = path.name.startswith((".", "candidates", "dev-candidates")) or path.name.endswith(SUBSET_FILE)
            if not ignored and unpacked_name(path) not in accepted:
                yield problem(file=str(path), advice=_name_hint(unpacked_name(path), task, accepted))
        whole = self._one_file(task)
        with suppress(DataError):  # reported when its answers are read
            for name in _by_language(whole, stamp(whole)) if whole is not None else ():
                if name not in task.every_language:
                    advice = f"Languages are {' '.join(task.every_language)}"
                    yield problem(file=f"{self.root / task.id}.json ({name!r})", advice=advice)

    def read(self, task: Task, file: PredictionFile, examples: Examples) -> Answers:
        """Read the answers of a cell in any layout; invalid answers are listed in `Answers.problems`."""
        kind = kind_of(task)
        if file.layout == "jsonl":
            answers = json_lines(file.path, kind)
            answers.ids = kind.known_ids(answers.ids, examples)
            return answers
        if file.layout == "xtreme":
            names = kind.row_ids(examples)
            read = file_format(kind.label_format).read
            return read(file.path, kind, lambda row: names[row] if row < len(names) else f"row {row}")
        if file.layout == "one-file":
            answers = Answers(file.path)
            rows = _by_language(file.path, stamp(file.path))[examples.language]
            for identifier, value in answers.worth_reading(rows.items()):
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


def _all_file_names(task: Task) -> set[str]:
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


def tasks_in(root: Path) -> list[str]:
    """Return the tasks in a folder, without loading any other task."""
    present = {ALIASES.get(name, name) for name in map(_task_name, root.iterdir())}
    return [name for name in TASKS if name in present]


def _task_name(entry: Path) -> str:
    return entry.name.partition(".json")[0]


def misnamed_entries(folder: PredictionFolder, tasks: Iterable[str]) -> list[Problem]:
    """Report misnamed entries, which would silently be ignored: of the folder, and of the folders of some tasks.

    An entry with no similar task name is a warning.
    """
    of_tasks = (problem for name in tasks for problem in folder.misnamed(find_task(name)))
    return first_problems(chain(_unknown_entries(folder), of_tasks), str(folder.root))


def _unknown_entries(folder: PredictionFolder) -> Iterator[Problem]:
    task_names = {*TASKS, *ALIASES}
    for entry in sorted(folder.root.iterdir()):
        name = _task_name(entry)
        if entry.name.startswith(".") or entry.name in _COMPANIONS or (name in task_names and entry.is_dir()):
            continue
        if name in task_names:
            task = find_task(name)
            # One file may have the answers in all languages.
            if not (kind_of(task).one_file_for_all and unpacked_name(entry) == f"{task.id}.json"):
                yield Problem(code=ProblemCode.FILE_INSTEAD_OF_FOLDER, task=task.id, file=str(entry))
            continue
        close = near_names(name, task_names, 1)
        advice = f"Did you mean {close[0]}?" if close else "See isogloss list tasks"
        unknown = partial(Problem, code=ProblemCode.UNKNOWN_TASK, detail="not the name of a task")
        yield unknown(file=str(entry), advice=advice, warning=not close)


def _name_hint(name: str, task: Task, accepted: Iterable[str]) -> str:
    """Suggest the accepted name for the language that a file name means, if it means one."""
    if name.startswith(TRANSLATED):
        return "These answer translated questions (translate-test-xtreme): their scores are in results.json"
    code = _language_in(name, task)
    of_split = [option for option in sorted(accepted) if option.startswith("dev-") == name.startswith("dev-")]
    candidates = [option for option in of_split if code and _language_in(option, task) == code]
    alike = [option for option in candidates if Path(option).suffix == Path(name).suffix] or candidates
    close = near_names(name, alike, 1) or alike
    codes = " ".join(task.every_language)
    return (
        f"Did you mean {close[0]}? Languages are {codes}"
        if close
        else f"Name it <language>.jsonl; languages are {codes}"
    )


def _language_in(name: str, task: Task) -> str:
    """Return the only language of the task that a file name can mean, or "": zh for zh-CN, test-zh-CN and mine_zh."""
    words = re.split(r"[-_ ]", name.partition(".")[0])
    while words and words[0].casefold() in _FILE_NAME_WORDS | {task.id, task.base_id}:
        del words[0]
    known = task.every_language
    meant = codes_meant_by("-".join(words), known)
    if not meant:
        # Any word may be the language, also numbered, unless two are: my-model-zh for a task with Burmese.
        meant = [code for word in words for code in codes_meant_by(word.rstrip("0123456789"), known)]
    return meant[0] if len(meant) == 1 else ""
