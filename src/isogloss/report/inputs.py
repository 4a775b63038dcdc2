"""What a report is made of: result records, explanations and checklist rates, read from disk and named."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from isogloss.checklist.scoring import CellRate
from isogloss.data.files import read_bytes
from isogloss.errors import DataError
from isogloss.explain.analysis import Analysis
from isogloss.explain.examples import Case
from isogloss.explain.model import Explanation
from isogloss.scoring.compare import distinct_names
from isogloss.scoring.results import Results

__all__ = ["Inputs", "analysis_inputs", "distinct", "read_inputs"]

T = TypeVar("T")


class Explained(msgspec.Struct, frozen=True):
    """What a report needs of an analysis: the explanations, and the examples that it kept."""

    explanations: list[Explanation]
    cases: dict[str, dict[str, Case]] = {}


@dataclass(frozen=True)
class Inputs:
    """Everything to be shown, by the name it is shown under; `cases` are `task/language` -> example id -> example."""

    systems: dict[str, Results]
    explanations: dict[str, Explanation] = field(default_factory=dict)
    checklists: dict[str, list[CellRate]] = field(default_factory=dict)
    cases: dict[str, dict[str, Case]] = field(default_factory=dict)


def read_inputs(results: Sequence[Path], explain: Sequence[Path] = (), checklist: Sequence[Path] = ()) -> Inputs:
    """Read records, or folders that have a `results.json`, and what else is to be shown beside them."""
    records = [Results.from_json(_record(path)) for path in results]
    analyses = [_explained(path) for path in explain]
    explanations = [explanation for analysis in analyses for explanation in analysis.explanations]
    rates = [_decoded(path, list[CellRate], "the rates of isogloss checklist score --json") for path in checklist]
    systems = distinct(_names(record.system for record in records))
    explained = distinct(_names(found.system for found in explanations))
    stems = distinct([(path.stem, path.resolve().parent.name) for path in checklist])
    return Inputs(
        dict(zip(systems, records, strict=True)),
        dict(zip(explained, explanations, strict=True)),
        dict(zip(stems, rates, strict=True)),
        _merged(analysis.cases for analysis in analyses),
    )


def analysis_inputs(analysis: Analysis) -> Inputs:
    """An analysis just made, with no records beside it; systems have the names that its examples know them by."""
    names = distinct_names([str(found.system["name"]) for found in analysis.explanations])
    return Inputs({}, dict(zip(names, analysis.explanations, strict=True)), cases=analysis.cases)


def _record(path: Path) -> Path:
    if not path.is_dir():
        return path
    found = path / "results.json"
    if not found.is_file():
        fix = "Give a results.json, or a folder with one (RUNS/<system>/<regime>/seed-<n>)"
        raise DataError("has no results.json", where=str(path), fix=fix)
    return found


def _explained(path: Path) -> Explained:
    """The analysis of several systems, or the explanation of one."""
    try:
        return msgspec.json.decode(read_bytes(path), type=Explained)
    except msgspec.DecodeError:
        return Explained([_decoded(path, Explanation, "an explanation")])


def _merged(every: Iterable[dict[str, dict[str, Case]]]) -> dict[str, dict[str, Case]]:
    """The examples of several analyses; one that is in two of them has the answers of both."""
    merged: dict[str, dict[str, Case]] = {}
    for found in every:
        for cell, cases in found.items():
            known = merged.setdefault(cell, {})
            for identifier, case in cases.items():
                other = known.get(identifier, case)
                both = {**other.predictions, **case.predictions}
                known[identifier] = msgspec.structs.replace(
                    case, predictions=both, scores={**other.scores, **case.scores}
                )
    return merged


def _decoded(path: Path, form: type[T], what: str) -> T:
    try:
        return msgspec.json.decode(read_bytes(path), type=form)
    except msgspec.DecodeError as error:
        raise DataError(f"not {what}: {error}", where=str(path)) from None


def _names(systems: Iterable[dict[str, Any]]) -> list[tuple[str, ...]]:
    """A system's name, and what tells its runs apart."""
    found: list[tuple[str, ...]] = []
    for system in systems:
        seed = f"seed {system['seed']}" if "seed" in system else ""
        found.append((str(system.get("name") or "system"), str(system.get("regime", "")), seed))
    return found


def distinct(names: Sequence[tuple[str, ...]]) -> list[str]:
    """The first word of each name where that is enough, more of them where it is not, and at last a number."""
    for length in range(1, max(map(len, names), default=0) + 1):
        chosen = [", ".join(word for word in name[:length] if word) for name in names]
        if len(set(chosen)) == len(chosen):
            return chosen
    return [f"{', '.join(word for word in name if word)} ({place})" for place, name in enumerate(names, 1)]
