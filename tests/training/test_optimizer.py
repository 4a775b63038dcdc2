"""The optimizer, tested separately."""

import pytest

torch = pytest.importorskip("torch", reason="training needs torch")

from isogloss.training import optimizer  # noqa: E402
from isogloss.training.optimizer import AdamW  # noqa: E402
from isogloss.training.recipes import Recipe  # noqa: E402

RECIPE = Recipe(name="toy", learning_rate=0.1, schedule="constant")


def test_unused_parameters_have_no_stale_gradient():
    model = torch.nn.ParameterDict({"always": torch.ones(2, 2), "once": torch.ones(2, 2)})
    found = AdamW(model, RECIPE, 3, torch.float32)
    for used in (("always", "once"), ("always",)):
        sum(model[name].sum() for name in used).backward()
        found.collect()
        gradients = dict(zip(model, found.gradients.view(2, 2, 2), strict=True))
        assert gradients["once"].eq("once" in used).all()
        found.update()


@pytest.mark.slow
def test_compiles_for_any_number_of_models(monkeypatch):
    """Dynamo compiles one code object for at most eight sizes; this test uses more."""
    compiled = torch.compile
    monkeypatch.setattr(torch, "compile", lambda *args, **settings: compiled(*args, **settings, backend="eager"))
    optimizer.compiled_for.cache_clear()
    for labels in range(1, torch._dynamo.config.recompile_limit + 3):
        model = torch.nn.Linear(4, labels)
        plain = torch.nn.Linear(4, labels)
        plain.load_state_dict(model.state_dict())
        reference = torch.optim.AdamW(plain.parameters(), 0.1, weight_decay=0.0)
        found = AdamW(model, Recipe(name="toy", learning_rate=0.1, schedule="constant", clip=0), 3, torch.float32)
        monkeypatch.setattr(found, "compiled", True)
        for _ in range(2):
            for each in (model, plain):
                each(torch.ones(1, 4)).square().sum().backward()
            found.collect()
            found.update()
            reference.step()
            reference.zero_grad()
        assert torch.allclose(model.weight, plain.weight, atol=1e-4)
    optimizer.compiled_for.cache_clear()


def test_fp16_losses_are_scaled_as_by_torch():
    """The factor follows GradScaler's rule, and scaled gradients give the update of unscaled ones."""
    generator = torch.Generator().manual_seed(0)
    model, theirs = torch.nn.Linear(4, 3), torch.nn.Linear(4, 3)
    theirs.load_state_dict(model.state_dict())
    recipe = Recipe(name="toy", learning_rate=1e-2, schedule="constant")
    ours = AdamW(model, recipe, 12, torch.float16, accumulate=True)
    exact = AdamW(theirs, recipe, 12, torch.float32, accumulate=True)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**16)
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.0)
    for step in range(12):
        gradient = torch.randn(ours.gradients.shape, generator=generator)
        ours.gradients.copy_(gradient * ours.loss_scale)
        exact.gradients.copy_(gradient)
        overflows = step in (0, 1, 5)
        if overflows:
            ours.gradients[0] = float("inf")
            exact.gradients[0] = float("nan")
        ours.update()
        exact.update()
        [own] = optimizer.param_groups[0]["params"]
        own.grad = torch.full((1,), float("inf") if overflows else 1.0)
        scaler.scale(torch.ones(()))
        scaler.step(optimizer)
        scaler.update()
        assert float(ours.loss_scale) == scaler.get_scale()
    assert float(ours.loss_scale) == 2.0**13
    assert int(ours.finite_updates) == 6
    assert (int(ours.done), int(ours.step_number)) == (9, 12)
    assert torch.allclose(ours.weights, exact.weights, rtol=1e-6)
