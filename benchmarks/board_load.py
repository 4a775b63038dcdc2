"""Many concurrent readers of a served board, compared with a plain static file server: python benchmarks/board_load.py

The board has 1,000 synthetic systems with all cells of XTREME-R. Every reader requests the page, its script, its
data and a system repeatedly, like a browser with a cache, with pauses, and from the board also the API;
p50 and p99 of complete responses are printed. One server after the other, in the same run. With --idle, the board is
measured again while so many connections of other addresses send nothing; those that the server drops connect again.
"""

import argparse
import asyncio
import functools
import http.server
import multiprocessing
import random
import socket
import socketserver
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.process import BaseProcess
from pathlib import Path

from isogloss.board.build import make_board
from isogloss.board.server.board import BoardSettings, open_board, write_settings
from isogloss.board.server.connections import raise_file_limit
from isogloss.board.server.pages import pack_files
from isogloss.board.server.serve import serve
from isogloss.board.site import write_site
from isogloss.results.system import CellResult, SystemResult
from isogloss.scoring.names import known_language
from isogloss.scoring.results import Number
from isogloss.tasks.suites import suite

_PAGES = ("/index.html", "/app.js", "/data.js")
_SHARED = 4  # the first addresses, requested by every reader


def make_site(folder: Path, systems: int) -> list[str]:
    """Write the pages of a board, and return the addresses of the systems' own files."""
    rng = random.Random(0)
    whole = suite("xtreme-r")
    entries = []
    for number in range(systems):
        skill = rng.uniform(30, 80)
        cells = {}
        for name in whole.tasks:
            for code in whole.languages_of(name):
                values = {metric: min(99.0, max(1.0, rng.gauss(skill, 8))) for metric in whole.members[name].main}
                numbers = {metric: Number(value, value - 1, value + 1, 1_000) for metric, value in values.items()}
                cells[name, code] = CellResult(
                    task=whole.members[name],
                    code=code,
                    language=known_language(code),
                    metrics=numbers,
                    signature=f"{name}|{code}|test|n:1000|sha256:{rng.getrandbits(64):016x}",
                )
        known = {"kind": "encoder", "year": 2020 + number % 7, "parameters": round(rng.uniform(100, 70_000), 1)}
        entries.append(SystemResult(name=f"System {number}", regime="zero-shot", metadata=known, cells=cells))
    write_site(make_board(entries, whole), folder)
    pack_files(folder)
    return [f"/systems/{path.name}" for path in sorted((folder / "systems").glob("*.js"))]


async def ask(line: tuple[asyncio.StreamReader, asyncio.StreamWriter], path: str, tag: str = "") -> tuple[float, str]:
    reader, writer = line
    condition = f"If-None-Match: {tag}\r\n" if tag else ""
    started = time.perf_counter()
    writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n{condition}\r\n".encode())
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    headers = dict(each.split(": ", 1) for each in head.split("\r\n")[1:] if ": " in each)
    if " 304 " not in head.split("\r\n")[0]:
        assert " 200 " in head.split("\r\n")[0], (path, head)
        await reader.readexactly(int(headers.get("content-length", 0)))
    return time.perf_counter() - started, headers.get("etag", "")


def address(number: int) -> tuple[str, int]:
    """Return one of many addresses of this machine: the board limits the connections of each client."""
    return f"127.1.{number // 250}.{number % 250 + 1}", 0


