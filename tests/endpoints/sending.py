"""Requests and commands for the tests of sending; run as a program, it is a command that sends."""

import subprocess
import sys
from pathlib import Path
from typing import Any

from isogloss.endpoints.endpoint import Endpoint
from isogloss.endpoints.requests import ApiRequest, make_request
from isogloss.endpoints.send import send
from isogloss.endpoints.store import ResponseStore


def requests(count: int, start: int = 0, **settings: Any) -> list[ApiRequest]:
    return [
        make_request(
            "mini-sw",
            "/v1/chat/completions",
            {"model": "small", "messages": [{"role": "user", "content": f"question {number}"}], **settings},
        )
        for number in range(start, start + count)
    ]


def quick(url: str, **settings: Any) -> Endpoint:
    """An endpoint with short waits."""
    return Endpoint(**{"url": url, "first_wait": 0.01, "longest_wait": 0.1, "timeout": 30.0, **settings})


def started(url: str, folder: Path, count: int, concurrency: int = 8) -> "subprocess.Popen[str]":
    """Start a command that sends requests."""
    words = [sys.executable, __file__, url, str(folder), str(count), str(concurrency)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def main() -> int:
    url, folder, count, concurrency = sys.argv[1:]
    endpoint = quick(url, concurrency=int(concurrency))
    try:
        outcome = send(requests(int(count)), ResponseStore(Path(folder)), endpoint)
    except KeyboardInterrupt:
        return 130
    sys.stdout.write(f"{outcome.answered} {outcome.already} {len(outcome.open)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
