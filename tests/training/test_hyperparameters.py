"""The hyper-parameters of the documents are those of the recipes, each beside what its source says.

python tests/training/test_hyperparameters.py > docs/hyperparameters.md
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

torch = pytest.importorskip("torch", reason="how a text becomes a vector is asked of the models")
transformers = pytest.importorskip("transformers", reason="a size is told by a configuration")

from isogloss.decoding import decode_toml  # noqa: E402
from isogloss.systems.base import system  # noqa: E402
from isogloss.systems.dual.contrastive import DualEncoder  # noqa: E402
from isogloss.tasks.kinds import kind_of  # noqa: E402
from isogloss.tasks.registry import TASKS  # noqa: E402
from isogloss.training import recipes  # noqa: E402
from isogloss.training.optimizer import BETAS  # noqa: E402
from isogloss.training.recipes import NAMES, SIZES, Recipe, resolved  # noqa: E402

DOCUMENT = Path(__file__).parents[2] / "docs" / "hyperparameters.md"
SOURCES = Path(recipes.__file__).parent / "recipe_data" / "sources.toml"
BENCHMARK = [task for task in TASKS.shipped if not task.startswith(("mini-", "checklist-"))]
# Not in a recipe: the same always, or a setting of the system.
FIXED = ("betas", "layer", "pooling", "text_length", "scale", "directions")
KEYS = [*(field.name for field in fields(Recipe) if field.name != "name"), *FIXED]
# All that there is to decide where nothing is learnt.
UNTRAINED = ("train_on", "layer", "pooling", "text_length")
# What does something as soon as it is set.
SWITCHES = ("steps", "tokens", "stages", "candidates")
CONFIGURATIONS: Mapping[str, Callable[[], Any]] = {
    "base": transformers.BertConfig,
    "large": lambda: transformers.XLMRobertaConfig(
        hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, max_position_embeddings=514
    ),
    "text2text": transformers.MT5Config,
}
HEAD = """# Hyper-parameters beside their sources

Made by `python tests/training/test_hyperparameters.py` from the recipes, as a fit gets them, and from `sources.toml`
beside them, which holds what the sources say; a test fails where the two differ without a reason. The sources of

