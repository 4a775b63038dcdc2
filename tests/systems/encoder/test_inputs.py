"""Model inputs, and invariances of batches."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from isogloss.systems.base import SystemFailureError
from isogloss.systems.encoder.adapter import EncoderAdapter, EncoderClassifier, EncoderMultipleChoice
from isogloss.systems.encoder.qa import EncoderReader
from isogloss.systems.encoder.tagging import EncoderEntitySpans, EncoderTagger
from isogloss.systems.neural.task_adapter import cached
from isogloss.systems.pretrained import ModelSource
from isogloss.systems.tokens.inputs import InputRows, ModelInputs
from isogloss.tasks.loading import load
from isogloss.tasks.registry import task
from tiny_models import BY_HEART

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'isogloss[train]'")

ADAPTERS: list[tuple[type[EncoderAdapter], str]] = [
    (EncoderClassifier, "mini-xnli"),
    (EncoderMultipleChoice, "mini-xcopa"),
    (EncoderTagger, "mini-udpos"),
    (EncoderEntitySpans, "mini-wikiann"),
    (EncoderReader, "mini-tydiqa"),
]


def adapter_of(made: type[EncoderAdapter], name: str, folder: Path) -> EncoderAdapter:
    return made(task(name), BY_HEART, ModelSource(str(folder)))


@pytest.mark.slow
@pytest.mark.parametrize("model", ["tiny_bert", "tiny_xlmr", "tiny_xlm"])
@pytest.mark.parametrize(("made", "name"), ADAPTERS)
def test_padding_adds_nothing_to_the_loss(
    made: type[EncoderAdapter], name: str, model: str, request: pytest.FixtureRequest
) -> None:
    adapter = adapter_of(made, name, request.getfixturevalue(model))
    objective = adapter.objective(load(name, "en", "train").keep(range(3)))
    network = adapter.load_model(0).eval()
    items = np.arange(3)
    width = int(objective.lengths.max())

    def loss(items: np.ndarray, width: int, size: int) -> float:
        batch = {key: torch.from_numpy(value) for key, value in objective.batch(items, width, size).items()}
        assert {value.shape[0] for value in batch.values()} == {size}
        found = objective.loss(network, batch)
        assert found.dtype == torch.float32
        return float(found.detach())

    alone = sum(loss(items[row : row + 1], width, 1) for row in range(3))
    assert loss(items, width, 3) == pytest.approx(alone, rel=1e-4)
    assert loss(items, width + 7, 5) == pytest.approx(alone, rel=1e-4)
    assert loss(items[:0], width, 2) == 0.0


def test_segments_only_for_models_with_segments(tiny_bert: Path, tiny_xlmr: Path) -> None:
    batches = {}
    for folder in (tiny_bert, tiny_xlmr):
        objective = adapter_of(EncoderClassifier, "mini-xnli", folder).objective(
            load("mini-xnli", "en", "train").keep([0])
        )
        batches[folder] = objective.batch(np.array([0]), int(objective.lengths[0]), 1)
    assert "token_type_ids" not in batches[tiny_xlmr]
    segments = batches[tiny_bert]["token_type_ids"][0].tolist()
    assert segments == sorted(segments)
    assert set(segments) == {0, 1}


def test_languages_only_for_models_with_language_ids(tiny_xlm: Path, tiny_bert: Path) -> None:
    from isogloss.tasks.examples import Examples

    english = Examples("t", "de", "train", ["0", "1"], {}, "label")
    inputs = ModelInputs(ModelSource(str(tiny_xlm)))
    assert inputs.language_ids(english).tolist() == [1, 1]
    mixed = Examples("t", "en+zh", "train", ["0", "1"], {"language": ["zh", "en"]}, "label")
    assert inputs.language_ids(mixed).tolist() == [4, 0]
    assert ModelInputs(ModelSource(str(tiny_bert))).language_ids(mixed) is None
    with pytest.raises(SystemFailureError, match=r"no number for 'sw'.*It supports ar, de, en"):
        inputs.language_ids(Examples("t", "sw", "train", ["0"], {}, "label"))


def test_monolingual_model_needs_no_language_ids(tiny_xlm: Path) -> None:
    """FlauBERT's configuration enables language embeddings, but has a single language."""
    from isogloss.tasks.examples import Examples

    swahili = Examples("t", "sw", "train", ["0"], {}, "label")
    source = ModelSource(str(tiny_xlm))
    source.config.n_langs = 1
    assert ModelInputs(source).language_ids(swahili) is None
    source.config.n_langs, source.config.lang2id = 2, None
    with pytest.raises(SystemFailureError, match=r"no number for 'sw'.*Add lang2id, the number of each language"):
        ModelInputs(source).language_ids(swahili)


