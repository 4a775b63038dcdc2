"""Test that a report is written completely or not at all."""

import os
import re
from pathlib import Path
from typing import Any

import pytest

from e2e.command import isogloss
from isogloss.errors import DataError, IsoglossError
from isogloss.site import write
from isogloss.tables import charts, vega
from report.made_records import results

pytest.importorskip("vl_convert", reason="reports need vl-convert-python")


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def broken_chart(monkeypatch: pytest.MonkeyPatch) -> None:
    def draw(chart: charts.Chart) -> str:
        if chart.name == "pairs-lareqa":
            raise IsoglossError("the chart cannot be drawn", where=chart.name)
        return "<svg xmlns='http://www.w3.org/2000/svg' width='1' height='1'/>"

    monkeypatch.setattr(write, "svg", draw)


@pytest.mark.usefixtures("broken_chart")
def test_a_failed_chart_leaves_no_files(tmp_path: Path) -> None:
    with pytest.raises(IsoglossError, match="cannot be drawn"):
        write.report(results("a"), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("broken_chart")
def test_a_failure_keeps_the_old_report(tmp_path: Path) -> None:
    write.report(results("a"), tmp_path, pictures=False)
    (tmp_path / "notes.txt").write_text("mine")
    before = contents(tmp_path)
    with pytest.raises(IsoglossError, match="cannot be drawn"):
        write.report(results("b"), tmp_path)
    assert contents(tmp_path) == before


def test_a_full_disk_leaves_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Path.write_bytes

    def full(path: Path, content: bytes) -> Any:
        if path.name == "scores.csv":
            raise OSError(28, "No space left on device")
        return whole(path, content)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(DataError, match="No space left on device") as caught:
        write.report(results("a"), tmp_path / "out", pictures=False)
    assert caught.value.where == str(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_an_unusable_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    results("a").to_json(tmp_path / "results.json")
    done = isogloss("report", tmp_path / "results.json", "--no-pictures", "--out", tmp_path / "file")
    assert done.code == 1
    assert done.err.startswith(f"error: {tmp_path}/file: cannot write")


def test_files_have_default_permissions(tmp_path: Path) -> None:
    mask = os.umask(0o022)
    try:
        page = write.report(results("a"), tmp_path / "out", pictures=False)
    finally:
        os.umask(mask)
    assert page.stat().st_mode & 0o777 == 0o644
    assert (page.parent / "tables").stat().st_mode & 0o777 == 0o755
    assert [path.name for path in page.parent.iterdir() if path.name.startswith(".")] == []


def test_errors_of_the_chart_library_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = charts.average_dots("name", "title", [], [], strong=0, what="score")
    spec = {"mark": "point", "encoding": {"x": {"field": 3}}, "transform": [{"filter": "("}]}
    monkeypatch.setattr(vega, "vega_spec", lambda chart: spec)
    with pytest.raises(IsoglossError, match="cannot draw the chart") as caught:
        vega.svg(broken)
    assert caught.value.where == "name"


def test_a_report_without_the_drawing_library_has_no_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write, "find_spec", lambda name: None)
    page = write.report(results("a"), tmp_path / "out")
    assert not (tmp_path / "out" / "charts").exists()
    assert not re.search(r"""(?:href|src)=["']?charts/""", page.read_text(encoding="utf-8"))
