"""Read and join files of `isogloss explain`: explanations, pairs of systems, dataset bias."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from isogloss.data.files import read_bytes
from isogloss.decoding import decode_json
from isogloss.errors import DataError
from isogloss.escaping import printable_values
from isogloss.explain.analysis import Analysis
from isogloss.explain.bias import DatasetBias
from isogloss.explain.correction import Correction, corrected_findings
from isogloss.explain.examples import ListedExample
from isogloss.explain.model import Claim, Explanation
from isogloss.explain.pairwise import PairwiseExplanation
from isogloss.scoring.names import distinct_names, shortest_distinct, system_words

# Larger than any score, length or count.
LARGEST = 1e12
FIX = "Pass a file written by isogloss explain --json or isogloss explain --bias --json"
# Minimum, three quartiles, maximum.
_QUARTILES = 5
# `task/language` -> example id -> the example.
Cases = dict[str, dict[str, ListedExample]]


@dataclass(frozen=True, kw_only=True)
class ExplainRecords:
    """All explanations, by the displayed names of systems.

    `edges` is the rule of the bucket edges, "mixed" if there are several. Findings are corrected over all of them.
    """

    explanations: dict[str, Explanation] = field(default_factory=dict)
    pairs: list[PairwiseExplanation] = field(default_factory=list)
    cases: Cases = field(default_factory=dict)
    edges: str = "language"
    bias: DatasetBias | None = None
    correction: Correction | None = None


def explain_records(analysis: Analysis) -> ExplainRecords:
    """Return the records of an analysis; systems have the names that its pairs and examples use."""
    names = distinct_names([str(explanation.system.get("name") or "system") for explanation in analysis.explanations])
    explanations = dict(zip(names, analysis.explanations, strict=True))
    return ExplainRecords(
        explanations=explanations,
        pairs=analysis.pairs,
        cases=analysis.cases,
        edges=analysis.edges,
        correction=analysis.correction,
    )


def read_explain_records(sources: Sequence[Path | str | Analysis | DatasetBias]) -> ExplainRecords:
    """Join analyses and dataset biases, or their files; a system in several of them is one system."""
    named = [
        (str(number), source) if isinstance(source, Analysis | DatasetBias) else (str(source), _read(Path(source)))
        for number, source in enumerate(sources, 1)
    ]
    analyses = [record for _, record in named if isinstance(record, Analysis)]
    surveys = [(where, record) for where, record in named if isinstance(record, DatasetBias)]
    return replace(_joined(analyses), bias=_joined_bias(surveys))


def _read(path: Path) -> Analysis | DatasetBias:
    """Read a file of `isogloss explain`; its content decides the kind."""
    content, where = read_bytes(path), str(path)
    record = printable_values(decode_json(content, where, dict[str, Any], what="an explanation", fix=FIX))
    if any(abs(number) > LARGEST for number in _numbers(record)):
        raise DataError("not an explanation: it has numbers out of range", where=where, fix=FIX)
    if not {"explanations", "distributions"} & record.keys():
        raise DataError("not an explanation: it has neither systems nor dataset bias", where=where, fix=FIX)
    is_analysis = "explanations" in record
    try:
        parsed = msgspec.convert(record, Analysis) if is_analysis else msgspec.convert(record, DatasetBias)
    except msgspec.ValidationError as error:
        what = "an analysis of isogloss explain" if is_analysis else "dataset bias of isogloss explain --bias"
        raise DataError(f"not {what}: {error}", where=where) from None
    for what in _analysis_contradictions(parsed) if isinstance(parsed, Analysis) else _survey_contradictions(parsed):
        fix = "Run isogloss explain again; the file contradicts itself and may have been edited"
        raise DataError(what, where=where, fix=fix)
    return parsed


def _analysis_contradictions(analysis: Analysis) -> Iterator[str]:
    names = explain_records(analysis).explanations
    metrics = {facet.metric for explanation in analysis.explanations for facet in explanation.facets}
    for explanation in analysis.explanations:
        for facet in explanation.facets:
            if not all(_fits(claim, len(facet.buckets)) for claim in facet.claims):
                yield f"a claim about {facet.attribute} of {facet.task}/{facet.language} names unknown buckets"
    for pair in analysis.pairs:
        for name in (pair.first, pair.second):
            if name not in names:
                yield f"unknown system {name!r} in a pair"
        for contrasts in pair.facets:
            if contrasts.metric not in metrics:
                yield f"unknown metric {contrasts.metric!r} in a pair"


def _fits(claim: Claim, count: int) -> bool:
    """Return True if a claim names as many buckets as its kind needs, all among `count`."""
    enough = claim.kind == "trend" or len(claim.buckets) >= 2
    return enough and all(0 <= index < count for index in claim.buckets)


def _survey_contradictions(bias: DatasetBias) -> Iterator[str]:
    for each in bias.distributions:
        if len(each.quartiles) != (0 if each.mean is None else _QUARTILES):
            yield f"{each.attribute} of {each.task}/{each.language} has {len(each.quartiles)} quartiles"
    for table in bias.distances:
        count = len(table.languages)
        squares = [table.table, *([table.noise] if table.noise else [])]
        if count < 2 or any([len(row) for row in square] != [count] * count for square in squares):
            yield f"the distances of {table.attribute} in {table.task} do not match its {count} languages"


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, int | float):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _numbers(inner)


def _joined(analyses: Sequence[Analysis]) -> ExplainRecords:
    """Join analyses, with their pairs and examples."""
    explanations: dict[str, Explanation] = {}
    pairs: dict[tuple[str, str], PairwiseExplanation] = {}
    cases: Cases = {}
    for analysis, names in zip(analyses, _shown_names(analyses), strict=True):
        part = explain_records(analysis)
        shown = dict(zip(part.explanations, names, strict=True))
        for own, explanation in part.explanations.items():
            before = explanations.setdefault(shown[own], explanation)
            if before is not explanation:
                facets = [*before.facets, *explanation.facets]
                confusion = before.confusion | explanation.confusion
                calibration, notes = before.calibration | explanation.calibration, before.notes | explanation.notes
                whole = {"facets": facets, "confusion": confusion, "calibration": calibration, "notes": notes}
                explanations[shown[own]] = msgspec.structs.replace(before, **whole)
        for pair in part.pairs:
            key = shown[pair.first], shown[pair.second]
            known = pairs.get(key, PairwiseExplanation(*key, [], []))
            pairs[key] = PairwiseExplanation(*key, [*known.facets, *pair.facets], [*known.cells, *pair.cells])
        _add_cases(cases, part.cases, shown)
    rules = {analysis.edges for analysis in analyses}
    edges = rules.pop() if len(rules) == 1 else "mixed"
    # A page shows all files together, so findings are corrected over all of them.
    findings = corrected_findings(list(explanations.values()), list(pairs.values()))
    return ExplainRecords(
        explanations=dict(zip(explanations, findings.explanations, strict=True)),
        pairs=findings.pairs,
        cases=cases,
        edges=edges,
        correction=findings.correction,
    )


def _shown_names(analyses: Sequence[Analysis]) -> list[list[str]]:
    """Return the system names of each analysis; different cells of one system share a name."""
    systems: list[tuple[tuple[str, ...], set[tuple[str, str]]]] = []
    by_file: list[list[int]] = []
    for analysis in analyses:
        in_file: list[int] = []
        for explanation in analysis.explanations:
            words = system_words(explanation.system)
            cells = {(facet.task, facet.language) for facet in explanation.facets}
            alike = (i for i, (other, seen) in enumerate(systems) if other == words and not seen & cells)
            index = next((i for i in alike if i not in in_file), len(systems))
            if index == len(systems):
                systems.append((words, set()))
            systems[index][1].update(cells)
            in_file.append(index)
        by_file.append(in_file)
    names = shortest_distinct([words for words, _ in systems])
    return [[names[index] for index in in_file] for in_file in by_file]


def _add_cases(joined: Cases, more: Cases, shown: Mapping[str, str]) -> None:
    """Add examples by displayed system names; answers to the same example are merged."""
    for cell, cases in more.items():
        inside = joined.setdefault(cell, {})
        for identifier, case in cases.items():
            before = inside.get(identifier)
            predictions = {shown.get(name, name): answer for name, answer in case.predictions.items()}
            scores = {shown.get(name, name): score for name, score in case.scores.items()}
            if before is not None:
                predictions, scores = before.predictions | predictions, before.scores | scores
            inside[identifier] = msgspec.structs.replace(case, predictions=predictions, scores=scores)


def _joined_bias(named_surveys: Sequence[tuple[str, DatasetBias]]) -> DatasetBias | None:
    """Join dataset biases of different tasks; the same task twice is an error."""
    seen: dict[str, str] = {}
    for where, bias in named_surveys:
        for task in dict.fromkeys(each.task for each in bias.distributions):
            if task in seen:
                what = f"dataset bias of {task} is in {seen[task]} too"
                raise DataError(what, where=where, fix="Pass each task once")
            seen[task] = where
    surveys = [bias for _, bias in named_surveys]
    if not surveys:
        return None
    return DatasetBias(
        ", ".join(dict.fromkeys(bias.split for bias in surveys)),
        [each for bias in surveys for each in bias.distributions],
        [each for bias in surveys for each in bias.distances],
        [each for bias in surveys for each in bias.missing],
    )
