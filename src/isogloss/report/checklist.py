"""Tables of the checklist: error rates, findings of the audit, one case in many languages."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from statistics import fmean

from isogloss.checklist.audit import FINDINGS, Findings
from isogloss.checklist.kind import METRICS, UNANSWERED, UNREVIEWED
from isogloss.checklist.reference import UNANSWERABLE, UNPASSABLE, published_averages, published_rates
from isogloss.checklist.tasks import task_id
from isogloss.figures import score_text
from isogloss.grammar.cases import ChecklistExample
from isogloss.languages import language
from isogloss.report.score_tables import missing_note
from isogloss.report.tables import Table
from isogloss.scoring.results import CellScore, Results

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


def shaded(rate: float) -> str:
    """A rate with a mark that darkens as it grows, so that a column reads as a heat map."""
    return f"{score_text(rate)} {_SHADES[min(4, int(rate // 20.0001))]}"


def checklist_tables(results: Results) -> list[Table]:
    """The tests of the checklist in a result record: means beside the published systems', and heat maps by language.

    Args:
        results: a record of the suite `checklist`.

    Returns:
        A summary, and a heat map language by test for each rule; nothing where the record has none of the tests.
    """
    cells = [cell for cell in results.cells if cell.task in TEST_OF]
    means = {TEST_OF[average.name]: average.metrics for average in results.tasks if average.name in TEST_OF}
    if not means:
        return []
    by_rule = {
        rule: {test: numbers[metric].value for test, numbers in means.items()} for metric, rule in METRICS.items()
    }
    summary = Table(
        f"{results.system['name']}: error rate per test, mean over languages", ("", *SHORT.values(), "mean")
    )
    partial = {TEST_OF[average.name] for average in results.tasks if average.name in TEST_OF and average.missing}
    for rule, rates in by_rule.items():
        summary.add(f"rule: {rule}", *_row(rates, partial), strong=True)
    for system, rates in published_averages().items():
        summary.add(f"{system} (published)", *_row(rates))
    gap = fmean(by_rule["paper"].values()) - fmean(by_rule["fair"].values())
    noted = {note: sum(note in cell.notes for cell in cells) for note in (UNREVIEWED, UNANSWERED)}
    summary.notes = [
        f"{score_text(gap)} points of the paper rule's error are the rule's, not the system's",
        *missing_note(results),
        "published systems met the released suite, not this one: not comparable case by case",
        *(f"{count} of {len(cells)} language × test cells: {note}" for note, count in noted.items() if count),
    ]
    return [summary, *(_heat_map(cells, metric) for metric in METRICS)]


def _row(rates: Mapping[str, float], partial: Collection[str] = ()) -> list[str]:
    """Each test, and the mean of those that are there; a star marks a figure that something is missing in."""
    stars = {test: "*" * (test in partial) for test in SHORT}
    star = "*" * (bool(partial) or len(rates) < len(SHORT))
    return [score_text(rates.get(test)) + stars[test] for test in SHORT] + [score_text(fmean(rates.values())) + star]


def _heat_map(cells: Sequence[CellScore], metric: str) -> Table:
    table = Table(f"Error rate by language, rule: {METRICS[metric]}", ("", "language", *SHORT.values()), words=2)
    by_language: dict[str, dict[str, float]] = defaultdict(dict)
    for cell in cells:
        by_language[cell.language][TEST_OF[cell.task]] = cell.metrics[metric].value
    for code, rates in by_language.items():
        table.add(code, language(code).name, *(shaded(rates[test]) if test in rates else "·" for test in SHORT))
    return table


def finding_table(findings: Mapping[str, Findings]) -> Table:
    """One row a language and test with findings; columns are the kinds found."""
    counts: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for found in findings.values():
        for (code, test, kind), number in found.counts().items():
            counts[code, test][kind] = number
    kinds = [kind for kind in FINDINGS if any(kind in row for row in counts.values())]
    table = Table("Findings: examples with each defect", ("language", "test", *kinds), words=2)
    for (code, test), row in sorted(counts.items()):
        table.add(code, SHORT.get(test, test), *(str(row.get(kind, "·")) for kind in kinds))
    table.notes = [f"{kind}: {FINDINGS[kind]}" for kind in kinds]
    return table


def reference_tables() -> list[Table]:
    """The published systems, with a dagger where the released test could not be answered."""
    tables: list[Table] = []
    for system, rates in published_rates().items():
        table = Table(
            f"{system} on the released suite: published error rates", ("", "language", *SHORT.values()), words=2
        )
        for code in dict.fromkeys(code for code, _ in rates):
            marks = [_mark(code, test) for test in SHORT]
            cells = [score_text(rates[code, test]) + mark for test, mark in zip(SHORT, marks, strict=True)]
            table.add(code, language(code).name, *cells)
        table.add("", "mean", *_row(published_averages()[system])[:-1], strong=True)
        table.notes = [
            "† the released test's answer is never a span of its context: the error is the test's",
            "‡ nobody could pass: a mark the scorer does not strip, or two gold answers to one question",
        ]
        tables.append(table)
    return tables


def _mark(code: str, test: str) -> str:
    return "†" if (code, test) in UNANSWERABLE else "‡" if (code, test) in UNPASSABLE else ""


def side_by_side(case: str, asked: Mapping[str, Sequence[ChecklistExample]], reviews: Mapping[str, str]) -> Table:
    """The questions of a case in several languages: context, question, answer, and what else is a right answer.

    Below it says which languages are reviewed by speakers, and which are not.
    """
    table = Table(f"Case {case}", ("", "context", "question", "answer", "also right"), words=5)
    for code, examples in asked.items():
        for number, example in enumerate(examples):
            said = (code, example.context) if not number else ("", "")
            also = ", ".join(form for form in example.accepted if form != example.answer)
            table.add(*said, example.question, example.answer, also)
    by_status: dict[str, list[str]] = defaultdict(list)
    for code, status in reviews.items():
        by_status[status].append(code)
    table.notes = [f"{', '.join(codes)}: {status}" for status, codes in by_status.items()]
    return table
