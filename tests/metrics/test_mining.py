"""Bitext mining against hand-computed values and a plain quadratic implementation."""

import math
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.errors import PredictionError, UnknownNameError
from isogloss.metrics.mining import cross_fitted_pairs, mine, pair_f1, statistics, threshold, unify


def plainly_mined(source, target, neighbours, margin):
    """The definition, in double precision and loops."""

    def unit(vector):
        length = math.sqrt(sum(v * v for v in vector))
        return [v / length if length else 0.0 for v in vector]

    x, y = [unit(v) for v in source], [unit(v) for v in target]
    cosine = [[sum(a * b for a, b in zip(u, v, strict=True)) for v in y] for u in x]
    flipped = [list(column) for column in zip(*cosine, strict=True)]

    def near(row):
        return sorted(range(len(row)), key=lambda column: (-row[column], column))[:neighbours]

    around_x = [sum(row[j] for j in near(row)) / len(near(row)) for row in cosine]
    around_y = [sum(row[i] for i in near(row)) / len(near(row)) for row in flipped]

    def score(i, j):
        around = (around_x[i] + around_y[j]) / 2
        values = {"ratio": cosine[i][j] / around, "distance": cosine[i][j] - around, "absolute": cosine[i][j]}
        return values[margin]

    proposals = []
    for i, row in enumerate(cosine):
        proposals.append(max(((score(i, j), i, j) for j in near(row)), key=lambda p: p[0]))
    for j, row in enumerate(flipped):
        proposals.append(max(((score(i, j), i, j) for i in near(row)), key=lambda p: p[0]))
    pairs, used_i, used_j = [], set(), set()
    for value, i, j in sorted(proposals, key=lambda p: (-p[0], p[1], p[2])):
        if value > 0 and i not in used_i and j not in used_j:
            used_i.add(i)
            used_j.add(j)
            pairs.append((value, i, j))
    return pairs


class TestMine:
    def test_by_hand(self):
        """Cosines [[1, 0], [0.6, 0.8]]; the neighbour means are 0.5, 0.7 for x and 0.8, 0.4 for y."""
        pairs = mine([[1, 0], [0.6, 0.8]], [[1, 0], [0, 1]], neighbours=2)
        assert [(i, j) for _, i, j in pairs] == [(0, 0), (1, 1)]
        assert [score for score, _, _ in pairs] == pytest.approx([1 / 0.65, 0.8 / 0.55])

    @pytest.mark.parametrize("margin", ["ratio", "distance", "absolute"])
    @pytest.mark.parametrize("neighbours", [1, 3, 4, 50])
    @pytest.mark.parametrize("seed", [0, 1])
    def test_equals_the_plain_definition(self, margin, neighbours, seed):
        rng = np.random.default_rng(seed)
        source = rng.standard_normal((21, 6)) + 1  # off centre, as real embeddings are
        target = np.concatenate([source[5:], rng.standard_normal((9, 6)) + 1]) + rng.normal(0, 0.3, (25, 6))
        expected = plainly_mined(source.tolist(), target.tolist(), neighbours, margin)
        pairs = mine(source, target, neighbours, margin)
        assert [(i, j) for _, i, j in pairs] == [(i, j) for _, i, j in expected]
        assert [s for s, _, _ in pairs] == pytest.approx([s for s, _, _ in expected])

    def test_planted_pairs_are_found(self):
        rng = np.random.default_rng(2)
        source = rng.standard_normal((300, 32)).astype(np.float32)
        order = rng.permutation(200)
        target = np.concatenate([source[order], rng.standard_normal((150, 32))]) * 7
        target += 0.1 * rng.standard_normal(target.shape)
        pairs = mine(source, target)
        planted = {(int(i), j) for j, i in enumerate(order)}
        assert {(i, j) for _, i, j in pairs[:200]} == planted
        assert len({i for _, i, _ in pairs}) == len({j for _, _, j in pairs}) == len(pairs)
        assert [score for score, _, _ in pairs] == sorted((score for score, _, _ in pairs), reverse=True)

    def test_hub_wins_by_cosine_but_not_by_margin(self):
        """y0 is close to every x; y1 is close to x0 alone and not quite as close."""
        source = [[1, 0.6, 0], [1, -0.3, 0.3], [1, -0.3, -0.3]]
        target = [[1, 0, 0], [0.4, 1, 0]]
        assert mine(source, target, 3, "absolute")[0][1:] == (1, 0)
        assert mine(source, target, 3, "ratio")[0][1:] == (0, 1)

    def test_ties_go_by_source_then_target(self):
        assert [(i, j) for _, i, j in mine(np.eye(3), np.eye(3)[::-1])] == [(0, 2), (1, 1), (2, 0)]
        assert [(i, j) for _, i, j in mine(np.ones((3, 2)), np.ones((2, 2)))] == [(0, 0)]

    def test_pairs_at_or_below_zero_are_dropped(self):
        assert mine([[1.0, 0.0]], [[-1.0, 0.0]], margin="absolute") == []
        assert mine([[0.0, 0.0]], [[1.0, 0.0]]) == []

    def test_nothing_to_mine(self):
        assert mine(np.ones((0, 2)), np.ones((3, 2))) == []

    def test_errors(self):
        with pytest.raises(UnknownNameError, match="unknown margin 'ration'"):
            mine([[1.0]], [[1.0]], margin="ration")
        with pytest.raises(PredictionError, match="row 0 of the target"):
            mine([[1.0]], [[np.nan]])


