"""How well each layer of an untuned encoder retrieves: all of them in one pass."""

import os
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from isogloss.metrics.search import Matrix, nearest
from isogloss.systems.base import SystemFailureError
from isogloss.systems.embedder.encoders import TransformersEncoder, open_encoder
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.kinds.retrieval import pool_of
from isogloss.tasks.loading import load_gold
from isogloss.tasks.registry import task as find_task


def accuracy_by_layer(
    model: str,
    languages: Sequence[str] | None = None,
    *,
    task: str = "tatoeba",
    data: str | os.PathLike[str] | None = None,
) -> dict[str, npt.NDArray[np.float64]]:
    """The accuracy of every layer's mean at finding translations, by language; place 0 is the first layer.

    Args:
        model: a transformers folder or hub name.
        languages: two-letter codes; default all of the task.
        task: a retrieval task with one right candidate for every query.
        data: the data folder; default ISOGLOSS_DATA or the user's cache folder.

    Raises:
        SystemFailureError: the model has no layers to choose from, or the task is of another kind.
    """
    found = find_task(task)
    if kind_of(found).form != "ranking" or kind_of(found).shared_pool:
        fix = "Give a task with one translation for every sentence, such as tatoeba"
        raise SystemFailureError(f"{task} has no one right answer", where="accuracy_by_layer", fix=fix)
    encoder = open_encoder(model)
    if not isinstance(encoder, TransformersEncoder):
        raise SystemFailureError("it has a pooling of its own, and no layers to compare", where=model)
    accuracies = {}
    for language in languages or found.languages:
        examples = load_gold(found, language, "test", data)
        sides = zip(_layers(encoder, examples["text"]), _layers(encoder, pool_of(examples).text), strict=True)
        accuracies[language] = np.array([_accuracy(examples, *side) for side in sides])
    return accuracies


def _layers(encoder: TransformersEncoder, texts: Sequence[str]) -> Iterator[Matrix]:
    """The vectors of texts in each layer, in order."""
    order = np.argsort([len(text) for text in texts], kind="stable")
    batches = [order[start : start + encoder.batch] for start in range(0, len(order), encoder.batch)]
    parts = [encoder.encode_layers([texts[row] for row in batch.tolist()]) for batch in batches]
    back = np.argsort(order)
    return (np.concatenate([part[layer] for part in parts])[back] for layer in range(encoder.layers))


def _accuracy(examples: Examples, queries: Matrix, candidates: Matrix) -> float:
    """The share of queries whose nearest candidate is their translation."""
    ids = pool_of(examples).ids
    hits = [ids[row] in gold for row, gold in zip(nearest(queries, candidates), examples["targets"], strict=True)]
    return float(np.mean(hits))
