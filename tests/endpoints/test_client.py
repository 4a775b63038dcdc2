"""The client's parts: waits, slots, meanings of errors, HTTP."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from email.utils import formatdate
from typing import Any

import msgspec
import pytest

from endpoints.hostile_server import serving
from endpoints.sending import quick
from isogloss.endpoints.client import Client, End, retry_after
from isogloss.endpoints.connections import BrokenReplyError, DirectConnections, ProxiedConnections
from isogloss.endpoints.refusals import Refusal, classify
from isogloss.endpoints.throttle import Throttle

CHAT = "/v1/chat/completions"


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("3", 3.0), (" 0.5 ", 0.5), ("-4", 0.0), ("", None), ("soon", None), ("nan", None), ("inf", None)],
)
def test_retry_after(value: str, seconds: float | None) -> None:
    assert retry_after(value) == seconds


def test_retry_after_a_date() -> None:
    assert retry_after(formatdate(0, usegmt=True)) == 0
    in_an_hour = retry_after(formatdate(time.time() + 3600, usegmt=True))
    assert in_an_hour is not None
    assert 3000 < in_an_hour <= 3600


def error(**parts: Any) -> bytes:
    return msgspec.json.encode({"error": parts})


@pytest.mark.parametrize(
    ("status", "content", "meaning"),
    [
        (429, error(message="slow down"), Refusal.RATE),
        (429, error(code="insufficient_quota"), Refusal.MONEY),
        (402, b"", Refusal.MONEY),
        (500, b"<html>oops</html>", Refusal.TRY_AGAIN),
        (529, b"", Refusal.TRY_AGAIN),
        (408, b"", Refusal.TRY_AGAIN),
        (500, error(type="exceed_context_size_error", message="too long"), Refusal.OVERFLOW),
        (401, error(message="no"), Refusal.KEY),
        (403, b"", Refusal.KEY),
        (403, error(message="flagged", metadata={"flagged_input": "x"}), Refusal.FILTERED),
        (404, b"", Refusal.MISSING),
        (405, b"", Refusal.MISSING),
        (301, b"", Refusal.REDIRECT),
        (413, b"", Refusal.OVERFLOW),
        (400, error(code="context_length_exceeded"), Refusal.OVERFLOW),
        (400, b'{"object":"error","message":"This model\'s maximum context length is 4096 tokens."}', Refusal.OVERFLOW),
        (400, error(message="the request exceeds the available context size"), Refusal.OVERFLOW),
        (400, error(code="content_filter"), Refusal.FILTERED),
        (400, error(message="triggering Azure OpenAI's content management policy"), Refusal.FILTERED),
        (400, error(code="data_inspection_failed"), Refusal.FILTERED),
        (400, error(code="unsupported_parameter", param="logprobs"), Refusal.PARAMETER),
        (400, error(message="Unrecognized request argument supplied: echo"), Refusal.PARAMETER),
        (422, b'{"detail":[{"type":"extra_forbidden","msg":"Extra inputs are not permitted"}]}', Refusal.PARAMETER),
        (400, error(message="roles must alternate"), Refusal.REJECTED),
        (400, b'{"detail": "bad"}', Refusal.REJECTED),
        (400, b"[]", Refusal.REJECTED),
        (400, b"\xff\x00", Refusal.REJECTED),
    ],
)
def test_meanings_of_errors(status: int, content: bytes, meaning: Refusal) -> None:
    assert classify(status, content)[0] is meaning


def test_the_words_of_errors() -> None:
    assert classify(400, error(message="bad\x1b[31m\nthing"))[1] == "bad\N{REPLACEMENT CHARACTER}[31m thing"
    assert classify(400, b'{"error": "plain"}')[1] == "plain"
    assert classify(502, b"<html><b>Bad</b> gateway</html>")[1] == "Bad gateway"
    assert len(classify(400, error(message="x" * 10_000))[1]) <= 400


def test_slots_grow_by_one_per_round_and_halve_once_per_round() -> None:
    async def main() -> None:
        throttle = Throttle(4, 6)
        for _ in range(4):
            throttle.speed_up()
        assert 4.8 < throttle.limit < 5.0  # 4 + 1/4 + 1/4.25 + …
        for _ in range(100):
            throttle.speed_up()
        assert throttle.limit == 6
        sent_at = asyncio.get_running_loop().time()
        for _ in range(5):  # refused together
            throttle.slow_down(sent_at, 0)
        assert throttle.limit == 3
        for _ in range(9):
            throttle.slow_down(asyncio.get_running_loop().time(), 0)
        assert throttle.limit == 1

    asyncio.run(main())


def test_slots_are_waited_for() -> None:
    async def main() -> None:
        throttle, entered = Throttle(2, 2), 0

        async def work() -> None:
            nonlocal entered
            await throttle.enter()
            entered += 1

        tasks = [asyncio.create_task(work()) for _ in range(5)]
        await asyncio.sleep(0)
        assert entered == 2
        throttle.leave()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert entered == 3
        tasks[3].cancel()
        await asyncio.sleep(0)
        throttle.leave()
        await tasks[4]
        assert entered == 4
        last = asyncio.create_task(work())
        await asyncio.sleep(0)
        throttle.open_all()
        await last

    asyncio.run(main())


def test_a_pause_ends_by_itself() -> None:
    async def main() -> None:
        throttle = Throttle(2, 2)
        throttle.slow_down(asyncio.get_running_loop().time(), 0.02)
        before = asyncio.get_running_loop().time()
        await throttle.enter()
        assert asyncio.get_running_loop().time() >= before + 0.01

    asyncio.run(main())


def test_only_429_shrinks_the_concurrency() -> None:
    async def limit_after(fault: str) -> float:
        with serving(lambda content, attempt: fault if attempt == 0 else "") as server:
            async with Client(quick(server.url, start_concurrency=8)) as client:
                verdict = await client.ask(CHAT, b'{"messages":[{"content":"a"}]}')
                assert verdict.end is End.ANSWERED
                assert client.retries == 1
                return client.throttle.limit

    assert asyncio.run(limit_after("500")) == 8 + 1 / 8
    assert asyncio.run(limit_after("reset")) == 8 + 1 / 8
    assert asyncio.run(limit_after("429")) == 4 + 1 / 4


def raw_server(reply: bytes) -> Callable[[], Any]:
    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(reply)
        await writer.drain()
        writer.close()

    return lambda: asyncio.start_server(connected, "127.0.0.1", 0)


async def exchanged(reply: bytes) -> tuple[int, bytes]:
    async with await raw_server(reply)() as server:
        address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        connections = DirectConnections(address, {})
        answer = await connections.exchange("POST", "/", b"{}")
        await connections.close()
        return answer.status, answer.content


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", (200, b"hi")),
        (b"HTTP/1.1 200 OK\r\nCONTENT-LENGTH:2\r\n\r\nhi", (200, b"hi")),
        (b"HTTP/1.0 200 OK\r\n\r\nhi", (200, b"hi")),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 C\r\ncontent-length: 0\r\n\r\n", (201, b"")),
        (b"HTTP/1.1 204 No\r\n\r\n", (204, b"")),
        (b"HTTP/1.1 200\r\ntransfer-encoding: chunked\r\n\r\n1;x=y\r\nh\r\n1\r\ni\r\n0\r\nt: 1\r\n\r\n", (200, b"hi")),
    ],
)
def test_http_responses(reply: bytes, expected: tuple[int, bytes]) -> None:
    assert asyncio.run(exchanged(reply)) == expected


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b"nonsense\r\n\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/2 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\nhi",
        b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\nhi",
        b"HTTP/1.1 200 OK\r\ncontent-length: 99999999999999\r\n\r\nhi",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n-5\r\nhello\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhe",
        b"HTTP/1.1 200 OK\r\nx: " + b"y" * 300_000 + b"\r\n\r\n",
    ],
)
def test_broken_http_responses(reply: bytes) -> None:
    with pytest.raises((BrokenReplyError, ConnectionError)):
        asyncio.run(exchanged(reply))


def test_a_body_may_end_with_the_connection() -> None:
    body = bytes(range(256)) * 20_000  # more than a connection delivers at once
    assert asyncio.run(exchanged(b"HTTP/1.0 200 OK\r\n\r\n" + body)) == (200, body)


def test_a_surplus_response_answers_no_later_request() -> None:
    opened = 0

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal opened
        opened += 1
        reply = b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n%d" % opened
        with suppress(asyncio.IncompleteReadError):
            while await reader.readuntil(b"\r\n\r\n"):
                writer.write(reply * 2)
        writer.close()

    async def main() -> None:
        async with await asyncio.start_server(connected, "127.0.0.1", 0) as server:
            connections = DirectConnections(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", {})
            answers = [await connections.exchange("POST", "/", b"") for _ in range(3)]
            await connections.close()
        assert [answer.content for answer in answers] == [b"1", b"2", b"3"]

    asyncio.run(main())


def test_a_proxy_is_used_through_httpx() -> None:
    async def main() -> None:
        with serving() as server:
            # The server stands for a proxy: it sees the whole URL.
            connections = ProxiedConnections("http://far.example", {"authorization": "Bearer x"}, server.url)
            for _ in range(2):
                reply = await connections.exchange("POST", CHAT, b'{"messages":[{"content":"a"}]}')
                assert reply.status == 200
            assert server.keys == {"Bearer x"}
            await connections.close()
            gone = ProxiedConnections("http://far.example", {}, "http://127.0.0.1:1")
            with pytest.raises(BrokenReplyError):
                await gone.exchange("POST", CHAT, b"{}")

    asyncio.run(main())
