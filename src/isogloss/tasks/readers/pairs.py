"""Readers of classification files: sentence pairs (XNLI, PAWS-X) and single documents (MLDoc)."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

from isogloss.data.files import Digest, Stamp, lines, stamp
from isogloss.data.tables import rows, written_rows
from isogloss.errors import DataError
from isogloss.tasks.examples import Column, Examples
from isogloss.tasks.readers.split_files import SplitFiles, clusters_within, of_one_file

# The raw XNLI release spells one label in two ways.
RENAMED = {"contradictory": "contradiction"}
# PAWS-X's placeholder for a sentence that could not be translated.
_UNTRANSLATED = "NS"

TextPairs = Sequence[Sequence[str]]
Clusters = Callable[[SplitFiles, TextPairs], list[str] | None]


def _examples(
    files: SplitFiles, pairs: TextPairs, labels: Sequence[str] = (), clusters: Clusters | None = None
) -> Examples:
    """Return examples from rows of two texts, with labels as a third column, separately, or none."""
    columns: dict[str, Column] = {"text_a": [row[0] for row in pairs], "text_b": [row[1] for row in pairs]}
    labels = labels or [row[2] for row in pairs if len(row) == 3]
    if labels:
        if len(labels) != len(pairs):
            raise DataError(f"{len(labels)} labels for {len(pairs)} pairs", where=files.where())
        columns["label"] = [RENAMED.get(label, label) for label in labels]
    names = clusters(files, pairs) if clusters and files.split != "train" else None
    return files.examples(files.row_ids(len(pairs)), columns, "label", clusters=names)


def _premises(files: SplitFiles, pairs: TextPairs) -> list[str]:
    """Cluster rows by premise: its rows are adjacent and the same in all languages; the first row names the cluster."""
    names = files.row_ids(len(pairs))
    for row in range(1, len(pairs)):
        if pairs[row][0] == pairs[row - 1][0]:
            names[row] = names[row - 1]
    return names


def _shared_sentences(files: SplitFiles, pairs: TextPairs) -> list[str] | None:
    """Cluster pairs that share a sentence, transitively."""
    parent = list(range(len(pairs)))

    def first(row: int) -> int:
        while parent[row] != row:
            parent[row] = row = parent[parent[row]]
        return row

    seen: dict[str, int] = {}
    for row, texts in enumerate(pairs):
        for text in texts[:2]:
            other = seen.setdefault(text, row)
            if other != row and text != _UNTRANSLATED:
                parent[first(row)] = first(other)
    return clusters_within(files.language, map(first, range(len(pairs))))


@of_one_file
def prepared_pawsx(files: SplitFiles, path: Path) -> Examples | None:
    """Read XTREME's PAWS-X files: `a<TAB>b<TAB>label` without a header; test files have no labels."""
    return _examples(files, written_rows(path, (2, 3), files.digest), clusters=_shared_sentences)


@of_one_file
def prepared_xnli(files: SplitFiles, path: Path) -> Examples | None:
    """Read XTREME's XNLI files; the shared test labels may be in one file next to them."""
    pairs = written_rows(path, (2, 3), files.digest)
    gold: list[str] = []
    if files.split == "test" and all(len(row) == 2 for row in pairs):
        labels = files.path(pattern="xnli/test-gold-labels.txt")
        gold = [line.strip() for line in lines(labels, files.digest)] if labels is not None else []
    return _examples(files, pairs, gold, _premises)


@of_one_file
def xnli(files: SplitFiles, path: Path) -> Examples | None:
    """Read the official release: one file for all languages, with a header."""
    by_language, files.digest = _release(path, stamp(path))
    if files.language not in by_language:
        return None
    return _examples(files, by_language[files.language], clusters=_premises)


@lru_cache(maxsize=1)
def _release(path: Path, _stamp: Stamp) -> tuple[dict[str, list[tuple[str, str, str]]], Digest]:
    """Read premise, hypothesis and label of every pair, by language, once for all languages."""
    digest = Digest()
    by_language: dict[str, list[tuple[str, str, str]]] = {}
    # language, gold_label, …, sentence1 in the seventh column and sentence2 in the eighth
    for row in rows(path, (8, 64), digest):
        by_language.setdefault(row[0], []).append((row[6], row[7], row[1]))
    return by_language, digest


@of_one_file
def pawsx(files: SplitFiles, path: Path) -> Examples | None:
    """Read the official release: a header and the columns id, sentence1, sentence2, label.

    Ids are row numbers: only some distributions have the id column, but all keep the order.
    """
    pairs = [row[1:] for row in rows(path, 4, files.digest) if row[0] != "id"]
    return _examples(files, pairs, clusters=_shared_sentences)


@of_one_file
def documents(files: SplitFiles, path: Path) -> Examples | None:
    """Read `label<TAB>text` lines, as written by MLDoc's preparation."""
    table = list(rows(path, 2, files.digest))
    columns: dict[str, Column] = {"text": [row[1] for row in table], "label": [row[0] for row in table]}
    return files.examples(files.row_ids(len(table)), columns, "label")


@of_one_file
def multinli(files: SplitFiles, path: Path) -> Examples | None:
    """Read the training files of XNLI's machine-translation archive: premise, hypothesis and label under a header."""
    return _examples(files, list(rows(path, 3, files.digest))[1:])
