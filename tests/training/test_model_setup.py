"""Model setup: precision."""

import pytest

torch = pytest.importorskip("torch", reason="training needs torch")

from isogloss.training.errors import TrainingError  # noqa: E402
from isogloss.training.model_setup import cast, precision_of  # noqa: E402

CPU = torch.device("cpu")


def test_auto_is_float32_on_cpu():
    assert precision_of("auto", CPU) == precision_of("fp32", CPU) == torch.float32
    assert precision_of("bf16", CPU) == torch.bfloat16
    assert precision_of("fp16", CPU) == torch.float16
    with pytest.raises(TrainingError, match="unknown precision 'fp8'"):
        precision_of("fp8", CPU)


@pytest.mark.parametrize(("native", "decoder", "chosen"), [(True, True, "bfloat16"), (False, False, "float16")])
def test_auto_on_cuda(monkeypatch, native, decoder, chosen):
    """Cards without bf16 get fp16, except for models with a decoder, which overflow."""
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda **_: native)
    cuda = torch.device("cuda", 0)
    assert precision_of("auto", cuda, decoder=decoder) == getattr(torch, chosen)
    assert native or precision_of("auto", cuda, decoder=True) == torch.float32


def test_rotary_frequencies_stay_exact():
    transformers = pytest.importorskip("transformers", reason="it comes with isogloss[train]")
    config = transformers.ModernBertConfig(
        vocab_size=20, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32, pad_token_id=0
    )
    torch.manual_seed(0)
    model = transformers.ModernBertModel(config).eval()
    tokens = torch.arange(1, 17)[None]
    exact = model(tokens).last_hidden_state
    before = {name: buffer.clone() for name, buffer in model.named_buffers() if buffer.is_floating_point()}
    assert before
    cast(model, torch.bfloat16)
    assert {parameter.dtype for parameter in model.parameters()} == {torch.bfloat16}
    after = dict(model.named_buffers())
    assert all(after[name].dtype == torch.float32 and after[name].equal(buffer) for name, buffer in before.items())
    assert torch.allclose(model(tokens).last_hidden_state.float(), exact, atol=0.1)
