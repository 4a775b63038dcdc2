"""Errors of endpoints."""

import msgspec

from isogloss.errors import IsoglossError

# What msgspec raises for JSON that is damaged, of another type, or nested too deeply.
UNREADABLE_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class EndpointError(IsoglossError):
    """A refusal by the endpoint that no repetition changes: a key, a model, an address or a parameter."""


class RequestError(IsoglossError):
    """A request that cannot be sent."""
