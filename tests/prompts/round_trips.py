"""Write gold answers in the format of a prompt and read them back."""

from collections import Counter
from pathlib import Path

from isogloss.endpoints.replies import ModelReply
from isogloss.prompts.render import Prompts
from isogloss.prompts.settings import PromptSettings
from isogloss.reply_outcomes import Outcome
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import judge
from isogloss.tasks.loading import load_gold
from isogloss.tasks.registry import task as find_task


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
    judgement = judge(task, examples, [reading.answer for reading in readings])
    worst = min(judgement.metrics[name].score for name in task.main)
    return worst, Counter(reading.outcome for reading in readings)


def gold_examples(name: str, language: str, data: Path | None, split: str, most: int = 0) -> Examples:
    """Return examples with gold, at most some of them."""
    examples = load_gold(find_task(name), language, split, data)
    return examples.keep(range(most)) if 0 < most < len(examples) else examples
