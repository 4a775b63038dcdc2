"""Attention over rows of different lengths, without a mask.

transformers masks padding with a (rows, width, width) array, which rules out flash attention; and without a CUDA graph
it first reads from the device whether a batch has any padding, so that the host waits for the batch before. Here rows
are cut in two, tokens and padding, and both parts attend to themselves only: flash attention takes the parts' bounds.
The states of tokens are those of masked attention; those of padding differ, and must not be used. Short rows are masked
all the same: a part costs as much as 128 tokens.
"""

from typing import Any

import torch
from torch import Tensor, nn

_NAME = "isogloss_rows"
# Models in which every token attends to all tokens of its row, in every layer.
_FULL_ATTENTION = ("bert", "roberta", "xlm-roberta", "camembert")
_HALF = (torch.bfloat16, torch.float16)
# Up to this width a mask is faster, measured on an H200.
_SHORT = 192


def use_row_attention(model: nn.Module, device: torch.device) -> None:
    """Let a transformers model on CUDA attend without masks, if its tokens attend to whole rows in every layer."""
    config: Any = getattr(model, "config", None)
    whole_rows = getattr(config, "model_type", "") in _FULL_ATTENTION and not getattr(config, "is_decoder", False)
    if device.type == "cuda" and whole_rows:
        switch_attention(model)


def switch_attention(model: nn.Module) -> None:
    """Let a transformers model, or the encoder of a `PooledEncoder`, attend without masks, on any device."""
    from transformers import AttentionInterface, AttentionMaskInterface

    AttentionInterface.register(_NAME, _attend)
    AttentionMaskInterface.register(_NAME, row_bounds)
    (model if hasattr(model, "set_attn_implementation") else model.encoder).set_attn_implementation(_NAME)


def row_bounds(batch_size: int, kv_length: int, attention_mask: Tensor | None = None, **settings: Any) -> Tensor | None:
    """Return where the tokens and the padding of every row begin in all positions, and the end: (2 rows + 1).

    For short rows, return the mask of tokens: (rows, 1, 1, width), or None if there is no padding.
    """
    if kv_length <= _SHORT:
        return None if attention_mask is None else attention_mask.bool()[:, None, None]
    device = settings.get("device") if attention_mask is None else attention_mask.device
    starts = torch.arange(batch_size, device=device) * kv_length
    lengths = torch.full_like(starts, kv_length) if attention_mask is None else attention_mask.sum(dim=-1)
    bounds = torch.stack([starts, starts + lengths], dim=1).flatten()
    return nn.functional.pad(bounds, (0, 1), value=batch_size * kv_length).to(torch.int32)


def _attend(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    **_: Any,
) -> tuple[Tensor, None]:
    """Return the attended values of (rows, heads, width, units) as (rows, width, heads, units)."""
    rows, heads, width, units = query.shape
    bounds = attention_mask if attention_mask is not None and attention_mask.dim() == 1 else None
    in_parts = query.is_cuda and query.dtype in _HALF and torch.backends.cuda.is_flash_attention_available()
    if bounds is None or not in_parts:
        mask = attention_mask if bounds is None else _same_part(bounds, width)
        states = nn.functional.scaled_dot_product_attention(query, key, value, mask, dropout_p=dropout, scale=scaling)
        return states.transpose(1, 2), None
    flat = (states.transpose(1, 2).reshape(rows * width, heads, units) for states in (query, key, value))
    attended: Tensor = torch.ops.aten._flash_attention_forward(
        *flat, bounds, bounds, width, width, dropout, False, False, scale=scaling
    )[0]
    return attended.view(rows, width, heads, units), None


def _same_part(bounds: Tensor, width: int) -> Tensor:
    """Return the mask (rows, 1, width, width) of positions in the same part of a row."""
    starts, ends = bounds[:-1].view(-1, 2).unbind(1)
    tokens = torch.arange(width, device=bounds.device) < (ends - starts)[:, None]
    return (tokens[:, :, None] == tokens[:, None, :])[:, None]
