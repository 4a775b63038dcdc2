"""Checkpoint scores are read from fits and CSV files, and faults are reported."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
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
    log = FitLog(
        fingerprint="",
        task=task,
        seed=seed,
        model="m",
        recipe={},
        learnt_from={"task": task},
        languages=["en"],
        stages=[],
        finished=True,
    )
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


def test_fits_below_a_folder_have_the_main_metric_and_sizes(tmp_path: Path) -> None:
    for seed in (0, 1):
        fit(tmp_path / f"runs/x/zero-shot/seed-{seed}/.training/udpos", seed)
    scores = read_checkpoint_scores([tmp_path / "runs"])
    assert [run.seed for run in scores.seeds] == [0, 1]
    assert scores.seeds[1].steps == (10, 20)
    assert scores.seeds[1].of("sw", "test").tolist() == [11, 21]
    assert (scores.task, scores.metric, scores.sizes["sw", "test"]) == ("udpos", "f1", 500)
    assert scores.whole == {("en", "dev"): 3974, ("en", "test"): 5440}  # Swahili has no treebank
    assert scores.folders[1] == tmp_path / "runs/x/zero-shot/seed-1/.training/udpos"
    assert read_checkpoint_scores([tmp_path / "runs"], metric="accuracy").seeds[0].of("en", "dev").tolist() == [99, 99]


def test_two_main_metrics_are_averaged(tmp_path: Path) -> None:
    rows = "".join(
        f"{step},0,en,{split},{metric},{value},9\n"
        for step in (1, 2)
        for split in ("dev", "test")
        for metric, value in (("f1", 60), ("em", 40))
    )
    scores = read_checkpoint_scores([fit(tmp_path / "f", 0, "xquad", rows)])
    assert scores.seeds[0].of("en", "dev").tolist() == [50, 50]


def test_fits_of_several_tasks_need_a_choice(tmp_path: Path) -> None:
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


def test_scores_missing_from_a_csv_are_nan(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("\ufeff" + GOOD + "2,0,sw,test,7.5\n", encoding="utf-8")
    [run] = read_checkpoint_scores([path]).seeds
    assert run.of("en", "test").tolist() == [51, 61]
    assert np.isnan(run.of("sw", "test")[0])
    assert run.of("sw", "test")[1] == 7.5
    assert np.isnan(run.of("qu", "dev")).all()


def test_a_csv_with_several_metrics_uses_the_main_ones_of_its_task(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("step,seed,language,split,metric,value,n\n" + record_rows(0), encoding="utf-8")
    with pytest.raises(AnalysisError, match="several metrics: accuracy, f1"):
        read_checkpoint_scores([path])
    scores = read_checkpoint_scores([path], task="udpos")
    assert (scores.task, scores.metric, scores.seeds[0].of("sw", "test").tolist()) == ("udpos", "f1", [10, 20])


@pytest.mark.parametrize(
    ("options", "metric"),
    [({}, ""), ({"task": "mldoc"}, "accuracy"), ({"task": "xquad"}, "em+f1")],
)
def test_values_without_a_metric_are_the_score(tmp_path: Path, options: dict[str, str], metric: str) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(GOOD, encoding="utf-8")
    scores = read_checkpoint_scores([path], **options)
    assert (scores.metric, scores.task) == (metric, options.get("task", ""))
    assert scores.seeds[0].of("en", "test").tolist() == [51, 61]


def test_csv_without_the_main_metric_lists_its_own(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("step,seed,language,split,metric,value\n1,0,en,dev,f1,50\n1,0,en,test,f1,51\n", encoding="utf-8")
    with pytest.raises(UnknownNameError, match=r"unknown metric 'accuracy'\. Known: f1"):
        read_checkpoint_scores([path], task="mldoc")


def test_round_trip(tmp_path: Path) -> None:
    made = runs_of(
        {("en", "dev"): [1.5, 2.25], ("en", "test"): [3, 4]}, {("en", "dev"): [5, 6], ("en", "test"): [7, 8]}
    )
    scores = read_checkpoint_scores([write_csv(tmp_path / "s.csv", made, {"metric": "accuracy", "n": "77"})])
    assert scores.sizes == {("en", "dev"): 77, ("en", "test"): 77}
    for before, after in zip(made.seeds, scores.seeds, strict=True):
        assert after.steps == before.steps
        assert {key: values.tolist() for key, values in after.values.items()} == {
            key: values.tolist() for key, values in before.values.items()
        }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("step,seed,language,value\n1,0,en,5\n", "missing column split"),
        ("", "missing column step, seed, language, split, value"),
        (HEAD, "no scores"),
        (HEAD + "1,0,en,dev,50\n", "only dev scores"),
        (HEAD + "1,0,en,test,50\n", "only test scores"),
        (GOOD + "3,0,en,dev,nan\n", r"s\.csv:6: value 'nan' is not a number"),
        (GOOD + "3,0,en,dev,\n", "value '' is not a number"),
        (GOOD + "3,0,en,dev,inf\n", "value 'inf' is not a number"),
        (GOOD + "x,0,en,dev,5\n", r"s\.csv:6: step must be a whole number from 0 to .*, got 'x'"),
        (GOOD + "3,-1,en,dev,5\n", r"s\.csv:6: seed must be a whole number from 0 to .*, got '-1'"),
        (
            HEAD.replace("value", "value,n") + "1,0,en,dev,5,-5\n",
            r"s\.csv:2: n must be a whole number from 0 to .*, got '-5'",
        ),
        (HEAD.replace("value", "value,n") + "1,0,en,dev,5,10000000\n", "whole number from 0 to 1000000"),
        (GOOD + "3,0,en,valid,5\n", "split 'valid' is neither dev nor test"),
        (GOOD + "3,0,,dev,5\n", "missing language"),
        (GOOD + "2,0,en,dev,60\n", "seed 0, step 2, en dev occurs twice"),
        (GOOD + "3,0,en,dev,101\n", "must be within 0..100"),
        (GOOD + "3,0,en,dev,-1\n", "must be within 0..100"),
        (HEAD + "1,0,en,dev,0.5\n1,0,en,test,0.6\n", "all scores are within 0..1"),
        ("step,seed,language,split,value,metric\n1,0,en,dev,5,f1\n1,0,en,test,5,em\n", "several metrics: em, f1"),
    ],
)
def test_invalid_csv_is_reported(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "s.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(AnalysisError) as caught:
        read_checkpoint_scores([path])
    assert re.search(message, str(caught.value)), str(caught.value)


def test_table_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text(GOOD, encoding="utf-8")
    lines = [line.split(",") for line in GOOD.splitlines()]
    columns: dict[str, list[Any]] = {name: [row[place] for row in lines[1:]] for place, name in enumerate(lines[0])}
    columns |= {name: [int(text) for text in columns[name]] for name in ("step", "seed")}
    frame = pd.DataFrame(columns)
    [read] = read_checkpoint_scores([path]).seeds
    for table in (columns, frame, pa.Table.from_pandas(frame)):
        [run] = read_checkpoint_scores([table]).seeds
        assert (run.seed, run.steps) == (read.seed, read.steps)
        assert {key: values.tolist() for key, values in run.values.items()} == {
            key: values.tolist() for key, values in read.values.items()
        }
    with pytest.raises(AnalysisError, match="row 1 of the table: value 'x' is not a number"):
        read_checkpoint_scores([columns | {"value": [1, "x", *columns["value"][2:]]}])
    with pytest.raises(AnalysisError, match=r"no column 'split'.*has the columns step, seed, language, split, value"):
        read_checkpoint_scores([frame.drop(columns="split")])


def test_missing_and_duplicate_files(tmp_path: Path) -> None:
    with pytest.raises(DataError):
        read_checkpoint_scores([tmp_path / "none.csv"])
    with pytest.raises(AnalysisError, match="no checkpoints"):
        read_checkpoint_scores([tmp_path])
    path = tmp_path / "s.csv"
    path.write_text(GOOD, encoding="utf-8")
    with pytest.raises(AnalysisError, match="occurs twice"):
        read_checkpoint_scores([path, path])
    with pytest.raises(AnalysisError, match="cannot select f1: the scores have no metric"):
        read_checkpoint_scores([path], metric="f1")
