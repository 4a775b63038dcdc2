"""Classification files: sentence pairs (XNLI, PAWS-X) and single documents (MLDoc)."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from isogloss.data.files import Digest, Stamp, lines, stamp
from isogloss.data.tables import rows
from isogloss.errors import DataError
from isogloss.tasks.examples import Column, Examples
from isogloss.tasks.readers.split_files import SplitFiles, of_one_file

# The raw XNLI release spells one label two ways.
RENAMED = {"contradictory": "contradiction"}


def _examples(files: SplitFiles, pairs: Sequence[Sequence[str]], labels: Sequence[str] = ()) -> Examples:
    """Rows of two texts, with the label as a third column or apart; there may be none."""
    columns: dict[str, Column] = {"text_a": [row[0] for row in pairs], "text_b": [row[1] for row in pairs]}
    labels = labels or [row[2] for row in pairs if len(row) == 3]
    if labels:
        if len(labels) != len(pairs):
            raise DataError(f"{len(labels)} labels for {len(pairs)} pairs", where=files.where())
        columns["label"] = [RENAMED.get(label, label) for label in labels]
    return files.examples(files.row_ids(len(pairs)), columns, "label")


@of_one_file
def prepared(files: SplitFiles, path: Path) -> Examples | None:
    """`a<TAB>b<TAB>label` without a header; the label column may be missing, as in XTREME's test files."""
    return _examples(files, list(rows(path, (2, 3), files.digest)))


def prepared_xnli(files: SplitFiles) -> Examples | None:
    """XTREME's XNLI files; test labels, the same in all languages, may lie beside them in one file."""
    examples = prepared(files)
    if examples is None or examples.has_gold:
        return examples
    labels = files.path(pattern="xnli/test-gold-labels.txt")
    if labels is None or files.split != "test":
        return examples
    gold = [line.strip() for line in lines(labels, files.digest)]
    return _examples(files, list(zip(examples["text_a"], examples["text_b"], strict=True)), gold)


@of_one_file
def xnli(files: SplitFiles, path: Path) -> Examples | None:
    """The release itself: one file for all languages, with a header."""
    by_language, checksum = _release(path, stamp(path))
    if files.language not in by_language:
        return None
    examples = _examples(files, by_language[files.language])
    examples.checksum = checksum
    return examples


@lru_cache(maxsize=1)
def _release(path: Path, _stamp: Stamp) -> tuple[dict[str, list[tuple[str, str, str]]], str]:
    """Premise, hypothesis and label of every pair by language, read once for all of them."""
    digest = Digest()
    by_language: dict[str, list[tuple[str, str, str]]] = {}
    # language, gold_label, …, sentence1 in the seventh column and sentence2 in the eighth
    for row in rows(path, (8, 64), digest):
        by_language.setdefault(row[0], []).append((row[6], row[7], row[1]))
    return by_language, digest.hex


@of_one_file
def pawsx(files: SplitFiles, path: Path) -> Examples | None:
    """The release itself: header and the columns id, sentence1, sentence2, label.

    Ids are the rows: only some distributions have the id column, and all keep the order.
    """
    return _examples(files, [row[1:] for row in rows(path, 4, files.digest) if row[0] != "id"])


@of_one_file
def documents(files: SplitFiles, path: Path) -> Examples | None:
    """`label<TAB>text` a line, as MLDoc's preparation writes it."""
    table = list(rows(path, 2, files.digest))
    columns: dict[str, Column] = {"text": [row[1] for row in table], "label": [row[0] for row in table]}
    return files.examples(files.row_ids(len(table)), columns, "label")


@of_one_file
def multinli(files: SplitFiles, path: Path) -> Examples | None:
    """The training files of XNLI's machine-translation archive: premise, hypothesis and label under a header."""
    return _examples(files, list(rows(path, 3, files.digest))[1:])
