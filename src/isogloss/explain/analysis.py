"""The whole analysis in one pass: every system by itself, and every pair of them, cell after cell."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import msgspec

from isogloss.errors import PredictionError
from isogloss.explain.answers import rows_by_answer
from isogloss.explain.bias import shared_binnings
from isogloss.explain.buckets import Binning
from isogloss.explain.calibration import calibration
from isogloss.explain.cell_table import table_of
from isogloss.explain.examples import ExampleCollector, ListedExample
from isogloss.explain.measure import bucketed_rows
from isogloss.explain.model import Explanation
from isogloss.explain.pairwise import PairwiseExplanation, attribute_contrasts, disagreement
from isogloss.explain.selection import OURS, AttributeSelection, Edges, select_attributes
from isogloss.explain.single import attribute_scores, confusion
from isogloss.notebooks import data_frame, html_table
from isogloss.predictions.memory import Predictions, PredictionSource, open_predictions
from isogloss.predictions.problems import LeftOut
from isogloss.scoring.cells import Request, Resample, Shortcomings, answered_row, asked_cells
from isogloss.scoring.names import distinct_names
from isogloss.workers import Workers, in_parallel, local_workers


class Analysis(msgspec.Struct, frozen=True):
    """What was found out about some systems, and the examples that were asked for.

    Attributes:
        explanations: one a system, in the order they were given.
        pairs: one a pair of systems, over the cells that both have.
        edges: how numbers are cut into buckets (see `AttributeSelection`), "fixed" at given edges, or "mixed".
        cases: `task/language` -> example id -> the example.
        left_out: answers of any system that are in no score, and why.
        convention: whose definitions of attributes were asked for: "ours", "paper" or "explainaboard".
        dialect: in which questions were judged, where another than each task's own was asked for.
    """

    explanations: list[Explanation]
    pairs: list[PairwiseExplanation]
    edges: Edges = "language"
    cases: dict[str, dict[str, ListedExample]] = {}
    left_out: list[LeftOut] = []
    convention: str = OURS
    dialect: str = ""

    def __repr__(self) -> str:
        return f"<Analysis: {', '.join(map(repr, self.explanations))}; {len(self.pairs)} pairs>"

    def _repr_html_(self) -> str:
        """The sentences as a small table for notebooks."""
        rows = [(str(found.system["name"]), *said) for found in self.explanations for said in found.sentences]
        return html_table("What is surely true", ("system", "cell", "finding"), rows)

    def to_pandas(self) -> Any:
        """One row for every bucket of every system, as a pandas data frame."""
        return data_frame(
            [
                {
                    "system": str(found.system["name"]),
                    "task": facet.task,
                    "language": facet.language,
                    "metric": facet.metric,
                    "attribute": facet.attribute,
                    "value": score.value,
                    "low": score.low,
                    "high": score.high,
                    "bucket": score.bucket.name,
                    "bucket_low": score.bucket.low,
                    "bucket_high": score.bucket.high,
                    "n": score.bucket.n,
                }
                for found in self.explanations
                for facet in found.facets
                for score in facet.buckets
            ]
        )


def explain(  # noqa: PLR0913 - what the verb can be told
    *predictions: Predictions,
    suite: str = "xtreme-r",
    data: str | os.PathLike[str] | None = None,
    split: str = "test",
    tasks: Sequence[str] | None = None,
    languages: Sequence[str] | None = None,
    attributes: Sequence[str] | None = None,
    examples: int = 0,
    resample: Resample = "source",
    strict: bool = False,
    convention: str = OURS,
    dialect: str = "",
    jobs: int = 1,
) -> Analysis:
    """Explain scores: cut the examples into buckets by length, overlap, type, script …, and score every bucket.

    Args:
        *predictions: one prediction folder, or mapping {task: {language: {id: answer}}}; or more, to compare them two
            by two.
        suite: decides tasks and languages.
        data: the data folder; default ISOGLOSS_DATA or the user's cache.
        split: "test", "dev", or "best" (test where it has gold, else dev).
        tasks: only these tasks.
        languages: only these languages.
        attributes: only these, in the words of `choose_attributes`, e.g. ["aLen=shared", "qType"].
        examples: how many examples of every bucket are listed with their texts.
        resample: of what intervals and p-values speak: "source" of new articles, premises …, "example" of new examples
            from the same ones.
        strict: refuse answers that would be left out, for want of gold or of a right name.
        convention: "ours"; "paper", attributes and buckets as in the XTREME-R paper; or "explainaboard", as in
            ExplainaBoard's reports.
        dialect: the normaliser of answers to questions, "squad" or "mlqa"; each task's own if "".
        jobs: processes that share the cells; more than one need `if __name__ == "__main__":` in a script.

    Returns:
        Every bucket of every attribute with its score; of two systems or more also their differences.

    Raises:
        PredictionError: no predictions, systems without a common cell, answers that cannot be scored, or gold for none.
        UnknownNameError: no such suite, task, language, split, attribute, convention or dialect.
    """
    if not predictions:
        raise PredictionError("there is nothing to explain", fix="Give a prediction folder")
    request = Request.of(
        suite,
        tasks=tasks,
        languages=languages,
        split=split,
        data=data,
        resample=resample,
        strict=strict,
        dialect=dialect,
    )
    selection = select_attributes(attributes, request, convention)
    with local_workers(jobs) as workers:
        return explain_request(predictions, request, selection, examples=examples, workers=workers)


def explain_request(
    systems: Sequence[Predictions],
    request: Request,
    selection: AttributeSelection | None = None,
    *,
    examples: int = 0,
    progress: Callable[[str], None] | None = None,
    workers: Workers | None = None,
) -> Analysis:
    """Single analysis of every system and pairwise analysis of every two, as a request says.

    Without a selection all attributes are taken, and cut into equal counts in every language; `examples` of every
    bucket are listed with their texts, `progress` is called with every cell, and `workers` share the cells if there are
    any.
    """
    selection = selection or AttributeSelection()
    folders = [open_predictions(each) for each in systems]
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
    said = (selection.convention, request.dialect)
    return Analysis(whole.singles, pairs, selection.edges, whole.cases, left_out, *said)


@dataclass(frozen=True)
class _Explained:
    """What was found out about some cells of some systems: by system, by pair of them, and the examples to list."""

    singles: list[Explanation]
    pairs: dict[tuple[int, int], PairwiseExplanation]
    cases: dict[str, dict[str, ListedExample]]
    shortcomings: Shortcomings

    @classmethod
    def none(cls, folders: Sequence[PredictionSource], names: Sequence[str], request: Request) -> "_Explained":
        """Nothing yet."""
        singles = [Explanation(each.system, request.suite.id, request.split, [], {}, {}) for each in folders]
        pairs = {
            (a, b): PairwiseExplanation(names[a], names[b], [], []) for a, b in combinations(range(len(folders)), 2)
        }
        return cls(singles, pairs, {}, Shortcomings.none(len(folders)))

    def add(self, further: "_Explained") -> None:
        """Take in what was found out about further cells of the same systems."""
        for single, more in zip(self.singles, further.singles, strict=True):
            single.facets.extend(more.facets)
            single.confusion.update(more.confusion)
            single.calibration.update(more.calibration)
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
    """What there is to find out about one cell, a task and a language."""
    found = _Explained.none(folders, names, request)
    row = answered_row(folders, *cell, request, found.shortcomings)
    if not any(row):
        return found
    table = table_of(row, request)
    collector = ExampleCollector(examples, names, found.cases) if examples > 0 else None
    along = bucketed_rows(table, selection, shared)
    for place, system in enumerate(table.systems):
        single = found.singles[system]
        single.facets.extend(attribute_scores(table, along, place, collector))
        if by_answer := rows_by_answer(table, selection, place):
            single.facets.extend(attribute_scores(table, by_answer, place, collector, sentences=False))
        if counts := confusion(table, place):
            single.confusion[table.name] = counts
        if (sure := calibration(table, place)) is not None:
            single.calibration[table.name] = sure
    for a, b in combinations(range(len(table.systems)), 2):
        pair = found.pairs[table.systems[a], table.systems[b]]
        pair.facets.extend(attribute_contrasts(table, along, (a, b), collector))
        pair.cells.append(disagreement(table, (a, b), collector))
    return found
