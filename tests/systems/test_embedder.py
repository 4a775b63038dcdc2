"""The embedder with an encoder that counts letters: ranking, mining, batching and the cache."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from isogloss.errors import DataError
from isogloss.metrics.search import normalize_rows
from isogloss.systems import system
from isogloss.systems.base import SystemFailureError
from isogloss.systems.embedder import EmbedderSystem
from isogloss.systems.embedder.encoders import SentenceEncoder, VectorCache
from isogloss.systems.embedder.system import embed
from isogloss.tasks import task
from isogloss.tasks.examples import Examples, Pool

LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Letters(SentenceEncoder):
    """An encoder that counts the letters of a text and records its calls."""

    identity = "letters"
    library = "letters 1"
    dimension = len(LETTERS)

    def __init__(self, batch: int = 4, workers: int = 1) -> None:
        self.batch = batch
        self.workers = workers
        self.batches: list[list[str]] = []

    def encode(self, texts: Sequence[str]) -> Any:
        self.batches.append(list(texts))
        return np.array([[text.count(letter) for letter in LETTERS] for text in texts], np.float32)

    @property
    def asked(self) -> list[str]:
        return [text for batch in self.batches for text in batch]


def unit(texts: Sequence[str]) -> Any:
    return normalize_rows(Letters().encode(texts))


def embedder(cache: Path, **settings: Any) -> tuple[EmbedderSystem, Letters]:
    made = EmbedderSystem("letters.onnx", cache=cache, **{"quiet": True, **settings})
    made.encoder = encoder = Letters()  # type: ignore[misc]
    return made, encoder


def asking(
    name: str,
    queries: Sequence[str],
    candidates: Sequence[str],
    targets: Sequence[list[str]] | None = None,
    **more: Any,
) -> Examples:
    pool = Pool(lambda: {f"c{row}": "en" for row in range(len(candidates))}, lambda: list(candidates))
    columns: dict[str, Any] = {"text": list(queries)}
    if targets is not None:
        columns["targets"] = list(targets)
    ids = [f"q{row}" for row in range(len(queries))]
    more = {"language": "zh", "split": "test", "pool": pool, **more}
    return Examples(task=name, ids=ids, columns=columns, gold="targets", **more)


def test_refuses_other_tasks_than_retrieval(tmp_path: Path) -> None:
    made, _ = embedder(tmp_path)
    for name in ("tatoeba", "lareqa", "mewslix", "bucc"):
        assert made.refusal(task(name)) == ""
        assert not made.needs_training(task(name))
    assert "only retrieval" in made.refusal(task("xnli"))
    with pytest.raises(SystemFailureError, match="xquad is qa"):
        made.fit(task("xquad"), None, 0)
    with pytest.raises(SystemFailureError, match="Call fit first"):
        made.predict(asking("tatoeba", ["a"], ["a"]))


def test_bitext_is_nearest_by_cosine(tmp_path: Path) -> None:
    made, _ = embedder(tmp_path)
    made.fit(task("tatoeba"), None, 0)
    # By inner product "aabbbb" would win both times; the tie of c0 and c3 goes to the lower row.
    ranked = made.predict(asking("tatoeba", ["ab", "aab"], ["abab", "aabbbb", "aaaabb", "ba"]))
    assert ranked == [["c0", "c3", "c1", "c2"], ["c2", "c0", "c3", "c1"]]


@pytest.mark.parametrize(
    ("name", "targets", "depth"),
    [
        ("tatoeba", ["c1"], 20),
        ("mewslix", ["c1"], 20),
        ("lareqa", [f"c{row}" for row in range(11)], 30),
        ("lareqa", [f"c{row}" for row in range(14)], 33),
        ("lareqa", None, 30),
    ],
)
def test_depth_suffices_for_the_metrics(tmp_path: Path, name: str, targets: list[str] | None, depth: int) -> None:
    made, _ = embedder(tmp_path)
    candidates = ["a" * (row + 1) + "b" for row in range(50)]
    examples = asking(name, ["b"], candidates, None if targets is None else [targets])
    [ranked] = made.fit(task(name), None, 0).predict(examples)
    assert ranked == [f"c{row}" for row in range(depth)]


def test_shared_pool_is_embedded_once(tmp_path: Path) -> None:
    made, encoder = embedder(tmp_path)
    made.fit(task("lareqa"), None, 0)
    first = asking("lareqa", ["ab"], ["ab", "cd"])
    second = asking("lareqa", ["cd"], [], pool=first.pool)
    assert [made.predict(first)[0], made.predict(second)[0]] == [["c0", "c1"], ["c1", "c0"]]
    assert sorted(encoder.asked) == ["ab", "cd"]


def test_prefixes_are_encoded_too(tmp_path: Path) -> None:
    made, encoder = embedder(tmp_path, query_prefix="q ", candidate_prefix="p ")
    made.fit(task("tatoeba"), None, 0).predict(asking("tatoeba", ["ab"], ["ab"]))
    assert encoder.asked == ["q ab", "p ab"]
    assert made.metadata["query_prefix"] == "q "


def test_missing_pool_raises(tmp_path: Path) -> None:
    made, _ = embedder(tmp_path)
    made.fit(task("mewslix"), None, 0)
    with pytest.raises(DataError, match="isogloss fetch mewslix"):
        made.predict(asking("mewslix", ["a"], [], pool=None))


WORDS = ["banana", "kiwi", "fig", "plum", "cherry", "grape"]


def bucc(split: str, gold: dict[int, int] | None, noise: int = 0) -> Examples:
    """Sources are the words, their English the same letters; the partners of the first are near to everything."""
    candidates = [word + LETTERS * 3 if row < noise else word for row, word in enumerate(WORDS)]
    targets = None if gold is None else [[f"c{gold[row]}"] if row in gold else [] for row in range(len(WORDS))]
    return asking("bucc", WORDS, candidates, targets, split=split)


def test_mining_dev_tunes_on_its_own_labels(tmp_path: Path) -> None:
    made, _ = embedder(tmp_path)
    made.fit(task("bucc"), None, 0)
    found = made.predict(bucc("dev", {row: row for row in range(2, 6)}, noise=2))
    assert found == [[], [], ["c2"], ["c3"], ["c4"], ["c5"]]


def test_mining_uses_the_dev_threshold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, _ = embedder(tmp_path)
    made.fit(task("bucc"), None, 0)
    asked: list[tuple[str, str]] = []

    def load(_task: Any, language: str, split: str, _root: Any) -> Examples:
        asked.append((language, split))
        return bucc("dev", {row: row for row in range(2, 6)}, noise=2)

    monkeypatch.setattr("isogloss.tasks.loading.load", load)
    # By the gold labels of test the near ones are pairs too; they must not be used.
    found = made.predict(bucc("test", {row: row for row in range(6)}, noise=2))
    assert found == [[], [], ["c2"], ["c3"], ["c4"], ["c5"]]
    assert asked == [("zh", "dev")]


def test_mining_without_dev_prints_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def load(*_: Any) -> Examples:
        raise DataError("no dev file")

    monkeypatch.setattr("isogloss.tasks.loading.load", load)
    made, _ = embedder(tmp_path, quiet=False)
    found = made.fit(task("bucc"), None, 0).predict(bucc("test", None))
    assert found == [[f"c{row}"] for row in range(6)]
    assert "no dev set to tune a threshold on; using margin 1.06" in capsys.readouterr().err


def test_repeated_sentences_give_no_pair(tmp_path: Path) -> None:
    made, _ = embedder(tmp_path)
    examples = asking("bucc", ["fig", "plum", "fig"], ["plum", "fig"], [[], ["c0"], ["c1"]], split="dev")
    assert made.fit(task("bucc"), None, 0).predict(examples) == [[], ["c0"], []]


def test_each_text_is_encoded_once_and_by_length(tmp_path: Path) -> None:
    encoder, store = Letters(batch=2), VectorCache(tmp_path, Letters.dimension)
    texts = ["b", "aaa", "b", "cc", "dddd", "ee"]
    vectors = embed(encoder, texts, store, title="letters", quiet=True)
    np.testing.assert_array_equal(vectors, unit(texts))
    assert encoder.batches == [["dddd", "aaa"], ["cc", "ee"], ["b"]]
    again = embed(encoder, ["cc", "new", "b"], VectorCache(tmp_path, Letters.dimension), title="", quiet=True)
    np.testing.assert_array_equal(again, unit(["cc", "new", "b"]))
    assert encoder.asked[5:] == ["new"]


@pytest.mark.parametrize("workers", [1, 3])
def test_order_is_kept_with_threads_and_chunks(tmp_path: Path, workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("isogloss.systems.embedder.system._CHUNK", 7)
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list(LETTERS), size=size)) for size in rng.integers(0, 9, 50)]
    store = VectorCache(tmp_path, Letters.dimension)
    vectors = embed(Letters(3, workers), texts, store, title="", quiet=True)
    np.testing.assert_array_equal(vectors, unit(texts))
    assert len(list(tmp_path.glob("*.keys.npy"))) == -(-len(set(texts)) // 7)


def test_empty_input(tmp_path: Path) -> None:
    assert embed(Letters(), [], VectorCache(tmp_path, 26), title="", quiet=True).shape == (0, 26)


def test_throughput_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = VectorCache(tmp_path, Letters.dimension)
    embed(Letters(), ["a", "b"], store, title="letters")
    embed(Letters(), ["a", "b", "c"], store, title="letters")
    embed(Letters(), ["a", "b", "c"], store, title="letters")
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("letters: 2 texts in ")
    assert first.endswith("/s)")
    assert second.startswith("letters: 1 texts in ")
    assert second.endswith("/s), 2 from the cache")


class Broken(Letters):
    def __init__(self, vectors: Any) -> None:
        super().__init__()
        self.vectors = vectors

    def encode(self, texts: Sequence[str]) -> Any:
        return self.vectors


@pytest.mark.parametrize(
    ("vectors", "message"),
    [(np.zeros((1, 3)), r"shape \(1, 3\), expected \(1, 26\)"), (np.full((1, 26), np.nan), "'text' is not finite")],
)
def test_invalid_vectors_raise(tmp_path: Path, vectors: Any, message: str) -> None:
    with pytest.raises(SystemFailureError, match=message):
        embed(Broken(vectors), ["text"], VectorCache(tmp_path / "cache", 26), title="", quiet=True)
    assert not (tmp_path / "cache").exists()


def test_continues_if_the_cache_is_unwritable(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    vectors = embed(Letters(), ["ab"], VectorCache(tmp_path / "cache", 26), title="letters")
    np.testing.assert_array_equal(vectors, unit(["ab"]))
    assert "vectors are not cached" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("muse", "embedder-muse"),
        ("models/labse.onnx", "embedder-labse"),
        ("models/labse/model.onnx", "embedder-labse"),
        ("owner/a model", "embedder-a-model"),
    ],
)
def test_names_fit_folders(model: str, name: str) -> None:
    assert system(f"embedder:{model}").name == name
    assert system(f"embedder:{model}", label="mine").name == "mine"


def test_missing_models_raise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOGLOSS_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("isogloss.systems.embedder.encoders.user_cache_path", lambda *_, **__: tmp_path / "cache")
    (tmp_path / "empty").mkdir()
    for model, message in [
        ("muse", "isogloss fetch muse"),
        ("mues", "no such model"),
        (str(tmp_path / "none.onnx"), "no such model"),
        (str(tmp_path / "empty"), "not a model folder"),
    ]:
        with pytest.raises(SystemFailureError, match=message):
            system(f"embedder:{model}").fit(task("tatoeba"), None, 0)
    (tmp_path / "muse").mkdir()
    (tmp_path / "muse/embedding_model_quantized.onnx").write_bytes(b"something else")
    with pytest.raises(SystemFailureError, match="not the published model"):
        system("embedder:muse").fit(task("tatoeba"), None, 0)


@pytest.mark.parametrize(
    ("file", "module", "extra"),
    [
        ("model.onnx", "onnxruntime", "[onnx]'"),
        ("config.json", "torch", "[train]'"),
        ("modules.json", "sentence_transformers", "sentence-transformers"),
    ],
)
def test_missing_library_error_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, module: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)  # as if it were not installed
    (tmp_path / file).write_text("{}")
    model = tmp_path / file if file.endswith(".onnx") else tmp_path
    with pytest.raises(SystemFailureError) as problem:
        system(f"embedder:{os.fspath(model)}").fit(task("tatoeba"), None, 0)
    assert f"cannot import {module}" in problem.value.what
    assert extra in problem.value.fix
