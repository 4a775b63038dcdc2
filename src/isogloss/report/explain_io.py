"""What isogloss explain wrote, read back: explanations, pairs of systems and surveys of the data, out of any files."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from isogloss.data.files import read_bytes
from isogloss.errors import DataError
from isogloss.explain.analysis import Analysis
from isogloss.explain.bias import DatasetBias
from isogloss.explain.examples import ListedExample
from isogloss.explain.model import Explanation
from isogloss.explain.pairwise import PairwiseExplanation
from isogloss.scoring.contrast import distinct_names

T = TypeVar("T")
FIX = "Give what isogloss explain --json, or isogloss explain --bias --json, wrote"


@dataclass(frozen=True)
class Explained:
    """All that is explained, by the names systems are shown under.

    Attributes:
        explanations: name -> what was found out about the system.
        pairs: the comparisons of two of them.
        cases: `task/language` -> example id -> the example.
        edges: how buckets were cut; "mixed" where it is not everywhere the same.
        survey: what the data are like, if they were looked at.
    """

    explanations: dict[str, Explanation] = field(default_factory=dict)
    pairs: list[PairwiseExplanation] = field(default_factory=list)
    cases: dict[str, dict[str, ListedExample]] = field(default_factory=dict)
    edges: str = "language"
    survey: DatasetBias | None = None


def explained(analysis: Analysis) -> Explained:
    """An analysis just made, or read; systems have the names that its pairs and examples know them by."""
    names = distinct_names([str(found.system.get("name") or "system") for found in analysis.explanations])
    explanations = dict(zip(names, analysis.explanations, strict=True))
    return Explained(explanations, analysis.pairs, analysis.cases, analysis.edges)


def read_explained(paths: Iterable[Path]) -> Explained:
    """Files of any of the kinds that isogloss explain writes, told apart by what is in them, and joined."""
    return joined([(path, _read(path)) for path in paths])


def _read(path: Path) -> Analysis | DatasetBias:
    content = read_bytes(path)
    try:
        keys = set(msgspec.json.decode(content, type=dict[str, msgspec.Raw]))
    except msgspec.DecodeError as error:
        raise DataError(f"not an explanation: {error}", where=str(path), fix=FIX) from None
    if "explanations" in keys:
        return decoded(path, content, Analysis, "an analysis of isogloss explain")
    if "distributions" in keys:
        return decoded(path, content, DatasetBias, "a survey of isogloss explain --bias")
    raise DataError("not an explanation: neither systems nor a survey of the data are in it", where=str(path), fix=FIX)


def decoded(path: Path, content: bytes, form: type[T], what: str) -> T:
    """The content of a file as what it should be."""
    try:
        return msgspec.json.decode(content, type=form)
    except msgspec.DecodeError as error:
        raise DataError(f"not {what}: {error}", where=str(path)) from None


def joined(found: Sequence[tuple[Path, Analysis | DatasetBias]]) -> Explained:
    """Several files as one: a system that goes on in another file is one system, its pairs and examples go along."""
    analyses = [each for _, each in found if isinstance(each, Analysis)]
    explanations: dict[str, Explanation] = {}
    pairs: dict[tuple[str, str], PairwiseExplanation] = {}
    cases: dict[str, dict[str, ListedExample]] = {}
    for analysis, names in zip(analyses, _shown_names(analyses), strict=True):
        part = explained(analysis)
        shown = dict(zip(part.explanations, names, strict=True))
        for own, explanation in part.explanations.items():
            explanations[shown[own]] = _continued(explanations.get(shown[own]), explanation)
        for pair in part.pairs:
            key = shown[pair.first], shown[pair.second]
            known = pairs.get(key, PairwiseExplanation(*key, [], []))
            pairs[key] = PairwiseExplanation(*key, [*known.facets, *pair.facets], [*known.cells, *pair.cells])
        _add_cases(cases, part.cases, shown)
    edges = {analysis.edges for analysis in analyses}
    survey = _one_survey([(path, each) for path, each in found if isinstance(each, DatasetBias)])
    return Explained(explanations, list(pairs.values()), cases, edges.pop() if len(edges) == 1 else "mixed", survey)


def _shown_names(analyses: Sequence[Analysis]) -> list[list[str]]:
    """For each analysis the names of its systems; the same for two files where one goes on where the other ends."""
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
    names = distinct([words for words, _ in systems])
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


def _one_survey(found: Sequence[tuple[Path, DatasetBias]]) -> DatasetBias | None:
    """Surveys of different tasks as one; of the same task they would be two sets of data under one name."""
    seen: dict[str, Path] = {}
    for path, survey in found:
        for task in dict.fromkeys(each.task for each in survey.distributions):
            if task in seen:
                raise DataError(f"{task} is surveyed in {seen[task]} too", where=str(path), fix="Give each task once")
            seen[task] = path
    if not found:
        return None
    surveys = [survey for _, survey in found]
    return DatasetBias(
        ", ".join(dict.fromkeys(survey.split for survey in surveys)),
        [each for survey in surveys for each in survey.distributions],
        [each for survey in surveys for each in survey.distances],
        [each for survey in surveys for each in survey.missing],
    )


def system_words(system: Mapping[str, Any]) -> tuple[str, ...]:
    """A system's name, and what tells its runs apart."""
    seed = f"seed {system['seed']}" if "seed" in system else ""
    return (str(system.get("name") or "system"), str(system.get("regime", "")), seed)


def distinct(names: Sequence[tuple[str, ...]]) -> list[str]:
    """The first word of each name where that is enough, more of them where it is not, and at last a number."""
    for length in range(1, max(map(len, names), default=0) + 1):
        chosen = [", ".join(word for word in name[:length] if word) for name in names]
        if len(set(chosen)) == len(chosen):
            return chosen
    return [f"{', '.join(word for word in name if word)} ({place})" for place, name in enumerate(names, 1)]
