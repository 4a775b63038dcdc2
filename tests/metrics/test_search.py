"""Search against plain integer arithmetic, and against itself in other blocks."""

import sys
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.errors import PredictionError
from isogloss.metrics import ranking
from isogloss.metrics import search as module
from isogloss.metrics.search import nearest, normalize_rows, search


def brute(scores, k):
    """The k best columns of each row of a full score matrix, by (-score, column), in plain Python."""
    return [sorted(range(len(row)), key=lambda column: (-row[column], column))[:k] for row in scores.tolist()]


def unit(rng, *shape):
    vectors = rng.standard_normal(shape, dtype=np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@st.composite
def integer_searches(draw):
    dimension = draw(st.integers(1, 9))
    reach = draw(st.sampled_from([1, 3, 50]))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    queries = rng.integers(-reach, reach + 1, (draw(st.integers(1, 12)), dimension))
    candidates = rng.integers(-reach, reach + 1, (draw(st.integers(1, 60)), dimension))
    return queries, candidates, draw(st.integers(1, 70)), draw(st.integers(1, 13)), draw(st.integers(1, 61))


class TestExactness:
    @given(integer_searches(), st.sampled_from(["f2", "f4", "f8"]))
    @settings(max_examples=200, deadline=None)
    def test_equals_integer_arithmetic_with_all_its_ties(self, case, kind):
        queries, candidates, k, query_block, candidate_block = case
        truth = queries @ candidates.T
        rows, scores = search(
            queries.astype(kind),
            candidates.astype(kind),
            k,
            query_block=query_block,
            candidate_block=candidate_block,
        )
        assert rows.tolist() == brute(truth, k)
        assert scores.tolist() == np.take_along_axis(truth, rows, axis=1).tolist()

    @pytest.mark.slow
    @given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 200), st.integers(1, 30))
    @settings(max_examples=40, deadline=None)
    def test_block_sizes_never_change_a_bit(self, seed, query_block, candidate_block, k):
        rng = np.random.default_rng(seed)
        distinct = unit(rng, 40, 37)
        candidates = distinct[rng.integers(0, 40, 170)]  # each about four times, at odd places
        queries = unit(rng, 30, 37)
        rows, scores = search(queries, candidates, k)
        again = search(queries, candidates, k, query_block=query_block, candidate_block=candidate_block)
        assert (again[0] == rows).all()
        assert (again[1] == scores).all()
        order = [list(zip((-s).tolist(), r.tolist(), strict=True)) for s, r in zip(scores, rows, strict=True)]
        assert all(pairs == sorted(pairs) for pairs in order)

    @pytest.mark.parametrize("dimension", [1, 7, 64, 768, 9001])
    def test_equal_candidates_tie_at_any_position(self, dimension):
        rng = np.random.default_rng(dimension)
        distinct = unit(rng, 9, dimension)
        which = rng.integers(0, 9, 131)
        candidates, queries = distinct[which], unit(rng, 5, dimension)
        rows, scores = search(queries, candidates, 131, query_block=2, candidate_block=17)
        for found, score in zip(rows, scores, strict=True):
            assert sorted(found.tolist()) == list(range(131))
            for vector in set(which[found].tolist()):
                copies = found[which[found] == vector]
                assert (np.diff(copies) > 0).all()
                assert len(set(score[which[found] == vector].tolist())) == 1

    def test_last_bits_decide_as_the_sum_of_each_pair_does(self):
        """A pool that a product cannot tell apart: every vector is the first one, give or take rounding."""
        rng = np.random.default_rng(0)
        base = unit(rng, 1, 256)
        candidates = np.nextafter(base, rng.choice([-1, 1], (300, 256)), dtype=np.float32)
        queries = unit(rng, 8, 256)
        truth = np.stack([(candidates * query).sum(axis=1) for query in queries])
        rows, scores = search(queries, candidates, 12, candidate_block=64)
        assert rows.tolist() == brute(truth, 12)
        assert (scores == np.take_along_axis(truth, rows, axis=1)).all()

    def test_random_floats_are_ranked_as_in_double_precision(self):
        rng = np.random.default_rng(1)
        queries, candidates = unit(rng, 70, 48), unit(rng, 3000, 48)
        truth = queries.astype(np.float64) @ candidates.T.astype(np.float64)
        rows, scores = search(queries, candidates, 20, query_block=33, candidate_block=700)
        best = -np.sort(-truth, axis=1)[:, :20]
        assert np.abs(scores - best).max() < 1e-6
        assert np.abs(np.take_along_axis(truth, rows, axis=1) - best).max() < 1e-6

    def test_candidates_in_rising_order_of_score_are_all_seen(self):
        candidates = np.arange(5000, dtype=np.float32)[:, None]
        rows, scores = search(np.ones((3, 1)), candidates, 4, candidate_block=100)
        assert rows.tolist() == [[4999, 4998, 4997, 4996]] * 3
        assert scores[0].tolist() == [4999, 4998, 4997, 4996]

    def test_rows_of_equal_key_that_differ_are_not_mistaken_for_copies(self, monkeypatch):
        monkeypatch.setattr(np, "cos", lambda x, dtype: np.zeros(len(x), dtype))  # every key is 0
        candidates = np.array([[1, 0], [0, 1], [1, 0], [0, 1], [0, 1], [1, 0]], np.float32)
        assert search([[0.0, 1.0]], candidates, 2)[0].tolist() == [[1, 3]]
        assert search([[1.0, 0.0]], candidates, 2)[0].tolist() == [[0, 2]]


