"""Scores and records as a page reads them: small, and harmless inside a script."""

from base64 import b64encode
from collections.abc import Iterable
from typing import Any

import msgspec
import numpy as np

from isogloss.errors import DataError
from isogloss.figures import rounded

# Hundredths of a score need no more bits, and there are a great many scores.
BITS = 14
# A figure that is not there.
NONE = 2**BITS - 1
_LARGEST = 100.001


def packed(values: Iterable[float | None]) -> str:
    """Scores as 14-bit numbers of hundredths, one after the other from the lowest bit on, in base64.

    `NONE` stands where there is none.

    The last digit is never a 5, for which programs differ in how they round: with one decimal a score reads on the page
    as everywhere else.

    Raises:
        DataError: a number that is no score.
    """
    given = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    missing = np.isnan(given)
    if strange := given[~missing & ~(np.abs(given) <= _LARGEST)].tolist():
        raise DataError(f"a score of {strange[0]:g}, and scores go from 0 to 100")
    # Correlations may be below 0, which there is no room for.
    scores = np.where(missing, 0.0, np.maximum(given, 0.0))
    found = np.rint(100 * scores)
    for place in np.flatnonzero(found % 10 == 5):
        found[place] += 1 if 100 * rounded(float(scores[place])) > found[place] else -1
    whole = np.where(missing, NONE, found).astype(np.uint16)
    bits = (whole[:, None] >> np.arange(BITS)) & 1
    return b64encode(np.packbits(bits.astype(np.uint8), bitorder="little").tobytes()).decode()


def script_json(value: Any) -> str:
    """JSON that can stand in a script, wherever that stands: it neither ends the script nor a line of it."""
    text = msgspec.json.encode(value).decode()
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text
