"""Recipes: all settings of a training run as named data, with user overrides."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_type_hints

from isogloss.checked_settings import Limits, Positive, PositiveInt, checked_settings
from isogloss.data.files import read_text
from isogloss.decoding import decode_toml
from isogloss.errors import IsoglossError, unknown
from isogloss.tasks.registry import TASKS
from isogloss.tasks.registry import task as find_task
from isogloss.training.selection import check_rule

NAMES = ("paper", "scripts", "keung")
# Model sizes that recipes distinguish: like mBERT, XLM-R Large and mT5.
SIZES = ("base", "large", "text2text")
# Example limit that keeps every example.
ALL: Final = "all"
ExampleLimit = int | Literal["all"]
SIQA = "siqa"


class RecipeError(IsoglossError):
    """An invalid type or value in a recipe."""


def _check_task(name: str) -> None:
    if name not in TASKS:
        raise unknown("task", name, TASKS)


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """All settings of a training run besides the model, the data and the seed."""

    name: str  # `paper`, `scripts`, `keung` or a user's own name
    learning_rate: Positive  # peak
    # `adamw`, or `adafactor` (for T5 and mT5) with rates relative to the size of each parameter.
    optimizer: Literal["adamw", "adafactor"] = "adamw"
    epochs: float = 2.0  # passes over the training set, unless `steps` is set
    steps: int = 0  # total updates; 0 to use `epochs`
    batch: PositiveInt = 32  # items per update (the effective batch)
    tokens: int = 0  # tokens per update, for recipes that count tokens (mT5); 0 to use `batch`
    chunk: PositiveInt = 16  # batches sorted by length together, see `isogloss.training.batching`; 1 for random batches
    # Width of a training batch: that of its longest row, or `max_length`, with padding in the softmax over positions.
    padding: Literal["batch", "full"] = "batch"
    micro: int = 0  # maximum number of items per forward pass, accumulated into an update; 0 for the whole batch
    schedule: Literal["linear", "constant"] = "linear"  # of the learning rate; linear to zero
    warmup: int = 0  # updates over which the rate rises from zero
    weight_decay: float = 0.0  # AdamW only, on matrices; biases and norms do not decay
    epsilon: Positive = 1e-8  # AdamW only
    clip: float = 1.0  # maximum gradient norm; 0 for no clipping
    # Dropout rate everywhere in the model; None for the model's own.
    dropout: Annotated[float | None, Limits("from 0 to below 1", lambda share: 0 <= share < 1)] = None
    max_length: PositiveInt = 128  # tokens per input; longer ones are split (tagging, questions) or cut
    stride: PositiveInt = 128  # tokens between the starts of windows of a passage (`doc_stride` of the scripts)
    query_length: PositiveInt = 64  # tokens of a question or query
    answer_length: PositiveInt = 30  # tokens of an answer
    n_best: PositiveInt = 20  # answers per window
    # Answers from all spans of a window, or as in run_squad.py: first and last token each among the `n_best` of the
    # window, and the first where no other window of the passage gives it more context.
    decoding: Literal["exact", "squad"] = "exact"
    extra_separator: bool = False  # True to end tagged sentences with two separators, for models with two in a pair
    # Percent of the updates between two evaluations.
    checkpoints: Annotated[float, Limits("above 0 and at most 100", lambda percent: 0 < percent <= 100)] = 10.0
    patience: int = 0  # evaluations without a better English dev score before training ends; 0 for no limit
    checkpointing: bool = False  # True to recompute activations in the backward pass to save memory
    # True to make CUDA runs bit-identical, at the cost of slower attention over long rows; CPU runs always are.
    deterministic: bool = False
    # `auto`: bf16 on CUDA devices that support it natively, else fp16 (with loss scaling); fp32 elsewhere.
    precision: Literal["auto", "bf16", "fp16", "fp32"] = "auto"
    # Rule that chooses the final checkpoint, see `isogloss.training.selection`.
    select: Annotated[str, check_rule] = "training-dev"
    # Checkpoints with weights to keep besides the last: those `chosen` by the rule, or also the `oracle`'s, which are
    # best on the dev set of each language.
    keep_weights: Literal["chosen", "oracle"] = "chosen"
    # Dev examples predicted at every checkpoint in the languages that choose it or end training by `patience`.
    selecting_examples: ExampleLimit = ALL
    dev_examples: ExampleLimit = 300  # the same for all other dev sets, per language; 0 for none
    test_examples: ExampleLimit = 500  # the same for test sets
    train_on: Annotated[str, lambda name: name and _check_task(name)] = ""  # task of the training set, if another one
    # Examples in the training file, for tasks that publish several (MLDoc); 0 for the task's default.
    train_size: int = 0
    # False to train on a dev split that is cut from the training set (TyDiQA's) too; it then chooses nothing.
    hold_out: bool = True
    stages: tuple[str, ...] = ()  # training sets used before: `siqa`, or a file of its format in the data folder
    siqa: bool = True  # False to remove Social IQa from the stages, which changes the recipe's name
    candidates: int = 0  # answers in a batch that each query chooses from in contrastive learning; 0 for all
    hide_duplicates: bool = True  # False to count a further copy of the right answer in a batch as wrong
    note: str = ""  # remark for the record of a fit; no effect

    def __post_init__(self) -> None:
        for key in _ADAMW_ONLY if self.optimizer != "adamw" else ():
            value, default = getattr(self, key), _DEFAULTS[key]
            if value != default:
                fix = f'Set {key} = {default} or optimizer = "adamw", in a file below its task or size'
                raise RecipeError(f"{key} = {value} requires AdamW, but optimizer = {self.optimizer!r}", fix=fix)


def recipe(name: str, task: str, size: str = "base", overrides: Mapping[str, Any] | str | Path | None = None) -> Recipe:
    """Return a named recipe for a task and a model size.

    Args:
        name: one of `NAMES`.
        task: task id; a small edition (mini-udpos) follows its full task, and a task that trains on another (the
            checklist tests) follows that one.
        size: one of `SIZES`.
        overrides: TOML file or its tables: keys of `Recipe`, for all tasks or below `[task]`, `[size]` or
            `[task.size]`; the more specific wins (a small edition's section over its task's), and all override the
            named recipe.

    Raises:
        UnknownNameError: unknown recipe, task, size or key.
        RecipeError: invalid type or value.
        DataError: the file is unreadable or not TOML.
    """
    if name not in NAMES:
        raise unknown("recipe", name, NAMES)
    if size not in SIZES:
        raise unknown("size", size, SIZES)
    shipped = (files("isogloss.training.recipe_data") / f"{name}.toml").read_text(encoding="utf-8")
    mine = resolved(changes(overrides), task, size)
    # Setting epochs or batch replaces the recipe's updates or tokens.
    instead = {other: 0 for key, other in (("epochs", "steps"), ("batch", "tokens")) if key in mine}
    made = Recipe(**{"name": name, **resolved(_parsed(shipped, f"{name}.toml"), task, size), **instead, **mine})
    if made.siqa or SIQA not in made.stages:
        return made
    return replace(made, name=without_siqa(name), stages=tuple(stage for stage in made.stages if stage != SIQA))


def without_siqa(name: str) -> str:
    """Return the name of a recipe without Social IQa, which counts as a different recipe."""
    return f"{name}-without-{SIQA}"


def changes(overrides: Mapping[str, Any] | str | Path | None) -> Mapping[str, Any]:
    """Return a user's overrides as checked tables; a string is the path of a TOML file."""
    if not overrides:
        return {}
    if isinstance(overrides, str | Path):
        return _parsed(read_text(Path(overrides)), str(overrides))
    return _checked(overrides, "overrides", (*TASKS, *SIZES))


