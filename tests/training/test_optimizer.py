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
