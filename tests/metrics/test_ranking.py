"""Ranking metrics against hand-computed values, pytrec_eval and plain loops."""

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.errors import DataError
from isogloss.metrics.ranking import (
    average_precision,
    average_precisions,
    limited_reciprocal_ranks,
    reciprocal_rank,
)

AVERAGE_PRECISION = [
    # ranked, targets, k, expected
    ("abcd", "a", 20, 1.0),
    ("abcd", "d", 20, 1 / 4),
    ("abcd", "ac", 20, (1 / 1 + 2 / 3) / 2),
    ("abcd", "ca", 20, (1 / 1 + 2 / 3) / 2),
    ("abcd", "acx", 20, (1 / 1 + 2 / 3) / 3),
    ("abcd", "x", 20, 0.0),
    ("", "x", 20, 0.0),
    ("abcd", "d", 3, 0.0),  # beyond the cut-off
    ("abcd", "bd", 3, (1 / 2) / 2),
    ("xa", "abc", 2, (1 / 2) / 2),  # three targets, but no more than two could be found
    ("abc", "abc", 2, (1 / 1 + 2 / 2) / 2),
    ("aac", "ac", 20, (1 / 1 + 2 / 3) / 2),  # the repeat is no hit but keeps its rank
    ("xxa", "a", 20, 1 / 3),
    ("abcd", "aac", 20, (1 / 1 + 2 / 3) / 2),  # targets are a set
    ("x" * 24 + "a", "ab", None, (1 / 25) / 2),
    ("x" * 24 + "a", "ab", 0, (1 / 25) / 2),
    ("x" * 24 + "a", "ab", 20, 0.0),
]

RECIPROCAL_RANK = [
    ("abc", "a", 20, 1.0),
    ("abc", "c", 20, 1 / 3),
    ("abc", "c", 2, 0.0),
    ("abc", "x", 20, 0.0),
    ("bbbc", "c", 20, 1 / 4),  # repeats waste ranks
    ("abca", "a", 20, 1.0),  # the first match counts
    ("x" * 20 + "a", "a", 20, 0.0),
    ("x" * 20 + "a", "a", None, 1 / 21),
]


def padded(rows, width):
    return np.array([list(row) + [-1] * (width - len(row)) for row in rows], np.int64).reshape(len(rows), width)


@st.composite
def rankings(draw, *, repeats=True):
    """Some rankings of up to 12 of 15 ids, their distinct targets, and a cut-off."""
    count = draw(st.integers(1, 8))
    ids = st.integers(0, 14)
    ranked = [draw(st.lists(ids, max_size=12, unique=not repeats)) for _ in range(count)]
    targets = [draw(st.lists(ids, min_size=1, max_size=5, unique=True)) for _ in range(count)]
    return ranked, targets, draw(st.sampled_from([None, 0, 1, 3, 7, 20]))


class TestOneRanking:
    @pytest.mark.parametrize(("ranked", "targets", "k", "expected"), AVERAGE_PRECISION)
    def test_average_precision(self, ranked, targets, k, expected):
        assert average_precision(ranked, targets, k) == pytest.approx(expected, abs=1e-15)

    def test_eleven_targets_at_twenty_can_reach_one(self):
        assert average_precision(range(20), range(11)) == 1.0

    def test_query_without_targets_is_an_error(self):
        with pytest.raises(DataError, match="without targets"):
            average_precision("abc", [])

    @pytest.mark.parametrize(("ranked", "target", "k", "expected"), RECIPROCAL_RANK)
    def test_reciprocal_rank(self, ranked, target, k, expected):
        assert reciprocal_rank(ranked, target, k) == expected

    def test_negative_cut_off_is_refused(self):
        with pytest.raises(ValueError, match="k must be positive"):
            average_precision("abc", "a", -1)
        with pytest.raises(ValueError, match="k must be positive"):
            limited_reciprocal_ranks([[1]], [[1]], -1, whole_pool=True)


class TestArrays:
    @pytest.mark.slow
    @given(rankings())
    @settings(max_examples=200, deadline=None)
    def test_equal_the_scalar_forms(self, case):
        ranked, targets, k = case
        values = average_precisions(padded(ranked, 12), padded(targets, 5), k)
        assert values == pytest.approx([average_precision(r, t, k) for r, t in zip(ranked, targets, strict=True)])
        single = average_precisions(padded(ranked, 12), padded([[t[0]] for t in targets], 1), k)
        assert single.tolist() == [reciprocal_rank(r, t[0], k) for r, t in zip(ranked, targets, strict=True)]

    @given(rankings(), st.randoms())
    @settings(max_examples=50, deadline=None)
    def test_neither_query_order_nor_target_order_matters(self, case, random):
        ranked, targets, k = case
        values = average_precisions(padded(ranked, 12), padded(targets, 5), k)
        order = list(range(len(ranked)))
        random.shuffle(order)
        turned = [targets[query][::-1] for query in order]
        again = average_precisions(padded([ranked[query] for query in order], 12), padded(turned, 5), k)
        assert again.tolist() == values[order].tolist()

    def test_many_queries_are_scored_as_in_shards(self):
        rng = np.random.default_rng(0)
        ranked, targets = rng.integers(0, 50, (5000, 20)), np.sort(rng.random((5000, 50)).argsort()[:, :6])
        whole = average_precisions(ranked, targets)
        shards = [average_precisions(ranked[i : i + 700], targets[i : i + 700]) for i in range(0, 5000, 700)]
        assert whole.tolist() == np.concatenate(shards).tolist()
        assert whole[4321] == pytest.approx(average_precision(ranked[4321].tolist(), targets[4321].tolist()))

    def test_shapes(self):
        none = np.zeros((0, 3), np.int64)
        assert average_precisions(none, none).shape == (0,)
        assert average_precisions(np.zeros((2, 0), np.int64), [[1], [2]]).tolist() == [0, 0]

    def test_errors(self):
        with pytest.raises(DataError, match="query 1 has no targets"):
            average_precisions([[1], [2]], [[1], [-1]])
        with pytest.raises(ValueError, match="query 0 has a duplicate target"):
            average_precisions([[1]], [[3, 3]])
        with pytest.raises(ValueError, match="integers"):
            average_precisions([[1.0]], [[1]])
        with pytest.raises(ValueError, match="matrices of equal length"):
            average_precisions([[1]], [[1], [2]])


