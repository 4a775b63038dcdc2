"""Reference page of the recipes' hyper-parameters, each beside the value of its source.

python scripts/docs/hyperparameter_page.py    prints the page
"""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from isogloss.decoding import decode_toml
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.registry import LIVING_TASKS, TASKS
from isogloss.training import recipes
from isogloss.training.recipes import NAMES, SIZES, Recipe, recipe, resolved

SOURCES = Path(recipes.__file__).parent / "recipe_data" / "sources.toml"
# The tasks of the papers: for others, the recipes have no source.
BENCHMARK = [
    task for task in TASKS.shipped if not task.startswith(("mini-", "checklist-")) and task not in LIVING_TASKS
]
# Not in a recipe: constants, or settings of the system.
FIXED = ("betas", "layer", "pooling", "text_length", "scale", "directions")
KEYS = [*(field.name for field in fields(Recipe) if field.name not in ("name", "note")), *FIXED]
# Settings that matter without training.
UNTRAINED = ("train_on", "layer", "pooling", "text_length")
# Settings that take effect whenever they are set.
SWITCHES = ("steps", "tokens", "stages", "candidates")
HEAD = """# Hyperparameters and their sources

Each recipe follows a published source; `isogloss train --config my.toml` [changes any value](../training.md#recipes).

* `paper` follows appendix G of [XTREME-R](https://aclanthology.org/2021.emnlp-main.802), which says "generally". For
  anything that it leaves open, it follows the scripts.
* `scripts` follows `scripts/*.sh` and `third_party/*.py` of [XTREME](https://github.com/google-research/xtreme), in
  XTREME-R's version. 8 x 4 is a batch of 8, accumulated 4 times.
* `keung` follows [Keung et al. (2020)](https://aclanthology.org/2020.emnlp-main.40): mBERT, MLDoc and XNLI only.

The last column of each table compares our value with the source's:

| | |
|---|---|
| equal | our value is the source's |
| not stated: as `xnli` | not in the source; taken from another task or recipe, shown with *its* source |
| ours | not in any source, or different from it, with the reason |

Sizes are `base` (mBERT), `large` (XLM-R Large) and `text2text` (mT5). A row without a size applies to all three; a size
in brackets is not in the source and follows `base`. A task's table lists only differences from the table of all tasks.
Small editions and the checklist follow their full task.

Keys are those of a recipe, except `betas` (of AdamW) and the retrieval settings `layer`, `pooling`, `text_length`
(tokens per sentence), `scale` (initial factor of cosines) and `directions`. Seeds are not part of a recipe: the scripts
use 42, for tagging 1; Keung et al. use ten."""
# What differs from the scripts besides the settings: what, in the scripts, here, and the size of the difference.
DIFFERENCES = (
    (
        "text of an answer",
        "words split at spaces, aligned with BERT's basic tokens; if that fails, all words that the span touches",
        "the characters of the span",
        "mBERT: none. XLM-R, with the gold spans of XQuAD: 70.0 F1 and 69.2 EM in Chinese (without spaces, and basic "
        "tokens are single characters), 99.3 and 99.2 in Thai, at least 99.2 and 98.0 elsewhere; here always 100",
    ),
    (
        "answer in training",
        "the words that contain it, cut to the sub-words that spell it, if there are such",
        "the sub-words that overlap its characters",
        "none where sub-words spell the answer; elsewhere, whole words against parts of them",
    ),
    (
        "training on 1,000 examples (`--few_shot`)",
        "the first of the file",
        "`in-language-1000`: drawn by the seed; `in-language-first-1000`: the first",
        "other examples",
    ),
    (
        "dev loss of LAReQA",
        "mean over batches of 8 questions in the order of the file",
        "mean over training batches, in a fixed random order",
        "log 8 or log 4 for an untrained model; the order of checkpoints may differ",
    ),
    (
        "end of an epoch",
        "the gradients of an incomplete accumulation are added to the next epoch's first update",
        "the incomplete batch is an update of its own",
        "one update per epoch",
    ),
    (
        "order of batches, except questions",
        "random",
        "sorted by length within chunks of 16 batches; `chunk = 1` for random",
        "1.7 to 3.1 times the positions ([benchmarks](../benchmarks.md))",
    ),
)


