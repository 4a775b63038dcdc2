"""Adafactor compared with transformers', and the behaviour common to all optimizers."""

import copy
import math

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs torch")
transformers = pytest.importorskip("transformers", reason="training needs transformers")
pytest.importorskip("accelerate", reason="training needs accelerate")

from transformers.optimization import Adafactor as Reference  # noqa: E402

from isogloss.training import loop, optimizer  # noqa: E402
from isogloss.training.optimizer import Adafactor, AdamW, Optimizer  # noqa: E402
from isogloss.training.recipes import Recipe  # noqa: E402
from training.toy import Words, bag  # noqa: E402

STEPS = 200
RECIPE = Recipe(name="toy", learning_rate=1e-3, optimizer="adafactor", schedule="constant", clip=0.0, dropout=0.0)


class Shapes(torch.nn.Module):
    """Parameters of all shapes: tied, unused, zero, a scalar, and with three dimensions."""

    def __init__(self):
        super().__init__()
        generator = torch.Generator().manual_seed(3)
        shapes = {
            "table": (40, 6),
            "first": (6, 10),
            "second": (6, 10),
            "wide": (3, 50),
            "row": (1, 7),
            "deep": (2, 4, 5),
            "bias": (10,),
            "norm": (10,),
            "number": (),
        }
        for name, shape in shapes.items():
            scale = {"wide": 30.0, "bias": 0.0}.get(name, 0.5)
            self.register_parameter(name, torch.nn.Parameter(torch.randn(shape, generator=generator) * scale))
        self.tied = self.table
        self.unused = torch.nn.Parameter(torch.ones(4, 4))

    def backward(self, step):
        """Gradients of very different sizes, different in every update; some rows of the table have none."""
        generator = torch.Generator().manual_seed(step)
        loss = torch.zeros(())
        for number, parameter in enumerate(self.used):
            target = torch.randn(parameter.shape, generator=generator) * 10.0 ** (number - 4)
            if parameter is self.table:
                target[step % 40 :] = 0.0
            loss = loss + (parameter * target).sum() + (parameter[:1] if parameter.ndim else parameter).square().sum()
        (loss + self.tied[:2].square().sum()).backward()

    @property
    def used(self):
        return [parameter for parameter in self.parameters() if parameter is not self.unused]


def reference(model, rate=1e-3):
    return Reference(model.parameters(), lr=rate, scale_parameter=True, relative_step=False, warmup_init=False)


def apart(left, right):
    """Return the largest difference between two models' parameters, as a share of each parameter's size."""
    with torch.no_grad():
        pairs = zip(left.parameters(), right.parameters(), strict=True)
        return max(float((a - b).norm() / b.norm().clamp(min=1e-3)) for a, b in pairs)


def learn(model, found, steps):
    for step in steps:
        model.backward(step)
        found.collect()
        found.update()


def test_matches_transformers_over_many_updates():
    model, plain = Shapes(), Shapes()
    found, theirs = Adafactor(model, RECIPE, STEPS, torch.float32), reference(plain)
    for step in range(STEPS):
        learn(model, found, [step])
        plain.backward(step)
        theirs.step()
        theirs.zero_grad()
        assert apart(model, plain) < 1e-6, step
    assert apart(model, Shapes()) > 0.05
    assert torch.equal(model.unused, torch.ones(4, 4))


@pytest.mark.parametrize("micro", [0, 5])
def test_whole_run_matches_transformers(micro):
    """Warm-up, linear decay, gradient clipping and several passes work as for any optimizer."""
    settings = {"epochs": 10, "batch": 16, "warmup": 3, "dropout": 0.0, "clip": 0.5, "micro": micro}
    recipe = Recipe(name="toy", learning_rate=1e-2, optimizer="adafactor", **settings)
    model, plain, words = bag(), bag(dropout=0.0), Words()
    trained = loop.train(model, words, recipe, seed=5)
    theirs, losses = reference(plain), []
    for step, batches in enumerate(loop.BatchSchedule(lengths=words.lengths, rows=1, recipe=recipe, seed=5).updates()):
        theirs.param_groups[0]["lr"] = 1e-2 * min(step / 3, (40 - step) / 37)
        items = np.concatenate([batch.items for batch in batches])
        arrays = {name: torch.from_numpy(array) for name, array in words.batch(items, 32, 16).items()}
        loss = words.loss(plain, arrays) / len(items)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(plain.parameters(), 0.5)
        theirs.step()
        theirs.zero_grad()
        losses.append(loss.item())
    assert np.allclose(trained.losses, losses, atol=2e-6)
    assert apart(model, plain) < 5e-6


