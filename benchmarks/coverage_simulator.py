"""Synthetic answers with known true scores, for measuring the coverage of intervals.

Every answer comes from a latent normal variable: a sum of parts shared by the questions of a cluster (an
article), by the languages of a question, and by the systems that answer it. Fixed thresholds decide whether
the answer is right, partly right or wrong. With any sharing, each single answer has the same
distribution, so the true score is known exactly: for new clusters, for new questions, and for both systems.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from isogloss.metrics.statistics import F1, MEAN, Statistics

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Rows = dict[str, Statistics]

# F1 of partly right answers: all partial overlaps of up to seven predicted and gold tokens.
PARTIAL_F1 = np.array(
    [
        2 * both / (p + g)
        for p in range(1, 8)
        for g in range(1, 8)
        for both in range(1, min(p, g) + 1)
        if p + g > 2 * both
    ]
)


@dataclass(frozen=True)
class Clusters:
    """Grouping of questions: sizes from `smallest` to `largest`, and the shared part of the latent variance."""

    name: str
    smallest: int
    largest: int
    shared: float

    def draw(self, n: int, rng: np.random.Generator) -> IntArray:
        """Return the cluster of each of n questions; the last cluster may be cut."""
        sizes = rng.integers(self.smallest, self.largest + 1, size=n // self.smallest + 1)
        return np.repeat(np.arange(len(sizes)), sizes)[:n]


# Shared variances give design effects of 1.4 to 2.1, like real answers.
ALONE = Clusters("none", 1, 1, 0.0)
ARTICLES = Clusters("about 25", 10, 40, 0.05)
# Languages that share sentences without sharing ids: every sentence is its own cluster.
SENTENCE = Clusters("1, shared", 1, 1, 0.0)
SMALL = Clusters("about 3", 1, 5, 0.35)


@dataclass(frozen=True)
class Figure:
    """A kind of score: a task and its main metric, the share of partly right answers, and the resulting rows.

    With a share m of right answers, a share `partly` m (1 - m) is partly right, worth `worth` on average.
    """

    name: str
    task: str
    metric: str
    partly: float
    worth: float
    rows: Callable[[FloatArray, IntArray, np.random.Generator], Rows]

    def right_share(self, level: npt.ArrayLike) -> FloatArray:
        """Return the share of right answers that gives the true score `level`."""
        score = np.asarray(level, dtype=np.float64)
        c = self.partly * self.worth
        return score if c == 0 else (1 + c - np.sqrt((1 + c) ** 2 - 4 * c * score)) / (2 * c)

    def true_score(self, metric: str, level: float) -> float:
        """Return the true value of a metric; exact match and its mean with F1 have their own."""
        exact = float(self.right_share(level))
        return {"em": exact, "score": (level + exact) / 2}.get(metric, level)

    def judged(self, latent: FloatArray, level: npt.ArrayLike, sizes: IntArray, rng: np.random.Generator) -> Rows:
        """Return the statistics of answers; `sizes` is the number of items to find in each example."""
        right = self.right_share(level)
        partly = self.partly * right * (1 - right)
        quality = np.where(latent < _quantile(right), 1.0, np.where(latent < _quantile(right + partly), 0.5, 0.0))
        return self.rows(quality, sizes, rng)


def _quantile(share: FloatArray) -> FloatArray:
    values, inverse = np.unique(share, return_inverse=True)
    return np.array([NormalDist().inv_cdf(value) for value in values.tolist()])[inverse].reshape(share.shape)


def _means(metric: str) -> Callable[[FloatArray, IntArray, np.random.Generator], Rows]:
    return lambda quality, sizes, rng: {metric: Statistics(quality[:, None], MEAN)}


def _question_rows(quality: FloatArray, sizes: IntArray, rng: np.random.Generator) -> Rows:
    partial = rng.choice(PARTIAL_F1, size=len(quality))
    f1 = np.where(quality == 0.5, partial, quality)
    return {"f1": Statistics(f1[:, None], MEAN), "em": Statistics((quality == 1).astype(float)[:, None], MEAN)}


def _ranking_rows(quality: FloatArray, sizes: IntArray, rng: np.random.Generator) -> Rows:
    precision = np.where(quality == 0.5, rng.random(len(quality)), quality)
    return {"map@20": Statistics(precision[:, None], MEAN)}


def _entity_rows(quality: FloatArray, sizes: IntArray, rng: np.random.Generator) -> Rows:
    """As many spurious entities as missed ones on average, so that F1 is the mean quality."""
    correct = rng.binomial(sizes, quality)
    rows = np.stack([correct, correct + rng.binomial(sizes, 1 - quality), sizes], axis=1)
    return {"f1": Statistics(rows.astype(np.float64), F1)}


ACCURACY = Figure("accuracy", "tatoeba", "accuracy", 0.0, 0.0, _means("accuracy"))
ERROR = Figure("error rate", "checklist-comparisons", "error", 0.0, 0.0, _means("error"))
QUESTIONS = Figure("QA F1", "tydiqa", "f1", 0.8, float(PARTIAL_F1.mean()), _question_rows)
RANKINGS = Figure("AP@20", "mewslix", "map@20", 0.9, 0.5, _ranking_rows)
ENTITIES = Figure("entity F1", "wikiann", "f1", 0.8, 0.5, _entity_rows)


@dataclass(frozen=True)
class Design:
    """A test set and its systems.

    Attributes:
        n: number of examples per language.
        clusters: their grouping.
        languages: number of parallel languages.
        systems: number of systems, or of seeds of one.
        agreement: correlation of the latent variables of two systems on one example, and of their clusters.
        parallel: correlation of two languages.
    """

    n: int
    clusters: Clusters = ALONE
    languages: int = 1
    systems: int = 1
    agreement: float = 0.7
    parallel: float = 0.5

    def draw(self, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
        """Return latent variables (systems, languages, n), and the cluster of each example."""
        clusters = self.clusters.draw(self.n, rng)
        systems, languages, n = self.systems, self.languages, self.n
        groups = int(clusters[-1]) + 1
        grouped = self._mixed(rng.standard_normal((1, 1, groups)), rng.standard_normal((systems, 1, groups)))
        examples = self._mixed(
            self._crossed(rng.standard_normal((1, 1, n)), rng.standard_normal((1, languages, n))),
            self._crossed(rng.standard_normal((systems, 1, n)), rng.standard_normal((systems, languages, n))),
        )
        shared = self.clusters.shared
        return sqrt(shared) * grouped[:, :, clusters] + sqrt(1 - shared) * examples, clusters

    def _mixed(self, common: FloatArray, own: FloatArray) -> FloatArray:
        return sqrt(self.agreement) * common + sqrt(1 - self.agreement) * own

    def _crossed(self, common: FloatArray, own: FloatArray) -> FloatArray:
        return sqrt(self.parallel) * common + sqrt(1 - self.parallel) * own


def sizes_of(n: int, rng: np.random.Generator) -> IntArray:
    """Return numbers of entities per sentence: 1.5 on average."""
    return 1 + rng.poisson(0.5, n)
