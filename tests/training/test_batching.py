"""Which items are learnt together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.training.batching import Timetable, by_tokens, padding, widths
from isogloss.training.recipes import Recipe

lengths_of = st.lists(st.integers(1, 600), min_size=1, max_size=200).map(np.array)


def test_widths_are_rounded_finely_where_a_piece_counts_more():
    assert widths(np.array([0, 1, 31, 33, 64, 65, 129, 256, 257, 384])).tolist() == [
        2,
        2,
        32,
        36,
        64,
        72,
        144,
        256,
        288,
        384,
    ]


@given(lengths_of, st.integers(1, 40), st.integers(0, 3))
def test_every_item_comes_once_an_epoch(lengths, batch, seed):
    table = Timetable(lengths, 1, Recipe("x", 1e-5, epochs=2, batch=batch), seed)
    batches = list(table.batches())
    assert len(batches) == table.steps == 2 * table.per_epoch
    for epoch in (batches[: table.per_epoch], batches[table.per_epoch :]):
        assert sorted(np.concatenate([each.items for each in epoch]).tolist()) == list(range(len(lengths)))
    assert all((lengths[each.items] <= each.width).all() and len(each.items) <= each.size for each in batches)


@given(lengths_of, st.integers(1, 40), st.integers(0, 50))
def test_whoever_resumes_goes_on_with_the_same_batches(lengths, batch, start):
    table = Timetable(lengths, 1, Recipe("x", 1e-5, epochs=3, batch=batch), 4)
    whole = [(each.items.tolist(), each.width, each.size) for each in table.batches()]
    rest = [(each.items.tolist(), each.width, each.size) for each in table.batches(start)]
    assert rest == whole[start:]


@given(lengths_of, st.integers(600, 5000), st.integers(1, 3))
def test_a_budget_of_pieces_is_kept(lengths, tokens, rows):
    table = Timetable(lengths, rows, Recipe("x", 1e-5, epochs=1, tokens=tokens * rows), 0)
    batches = list(table.batches())
    assert sorted(np.concatenate([each.items for each in batches]).tolist()) == list(range(len(lengths)))
    assert all(len(each.items) * each.width * rows <= tokens * rows for each in batches if len(each.items) > 1)
    # A shape is decided by the width alone, so that one capture serves.
    assert len({(each.width, each.size) for each in batches}) == len({each.width for each in batches})


def test_steps_may_be_given_instead_of_epochs():
    table = Timetable(np.full(10, 5), 1, Recipe("x", 1e-5, steps=7, batch=4), 0)
    assert [len(each.items) for each in table.batches()].count(2) == 2
    assert len(list(table.batches())) == 7


@pytest.mark.parametrize("mean", [13, 23, 40, 190])
def test_at_least_95_percent_are_pieces(mean):
    lengths = np.clip(np.random.default_rng(0).gamma(3, mean / 3, 20_000).astype(int), 3, 384)
    table = Timetable(lengths, 1, Recipe("x", 1e-5, epochs=1), 0)
    assert padding(lengths, list(table.batches())) < 0.05


@given(lengths_of, st.integers(1, 3000))
def test_all_are_asked_once_the_longest_first(lengths, tokens):
    batches = list(by_tokens(lengths, tokens))
    assert sorted(np.concatenate([each.items for each in batches]).tolist()) == list(range(len(lengths)))
    assert [each.width for each in batches] == sorted((each.width for each in batches), reverse=True)
    assert all(len(each.items) * each.width <= tokens for each in batches if len(each.items) > 1)
