"""Shape of a response with an answer, checked before it is stored: a server may return errors with status 200."""

import json
import math
from typing import Annotated, Any

import msgspec

from isogloss.endpoints.errors import UNREADABLE_JSON
from isogloss.endpoints.replies import usage_of
from isogloss.endpoints.requests import EMBEDDINGS
from isogloss.reply_outcomes import Usage


class _Choice(msgspec.Struct):
    message: dict[str, Any] | None = None
    text: str | None = None
    error: Any = None


class _Completion(msgspec.Struct):
    choices: Annotated[list[_Choice], msgspec.Meta(min_length=1)]
    usage: Any = None


class _Embeddings(msgspec.Struct):
    data: Annotated[list[dict[str, Any]], msgspec.Meta(min_length=1)]
    usage: Any = None


_completion = msgspec.json.Decoder(_Completion).decode
_embeddings = msgspec.json.Decoder(_Embeddings).decode


class Shape(msgspec.Struct, frozen=True):
    """Facts about a response with an answer."""

    usage: Usage | None


def shape_of(content: bytes, url: str = "") -> Shape | None:
    """Return the facts about an answer to a request to `url`, or to any if it is unknown; None for anything else."""
    try:
        msgspec.json.decode(content)  # fields that the decoders below skip are stored and read again, too
        if url == EMBEDDINGS:
            return _embeddings_shape(content)
        answer = _completion(content)
        first = answer.choices[0]
        if first.error is not None or (first.message is None and first.text is None):
            return None
        return Shape(usage_of({"usage": answer.usage}))
    except UNREADABLE_JSON:
        return None if url else _embeddings_shape(content)


def _embeddings_shape(content: bytes) -> Shape | None:
    try:
        return Shape(usage_of({"usage": _embeddings(content).usage}))
    except UNREADABLE_JSON:
        return None


def repaired(content: bytes) -> bytes:
    """Return JSON with null for numbers that are not finite, and "?" or "\ufffd" for damaged characters.

    Some servers write these. Anything else that is not JSON is returned as it is.
    """
    try:
        text = content.decode("utf-8", "replace")
        body = json.loads(text, parse_constant=lambda _: None, parse_float=_finite)
        return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")
    except (ValueError, RecursionError):
        return content


def _finite(number: str) -> float | None:
    return value if math.isfinite(value := float(number)) else None


def has_right_shape(content: bytes) -> bool:
    """Return True if a body has choices or embeddings."""
    return shape_of(content) is not None
