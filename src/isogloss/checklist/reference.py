"""Published systems on the released suite, with the cells that are unanswerable marked."""

from collections import defaultdict
from statistics import fmean

from isogloss.checklist.tasks import released_id
from isogloss.grammar.schema import TESTS
from isogloss.languages import published

RELEASED_TESTS = {released_id(test): test for test in TESTS}
_DEFECTS = {
    (row.language, RELEASED_TESTS[published.checklist_task(row.test)]): row.defect for row in published.checklist()
}
# Cells of the released suite with gold answers that are never a span of whole tokens; all fourteen were published as
# 100.0 % error. (Chinese, Japanese and Korean used a patched pipeline and are a different matter.)
UNANSWERABLE = frozenset(cell for cell, defect in _DEFECTS.items() if defect == "unanswerable")
# Four further cells that no system can pass, also published as 100.0 %: the answer ends in a character that the scorer
# does not strip (Urdu), or one question about one context has two different gold answers.
UNPASSABLE = frozenset(cell for cell, defect in _DEFECTS.items() if defect == "unpassable")


def published_rates() -> dict[str, dict[tuple[str, str], float]]:
    """Return error rates by system and (language, test)."""
    rates: dict[str, dict[tuple[str, str], float]] = defaultdict(dict)
    for row in published.checklist():
        rates[row.system][row.language, RELEASED_TESTS[published.checklist_task(row.test)]] = row.error_rate
    return dict(rates)


def published_averages() -> dict[str, dict[str, float]]:
    """Return the mean over languages of each test, by system."""
    return {
        system: {test: fmean(rate for (_, name), rate in rates.items() if name == test) for test in TESTS}
        for system, rates in published_rates().items()
    }
