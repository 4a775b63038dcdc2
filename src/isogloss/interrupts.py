"""Answer Ctrl-C at once, also while an orderly end takes time."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import parent_process
from types import FrameType

_announced = threading.Event()


def listen() -> None:
    """Let the next interruption be announced."""
    _announced.clear()


def announce(text: str) -> None:
    """Print to stderr what happens now, once per interruption; processes started by this package stay silent."""
    if not _announced.is_set() and parent_process() is None and not os.environ.get("LOCAL_RANK", "0").strip("0"):
        _announced.set()
        with suppress(OSError):
            os.write(2, f"\n{text}; press Ctrl-C again to quit\n".encode())  # safe within a signal handler


@contextmanager
def answering_interrupts() -> Iterator[None]:
    """Context in which the first Ctrl-C is answered before it takes effect; the next one takes effect directly."""
    listen()
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def answer(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        announce("Stopping")
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, answer)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        listen()
