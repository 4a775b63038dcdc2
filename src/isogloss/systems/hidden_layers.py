"""Hidden layers as sentence vectors: which one is meant, and its mean over the tokens, as in XTREME's baselines."""

from typing import TYPE_CHECKING

from isogloss.systems.base import SystemFailureError

if TYPE_CHECKING:
    from torch import Tensor

XTREME = "xtreme"

# By the number of layers. XTREME's scripts count the last 12 layers (24 of XLM-R Large) from 0, and say 7 (13).
_OF_BASELINES = {12: 8, 16: 12, 24: 14}


def layer_number(layer: str, layers: int, where: str) -> int:
    """The number of a layer, 1 for the first: its place in transformers' `hidden_states`, which begin with embeddings.

    Args:
        layer: the number, `last` or "" for the last, or `xtreme` for that of XTREME's baselines: the 8th of 12, the
            12th of 16, the 14th of 24, and two thirds up in any other depth.
        layers: how many the model has.
        where: what the model is called.

    Raises:
        SystemFailureError: no such layer.
    """
    if layer in ("", "last"):
        return layers
    if layer == XTREME:
        return _OF_BASELINES.get(layers) or max(1, round(layers * 2 / 3))
    if layer.isdecimal() and 1 <= int(layer) <= layers:
        return int(layer)
    raise SystemFailureError(f"no layer {layer!r}", where=where, fix=f"Give 1 to {layers}, last or {XTREME}")


def token_mean(states: "Tensor", mask: "Tensor") -> "Tensor":
    """The mean of hidden states (texts, tokens, units) over the tokens of each text, in float32.

    Args:
        states: of one layer.
        mask: (texts, tokens), where tokens are; special ones count, padding does not.

    Raises:
        SystemFailureError: the layer has not one state a token (CANINE's inner layers).
    """
    if states.shape[:2] != mask.shape:
        what = f"the layer has {states.shape[1]} states for {mask.shape[1]} tokens"
        raise SystemFailureError(what, fix="Choose another layer, or another model")
    return (states.float() * mask[..., None]).sum(dim=1) / mask.sum(dim=1, keepdim=True).clamp(min=1)
