"""Classification files: sentence pairs (XNLI, PAWS-X) and single documents (MLDoc)."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from isogloss.data.files import Digest, Stamp, lines, stamp
from isogloss.data.tables import rows
from isogloss.errors import DataError
from isogloss.tasks.examples import Column, Examples
from isogloss.tasks.readers.split_files import SplitFiles

# The raw XNLI release spells one label two ways.
RENAMED = {"contradictory": "contradiction"}


def _pairs(files: SplitFiles, first: list[str], second: list[str], labels: Sequence[str]) -> Examples:
    columns: dict[str, Column] = {"text_a": first, "text_b": second}
    if labels:
        if len(labels) != len(first):
            raise DataError(f"{len(labels)} labels for {len(first)} pairs", where=files.where())
        columns["label"] = [RENAMED.get(label, label) for label in labels]
    return files.examples(files.row_ids(len(first)), columns, "label")


def prepared(files: SplitFiles) -> Examples | None:
    """`a<TAB>b<TAB>label` without a header; the label column may be missing, as in XTREME's test files."""
    path = files.path()
    if path is None:
        return None
    table = list(rows(path, (2, 3), files.digest))
    labels = [row[2] for row in table if len(row) == 3]
    return _pairs(files, [row[0] for row in table], [row[1] for row in table], labels)


def prepared_xnli(files: SplitFiles) -> Examples | None:
    """XTREME's XNLI files; test labels, the same in all languages, may lie beside them in one file."""
    examples = prepared(files)
    if examples is None or examples.has_gold:
        return examples
    labels = files.path(pattern="xnli/test-gold-labels.txt")
    if labels is None or files.split != "test":
        return examples
    gold = [line.strip() for line in lines(labels, files.digest)]
    return _pairs(files, list(examples["text_a"]), list(examples["text_b"]), gold)


def xnli(files: SplitFiles) -> Examples | None:
    """The release itself: one file for all languages, with a header."""
    path = files.path()
    if path is None:
        return None
    by_language, checksum = _release(path, stamp(path))
    if files.language not in by_language:
        return None
    examples = _pairs(files, *by_language[files.language])
    examples.checksum = checksum
    return examples


@lru_cache(maxsize=1)
def _release(path: Path, _stamp: Stamp) -> tuple[dict[str, tuple[list[str], list[str], list[str]]], str]:
    """Premises, hypotheses and labels by language, read once for all of them."""
    digest = Digest()
    found: dict[str, tuple[list[str], list[str], list[str]]] = {}
    # language, gold_label, …, sentence1 in the seventh column and sentence2 in the eighth
    for row in rows(path, (8, 64), digest):
        for column, value in zip(found.setdefault(row[0], ([], [], [])), (row[6], row[7], row[1]), strict=True):
            column.append(value)
    return found, digest.hex


def pawsx(files: SplitFiles) -> Examples | None:
    """The release itself: header and the columns id, sentence1, sentence2, label.

    Ids are the rows: only some distributions have the id column, and all keep the order.
    """
    path = files.path()
    if path is None:
        return None
    table = [row for row in rows(path, 4, files.digest) if row[0] != "id"]
    return _pairs(files, [row[1] for row in table], [row[2] for row in table], [row[3] for row in table])


def documents(files: SplitFiles) -> Examples | None:
    """`label<TAB>text` a line, as MLDoc's preparation writes it."""
    path = files.path()
    if path is None:
        return None
    table = list(rows(path, 2, files.digest))
    columns: dict[str, Column] = {"text": [row[1] for row in table], "label": [row[0] for row in table]}
    return files.examples(files.row_ids(len(table)), columns, "label")


def multinli(files: SplitFiles) -> Examples | None:
    """The training files of XNLI's machine-translation archive: premise, hypothesis and label under a header."""
    path = files.path()
    if path is None:
        return None
    table = list(rows(path, 3, files.digest))[1:]
    return _pairs(files, [row[0] for row in table], [row[1] for row in table], [row[2] for row in table])
