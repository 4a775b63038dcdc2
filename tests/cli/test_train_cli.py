"""isogloss train end to end."""

import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="torch is not installed: pip install 'isogloss[train]'")

from e2e.command import isogloss
from isogloss.systems.neural.fit_log import read_fit_log
from isogloss.training import loop
from isogloss.training.checkpoint_record import read_checkpoints
from isogloss.training.recipes import Recipe, recipe

QUICK = 'epochs = 0.2\nlearning_rate = 1e-3\ncheckpoints = 50\nselect = "last"\ndev_examples = 10\ntest_examples = 10\n'


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "quick.toml"
    path.write_text(QUICK)
    return path


@pytest.mark.slow
def test_model_is_trained_and_scored(tiny_bert: Path, tmp_path: Path, config: Path) -> None:
    words = ("train", f"encoder:{tiny_bert}", "--tasks", "mini-xnli,mini-xcopa", "--languages", "en,sw")
    words = (*words, "--config", config, "--out", tmp_path / "runs", "--seeds", 2)
    done = isogloss(*words)
    assert done.code == 0, done.err
    assert "encoder-bert, zero-shot, test: 2 seeds" in done.out
    # English is excluded from the mini-xcopa averages but has test examples; Swahili has both.
    assert re.search(r"sw +\d+\.\d \(\d+\.\d–\d+\.\d\) +\d+\.\d \(\d+\.\d–\d+\.\d\)", done.out)
    assert re.search(r"mean +\d+\.\d\* \(\d+\.\d–\d+\.\d\) +\d+\.\d\* \(\d+\.\d–\d+\.\d\)", done.out)
    missing = done.out.partition("* partial, missing: ")[2]
    assert {"mini-xnli/af", "mini-xcopa/ar"} <= set(re.findall(r"mini-\w+/\w+", missing))
    assert "mini-xnli seed 1: checkpoint at 8 of 8: loss" in done.err
    seed = tmp_path / "runs" / "encoder-bert" / "zero-shot" / "seed-1"
    assert 'recipe = "paper"' in (seed / "system.toml").read_text()
    assert 'select = "last"' in (seed / "system.toml").read_text()
    assert isogloss("score", seed, "--suite", "mini").code == 0
    found = read_checkpoints(seed / ".training" / "mini-xnli")
    assert found.steps == (4, 8)
    assert {row.language for row in found.rows} == {"en", "sw"}
    again = isogloss(*words)
    assert (again.code, again.out) == (0, done.out)
    assert "checkpoint" not in again.err


@pytest.mark.slow
def test_run_trains_too(tiny_bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def short(*words: Any) -> Recipe:
        return replace(recipe(*words), epochs=0.1)

    monkeypatch.setattr("isogloss.systems.neural.system.recipe", short)
    words = ("run", f"encoder:{tiny_bert}#random", "--suite", "mini", "--tasks", "mini-xcopa", "--languages", "sw")
    done = isogloss(*words, "--out", tmp_path, "--seeds", 1)
    assert done.code == 0, done.err
    folder = tmp_path / "encoder-bert-random" / "zero-shot" / "seed-0"
    log = read_fit_log(folder / ".training" / "mini-xcopa")
    assert log is not None
    assert log.finished
    assert (folder / "mini-xcopa" / "sw.jsonl").exists()


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["encoder", "-t", "xnli"], 1, "encoder needs a model"),
        (
            ["encoder:no/such/folder", "-t", "mini-xnli"],
            1,
            "no/such/folder: cannot open the model: no such folder",
        ),
        (["encoder:bert", "-t", "xnly"], 2, "unknown task 'xnly'"),
        (["encoder:bert", "-t", "xnli", "-r", "papers"], 2, "unknown recipe 'papers'. Did you mean paper?"),
        (["encoder:bert", "-t", "xnli", "--regime", "zeroshot"], 2, "Did you mean zero-shot"),
        (["encoder:bert", "-t", "xnli", "-c", "none.toml"], 1, "none.toml: no such file"),
        (["encoder:bert", "-t", "xnli", "--split", "best"], 2, "unknown split 'best'"),
        (["encodr:bert", "-t", "xnli"], 2, "unknown system 'encodr'. Did you mean encoder"),
        (["ngram", "-t", "mini-xnli"], 1, "ngram does not use recipes"),
        (["ngram", "-t", "mini-xnli", "-c", "none.toml"], 1, "ngram does not use recipes"),
        (["encoder:bert#recipe=papers", "-t", "xnli"], 2, "unknown recipe 'papers'"),
        (["encoder:bert", "-t", "mini-udpos", "-l", "th"], 2, "mini-udpos has no th. It has ar, de, en,"),
    ],
)
def test_errors_name_the_problem(words: list[str], code: int, message: str, tmp_path: Path) -> None:
    done = isogloss("train", *words, "--out", tmp_path)
    assert done.code == code
    assert message in done.err


