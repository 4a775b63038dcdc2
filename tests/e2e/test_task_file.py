"""The path of a new dataset: from a folder of CSV files and a task file through every command."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import isogloss
from isogloss.cli.main import main
from isogloss.runs.jobs import CellsJob
from isogloss.runs.plan import Plan
from isogloss.runs.shipping import Parcel, execute_shipped, pack_task
from isogloss.scoring.request import Request

# English, and two languages of which the papers know neither.
WORDS = {"eng": ("good", "bad", "film"), "bam": ("ka nyi", "ka jugu", "jabaranin"), "zul": ("kuhle", "kubi", "ifilimu")}
SIZES = {"test": 60, "dev": 24, "train": 120}
LABELS = ("positive", "negative")
TASK = """\
title = "Feelings: sentiment of film reviews"
kind = "classification"
files = "{language}/{split}.csv"
labels = { pos = "positive", neg = "negative" }
columns = { id = "nr", text = "review", label = "polarity", cluster = "film" }
prompt = "sentiment"
licence = "CC0"
"""


@pytest.fixture(autouse=True)
def _apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ISOGLOSS_TASKS", "")
    monkeypatch.setenv("ISOGLOSS_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("ISOGLOSS_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def feelings(tmp_path: Path) -> Path:
    for code, (*words, noun) in WORDS.items():
        for split, size in SIZES.items():
            path = tmp_path / "feelings" / code / f"{split}.csv"
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("w", encoding="utf-8", newline="") as stream:
                writer = csv.writer(stream)
                writer.writerow(("nr", "review", "polarity", "film"))
                for row in range(size):
                    wrong = row % 7 == 0  # the text says the opposite
                    text = f"{noun} {row}, {words[(row + wrong) % 2]}"
                    writer.writerow((row, text, ("pos", "neg")[row % 2], f"film {row // 2}"))
    path = tmp_path / "feelings" / "feelings.toml"
    path.write_text(TASK, encoding="utf-8")
    return path


def command(*words: object) -> None:
    with pytest.raises(SystemExit) as ended:
        main(list(map(str, words)))
    assert ended.value.code == 0


def answers(folder: Path, wrong: int) -> Path:
    """Write predictions in all languages; every `wrong`th is wrong."""
    for code in ("en", "bm", "zu"):
        path = folder / "feelings" / f"{code}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        labels = [LABELS[(row + (row % wrong == 0)) % 2] for row in range(SIZES["test"])]
        lines = (json.dumps({"id": str(row), "prediction": label}) + "\n" for row, label in enumerate(labels))
        path.write_text("".join(lines), encoding="utf-8")
    return folder


def test_every_command_takes_a_task_file(feelings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = answers(tmp_path / "first", 3), answers(tmp_path / "second", 5)
    suite = ("--suite", feelings)
    command("list", feelings)
    command("list", "tasks", "--tasks-from", feelings.parent)
    listed = capsys.readouterr().out
    assert "bm en zu" in listed
    assert "sentiment of film reviews" in listed
    command("export", feelings, "--out", tmp_path / "inputs")
    inputs = (tmp_path / "inputs" / "feelings" / "zu.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(inputs) == SIZES["test"]
    assert json.loads(inputs[1]) == {"id": "1", "language": "zu", "text": "ifilimu 1, kubi"}
    command("validate", first, "--tasks-from", feelings)
    command("score", first, *suite, "--json", tmp_path / "first.json")
    # Every third of 60 answers is wrong.
    record = json.loads((tmp_path / "first.json").read_text(encoding="utf-8"))
    scores = {cell["language"]: cell["metrics"]["accuracy"]["value"] for cell in record["cells"]}
    assert scores == pytest.approx(dict.fromkeys(("en", "bm", "zu"), 100 * 40 / 60))
    command("score", second, *suite, "--json", tmp_path / "second.json")
    command("compare", first, second, *suite)
    command("plan", first, second, *suite)
    command("explain", first, *suite, "--html", tmp_path / "explain.html")
    command("report", tmp_path / "first.json", "--tasks-from", feelings, "--out", tmp_path / "report")
    command("analyze", "families", tmp_path / "first.json", "--tasks-from", feelings)
    command("analyze", "transfer-gap", tmp_path / "first.json", "--tasks-from", feelings)
    command("board", "build", tmp_path / "first.json", tmp_path / "second.json", *suite, "--out", tmp_path / "site")
    command("llm", "show", feelings, "bm")
    command("llm", "requests", "llm:model", *suite, "--languages", "bm", "--out", tmp_path / "requests")
    command("translate", feelings, "--languages", "zu", "--split", "test", "--by-hand", tmp_path / "texts.jsonl")
    printed = capsys.readouterr().out
    assert "Niger-Congo" in printed
    assert "jabaranin 0, ka jugu" in printed  # in the prompt
    assert "Bambara" in (tmp_path / "site" / "data.js").read_text(encoding="utf-8")
    assert "Zulu" in (tmp_path / "report" / "index.html").read_text(encoding="utf-8")


def test_systems_learn_and_answer_a_task_file(feelings: Path, tmp_path: Path) -> None:
    suite = ("--suite", feelings, "--out", tmp_path / "runs")
    command("run", "ngram", *suite, "--seeds", 1, "--jobs", 2)  # in processes of their own
    command("predict", "ngram", "--task", feelings, "--language", "zu", "--out", tmp_path / "answers")
    folder = tmp_path / "runs" / "ngram" / "zero-shot" / "seed-0"
    results = isogloss.score(folder, suite=str(feelings))
    accuracy = {cell.language: cell.metrics["accuracy"].value for cell in results.cells}
    assert set(accuracy) == {"en", "bm", "zu"}
    for code, value in accuracy.items():
        lines = (folder / "feelings" / f"{code}.jsonl").read_text(encoding="utf-8").splitlines()
        right = sum(json.loads(line)["prediction"] == LABELS[row % 2] for row, line in enumerate(lines))
        assert value == pytest.approx(100 * right / 60)
    assert accuracy["en"] > 80  # one text in seven says the opposite


def test_other_processes_find_the_tasks(feelings: Path) -> None:
    isogloss.tasks_from(feelings.parent)
    code = "import isogloss; print(len(isogloss.load('feelings', 'bm')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    assert done.stdout.strip() == str(SIZES["test"])


def test_missing_language_does_not_affect_others(feelings: Path, tmp_path: Path) -> None:
    """A file with a wrong row costs its own cells only."""
    path = feelings.parent / "bam" / "test.csv"
    path.write_text("nr,review,polarity,film\n0,x\n", encoding="utf-8")
    results = isogloss.score(answers(tmp_path / "first", 3), suite=str(feelings))
    assert {cell.language for cell in results.cells} == {"en", "zu"}


def test_nodes_without_our_folders_get_the_task(
    feelings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The task file and its tables travel with the job, whether they lie together or not."""
    apart = tmp_path / "apart" / "moved.toml"
    apart.parent.mkdir()
    apart.write_text(f'{TASK}id = "moved"\ndata = "../feelings"\n', encoding="utf-8")
    for path in (feelings, apart):
        plan = Plan.of("ngram", tmp_path / "runs", Request.of(str(path), languages=["zu"]), seeds=1)
        declared = isogloss.task(str(path))
        content = pack_task(declared)
        parcel = Parcel(f"{declared.id}-{tmp_path.name}", f"tasks/{declared.id}", declared.folder)
        elsewhere = tmp_path / "elsewhere"
        feelings.parent.rename(elsewhere)
        monkeypatch.setenv("ISOGLOSS_TASKS", "")
        end = execute_shipped(CellsJob(plan, plan.groups[0]), "job", 1, [parcel], lambda content=content: content)
        elsewhere.rename(feelings.parent)
        monkeypatch.setenv("ISOGLOSS_TASKS", "")
        assert end.error is None
        assert f"seed-0/{declared.id}/zu.jsonl" in end.files
