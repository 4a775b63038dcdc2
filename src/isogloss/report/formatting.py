"""How numbers are printed, in every table alike."""

MISSING = "·"


def score_text(value: float | None) -> str:
    """A score with one decimal; a dot where there is none."""
    return MISSING if value is None else f"{value:.1f}"


def interval_text(low: float, high: float) -> str:
    """The interval of a score."""
    return f"{low:.1f}–{high:.1f}"


def difference_text(value: float) -> str:
    """A difference of two scores, always with its sign."""
    return f"{value:+.1f}"


def difference_interval_text(low: float, high: float) -> str:
    """The interval of a difference, in words, since its bounds have signs."""
    return f"{low:+.1f} to {high:+.1f}"


def p_text(p: float) -> str:
    """A p-value with three decimals."""
    return f"{p:.3f}" if p >= 0.001 else "<0.001"


def shortened(value: object, width: int = 60) -> str:
    """Anything a system may answer, on one line that a table can bear: the JSON record is for reading it in full."""
    text = " ".join(map(str, value)) if isinstance(value, list | tuple) else "(none)" if value is None else str(value)
    return text if len(text) <= width else f"{text[: width - 1]}…"
