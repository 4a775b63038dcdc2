"""Many readers of a served board at once, beside a plain server of static files: python benchmarks/board_load.py

The pages are of the size of a board of 1,000 systems. Every reader asks for the page, its script, its data and a
system, again and again, as a browser that has them does, with pauses; p50 and p99 of all answers are printed.
"""

import argparse
import asyncio
import functools
import http.server
import json
import multiprocessing
import random
import socketserver
import tempfile
import time
from pathlib import Path

from isogloss.board.server.board import open_board
from isogloss.board.server.pages import pack_files
from isogloss.board.server.serve import serve
from isogloss.board.server.settings import BoardSettings, write_settings

SYSTEMS = 1_000
BYTES = {"index.html": 4_000, "app.js": 150_000, "board.css": 15_000, "data.js": 1_200_000}


def make_site(folder: Path) -> None:
    """Files of the sizes and of the sort of content that a built board has."""
    rng = random.Random(0)
    (folder / "systems").mkdir(parents=True)
    for name, size in BYTES.items():
        words = "".join(rng.choice("abcdefghijklmnopqrstuvwxyz0123456789+/ \n") for _ in range(size // 2))
        (folder / name).write_text(words * 2)
    for number in range(SYSTEMS):
        (folder / f"systems/s{number}.js").write_text(json.dumps([rng.random() for _ in range(600)]))


async def ask(line: tuple[asyncio.StreamReader, asyncio.StreamWriter], path: str, tag: str = "") -> tuple[float, str]:
    reader, writer = line
    condition = f"If-None-Match: {tag}\r\n" if tag else ""
    started = time.perf_counter()
    writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n{condition}\r\n".encode())
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    found = dict(each.split(": ", 1) for each in head.split("\r\n")[1:] if ": " in each)
    if " 304 " not in head.split("\r\n")[0]:
        assert " 200 " in head.split("\r\n")[0], (path, head)
        await reader.readexactly(int(found.get("content-length", 0)))
    return time.perf_counter() - started, found.get("etag", "")


async def read_on(port: int, until: float, pause: float, seed: int, api: bool, times: list[float]) -> None:
    rng = random.Random(seed)
    await asyncio.sleep(rng.uniform(0, pause))
    line = await asyncio.open_connection("127.0.0.1", port)
    tags: dict[str, str] = {}
    while time.perf_counter() < until:
        paths = ["/index.html", "/app.js", "/data.js", f"/systems/s{rng.randrange(SYSTEMS)}.js"]
        for path in [*paths, *(["/api/v1/queue"] if api else [])]:
            taken, tags[path] = await ask(line, path, tags.get(path, ""))
            times.append(taken)
            await asyncio.sleep(rng.uniform(0, 2 * pause))
    line[1].close()


async def measure(name: str, port: int, readers: int, seconds: float, pause: float, api: bool) -> None:
    times: list[float] = []
    until = time.perf_counter() + seconds
    await asyncio.gather(*(read_on(port, until, pause, seed, api, times) for seed in range(readers)))
    times.sort()
    p50, p99 = (1_000 * times[int(share * (len(times) - 1))] for share in (0.5, 0.99))
    print(f"{name:30} {len(times) / seconds:8.0f} answers/s   p50 {p50:7.1f} ms   p99 {p99:7.1f} ms")


class PlainHandler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Nothing is written."""


class PlainServer(socketserver.ThreadingMixIn, http.server.HTTPServer):
    request_queue_size = 1_000
    daemon_threads = True


def serve_plainly(folder: str, port: int) -> None:
    PlainServer(("127.0.0.1", port), functools.partial(PlainHandler, directory=folder)).serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--readers", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--pause", type=float, default=0.25, help="seconds that a reader looks at a page, on average")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "board"
        folder.mkdir()
        write_settings(folder, BoardSettings(suite="mini"))
        with (folder / "board.toml").open("a") as stream:
            stream.write("reads_per_minute = 100000000\n")
        board = open_board(folder)
        make_site(board.site / "site-1000000000")
        pack_files(board.site / "site-1000000000")
        (board.site / "current").symlink_to("site-1000000000")
        board.engine.dispose()
        servers = {"isogloss board serve": (serve, (folder, "127.0.0.1", 8761, 0), 8761, True)}
        plain = (str(board.site / "site-1000000000"), 8762)
        servers["python's http.server, threads"] = (serve_plainly, plain, 8762, False)
        for name, (target, words, port, api) in servers.items():
            process = multiprocessing.get_context("spawn").Process(target=target, args=words)
            process.start()
            try:
                time.sleep(6)
                asyncio.run(measure(name, port, options.readers, options.seconds, options.pause, api))
            finally:
                process.terminate()
                process.join()


if __name__ == "__main__":
    main()
