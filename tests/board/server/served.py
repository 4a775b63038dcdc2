"""A board server in its own process, which tests may kill."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from pathlib import Path

import requests


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class ServedBoard:
    """Server that can be killed and restarted on the same port."""

    def __init__(self, folder: Path, workers: int, setup: str = "", log: Path | None = None) -> None:
        self.folder, self.workers, self.port, self.setup, self.log = folder, workers, free_port(), setup, log
        self.address = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self) -> None:
        words = ["board", "serve", self.folder, "--port", self.port, "--workers", self.workers]
        code = f"{self.setup}\nfrom isogloss.cli.main import main\nmain()"
        with self.log.open("ab") if self.log else nullcontext() as log:
            self.process = subprocess.Popen([sys.executable, "-c", code, *map(str, words)], stderr=log)
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
        self.process.wait(300)


@contextmanager
def served(folder: Path, workers: int = 0, setup: str = "", log: Path | None = None) -> Iterator[ServedBoard]:
    """Start a server; `setup` is code that its process runs first, and `log` is the file of its messages."""
    made = ServedBoard(folder, workers, setup, log)
    try:
        yield made
    finally:
        if made.process.poll() is None:
            made.stop()
