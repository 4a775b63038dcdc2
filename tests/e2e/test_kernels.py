"""Results are independent of the matrix kernel: OpenBLAS has one per processor type, and they round differently."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from isogloss.tasks.suites import suite
from sample import write_gold, write_system

KERNELS = ("Prescott", "Nehalem", "Haswell")


@pytest.mark.slow
def test_scores_intervals_and_p_values_are_equal_for_all_kernels(tmp_path: Path) -> None:
    write_gold(tmp_path / "gold", suite("xtreme-r"), 40)
    write_system(tmp_path / "a", suite("xtreme-r"), 40, "a", 0.8)
    write_system(tmp_path / "b", suite("xtreme-r"), 40, "b", 0.7)
    for words in (["score", tmp_path / "a"], ["compare", tmp_path / "a", tmp_path / "b"]):
        said = set()
        for kernel in KERNELS:
            environment = os.environ | {"OPENBLAS_CORETYPE": kernel, "OPENBLAS_NUM_THREADS": "1", "COLUMNS": "120"}
            command = [sys.executable, "-m", "isogloss", *map(str, words), "--gold", str(tmp_path / "gold")]
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
            said.add(done.stdout)
        assert len(said) == 1