class UnsourcedError(ValueError):
    """A value without a source or a reason."""


class HyperParameter(NamedTuple):
    """Our value and the source's, possibly for another size: a row of the document."""

    ours: str
    source: str
    where: str
    verdict: str
    other_size: bool = False


class SourceValue(NamedTuple):
    """A source's value and our remark; `alike` lists the recipes, tasks or sizes it was taken from."""

    value: Any
    where: str
    why: str
    alike: tuple[str, ...] = ()


Rows = dict[tuple[str, str], HyperParameter]  # by key and size


@cache
def stated() -> Mapping[str, Any]:
    """Return the sources of all recipes."""
    return decode_toml(SOURCES.read_text(encoding="utf-8"), SOURCES.name)


def source_of(key: str, name: str, task: str, size: str) -> SourceValue | None:
    """Return a source's value, following references to other recipes, tasks and sizes; None if unused."""
    task = "tatoeba" if size == "text2text" and kind_of(TASKS[task]).retrieval else task
    for_all = {other: value for other, value in stated().items() if not isinstance(value, Mapping)}
    entries = resolved({**for_all, **stated()[name]}, task, size)
    if key not in entries:
        raise UnsourcedError(f"{SOURCES.name} has no entry for {key} ({name}, {task}, {size})")
    entry = entries[key]
    if entry is False:
        return None
    if isinstance(entry, list):
        return SourceValue(*entry, *[""] * (3 - len(entry)))
    if entry not in (*NAMES, *BENCHMARK, *SIZES):
        return SourceValue(None, "", entry)
    other = source_of(
        key,
        entry if entry in NAMES else name,
        entry if entry in BENCHMARK else task,
        entry if entry in SIZES else size,
    )
    return other and other._replace(alike=(entry, *other.alike))


@cache
def ours(name: str, task: str, size: str) -> Mapping[str, Any]:
    """Return the values used in a fit, by key. The site is built without torch: tests compare them with the systems."""
    target = TASKS[task]
    kind = kind_of(target)
    after_questions = size == "text2text" and kind.retrieval
    followed = recipe(name, "xquad" if after_questions else task, size)
    values = {**vars(followed), "betas": "0.9, 0.999", "checkpoints": interval(followed)}
    values["train_on"] = followed.train_on or target.train_on or ("xquad" if after_questions else task)
    if after_questions:
        return values | {"pooling": "mean", "layer": 0, "text_length": followed.max_length}
    if not kind.retrieval:
        return values
    if kind.shared_pool:
        longest = max(followed.query_length, followed.max_length)
        return values | {"pooling": "pooled", "layer": 0, "text_length": longest, "scale": 100.0, "directions": 1}
    values |= {"pooling": "mean", "layer": {"base": 8, "large": 14}[size], "text_length": 512}
    if values["train_on"] == task:  # translations are not learned from
        return {**{key: values[key] for key in UNTRAINED}, "train_on": "nothing"}
    return values


def interval(recipe: Recipe) -> str:
    """Return the interval between checkpoints, in the wording of the sources."""
    if recipe.steps:
        return f"every {recipe.checkpoints * recipe.steps / 100:g} updates"
    return f"every {recipe.checkpoints * recipe.epochs:g} % of an epoch"


