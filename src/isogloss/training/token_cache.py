"""The cache of tokenised texts: arrays on disk by a hash of what decides them, mapped into memory."""

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
from isogloss.training.encoded import Array, Encoded

_FORM = "2"  # of the files and of what is in them; another number makes everything anew
_WHOLE = "whole.json"  # the names of all other files of an entry


def tokens_dir() -> Path:
    """`tokens` in the folder of caches."""
    return cache_dir() / "tokens"


def cached(parts: Sequence[str], make: Callable[[], Encoded], folder: Path | None = None) -> Encoded:
    """What `make` tokenises, from disk where it was made before; the parts are all that decides it."""
    key = hashlib.sha256("\x1f".join((_FORM, *parts)).encode("utf-8", "surrogatepass")).hexdigest()[:32]
    place = (folder or tokens_dir()) / key
    found = _read(place)
    if found is None:
        encoded = make()
        _write(place, encoded)
        # A disk that is full or read-only costs time, never the run.
        found = _read(place) or encoded
    return found


def _read(place: Path) -> Encoded | None:
    """What is in a folder; None where there is nothing, or a file is missing or damaged."""
    parts: dict[str, dict[str, Array]] = {"aligned": {}, "columns": {}, "": {}}
    try:
        for file in decode_json(read_bytes(place / _WHOLE), _WHOLE, list[str]):
            kind, _, name = file.removesuffix(".npy").rpartition("-")
            parts[kind][name] = read_array(place / file)
        return Encoded(parts[""]["pieces"], parts[""]["starts"], parts["aligned"], parts["columns"])
    except (DataError, KeyError, ValueError):
        return None


def _write(place: Path, encoded: Encoded) -> None:
    """Write a folder under another name, and give it its own when it is whole.

    Processes that train together all write it at once: the first gives it its name, and the others' are as good.
    """
    part = place.with_name(f".{place.name}.{token_hex(4)}.part")
    with contextlib.suppress(OSError):
        part.mkdir(parents=True)
        try:
            arrays = _files(encoded)
            for file, array in arrays.items():
                np.save(part / file, array, allow_pickle=False)
            (part / _WHOLE).write_bytes(msgspec.json.encode(list(arrays)))
            if _read(place) is None:
                shutil.rmtree(place, ignore_errors=True)
                part.replace(place)
        finally:
            shutil.rmtree(part, ignore_errors=True)


def _files(encoded: Encoded) -> dict[str, Array]:
    """What becomes a file, by its name."""
    kinds: dict[str, Mapping[str, Array]] = {
        "": {"pieces": encoded.input_ids, "starts": encoded.starts},
        "aligned-": encoded.aligned,
        "columns-": encoded.columns,
    }
    return {f"{kind}{name}.npy": array for kind, arrays in kinds.items() for name, array in arrays.items()}
