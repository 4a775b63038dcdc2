"""A cell is read and scored once, and not again while its statistics exist."""

import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import isogloss
from isogloss.metrics.statistics import Value
from isogloss.runs import records
from isogloss.runs.api import run
from isogloss.runs.grid import run_plan
from isogloss.runs.plan import Plan
from isogloss.runs.summary import RunSummary, write_results
from isogloss.scoring import stored
from isogloss.scoring.request import Request
from isogloss.scoring.results import Results
from isogloss.tasks import loading
from isogloss.tasks.kinds.qa import QuestionAnswering
from isogloss.training import regimes
from runs.grid_fake import command, mini_cache, mini_data

__all__ = ["mini_cache", "mini_data"]


@pytest.fixture
def work(mini_data: Path, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count loads of examples (by split), scorings, built systems and read records."""
    done: Counter[str] = Counter()

    def counting(name: Callable[..., str], act: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*given: Any, **named: Any) -> Any:
            done[name(*given, **named)] += 1
            return act(*given, **named)

        return counted

    load = counting(lambda task, language, split="test", *_, **__: f"load {split}", loading.load)
    for module in (loading, regimes):
        monkeypatch.setattr(module, "load", load)
    monkeypatch.setattr("isogloss.runs.cells.load", load)
    monkeypatch.setattr(QuestionAnswering, "judge", counting(lambda *_: "judge", QuestionAnswering.judge))
    monkeypatch.setattr("isogloss.systems.given.system", counting(lambda *_, **__: "system", isogloss.systems.system))
    decode = records.decode_json

    def decode_json(content: bytes, where: str, kind: type) -> Any:
        if kind is records.CellRecord:
            done["record"] += 1
        return decode(content, where, kind)

    monkeypatch.setattr(records, "decode_json", decode_json)
    return done


def filled(out: Path, *, system: str = "fake", languages: str = "sw", **options: Any) -> RunSummary:
    return run(system, out=out, suite="mini", tasks=["mini-xquad"], languages=languages.split(), seeds=1, **options)


def planned(out: Path, languages: str = "sw", system: str = "fake") -> Plan:
    return Plan.of(system, out, Request.of("mini", tasks=["mini-xquad"], languages=languages.split()), seeds=1)


def test_a_cell_is_read_and_scored_once(tmp_path: Path, work: Counter[str]) -> None:
    assert filled(tmp_path).cells["done"] == 1
    assert work == {"load train": 1, "load test": 1, "judge": 1, "system": 1, "record": 1}


def test_each_cell_of_a_grid_is_read_once(tmp_path: Path, work: Counter[str]) -> None:
    assert filled(tmp_path, languages="de en fi sw").cells["done"] == 4
    assert work == {"load train": 1, "load test": 4, "judge": 4, "system": 1, "record": 4}


def test_a_finished_grid_is_not_read_again(tmp_path: Path, work: Counter[str]) -> None:
    first = filled(tmp_path, languages="de sw")
    work.clear()
    assert filled(tmp_path, languages="de sw") == first
    assert work == {"system": 1}


@pytest.mark.slow
def test_a_further_cell_does_not_read_others(tmp_path: Path, work: Counter[str]) -> None:
    filled(tmp_path, languages="de sw")
    work.clear()
    filled(tmp_path, languages="de en sw")
    assert (work["load test"], work["judge"]) == (1, 1)
    assert {cell.language for cell in Results.from_json(planned(tmp_path).results_path(0)).cells} == {"de", "en", "sw"}


@pytest.mark.slow
def test_results_equal_those_of_score(tmp_path: Path, mini_data: Path) -> None:
    """For every kind of task, stored statistics give the bytes of `isogloss score`."""
    names = isogloss.tasks.suites.suite("mini").tasks
    run("ngram", out=tmp_path, suite="mini", tasks=names, languages=["en", "de", "ru"], seeds=1)
    [folder] = (tmp_path / "ngram" / "zero-shot").glob("seed-*")
    written = (folder / "results.json").read_bytes()
    assert len({cell.task for cell in Results.from_json(folder / "results.json").cells}) == len(names)
    isogloss.score(folder, suite="mini").to_json(tmp_path / "scored.json")
    assert written == (tmp_path / "scored.json").read_bytes()


def remade(plan: Plan) -> bytes:
    """Return the results of the first seed, written again."""
    plan.results_path(0).unlink()
    write_results(plan)
    return plan.results_path(0).read_bytes()


def test_predictions_are_scored_without_statistics(tmp_path: Path, work: Counter[str]) -> None:
    filled(tmp_path, languages="de sw")
    plan = planned(tmp_path, "de sw")
    before = plan.results_path(0).read_bytes()
    statistics = [plan.statistics_path(cell) for cell in plan.cells]
    work.clear()
    assert remade(plan) == before
    assert work["judge"] == 0
    contents = [path.read_bytes() for path in statistics]
    statistics[0].unlink()
    with pytest.warns(UserWarning, match="scored again: seed-0 mini-xquad/de: statistics differ"):
        assert remade(plan) == before
    assert (work["judge"], work["load test"]) == (1, 1)
    statistics[1].write_bytes(contents[1][:-30])
    work.clear()
    with pytest.warns(UserWarning, match="scored again: seed-0 mini-xquad/sw"):
        write_results(plan)  # although the result record exists and is up to date
    assert plan.results_path(0).read_bytes() == before
    assert work["judge"] == 1
    assert [path.read_bytes() for path in statistics] == contents


def test_statistics_of_another_version_are_not_used(
    tmp_path: Path, work: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(tmp_path)
    plan = planned(tmp_path)
    work.clear()
    remade(plan)
    assert work["judge"] == 0
    monkeypatch.setattr("isogloss.scoring.cells.__version__", "0.0.0")
    remade(plan)
    assert work["judge"] == 1


@pytest.mark.slow
def test_an_unnamed_metric_is_scored_from_the_predictions(
    tmp_path: Path, work: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = Value("own", ("score",), lambda sums, count: sums[..., 0] / count)
    judge = QuestionAnswering.judge

    def judged(self: QuestionAnswering, *given: Any) -> Any:
        found = judge(self, *given)
        for name, statistics in found.metrics.items():
            found.metrics[name] = type(statistics)(statistics.rows, own)
        return found

    monkeypatch.setattr(QuestionAnswering, "judge", judged)
    filled(tmp_path)
    plan = planned(tmp_path)
    assert not plan.statistics_path(plan.cells[0]).exists()
    assert Results.from_json(plan.results_path(0)) == isogloss.score(plan.seed_folder(0), suite="mini")
    monkeypatch.setitem(stored.VALUES, "own", own)
    run_plan(plan, force=True)
    assert plan.statistics_path(plan.cells[0]).exists()


def test_statistics_are_removed_with_their_cell(
    tmp_path: Path, mini_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = planned(tmp_path, system="fake")
    run_plan(plan)
    assert plan.statistics_path(plan.cells[0]).exists()
    monkeypatch.setenv("FAKE_TROUBLE", "fail@0-mini-xquad/sw")
    assert run_plan(plan, force=True).cells["failed"] == 1
    assert not plan.statistics_path(plan.cells[0]).exists()


def test_statistics_do_not_depend_on_the_process(tmp_path: Path, mini_data: Path) -> None:
    alone, together = (planned(tmp_path / name, "de en sw", "fake") for name in ("alone", "together"))
    run_plan(alone)
    subprocess.run(command(together, jobs=2), check=True, capture_output=True)
    for cell in alone.cells:
        assert alone.statistics_path(cell).read_bytes() == together.statistics_path(cell).read_bytes()


@pytest.mark.parametrize("content", [b'{"system": "\xff"}', b"[" * 100_000, b"{"])
def test_a_binary_record_is_damaged(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "en.json").write_bytes(content)
    assert records.read_record(tmp_path / "en.json") is None
