"""Progress: a bar on a terminal, log lines elsewhere."""

import io
import re
import sys
from pathlib import Path

import msgspec
import pytest

from isogloss.runs import progress
from isogloss.runs.grid import run_plan
from isogloss.runs.plan import CellKey, Plan
from isogloss.runs.progress import GridProgress, shown
from isogloss.runs.records import read_record
from isogloss.scoring.request import Request
from runs.grid_fake import far_owner, mini_cache, mini_data

__all__ = ["mini_cache", "mini_data"]


def planned(out: Path) -> Plan:
    return Plan.of("fake", out, Request.of("mini", tasks=["mini-xquad"], languages=["de", "en", "sw"]), seeds=1)


def test_a_silent_log_names_the_cell_being_predicted(
    mini_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "REFRESH", 0.0)
    monkeypatch.setattr(progress, "SILENCE", 0.0)
    plan = planned(tmp_path)
    with shown(GridProgress(plan), live=False) as on_progress:
        run_plan(plan, on_progress=on_progress)
    said = capsys.readouterr().err
    assert re.sub("about .* to go", "about … to go", said).splitlines() == [
        "3 cells to run, 0 already done",
        "predicting seed-0 mini-xquad/de, 0 of 3 cells finished; about … to go",
        "predicting seed-0 mini-xquad/en, 1 of 3 cells finished; about … to go",
        "predicting seed-0 mini-xquad/sw, 2 of 3 cells finished; about … to go",
        "seed-0 mini-xquad: 3 done",
    ]


def test_a_recent_log_line_is_not_repeated(mini_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with shown(GridProgress(plan := planned(tmp_path)), live=False) as on_progress:
        run_plan(plan, on_progress=on_progress)
    assert "answering" not in capsys.readouterr().err


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_a_bar_while_a_system_predicts(
    mini_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", screen := Terminal())
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    plan = planned(tmp_path)
    cells = [CellKey(0, "mini-xquad", language) for language in ("de", "en")]
    with shown(GridProgress(plan), live=False) as on_progress:
        on_progress("")
        assert "answering" not in screen.getvalue()
        for cell in cells:
            on_progress("", answering=cell)
        on_progress("")
        shown_so_far = screen.getvalue()
        assert "predicting seed-0 mini-xquad/en" in shown_so_far
        assert "0/3" in shown_so_far
        sys.stderr.write("a bar of another\n")
    # The bar does not overwrite later output.
    assert "answering" not in screen.getvalue()[len(shown_so_far) :]


def test_cells_are_counted_by_machine(mini_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two other machines have filled cells, and one is filling another."""
    plan = planned(tmp_path)
    run_plan(plan)
    seen = GridProgress(plan)
    seen.update()
    assert seen.by_node() == {}  # all by this machine, which is not listed
    for language, node in (("de", "far"), ("en", "farther")):
        path = plan.record_path(CellKey(0, "mini-xquad", language))
        record = read_record(path)
        assert record is not None
        provenance = msgspec.structs.replace(record.provenance, node=node)
        msgspec.structs.replace(record, provenance=provenance).write(path)
    running = CellKey(0, "mini-xquad", "sw")
    plan.record_path(running).unlink()
    owner = far_owner("far boot space")
    plan.lock_path(running).write_bytes(msgspec.json.encode(owner))
    seen = GridProgress(plan)
    table = seen.table()
    assert seen.by_node() == {"far": {"done": 1, "running": 1}, "farther": {"done": 1}}
    assert [*table.columns[0].cells] == ["mini-xquad", "all", "on far", "on farther"]
    assert [*table.columns[1].cells] == ["2", "2", "1", "1"]


def test_a_log_reports_cells_of_other_processes(
    mini_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "SILENCE", 0.0)
    plan = planned(tmp_path)
    running = plan.lock_path(plan.cells[0])
    running.parent.mkdir(parents=True)
    running.write_bytes(msgspec.json.encode(far_owner("far boot space")))
    GridProgress(plan).log()
    assert "0 of 3 cells finished, 1 running; about – to go; far: 1 running" in capsys.readouterr().err


def test_a_log_reports_a_long_fit(
    mini_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "SILENCE", 0.0)
    plan = planned(tmp_path)
    seen = GridProgress(plan)
    seen.log()
    lock = plan.group_lock_path(plan.groups[0])
    lock.parent.mkdir(parents=True, exist_ok=True)
    owner = far_owner("node-7 boot")
    lock.write_bytes(msgspec.json.encode(owner))
    seen.log()
    assert capsys.readouterr().err.splitlines()[-1] == (
        "0 of 3 cells finished, 0 running; 1 fit running on node-7; about – to go"
    )
    assert "1 fit running on node-7" in str(seen.table().caption)