def size_of(config: Any) -> str:
    """Return the recipe size of a transformers configuration."""
    if getattr(config, "is_encoder_decoder", False):
        return "text2text"
    # As in the scripts, XLM-R Large (24 layers of 1024) and XLM-100 (16 of 1280) are large, XLM-15 (12 of 1024) is not.
    return "large" if config.hidden_size > 1024 or config.num_hidden_layers >= 24 else "base"


@cache
def _parsed(text: str, where: str) -> Mapping[str, Any]:
    return _checked(decode_toml(text, where), where, (*TASKS, *SIZES))


def resolved(tables: Mapping[str, Any], task: str, size: str) -> dict[str, Any]:
    """Return the keys for a task and a size; more specific sections override general ones."""
    target = find_task(task)
    # A task that trains on another task's set starts from that task's section.
    names = dict.fromkeys((target.train_on, target.base_id, target.id))
    own_sections = [tables.get(name, {}) for name in names]
    sections = [section for own in own_sections for section in (tables.get(own.get("like", ""), {}), own)]
    keys: dict[str, Any] = {}
    for layer in (tables, *sections, tables.get(size, {}), *(section.get(size, {}) for section in sections)):
        keys |= {key: value for key, value in layer.items() if key != "like" and not isinstance(value, Mapping)}
    return keys


# Refused with another optimizer, which would ignore them.
_ADAMW_ONLY = ("weight_decay", "epsilon")
_DEFAULTS = {field.name: field.default for field in fields(Recipe)}
_TYPES = get_type_hints(Recipe, include_extras=True)
_TASK_TYPES = {**_TYPES, "like": Annotated[str, _check_task]}


def _checked(
    tables: Mapping[str, Any], where: str, sections: tuple[str, ...] = (), *, is_task: bool = False
) -> dict[str, Any]:
    """Check the keys of a section and convert their values; a task's section may start `like` another task."""
    checked: dict[str, Any] = {}
    for key, value in tables.items():
        if not isinstance(value, Mapping):
            types = _TASK_TYPES if is_task else _TYPES
            checked |= checked_settings({key: value}, types, "recipe key", where, error=RecipeError, least=0)
        elif key not in sections:
            raise unknown("section", key, sections, where=where)
        else:
            inner = SIZES if key in TASKS else ()
            checked[key] = _checked(value, f"{where} [{key}]", inner, is_task=key in TASKS)
    return checked
