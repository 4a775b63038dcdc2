"""The dual encoder's adapter: it learns its training pairs, and supports every form of retrieval."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'isogloss[train]'")

import isogloss  # noqa: E402 - only where there is torch
from caches import new_cache  # noqa: E402
from isogloss.systems.base import SystemFailureError  # noqa: E402
from isogloss.systems.dual.system import DualEncoderAdapter, training_pairs  # noqa: E402
from isogloss.systems.neural import task_adapter as retrieval  # noqa: E402
from isogloss.systems.pretrained import ModelSource  # noqa: E402
from isogloss.tasks.examples import Examples, Pool  # noqa: E402
from isogloss.training.recipes import Recipe  # noqa: E402

RECIPE = Recipe(
    name="test", learning_rate=2e-3, steps=25, batch=64, schedule="constant", max_length=40, query_length=24
)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOGLOSS_CACHE", str(new_cache(tmp_path / "cache")))


def adapter(folder: Path, task: str = "mini-lareqa", recipe: Recipe = RECIPE, **settings: Any) -> DualEncoderAdapter:
    return DualEncoderAdapter(isogloss.task(task), recipe, ModelSource(str(folder)), **settings)


def distinct_questions(count: int) -> Examples:
    """Training questions that occur once; repeated ones have two answers."""
    found = isogloss.load("mini-xquad", "en", "train")
    first = {question: row for row, question in reversed(list(enumerate(found["question"])))}
    return found.keep(sorted(first.values())[:count])


def as_search(train_set: Examples) -> Examples:
    """Return the same pairs as a retrieval task."""
    pairs = training_pairs(train_set)
    ids = [f"c{row}" for row in range(len(pairs.answers))]
    pool = Pool(lambda: dict.fromkeys(ids, "en"), lambda: pairs.answers)
    columns: dict[str, Any] = {"text": pairs.queries, "targets": [[ids[row]] for row in pairs.numbers[:, 1]]}
    return Examples("mini-lareqa", "en", "test", train_set.ids, columns, "targets", pool=pool)


def test_vectors_do_not_depend_on_the_batch(tiny_xlmr: Path) -> None:
    made = adapter(tiny_xlmr, pooling="mean")
    model: Any = made.load_model(0)
    texts = ["Who?", "What is the colour of the very old house in the street?", "", "水"]
    together = made.vectors(model, texts, 32)
    alone = np.concatenate([made.vectors(model, [text], 32) for text in texts])
    np.testing.assert_allclose(together, alone, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)


def test_pool_is_encoded_once_per_weights(tiny_bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, asked = adapter(tiny_bert), as_search(distinct_questions(8))
    model: Any = made.load_model(0)
    embedded: list[int] = []
    vectors = made.vectors
    monkeypatch.setattr(made, "vectors", lambda *args: embedded.append(len(args[1])) or vectors(*args))
    first = made.pool_vectors(model, asked)
    assert made.pool_vectors(model, asked) is first
    with torch.no_grad():
        model.encoder.embeddings.word_embeddings.weight[0, 0] += 0.5
    made.pool_vectors(model, asked)
    assert embedded == [8, 8]


def test_many_vectors_are_stored_in_a_file(tiny_bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, texts = adapter(tiny_bert), [f"Text number {row}" for row in range(10)]
    model: Any = made.load_model(0)
    in_memory = made.vectors(model, texts, 16)
    monkeypatch.setattr(retrieval, "_IN_MEMORY", 0)
    monkeypatch.setattr(retrieval, "_BLOCK", 3)
    on_disk = made.vectors(model, texts, 16)
    assert isinstance(on_disk, np.memmap)
    np.testing.assert_allclose(on_disk, in_memory, atol=1e-6)


@pytest.mark.parametrize(("task", "language"), [("mini-tatoeba", "de"), ("mini-mewslix", "en")])
def test_every_form_of_retrieval(tiny_bert: Path, task: str, language: str) -> None:
    made = adapter(tiny_bert, task)
    examples = isogloss.load(task, language, "test")
    answers = made.predict(made.load_model(0), examples)
    assert examples.pool is not None
    assert len(answers) == len(examples)
    assert all(len(set(ranked)) == 20 and set(ranked) <= set(examples.pool.ids) for ranked in answers)


def test_mining_returns_pairs(tiny_bert: Path) -> None:
    texts = ["Ann saw a dog.", "The house is red.", "Where is it?"]
    pool = Pool(lambda: {f"en-{row}": "en" for row in range(3)}, lambda: texts)
    columns: dict[str, Any] = {"text": texts, "targets": [[f"en-{row}"] for row in range(3)]}
    examples = Examples("bucc", "de", "dev", ["a", "b", "c"], columns, "targets", pool=pool)
    made = adapter(tiny_bert, "bucc")
    assert made.predict(made.load_model(0), examples) == [["en-0"], ["en-1"], ["en-2"]]


def test_scale_round_trips_with_the_weights(tiny_bert: Path, tmp_path: Path) -> None:
    from isogloss.systems.pretrained import restore, save

    made = adapter(tiny_bert)
    first: Any = made.load_model(1)
    with torch.no_grad():
        first.scale.fill_(42.0)
    save(first, tmp_path / "weights", made.source.tokenizer)
    second: Any = made.load_model(2)
    assert not np.allclose(made.vectors(first, ["Who?"], 16), made.vectors(second, ["Who?"], 16))  # poolers differ
    restore(second, tmp_path / "weights")
    assert second.scale.item() == 42.0
    np.testing.assert_array_equal(made.vectors(first, ["Who?"], 16), made.vectors(second, ["Who?"], 16))


def test_lengths_follow_the_recipe(tiny_bert: Path) -> None:
    recipe = Recipe(name="test", learning_rate=1e-3, max_length=24, query_length=6)
    made: Any = adapter(tiny_bert, recipe=recipe).objective(distinct_questions(20))
    assert made.queries.lengths.max() == 6
    assert made.answers.lengths.max() == 24
    assert (made.lengths == made.answers.lengths[made.numbers[:, 1]]).all()
    again: Any = adapter(tiny_bert, recipe=recipe).objective(distinct_questions(10))
    assert len(again) == 10  # not the twenty tokenised before


def test_unsuitable_models_raise(tiny_bert: Path, tiny_xlm: Path, tiny_mt5: Path, tmp_path: Path) -> None:
    import transformers

    config = transformers.DistilBertConfig(vocab_size=900, dim=16, n_layers=1, n_heads=2, hidden_dim=16)
    transformers.DistilBertModel(config).save_pretrained(tmp_path / "distil")
    with pytest.raises(SystemFailureError, match=r"no pooler over the first token\. Set pooling to mean or cls"):
        adapter(tmp_path / "distil").load_model(0)
    assert adapter(tmp_path / "distil", pooling="mean").load_model(0).config.hidden_size == 16
    with pytest.raises(SystemFailureError, match="expected an encoder, got a text-to-text model"):
        adapter(tiny_mt5, pooling="mean").load_model(0)
    with pytest.raises(SystemFailureError, match="needs the language of a text"):
        adapter(tiny_xlm, pooling="mean").load_model(0)
    french: Any = adapter(tiny_xlm, pooling="mean")
    french.source.config.n_langs = 1
    assert french.load_model(0).config.hidden_size == 64


def test_cached_rows_too_long_for_another_model_raise(tiny_bert: Path) -> None:
    train = distinct_questions(4)
    adapter(tiny_bert).objective(train)
    shorter = adapter(tiny_bert)  # the same tokenizer
    shorter.source.config.max_position_embeddings = 32
    with pytest.raises(SystemFailureError, match="max_length is 40, but the model has 32 positions"):
        shorter.objective(train)
