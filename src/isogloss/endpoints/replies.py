"""Content of the bodies that OpenAI-compatible servers return: text, probabilities, tokens.

Servers differ in what they add, rename and leave out, so every field may be missing or of another type.
"""

import math
from typing import Any, NamedTuple

import msgspec

from isogloss.endpoints.refusals import is_content_filter
from isogloss.reply_outcomes import Usage

# Maximum tokens of a request that can be true.
_MOST_TOKENS = 10**9
_THOUGHTS_OPEN, _THOUGHTS_CLOSE = "<think>", "</think>"


class TokenLogprob(NamedTuple):
    """A candidate for a token."""

    token: str
    bytes: bytes | None
    logprob: float


class ModelReply(msgspec.Struct, frozen=True, kw_only=True):
    """A reply of a language model.

    `text` is without thoughts. `top_logprobs` are the candidates for the first token, most probable first, empty if the
    server returned none. `filtered` is True if a content filter withheld or cut the reply; `refusal` is the text of the
    field that OpenAI uses for refusals.
    """

    text: str = ""
    finish_reason: str = ""
    top_logprobs: list[TokenLogprob] = []
    usage: Usage | None = None
    filtered: bool = False
    thoughts: str = ""
    refusal: str = ""

    @classmethod
    def of(cls, body: dict[str, Any], status_code: int = 200) -> "ModelReply":
        """Read the body of a response of chat or legacy completions."""
        choice = _first_choice(body)
        message = _table(choice.get("message"))
        text, thoughts = _text_and_thoughts(message if message else choice)
        finish = choice.get("finish_reason")
        return cls(
            text=text,
            finish_reason=finish if isinstance(finish, str) else "",
            top_logprobs=_top_logprobs(choice.get("logprobs")),
            usage=usage_of(body),
            filtered=finish == "content_filter" or (status_code != 200 and is_content_filter(body)),
            thoughts=thoughts,
            refusal=_string(message.get("refusal")),
        )


def usage_of(body: dict[str, Any]) -> Usage | None:
    """Return the tokens that a body states, or None."""
    usage = _table(body.get("usage"))
    given, written = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    if given is None and written is None:
        return None
    cached = _count(_table(usage.get("prompt_tokens_details")).get("cached_tokens"))
    if cached is None:
        cached = _count(usage.get("prompt_cache_hit_tokens"))  # DeepSeek
    reasoning = _count(_table(usage.get("completion_tokens_details")).get("reasoning_tokens"))
    return Usage(
        input=given or 0,
        cached=min(cached or 0, given or 0),
        output=written or 0,
        reasoning=min(reasoning or 0, written or 0),
    )


def _first_choice(body: dict[str, Any]) -> dict[str, Any]:
    choices = body.get("choices")
    tables = [each for each in choices if isinstance(each, dict)] if isinstance(choices, list) else []
    return next((each for each in tables if each.get("index") == 0), tables[0] if tables else {})


def _text_and_thoughts(message: dict[str, Any]) -> tuple[str, str]:
    content = message.get("content", message.get("text"))
    thoughts = _string(message.get("reasoning_content")) or _string(message.get("reasoning"))
    text = _string(content)
    if isinstance(content, list):
        parts = [each for each in content if isinstance(each, dict)]
        text = "".join(
            _string(each.get("text")) for each in parts if each.get("type", "text") in ("text", "output_text")
        )
        thoughts = thoughts or "".join(_string(each.get("thinking")) for each in parts)
    stripped = text.lstrip()
    if stripped.startswith(_THOUGHTS_OPEN):  # a server that does not separate them
        inner, _, text = stripped.removeprefix(_THOUGHTS_OPEN).partition(_THOUGHTS_CLOSE)
        thoughts, text = thoughts + inner.strip(), text.lstrip()
    return text, thoughts


def _top_logprobs(logprobs: Any) -> list[TokenLogprob]:
    table = _table(logprobs)
    content = table.get("content")
    if isinstance(content, list) and content:  # chat, and llama.cpp's completions
        first = _table(content[0])
        listed = first.get("top_logprobs") or [first]
        candidates = [_candidate(each) for each in listed] if isinstance(listed, list) else []
    else:  # legacy completions: a table of tokens per position
        tops = table.get("top_logprobs")
        position = _table(tops[0]) if isinstance(tops, list) and tops else {}
        candidates = [_candidate({"token": token, "logprob": value}) for token, value in position.items()]
        tokens, values = table.get("tokens"), table.get("token_logprobs")
        if not candidates and isinstance(tokens, list) and isinstance(values, list) and tokens and values:
            candidates = [_candidate({"token": tokens[0], "logprob": values[0]})]
    return sorted((each for each in candidates if each is not None), key=lambda each: -each.logprob)


def _candidate(entry: Any) -> TokenLogprob | None:
    table = _table(entry)
    token, value, raw = table.get("token"), table.get("logprob"), table.get("bytes")
    if not isinstance(token, str) or isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        return None
    listed = raw if isinstance(raw, list) and all(type(each) is int and 0 <= each < 256 for each in raw) else None
    return TokenLogprob(token, None if listed is None else bytes(listed), float(value))


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value <= _MOST_TOKENS else None
