"""Training sets that come before a task's own: Social IQa before COPA, as in the XTREME-R baselines."""

from pathlib import Path

import msgspec

from isogloss.data.files import Digest, resolve
from isogloss.data.tables import jsonl
from isogloss.errors import DataError
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.task import Task

# Where the training set lies, as published and as the XTREME-R scripts leave it.
_SIQA = ("siqa/socialIQa_v1.4_trn.jsonl", "siqa/socialiqa-train-dev/train.jsonl", "siqa/train.en.jsonl")
_CHOICES = "ABC"


class _SocialIqaRecord(msgspec.Struct, rename="camel"):
    context: str
    question: str
    answer_a: str
    answer_b: str
    answer_c: str
    correct: str


def stage(name: str, task: Task, root: Path | None) -> Examples | None:
    """The training examples of a stage, in the form of the task's own; None where there is no such file.

    Its name is `siqa`, or that of a file of its format below the data folder. A damaged file, or a task that is no
    choice between answers, is a DataError.
    """
    if kind_of(task).form != "option":
        raise DataError(f"no stage comes before {task.id}: {name} is a choice between answers", fix="Set stages = []")
    if root is None:
        return None
    candidates = (resolve(root / place) for place in (_SIQA if name == "siqa" else (name,)))
    path = next((path for path in candidates if path is not None), None)
    return None if path is None else _social_iqa(path, task, root)


def _social_iqa(path: Path, task: Task, root: Path) -> Examples:
    digest = Digest()
    records = list(jsonl(path, _SocialIqaRecord, digest))
    for number, record in enumerate(records, 1):
        if len(record.correct) != 1 or record.correct not in _CHOICES:
            what = f"correct is {record.correct!r}, not {', '.join(_CHOICES)}"
            raise DataError(what, where=f"{path}:{number}")
    return Examples(
        task.id,
        "en",
        "train",
        [f"siqa-{row}" for row in range(len(records))],
        {
            "premise": [record.context for record in records],
            "question": [record.question for record in records],
            "choices": [(record.answer_a, record.answer_b, record.answer_c) for record in records],
            "label": [_CHOICES.index(record.correct) for record in records],
        },
        "label",
        checksum=digest.hex,
        sources=(str(path),),
        root=root,
    )
