"""Other tools' output files as answers to our examples, where they carry what is needed.

Each tool has a module with two functions: `recognizes(path, decoded)`, and `read(files, target)`, which turns files
into answers and remembers what they quote of the examples. What they quote is then held against the examples: an
import that would silently pair answers with the wrong examples is refused.
"""

import os
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from isogloss.data.files import lines, unpacked_name
from isogloss.decoding import decode_python_json
from isogloss.errors import DataError, PredictionError, unknown
from isogloss.predictions.importers.base import ImportedAnswers, Target, read_json
from isogloss.predictions.importers.check import check
from isogloss.tasks.loading import load
from isogloss.tasks.registry import task as find_task

__all__ = ["TOOLS", "ImportedAnswers", "detect", "import_files"]

# In the order in which a file is tried: Hugging Face's formats are the plainest, so they come last.
TOOLS = {"lm-eval": "lm_eval", "mteb": "mteb", "explainaboard": "explainaboard", "hf": "hf"}


def import_files(
    tool: str,
    files: Sequence[str | os.PathLike[str]],
    task: str,
    language: str,
    *,
    split: str = "test",
    data: str | os.PathLike[str] | None = None,
    labels: Sequence[str] = (),
    choose_filter: str = "",
) -> ImportedAnswers:
    """Read a tool's files as the answers of one cell.

    Args:
        tool: one of `TOOLS`, or "auto" to recognise it.
        files: the tool's output files, packed or not.
        task: a task or an alias.
        language: two-letter code.
        split: "test" or "dev".
        data: the data folder; with it, ids and quoted texts are checked, without it a note says that they were not.
        labels: the labels in the order of the tool's class indices.
        choose_filter: which of several answer filters to take (lm-eval).

    Returns:
        Ids and answers, with notes on what could not be checked; `write_predictions` writes them.

    Raises:
        PredictionError: a file is not the tool's, lacks what is needed, or answers other examples.
        DataError: a file cannot be read, or the data folder lacks the examples.
        UnknownNameError: no such tool, task, language, split, label or filter.
    """
    found_task = find_task(task)
    for kind, name, known in (
        ("tool", tool, ("auto", *TOOLS)),
        (f"language of {found_task.id}", language, found_task.every_language),
        ("split", split, ("test", "dev")),
        *((f"label of {found_task.id}", label, found_task.labels) for label in labels),
    ):
        if name not in known:
            raise unknown(kind, name, known)
    paths = [Path(file) for file in files]
    for path in paths:
        if not path.is_file():
            raise DataError("there is no such file", where=str(path))
    examples = load(found_task, language, split, data) if data is not None else None
    target = Target(found_task, language, split, examples, tuple(labels), choose_filter)
    imported: ImportedAnswers = _module(detect(paths) if tool == "auto" else tool).read(paths, target)
    check(target, imported)
    return imported


def _module(tool: str) -> Any:
    return import_module(f"isogloss.predictions.importers.{TOOLS[tool]}")


def detect(files: Sequence[Path]) -> str:
    """The tool that wrote the files.

    Raises:
        PredictionError: nothing is known that writes such files, or they are of different tools.
    """
    found = {path: _detect(path) for path in files}
    tools = sorted(set(found.values()))
    if len(tools) > 1:
        raise PredictionError(f"files of different tools: {', '.join(tools)}", where=", ".join(map(str, files)))
    return tools[0]


def _detect(path: Path) -> str:
    decoded = _sample(path)
    for tool in TOOLS:
        if _module(tool).recognizes(path, decoded):
            return tool
    fix = f"Name the tool ({', '.join(TOOLS)}) to see what its importer expects"
    raise PredictionError("no tool is known that writes such a file", where=str(path), fix=fix)


def _sample(path: Path) -> Any:
    """What the file begins with, decoded: the whole of a .json file, the first line of a .jsonl file."""
    name = unpacked_name(path)
    if name.endswith(".json"):
        return read_json(path)
    if name.endswith(".jsonl"):
        try:
            return decode_python_json(next(lines(path), ""), str(path))
        except DataError:
            return None
    return None
