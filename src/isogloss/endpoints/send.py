"""Sending of requests: skip those with a stored answer, send the others through a courier, and report."""

import time
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import suppress
from dataclasses import asdict, dataclass, field

import msgspec

from isogloss import interrupts
from isogloss.endpoints.budget import Budget
from isogloss.endpoints.connections import needs_httpx, require_httpx
from isogloss.endpoints.courier_link import CourierLink
from isogloss.endpoints.courier_messages import END, STOP, Failure, Instructions, Order, Report
from isogloss.endpoints.endpoint import Credentials, Endpoint
from isogloss.endpoints.errors import EndpointError, RequestError
from isogloss.endpoints.prices import Prices, estimate_usage
from isogloss.endpoints.requests import ApiRequest
from isogloss.endpoints.store import ResponseStore
from isogloss.errors import DataError, IsoglossError
from isogloss.figures import counted
from isogloss.reply_outcomes import Usage

# Seconds between two calls of `on_progress`, and the time that a rate is measured over.
_PROGRESS = 0.2
_RATE_SPAN = 20.0
_MAX_UNSENT = 1 << 20

_ERRORS: dict[str, type[IsoglossError]] = {each.__name__: each for each in (EndpointError, DataError, RequestError)}


@dataclass(frozen=True, kw_only=True)
class SendProgress:
    """State of sending.

    Attributes:
        answers: requests that have an answer, from earlier or now.
        already: those of them that had one before.
        total: number of requests, None if unknown.
        rate: answers per second, over the last seconds.
        in_flight: requests that the server works on.
        concurrency: current limit of requests at a time.
        usage: tokens of the new answers, and their cost.
        retries: attempts that were repeated.
        open: requests that ended without an answer.
    """

    answers: int
    already: int
    total: int | None
    rate: float
    in_flight: int
    concurrency: int
    usage: Usage
    retries: int
    open: int


@dataclass(kw_only=True)
class SendOutcome:
    """Result of sending.

    Attributes:
        answered: number of new answers, all of them stored; includes requests that a content filter refused.
        already: number of requests that had an answer before.
        open: ids of the requests without an answer, with the reason.
        usage: tokens of the new answers, and their cost.
        counted: new answers that state their tokens.
        stopped: reason why sending stopped early, "" if it did not.
    """

    answered: int = 0
    already: int = 0
    open: dict[str, str] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    counted: int = 0
    stopped: str = ""


def send(
    requests: Iterable[ApiRequest],
    store: ResponseStore,
    endpoint: Endpoint,
    *,
    prices: Prices | None = None,
    budget: Budget | None = None,
    on_progress: Callable[[SendProgress], None] | None = None,
    on_waiting: Callable[[], None] | None = None,
) -> SendOutcome:
    """Get the answers to all requests that have none in the store.

    The requests are sent by another process. If this one is killed, the answers to the requests in flight are still
    stored, and found by the next call. Ctrl-C waits for them.

    Args:
        requests: any number of them; they are read as they are sent.
        store: where answers are looked up and stored. One process at a time sends the requests of a store; others wait.
        endpoint: address and limits of the server.
        prices: for costs.
        budget: limit of the costs; needs prices.
        on_progress: called several times per second.
        on_waiting: called once if another process is sending the requests of this store.

    Returns:
        Counts, the requests that remain open with reasons, and costs.

    Raises:
        EndpointError: the server refuses all requests: wrong key, model, URL or parameter. Earlier answers are stored.
        IsoglossError: the requests cannot be sent, or the store cannot be written.
        KeyboardInterrupt: after Ctrl-C, when the requests in flight have been answered.
    """
    if needs_httpx(endpoint.address):
        require_httpx()
    Credentials.of(endpoint)  # report errors in the environment before anything starts
    if budget is not None and prices is None:
        raise RequestError("a budget needs prices", fix="Give a file of prices")
    return _Sending(requests, store, endpoint, prices, budget, on_progress).run(on_waiting)


