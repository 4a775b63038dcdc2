"""isogloss run and isogloss predict, as a user meets them."""

import re
from pathlib import Path

import pytest
from rich.console import Console

from e2e.command import isogloss
from isogloss.report.run_tables import grouped_reasons
from isogloss.runs.locks import acquire
from isogloss.runs.plan import CellKey, Plan
from isogloss.runs.progress import GridProgress
from isogloss.scoring.cells import Request
from runs.grid_fake import mini_cache, mini_data

__all__ = ["mini_cache", "mini_data"]

RUN = ("run", "fake", "--suite", "mini", "--tasks", "mini-xquad,mini-tatoeba", "--languages", "de,sw", "--seeds", 2)


@pytest.fixture(autouse=True)
def quiet(mini_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")


def test_a_run_says_what_it_came_to(tmp_path: Path) -> None:
    done = isogloss(*RUN, "--out", tmp_path)
    assert done.code == 0
    assert re.search(r"mini-xquad +\d+\.\d\* +\d+\.\d–\d+\.\d +\d+\.\d +\d+\.\d +\d+\.\d +2", done.out)
    assert f"8 done cells in {tmp_path}/fake/zero-shot" in done.out
    assert "8 cells, 0 of them finished before" in done.err
    assert done.err.endswith("seed-1 mini-tatoeba: 2 done\n")  # nothing is left, and no time is estimated for it
    again = isogloss(*RUN, "--out", tmp_path)
    assert again.code == 0
    assert again.out == done.out
    assert again.err == "8 cells, 8 of them finished before\n"


def test_what_is_partial_is_marked_and_one_cell_is_no_overall(tmp_path: Path) -> None:
    done = isogloss(*RUN, "--out", tmp_path / "several")
    assert re.search(r"overall +\d+\.\d\*", done.out)
    assert "* partial, missing: " in done.out
    one = ("run", "fake", "--suite", "mini", "--tasks", "mini-xquad", "--languages", "de", "--seeds", 2)
    alone = isogloss(*one, "--out", tmp_path / "one")
    assert re.search(r"mini-xquad +\d+\.\d\*", alone.out)
    assert "overall" not in alone.out


def test_every_verb_takes_a_run(tmp_path: Path) -> None:
    isogloss(*RUN, "--out", tmp_path)
    folders = [tmp_path / "fake" / "zero-shot" / f"seed-{seed}" for seed in (0, 1)]
    assert "fake on mini" in isogloss("score", folders[0], "--suite", "mini").out
    assert isogloss("compare", *folders, "--suite", "mini").code == 0
    assert isogloss("validate", folders[0], "--tasks", "mini-xquad,mini-tatoeba").code == 0


def test_failed_cells_are_told_and_end_in_exit_code_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_TROUBLE", "fail@0-mini-xquad/de fail@1-mini-xquad/de refuse@mini-tatoeba")
    done = isogloss(*RUN, "--out", tmp_path)
    assert done.code == 1
    assert (
        "failed: seed-0 mini-xquad/de: mini-xquad/de: system 'fake' cannot answer: ZeroDivisionError: a cell"
        in done.err
    )
    assert done.err.count("a cell went wrong") == 1
    assert "failed: seed-0 mini-xquad/de and 1 more: mini-xquad/de: system 'fake' cannot answer: Zero" in done.out
    assert "skipped: seed-0 mini-tatoeba/de and 3 more: fake has no wish to" in done.out
    assert "2 done, 2 failed, 4 skipped cells" in done.out
    monkeypatch.setenv("FAKE_TROUBLE", "")
    assert isogloss(*RUN, "--out", tmp_path).code == 0


def test_nothing_done_is_no_success(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_TROUBLE", "refuse@mini-xquad refuse@mini-tatoeba")
    done = isogloss(*RUN, "--out", tmp_path)
    assert done.code == 1
    assert "mean" not in done.out


def test_reasons_that_differ_in_the_cell_alone_are_one(tmp_path: Path) -> None:
    done = isogloss(*RUN, "--regime", "in-language", "--out", tmp_path)
    lines = [line for line in done.out.splitlines() if "no train file" in line]
    assert len(lines) == 1
    assert lines[0].startswith("skipped: seed-0 mini-xquad/de and 3 more: no train file of mini-xquad/de in ")


def test_reasons_are_one_only_where_they_are() -> None:
    """A name within another is not the cell's; and of what all cells say, one of them is not the only one."""
    trained = {f"seed-0 xnli/{code}": "there is no xnli/en" for code in ("de", "en", "sw")}
    inside = {"seed-0 udpos/tr": "udpos/train-tr is damaged", "seed-0 udpos/fr": "udpos/ain-tr is damaged"}
    alike = {f"seed-{seed} pawsx/{code}": f"no file of pawsx/{code}." for seed in (0, 1) for code in ("de", "fr")}
    assert list(grouped_reasons({"failed": trained | inside | alike})) == [
        "failed: seed-0 xnli/de and 2 more: there is no xnli/en",
        "failed: seed-0 udpos/tr: udpos/train-tr is damaged",
        "failed: seed-0 udpos/fr: udpos/ain-tr is damaged",
        "failed: seed-0 pawsx/de and 3 more: no file of pawsx/de.",
    ]


def test_what_is_waited_for_is_said_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    isogloss(*RUN, "--out", tmp_path)
    request = Request.of("mini", tasks=["mini-xquad"], languages=["de", "sw"])
    progress = GridProgress(Plan.of("fake", tmp_path, request, seeds=2))
    for waiting in ("", "another process is learning it", "another process is learning it", ""):
        progress.log(waiting)
    assert capsys.readouterr().err.splitlines() == [
        "4 cells, 4 of them finished before",
        "waiting: another process is learning it",
    ]
    assert progress.table("another process is learning it").caption == "0:00:00 elapsed, another process is learning it"


def test_answers_without_gold_are_said_not_to_be_scored(tmp_path: Path) -> None:
    (tmp_path / "data/xnli").mkdir(parents=True)
    (tmp_path / "data/xnli/train-en.tsv").write_text("One dog.\tA dog.\tneutral\n" * 20)
    (tmp_path / "data/xnli/test-en.tsv").write_text("One dog.\tA dog.\n" * 5_010)
    words = ("--tasks", "xnli", "--languages", "en", "--seeds", 1, "--data", tmp_path / "data", "--out", tmp_path)
    done = isogloss("run", "fake", *words)
    assert done.code == 0
    assert "done: seed-0 xnli/en: not scored: the test file has no gold answers" in done.out
    assert "1 done cell in" in done.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "fakt", "--out", "x"), "Did you mean fake"),
        (("run", "fake", "--suite", "mini", "--regime", "few-shot", "--out", "x"), "unknown regime"),
        (("run", "fake", "--suite", "mini", "--languages", "xx", "--out", "x"), "unknown language"),
        (
            ("run", "fake", "--suite", "mini", "--tasks", "mini-tatoeba", "--languages", "en", "--out", "x"),
            "error: mini-tatoeba has no en. It has af, ar, ",
        ),
        (("run", "fake#speed=3", "--suite", "mini", "--out", "x"), "fake has no settings"),
        (("predict", "fake", "--task", "mini-xquad", "--language", "xx", "--out", "x"), "unknown language"),
        (("predict", "fake", "--task", "mini-xquad", "--language", "sw", "--split", "best", "--out", "x"), "split"),
    ],
)
def test_wrong_names_are_usage_errors(words: tuple[str, ...], said: str) -> None:
    done = isogloss(*words)
    assert done.code == 2
    assert said in done.err


