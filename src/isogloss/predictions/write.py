"""Writing predictions in our own layout: whole files or none, and never over an older one by accident."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from isogloss.data.files import atomic_write, resolve
from isogloss.errors import PredictionError
from isogloss.tasks.task import Task


def split_prefix(split: str) -> str:
    """What the names of a split's files begin with: nothing for test, `dev-` for dev."""
    return "" if split == "test" else f"{split}-"


def prediction_path(root: Path, task: Task, language: str, split: str = "test") -> Path:
    """Where the answers of a cell belong: `<root>/<task>/<language>.jsonl`, with the split in front unless test."""
    return root / task.id / f"{split_prefix(split)}{language}.jsonl"


def destination(root: Path, task: Task, language: str, split: str, *, force: bool = False) -> Path:
    """Where predictions would be written; ask before the work is done.

    Raises:
        PredictionError: there are some already, and they are not to be replaced.
    """
    path = prediction_path(root, task, language, split)
    older = resolve(path)
    if older is not None and not force:
        raise PredictionError("there are predictions already", where=str(older), fix="--force replaces them")
    return path


def encode_predictions(path: Path, ids: Sequence[str], values: Sequence[Any]) -> bytes:
    """The content of a prediction file: one `{"id": …, "prediction": …}` a line; an error names the path.

    Raises:
        PredictionError: an answer cannot be written as UTF-8.
    """
    encode = msgspec.json.Encoder().encode
    lines: list[bytes] = []
    for identifier, value in zip(ids, values, strict=True):
        try:
            lines.append(encode({"id": identifier, "prediction": value}) + b"\n")
        except UnicodeEncodeError as error:
            what = f"the answer to {identifier!r} is no valid text: {error.reason}"
            raise PredictionError(what, where=str(path), fix="Replace lone surrogates") from None
    return b"".join(lines)


def write_predictions(
    root: Path, task: Task, language: str, split: str, ids: Sequence[str], values: Sequence[Any], *, force: bool = False
) -> Path:
    """Write the answers of a cell; the file appears under its name only when it is complete.

    Args:
        root: the prediction folder; made where it is missing.
        task: the task the answers are for.
        language: two-letter code.
        split: "test" or "dev".
        ids: the ids of the examples.
        values: an answer for each id, None to abstain.
        force: replace an existing file.

    Returns:
        The path of the file.

    Raises:
        PredictionError: the file is there already, or an answer cannot be written as UTF-8.
        DataError: the folder cannot be written to.
    """
    path = destination(root, task, language, split, force=force)
    content = encode_predictions(path, ids, values)
    with atomic_write(path) as stream:
        stream.buffer.write(content)
    return path
