"""A folder of labels in XTREME's layout as gold: `<task>/test-<language>.<suffix>`, counts unchecked."""

from collections import Counter
from pathlib import Path

from isogloss.data.files import Digest, read_bytes, resolve
from isogloss.errors import DataError
from isogloss.predictions.folder import PredictionFolder
from isogloss.predictions.formats import Answers, file_format
from isogloss.tasks.examples import Column, Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.readers.questions import article_clusters
from isogloss.tasks.task import Task


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