async def stay_idle(port: int, number: int) -> None:
    """Keep a connection open without sending anything; several share an address."""
    while True:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=address(10_000 + number // 50))
        started = time.perf_counter()
        try:
            with suppress(ConnectionError):
                await reader.read()
            assert time.perf_counter() - started > 1, "refused, not dropped for its silence"
        finally:
            writer.close()


async def read_on(port: int, until: float, pause: float, seed: int, pages: list[str], times: list[float]) -> None:
    rng = random.Random(seed)
    await asyncio.sleep(rng.uniform(0, pause))
    line = await asyncio.open_connection("127.0.0.1", port, local_addr=address(seed))
    tags: dict[str, str] = {}
    while time.perf_counter() < until:
        for path in (*pages[:_SHARED], rng.choice(pages[_SHARED:])):
            taken, tags[path] = await ask(line, path, tags.get(path, ""))
            times.append(taken)
            await asyncio.sleep(rng.uniform(0, 2 * pause))
    line[1].close()


def hold_idle(port: int, count: int) -> None:
    """Keep connections open, in a process of their own, which does not delay the readers' clocks."""
    raise_file_limit()

    async def hold_all() -> None:
        await asyncio.gather(*(stay_idle(port, number) for number in range(count)))

    asyncio.run(hold_all())


async def measure(name: str, port: int, options: argparse.Namespace, pages: list[str]) -> float:
    """Print response times, and return the 99th percentile in milliseconds."""
    times: list[float] = []
    seconds, readers = options.seconds, range(options.readers)
    until = time.perf_counter() + seconds
    await asyncio.gather(*(read_on(port, until, options.pause, seed, pages, times) for seed in readers))
    times.sort()
    p50, p99 = (1_000 * times[int(share * (len(times) - 1))] for share in (0.5, 0.99))
    print(f"{name:34} {len(times) / seconds:8.0f} answers/s   p50 {p50:7.1f} ms   p99 {p99:7.1f} ms")
    return p99


class PlainHandler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Log nothing."""


class PlainServer(socketserver.ThreadingMixIn, http.server.HTTPServer):
    request_queue_size = 1_000
    daemon_threads = True


def serve_plainly(folder: str, port: int) -> None:
    PlainServer(("127.0.0.1", port), functools.partial(PlainHandler, directory=folder)).serve_forever()


@contextmanager
def running(target: Callable[..., None], *words: object) -> Iterator[BaseProcess]:
    """Run a function in a process until the end of the block."""
    process = multiprocessing.get_context("spawn").Process(target=target, args=words)
    process.start()
    try:
        yield process
    finally:
        process.terminate()
        process.join()


def wait_for(port: int) -> None:
    """Wait up to a minute until a server listens."""
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.1)
        else:
            return


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--readers", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--pause", type=float, default=0.25, help="mean seconds between two requests of a reader")
    parser.add_argument("--systems", type=int, default=1_000)
    parser.add_argument("--idle", type=int, default=0, help="idle connections beside the readers, in a second run")
    parser.add_argument("--p99", type=float, default=150, help="maximum p99 of the board in milliseconds")
    options = parser.parse_args()
    raise_file_limit()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "board"
        folder.mkdir()
        write_settings(folder, BoardSettings(suite="xtreme-r"))
        with (folder / "board.toml").open("a") as stream:
            stream.write("reads_per_minute = 100000000\n")
        board = open_board(folder)
        site = board.site / "site-1000000000"  # a build number higher than any that follows
        systems = make_site(site, options.systems)
        (board.site / "current").symlink_to(site.name)
        board.engine.dispose()
        print(f"{options.systems} systems: data.js has {(site / 'data.js').stat().st_size:,} bytes")
        servers = {
            "isogloss board serve": (serve, (folder, "127.0.0.1", 8761, 0), 8761, [*_PAGES, "/api/v1/queue"]),
            "python's http.server, threads": (serve_plainly, (str(site), 8762), 8762, [*_PAGES, "/board.css"]),
        }
        latencies = {}
        for name, (target, words, port, pages) in servers.items():
            with running(target, *words):
                wait_for(port)
                latencies[name] = asyncio.run(measure(name, port, options, [*pages, *systems]))
                if options.idle and target is serve:
                    beside = f"{name}, {options.idle:,} idle"
                    with running(hold_idle, port, options.idle) as holder:
                        time.sleep(3)  # until all are connected
                        latencies[beside] = asyncio.run(measure(beside, port, options, [*pages, *systems]))
                        assert holder.is_alive(), "the server refused idle connections"
    if max(p99 for name, p99 in latencies.items() if name.startswith("isogloss")) > options.p99:
        sys.exit(f"p99 is more than {options.p99:g} ms")


if __name__ == "__main__":
    main()
