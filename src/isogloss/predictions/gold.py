"""The gold of a cell: from the data folder, or from a folder of labels in XTREME's layout.

Labels are `<task>/test-<language>.<suffix>`; their counts are unchecked.
"""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from isogloss.data.files import Digest, read_bytes, resolve
from isogloss.errors import DataError
from isogloss.predictions.folder import PredictionFolder
from isogloss.predictions.formats import Answers, file_format
from isogloss.tasks.examples import Column, Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.loading import load, load_gold
from isogloss.tasks.readers.questions import article_clusters
from isogloss.tasks.task import Task


@dataclass(frozen=True)
class GoldSource:
    """Where gold is looked for.

    Attributes:
        data: the data folder; None for ISOGLOSS_DATA or the user's cache.
        labels: a folder of labels in XTREME's layout, instead of the data folder.
        allow_partial: whether gold of a part of the examples will do.
    """

    data: Path | None = None
    labels: Path | None = None
    allow_partial: bool = False

    def examples(self, task: Task, language: str, split: str) -> Examples:
        """The examples of a cell with their gold.

        Raises:
            DataError: there is no gold, or none that answers can be scored by.
        """
        if self.labels is None:
            return load_gold(task, language, split, self.data, allow_partial=self.allow_partial)
        examples = self.inputs(task, language, split)
        if placeholder := kind_of(task).placeholder(examples):
            raise DataError(placeholder, where=examples.sources[0], fix="Give a folder with the real labels")
        return examples

    def inputs(self, task: Task, language: str, split: str) -> Examples:
        """The examples of a cell, with gold or without: what must be answered.

        Raises:
            DataError: they are not there, or damaged.
        """
        if self.labels is None:
            return load(task, language, split, self.data)
        examples = gold_examples(task, language, split, self.labels)
        if examples is None:
            raise DataError(f"no labels for {task.id}/{language} {split}", where=str(self.labels))
        return examples


def gold_examples(task: Task, language: str, split: str, root: Path) -> Examples | None:
    """The gold of one cell; None where the folder has no file for it."""
    kind = kind_of(task)
    name = kind.gold_format or kind.label_format
    if not name:
        raise DataError(f"label folders have no format for {task.id}", where=str(root), fix="Give its gold with --data")
    form = file_format(name)
    paths = [resolve(folder / f"{split}-{language}{form.suffix}") for folder in PredictionFolder(root).folders(task)]
    path = next((found for found in paths if found is not None), None)
    if path is None:
        return None
    digest = Digest()
    read_bytes(path, digest)
    answers = form.read(path, kind, lambda row: kind.row_id(split, row) or str(row))
    if answers.problems:
        first = answers.problems[0]
        raise DataError(first.what, where=first.where, fix=first.fix)
    if not answers.ids:
        raise DataError("no example", where=str(path))
    try:
        ids, columns = kind.gold_columns(task, answers.ids, answers.values)
    except DataError as error:
        raise DataError(error.what, where=str(path), fix=error.fix) from None
    _refuse_unknown_labels(task, answers, columns[kind.gold])
    (twice, times), *_ = Counter(ids).most_common(1)
    if times > 1:
        raise DataError(f"the gold names {twice!r} twice", where=str(path))
    return Examples(
        task.id,
        language,
        split,
        ids,
        columns,
        kind.gold,
        # LAReQA's ids end in the language; what the languages share is the rest.
        units=[identifier.removesuffix(f"_{language}") for identifier in ids] if task.parallel else None,
        clusters=article_clusters(task, language, answers.articles) if answers.articles else None,
        checksum=digest.hex,
        sources=(str(path),),
    )


def _refuse_unknown_labels(task: Task, answers: Answers, gold: Column) -> None:
    if not task.labels or callable(gold):
        return
    known = set(task.labels)
    for row, value in enumerate(gold):
        for label in value if isinstance(value, list) else [value]:
            if label not in known:
                raise DataError(
                    f"gold label {label!r} is not one of {', '.join(task.labels)}", where=answers.where(row)
                )
