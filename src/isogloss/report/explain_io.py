"""What `isogloss explain` wrote, read back and joined: explanations, pairs of systems, surveys of the data."""

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
from isogloss.explain.examples import ListedExample
from isogloss.explain.model import Explanation
from isogloss.explain.pairwise import PairwiseExplanation
from isogloss.scoring.names import distinct_names, shortest_distinct, system_words

# Beyond any score, length or count.
LARGEST = 1e12
FIX = "Give what isogloss explain --json, or isogloss explain --bias --json, wrote"

# Minimum, three quartiles, maximum.
_QUARTILES = 5


@dataclass(frozen=True)
class ExplainRecords:
    """All that was explained, by the names systems are shown under.

    Attributes:
        explanations: name -> what was found out about the system.
        pairs: the comparisons of two of them.
        cases: `task/language` -> example id -> the example.
        edges: how buckets were cut; "mixed" where it is not everywhere the same.
        bias: what the data are like, if they were looked at.
    """

    explanations: dict[str, Explanation] = field(default_factory=dict)
    pairs: list[PairwiseExplanation] = field(default_factory=list)
    cases: dict[str, dict[str, ListedExample]] = field(default_factory=dict)
    edges: str = "language"
    bias: DatasetBias | None = None


def explain_records(analysis: Analysis) -> ExplainRecords:
    """An analysis just made, or read; systems have the names that its pairs and examples know them by."""
    names = distinct_names([str(found.system.get("name") or "system") for found in analysis.explanations])
    explanations = dict(zip(names, analysis.explanations, strict=True))
    return ExplainRecords(explanations, analysis.pairs, analysis.cases, analysis.edges)


def read_explain_records(sources: Sequence[Path | str | Analysis | DatasetBias]) -> ExplainRecords:
    """Analyses and surveys, or files of them, joined; a system whose cells are in several of them is one system."""
    named = [
        (str(place), each) if isinstance(each, Analysis | DatasetBias) else (str(each), _read(Path(each)))
        for place, each in enumerate(sources, 1)
    ]
    analyses = [each for _, each in named if isinstance(each, Analysis)]
    surveys = [(where, each) for where, each in named if isinstance(each, DatasetBias)]
    return replace(_joined(analyses), bias=_joined_bias(surveys))


def _read(path: Path) -> Analysis | DatasetBias:
    """A file of any of the kinds that isogloss explain writes, told apart by what is in it."""
    content, where = read_bytes(path), str(path)
    found = printable_values(decode_json(content, where, dict[str, Any], what="an explanation", fix=FIX))
    if any(abs(number) > LARGEST for number in _numbers(found)):
        raise DataError("not an explanation: it has numbers that nothing can be counted by", where=where, fix=FIX)
    try:
        if "explanations" in found:
            analysis = msgspec.convert(found, Analysis)
            _refuse_contradictions(_contradictions_of_analysis(analysis), where)
            return analysis
        if "distributions" in found:
            bias = msgspec.convert(found, DatasetBias)
            _refuse_contradictions(_contradictions_of_survey(bias), where)
            return bias
    except msgspec.ValidationError as error:
        what = "an analysis of isogloss explain" if "explanations" in found else "a survey of isogloss explain --bias"
        raise DataError(f"not {what}: {error}", where=where) from None
    raise DataError("not an explanation: neither systems nor a survey of the data are in it", where=where, fix=FIX)


def _refuse_contradictions(found: Iterator[str], where: str) -> None:
    what = next(found, "")
    if what:
        raise DataError(what, where=where, fix="The file contradicts itself; was it edited? Run isogloss explain again")


def _contradictions_of_analysis(analysis: Analysis) -> Iterator[str]:
    names = explain_records(analysis).explanations
    metrics = {facet.metric for found in analysis.explanations for facet in found.facets}
    for pair in analysis.pairs:
        for name in (pair.first, pair.second):
            if name not in names:
                yield f"a pair with {name!r}, which is none of its systems"
        for contrasts in pair.facets:
            if contrasts.metric not in metrics:
                yield f"a pair with {contrasts.metric!r}, by which none of its systems is explained"


