"""Run asynchronous code from ordinary functions, also where an event loop is running, as in notebooks."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

_Result = TypeVar("_Result")


def run_async(work: Coroutine[Any, Any, _Result]) -> _Result:
    """Return the result of a coroutine; within a running loop, another thread runs it."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()
