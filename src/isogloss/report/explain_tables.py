"""Tables of an explanation: one system's buckets, two systems' differences, and what the data are like."""

from collections import Counter
from collections.abc import Iterator, Sequence

from isogloss.explain.analysis import Analysis
from isogloss.explain.bias import DatasetBias, Distances, Distribution
from isogloss.explain.buckets import NAMES
from isogloss.explain.examples import ListedExample
from isogloss.explain.model import AttributeScores, BucketScore, Explanation
from isogloss.explain.pairwise import AttributeContrasts, BucketContrast, PairwiseExplanation
from isogloss.explain.single import best_and_worst, bucket_text
from isogloss.report.tables import Table

# Wider texts are cut: a table is for looking, the JSON record for reading.
WIDTH = 60
# More cells than this are summed up task by task.
CELLS = 6
EDGES = {
    "language": "buckets of equal counts within each language",
    "shared": "bucket edges shared by all languages of a task",
    "greedy": "buckets filled one after the other within each language, as in the paper",
    "fixed": "bucket edges as given",
    "mixed": "bucket edges as asked for, attribute by attribute",
}


def analysis_tables(analysis: Analysis) -> list[Table]:
    """Pairs of systems if there are two or more, else the one system; examples below."""
    tables: list[Table] = []
    if analysis.pairs:
        for pair in analysis.pairs:
            tables += versus_tables(pair)
    else:
        tables += explanation_tables(analysis.explanations[0])
    if tables:
        tables[0].notes.append(EDGES[analysis.edges])
    return [*tables, *_case_tables(analysis)]


def explanation_tables(explanation: Explanation) -> list[Table]:
    """Every bucket of every cell under the main metric; for many cells, one table a task over its languages."""
    cells = list(_by_cell(explanation.facets))
    system = str(explanation.system["name"])
    if len(cells) > CELLS:
        tables = [_task_table(system, facets) for facets in _by_task(cells)]
        if tables:
            tables[-1].notes.append("one to six cells are shown bucket by bucket: narrow with --tasks and --languages")
        return tables
    tables = [_cell_table(system, facets) for facets in cells]
    if tables:
        tables[0].notes.append("▲ best, ▼ worst bucket of 20 or more; sentences: Holm-corrected p < 0.05")
    return [*tables, *_confusion_tables(explanation)]


def _cell_table(system: str, facets: Sequence[AttributeScores]) -> Table:
    """Every attribute's buckets, the best and the worst marked; below, the sentences."""
    name, metric = f"{facets[0].task}/{facets[0].language}", facets[0].metric
    header = ("attribute", "bucket", metric, "95 %", "n", "")
    table = Table(f"{system} on {name}: {metric} by attribute", header, words=2)
    for facet in facets:
        _add_facet(table, facet)
    table.notes = [facet.insight for facet in facets if facet.insight]
    return table


def _task_table(system: str, facets: Sequence[AttributeScores]) -> Table:
    """For each attribute the buckets' mean over languages, and in how many of these best and worst really differ."""
    task, metric = facets[0].task, facets[0].metric
    count = len({facet.language for facet in facets})
    header = ("attribute", *NAMES, "differ", "best", "worst")
    table = Table(f"{system} on {task}: {metric} by attribute, mean over {count} languages", header)
    for attribute in dict.fromkeys(facet.attribute for facet in facets):
        inside = [facet for facet in facets if facet.attribute == attribute]
        means = [_mean_of(inside, name) for name in NAMES]
        extremes = [found for facet in inside if (found := best_and_worst(facet)) is not None]
        best, worst = (_most_often([pair[side].bucket.name for pair in extremes]) for side in (0, 1))
        differ = sum(bool(facet.insight) for facet in inside)
        table.add(attribute, *means, f"{differ}/{len(inside)}", best, worst)
    table.notes.append("differ: languages where best and worst bucket differ (Holm-corrected p < 0.05)")
    table.notes.append("best, worst: the bucket that is so most often, and in how many languages")
    return table


def _mean_of(facets: Sequence[AttributeScores], name: str) -> str:
    values = [score.value for facet in facets for score in facet.buckets if score.bucket.name == name]
    return f"{sum(values) / len(values):.1f}" if values and not facets[0].discrete else ""


def _most_often(names: Sequence[str]) -> str:
    (found,) = Counter(names).most_common(1) or [("", 0)]
    return f"{_cut(found[0], 10)} {found[1]}" if found[0] else ""


