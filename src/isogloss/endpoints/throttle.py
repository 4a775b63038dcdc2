"""Number of requests at a time: it grows by one per round, and halves when the server asks for fewer (429)."""

import asyncio
from collections import deque


class Throttle:
    """Slots for requests, for one event loop.

    `limit` grows by one per `limit` successes, up to `most`. Only `slow_down` shrinks it: errors and time-outs of a
    server say nothing about the rate that it allows.
    """

    def __init__(self, start: int, most: int) -> None:
        self.limit = float(min(start, most))
        self.active = 0
        self._most = most
        self._paused_until = 0.0
        self._shrunk_at = 0.0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def enter(self) -> None:
        """Wait for a slot, and take it."""
        was_next = False
        while self.active >= int(self.limit) or self._is_paused():
            turn = asyncio.get_running_loop().create_future()
            # A task that was overtaken between its turn and its slot is the next again.
            (self._waiting.appendleft if was_next else self._waiting.append)(turn)
            was_next = True
            try:
                await turn
            except asyncio.CancelledError:
                if turn in self._waiting:
                    self._waiting.remove(turn)
                self._wake()  # the turn may have been given to this task
                raise
        self.active += 1

    def leave(self) -> None:
        """Free a slot."""
        self.active -= 1
        self._wake()

    def speed_up(self) -> None:
        """Note a success."""
        if self.limit < self._most:
            self.limit = min(self._most, self.limit + 1 / self.limit)

    def slow_down(self, sent_at: float, pause: float) -> None:
        """Note a 429 to a request that was sent at a time of the loop's clock, and pause for some seconds.

        Requests that were sent before the last reduction do not reduce the limit again.
        """
        loop = asyncio.get_running_loop()
        if sent_at >= self._shrunk_at:
            self._shrunk_at = loop.time()
            self.limit = max(1.0, self.limit / 2)
        until = loop.time() + pause
        if until > self._paused_until:
            self._paused_until = until
            loop.call_at(until, self._wake)

    def open_all(self) -> None:
        """Let all that wait pass, so that they see that sending has stopped."""
        self.limit, self._most, self._paused_until = float(1 << 30), 1 << 30, 0.0
        self._wake()

    def _is_paused(self) -> bool:
        return self._paused_until > asyncio.get_running_loop().time()

    def _wake(self) -> None:
        free = 0 if self._is_paused() else int(self.limit) - self.active
        while self._waiting and free > 0:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                free -= 1
