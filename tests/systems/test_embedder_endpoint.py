"""The embedder with a model behind an endpoint: exact scores, the model's identity, and texts paid for once."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isogloss
from isogloss.endpoints.errors import EndpointError
from isogloss.systems import system
from isogloss.systems.base import SystemFailureError
from isogloss.systems.embedder.encoders import PROBES, VectorCache, text_keys
from isogloss.systems.embedder.endpoint_encoder import recognised
from isogloss.tasks import task
from isogloss.tasks.examples import Examples, Pool
from isogloss.tasks.kinds import kind_of
from systems.embedding_server import DIMENSION, EmbeddingServer, bag, embedding_server


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with embedding_server() as running:
        yield running


def embedder(server: EmbeddingServer, cache: Path, **settings: Any) -> Any:
    return system("embedder:endpoint:bags", endpoint=server.url, cache=cache, **{"quiet": True, **settings})


def unit(texts: list[str]) -> Any:
    rows = bag(texts).astype(np.float64)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def order(examples: Examples, prefixes: tuple[str, str] = ("", "")) -> Any:
    """Return the rows of the pool for every query, nearest first; equal ones in the pool's order."""
    assert examples.pool is not None
    sides = zip(prefixes, (examples["text"], examples.pool.text), strict=True)
    queries, candidates = (unit([prefix + text for text in texts]) for prefix, texts in sides)
    cosines = queries @ candidates.T
    return np.argsort(-np.round(cosines, 6), axis=1, kind="stable")


def test_tatoeba_has_the_accuracy_of_its_vectors(server: EmbeddingServer, tmp_path: Path) -> None:
    made = embedder(server, tmp_path)
    examples = isogloss.load("mini-tatoeba", "nl")
    ranked = made.fit(task("mini-tatoeba"), None, 0).predict(examples)
    first = order(examples)[:, 0]
    hits = [[examples.pool.ids[row]] == gold for row, gold in zip(first, examples["targets"], strict=True)]
    score = kind_of(task("mini-tatoeba")).judge(task("mini-tatoeba"), examples, ranked).metrics["accuracy"].score
    assert score == np.mean(hits)
    assert score >= 10 / 60  # chance is one
    assert sorted(server.texts) == sorted([*PROBES, *{*examples["text"], *examples.pool.text}])


@pytest.mark.parametrize(("name", "language"), [("mini-lareqa", "de"), ("mini-mewslix", "de")])
def test_pools_have_the_precision_of_their_vectors(
    server: EmbeddingServer, tmp_path: Path, name: str, language: str
) -> None:
    examples = isogloss.load(name, language)
    ranked = embedder(server, tmp_path).fit(task(name), None, 0).predict(examples)
    expected = []
    for rows, gold in zip(order(examples)[:, :20], examples["targets"], strict=True):
        right = np.array([examples.pool.ids[row] in gold for row in rows])
        expected.append((np.cumsum(right) / np.arange(1, 21))[right].sum() / min(len(gold), 20))
    score = kind_of(task(name)).judge(task(name), examples, ranked).metrics["map@20"].score
    assert score == pytest.approx(np.mean(expected), abs=1e-12)
    assert score > 0.02


def test_mining_pairs_sentences_by_the_endpoint(server: EmbeddingServer, tmp_path: Path) -> None:
    words = ["banana split", "kiwi juice", "fig tree", "plum cake", "cherry pie", "grape seed"]
    english = [f"the {word}" for word in reversed(words)]
    pool = Pool(lambda: {f"c{row}": "en" for row in range(6)}, lambda: english)
    targets = [[f"c{5 - row}"] for row in range(6)]
    examples = Examples(
        task="bucc",
        language="zh",
        split="dev",
        ids=[f"q{row}" for row in range(6)],
        columns={"text": words, "targets": targets},
        gold="targets",
        pool=pool,
    )
    assert embedder(server, tmp_path).fit(task("bucc"), None, 0).predict(examples) == targets
    assert sorted(server.texts) == sorted([*PROBES, *words, *english])


def test_prefixes_are_sent(server: EmbeddingServer, tmp_path: Path) -> None:
    examples = isogloss.load("mini-tatoeba", "de")
    made = embedder(server, tmp_path, query_prefix="query: ", candidate_prefix="passage: ")
    ranked = made.fit(task("mini-tatoeba"), None, 0).predict(examples)
    best = [examples.pool.ids[row] for row in order(examples, ("query: ", "passage: "))[:, 0]]
    assert [found[0] for found in ranked] == best
    assert all(text.startswith(("query: ", "passage: ")) for text in server.texts[len(PROBES) :])


def test_cached_texts_are_not_sent_again(server: EmbeddingServer, tmp_path: Path, capsys: Any) -> None:
    examples = isogloss.load("mini-tatoeba", "de")
    first, second = (embedder(server, tmp_path, quiet=False).fit(task("mini-tatoeba"), None, 0) for _ in range(2))
    ranked = first.predict(examples)
    sent = list(server.texts)
    assert second.predict(examples) == ranked
    assert server.texts == sent
    queries, candidates = capsys.readouterr().err.splitlines()
    assert queries.endswith(f", {sum(map(len, set(examples['text']))):,} tokens")
    assert candidates.endswith(f", {sum(map(len, set(examples.pool.text))):,} tokens")


