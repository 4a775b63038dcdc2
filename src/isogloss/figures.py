"""How numbers are printed, everywhere alike: in tables, charts, sentences and notebooks."""

MISSING = "·"
NO_INTERVAL = "—"
# The smallest p-value there is: further down numbers have no digits left. To be read as "at most".
SMALLEST_P = 1e-300
# Corrected over many tests it is still a bound.
_BOUND = 1e-290


def rounded(value: float, digits: int = 1) -> float:
    """A score as it is printed.

    A mean of 28.75 may come out as 28.749999999999996 or 28.75, by the order of its sum. Both are the same number, and
    are rounded alike.
    """
    return round(round(value, 9), digits)


def score_text(value: float | None, digits: int = 1) -> str:
    """A score with one decimal; a dot where there is none."""
    return MISSING if value is None else f"{rounded(value, digits):.{digits}f}"


def difference_text(value: float) -> str:
    """A difference of two scores, always with its sign."""
    return f"{rounded(value):+.1f}"


def interval_text(low: float | None, high: float | None) -> str:
    """The interval of a score; a dash where there is none."""
    return NO_INTERVAL if low is None or high is None else f"{score_text(low)}–{score_text(high)}"


def difference_interval_text(low: float | None, high: float | None) -> str:
    """The interval of a difference, in words, since its bounds have signs; a dash where there is none."""
    return NO_INTERVAL if low is None or high is None else f"{difference_text(low)} to {difference_text(high)}"


def p_text(p: float) -> str:
    """A p-value with three decimals, small ones by their order, and the smallest there is as a bound."""
    if p <= _BOUND:
        return f"≤{p:.0e}" if p > SMALLEST_P else f"≤{SMALLEST_P:.0e}"
    return f"{p:.3f}" if p >= 0.001 else f"{p:.0e}"
