"""Abilities of a model behind an endpoint, tried out with a few small requests before money is spent.

Servers accept parameters that they ignore, so every ability is judged by the answer, never by the status.
"""

import hashlib
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from isogloss.data.files import atomic_write
from isogloss.endpoints.client import Client, End, Verdict
from isogloss.endpoints.connections import BrokenReplyError
from isogloss.endpoints.endpoint import Endpoint
from isogloss.endpoints.errors import UNREADABLE_JSON, EndpointError
from isogloss.endpoints.loops import run_async
from isogloss.endpoints.refusals import Refusal
from isogloss.endpoints.replies import ModelReply
from isogloss.endpoints.requests import CHAT, COMPLETIONS
from isogloss.endpoints.store import now
from isogloss.escaping import printable

# Words that no model chooses by itself.
_WORDS = ("vorpaxil", "quimblenet")
# A wrong URL should be reported within seconds.
_ATTEMPTS = 4
_PROMPT = "The capital of France is"


class Capabilities(msgspec.Struct, frozen=True, kw_only=True):
    """Abilities of a model behind an endpoint.

    Attributes:
        model: name of the model.
        chat, completions: the two kinds of requests.
        logprobs: chat returns several candidates for the first token, with probabilities.
        json_schema: a JSON schema is enforced, not only accepted.
        echo: completions return the probabilities of the prompt's own tokens.
        seed: `seed` and `temperature` are accepted.
        reproducible: two answers with the same seed were equal.
        usage: answers state their tokens.
        limit: name of the parameter that limits the tokens of a chat answer.
        context_length: maximum tokens of request and answer, None if unknown.
        server: what the server calls itself.
        checked: time of the check.
    """

    model: str
    chat: bool = False
    completions: bool = False
    logprobs: bool = False
    json_schema: bool = False
    echo: bool = False
    seed: bool = False
    reproducible: bool = False
    usage: bool = False
    limit: str = "max_tokens"
    context_length: int | None = None
    server: str = ""
    checked: str = ""


def probe(endpoint: Endpoint, model: str, folder: Path | None = None) -> Capabilities:
    """Find out the abilities of a model with at most eight small requests, or read them from an earlier record.

    Args:
        endpoint: address of the server.
        model: name of the model.
        folder: folder of the record; None to ask again and record nothing.

    Raises:
        EndpointError: the server cannot be reached, or refuses the key or the model.
    """
    if folder is None:
        return run_async(_probe(endpoint, model))
    key = hashlib.sha256(f"{endpoint.url}\n{model}".encode()).hexdigest()[:16]
    record = folder / f"probe-{key}.json"
    try:
        return msgspec.json.decode(record.read_bytes(), type=Capabilities)
    except (OSError, *UNREADABLE_JSON):
        pass
    capabilities = run_async(_probe(endpoint, model))
    with atomic_write(record) as stream:
        stream.write(msgspec.json.format(msgspec.json.encode(capabilities)).decode() + "\n")
    return capabilities


async def _probe(endpoint: Endpoint, model: str) -> Capabilities:
    patience = min(endpoint.max_attempts, _ATTEMPTS)
    async with Client(replace(endpoint, max_attempts=patience)) as client:
        return await _Probe(client, model).run()


