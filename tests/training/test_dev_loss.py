"""The dev loss compared with a hand-computed one."""

import os
from dataclasses import replace

import pytest

torch = pytest.importorskip("torch", reason="training needs torch")
pytest.importorskip("accelerate", reason="training needs accelerate")

from isogloss.training import processes  # noqa: E402
from isogloss.training.inference import mean_loss  # noqa: E402
from isogloss.training.recipes import Recipe  # noqa: E402
from training.toy import Words, bag  # noqa: E402

RECIPE = Recipe(name="test", learning_rate=1e-3, epochs=7, batch=10)


@pytest.mark.parametrize("changes", [{}, {"batch": 64}, {"steps": 3}, {"tokens": 100}])
def test_every_item_counts_once_without_dropout(changes):
    model, words = bag(dropout=0.5).train(), Words()
    found = mean_loss(model, words, replace(RECIPE, **changes))
    assert model.training
    model.eval()
    everything = words.batch(torch.arange(64).numpy(), 32, 64)
    with torch.no_grad():
        loss = words.loss(model, {name: torch.from_numpy(array) for name, array in everything.items()})
    assert found == pytest.approx(float(loss) / 64, rel=1e-5)


def test_alone_does_not_affect_other_threads(monkeypatch):
    from threading import Thread

    monkeypatch.setitem(os.environ, "WORLD_SIZE", "2")
    monkeypatch.setitem(os.environ, "RANK", "1")
    seen = []
    with processes.alone():
        assert (processes.world(), processes.rank()) == (1, 0)
        thread = Thread(target=lambda: seen.append((processes.world(), processes.rank())))
        thread.start()
        thread.join()
    assert seen == [(2, 1)]
    assert (processes.world(), processes.rank()) == (2, 1)
