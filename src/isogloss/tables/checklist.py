"""Tables of the checklist: error rates, findings of the audit, one case in many languages, speakers' reviews."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from statistics import fmean

from isogloss.checklist.audit import FINDINGS, Findings
from isogloss.checklist.kind import METRICS, UNANSWERED, UNREACHABLE, UNREVIEWED
from isogloss.checklist.reference import published_averages
from isogloss.checklist.review_files import VERDICTS
from isogloss.checklist.review_marks import review_status
from isogloss.checklist.review_merge import MergedReviews
from isogloss.checklist.shipped import paper_rule_can_pass
from isogloss.checklist.tasks import task_id
from isogloss.figures import MISSING, score_text
from isogloss.grammar.cases import ChecklistExample
from isogloss.grammar.file import grammar
from isogloss.grouping import group_by
from isogloss.languages import language
from isogloss.scoring.results import CellScore, Results
from isogloss.tables.score_tables import missing_notes
from isogloss.tables.table import Table

SHORT = {
    "comparisons": "comparisons",
    "intensifiers": "intensifiers",
    "properties": "properties",
    "job_vs_nationality": "job",
    "animal_vs_vehicle": "animal",
    "animal_vs_vehicle_2": "animal 2",
}
TEST_OF = {task_id(test): test for test in SHORT}
_SHADES = " ░▒▓█"


def checklist_tables(results: Results) -> list[Table]:
    """Return means next to published systems and, for each rule, a heat map of language by test.

    Nothing is returned if the record has none of the tests.
    """
    cells = [cell for cell in results.cells if cell.task in TEST_OF]
    tests = {TEST_OF[average.name]: average for average in results.tasks if average.name in TEST_OF}
    if not tests:
        return []
    by_rule = {rule: {test: tests[test].metrics[metric].value for test in tests} for metric, rule in METRICS.items()}
    title = f"{results.system['name']}: error rate per test, mean over languages"
    summary = Table(title, ("", *SHORT.values(), "mean"))
    partial = {test for test, average in tests.items() if average.missing}
    for rule, rates in by_rule.items():
        summary.add(f"rule: {rule}", *_row(rates, partial), strong=True)
    for system, rates in published_averages().items():
        summary.add(f"{system} (published)", *_row(rates))
    reviews = [review_status(grammar(cell.language), TEST_OF[cell.task]) for cell in cells]
    unreviewed, unanswered = sum(not each.reviewed for each in reviews), sum(bool(cell.unanswered) for cell in cells)
    unreachable = sum(not paper_rule_can_pass(cell.language, TEST_OF[cell.task]) for cell in cells)
    summary.notes = [
        _rule_note(by_rule["paper"], by_rule["fair"]),
        *missing_notes(results.overall.missing),
        "published systems were run on the released suite: not comparable case by case",
        *(
            f"{count} of {len(cells)} language × test cells: {note}"
            for note, count in ((UNREVIEWED, unreviewed), (UNANSWERED, unanswered), (UNREACHABLE, unreachable))
            if count
        ),
    ]
    return [summary, *(_heat_map(cells, metric) for metric in METRICS)]


def _rule_note(paper: Mapping[str, float], fair: Mapping[str, float]) -> str:
    """Return how far the two rules are apart: what only the stricter one counts as an error is not the system's."""
    gap = fmean(paper.values()) - fmean(fair.values())
    if score_text(abs(gap)) == score_text(0):
        return "both rules give the same error rate"
    more = "more" if gap > 0 else "less"
    points = f"{score_text(abs(gap))} points {more} error"
    return f"the same answers have {points} under the paper rule than under the fair one"


def _row(rates: Mapping[str, float], partial: Collection[str] = ()) -> list[str]:
    """Return each test and the mean of those present; a star marks incomplete figures."""
    stars = {test: "*" * (test in partial) for test in SHORT}
    star = "*" * (bool(partial) or len(rates) < len(SHORT))
    return [score_text(rates.get(test)) + stars[test] for test in SHORT] + [score_text(fmean(rates.values())) + star]


