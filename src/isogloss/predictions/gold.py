"""A folder of labels in XTREME's layout as gold: `<task>/test-<language>.<suffix>`, counts unchecked."""

from pathlib import Path

from isogloss.data import squad
from isogloss.data.files import Digest, read_bytes, resolve
from isogloss.errors import DataError
from isogloss.predictions.align import REST
from isogloss.predictions.folder import Folder
from isogloss.predictions.formats import Answers, line_reader
from isogloss.predictions.problems import Problem
from isogloss.tasks.examples import Column, Examples
from isogloss.tasks.kinds import kind
from isogloss.tasks.readers.pairs import RENAMED
from isogloss.tasks.task import Task


def gold_examples(task: Task, language: str, split: str, root: Path) -> Examples | None:
    """The gold of one cell; None where the folder has no file for it."""
    suffix, reader = line_reader(task.kind)
    paths = [resolve(folder / f"{split}-{language}{suffix}") for folder in Folder(root).folders(task)]
    path = next((found for found in paths if found is not None), None)
    if path is None:
        return None
    digest = Digest()
    raw = read_bytes(path, digest)
    if task.kind == "qa":
        ids, columns = _questions(raw, path)
        gold = "answers"
    else:
        answers = reader(path, kind(task.kind), lambda row: f"{split}-{row}")
        _refuse(answers.problems)
        _refuse_unknown_labels(task, answers)
        ids, columns, gold = _labelled(task, answers)
    if not ids:
        raise DataError("no example", where=str(path))
    if len(set(ids)) != len(ids):
        twice = next(identifier for place, identifier in enumerate(ids) if identifier in ids[:place])
        raise DataError(f"the gold names {twice!r} twice", where=str(path))
    return Examples(
        task.id,
        language,
        split,
        ids,
        columns,
        gold,
        # LAReQA's ids end in the language; what the languages share is the rest.
        units=[identifier.removesuffix(f"_{language}") for identifier in ids] if task.parallel else None,
        checksum=digest.hex,
        sources=(str(path),),
    )


def _questions(raw: bytes, path: Path) -> tuple[list[str], dict[str, Column]]:
    pairs = list(squad.questions(squad.parse(raw, str(path))))
    answers = [[answer.text for answer in question.answers] for _, question in pairs]
    if not all(answers):
        empty = next(str(question.id) for (_, question), texts in zip(pairs, answers, strict=True) if not texts)
        raise DataError(f"question {empty!r} has no answer", where=str(path))
    columns: dict[str, Column] = {
        "question": [question.question for _, question in pairs],
        "context": [paragraph.context for paragraph, _ in pairs],
        "answers": answers,
    }
    return [str(question.id) for _, question in pairs], columns


def _labelled(task: Task, answers: Answers) -> tuple[list[str], dict[str, Column], str]:
    """Ids, columns and the gold column of a label file."""
    ids, values = answers.ids, answers.values
    if task.kind == "tagging":
        return ids, {"tokens": values, "tags": values}, "tags"
    if task.kind == "choice":
        # XCOPA's ids are its own numbers, which are the rows.
        return (
            [str(row) for row in range(len(ids))],
            {"choices": [("", "")] * len(ids), "label": values},
            "label",
        )
    if task.kind == "classification":
        return ids, {"label": [RENAMED.get(value, value) for value in values]}, "label"
    if task.kind == "bitext":
        # Line i of the sorted English file has as gold its original line, which is its id.
        return [value[0] for value in values], {"targets": values}, "targets"
    if any(not value for value in values):
        raise DataError("an empty gold list", where=str(answers.path))
    if task.kind == "mining":
        return [*ids, REST], {"targets": [*values, []]}, "targets"
    if task.id == "mewslix":
        values = [[value[0].strip()] for value in values]
    return ids, {"targets": values}, "targets"


def _refuse_unknown_labels(task: Task, answers: Answers) -> None:
    if not task.labels:
        return
    known = set(task.labels)
    for row, value in enumerate(answers.values):
        for label in value if isinstance(value, list) else [value]:
            if RENAMED.get(label, label) not in known:
                raise DataError(
                    f"gold label {label!r} is not one of {', '.join(task.labels)}", where=answers.where(row)
                )


def _refuse(problems: list[Problem]) -> None:
    if problems:
        raise DataError(problems[0].what, where=problems[0].where, fix=problems[0].fix)
