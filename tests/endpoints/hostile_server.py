"""A local HTTP server that answers like an OpenAI-compatible one, and fails as scripted.

A script is a function of a request and the number of its attempt that returns the name of a fault, or "".
"""

import asyncio
import hashlib
import json
import random
import ssl
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.utils import formatdate
from typing import Any

Script = Callable[[str, int], str]

# Faults that a repetition overcomes.
PASSING = ("429", "429-seconds", "429-date", "500", "503", "cut", "invalid", "shape", "error-200", "stall", "reset")
# Answers that are unusual, and right.
ODD = ("no-usage", "duplicated", "pretty", "chunked", "close", "not-a-number", "damaged")


def seeded(seed: int, share: float, faults: tuple[str, ...] = PASSING + ODD, last: int = 3) -> Script:
    """Return a script with random faults in some share of the attempts before the last one."""

    def script(content: str, attempt: int) -> str:
        rng = random.Random(f"{seed} {content} {attempt}")
        return rng.choice(faults) if attempt < last and rng.random() < share else ""

    return script


def answer_to(content: str) -> str:
    """Return the text that the server answers."""
    return hashlib.sha256(content.encode()).hexdigest()[:8]


class HostileServer:
    """The server, its log, and its switches.

    Attributes:
        asked: number of requests by their text.
        answered: number of complete answers by the text of their request.
        keys: values of the header `authorization`.
        most_at_once: highest number of requests that were open at the same time.
        gate: answers wait until it is set.
    """

    def __init__(self, script: Script | None = None, secured: ssl.SSLContext | None = None) -> None:
        self._secured = secured
        self.script = script or (lambda content, attempt: "")
        self.asked: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.bodies: list[dict[str, Any]] = []
        self.keys: set[str] = set()
        self.most_at_once = 0
        self.enforces_schema = self.echoes = self.is_random = False
        self.keeps_bodies = True
        self.says = ""
        self.refuses: set[str] = set()
        self.delay = 0.0
        self.url = ""
        self._now = 0
        self._changed = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._gate = threading.Event()
        self._gate.set()
        self._opened: asyncio.Event

    def hold(self) -> None:
        """Answer nothing until `release`."""
        self._gate.clear()

    def release(self) -> None:
        """Answer again."""
        self._gate.set()
        self._loop.call_soon_threadsafe(self._opened.set)

    def wait_for_requests(self, number: int, alive: Callable[[], bool] = lambda: True) -> None:
        """Return when so many requests have come, or when `alive` is no longer true."""
        with self._changed:
            while self.asked.total() < number and alive():
                self._changed.wait(0.05)

    def serve(self, ready: threading.Event) -> None:
        asyncio.set_event_loop(self._loop)

        async def main() -> None:
            self._opened = asyncio.Event()
            server = await asyncio.start_server(self._connection, "127.0.0.1", 0, limit=1 << 24, ssl=self._secured)
            scheme = "https" if self._secured else "http"
            self.url = f"{scheme}://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            ready.set()
            self._ending = asyncio.Event()
            await self._ending.wait()
            server.close()
            for task in asyncio.all_tasks() - {asyncio.current_task()}:
                task.cancel()

        self._loop.run_until_complete(main())
        self._loop.close()

    def end(self) -> None:
        self._loop.call_soon_threadsafe(self._ending.set)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._exchange(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        start, *rows = head.split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (row.partition(":") for row in rows)}
        body = json.loads(await reader.readexactly(int(headers.get("content-length", 0))) or b"{}")
        path = start.split(" ")[1]
        if start.startswith("GET"):
            return self._write(writer, *self._get(path))
        content = text_of(body)
        with self._changed:
            attempt = self.asked[content]
            self.asked[content] += 1
            if self.keeps_bodies:
                self.bodies.append(body)
            self.keys.add(headers.get("authorization", ""))
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
            self._changed.notify_all()
        try:
            if not self._gate.is_set():
                self._opened.clear()
                await self._opened.wait()
            if self.delay:
                await asyncio.sleep(self.delay * random.random())
            return await self._respond(writer, path, body, content, self.script(content, attempt), headers)
        finally:
            self._now -= 1

    def _get(self, path: str) -> tuple[int, dict[str, Any]]:
        if path == "/v1/models":
            return 200, {"data": [{"id": "small", "max_model_len": 4096}, {"id": "other"}]}
        return 404, {"error": {"message": f"no {path}"}}

    async def _respond(  # noqa: PLR0911 (one per fault)
        self,
        writer: asyncio.StreamWriter,
        path: str,
        body: dict[str, Any],
        content: str,
        fault: str,
        headers: dict[str, str],
    ) -> bool:
        if self.refuses & body.keys():
            fault = "parameter"
        if fault == "stall":
            await asyncio.sleep(3600)
        if fault == "reset":
            writer.transport.abort()
            return False
        if fault in ERRORS:
            status, error, more = ERRORS[fault]
            if fault == "429-date":
                more = {"retry-after": formatdate(time.time() - 1, usegmt=True)}
            if fault == "401":
                error = {"message": f"wrong key: {headers.get('authorization')}"}
            return self._write(writer, status, {"error": error}, more)
        if fault == "invalid":
            return self._write_raw(writer, 200, b'{"choices": [{"message": {"content": NaN,,}]')
        if fault == "shape":
            return self._write(writer, 200, {"id": "x", "choices": []})
        if fault == "error-200":
            return self._write(writer, 200, {"error": {"message": "upstream failed", "code": 502}})
        answer = self._answer(path, body, content, fault)
        raw = json.dumps(answer, indent=2 if fault == "pretty" else None).encode()
        raw = raw.removesuffix(b"}") + ENDINGS.get(fault, b"}")
        if fault == "cut":
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(raw) + raw[: len(raw) // 2])
            await writer.drain()
            return False
        with self._changed:
            self.answered[content] += 1
            self._changed.notify_all()
        if fault == "chunked":
            middle = len(raw) // 2
            chunks = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (raw[:middle], raw[middle:]))
            writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n")
            return True
        if fault == "close":
            writer.write(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n" + raw)
            await writer.drain()
            return False
        return self._write_raw(writer, 200, raw)

    def _answer(self, path: str, body: dict[str, Any], content: str, fault: str) -> dict[str, Any]:
        if path.endswith("/embeddings"):
            return embeddings(body, fault)
        text = self.says or answer_to(content)
        usage = {"prompt_tokens": len(content), "completion_tokens": 2, "total_tokens": len(content) + 2}
        if self.is_random:
            text = str(random.random())
        if path.endswith("/chat/completions"):
            if self.enforces_schema and "response_format" in body:
                schema = body["response_format"]["json_schema"]["schema"]["properties"]
                text = json.dumps({name: each["enum"][0] for name, each in schema.items()})
            choice: dict[str, Any] = {
                "index": 0,
                "message": {"role": "assistant", "content": text},
                "finish_reason": "stop",
            }
            if body.get("logprobs"):
                tops = [
                    {"token": each, "logprob": -0.5 - at, "bytes": list(each.encode())} for at, each in enumerate("ab")
                ]
                choice["logprobs"] = {"content": [tops[0] | {"top_logprobs": tops}]}
        else:
            choice = {"index": 0, "text": text, "finish_reason": "stop", "logprobs": None}
            if body.get("echo") and self.echoes:
                words = [f" {word}" if at else word for at, word in enumerate(body["prompt"].split(" "))]
                choice |= {"text": body["prompt"] + text}
                choice["logprobs"] = {"tokens": [*words, text], "token_logprobs": [None, *(-1.5 for _ in words)]}
        answer: dict[str, Any] = {
            "id": "x",
            "object": "chat.completion",
            "model": body.get("model"),
            "choices": [choice],
        }
        if fault == "duplicated":
            wrong = {"index": 1, "message": {"role": "assistant", "content": "wrong"}, "finish_reason": "stop"}
            answer["choices"] = [wrong, choice, wrong]
        return answer if fault == "no-usage" else answer | {"usage": usage}

    def _write(self, writer: asyncio.StreamWriter, status: int, body: Any, more: dict[str, str] | None = None) -> bool:
        return self._write_raw(writer, status, json.dumps(body).encode(), more)

    def _write_raw(
        self, writer: asyncio.StreamWriter, status: int, raw: bytes, more: dict[str, str] | None = None
    ) -> bool:
        extra = "".join(f"{name}: {value}\r\n" for name, value in (more or {}).items())
        writer.write(
            f"HTTP/1.1 {status} x\r\nServer: hostile\r\ncontent-length: {len(raw)}\r\n{extra}\r\n".encode() + raw
        )
        return True


# Ends of answers that are not quite JSON: numbers, half a character, a byte that is none.
ENDINGS = {
    "not-a-number": b', "timings": [NaN, -Infinity]}',
    "damaged": b', "note": "\\ud83d", "name": "\xff", "size": 1e999}',
}
ERRORS: dict[str, tuple[int, dict[str, Any], dict[str, str]]] = {
    "429": (429, {"message": "too fast"}, {}),
    "429-seconds": (429, {"message": "too fast"}, {"retry-after": "0"}),
    "429-date": (429, {"message": "too fast"}, {}),
    "429-long": (429, {"message": "daily limit"}, {"retry-after": "86400"}),
    "quota": (429, {"message": "pay first", "code": "insufficient_quota"}, {}),
    "500": (500, {"message": "broken"}, {}),
    "503": (503, {"message": "loading"}, {"retry-after": "0"}),
    "401": (401, {}, {}),
    "404": (404, {"message": "no such model", "code": "model_not_found"}, {}),
    "filter": (400, {"message": "withheld", "code": "content_filter"}, {}),
    "overflow": (400, {"message": "This model's maximum context length is 9 tokens", "code": None}, {}),
    "parameter": (400, {"message": "Unsupported parameter: 'logprobs'", "code": "unsupported_parameter"}, {}),
    "rejected": (400, {"message": "messages must alternate"}, {}),
    "redirect": (307, {"message": "elsewhere"}, {"location": "http://127.0.0.1:1/"}),
}


def text_of(body: dict[str, Any]) -> str:
    """Return the text of a request's last message, or its prompt or input."""
    if "messages" in body:
        return str(body["messages"][-1]["content"])
    return str(body.get("prompt", body.get("input")))


def embeddings(body: dict[str, Any], fault: str) -> dict[str, Any]:
    """Return a vector per text, its length and its first character, last text first."""
    data = [
        {"index": at, "embedding": [float(len(text)), float(ord(text[0]))]} for at, text in enumerate(body["input"])
    ][::-1]
    if fault == "short":
        data.pop()
    if fault == "uneven":
        data[0]["embedding"] = [1.0]
    if fault == "repeated":
        data[0]["index"] = 0
    if fault == "infinite":
        data[0]["embedding"] = [1e300, 0.0]
    return {"object": "list", "data": data, "usage": {"prompt_tokens": 3, "total_tokens": 3}}


@contextmanager
def serving(script: Script | None = None, secured: ssl.SSLContext | None = None) -> Iterator[HostileServer]:
    """Context of a running server."""
    server, ready = HostileServer(script, secured), threading.Event()
    thread = threading.Thread(target=server.serve, args=(ready,), daemon=True)
    thread.start()
    ready.wait()
    try:
        yield server
    finally:
        server.end()
        thread.join()