class TestLimitedToOneTarget:
    @pytest.mark.parametrize(
        ("ranked", "targets", "k", "expected"),
        [
            ([7, 1, 2, 8, 3, 9], [1, 2, 3], 3, [1 / 2, 1 / 2, 1 / 3]),
            ([1, 2, 3, 7, 8, 9], [3, 2, 1], 3, [1, 1, 1]),
            ([7, 8, 1, 9, 2, 5], [1, 2], 3, [1 / 3, 0]),  # 2 moves up to rank 4 only
            ([7, 8, 9, 5, 6, 4], [1, 2], 3, [0, 0]),
        ],
    )
    def test_table(self, ranked, targets, k, expected):
        assert limited_reciprocal_ranks([ranked], [targets], k).tolist() == [expected]

    @given(rankings())
    @settings(max_examples=200, deadline=None)
    def test_equals_removing_the_others(self, case):
        ranked, targets, k = case
        values = limited_reciprocal_ranks(padded(ranked, 12), padded(targets, 5), k, whole_pool=True)
        for row, ranking, wanted in zip(values, ranked, targets, strict=True):
            for place, target in enumerate(wanted):
                left = [item for item in ranking if item == target or item not in wanted]
                assert row[place] == pytest.approx(reciprocal_rank(left, target, k))
            assert np.isnan(row[len(wanted) :]).all()

    @given(rankings(repeats=False))
    @settings(max_examples=50, deadline=None)
    def test_one_target_is_plain_reciprocal_rank(self, case):
        ranked, targets, k = case
        first = padded([[t[0]] for t in targets], 1)
        limited = limited_reciprocal_ranks(padded(ranked, 12), first, k, whole_pool=True)
        assert limited[:, 0].tolist() == [reciprocal_rank(r, t[0], k) for r, t in zip(ranked, targets, strict=True)]

    def test_short_ranking_is_refused_unless_it_is_the_whole_pool(self):
        ranked, targets = [[5, 6, 7, 8, -1]], [[5, 6, 9]]
        assert limited_reciprocal_ranks(ranked, targets, 2).tolist() == [[1, 1, 0]]
        with pytest.raises(ValueError, match="query 0 is too short: 5 candidates"):
            limited_reciprocal_ranks(ranked, targets, 3)
        with pytest.raises(ValueError, match="whole pool must be ranked"):
            limited_reciprocal_ranks(ranked, targets, None)
        assert limited_reciprocal_ranks(ranked, targets, 3, whole_pool=True).tolist() == [[1, 1, 0]]

    def test_nothing_ranked(self):
        empty = np.zeros((2, 0), np.int64)
        assert limited_reciprocal_ranks(empty, [[1], [2]], whole_pool=True).tolist() == [[0], [0]]


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(1)
    ranked = rng.random((400, 90)).argsort()[:, :60]
    targets = rng.random((400, 90)).argsort()[:, :11]
    relevant = {str(q): {str(t): 1 for t in row} for q, row in enumerate(targets.tolist())}
    run = {str(q): {str(c): -float(p) for p, c in enumerate(row)} for q, row in enumerate(ranked.tolist())}
    return ranked, targets, relevant, run


class TestParity:
    """pytrec_eval divides by the number of targets, so the two agree where that is at most k."""

    @pytest.mark.parametrize(("k", "measure"), [(20, "map_cut_20"), (50, "map_cut_50"), (None, "map")])
    def test_average_precision(self, case, k, measure):
        ranked, targets, relevant, run = case
        names = {"map_cut.20,50", "map"}
        theirs = pytrec_eval.RelevanceEvaluator(relevant, names).evaluate(run)
        ours = average_precisions(ranked, targets, k)
        assert ours == pytest.approx([theirs[str(q)][measure] for q in range(len(ranked))], abs=1e-12)

    def test_reciprocal_rank(self, case):
        ranked, targets, _, run = case
        relevant = {str(q): {str(t): 1} for q, t in enumerate(targets[:, 0].tolist())}
        theirs = pytrec_eval.RelevanceEvaluator(relevant, {"recip_rank"}).evaluate(run)
        ours = [reciprocal_rank(r, t, None) for r, t in zip(ranked.tolist(), targets[:, 0].tolist(), strict=True)]
        assert ours == pytest.approx([theirs[str(q)]["recip_rank"] for q in range(len(ranked))], abs=1e-12)
