"""The complete analysis in one pass: every system and every pair of systems, cell by cell."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, Unpack

import msgspec

from isogloss.errors import PredictionError, check_count
from isogloss.explain.bias import shared_binnings
from isogloss.explain.buckets import Binning
from isogloss.explain.calibration import calibration
from isogloss.explain.cell_table import table_of
from isogloss.explain.correction import Correction, corrected_findings
from isogloss.explain.examples import ExampleCollector, ListedExample
from isogloss.explain.measure import bucketed_rows, rows_by_answer
from isogloss.explain.model import Explanation
from isogloss.explain.pairwise import PairwiseExplanation, attribute_contrasts, disagreement
from isogloss.explain.selection import OURS, AttributeSelection, Edges, ExplainOptions, select_attributes
from isogloss.explain.single import attribute_scores, confusion
from isogloss.figures import counted
from isogloss.notebooks import arrow_table, data_frame, plot, rich_html, to_latex
from isogloss.predictions.memory import Predictions, PredictionSource, open_predictions
from isogloss.predictions.problems import LeftOut
from isogloss.scoring.cells import Progress, Shortcomings, answered_row, asked_cells
from isogloss.scoring.names import distinct_names
from isogloss.scoring.request import Request, lists_options
from isogloss.scoring.results import json_of
from isogloss.workers import Workers, in_parallel, local_workers


class Analysis(msgspec.Struct, frozen=True, kw_only=True):
    """Analysis of some systems, one explanation each in the order given, and of every pair on its common cells."""

    explanations: list[Explanation]
    pairs: list[PairwiseExplanation]
    edges: Edges = "language"  # binning of numbers (see `AttributeSelection`), "fixed" at given edges, or "mixed"
    cases: dict[str, dict[str, ListedExample]] = {}  # `task/language` -> example id -> the requested example
    left_out: list[LeftOut] = []  # unscored answers of any system, with reasons
    convention: str = OURS  # source of the attribute definitions: "ours", "paper" or "explainaboard"
    dialect: str = ""  # requested question-answering dialect, if not each task's default
    correction: Correction | None = None  # tests over which the findings are corrected; None if nothing was tested

    def __repr__(self) -> str:
        pairs = f"; {counted(len(self.pairs), 'pair')}" if self.pairs else ""
        return f"<Analysis: {', '.join(map(repr, self.explanations))}{pairs}>"

    def to_pandas(self) -> Any:
        """Return one row per bucket and system, as a pandas data frame."""
        return data_frame(self.rows())

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per bucket and system."""
        return [
            {
                "system": str(explanation.system["name"]),
                **{name: getattr(facet, name) for name in ("task", "language", "metric", "attribute")},
                **{name: getattr(score, name) for name in ("value", "low", "high")},
                "bucket": score.bucket.name,
                "bucket_low": score.bucket.low,
                "bucket_high": score.bucket.high,
                "n": score.bucket.n,
            }
            for explanation in self.explanations
            for facet in explanation.facets
            for score in facet.buckets
        ]

    def to_arrow(self) -> Any:
        """Return the rows of `to_pandas` as an Arrow table."""
        return arrow_table(self.rows())

    def to_json(self, path: Path | str | None = None) -> str:
        """Return the record as JSON; with a path, also write it."""
        return json_of(self, path)

    _repr_html_ = rich_html
    to_latex = to_latex
    plot = plot


@lists_options(ExplainOptions)
def explain(
    *predictions: "Predictions",
    attributes: Sequence[str] | None = None,
    examples: int = 0,
    convention: str = OURS,
    jobs: int = 1,
    **options: "Unpack[ExplainOptions]",
) -> Analysis:
    """Explain scores: cut the examples into buckets by length, overlap, type, script …, and score every bucket.

    Args:
        *predictions: one prediction folder, or predictions in memory, as `isogloss.score` takes them; or several, to
            compare them pairwise.
        attributes: attributes to include, in the syntax of `choose_attributes`, e.g. ["aLen=shared", "qType"].
        examples: number of examples to list per bucket, with their texts.
        convention: "ours"; "paper", attributes and buckets as in the XTREME-R paper; or "explainaboard", as in
            ExplainaBoard's reports.
        jobs: number of worker processes; more than one needs `if __name__ == "__main__":` in a script.
        suite: suite, which sets tasks and languages.
        data: data folder; default ISOGLOSS_DATA or the user's cache.
        split: "test", "dev", or "best" (test if it has gold, else dev).
        tasks: tasks to include, all by default.
        languages: languages to include, all by default.
        resample: resampling unit of intervals and p-values: "source" for new articles, premises …, "example" for
            new examples from the same ones.
        strict: True to raise an error for answers without gold or with unknown names instead of skipping them.
        dialect: answer normaliser, "squad" or "mlqa"; "" for each task's default.

    Returns:
        The score of every bucket of every attribute; for several systems also their differences.

    Raises:
        PredictionError: no predictions, systems without a common cell, answers that cannot be scored, or no gold.
        UnknownNameError: unknown suite, task, language, split, attribute, convention or dialect.

    Example:
        analysis = isogloss.explain("my-predictions", tasks=["xquad"], languages=["en", "sw"], data="data")
        analysis.to_pandas()
        isogloss.explain("mine", "theirs", attributes=["aLen=shared"], data="data").plot()
    """
    if not predictions:
        raise PredictionError("nothing to explain", fix="Pass a prediction folder")
    check_count("examples", examples, 0)
    request = Request.of(**options)
    selection = select_attributes(attributes, request, convention)
    with local_workers(jobs) as workers:
        return explain_request(predictions, request, selection, examples=examples, workers=workers)