class TestUnify:
    def test_keeps_the_last_row_in_order_of_first_appearance(self):
        rows, counts = unify(["b", "a", "b", "c", "b"])
        assert rows.tolist() == [4, 1, 3]
        assert counts.tolist() == [3, 1, 1]

    def test_nothing(self):
        assert [part.tolist() for part in unify([])] == [[], []]


def reference_walk(candidates, gold):
    """The reference's walk over distinct pairs, with a next score put after the last."""
    items = sorted(candidates, key=lambda item: -item[2])
    best, chosen, correct = 0.0, 0.0, 0
    for n, (i, j, score) in enumerate(items):
        correct += (i, j) in gold
        if correct:
            precision, recall = correct / (n + 1), correct / len(gold)
            f1 = 2 * precision * recall / (precision + recall)
            if f1 > best + 1e-12:
                best = f1
                chosen = (score + (items[n + 1][2] if n + 1 < len(items) else score)) / 2
    return chosen


class TestThreshold:
    @pytest.mark.parametrize(
        ("candidates", "gold", "expected"),
        [
            ([("a", "A", 0.9), ("b", "B", 0.7), ("c", "X", 0.3)], ["aA", "bB"], 0.5),
            ([("c", "X", 0.3), ("a", "A", 0.9), ("b", "B", 0.7)], ["aA", "bB"], 0.5),
            ([("a", "A", 0.9), ("b", "B", 0.7)], ["aA", "bB"], 0.7),  # no next score: its own
            ([("a", "A", 0.9)], ["aA"], 0.9),
            ([("a", "A", 0.8), ("x", "X", 0.6), ("b", "B", 0.4), ("c", "Y", 0.2)], ["aA", "bB"], 0.3),
            # F1 is 2/3 after the first item and again after the fourth: the first one counts
            ([("a", "A", 0.8), ("x", "X", 0.6), ("y", "Y", 0.5), ("b", "B", 0.4)], ["aA", "bB"], 0.7),
            ([("a", "A", 0.9), ("a", "A", 0.5), ("b", "B", 0.4)], ["aA"], 0.65),  # a repeat counts once
            ([("x", "X", 0.9)], ["aA"], 0.0),
            ([("a", "A", 0.9)], [], 0.0),
            ([], ["aA"], 0.0),
        ],
    )
    def test_table(self, candidates, gold, expected):
        assert threshold(candidates, [tuple(pair) for pair in gold]) == pytest.approx(expected)

    @given(st.data())
    @settings(max_examples=100, deadline=None)
    def test_equals_the_reference_walk_in_any_order(self, data):
        pairs = st.tuples(st.integers(0, 5), st.integers(0, 5))
        found = data.draw(st.lists(pairs, unique=True, max_size=15))
        scores = data.draw(st.lists(st.integers(1, 99), unique=True, min_size=len(found), max_size=len(found)))
        gold = data.draw(st.sets(pairs, min_size=1, max_size=10))
        candidates = [(i, j, score / 100) for (i, j), score in zip(found, scores, strict=True)]
        expected = reference_walk(candidates, gold)
        assert threshold(candidates, gold) == pytest.approx(expected)
        assert threshold(data.draw(st.permutations(candidates)), gold) == threshold(candidates, gold)

    def test_threshold_has_the_best_f1_of_all_cuts(self):
        rng = np.random.default_rng(3)
        candidates = [(i, i, float(s)) for i, s in enumerate(rng.random(60))]
        gold = {(i, i) for i in range(60) if rng.random() < candidates[i][2]}
        cut = threshold(candidates, gold)
        best = max(pair_f1(gold, [c[:2] for c in candidates if c[2] >= score])[0] for _, _, score in candidates)
        assert pair_f1(gold, [c[:2] for c in candidates if c[2] >= cut])[0] == best


