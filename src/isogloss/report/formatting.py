"""How numbers are printed, in every table alike."""

from isogloss.scoring.contrast import SystemContrast

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


def contrast_texts(contrast: SystemContrast) -> tuple[str, ...]:
    """Both scores of a contrast, the difference, its interval (in words, since its bounds have signs), and p."""
    return (
        score_text(contrast.first),
        score_text(contrast.second),
        difference_text(contrast.difference),
        f"{contrast.low:+.1f} to {contrast.high:+.1f}",
        f"{contrast.p:.3f}" if contrast.p >= 0.001 else "<0.001",
    )


def shortened(value: object, width: int = 60) -> str:
    """Anything a system may answer, on one line that a table can bear: the JSON record is for reading it in full."""
    text = " ".join(map(str, value)) if isinstance(value, list | tuple) else "(none)" if value is None else str(value)
    return text if len(text) <= width else f"{text[: width - 1]}…"
