"""On CUDA: a captured step is the eager one, dropout included, and a resumed run repeats it."""

import pytest

torch = pytest.importorskip("torch", reason="training needs torch")
pytest.importorskip("accelerate", reason="training needs accelerate")
if not torch.cuda.is_available():
    pytest.skip("CUDA graphs need a CUDA device", allow_module_level=True)

from dataclasses import replace  # noqa: E402

from isogloss.training import loop  # noqa: E402
from isogloss.training.recipes import Recipe  # noqa: E402
from isogloss.training.steps import Steps  # noqa: E402
from training.toy import Words, bag  # noqa: E402

RECIPE = Recipe("toy", 1e-2, epochs=20, batch=16, checkpoints=25)


def curve(monkeypatch, graphs, **changes):
    made = Steps.__init__

    def chosen(self, *arguments, **settings):
        made(self, *arguments, **{**settings, "graphs": graphs})

    with monkeypatch.context() as patched:
        patched.setattr(Steps, "__init__", chosen)
        return loop.train(bag(7), Words(), replace(RECIPE, **changes), seed=7)


@pytest.mark.parametrize("micro", [0, 4])
def test_a_captured_run_has_the_curve_of_an_eager_one(monkeypatch, micro):
    captured, eager = (curve(monkeypatch, graphs, micro=micro) for graphs in (True, False))
    assert not captured.eager_because
    assert captured.losses == pytest.approx(eager.losses, abs=2e-3)


def test_resumed_it_ends_with_the_same_curve(tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "STATE_EVERY", 0)
    whole = loop.train(bag(7), Words(), RECIPE, seed=7)

    class Killed(Exception):  # noqa: N818
        pass

    def stop(moment, model):
        if moment.step > 40:
            raise Killed
        return False

    state = tmp_path / "state.pt"
    with pytest.raises(Killed):
        loop.train(bag(7), Words(), RECIPE, seed=7, state=state, watch=stop)
    again = loop.train(bag(99), Words(), RECIPE, seed=7, state=state)
    assert again.losses == pytest.approx(whole.losses, abs=2e-3)