class TestProperties:
    @given(st.integers(0, 2**32 - 1))
    @settings(max_examples=25, deadline=None)
    def test_queries_do_not_know_each_other(self, seed):
        rng = np.random.default_rng(seed)
        queries, candidates = unit(rng, 25, 20), unit(rng, 200, 20)
        rows, scores = search(queries, candidates, 7, query_block=6)
        order = rng.permutation(25)
        shuffled = search(queries[order], candidates, 7, query_block=4)
        assert (shuffled[0] == rows[order]).all()
        assert (shuffled[1] == scores[order]).all()

    @given(st.integers(0, 2**32 - 1), st.integers(1, 99))
    @settings(max_examples=25, deadline=None)
    def test_shards_of_the_pool_merge_into_the_whole(self, seed, cut):
        rng = np.random.default_rng(seed)
        queries = rng.integers(-2, 3, (6, 4)).astype(np.float32)
        candidates = rng.integers(-2, 3, (100, 4)).astype(np.float32)
        whole = search(queries, candidates, 9)
        left, right = search(queries, candidates[:cut], 9), search(queries, candidates[cut:], 9)
        for query in range(6):
            found = list(zip((-left[1][query]).tolist(), left[0][query].tolist(), strict=True))
            found += list(zip((-right[1][query]).tolist(), (right[0][query] + cut).tolist(), strict=True))
            assert [row for _, row in sorted(found)[:9]] == whole[0][query].tolist()


class TestShapes:
    def test_k_above_pool_size_returns_all_in_order(self):
        rows, scores = search([[1.0, 0.0]], [[1, 0], [3, 0], [2, 0]], 20)
        assert rows.tolist() == [[1, 2, 0]]
        assert scores.tolist() == [[3, 2, 1]]

    def test_nothing_on_either_side(self):
        assert search(np.ones((0, 3)), np.ones((4, 3)), 2)[0].shape == (0, 2)
        assert search(np.ones((4, 3)), np.ones((0, 3)), 2)[1].shape == (4, 0)

    @pytest.mark.parametrize(
        ("left", "right", "expected"),
        [("f2", "f2", "f4"), ("f4", "f4", "f4"), ("f8", "f4", "f4"), ("f8", "f8", "f8")],
    )
    def test_types(self, left, right, expected):
        rows, scores = search(np.eye(3, dtype=left), np.eye(3, dtype=right), 2)
        assert rows.dtype == np.int64
        assert scores.dtype == np.dtype(expected)
        assert rows[:, 0].tolist() == [0, 1, 2]

    def test_double_precision_is_used_where_both_sides_have_it(self):
        candidates = np.array([[1.0], [1.0 + 1e-12]])
        assert search([[1.0]], candidates, 1)[0].tolist() == [[1]]
        assert search([[1.0]], candidates.astype(np.float32), 1)[0].tolist() == [[0]]

    def test_layout_does_not_matter(self):
        rng = np.random.default_rng(3)
        queries, candidates = unit(rng, 9, 10), unit(rng, 50, 10)
        rows, scores = search(queries, candidates, 5)
        fortran = search(np.asfortranarray(queries), np.repeat(candidates, 2, axis=0)[::2], 5)
        assert (fortran[0] == rows).all()
        assert (fortran[1] == scores).all()

    def test_memory_mapped_half_precision(self, tmp_path):
        rng = np.random.default_rng(4)
        queries, candidates = unit(rng, 9, 10), unit(rng, 500, 10).astype(np.float16)
        np.save(tmp_path / "pool.npy", candidates)
        mapped = np.load(tmp_path / "pool.npy", mmap_mode="r")
        rows, scores = search(queries, mapped, 5, candidate_block=99)
        expected = search(queries, candidates.astype(np.float32), 5)
        assert (rows == expected[0]).all()
        assert (scores == expected[1]).all()

    def test_progress_counts_every_block(self):
        calls = []
        search(
            np.ones((5, 2)),
            np.ones((7, 2)),
            1,
            query_block=2,
            candidate_block=4,
            progress=lambda *c: calls.append(c),
        )
        assert calls == [(done, 6) for done in range(1, 7)]

    def test_is_also_found_beside_the_ranking_metrics(self):
        assert ranking.search is search


