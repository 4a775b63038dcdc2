"""Processes that train together: if one fails, all must fail and stay in step."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch is not installed: pip install 'isogloss[train]'")

from isogloss.systems.neural.fit_log import read_fit_log

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
JOB = HERE / "in_step_job.py"


@pytest.fixture(scope="module")
def told(tiny_bert: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Return the results of the job's two processes, scene by scene."""
    folder = tmp_path_factory.mktemp("in-step")
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": "true"}
    environment["PYTHONPATH"] = os.pathsep.join([str(HERE.parent.parent), os.environ.get("PYTHONPATH", "")])
    command = [*launch, str(JOB), str(folder), str(tiny_bert)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    lines = [path.read_text().splitlines() for path in sorted(folder.glob("told-*"))]
    found = [dict(line.split(" | ", 1) for line in of) for of in lines]
    assert found[0].keys() == found[1].keys()
    log = read_fit_log(folder / "fit")
    assert log is not None
    assert log.finished
    log = read_fit_log(folder / "mini-tatoeba")
    assert log is not None
    assert log.shared_training == ["mini-xquad", "mini-tatoeba"]
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


def test_processes_train_together_after_errors(told: dict[str, list[str]]) -> None:
    assert told["whole"] == ["learnt"] * 2


def test_processes_serve_further_fits_of_the_first(told: dict[str, list[str]]) -> None:
    assert told["shared"] == ["2 updates"] * 2
