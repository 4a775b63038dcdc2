"""Scores as a page unpacks them."""

from base64 import b64decode

import numpy as np

from isogloss.board.encoding import BITS


def unpacked(text: str) -> np.ndarray:
    """Hundredths, and `NONE` where there is no score."""
    bits = np.unpackbits(np.frombuffer(b64decode(text), dtype=np.uint8), bitorder="little")
    whole = bits[: len(bits) // BITS * BITS].reshape(-1, BITS).astype(int)
    return whole @ (1 << np.arange(BITS))
