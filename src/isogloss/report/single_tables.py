"""Tables of one system explained: its scores by bucket, and its confusions."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from isogloss.explain.buckets import NAMES, bucket_text
from isogloss.explain.buckets import interval_text as range_text
from isogloss.explain.model import AttributeScores, Bucket, Explanation
from isogloss.explain.single import best_and_worst
from isogloss.figures import difference_interval_text, difference_text, interval_text, score_text
from isogloss.report.calibration_tables import BIN_HEADER, bin_cells
from isogloss.report.formatting import interval_notes, shortened
from isogloss.report.grouping import group_by
from isogloss.report.tables import Table
from isogloss.scoring.names import language_name

# More cells than this are summed up task by task.
CELLS_SHOWN = 6


def explanation_tables(explanation: Explanation) -> list[Table]:
    """Every bucket of every cell under the main metric; for many cells, one table a task over its languages."""
    facets = list(under_main_metric(explanation.facets))
    cells = group_by(facets, lambda facet: (facet.task, facet.language)).values()
    system = str(explanation.system["name"])
    if len(cells) > CELLS_SHOWN:
        tables = [_task_table(system, of_task) for of_task in group_by(facets, lambda facet: facet.task).values()]
        if tables:
            tables[-1].notes.append("one to six cells are shown bucket by bucket: narrow with --tasks and --languages")
            tables[-1].notes.append("--across shows every bucket over all languages, values too")
        return tables
    tables = [_cell_table(system, of_cell) for of_cell in cells]
    if tables:
        tables[0].notes.append("▲ best, ▼ worst bucket of 20 or more; sentences: Holm-corrected p < 0.05")
    return [*tables, *_confusion_tables(explanation), *_calibration_tables(explanation)]


def _cell_table(system: str, facets: Sequence[AttributeScores]) -> Table:
    """Every attribute's buckets, the best and the worst marked; below, the sentences."""
    name, metric = f"{facets[0].task}/{facets[0].language}", facets[0].metric
    header = ("attribute", "bucket", metric, "95 %", "n", "")
    table = Table(f"{system} on {name}: {metric} by attribute", header, words=2)
    for facet in facets:
        _add_facet(table, facet)
    table.notes = [*(facet.insight for facet in facets if facet.insight), *interval_notes(table)]
    return table


def _task_table(system: str, facets: Sequence[AttributeScores]) -> Table:
    """For each attribute the buckets' mean over languages, and in how many of these best and worst really differ."""
    task, metric = facets[0].task, facets[0].metric
    count = len({facet.language for facet in facets})
    header = ("attribute", *NAMES, "languages", "differ", "best", "worst")
    table = Table(f"{system} on {task}: {metric} by attribute, mean over up to {count} languages", header)
    for attribute, inside in group_by(facets, lambda facet: facet.attribute).items():
        means = [_mean_of(inside, name) for name in NAMES]
        extremes = [found for facet in inside if (found := best_and_worst(facet)) is not None]
        best, worst = (_most_often([pair[side].bucket.name for pair in extremes]) for side in (0, 1))
        differ = sum(bool(facet.insight) for facet in inside)
        table.add(attribute, *means, f"{len(inside)}/{count}", f"{differ}/{len(inside)}", best, worst)
    table.notes.append("languages: how many of the task's have the attribute, and are in its means")
    table.notes.append("differ: languages where best and worst bucket differ (Holm-corrected p < 0.05)")
    table.notes.append("best, worst: the bucket that is so most often, and in how many languages")
    return table


def _mean_of(facets: Sequence[AttributeScores], name: str) -> str:
    values = [score.value for facet in facets for score in facet.buckets if score.bucket.name == name]
    return score_text(sum(values) / len(values)) if values and not facets[0].discrete else ""


def _most_often(names: Sequence[str]) -> str:
    [(name, count)] = Counter(names).most_common(1) or [("", 0)]
    return f"{shortened(name, 10)} {count}" if name else ""


def under_main_metric(facets: Sequence[AttributeScores]) -> Iterator[AttributeScores]:
    """The facets under the main metric of their cell, which is the first."""
    main: dict[tuple[str, str], str] = {}
    for facet in facets:
        if main.setdefault((facet.task, facet.language), facet.metric) == facet.metric:
            yield facet


def _add_facet(table: Table, facet: AttributeScores) -> None:
    extremes = best_and_worst(facet) or (None, None)
    for place, score in enumerate(facet.buckets):
        mark = "▲" if score is extremes[0] else "▼" if score is extremes[1] else ""
        name = facet.attribute if place == 0 else ""
        numbers = score_text(score.value), interval_text(score.low, score.high), str(score.bucket.n)
        table.add(name, bucket_text(score.bucket), *numbers, mark)


def _confusion_tables(explanation: Explanation) -> list[Table]:
    tables = []
    for name, counts in explanation.confusion.items():
        answers = sorted({answer for row in counts.values() for answer in row})
        table = Table(f"{explanation.system['name']} on {name}: gold (rows) and answer", ("", *map(_label, answers)))
        for gold, row in sorted(counts.items()):
            table.add(_label(gold), *(str(row.get(answer, 0)) for answer in answers))
        tables.append(table)
    return tables


def _calibration_tables(explanation: Explanation) -> list[Table]:
    """For each cell with confidences, how right the system is when it is so and so sure."""
    tables = []
    for name, found in explanation.calibration.items():
        table = Table(f"{explanation.system['name']} on {name}: calibration", BIN_HEADER)
        for each in found.bins:
            table.add(*bin_cells(each))
        interval = difference_interval_text(found.gap_low, found.gap_high)
        of_gap = f"{difference_text(found.gap)} ({interval})" if interval else difference_text(found.gap)
        table.notes = [
            f"mean confidence minus mean score: {of_gap}; above 0 the system is too sure of itself",
            f"expected calibration error over ten bins: {score_text(found.ece)}; chance alone keeps it above 0",
        ]
        tables.append(table)
    return tables


def _label(label: str) -> str:
    return label or "(none)"


def bucket_edges(bucket: Bucket) -> str:
    """The range of a bucket as the paper prints it, "" for a discrete one and where it is the bucket's name."""
    text = range_text(bucket.low, bucket.high, first=bucket.name == NAMES[0])
    return "" if text == bucket.name or bucket.name.startswith(("[", "(")) else text


def bucket_table(explanations: Mapping[str, Explanation]) -> Table:
    """Every bucket of every facet."""
    header = ("system", "task", "code", "language", "attribute", "metric", "bucket", "edges", "n", "score", "95 %")
    table = Table("Scores by bucket", header, words=8)
    for name, explanation in explanations.items():
        for facet in explanation.facets:
            place = (name, facet.task, facet.language, language_name(facet.language), facet.attribute, facet.metric)
            for score in facet.buckets:
                bucket, numbers = score.bucket, (score_text(score.value), interval_text(score.low, score.high))
                table.add(*place, bucket.name, bucket_edges(bucket), str(bucket.n), *numbers)
    table.notes = interval_notes(table)
    return table
