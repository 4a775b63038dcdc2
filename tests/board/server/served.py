"""A board's server as a process of its own, which tests may kill."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import requests


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class ServedBoard:
    """A server that can be killed and started again on the same port."""

    def __init__(self, folder: Path, workers: int) -> None:
        self.folder, self.workers, self.port = folder, workers, free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self) -> None:
        words = ["board", "serve", self.folder, "--port", self.port, "--workers", self.workers]
        self.process = subprocess.Popen([sys.executable, "-m", "isogloss", *map(str, words)])
        deadline = time.monotonic() + 300
        while True:
            assert self.process.poll() is None, "the server ended"
            assert time.monotonic() < deadline, "the server does not answer"
            with suppress(requests.RequestException):
                if requests.get(f"{self.address}/healthz", timeout=5).ok:
                    return
            time.sleep(0.05)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(30)


@contextmanager
def served(folder: Path, workers: int = 0) -> Iterator[ServedBoard]:
    """A running server."""
    made = ServedBoard(folder, workers)
    try:
        yield made
    finally:
        if made.process.poll() is None:
            made.stop()
