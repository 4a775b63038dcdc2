"""Processes that learn together and of which one fails: all must fail, and stay in step."""

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
    """What the two processes of the job were told, scene by scene."""
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


def test_an_error_in_any_process_is_an_error_in_all(told: dict[str, list[str]]) -> None:
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
def test_wherever_a_fit_fails(scene: str, own: str, told: dict[str, list[str]]) -> None:
    first, second = told[scene]
    if not own:
        assert "correct is 'Z'" in first
        assert second == first
    else:
        assert first.startswith(own)
        assert second.startswith("TrainingError: error in process 0 of 2: ")


def test_what_one_process_cannot_open_none_learns(told: dict[str, list[str]]) -> None:
    assert told["model"] == ["TrainingError: error in process 1 of 2: no room", "SystemFailureError: no room"]


def test_after_all_that_they_learn_together(told: dict[str, list[str]]) -> None:
    assert told["whole"] == ["learnt"] * 2


def test_they_serve_further_fits_that_the_first_alone_knows_of(told: dict[str, list[str]]) -> None:
    assert told["shared"] == ["2 updates"] * 2
