"""Tables of `isogloss explain`: one, two or several systems, their listed examples, and dataset bias."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from statistics import fmean
from typing import NamedTuple

from isogloss.explain.analysis import Analysis
from isogloss.explain.bias import DatasetBias, Distances, Distribution
from isogloss.explain.buckets import NAMES, bucket_edges, bucket_text
from isogloss.explain.correction import Correction
from isogloss.explain.examples import ListedExample
from isogloss.explain.model import BucketedAttribute
from isogloss.explain.pairwise import AttributeContrasts, BucketContrast, PairwiseExplanation
from isogloss.figures import counted, difference_text, score_text
from isogloss.grouping import group_by
from isogloss.languages import published
from isogloss.metrics.estimate import ROUNDING
from isogloss.scoring.names import language_name
from isogloss.tables.formatting import interval_notes, left_out_notes, shortened
from isogloss.tables.score_tables import only_if_several
from isogloss.tables.single_tables import CELLS_SHOWN, explanation_tables, under_main_metric
from isogloss.tables.table import Table

BINNING = {
    "language": "buckets of equal counts within each language",
    "shared": "bucket edges shared by all languages of a task",
    "greedy": "buckets filled one after the other within each language",
    "above-zero": "one bucket for 0, the others filled one after the other within each language",
    "fixed": "bucket edges as given",
    "mixed": "bucket edges as chosen for each attribute",
}

CONVENTION_NOTES = {
    "paper": "…@paper: attributes and buckets as in the XTREME-R paper's Tables 25 and 26",
    "explainaboard": "…@explainaboard: attributes and buckets as in ExplainaBoard's reports",
}
NOTES = [
    "mean: over the languages that have the bucket, with equal weights; languages: number that have it, out of all",
    "lowest, highest: with the language, +1 if another one has the same value",
    "bucket edges are set per language unless they are shared (all=shared) or given",
]
SIGNIFICANT = "●: languages in which the difference is significant (q < 0.05)"
MARKS = (
    "● q < 0.05; ⇄ significant, and so is the opposite order in the rest of the cell; ▲ largest gain, ▼ largest loss "
    "of the first system along an attribute, significant or not, several if tied; 95 %: interval of a single bucket"
)
# Mark of a distance within chance.
NOISE = "≈"


class LanguageBucket(NamedTuple):
    """One bucket of one language: the score, or the difference of two systems and its significance."""

    facet: BucketedAttribute
    name: str
    value: float
    n: int
    significant: bool | None = None


def across_tables(analysis: Analysis) -> list[Table]:
    """Return one table per task for each pair of systems, or for a single system."""
    tables: list[Table] = []
    for pair in analysis.pairs:
        differences = [
            LanguageBucket(facet, row.bucket.name, row.difference, row.bucket.n, row.significant)
            for facet in pair.facets
            for row in facet.buckets
        ]
        tables += _tables(f"{pair.first} minus {pair.second}", differences)
    if not analysis.pairs:
        explanation = analysis.explanations[0]
        scores = [
            LanguageBucket(facet, score.bucket.name, score.value, score.bucket.n)
            for facet in under_main_metric(explanation.facets)
            for score in facet.buckets
        ]
        tables += _tables(str(explanation.system["name"]), scores)
    return tables


def _tables(what: str, buckets: Sequence[LanguageBucket]) -> Iterator[Table]:
    for task, inside in group_by(buckets, lambda row: row.facet.task).items():
        is_pair = inside[0].significant is not None
        text = difference_text if is_pair else score_text
        count = len({row.facet.language for row in inside})
        title = f"{what} on {task}: {inside[0].facet.metric} by bucket, over {counted(count, 'language')}"
        numbers = ("mean Δ", "lowest", "highest", "●") if is_pair else ("mean", "lowest", "highest")
        table = Table(title, ("attribute", "bucket", *numbers, "languages", "n"), words=2, notes=list(NOTES))
        for attribute, of_attribute in group_by(inside, lambda row: row.facet.attribute).items():
            for number, rows in enumerate(_in_order(of_attribute)):
                ends = (_end(rows, side(row.value for row in rows), text) for side in (min, max))
                significant = [str(sum(bool(row.significant) for row in rows))] if is_pair else []
                counts = *significant, f"{len(rows)}/{count}", str(sum(row.n for row in rows))
                name = "" if number else attribute
                table.add(name, rows[0].name, text(fmean(row.value for row in rows)), *ends, *counts)
        table.notes += [SIGNIFICANT] if is_pair else []
        yield table


def _end(rows: Sequence[LanguageBucket], value: float, text: Callable[[float], str]) -> str:
    """Return the lowest or highest value with its language, and the number of further languages that print alike."""
    first, *others = [row.facet.language for row in rows if text(row.value) == text(value)]
    return f"{text(value)} {first}{f' +{len(others)}' if others else ''}"


def _in_order(rows: Sequence[LanguageBucket]) -> list[list[LanguageBucket]]:
    """Return the rows of each bucket of an attribute: numbers in order, values by number of examples."""
    buckets = group_by(rows, lambda row: row.name)
    order = {name: index for index, name in enumerate(NAMES)}
    return sorted(buckets.values(), key=lambda same: (order.get(same[0].name, len(NAMES)), -sum(row.n for row in same)))


def analysis_tables(analysis: Analysis, *, across: bool = False) -> list[Table]:
    """Return tables of pairs of systems, or of a single system; examples last.

    If `across`, every bucket appears once for all languages of a task.
    """
    if across:
        tables = across_tables(analysis)
    else:
        tables = pairwise_tables(analysis.pairs) if analysis.pairs else explanation_tables(analysis.explanations[0])
    notes = [BINNING[analysis.edges], *correction_notes(analysis.correction)]
    notes += [CONVENTION_NOTES[analysis.convention]] if analysis.convention in CONVENTION_NOTES else []
    if analysis.convention == "paper":
        # Attributes defined by the paper have a suffix.
        shown = {facet.attribute.partition("@")[0] for each in analysis.explanations for facet in each.facets}
        notes += [str(doubt) for doubt in published.doubts() if doubt.attribute in shown]
    notes += [f"answers to questions are compared as in the {analysis.dialect} scorer"] if analysis.dialect else []
    if tables:
        tables[0].notes += [*notes, *left_out_notes(analysis.left_out)]
    return [*tables, *_case_tables(analysis)]


def correction_notes(correction: Correction | None) -> list[str]:
    """Return a note on what q-values cover, if anything was tested."""
    return [] if correction is None else [f"q: at most 5 % of all findings are false on average, {correction}"]


def _case_tables(analysis: Analysis) -> list[Table]:
    """Return the listed examples: those only one of two systems gets right, or those of the worst buckets."""
    tables = []
    for pair in analysis.pairs:
        for cell in pair.cells:
            name, systems = f"{cell.task}/{cell.language}", (pair.first, pair.second)
            for (right, wrong), ids in ((systems, cell.first_right_ids), (systems[::-1], cell.second_right_ids)):
                if ids:
                    title = f"{name}: {right} right, {wrong} wrong"
                    tables.append(_case_table(title, [analysis.cases[name][i] for i in ids], (right, wrong)))
    if not analysis.pairs:
        for facet in analysis.explanations[0].facets:
            worst = next((facet.buckets[claim.buckets[0]] for claim in facet.claims if claim.kind == "worst"), None)
            if facet.insight and worst is not None and worst.ids:
                name = f"{facet.task}/{facet.language}"
                title = f"{name}: {facet.attribute} {bucket_text(worst.bucket)}, worst first"
                cases = [analysis.cases[name][identifier] for identifier in worst.ids]
                tables.append(_case_table(title, cases, tuple(cases[0].predictions)))
    return tables


def _case_table(title: str, cases: Sequence[ListedExample], systems: Sequence[str]) -> Table:
    table = Table(title, ("id", "text", "gold", *systems), words=3 + len(systems))
    for case in cases:
        # The first input is the question; contexts are too long for a terminal.
        text = next(iter(case.inputs.values()), "")
        answers = (f"{shortened(case.predictions[name])} ({score_text(case.scores[name], 0)})" for name in systems)
        table.add(shortened(case.id, 12), shortened(text), shortened(case.gold), *answers)
    return table


def pairwise_tables(pairs: Sequence[PairwiseExplanation]) -> list[Table]:
    """Return cells, then their buckets; for many cells only the buckets in which the ranking flips."""
    by_cell = [
        (pair, facets)
        for pair in pairs
        for facets in group_by(pair.facets, lambda facet: (facet.task, facet.language)).values()
    ]
    if len(by_cell) > CELLS_SHOWN * len(pairs):
        return [disagreement_table(pairs), turned_table(pairs)]
    buckets = [_cell_table(pair, facets) for pair, facets in by_cell]
    for table in buckets[:1]:
        table.notes.append(MARKS)
    return [disagreement_table(pairs), *buckets]


def disagreement_table(pairs: Sequence[PairwiseExplanation]) -> Table:
    """Return every cell: its difference, and the examples that only one of the systems gets right."""
    first, second = (pairs[0].first, pairs[0].second) if len(pairs) == 1 else ("first", "second")
    words = ("task", "code", "language", *only_if_several(pairs, "first", "second"))
    header = (*words, "Δ", "n", f"only {first}", f"only {second}", "turned")
    table = Table(_title(pairs, "against", "examples that only one system gets right"), header, words=len(words))
    for pair in pairs:
        turned = Counter((facet.task, facet.language) for facet, _ in _turned(pair))
        for cell in pair.cells:
            names = only_if_several(pairs, pair.first, pair.second)
            counts = (cell.n, cell.first_right, cell.second_right, turned[cell.task, cell.language])
            key = cell.task, cell.language, language_name(cell.language)
            table.add(*key, *names, difference_text(cell.difference), *map(str, counts))
    table.notes = [
        "only …: examples that only this system gets right",
        "turned: buckets in which the system that is behind in the cell is significantly ahead (q < 0.05)",
    ]
    return table


def turned_table(pairs: Sequence[PairwiseExplanation]) -> Table:
    """Return the buckets in which the system that is behind in the cell is significantly ahead."""
    words = ("task", "code", "language", "attribute", "bucket", *only_if_several(pairs, "first", "second"))
    table = Table(_title(pairs, "minus", "where the ranking flips"), (*words, *_number_header(pairs)), words=len(words))
    for pair in pairs:
        for facet, row in _turned(pair):
            key = facet.task, facet.language, language_name(facet.language), facet.attribute, bucket_text(row.bucket)
            names = only_if_several(pairs, pair.first, pair.second)
            table.add(*key, *names, *row.texts(), str(row.bucket.n))
    if not table.rows:
        table.notes = ["nowhere: no bucket significantly favours the system that is behind in its cell"]
    return table


def pairwise_bucket_table(pairs: Sequence[PairwiseExplanation]) -> Table:
    """Return every bucket of every attribute of every cell."""
    key = ("task", "code", "language", "attribute", "metric", "bucket", "edges")
    words = (*key, *only_if_several(pairs, "first", "second"))
    title = _title(pairs, "minus", "differences by bucket")
    table = Table(title, (*words, *_number_header(pairs), ""), words=len(words))
    for pair in pairs:
        for facet in pair.facets:
            where = facet.task, facet.language, language_name(facet.language), facet.attribute, facet.metric
            for row in facet.buckets:
                what = row.bucket.name, bucket_edges(row.bucket), *only_if_several(pairs, pair.first, pair.second)
                table.add(*where, *what, *row.texts(), str(row.bucket.n), _marks(facet, row))
    table.notes = [MARKS, *interval_notes(table)]
    return table


def _cell_table(pair: PairwiseExplanation, facets: Sequence[AttributeContrasts]) -> Table:
    """Return every bucket of one cell, formatted for reading."""
    name = f"{facets[0].task}/{facets[0].language}"
    title = f"{pair.first} minus {pair.second} on {name}: {facets[0].metric} by attribute"
    table = Table(title, ("attribute", "bucket", *_number_header([pair]), ""), words=2)
    for facet in facets:
        for index, row in enumerate(facet.buckets):
            numbers = *row.texts(), str(row.bucket.n)
            table.add("" if index else facet.attribute, bucket_text(row.bucket), *numbers, _marks(facet, row))
    table.notes = interval_notes(table)
    return table


def _title(pairs: Sequence[PairwiseExplanation], joint: str, what: str) -> str:
    return f"{pairs[0].first} {joint} {pairs[0].second}: {what}" if len(pairs) == 1 else f"Pairs of systems: {what}"


def _number_header(pairs: Sequence[PairwiseExplanation]) -> tuple[str, ...]:
    sides = (pairs[0].first, pairs[0].second) if len(pairs) == 1 else ("score of first", "score of second")
    return *sides, "Δ", "95 %", "q", "n"


def _marks(facet: AttributeContrasts, row: BucketContrast) -> str:
    extreme = "▲" * (row in facet.largest_gains) + "▼" * (row in facet.largest_losses)
    return extreme + "●" * row.significant + "⇄" * row.flips


def _turned(pair: PairwiseExplanation) -> list[tuple[AttributeContrasts, BucketContrast]]:
    return [(facet, row) for facet in pair.facets for row in facet.buckets if row.flips and row.significant]


def bias_tables(bias: DatasetBias) -> list[Table]:
    """Return each task's means or most frequent values by language, then the distances."""
    tables = []
    distances = group_by(bias.distances, lambda table: table.task)
    for task, distributions in group_by(bias.distributions, lambda distribution: distribution.task).items():
        tables.append(_typical_table(task, distributions))
        if task in distances:
            tables.append(_mean_distance_table(task, distances[task]))
    if bias.missing and tables:
        tables[-1].notes.append(f"no gold labels: {' '.join(bias.missing)}")
    return tables


