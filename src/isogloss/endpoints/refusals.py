"""Meaning of the errors that OpenAI-compatible servers return, by status, code and wording.

Servers use different codes for the same error, and some use none, so their wording is the only sign.
"""

import re
from enum import Enum
from typing import Any, NamedTuple

import msgspec

from isogloss.endpoints.errors import UNREADABLE_JSON
from isogloss.escaping import printable

_LONGEST_TEXT = 400


class Refusal(Enum):
    """Meaning of an error for a request and for those after it."""

    TRY_AGAIN = "try again"  # the server is busy or broken
    RATE = "rate"  # too many requests
    OVERFLOW = "overflow"  # the request is too long for the model
    FILTERED = "filtered"  # withheld by a content filter: final, and counted
    REJECTED = "rejected"  # this request is wrong; others may not be
    KEY = "key"  # all of the following: every request would fail
    MISSING = "missing"
    PARAMETER = "parameter"
    MONEY = "money"
    REDIRECT = "redirect"


FATAL = frozenset({Refusal.KEY, Refusal.MISSING, Refusal.PARAMETER, Refusal.MONEY, Refusal.REDIRECT})


class ServerError(NamedTuple):
    """The parts of an error that servers return."""

    text: str
    codes: frozenset[str]


_FILTER_CODES = frozenset(
    {"content_filter", "content_policy_violation", "responsibleaipolicyviolation", "data_inspection_failed"}
)
_OVERFLOW_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error", "string_above_max_length"})
_MONEY_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
_PARAMETER_CODES = frozenset({"unsupported_parameter", "unsupported_value", "unknown_parameter", "extra_forbidden"})

_FILTER = re.compile(r"content.(?:management|filter|policy)|responsible ai|flagged by|safety (?:system|filter)", re.I)
_OVERFLOW = re.compile(
    r"context.(?:length|window|size)|maximum model length|max_model_len|prompt is too long|input is too long"
    r"|too many (?:input )?tokens|reduce the length",
    re.I,
)
_PARAMETER = re.compile(
    r"unsupported (?:parameter|value)|unrecognized (?:request )?argument|unknown (?:parameter|field|name)"
    r"|extra inputs are not permitted|(?:is|are) not supported|not support(?:ed)? (?:by|with) this",
    re.I,
)


def server_error(content: bytes) -> ServerError:
    """Return the message and the codes of an error body of any of the known shapes."""
    try:
        body = msgspec.json.decode(content)
    except UNREADABLE_JSON:
        text = re.sub(r"<[^>]*>", " ", content[:4_000].decode("utf-8", "replace"))
        return ServerError(printable(" ".join(text.split()), _LONGEST_TEXT), frozenset())
    return _error_in(body)


def is_content_filter(body: Any) -> bool:
    """Return True if a body is the error of a content filter."""
    error = _error_in(body)
    return bool(error.codes & _FILTER_CODES) or bool(_FILTER.search(error.text))


def classify(status: int, content: bytes) -> tuple[Refusal, str]:
    """Return the meaning of a response other than 200, and the server's words."""
    text, codes = server_error(content)
    return _meaning(status, text, codes), text


def _meaning(status: int, text: str, codes: frozenset[str]) -> Refusal:  # noqa: PLR0911 (a table of statuses)
    if 300 <= status < 400:
        return Refusal.REDIRECT
    if status == 402 or codes & _MONEY_CODES:
        return Refusal.MONEY
    if status == 429:
        return Refusal.RATE
    if status >= 500 or status in (408, 409, 425):
        return Refusal.OVERFLOW if codes & _OVERFLOW_CODES else Refusal.TRY_AGAIN
    if codes & _FILTER_CODES or (status in (400, 403, 422) and _FILTER.search(text)):
        return Refusal.FILTERED
    if status in (401, 403):
        return Refusal.KEY
    if status in (404, 405):
        return Refusal.MISSING
    if status == 413 or codes & _OVERFLOW_CODES or _OVERFLOW.search(text):
        return Refusal.OVERFLOW
    if codes & _PARAMETER_CODES or _PARAMETER.search(text):
        return Refusal.PARAMETER
    return Refusal.REJECTED


def _error_in(body: Any) -> ServerError:
    """Return the error of {"error": {…}}, {"error": "…"}, {"message": …}, {"detail": …}, or a list of these."""
    if isinstance(body, list) and body:
        return _error_in(body[0])
    if not isinstance(body, dict):
        return ServerError(printable(str(body), _LONGEST_TEXT), frozenset())
    if isinstance(body.get("error"), dict | list):
        return _error_in(body["error"])
    inner = body.get("innererror")
    codes = [body.get("code"), body.get("type"), inner.get("code") if isinstance(inner, dict) else None]
    if isinstance(metadata := body.get("metadata"), dict) and "flagged_input" in metadata:  # OpenRouter
        codes.append("content_filter")
    words = body.get("message", body.get("detail", body.get("error", body.get("msg", ""))))
    text = words if isinstance(words, str) else msgspec.json.encode(words).decode()
    return ServerError(
        printable(text, _LONGEST_TEXT), frozenset(code.lower() for code in codes if isinstance(code, str))
    )
