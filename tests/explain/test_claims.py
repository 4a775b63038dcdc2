"""Claims about buckets: hand-computed trends, named and uncertain buckets, and the correction over all cells."""

from math import erfc, sqrt
from typing import Any

import msgspec
import numpy as np
import pytest

from isogloss.explain.claims import attribute_claims, pairwise_tests, sentence
from isogloss.explain.correction import Correction, corrected_findings
from isogloss.explain.model import AttributeScores, Bucket, BucketScore, Claim, Explanation
from isogloss.explain.pairwise import AttributeContrasts, BucketContrast, PairwiseExplanation
from isogloss.metrics.estimate import Estimate, difference, estimate
from isogloss.metrics.statistics import MEAN, Statistics

NAMES = ("XS", "S", "L", "XL")


def scored(*right: tuple[int, int], discrete: bool = False, first: int = 0) -> tuple[AttributeScores, list[Estimate]]:
    """Return an attribute with (right, all) examples per bucket, and the estimates of the buckets."""
    size, start = first + sum(n for _, n in right), first
    estimates, buckets = [], []
    for place, (good, n) in enumerate(right):
        units = np.arange(start, start + n)
        estimates.append(estimate(Statistics((np.arange(n) < good)[:, None].astype(float), MEAN, units), size=size))
        ends = (None, None) if discrete else (float(place), float(place + 1))
        has_interval = {"low": 0.0, "high": 100.0} if n >= 20 else {"low": None, "high": None}
        buckets.append(BucketScore(bucket=Bucket(NAMES[place], *ends, n), value=100 * good / n, **has_interval))
        start += n
    where: dict[str, Any] = {
        "task": "xnli",
        "language": "en",
        "metric": "accuracy",
        "attribute": "a",
        "title": "length",
    }
    return AttributeScores(**where, discrete=discrete, buckets=buckets), estimates


def claimed(*right: tuple[int, int], discrete: bool = False) -> dict[str, Claim]:
    return {claim.kind: claim for claim in attribute_claims(*scored(*right, discrete=discrete))}


def explained(*facets: AttributeScores) -> Explanation:
    return Explanation(system={}, suite="", split="", facets=list(facets))


def said(*right: tuple[int, int], discrete: bool = False) -> str:
    """Return the sentence about an attribute that is shown alone."""
    facet, estimates = scored(*right, discrete=discrete)
    tested = msgspec.structs.replace(facet, claims=attribute_claims(facet, estimates))
    return corrected_findings([explained(tested)], []).explanations[0].facets[0].insight


def test_trend_is_the_weighted_slope() -> None:
    # Buckets 0, 1 and 2 with 100, 100 and 200 examples: mean number 1.25, slope by least squares.
    trend = claimed((50, 100), (60, 100), (130, 200))["trend"]
    x = np.repeat([0, 1, 2], [100, 100, 200])
    y = np.concatenate([np.arange(100) < 50, np.arange(100) < 60, np.arange(200) < 130])
    assert trend.points == pytest.approx(100 * np.polyfit(x, y, 1)[0])
    # Independent check: the regression's sandwich error; the jackknife and the shrunk centre differ little from it.
    deviation, apart = x - x.mean(), y - np.repeat([0.5, 0.6, 0.65], [100, 100, 200])
    error = np.sqrt(((deviation * apart) ** 2).sum()) / (deviation**2).sum()
    assert trend.p == pytest.approx(2 * erfc(trend.points / 100 / error / sqrt(2)), rel=0.3)


def test_bucket_without_an_interval_keeps_its_place_in_the_trend() -> None:
    # The second bucket is too small: the others are 0, 2 and 3.
    trend = claimed((50, 100), (0, 10), (60, 100), (80, 100))["trend"]
    x = np.repeat([0, 2, 3], 100)
    y = np.concatenate([np.arange(100) < right for right in (50, 60, 80)])
    assert trend.points == pytest.approx(100 * np.polyfit(x, y, 1)[0])


