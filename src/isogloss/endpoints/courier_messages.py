"""Messages between a command and its courier: lines of JSON on two pipes."""

from typing import Any

import msgspec

from isogloss.endpoints.prices import Prices
from isogloss.reply_outcomes import Usage

# Lines that end the requests: all were given, or the command wants no more to be sent.
END, STOP = b'"end"\n', b'"stop"\n'


class Instructions(msgspec.Struct, kw_only=True):
    """First line to a courier. `window` is the number of requests that it may have at a time."""

    store: str
    endpoint: dict[str, Any]
    window: int
    prices: Prices | None = None
    max_cost: float | None = None
    ledger: str | None = None
    spent: float = 0.0


class Order(msgspec.Struct, array_like=True):
    """A request to a courier. `reserve` is its estimated cost."""

    custom_id: str
    url: str
    model: str
    reserve: float
    body: msgspec.Raw


class Failure(msgspec.Struct):
    """The parts of an IsoglossError that ends the work; `kind` is the name of its class."""

    kind: str
    what: str
    where: str = ""
    fix: str = ""


class Report(msgspec.Struct, kw_only=True, omit_defaults=True):
    """Line from a courier; numbers of answers and tokens are those since its last report.

    Attributes:
        state: "waiting" for another sender, "ready" to receive requests, "done", or "".
        answered: number of answers stored.
        counted: those of them that state their tokens.
        usage: their tokens and costs.
        open: ids of requests that remain without an answer, with the reason.
        in_flight, concurrency, retries: current values.
        stopped: reason why no more requests are sent.
        failure: error that ends the work.
    """

    state: str = ""
    answered: int = 0
    counted: int = 0
    usage: Usage | None = None
    open: dict[str, str] = {}
    in_flight: int = 0
    concurrency: int = 0
    retries: int = 0
    stopped: str = ""
    failure: Failure | None = None
