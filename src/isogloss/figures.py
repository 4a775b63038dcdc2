"""Number formats shared by tables, charts, sentences and notebooks."""

MISSING = "·"
NO_INTERVAL = "—"
# Smallest representable p-value, to be read as "at most".
SMALLEST_P = 1e-300
# Still a bound after correction over many tests.
_BOUND = 1e-290


def rounded(value: float, digits: int = 1) -> float:
    """Round a score for display.

    A mean of 28.75 may be computed as 28.749999999999996, depending on the order of summation; both round alike. Zero
    has no sign.
    """
    return round(round(value, 9), digits) + 0.0


def score_text(value: float | None, digits: int = 1) -> str:
    """Format a score with one decimal, or a dot if missing."""
    return MISSING if value is None else f"{rounded(value, digits):.{digits}f}"


def difference_text(value: float) -> str:
    """Format a difference of two scores with its sign; one that rounds to zero has none."""
    shown = rounded(value)
    return f"{shown:+.1f}" if shown else f"{shown:.1f}"


def interval_text(low: float | None, high: float | None) -> str:
    """Format the interval of a score, or a dash if missing."""
    return NO_INTERVAL if low is None or high is None else f"{score_text(low)}–{score_text(high)}"


def difference_interval_text(low: float | None, high: float | None) -> str:
    """Format the interval of a difference with "to", since its bounds have signs, or a dash if missing."""
    return NO_INTERVAL if low is None or high is None else f"{difference_text(low)} to {difference_text(high)}"


def p_text(p: float) -> str:
    """Format a p-value with three decimals, small ones by order of magnitude, the smallest as a bound."""
    if p <= _BOUND:
        return f"≤{p:.0e}" if p > SMALLEST_P else f"≤{SMALLEST_P:.0e}"
    return f"{p:.3f}" if p >= 0.001 else f"{p:.0e}"


def p_equation(p: float) -> str:
    """Format a p-value with its name: "p = 0.012", "p ≤1e-300"."""
    return f"p {p_text(p)}" if p <= _BOUND else f"p = {p_text(p)}"


def cost_text(dollars: float) -> str:
    """Format a cost in dollars: with cents, or with two digits if it is less than a few of them."""
    if dollars >= 0.1 or dollars == 0:
        return f"${dollars:,.2f}"
    return f"${float(f'{dollars:.2g}'):.12f}".rstrip("0")


def rank_text(low: int, high: int) -> str:
    """Format the ranks that a system may have: "1" or "2–4"."""
    return str(low) if low == high else f"{low}–{high}"


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun, such as "1 task" or "3 tasks"."""
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"
