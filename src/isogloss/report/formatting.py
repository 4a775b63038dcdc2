"""What several tables print alike."""

from isogloss.figures import NO_INTERVAL, difference_interval_text, difference_text, p_text, score_text
from isogloss.report.tables import Table
from isogloss.scoring.contrast import SystemContrast
from isogloss.scoring.results import NO_INTERVAL as WHY_NO_INTERVAL


def contrast_texts(contrast: SystemContrast) -> tuple[str, ...]:
    """Both scores of a contrast, the difference, its interval, and p; both of these hold for all tested together."""
    return (
        score_text(contrast.first),
        score_text(contrast.second),
        difference_text(contrast.difference),
        difference_interval_text(*contrast.interval_for_all),
        p_text(contrast.p),
    )


def interval_notes(table: Table) -> list[str]:
    """What a dash in the place of an interval means, where the table has one."""
    has_dash = any(NO_INTERVAL in row for row in table.rows)
    return [f"{NO_INTERVAL} {WHY_NO_INTERVAL}"] if has_dash else []


def shortened(value: object, width: int = 60) -> str:
    """Anything a system may answer, on one line that a table can bear: the JSON record is for reading it in full."""
    text = " ".join(map(str, value)) if isinstance(value, list | tuple) else "(none)" if value is None else str(value)
    return text if len(text) <= width else f"{text[: width - 1]}…"
