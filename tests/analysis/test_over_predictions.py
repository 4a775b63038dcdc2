"""The analyses over prediction folders by their names: from the command line, and in Python."""

import json
from pathlib import Path

import pytest

import isogloss
from e2e.command import isogloss as command
from predictions.made import write_jsonl


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Answers to the mini suite that are wrong in every third example of German."""
    root = tmp_path_factory.mktemp("answers")
    for task in ("mini-xnli", "mini-wikiann", "mini-lareqa"):
        for code in ("en", "de"):
            examples = isogloss.load(task, code)
            pool = list(examples.pool.ids)[:40] if examples.pool else []
            answers = {}
            for row, (name, gold) in enumerate(zip(examples.ids, examples[examples.gold], strict=True)):
                right = not (code == "de" and row % 3 == 0)
                wrong = ["O"] * len(gold) if task == "mini-wikiann" else "neutral"
                said = [*(gold if right else ()), *(each for each in pool if each not in gold)] if pool else gold
                answers[name] = said if right or pool else wrong
            write_jsonl(root / f"{task}/{code}.jsonl", answers)
    return root


@pytest.mark.parametrize(
    ("name", "tables"),
    [
        (
            "consistency",
            ["given-pivot", "agreement", "right-in", "one-language", "failed-everywhere", "failed-in-one"],
        ),
        ("unseen", ["entities", "entities-by"]),
        ("language-pairs", ["same-different", "own-language", "bias", "matrix-mini-lareqa"]),
    ],
)
def test_by_name(name: str, tables: list[str], folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "found.json"
    done = command("analyze", name, folder, "--set", "suite=mini", "--json", target)
    assert (done.code, done.err) == (0, ""), done.err
    written = json.loads(target.read_text(encoding="utf-8"))
    assert [table["name"] for table in written["tables"]] == tables
    assert {figure["table"] for figure in written["figures"]} <= set(tables)
    assert written["reading"].split()[0] in done.out
    assert isogloss.analyze(name, folder, suite="mini").reading == written["reading"]


def test_what_is_missing_is_said_without_a_traceback(folder: Path) -> None:
    done = command("analyze", "consistency", folder, "--set", "suite=mini", "--tasks", "mini-xnli", "--languages", "de")
    assert done.code == 1
    assert "no task has answers in two languages" in done.err
    done = command("analyze", "language-pairs", folder, "--set", "suite=mini", "--set", "k=none")
    assert done.code == 2
    assert "option k of language-pairs is 'none'" in done.err