* `paper` are appendix G of [XTREME-R](https://aclanthology.org/2021.emnlp-main.802), which says "generally", and, where
  it is silent, the scripts;
* `scripts`: `scripts/*.sh` and `third_party/*.py` of [XTREME](https://github.com/google-research/xtreme), as XTREME-R
  left them. 8 x 4 is a batch of 8, accumulated 4 times;
* `keung`: [Keung et al. (2020)](https://aclanthology.org/2020.emnlp-main.40), who have mBERT, MLDoc and XNLI alone.

| | |
|---|---|
| equal | the source says it, and ours is the same |
| not stated: as `xnli` | the source does not say; ours is that of another task or recipe, given with *its* source |
| ours | no source says it, or ours is another: why |

Sizes are `base` (mBERT), `large` (XLM-R Large) and `text2text` (mT5); a row without one holds for all three, and one in
brackets is not in the source: it is as `base`. What a task's table does not have is as in the table of all tasks. Keys
are those of a recipe, but for `betas` (AdamW's), `layer`, `pooling`, `text_length` (the tokens of a sentence), `scale`
(of cosines, at first) and `directions`, which say how texts are retrieved. Small editions and the checklist follow the
task that they are of. Seeds are no part of a recipe: the scripts have 42, for tagging 1; Keung et al. ten."""


class HyperParameter(NamedTuple):
    """A value of ours beside its source's, which may be given for another size: a row of the document."""

    ours: str
    source: str
    where: str
    verdict: str
    other_size: bool = False


class SourceValue(NamedTuple):
    """What a source says of a value, and why ours is as it is; `alike` names what it was taken over from."""

    value: Any
    where: str
    why: str
    alike: tuple[str, ...] = ()


Rows = dict[tuple[str, str], HyperParameter]  # by key and size


@cache
def stated() -> Mapping[str, Any]:
    return decode_toml(SOURCES.read_text(encoding="utf-8"), SOURCES.name)


def source_of(key: str, name: str, task: str, size: str) -> SourceValue | None:
    """What a source says, through references to other recipes, tasks and sizes; None where it is of no use."""
    task = "tatoeba" if size == "text2text" and kind_of(TASKS[task]).retrieval else task
    for_all = {other: value for other, value in stated().items() if not isinstance(value, Mapping)}
    found = resolved({**for_all, **stated()[name]}, task, size)
    assert key in found, f"{SOURCES.name} says nothing of {key} ({name}, {task}, {size})"
    entry = found[key]
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
def fitted(name: str, size: str, family: str) -> Any:
    """A system with that recipe and a model of that size, as a user names it."""
    with TemporaryDirectory() as folder:
        CONFIGURATIONS[size]().save_pretrained(folder)
        found = system(f"{family}:{folder}#random,recipe={name}")
        assert found.size == size  # which reads the configuration, while it is there
    return found


@cache
def ours(name: str, task: str, size: str) -> Mapping[str, Any]:
    """The values that a fit has, by key."""
    asked = TASKS[task]
    kind = kind_of(asked)
    family = "dual-encoder" if kind.retrieval and kind.shared_pool else "encoder"
    found = fitted(name, size, "text2text" if size == "text2text" else family)
    recipe = found.recipe_for(asked)
    values = {**vars(recipe), "betas": ", ".join(map(str, BETAS)), "checkpoints": interval(recipe)}
    values["train_on"] = found.learns_from(asked).id if found.needs_training(asked) else "nothing"
    if kind.retrieval:
        adapter = found.adapter(asked)
        if found.family == "dual-encoder":
            encoder = DualEncoder(torch.nn.Identity(), adapter.pooling)
            values |= {"scale": encoder.scale.item(), "directions": 1 + adapter.both}
        else:
            network = SimpleNamespace(base_model=torch.nn.Identity(), get_encoder=torch.nn.Identity, device="cpu")
            encoder = adapter.pooled_encoder(network)
        values |= {"pooling": encoder.pooling, "layer": encoder.layer, "text_length": max(adapter.text_lengths)}
    return values if found.needs_training(asked) else {key: values[key] for key in UNTRAINED}


def interval(recipe: Recipe) -> str:
    """How often there is a checkpoint, in the words of the sources."""
    if recipe.steps:
        return f"every {recipe.checkpoints * recipe.steps / 100:g} updates"
    return f"every {recipe.checkpoints * recipe.epochs:g} % of an epoch"


def shown(value: Any) -> str:
    """A value as a reader knows it: 2 for 2.0, 1e-3, a list with commas."""
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
    """A value beside its source's; None where it is of no use.

    Raises:
        AssertionError: they differ, and no reason is given; or what is of no use is switched on.
    """
    source = source_of(key, name, task, size)
    place = f"{name}, {task}, {size}: {key} = {value!r}"
    if source is None:
        assert not (key in SWITCHES and value), f"{place}, and {SOURCES.name} calls it of no use"
        return None
    if not source.where:
        return HyperParameter(shown(value), "not stated", "", f"ours: {source.why}")
    equal = shown(value) == shown(source.value)
    assert equal or source.why, f"{place}, and {source.where} has {source.value!r}: a reason is missing"
    alike = next((other for other in source.alike if other not in SIZES), "")
    verdict = "ours" if not equal else f"not stated: as `{alike}`" if alike else "equal"
    verdict += f": {source.why}" if source.why else ""
    return HyperParameter(shown(value), shown(source.value), source.where, verdict, bool(source.alike) and not alike)


def rows_of(name: str, task: str) -> Rows:
    """All hyper-parameters of a task, in all sizes."""
    pairs = [(key, size) for key in KEYS for size in SIZES if key in ours(name, task, size)]
    found = {(key, size): compared(key, name, task, size, ours(name, task, size)[key]) for key, size in pairs}
    return {at: row for at, row in found.items() if row is not None}


def usual(by_task: Mapping[str, Rows]) -> Rows:
    """The rows that most of the tasks have."""
    counted = Counter((at, row) for rows in by_task.values() for at, row in rows.items())
    common = {at: row for (at, row), count in counted.items() if 5 * count > 3 * len(by_task)}
    return {(key, size): common[key, size] for key in KEYS for size in SIZES if (key, size) in common}


def table(rows: Rows) -> Iterator[str]:
    yield "\n| | size | ours | the source's | where | |\n|---|---|---|---|---|---|"
    merged: dict[tuple[str, HyperParameter], list[str]] = {}
    for (key, size), row in rows.items():
        sizes = merged.setdefault((key, row._replace(other_size=False)), [])
        sizes.append(f"({size})" if row.other_size else size)
    for (key, row), sizes in merged.items():
        yield f"| `{key}` | {named(sizes)} | {' | '.join(row[:4])} |"


def named(sizes: Iterable[str]) -> str:
    found = tuple(sizes)
    return "" if found == SIZES else ", ".join(found)


def of_no_use(common: Rows, rows: Rows) -> Iterator[str]:
    """A sentence on what the table of all tasks has and a task does not use."""
    missing: dict[str, list[str]] = {}
    for key, size in common:
        if (key, size) not in rows:
            missing.setdefault(key, []).append(size)
    for sizes in dict.fromkeys(map(tuple, missing.values())):
        keys = ", ".join(f"`{key}`" for key, held in missing.items() if tuple(held) == sizes)
        yield f"\nOf no use here{' for ' * bool(named(sizes))}{named(sizes)}: {keys}."


def document() -> Iterator[str]:
    yield HEAD
    for name in NAMES:
        by_task = {task: rows_of(name, task) for task in BENCHMARK}
        common = usual(by_task)
        yield f"\n## {name}\n\n### {name}: all tasks, unless their table has another"
        yield from table(common)
        parts: dict[str, list[str]] = {}
        for task, rows in by_task.items():
            special = {at: row for at, row in rows.items() if common.get(at) != row}
            parts.setdefault("\n".join((*table(special), *of_no_use(common, rows))), []).append(task)
        for part, tasks in parts.items():
            yield f"\n### {name}: {', '.join(tasks)}"
            yield part


def test_the_document_is_up_to_date() -> None:
    made = "\n".join(document()) + "\n"
    fix = "python tests/training/test_hyperparameters.py > docs/hyperparameters.md"
    assert DOCUMENT.read_text(encoding="utf-8") == made, fix


@pytest.mark.parametrize("name", NAMES)
def test_every_hyperparameter_of_every_task_in_every_size_has_a_source_or_a_reason(name: str) -> None:
    assert len(BENCHMARK) == 13
    for task in BENCHMARK:
        for size in SIZES:
            decided = [key for key in KEYS if key in ours(name, task, size)]
            assert set(decided) >= {*KEYS} - {*FIXED} or (task == "bucc" and decided == list(UNTRAINED))
            for key in decided:
                source_of(key, name, task, size)


def test_the_sources_have_no_other_keys_and_sections() -> None:
    def sections(table: Mapping[str, Any], names: tuple[Iterable[str], ...]) -> Iterator[str]:
        for key, value in table.items():
            if not isinstance(value, Mapping):
                yield key
                continue
            assert key in [*names[0]], key
            yield from sections(value, names[1:])

    found = set(sections(stated(), (NAMES, (*BENCHMARK, *SIZES), SIZES)))
    assert found == {*KEYS, "like"}


def test_a_value_that_is_not_its_sources_needs_a_reason() -> None:
    assert compared("learning_rate", "scripts", "xnli", "base", 2e-5) == (
        HyperParameter("2e-5", "2e-5", "train_xnli.sh", "equal")
    )
    with pytest.raises(AssertionError, match=r"learning_rate = 5e-05, and train_xnli\.sh has 2e-05"):
        compared("learning_rate", "scripts", "xnli", "base", 5e-5)
    with pytest.raises(AssertionError, match="max_length = 64, and train_xnli"):
        compared("max_length", "keung", "xnli", "large", 64)
    with pytest.raises(AssertionError, match="calls it of no use"):
        compared("steps", "scripts", "xnli", "base", 100)
    assert compared("precision", "scripts", "xnli", "base", "auto")[3].startswith("ours: bf16 where")


if __name__ == "__main__":
    sys.stdout.write("\n".join(document()) + "\n")
