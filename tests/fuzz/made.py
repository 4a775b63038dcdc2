"""Valid inputs to corrupt: answers to the built-in tasks in every format, and folders of gold and answers."""

import json
import random
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from isogloss.tasks.kinds import kind_of
from isogloss.tasks.loading import load
from isogloss.tasks.registry import task
from isogloss.tasks.suites import Suite
from sample import write_gold, write_system

# A built-in task of every kind, with two of its languages.
CELLS = {
    "mini-xnli": ("de", "zh"),
    "mini-xcopa": ("sw", "zh"),
    "mini-udpos": ("de", "zh"),
    "mini-wikiann": ("de", "zh"),
    "mini-xquad": ("de", "zh"),
    "mini-tatoeba": ("de", "zh"),
    "mini-lareqa": ("de", "zh"),
    "mini-mewslix": ("de", "ja"),
    "checklist-comparisons": ("de", "zh"),
}
RETRIEVAL = ("mini-tatoeba", "mini-lareqa", "mini-mewslix")


def suite_of(name: str) -> str:
    """Return the suite of a task in `CELLS`."""
    return "checklist" if name.startswith("checklist") else "mini"


@cache
def answers(name: str, language: str) -> dict[str, Any]:
    """Return answers to a cell by id: the gold, and for a third of the examples another one's gold."""
    rng = random.Random(f"{name}/{language}")
    examples = load(name, language)
    gold = [_answer(name, value) for value in examples[examples.gold]]
    others = rng.sample(gold, len(gold))
    if name == "mini-xcopa":
        others = [1 - value for value in gold]
    if task(name).kind == "tagging":
        others = [[rng.choice(tags) for _ in tags] for tags in gold]
    chosen = [other if rng.random() < 0.33 else own for own, other in zip(gold, others, strict=True)]
    if name in RETRIEVAL:
        pool = list(examples.pool.ids)[:60]
        chosen = [list(dict.fromkeys([*ranked, *rng.sample(pool, 40)]))[:40] for ranked in chosen]
    return dict(zip(examples.ids, chosen, strict=True))


def _answer(name: str, gold: Any) -> Any:
    return gold[0] if task(name).kind in ("qa", "checklist") else gold


def json_lines(answered: dict[str, Any]) -> bytes:
    """Return answers in our own format."""
    return b"".join(
        json.dumps({"id": key, "prediction": value}, ensure_ascii=False).encode() + b"\n"
        for key, value in answered.items()
    )


def file_forms(name: str, language: str) -> dict[str, bytes]:
    """Return a cell's answers in every format, by path below the prediction folder."""
    answered = answers(name, language)
    forms = {f"{name}/{language}.jsonl": json_lines(answered)}
    values = list(answered.values())
    label_format = kind_of(task(name)).label_format
    if label_format == "lines" and name != "mini-tatoeba":
        forms[f"{name}/test-{language}.tsv"] = "".join(f"{value}\n" for value in values).encode()
    if label_format == "tags":
        forms[f"{name}/test-{language}.tsv"] = "\n".join(
            "".join(f"{tag}\n" for tag in tags) for tags in values
        ).encode()
    if label_format == "choices":
        forms[f"{name}/test-{language}.jsonl"] = "".join(
            json.dumps({"label": value}) + "\n" for value in values
        ).encode()
    if label_format == "by-id":
        forms[f"{name}/test-{language}.json"] = json.dumps(answered, ensure_ascii=False).encode()
    if kind_of(task(name)).one_file_for_all:
        forms[f"{name}.json"] = json.dumps({language: answered}, ensure_ascii=False).encode()
    return forms


@cache
def vectors(name: str, language: str) -> dict[str, tuple[list[str], Any]]:
    """Return ids and vectors of a retrieval task by file name, with queries near one of their targets."""
    rng = np.random.default_rng(7)
    examples = load(name, language)
    pool = list(examples.pool.ids)
    candidates = rng.standard_normal((len(pool), 16)).astype(np.float32)
    places = {identifier: row for row, identifier in enumerate(pool)}
    near = [places[targets[0]] for targets in examples[examples.gold]]
    queries = candidates[near] + rng.standard_normal((len(near), 16)).astype(np.float32)
    return {f"queries-{language}": (examples.ids, queries), "candidates": (pool, candidates)}


# Kinds without a built-in task, and the label formats of all.
LABELLED = Suite(
    id="labelled",
    title="XTREME's own files",
    tasks=(
        "xnli",
        "xcopa",
        "udpos",
        "wikiann",
        "xquad",
        "mlqa",
        "tatoeba",
        "lareqa",
        "mewslix",
        "bucc",
        "pawsx",
        "mldoc",
    ),
    languages={name: (task(name).languages[0],) for name in ("xnli", "xcopa", "udpos", "wikiann", "xquad", "mlqa")}
    | {name: (task(name).languages[0],) for name in ("tatoeba", "lareqa", "mewslix", "bucc", "pawsx", "mldoc")},
)


def label_files(root: Path) -> None:
    """Write folders `gold` and `system` in XTREME's layout for every task of `LABELLED`."""
    write_gold(root / "gold", LABELLED, 12)
    write_system(root / "system", LABELLED, 12, "made", 0.7)
