"""Batch schedules."""

from collections.abc import Iterable
from itertools import chain, combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.training.batching import Batch, BatchSchedule, by_cost, widths
from isogloss.training.recipes import Recipe

lengths_of = st.lists(st.integers(1, 600), min_size=1, max_size=200).map(np.array)


def test_short_widths_are_rounded_more_finely():
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
    """Return the share of positions that are padding."""
    positions = sum(batch.width * batch.size for batch in batches)
    return 1 - sum(int(lengths[batch.items].sum()) for batch in batches) / positions


def flat(updates: Iterable[list[Batch]]) -> list[Batch]:
    return list(chain.from_iterable(updates))


def shown(updates: Iterable[list[Batch]]) -> list[list[tuple[list[int], int, int]]]:
    return [[(each.items.tolist(), each.width, each.size) for each in update] for update in updates]


@given(lengths_of, st.integers(1, 40), st.integers(0, 3))
def test_every_item_occurs_once_per_epoch(lengths, batch, seed):
    table = BatchSchedule(
        lengths=lengths, rows=1, recipe=Recipe(name="x", learning_rate=1e-5, epochs=2, batch=batch), seed=seed
    )
    updates = list(table.updates())
    assert len(updates) == table.steps == 2 * table.per_epoch
    for epoch in (updates[: table.per_epoch], updates[table.per_epoch :]):
        assert sorted(np.concatenate([each.items for each in flat(epoch)]).tolist()) == list(range(len(lengths)))
    for [each] in updates:
        assert (lengths[each.items] <= each.width).all()
        assert len(each.items) <= each.size


@given(lengths_of, st.integers(1, 40), st.integers(0, 50))
def test_resumed_schedule_has_the_same_batches(lengths, batch, start):
    table = BatchSchedule(
        lengths=lengths, rows=1, recipe=Recipe(name="x", learning_rate=1e-5, epochs=3, batch=batch), seed=4
    )
    assert shown(table.updates(start)) == shown(table.updates())[start:]


