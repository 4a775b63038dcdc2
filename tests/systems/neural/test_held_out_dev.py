"""Fits of a task with a dev split cut from its training set: it selects, or is trained on, never both."""

import json
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch is not installed: pip install 'isogloss[train]'")

from isogloss.runs.fit import FitJob, fit_system
from isogloss.systems.base import system
from isogloss.systems.neural.fit_log import FitLog, read_fit_log
from isogloss.tasks.loading import load
from isogloss.tasks.registry import task
from isogloss.training.checkpoint_record import read_checkpoints
from isogloss.training.regimes import Fit, regime

pytestmark = pytest.mark.slow

TYDIQA = task("tydiqa")
PASSAGES = 40


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("data")
    articles = [
        {
            "paragraphs": [
                {
                    "context": f"Eric is {n} years old.",
                    "qas": [
                        {"id": f"english-{n}", "question": "How old?", "answers": [{"text": str(n), "answer_start": 8}]}
                    ],
                }
            ]
        }
        for n in range(PASSAGES)
    ]
    (root / "tydiqa_goldp").mkdir()
    (root / "tydiqa_goldp/english_tydiqa_train.json").write_text(json.dumps({"data": articles}))
    return root


def fit(tiny_bert: Path, data: Path, folder: Path, **settings: object) -> FitLog:
    quick = {"epochs": 2, "batch": 16, "checkpoints": 50, "max_length": 32, "query_length": 8, "stride": 8}
    made = system(f"encoder:{tiny_bert}", quiet=True, test_examples=0, **{**quick, **settings})
    job = FitJob(regime=regime("zero-shot"), task=TYDIQA, fit=Fit(("en",)), seed=0, data=data, folder=folder)
    fit_system(made, job)
    log = read_fit_log(folder)
    assert log is not None
    return log


def test_held_out_questions_choose_the_checkpoint(tiny_bert: Path, data: Path, tmp_path: Path) -> None:
    dev = load(TYDIQA, "en", "dev", data)
    assert 0 < len(dev) < PASSAGES / 2
    log = fit(tiny_bert, data, tmp_path)
    assert log.learnt_from["examples"] == PASSAGES - len(dev)
    assert log.chosen["en"].by == "en dev"
    assert {row.n for row in read_checkpoints(tmp_path).rows if row.split == "dev"} == {len(dev)}


@pytest.mark.parametrize("rule", ["training-dev", "dev-loss"])
def test_whole_training_set_leaves_no_dev(rule: str, tiny_bert: Path, data: Path, tmp_path: Path) -> None:
    log = fit(tiny_bert, data, tmp_path, hold_out=False, select=rule)
    assert log.learnt_from["examples"] == PASSAGES
    assert log.chosen["en"].by == "last"
    assert not read_checkpoints(tmp_path).rows
    assert any("it is part of the training set" in note for note in log.notes)


def test_scripts_train_on_all_questions(tiny_bert: Path, data: Path, tmp_path: Path) -> None:
    log = fit(tiny_bert, data, tmp_path, recipe="scripts")
    assert (log.learnt_from["examples"], log.chosen["en"].by) == (PASSAGES, "last")
