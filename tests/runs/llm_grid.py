"""A grid of a language model in tests: its command, right answers and scores; run as a program, it is the command."""

import json
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import isogloss
from isogloss.cli.main import main
from isogloss.endpoints.endpoint import Endpoint

TASKS = ("mini-xnli", "mini-xquad")
WORDINGS = ("question", "careful")
_made = Endpoint.of


def short_waits(table: dict[str, Any], where: str = "endpoint") -> Endpoint:
    """Return an endpoint whose failed requests are repeated at once."""
    return _made({"first_wait": 0.01, "longest_wait": 0.1, **table}, where)


@dataclass(frozen=True)
class LlmGrid:
    """A grid of `llm:small` with two wordings, in a folder."""

    folder: Path
    languages: tuple[str, ...] = ("de", "sw")

    @property
    def answers(self) -> dict[str, str]:
        """The right answers to all prompts."""
        from systems.llm.model_server import right_answers  # not on the path of the command below

        found: dict[str, str] = {}
        count = 0
        for name in TASKS:
            for code in self.languages:
                for wording in WORDINGS:
                    own = right_answers(isogloss.load(name, code), wording=wording)
                    count += len(own)
                    found |= own
        assert len(found) == count, "wordings must differ in the texts that the server counts"
        return found

    def words(self, url: str, *more: object, concurrency: int = 4) -> list[str]:
        """Return the words of the command."""
        config = self.folder / "config.toml"
        settings = {"labels": "text", "tags": "lines", "store": str(self.folder / "store")}
        lines = [f"{name} = {json.dumps(value)}\n" for name, value in settings.items()]
        config.write_text("".join([*lines, f"concurrency = {concurrency}\n"]))
        words = ["run", "llm:small", "--suite", "mini", "--tasks", ",".join(TASKS), "--prompts", ",".join(WORDINGS)]
        words += ["--languages", ",".join(self.languages), "--config", str(config), "--endpoint", url]
        return [*words, "--out", str(self.folder / "runs"), *map(str, more)]

    def start(self, url: str, *more: object) -> "subprocess.Popen[str]":
        """Start the command in a process of its own."""
        words = [sys.executable, __file__, *self.words(url, *more)]
        return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    @property
    def scores(self) -> dict[tuple[str, str, str], float]:
        """The scores of all finished cells, by wording, task and language."""
        found: dict[tuple[str, str, str], float] = {}
        for wording in WORDINGS:
            path = self.folder / f"runs/llm-small/none/prompt-{wording}/seed-0/results.json"
            for cell in json.loads(path.read_text())["cells"]:
                main_score = next(iter(cell["metrics"].values()))["value"]
                found[wording, cell["task"], cell["language"]] = main_score
        return found

    @property
    def perfect(self) -> dict[tuple[str, str, str], float]:
        """The scores of a grid with right answers only."""
        return {(wording, name, code): 100.0 for wording in WORDINGS for name in TASKS for code in self.languages}

    @property
    def once(self) -> Counter[str]:
        """Every prompt, once."""
        return Counter(self.answers.keys())


if __name__ in ("__main__", "__mp_main__"):  # the latter in processes spawned by the former
    Endpoint.of = short_waits  # type: ignore[method-assign,assignment]

if __name__ == "__main__":
    main()
