"""A language model behind a real HTTP server that knows what to answer."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from endpoints.hostile_server import HostileServer, Script
from isogloss.prompts.render import Prompts
from isogloss.prompts.settings import PromptSettings
from isogloss.tasks.examples import Examples
from isogloss.tasks.registry import task


class ModelServer(HostileServer):
    """A server with an answer per last message; others get the default answer."""

    def __init__(self, answers: Mapping[str, str], default: str, script: Script | None = None) -> None:
        super().__init__(script)
        self.answers, self.default = answers, default

    def _answer(self, path: str, body: dict[str, Any], content: str, fault: str) -> dict[str, Any]:
        self.says = self.answers.get(content, self.default)
        return super()._answer(path, body, content, fault)


@contextmanager
def model_server(
    answers: Mapping[str, str], default: str = "I am not sure.", script: Script | None = None
) -> Iterator[ModelServer]:
    """Context of a running server."""
    server, ready = ModelServer(answers, default, script), threading.Event()
    thread = threading.Thread(target=server.serve, args=(ready,), daemon=True)
    thread.start()
    ready.wait()
    try:
        yield server
    finally:
        server.end()
        thread.join()


def right_answers(examples: Examples, **choices: Any) -> dict[str, str]:
    """Return the right answer to every prompt."""
    made = Prompts(task(examples.task), examples.language, PromptSettings(model="small", **choices))
    rows = made.rows(examples)
    gold = examples[examples.gold]
    return {made.turn(row): made.format.write(row, answer) for row, answer in zip(rows, gold, strict=True)}
