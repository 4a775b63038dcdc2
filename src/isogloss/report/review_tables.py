"""Tables of what speakers said about a language of the checklist."""

from isogloss.checklist.review_files import VERDICTS
from isogloss.checklist.review_merge import MergedReviews, ProposedChange
from isogloss.figures import score_text
from isogloss.report.checklist import SHORT
from isogloss.report.tables import Table

_UNDEFINED = "n/a"


def review_tables(merged: MergedReviews) -> list[Table]:
    """The speakers, their agreement and the marks by test, and what is to be changed.

    Args:
        merged: what their files come to.
    """
    return [_speakers(merged), _tests(merged), *([_changes(merged)] if merged.changes else [])]


def _speakers(merged: MergedReviews) -> Table:
    table = Table(f"Speakers of {merged.language}", ("file", "name", "date", "older words", "judged", "asked"), words=4)
    for each in merged.speakers:
        older = ", ".join(SHORT[test] for test in each.older) or "none"
        table.add(each.file, each.name or "–", each.date.isoformat(), older, str(each.judged), str(each.asked))
    table.notes = ["older words: tests that say something else now; such a file does not count for their marks"]
    return table


def _tests(merged: MergedReviews) -> Table:
    header = ("test", "mark", "speakers", "judged by two", "agreement %", "kappa")
    table = Table("Tests: who judged all of it, and how far speakers agree", header, words=2)
    statistics: dict[str, None] = {}
    for each in merged.tests:
        found = each.agreement
        statistics.setdefault(found.statistic)
        percent = _UNDEFINED if found.percent is None else score_text(found.percent)
        kappa = _UNDEFINED if found.kappa is None else score_text(found.kappa, 2)
        table.add(SHORT[each.test], each.mark or each.reason, str(each.speakers), str(found.items), percent, kappa)
    named = [f"{name}' kappa" if name.endswith("s") else f"{name}'s kappa" for name in filter(None, statistics)]
    table.notes = [
        f"kappa: {' or '.join(named)}, agreement beyond chance; n/a where all verdicts are alike" if named
        else "kappa: n/a, nothing was judged by two speakers"
    ]  # fmt: skip
    return table


def _changes(merged: MergedReviews) -> Table:
    header = ("key", "line", "now", "better (speakers)", "remarks", *VERDICTS)
    table = Table("What to change, by key of the language file", header, words=5)
    for change in merged.changes:
        better = "; ".join(f"{text} ({count})" for text, count in change.better.items())
        counts = (str(change.verdicts[verdict]) for verdict in VERDICTS)
        table.add(_key(change), change.where, change.wording, better, "; ".join(_remarks(change)), *counts)
    return table


def _key(change: ProposedChange) -> str:
    return f"{change.key} ({', '.join(change.sources)})" if change.sources else change.key


def _remarks(change: ProposedChange) -> list[str]:
    older = []
    for each in change.older:
        said = ", ".join(filter(None, (each.verdict, each.better and f"better: {each.better}", each.remark)))
        older.append(f"of an older wording, {each.wording!r}: {said}")
    return [*change.remarks, *older]
