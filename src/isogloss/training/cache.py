"""Texts tokenised once: arrays on disk by what decides them, mapped into memory by whoever needs them again."""

import contextlib
import hashlib
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from secrets import token_hex

import numpy as np

from isogloss.data.location import cache_dir
from isogloss.training.encoded import Array, Encoded

__all__ = ["cached", "tokens_dir"]

_FORM = "1"  # of the files; another number makes everything anew


def tokens_dir() -> Path:
    """`tokens` in the folder of caches."""
    return cache_dir() / "tokens"


def cached(parts: Sequence[str], make: Callable[[], Encoded], folder: Path | None = None) -> Encoded:
    """What `make` gives, from disk where it was made before.

    Args:
        parts: everything that decides the content: tokenizer, texts, lengths, the kind of encoding.
        make: tokenises.
        folder: where; default `tokens_dir()`.
    """
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
    """What is in a folder; None where there is nothing whole."""
    parts: dict[str, dict[str, Array]] = {"aligned": {}, "columns": {}, "": {}}
    try:
        for path in place.iterdir():
            kind, _, name = path.stem.rpartition("-")
            parts[kind][name] = np.load(path, mmap_mode="r", allow_pickle=False)
        return Encoded(parts[""]["pieces"], parts[""]["starts"], parts["aligned"], parts["columns"])
    except (OSError, KeyError, ValueError):
        return None


def _write(place: Path, encoded: Encoded) -> None:
    """Write a folder under another name, and give it its own when it is whole."""
    part = place.with_name(f".{place.name}.{token_hex(4)}.part")
    with contextlib.suppress(OSError):
        part.mkdir(parents=True)
        try:
            kinds: dict[str, Mapping[str, Array]] = {
                "": {"pieces": encoded.pieces, "starts": encoded.starts},
                "aligned-": encoded.aligned,
                "columns-": encoded.columns,
            }
            for prefix, arrays in kinds.items():
                for name, array in arrays.items():
                    np.save(part / f"{prefix}{name}.npy", array, allow_pickle=False)
            shutil.rmtree(place, ignore_errors=True)  # only ever a damaged one
            part.replace(place)
        finally:
            shutil.rmtree(part, ignore_errors=True)
