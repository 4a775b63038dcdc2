"""Process that sends requests and stores their answers, for a command that may be killed at any time.

It runs in its own session. When the command is gone, its pipe ends: the courier sends nothing more, stores the answers
to the requests in flight, and ends. Only then is the store's lock free for the next command, which finds them.

Started by `isogloss.endpoints.send` as `python -m isogloss.endpoints.courier`.
"""

import asyncio
import os
import select
import sys
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import structs

from isogloss.endpoints.budget import SpendingAccount
from isogloss.endpoints.client import Client, End, Verdict
from isogloss.endpoints.courier_messages import END, STOP, Failure, Instructions, Order, Report
from isogloss.endpoints.endpoint import Credentials, Endpoint
from isogloss.endpoints.store import ResponseStore
from isogloss.errors import IsoglossError

# Seconds between reports, and between looks at a budget that is used up while requests are in flight.
_TICK = 0.05
_LONGEST_LINE = 512 << 20

NO_BUDGET = "the budget is spent"
COMMAND_ENDED = "the command ended"


class _CommandGoneError(Exception):
    """The command ended or gave up while this process waited."""


class Courier:
    """Work of one courier: a queue of requests, the workers that send them, and reports of their ends."""

    def __init__(self, instructions: Instructions, store: ResponseStore) -> None:
        self._prices = instructions.prices
        self._store = store
        self._client = Client(Endpoint.of(instructions.endpoint), on_stop=self._report_soon)
        ledger = Path(instructions.ledger) if instructions.ledger else None
        limit = instructions.max_cost
        self._account = None if limit is None else SpendingAccount(limit, ledger, instructions.spent)
        self._window = instructions.window
        self._queue: asyncio.Queue[Order | None] = asyncio.Queue()
        self._report = Report()
        self._resolved = 0
        self._is_due = False
        self._reserving = 0  # requests with a reservation
        self._failure: Failure | None = None
        self._pipe: asyncio.WriteTransport | None = None

    async def run(self) -> None:
        """Deliver all requests that arrive, and report until the last one has ended."""
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=_LONGEST_LINE)
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
        self._pipe, _ = await loop.connect_write_pipe(asyncio.Protocol, sys.stdout.buffer)
        self._send(Report(state="ready"))
        async with self._client as client:
            receiving = asyncio.create_task(self._receive(reader))
            workers = [asyncio.create_task(self._work()) for _ in range(client.endpoint.concurrency)]
            try:
                await asyncio.gather(*workers)
            finally:
                receiving.cancel()
            if receiving.done() and not receiving.cancelled():
                receiving.result()
        self._flush("done")
        self._pipe.close()

    async def _receive(self, reader: asyncio.StreamReader) -> None:
        """Queue the requests that arrive; the end of the pipe without a word means that the command was killed."""
        decode = msgspec.json.Decoder(Order).decode
        try:
            while (line := await reader.readline()).endswith(b"\n") and line not in (END, STOP):
                self._queue.put_nowait(decode(line))
            if line != END:
                self._client.stop(COMMAND_ENDED)
        finally:
            for _ in range(self._client.endpoint.concurrency):
                self._queue.put_nowait(None)
        await reader.readline()  # the command may be interrupted or killed after its last request
        self._client.stop(COMMAND_ENDED)

    async def _work(self) -> None:
        while (order := await self._queue.get()) is not None:
            try:
                await self._deliver(order)
            except Exception as error:
                self._fail(error)
                self._note_open(order.custom_id, self._client.stopped)

    async def _deliver(self, order: Order) -> None:
        client = self._client
        if not await self._reserve(order):
            self._note_open(order.custom_id, client.stopped)
            return
        cost = 0.0
        self._report_soon()  # one more in flight
        try:
            verdict = await client.ask(order.url, bytes(order.body))
            if verdict.end in (End.ANSWERED, End.FILTERED):
                self._store.append_raw(order.custom_id, verdict.status, verdict.content, verdict.seconds)
                cost = self._note_answer(order, verdict)
                return
        finally:
            self._settle(order, cost)
        if verdict.end is End.FATAL:
            client.stop(verdict.explanation)
            if self._failure is None:
                self._fail(await client.fatal_error(verdict, order.model))
        self._note_open(order.custom_id, verdict.explanation)

    async def _reserve(self, order: Order) -> bool:
        """Reserve the estimated cost; wait while requests in flight may turn out cheaper than estimated."""
        if self._account is not None:
            while not self._client.stopped and not self._account.reserve(order.reserve):
                if not self._reserving:
                    self._client.stop(NO_BUDGET)
                else:
                    await asyncio.sleep(_TICK)
            if self._client.stopped:
                return False
        self._reserving += 1
        return True

    def _settle(self, order: Order, cost: float) -> None:
        self._reserving -= 1
        if self._account is not None:
            self._account.settle(order.reserve, cost)

    def _note_answer(self, order: Order, verdict: Verdict) -> float:
        """Count an answer, and return its cost; without stated tokens, it is the estimate."""
        usage = verdict.shape.usage if verdict.shape else None
        cost = order.reserve
        report = self._report
        if usage is not None:
            if self._prices is not None:
                exact = self._prices.cost(order.model, usage)
                usage = structs.replace(usage, cost=exact)
                cost = cost if exact is None else exact
            report.counted += 1
            report.usage = usage if report.usage is None else report.usage + usage
        report.answered += 1
        self._note_end()
        return cost

    def _note_open(self, custom_id: str, explanation: str) -> None:
        self._report.open[custom_id] = explanation
        self._note_end()

    def _note_end(self) -> None:
        self._resolved += 1
        if self._resolved >= self._window // 4:
            self._flush()
        else:
            self._report_soon()

    def _fail(self, error: Exception) -> None:
        failure = failure_of(error)
        failure.what = self._client.credentials.scrub(failure.what)
        self._client.stop(failure.what)
        if self._failure is None:
            self._failure = failure

    def _report_soon(self) -> None:
        if not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_later(_TICK, self._flush)

    def _flush(self, state: str = "") -> None:
        report, client = self._report, self._client
        report.state, report.stopped, report.failure = state, client.stopped, self._failure
        report.in_flight, report.retries = client.in_flight, client.retries
        report.concurrency = min(int(client.throttle.limit), client.endpoint.concurrency)
        self._report, self._resolved, self._is_due = Report(), 0, False
        self._send(report)

    def _send(self, report: Report) -> None:
        if self._pipe is not None and not self._pipe.is_closing():
            self._pipe.write(msgspec.json.encode(report) + b"\n")


