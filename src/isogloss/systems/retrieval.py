"""Shared parts of retrieval systems: layer selection, mean pooling, and ranking by vectors."""

import sys
from typing import TYPE_CHECKING

from isogloss.escaping import printable
from isogloss.systems.base import SystemFailureError
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import Vectors, kind_of
from isogloss.tasks.task import Task

if TYPE_CHECKING:
    from torch import Tensor

XTREME = "xtreme"

# By number of layers. XTREME's scripts count the last 12 layers (24 of XLM-R Large) from 0, and use 7 (13).
_BASELINE_LAYERS = {12: 8, 16: 12, 24: 14}
# Ratio margin from which CCMatrix (Schwenk et al., 2021) accepts two sentences as translations.
_USUAL_MARGIN = 1.06


def layer_number(layer: str, layers: int, where: str) -> int:
    """Return a layer's number: its index in transformers' `hidden_states`, which start with the embeddings.

    A layer is a number from 1, `last` or "" for the last, or `xtreme` for the layer of XTREME's baselines: the 8th of
    12, the 12th of 16, the 14th of 24, and two thirds up in any other depth.
    """
    if layer in ("", "last"):
        return layers
    if layer == XTREME:
        return _BASELINE_LAYERS.get(layers) or max(1, round(layers * 2 / 3))
    if layer.isdecimal() and 1 <= int(layer) <= layers:
        return int(layer)
    raise SystemFailureError(f"no layer {layer!r}", where=where, fix=f"Use 1 to {layers}, last or {XTREME}")


def token_mean(states: "Tensor", mask: "Tensor") -> "Tensor":
    """Return the mean of a layer's states (texts, tokens, units) over a text's tokens, special ones too, in float32."""
    if states.shape[:2] != mask.shape:  # CANINE's inner layers
        what = f"the layer has {states.shape[1]} states for {mask.shape[1]} tokens"
        raise SystemFailureError(what, fix="Choose another layer, or another model")
    return (states.float() * mask[..., None]).sum(dim=1) / mask.sum(dim=1, keepdim=True).clamp(min=1)


def retrieval_refusal(name: str, task: Task) -> str:
    """Return why a system that only produces text vectors cannot do a task, or ""."""
    return "" if kind_of(task).retrieval else f"{name} supports only retrieval, but {task.id} is {task.kind}"


def rank_by_vectors(task: Task, examples: Examples, vectors: Vectors, *, quiet: bool = False) -> list[list[str]]:
    """Return ranked candidate ids per query, or the id of the translation, if any; print remarks unless `quiet`."""
    before = len(examples.notes)
    answers = list(kind_of(task).answers_from_vectors(task, examples, vectors, margin=_USUAL_MARGIN))
    for note in () if quiet else examples.notes[before:]:
        sys.stderr.write(f"{printable(f'{examples.task}/{examples.language}: {note}')}\n")
    return answers
