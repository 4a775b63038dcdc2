"""Small made-up tasks of kinds without a built-in task, in two languages, with files that tests write."""

import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from isogloss.data.tables import jsonl
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.readers.split_files import SplitFiles
from isogloss.tasks.registry import TASKS
from isogloss.tasks.suites import SUITES, Suite
from isogloss.tasks.task import Layout, Task

SUITE = "open"
LANGUAGES = ("en", "de")
TOPICS = ("dance", "law", "kites", "jazz")
_SHARED: dict[str, Any] = {
    "category": "open",
    "languages": LANGUAGES,
    "layouts": (Layout.by_split("open_tasks:rows", "{code}/{split}.jsonl"),),
    "counts": {},
    "licence": "CC0-1.0",
    "homepage": "https://example.org",
    "citation": "made for a test",
}
_MADE = (
    ("gists", "generation", ("chrf",), {"prompt": "Write the gist of the text."}),
    ("subjects", "multilabel", ("micro-f1",), {"labels": TOPICS}),
    ("likeness", "regression", ("pearson",), {"range": (0, 5), "prompt": "How alike are the sentences?"}),
    ("quiz", "choice", ("accuracy",), {}),
)


def _layout(name: str) -> tuple[Layout, ...]:
    return (Layout.by_split("open_tasks:rows", f"{name}/{{lang}}-{{split}}.jsonl"),)


OPEN_TASKS = {
    name: Task(id=name, title=name, kind=kind, main=main, options=options, **{**_SHARED, "layouts": _layout(name)})
    for name, kind, main, options in _MADE
}


def declared(name: str) -> Task:
    """Return a task by name."""
    return OPEN_TASKS[name]


def suite(name: str) -> Suite:
    """Return the suite of all tasks."""
    return Suite(id=name, title="Open answers", tasks=tuple(OPEN_TASKS), rule="flat")


def rows(files: SplitFiles) -> Examples | None:
    """Read one JSON object per line, with the columns of the task's kind."""
    path = files.path()
    if path is None:
        return None
    records = list(jsonl(path, dict[str, Any], files.digest))
    columns: dict[str, Any] = {name: [record[name] for record in records] for name in records[0]}
    return files.examples(files.row_ids(len(records)), columns, kind_of(files.task).gold)


@contextmanager
def registered() -> Iterator[None]:
    """Make the tasks and their suite known."""
    with pytest.MonkeyPatch.context() as patch:
        for name in OPEN_TASKS:
            patch.setitem(TASKS.shipped, name, f"{__name__}:declared")  # type: ignore[arg-type]
            patch.delitem(TASKS._loaded, name, raising=False)
        patch.setitem(SUITES.shipped, SUITE, f"{__name__}:suite")  # type: ignore[arg-type]
        yield
    for name in OPEN_TASKS:
        TASKS._loaded.pop(name, None)
    SUITES._loaded.pop(SUITE, None)


_WORDS = [first + second for first in ("ba", "do", "ki", "lu", "me", "so", "ti", "za") for second in ("n", "ra", "sto")]


def record(name: str, rng: random.Random) -> dict[str, Any]:
    """Return a made-up example with its gold."""
    words = rng.choices(_WORDS, k=rng.randint(6, 14))
    if name == "gists":
        gist = " ".join(words[: rng.randint(2, 6)])
        return {"text": " ".join(words), "references": [gist, gist.upper()][: rng.randint(1, 2)]}
    if name == "subjects":
        topics = rng.sample(TOPICS, rng.randint(0, 3))
        return {"text": " ".join([*words, *(2 * topics)]), "labels": topics}
    if name == "likeness":
        others = rng.choices(_WORDS, k=len(words))
        shared = rng.randint(0, len(words))
        second = [*words[:shared], *others[shared:]]
        return {"text_a": " ".join(words), "text_b": " ".join(second), "score": round(5 * shared / len(words), 2)}
    choices = rng.sample(_WORDS, rng.randint(2, 12))
    right = rng.randrange(len(choices))
    return {"question": f"Which word is {choices[right]}?", "choices": choices, "label": right}


def write_data(root: Path, test: int = 60, train: int = 150) -> Path:
    """Write the files of all tasks."""
    for name in OPEN_TASKS:
        for language in LANGUAGES:
            for split, count in (("test", test), ("train", train), ("dev", 30)):
                rng = random.Random(f"{name} {language} {split}")
                path = root / name / f"{language}-{split}.jsonl"
                path.parent.mkdir(parents=True, exist_ok=True)
                lines = [json.dumps(record(name, rng)) + "\n" for _ in range(count)]
                path.write_text("".join(lines), encoding="utf-8")
    return root
