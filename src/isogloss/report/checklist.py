"""Tables of the checklist: error rates, findings of the audit, failures, one case in many languages."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from isogloss.checklist.audit import KINDS, Findings
from isogloss.checklist.reference import UNANSWERABLE, UNPASSABLE, published_averages, published_rates
from isogloss.checklist.scoring import CellRate, Failure, averages
from isogloss.grammar.schema import TESTS
from isogloss.languages import language
from isogloss.report.tables import Table

SHORT = {
    "comparisons": "comparisons",
    "intensifiers": "intensifiers",
    "properties": "properties",
    "job_vs_nationality": "job",
    "animal_vs_vehicle": "animal",
    "animal_vs_vehicle_2": "animal 2",
}
_SHADES = " ░▒▓█"


def shaded(rate: float) -> str:
    """A rate with a mark that darkens as it grows, so that a column reads as a heat map."""
    return f"{rate:.1f} {_SHADES[min(4, int(rate // 20.0001))]}"


def rate_tables(cells: Sequence[CellRate], references: Mapping[str, Mapping[str, float]], name: str) -> list[Table]:
    """Averages by both rules beside the published systems, then a heat map language by test for each rule."""
    summary = Table(f"{name}: error rate per test, mean over languages", ("", *SHORT.values(), "mean"))
    for mode in ("paper", "fair"):
        summary.add(f"rule: {mode}", *_row(averages(cells, mode)), strong=True)
    for system, means in references.items():
        summary.add(f"{system} (published)", *_row(means))
    gap = averages(cells, "paper")["overall"] - averages(cells, "fair")["overall"]
    summary.notes = [
        f"{gap:.1f} points of the paper rule's error are the rule's, not the system's",
        "published systems met the released suite, not this one: not comparable case by case",
    ]
    silent = sum(cell.unanswered for cell in cells)
    if silent:
        summary.notes.append(f"{silent:,} examples have no answer; each fails its case")
    doubtful = sum(cell.review.startswith("unreviewed") for cell in cells)
    if doubtful:
        summary.notes.append(f"{doubtful} of {len(cells)} language × test cells are unreviewed by a native speaker")
    return [summary, *(_heat_map(cells, mode) for mode in ("fair", "paper"))]


def _row(means: Mapping[str, float]) -> list[str]:
    return [f"{means[test]:.1f}" if test in means else "·" for test in (*TESTS, "overall")]


def _heat_map(cells: Sequence[CellRate], mode: str) -> Table:
    table = Table(f"Error rate by language, rule: {mode}", ("", "language", *SHORT.values()), words=2)
    by_language: dict[str, dict[str, CellRate]] = defaultdict(dict)
    for cell in cells:
        by_language[cell.language][cell.test] = cell
    for code, tests in by_language.items():
        rates = [tests[test].rates[mode] if test in tests else None for test in TESTS]
        table.add(code, language(code).name, *(shaded(rate.value) if rate else "·" for rate in rates))
    return table


def finding_table(findings: Mapping[str, Findings]) -> Table:
    """One row a language and test with findings; columns are the kinds found."""
    counts: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for found in findings.values():
        for (code, test, kind), number in found.counts().items():
            counts[code, test][kind] = number
    kinds = [kind for kind in KINDS if any(kind in row for row in counts.values())]
    table = Table("Findings: examples with each defect", ("language", "test", *kinds), words=2)
    for (code, test), row in sorted(counts.items()):
        table.add(code, SHORT.get(test, test), *(str(row.get(kind, "·")) for kind in kinds))
    table.notes = [f"{kind}: {KINDS[kind]}" for kind in kinds]
    return table


def failure_table(failures: Sequence[Failure]) -> Table:
    """Wrong answers, with everything needed to see why."""
    header = ("id", "context", "question", "gold", "prediction")
    table = Table("Failures", header, words=len(header))
    for failure in failures:
        said = "—" if failure.prediction is None else failure.prediction
        table.add(failure.id, failure.context, failure.question, failure.gold, said)
    return table


def contrast_table(pairs: Sequence[tuple[CellRate, CellRate, float]], names: tuple[str, str], mode: str) -> Table:
    """Two systems, cell by cell; negative differences favour the first (fewer errors)."""
    table = Table(f"{names[0]} against {names[1]}, rule: {mode}", ("language", "test", *names, "Δ", "p", ""), words=2)
    for first, second, p in pairs:
        a, b = first.rates[mode].value, second.rates[mode].value
        mark = "●" if p < 0.05 else ""
        table.add(first.language, SHORT[first.test], f"{a:.1f}", f"{b:.1f}", f"{a - b:+.1f}", f"{p:.3f}", mark)
    table.notes = ["p: McNemar's exact test over cases, Holm-corrected; ● p < 0.05"]
    return table


def reference_tables() -> list[Table]:
    """The published systems, with a dagger where the released test could not be answered."""
    tables: list[Table] = []
    for system, rates in published_rates().items():
        table = Table(
            f"{system} on the released suite: published error rates", ("", "language", *SHORT.values()), words=2
        )
        for code in dict.fromkeys(code for code, _ in rates):
            marks = [_mark(code, test) for test in TESTS]
            cells = [f"{rates[code, test]:.1f}{mark}" for test, mark in zip(TESTS, marks, strict=True)]
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


def side_by_side(case_id: str, rows: Sequence[tuple[str, str, str, str]]) -> Table:
    """One case in several languages: context, question, answer."""
    table = Table(f"Case {case_id}", ("", "context", "question", "answer"), words=4)
    for row in rows:
        table.add(*row)
    return table
