"""Scores and records as a page reads them: small, and harmless inside a script."""

from base64 import b64encode
from collections.abc import Iterable
from typing import Any

import msgspec
import numpy as np

from isogloss.errors import DataError
from isogloss.figures import rounded

# A figure that is not there.
NONE = 65535


def hundredths(value: float | None) -> int:
    """A score in hundredths; `NONE` where there is none.

    The last digit is never a 5, for which programs differ in how they round: with one decimal it reads here and there
    as everywhere else.
    """
    if value is None:
        return NONE
    if not -100.001 <= value <= 100.001:
        raise DataError(f"a score of {value:g}, and scores go from 0 to 100")
    # Correlations may be below 0, which the encoding has no room for.
    value = max(0.0, value)
    found = round(100 * value)
    if found % 10 == 5:
        found += 1 if 100 * rounded(value) > found else -1
    return found


def packed(values: Iterable[float | None]) -> str:
    """Scores as little-endian 16-bit numbers of hundredths, in base64."""
    return b64encode(np.array([hundredths(value) for value in values], dtype="<u2").tobytes()).decode()


def script_json(value: Any) -> str:
    """JSON that can stand in a script, wherever that stands: it neither ends the script nor a line of it."""
    text = msgspec.json.encode(value).decode()
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text
