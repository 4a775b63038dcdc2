"""Attention within the parts of a row, compared with masked attention."""

import pytest

torch = pytest.importorskip("torch", reason="training needs torch")
transformers = pytest.importorskip("transformers", reason="it comes with isogloss[train]")

from isogloss.systems.neural.modules import PooledEncoder  # noqa: E402
from isogloss.training import attention  # noqa: E402
from isogloss.training.attention import row_bounds, switch_attention, use_row_attention  # noqa: E402

SIZES = {"vocab_size": 50, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
SIZES |= {"attention_probs_dropout_prob": 0.0, "hidden_dropout_prob": 0.0}
MORE = {"bert": {}, "xlm-roberta": {"max_position_embeddings": 20, "pad_token_id": 1}}


def config(kind):
    return transformers.AutoConfig.for_model(kind, **SIZES, **MORE[kind])


def batch():
    tokens = torch.randint(5, 50, (4, 9), generator=torch.Generator().manual_seed(1))
    mask = (torch.arange(9) < torch.tensor([9, 4, 1, 8])[:, None]).long()
    return {"input_ids": torch.where(mask.bool(), tokens, 1), "attention_mask": mask}


@pytest.fixture(params=["parts", "mask"])
def kind(request, monkeypatch):
    """Treat the rows of the tests as long ones, cut in parts, or as short ones, masked."""
    monkeypatch.setattr(attention, "_SHORT", 0 if request.param == "parts" else 192)
    return request.param


def test_short_rows_are_masked():
    mask = torch.tensor([[1, 1, 0], [1, 1, 1]])
    assert row_bounds(batch_size=2, kv_length=3, attention_mask=mask).tolist() == [
        [[[True, True, False]]],
        [[[True, True, True]]],
    ]
    assert row_bounds(batch_size=2, kv_length=3) is None


@pytest.mark.parametrize("kind", ["parts"], indirect=True)
def test_bounds_by_hand(kind):
    mask = torch.tensor([[1, 1, 0], [1, 1, 1], [1, 0, 0]])
    assert row_bounds(batch_size=3, kv_length=3, attention_mask=mask).tolist() == [0, 2, 3, 6, 6, 7, 9]
    assert row_bounds(batch_size=2, kv_length=3).tolist() == [0, 3, 3, 6, 6]
    assert row_bounds(batch_size=2, kv_length=3).dtype == torch.int32


@pytest.mark.parametrize("model_type", MORE)
def test_tokens_get_the_same_states_and_gradients(model_type, kind):
    """Also from rows of another width: padding has no influence."""
    torch.manual_seed(0)
    model = transformers.AutoModelForQuestionAnswering.from_config(config(model_type)).train()
    given, found = batch(), []
    tokens = given["attention_mask"].bool()
    for switched in (False, True):
        if switched:
            switch_attention(model)
        model.zero_grad()
        output = model(**given)
        logits = torch.stack([output.start_logits, output.end_logits])[:, tokens]
        logits.square().sum().backward()
        found.append([logits.detach(), *(parameter.grad.clone() for parameter in model.parameters())])
    for ours, theirs in zip(*reversed(found), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-6)
    alone = {name: array[1:2, :4] for name, array in given.items()}
    torch.testing.assert_close(model(**alone).start_logits[0], model(**given).start_logits[1, :4])


def test_only_models_with_full_attention_on_cuda_are_switched():
    model = PooledEncoder(transformers.AutoModel.from_config(config("bert")), "mean")
    use_row_attention(model, torch.device("cpu"))
    assert model.config._attn_implementation == "sdpa"
    use_row_attention(model, torch.device("cuda"))
    assert model.config._attn_implementation == "isogloss_rows"
    vectors = model(batch()["input_ids"], torch.tensor([9, 4, 1, 8]))
    assert vectors.norm(dim=1).tolist() == pytest.approx([1.0] * 4, abs=1e-5)
    causal = transformers.AutoModel.from_config(transformers.BertConfig(**SIZES, is_decoder=True))
    other = torch.nn.Linear(2, 2)
    for unsuitable in (causal, other):
        use_row_attention(unsuitable, torch.device("cuda"))
    assert causal.config._attn_implementation == "sdpa"