def failure_of(error: BaseException) -> Failure:
    """Return the parts of an error."""
    if isinstance(error, IsoglossError):
        return Failure(type(error).__name__, error.what, error.where, error.fix)
    return Failure("IsoglossError", f"sending failed ({type(error).__name__}: {error})")


def _read_line() -> bytes:
    """Read one line, and nothing after it."""
    line = b""
    while not line.endswith(b"\n") and (chunk := os.read(0, 1 << 16)):
        line += chunk
    return line


def main() -> int:
    """Serve one command."""
    line = _read_line()
    if not line.endswith(b"\n"):
        return 1
    instructions = msgspec.json.decode(line, type=Instructions)
    has_reported = False

    def report(each: Report) -> None:
        os.write(1, msgspec.json.encode(each) + b"\n")

    def wait() -> None:
        nonlocal has_reported
        if select.select([0], [], [], 0)[0]:  # the end of the pipe, or the wish to stop
            raise _CommandGoneError
        if not has_reported:
            has_reported = True
            report(Report(state="waiting"))

    credentials, last = Credentials({}, ()), Report(state="done")
    try:
        credentials = Credentials.of(Endpoint.of(instructions.endpoint))
        with ResponseStore(Path(instructions.store)) as store, store.lock(wait):
            asyncio.run(Courier(instructions, store).run())
        return 0
    except _CommandGoneError:
        last.stopped = COMMAND_ENDED
    except Exception as error:
        last.failure = failure_of(error)
        last.failure.what = credentials.scrub(last.failure.what)
    with suppress(OSError):
        report(last)
    return 1


if __name__ == "__main__":
    sys.exit(main())
