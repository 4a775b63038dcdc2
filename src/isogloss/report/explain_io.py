"""What `isogloss explain` wrote, read back and joined: explanations, pairs of systems, surveys of the data."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from isogloss.data.files import read_bytes
from isogloss.errors import DataError
from isogloss.escaping import printable_values
from isogloss.explain.analysis import Analysis
from isogloss.explain.bias import DatasetBias
from isogloss.explain.examples import ListedExample
from isogloss.explain.model import Explanation
from isogloss.explain.pairwise import PairwiseExplanation
from isogloss.report.names import shortest_distinct, system_words
from isogloss.scoring.contrast import distinct_names

# Beyond any score, length or count.
LARGEST = 1e12
FIX = "Give what isogloss explain --json, or isogloss explain --bias --json, wrote"


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
    for where, each in named:
        _check_consistent(where, each)
    analyses = [each for _, each in named if isinstance(each, Analysis)]
    surveys = [(where, each) for where, each in named if isinstance(each, DatasetBias)]
    return replace(_joined(analyses), bias=_joined_bias(surveys))


def _read(path: Path) -> Analysis | DatasetBias:
    """A file of any of the kinds that isogloss explain writes, told apart by what is in it."""
    try:
        found = printable_values(msgspec.json.decode(read_bytes(path), type=dict[str, Any]))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(f"not an explanation: {error}", where=str(path), fix=FIX) from None
    if any(abs(number) > LARGEST for number in _numbers(found)):
        raise DataError("not an explanation: it has numbers that nothing can be counted by", where=str(path), fix=FIX)
    try:
        if "explanations" in found:
            return msgspec.convert(found, Analysis)
        if "distributions" in found:
            return msgspec.convert(found, DatasetBias)
    except msgspec.ValidationError as error:
        what = "an analysis of isogloss explain" if "explanations" in found else "a survey of isogloss explain --bias"
        raise DataError(f"not {what}: {error}", where=str(path)) from None
    raise DataError("not an explanation: neither systems nor a survey of the data are in it", where=str(path), fix=FIX)


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, int | float):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _numbers(inner)


def _check_consistent(where: str, found: Analysis | DatasetBias) -> None:
    """Refuse a record whose parts do not fit each other."""
    trouble = _analysis_trouble(found) if isinstance(found, Analysis) else _bias_trouble(found)
    if trouble:
        raise DataError(f"does not fit together: {trouble}", where=where, fix=FIX)


def _analysis_trouble(analysis: Analysis) -> str:
    names = list(explain_records(analysis).explanations)
    strangers = [name for pair in analysis.pairs for name in (pair.first, pair.second) if name not in names]
    return f"a pair of systems names {strangers[0]!r}, which is not explained" if strangers else ""


def _bias_trouble(bias: DatasetBias) -> str:
    for each in bias.distributions:
        if each.mean is not None and len(each.quartiles) != len(("least", "lower", "median", "upper", "most")):
            return f"{each.task}/{each.language}: {each.attribute} has {len(each.quartiles)} quartiles, not 5"
    for table in bias.distances:
        size = len(table.languages)
        if size < 2 or len(table.table) != size or any(len(row) != size for row in table.table):
            return f"{table.task}: the distances in {table.attribute} are no square of {size} languages"
    return ""


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
    return msgspec.structs.replace(known, facets=facets, confusion=confusion)


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
