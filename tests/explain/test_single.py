"""Single analysis: hand-computed values and intervals, consistent sums, and significant findings only."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.explain.buckets import bucket_text
from isogloss.explain.cell_table import CellTable
from isogloss.explain.correction import corrected_findings
from isogloss.explain.examples import ExampleCollector
from isogloss.explain.measure import bucket_estimates, bucketed_rows
from isogloss.explain.model import Attribute, AttributeScores, Bucket, Column, Explanation
from isogloss.explain.selection import AttributeSelection
from isogloss.explain.single import attribute_scores, confusion
from isogloss.metrics.estimate import wilson_interval
from isogloss.metrics.registry import Metric
from isogloss.metrics.statistics import MEAN, Statistics
from isogloss.metrics.student import t_quantile
from isogloss.scoring import main_score
from isogloss.tasks.examples import Examples
from isogloss.tasks.registry import task


def chosen(column: Column, discrete: bool = False) -> AttributeSelection:
    return AttributeSelection(
        attributes=(Attribute("size", "its size", (), discrete=discrete, values=lambda examples: column),)
    )


def table(*systems: list[float], labels: list[str] | None = None) -> CellTable:
    """Return a classification cell with examples of the given scores."""
    n = len(systems[0])
    columns = {"text_a": [f"a{i}" for i in range(n)], "text_b": ["b"] * n, "label": labels or ["neutral"] * n}
    examples = Examples("xnli", "en", "test", [f"e{i}" for i in range(n)], columns, "label")
    metrics = tuple({"accuracy": Statistics(np.array(scores, dtype=float)[:, None], MEAN)} for scores in systems)
    values = tuple(["neutral" if score else None for score in scores] for scores in systems)
    return CellTable.of_examples(task("xnli"), examples, values, metrics)


def explained(cell: CellTable, asked: AttributeSelection, collector: ExampleCollector | None = None) -> AttributeScores:
    """Return the only attribute of a cell, with its sentence."""
    facets = attribute_scores(cell, bucketed_rows(cell, asked), collector=collector)
    found = corrected_findings([Explanation(system={}, suite="", split="", facets=facets)], [])
    [facet] = found.explanations[0].facets
    return facet


def test_buckets_by_hand() -> None:
    cell = table([1, 1, 0, 1, 0, 0, 0, 1])
    column = np.array([1.0, 1, 1, 1, 2, 2, 2, 2])
    facet = explained(cell, chosen(column))
    assert (facet.task, facet.language, facet.metric, facet.attribute) == ("xnli", "en", "accuracy", "size")
    assert [(s.bucket.name, s.bucket.n, s.value) for s in facet.buckets] == [("XS", 4, 75), ("S", 4, 25)]
    # Four examples give no interval and no finding.
    assert {(score.low, score.high) for score in facet.buckets} == {(None, None)}
    assert facet.insight == ""


def test_real_difference_gets_one_finding() -> None:
    rng = np.random.default_rng(1)
    column = np.repeat([1.0, 2, 3, 4], 300)
    cell = table((rng.random(1200) < np.repeat([0.9, 0.8, 0.6, 0.4], 300)).astype(float).tolist())
    facet = explained(cell, chosen(column))
    values = [score.value for score in facet.buckets]
    # Four buckets of equal size: the slope is (3 (d - a) + (c - b)) / 10.
    slope = (3 * (values[3] - values[0]) + values[2] - values[1]) / 10
    assert facet.insight == (
        f"accuracy falls with its size (trend {slope:+.1f} points per bucket, q < 0.001); best at XS 1 "
        f"({values[0]:.1f}), worst at XL (3, 4] ({values[3]:.1f}), a difference of {values[0] - values[3]:.1f} points "
        "(q < 0.001)."
    )


def test_lower_is_better_makes_the_lowest_bucket_best(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = np.repeat([1.0, 0, 1, 0], [20, 180, 160, 40]).tolist()
    column = np.repeat([1.0, 2], 200)

    def found() -> AttributeScores:
        cell = table(scores)
        return explained(cell, chosen(column), ExampleCollector(1))

    facet = found()
    assert facet.insight.startswith("its size: best at S (1, 2] (80.0), worst at XS 1 (10.0), a difference of 70.0")
    assert (facet.named("best"), facet.named("worst")) == (facet.buckets[1], facet.buckets[0])
    assert [score.ids for score in facet.buckets] == [["e20"], ["e360"]]
    monkeypatch.setattr(main_score, "find_metric", lambda name: Metric(name, name, lower_is_better=name == "accuracy"))
    errors = found()
    assert errors.insight.startswith("its size: best at XS 1 (10.0), worst at S (1, 2] (80.0), a difference of 70.0")
    assert (errors.named("best"), errors.named("worst")) == (errors.buckets[0], errors.buckets[1])
    # The worst examples come first: those with an error.
    assert [score.ids for score in errors.buckets] == [["e0"], ["e200"]]


def test_small_buckets_have_no_finding() -> None:
    cell = table([0.0] * 19 + [1.0] * 100)
    facet = explained(cell, chosen(np.array(["a"] * 19 + ["b"] * 100), discrete=True))
    assert [score.value for score in facet.buckets] == [100, 0]
    assert facet.insight == ""


def test_bucket_that_never_varies_still_has_a_width() -> None:
    # 20 of 20 against 24 of 30: resampling never changes the first, but its interval reaches down to 83.9.
    cell = table([1.0] * 20 + [1.0] * 24 + [0.0] * 6)
    facet = explained(cell, chosen(np.repeat([1.0, 2], [20, 30])))
    assert facet.buckets[0].low == pytest.approx(100 * wilson_interval(1, 20, t_quantile(0.975, 19))[0])
    assert facet.insight == ""


def test_noise_rarely_gives_a_finding() -> None:
    rng = np.random.default_rng(0)
    said = 0
    for _ in range(60):
        cell = table((rng.random(200) < 0.5).astype(float).tolist())
        facet = explained(cell, chosen(rng.random(200)))
        said += bool(facet.insight)
    # 3 of 60 are expected; ten or more would occur once in 1,700 runs at the nominal level.
    assert said < 10


def test_attribute_that_is_the_same_everywhere_is_left_out() -> None:
    cell = table([0, 1])
    assert bucketed_rows(cell, chosen(np.array([3.0, 3]))) == []
    assert attribute_scores(cell, []) == []


def test_examples_of_one_source_are_not_counted_as_independent() -> None:
    rng = np.random.default_rng(0)
    # 60 articles of 5 questions that are right or wrong together, and an attribute of the article.
    right = np.repeat(rng.random(60) < 0.5, 5).astype(float)
    cell = table(right.tolist())
    clustered = replace(cell, examples=replace(cell.examples, clusters=[f"article {row // 5}" for row in range(300)]))
    column = np.repeat(np.arange(60) % 2.0, 5)
    (single,) = attribute_scores(cell, bucketed_rows(cell, chosen(column)))
    (whole,) = attribute_scores(clustered, bucketed_rows(clustered, chosen(column)))
    for one, other in zip(single.buckets, whole.buckets, strict=True):
        assert one.value == other.value
        assert (other.high - other.low) > 1.9 * (one.high - one.low)
    again = replace(clustered, resample="example")
    assert attribute_scores(again, bucketed_rows(again, chosen(column))) == [single]
    (cut,) = bucketed_rows(clustered, chosen(column))
    assert [each.sources for each in bucket_estimates(clustered, clustered.metrics[0]["accuracy"], cut)] == [30, 30]


def test_examples_of_a_bucket_worst_first() -> None:
    cell = table([1, 0, 1, 0])
    cases = ExampleCollector(2, ["mine"])
    (facet,) = attribute_scores(cell, bucketed_rows(cell, chosen(np.array([1.0, 1, 2, 2]))), collector=cases)
    assert [score.ids for score in facet.buckets] == [["e1", "e0"], ["e3", "e2"]]
    found = cases.examples["xnli/en"]["e0"]
    assert (found.inputs, found.gold) == ({"text_a": "a0", "text_b": "b"}, "neutral")
    assert (found.predictions, found.scores) == ({"mine": "neutral"}, {"mine": 100})
    assert cases.examples["xnli/en"]["e1"].predictions == {"mine": None}


def test_confusion_counts_labels_and_missing_answers() -> None:
    cell = table([1, 1, 0], labels=["neutral", "entailment", "neutral"])
    assert confusion(cell) == {"entailment": {"neutral": 1}, "neutral": {"": 1, "neutral": 1}}
    assert confusion(replace(cell, task=task("xquad"))) == {}


@pytest.mark.parametrize(
    ("bucket", "text"),
    [
        (Bucket("XL", 13, 29, 1), "XL (13, 29]"),
        (Bucket("XS", 1, 1, 1), "XS 1"),
        (Bucket("(2, 5]", 2, 5, 1), "(2, 5]"),
        (Bucket("what", None, None, 1), "what"),
    ],
)
def test_buckets_in_words(bucket: Bucket, text: str) -> None:
    assert bucket_text(bucket) == text


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.integers(0, 6)), min_size=2, max_size=40), st.randoms())
def test_bucket_sums_equal_the_total_in_any_order(rows: list[tuple[float, int]], random: object) -> None:
    def found(given: list[tuple[float, int]]) -> list[tuple[str, int, float]]:
        cell = table([score for score, _ in given])
        return [
            (score.bucket.name, score.bucket.n, round(score.value, 9))
            for facet in attribute_scores(
                cell, bucketed_rows(cell, chosen(np.array([float(size) for _, size in given])))
            )
            for score in facet.buckets
        ]

    buckets = found(rows)
    if buckets:
        assert sum(n * value for _, n, value in buckets) / 100 == pytest.approx(
            sum(score for score, _ in rows), abs=1e-6
        )
    shuffled = rows.copy()
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert found(shuffled) == buckets
