"""The best known attack on hidden labels: weigh blocks of unknown labels with the scores that a board shows.

The attacker submits answers that are right or wrong in known ways outside a block of examples, and varies the answers
in the block. Every shown score is a noisy count of correct answers in the block, as in the coin-weighing problem. After
each score the attacker computes the exact posterior of all labellings of the block and chooses the answers that are
expected to tell most. A block is done once every label has a posterior of 95 %; then the next block begins.

Assumed in the attacker's favour: the number of correct answers outside the block is known and can be chosen; all scores
come one after the other, although those of a published system come at once; and no probe is flagged.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import floor

import numpy as np
import numpy.typing as npt

from isogloss.board.server.board import BoardSettings
from isogloss.board.server.disclosure import nice_step, random_rounding

Floats = npt.NDArray[np.float64]
CONFIDENT = 0.95
CANDIDATES = 24


@dataclass(frozen=True)
class Recovered:
    """Number of labels that the attacker names, and of those that are right."""

    named: int
    right: int


def steps_of_a_year(settings: BoardSettings, examples: int, languages: int) -> list[float]:
    """Return the step, in points, of every score of a parallel task that a team can see within 365 days."""
    average, cell = (nice_step(100 * step / examples) for step in (settings.average_step, settings.cell_step))
    steps: list[float] = []
    published = 0
    for submission in range(1, settings.yearly_submissions + 1):
        steps.append(average)
        due = settings.yearly_publications * submission // settings.yearly_submissions
        steps += [cell] * languages * (due - published)
        published = due
    return steps


def attack(
    steps: Sequence[float],
    block: int,
    examples: int,
    rng: np.random.Generator,
) -> Recovered:
    """Weigh block after block until the scores are used up."""
    labellings = ((np.arange(2**block)[:, None] >> np.arange(block)) & 1).astype(np.float64)
    named = right = 0
    remaining = list(steps)
    while remaining:
        labels = labellings[rng.integers(len(labellings))]
        posterior = np.full(len(labellings), 1 / len(labellings))
        while remaining and not (_sure(posterior, labellings) >= CONFIDENT).all():
            step = remaining.pop(0)
            answers, offset, counts, channel = _best_weighing(posterior, labellings, step, examples, rng)
            correct = int((answers == labels).sum()) + offset
            shown = random_rounding(100 * correct / examples, step, rng.random())
            posterior = posterior * channel[counts, round(shown / step)]
            posterior /= posterior.sum()
        chosen = _sure(posterior, labellings) >= CONFIDENT
        named += int(chosen.sum())
        right += int((((posterior @ labellings) > 0.5) == labels)[chosen].sum())
    return Recovered(named, right)


def _sure(posterior: Floats, labellings: Floats) -> Floats:
    ones = posterior @ labellings
    return np.maximum(ones, 1 - ones)


def _best_weighing(
    posterior: Floats, labellings: Floats, step: float, examples: int, rng: np.random.Generator
) -> tuple[Floats, int, npt.NDArray[np.int64], Floats]:
    """Return answers and the number of other correct answers with the most expected information."""
    block = labellings.shape[1]
    in_examples = max(1, round(step * examples / 100))
    answers = rng.integers(0, 2, (CANDIDATES, block)).astype(np.float64)
    # Of labels that vary together, all should count in the same direction.
    ones = posterior @ labellings
    covariance = (labellings * posterior[:, None]).T @ labellings - np.outer(ones, ones)
    answers[0] = np.linalg.eigh(covariance)[1][:, -1] > 0
    best, most = None, -1.0
    channels = _channels(block, in_examples)
    for candidate in answers:
        counts = (labellings == candidate).sum(axis=1)
        of_counts = np.bincount(counts, weights=posterior, minlength=block + 1)
        information = _entropies(of_counts @ channels) - _entropies(channels) @ of_counts
        offset = int(information.argmax())
        if information[offset] > most:
            best, most = (candidate, offset, counts, channels[offset]), float(information[offset])
    assert best is not None
    return best


def guesses_beyond_chance(steps: Sequence[float], examples: int, rng: np.random.Generator) -> float:
    """Guess all labels from the scores of random answers to all examples; return the right guesses beyond one half.

    The guess is the sign of the linear estimate with the least squared error.
    """
    labels = rng.integers(0, 2, examples)
    answers = rng.integers(0, 2, (len(steps), examples))
    scores = 100 * (answers == labels).mean(axis=1)
    shown = np.array([random_rounding(*each, rng.random()) for each in zip(scores, steps, strict=True)])
    signs = (2 * answers - 1).astype(np.float64)
    noise = np.diag((np.array(steps) * examples / 100) ** 2 / 6)
    counts = np.linalg.solve(signs @ signs.T / 4 + noise, (shown - 50) * examples / 100)
    return float(((signs.T @ counts > 0) == labels).sum() - examples / 2)


@cache
def _channels(block: int, step: int) -> Floats:
    """Return the probability of each shown multiple of the step, by other correct answers and count in the block."""
    values = (np.arange(step)[:, None] + np.arange(block + 1)) / step
    multiples = np.arange(floor(values.max()) + 2)
    return np.maximum(0.0, 1 - np.abs(values[:, :, None] - multiples))


def _entropies(shares: Floats) -> Floats:
    logarithms = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    return -np.asarray((shares * logarithms).sum(axis=-1))
