"""What is shown while a system answers: a bar on a terminal, now and then a line elsewhere."""

import io
import re
import sys
from pathlib import Path

import msgspec
import pytest

from isogloss.runs import locks, progress
from isogloss.runs.grid import run_plan
from isogloss.runs.plan import CellKey, Plan
from isogloss.runs.progress import GridProgress, shown
from isogloss.runs.records import read_record, write_record
from isogloss.scoring.cells import Request
from runs.grid_fake import mini_cache, mini_data

__all__ = ["mini_cache", "mini_data"]


def planned(out: Path) -> Plan:
    return Plan.of("fake", out, Request.of("mini", tasks=["mini-xquad"], languages=["de", "en", "sw"]), seeds=1)


def test_a_log_says_which_cell_is_answered_where_it_was_silent_for_long(
    mini_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "REFRESH", 0.0)
    monkeypatch.setattr(progress, "SILENCE", 0.0)
    plan = planned(tmp_path)
    with shown(GridProgress(plan), live=False) as on_progress:
        run_plan(plan, on_progress=on_progress)
    said = capsys.readouterr().err
    assert re.sub("about .* to go", "about … to go", said).splitlines() == [
        "3 cells, 0 of them finished before",
        "answering seed-0 mini-xquad/de, 0 of 3 cells finished; about … to go",
        "answering seed-0 mini-xquad/en, 1 of 3 cells finished; about … to go",
        "answering seed-0 mini-xquad/sw, 2 of 3 cells finished; about … to go",
        "seed-0 mini-xquad: 3 done",
    ]


def test_a_log_that_has_just_spoken_says_no_more(
    mini_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with shown(GridProgress(plan := planned(tmp_path)), live=False) as on_progress:
        run_plan(plan, on_progress=on_progress)
    assert "answering" not in capsys.readouterr().err


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_has_a_bar_while_a_system_answers_and_no_longer(
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
        assert "answering seed-0 mini-xquad/en" in shown_so_far
        assert "0/3" in shown_so_far
        sys.stderr.write("a bar of another\n")
    # Nothing is drawn over what comes after the bar.
    assert "answering" not in screen.getvalue()[len(shown_so_far) :]


def test_machines_are_told_apart(mini_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two machines have filled cells, and one of them is at another; this one knows by the folder alone."""
    plan = planned(tmp_path)
    run_plan(plan)
    seen = GridProgress(plan)
    seen.update()
    assert seen.by_node() == {}  # all by this machine, of which there is nothing to say
    for language, node in (("de", "far"), ("en", "farther")):
        path = plan.record_path(CellKey(0, "mini-xquad", language))
        record = read_record(path)
        assert record is not None
        write_record(
            path, msgspec.structs.replace(record, provenance=msgspec.structs.replace(record.provenance, node=node))
        )
    running = CellKey(0, "mini-xquad", "sw")
    plan.record_path(running).unlink()
    owner = locks.Owner("far boot space", 1, "1", "token")
    plan.lock_path(running).write_bytes(msgspec.json.encode(owner))
    seen = GridProgress(plan)
    table = seen.table()
    assert seen.node_counts() == "far: 1 done, 1 running; farther: 1 done"
    assert [*table.columns[0].cells] == ["mini-xquad", "all", "on far", "on farther"]
    assert [*table.columns[1].cells] == ["2", "2", "1", "1"]


def test_a_log_says_what_others_are_at(
    mini_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "SILENCE", 0.0)
    plan = planned(tmp_path)
    running = plan.lock_path(plan.cells[0])
    running.parent.mkdir(parents=True)
    running.write_bytes(msgspec.json.encode(locks.Owner("far boot space", 1, "1", "token")))
    GridProgress(plan).log()
    assert "0 of 3 cells finished, 1 running; about – to go; far: 1 running" in capsys.readouterr().err


def test_a_fit_that_takes_long_is_not_silence(
    mini_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "SILENCE", 0.0)
    plan = planned(tmp_path)
    seen = GridProgress(plan)
    seen.log()
    lock = plan.group_lock_path(plan.groups[0])
    lock.parent.mkdir(parents=True, exist_ok=True)
    owner = locks.Owner("node-7 boot", 1, "1", "token")
    lock.write_bytes(msgspec.json.encode(owner))
    seen.log()
    assert capsys.readouterr().err.splitlines()[-1] == (
        "0 of 3 cells finished, 0 running; 1 fit under way on node-7; about – to go"
    )
    assert "1 fit under way on node-7" in str(seen.table().caption)
