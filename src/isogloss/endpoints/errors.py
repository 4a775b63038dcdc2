"""Errors of endpoints."""

from isogloss.errors import IsoglossError


class EndpointError(IsoglossError):
    """A refusal by the endpoint that no repetition changes: a key, a model, an address or a parameter."""


class RequestError(IsoglossError):
    """A request that cannot be sent."""
