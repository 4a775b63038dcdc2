"""Write gold answers in the format of a prompt and read them back."""

from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

from isogloss.endpoints.replies import ModelReply
from isogloss.prompts.render import Prompts
from isogloss.prompts.settings import PromptSettings
from isogloss.reply_outcomes import Outcome
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import judge, kind_of
from isogloss.tasks.loading import load_gold
from isogloss.tasks.registry import task as find_task
from isogloss.tasks.task import Task

# Formats by form of answer. Log probabilities are not written, so their format is left out.
_FORMATS = {
    "label": ("labels", ("text", "schema")),
    "option": ("labels", ("text", "schema")),
    "tags": ("tags", ("lines", "schema", "entities")),
    "answer": ("answers", ("text", "schema")),
}


def every_format(name: str) -> Iterator[dict[str, str]]:
    """Return the settings of every format that a task can be asked in, in English and in its own language."""
    setting, formats = _FORMATS[kind_of(find_task(name)).form]
    for style, language in product(formats, ("english", "native")):
        yield {setting: style, "prompt_language": language}


def gold_score(examples: Examples) -> float:
    """Return the score of the gold answers themselves, 0..1, which is not 1 if a metric normalises one to nothing."""
    task = find_task(examples.task)
    gold = examples[examples.gold]
    if kind_of(task).form == "answer":
        gold = [answer if isinstance(answer, str) else answer[0] if answer else "" for answer in gold]
    return _worst(task, examples, list(gold))


def _worst(task: Task, examples: Examples, answers: list[Any]) -> float:
    metrics = judge(task, examples, answers).metrics
    return min(metrics[name].score for name in task.main)


def perfect_replies(prompts: Prompts, examples: Examples) -> list[ModelReply]:
    """Return the replies of a model that knows the gold."""
    gold = examples[examples.gold]
    rows = prompts.rows(examples)
    return [ModelReply(text=prompts.format.write(row, answer)) for row, answer in zip(rows, gold, strict=True)]


def round_trip(examples: Examples, **choices: object) -> tuple[float, Counter[Outcome]]:
    """Return the score of gold answers after writing and reading them, 0..1, and the outcomes of reading."""
    task = find_task(examples.task)
    prompts = Prompts(task, examples.language, PromptSettings(model="perfect", **choices))  # type: ignore[arg-type]
    readings = prompts.read(examples, perfect_replies(prompts, examples))
    worst = _worst(task, examples, [reading.answer for reading in readings])
    return worst, Counter(reading.outcome for reading in readings)


def gold_examples(name: str, language: str, data: Path | None, split: str, most: int = 0) -> Examples:
    """Return examples with gold, at most some of them."""
    examples = load_gold(find_task(name), language, split, data)
    return examples.keep(range(most)) if 0 < most < len(examples) else examples
