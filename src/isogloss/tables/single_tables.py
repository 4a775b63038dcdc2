"""Tables of one system explained: its scores by bucket, its confusions, and its confidences against its scores."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from isogloss.explain.buckets import NAMES, bucket_edges, bucket_text
from isogloss.explain.buckets import interval_text as range_text
from isogloss.explain.model import AttributeScores, Calibration, CalibrationBin, Explanation
from isogloss.figures import difference_interval_text, difference_text, interval_text, score_text
from isogloss.grouping import group_by
from isogloss.scoring.names import language_name
from isogloss.tables.formatting import interval_notes, shortened
from isogloss.tables.table import Table

# Number of cells from which tables summarise task by task.
CELLS_SHOWN = 6
BIN_HEADER = ("confidence", "n", "mean confidence", "score", "difference")
# File name of the calibration table that fits on a page.
ON_PAGE = "calibration"
TOO_SURE = "difference: mean confidence minus mean score; above 0 the system is overconfident"
ECE = (
    "ECE: expected calibration error over ten bins, above 0 by chance even if calibrated; debiased: near 0 if "
    "calibrated, rather too low than too high; the interval covers the true error in at least 95 % of cases"
)
MARKS = "▲ better, ▼ worse than every other bucket (q < 0.05); buckets of fewer than 20 sources are not tested"


def explanation_tables(explanation: Explanation) -> list[Table]:
    """Return every bucket of every cell under the main metric; for many cells, one table per task."""
    facets = list(under_main_metric(explanation.facets))
    cells = group_by(facets, lambda facet: (facet.task, facet.language)).values()
    system = str(explanation.system["name"])
    if len(cells) > CELLS_SHOWN:
        tables = [_task_table(system, of_task) for of_task in group_by(facets, lambda facet: facet.task).values()]
        if tables:
            tables[-1].notes.append("up to six cells are shown bucket by bucket: select with --tasks and --languages")
            tables[-1].notes.append("--across shows every bucket over all languages, also of discrete attributes")
        return tables
    tables = [_cell_table(explanation, of_cell) for of_cell in cells]
    if tables:
        tables[0].notes.append(MARKS)
    return [*tables, *_confusion_tables(explanation), *_cell_calibrations(explanation)]


def _cell_table(explanation: Explanation, facets: Sequence[AttributeScores]) -> Table:
    """Return every attribute's buckets, marking a certain best and worst; insights and the scorer's remarks below."""
    name, metric = f"{facets[0].task}/{facets[0].language}", facets[0].metric
    header = ("attribute", "bucket", metric, "95 %", "n", "")
    table = Table(f"{explanation.system['name']} on {name}: {metric} by attribute", header, words=2)
    for facet in facets:
        best, worst = facet.named("best"), facet.named("worst")
        for index, score in enumerate(facet.buckets):
            mark = "▲" if score is best else "▼" if score is worst else ""
            numbers = score_text(score.value), interval_text(score.low, score.high), str(score.bucket.n)
            table.add("" if index else facet.attribute, bucket_text(score.bucket), *numbers, mark)
    insights = [facet.insight for facet in facets if facet.insight]
    table.notes = [*insights, *explanation.notes.get(name, ()), *interval_notes(table)]
    return table


def _task_table(system: str, facets: Sequence[AttributeScores]) -> Table:
    """Return the buckets' means over languages, and the number of languages with a significant difference."""
    task, metric = facets[0].task, facets[0].metric
    count = len({facet.language for facet in facets})
    header = ("attribute", *NAMES, "languages", "differ", "best", "worst")
    table = Table(f"{system} on {task}: {metric} by attribute, mean over up to {count} languages", header)
    for attribute, inside in group_by(facets, lambda facet: facet.attribute).items():
        rows = [row for facet in inside for row in facet.buckets if not inside[0].discrete]
        values = group_by(rows, lambda row: row.bucket.name)
        means = [score_text(fmean(row.value for row in values[name])) if name in values else "" for name in NAMES]
        best = _most_often([score.bucket.name for facet in inside if (score := facet.named("best"))])
        worst = _most_often([score.bucket.name for facet in inside if (score := facet.named("worst"))])
        differ = sum(bool(facet.insight) for facet in inside)
        table.add(attribute, *means, f"{len(inside)}/{count}", f"{differ}/{len(inside)}", best, worst)
    table.notes = [
        "languages: number of the task's languages that have the attribute and are averaged",
        "differ: languages with a significant trend or difference between buckets (q < 0.05)",
        "best, worst: the bucket that most often is significantly better or worse than every other, and in how many "
        "languages; several if tied",
    ]
    return table


