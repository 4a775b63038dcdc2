"""A cache of vectors on disk, by (model, text), that any number of processes may share without a lock.

What is once written never changes. Each `add` makes a shard of two files with a name of its own: first the vectors,
then the keys, each under its final name only when it is whole; a shard counts from the moment its keys are there. So
a reader never sees half of anything, a killed writer leaves at most a file that is never read, and two writers of the
same text merely waste a few bytes. Every vector carries a checksum: damage costs the shard, never a wrong result.
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

# 128 bits a text, as two numbers: a million million texts would not be enough to expect two with the same key.
Keys = npt.NDArray[np.uint64]

_ENTRY = np.dtype([("key", "<u8", 2), ("check", "<u4")])
_KEYS, _VECTORS = ".keys.npy", ".vectors.npy"


def default_cache_dir() -> Path:
    """`vectors` in the folder of caches."""
    return cache_dir() / "vectors"


def text_keys(texts: Sequence[str]) -> Keys:
    """The keys of texts, (n, 2)."""
    packed = b"".join(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest() for text in texts)
    return np.frombuffer(packed, "<u8").reshape(-1, 2)


class VectorCache:
    """The vectors one model has given so far, in a folder of its own that the first `add` makes."""

    def __init__(self, folder: Path, dimension: int) -> None:
        self.folder = folder
        self.dimension = dimension
        self._shards: dict[str, tuple[npt.NDArray[Any], Matrix]] = {}
        self._index: tuple[Keys, IntArray, list[str]] | None = None

    def find(self, keys: Keys) -> tuple[npt.NDArray[np.bool_], Matrix]:
        """Which keys are there, and the vectors of those, in order."""
        while True:
            self._refresh()
            places, names = self._places(keys)
            found = places[:, 0] >= 0
            vectors, damaged = self._read(places[found], names)
            if not damaged:
                return found, vectors
            for name in damaged:
                self._discard(name)

    def add(self, keys: Keys, vectors: Matrix) -> None:
        """Keep vectors, one a key."""
        whole = np.ascontiguousarray(vectors, np.float32)
        entries = np.empty(len(keys), _ENTRY)
        entries["key"] = keys
        entries["check"] = _checks(keys, whole)
        name = token_hex(8)
        for suffix, array in ((_VECTORS, whole), (_KEYS, entries)):
            with atomic_write(self.folder / f"{name}{suffix}") as stream:
                np.save(stream.buffer, array, allow_pickle=False)

    def _refresh(self) -> None:
        """Take up the shards that came since the last look."""
        names = {path.name.removesuffix(_KEYS) for path in self.folder.glob(f"*{_KEYS}")}
        for name in sorted(names - self._shards.keys()):
            try:
                shard = self._load(name)
            except OSError:
                continue  # not readable now, which says nothing about what is in it
            except Exception:  # numpy fails in many ways over a spoilt header
                self._discard(name)
                continue
            self._shards[name] = shard
            self._index = None

    def _load(self, name: str) -> tuple[npt.NDArray[Any], Matrix]:
        """The entries and the mapped vectors of a shard; what was never written so is a ValueError."""
        entries = open_memmap(self.folder / f"{name}{_KEYS}", mode="r")
        vectors = open_memmap(self.folder / f"{name}{_VECTORS}", mode="r")
        shape = (*entries.shape, self.dimension)
        if entries.dtype != _ENTRY or vectors.dtype != np.float32 or entries.ndim != 1 or vectors.shape != shape:
            raise ValueError("not a shard of this cache")
        return np.array(entries), vectors

    def _discard(self, name: str) -> None:
        """Forget a damaged shard; its texts will be embedded again."""
        self._shards.pop(name, None)
        self._index = None
        for suffix in (_KEYS, _VECTORS):
            with suppress(OSError):
                (self.folder / f"{name}{suffix}").unlink(missing_ok=True)

    def _places(self, keys: Keys) -> tuple[IntArray, list[str]]:
        """(shard, row) of each key, -1 where it is not there, and the names of the shards."""
        if self._index is None:
            names = list(self._shards)
            parts = [entries["key"] for entries, _ in self._shards.values()]
            known = np.concatenate(parts) if parts else np.empty((0, 2), np.uint64)
            shard = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
            row = np.concatenate([np.arange(len(part)) for part in parts]) if parts else shard
            order = np.argsort(known[:, 0], kind="stable")
            self._index = known[order], np.stack([shard, row], axis=1)[order], names
        known, places, names = self._index
        if not len(known):
            return np.full((len(keys), 2), -1, np.int64), names
        # Half a key decides the place and the other half confirms it; the rare loser of a tie is merely not found.
        spot = np.minimum(np.searchsorted(known[:, 0], keys[:, 0]), len(known) - 1)
        return np.where((known[spot] == keys).all(axis=1)[:, None], places[spot], -1), names

    def _read(self, places: IntArray, names: list[str]) -> tuple[Matrix, set[str]]:
        """The vectors at some places, and the names of shards where one of them is not what was written."""
        vectors = np.empty((len(places), self.dimension), np.float32)
        damaged: set[str] = set()
        for number in np.unique(places[:, 0]).tolist():
            entries, stored = self._shards[names[number]]
            here = np.flatnonzero(places[:, 0] == number)
            rows = places[here, 1]
            vectors[here] = stored[rows]
            if (_checks(entries["key"][rows], vectors[here]) != entries["check"][rows]).any():
                damaged.add(names[number])
        return vectors, damaged


def _checks(keys: Keys, vectors: Matrix) -> npt.NDArray[np.uint32]:
    """A checksum over each key and its vector."""
    own, rows = np.ascontiguousarray(keys), np.ascontiguousarray(vectors)
    checks = (crc32(row, crc32(key)) for key, row in zip(own, rows, strict=True))
    return np.fromiter(checks, np.uint32, len(own))