def _typical_table(task: str, distributions: Sequence[Distribution]) -> Table:
    names = list(dict.fromkeys(distribution.attribute for distribution in distributions))
    table = Table(f"{task}: properties of the examples (mean or most frequent value)", ("code", "n", *names))
    for language, rows in group_by(distributions, lambda row: row.language).items():
        by_name = {row.attribute: row for row in rows}
        typical = (_typical(by_name[name]) if name in by_name else "" for name in names)
        table.add(language, str(max(row.n for row in rows)), *typical)
    if any(len(_most_frequent(row)) > 1 for row in distributions):
        table.notes.append("+1: with another value of the same frequency")
    return table


def _typical(distribution: Distribution) -> str:
    if distribution.shares:
        first, *others = _most_frequent(distribution)
        return f"{first or 'none'} {f'+{len(others)} ' if others else ''}{100 * distribution.shares[first]:.0f} %"
    return "" if distribution.mean is None else f"{distribution.mean:.3g}"


def _most_frequent(distribution: Distribution) -> list[str]:
    most = max(distribution.shares.values(), default=0.0)
    return [value for value, share in distribution.shares.items() if share > most - ROUNDING]


def _mean_distance_table(task: str, distances: Sequence[Distances]) -> Table:
    """Return the mean distance of each language from the others."""
    languages = list(dict.fromkeys(code for table in distances for code in table.languages))
    header = ("code", *(distance.attribute for distance in distances))
    table = Table(f"{task}: mean distance from the other languages", header)
    for code in languages:
        table.add(code, *(_mean_distance(distance, code) for distance in distances))
    table.notes.append("Wasserstein-1 in the attribute's unit; total variation (0 to 1) for discrete attributes")
    if any(cell.startswith(NOISE) for row in table.rows for cell in row):
        chance = "no larger than if examples were assigned to languages at random"
        table.notes.append(f"{NOISE} within chance: {chance} (95 % limit, not corrected for the number of distances)")
    return table


