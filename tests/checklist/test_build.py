"""Written suites: complete rows, identical bytes, and the verbs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from isogloss.checklist.build import build_checklist
from isogloss.checklist.reference import UNANSWERABLE, UNPASSABLE, published_averages, published_rates
from isogloss.cli.main import main


def test_rows_carry_everything(tmp_path: Path) -> None:
    build_checklist(tmp_path, ["en"], count=30, squad=True)
    row = json.loads((tmp_path / "en.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert row["id"] == "comparisons-0000-00"
    words = "id case test kind language context question answer accepted sentence review slots"
    assert list(row) == words.split()
    assert row["accepted"][0] == row["answer"]
    squad = json.loads((tmp_path / "en.squad.json").read_text(encoding="utf-8"))
    for paragraph in squad["data"][0]["paragraphs"]:
        for question in paragraph["qas"]:
            [found] = question["answers"]
            start = found["answer_start"]
            assert paragraph["context"][start : start + len(found["text"])] == found["text"]


@pytest.mark.slow
def test_same_bytes_on_any_hash_seed(tmp_path: Path) -> None:
    contents = set()
    for seed in ("1", "2"):
        call = [sys.executable, "-c", "from isogloss.cli.main import main; main()", "checklist", "build"]
        call += ["--out", str(tmp_path / seed), "--languages", "en", "--cases", "20"]
        subprocess.run(call, env={**os.environ, "PYTHONHASHSEED": seed}, check=True, capture_output=True)
        contents.add((tmp_path / seed / "en.jsonl").read_bytes())
    assert len(contents) == 1


def test_things_have_no_other_names(tmp_path: Path) -> None:
    build_checklist(tmp_path, ["en"], variant="inv-names", count=2)
    rows = [json.loads(line) for line in (tmp_path / "en.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {row["kind"] for row in rows} == {"inv-names"}
    assert "properties" not in {row["test"] for row in rows}


def test_published_systems_are_built_in() -> None:
    rates = published_rates()
    assert set(rates) == {"XLM-R Large", "mBERT"}
    assert (len(UNANSWERABLE), len(UNPASSABLE)) == (14, 4)
    assert all(rates["XLM-R Large"][cell] == rates["mBERT"][cell] == 100.0 for cell in UNANSWERABLE)
    assert all(rates["XLM-R Large"][cell] == 100.0 for cell in UNPASSABLE)
    assert round(published_averages()["XLM-R Large"]["comparisons"], 1) > 0


def run(*words: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(["checklist", *words])
    return stop.value.code if isinstance(stop.value.code, int) else 0


@pytest.mark.parametrize(
    "words",
    [["show", "comparisons-0003", "--languages", "en"], ["reference"], ["audit", "--languages", "en", "--cases", "5"]],
)
def test_verb(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*words) == 0
    assert capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["build", "--kind", "mtf"], "Did you mean mft"),
        (["build", "--languages", "enn"], "Did you mean en"),
        (["build", "--cases", "201"], "a test has 200 cases, not 201"),
        (["show", "comparisons-0200"], "comparisons has comparisons-0000 to comparisons-0199"),
        (["show", "comparison-0000"], "Did you mean comparisons"),
    ],
)
def test_missing_entries(words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*words, *(["--out", str(tmp_path / "x")] if words[0] == "build" else [])) in (1, 2)
    assert said in " ".join(capsys.readouterr().err.replace("│", "").split())
    assert not (tmp_path / "x").exists()
