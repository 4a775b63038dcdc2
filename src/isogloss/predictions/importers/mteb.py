"""Predictions saved by mteb: `<task>_predictions.json`, written if `prediction_folder` is set.

The file maps subset (mostly a language or a pair) to split to predictions. For retrieval they are {query id: {document
id: score}}, which mteb 1 writes without the outer levels, one file per subset. For bitext mining they are
{"sentence1-sentence2": [{"corpus_id": row, "score": …}, …]}: the nearest neighbour of each row of the first side.

Some of mteb's tasks differ from XTREME-R's, so their answers are refused: Tatoeba goes from the other language to
English, BUCC searches only sentences known to have a translation, and XQuADRetrieval ranks paragraphs. Retrieval over
exported queries and candidates, with their ids, can be imported.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from isogloss.decoding import whole_number
from isogloss.errors import PredictionError
from isogloss.languages import language as find_language
from isogloss.predictions.importers.base import ImportedAnswers, Target, read_json

# mteb saves a thousand documents per query; the deepest metric of any task needs about thirty.
DEPTH = 100

_META = "mteb_model_meta"
_ENGLISH = frozenset({"en", "eng"})
_SPLITS = {"test": ("test",), "dev": ("validation", "dev")}
# Names of the queries' and the candidates' side in bitext tasks that do not name the languages.
_SIDES = ("sentence1", "sentence2")


def recognizes(path: Path, decoded: Any) -> bool:
    """Return True for mteb's predictions, or for its results, which hold only scores."""
    return isinstance(decoded, dict) and (_META in decoded or _is_results(decoded) or _is_rankings(decoded))


def _is_results(decoded: Any) -> bool:
    return isinstance(decoded, dict) and {"task_name", "scores"} <= decoded.keys()


def _is_rankings(decoded: dict[str, Any]) -> bool:
    """Return True for the format of mteb 1: scores by query id."""
    return bool(decoded) and all(
        isinstance(scores, dict) and scores and all(isinstance(score, int | float) for score in scores.values())
        for scores in decoded.values()
    )


def read(files: Sequence[Path], target: Target) -> ImportedAnswers:
    """Read the rankings of the files."""
    if target.kind.form != "ranking":
        what = f"mteb does not save predictions for {target.task.id}"
        if target.kind.form == "pairs":
            what = "mteb's BUCC searches only sentences known to have a translation, so its answers are not mined pairs"
        raise PredictionError(what, where=str(files[0]))
    imported = ImportedAnswers(files[0])
    for path in files:
        imported.path = path
        decoded = read_json(path)
        if _is_results(decoded):
            fix = 'Run mteb.evaluate(…, prediction_folder="predictions") and import <task>_predictions.json'
            raise PredictionError("only scores, no predictions", where=str(path), fix=fix)
        subset, predictions = _cell(path, decoded, target)
        if any(isinstance(value, list) for value in predictions.values()):
            _add_neighbours(imported, subset, predictions, target)
        else:
            _add_rankings(imported, predictions)
    return imported


def _cell(path: Path, decoded: Any, target: Target) -> tuple[str, dict[str, Any]]:
    """Return the subset of the language, and its predictions for the split."""
    if not isinstance(decoded, dict):
        raise PredictionError("expected a JSON object of subsets", where=str(path))
    if _META not in decoded and _is_rankings(decoded):
        return "", decoded
    subsets = {name: splits for name, splits in decoded.items() if name != _META}
    entry = find_language(target.language)
    wanted = {entry.code, entry.iso3, entry.individual}
    fitting = [name for name in subsets if wanted & set(name.lower().replace("_", "-").split("-"))]
    if not fitting and list(subsets) == ["default"]:
        fitting = ["default"]
    if len(fitting) != 1:
        what = f"{'several subsets' if fitting else 'no subset'} for {target.language}"
        raise PredictionError(what, where=str(path), fix=f"The file has {_enumerated(subsets)}")
    splits = subsets[fitting[0]]
    names = [name for name in _SPLITS[target.split] if isinstance(splits, dict) and name in splits]
    if not names:
        what = f"no {target.split} split in subset {fitting[0]!r}"
        has = _enumerated(splits) if isinstance(splits, dict) else "none"
        raise PredictionError(what, where=str(path), fix=f"It has {has}")
    predictions = splits[names[0]]
    if not isinstance(predictions, dict) or not predictions:
        raise PredictionError(f"no rankings in {fitting[0]!r}, {names[0]!r}", where=str(path))
    return fitting[0], predictions


def _enumerated(names: Mapping[str, Any]) -> str:
    return ", ".join([*names][:20]) + (", …" if len(names) > 20 else "") or "none"


def rank(scores: Mapping[str, float], depth: int = DEPTH) -> list[str]:
    """Return ids by decreasing score; ties are in the order of ids, numbers before names."""

    def order(identifier: str) -> tuple[float, bool, int, str]:
        number = whole_number(identifier)
        return -scores[identifier], number is None, number or 0, identifier

    return sorted(scores, key=order)[:depth]


def _add_rankings(imported: ImportedAnswers, predictions: Mapping[str, Any]) -> None:
    cut = 0
    for query, scores in predictions.items():
        where = f"{imported.path} (query {query!r})"
        if not isinstance(scores, dict):
            raise PredictionError("expected scores by document id", where=where)
        for document, score in scores.items():
            if not isinstance(score, int | float) or math.isnan(score):
                raise PredictionError(f"expected a number as score of {document!r}, got {score!r}", where=where)
        cut += len(scores) > DEPTH
        imported.add(query, rank(scores))
    if cut:
        imported.notes.append(f"rankings were cut at {DEPTH}; no metric needs more")


def _add_neighbours(imported: ImportedAnswers, subset: str, predictions: Mapping[str, Any], target: Target) -> None:
    """Add the nearest neighbour of each query row (bitext mining); in XTREME's Tatoeba the queries are English."""
    path = imported.path
    pair, neighbours = next(iter(predictions.items()))
    sides = pair.split("-")
    source = (subset.split("-") if tuple(sides) == _SIDES else sides)[0].lower()
    if target.kind.shared_pool or len(predictions) > 1 or not isinstance(neighbours, list):
        raise PredictionError(f"bitext neighbours do not answer {target.task.id}", where=str(path))
    if source not in _ENGLISH:
        what = f"the pairs go from {source!r} to English, but {target.task.id} goes from English to {target.language}"
        fix = f"Save the vectors instead, as {target.task.id}/queries-{target.language}.npy (English) and candidates"
        raise PredictionError(what, where=f"{path} ({subset})", fix=fix)
    for row, neighbour in enumerate(neighbours):
        position = neighbour.get("corpus_id") if isinstance(neighbour, dict) else None
        if not isinstance(position, int):
            raise PredictionError(f"missing corpus_id in row {row}", where=str(path))
        imported.add(str(row), [str(position)])
