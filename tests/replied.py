"""Hand-made predictions of a language model on the mini suite, with facts about its replies."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from isogloss.predictions.write import write_predictions
from isogloss.reply_outcomes import Outcome, ReplyFacts, Usage
from isogloss.tasks.loading import load
from isogloss.tasks.registry import task

# Examples of every cell of the mini tasks used here.
EXAMPLES = 60


def facts(outcome: Outcome, **further: Any) -> ReplyFacts:
    """Return facts with 800 tokens in, 3 out and a price, unless other ones are given."""
    return ReplyFacts(outcome=outcome, **{"usage": Usage(input=800, cached=200, output=3, cost=0.0001)} | further)


def outcomes(**counts: int) -> list[Outcome]:
    """Return outcomes by name and number, and strict ones for the rest of the examples of a cell."""
    listed = [Outcome(name) for name, count in counts.items() for _ in range(count)]
    return [*listed, *[Outcome.STRICT] * (EXAMPLES - len(listed))]


def write_replied(
    root: Path, cells: Mapping[tuple[str, str], Sequence[ReplyFacts | None] | None], name: str = "talker"
) -> Path:
    """Write a prediction folder: gold answers, null where the facts say that there is no answer."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "system.toml").write_text(f'name = "{name}"\nregime = "prompted"\nkind = "llm"\n', encoding="utf-8")
    for (of, language), replies in cells.items():
        examples = load(task(of), language, "test", None)
        gold = examples[examples.gold]
        values: list[Any] = [answers[0] if isinstance(answers, list) else answers for answers in gold]
        for row, each in enumerate(replies or ()):
            if each is not None and not each.outcome.is_answer:
                values[row] = None
        write_predictions(root, task(of), language, "test", examples.ids, values, replies=replies)
    return root
