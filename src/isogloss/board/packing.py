"""Scores in few characters: packed for pages, and unpacked."""

from base64 import b64decode, b64encode
from collections.abc import Iterable

import numpy as np

from isogloss.figures import rounded
from isogloss.metrics.statistics import FloatArray

# Bits per score, in hundredths.
BITS = 14
# Missing score.
NONE = 2**BITS - 1


def packed(values: Iterable[float | None]) -> str:
    """Pack scores as 14-bit hundredths, lowest bit first, in base64; `NONE` marks missing scores."""
    numbers = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    missing = np.isnan(numbers)
    # Correlations may be negative, but packed scores cannot.
    scores = np.where(missing, 0.0, np.maximum(numbers, 0.0))
    whole = np.where(missing, NONE, _hundredths(scores)).astype(np.uint16)
    bits = (whole[:, None] >> np.arange(BITS)) & 1
    return b64encode(np.packbits(bits.astype(np.uint8), bitorder="little").tobytes()).decode()


def shown_alike(score: float) -> float:
    """Round a score as packed scores are, so that it reads the same with one decimal."""
    return float(_hundredths(np.array([score]))[0] / 100)


def _hundredths(scores: FloatArray) -> FloatArray:
    """Return scores in hundredths, never with the last digit 5, because programs round it differently.

    A score with one decimal therefore reads the same on pages as elsewhere.
    """
    hundredths: FloatArray = np.rint(100 * scores)
    for index in np.flatnonzero(hundredths % 10 == 5):
        hundredths[index] += 1 if 100 * rounded(float(scores[index])) > hundredths[index] else -1
    return hundredths


def unpacked(text: str) -> FloatArray:
    """Return packed scores; NaN marks missing ones."""
    bits = np.unpackbits(np.frombuffer(b64decode(text), dtype=np.uint8), bitorder="little")
    whole = bits[: len(bits) // BITS * BITS].reshape(-1, BITS) @ (1 << np.arange(BITS))
    return np.where(whole == NONE, np.nan, whole / 100)