def test_large_shapes_are_updated_one_by_one(monkeypatch):
    together, alone = Shapes(), Shapes()
    whole = Adafactor(together, RECIPE, 20, torch.float32)
    monkeypatch.setattr(optimizer, "_AT_ONCE", 1)
    parts = Adafactor(alone, RECIPE, 20, torch.float32)
    assert len(parts.stacks) == len(parts.parameters) > len(whole.stacks)
    learn(together, whole, range(20))
    learn(alone, parts, range(20))
    assert apart(together, alone) < 1e-6


def test_compiled_update_is_identical(monkeypatch):
    compiled = torch.compile
    monkeypatch.setattr(torch, "compile", lambda *args, **settings: compiled(*args, **settings, backend="eager"))
    optimizer.compiled_for.cache_clear()
    model, plain = Shapes(), Shapes()
    found, eager = (Adafactor(each, RECIPE, 5, torch.float32) for each in (model, plain))
    found.compiled = True
    learn(model, found, range(5))
    learn(plain, eager, range(5))
    assert apart(model, plain) == 0
    optimizer.compiled_for.cache_clear()


def test_matrix_state_is_a_row_and_a_column():
    model = torch.nn.Linear(300, 200)
    sizes = {
        kind: sum(
            array.numel()
            for array in kind(model, Recipe(name="toy", learning_rate=1e-3), 1, torch.float32).state().values()
        )
        for kind in (AdamW, Adafactor)
    }
    weights, counts = 300 * 200 + 200, 2
    assert sizes == {AdamW: 3 * weights + counts, Adafactor: weights + (300 + 200) + 200 + counts}


def test_restored_state_continues_bit_identically():
    whole, first = Shapes(), Shapes()
    learn(whole, Adafactor(whole, RECIPE, 30, torch.float32), range(30))
    killed = Adafactor(first, RECIPE, 30, torch.float32)
    learn(first, killed, range(11))
    state = copy.deepcopy(killed.state())
    second = Shapes()
    with torch.no_grad():
        second.table.zero_()
    resumed = Adafactor(second, RECIPE, 30, torch.float32)
    resumed.restore(state)
    learn(second, resumed, range(11, 30))
    assert apart(second, whole) == 0


@pytest.mark.parametrize("kind", [AdamW, Adafactor])
@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize("before", [0, 3])
def test_non_finite_gradient_changes_nothing(kind, value, before):
    model = Shapes()
    found: Optimizer = kind(model, Recipe(name="toy", learning_rate=1e-3), 10, torch.float32)
    learn(model, found, range(before))
    kept = copy.deepcopy({**found.state(), "parameters": list(model.parameters())})
    model.backward(7)
    model.first.grad[2, 3] = value
    found.collect()
    found.update()
    assert int(found.step_number) == before + 1
    assert float(found.done) == before
    assert all(torch.equal(a, b) for a, b in zip(kept["parameters"], model.parameters(), strict=True))
    assert all(torch.equal(kept[name], found.state()[name]) for name in found.kept if name != "step_number")
    learn(model, found, [8])
    assert float(found.done) == before + 1
    assert all(parameter.isfinite().all() for parameter in model.parameters())


def test_rows_without_gradients_next_to_large_ones_are_unchanged():
    model = torch.nn.Linear(3, 4, bias=False)
    before = model.weight.detach().clone()
    found = Adafactor(model, RECIPE, 3, torch.float32)
    for _ in range(3):
        (model.weight[:2].sum() * 1e12).backward()
        found.collect()
        found.update()
    assert model.weight.isfinite().all()
    assert torch.equal(model.weight[2:], before[2:])
    assert (model.weight[:2] < before[:2]).all()


def test_bf16_model_keeps_exact_weights():
    exact, half = Shapes(), Shapes()
    found, theirs = Adafactor(half, RECIPE, 20, torch.bfloat16), reference(exact)
    half.bfloat16()
    for step in range(20):
        for each in (exact, half):
            generator = torch.Generator().manual_seed(step)
            for parameter in each.parameters():
                gradient = torch.randn(parameter.shape, generator=generator).bfloat16()
                parameter.grad = gradient.to(parameter.dtype)
        theirs.step()
        found.collect()
        found.update()
    found.hand_back(half)
    assert half.table.dtype == torch.float32
    assert apart(half, exact) < 2e-6
