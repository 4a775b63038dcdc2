"""Unpack scores as a page does."""

from base64 import b64decode

import numpy as np

from isogloss.board.packing import BITS


def unpacked(text: str) -> np.ndarray:
    """Return hundredths, and `NONE` for missing scores."""
    bits = np.unpackbits(np.frombuffer(b64decode(text), dtype=np.uint8), bitorder="little")
    whole = bits[: len(bits) // BITS * BITS].reshape(-1, BITS).astype(int)
    return whole @ (1 << np.arange(BITS))
