"""Requests to language models in OpenAI's batch format, named by their content.

A file of requests can be uploaded as a batch as it is. The name of a request is a hash of everything that can change
its answer, so that an answer is paid for once, however the request is sent.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from isogloss.data.files import atomic_write, lines
from isogloss.decoding import decode_json
from isogloss.endpoints.errors import RequestError
from isogloss.escaping import printable

CHAT = "/v1/chat/completions"
COMPLETIONS = "/v1/completions"
EMBEDDINGS = "/v1/embeddings"
_URLS = (CHAT, COMPLETIONS, EMBEDDINGS)

# Settings of a body that affect its transport, its price or its bookkeeping, never the answer.
TRANSPORT = frozenset(
    {
        "stream",
        "stream_options",
        "user",
        "metadata",
        "service_tier",
        "store",
        "safety_identifier",
        "prompt_cache_key",
        "prompt_cache_retention",
        "cache_prompt",  # llama.cpp
        "cache_salt",  # vLLM
        "id_slot",  # llama.cpp
        "priority",  # vLLM
        "request_id",  # vLLM
        "timings_per_token",  # llama.cpp
    }
)

MAX_ID = 64
_HASH_DIGITS = 24
_NOT_IN_IDS = re.compile(r"[^A-Za-z0-9_-]")


class ApiRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A line of requests.jsonl."""

    custom_id: str
    method: str = "POST"
    url: str
    body: dict[str, Any]

    @property
    def model(self) -> str:
        """The requested model, "" if the body does not name one."""
        model = self.body.get("model", "")
        return model if isinstance(model, str) else ""


def make_request(prefix: str, url: str, body: Mapping[str, Any], revision: str = "") -> ApiRequest:
    """Return a request with an id that depends on all that can change its answer.

    Args:
        prefix: readable start of the id, e.g. "xnli-sw"; characters that ids do not allow become "_".
        url: path of the endpoint, e.g. "/v1/chat/completions".
        body: the request itself, in any order of keys.
        revision: version of the model, where its name is not enough: answers of another revision are not reused.

    Raises:
        RequestError: the body asks for a stream, or cannot be written as JSON.
    """
    _refuse_stream(body)
    content = {
        # 0 and 0.0 are the same temperature.
        key: int(value) if isinstance(value, float) and value.is_integer() else value
        for key, value in body.items()
        if key not in TRANSPORT
    }
    parts = [body.get("model", ""), revision, url, content]
    try:
        text = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        digest = hashlib.sha256(text.encode()).hexdigest()[:_HASH_DIGITS]
    except (TypeError, ValueError, RecursionError) as error:
        raise RequestError(f"the body of a request cannot be written as JSON ({error})") from None
    start = _NOT_IN_IDS.sub("_", prefix)[: MAX_ID - _HASH_DIGITS - 1]
    return ApiRequest(custom_id=f"{start}-{digest}", url=url, body=dict(body))


def write_requests(path: Path, requests: Iterable[ApiRequest]) -> int:
    """Write requests as JSON lines that appear when the file is complete, and return their number."""
    encode, count = msgspec.json.Encoder().encode, 0
    with atomic_write(path) as stream:
        for count, each in enumerate(requests, 1):  # noqa: B007 (the number of the last one is the result)
            stream.buffer.write(encode(each) + b"\n")
    return count


def read_requests(path: Path) -> Iterator[ApiRequest]:
    """Yield the requests of a file, packed or not; empty lines are skipped.

    Raises:
        DataError: the file cannot be read, or a line is not a request; the error names the line.
        RequestError: a request cannot be sent, or its answer could not be read.
    """
    for number, line in enumerate(lines(path), 1):
        if line.strip():
            where = f"{path}:{number}"
            request = decode_json(line.encode(), where, ApiRequest, what="a request in OpenAI's batch format")
            if not request.custom_id:
                raise RequestError("custom_id is empty", where=where)
            if request.method != "POST":
                raise RequestError(f"method {request.method!r} is not POST", where=where)
            if request.url not in _URLS:
                fix = f"Use one of {', '.join(_URLS)}"
                raise RequestError(f"url {printable(request.url, 100)!r} is not supported", where=where, fix=fix)
            _refuse_stream(request.body, where)
            yield request


def _refuse_stream(body: Mapping[str, Any], where: str = "") -> None:
    if body.get("stream"):
        raise RequestError("stream = true is not supported", where=where, fix="Remove stream from the body")