class TestErrors:
    @pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
    @pytest.mark.parametrize("side", ["queries", "candidates"])
    def test_value_that_is_not_finite_is_named(self, bad, side):
        sides = {"queries": np.ones((9, 3)), "candidates": np.ones((9, 3))}
        sides[side][7, 2] = bad
        with pytest.raises(PredictionError, match=f"value that is not a finite float.. in row 7 of the {side}"):
            search(**sides, query_block=2, candidate_block=2)

    def test_value_beyond_the_type_is_named(self):
        with pytest.raises(PredictionError, match="not a finite float32 in row 1 of the candidates"):
            search(np.ones((1, 1), np.float32), np.array([[1.0], [1e300]]))
        with pytest.raises(PredictionError, match="vector too long for float32 in row 0 of the queries"):
            search(np.full((1, 1), 1e30, np.float32), np.ones((2, 1), np.float32))

    def test_dimensions_must_agree(self):
        with pytest.raises(PredictionError, match="queries have 3 dimensions but candidates have 4"):
            search(np.ones((2, 3)), np.ones((2, 4)))

    @pytest.mark.parametrize(
        "arguments",
        [
            (np.ones(3), np.ones((2, 3))),
            (np.ones((2, 3)), np.array([["a", "b", "c"]])),
            (np.ones((2, 3)), np.ones((2, 3)), 0),
        ],
    )
    def test_misuse(self, arguments):
        with pytest.raises(ValueError, match="must be"):
            search(*arguments)


class TestCosts:
    def peak(self, queries, candidates, **options):
        search(queries[:1], candidates[:9], 1)  # what the first call allocates for good is not counted
        tracemalloc.start()
        search(queries, candidates, 5, **options)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    def test_memory_does_not_grow_with_the_pool(self):
        rng = np.random.default_rng(5)
        queries, candidates = unit(rng, 500, 8), unit(rng, 40_000, 8)
        small = self.peak(queries, candidates[:4000], query_block=100, candidate_block=1000)
        large = self.peak(queries, candidates, query_block=100, candidate_block=1000)
        assert large < 1.2 * small < 500 * 40_000 * 4 / 10  # the full matrix would be 80 MB

    def test_memory_is_bounded_where_every_pair_is_a_near_tie(self):
        rng = np.random.default_rng(6)
        alike = 1 + 1e-7 * rng.standard_normal((3000, 4)).astype(np.float32)
        assert self.peak(alike[:600], alike) < 80e6  # with all pairs at once it would be more than twice that

    def test_copies_are_not_scored_again_and_again(self, monkeypatch):
        scored = []
        real = module._pair_scores
        monkeypatch.setattr(module, "_pair_scores", lambda *a: scored.append(len(a[1])) or real(*a))
        rows, _ = search(np.ones((10, 3)), np.ones((5000, 3)), 4)
        assert rows.tolist() == [[0, 1, 2, 3]] * 10
        assert sum(scored) == 40


