"""Write predictions in our own layout, atomically and without replacing older files by accident."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from isogloss.data.files import atomic_write, resolve
from isogloss.errors import PredictionError
from isogloss.reply_outcomes import ReplyFacts
from isogloss.tasks.task import Task


def split_prefix(split: str) -> str:
    """Return the file name prefix of a split: "" for test, otherwise its name, such as `dev-`."""
    return "" if split == "test" else f"{split}-"


def prediction_path(root: Path, task: Task, language: str, split: str = "test") -> Path:
    """Return `<root>/<task>/<language>.jsonl`, with a split prefix unless the split is test."""
    return root / task.id / f"{split_prefix(split)}{language}.jsonl"


def destination(root: Path, task: Task, language: str, split: str, *, force: bool = False) -> Path:
    """Return the path to write predictions to; unless `force` is set, existing ones raise a `PredictionError`."""
    path = prediction_path(root, task, language, split)
    older = resolve(path)
    if older is not None and not force:
        raise PredictionError("predictions exist already", where=str(older), fix="Replace them with --force")
    return path


def encode_predictions(
    path: Path, ids: Sequence[str], values: Sequence[Any], replies: Sequence[ReplyFacts | None] | None = None
) -> bytes:
    """Return a prediction file, one `{"id": …, "prediction": …}` per line, with `reply` where it is known.

    `path` is for messages.
    """
    encode = msgspec.json.Encoder().encode
    lines: list[bytes] = []
    for identifier, value, facts in zip(ids, values, replies or [None] * len(ids), strict=True):
        line = {"id": identifier, "prediction": value}
        try:
            lines.append(encode(line if facts is None else line | {"reply": facts}) + b"\n")
        except UnicodeEncodeError as error:
            what = f"invalid text in the answer to {identifier!r}: {error.reason}"
            raise PredictionError(what, where=str(path), fix="Replace lone surrogates") from None
    return b"".join(lines)


def write_predictions(
    root: Path,
    task: Task,
    language: str,
    split: str,
    ids: Sequence[str],
    values: Sequence[Any],
    *,
    replies: Sequence[ReplyFacts | None] | None = None,
    force: bool = False,
) -> Path:
    """Write the answers of a cell atomically and return the path; a value of None abstains.

    Raises:
        PredictionError: the file exists already and `force` is not set, or an answer cannot be encoded as UTF-8.
        DataError: the folder is not writable.
    """
    path = destination(root, task, language, split, force=force)
    content = encode_predictions(path, ids, values, replies)
    with atomic_write(path) as stream:
        stream.buffer.write(content)
    return path