def test_tokens_are_left_out_if_the_server_does_not_count(server: EmbeddingServer, tmp_path: Path, capsys: Any) -> None:
    server.usage = False
    embedder(server, tmp_path, quiet=False).fit(task("mini-tatoeba"), None, 0).predict(
        isogloss.load("mini-tatoeba", "de")
    )
    assert "tokens" not in capsys.readouterr().err


def test_metadata_name_the_model_and_not_the_server(server: EmbeddingServer, tmp_path: Path) -> None:
    made = embedder(server, tmp_path)
    assert made.name == "embedder-endpoint-bags"
    assert system("embedder:endpoint:owner/a model").name == "embedder-endpoint-a-model"
    assert (made.metadata["library"], made.metadata["dimension"]) == ("OpenAI-compatible endpoint", DIMENSION)
    deciding = made.deciding_settings(made.configuration, task("tatoeba"))
    assert server.url not in str(deciding)
    assert deciding["model_hash"] == made.encoder.identity


def test_other_weights_under_the_same_name_have_another_identity(server: EmbeddingServer, tmp_path: Path) -> None:
    identity = embedder(server, tmp_path).encoder.identity
    assert embedder(server, tmp_path / "elsewhere").encoder.identity == identity
    server.embed = lambda texts: bag(texts, salt="other")
    other = embedder(server, tmp_path).encoder.identity
    assert other != identity
    server.embed = bag
    assert embedder(server, tmp_path).encoder.identity == identity


def probes(seed: int) -> Any:
    rows = np.random.default_rng(seed).normal(size=(3, 512))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def test_noise_keeps_the_identity(tmp_path: Path) -> None:
    exact, rng = probes(0), np.random.default_rng(1)
    identity = recognised(tmp_path, "m", exact)
    for _ in range(100):
        noise = rng.normal(size=exact.shape).astype(np.float32) * 0.014 / np.sqrt(512)  # a cosine of 0.9999
        assert recognised(tmp_path, "m", exact + noise) == identity
    assert recognised(tmp_path, "another name", exact) != identity
    assert recognised(tmp_path, "m", exact[:, :256]) != identity


def test_rotated_vectors_are_another_model(tmp_path: Path) -> None:
    # A rotation keeps all similarities, so that only the vectors themselves differ.
    exact = probes(0)
    identities = {recognised(tmp_path, "m", vectors) for vectors in (exact, exact[:, ::-1].copy(), exact)}
    assert len(identities) == 2


def test_damaged_records_are_replaced(tmp_path: Path) -> None:
    identity = recognised(tmp_path, "m", probes(0))
    [record] = tmp_path.rglob("*.npy")
    for content in (b"", b"not an array", record.read_bytes()[:200]):
        record.write_bytes(content)
        assert recognised(tmp_path, "m", probes(0)) == identity
        assert np.load(record).shape == (3, 512)
    (tmp_path / "file").write_text("no folder can be made here")
    assert recognised(tmp_path / "file", "m", probes(0)) == identity


@pytest.mark.parametrize(
    ("model", "settings", "message"),
    [("endpoint:", {}, "no model"), ("endpoint:bags", {"layer": 3}, "no layers to choose from")],
)
def test_unusable_names_raise(server: EmbeddingServer, tmp_path: Path, model: str, settings: Any, message: str) -> None:
    with pytest.raises(SystemFailureError, match=message):
        system(f"embedder:{model}", endpoint=server.url, cache=tmp_path, **settings).fit(task("tatoeba"), None, 0)


def test_missing_url_raises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ISOGLOSS_ENDPOINT", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(EndpointError, match="has no URL"):
        system("embedder:endpoint:bags", cache=tmp_path).fit(task("tatoeba"), None, 0)


@pytest.mark.slow
def test_killed_run_sends_no_stored_text_again(server: EmbeddingServer, tmp_path: Path) -> None:
    examples = isogloss.load("mini-lareqa", "de")
    every = {*examples["text"], *examples.pool.text}
    environment = os.environ | {"ISOGLOSS_ENDPOINT": server.url, "ISOGLOSS_CACHE": str(tmp_path / "cache")}
    words = ["run", "embedder:endpoint:bags", "--suite", "mini", "--tasks", "mini-lareqa", "--languages", "de"]
    command = [sys.executable, "-m", "isogloss", *words, "--seeds", "1", "--out", str(tmp_path / "runs")]
    server.limit = 1500  # in the second of three chunks of candidates
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as process:
        while not server.full.wait(timeout=0.1):
            assert process.poll() is None
        process.kill()
    [folder] = (tmp_path / "cache/vectors").glob("?" * 32)
    known, _ = VectorCache(folder, DIMENSION).find(text_keys(sorted(every)))
    stored = {text for text, is_known in zip(sorted(every), known, strict=True) if is_known}
    assert len(stored) >= 1024
    # Another server: the first may still read requests of the killed process.
    with embedding_server() as second:
        environment["ISOGLOSS_ENDPOINT"] = second.url
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert sorted(second.texts) == sorted([*PROBES, *(every - stored)])
