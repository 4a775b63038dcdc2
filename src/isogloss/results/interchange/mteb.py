"""Results of mteb: one `<Task>.json` per task, in `<owner>__<model>/<revision>/`, with shares from 0 to 1.

Only Tatoeba is the same task as ours, by its accuracy: mteb's main score is an F1. The others that share our data have
other metrics: average precision from distances for XNLI and PAWS-X, passages as the answers of XQuAD and MLQA, and
BUCC without the sentences that have no translation.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from isogloss.data.files import read_bytes
from isogloss.decoding import decode_python_json
from isogloss.errors import DataError
from isogloss.languages import language
from isogloss.results.interchange.reported import ReportedScores, percent, refuse_all, system_name
from isogloss.scoring.results import CellScore, Results, write_json
from isogloss.tasks.readers.split_files import corpus_iso3
from isogloss.tasks.registry import task

TOOL = "mteb"
_TASK, _NAME = "tatoeba", "Tatoeba"
_OTHER_METRICS = {
    "BUCC": "searches only sentences known to have a translation; ours mines pairs",
    "BUCC.v2": "searches only sentences known to have a translation; ours mines pairs",
    "XNLI": "is average precision from distances of embeddings, ours accuracy",
    "XNLIV2": "is average precision from distances of embeddings, ours accuracy",
    "PawsXPairClassification": "is average precision from distances of embeddings, ours accuracy",
    "XQuADRetrieval": "ranks passages; ours scores answers",
    "MLQARetrieval": "ranks passages; ours scores answers",
    "SIB200Classification": "trains a classifier on few examples per label",
}
_META = "model_meta.json"
_UNKNOWN_REVISION = "no_revision_available"


def recognizes(decoded: Any) -> bool:
    """Return True for the result of a task."""
    return isinstance(decoded, dict) and isinstance(decoded.get("task_name"), str) and "scores" in decoded


def read(path: Path, decoded: Mapping[str, Any]) -> Results:
    """Read the accuracy on Tatoeba; raise DataError for tasks with another metric than ours."""
    name = decoded["task_name"]
    if name != _NAME:
        reason = _OTHER_METRICS.get(name, "is not a task of ours")
        raise DataError(f"cannot compare scores: mteb's {name} {reason}", where=str(path), fix=f"Pass {_NAME}.json")
    scores = decoded["scores"]
    rows = scores.get("test") if isinstance(scores, Mapping) else None
    if not isinstance(rows, list):
        raise DataError("no scores of the test split", where=str(path), fix="Run mteb on the test split")
    reported = ReportedScores(path, TOOL)
    subsets = _subsets()
    for row in rows:
        code = subsets.get(str(row.get("hf_subset"))) if isinstance(row, Mapping) else None
        if code and "accuracy" in row:
            size = task(_TASK).expected(code, "test")
            what = f"accuracy of {row['hf_subset']}"
            reported.add(_TASK, code, {"accuracy": percent(row["accuracy"], None, size, what=what, path=path)}, size)
    version = decoded.get("mteb_version")
    system = _model(path) | {"kind": "retrieval", "regime": "embedding"}
    return reported.record(system | ({"evaluator_version": str(version)} if version else {}), _NAME)


def _subsets() -> dict[str, str]:
    """Return our language of each subset, such as `swh-eng`: they are named as the files of the corpus."""
    return {f"{corpus_iso3(code)}-eng": code for code in task(_TASK).languages}


def _model(path: Path) -> dict[str, Any]:
    """Return the model's name and revision: of the file beside the result, or of its folders."""
    beside = path.parent / _META
    meta = decode_python_json(read_bytes(beside).decode("utf-8", "replace"), str(beside)) if beside.is_file() else {}
    folders, revision = path.resolve().parent, None
    name = meta.get("name") if isinstance(meta, dict) else None
    for folder in (folders.parent, folders):
        if not name and "__" in folder.name:
            name = folder.name.replace("__", "/", 1)
            revision = folders.name if folder == folders.parent else None
    revision = meta.get("revision", revision) if isinstance(meta, dict) else revision
    return {"name": str(name or folders.name)} | ({"revision": str(revision)} if revision else {})


def write(records: Sequence[Results], out: Path) -> Path:
    """Write the folder of results: one model per system, with Tatoeba's accuracy and no F1, which is not known."""
    models = [(system_name(record), str(record.system.get("revision") or _UNKNOWN_REVISION)) for record in records]
    folders = [out.joinpath(*map(_folder_name, model)) for model in models]
    if shared := [model for model, folder in zip(models, folders, strict=True) if folders.count(folder) > 1]:
        what = f"{TOOL} has one result per model and revision, but {len(shared)} systems are {shared[0][0]}"
        raise DataError(what, fix="Write them to different folders")
    for record, (name, revision), folder in zip(records, models, folders, strict=True):
        cells = [cell for cell in record.cells if cell.task == _TASK and not cell.partial and not record.is_apart(cell)]
        refuse_all(record, cells, TOOL)
        folder.mkdir(parents=True, exist_ok=True)
        result = {
            "dataset_revision": "",
            "task_name": _NAME,
            "mteb_version": None,
            "scores": {"test": [_row(cell) for cell in cells]},
            "evaluation_time": None,
            "kg_co2_emissions": None,
        }
        write_json(folder / f"{_NAME}.json", result)
        write_json(folder / _META, {"name": name, "revision": revision})
    return out


def _folder_name(text: str) -> str:
    """Return a name that stays inside its folder, with the owner and the model apart as mteb writes them."""
    return re.sub(r"[^\w.+-]", "_", text.replace("/", "__")).lstrip(".") or "_"


def _row(cell: CellScore) -> dict[str, Any]:
    code, script = corpus_iso3(cell.language), language(cell.language).script
    script = {"Kore": "Hang"}.get(script, script)  # mteb's name of Korean writing
    return {
        "accuracy": cell.metrics["accuracy"].value / 100,
        "hf_subset": f"{code}-eng",
        "languages": [f"{code}-{script}", "eng-Latn"],
        "main_score": None,
    }