@pytest.mark.slow
def test_settings_may_change_until_a_cell_is_done(tiny_bert: Path, tmp_path: Path, config: Path) -> None:
    """Another spelling of the model folder is the same model."""
    words = ("-t", "mini-xnli", "-l", "en,sw", "--out", tmp_path / "runs", "--config", config)
    config.write_text(f"{QUICK}max_length = 100000\n")
    long = isogloss("train", f"encoder:{tiny_bert}", *words)
    assert long.code == 1
    assert (long.err.count("Set max_length to"), long.out.count("Set max_length to")) == (1, 1)
    assert "failed: seed-0 mini-xnli/en and 1 more: " in long.out
    config.write_text(QUICK)
    assert isogloss("train", f"encoder:{tiny_bert}", *words).code == 0
    config.write_text(f"{QUICK}[xquad]\nepochs = 9\n")
    again = isogloss("train", f"encoder:{tiny_bert.parent}/./{tiny_bert.name}/", *words)
    assert again.code == 0, again.err
    assert "2 already done" in again.err
    config.write_text(f"{QUICK}[mini-xnli]\nepochs = 9\n")
    other = isogloss("train", f"encoder:{tiny_bert}", *words)
    assert other.code == 1
    assert "another configuration: epochs was 0.2, is 9.0. Choose another --out, " in other.err
    assert isogloss("train", f"encoder:{tiny_bert}#label=mine,epochs=0.1", *words[:-1], config).code == 0


def test_nothing_is_trained_without_test_sets(tiny_bert: Path, tmp_path: Path, config: Path) -> None:
    done = isogloss("train", f"encoder:{tiny_bert}", "-t", "mini-xcopa", "-l", "en", "--out", tmp_path, "-c", config)
    assert done.code == 1
    assert "skipped: seed-0 mini-xcopa/en: no test file of mini-xcopa/en" in done.out
    assert "checkpoint" not in done.err
    assert not [*tmp_path.rglob("weights")]


@pytest.mark.slow
def test_killed_and_resumed_run_is_identical(
    tiny_bert: Path, tmp_path: Path, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SIGKILL after the second of four checkpoints, with dropout, yields identical scores, answers and weights."""
    import torch

    config.write_text(QUICK.replace("checkpoints = 50", "checkpoints = 25\ndropout = 0.1"))
    words = ["train", f"encoder:{tiny_bert}", "-t", "mini-xnli", "-l", "en,sw", "-c", str(config), "-o"]
    monkeypatch.setattr(loop, "STATE_EVERY", 0)
    monkeypatch.setattr(loop, "REPORT_EVERY", 0)  # progress reports depend on time and must not change results
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    assert isogloss(*words, tmp_path / "whole").code == 0
    begin = "from isogloss.training import loop; loop.STATE_EVERY = 0; from isogloss.cli.main import main; main()"
    command = [sys.executable, "-c", begin, *words, str(tmp_path / "killed")]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr is not None
        assert any("checkpoint at 4 of 8" in line for line in process.stderr)
        process.kill()
    assert process.returncode == -signal.SIGKILL
    again = isogloss(*words, tmp_path / "killed")
    torch.set_num_threads(threads)
    assert again.code == 0, again.err
    assert "checkpoint at 2 of 8" not in again.err
    whole, killed = (tmp_path / out / "encoder-bert" / "zero-shot" / "seed-0" for out in ("whole", "killed"))
    names = [".training/mini-xnli/checkpoints.csv", ".training/mini-xnli/checkpoints.npz"]
    for name in (
        *names,
        "mini-xnli/en.jsonl",
        "mini-xnli/sw.jsonl",
        ".training/mini-xnli/weights/last/model.safetensors",
    ):
        assert (whole / name).read_bytes() == (killed / name).read_bytes()


@pytest.mark.slow
def test_two_processes_train_the_same_model_as_one(tiny_bert: Path, tmp_path: Path, config: Path) -> None:
    words = ["train", f"encoder:{tiny_bert}", "-t", "mini-xnli,mini-xcopa", "-l", "de,sw", "-c", str(config)]
    torchrun = [sys.executable, *"-m torch.distributed.run --standalone --nproc-per-node 2 -m isogloss".split()]
    command = [*torchrun, *words, "-o", str(tmp_path / "two")]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    alone = isogloss(*words, "-o", tmp_path / "one")
    assert done.stdout.replace("/two/", "/one/") == alone.out
    folders = [tmp_path / out / "encoder-bert" / "zero-shot" / "seed-0" / ".training" for out in ("one", "two")]
    for task in ("mini-xnli", "mini-xcopa"):
        one, two = (read_fit_log(folder / task) for folder in folders)
        assert one is not None
        assert two is not None
        assert (one.processes, two.processes) == (1, 2)
        assert two.losses == pytest.approx(one.losses, rel=1e-4)
