"""Predict further seeds from given ones, on the real answers of three encoders with five seeds each to MasakhaNER 2.0.

Run it: `python benchmarks/real_seeds.py DATA`. From every choice of three seeds it predicts the scores of the others by
their spread, and counts how many fall into the 95 % prediction interval. It also measures how much of a seed's effect
languages share.
"""

import sys
from collections.abc import Iterator
from itertools import combinations
from math import sqrt
from pathlib import Path

import numpy as np
from real_answers import tagged

from isogloss.metrics.chunks import statistics
from isogloss.metrics.crossed import Design, RunEstimates
from isogloss.metrics.estimate import Estimate, estimate
from isogloss.metrics.statistics import Statistics
from isogloss.metrics.student import t_quantile

SEEDS = range(1, 6)
GIVEN = 3


def answers(data: Path) -> Iterator[tuple[str, str, list[Statistics], list[float]]]:
    """Yield encoder, language, the statistics of every seed, and the published F1 of each."""
    for encoder in sorted((data / "masakhaner2" / "predictions").iterdir()):
        for folder in sorted(encoder.iterdir()):
            gold = tagged(data / "masakhaner2" / "data" / folder.name / "test.txt")
            runs = [
                statistics(gold, tagged(folder / f"test_predictions{seed}.txt.xz"), dialect="seqeval-1.2.2")
                for seed in SEEDS
            ]
            published = [
                float((folder / f"test_result{seed}.txt").read_text(encoding="utf-8").split("f1 = ")[1].split()[0])
                for seed in SEEDS
            ]
            yield encoder.name, folder.name, runs, published


def predicted(scores: np.ndarray) -> tuple[int, int]:
    """Return how many of further seeds lie in the prediction interval of others, and their number."""
    hits = trials = 0
    for given in combinations(range(len(scores)), GIVEN):
        known = scores[list(given)]
        spread = known.var(ddof=1) * (1 + 1 / GIVEN)
        for other in np.delete(scores, given):
            hits += abs(other - known.mean()) <= t_quantile(0.975, GIVEN - 1) * sqrt(spread)
            trials += 1
    return hits, trials


def between_seeds(mean: Estimate) -> float:
    """Return the part of a mean's variance that is between its seeds."""
    return sum(part.variance for part in mean.runs)


def on_single_sentences(mean: Estimate) -> float:
    """Return the part of the variance between seeds that their effects on single sentences explain."""
    return sum(on_single for _, on_single in mean.run_components.values())


def main(data: Path) -> int:
    """Print the figures as Markdown."""
    design = Design.of([{"seed": str(seed)} for seed in SEEDS])
    cells: dict[str, list[RunEstimates]] = {}
    worst, hits, trials = 0.0, 0, 0
    shares, deviations = [], []
    for encoder, language, runs, published in answers(data):
        scores = np.array([run.score for run in runs])
        worst = max(worst, float(np.abs(scores - published).max()))
        found = RunEstimates(tuple(estimate(run, space=language) for run in runs), design)
        cells.setdefault(encoder, []).append(found)
        combined = found.combined
        shares.append(between_seeds(combined) / combined.variance)
        deviations.append((100 * scores.std(ddof=1), 100 * sqrt(len(SEEDS) * on_single_sentences(combined))))
        more, of = predicted(scores)
        hits, trials = hits + more, trials + of
    observed, by_chance = np.sqrt((np.array(deviations) ** 2).mean(axis=0))
    print(f"- largest difference from the published F1: {worst:.1e}")
    print(f"- further seeds within the 95 % prediction interval of three: {100 * hits / trials:.1f} % of {trials}")
    print(f"- standard deviation between seeds: {observed:.2f} points; {by_chance:.2f} by chance on single sentences")
    print(
        f"- share of the seeds in the variance of a mean over five: {100 * np.mean(shares):.0f} % (median cell "
        f"{100 * np.median(shares):.0f} %)"
    )
    heading = ("encoder", "mean of 7 languages", "95 %", "shared effect of a seed", "further seeds in their interval")
    print(f"\n| {' | '.join(heading)} |\n| --- | ---: | ---: | ---: | ---: |")
    for encoder, languages in cells.items():
        average = RunEstimates.mean(languages)
        combined = average.combined
        alone = sum(between_seeds(each.combined) for each in languages) / len(languages) ** 2
        low, high = combined.score_interval() or (0.0, 0.0)
        held, of = predicted(np.array([run.value for run in average.runs]))
        # 1 if a seed moves every language independently, 7 if it moves all alike.
        ratio = between_seeds(combined) / alone
        shown = f"{100 * combined.value:.2f}", f"{100 * low:.1f}–{100 * high:.1f}", f"{ratio:.2f}", f"{held} of {of}"
        print(f"| {encoder} | {' | '.join(shown)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
