"""Numpy's own files, read without trusting what their headers say."""

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
    """The array of a .npy file, memory-mapped: a header that promises more than the file holds is noticed.

    Raises:
        DataError: there is no such file, or it is not a plain array without Python objects.
    """
    with _reading_numpy(path, "a plain .npy array"):
        found = np.load(path, mmap_mode="r", allow_pickle=False)
    if not isinstance(found, np.ndarray):
        found.close()
        raise DataError("an .npz archive, not a plain .npy array", where=str(path))
    return found


@contextmanager
def read_arrays(path: Path, most: int = 0) -> Iterator[Any]:
    """The arrays of an .npz file by name; whatever goes wrong with them meanwhile is a DataError.

    Args:
        path: the file.
        most: the bytes that it may unpack to, where a real file is so sparse that it looks like an attack.

    Raises:
        DataError: there is no such file, or it is damaged, too large or without an array that is asked for.
    """
    with _reading_numpy(path, "an .npz archive of arrays"):
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
            limit = max(most, packed_limit(path))
        if size > limit:
            fix = f"{LIMIT_VARIABLE}=… lets files of that many bytes through"
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
        raise DataError("there is no such file", where=str(path)) from None
    except Exception as error:  # numpy fails in many ways over a spoilt header
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error) or "damaged"
        raise DataError(f"not {what}: {reason}", where=str(path)) from None
