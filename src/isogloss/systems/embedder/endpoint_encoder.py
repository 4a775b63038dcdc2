"""Sentence encoders behind an OpenAI-compatible endpoint, recognised by the vectors of a few texts."""

from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import numpy as np

from isogloss.data.files import atomic_write
from isogloss.endpoints.embeddings import embed_texts
from isogloss.endpoints.endpoint import Endpoint
from isogloss.errors import DataError
from isogloss.metrics.search import Matrix, normalize_rows
from isogloss.systems.base import SystemFailureError
from isogloss.systems.embedder.encoders import ENDPOINT, PROBES, SentenceEncoder, identity_of, valid_texts

# Texts per call: as many as the embedder stores at once. The client divides them into requests.
_TEXTS = 1024
# Distance of two unit vectors of one text up to which they are of the same model, a cosine of 0.9995. Servers repeat a
# vector to 0.9999 or better; those of other weights are further apart.
_SAME = 0.0316
_RECORDS = "endpoints"


class EndpointEncoder(SentenceEncoder):
    """A model behind an endpoint, which is told apart from others of its name by the vectors of three texts.

    Servers do not repeat a vector to the last bit, so that a hash of it would change with every run. The vectors of
    every model seen so far are kept in the cache: a model that returns nearly the same ones has the same identity.
    The hash of a new model is of rounded similarities, which another machine computes too.

    Raises:
        EndpointError: the server has no such model, or does not answer.
    """

    library = "OpenAI-compatible endpoint"
    batch = _TEXTS

    def __init__(self, model: str, endpoint: Endpoint, cache: Path) -> None:
        if not model:
            raise SystemFailureError("no model", where=ENDPOINT, fix=f"Name it after the colon: {ENDPOINT}bge-m3")
        self.model, self._endpoint = model, endpoint
        probes = normalize_rows(self.encode(PROBES))
        self.dimension = probes.shape[1]
        self.identity = recognised(cache / _RECORDS, model, probes)

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return the vectors that the endpoint returns."""
        return embed_texts(self._endpoint, self.model, valid_texts(texts), on_tokens=self._count)

    def _count(self, tokens: int) -> None:
        self.tokens += tokens


def recognised(records: Path, model: str, probes: Matrix) -> str:
    """Return the identity of a model by the unit vectors of its probes, and keep those of a new one."""
    folder = records / identity_of([model])
    known = {
        path.stem: vectors for path in sorted(folder.glob("*.npy")) if (vectors := _read(path, probes)) is not None
    }
    for identity, vectors in known.items():
        if (np.linalg.norm(vectors - probes, axis=1) <= _SAME).all():
            return identity
    # Three coarse numbers: noise changes them rarely, other weights nearly always.
    cosines = (probes @ probes.T)[np.triu_indices(len(probes), 1)].tolist()
    facts = [model, str(probes.shape[1]), *(str(round(100 * cosine)) for cosine in cosines)]
    identity = identity_of(facts)
    if identity in known:
        identity = identity_of([*facts, sha256(probes.tobytes()).hexdigest()])
    # If nothing can be written there, the embedder says so when it stores vectors.
    with suppress(DataError), atomic_write(folder / f"{identity}.npy") as stream:
        np.save(stream.buffer, probes, allow_pickle=False)
    return identity


def _read(path: Path, probes: Matrix) -> Matrix | None:
    """Return the vectors of a record, None if it is damaged or has another shape than the probes."""
    try:
        vectors: Matrix = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    return vectors if vectors.shape == probes.shape and vectors.dtype.kind == "f" else None
