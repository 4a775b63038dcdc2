"""Scores of checkpoints are read from fits and from CSV files, and what is wrong with them is said."""

import re
from pathlib import Path

import numpy as np
import pytest

from analysis.checkpoint_files import runs_of, write_csv
from isogloss.analysis.checkpoint_scores import read_checkpoint_scores
from isogloss.analysis.finding import AnalysisError
from isogloss.errors import DataError, UnknownNameError
from isogloss.systems.neural.fit_log import FitLog, write_fit_log

HEAD = "step,seed,language,split,value\n"
GOOD = HEAD + "1,0,en,dev,50\n1,0,en,test,51\n2,0,en,dev,60\n2,0,en,test,61\n"


def fit(folder: Path, seed: int, task: str = "udpos", rows: str = "") -> Path:
    folder.mkdir(parents=True)
    (folder / "checkpoints.csv").write_text(
        "step,seed,language,split,metric,value,n\n" + (rows or record_rows(seed)), encoding="utf-8"
    )
    log = FitLog("", task, seed, "m", {}, {"task": task}, ["en"], [], finished=True)
    write_fit_log(folder, log)
    return folder


def record_rows(seed: int) -> str:
    lines = []
    for step in (10, 20):
        for language in ("en", "sw"):
            for split, n in (("dev", 200), ("test", 500)):
                lines.append(f"{step},{seed},{language},{split},f1,{step + seed},{n}")
                lines.append(f"{step},{seed},{language},{split},accuracy,99,{n}")
        lines.append(f"{step},{seed},en,dev,loss,3.5,{n}")
    return "\n".join(lines) + "\n"


def test_fits_are_found_below_a_folder_with_the_main_metric_and_sizes(tmp_path: Path) -> None:
    for seed in (0, 1):
        fit(tmp_path / f"runs/x/zero-shot/seed-{seed}/.training/udpos", seed)
    found = read_checkpoint_scores([tmp_path / "runs"])
    assert [run.seed for run in found.seeds] == [0, 1]
    assert found.seeds[1].steps == (10, 20)
    assert found.seeds[1].of("sw", "test").tolist() == [11, 21]
    assert (found.task, found.metric, found.sizes["sw"]) == ("udpos", "f1", 500)
    assert read_checkpoint_scores([tmp_path / "runs"], metric="accuracy").seeds[0].of("en", "dev").tolist() == [99, 99]


def test_two_main_metrics_are_averaged(tmp_path: Path) -> None:
    rows = "".join(
        f"{step},0,en,{split},{metric},{value},9\n"
        for step in (1, 2)
        for split in ("dev", "test")
        for metric, value in (("f1", 60), ("em", 40))
    )
    found = read_checkpoint_scores([fit(tmp_path / "f", 0, "xquad", rows)])
    assert found.seeds[0].of("en", "dev").tolist() == [50, 50]


def test_fits_of_several_tasks_must_be_told_apart(tmp_path: Path) -> None:
    fit(tmp_path / "seed-0/.training/udpos", 0)
    fit(tmp_path / "seed-0/.training/wikiann", 0, "wikiann")
    with pytest.raises(AnalysisError, match="several tasks: udpos, wikiann") as caught:
        read_checkpoint_scores([tmp_path])
    assert "--task udpos" in str(caught.value)
    assert read_checkpoint_scores([tmp_path], task="wikiann").task == "wikiann"
    with pytest.raises(AnalysisError, match="no checkpoints of xnli"):
        read_checkpoint_scores([tmp_path], task="xnli")
    with pytest.raises(UnknownNameError):
        read_checkpoint_scores([tmp_path], task="udposs")


