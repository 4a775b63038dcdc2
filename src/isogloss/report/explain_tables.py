"""Tables of what `isogloss explain` found out about one system or several, with the examples that were kept."""

from collections.abc import Sequence

from isogloss.explain.analysis import Analysis
from isogloss.explain.buckets import bucket_text
from isogloss.explain.examples import ListedExample
from isogloss.explain.single import best_and_worst
from isogloss.figures import score_text
from isogloss.report.across_tables import across_tables
from isogloss.report.formatting import shortened
from isogloss.report.left_out import left_out_notes
from isogloss.report.pairwise_tables import pairwise_tables
from isogloss.report.single_tables import explanation_tables
from isogloss.report.tables import Table

BINNING = {
    "language": "buckets of equal counts within each language",
    "shared": "bucket edges shared by all languages of a task",
    "greedy": "buckets filled one after the other within each language",
    "above-zero": "0 by itself, and above it buckets filled one after the other within each language",
    "fixed": "bucket edges as given",
    "mixed": "bucket edges as asked for, attribute by attribute",
}

CONVENTION_NOTES = {
    "paper": "…@paper: attributes and buckets as in the XTREME-R paper's Tables 25 and 26",
    "explainaboard": "…@explainaboard: attributes and buckets as in ExplainaBoard's reports",
}


def analysis_tables(analysis: Analysis, *, across: bool = False) -> list[Table]:
    """Pairs of systems if there are two or more, else the one system; examples below.

    If `across`, every bucket stands once for all languages of a task, however many cells there are.
    """
    if across:
        tables = across_tables(analysis)
    else:
        tables = pairwise_tables(analysis.pairs) if analysis.pairs else explanation_tables(analysis.explanations[0])
    if tables:
        tables[0].notes += [*definition_notes(analysis), *left_out_notes(analysis.left_out)]
    return [*tables, *_case_tables(analysis)]


def definition_notes(analysis: Analysis) -> list[str]:
    """How attributes, buckets and scores are defined, as far as it is not the usual."""
    notes = [BINNING[analysis.edges]]
    if analysis.convention in CONVENTION_NOTES:
        notes.append(CONVENTION_NOTES[analysis.convention])
    if analysis.dialect:
        notes.append(f"answers to questions are compared as in the {analysis.dialect} scorer")
    return notes


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
                    tables.append(_case_table(title, [analysis.cases[name][i] for i in ids], (who, other)))
    if not analysis.pairs:
        for facet in analysis.explanations[0].facets:
            extremes = best_and_worst(facet) if facet.insight else None
            if extremes is not None and extremes[1].ids:
                name, worst = f"{facet.task}/{facet.language}", extremes[1]
                title = f"{name}: {facet.attribute} {bucket_text(worst.bucket)}, worst first"
                cases = [analysis.cases[name][identifier] for identifier in worst.ids]
                tables.append(_case_table(title, cases, tuple(cases[0].predictions)))
    return tables


def _case_table(title: str, cases: Sequence[ListedExample], systems: Sequence[str]) -> Table:
    table = Table(title, ("id", "text", "gold", *systems), words=3 + len(systems))
    for case in cases:
        # The first input is what is asked; contexts are too long for a terminal.
        text = next(iter(case.inputs.values()), "")
        answers = (f"{shortened(case.predictions[name])} ({score_text(case.scores[name], 0)})" for name in systems)
        table.add(shortened(case.id, 12), shortened(text), shortened(case.gold), *answers)
    return table
