"""Predictions saved by mteb: `<task>_predictions.json`, written where `prediction_folder` is given.

The file maps subset (mostly a language or a pair) to split to predictions. Of retrieval they are
{query id: {document id: score}}, which mteb 1 writes alone, one file a subset; of bitext mining
{"sentence1-sentence2": [{"corpus_id": row, "score": …}, …]}, for each row of the first side its nearest neighbour on
the second.

What mteb's own tasks ask is not always what XTREME-R asks, and then their answers are refused: Tatoeba there goes
from the other language to English, BUCC searches only sentences known to have a translation, and XQuADRetrieval ranks
paragraphs. Retrieval over exported queries and candidates, with their ids, can be imported as it is.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from isogloss.decoding import whole_number
from isogloss.errors import PredictionError
from isogloss.languages import language as find_language
from isogloss.predictions.importers.base import ImportedAnswers, Target, read_json

# mteb saves a thousand documents a query; the deepest figure of any task needs some thirty.
DEPTH = 100

_META = "mteb_model_meta"
_ENGLISH = frozenset({"en", "eng"})
_SPLITS = {"test": ("test",), "dev": ("validation", "dev")}
# What bitext tasks call the queries' and the candidates' side, unless they name the languages.
_SIDES = ("sentence1", "sentence2")


def recognizes(path: Path, decoded: Any) -> bool:
    """Whether a file is mteb's: predictions, or results, which hold only scores."""
    return isinstance(decoded, dict) and (_META in decoded or _is_results(decoded) or _is_rankings(decoded))


def _is_results(decoded: Any) -> bool:
    return isinstance(decoded, dict) and {"task_name", "scores"} <= decoded.keys()


def _is_rankings(decoded: dict[str, Any]) -> bool:
    """Whether this is what mteb 1 writes: scores right under the query ids."""
    return bool(decoded) and all(
        isinstance(scores, dict) and scores and all(isinstance(score, int | float) for score in scores.values())
        for scores in decoded.values()
    )


def read(files: Sequence[Path], target: Target) -> ImportedAnswers:
    """The rankings in the files."""
    if target.kind.form != "ranking":
        raise PredictionError(_unfit(target), where=str(files[0]))
    found = ImportedAnswers(files[0])
    for path in files:
        found.path = path
        decoded = read_json(path)
        if _is_results(decoded):
            fix = 'Run mteb.evaluate(…, prediction_folder="predictions") and import <task>_predictions.json'
            raise PredictionError("only scores, no predictions", where=str(path), fix=fix)
        subset, predictions = _cell(path, decoded, target)
        if any(isinstance(value, list) for value in predictions.values()):
            _add_neighbours(found, subset, predictions, target)
        else:
            _add_rankings(found, predictions)
    return found


def _unfit(target: Target) -> str:
    if target.kind.form == "pairs":
        return "mteb's BUCC searches only sentences known to have a translation, so its answers are not mined pairs"
    return f"mteb saves nothing that answers {target.task.id}"


def _cell(path: Path, decoded: Any, target: Target) -> tuple[str, dict[str, Any]]:
    """The predictions of the language and the split, and the name of their subset."""
    if not isinstance(decoded, dict):
        raise PredictionError("not a JSON object of subsets", where=str(path))
    if _META not in decoded and _is_rankings(decoded):
        return "", decoded
    subsets = {name: splits for name, splits in decoded.items() if name != _META}
    wanted = _language_names(target.language)
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


def _language_names(code: str) -> set[str]:
    entry = find_language(code)
    return {entry.code, entry.iso3, entry.individual}


def rank(scores: Mapping[str, float], depth: int = DEPTH) -> list[str]:
    """Ids by falling score; equal scores in the order of ids, numbers before names."""
    return sorted(scores, key=lambda identifier: (-scores[identifier], _order(identifier)))[:depth]


def _order(identifier: str) -> tuple[bool, int, str]:
    number = whole_number(identifier)
    return number is None, number or 0, identifier


def _add_rankings(found: ImportedAnswers, predictions: Mapping[str, Any]) -> None:
    cut = 0
    for query, scores in predictions.items():
        where = f"{found.path} (query {query!r})"
        if not isinstance(scores, dict):
            raise PredictionError("no scores by document id", where=where)
        for document, score in scores.items():
            if not isinstance(score, int | float) or math.isnan(score):
                raise PredictionError(f"the score of {document!r} is {score!r}", where=where, fix="Scores are numbers")
        cut += len(scores) > DEPTH
        found.add(query, rank(scores))
    if cut:
        found.notes.append(f"rankings were cut at {DEPTH}; no figure looks deeper")


def _add_neighbours(found: ImportedAnswers, subset: str, predictions: Mapping[str, Any], target: Target) -> None:
    """Bitext mining: row i of the queries has one nearest neighbour; in XTREME's Tatoeba the queries are English."""
    path = found.path
    pair, neighbours = next(iter(predictions.items()))
    sides = pair.split("-")
    source = (subset.split("-") if tuple(sides) == _SIDES else sides)[0].lower()
    if target.kind.shared_pool or len(predictions) > 1 or not isinstance(neighbours, list):
        raise PredictionError(f"bitext neighbours do not answer {target.task.id}", where=str(path))
    if source not in _ENGLISH:
        what = f"these go from {source!r} to English, but {target.task.id} goes from English to {target.language}"
        fix = f"Save the vectors instead, as {target.task.id}/queries-{target.language}.npy (English) and candidates"
        raise PredictionError(what, where=f"{path} ({subset})", fix=fix)
    for row, neighbour in enumerate(neighbours):
        place = neighbour.get("corpus_id") if isinstance(neighbour, dict) else None
        if not isinstance(place, int):
            raise PredictionError(f"row {row} has no corpus_id", where=str(path))
        found.add(str(row), [str(place)])
