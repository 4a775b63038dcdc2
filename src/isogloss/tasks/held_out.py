"""Dev splits cut from training sets, for tasks that publish none (`Task.dev_from_train`).

A passage belongs to dev if its checksum is divisible by that number, with all its questions. So the split is the same
in every file layout, and no passage is in both parts.
"""

from collections.abc import Container, Sequence
from dataclasses import replace
from hashlib import sha256
from zlib import crc32

from isogloss.errors import MissingDataError
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.task import Task


def dev_of_training(task: Task, train: Examples) -> Examples:
    """Return the dev split of a whole training set, or raise a MissingDataError if no passage falls into it."""
    rows = _dev_rows(task, train)
    if not rows:
        what = f"the training set of {task.id}/{train.language} is too small to cut a dev split from it"
        raise MissingDataError(what, cause=f"the training set of {task.id} is too small to cut a dev split from it")
    note = f"dev is {len(rows):,} of the {len(train):,} training examples; regimes leave them out of training"
    return replace(_part(train, rows, "dev"), split="dev", notes=[*train.notes, note])


def without_dev(task: Task, train: Examples, dev_ids: Container[str] | None = None) -> Examples:
    """Return a training set without its dev split; in a translated set, dev is known only by the original ids."""
    rows = _dev_rows(task, train) if dev_ids is None else [n for n, one in enumerate(train.ids) if one in dev_ids]
    if not rows:
        return train
    dev = {*rows}
    rest = _part(train, [row for row in range(len(train)) if row not in dev], "train")
    rest.notes = [*train.notes, f"{len(rows):,} of {len(train):,} examples are the dev split and left out"]
    return rest


def _dev_rows(task: Task, train: Examples) -> list[int]:
    texts = train["context"] if "context" in train.columns else kind_of(task).main_text(train)
    rows = [row for row, text in enumerate(texts) if crc32(text.encode()) % task.dev_from_train == 0]
    return rows if len(rows) < len(train) else []


def _part(train: Examples, rows: Sequence[int], name: str) -> Examples:
    part = train.keep(rows)
    # Caches identify examples by checksum.
    part.checksum = sha256(f"{train.checksum} {name}".encode()).hexdigest()
    return part
