"""isogloss select end to end."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from analysis.checkpoint_files import runs_of, write_csv
from e2e.command import isogloss


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    runs = []
    for _ in range(3):
        english, swahili = rng.normal(80, 1, 20), rng.normal(40, 2, 20)
        both = {("en", "dev"): english, ("en", "test"): english}
        runs.append(both | {("sw", "dev"): swahili, ("sw", "test"): swahili})
    return write_csv(tmp_path / "scores.csv", runs_of(*runs))


def test_tables_and_files(scores: Path, tmp_path: Path) -> None:
    files = ("--json", tmp_path / "found.json", "--csv", tmp_path / "tables")
    done = isogloss("select", scores, "--test-size", "500", *files)
    assert (done.code, done.err) == (0, "")
    assert "target dev" in done.out
    assert "3 runs, 1 language besides English." in " ".join(done.out.split())
    finding = json.loads((tmp_path / "found.json").read_bytes())
    assert finding["analysis"] == "checkpoint-selection"
    assert finding["asked"] == f"isogloss select {scores} --test-size 500"
    with (tmp_path / "tables" / "rules.csv").open(encoding="utf-8", newline="") as stream:
        lost = {row["rule"]: float(row["lost"]) for row in csv.DictReader(stream)}
    assert lost["target dev"] == 0
    assert lost["English dev"] > 0


def test_a_page_with_curves(scores: Path, tmp_path: Path) -> None:
    assert isogloss("select", scores, "--html", tmp_path / "page.html").code == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Checkpoint selection" in page
    assert f">isogloss select {scores}</p>" in page


def test_read_errors_are_one_line(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("step,seed,language,value\n", encoding="utf-8")
    done = isogloss("select", path)
    assert done.code == 1
    assert done.err.startswith(f"error: {path}: missing column split. Required columns: step, seed")
    assert isogloss("select", tmp_path / "no.csv").code == 1
    assert isogloss("select").code == 2
