"""Vectors of texts from an endpoint."""

import asyncio
import base64
import binascii
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from isogloss.endpoints.client import Client, End, Verdict
from isogloss.endpoints.endpoint import Endpoint
from isogloss.endpoints.errors import UNREADABLE_JSON, EndpointError
from isogloss.endpoints.loops import run_async
from isogloss.endpoints.refusals import FATAL
from isogloss.endpoints.requests import EMBEDDINGS

# Limits of one request.
MAX_TEXTS = 64
MAX_CHARACTERS = 40_000
# Requests with an unusable answer of status 200.
_ATTEMPTS = 3

Vectors = npt.NDArray[np.float32]


class _Vector(msgspec.Struct):
    embedding: list[float] | str
    index: int | None = None


class _Answer(msgspec.Struct):
    data: list[_Vector]
    usage: Any = None

    @property
    def tokens(self) -> int:
        """Number of tokens, 0 if the server does not state it."""
        count = self.usage.get("total_tokens") if isinstance(self.usage, dict) else None
        return count if type(count) is int and count > 0 else 0


class _UnusableError(Exception):
    """An answer without a vector for each text."""


def embed_texts(
    endpoint: Endpoint,
    model: str,
    texts: Sequence[str],
    *,
    on_tokens: Callable[[int], None] | None = None,
) -> Vectors:
    """Return one vector per text, as an array of n rows.

    Empty texts are sent as a blank, since servers refuse them.

    Args:
        endpoint: address of the server.
        model: name of the model.
        texts: the texts, in any number.
        on_tokens: called with the tokens of each request, if the server states them.

    Raises:
        EndpointError: the server refuses a request, does not answer, or returns unusable vectors.
    """
    if not len(texts):
        return np.zeros((0, 0), np.float32)
    return run_async(_embed(endpoint, model, texts, on_tokens))


def embedding_dimension(endpoint: Endpoint, model: str) -> int:
    """Return the number of dimensions of a model's vectors, from one small request.

    Raises:
        EndpointError: the model has no vectors, or the server cannot be reached.
    """

    async def ask() -> int:
        async with Client(endpoint) as client:
            vectors, _ = await _vectors(client, model, ["word", "other words"])
            return int(vectors.shape[1])

    return run_async(ask())


def batches(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the bounds of runs of texts that fit into one request."""
    start = characters = 0
    for index, text in enumerate(texts):
        if index > start and (index - start >= MAX_TEXTS or characters + len(text) > MAX_CHARACTERS):
            yield start, index
            start, characters = index, 0
        characters += len(text)
    if start < len(texts):
        yield start, len(texts)


async def _embed(
    endpoint: Endpoint,
    model: str,
    texts: Sequence[str],
    on_tokens: Callable[[int], None] | None,
) -> Vectors:
    bounds, parts = batches(texts), dict[int, Vectors]()

    async def work() -> None:
        for start, end in bounds:
            parts[start], tokens = await _vectors(client, model, texts[start:end])
            if on_tokens is not None:
                on_tokens(tokens)

    async with Client(endpoint) as client:
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(endpoint.concurrency, len(texts))):  # a long text may be a batch of its own
                    group.create_task(work())
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None
    if len(lengths := {part.shape[1] for part in parts.values()}) > 1:
        what = f"vectors of different lengths: {', '.join(map(str, sorted(lengths)))}"
        raise EndpointError(what, where=endpoint.address)
    return np.concatenate([parts[start] for start in sorted(parts)])


async def _vectors(client: Client, model: str, texts: Sequence[str]) -> tuple[Vectors, int]:
    """Return the vectors of one request, and its tokens."""
    body = {"model": model, "input": [text or " " for text in texts], "encoding_format": "float"}
    encoded = msgspec.json.encode(body)
    for attempts_left in reversed(range(_ATTEMPTS)):
        verdict = await client.ask(EMBEDDINGS, encoded)
        if verdict.end is not End.ANSWERED:
            break
        try:
            return _read(verdict.content, len(texts))
        except _UnusableError as error:
            if not attempts_left:
                raise EndpointError(f"unusable vectors: {error}", where=client.endpoint.address) from None
    raise await _error(client, verdict, model)


async def _error(client: Client, verdict: Verdict, model: str) -> EndpointError:
    if verdict.refusal in FATAL:
        return await client.fatal_error(verdict, model)
    return EndpointError(f"no vectors ({verdict.explanation})", where=client.endpoint.address)


def _read(content: bytes, count: int) -> tuple[Vectors, int]:
    try:
        answer = msgspec.json.decode(content, type=_Answer)
    except UNREADABLE_JSON as error:
        raise _UnusableError(str(error)) from None
    data = answer.data
    if len(data) != count:
        raise _UnusableError(f"{len(data)} for {count} texts")
    if any(each.index is not None for each in data):
        if sorted(-1 if each.index is None else each.index for each in data) != list(range(count)):
            raise _UnusableError("their indices are not those of the texts")
        data.sort(key=lambda each: each.index or 0)
    rows = [_row(each.embedding) for each in data]
    if len({len(row) for row in rows}) != 1 or not len(rows[0]):
        raise _UnusableError("different lengths")
    vectors: Vectors = np.stack(rows)
    if not np.isfinite(vectors).all():
        raise _UnusableError("values that are not finite")
    return vectors, answer.tokens


def _row(embedding: Any) -> Vectors:
    if isinstance(embedding, str):
        try:
            return np.frombuffer(base64.b64decode(embedding, validate=True), "<f4").astype(np.float32)
        except (binascii.Error, ValueError):
            raise _UnusableError("text that is not base64") from None
    with np.errstate(over="ignore"):
        return np.asarray(embedding, np.float32)