def _by_task(cells: Sequence[list[AttributeScores]]) -> Iterator[list[AttributeScores]]:
    tasks: dict[str, list[AttributeScores]] = {}
    for facets in cells:
        tasks.setdefault(facets[0].task, []).extend(facets)
    return iter(tasks.values())


def _by_cell(facets: Sequence[AttributeScores]) -> Iterator[list[AttributeScores]]:
    """The facets of each cell under its main metric, which is the first."""
    cells: dict[tuple[str, str], list[AttributeScores]] = {}
    for facet in facets:
        found = cells.setdefault((facet.task, facet.language), [])
        if not found or facet.metric == found[0].metric:
            found.append(facet)
    return iter(cells.values())


def _add_facet(table: Table, facet: AttributeScores) -> None:
    extremes = best_and_worst(facet) or (None, None)
    for place, score in enumerate(facet.buckets):
        mark = "▲" if score is extremes[0] else "▼" if score is extremes[1] else ""
        name = facet.attribute if place == 0 else ""
        table.add(name, bucket_text(score.bucket), f"{score.value:.1f}", _interval(score), str(score.bucket.n), mark)


def _interval(score: BucketScore) -> str:
    return f"{score.low:.1f}–{score.high:.1f}"


def _confusion_tables(explanation: Explanation) -> list[Table]:
    tables = []
    for name, counts in explanation.confusion.items():
        answers = sorted({answer for row in counts.values() for answer in row})
        table = Table(f"{explanation.system['name']} on {name}: gold (rows) and answer", ("", *map(_said, answers)))
        for gold, row in sorted(counts.items()):
            table.add(_said(gold), *(str(row.get(answer, 0)) for answer in answers))
        tables.append(table)
    return tables


def _said(label: str) -> str:
    return label or "(none)"


def versus_tables(pair: PairwiseExplanation) -> list[Table]:
    """Cells first, with what only one system has right; then every bucket of every attribute, cell by cell."""
    cells = Table(
        f"{pair.first} against {pair.second}: who is right where the other is wrong",
        ("", "Δ", "n", f"only {pair.first}", f"only {pair.second}", "turned"),
    )
    for cell in pair.cells:
        inside = [f for f in pair.facets if (f.task, f.language) == (cell.task, cell.language)]
        turned = sum(row.flips and row.significant for facet in inside for row in facet.buckets)
        cells.add(
            f"{cell.task}/{cell.language}",
            f"{cell.difference:+.1f}",
            str(cell.n),
            str(cell.first_right),
            str(cell.second_right),
            str(turned),
        )
    cells.notes = [
        "● p < 0.05, Holm-corrected over all buckets of a cell; ⇄ the order of the two is not that of the cell",
        "turned: buckets where the other system is significantly better",
    ]
    by_cell = _contrasts_by_cell(pair.facets)
    if len(by_cell) > CELLS:
        return [cells, _turned_table(pair)]
    return [cells, *(_contrast_table(pair, facets) for facets in by_cell)]


def _turned_table(pair: PairwiseExplanation) -> Table:
    """Of many cells only the buckets in which the worse system of the cell is significantly better."""
    header = ("cell", "attribute", "bucket", pair.first, pair.second, "Δ", "95 %", "n", "")
    table = Table(f"{pair.first} minus {pair.second}: where the order of the two turns", header, words=3)
    for facet in pair.facets:
        for row in facet.buckets:
            if row.flips and row.significant:
                where = f"{facet.task}/{facet.language}", facet.attribute, bucket_text(row.bucket)
                table.add(*where, *_contrast_cells(row))
    if not table.rows:
        table.notes.append("nowhere: no bucket significantly favours the system that is behind in its cell")
    return table


def _contrasts_by_cell(facets: Sequence[AttributeContrasts]) -> list[list[AttributeContrasts]]:
    cells: dict[tuple[str, str], list[AttributeContrasts]] = {}
    for facet in facets:
        cells.setdefault((facet.task, facet.language), []).append(facet)
    return list(cells.values())


def _contrast_table(pair: PairwiseExplanation, facets: Sequence[AttributeContrasts]) -> Table:
    name = f"{facets[0].task}/{facets[0].language}"
    title = f"{pair.first} minus {pair.second} on {name}: {facets[0].metric} by attribute"
    table = Table(title, ("attribute", "bucket", pair.first, pair.second, "Δ", "95 %", "n", ""), words=2)
    for facet in facets:
        for place, row in enumerate(facet.buckets):
            table.add(facet.attribute if place == 0 else "", bucket_text(row.bucket), *_contrast_cells(row))
    return table