def test_the_live_table_counts_the_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_TROUBLE", "fail@0-mini-xquad/de")
    isogloss(*RUN, "--out", tmp_path)
    request = Request.of("mini", tasks=["mini-xquad", "mini-tatoeba"], languages=["de", "sw"])
    plan = Plan.of("fake", tmp_path, request, seeds=2)
    plan.record_path(CellKey(0, "mini-tatoeba", "de")).unlink()
    plan.record_path(CellKey(1, "mini-tatoeba", "de")).unlink()
    console = Console(width=100, record=True, file=(tmp_path / "screen").open("w"))
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
    assert "60 answers" in done.out
    assert [path.name for path in (tmp_path / "answers").rglob("*")] == ["mini-xquad", "sw.jsonl"]
    assert isogloss("score", tmp_path / "answers", "--suite", "mini").code == 0
    monkeypatch.setenv("FAKE_TROUBLE", "refuse@mini-xquad")
    again = isogloss(*words)
    assert again.code == 1
    assert "--force replaces them" in again.err  # said before the system is asked for anything
    monkeypatch.setenv("FAKE_TROUBLE", "")
    first = (tmp_path / "answers" / "mini-xquad" / "sw.jsonl").read_bytes()
    assert isogloss(*words, "--force", "--seed", 1).code == 0
    assert (tmp_path / "answers" / "mini-xquad" / "sw.jsonl").read_bytes() != first


def test_predict_says_why_it_cannot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_TROUBLE", "refuse@mini-xquad untrained@mini-tatoeba")
    for task, why in (("mini-xquad", "fake has no wish to"), ("mini-tatoeba", "no English training set")):
        done = isogloss("predict", "fake", "--task", task, "--language", "sw", "--out", tmp_path)
        assert done.code == 1
        assert why in done.err