def test_no_trend_of_two_buckets_or_of_words() -> None:
    assert list(claimed((50, 100), (90, 100))) == ["spread", "best", "worst"]
    assert list(claimed((50, 100), (90, 100), (95, 100), discrete=True)) == ["spread", "best", "worst"]
    assert attribute_claims(*scored((50, 100), (9, 10))) == []
    assert attribute_claims(*scored((50, 100))) == []


def test_comparisons_are_corrected_over_all_pairs() -> None:
    _, estimates = scored((50, 100), (60, 100), (90, 100))
    raw = [difference(estimates[a], estimates[b]).t_test for a, b in ((0, 1), (0, 2), (1, 2))]
    small, middle, large = sorted(raw)
    p = pairwise_tests(estimates)
    assert [p[0, 2], p[1, 2], p[0, 1]] == pytest.approx([3 * small, 2 * middle, large])
    assert (p == p.T).all()
    assert np.diag(p).tolist() == [1, 1, 1]
    # With a trend, comparisons get half of the error probability; the weakest decides.
    claims = claimed((50, 100), (60, 100), (90, 100))
    assert claims["spread"].p == pytest.approx(6 * small)
    assert claims["best"].p == pytest.approx(4 * middle)
    assert claims["worst"].p == pytest.approx(2 * large)
    assert (claims["spread"].buckets, claims["spread"].points) == ([2, 0], pytest.approx(40))
    assert (claims["best"].buckets, claims["worst"].buckets) == ([2, 1], [0, 1])
    alone = claimed((50, 100), (60, 100), (90, 100), discrete=True)
    assert alone["best"].p == pytest.approx(2 * middle)


def test_best_is_named_only_if_it_beats_all_others() -> None:
    certain = said((50, 200), (100, 200), (180, 200), discrete=True)
    assert certain == "length: best at L (90.0), worst at XS (25.0), a difference of 65.0 points (q < 0.001)."
    two_best = said((50, 200), (179, 200), (180, 200), discrete=True)
    assert two_best == "length: worst at XS (25.0) (q < 0.001); best uncertain: L or S."
    tied = said((100, 200), (100, 200), (180, 200), (180, 200), discrete=True)
    assert tied == (
        "length: L (90.0) is 40.0 points above XS (50.0) (q < 0.001); best uncertain: L or XL; "
        "worst uncertain: XS or S."
    )
    assert said((100, 200), (102, 200), (104, 200), discrete=True) == ""
    assert said((200, 200), (200, 200)) == ""


def test_trends_in_words() -> None:
    step = said((100, 200), (180, 200), (180, 200), (180, 200))
    assert step.startswith(
        "accuracy rises with length (trend +12.0 points per bucket, q < 0.001); worst at XS [0, 1] (50.0)"
    )
    assert "best uncertain: S, L or XL" in step
    bent = said((180, 200), (185, 200), (140, 200), (100, 200))
    assert bent.startswith("accuracy falls with length (trend -14.2 points per bucket, not at every step, q < 0.001)")
    # A trend can be certain where no two buckets are.
    slow = said((120, 200), (130, 200), (137, 200), (146, 200))
    assert slow.startswith("accuracy rises with length (trend +4.2 points per bucket, q = 0.010")
    assert slow.endswith(").")
    assert "best" not in slow


def test_many_rivals_are_counted() -> None:
    buckets = [BucketScore(bucket=Bucket(f"v{n}", None, None, 50), value=90 - n, low=0, high=1) for n in range(9)]
    facet, _ = scored((1, 20), discrete=True)
    claims = [
        Claim(kind="spread", p=0, q=0, points=8, buckets=[0, 8]),
        Claim(kind="best", p=1, buckets=[0, 1, 2, 3]),
        Claim(kind="worst", p=1, buckets=[8, 7, 6, 5, 4]),
    ]
    text = sentence(msgspec.structs.replace(facet, buckets=buckets, claims=claims))
    assert "best uncertain: v0, v1, v2 or v3" in text
    assert "worst uncertain: v8, v7, v6 or 2 others" in text


