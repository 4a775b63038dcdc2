"""Examples with answers at the beginning of a prompt: fixed per task, language and seed, and nested in their number."""

import hashlib
from collections.abc import Sequence

from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.task import Task

# Longer examples, in characters, are used only if there are too few others: every request repeats them.
_LONG = 1_200


def chosen_demonstrations(task: Task, train: Examples, count: int, seed: int) -> Examples:
    """Return examples in the order of a prompt; with the same seed, fewer are the first of more.

    Labels take turns, and so do sentences with and without names, so that no answer is favoured.
    """
    gold, texts = train[train.gold], kind_of(task).main_text(train)
    contexts = train["context"] if "context" in train.columns else [""] * len(train)
    groups: dict[str, list[int]] = {}
    usable = [row for row in range(len(train)) if gold[row] is not None]
    order = sorted(usable, key=lambda row: example_number(train, row, seed))
    # A stable sort keeps the drawn order among the short ones and among the long ones.
    for row in sorted(order, key=lambda row: len(texts[row]) + len(contexts[row]) > _LONG):
        groups.setdefault(_group(task, gold[row]), []).append(row)
    rows: list[int] = []
    queues = [groups[name] for name in sorted(groups)]
    while len(rows) < count and any(queues):
        rows += [queue.pop(0) for queue in queues if queue]
    return train.keep(rows[:count])


def _group(task: Task, gold: object) -> str:
    """Return the group of an example by its answer; groups take turns."""
    form = kind_of(task).form
    if form in ("label", "option"):
        return str(gold)
    if form == "tags" and isinstance(gold, Sequence) and "O" in task.labels:
        return str(any(tag != "O" for tag in gold))
    return ""


def example_number(examples: Examples, row: int, seed: int) -> str:
    """Return the permanent random number of an example, in hexadecimal digits."""
    name = f"{seed}/{examples.task}/{examples.language}/{examples.ids[row]}"
    return hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()
