"""Quality of the checkpoint chosen by a dev set, by its number of examples. A simulation.

    python benchmarks/selection.py [--trials 2000] [--seed 0]

A run has ten checkpoints, the default. Their true accuracies are normally distributed around 80 %, with a standard
deviation of `spread` points. A latent normal variable with a threshold decides whether a checkpoint is right about an
example; a part of its variance, `shared`, belongs to the example and is the same for all
checkpoints, because checkpoints of a run are mostly right and wrong about the same examples. The package's own rule
then chooses the best by the dev score. The loss is the distance of its true accuracy from the best one.

Sentences of a tagger are simulated as right or wrong as a whole. A real curve rises and then stays flat; the
ten here are its flat part, where a choice is hard.
"""

import argparse
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import NormalDist, fmean

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from isogloss.training.selection import CheckpointScore, choose

ACCURACY, CHECKPOINTS, NOTICEABLE = 0.8, 10, 0.5
SPREAD, SHARED = 0.75, 0.8
PART = 300  # examples of a dev subset that only shows how a run develops
DEV_SETS = {"XNLI": 2_490, "UD-POS": 3_974, "WikiANN": 10_000}
_LATENT = NormalDist()


def lost_points(examples: int, spread: float, shared: float, trials: int, seed: int) -> Iterator[float]:
    """Return how far the chosen checkpoint is below the best one, in points, in every trial."""
    steps = list(range(1, CHECKPOINTS + 1))
    for trial in range(trials):
        rng = np.random.default_rng([seed, trial])
        true = ACCURACY + spread / 100 * rng.standard_normal(CHECKPOINTS)
        cuts = np.array([_LATENT.inv_cdf(accuracy) for accuracy in true])
        own = rng.standard_normal((examples, CHECKPOINTS), np.float32)
        of_example = rng.standard_normal((examples, 1), np.float32)
        right = math.sqrt(shared) * of_example + math.sqrt(1 - shared) * own < cuts
        scores = [
            CheckpointScore(step, 0, "en", "dev", "accuracy", 100 * float(value), examples)
            for step, value in zip(steps, right.mean(axis=0), strict=True)
        ]
        chosen, _ = choose(scores, steps, "english-dev", "en", ["accuracy"])
        yield 100 * float(true.max() - true[chosen - 1])


def row(name: str, examples: int, spread: float, shared: float, trials: int, seed: int) -> str:
    """Return a row of the table."""
    lost = list(lost_points(examples, spread, shared, trials, seed))
    error = 100 * math.sqrt(ACCURACY * (1 - ACCURACY) / examples)
    noticeable = 100 * fmean(points >= NOTICEABLE for points in lost)
    figures = f"{examples:,} | {spread:g} | {shared:g} | {error:.1f} | {noticeable:.0f} % | {fmean(lost):.2f}"
    return f"| {name} | {figures} |"


def main() -> None:
    """Print the table: a subset and whole dev sets, then the first two under other assumptions."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    print("| dev set | examples | spread | shared | standard error | ≥ 0.5 points below the best | points lost, mean |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name, examples in {"a part": PART, **DEV_SETS}.items():
        print(row(name, examples, SPREAD, SHARED, given.trials, given.seed))
    for spread, shared in ((0.5, 0.8), (1.5, 0.8), (0.75, 0.5), (2.0, 0.0)):
        for name, examples in (("a part", PART), ("XNLI", DEV_SETS["XNLI"])):
            print(row(name, examples, spread, shared, given.trials, given.seed))


if __name__ == "__main__":
    main()
