"""Inference: every row once, with the same output in any batch."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs torch")
pytest.importorskip("accelerate", reason="training needs accelerate")

from isogloss.training.errors import TrainingError  # noqa: E402
from isogloss.training.inference import outputs  # noqa: E402
from training.toy import Words, bag  # noqa: E402


def forward(model, batch):
    return (model(batch["tokens"], batch["mask"]), batch["labels"])


@pytest.mark.parametrize("tokens", [1, 40, 0])
def test_outputs_do_not_depend_on_the_batch(tokens):
    model, words = bag().train(), Words()
    found = np.full((64, 3), np.nan, np.float32)
    for rows, (logits, labels) in outputs(model, words.lengths, words.batch, forward, tokens=tokens):
        found[rows] = logits
        assert (labels == words.encoded.columns["label"][rows]).all()
    assert model.training
    model.eval()
    for row in (0, 17, 63):
        batch = words.batch(np.array([row]), int(words.lengths[row]), 1)
        alone = model(torch.from_numpy(batch["tokens"]), torch.from_numpy(batch["mask"]))
        assert np.allclose(alone.detach().numpy()[0], found[row], atol=1e-6)


@pytest.mark.parametrize("fits", [20, 3, 1])
def test_batches_that_do_not_fit_are_halved(fits):
    def forward_few(model, batch):
        if len(batch["tokens"]) > fits:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return forward(model, batch)

    model, words = bag(), Words()
    found = np.full((64, 3), np.nan, np.float32)
    for rows, (logits, _) in outputs(model, words.lengths, words.batch, forward_few):
        found[rows] = logits
    for rows, (logits, _) in outputs(model, words.lengths, words.batch, forward):
        assert np.allclose(found[rows], logits, atol=1e-6)


def test_out_of_memory_for_one_row_raises():
    def short(*_):
        raise torch.OutOfMemoryError("CUDA out of memory")

    words = Words()
    with pytest.raises(TrainingError, match=r"out of memory for one row of 30 tokens.*smaller max_length"):
        list(outputs(bag(), words.lengths, words.batch, short))


def test_other_errors_are_raised():
    def broken(*_):
        raise RuntimeError("shapes do not fit")

    words = Words()
    with pytest.raises(RuntimeError, match="shapes do not fit"):
        list(outputs(bag(), words.lengths, words.batch, broken))