def test_a_csv_of_others_is_read_and_what_was_not_asked_is_nan(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("\ufeff" + GOOD + "2,0,sw,test,7.5\n", encoding="utf-8")
    [run] = read_checkpoint_scores([path]).seeds
    assert run.of("en", "test").tolist() == [51, 61]
    assert np.isnan(run.of("sw", "test")[0])
    assert run.of("sw", "test")[1] == 7.5
    assert np.isnan(run.of("qu", "dev")).all()


def test_a_csv_with_several_metrics_has_the_main_ones_of_its_task(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("step,seed,language,split,metric,value,n\n" + record_rows(0), encoding="utf-8")
    with pytest.raises(AnalysisError, match="several metrics: accuracy, f1"):
        read_checkpoint_scores([path])
    found = read_checkpoint_scores([path], task="udpos")
    assert (found.task, found.metric, found.seeds[0].of("sw", "test").tolist()) == ("udpos", "f1", [10, 20])


def test_written_and_read_again_is_the_same(tmp_path: Path) -> None:
    made = runs_of(
        {("en", "dev"): [1.5, 2.25], ("en", "test"): [3, 4]}, {("en", "dev"): [5, 6], ("en", "test"): [7, 8]}
    )
    found = read_checkpoint_scores([write_csv(tmp_path / "s.csv", made, {"metric": "accuracy", "n": "77"})])
    assert found.sizes == {"en": 77}
    for before, after in zip(made.seeds, found.seeds, strict=True):
        assert after.steps == before.steps
        assert {key: values.tolist() for key, values in after.values.items()} == {
            key: values.tolist() for key, values in before.values.items()
        }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("step,seed,language,value\n1,0,en,5\n", "no column split"),
        ("", "no column step, seed, language, split, value"),
        (HEAD, "there are no scores"),
        (HEAD + "1,0,en,dev,50\n", "only dev scores"),
        (HEAD + "1,0,en,test,50\n", "only test scores"),
        (GOOD + "3,0,en,dev,nan\n", r"s\.csv:6: value 'nan' is not a number"),
        (GOOD + "3,0,en,dev,\n", "value '' is not a number"),
        (GOOD + "3,0,en,dev,inf\n", "value 'inf' is not a number"),
        (GOOD + "x,0,en,dev,5\n", r"s\.csv:6: step is 'x', and must be a whole number from 0 to"),
        (GOOD + "3,-1,en,dev,5\n", r"s\.csv:6: seed is '-1', and must be a whole number"),
        (
            HEAD.replace("value", "value,n") + "1,0,en,dev,5,-5\n",
            r"s\.csv:2: n is '-5', and must be a whole number from 0",
        ),
        (HEAD.replace("value", "value,n") + "1,0,en,dev,5,10000000\n", "whole number from 0 to 1000000"),
        (GOOD + "3,0,en,valid,5\n", "split 'valid' is neither dev nor test"),
        (GOOD + "3,0,,dev,5\n", "there is no language"),
        (GOOD + "2,0,en,dev,60\n", "seed 0, step 2, en dev is there twice"),
        (GOOD + "3,0,en,dev,101\n", "must lie within 0..100"),
        (GOOD + "3,0,en,dev,-1\n", "must lie within 0..100"),
        (HEAD + "1,0,en,dev,0.5\n1,0,en,test,0.6\n", "all scores lie within 0..1"),
        ("step,seed,language,split,value,metric\n1,0,en,dev,5,f1\n1,0,en,test,5,em\n", "several metrics: em, f1"),
    ],
)
def test_what_is_wrong_with_a_csv_is_said(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "s.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(AnalysisError) as caught:
        read_checkpoint_scores([path])
    assert re.search(said, str(caught.value)), str(caught.value)


def test_files_that_are_not_there_or_given_twice(tmp_path: Path) -> None:
    with pytest.raises(DataError):
        read_checkpoint_scores([tmp_path / "none.csv"])
    with pytest.raises(AnalysisError, match="there are no checkpoints"):
        read_checkpoint_scores([tmp_path])
    path = tmp_path / "s.csv"
    path.write_text(GOOD, encoding="utf-8")
    with pytest.raises(AnalysisError, match="there twice"):
        read_checkpoint_scores([path, path])
    with pytest.raises(UnknownNameError, match="metric"):
        read_checkpoint_scores([path], metric="f1")
