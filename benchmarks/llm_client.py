"""Requests per second and CPU time per request of clients of language models, against a server that answers at once.

    python benchmarks/llm_client.py                              # ours, the OpenAI SDK, lm-eval, one after another
    python benchmarks/llm_client.py --only ours --requests 500000    # memory with many requests

Each client runs in its own process, at the same concurrency, with the same prompts of 800 characters; the server is
another process. Ours also writes every answer to disk, and its CPU time includes the process that sends. The times of
imports are left out. Peers that are not installed are named and skipped: `pip install openai "lm-eval[api]==0.4.*"`.
"""

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ANSWER = json.dumps(
    {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "small",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "true"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 200, "completion_tokens": 1, "total_tokens": 201},
    }
).encode()
REPLY = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (len(ANSWER), ANSWER)
PEERS = {"openai": "OpenAI SDK", "lm-eval": "lm-eval"}


class InstantServer(asyncio.Protocol):
    """Connection of a server that reads a request and answers."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport, self.received = transport, b""

    def data_received(self, data: bytes) -> None:
        self.received += data
        while (end := self.received.find(b"\r\n\r\n")) >= 0:
            head = self.received[:end].lower()
            length = int(head[head.index(b"content-length:") + 15 :].split(b"\r\n", 1)[0])
            if len(self.received) < end + 4 + length:
                return
            self.received = self.received[end + 4 + length :]
            self.transport.write(REPLY)  # type: ignore[attr-defined]


async def serve() -> None:
    server = await asyncio.get_running_loop().create_server(InstantServer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def prompts(count: int) -> Iterator[str]:
    return (f"{number:08} " + "word " * 158 + "?" for number in range(count))


def used() -> float:
    """CPU seconds of this process and of its children that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in usages)


def measured(work: Callable[[], int], count: int) -> dict[str, float]:
    cpu, wall = used(), time.perf_counter()
    answers = work()
    wall, cpu = time.perf_counter() - wall, used() - cpu
    assert answers == count, (answers, count)
    memory = [resource.getrusage(who).ru_maxrss / 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return {"rate": count / wall, "cpu_ms": 1000 * cpu / count, "memory_mb": memory[0], "children_mb": memory[1]}


def ours(url: str, count: int, concurrency: int) -> dict[str, float]:
    from isogloss.endpoints.endpoint import Endpoint
    from isogloss.endpoints.requests import make_request
    from isogloss.endpoints.send import send
    from isogloss.endpoints.store import ResponseStore

    requests = (
        make_request(
            "bench-en",
            "/v1/chat/completions",
            {"model": "small", "messages": [{"role": "user", "content": text}], "max_tokens": 5},
        )
        for text in prompts(count)
    )
    endpoint = Endpoint(url=url, concurrency=concurrency, start_concurrency=concurrency)
    with tempfile.TemporaryDirectory() as folder:
        return measured(lambda: send(requests, ResponseStore(Path(folder)), endpoint).answered, count)


def openai_sdk(url: str, count: int, concurrency: int) -> dict[str, float]:
    import openai

    async def work() -> int:
        client, texts, answers = openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="none"), prompts(count), 0

        async def ask() -> None:
            nonlocal answers
            for text in texts:
                message: Any = {"role": "user", "content": text}
                reply = await client.chat.completions.create(model="small", messages=[message], max_tokens=5)
                answers += reply.choices[0].message.content == "true"

        await asyncio.gather(*(ask() for _ in range(concurrency)))
        return answers

    return measured(lambda: asyncio.run(work()), count)


def lm_eval(url: str, count: int, concurrency: int) -> dict[str, float]:
    from lm_eval.api.instance import Instance
    from lm_eval.models.api_models import JsonChatStr
    from lm_eval.models.openai_completions import LocalChatCompletion

    model = LocalChatCompletion(
        base_url=f"{url}/v1/chat/completions", model="small", num_concurrent=concurrency, eos_string="</s>"
    )

    def work() -> int:
        settings = {"until": ["\n"], "max_gen_toks": 5}
        messages = [JsonChatStr(json.dumps([{"role": "user", "content": text}])) for text in prompts(count)]
        asked = [Instance("generate_until", {}, (each, settings), number) for number, each in enumerate(messages)]
        return model.generate_until(asked, disable_tqdm=True).count("true")

    return measured(work, count)


CLIENTS = {"ours": ours, "openai": openai_sdk, "lm-eval": lm_eval}


def child(name: str, url: str, count: int, concurrency: int) -> dict[str, float] | None:
    words = [sys.executable, __file__, "--child", url, "--only", name]
    words += ["--requests", str(count), "--concurrency", str(concurrency)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{name} is left out: {done.stderr.strip().splitlines()[-1]}")
        return None
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def compare(names: list[str], count: int, concurrency: int, repetitions: int) -> None:
    server = subprocess.Popen([sys.executable, __file__, "--serve"], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        url = f"http://127.0.0.1:{int(server.stdout.readline())}"
        rows: dict[str, dict[str, float]] = {}
        for _ in range(repetitions):
            for name in list(names):
                if (figures := child(name, url, count, concurrency)) is None:
                    names.remove(name)
                elif name not in rows or figures["cpu_ms"] < rows[name]["cpu_ms"]:
                    rows[name] = figures
    finally:
        server.terminate()
        server.wait()
    print(f"{count:,} requests, {concurrency} at a time; best of {repetitions} by CPU time")
    print(f"{'client':12}{'requests/s':>12}{'CPU ms':>9}{'MB':>8}{'rate ratio':>12}{'CPU ratio':>11}")
    for name, row in rows.items():
        memory = row["memory_mb"] + (row["children_mb"] if name == "ours" else 0)
        base = rows.get("ours", row)
        ratios = f"{base['rate'] / row['rate']:11.1f}x{row['cpu_ms'] / base['cpu_ms']:10.1f}x"
        print(f"{PEERS.get(name, name):12}{row['rate']:12,.0f}{row['cpu_ms']:9.3f}{memory:8.0f}{ratios}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=CLIENTS, action="append")
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        asyncio.run(serve())
    elif given.child:
        print(json.dumps(CLIENTS[given.only[0]](given.child, given.requests, given.concurrency)))
    else:
        compare(given.only or list(CLIENTS), given.requests, given.concurrency, given.repetitions)


if __name__ == "__main__":
    main()
