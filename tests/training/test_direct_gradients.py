"""Gradients written directly by linear layers equal those of autograd."""

import pytest

torch = pytest.importorskip("torch", reason="training needs torch")

from torch import nn  # noqa: E402

from isogloss.training.optimizer import AdamW, DirectGradients  # noqa: E402
from isogloss.training.recipes import Recipe  # noqa: E402

RECIPE = Recipe(name="toy", learning_rate=0.1, schedule="constant")


class Layers(nn.Module):
    """Linear layers of all kinds: with and without bias, used twice, tied to an embedding, or unused."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 6)
        self.plain = nn.Linear(6, 6)
        self.twice = nn.Linear(6, 6)
        self.bare = nn.Linear(6, 6, bias=False)
        self.unused = nn.Linear(6, 2)
        self.norm = nn.LayerNorm(6)

    def forward(self, tokens):
        states = self.embedding(tokens)
        states = self.norm(self.twice(self.plain(states).tanh()))
        self.unused(states)  # without a backward pass
        states = self.twice(self.bare(states).tanh())
        return nn.functional.linear(states, self.embedding.weight)  # tied, as in language models


def both(passes=1):
    """Return gradients by name: from autograd, and as collected by the optimizer."""
    torch.manual_seed(0)
    model, plain = Layers(), Layers()
    plain.load_state_dict(model.state_dict())
    found = AdamW(model, RECIPE, 3, torch.float32)
    found._direct = DirectGradients(found.parameters, found._gradient_views)
    found.gradients.fill_(7.0)  # stale values of an earlier pass
    for number in range(passes):
        tokens = torch.randint(0, 11, (3, 5), generator=torch.Generator().manual_seed(number))
        plain(tokens).square().sum().backward()
        with found.passes():
            model(tokens).square().sum().backward()
    directly = {id(parameter) for parameter in found.parameters if parameter.grad is None}
    found.collect()
    views = {id(each): view for each, view in zip(found.parameters, found._gradient_views, strict=True)}
    collected = {name: views[id(each)] for name, each in model.named_parameters()}
    expected = {
        name: torch.zeros_like(each) if each.grad is None else each.grad for name, each in plain.named_parameters()
    }
    return collected, expected, {name for name, each in model.named_parameters() if id(each) in directly}


@pytest.mark.parametrize("passes", [1, 3])
def test_gradients_match_autograd(passes):
    collected, expected, directly = both(passes)
    for name, gradient in expected.items():
        assert torch.allclose(collected[name], gradient, rtol=1e-5, atol=1e-5), name
    assert directly >= {"plain.weight", "plain.bias", "twice.weight", "bare.weight"}
    assert not expected["unused.weight"].any()
    assert "norm.weight" not in directly


def test_tensors_read_by_graphs_are_kept():
    direct = DirectGradients([], [])
    few = direct.ones(torch.zeros(3, 2))
    direct.ones(torch.zeros(50, 2))
    assert direct.ones(torch.zeros(3, 2)).data_ptr() == few.data_ptr()


def test_odd_sizes_keep_the_alignment_of_others():
    model = nn.ModuleList([nn.Linear(16, 3), nn.Linear(16, 16), nn.LayerNorm(16)])
    found = AdamW(model, RECIPE, 3, torch.bfloat16)
    odd = [parameter for parameter in found.parameters if parameter.data_ptr() % 16]
    assert not odd
    assert found.parameters[-1].shape == (3,)


def test_model_has_rounded_weights_after_every_update():
    model = nn.Linear(4, 4)
    found = AdamW(model, RECIPE, 3, torch.bfloat16)
    for _ in range(2):
        model(torch.ones(1, 4, dtype=torch.bfloat16)).square().sum().backward()
        found.collect()
        found.update()
        assert torch.equal(model.weight.detach(), found.weights[:16].view(4, 4).bfloat16())
