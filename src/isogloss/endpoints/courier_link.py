"""The command's end of the pipes to its courier."""

import os
import selectors
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO

import msgspec

from isogloss.endpoints.courier_messages import Instructions, Report
from isogloss.errors import IsoglossError
from isogloss.escaping import printable

_BLOCK = 1 << 16


class CourierLink:
    """A courier and the pipes to it; `is_done` is True when it has ended.

    Leaving the context closes the pipes, so that the courier ends by itself. It waits for that, unless the user
    interrupts.
    """

    def __init__(self, instructions: Instructions) -> None:
        self.is_done = False
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the link)
        root = str(Path(__file__).parents[2])
        path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
        self._process = subprocess.Popen(
            # -P: a file of the current folder must not replace a module.
            [sys.executable, "-P", "-m", "isogloss.endpoints.courier"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**os.environ, "PYTHONPATH": path},
            start_new_session=True,  # Ctrl-C and the end of the terminal do not reach it
            bufsize=0,
        )
        self._selector = selectors.DefaultSelector()
        self._to = self._process.stdin.fileno()  # type: ignore[union-attr]
        self._from = self._process.stdout.fileno()  # type: ignore[union-attr]
        os.set_blocking(self._to, False)
        os.set_blocking(self._from, False)
        self._selector.register(self._from, selectors.EVENT_READ)
        self._is_writing = False
        self._unsent = bytearray()
        self._unread = b""
        self.write(msgspec.json.encode(instructions) + b"\n")

    def __enter__(self) -> "CourierLink":
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        self._selector.close()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        if kind is None or not issubclass(kind, KeyboardInterrupt):
            self._process.wait()
        self._errors.close()

    @property
    def unsent(self) -> int:
        """Bytes that the pipe has not taken yet."""
        return len(self._unsent)

    def write(self, line: bytes) -> None:
        """Give a line to the pipe; `exchange` sends it."""
        self._unsent += line
        if not self._is_writing:
            self._is_writing = True
            self._selector.register(self._to, selectors.EVENT_WRITE)

    def exchange(self, timeout: float) -> list[Report]:
        """Send and receive what the pipes take and have, after waiting for some seconds at most."""
        reports: list[Report] = []
        for key, _ in self._selector.select(timeout):
            if key.fd == self._to:
                self._push()
            else:
                reports += self._pull()
        return reports

    def _push(self) -> None:
        try:
            written = os.write(self._to, memoryview(self._unsent)[: 16 * _BLOCK])
            del self._unsent[:written]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._unsent.clear()  # it has ended: the other pipe says why
        if not self._unsent:
            self._is_writing = False
            self._selector.unregister(self._to)

    def _pull(self) -> list[Report]:
        try:
            block = os.read(self._from, 4 * _BLOCK)
        except BlockingIOError:
            return []
        if not block:
            raise self._died()
        *lines, self._unread = (self._unread + block).split(b"\n")
        reports = [msgspec.json.decode(line, type=Report) for line in lines]
        self.is_done = any(report.state == "done" for report in reports)
        return reports

    def _died(self) -> IsoglossError:
        self.is_done = True
        code = self._process.wait()
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        last = printable(lines[-1], 300) if lines else f"exit code {code}"
        fix = "Start the command again: answers that arrived are stored"
        return IsoglossError(f"the process that sends requests ended unexpectedly ({last})", fix=fix)
