"""Probes believe answers, not promises; embeddings are checked."""

import asyncio
import base64
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from endpoints.hostile_server import serving
from endpoints.sending import quick
from isogloss.endpoints import embeddings
from isogloss.endpoints.embeddings import batches, embed_texts, embedding_dimension
from isogloss.endpoints.errors import EndpointError
from isogloss.endpoints.probe import echoes, probe

KEY = "sk-test/0123456789-abcdef"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def test_a_server_that_keeps_its_promises(tmp_path: Path) -> None:
    with serving() as server:
        server.enforces_schema = server.echoes = True
        abilities = probe(quick(server.url), "small", tmp_path)
        assert server.asked.total() <= 8
    assert (abilities.chat, abilities.completions, abilities.logprobs, abilities.json_schema) == (True,) * 4
    assert (abilities.echo, abilities.seed, abilities.reproducible, abilities.usage) == (True,) * 4
    assert (abilities.context_length, abilities.server, abilities.model) == (4096, "hostile", "small")
    assert abilities.limit == "max_tokens"
    assert abilities.checked.endswith("Z")


def test_a_server_that_ignores_what_it_accepts(tmp_path: Path) -> None:
    with serving(lambda content, attempt: "no-usage") as server:
        server.is_random = True
        abilities = probe(quick(server.url), "other", tmp_path)
    assert (abilities.chat, abilities.completions, abilities.seed) == (True, True, True)
    assert not any((abilities.json_schema, abilities.echo, abilities.reproducible, abilities.usage))
    assert abilities.context_length is None


def test_a_server_without_some_parameters(tmp_path: Path) -> None:
    with serving() as server:
        server.refuses = {"logprobs", "max_tokens", "echo", "response_format"}
        abilities = probe(quick(server.url), "small", tmp_path)
        assert server.asked.total() <= 8
    assert (abilities.chat, abilities.limit) == (True, "max_completion_tokens")
    assert not any((abilities.logprobs, abilities.json_schema, abilities.seed, abilities.completions))


def test_a_record_is_used_again(tmp_path: Path) -> None:
    with serving() as server:
        first = probe(quick(server.url), "small", tmp_path)
        asked = server.asked.total()
        assert probe(quick(server.url), "small", tmp_path) == first
        assert server.asked.total() == asked
        (record,) = tmp_path.glob("probe-*.json")
        assert KEY not in record.read_text()
        assert json.loads(record.read_text())["chat"] is True
        record.write_text("{")
        probe(quick(server.url), "small", tmp_path)
        assert server.asked.total() == 2 * asked
        probe(quick(server.url), "small")
        assert server.asked.total() == 3 * asked


@pytest.mark.parametrize(
    ("fault", "words"), [("401", "OPENAI_API_KEY"), ("404", "small, other"), ("500", "does not answer")]
)
def test_a_probe_that_fails_leaves_no_record(tmp_path: Path, fault: str, words: str) -> None:
    with serving(lambda content, attempt: fault) as server, pytest.raises(EndpointError) as raised:
        probe(quick(server.url, max_attempts=2), "large", tmp_path)
    assert words in str(raised.value)
    assert KEY not in str(raised.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ({"text": "a b c", "logprobs": {"tokens": ["a", " b", " c"], "token_logprobs": [None, -1, -2]}}, True),
        ({"text": " c", "logprobs": {"tokens": [" c"], "token_logprobs": [-2]}}, False),
        ({"text": "a b c", "logprobs": {"tokens": [" c"], "token_logprobs": [-2]}}, False),
        ({"text": "a b c", "logprobs": {"tokens": ["a", " b", " c"], "token_logprobs": [None, None, -2]}}, False),
        ({"text": "a b c", "logprobs": None}, False),
        ({"text": "a b c", "logprobs": {"content": []}}, False),
        ({}, False),
    ],
)
def test_an_echo_has_the_probabilities_of_the_prompt(choice: dict[str, Any], expected: bool) -> None:
    assert echoes({"choices": [choice]}, "a b") is expected


def test_texts_are_embedded_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "MAX_TEXTS", 3)
    texts = [chr(97 + number) * (number + 1) for number in range(10)] + [""]
    with serving(lambda content, attempt: "500" if attempt == 0 else "") as server:
        vectors = embed_texts(quick(server.url), "vectors", texts)
        assert len(server.asked) == 4
    # The server returns length and first character; an empty text is sent as a blank.
    assert vectors.dtype == np.float32
    assert vectors.tolist() == [*([number + 1, 97 + number] for number in range(10)), [1, 32]]


def test_no_texts() -> None:
    assert embed_texts(quick("http://127.0.0.1:1"), "vectors", []).shape == (0, 0)


def test_embedding_works_within_a_running_loop() -> None:
    async def main(url: str) -> int:
        return embed_texts(quick(url), "vectors", ["ab"]).shape[1]

    with serving() as server:
        assert asyncio.run(main(server.url)) == 2
        assert embedding_dimension(quick(server.url), "vectors") == 2


@pytest.mark.parametrize("fault", ["short", "uneven", "repeated", "infinite"])
def test_unusable_vectors(fault: str) -> None:
    with serving(lambda content, attempt: fault if attempt < 2 else "") as server:
        assert embed_texts(quick(server.url), "vectors", ["a", "bb"]).tolist() == [[1, 97], [2, 98]]
    with serving(lambda content, attempt: fault) as server, pytest.raises(EndpointError, match="unusable vectors"):
        embed_texts(quick(server.url), "vectors", ["a", "bb"])
    assert server.asked.total() == 3


@pytest.mark.parametrize(
    ("fault", "words"), [("404", "small, other"), ("overflow", "context"), ("401", "OPENAI_API_KEY")]
)
def test_refused_embeddings(fault: str, words: str) -> None:
    with serving(lambda content, attempt: fault) as server, pytest.raises(EndpointError) as raised:
        embed_texts(quick(server.url), "vectors", ["a"])
    assert words in str(raised.value)


def test_vectors_in_base64() -> None:
    packed = base64.b64encode(struct.pack("<2f", 1.5, -2)).decode()
    body = {"data": [{"index": 0, "embedding": packed}]}
    vectors, _ = embeddings._read(json.dumps(body).encode(), 1)
    assert vectors.tolist() == [[1.5, -2.0]]


def test_batches_are_limited_by_texts_and_characters() -> None:
    assert list(batches([])) == []
    assert list(batches(["a"] * 130)) == [(0, 64), (64, 128), (128, 130)]
    assert list(batches(["a" * 30_000, "b" * 10_000, "c", "d" * 90_000, "e"])) == [(0, 2), (2, 3), (3, 4), (4, 5)]