def _contrast_cells(row: BucketContrast) -> tuple[str, ...]:
    marks = ("●" if row.significant else "") + ("⇄" if row.flips else "")
    interval = f"{row.low:+.1f} to {row.high:+.1f}"
    return f"{row.first:.1f}", f"{row.second:.1f}", f"{row.difference:+.1f}", interval, str(row.bucket.n), marks


def _case_tables(analysis: Analysis) -> list[Table]:
    """The listed examples; for pairs those that only one system has right, else those of the worst buckets."""
    tables = []
    for pair in analysis.pairs:
        for cell in pair.cells:
            name = f"{cell.task}/{cell.language}"
            for who, other, ids in (
                (pair.first, pair.second, cell.first_right_ids),
                (pair.second, pair.first, cell.second_right_ids),
            ):
                if ids:
                    title = f"{name}: {who} right, {other} wrong"
                    tables.append(_cases(title, [analysis.cases[name][i] for i in ids], (who, other)))
    if not analysis.pairs:
        for facet in analysis.explanations[0].facets:
            extremes = best_and_worst(facet) if facet.insight else None
            if extremes is not None and extremes[1].ids:
                name, worst = f"{facet.task}/{facet.language}", extremes[1]
                title = f"{name}: {facet.attribute} {bucket_text(worst.bucket)}, worst first"
                found = [analysis.cases[name][identifier] for identifier in worst.ids]
                tables.append(_cases(title, found, tuple(found[0].predictions)))
    return tables


def _cases(title: str, cases: Sequence[ListedExample], systems: Sequence[str]) -> Table:
    table = Table(title, ("id", "text", "gold", *systems), words=3 + len(systems))
    for case in cases:
        # The first input is what is asked; contexts are too long for a terminal.
        text = next(iter(case.inputs.values()), "")
        said = (f"{_cut(case.predictions[name])} ({case.scores[name]:.0f})" for name in systems)
        table.add(_cut(case.id, 12), _cut(text), _cut(case.gold), *said)
    return table


def _cut(value: object, width: int = WIDTH) -> str:
    text = " ".join(map(str, value)) if isinstance(value, list | tuple) else "(none)" if value is None else str(value)
    return text if len(text) <= width else f"{text[: width - 1]}…"


def bias_tables(bias: DatasetBias) -> list[Table]:
    """For each task the attributes' means, or most frequent values, language by language; then the distances."""
    tables = []
    for task in dict.fromkeys(found.task for found in bias.distributions):
        inside = [found for found in bias.distributions if found.task == task]
        tables.append(_distribution_table(task, inside))
        apart = [table for table in bias.distances if table.task == task]
        if apart:
            tables.append(_distance_table(task, apart))
    if bias.missing and tables:
        tables[-1].notes.append(f"no gold at hand: {' '.join(bias.missing)}")
    return tables


def _distribution_table(task: str, found: Sequence[Distribution]) -> Table:
    names = list(dict.fromkeys(each.attribute for each in found))
    table = Table(f"{task}: what the examples are like (mean, or most frequent value)", ("code", "n", *names))
    by_cell = {(each.language, each.attribute): each for each in found}
    for language in dict.fromkeys(each.language for each in found):
        cells = [by_cell.get((language, name)) for name in names]
        size = max(each.n for each in cells if each is not None)
        table.add(language, str(size), *map(_typical, cells))
    return table


def _typical(found: Distribution | None) -> str:
    if found is None:
        return ""
    if found.shares:
        value, share = next(iter(found.shares.items()))
        return f"{value or 'none'} {100 * share:.0f} %"
    return "" if found.mean is None else f"{found.mean:.3g}"


def _distance_table(task: str, found: Sequence[Distances]) -> Table:
    """How far each language is from the others, on average over them."""
    languages = list(dict.fromkeys(code for each in found for code in each.languages))
    table = Table(f"{task}: mean distance from the other languages", ("code", *(each.attribute for each in found)))
    for code in languages:
        table.add(code, *(_mean_distance(each, code) for each in found))
    table.notes.append("Wasserstein-1 in the attribute's unit; total variation (0 to 1) where it has values")
    return table


def _mean_distance(found: Distances, language: str) -> str:
    if language not in found.languages:
        return ""
    row = found.table[found.languages.index(language)]
    return f"{sum(row) / (len(row) - 1):.3g}"
