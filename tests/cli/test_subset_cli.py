"""From export to score with a subset, on the command line."""

import json
from pathlib import Path

import pytest

from isogloss.cli.export import SMALLEST_SUBSET
from isogloss.cli.main import main
from isogloss.metrics.student import ENOUGH
from predictions.drawn import answers, only_drawn
from predictions.made import write_jsonl


def run(*words: object) -> int:
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    return stop.value.code if isinstance(stop.value.code, int) else 0


def test_export_answer_and_score(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    task, codes, inputs = "mini-xnli", ["de", "sw"], tmp_path / "inputs"
    for name, skill in (("cheap", 0.55), ("dear", 0.7)):
        for code, said in answers(task, codes, skill, seed=int(name == "dear"))[task].items():
            write_jsonl(tmp_path / f"all/{name}/{task}/{code}.jsonl", said)
    cheap = tmp_path / "all/cheap"
    assert run("export", task, "-l", "de,sw", "--subset", 40, "--seed", 3, "--guide", cheap, "-o", inputs) == 0
    assert "subset.json  80 rows" in capsys.readouterr().out
    made = {task: {code: {} for code in codes}}
    for code in codes:
        lines = (tmp_path / f"all/dear/{task}/{code}.jsonl").read_text().splitlines()
        made[task][code] = {row["id"]: row["prediction"] for row in map(json.loads, lines)}
    for code, said in only_drawn(made, inputs)[task].items():
        write_jsonl(tmp_path / f"dear/{task}/{code}.jsonl", said)
    options = ("--subset", inputs, "--guide", cheap)
    assert run("validate", tmp_path / "dear", "--subset", inputs) == 0
    assert run("score", tmp_path / "dear", "-s", "mini", *options, "--json", tmp_path / "r.json") == 0
    text = capsys.readouterr().out
    assert "80 of 120" in text
    assert "estimated from a subset (seed 3, guide cheap)" in text
    record = json.loads((tmp_path / "r.json").read_text())
    assert record["cells"][0]["subset"]["answered"] == 40
    assert len(record["tasks"][0]["score"]["on_all"]) == 2
    assert run("score", tmp_path / "dear", "-s", "mini") == 1
    assert "answers to 40 of 60 examples, those of the subset" in " ".join(capsys.readouterr().err.split())
    assert run("compare", tmp_path / "dear", cheap, "-s", "mini", *options) == 0
    assert "estimated from a subset of the examples" in " ".join(capsys.readouterr().out.split())


def test_smallest_subset_is_refused_as_the_help_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert SMALLEST_SUBSET == ENOUGH
    assert run("export", "mini-xnli", "--subset", ENOUGH - 1, "-o", tmp_path) == 2
    assert f"x>={ENOUGH}" in capsys.readouterr().err
