"""Retrieval accuracy of each layer of an untuned encoder, in one pass."""

import os
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from isogloss.metrics.search import Matrix, nearest
from isogloss.systems.base import SystemFailureError
from isogloss.systems.embedder.encoders import TransformersEncoder, open_encoder
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
    """Return every layer's accuracy at finding translations, by language; index 0 is the first layer.

    Args:
        model: transformers folder or hub name.
        languages: two-letter codes; default: all languages of the task.
        task: retrieval task with one correct candidate per query.
        data: data folder; default: ISOGLOSS_DATA or the user's cache folder.

    Raises:
        SystemFailureError: the model has no layers to choose from, or the task has another kind.
    """
    retrieval = find_task(task)
    if kind_of(retrieval).form != "ranking" or kind_of(retrieval).shared_pool:
        fix = "Use a task with one translation per sentence, such as tatoeba"
        raise SystemFailureError(f"{task} has several correct answers", where="accuracy_by_layer", fix=fix)
    encoder = open_encoder(model)
    if not isinstance(encoder, TransformersEncoder):
        raise SystemFailureError("the model has its own pooling, so there are no layers to compare", where=model)
    accuracies = {}
    for language in languages or retrieval.languages:
        examples = load_gold(retrieval, language, "test", data)
        sides = zip(_layers(encoder, examples["text"]), _layers(encoder, pool_of(examples).text), strict=True)
        ids, targets = pool_of(examples).ids, examples["targets"]
        best = ([ids[row] for row in nearest(queries, candidates)] for queries, candidates in sides)
        hits = [[answer in gold for answer, gold in zip(answers, targets, strict=True)] for answers in best]
        accuracies[language] = np.mean(hits, axis=1)
    return accuracies


def _layers(encoder: TransformersEncoder, texts: Sequence[str]) -> Iterator[Matrix]:
    """Return the vectors of texts in each layer, in order."""
    order = np.argsort([len(text) for text in texts], kind="stable")
    batches = [order[start : start + encoder.batch] for start in range(0, len(order), encoder.batch)]
    parts = [encoder.encode_layers([texts[row] for row in batch.tolist()]) for batch in batches]
    back = np.argsort(order)
    return (np.concatenate([part[layer] for part in parts])[back] for layer in range(encoder.layers))
