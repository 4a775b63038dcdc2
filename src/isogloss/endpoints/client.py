"""Asynchronous client of an endpoint: attempts, waits between them, and the meaning of every failure."""

import asyncio
import math
import random
import ssl
import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from enum import Enum

import msgspec

from isogloss.endpoints.connections import BrokenReplyError, HttpReply, open_connections
from isogloss.endpoints.endpoint import Credentials, Endpoint
from isogloss.endpoints.errors import UNREADABLE_JSON, EndpointError
from isogloss.endpoints.refusals import FATAL, Refusal, classify, server_error
from isogloss.endpoints.shapes import Shape, repaired, shape_of
from isogloss.endpoints.throttle import Throttle
from isogloss.escaping import printable

# 429s in a row that count as one failure: limits per minute end by themselves.
_PATIENCE = 4
# Rounds of failures of all requests at a time before sending stops: they take about 15 s with default waits.
_ROUNDS = 6


class End(Enum):
    """End of a request."""

    ANSWERED = "answered"
    FILTERED = "filtered"  # final, too
    OPEN = "open"  # may succeed another time
    FATAL = "fatal"  # as every other request would
    STOPPED = "stopped"  # not sent, or not repeated, because sending has stopped


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """Result of a request: its answer, or the words that explain why there is none.

    `content` is the body of the last response; `refusal` is its meaning, if it was an error.
    """

    end: End
    status: int = 0
    content: bytes = b""
    seconds: float = 0.0
    shape: Shape | None = None
    refusal: Refusal | None = None
    explanation: str = ""


class _Failure(msgspec.Struct):
    """A failed attempt that can be repeated."""

    explanation: str
    is_rate: bool = False
    wait: float | None = None  # as requested by the server


