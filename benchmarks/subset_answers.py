"""Scores from subsets of real answers, compared with the scores of all answers.

Run it: `python benchmarks/subset_answers.py --data DATA [--draws 1200]`. It draws many subsets of every set of answers
in `real_answers.py`, with other answers as guide, and prints a Markdown table:

- error: the root mean square error against the score on all examples, in points, of a plain random subset (by
  formula) and of a guided one, and the ratio of their variances, the share of a plain subset's answers that a
  guided one needs;
- coverage: how often the stated interval covers the score on all examples (target: 95 %);
- width: that of the interval for new examples, relative to the one with all answers.

Averages over languages come last. Every language is drawn on its own; the last row shows what drawing the same examples
in all languages would do to a plain subset.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import process_time

import numpy as np
from real_answers import ENCODERS, Pair, every_set

from isogloss.metrics.control import draw_estimate
from isogloss.metrics.estimate import Estimate, Interval, mean

SIZES = (50, 100, 200, 400)
# Subsets of more than this share of the examples are not drawn.
LARGEST = 0.7
HEAD = (
    "system, guide",
    "sets",
    "N",
    "correlation",
    "n",
    "error: plain",
    "guided",
    "variance ratio",
    "coverage",
    "width: plain",
    "guided",
)


class Average:
    """Average over languages; `parallel` ones have the same examples."""

    def __init__(self, pairs: Sequence[Pair], *, parallel: bool) -> None:
        self.pairs, self.designs = pairs, [pair.design() for pair in pairs]
        self.spaces = ["" if parallel else f"language {place}" for place in range(len(pairs))]
        estimates = [pair.estimate(pair.system, space) for pair, space in zip(pairs, self.spaces, strict=True)]
        self.whole = mean(estimates)
        self.influences = [pair.influences for pair in pairs]
        guided = [np.corrcoef(pair.influences, pair.guide_influences)[0, 1] for pair in pairs]
        self.correlation = float(np.mean(guided))

    def plain_square(self, size: int, *, same: bool = False) -> float:
        """Return the mean square error of plain random subsets, with the `same` examples in all languages or not."""
        if same:
            return _square(np.mean(self.influences, axis=0), size)
        return sum(_square(each, size) for each in self.influences) / len(self.influences) ** 2

    def draw(self, size: int, rng: np.random.Generator) -> tuple[Estimate, Estimate]:
        """Return the estimates of a subset, for new draws and for new examples."""
        subsets = [pair.subset(size, *design, rng) for pair, design in zip(self.pairs, self.designs, strict=True)]
        by_draw = [draw_estimate(each, f"draw {place}") for place, each in enumerate(subsets)]
        parts = zip(self.pairs, subsets, self.spaces, strict=True)
        return mean(by_draw), mean([pair.estimate(each, space) for pair, each, space in parts])

    def measured(self, size: int, draws: int, seed: int) -> list[float]:
        """Return mean square errors of plain and guided subsets, coverage, and both relative widths."""
        truth, plain = self.whole.value, self.plain_square(size)
        squares, held, widths = [], [], []
        for place in range(draws):
            by_draw, total = self.draw(size, np.random.default_rng([seed, size, place]))
            low, high = by_draw.score_interval() or (np.nan, np.nan)
            squares.append((by_draw.value - truth) ** 2)
            held.append(low <= truth <= high)
            widths.append(_width(total.score_interval()) / _width(self.whole.score_interval()))
        relative = (1 + plain / self.whole.variance) ** 0.5
        return [plain, float(np.mean(squares)), float(np.mean(held)), relative, float(np.mean(widths))]


def _square(influences: np.ndarray, size: int) -> float:
    return float(influences.var(ddof=1)) * (1 / size - 1 / len(influences))


def _width(interval: Interval | None) -> float:
    return float("nan") if interval is None else interval[1] - interval[0]


def rows(name: str, averages: Sequence[Average], draws: int) -> Iterator[str]:
    """Yield the lines of some sets of answers, one per size of the subset."""
    smallest = min(len(pair.system) for average in averages for pair in average.pairs)
    for size in (size for size in SIZES if size <= LARGEST * smallest):
        of_each = max(2, draws // len(averages))
        figures = np.array([average.measured(size, of_each, seed) for seed, average in enumerate(averages)])
        plain, guided, held, plain_width, guided_width = figures.mean(axis=0)
        correlation = np.mean([average.correlation for average in averages])
        cells = (
            name,
            str(len(averages)),
            f"{np.mean([len(pair.system) for average in averages for pair in average.pairs]):,.0f}",
            f"{correlation:.2f}",
            str(size),
            f"{100 * plain**0.5:.2f}",
            f"{100 * guided**0.5:.2f}",
            f"{np.mean(figures[:, 1] / figures[:, 0]):.2f}",
            f"{100 * held:.1f}",
            f"{plain_width:.2f}",
            f"{guided_width:.2f}",
        )
        yield f"| {' | '.join(cells)} |"


def varying(pairs: Sequence[Pair]) -> list[Pair]:
    """Return the sets in which both systems are sometimes right."""
    return [pair for pair in pairs if pair.system.rows.any() and np.ptp(pair.guide.rows) and np.ptp(pair.system.rows)]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--draws", type=int, default=1200, help="draws per row; a quarter for averages")
    options = parser.parse_args()
    print(f"| {' | '.join(HEAD)} |\n| --- |{' ---: |' * (len(HEAD) - 1)}")
    groups = {name: varying(pairs) for name, pairs in every_set(options.data)}
    for name, pairs in groups.items():
        for line in rows(name, [Average([pair], parallel=False) for pair in pairs], options.draws):
            print(line, flush=True)
    for name, pairs in groups.items():
        averages: list[Average] = []
        if name.startswith("SIB-200"):
            averages = [together := Average(pairs, parallel=True)]
        elif name.startswith("MasakhaNER"):
            count = len(ENCODERS) * 5
            averages = [Average(pairs[start::count], parallel=False) for start in range(count)]
        languages = len(averages[0].pairs) if averages else 0
        for line in (
            rows(f"{name}: average over {languages} languages", averages, options.draws // 4) if averages else ()
        ):
            print(line, flush=True)
    for size in SIZES[:2]:
        square = together.plain_square(size, same=True)
        relative = (1 + square / together.whole.variance) ** 0.5
        print(
            f"\nSIB-200, {size} plain, the same in all languages: error {100 * square**0.5:.2f}, width {relative:.2f}"
        )
    print(f"\n{options.draws:,} draws, {process_time():.0f} s of CPU")


if __name__ == "__main__":
    main()
