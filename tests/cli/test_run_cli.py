"""isogloss run and isogloss predict end to end."""

import io
import re
from pathlib import Path

import pytest
from msgspec import UNSET
from rich.console import Console

from e2e.command import isogloss
from isogloss.runs.locks import acquire
from isogloss.runs.plan import CellKey, Plan
from isogloss.runs.progress import GridProgress
from isogloss.runs.records import CellRecord, Provenance
from isogloss.scoring.request import Request
from isogloss.tables.run_tables import grouped_reasons
from runs.grid_fake import mini_cache, mini_data

__all__ = ["mini_cache", "mini_data"]

RUN = ("run", "fake", "--suite", "mini", "--tasks", "mini-xquad,mini-tatoeba", "--languages", "de,sw", "--seeds", 2)


@pytest.fixture(autouse=True)
def quiet(mini_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")


def test_run_prints_a_summary(tmp_path: Path) -> None:
    done = isogloss(*RUN, "--out", tmp_path)
    assert done.code == 0
    assert re.search(r"mini-xquad +\d+\.\d\* +\d+\.\d–\d+\.\d +\d+\.\d +\d+\.\d +\d+\.\d +2", done.out)
    assert f"8 cells done; saved in {tmp_path}/fake/zero-shot" in done.out
    assert "8 cells to run, 0 already done" in done.err
    assert done.err.endswith("seed-1 mini-tatoeba: 2 done\n")  # nothing is left, and no time is estimated for it
    again = isogloss(*RUN, "--out", tmp_path)
    assert again.code == 0
    assert again.out == done.out
    assert again.err == "0 cells to run, 8 already done\n"
    (tmp_path / "fake/zero-shot/seed-1/.cells/mini-xquad/sw.json").unlink()
    third = isogloss(*RUN, "--out", tmp_path)
    assert third.err.startswith("1 cell to run, 7 already done\n")


def test_partial_averages_are_marked_and_one_cell_has_no_overall_score(tmp_path: Path) -> None:
    done = isogloss(*RUN, "--out", tmp_path / "several")
    assert re.search(r"overall +\d+\.\d\*", done.out)
    assert "* partial, missing: " in done.out
    one = ("run", "fake", "--suite", "mini", "--tasks", "mini-xquad", "--languages", "de", "--seeds", 2)
    alone = isogloss(*one, "--out", tmp_path / "one")
    assert re.search(r"mini-xquad +\d+\.\d\*", alone.out)
    assert "overall" not in alone.out


def test_every_verb_accepts_a_run_folder(tmp_path: Path) -> None:
    isogloss(*RUN, "--out", tmp_path)
    folders = [tmp_path / "fake" / "zero-shot" / f"seed-{seed}" for seed in (0, 1)]
    assert "fake on mini" in isogloss("score", folders[0], "--suite", "mini").out
    assert isogloss("compare", *folders, "--suite", "mini").code == 0
    assert isogloss("validate", folders[0], "--tasks", "mini-xquad,mini-tatoeba").code == 0


def test_failed_cells_are_listed_with_exit_code_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_TROUBLE", "fail@0-mini-xquad/de fail@1-mini-xquad/de refuse@mini-tatoeba")
    done = isogloss(*RUN, "--out", tmp_path)
    assert done.code == 1
    assert (
        "failed: seed-0 mini-xquad/de: mini-xquad/de: system 'fake' cannot predict: ZeroDivisionError: a cell"
        in done.err
    )
    assert done.err.count("a cell went wrong") == 1
    assert "failed: seed-0 mini-xquad/de and 1 more: mini-xquad/de: system 'fake' cannot predict: Zero" in done.out
    assert "skipped: seed-0 mini-tatoeba/de and 3 more: fake has no wish to" in done.out
    assert "2 cells done, 2 failed, 4 skipped" in done.out
    monkeypatch.setenv("FAKE_TROUBLE", "")
    assert isogloss(*RUN, "--out", tmp_path).code == 0


def test_exit_code_is_1_if_no_cell_was_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_TROUBLE", "refuse@mini-xquad refuse@mini-tatoeba")
    done = isogloss(*RUN, "--out", tmp_path)
    assert done.code == 1
    assert "mean" not in done.out


def test_reasons_that_differ_only_in_the_cell_are_merged(tmp_path: Path) -> None:
    done = isogloss(*RUN, "--regime", "in-language", "--out", tmp_path)
    lines = [line for line in done.out.splitlines() if "no train file" in line]
    assert len(lines) == 1
    assert lines[0].startswith("skipped: seed-0 mini-xquad/de and 3 more: no train file of mini-xquad/de in ")


def test_only_equal_reasons_are_merged() -> None:
    def failed(reason: str, cause: str = "") -> CellRecord:
        return CellRecord(
            system="fake",
            regime="zero-shot",
            seed=0,
            task="",
            language="",
            split="test",
            status="failed",
            provenance=Provenance(config={}, started=""),
            reason=reason,
            cause=cause or UNSET,
        )

    trained = {CellKey(0, "xnli", code): failed("there is no xnli/en") for code in ("de", "en", "sw")}
    other = {CellKey(0, "udpos", code): failed(f"udpos/train-{code} is damaged") for code in ("tr", "fr")}
    alike = {
        CellKey(seed, "pawsx", code): failed(f"no file of pawsx/{code}.", "no file")
        for seed in (0, 1)
        for code in ("de", "fr")
    }
    assert list(grouped_reasons(trained | other | alike)) == [
        "failed: seed-0 xnli/de and 2 more: there is no xnli/en",
        "failed: seed-0 udpos/tr: udpos/train-tr is damaged",
        "failed: seed-0 udpos/fr: udpos/train-fr is damaged",
        "failed: seed-0 pawsx/de and 3 more: no file of pawsx/de.",
    ]


def test_waiting_is_reported_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    isogloss(*RUN, "--out", tmp_path)
    request = Request.of("mini", tasks=["mini-xquad"], languages=["de", "sw"])
    progress = GridProgress(Plan.of("fake", tmp_path, request, seeds=2))
    for waiting in ("", "another process is learning it", "another process is learning it", ""):
        progress.log(waiting)
    assert capsys.readouterr().err.splitlines() == [
        "0 cells to run, 4 already done",
        "waiting: another process is learning it",
    ]
    assert progress.table("another process is learning it").caption == "0:00:00 elapsed, another process is learning it"


def test_predictions_without_gold_are_reported_as_not_scored(tmp_path: Path) -> None:
    (tmp_path / "data/xnli").mkdir(parents=True)
    (tmp_path / "data/xnli/train-en.tsv").write_text("One dog.\tA dog.\tneutral\n" * 20)
    (tmp_path / "data/xnli/test-en.tsv").write_text("One dog.\tA dog.\n" * 5_010)
    words = ("--tasks", "xnli", "--languages", "en", "--seeds", 1, "--data", tmp_path / "data", "--out", tmp_path)
    done = isogloss("run", "fake", *words)
    assert done.code == 0
    assert "done: seed-0 xnli/en: not scored: the test file has no gold answers" in done.out
    assert "1 cell done; saved in" in done.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("run", "fakt", "--out", "x"), "Did you mean fake"),
        (("run", "fake", "--suite", "mini", "--regime", "few-shot", "--out", "x"), "unknown regime"),
        (("run", "fake", "--suite", "mini", "--languages", "xx", "--out", "x"), "unknown language"),
        (
            ("run", "fake", "--suite", "mini", "--tasks", "mini-tatoeba", "--languages", "en", "--out", "x"),
            "error: mini-tatoeba has no en. It has af, ar, ",
        ),
        (("run", "fake#speed=3", "--suite", "mini", "--out", "x"), "fake has no setting"),
        (("predict", "fake", "--task", "mini-xquad", "--language", "xx", "--out", "x"), "unknown language"),
        (("predict", "fake", "--task", "mini-xquad", "--language", "sw", "--split", "best", "--out", "x"), "split"),
    ],
)
def test_unknown_names_are_usage_errors(words: tuple[str, ...], message: str) -> None:
    done = isogloss(*words)
    assert done.code == 2
    assert message in done.err


