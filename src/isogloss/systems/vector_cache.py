"""On-disk cache of vectors by (model, text), shared by any number of processes without locks.

Entries are immutable. Each `add` creates a shard of two uniquely named files, first the vectors and then the keys, both
renamed into place when complete; a shard counts once its keys exist. Readers therefore never see partial data, a
killed writer leaves at most an unused file, and two writers of the same text only waste a few bytes. Each vector has
a checksum: damage discards the shard and never gives a wrong result.
"""

from collections.abc import Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from secrets import token_hex
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt
from numpy.lib.format import open_memmap

from isogloss.data.files import atomic_write
from isogloss.data.location import cache_dir
from isogloss.metrics.search import Matrix
from isogloss.metrics.statistics import IntArray

# 128 bits per text, as two numbers: enough for 10^12 texts without an expected collision.
Keys = npt.NDArray[np.uint64]

_ENTRY = np.dtype([("key", "<u8", 2), ("check", "<u4")])
_KEYS, _VECTORS = ".keys.npy", ".vectors.npy"


def default_cache_dir() -> Path:
    """Return the `vectors` folder of the cache folder."""
    return cache_dir() / "vectors"


def text_keys(texts: Sequence[str]) -> Keys:
    """Return the keys of texts, (n, 2)."""
    packed = b"".join(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest() for text in texts)
    return np.frombuffer(packed, "<u8").reshape(-1, 2)


class VectorCache:
    """Cached vectors of one model, in their own folder; the first `add` creates it."""

    def __init__(self, folder: Path, dimension: int) -> None:
        self.folder = folder
        self.dimension = dimension
        self._shards: dict[str, tuple[npt.NDArray[Any], Matrix]] = {}
        self._index: tuple[Keys, IntArray] | None = None

    def find(self, keys: Keys) -> tuple[npt.NDArray[np.bool_], Matrix]:
        """Return a mask of the cached keys, and their vectors in order."""
        while True:
            self._refresh()
            locations = self._locations(keys)
            cached = locations[:, 0] >= 0
            vectors, damaged = self._read(locations[cached])
            if not damaged:
                return cached, vectors
            for name in damaged:
                self._discard(name)

    def add(self, keys: Keys, vectors: Matrix) -> None:
        """Store one vector per key."""
        whole = np.ascontiguousarray(vectors, np.float32)
        entries = np.empty(len(keys), _ENTRY)
        entries["key"] = keys
        entries["check"] = _checks(keys, whole)
        name = token_hex(8)
        for suffix, array in ((_VECTORS, whole), (_KEYS, entries)):
            with atomic_write(self.folder / f"{name}{suffix}") as stream:
                np.save(stream.buffer, array, allow_pickle=False)

    def _refresh(self) -> None:
        """Load the shards added since the last call."""
        names = {path.name.removesuffix(_KEYS) for path in self.folder.glob(f"*{_KEYS}")}
        for name in sorted(names - self._shards.keys()):
            try:
                entries = open_memmap(self.folder / f"{name}{_KEYS}", mode="r")
                vectors = open_memmap(self.folder / f"{name}{_VECTORS}", mode="r")
                shape = (*entries.shape, self.dimension)
                if entries.dtype != _ENTRY or entries.ndim != 1 or vectors.dtype != "f4" or vectors.shape != shape:
                    raise ValueError("not a shard of this cache")
            except OSError:
                continue  # temporarily unreadable; the content may be fine
            except Exception:  # numpy raises many types for a damaged header
                self._discard(name)
                continue
            self._shards[name] = np.array(entries), vectors
            self._index = None

    def _discard(self, name: str) -> None:
        """Remove a damaged shard; its texts will be encoded again."""
        self._shards.pop(name, None)
        self._index = None
        for suffix in (_KEYS, _VECTORS):
            with suppress(OSError):
                (self.folder / f"{name}{suffix}").unlink(missing_ok=True)

    def _locations(self, keys: Keys) -> IntArray:
        """Return (shard, row) of each key, -1 if missing."""
        if self._index is None:
            parts = [entries["key"] for entries, _ in self._shards.values()]
            stored = np.concatenate(parts) if parts else np.empty((0, 2), np.uint64)
            shard = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
            row = np.concatenate([np.arange(len(part)) for part in parts]) if parts else shard
            order = np.argsort(stored[:, 0], kind="stable")
            self._index = stored[order], np.stack([shard, row], axis=1)[order]
        stored, locations = self._index
        if not len(stored):
            return np.full((len(keys), 2), -1, np.int64)
        # Search by the first half of the key and compare the second; in a rare tie one entry is just not found.
        nearest = np.minimum(np.searchsorted(stored[:, 0], keys[:, 0]), len(stored) - 1)
        return np.where((stored[nearest] == keys).all(axis=1)[:, None], locations[nearest], -1)

    def _read(self, locations: IntArray) -> tuple[Matrix, list[str]]:
        """Return the vectors at some locations, and the names of shards with a wrong checksum."""
        vectors = np.empty((len(locations), self.dimension), np.float32)
        names, damaged = list(self._shards), []
        for number in np.unique(locations[:, 0]).tolist():
            entries, stored = self._shards[names[number]]
            here = np.flatnonzero(locations[:, 0] == number)
            rows = locations[here, 1]
            vectors[here] = stored[rows]
            if (_checks(entries["key"][rows], vectors[here]) != entries["check"][rows]).any():
                damaged.append(names[number])
        return vectors, damaged


def _checks(keys: Keys, vectors: Matrix) -> npt.NDArray[np.uint32]:
    """Return a checksum of each key and its vector."""
    own, rows = np.ascontiguousarray(keys), np.ascontiguousarray(vectors)
    checks = (crc32(row, crc32(key)) for key, row in zip(own, rows, strict=True))
    return np.fromiter(checks, np.uint32, len(own))
