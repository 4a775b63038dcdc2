"""XCOPA and COPA: a premise, a question word and two choices, as JSON lines."""

from pathlib import Path

import msgspec

from isogloss.data.tables import jsonl
from isogloss.errors import DataError
from isogloss.tasks.examples import Column, Examples
from isogloss.tasks.readers.split_files import SplitFiles, of_one_file

# The published `question` fields of the other languages are partly wrong (Thai says "effect" throughout); these
# agree with each other and with English COPA.
_TRUSTED = ("et", "ht", "qu", "ta", "vi", "zh", "en")


class _CopaLine(msgspec.Struct):
    premise: str
    choice1: str
    choice2: str
    question: str
    idx: int
    label: int | None = None


@of_one_file
def copa(files: SplitFiles, path: Path) -> Examples | None:
    """One language's file; wrong `question` fields are repaired by `idx` from a language that has them right."""
    records = list(jsonl(path, _CopaLine, files.digest))
    questions = [record.question for record in records]
    note = ""
    if files.language not in _TRUSTED:
        trusted = _trusted_questions(files)
        if trusted is None:
            note = "question fields (cause/effect) are as published, unrepaired: no trusted language is there"
        else:
            questions = [trusted.get(record.idx, record.question) for record in records]
            changed = sum(q != r.question for q, r in zip(questions, records, strict=True))
            note = f"{changed} wrong question fields repaired by idx" if changed else ""
    columns: dict[str, Column] = {
        "premise": [record.premise for record in records],
        "question": questions,
        "choices": [(record.choice1, record.choice2) for record in records],
    }
    labels = [record.label for record in records]
    if any(label is not None for label in labels):
        if None in labels:
            raise DataError(f"no label for idx {records[labels.index(None)].idx}", where=str(path))
        columns["label"] = labels
    examples = files.examples([str(record.idx) for record in records], columns, "label")
    if note:
        examples.notes.append(note)
    return examples


def _trusted_questions(files: SplitFiles) -> dict[int, str] | None:
    for code in _TRUSTED:
        path = files.path(language=code)
        if path is not None:
            return {record.idx: record.question for record in jsonl(path, _CopaLine)}
    return None
