"""Recipes: all settings of a training run, by name, as data, with a user's changes to them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Literal

from isogloss.checked_settings import checked_setting
from isogloss.data.files import read_text
from isogloss.decoding import decode_toml
from isogloss.errors import IsoglossError, UnknownNameError, unknown
from isogloss.tasks.registry import TASKS
from isogloss.tasks.registry import task as find_task
from isogloss.training.selection import check_rule

NAMES = ("paper", "scripts", "keung")
# What a recipe tells models apart by: as mBERT, as XLM-R Large, as mT5.
SIZES = ("base", "large", "text2text")
# A number of examples that leaves none out.
ALL: Final = "all"
ExampleLimit = int | Literal["all"]
SIQA = "siqa"


class RecipeError(IsoglossError):
    """A recipe with a key, a type or a value that no recipe has."""


@dataclass(frozen=True)
class Recipe:
    """Everything that decides a training run, beside the model, the data and the seed.

    Attributes:
        name: `paper`, `scripts` or `keung`, or the user's own.
        optimizer: `adamw`, or `adafactor` (T5's and mT5's), whose rate is relative to the size of each parameter.
        learning_rate: the highest rate of the schedule.
        epochs: passes over the training set, unless `steps` is set.
        steps: updates in all; 0 leaves it to `epochs`.
        batch: items in an update (the effective batch).
        tokens: tokens in an update instead, where a recipe counts them (mT5's); 0 leaves it to `batch`.
        chunk: batches whose items are sorted by length together (see `isogloss.training.batching`); 1 for random ones.
        micro: items in one forward pass at most, 0 for the whole batch: more passes are accumulated into an update.
        schedule: `linear` (to zero) or `constant`.
        warmup: updates over which the rate rises from zero first.
        weight_decay: AdamW's alone, on matrices only: biases and norms do not decay.
        epsilon: AdamW's alone.
        clip: the norm gradients are scaled down to; 0 for no clipping.
        dropout: the rate everywhere in the model; None leaves the model's own.
        max_length: tokens of one input; longer ones are split (tagging, questions) or cut.
        stride: tokens from the beginning of one window of a passage to that of the next (`doc_stride` of the scripts).
        query_length, answer_length, n_best: of question answering and retrieval.
        checkpoints: percent of the updates between two evaluations.
        patience: training ends after so many evaluations without a better English dev score; 0 for never.
        checkpointing: recompute activations in the backward pass, to save memory.
        deterministic: on CUDA, make two runs equal to the last bit, at the price of slower attention over long rows;
            elsewhere they always are.
        precision: `bf16`, `fp32`, or `auto`: bf16 where the device is made for it.
        select: the rule that chooses the checkpoint which answers, see `isogloss.training.selection`.
        selecting_examples: dev examples predicted at every checkpoint in the languages whose dev scores choose it, or
            end training by `patience`: a number, or `all`.
        dev_examples, test_examples: the same of all other dev sets, and of test sets, in each language; the same
            examples each time, 0 for none.
        train_on: the task whose training set it learns from, where it is not the task's own.
        stages: training sets that come before the task's own: `siqa`, or a file of its format in the data folder.
        siqa: false takes Social IQa out of the stages, and says so in the recipe's name.
        candidates: in contrastive learning, the answers of a batch that each query chooses among, 0 for all of them.
    """

    name: str
    learning_rate: float
    optimizer: str = "adamw"
    epochs: float = 2.0
    steps: int = 0
    batch: int = 32
    tokens: int = 0
    chunk: int = 16
    micro: int = 0
    schedule: str = "linear"
    warmup: int = 0
    weight_decay: float = 0.0
    epsilon: float = 1e-8
    clip: float = 1.0
    dropout: float | None = None
    max_length: int = 128
    stride: int = 128
    query_length: int = 64
    answer_length: int = 30
    n_best: int = 20
    checkpoints: float = 10.0
    patience: int = 0
    checkpointing: bool = False
    deterministic: bool = False
    precision: str = "auto"
    select: str = "training-dev"
    selecting_examples: ExampleLimit = ALL
    dev_examples: ExampleLimit = 300
    test_examples: ExampleLimit = 500
    train_on: str = ""
    stages: tuple[str, ...] = ()
    siqa: bool = True
    candidates: int = 0

    def __post_init__(self) -> None:
        for key in _ADAMW_ONLY if self.optimizer != "adamw" else ():
            value, default = getattr(self, key), _DEFAULTS[key]
            if value != default:
                fix = f'Set {key} = {default} or optimizer = "adamw", in a file below its task or size'
                raise RecipeError(f"{key} = {value} is AdamW's alone, and optimizer = {self.optimizer!r}", fix=fix)


def recipe(name: str, task: str, size: str = "base", overrides: Mapping[str, Any] | str | Path | None = None) -> Recipe:
    """The recipe of that name for a task and a size of model.

    Args:
        name: one of `NAMES`.
        task: a task's id; a small edition (mini-udpos) follows the task it is of, and what learns from another (the
            checklist's tests) that one.
        size: one of `SIZES`.
        overrides: a TOML file, or its tables: keys of `Recipe`, for all tasks or below `[task]`, `[size]` or
            `[task.size]`; the more specific wins (a small edition's section over its task's), and all of them win over
            the named recipe.

    Raises:
        UnknownNameError: no such recipe, task, size or key.
        RecipeError: a value of the wrong type, or one that makes no sense.
        DataError: the file cannot be read, or is not TOML.
    """
    if name not in NAMES:
        raise unknown("recipe", name, NAMES)
    if size not in SIZES:
        raise unknown("size", size, SIZES)
    shipped = (files("isogloss.training.recipe_data") / f"{name}.toml").read_text(encoding="utf-8")
    mine = resolved(changes(overrides), task, size)
    # A user who asks for epochs or a batch of items does not want the updates or tokens that the recipe counts instead.
    instead = {other: 0 for key, other in (("epochs", "steps"), ("batch", "tokens")) if key in mine}
    made = Recipe(**{"name": name, **resolved(_parsed(shipped, f"{name}.toml"), task, size), **instead, **mine})
    if made.siqa or SIQA not in made.stages:
        return made
    return replace(made, name=without_siqa(name), stages=tuple(stage for stage in made.stages if stage != SIQA))


def without_siqa(name: str) -> str:
    """What a recipe is called that does without Social IQa: it is another one."""
    return f"{name}-without-{SIQA}"


def changes(overrides: Mapping[str, Any] | str | Path | None) -> Mapping[str, Any]:
    """A user's changes as checked tables; a name is that of a TOML file."""
    if overrides is None or not overrides:
        return {}
    if isinstance(overrides, str | Path):
        return _parsed(read_text(Path(overrides)), str(overrides))
    return _checked(overrides, "overrides")


def size_of(config: Any) -> str:
    """Which size of model a recipe should take a transformers configuration for.

    As in the scripts: XLM-R Large (24 layers of 1024) and XLM-100 (16 of 1280) are large, XLM-15 (12 of 1024) is not.
    """
    if getattr(config, "is_encoder_decoder", False):
        return "text2text"
    return "large" if config.hidden_size > 1024 or config.num_hidden_layers >= 24 else "base"


@cache
def _parsed(text: str, where: str) -> Mapping[str, Any]:
    return _checked(decode_toml(text, where), where)


def resolved(tables: Mapping[str, Any], task: str, size: str) -> dict[str, Any]:
    """The keys that hold for a task and a size, the more specific over the more general."""
    found_task = find_task(task)
    # A task that learns from another one's training set begins with that one's section.
    of_task = [tables.get(name, {}) for name in dict.fromkeys((found_task.train_on, found_task.base_id, found_task.id))]
    sections = [section for own in of_task for section in (tables.get(own.get("like", ""), {}), own)]
    found: dict[str, Any] = {}
    for layer in (tables, *sections, tables.get(size, {}), *(section.get(size, {}) for section in sections)):
        found |= {key: value for key, value in layer.items() if key != "like" and not isinstance(value, Mapping)}
    return found


def _checked(tables: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    """The same tables with every name, type and value looked at, and every value in its own type."""
    found: dict[str, Any] = {}
    for key, value in tables.items():
        if not isinstance(value, Mapping):
            found[key] = _value(key, value, where)
        elif key in (*TASKS, *SIZES):
            found[key] = _section(value, f"{where} [{key}]", SIZES if key in TASKS else ())
        else:
            raise unknown("task or size", key, (*TASKS, *SIZES), where=where)
    return found


def _section(table: Mapping[str, Any], where: str, sizes: tuple[str, ...]) -> Mapping[str, Any]:
    """The keys of a task or a size; a task has sections for sizes, and may begin like another one."""
    found: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, Mapping) and key in sizes:
            found[key] = _section(value, f"{where} [{key}]", ())
        elif key == "like" and sizes:
            if value not in TASKS:
                raise unknown("task", str(value), TASKS, where=where)
            found[key] = value
        elif isinstance(value, Mapping):
            raise unknown("section", key, sizes, where=where)
        else:
            found[key] = _value(key, value, where)
    return found


# What only AdamW has is refused with another optimizer, where it would be ignored.
_ADAMW_ONLY = ("weight_decay", "epsilon")
_DEFAULTS = {field.name: field.default for field in fields(Recipe)}
_TYPES = {field.name: field.type for field in fields(Recipe)}
_CHOICES = {
    "optimizer": ("adamw", "adafactor"),
    "schedule": ("linear", "constant"),
    "precision": ("auto", "bf16", "fp32"),
}
_POSITIVE = (
    "learning_rate",
    "batch",
    "chunk",
    "max_length",
    "stride",
    "query_length",
    "answer_length",
    "n_best",
    "epsilon",
)


def _value(key: str, value: Any, where: str) -> Any:
    """A value of a recipe's key in its own type."""
    if key not in _TYPES:
        raise unknown("key of a recipe", key, _TYPES, where=where)
    read = checked_setting(key, value, _TYPES[key], where, error=RecipeError)
    try:
        problem = _problem(key, value)
    except UnknownNameError as error:
        error.where = where
        raise
    if problem:
        raise RecipeError(f"{key} = {value!r}: {problem}", where=where)
    return read


def _problem(key: str, value: Any) -> str:
    """Why a value makes no sense, "" where it does."""
    if key in _CHOICES and value not in _CHOICES[key]:
        return f"it is {' or '.join(_CHOICES[key])}"
    if key == "select":
        check_rule(value)
    if key == "train_on" and value not in ("", *TASKS):
        raise unknown("task to train on", value, TASKS)
    if isinstance(value, int | float):
        if key == "checkpoints" and not 0 < value <= 100:
            return "it is a percentage, above 0 and at most 100"
        if key == "dropout" and not 0 <= value < 1:
            return "it is a share below 1"
        if not math.isfinite(value):
            return "it must be finite"
        if value < 0 or (key in _POSITIVE and not value):
            return "it must be larger than 0" if key in _POSITIVE else "it cannot be negative"
    return ""