class TestTorch:
    @pytest.fixture
    def fake(self, tmp_path, monkeypatch):
        """A torch that sees a device; what `search` would do with it must not matter to this test."""
        code = "class cuda:\n    is_available = staticmethod(lambda: True)\n"
        (tmp_path / "torch.py").write_text(code + "get_float32_matmul_precision = lambda: 'highest'\n")
        monkeypatch.delitem(sys.modules, "torch", raising=False)
        monkeypatch.syspath_prepend(tmp_path)
        yield
        sys.modules.pop("torch", None)

    @pytest.mark.usefixtures("fake")
    def test_is_imported_only_where_it_pays(self):
        single = np.dtype(np.float32)
        assert module._torch_with_device(10**9, single) is None
        assert "torch" not in sys.modules
        assert module._torch_with_device(10**13, single) is sys.modules["torch"]
        assert module._torch_with_device(1, single) is sys.modules["torch"]

    @pytest.mark.usefixtures("fake")
    def test_is_not_used_where_it_would_round_more_coarsely(self):
        torch = module._torch_with_device(10**13, np.dtype(np.float32))
        torch.get_float32_matmul_precision = lambda: "high"
        assert module._torch_with_device(1, np.dtype(np.float32)) is None
        assert module._torch_with_device(1, np.dtype(np.float64)) is torch

    @given(case=integer_searches())
    @settings(max_examples=50, deadline=None)
    def test_gives_the_same_rows(self, case):
        torch = pytest.importorskip("torch")
        queries, candidates, k, query_block, candidate_block = case
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "_torch_with_device", lambda *_: torch)
            found = search(queries, candidates, k, query_block=query_block, candidate_block=candidate_block)
        assert found[0].tolist() == brute(queries @ candidates.T, k)

    def test_gives_the_same_bits(self, monkeypatch):
        torch = pytest.importorskip("torch")
        rng = np.random.default_rng(7)
        queries, candidates = unit(rng, 90, 100), unit(rng, 400, 100)[rng.integers(0, 400, 3000)]
        monkeypatch.setattr(module, "_torch_with_device", lambda *_: None)
        rows, scores = search(queries, candidates, 20)
        monkeypatch.setattr(module, "_torch_with_device", lambda *_: torch)
        again = search(queries, candidates, 20, query_block=50, candidate_block=700)
        assert (again[0] == rows).all()
        assert (again[1] == scores).all()


class TestCosine:
    def test_rows_get_unit_length_and_zero_stays_zero(self):
        rows = normalize_rows([[3.0, 4.0], [0.0, 0.0], [-1e-30, 0.0]])
        assert rows.tolist() == [[0.6, 0.8], [0.0, 0.0], [-1.0, 0.0]]

    @pytest.mark.parametrize(("given_type", "expected"), [("f2", "f4"), ("f4", "f4"), ("f8", "f8"), ("i4", "f4")])
    def test_type_of_normalized_rows(self, given_type, expected):
        given_rows = np.eye(2, dtype=given_type)
        assert normalize_rows(given_rows).dtype == np.dtype(expected)

    def test_input_is_not_modified(self):
        matrix = np.full((2, 2), 5.0, np.float32)
        normalize_rows(matrix)
        assert (matrix == 5).all()

    def test_length_does_not_matter_and_ties_go_to_the_lowest_row(self):
        candidates = [[9, 1], [0, 4], [0, 1], [1, 0], [8, 0]]
        assert nearest([[0, 1], [2, 0], [0, 0]], candidates).tolist() == [1, 3, 0]

    def test_equals_the_smallest_euclidean_distance(self):
        rng = np.random.default_rng(8)
        queries, candidates = rng.standard_normal((40, 12)), rng.standard_normal((90, 12))
        x = queries / np.linalg.norm(queries, axis=1, keepdims=True)
        y = candidates / np.linalg.norm(candidates, axis=1, keepdims=True)
        distances = ((x[:, None] - y[None]) ** 2).sum(axis=2)
        assert nearest(queries, candidates).tolist() == distances.argmin(axis=1).tolist()

    def test_errors_name_the_side(self):
        with pytest.raises(PredictionError, match="row 1 of the candidates"):
            nearest([[1.0]], [[1.0], [np.nan]])
        with pytest.raises(ValueError, match="no candidates"):
            nearest([[1.0]], np.ones((0, 1)))