def test_every_row_of_a_batch_has_its_language(tiny_xlm: Path) -> None:
    choice = adapter_of(EncoderMultipleChoice, "mini-xcopa", tiny_xlm)
    batch = choice.objective(load("mini-xcopa", "en", "train").keep(range(2))).batch(np.arange(2), 128, 3)
    assert batch["langs"].shape == batch["input_ids"].shape == (3, 2, 128)
    tagging = adapter_of(EncoderTagger, "mini-wikiann", tiny_xlm)
    rows = tagging._rows(load("mini-wikiann", "zh", "test").keep(range(4)))
    assert isinstance(rows, InputRows)
    assert set(rows.batch(np.arange(4), 128, 4)["langs"].ravel().tolist()) == {4}


def test_language_id_affects_the_output(tiny_xlm: Path) -> None:
    """Check that the model uses its language ids; otherwise the tests of them would prove nothing."""
    network = adapter_of(EncoderTagger, "mini-udpos", tiny_xlm).load_model(0).eval()
    ids = torch.tensor([[0, 5, 6, 1]])
    english, chinese = (network(input_ids=ids, langs=torch.full_like(ids, number)).logits for number in (0, 4))
    assert not torch.allclose(english, chinese)


@pytest.mark.parametrize(
    ("longest", "message"),
    [
        (513, r"max_length is 513, but the model has 512 positions.*Set max_length to 512"),
        (2, "the special tokens take 2"),
    ],
)
def test_invalid_lengths_raise(longest: int, message: str, tiny_bert: Path, tiny_xlmr: Path) -> None:
    for folder in (tiny_bert, tiny_xlmr):
        inputs = ModelInputs(ModelSource(str(folder)))
        with pytest.raises(SystemFailureError, match=message):
            inputs.room(inputs.single, longest)
        assert inputs.room(inputs.single, 512) == 510


@pytest.mark.parametrize("kind", ["camembert", "xmod", "mpnet", "luke", "longformer"])
def test_shifted_positions(kind: str, tiny_xlmr: Path) -> None:
    transformers = pytest.importorskip("transformers")
    source = ModelSource(str(tiny_xlmr))
    config = transformers.AutoConfig.for_model(kind, max_position_embeddings=514, pad_token_id=1)
    source.__dict__["config"] = config
    with pytest.raises(SystemFailureError, match="the model has 512 positions"):
        ModelInputs(source).room(ModelInputs(source).single, 513)


@pytest.mark.parametrize(("made", "name"), ADAPTERS)
def test_empty_or_unlabelled_training_sets_raise(made: type[EncoderAdapter], name: str, tiny_bert: Path) -> None:
    adapter = adapter_of(made, name, tiny_bert)
    train = load(name, "en", "train")
    with pytest.raises(SystemFailureError, match=rf"{name}/en train: the training set is empty"):
        adapter.objective(train.keep([]))
    hidden = train.keep(range(2))
    del hidden.columns[hidden.gold]
    with pytest.raises(SystemFailureError, match="the training set has no gold labels"):
        adapter.objective(hidden)


@pytest.mark.parametrize(("made", "name"), ADAPTERS)
def test_empty_input_gives_no_predictions(made: type[EncoderAdapter], name: str, tiny_bert: Path) -> None:
    adapter = adapter_of(made, name, tiny_bert)
    assert list(adapter.predict(adapter.load_model(0), load(name, "en", "dev").keep([]))) == []


def test_tokens_are_cached(tiny_bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from isogloss.systems.neural import task_adapter
    from isogloss.systems.tokens import inputs

    monkeypatch.setattr(task_adapter, "cached", lambda parts, make: cached(parts, make, tmp_path))
    calls: list[int] = []
    tokenize: Callable[..., object] = inputs.tokenize
    monkeypatch.setattr(inputs, "tokenize", lambda *given: (calls.append(1), tokenize(*given))[1])
    train = load("mini-xnli", "en", "train")
    adapter = adapter_of(EncoderClassifier, "mini-xnli", tiny_bert)
    adapter.objective(train.keep(range(10, 15)))
    assert len(calls) == 1
    adapter_of(EncoderClassifier, "mini-xnli", tiny_bert).objective(train.keep(range(10, 15)))
    assert len(calls) == 1
    adapter.objective(train.keep(range(11, 16)))  # other examples of the same file
    replace(adapter, recipe=replace(BY_HEART, max_length=20)).objective(train.keep(range(10, 15)))
    assert len(calls) == 3


@pytest.mark.parametrize(("made", "name"), ADAPTERS)
def test_cached_rows_too_long_for_another_model_raise(
    made: type[EncoderAdapter], name: str, tiny_bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from isogloss.systems.neural import task_adapter

    monkeypatch.setattr(task_adapter, "cached", lambda parts, make: cached(parts, make, tmp_path))
    train = load(name, "en", "train").keep(range(4))
    adapter_of(made, name, tiny_bert).objective(train)
    assert list(tmp_path.iterdir())
    shorter = adapter_of(made, name, tiny_bert)  # the same tokenizer
    shorter.source.config.max_position_embeddings = 32
    with pytest.raises(SystemFailureError, match=r"max_length is 128, but the model has 32 positions"):
        shorter.objective(train)
