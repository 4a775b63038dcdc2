"""The loss by hand, and cached gradients compared with plain ones; two processes are in `neural/test_in_step.py`."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'isogloss[train]'")

from isogloss.systems.dual.contrastive import contrastive_loss  # noqa: E402 - only where there is torch
from systems.dual.made_pairs import assert_same, gradients, model, objective  # noqa: E402

VECTORS = [[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]]


def loss(scores: list[list[float]], right: list[int]) -> float:
    """Return the summed negative log-probability of the correct column of each row, over visible columns."""
    total = 0.0
    for row, place in zip(scores, right, strict=True):
        total += math.log(sum(math.exp(score) for score in row)) - row[place]
    return total


def test_three_by_three() -> None:
    queries, answers = torch.tensor(VECTORS), torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.8, 0.6]])
    found = contrastive_loss(queries, answers, torch.tensor([[1, 4], [2, 5], [3, 6]]), torch.tensor(2.0))
    rows = [[2.0, 0.0, 1.6], [1.2, 1.6, 1.92], [0.0, 2.0, 1.2]]
    assert float(found) == pytest.approx(loss(rows, [0, 1, 2]), abs=1e-5)
    both = contrastive_loss(queries, answers, torch.tensor([[1, 4], [2, 5], [3, 6]]), torch.tensor(2.0), both=True)
    columns = [list(column) for column in zip(*rows, strict=True)]
    assert float(both) == pytest.approx((loss(rows, [0, 1, 2]) + loss(columns, [0, 1, 2])) / 2, abs=1e-5)


def test_same_answer_is_not_a_negative() -> None:
    queries, answers = torch.tensor(VECTORS), torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.8, 0.6]])
    found = contrastive_loss(queries, answers, torch.tensor([[1, 7], [2, 7], [3, 8]]), torch.tensor(2.0))
    # The first two answers are equal: each of the first two queries sees its own and the third.
    rows = [[2.0, 1.6], [1.2, 1.92], [0.0, 0.0, 1.2]]
    assert float(found) == pytest.approx(loss(rows, [0, 0, 2]), abs=1e-5)
    # As in the reference, the copy is a wrong answer; padding still is not.
    identities = torch.tensor([[1, 7], [2, 7], [3, 8], [-1, -1]])
    sides = (torch.cat([side, torch.zeros(1, 2)]) for side in (queries, answers))
    seen = contrastive_loss(*sides, identities, torch.tensor(2.0), hide_duplicates=False)
    rows = [[2.0, 2.0, 1.6], [1.2, 1.2, 1.92], [0.0, 0.0, 1.2]]
    assert float(seen) == pytest.approx(loss(rows, [0, 1, 2]), abs=1e-5)


def test_other_answer_to_the_same_query_is_not_a_negative() -> None:
    queries, answers = torch.tensor(VECTORS), torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.8, 0.6]])
    identities = torch.tensor([[1, 4], [1, 5], [2, 6]])
    rows, columns = [[2.0, 1.6], [1.6, 1.92], [0.0, 2.0, 1.2]], [[2.0, 0.0], [1.6, 2.0], [1.6, 1.92, 1.2]]
    found = contrastive_loss(queries, answers, identities, torch.tensor(2.0))
    assert float(found) == pytest.approx(loss(rows, [0, 0, 2]), abs=1e-5)
    both = contrastive_loss(queries, answers, identities, torch.tensor(2.0), both=True)
    assert float(both) == pytest.approx((loss(rows, [0, 0, 2]) + loss(columns, [0, 0, 2])) / 2, abs=1e-5)


def test_padding_adds_nothing() -> None:
    queries = torch.tensor([*VECTORS, [0.0, 0.0]], requires_grad=True)
    answers = torch.tensor([*VECTORS, [0.0, 0.0]], requires_grad=True)
    scale = torch.tensor(100.0)
    padded = contrastive_loss(queries, answers, torch.tensor([[0, 0], [1, 1], [2, 2], [-1, -1]]), scale, both=True)
    plain = contrastive_loss(queries[:3], answers[:3], torch.tensor([[0, 0], [1, 1], [2, 2]]), scale, both=True)
    assert float(padded.detach()) == pytest.approx(float(plain.detach()), abs=1e-5)
    padded.backward()
    assert queries.grad is not None and answers.grad is not None
    assert bool(queries.grad.isfinite().all() and answers.grad.isfinite().all())
    assert not bool(queries.grad[3].any() or answers.grad[3].any())


@pytest.mark.parametrize("both", [False, True])
def test_parts_of_a_batch_are_independent(both: bool) -> None:
    """Like accumulated small batches: five pairs in parts of two are three batches."""
    torch.manual_seed(0)
    queries, answers = (torch.nn.functional.normalize(torch.randn(6, 4), dim=1) for _ in range(2))
    identities, scale = torch.tensor([[0, 0], [1, 1], [2, 2], [3, 3], [4, 4], [-1, -1]]), torch.tensor(5.0)
    found = contrastive_loss(queries, answers, identities, scale, candidates=2, both=both)
    accumulated = sum(
        contrastive_loss(queries[part], answers[part], identities[part], scale, both=both)
        for part in (slice(0, 2), slice(2, 4), slice(4, 6))
    )
    assert float(found) == pytest.approx(float(accumulated), abs=1e-5)
    whole = contrastive_loss(queries, answers, identities, scale, both=both)
    assert float(contrastive_loss(queries, answers, identities, scale, candidates=9, both=both)) == float(whole)
    assert float(found) < float(whole)


def test_parts_mix_lengths() -> None:
    made = objective(candidates=4)
    given = np.argsort(made.lengths, kind="stable")
    placed = made.batch(given, 16, 16)["identity"]
    assert sorted(placed.tolist()) == sorted(made.numbers[given].tolist())
    assert placed.tolist() != made.numbers[given].tolist()
    assert (placed == made.batch(given[::-1], 16, 16)["identity"]).all()


def test_shapes_depend_only_on_width_and_size() -> None:
    made = objective()
    one, other = made.batch(np.array([0, 1, 2]), 16, 8), made.batch(np.array([9]), 16, 8)
    assert {name: array.shape for name, array in one.items()} == {name: array.shape for name, array in other.items()}
    assert one["answer"].shape == (8, 16)
    assert one["identity"].tolist()[3:] == [[-1, -1]] * 5
    assert (one["answer_length"] >= 1).all()
    assert made.weight(np.array([3, 4])) == 2.0


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("chunk", [3, 5, 8])
def test_cached_gradients_match_plain_ones(tiny_bert: Path, chunk: int, both: bool) -> None:
    items = np.arange(16)
    plain_loss, plain = gradients(model(tiny_bert), objective(both=both), items, 16)
    cached_loss, cached = gradients(model(tiny_bert), objective(chunk=chunk, both=both), items, 16)
    assert cached_loss == pytest.approx(plain_loss, rel=1e-5)
    assert_same(cached, plain)


def test_cached_gradients_repeat_the_dropout(tiny_bert: Path) -> None:
    """Chunks draw other random numbers than one pass; repeating them by hand gives the same gradients."""
    items, chunk = np.arange(16), 4
    cached_loss, cached = gradients(model(tiny_bert, dropout=0.3), objective(chunk=chunk), items, 16)
    whole = model(tiny_bert, dropout=0.3)
    batch = {name: torch.from_numpy(array) for name, array in objective().batch(items, 16, 16).items()}
    torch.manual_seed(7)
    sides: list[Any] = [
        torch.cat(
            [whole(batch[side][i : i + chunk], batch[f"{side}_length"][i : i + chunk]) for i in range(0, 16, chunk)]
        )
        for side in ("query", "answer")
    ]
    loss = contrastive_loss(*sides, batch["identity"], whole.scale) / 16
    loss.backward()
    assert cached_loss == pytest.approx(float(loss.detach()), rel=1e-5)
    assert_same(cached, {name: p.grad for name, p in whole.named_parameters() if p.grad is not None})
