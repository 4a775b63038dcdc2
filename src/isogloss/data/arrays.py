"""Safe reading of numpy files, without trusting their headers."""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from isogloss.data.files import LIMIT_VARIABLE, packed_limit
from isogloss.errors import DataError


def read_array(path: Path) -> npt.NDArray[Any]:
    """Memory-map a plain .npy file without Python objects; raise DataError for any other or damaged file."""
    with _reading_numpy(path, "a plain .npy array"):
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    if not isinstance(array, np.ndarray):
        array.close()
        raise DataError("an .npz archive, not a plain .npy array", where=str(path))
    return array


@contextmanager
def read_arrays(path: Path, most: int = 0) -> Iterator[Any]:
    """Open an .npz file; yield its arrays by name, turning every error into a DataError.

    `most` raises the limit of unpacked bytes for real files so sparse that they look like an attack.
    """
    with _reading_numpy(path, "an .npz archive of arrays"):
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
            limit = max(most, packed_limit(path))
        if size > limit:
            fix = f"Set {LIMIT_VARIABLE}=… (bytes) to allow larger files"
            raise DataError(f"unpacks to {size:,} bytes, more than {limit:,}", where=str(path), fix=fix)
        with np.load(path, allow_pickle=False) as arrays:
            yield arrays


@contextmanager
def _reading_numpy(path: Path, what: str) -> Iterator[None]:
    try:
        yield
    except DataError:
        raise
    except FileNotFoundError:
        raise DataError("no such file", where=str(path)) from None
    except Exception as error:  # numpy raises many exceptions for a damaged header
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error) or "damaged"
        raise DataError(f"not {what}: {reason}", where=str(path)) from None