@given(lengths_of, st.integers(1, 5000), st.integers(1, 3), st.booleans())
def test_token_budget_is_respected_and_used(lengths, tokens, rows, splittable):
    table = BatchSchedule(
        lengths=lengths,
        rows=rows,
        recipe=Recipe(name="x", learning_rate=1e-5, epochs=1, tokens=tokens * rows),
        seed=0,
        splittable=splittable,
    )
    updates = list(table.updates())
    assert sorted(np.concatenate([each.items for each in flat(updates)]).tolist()) == list(range(len(lengths)))
    padded_to = widths(lengths)
    assert len(updates) == min(len(lengths), -(-padded_to.sum() // tokens))  # no more updates than needed
    used = [sum(int(padded_to[each.items].sum()) for each in update) for update in updates]
    # Equal shares, within an item at either end (of a chunk, and of an update in it).
    assert max(used) <= max(tokens, padded_to.max()) + 2 * padded_to.max()
    for each in flat(updates):
        assert len(each.items) <= each.size
        assert (lengths[each.items] <= each.width).all()
        assert not splittable or len(each.items) == 1 or each.size * each.width <= 1.25 * max(tokens, 8192)


@given(lengths_of, st.integers(500, 50_000), st.integers(0, 50))
def test_resumed_schedule_has_the_same_token_batches(lengths, tokens, start):
    table = BatchSchedule(
        lengths=lengths, rows=1, recipe=Recipe(name="x", learning_rate=1e-5, epochs=3, tokens=tokens), seed=4
    )
    assert shown(table.updates(start)) == shown(table.updates())[start:]


@pytest.mark.parametrize("counted", [{}, {"tokens": 1 << 13}])
def test_order_depends_only_on_seed_and_epoch(counted):
    lengths = np.random.default_rng(0).integers(3, 90, 3000)
    recipe = Recipe(name="x", learning_rate=1e-5, epochs=2, **counted)
    found, again, other = (
        shown(BatchSchedule(lengths=lengths, rows=1, recipe=recipe, seed=seed).updates()) for seed in (1, 1, 2)
    )
    half = len(found) // 2
    assert found == again
    assert found != other
    assert found[:half] != found[half:]


@pytest.mark.parametrize("chunk", [1, 4, 16, 48])
def test_items_are_sorted_within_random_chunks(chunk):
    lengths = np.random.default_rng(1).integers(3, 900, 32 * 192)
    updates = list(
        BatchSchedule(
            lengths=lengths, rows=1, recipe=Recipe(name="x", learning_rate=1e-5, epochs=1, chunk=chunk), seed=0
        ).updates()
    )
    found, in_order = [], 0
    for start in range(0, 192, chunk):
        of_chunk = [widths(lengths[each.items]) for [each] in updates[start : start + chunk]]
        order = sorted(range(chunk), key=lambda place: (of_chunk[place].min(), of_chunk[place].max()))
        assert all(of_chunk[left].max() <= of_chunk[right].min() for left, right in pairwise(order))
        in_order += order == list(range(chunk))
        found.append(np.mean([lengths[each.items].mean() for [each] in updates[start : start + chunk]]))
    assert chunk == 1 or in_order < 10
    # The mean of a random sample, within 4.5 standard deviations.
    assert max(np.abs(np.array(found) - lengths.mean())) < 4.5 * lengths.std() / np.sqrt(32 * chunk)


def test_incomplete_batch_is_random_and_last():
    lengths = np.sort(np.random.default_rng(0).integers(3, 300, 32 * 100 + 20))
    recipe, means = Recipe(name="x", learning_rate=1e-5, epochs=1), []
    for seed in range(40):
        sizes, items = zip(
            *[
                (len(each.items), each.items)
                for [each] in BatchSchedule(lengths=lengths, rows=1, recipe=recipe, seed=seed).updates()
            ],
            strict=True,
        )
        assert sizes == (*[32] * 100, 20)
        means.append(lengths[items[-1]].mean())
    assert abs(np.mean(means) - lengths.mean()) < 4.5 * lengths.std() / np.sqrt(20 * 40)


def test_length_is_spread_over_a_few_updates():
    """Like windows without an answer, which are mostly long: a fully sorted epoch has runs without any."""
    random = np.random.default_rng(0)
    lengths = np.clip(random.gamma(5, 45, 32 * 400).astype(int), 30, 384)
    rare = (lengths == 384) & (random.random(len(lengths)) < 0.4)
    deviation = {}
    for chunk in (1, 16, 10**9):
        table = BatchSchedule(
            lengths=lengths, rows=1, recipe=Recipe(name="x", learning_rate=1e-5, epochs=4, chunk=chunk), seed=0
        )
        share = np.array([rare[each.items].mean() for [each] in table.updates()])
        deviation[chunk] = share.reshape(-1, 16).mean(1).std()
    assert deviation[16] < 1.3 * deviation[1] < deviation[10**9]


def test_unsplittable_update_is_one_batch():
    table = BatchSchedule(
        lengths=np.arange(1, 50),
        rows=1,
        recipe=Recipe(name="x", learning_rate=1e-5, epochs=1, tokens=300),
        seed=0,
        splittable=False,
    )
    assert {len(update) for update in table.updates()} == {1}


def test_steps_override_epochs():
    table = BatchSchedule(
        lengths=np.full(10, 5), rows=1, recipe=Recipe(name="x", learning_rate=1e-5, steps=7, batch=4), seed=0
    )
    assert [len(each.items) for [each] in table.updates()].count(2) == 2
    assert len(list(table.updates())) == 7


# Lengths are spread over four times their mean: in random order 60 % of the positions are padding.
@pytest.mark.parametrize(("counted", "most"), [({}, 0.16), ({"chunk": 10**6}, 0.05), ({"tokens": 1 << 17}, 0.2)])
@pytest.mark.parametrize("mean", [13, 23, 40, 190])
def test_little_padding_and_few_shapes(mean, counted, most):
    lengths = np.clip(np.random.default_rng(0).gamma(3, mean / 3, 20_000).astype(int), 3, 384)
    batches = flat(
        BatchSchedule(
            lengths=lengths, rows=1, recipe=Recipe(name="x", learning_rate=1e-5, epochs=3, **counted), seed=0
        ).updates()
    )
    assert padding(lengths, batches) < most
    assert len({(each.size, each.width) for each in batches}) <= len(set(widths(lengths)))


@pytest.mark.parametrize(("rows", "tokens", "least"), [(20_000, 1 << 16, 12 << 10), (1_000, 1 << 12, 1 << 5)])
@pytest.mark.parametrize("mean", [13, 23, 40, 190])
def test_inference_has_little_padding_and_few_batches(mean, rows, tokens, least):
    lengths = np.clip(np.random.default_rng(0).gamma(3, mean / 3, rows).astype(int), 3, 384)
    batches = list(by_cost(lengths, tokens, least))
    # At most a tenth more time than without padding and with large batches.
    assert sum(max(batch.width * batch.size, least) for batch in batches) < 1.1 * int(lengths.sum())


@pytest.mark.parametrize(("least", "wanted"), [(0, [[3], [2], [1, 0]]), (1 << 20, [[3, 2, 1, 0]])])
def test_padding_is_traded_against_batches(least, wanted):
    lengths = np.array([2, 2, 10, 30])
    batches = list(by_cost(lengths, 1 << 10, least))
    assert [sorted(each.items.tolist()) for each in batches] == [sorted(items) for items in wanted]


@given(st.lists(st.integers(1, 60), min_size=1, max_size=8).map(np.array), st.integers(1, 90), st.integers(0, 60))
def test_groups_of_widths_have_minimal_cost(lengths, tokens, least):
    ordered, counts = np.unique(widths(lengths), return_counts=True)
    groups = list(zip(ordered[::-1].tolist(), counts[::-1].tolist(), strict=True))

    def cost(cut):
        total = 0
        for low, high in pairwise(cut):
            width, items = groups[low][0], sum(count for _, count in groups[low:high])
            total += max(width * items, least * -(-items // max(1, tokens // width)))
        return total

    inner = range(1, len(groups))
    cuts = ([0, *chosen, len(groups)] for size in range(len(groups)) for chosen in combinations(inner, size))
    by_width: dict[int, list[Batch]] = {}
    for batch in by_cost(lengths, tokens, least):
        by_width.setdefault(batch.width, []).append(batch)
    found = sum(max(sum(width * each.size for each in group), least * len(group)) for width, group in by_width.items())
    assert found == min(map(cost, cuts))


@given(lengths_of, st.integers(1, 3000), st.integers(0, 3000))
def test_every_item_once_longest_first(lengths, tokens, least):
    batches = list(by_cost(lengths, tokens, least))
    assert sorted(np.concatenate([each.items for each in batches]).tolist()) == list(range(len(lengths)))
    assert [each.width for each in batches] == sorted((each.width for each in batches), reverse=True)
    assert all(len(each.items) * each.width <= tokens for each in batches if len(each.items) > 1)
