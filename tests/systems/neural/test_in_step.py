"""Processes that train together: if one fails, all must fail and stay in step; together they learn what one learns."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'isogloss[train]'")

from isogloss.systems.neural.fit_log import read_fit_log  # noqa: E402 - only where there is torch
from isogloss.training import loop  # noqa: E402
from systems.dual.made_pairs import assert_same, gradients, model, objective  # noqa: E402
from training.loop_twins import undropped  # noqa: E402
from training.toy import Words, bag, weights  # noqa: E402

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
JOB = HERE / "in_step_job.py"


@pytest.fixture(scope="module")
def played(tiny_bert: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder in which the job's two processes have played."""
    folder = tmp_path_factory.mktemp("in-step")
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": "true"}
    environment["PYTHONPATH"] = os.pathsep.join([str(HERE.parent.parent), os.environ.get("PYTHONPATH", "")])
    command = [*launch, str(JOB), str(folder), str(tiny_bert)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def told(played: Path) -> dict[str, list[str]]:
    """Return the results of the two processes, scene by scene."""
    lines = [path.read_text().splitlines() for path in sorted(played.glob("told-*"))]
    found = [dict(line.split(" | ", 1) for line in of) for of in lines]
    assert found[0].keys() == found[1].keys()
    return {scene: [of[scene] for of in found] for scene in found[0]}


def test_error_in_any_process_is_raised_in_all(told: dict[str, list[str]]) -> None:
    assert told["from main"] == ["made in 0"] * 2
    own, others = "ValueError: broken", "TrainingError: error in process {} of 2: ValueError: broken"
    assert told["main fails"] == [own, others.format(0)]
    assert told["the other fails"] == [others.format(1), own]


@pytest.mark.parametrize(
    ("scene", "own"),
    [
        ("stage", ""),  # every process reads it
        ("log", "DataError: cannot be written"),
        ("questions", "DataError: dev-en.tsv:3: 1 columns instead of 3"),
        ("checkpoint", "OSError: the disk is full"),
        ("weights", "SystemFailureError: weights cannot be written"),
    ],
)
def test_error_at_any_point_of_a_fit_is_raised_in_all(scene: str, own: str, told: dict[str, list[str]]) -> None:
    first, second = told[scene]
    if not own:
        assert "correct is 'Z'" in first
        assert second == first
    else:
        assert first.startswith(own)
        assert second.startswith("TrainingError: error in process 0 of 2: ")


def test_model_unreadable_in_one_process_fails_in_all(told: dict[str, list[str]]) -> None:
    assert told["model"] == ["TrainingError: error in process 1 of 2: no room", "SystemFailureError: no room"]


def test_processes_train_together_after_errors(told: dict[str, list[str]], played: Path) -> None:
    assert told["whole"] == ["learnt"] * 2
    log = read_fit_log(played / "fit")
    assert log is not None
    assert log.finished


def test_processes_serve_further_fits_of_the_first(told: dict[str, list[str]], played: Path) -> None:
    assert told["shared"] == ["2 updates"] * 2
    log = read_fit_log(played / "mini-tatoeba")
    assert log is not None
    assert log.shared_training == ["mini-xquad", "mini-tatoeba"]


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are listed in /proc only on Linux")
@pytest.mark.parametrize("rank", range(2))
def test_processes_leave_their_group_before_they_exit(played: Path, rank: int) -> None:
    """A thread of the group that still frees a tensor while Python shuts down would abort the process."""
    names = (played / f"threads-{rank}").read_text().splitlines()
    assert names
    assert not [name for name in names if "gloo" in name]


def test_two_processes_have_the_contrastive_gradients_of_one(
    told: dict[str, list[str]], played: Path, tiny_bert: Path
) -> None:
    assert told["contrastive"] == ["saved"] * 2
    _, alone = gradients(model(tiny_bert), objective(both=True), np.arange(16), 16)
    halves = [torch.load(played / f"gradients-{rank}.pt") for rank in range(2)]
    assert_same({name: halves[0][name] + halves[1][name] for name in alone}, alone)


def test_two_killed_and_resumed_processes_have_the_same_losses(told: dict[str, list[str]]) -> None:
    """Each process draws its own dropout, and continues with the same draws."""
    assert told["loop"] == ["resumed"] * 2


@pytest.mark.parametrize("optimizer", loop.OPTIMIZERS)
def test_two_processes_learn_what_one_learns(told: dict[str, list[str]], played: Path, optimizer: str) -> None:
    """torchrun with two processes on the CPU: the same losses and weights, up to rounding."""
    together, alone = np.load(played / f"{optimizer}.npz"), bag(7)
    trained = loop.train(alone, Words(), undropped(optimizer), seed=7)
    assert np.allclose(together["losses"], trained.losses, atol=1e-5)
    assert np.allclose(together["weights"], weights(alone), atol=1e-4)
