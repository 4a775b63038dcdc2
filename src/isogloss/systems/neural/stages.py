"""Training sets used before a task's own: Social IQa before COPA, as in the XTREME-R baselines."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from isogloss.data.files import Digest, resolve
from isogloss.data.tables import jsonl
from isogloss.errors import DataError
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.task import Task
from isogloss.training.recipes import SIQA, Recipe, without_siqa
from isogloss.training.regimes import joined
from isogloss.translation.translated_files import translations_folder

# Paths of the training set, as published and as the XTREME-R scripts store it, and of its translations.
_ENGLISH = ("siqa/socialIQa_v1.4_trn.jsonl", "siqa/socialiqa-train-dev/train.jsonl", "siqa/train.en.jsonl")
_TRANSLATED = "siqa/train.{language}.jsonl"
_CHOICES = "ABC"


class _SocialIqaRecord(msgspec.Struct, rename="camel", kw_only=True):
    context: str
    question: str
    answer_a: str
    answer_b: str
    answer_c: str
    correct: str


def with_stages(recipe: Recipe, task: Task, train: Examples) -> tuple[list[Examples], list[str]]:
    """Return the training sets of all stages, the task's own last, and notes on missing translations.

    A stage is `siqa`, or a file of its format below the data folder. If the task's training set is translated, Social
    IQa is too, if a translation exists.
    """
    notes: list[str] = []
    stages = []
    for name in recipe.stages:
        if kind_of(task).form != "option":
            what = f"stage {name} is multiple choice and cannot precede {task.id}"
            raise DataError(what, fix="Set stages = []")
        if name == SIQA:
            stages.append(_social_iqa(recipe, task, train, notes))
        elif (examples := _read_first([name], task, "en", train.root)) is not None:
            stages.append(examples)
        else:
            what = f"missing training set {name!r}, a stage before {task.id}"
            raise DataError(what, fix="Put it into the data folder, or remove it from the recipe's stages")
    return [*stages, train], notes


def _social_iqa(recipe: Recipe, task: Task, train: Examples, notes: list[str]) -> Examples:
    """Return Social IQa in the languages of a training set; missing translations are noted."""
    languages = train.language.split("+")
    parts, absent = [], []
    for language in languages:
        if language != "en":
            names, roots = [_TRANSLATED.format(language=language)], (translations_folder(train.root), train.root)
            translations = (_read_first(names, task, language, root) for root in roots)
            if (examples := next(filter(None, translations), None)) is not None:
                parts.append(examples)
            else:
                absent.append(language)
    if absent:
        paths = ", ".join(_TRANSLATED.format(language=language) for language in absent)
        notes.append(f"stage {SIQA}: in English, as translations to {', '.join(absent)} are missing ({paths})")
    if "en" in languages or not parts:
        english = _read_first(_ENGLISH, task, "en", train.root)
        if english is None:
            what, without = f"missing the Social IQa training set, a stage before {task.id}", without_siqa(recipe.name)
            fix = f"Run isogloss fetch {SIQA}, or set {SIQA} = false, which makes it another recipe: {without}"
            raise DataError(what, fix=fix)
        parts.insert(0, english)
    return parts[0] if len(parts) == 1 else joined(parts)


def _read_first(names: Sequence[str], task: Task, language: str, root: Path | None) -> Examples | None:
    """Return the examples of the first existing file in the format of Social IQa, or None."""
    path = next(filter(None, (resolve(root / name) for name in names)), None) if root is not None else None
    if path is None:
        return None
    digest = Digest()
    records = list(jsonl(path, _SocialIqaRecord, digest))
    for number, record in enumerate(records, 1):
        if len(record.correct) != 1 or record.correct not in _CHOICES:
            what = f"correct is {record.correct!r}, expected one of {', '.join(_CHOICES)}"
            raise DataError(what, where=f"{path}:{number}")
    columns: dict[str, Any] = {
        "premise": [record.context for record in records],
        "question": [record.question for record in records],
        "choices": [(record.answer_a, record.answer_b, record.answer_c) for record in records],
        "label": [_CHOICES.index(record.correct) for record in records],
    }
    ids = [f"siqa-{row}" for row in range(len(records))]
    sources = (str(path),)
    return Examples(task.id, language, "train", ids, columns, "label", checksum=digest.hex, sources=sources, root=root)