class TestCrossFitting:
    def test_each_half_is_cut_at_the_threshold_of_the_other(self):
        halves = [[name for name in "abcdefghijkl" if crc32(name.encode()) % 2 == half][:3] for half in (0, 1)]
        (a, b, x), (c, d, y) = halves
        even = [(a, a, 0.9), (b, b, 0.8), (x, "wrong", 0.4)]  # cut at 0.6
        odd = [(c, c, 0.7), (d, d, 0.5), (y, "wrong", 0.1)]  # cut at 0.3
        gold = [(name, name) for name in (a, b, c, d)]
        assert (threshold(even, gold[:2]), threshold(odd, gold[2:])) == pytest.approx((0.6, 0.3))
        assert cross_fitted_pairs([*odd, *even], gold) == [(a, a), (b, b), (x, "wrong"), (c, c)]

    def test_uninformative_scores_gain_nothing(self):
        rng = np.random.default_rng(5)
        tuned, fair = [], []
        for _ in range(50):
            candidates = [(i, i, float(score)) for i, score in enumerate(rng.random(40))]
            gold = [(int(i), int(i)) for i in rng.permutation(40)[:10]]
            cut = threshold(candidates, gold)
            tuned.append(pair_f1(gold, [c[:2] for c in candidates if c[2] >= cut])[0])
            fair.append(pair_f1(gold, cross_fitted_pairs(candidates, gold))[0])
        assert np.mean(tuned) > 0.4  # all candidates together have 2 * 10 / (40 + 10)
        assert np.mean(fair) < 0.4

    def test_empty_input(self):
        assert cross_fitted_pairs([], [("a", "A")]) == []


PAIRS = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("WXYZ")), max_size=12)


class TestPairs:
    @pytest.mark.parametrize(
        ("gold", "predicted", "expected"),
        [
            ("aA bB cC", "aA bB", (0.8, 1.0, 2 / 3)),
            ("aA", "aA bB aX", (0.5, 1 / 3, 1.0)),
            ("aA bB", "aA aA", (2 / 3, 1.0, 0.5)),  # repeats collapse
            ("aA", "Aa", (0.0, 0.0, 0.0)),  # order within the pair matters
            ("aA", "", (0.0, 0.0, 0.0)),
            ("", "aA", (0.0, 0.0, 0.0)),
            ("", "", (0.0, 0.0, 0.0)),
        ],
    )
    def test_table(self, gold, predicted, expected):
        given_pairs = [[tuple(pair) for pair in text.split()] for text in (gold, predicted)]
        assert pair_f1(*given_pairs) == pytest.approx(expected)

    def test_lists_and_generators_are_pairs_too(self):
        assert pair_f1([["a", "A"]], (pair for pair in [("a", "A")])) == (1.0, 1.0, 1.0)

    def test_rows_are_source_sentences(self):
        found = statistics([("b", "B"), ("a", "A"), ("a", "X")], [("a", "A"), ("c", "C"), ("c", "D")])
        assert found.rows.tolist() == [[1, 1, 2], [0, 0, 1], [0, 2, 0]]
        assert found.value.columns == ("correct", "predicted", "gold")

    @given(PAIRS, PAIRS)
    @settings(max_examples=100, deadline=None)
    def test_their_sum_is_the_score(self, gold, predicted):
        assert statistics(gold, predicted).score == pytest.approx(pair_f1(gold, predicted)[0])

    @given(PAIRS, PAIRS)
    @settings(max_examples=50, deadline=None)
    def test_input_order_does_not_matter(self, gold, predicted):
        forward, backward = statistics(gold, predicted), statistics(set(gold), predicted[::-1])
        assert forward.rows.tolist() == backward.rows.tolist()