# ------------------------------------------------------------------------------------------------ over all cells


def of_cell(language: str, p: float) -> AttributeScores:
    facet, _ = scored((50, 100), (90, 100))
    named = {"spread": [1, 0], "best": [1, 0], "worst": [0, 1]}
    claims = [Claim(kind=kind, p=p, buckets=buckets) for kind, buckets in named.items()]
    return msgspec.structs.replace(facet, language=language, claims=claims)


def test_sentences_are_corrected_over_all_cells_and_systems() -> None:
    alone = corrected_findings([explained(of_cell("en", 0.02))], [])
    assert alone.explanations[0].sentences == [
        (
            "xnli/en",
            "length: best at S (1, 2] (90.0), worst at XS [0, 1] (50.0), a difference of 40.0 points (q = 0.020).",
        )
    ]
    assert str(alone.correction) == "corrected over 3 tests in 1 cell"
    others = [of_cell(language, 0.9) for language in ("de", "fr", "ru")]
    among = corrected_findings([explained(of_cell("en", 0.02), *others[:1]), explained(*others[1:])], [])
    assert [each.sentences for each in among.explanations] == [[], []]
    assert among.explanations[0].facets[0].claims[0].q == pytest.approx(0.08)
    assert among.correction == Correction(tests=12, cells=4)
    # The result does not depend on earlier corrections.
    again = corrected_findings(among.explanations[:1], [])
    assert again.explanations[0].facets[0].claims[0].q == pytest.approx(0.04)
    assert again.explanations[0].facets[0].insight


def contrasts(*tests: list[float]) -> PairwiseExplanation:
    rows = [
        BucketContrast(50, 60, -10, None, None, 1.0, Bucket(f"v{place}", None, None, 50), flips=False, tests=each)
        for place, each in enumerate(tests)
    ]
    where: dict[str, Any] = {
        "task": "xnli",
        "language": "en",
        "metric": "accuracy",
        "attribute": "a",
        "title": "length",
    }
    return PairwiseExplanation("a", "b", [AttributeContrasts(**where, discrete=True, buckets=rows)], [])


def test_marks_are_corrected_over_all_buckets() -> None:
    [pair] = corrected_findings([], [contrasts([0.001, 0.03], [0.01, 0.01], [0.5])]).pairs
    assert [row.p for row in pair.facets[0].buckets] == pytest.approx([0.003, 0.015, 0.5])
    # Flips: 3 * 0.03 / 2 and 3 * 0.01 / 2.
    assert [row.flips for row in pair.facets[0].buckets] == [True, True, False]
    # Sentences and marks are two lists, each with half of the rate.
    both = corrected_findings([explained(of_cell("en", 0.02))], [contrasts([0.001, 0.03], [0.01, 0.01], [0.5])])
    assert [row.p for row in both.pairs[0].facets[0].buckets] == pytest.approx([0.006, 0.03, 1.0])
    assert [row.flips for row in both.pairs[0].facets[0].buckets] == [False, True, False]
    assert both.explanations[0].facets[0].claims[0].q == pytest.approx(0.04)
    assert both.correction == Correction(tests=8, cells=1)


def test_findings_of_earlier_versions_stay() -> None:
    facet, _ = scored((50, 100), (90, 100))
    old = explained(msgspec.structs.replace(facet, insight="A sentence."))
    pair = contrasts([], [])
    found = corrected_findings([old], [pair])
    assert (found.explanations, found.pairs, found.correction) == ([old], [pair], None)


def test_claims_survive_a_record() -> None:
    facet = of_cell("en", 0.02)
    assert msgspec.json.decode(msgspec.json.encode(facet), type=AttributeScores) == facet
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(msgspec.json.encode(facet).replace(b'"p":0.02', b'"p":1.5'), type=AttributeScores)