class Client:
    """Client of one endpoint, for one event loop.

    `stopped` says why no more requests are sent, "" while they are. `retries` and `in_flight` count.
    """

    def __init__(self, endpoint: Endpoint, on_stop: Callable[[], None] | None = None) -> None:
        self.endpoint = endpoint
        self.credentials = Credentials.of(endpoint)
        self.throttle = Throttle(endpoint.start_concurrency, endpoint.concurrency)
        self.stopped = ""
        self.retries = 0
        self.in_flight = 0
        self.server = ""
        self._connections = open_connections(endpoint.address, self.credentials.headers)
        self._failures = 0.0  # since the last success
        self._stop = asyncio.Event()
        self._on_stop = on_stop
        self._targets: dict[str, str] = {}

    async def __aenter__(self) -> "Client":
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._connections.close()

    def stop(self, explanation: str) -> None:
        """Send nothing more; requests in flight get their answers, and are not repeated."""
        if not self.stopped:
            self.stopped = explanation
            self._stop.set()
            self.throttle.open_all()
            if self._on_stop is not None:
                self._on_stop()

    async def ask(self, url: str, body: bytes) -> Verdict:
        """Send a request until it has an answer, a final refusal, or no attempts left."""
        attempts = rates = 0
        while True:
            await self.throttle.enter()
            if self.stopped:
                self.throttle.leave()
                return Verdict(end=End.STOPPED, explanation=self.stopped)
            sent_at = asyncio.get_running_loop().time()
            self.in_flight += 1
            try:
                outcome = await self._attempt(url, body)
            finally:
                self.in_flight -= 1
                self.throttle.leave()
            if isinstance(outcome, Verdict):
                return outcome
            attempts, rates = (attempts, rates + 1) if outcome.is_rate else (attempts + 1, rates)
            wait = self._wait_after(outcome, rates if outcome.is_rate else attempts, sent_at)
            if self.stopped or attempts >= self.endpoint.max_attempts:
                return Verdict(end=End.OPEN, explanation=outcome.explanation)
            self.retries += 1
            await self._sleep(wait)

    async def fetch(self, target: str) -> HttpReply:
        """Return the response to one GET request of a path, without repetition."""
        async with asyncio.timeout(self.endpoint.timeout):
            return await self._connections.exchange("GET", target, b"")

    async def _attempt(self, url: str, body: bytes) -> Verdict | _Failure:
        target = self._targets.get(url) or self._targets.setdefault(url, self.endpoint.target(url))
        start = time.perf_counter()
        try:
            async with asyncio.timeout(self.endpoint.timeout):
                status, headers, content = await self._connections.exchange("POST", target, body)
        except TimeoutError:
            return _Failure(f"no answer within {self.endpoint.timeout:g} s")
        except ssl.SSLCertVerificationError as error:  # no repetition helps
            self.stop(f"the server's certificate is not valid ({error.verify_message})")
            return _Failure(self.stopped)
        except (OSError, BrokenReplyError) as error:
            words = getattr(error, "strerror", None) or str(error) or type(error).__name__
            return _Failure(self._shown(f"connection failed: {words}"))
        seconds = time.perf_counter() - start
        if self.credentials.secrets:
            content = self.credentials.scrub_bytes(content)
        if not self.server and "server" in headers:
            self.server = self._shown(headers["server"])
        if status == 200:
            if (shape := shape_of(content, url)) is None:
                content = repaired(content)
                shape = shape_of(content, url)
            if shape is None:
                return _Failure(self._shown(f"unusable response: {_words(content)}"))
            self._failures = 0
            self.throttle.speed_up()
            return Verdict(end=End.ANSWERED, status=status, content=content, seconds=seconds, shape=shape)
        return self._refused(status, headers, content, seconds)

    def _refused(self, status: int, headers: Mapping[str, str], content: bytes, seconds: float) -> Verdict | _Failure:
        refusal, text = classify(status, content)
        explanation = self._shown(f"status {status}: {text}" if text else f"status {status}")
        if refusal in (Refusal.RATE, Refusal.TRY_AGAIN):
            wait = retry_after(headers.get("retry-after", ""))
            return _Failure(explanation, is_rate=refusal is Refusal.RATE, wait=wait)
        end = End.FATAL if refusal in FATAL else End.FILTERED if refusal is Refusal.FILTERED else End.OPEN
        if end is End.FILTERED:
            try:
                is_table = isinstance(msgspec.json.decode(content), dict)
            except UNREADABLE_JSON:
                is_table = False
            if not is_table:
                content = msgspec.json.encode({"error": {"code": "content_filter", "message": text}})
        elif refusal is Refusal.OVERFLOW:
            explanation = f"longer than the model's context ({explanation})"
        elif refusal is Refusal.REJECTED:
            self._count_failure(1, explanation)
        return Verdict(
            end=end, status=status, content=content, seconds=seconds, refusal=refusal, explanation=explanation
        )

    def _wait_after(self, failure: _Failure, attempt: int, sent_at: float) -> float:
        """Return the seconds until the next attempt, with full jitter, and slow down if the server asks for it."""
        longest = self.endpoint.longest_wait
        jitter = random.random() * min(longest, self.endpoint.first_wait * 2 ** min(attempt - 1, 30))  # noqa: S311
        wait = jitter if failure.wait is None else failure.wait
        if wait > longest:
            self.stop(f"the server asks to wait for {wait:,.0f} s ({failure.explanation})")
        elif failure.is_rate:
            self.throttle.slow_down(sent_at, wait)
        self._count_failure(1 / _PATIENCE if failure.is_rate else 1, failure.explanation)
        # Requests that were refused together do not return together.
        return wait if failure.wait is None else wait + random.random() * min(1.0, self.endpoint.first_wait)  # noqa: S311

    def _count_failure(self, weight: float, explanation: str) -> None:
        self._failures += weight
        at_once = min(self.throttle.limit, self.endpoint.concurrency)
        if self._failures >= max(self.endpoint.max_failures, _ROUNDS * at_once):
            self.stop(f"too many failures without a success, the last one: {explanation}")

    async def _sleep(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._stop.wait()
        except TimeoutError:
            pass

    def _shown(self, text: str) -> str:
        return printable(self.credentials.scrub(text), 500)

    async def fatal_error(self, verdict: Verdict, model: str) -> EndpointError:
        """Return the error for a refusal that concerns every request."""
        endpoint = self.endpoint
        where = f"{endpoint.address}{endpoint.target('/v1')}"
        if verdict.refusal is Refusal.KEY:
            fix = f"Set {endpoint.key_variable} to a valid key for this endpoint"
        elif verdict.refusal is Refusal.MISSING:
            models = await self.models()
            served = f"It serves {', '.join(models[:20])}" if models else "Check the URL and the name of the model"
            fix = f"{served}; requested: {printable(model, 100)}"
        elif verdict.refusal is Refusal.PARAMETER:
            fix = "Leave out the parameter that the server does not know"
        elif verdict.refusal is Refusal.MONEY:
            fix = "Check the account's quota and billing"
        else:
            fix = "Give the URL that the server redirects to"
        return EndpointError(f"the endpoint refused a request ({verdict.explanation})", where=where, fix=fix)

    async def models(self) -> list[str]:
        """Return the names of the models that the endpoint serves, empty if it does not tell."""
        return [printable(name, 100) for name in (await self.model_table())]

    async def model_table(self) -> dict[str, dict[str, object]]:
        """Return the facts that the endpoint states about its models, by name."""
        try:
            reply = await self.fetch(self.endpoint.target("/v1/models"))
            body = msgspec.json.decode(self.credentials.scrub_bytes(reply.content), type=dict[str, object])
            listed = body.get("data")
        except (OSError, TimeoutError, BrokenReplyError, *UNREADABLE_JSON):
            return {}
        tables = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
        return {each["id"]: each for each in tables if isinstance(each.get("id"), str)}


def retry_after(value: str) -> float | None:
    """Return the seconds of a Retry-After header, a number or a date, or None without a valid one."""
    value = value.strip()
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - time.time()
        except (TypeError, ValueError, OverflowError):
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _words(content: bytes) -> str:
    text = server_error(content).text
    return text if text and text != "{}" else "empty"
