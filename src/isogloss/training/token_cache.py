"""Cache of tokenised texts: arrays on disk, keyed by a hash of their inputs and mapped into memory."""

import contextlib
import hashlib
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from secrets import token_hex

import msgspec
import numpy as np

from isogloss.data.arrays import read_array
from isogloss.data.files import read_bytes
from isogloss.data.location import cache_dir
from isogloss.decoding import decode_json
from isogloss.errors import DataError
from isogloss.training.objective import Array, Encoded

_VERSION = "2"  # of the file format and its content; a new number invalidates every entry
_INDEX = "whole.json"  # lists the other files of an entry; written last


def tokens_dir() -> Path:
    """Return the `tokens` folder of the cache folder."""
    return cache_dir() / "tokens"


def cached(parts: Sequence[str], make: Callable[[], Encoded], folder: Path | None = None) -> Encoded:
    """Return the cached tokens for a key, calling `make` on a miss; `parts` must determine the result."""
    key = hashlib.sha256("\x1f".join((_VERSION, *parts)).encode("utf-8", "surrogatepass")).hexdigest()[:32]
    entry = (folder or tokens_dir()) / key
    encoded = _read(entry)
    if encoded is None:
        made = make()
        _write(entry, made)
        # A full or read-only disk costs time but does not stop the run.
        encoded = _read(entry) or made
    return encoded


def _read(entry: Path) -> Encoded | None:
    """Return the content of an entry, or None if a file is missing or damaged."""
    parts: dict[str, dict[str, Array]] = {"aligned": {}, "columns": {}, "": {}}
    try:
        for file in decode_json(read_bytes(entry / _INDEX), _INDEX, list[str]):
            kind, _, name = file.removesuffix(".npy").rpartition("-")
            parts[kind][name] = read_array(entry / file)
        return Encoded(parts[""]["pieces"], parts[""]["starts"], parts["aligned"], parts["columns"])
    except (DataError, KeyError, ValueError):
        return None


def _write(entry: Path, encoded: Encoded) -> None:
    """Write a folder under a temporary name and rename it when complete.

    Processes that train together write the same entry in parallel; the first to finish wins.
    """
    kinds: dict[str, Mapping[str, Array]] = {
        "": {"pieces": encoded.input_ids, "starts": encoded.starts},
        "aligned-": encoded.aligned,
        "columns-": encoded.columns,
    }
    files = {f"{kind}{name}.npy": array for kind, arrays in kinds.items() for name, array in arrays.items()}
    part = entry.with_name(f".{entry.name}.{token_hex(4)}.part")
    with contextlib.suppress(OSError):
        part.mkdir(parents=True)
        try:
            for file, array in files.items():
                np.save(part / file, array, allow_pickle=False)
            (part / _INDEX).write_bytes(msgspec.json.encode(list(files)))
            if _read(entry) is None:
                shutil.rmtree(entry, ignore_errors=True)
                part.replace(entry)
        finally:
            shutil.rmtree(part, ignore_errors=True)
