"""A server of embeddings and chat on this machine: vectors count runs of letters, answers come from a function."""

import json
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from zlib import crc32

import numpy as np

DIMENSION = 256
# Unequal, so that different texts are hardly ever equally near.
WEIGHTS = np.random.default_rng(0).uniform(0.9, 1.1, DIMENSION).astype(np.float32)


def bag(texts: Sequence[str], salt: str = "") -> np.ndarray:
    """Return the weighted counts of hashed runs of one to three characters, one row per text."""
    rows = np.zeros((len(texts), DIMENSION), np.float32)
    for row, text in enumerate(texts):
        for size in (1, 2, 3):
            for start in range(len(text) - size + 1):
                rows[row, crc32(f"{salt}{text[start : start + size]}".encode()) % DIMENSION] += 1
    return rows * WEIGHTS


class Handler(BaseHTTPRequestHandler):
    server: "EmbeddingServer"
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = self.server.vectors(body) if self.path.endswith("/embeddings") else self.server.chat(body)
        content = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def do_GET(self) -> None:
        self.send_error(404)

    def log_message(self, *_: object) -> None:
        pass


class EmbeddingServer(ThreadingHTTPServer):
    """The server; `texts` are those it was asked to embed, `prompts` those it was asked to answer.

    After `limit` texts it keeps requests waiting until `over` is set, and sets `full`.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/v1"
        self.texts: list[str] = []
        self.prompts: list[dict[str, Any]] = []
        self.embed: Callable[[Sequence[str]], np.ndarray] = bag
        self.answer: Callable[[str], str] = lambda prompt: "yes"
        self.usage = True
        self.limit: int | None = None
        self.full, self.over = threading.Event(), threading.Event()
        self._lock = threading.Lock()

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):  # the client was killed
            super().handle_error(request, client_address)

    def vectors(self, body: dict[str, Any]) -> dict[str, Any]:
        with self._lock:
            self.texts += body["input"]
            held = self.limit is not None and len(self.texts) > self.limit
        if held:
            self.full.set()
            self.over.wait()
        rows = self.embed(body["input"]).tolist()
        data = [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(rows)]
        tokens = sum(map(len, body["input"]))
        usage = {"usage": {"prompt_tokens": tokens, "total_tokens": tokens}} if self.usage else {}
        return {"object": "list", "model": body["model"], "data": data[::-1], **usage}

    def chat(self, body: dict[str, Any]) -> dict[str, Any]:
        with self._lock:
            self.prompts.append(body)
        text = self.answer(body["messages"][-1]["content"] if "messages" in body else body["prompt"])
        message = {"message": {"role": "assistant", "content": text}, "text": text}
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        return {"id": "1", "model": body["model"], "choices": [{"finish_reason": "stop", **message}], "usage": usage}


@contextmanager
def embedding_server() -> Iterator[EmbeddingServer]:
    """Run a server."""
    with EmbeddingServer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.over.set()
            server.shutdown()
            thread.join()