class _Probe:
    """The requests of a probe, and what they showed."""

    def __init__(self, client: Client, model: str) -> None:
        self._client, self._model = client, model
        self._facts: dict[str, Any] = {}
        self._refused: Verdict | None = None

    async def run(self) -> Capabilities:
        await self._try_chat()
        if self._facts.get("chat"):
            await self._try_schema()
            if self._facts.get("seed"):
                await self._try_seed()
        await self._try_completions()
        if not self._facts.get("chat") and not self._facts.get("completions") and self._refused is not None:
            raise await self._client.fatal_error(self._refused, self._model)
        context = await _context_length(self._client, self._model)
        return Capabilities(
            model=self._model,
            **self._facts,
            context_length=context,
            server=printable(self._client.server, 100),
            checked=now(),
        )

    async def _ask(self, url: str, **settings: Any) -> ModelReply | None:
        """Return the reply, or None if the server refuses the request; other failures end the probe."""
        verdict = await self._client.ask(url, msgspec.json.encode({"model": self._model, **settings}))
        if verdict.end is End.ANSWERED:
            return ModelReply.of(msgspec.json.decode(verdict.content))
        if verdict.end is End.FILTERED:
            return ModelReply(filtered=True)
        if verdict.refusal in (Refusal.KEY, Refusal.MONEY, Refusal.REDIRECT):
            raise await self._client.fatal_error(verdict, self._model)
        if verdict.refusal is None:
            fix = "Check that the server runs, and its URL"
            where = self._client.endpoint.address
            raise EndpointError(f"the endpoint does not answer ({verdict.explanation})", where=where, fix=fix)
        self._refused = self._refused or verdict
        return None

    async def _chat(self, text: str, **settings: Any) -> ModelReply | None:
        return await self._ask(CHAT, messages=[{"role": "user", "content": text}], **settings)

    async def _try_chat(self) -> None:
        question = "Reply with the word yes."
        exact = {"temperature": 0, "seed": 7}
        reply = await self._chat(question, max_tokens=8, logprobs=True, top_logprobs=5, **exact)
        if reply is not None:
            self._facts |= {"seed": True, "logprobs": len(reply.top_logprobs) > 1}
        else:
            reply = await self._chat(question, max_tokens=8)
        if reply is None:
            reply = await self._chat(question, max_completion_tokens=64)
            self._facts["limit"] = "max_tokens" if reply is None else "max_completion_tokens"
        if reply is not None:
            self._facts |= {"chat": True, "usage": reply.usage is not None}

    async def _try_schema(self) -> None:
        word = {"type": "string", "enum": list(_WORDS)}
        schema = {"type": "object", "properties": {"word": word}, "required": ["word"], "additionalProperties": False}
        form = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}
        limit = {self._facts.get("limit", "max_tokens"): 128}
        reply = await self._chat("Which colour is the sky?", response_format=form, **limit)
        try:
            answer = msgspec.json.decode(reply.text if reply else "", type=dict[str, str])
        except UNREADABLE_JSON:
            answer = {}
        self._facts["json_schema"] = list(answer) == ["word"] and answer["word"] in _WORDS

    async def _try_seed(self) -> None:
        settings = {"temperature": 1, "seed": 7, "max_tokens": 16}
        texts = [await self._chat("Write ten random letters.", **settings) for _ in range(2)]
        first, second = (None if reply is None else reply.text for reply in texts)
        self._facts["reproducible"] = bool(first) and first == second

    async def _try_completions(self) -> None:
        body = msgspec.json.encode(
            {"model": self._model, "prompt": _PROMPT, "max_tokens": 1, "echo": True, "logprobs": 1, "temperature": 0}
        )
        verdict = await self._client.ask(COMPLETIONS, body)
        if verdict.end is End.ANSWERED:
            body_of_answer = msgspec.json.decode(verdict.content)
            self._facts |= {"completions": True, "echo": echoes(body_of_answer, _PROMPT)}
            self._facts.setdefault("usage", ModelReply.of(body_of_answer).usage is not None)
        elif await self._ask(COMPLETIONS, prompt=_PROMPT, max_tokens=1) is not None:
            self._facts["completions"] = True


def echoes(body: dict[str, Any], prompt: str) -> bool:
    """Return True if a completion begins with its prompt, and rates each of its tokens but the first."""
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    logprobs = choice.get("logprobs")
    tokens, values = (logprobs.get(key) if isinstance(logprobs, dict) else None for key in ("tokens", "token_logprobs"))
    if not isinstance(tokens, list) or not isinstance(values, list) or len(tokens) != len(values):
        return False
    length, covered = 0, 0
    for token in tokens:
        if length >= len(prompt):
            break
        length += len(token) if isinstance(token, str) else 0
        covered += 1
    numbers = [value for value in values[1:covered] if isinstance(value, int | float) and math.isfinite(value)]
    return str(choice.get("text")).startswith(prompt) and length >= len(prompt) and len(numbers) == covered - 1 > 0


async def _context_length(client: Client, model: str) -> int | None:
    """Return the length that the list of models states, or llama.cpp's properties."""
    facts = (await client.model_table()).get(model, {})
    meta = facts.get("meta")
    nested = meta if isinstance(meta, dict) else {}
    stated = [facts.get("max_model_len"), facts.get("context_length"), nested.get("n_ctx"), nested.get("n_ctx_train")]
    props: dict[str, Any] = {}
    try:
        reply = await client.fetch("/props")
        if reply.status == 200:
            props = msgspec.json.decode(reply.content, type=dict[str, Any])
    except (OSError, TimeoutError, BrokenReplyError, *UNREADABLE_JSON):
        pass
    settings = props.get("default_generation_settings")
    # The length that the server was started with comes before the one that the model was trained with.
    stated.insert(0, settings.get("n_ctx") if isinstance(settings, dict) else None)
    return next((each for each in stated if type(each) is int and each > 0), None)
