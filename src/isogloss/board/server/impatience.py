"""HTTP for clients that get on with it: who neither speaks nor listens for too long is cut off."""

from asyncio import TimerHandle
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

# Every connection is looked at in such steps. The head of a request, of the first as of any later one, may take two of
# them; an answer must get on in one of any four, at this speed.
_SECONDS = 5.0
_HEAD_STEPS = 2
_UNREAD_STEPS = 4
_BYTES_PER_STEP = 5_000


class ImpatientProtocol(H11Protocol):
    """A connection whose client must finish the heads of its requests and read its answers."""

    _timer: TimerHandle | None = None
    _headless_steps = _unread_steps = _unsent = 0
    _last_cycle: object = None

    def connection_made(self, transport: Any) -> None:
        """Start to look."""
        super().connection_made(transport)
        self._timer = self.loop.call_later(_SECONDS, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop to look."""
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def _look(self) -> None:
        is_headless = self.conn.their_state is h11.IDLE and self.cycle is self._last_cycle
        self._headless_steps = self._headless_steps + 1 if is_headless else 0
        unsent = self.transport.get_write_buffer_size()
        is_unread = unsent > max(0, self._unsent - _BYTES_PER_STEP)
        self._unread_steps = self._unread_steps + 1 if is_unread else 0
        self._last_cycle, self._unsent = self.cycle, unsent
        if self._headless_steps >= _HEAD_STEPS or self._unread_steps >= _UNREAD_STEPS:
            self.transport.abort()
        else:
            self._timer = self.loop.call_later(_SECONDS, self._look)
