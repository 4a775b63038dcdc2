"""Every hyper-parameter of the recipes has a source or a reason, and the generated page has those used in a fit."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="pooling is read from the models")
transformers = pytest.importorskip("transformers", reason="sizes are read from configurations")

import hyperparameter_page as page  # noqa: E402
from hyperparameter_page import BENCHMARK, FIXED, KEYS, UNTRAINED, HyperParameter, compared, interval  # noqa: E402
from isogloss.systems.base import system  # noqa: E402
from isogloss.systems.dual.contrastive import DualEncoder  # noqa: E402
from isogloss.tasks.kinds import kind_of  # noqa: E402
from isogloss.tasks.registry import TASKS  # noqa: E402
from isogloss.training.optimizer import BETAS  # noqa: E402
from isogloss.training.recipes import NAMES, SIZES  # noqa: E402

CONFIGURATIONS: Mapping[str, Callable[[], Any]] = {
    "base": transformers.BertConfig,
    "large": lambda: transformers.XLMRobertaConfig(
        hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, max_position_embeddings=514
    ),
    "text2text": transformers.MT5Config,
}


@cache
def fitted(name: str, size: str, family: str) -> Any:
    """Return a system with a recipe and a model of some size, by name."""
    with TemporaryDirectory() as folder:
        CONFIGURATIONS[size]().save_pretrained(folder)
        made = system(f"{family}:{folder}#random,recipe={name}")
        assert made.size == size  # reads the configuration while it exists
    return made


@cache
def in_a_fit(name: str, task: str, size: str) -> Mapping[str, Any]:
    """Return the values that a system uses, by key."""
    target = TASKS[task]
    kind = kind_of(target)
    family = "dual-encoder" if kind.retrieval and kind.shared_pool else "encoder"
    model = fitted(name, size, "text2text" if size == "text2text" else family)
    recipe = model.recipe_for(target)
    values = {**vars(recipe), "betas": ", ".join(map(str, BETAS)), "checkpoints": interval(recipe)}
    values["train_on"] = model.learns_from(target).id if model.needs_training(target) else "nothing"
    if kind.retrieval:
        adapter = model.adapter(target)
        if model.family == "dual-encoder":
            encoder = DualEncoder(torch.nn.Identity(), adapter.pooling)
            values |= {"scale": encoder.scale.item(), "directions": 1 + adapter.both}
        else:
            network = SimpleNamespace(base_model=torch.nn.Identity(), get_encoder=torch.nn.Identity, device="cpu")
            encoder = adapter.pooled_encoder(network)
        values |= {"pooling": encoder.pooling, "layer": encoder.layer, "text_length": max(adapter.text_lengths)}
    return values if model.needs_training(target) else {key: values[key] for key in UNTRAINED}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", SIZES)
def test_page_has_the_values_used_in_a_fit(name: str, size: str) -> None:
    for task in BENCHMARK:
        assert page.ours(name, task, size) == in_a_fit(name, task, size), task


def test_page_shows_values_beside_their_sources() -> None:
    lines = page.page().splitlines()
    assert lines[0] == "# Hyperparameters and their sources"
    for name in NAMES:
        headings = [line.removeprefix(f"### {name}: ") for line in lines if line.startswith(f"### {name}: ")]
        assert set(BENCHMARK) <= {task for heading in headings for task in heading.split(", ")}
    start = lines.index("### paper: all tasks, unless overridden below")
    rows = lines[start : lines.index("### paper: xnli")]
    assert "| `learning_rate` | large | 3e-5 | 3e-5 | XTREME-R, appendix G (XLM-R Large) | equal |" in rows
    # Every row has our value, and a source, a task to follow or a reason.
    cells = [line.split(" | ") for line in lines if line.startswith("| `")]
    assert len(cells) > 300
    assert all(row[2] and (row[5].startswith(("equal", "not stated: as", "ours"))) for row in cells)


@pytest.mark.parametrize("name", NAMES)
def test_every_hyperparameter_has_a_source_or_a_reason(name: str) -> None:
    assert len(BENCHMARK) == 14
    for task in BENCHMARK:
        for size in SIZES:
            decided = [key for key in KEYS if key in in_a_fit(name, task, size)]
            assert set(decided) >= {*KEYS} - {*FIXED} or (task == "bucc" and decided == list(UNTRAINED))
            for key in decided:
                page.source_of(key, name, task, size)


def test_sources_have_only_known_keys_and_sections() -> None:
    def sections(table: Mapping[str, Any], names: tuple[Iterable[str], ...]) -> Iterator[str]:
        for key, value in table.items():
            if not isinstance(value, Mapping):
                yield key
                continue
            assert key in [*names[0]], key
            yield from sections(value, names[1:])

    assert set(sections(page.stated(), (NAMES, (*BENCHMARK, *SIZES), SIZES))) == {*KEYS, "like"}


def test_differing_value_needs_a_reason() -> None:
    assert compared("learning_rate", "scripts", "xnli", "base", 2e-5) == (
        HyperParameter("2e-5", "2e-5", "train_xnli.sh", "equal")
    )
    with pytest.raises(page.UnsourcedError, match=r"learning_rate = 5e-05, but train_xnli\.sh has 2e-05"):
        compared("learning_rate", "scripts", "xnli", "base", 5e-5)
    with pytest.raises(page.UnsourcedError, match="max_length = 64, but train_xnli"):
        compared("max_length", "keung", "xnli", "large", 64)
    with pytest.raises(page.UnsourcedError, match="marks it as unused"):
        compared("steps", "scripts", "xnli", "base", 100)
    assert compared("precision", "scripts", "xnli", "base", "auto")[3].startswith("ours: bf16 if")
