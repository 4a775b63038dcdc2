"""Training speed relative to the device's peak."""

import pytest

torch = pytest.importorskip("torch", reason="training needs torch")
transformers = pytest.importorskip("transformers", reason="the models are transformers' own")

from isogloss.training.throughput import ceiling, flops_per_token  # noqa: E402

# Of one layer of width 8 with 32 inside: queries, keys, values, outputs, and two products to and from 32.
LAYER = 4 * 8 * 8 + 2 * 8 * 32


def test_flops_count_all_encoder_weights_except_embeddings():
    config = transformers.BertConfig(
        vocab_size=100, hidden_size=8, num_hidden_layers=3, num_attention_heads=2, intermediate_size=32
    )
    model = transformers.BertModel(config, add_pooling_layer=False)
    forward = 2 * 3 * LAYER + 4 * 3 * 8 * 10
    assert flops_per_token(model, 10, training=False) == forward
    assert flops_per_token(model, 10) == 3 * forward


def test_flops_exclude_the_decoder():
    config = transformers.T5Config(
        vocab_size=100, d_model=8, d_kv=4, num_heads=2, d_ff=32, num_layers=3, num_decoder_layers=5
    )
    model = transformers.T5ForConditionalGeneration(config)
    assert flops_per_token(model, 10, training=False) == 2 * 3 * LAYER + 4 * 3 * 8 * 10


def test_measuring_does_not_change_random_state():
    ceiling.cache_clear()
    torch.manual_seed(0)
    before = torch.get_rng_state()
    found = ceiling(torch.device("cpu"), torch.float32)
    assert found > 1e6
    assert torch.get_rng_state().equal(before)
    assert ceiling(torch.device("cpu"), torch.float32) == found
