"""Waiting for a browser without evaluating strings inside the page, which its content security policy forbids."""

import time
from typing import Any


def wait_until(tab: Any, expression: str, arg: Any = None) -> None:
    """Wait until a JavaScript expression is true; a busy machine has minutes."""
    deadline = time.monotonic() + 120
    while not tab.evaluate(expression, arg):
        assert time.monotonic() < deadline, expression
        tab.wait_for_timeout(20)