def explain_request(
    systems: Sequence[Predictions],
    request: Request,
    selection: AttributeSelection | None = None,
    *,
    examples: int = 0,
    progress: Progress = None,
    workers: Workers | None = None,
) -> Analysis:
    """Analyse every system and every pair of systems for a request, listing some `examples` of every bucket.

    Without a selection, all attributes are used and cut into equal counts in every language; `workers` may share cells.
    """
    selection = selection or AttributeSelection()
    folders = [open_predictions(system) for system in systems]
    names = distinct_names([str(folder.system["name"]) for folder in folders])
    shared = shared_binnings(request, selection, progress)
    explain_cell = partial(_explained_cell, folders, names, request, selection, shared, examples)
    whole = _Explained.none(folders, names, request)
    cells = list(asked_cells(folders, request))
    parts = in_parallel(workers, explain_cell, cells)
    for task, language in cells:
        if progress is not None:
            progress(f"{task}/{language}")
        whole.add(next(parts))
    left_out: list[LeftOut] = []
    whole.shortcomings.settle(folders, request, left_out)
    pairs = list(whole.pairs.values())
    if pairs and not any(pair.cells for pair in pairs):
        raise PredictionError("the systems have no cell in common", where=", ".join(names))
    findings = corrected_findings(whole.singles, pairs)
    return Analysis(
        explanations=findings.explanations,
        pairs=findings.pairs,
        edges=selection.edges,
        cases=whole.cases,
        left_out=left_out,
        convention=selection.convention,
        dialect=request.dialect,
        correction=findings.correction,
    )


@dataclass(frozen=True)
class _Explained:
    """Results for some cells of some systems: by system, by pair of systems, and the examples to list."""

    singles: list[Explanation]
    pairs: dict[tuple[int, int], PairwiseExplanation]
    cases: dict[str, dict[str, ListedExample]]
    shortcomings: Shortcomings

    @classmethod
    def none(cls, folders: Sequence[PredictionSource], names: Sequence[str], request: Request) -> "_Explained":
        suite, split = request.suite.id, request.split
        singles = [Explanation(system=folder.system, suite=suite, split=split, facets=[]) for folder in folders]
        numbered = combinations(enumerate(names), 2)
        pairs = {(a, b): PairwiseExplanation(first, second, [], []) for (a, first), (b, second) in numbered}
        return cls(singles, pairs, {}, Shortcomings.none(len(folders)))

    def add(self, further: "_Explained") -> None:
        """Add the results of further cells of the same systems."""
        for single, more in zip(self.singles, further.singles, strict=True):
            single.facets.extend(more.facets)
            single.confusion.update(more.confusion)
            single.calibration.update(more.calibration)
            single.notes.update(more.notes)
        for key, pair in self.pairs.items():
            pair.facets.extend(further.pairs[key].facets)
            pair.cells.extend(further.pairs[key].cells)
        self.cases.update(further.cases)
        self.shortcomings.add(further.shortcomings)


def _explained_cell(
    folders: Sequence[PredictionSource],
    names: Sequence[str],
    request: Request,
    selection: AttributeSelection,
    shared: dict[tuple[str, str], Binning],
    examples: int,
    cell: tuple[str, str],
) -> _Explained:
    explained = _Explained.none(folders, names, request)
    row = answered_row(folders, *cell, request, explained.shortcomings)
    if not any(row):
        return explained
    table = table_of(row, request)
    collector = ExampleCollector(examples, names, explained.cases) if examples > 0 else None
    along = bucketed_rows(table, selection, shared)
    for index, system in enumerate(table.systems):
        single = explained.singles[system]
        single.facets.extend(attribute_scores(table, along, index, collector))
        if by_answer := rows_by_answer(table, selection, index):
            single.facets.extend(attribute_scores(table, by_answer, index, collector, claims=False))
        if counts := confusion(table, index):
            single.confusion[table.name] = counts
        if (sure := calibration(table, index)) is not None:
            single.calibration[table.name] = sure
        if table.notes[index]:
            single.notes[table.name] = table.notes[index]
    for a, b in combinations(range(len(table.systems)), 2):
        pair = explained.pairs[table.systems[a], table.systems[b]]
        pair.facets.extend(attribute_contrasts(table, along, (a, b), collector))
        pair.cells.append(disagreement(table, (a, b), collector))
    return explained
