"""Damaged files of a run are detected, reported and written again, byte for byte."""

import gzip
import json
import random
import re
import subprocess
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import isogloss
from isogloss.errors import DataError, PredictionError
from isogloss.runs.grid import run_plan
from isogloss.runs.plan import CellKey, Plan
from isogloss.runs.records import read_record
from isogloss.scoring.request import Request
from isogloss.scoring.results import Results
from runs.grid_fake import command, mini_cache, mini_data, snapshot

__all__ = ["mini_cache", "mini_data"]

pytestmark = pytest.mark.usefixtures("mini_data")

CELL = CellKey(0, "mini-xquad", "en")


def planned(out: Path, tasks: str = "mini-xquad mini-xnli", languages: str = "en sw", seeds: int = 1) -> Plan:
    request = Request.of("mini", tasks=tasks.split(), languages=languages.split())
    return Plan.of("fake", out, request, seeds=seeds)


def cut(path: Path, size: int) -> None:
    path.write_bytes(path.read_bytes()[:size])


def first_figure(path: Path) -> None:
    """Change one digit of a score."""
    text = path.read_text()
    place = text.index('"value":') + len('"value":') + 1
    path.write_text(text[:place] + ("1" if text[place] != "1" else "2") + text[place + 1 :])


def without(path: Path, key: str) -> None:
    """Remove a field of a record, as in versions without checksums."""
    record = json.loads(path.read_text())
    del record[key]
    path.write_text(json.dumps(record))


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda plan: cut(plan.predictions_path(CELL), 400), "predictions differ from the recorded checksum"),
        (lambda plan: plan.predictions_path(CELL).write_bytes(b""), "predictions differ from the recorded checksum"),
        (lambda plan: plan.predictions_path(CELL).unlink(), "missing predictions"),
        (lambda plan: cut(plan.record_path(CELL), 300), "unreadable record"),
        (lambda plan: plan.record_path(CELL).write_bytes(b'{"system": "\xff"}'), "unreadable record"),
        (lambda plan: plan.record_path(CELL).write_text('{"a":' + "[" * 100_000), "unreadable record"),
        (lambda plan: without(plan.record_path(CELL), "checksums"), "record without a checksum of its predictions"),
        (lambda plan: without(plan.record_path(CELL), "score"), "record without a score"),
    ],
)
def test_a_damaged_cell_is_filled_again_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: Callable[[Plan], Any], said: str
) -> None:
    plan = planned(tmp_path / "runs")
    summary = run_plan(plan)
    before, score = snapshot(plan.root), read_record(plan.record_path(CELL))
    damage(plan)
    log = tmp_path / "log"
    monkeypatch.setenv("FAKE_LOG", str(log))
    with pytest.warns(UserWarning, match=f"^filled again: seed-0 mini-xquad/en: {said}$"):
        assert run_plan(plan) == summary
    assert [line.split()[1] for line in log.read_text().splitlines() if line.startswith("predict")] == [
        "0-mini-xquad/en"
    ]
    assert snapshot(plan.root) == before
    again = read_record(plan.record_path(CELL))
    assert score is not None
    assert again is not None
    assert (again.score, again.checksums) == (score.score, score.checksums)


def test_the_command_warns_in_one_line(tmp_path: Path) -> None:
    plan = planned(tmp_path, "mini-xquad")
    run_plan(plan)
    for cell in plan.cells:
        cut(plan.predictions_path(cell), 100)
    done = subprocess.run(command(plan, jobs=1), capture_output=True, text=True, check=True)
    said = "warning: filled again: seed-0 mini-xquad/en and 1 more: predictions differ from the recorded checksum"
    assert [line for line in done.stderr.splitlines() if "again" in line] == [said]


def test_edited_predictions_of_an_unselected_cell_are_not_scored(tmp_path: Path) -> None:
    """Results cover all cells of the suite, except damaged ones outside the command's selection."""
    run_plan(planned(tmp_path, languages="en sw de"))
    plan = planned(tmp_path, "mini-xnli", "sw")
    other = plan.predictions_path(CELL)
    other.write_bytes(other.read_bytes().replace(b'"prediction":"', b'"prediction":"x', 1))
    with pytest.warns(UserWarning, match="^left out of the results: seed-0 mini-xquad/en: predictions differ"):
        run_plan(plan)
    cells = {(cell.task, cell.language) for cell in Results.from_json(plan.results_path(0)).cells}
    assert ("mini-xquad", "en") not in cells
    assert len(cells) == 5


def test_compressed_predictions_are_valid(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    plan = planned(tmp_path)
    summary = run_plan(plan)
    path = plan.predictions_path(CELL)
    path.with_name("en.jsonl.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    assert run_plan(plan) == summary
    assert not recwarn.list


def test_predictions_from_elsewhere_are_not_scored(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    run_plan(plan)
    assert isogloss.score(plan.seed_folder(0), suite="mini").cells
    path = plan.predictions_path(CELL)
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b'"prediction":"', b'"prediction":"x', 1))
    with pytest.raises(PredictionError, match="the answers differ from those the run recorded") as refused:
        isogloss.score(plan.seed_folder(0), suite="mini")
    assert "Repeat the cell with isogloss run" in str(refused.value)
    assert isogloss.validate(plan.seed_folder(0)).errors
    # To accept the change, the user removes the record.
    plan.record_path(CELL).unlink()
    assert isogloss.score(plan.seed_folder(0), suite="mini").cells


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: cut(path, 500),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes().replace(b"mini-xquad", b"mini-xqu\xff\xff", 1)),
        first_figure,
        Path.unlink,
    ],
)
def test_damaged_results_are_written_again(tmp_path: Path, damage: Callable[[Path], Any]) -> None:
    plan = planned(tmp_path)
    summary = run_plan(plan)
    before = snapshot(plan.root)
    damage(plan.results_path(0))
    assert run_plan(plan) == summary
    assert snapshot(plan.root) == before


def test_damaged_checksums_of_results_are_written_again(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    run_plan(plan)
    before = snapshot(plan.root)
    for content in (b"", b"\xff", b"{}", b'{"results": "", "made_from": "\xff"}'):
        plan.results_record_path(0).write_bytes(content)
        run_plan(plan)
        assert snapshot(plan.root) == before


def test_a_truncated_system_toml_is_written_again(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    summary = run_plan(plan)
    path = plan.seed_folders[0] / "system.toml"
    whole = path.read_bytes()
    rng = random.Random(0)
    for size in (0, whole.index(b"\n") + 1, *rng.sample(range(len(whole)), 10)):
        path.write_bytes(whole[:size])
        assert run_plan(plan) == summary
        assert path.read_bytes() == whole
    path.write_bytes(b'name = "\xff"\n')
    assert run_plan(plan) == summary
    assert path.read_bytes() == whole


@pytest.mark.parametrize("file_of", [Plan.predictions_path, Plan.record_path, Plan.statistics_path])
def test_a_folder_instead_of_a_file_is_reported_and_kept(
    tmp_path: Path, file_of: Callable[[Plan, CellKey], Path]
) -> None:
    plan = planned(tmp_path / "runs")
    run_plan(plan)
    path = file_of(plan, CELL)
    path.unlink()
    path.mkdir()
    (path / "somebody's").write_text("work")
    with pytest.raises(DataError, match=re.escape(f"{path}: ")), warnings.catch_warnings(action="ignore"):
        run_plan(plan)
    assert (path / "somebody's").read_text() == "work"