def _contradictions_of_survey(bias: DatasetBias) -> Iterator[str]:
    for each in bias.distributions:
        if len(each.quartiles) != (0 if each.mean is None else _QUARTILES):
            yield f"{each.attribute} of {each.task}/{each.language} has {len(each.quartiles)} quartiles"
    for table in bias.distances:
        count = len(table.languages)
        squares = [table.table, *([table.noise] if table.noise else [])]
        if count < 2 or any([len(row) for row in square] != [count] * count for square in squares):
            yield f"the distances of {table.attribute} in {table.task} are no table of its {count} languages"


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, int | float):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _numbers(inner)


def _joined(analyses: Sequence[Analysis]) -> ExplainRecords:
    """Several analyses as one; pairs and examples go along with their systems."""
    explanations: dict[str, Explanation] = {}
    pairs: dict[tuple[str, str], PairwiseExplanation] = {}
    cases: dict[str, dict[str, ListedExample]] = {}
    for analysis, names in zip(analyses, _shown_names(analyses), strict=True):
        part = explain_records(analysis)
        shown = dict(zip(part.explanations, names, strict=True))
        for own, explanation in part.explanations.items():
            explanations[shown[own]] = _continued(explanations.get(shown[own]), explanation)
        for pair in part.pairs:
            key = shown[pair.first], shown[pair.second]
            known = pairs.get(key, PairwiseExplanation(*key, [], []))
            pairs[key] = PairwiseExplanation(*key, [*known.facets, *pair.facets], [*known.cells, *pair.cells])
        _add_cases(cases, part.cases, shown)
    edges = {analysis.edges for analysis in analyses}
    return ExplainRecords(explanations, list(pairs.values()), cases, edges.pop() if len(edges) == 1 else "mixed")


def _shown_names(analyses: Sequence[Analysis]) -> list[list[str]]:
    """For each analysis the names of its systems; the same name in two files for different cells of one system."""
    systems: list[tuple[tuple[str, ...], set[tuple[str, str]]]] = []
    places: list[list[int]] = []
    for analysis in analyses:
        of_file: list[int] = []
        for found in analysis.explanations:
            words, cells = system_words(found.system), {(facet.task, facet.language) for facet in found.facets}
            same = (
                place
                for place, (known, seen) in enumerate(systems)
                if known == words and place not in of_file and not seen & cells
            )
            place = next(same, len(systems))
            if place == len(systems):
                systems.append((words, set()))
            systems[place][1].update(cells)
            of_file.append(place)
        places.append(of_file)
    names = shortest_distinct([words for words, _ in systems])
    return [[names[place] for place in of_file] for of_file in places]


def _continued(known: Explanation | None, more: Explanation) -> Explanation:
    if known is None:
        return more
    facets, confusion = [*known.facets, *more.facets], {**known.confusion, **more.confusion}
    calibration = {**known.calibration, **more.calibration}
    return msgspec.structs.replace(known, facets=facets, confusion=confusion, calibration=calibration)


def _add_cases(
    known: dict[str, dict[str, ListedExample]],
    more: Mapping[str, Mapping[str, ListedExample]],
    shown: Mapping[str, str],
) -> None:
    """Examples under the names that systems are shown by; one that is known already gets the answers of both."""
    for cell, cases in more.items():
        inside = known.setdefault(cell, {})
        for identifier, case in cases.items():
            before = inside.get(identifier)
            predictions = {shown.get(name, name): answer for name, answer in case.predictions.items()}
            scores = {shown.get(name, name): score for name, score in case.scores.items()}
            if before is not None:
                predictions, scores = before.predictions | predictions, before.scores | scores
            inside[identifier] = msgspec.structs.replace(case, predictions=predictions, scores=scores)


def _joined_bias(named_surveys: Sequence[tuple[str, DatasetBias]]) -> DatasetBias | None:
    """Surveys of different tasks as one; of the same task they would be two sets of data under one name."""
    seen: dict[str, str] = {}
    for where, bias in named_surveys:
        for task in dict.fromkeys(each.task for each in bias.distributions):
            if task in seen:
                raise DataError(f"{task} is surveyed in {seen[task]} too", where=where, fix="Give each task once")
            seen[task] = where
    if not named_surveys:
        return None
    surveys = [bias for _, bias in named_surveys]
    return DatasetBias(
        ", ".join(dict.fromkeys(bias.split for bias in surveys)),
        [each for bias in surveys for each in bias.distributions],
        [each for bias in surveys for each in bias.distances],
        [each for bias in surveys for each in bias.missing],
    )
