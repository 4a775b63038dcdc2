"""Made-up checkpoint scores, in memory and as files."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from isogloss.analysis.checkpoint_scores import CheckpointScores, SeedScores

Scores = Mapping[tuple[str, str], Sequence[float] | npt.NDArray[np.float64]]


def runs_of(*runs: Scores, sizes: Mapping[tuple[str, str], int] | None = None) -> CheckpointScores:
    """Return runs with the seeds 0, 1, … and checkpoints every ten steps."""
    return CheckpointScores(
        tuple(
            SeedScores(
                seed,
                tuple(range(10, 10 * len(next(iter(run.values()))) + 1, 10)),
                {key: np.asarray(values, np.float64) for key, values in run.items()},
            )
            for seed, run in enumerate(runs)
        ),
        sizes or {},
    )


def write_csv(path: Path, scores: CheckpointScores, extra: Mapping[str, str] | None = None) -> Path:
    """Write the scores to a file, with further constant columns."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(["step", "seed", "language", "split", "value", *(extra or {})])
        for run in scores.seeds:
            for (language, split), values in run.values.items():
                for step, value in zip(run.steps, values.tolist(), strict=True):
                    table.writerow([step, run.seed, language, split, value, *(extra or {}).values()])
    return path