class _Sending:
    """State of one call of `send`."""

    def __init__(
        self,
        requests: Iterable[ApiRequest],
        store: ResponseStore,
        endpoint: Endpoint,
        prices: Prices | None,
        budget: Budget | None,
        on_progress: Callable[[SendProgress], None] | None,
    ) -> None:
        self._store, self._endpoint, self._prices, self._budget = store, endpoint, prices, budget
        self._outcome = SendOutcome()
        self._total = len(requests) if isinstance(requests, Sized) else None
        self._source = self._unanswered(requests)
        self._window = max(256, 16 * endpoint.concurrency)
        self._outstanding = 0
        self._report = Report()
        self._failure: Failure | None = None
        self._on_progress, self._shown_at = on_progress, 0.0
        self._history: list[tuple[float, int]] = []

    def _unanswered(self, requests: Iterable[ApiRequest]) -> Iterator[ApiRequest]:
        """Yield the requests without an answer, each once."""
        given: set[str] = set()
        for request in requests:
            if request.custom_id in given:
                self._total = None if self._total is None else self._total - 1
                continue
            given.add(request.custom_id)
            if self._store.has([request.custom_id], refresh=False):
                self._outcome.already += 1
            else:
                yield request

    def run(self, on_waiting: Callable[[], None] | None) -> SendOutcome:
        self._store.refresh()
        first = next(self._source, None)
        if first is not None:
            with CourierLink(self._instructions()) as link:
                self._work(link, first, on_waiting)
            if self._failure is not None:
                error = _ERRORS.get(self._failure.kind, IsoglossError)
                raise error(self._failure.what, where=self._failure.where, fix=self._failure.fix)
            for request in self._source:
                self._outcome.open[request.custom_id] = self._outcome.stopped
        self._show(self._on_progress)
        return self._outcome

    def _instructions(self) -> Instructions:
        budget = self._budget
        return Instructions(
            store=str(self._store.folder.absolute()),
            endpoint=asdict(self._endpoint),
            window=self._window,
            prices=self._prices,
            max_cost=budget.max_cost if budget else None,
            ledger=str(budget.ledger.absolute()) if budget and budget.ledger else None,
            spent=budget.spent if budget else 0.0,
        )

    def _work(self, link: CourierLink, first: ApiRequest, on_waiting: Callable[[], None] | None) -> None:
        try:
            self._wait_until_ready(link, on_waiting)
            self._store.refresh()  # another process may have sent the same requests meanwhile
            if self._store.has([first.custom_id], refresh=False):
                self._outcome.already += 1
            else:
                self._give(link, first)
            self._feed(link)
        except KeyboardInterrupt:
            self._stop(link)
            raise

    def _stop(self, link: CourierLink) -> None:
        """Wait for the requests in flight; nothing is lost if the courier or the user ends this early."""
        link.write(STOP)
        with suppress(IsoglossError):
            while not link.is_done and not self._report.stopped:
                self._take(link)
            if self._report.in_flight:
                interrupts.listen()
                interrupts.announce(f"Waiting for {counted(self._report.in_flight, 'answer')} in flight")
            self._drain(link)

    def _wait_until_ready(self, link: CourierLink, on_waiting: Callable[[], None] | None) -> None:
        while not link.is_done and self._report.state != "ready":
            for report in link.exchange(_PROGRESS):
                self._apply(report)
                if report.state == "waiting" and on_waiting is not None:
                    on_waiting()

    def _feed(self, link: CourierLink) -> None:
        """Give requests to the courier until it has answered or given up all."""
        while not link.is_done and not self._report.stopped and self._fill(link):
            self._take(link)
        link.write(END)
        self._drain(link)

    def _fill(self, link: CourierLink) -> bool:
        """Give the courier as many requests as it can take; return False if there are no more."""
        while self._outstanding < self._window and link.unsent < _MAX_UNSENT:
            if (request := next(self._source, None)) is None:
                return False
            self._give(link, request)
        return True

    def _drain(self, link: CourierLink) -> None:
        while not link.is_done:
            self._take(link)

    def _give(self, link: CourierLink, request: ApiRequest) -> None:
        body = msgspec.json.encode(request.body)
        order = Order(request.custom_id, request.url, request.model, self._estimate(request), msgspec.Raw(body))
        link.write(msgspec.json.encode(order) + b"\n")
        self._outstanding += 1

    def _estimate(self, request: ApiRequest) -> float:
        if self._budget is None or self._prices is None:
            return 0.0
        cost = self._prices.cost(request.model, estimate_usage(request.body))
        if cost is None:
            what = f"the model {request.model!r} has no price, so the budget cannot be kept"
            raise RequestError(what, fix="Add it to the file of prices")
        return cost

    def _take(self, link: CourierLink) -> None:
        for report in link.exchange(_PROGRESS):
            self._apply(report)
        if self._on_progress is not None and time.monotonic() >= self._shown_at + _PROGRESS:
            self._show(self._on_progress)

    def _apply(self, report: Report) -> None:
        outcome = self._outcome
        outcome.answered += report.answered
        outcome.counted += report.counted
        outcome.open |= report.open
        outcome.stopped = report.stopped
        if report.usage is not None:
            outcome.usage += report.usage
            if self._budget is not None:
                self._budget.spent += report.usage.cost or 0.0
        self._outstanding -= report.answered + len(report.open)
        self._failure = self._failure or report.failure
        self._report = report

    def _show(self, on_progress: Callable[[SendProgress], None] | None) -> None:
        if on_progress is None:
            return
        self._shown_at, outcome = time.monotonic(), self._outcome
        self._history = [each for each in self._history if each[0] >= self._shown_at - _RATE_SPAN]
        self._history.append((self._shown_at, outcome.answered))
        (then, before), answers = self._history[0], outcome.already + outcome.answered
        rate = (outcome.answered - before) / (self._shown_at - then) if self._shown_at > then else 0.0
        on_progress(
            SendProgress(
                answers=answers,
                already=outcome.already,
                total=self._total,
                rate=rate,
                in_flight=self._report.in_flight,
                concurrency=self._report.concurrency,
                usage=outcome.usage,
                retries=self._report.retries,
                open=len(outcome.open),
            )
        )