def _heat_map(cells: Sequence[CellScore], metric: str) -> Table:
    table = Table(f"Error rate by language, rule: {METRICS[metric]}", ("", "language", *SHORT.values()), words=2)
    by_language: dict[str, dict[str, float]] = defaultdict(dict)
    names = [(cell.language, TEST_OF[cell.task]) for cell in cells if METRICS[metric] == "paper"]
    daggers = {name: "†" for name in names if not paper_rule_can_pass(*name)}
    for cell in cells:
        by_language[cell.language][TEST_OF[cell.task]] = cell.metrics[metric].value
    for code, rates in by_language.items():
        # A mark that darkens as a rate grows makes a column read like a heat map.
        shades = {test: _SHADES[min(4, int(rate // 20.0001))] for test, rate in rates.items()}
        marks = {test: f"{daggers.get((code, test), '')} {shade}" for test, shade in shades.items()}
        texts = (score_text(rates[test]) + marks[test] if test in rates else MISSING for test in SHORT)
        table.add(code, language(code).name, *texts)
    table.notes = [f"† {UNREACHABLE}"] if daggers else []
    return table


def finding_table(findings: Mapping[str, Findings]) -> Table:
    """Return one row per language and test with findings, one column per kind."""
    counts: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for language_findings in findings.values():
        for (code, test, kind), number in language_findings.counts().items():
            counts[code, test][kind] = number
    kinds = [kind for kind in FINDINGS if any(kind in row for row in counts.values())]
    table = Table("Findings: examples with each defect", ("language", "test", *kinds), words=2)
    for (code, test), row in sorted(counts.items()):
        table.add(code, SHORT.get(test, test), *(str(row.get(kind, "·")) for kind in kinds))
    table.notes = [f"{kind}: {FINDINGS[kind]}" for kind in kinds]
    return table


def side_by_side(case: str, questions: Mapping[str, Sequence[ChecklistExample]], reviews: Mapping[str, str]) -> Table:
    """Return the questions of a case in several languages: context, question, answer and other right answers.

    Notes list the review status of each language.
    """
    table = Table(f"Case {case}", ("", "context", "question", "answer", "also right"), words=5)
    for code, examples in questions.items():
        for number, example in enumerate(examples):
            start = (code, example.context) if not number else ("", "")
            also = ", ".join(form for form in example.accepted if form != example.answer)
            table.add(*start, example.question, example.answer, also)
    by_status = group_by(reviews, reviews.__getitem__)
    table.notes = [f"{', '.join(codes)}: {status}" for status, codes in by_status.items()]
    return table


def review_tables(merged: MergedReviews) -> list[Table]:
    """Return the speakers of merged reviews, their agreement and marks by test, and the changes they propose."""
    return [_speakers(merged), _tests(merged), *([_changes(merged)] if merged.changes else [])]


def _speakers(merged: MergedReviews) -> Table:
    table = Table(f"Speakers of {merged.language}", ("file", "name", "date", "older words", "judged", "asked"), words=4)
    for each in merged.speakers:
        older = ", ".join(SHORT[test] for test in each.older) or "none"
        table.add(each.file, each.name or "–", each.date.isoformat(), older, str(each.judged), str(each.items))
    table.notes = ["older words: tests reworded since then; the file does not count for their marks"]
    return table


def _tests(merged: MergedReviews) -> Table:
    header = ("test", "mark", "speakers", "judged by two", "agreement %", "kappa")
    table = Table("Tests: complete reviews, and agreement between speakers", header, words=2)
    statistics: dict[str, None] = {}
    for each in merged.tests:
        agreement = each.agreement
        statistics.setdefault(agreement.statistic)
        numbers = [(agreement.percent, 1), (agreement.kappa, 2)]
        texts = ("n/a" if value is None else score_text(value, digits) for value, digits in numbers)
        table.add(SHORT[each.test], each.mark or each.reason, str(each.speakers), str(agreement.items), *texts)
    named = [f"{name}' kappa" if name.endswith("s") else f"{name}'s kappa" for name in filter(None, statistics)]
    table.notes = [f"kappa: {' or '.join(named)}, agreement beyond chance; n/a if all verdicts are equal"]
    if not named:
        table.notes = ["kappa: n/a, as no item was judged by two speakers"]
    return table


def _changes(merged: MergedReviews) -> Table:
    header = ("key", "line", "now", "better (speakers)", "remarks", *VERDICTS)
    table = Table("Proposed changes, by key of the language file", header, words=5)
    for change in merged.changes:
        better = "; ".join(f"{text} ({count})" for text, count in change.better.items())
        counts = (str(change.verdicts[verdict]) for verdict in VERDICTS)
        key = f"{change.key} ({', '.join(change.sources)})" if change.sources else change.key
        remarks = list(change.remarks)
        for older in change.older:
            verdict = ", ".join(filter(None, (older.verdict, older.better and f"better: {older.better}", older.remark)))
            remarks.append(f"of an older wording, {older.wording!r}: {verdict}")
        table.add(key, change.where, change.wording, better, "; ".join(remarks), *counts)
    return table
