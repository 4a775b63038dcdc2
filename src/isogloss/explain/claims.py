"""Claims about the buckets of an attribute: a trend, a difference, the best and the worst bucket; and their sentence.

All claims about one attribute are corrected together, so that the chance of any false one is below the p-value. The
correction over attributes, metrics and cells follows once all are known (`isogloss.explain.correction`).
"""

from collections.abc import Sequence
from itertools import combinations, pairwise

import numpy as np

from isogloss.explain.buckets import bucket_text
from isogloss.explain.model import AttributeScores, BucketScore, Claim, ClaimKind
from isogloss.figures import difference_text, score_text
from isogloss.metrics.estimate import ROUNDING, Estimate, difference, weighted_sum
from isogloss.metrics.significance import holm
from isogloss.metrics.statistics import FloatArray
from isogloss.metrics.student import ALPHA

# Number of ordered buckets from which a trend is more than a difference.
TREND_BUCKETS = 3
# Number of buckets named where the best or the worst is uncertain.
NAMED = 3


def attribute_claims(facet: AttributeScores, estimates: Sequence[Estimate]) -> list[Claim]:
    """Test an attribute's buckets that have an interval; return no claims if there are fewer than two.

    If there is a trend to test, it gets half of the error probability and the comparisons of buckets the other half.
    """
    tested = [index for index, score in enumerate(facet.buckets) if score.low is not None]
    if len(tested) < 2:
        return []
    p = pairwise_tests([estimates[index] for index in tested])
    line = _line(facet, estimates)
    claims = []
    if line is not None:
        p = np.minimum(1.0, 2 * p)
        claims.append(Claim(kind="trend", p=min(1.0, 2 * line.t_test), points=100 * line.value))
    values = np.array([facet.buckets[index].value for index in tested])
    pair = np.unravel_index(np.argmin(p + np.eye(len(p))), p.shape)
    low, high = sorted(map(int, pair), key=lambda index: float(values[index]))
    spread = Claim(
        kind="spread", p=float(p[pair]), points=float(values[high] - values[low]), buckets=[tested[high], tested[low]]
    )
    goodness = -values if facet.lower_is_better else values
    ends: tuple[tuple[ClaimKind, int], ...] = (("best", int(goodness.argmax())), ("worst", int(goodness.argmin())))
    return [*claims, spread, *(_named(kind, p[end], end, tested) for kind, end in ends)]


def _named(kind: ClaimKind, against: FloatArray, end: int, tested: Sequence[int]) -> Claim:
    """Claim that a bucket is the best or the worst: it must differ from every other, so the weakest test decides."""
    others = np.delete(against, end)
    weakest = float(others.max())
    rivals = [index for row, index in enumerate(tested) if row != end and against[row] >= min(ALPHA, weakest)]
    return Claim(kind=kind, p=weakest, buckets=[tested[end], *rivals])


def pairwise_tests(estimates: Sequence[Estimate]) -> FloatArray:
    """Return the p-value of every two scores, Holm-corrected over all pairs; 1 on the diagonal.

    Any statement that follows from the significant pairs, such as "this one is higher than all others", is covered.
    """
    pairs = list(combinations(range(len(estimates)), 2))
    raw = [difference(estimates[a], estimates[b]).t_test for a, b in pairs]
    table: FloatArray = np.ones((len(estimates), len(estimates)))
    for (a, b), p in zip(pairs, holm(raw).tolist(), strict=True):
        table[a, b] = table[b, a] = p
    return table


def _ordered(facet: AttributeScores) -> list[tuple[int, int]]:
    """Return position and index of the ordered buckets that have an interval; none for discrete attributes."""
    if facet.discrete:
        return []
    numbers = [index for index, score in enumerate(facet.buckets) if score.bucket.low is not None]
    return [(position, index) for position, index in enumerate(numbers) if facet.buckets[index].low is not None]


def _line(facet: AttributeScores, estimates: Sequence[Estimate]) -> Estimate | None:
    """Return the slope of the regression of scores on bucket numbers, weighted by size; None for too few buckets."""
    ordered = _ordered(facet)
    if len(ordered) < TREND_BUCKETS:
        return None
    sizes = np.array([estimates[index].n for _, index in ordered], dtype=np.float64)
    positions = np.array([position for position, _ in ordered], dtype=np.float64)
    apart = positions - np.average(positions, weights=sizes)
    factors = sizes * apart / (sizes * apart**2).sum()
    return weighted_sum([estimates[index] for _, index in ordered], factors.tolist())


def sentence(facet: AttributeScores) -> str:
    """Return the significant claims about an attribute as one sentence, or "" if there are none."""
    trend = facet.claim("trend")
    parts = [part for part in (_differences(facet), _uncertain(facet, "best"), _uncertain(facet, "worst")) if part]
    if trend is not None:
        verb = "rises" if trend.points > 0 else "falls"
        steady = "" if _is_steady(facet, trend) else ", not at every step"
        slope = f"trend {difference_text(trend.points)} points per bucket{steady}, {q_text(trend.q)}"
        about = f"{facet.metric} {verb} with {facet.title} ({slope})"
        return f"{'; '.join([about, *parts])}."
    return f"{facet.title}: {'; '.join(parts)}." if parts else ""


def _is_steady(facet: AttributeScores, trend: Claim) -> bool:
    values = [facet.buckets[index].value for _, index in _ordered(facet)]
    return all((after - before) * trend.points > -ROUNDING for before, after in pairwise(values))


def _differences(facet: AttributeScores) -> str:
    """Name the best and the worst bucket if they are certain, else two buckets that differ."""
    spread, best, worst = (facet.claim(kind) for kind in ("spread", "best", "worst"))
    if spread is None:
        return ""
    ends = [(kind, claim) for kind, claim in (("best", best), ("worst", worst)) if claim is not None]
    if not ends:
        high, low = (facet.buckets[index] for index in spread.buckets)
        return f"{_scored(high)} is {score_text(spread.points)} points above {_scored(low)} ({q_text(spread.q)})"
    named = ", ".join(f"{kind} at {_scored(facet.buckets[claim.buckets[0]])}" for kind, claim in ends)
    q = q_text(max(claim.q for _, claim in ends))
    if len(ends) == 1:
        return f"{named} ({q})"
    values = [facet.buckets[claim.buckets[0]].value for _, claim in ends]
    return f"{named}, a difference of {score_text(abs(values[0] - values[1]))} points ({q})"


def _uncertain(facet: AttributeScores, kind: ClaimKind) -> str:
    """Name the buckets that may be the best or the worst, if a difference is certain but the bucket is not."""
    claim = next((claim for claim in facet.claims if claim.kind == kind), None)
    if claim is None or claim.holds or facet.claim("spread") is None:
        return ""
    names = [facet.buckets[index].bucket.name for index in claim.buckets]
    others = len(names) - NAMED
    *first, last = names if others < 2 else [*names[:NAMED], f"{others} others"]
    return f"{kind} uncertain: {', '.join(first)} or {last}"


def _scored(score: BucketScore) -> str:
    return f"{bucket_text(score.bucket)} ({score_text(score.value)})"


def q_text(q: float) -> str:
    """Format a false discovery rate."""
    return f"q = {q:.3f}" if q >= 0.001 else "q < 0.001"
