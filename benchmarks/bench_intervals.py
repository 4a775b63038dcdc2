"""Intervals of 10,000 examples against a plain numpy bootstrap and scipy's, with 1,000 resamples.

Run it: `python benchmarks/bench_intervals.py`. Each figure is the best wall time of several runs. The peers compute
an interval of the same level from the same scores by other methods; ours resample only in the bootstrap rows.
Paired cases include the p-value, which the peers do not give.
"""

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from isogloss.metrics.estimate import estimate, mean
from isogloss.metrics.exchange import exchange
from isogloss.metrics.intervals import bootstrap
from isogloss.metrics.statistics import F1, MEAN, Statistics

EXAMPLES, RESAMPLES = 10_000, 1_000


def best(function: Callable[[], object], repetitions: int = 5) -> float:
    """Return the shortest of several runs, in seconds."""
    times = []
    for _ in range(repetitions):
        start = perf_counter()
        function()
        times.append(perf_counter() - start)
    return min(times)


def index_matrix(*systems: np.ndarray) -> tuple[float, float]:
    """The usual bootstrap: one (resamples, n) matrix of indices, shared by two systems."""
    index = np.random.default_rng(0).integers(EXAMPLES, size=(RESAMPLES, EXAMPLES))
    means = [scores[index].mean(axis=1) for scores in systems]
    low, high = np.quantile(means[0] - means[1] if len(means) == 2 else means[0], [0.025, 0.975])
    return float(low), float(high)


def index_loop_f1(a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    """The same for F1, one resample at a time, as all resampled rows together would fill half a gigabyte."""
    rng = np.random.default_rng(0)
    differences = []
    for _ in range(RESAMPLES):
        index = rng.integers(EXAMPLES, size=EXAMPLES)
        (tp_a, p_a, g_a), (tp_b, p_b, g_b) = a[index].sum(axis=0), b[index].sum(axis=0)
        differences.append(2 * tp_a / (p_a + g_a) - 2 * tp_b / (p_b + g_b))
    low, high = np.quantile(differences, [0.025, 0.975])
    return float(low), float(high)


def scipy_bootstrap(method: str, *systems: np.ndarray) -> Callable[[], object] | None:
    """scipy's bootstrap with its defaults, if installed."""
    try:
        from scipy import stats
    except ImportError:
        return None

    def difference(a: np.ndarray, b: np.ndarray, axis: int) -> np.ndarray:
        return a.mean(axis=axis) - b.mean(axis=axis)

    return lambda: stats.bootstrap(
        systems,
        difference if len(systems) == 2 else np.mean,
        paired=len(systems) == 2,
        vectorized=True,
        n_resamples=RESAMPLES,
        method=method,
        rng=np.random.default_rng(0),
    )


def qa_like(rng: np.random.Generator) -> np.ndarray:
    """Token F1 of answers: a third 0, a third 1, the rest 2 tp / (predicted + gold) of short answers."""
    predicted, gold = rng.integers(1, 8, EXAMPLES), rng.integers(1, 8, EXAMPLES)
    partial = 2 * rng.integers(1, np.minimum(predicted, gold) + 1) / (predicted + gold)
    return np.choose(rng.integers(3, size=EXAMPLES), [np.zeros(EXAMPLES), np.ones(EXAMPLES), partial])


def entity_rows(rng: np.random.Generator) -> np.ndarray:
    """Correct, predicted and gold entities of sentences."""
    gold = 1 + rng.poisson(1.5, EXAMPLES)
    correct = rng.binomial(gold, 0.8)
    return np.stack([correct, correct + rng.poisson(0.4, EXAMPLES), gold], axis=1).astype(np.float64)


def run() -> list[dict[str, Any]]:
    """Time every pair; missing peers are left out."""
    rng = np.random.default_rng(0)
    right = (rng.random(EXAMPLES) < 0.7).astype(np.float64)
    floats, other = rng.random(EXAMPLES), rng.random(EXAMPLES)
    qa, other_qa = qa_like(rng), qa_like(rng)
    rows, other_rows = entity_rows(rng), entity_rows(rng)
    mean_of = {name: Statistics(x[:, None], MEAN) for name, x in [("a", floats), ("b", other), ("qa", qa)]}
    other_mean = Statistics(other_qa[:, None], MEAN)
    languages = [Statistics(right[rng.permutation(EXAMPLES)[:5010], None], MEAN) for _ in range(15)]

    cases: list[tuple[str, Callable[[], object], dict[str, Callable[[], object] | None]]] = [
        ("0/1", lambda: estimate(Statistics(right[:, None], MEAN)).score_interval(), plain_peers(right)),
        ("0/1, bootstrap", lambda: bootstrap(right, "mean"), plain_peers(right)),
        ("float, all distinct", lambda: estimate(mean_of["a"]).score_interval(), plain_peers(floats)),
        ("float, bootstrap", lambda: bootstrap(floats, "mean"), plain_peers(floats)),
        ("QA F1", lambda: estimate(mean_of["qa"]).score_interval(), plain_peers(qa)),
        ("paired float", lambda: paired(mean_of["a"], mean_of["b"]), plain_peers(floats, other)),
        ("paired QA F1", lambda: paired(mean_of["qa"], other_mean), plain_peers(qa, other_qa)),
        (
            "paired entity F1",
            lambda: paired(Statistics(rows, F1), Statistics(other_rows, F1)),
            {"numpy index loop": lambda: index_loop_f1(rows, other_rows)},
        ),
        (
            "15 parallel languages of 5,010",
            lambda: mean([estimate(each) for each in languages]).score_interval(),
            {"numpy shared index matrix": lambda: shared_index(languages)},
        ),
    ]
    results = []
    for what, ours, peers in cases:
        ours_s = best(ours)
        for peer, theirs in peers.items():
            if theirs is None:
                continue
            peer_s = best(theirs, repetitions=3)
            results.append({"what": what, "peer": peer, "ours_s": ours_s, "peer_s": peer_s, "ratio": peer_s / ours_s})
    return results


def paired(a: Statistics, b: Statistics) -> object:
    """Return the interval of a difference, and its p-value."""
    apart = exchange(a, b)
    return apart.interval(), apart.p


def plain_peers(*systems: np.ndarray) -> dict[str, Callable[[], object] | None]:
    """Return the peers of a mean, or of the difference of two."""
    return {
        "numpy index matrix": lambda: index_matrix(*systems),
        "scipy percentile": scipy_bootstrap("percentile", *systems),
        "scipy BCa": scipy_bootstrap("BCa", *systems),
    }


def shared_index(cells: list[Statistics]) -> np.ndarray:
    """One index matrix for all languages, looked up language by language."""
    size = len(cells[0])
    index = np.random.default_rng(0).integers(size, size=(RESAMPLES, size))
    return np.mean([cell.rows[:, 0][index].mean(axis=1) for cell in cells], axis=0)


if __name__ == "__main__":
    print(f"{'what':32}{'peer':28}{'ours s':>10}{'peer s':>10}{'ratio':>9}")
    for row in run():
        print("{what:32}{peer:28}{ours_s:10.5f}{peer_s:10.5f}{ratio:8.1f}x".format(**row))