def _mean_distance(distances: Distances, language: str) -> str:
    if language not in distances.languages:
        return ""
    index = distances.languages.index(language)
    row = distances.table[index]
    is_noise = bool(distances.noise) and sum(row) <= sum(distances.noise[index]) - distances.noise[index][index]
    return f"{NOISE if is_noise else ''}{sum(row) / (len(row) - 1):.3g}"


def distribution_table(bias: DatasetBias) -> Table:
    """Return every number of every distribution, one row per value with its share."""
    header = ("task", "code", "language", "split", "attribute", "value", "n", "share", "mean")
    table = Table("Distributions", (*header, "minimum", "25 %", "median", "75 %", "maximum"), words=6)
    for row in bias.distributions:
        key = row.task, row.language, language_name(row.language), row.split, row.attribute
        for value, share in row.shares.items():
            table.add(*key, value, str(row.n), f"{share:.4f}", *[""] * 6)
        if row.mean is not None:
            table.add(*key, "", str(row.n), "", *(f"{number:.6g}" for number in (row.mean, *row.quartiles)))
    return table


def distance_table(bias: DatasetBias) -> Table:
    """Return every pair of languages, with the distance that chance rarely exceeds."""
    table = Table("Distances", ("task", "attribute", "measure", "code", "other", "distance", "noise"), words=5)
    for distances in bias.distances:
        for index, code in enumerate(distances.languages):
            for other in range(index + 1, len(distances.languages)):
                key = distances.task, distances.attribute, distances.measure, code, distances.languages[other]
                noise = f"{distances.noise[index][other]:.4g}" if distances.noise else ""
                table.add(*key, f"{distances.table[index][other]:.4g}", noise)
    return table
