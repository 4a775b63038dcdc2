"""Which items are learnt together."""

import itertools
from collections.abc import Iterable
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.training.batching import Batch, BatchSchedule, by_cost, widths
from isogloss.training.recipes import Recipe

lengths_of = st.lists(st.integers(1, 600), min_size=1, max_size=200).map(np.array)


def test_widths_are_rounded_finely_where_a_token_counts_more():
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


def padding(lengths: np.ndarray, batches: list[Batch]) -> float:
    """The share of positions that hold no token."""
    positions = sum(batch.width * batch.size for batch in batches)
    return 1 - sum(int(lengths[batch.items].sum()) for batch in batches) / positions


def flat(updates: Iterable[list[Batch]]) -> list[Batch]:
    return list(chain.from_iterable(updates))


@given(lengths_of, st.integers(1, 40), st.integers(0, 3))
def test_every_item_comes_once_an_epoch(lengths, batch, seed):
    table = BatchSchedule(lengths, 1, Recipe("x", 1e-5, epochs=2, batch=batch), seed)
    updates = list(table.updates())
    assert len(updates) == table.steps == 2 * table.per_epoch
    for epoch in (updates[: table.per_epoch], updates[table.per_epoch :]):
        assert sorted(np.concatenate([each.items for each in flat(epoch)]).tolist()) == list(range(len(lengths)))
    for [each] in updates:
        assert (lengths[each.items] <= each.width).all()
        assert len(each.items) <= each.size


@given(lengths_of, st.integers(1, 40), st.integers(0, 50))
def test_whoever_resumes_goes_on_with_the_same_batches(lengths, batch, start):
    table = BatchSchedule(lengths, 1, Recipe("x", 1e-5, epochs=3, batch=batch), 4)
    whole = [(each.items.tolist(), each.width, each.size) for [each] in table.updates()]
    rest = [(each.items.tolist(), each.width, each.size) for [each] in table.updates(start)]
    assert rest == whole[start:]


@given(lengths_of, st.integers(600, 5000), st.integers(1, 3))
def test_a_budget_of_tokens_is_kept_and_used(lengths, tokens, rows):
    table = BatchSchedule(lengths, rows, Recipe("x", 1e-5, epochs=1, tokens=tokens * rows), 0)
    updates = list(table.updates())
    assert sorted(np.concatenate([each.items for each in flat(updates)]).tolist()) == list(range(len(lengths)))
    counts, used = [0], 0
    for width in np.sort(widths(lengths)).tolist():  # as full as they can be, one item after the other
        if counts[-1] and used + width > tokens:
            counts, used = [*counts, 0], 0
        counts[-1], used = counts[-1] + 1, used + width
    assert sorted(sum(len(each.items) for each in update) for update in updates) == sorted(counts)


def test_where_items_need_each_other_an_update_is_one_batch():
    table = BatchSchedule(np.arange(1, 50), 1, Recipe("x", 1e-5, epochs=1, tokens=300), 0, splittable=False)
    assert {len(update) for update in table.updates()} == {1}


def test_steps_may_be_given_instead_of_epochs():
    table = BatchSchedule(np.full(10, 5), 1, Recipe("x", 1e-5, steps=7, batch=4), 0)
    assert [len(each.items) for [each] in table.updates()].count(2) == 2
    assert len(list(table.updates())) == 7


@pytest.mark.parametrize("counted", [{}, {"tokens": 1 << 17}])
@pytest.mark.parametrize("mean", [13, 23, 40, 190])
def test_at_least_95_percent_are_tokens(mean, counted):
    lengths = np.clip(np.random.default_rng(0).gamma(3, mean / 3, 20_000).astype(int), 3, 384)
    table = BatchSchedule(lengths, 1, Recipe("x", 1e-5, epochs=1, **counted), 0)
    assert padding(lengths, flat(table.updates())) < 0.05


@pytest.mark.parametrize(("rows", "tokens", "least"), [(20_000, 1 << 16, 12 << 10), (1_000, 1 << 12, 1 << 5)])
@pytest.mark.parametrize("mean", [13, 23, 40, 190])
def test_what_is_asked_is_neither_much_padding_nor_many_batches(mean, rows, tokens, least):
    lengths = np.clip(np.random.default_rng(0).gamma(3, mean / 3, rows).astype(int), 3, 384)
    batches = list(by_cost(lengths, tokens, least))
    # The time that it takes is at most a tenth more than if there were no padding, and batches were large.
    assert sum(max(batch.width * batch.size, least) for batch in batches) < 1.1 * int(lengths.sum())


@pytest.mark.parametrize(("least", "wanted"), [(0, [[3], [2], [1, 0]]), (1 << 20, [[3, 2, 1, 0]])])
def test_padding_is_weighed_against_batches(least, wanted):
    lengths = np.array([2, 2, 10, 30])
    batches = list(by_cost(lengths, 1 << 10, least))
    assert [sorted(each.items.tolist()) for each in batches] == [sorted(items) for items in wanted]


@given(st.lists(st.integers(1, 60), min_size=1, max_size=8).map(np.array), st.integers(1, 90), st.integers(0, 60))
def test_no_other_groups_of_widths_cost_less(lengths, tokens, least):
    ordered, counts = np.unique(lengths, return_counts=True)
    groups = list(zip(ordered[::-1].tolist(), counts[::-1].tolist(), strict=True))

    def cost(cut):
        total = 0
        for low, high in itertools.pairwise(cut):
            width, items = groups[low][0], sum(count for _, count in groups[low:high])
            masked = 1.05 if high - low > 1 else 1.0
            total += max(width * items * masked, least * -(-items // max(1, tokens // width)))
        return total

    inner = range(1, len(groups))
    cuts = ([0, *chosen, len(groups)] for size in range(len(groups)) for chosen in itertools.combinations(inner, size))
    by_width: dict[int, list[Batch]] = {}
    for batch in by_cost(lengths, tokens, least):
        by_width.setdefault(batch.width, []).append(batch)
    found = 0
    for width, group in by_width.items():
        masked = 1.05 if any((lengths[each.items] < width).any() for each in group) else 1.0
        found += max(sum(width * each.size for each in group) * masked, least * len(group))
    assert found == pytest.approx(min(map(cost, cuts)))


@given(lengths_of, st.integers(1, 3000), st.integers(0, 3000))
def test_all_are_asked_once_the_longest_first(lengths, tokens, least):
    batches = list(by_cost(lengths, tokens, least))
    assert sorted(np.concatenate([each.items for each in batches]).tolist()) == list(range(len(lengths)))
    assert [each.width for each in batches] == sorted((each.width for each in batches), reverse=True)
    assert all(len(each.items) * each.width <= tokens for each in batches if len(each.items) > 1)
