"""Analyses of prediction folders by name, from the command line and in Python."""

import json
from pathlib import Path
from typing import Any

import pytest

import isogloss
from e2e.command import isogloss as command
from isogloss.analysis import answers
from isogloss.analysis.registry import ANALYSES
from isogloss.errors import UnknownNameError
from isogloss.scoring.results import PARTIAL_GOLD
from predictions.made import write_jsonl


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write answers to the mini suite with every third German example wrong."""
    root = tmp_path_factory.mktemp("answers")
    for task in ("mini-xnli", "mini-wikiann", "mini-lareqa"):
        for code in ("en", "de", "sw"):
            examples = isogloss.load(task, code)
            pool = list(examples.pool.ids)[:40] if examples.pool else []
            answers = {}
            for row, (name, gold) in enumerate(zip(examples.ids, examples[examples.gold], strict=True)):
                right = not (code == "de" and row % 3 == 0)
                wrong = ["O"] * len(gold) if task == "mini-wikiann" else "neutral"
                answer = (
                    [*(gold if right else ()), *(candidate for candidate in pool if candidate not in gold)]
                    if pool
                    else gold
                )
                answers[name] = answer if right or pool else wrong
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


def test_errors_have_no_traceback(folder: Path) -> None:
    done = command("analyze", "consistency", folder, "--set", "suite=mini", "--tasks", "mini-xnli", "--languages", "de")
    assert done.code == 1
    assert "no task has answers in two languages" in done.err
    done = command("analyze", "language-pairs", folder, "--set", "suite=mini", "--set", "k=none")
    assert done.code == 2
    assert "invalid value 'none' of option k of language-pairs" in done.err
    assert "Pass a whole number" in done.err


@pytest.fixture
def german_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mark the German gold as incomplete."""
    whole = answers.answered_row

    def with_a_part(*args: Any) -> tuple[Any, ...]:
        row = whole(*args)
        for answered in filter(None, row):
            answered.cell.partial = answered.cell.language == "de"
        return row

    monkeypatch.setattr(answers, "answered_row", with_a_part)


# A table of each analysis with rows by language, and the column of the language.
BY_LANGUAGE = {
    "consistency": ("given-pivot", "language"),
    "unseen": ("entities", "language"),
    "language-pairs": ("bias", "query"),
}


@pytest.mark.parametrize("name", BY_LANGUAGE)
def test_partial_gold_is_marked_and_excluded_from_means(name: str, folder: Path, german_in_part: None) -> None:
    table, column = BY_LANGUAGE[name]
    finding = isogloss.analyze(name, folder, suite="mini")
    rows = finding.table(table).records()
    assert {row[column] for row in rows if row["note"] == PARTIAL_GOLD} == {"de"}
    assert {row["note"] for row in rows if row[column] != "de"} == {None}
    assert any("/de test: partial gold, " in note and "excluded from means" in note for note in finding.notes)
    without = isogloss.analyze(name, folder, suite="mini", languages=["en", "sw"])
    assert not any(header.name == "note" for other in without.tables for header in other.columns)
    if name == "language-pairs":
        assert finding.table("same-different") == without.table("same-different")
        assert [row for row in rows if row[column] == "all"] == [
            {**row, "note": None} for row in without.table(table).records() if row[column] == "all"
        ]
    else:
        assert not {"mean", "mean of others"} & {row[column] for row in rows}  # of one language


# Pseudo test sets need a data folder with translations: see test_pseudo.py.
PREDICTIONS = [name for name, entry in ANALYSES.items() if entry.takes == "predictions" and name != "pseudo"]


@pytest.mark.parametrize("name", PREDICTIONS)
def test_gold_options_match_score(name: str, folder: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"invalid value 'some' of option allow_partial of .* true or false"):
        isogloss.analyze(name, folder, suite="mini", allow_partial="some")
    for setting in ({"allow_partial": True}, {"allow_partial": "true"}, {"strict": "yes"}, {"resample": "example"}):
        assert isogloss.analyze(name, folder, suite="mini", **setting).tables


def test_incomplete_test_set(tmp_path: Path) -> None:
    for code in ("en", "de"):
        path = tmp_path / f"data/xnli/test-{code}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"p{n}\th{n}\tneutral\n" for n in range(8)), encoding="utf-8")
        labels = {f"test-{n}": "neutral" if n % 3 else "entailment" for n in range(8)}
        write_jsonl(tmp_path / f"mine/xnli/{code}.jsonl", labels)
    words = ("analyze", "consistency", tmp_path / "mine", "--data", tmp_path / "data", "--tasks", "xnli")
    done = command(*words)
    assert done.code == 1
    assert "--allow-partial" in done.err
    done = command(*words, "--allow-partial")
    assert (done.code, done.err) == (0, ""), done.err
    assert "xnli/de test: partial gold, 8 of 5010 examples; excluded from means" in " ".join(done.out.split())
    done = command("analyze", "transfer-gap", "published", "--allow-partial")
    assert done.code == 2
