"""Real answers with several seeds: F1 as published, and seeds that others predict."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from real_seeds import answers, predicted


def test_f1_is_the_published_one_and_seeds_predict_each_other(data_dir: Path) -> None:
    if not (data_dir / "masakhaner2" / "predictions").is_dir():
        pytest.skip("the data folder has no predictions for MasakhaNER 2.0")
    hits = trials = files = 0
    for _, _, runs, published in answers(data_dir):
        scores = np.array([run.score for run in runs])
        assert scores == pytest.approx(published, abs=1e-9)
        more, of = predicted(scores)
        hits, trials, files = hits + more, trials + of, files + len(runs)
    assert files == 105
    assert 0.9 < hits / trials < 0.99
