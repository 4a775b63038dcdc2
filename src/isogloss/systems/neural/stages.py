"""Training sets that come before a task's own: Social IQa before COPA, as in the XTREME-R baselines."""

from collections.abc import Sequence
from pathlib import Path

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

# Where the training set lies, as published and as the XTREME-R scripts leave it, and where a translation of it.
_ENGLISH = ("siqa/socialIQa_v1.4_trn.jsonl", "siqa/socialiqa-train-dev/train.jsonl", "siqa/train.en.jsonl")
_TRANSLATED = "siqa/train.{language}.jsonl"
_CHOICES = "ABC"


class _SocialIqaRecord(msgspec.Struct, rename="camel"):
    context: str
    question: str
    answer_a: str
    answer_b: str
    answer_c: str
    correct: str


def with_stages(recipe: Recipe, task: Task, train: Examples) -> tuple[list[Examples], list[str]]:
    """The training sets of all stages, the task's own last, and notes on those that are not in its language.

    Args:
        recipe: names the stages: `siqa`, or a file of its format below the data folder.
        task: what is learnt.
        train: its training set; where that is translated, Social IQa is too, if there is a translation of it.

    Raises:
        DataError: there is no such file, it is damaged, or the task is no choice between answers.
    """
    notes: list[str] = []
    found = []
    for name in recipe.stages:
        if kind_of(task).form != "option":
            what = f"no stage comes before {task.id}: {name} is a choice between answers"
            raise DataError(what, fix="Set stages = []")
        found.append(
            _social_iqa_of(recipe, task, train, notes) if name == SIQA else _named_file(name, task, train.root)
        )
    return [*found, train], notes


def _named_file(name: str, task: Task, root: Path | None) -> Examples:
    found = _examples([name], task, "en", root)
    if found is None:
        what = f"the training set {name!r} that comes before {task.id} is not there"
        raise DataError(what, fix="Put it into the data folder, or take it out of the recipe's stages")
    return found


def _social_iqa_of(recipe: Recipe, task: Task, train: Examples, notes: list[str]) -> Examples:
    """Social IQa in the languages of a training set; a note where it is not there in one of them."""
    languages = train.language.split("+")
    translated = {
        language: examples
        for language in languages
        if language != "en" and (examples := _translation(task, language, train.root)) is not None
    }
    absent = [language for language in languages if language not in ("en", *translated)]
    if absent:
        places = ", ".join(_TRANSLATED.format(language=language) for language in absent)
        notes.append(f"stage {SIQA}: learnt in English, as there is no translation to {', '.join(absent)} ({places})")
    parts = [translated[language] for language in languages if language in translated]
    if "en" in languages or not parts:
        parts.insert(0, _english(recipe, task, train.root))
    return parts[0] if len(parts) == 1 else joined(parts)


def _english(recipe: Recipe, task: Task, root: Path | None) -> Examples:
    found = _examples(_ENGLISH, task, "en", root)
    if found is None:
        what = f"{task.id} is to be learnt after Social IQa, whose training set is not there"
        without = without_siqa(recipe.name)
        fix = f"Get it with: isogloss fetch {SIQA}. Or set {SIQA} = false, which is another recipe: {without}"
        raise DataError(what, fix=fix)
    return found


def _translation(task: Task, language: str, root: Path | None) -> Examples | None:
    name = _TRANSLATED.format(language=language)
    return _examples([name], task, language, translations_folder(root)) or _examples([name], task, language, root)


def _examples(names: Sequence[str], task: Task, language: str, root: Path | None) -> Examples | None:
    """The examples of the first file that is there."""
    paths = (resolve(root / name) for name in names) if root is not None else ()
    path = next((path for path in paths if path is not None), None)
    return None if path is None or root is None else _social_iqa(path, task, language, root)


def _social_iqa(path: Path, task: Task, language: str, root: Path) -> Examples:
    digest = Digest()
    records = list(jsonl(path, _SocialIqaRecord, digest))
    for number, record in enumerate(records, 1):
        if len(record.correct) != 1 or record.correct not in _CHOICES:
            what = f"correct is {record.correct!r}, not {', '.join(_CHOICES)}"
            raise DataError(what, where=f"{path}:{number}")
    return Examples(
        task.id,
        language,
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
