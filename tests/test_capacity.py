"""Computed costs of a study."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_jobs_take_at_least_their_mean_and_their_longest() -> None:
    cases = "(2, [3600, 3600, 3600]), (3, [7200, 60]), (1, [1800] * 4)"
    code = f"import capacity; print(*(capacity.hours_on(*case) for case in ({cases})))"
    folder = ROOT / "benchmarks"
    made = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    assert made.stdout.split() == ["2.0", "2.0", "2.0"]