def _most_often(names: Sequence[str]) -> str:
    counts = Counter(names)
    most = max(counts.values(), default=0)
    tied = [shortened(name, 10) for name, count in counts.items() if count == most]
    return f"{', '.join(tied)} {most}" if tied else ""


def under_main_metric(facets: Sequence[AttributeScores]) -> Iterator[AttributeScores]:
    """Yield the facets under the main metric of their cell, which is the first."""
    main: dict[tuple[str, str], str] = {}
    for facet in facets:
        if main.setdefault((facet.task, facet.language), facet.metric) == facet.metric:
            yield facet


def _confusion_tables(explanation: Explanation) -> list[Table]:
    tables = []
    for name, counts in explanation.confusion.items():
        answers = sorted({answer for row in counts.values() for answer in row})
        header = ("", *(answer or "(none)" for answer in answers))
        table = Table(f"{explanation.system['name']} on {name}: gold (rows) and answer", header)
        for gold, row in sorted(counts.items()):
            table.add(gold or "(none)", *(str(row.get(answer, 0)) for answer in answers))
        tables.append(table)
    return tables


def _cell_calibrations(explanation: Explanation) -> list[Table]:
    """Return the calibration of each cell with confidences."""
    tables = []
    for name, calibration in explanation.calibration.items():
        table = Table(f"{explanation.system['name']} on {name}: calibration", BIN_HEADER)
        for row in calibration.bins:
            table.add(*_bin_cells(row))
        interval = difference_interval_text(calibration.gap_low, calibration.gap_high)
        gap, ece = f"{difference_text(calibration.gap)} ({interval})", score_text(calibration.ece)
        table.notes = [
            f"mean confidence minus mean score: {gap}; above 0 the system is overconfident",
            f"expected calibration error over ten bins: {ece}; {_debiased(calibration)}",
        ]
        tables.append(table)
    return tables


def _debiased(calibration: Calibration) -> str:
    if calibration.ece_debiased is None:
        return "above 0 by chance even if calibrated"
    interval = interval_text(calibration.ece_low, calibration.ece_high)
    return f"{score_text(calibration.ece_debiased)} ({interval}) without the part expected by chance"


def calibration_tables(explanations: Mapping[str, Explanation]) -> dict[str, Table]:
    """Return tables by file name for all systems with confidences; empty if no system has any."""
    numbers = ("n", "mean confidence", "score", "difference", "95 %", "ECE", "debiased", "95 % of ECE")
    cells = Table("Calibration", ("system", "cell", *numbers), words=2)
    bins = Table("Calibration by confidence", ("system", "cell", *BIN_HEADER), words=3, notes=[TOO_SURE])
    for system, explanation in explanations.items():
        for cell, row in explanation.calibration.items():
            interval = difference_interval_text(row.gap_low, row.gap_high)
            error = score_text(row.ece), score_text(row.ece_debiased), interval_text(row.ece_low, row.ece_high)
            cells.add(system, cell, str(row.n), *_means(row, row.gap), interval, *error)
            for part in row.bins:
                bins.add(system, cell, *_bin_cells(part))
    cells.notes = [TOO_SURE, ECE, *interval_notes(cells)]
    return {ON_PAGE: cells, "calibration-by-confidence": bins} if cells.rows else {}


def _bin_cells(row: CalibrationBin) -> tuple[str, ...]:
    return range_text(row.low, row.high, first=True), str(row.n), *_means(row, row.confidence - row.score)


def _means(summary: Calibration | CalibrationBin, gap: float) -> tuple[str, str, str]:
    return score_text(summary.confidence), score_text(summary.score), difference_text(gap)


def bucket_table(explanations: Mapping[str, Explanation]) -> Table:
    """Return every bucket of every facet."""
    header = ("system", "task", "code", "language", "attribute", "metric", "bucket", "edges", "n", "score", "95 %")
    table = Table("Scores by bucket", header, words=8)
    for name, explanation in explanations.items():
        for facet in explanation.facets:
            key = (name, facet.task, facet.language, language_name(facet.language), facet.attribute, facet.metric)
            for score in facet.buckets:
                bucket, numbers = score.bucket, (score_text(score.value), interval_text(score.low, score.high))
                table.add(*key, bucket.name, bucket_edges(bucket), str(bucket.n), *numbers)
    table.notes = interval_notes(table)
    return table
