"""Reader of XCOPA and COPA: a premise, a question word and two choices, as JSON lines."""

from pathlib import Path

import msgspec

from isogloss.data.tables import jsonl
from isogloss.errors import DataError
from isogloss.tasks.examples import Column, Examples
from isogloss.tasks.readers.split_files import SplitFiles, of_one_file

# Languages with correct `question` fields: they agree with each other and with English COPA. Others are partly wrong
# (Thai has "effect" throughout).
_TRUSTED = ("et", "ht", "qu", "ta", "vi", "zh", "en")


class _CopaLine(msgspec.Struct, kw_only=True):
    premise: str
    choice1: str
    choice2: str
    question: str
    idx: int
    label: int | None = None


@of_one_file
def copa(files: SplitFiles, path: Path) -> Examples | None:
    """Read one language's file; repair wrong `question` fields by `idx` from a trusted language."""
    records = list(jsonl(path, _CopaLine, files.digest))
    questions = [record.question for record in records]
    note = ""
    if files.language not in _TRUSTED:
        trusted_path = next(filter(None, (files.path(language=code) for code in _TRUSTED)), None)
        if trusted_path is None:
            note = "question fields (cause/effect) are as published: no trusted language to repair them from"
        else:
            trusted = {record.idx: record.question for record in jsonl(trusted_path, _CopaLine)}
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