def test_the_live_table_counts_the_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_TROUBLE", "fail@0-mini-xquad/de")
    isogloss(*RUN, "--out", tmp_path)
    request = Request.of("mini", tasks=["mini-xquad", "mini-tatoeba"], languages=["de", "sw"])
    plan = Plan.of("fake", tmp_path, request, seeds=2)
    plan.record_path(CellKey(0, "mini-tatoeba", "de")).unlink()
    plan.record_path(CellKey(1, "mini-tatoeba", "de")).unlink()
    console = Console(width=100, record=True, file=io.StringIO())
    progress = GridProgress(plan)
    with acquire(plan.lock_path(CellKey(1, "mini-tatoeba", "de"))):  # type: ignore[union-attr]
        console.print(progress.table())
    shown = console.export_text()
    assert re.search(r"task +done +running +failed +skipped +missing", shown)
    assert re.search(r"mini-xquad +3 +· +1 +· +·", shown)
    assert re.search(r"mini-tatoeba +2 +1 +· +· +1", shown)
    assert re.search(r"all +5 +1 +1 +· +1", shown)
    assert "to go" in shown


def test_predict_fills_one_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("predict", "fake", "--task", "mini-xquad", "--language", "sw", "--out", tmp_path / "answers")
    done = isogloss(*words)
    assert done.code == 0
    assert "60 predictions" in done.out
    assert [path.name for path in (tmp_path / "answers").rglob("*")] == ["mini-xquad", "sw.jsonl"]
    assert isogloss("score", tmp_path / "answers", "--suite", "mini").code == 0
    monkeypatch.setenv("FAKE_TROUBLE", "refuse@mini-xquad")
    again = isogloss(*words)
    assert again.code == 1
    assert "Replace them with --force" in again.err  # checked before the system is fitted
    monkeypatch.setenv("FAKE_TROUBLE", "")
    first = (tmp_path / "answers" / "mini-xquad" / "sw.jsonl").read_bytes()
    assert isogloss(*words, "--force", "--seed", 1).code == 0
    assert (tmp_path / "answers" / "mini-xquad" / "sw.jsonl").read_bytes() != first


def test_predict_reports_refusals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_TROUBLE", "refuse@mini-xquad untrained@mini-tatoeba")
    for task, why in (("mini-xquad", "fake has no wish to"), ("mini-tatoeba", "no English training set")):
        done = isogloss("predict", "fake", "--task", task, "--language", "sw", "--out", tmp_path)
        assert done.code == 1
        assert why in done.err
