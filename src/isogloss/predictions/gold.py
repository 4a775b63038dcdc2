"""Gold labels of a cell, from the data folder or from a label folder in XTREME's layout.

Label files are `<task>/test-<language>.<suffix>`; their counts are unchecked.
"""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from isogloss.data.files import Digest, read_bytes, resolve
from isogloss.errors import DataError, MissingDataError, NoGoldError
from isogloss.predictions.folder import PredictionFolder
from isogloss.predictions.formats import Answers, file_format
from isogloss.predictions.subset import Subset
from isogloss.tasks.examples import Column, Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.loading import load, load_gold, unusable_gold
from isogloss.tasks.readers.questions import article_clusters
from isogloss.tasks.task import Task


@dataclass(frozen=True)
class GoldSource:
    """Source of gold labels; its methods raise a `DataError` for missing or damaged files."""

    data: Path | None = None  # None for ISOGLOSS_DATA or the user's cache
    labels: Path | None = None  # label folder in XTREME's layout, used instead of the data folder
    allow_partial: bool = False  # True to accept gold for only part of the examples
    subset: Subset | None = None  # to return only the drawn examples of its cells
    seek_subset: bool = True  # False to ignore subset files near predictions without all answers

    def examples(self, task: Task, language: str, split: str) -> Examples:
        """Return the examples of a cell with usable gold."""
        return self._drawn(task, self.all_examples(task, language, split))

    def all_examples(self, task: Task, language: str, split: str) -> Examples:
        """Return all examples of a cell with usable gold, including those that were not drawn."""
        if self.labels is None:
            return load_gold(task, language, split, self.data, allow_partial=self.allow_partial)
        examples = self._all_inputs(task, language, split)
        if reason := unusable_gold(task, examples):
            raise NoGoldError(reason, where=examples.sources[0], fix="Pass a folder with the real labels")
        return examples

    def inputs(self, task: Task, language: str, split: str) -> Examples:
        """Return the examples of a cell, with or without gold."""
        return self._drawn(task, self._all_inputs(task, language, split))

    def _drawn(self, task: Task, examples: Examples) -> Examples:
        drawn = None if self.subset is None else self.subset.find(task, examples.language, examples.split)
        return examples if drawn is None else drawn.kept(examples, same_file=self.labels is None)

    def _all_inputs(self, task: Task, language: str, split: str) -> Examples:
        if self.labels is None:
            return load(task, language, split, self.data)
        examples = gold_examples(task, language, split, self.labels)
        if examples is None:
            what, cause = f"no labels for {task.id}/{language} {split}", f"no labels for {task.id} {split}"
            raise MissingDataError(what, where=str(self.labels), cause=cause)
        return examples


def gold_examples(task: Task, language: str, split: str, root: Path) -> Examples | None:
    """Return the gold of a cell, or None if the folder has no file for it."""
    kind = kind_of(task)
    name = kind.gold_format or kind.label_format
    if not name:
        raise DataError(f"label folders have no format for {task.id}", where=str(root), fix="Pass its gold with --data")
    form = file_format(name)
    paths = [resolve(folder / f"{split}-{language}{form.suffix}") for folder in PredictionFolder(root).folders(task)]
    path = next(filter(None, paths), None)
    if path is None:
        return None
    digest = Digest()
    read_bytes(path, digest)
    answers = form.read(path, kind, lambda row: kind.row_id(split, row) or str(row))
    if answers.problems:
        first = answers.problems[0]
        raise DataError(first.what, where=first.where, fix=first.fix)
    if not answers.ids:
        raise NoGoldError("no examples", where=str(path))
    try:
        ids, columns = kind.gold_columns(task, answers.ids, answers.values)
    except DataError as error:
        raise DataError(error.what, where=str(path), fix=error.fix) from None
    _refuse_unknown_labels(task, answers, columns[kind.gold])
    (identifier, times), *_ = Counter(ids).most_common(1)
    if times > 1:
        raise DataError(f"duplicate id {identifier!r} in the gold", where=str(path))
    return Examples(
        task.id,
        language,
        split,
        ids,
        columns,
        kind.gold,
        # LAReQA's ids end in the language; the rest is shared by all languages.
        units=[identifier.removesuffix(f"_{language}") for identifier in ids] if task.parallel else None,
        clusters=article_clusters(task, language, answers.articles) if answers.articles else None,
        checksum=digest.hex,
        sources=(str(path),),
    )


def _refuse_unknown_labels(task: Task, answers: Answers, gold: Column) -> None:
    if not task.labels or callable(gold):
        return
    labels = set(task.labels)
    for row, value in enumerate(gold):
        for label in value if isinstance(value, list) else [value]:
            if label not in labels:
                what = f"expected a gold label of {', '.join(task.labels)}, got {label!r}"
                raise DataError(what, where=answers.where(row))