def shown(value: Any) -> str:
    """Format a value for readers: 2 for 2.0, 1e-3, a list with commas."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return ", ".join(value)
    if isinstance(value, int | float) and value >= 1:
        return f"{value:,g}" if value < 1e6 else f"{value:,}"
    if isinstance(value, int | float):
        return f"{value:.0e}".replace("e-0", "e-") if 0 < value < 0.01 else f"{value:g}"
    return "the model's own" if value is None else str(value)


def compared(key: str, name: str, task: str, size: str, value: Any) -> HyperParameter | None:
    """Compare a value with its source's; return None if it is unused.

    Raises:
        UnsourcedError: they differ without a reason, or an unused setting is switched on.
    """
    source = source_of(key, name, task, size)
    setting = f"{name}, {task}, {size}: {key} = {value!r}"
    if source is None:
        if key in SWITCHES and value:
            raise UnsourcedError(f"{setting}, but {SOURCES.name} marks it as unused")
        return None
    if not source.where:
        return HyperParameter(shown(value), "not stated", "", f"ours: {source.why}")
    equal = shown(value) == shown(source.value)
    if not (equal or source.why):
        raise UnsourcedError(f"{setting}, but {source.where} has {source.value!r}: missing reason")
    alike = next((other for other in source.alike if other not in SIZES), "")
    verdict = "ours" if not equal else f"not stated: as `{alike}`" if alike else "equal"
    verdict += f": {source.why}" if source.why else ""
    return HyperParameter(shown(value), shown(source.value), source.where, verdict, bool(source.alike) and not alike)


def rows_of(name: str, task: str) -> Rows:
    """Return all hyper-parameters of a task, in all sizes."""
    pairs = [(key, size) for key in KEYS for size in SIZES if key in ours(name, task, size)]
    rows = {(key, size): compared(key, name, task, size, ours(name, task, size)[key]) for key, size in pairs}
    return {at: row for at, row in rows.items() if row is not None}


def usual(by_task: Mapping[str, Rows]) -> Rows:
    """Return the rows shared by most tasks."""
    counted = Counter((at, row) for rows in by_task.values() for at, row in rows.items())
    common = {at: row for (at, row), count in counted.items() if 5 * count > 3 * len(by_task)}
    return {(key, size): common[key, size] for key in KEYS for size in SIZES if (key, size) in common}


def table(rows: Rows) -> Iterator[str]:
    """Yield the lines of a table; sizes with equal rows share one."""
    yield "\n| | size | ours | source | where | |\n|---|---|---|---|---|---|"
    merged: dict[tuple[str, HyperParameter], list[str]] = {}
    for (key, size), row in rows.items():
        sizes = merged.setdefault((key, row._replace(other_size=False)), [])
        sizes.append(f"({size})" if row.other_size else size)
    for (key, row), sizes in merged.items():
        yield f"| `{key}` | {named(sizes)} | {' | '.join(row[:4])} |"


def named(sizes: Iterable[str]) -> str:
    """Return sizes as a list, or an empty text for all of them."""
    listed = tuple(sizes)
    return "" if listed == SIZES else ", ".join(listed)


def unused(common: Rows, rows: Rows) -> Iterator[str]:
    """Yield a sentence on keys in the table of all tasks that a task does not use."""
    missing: dict[str, list[str]] = {}
    for key, size in common:
        if (key, size) not in rows:
            missing.setdefault(key, []).append(size)
    for sizes in dict.fromkeys(map(tuple, missing.values())):
        keys = ", ".join(f"`{key}`" for key, held in missing.items() if tuple(held) == sizes)
        yield f"\nNot used here{' for ' * bool(named(sizes))}{named(sizes)}: {keys}."


def document() -> Iterator[str]:
    """Yield the lines of the page."""
    yield HEAD
    yield "\n## Differences from the scripts that are not settings\n"
    yield from (f"| {' | '.join(row)} |" for row in (("", "the scripts", "here", "size"), ["---"] * 4, *DIFFERENCES))
    for name in NAMES:
        by_task = {task: rows_of(name, task) for task in BENCHMARK}
        common = usual(by_task)
        yield f"\n## {name}\n\n### {name}: all tasks, unless overridden below"
        yield from table(common)
        parts: dict[str, list[str]] = {}
        for task, rows in by_task.items():
            special = {at: row for at, row in rows.items() if common.get(at) != row}
            parts.setdefault("\n".join((*table(special), *unused(common, rows))), []).append(task)
        for part, tasks in parts.items():
            yield f"\n### {name}: {', '.join(tasks)}"
            yield part


def page() -> str:
    """Return the page."""
    return "\n".join(document()) + "\n"


if __name__ == "__main__":
    sys.stdout.write(page())
