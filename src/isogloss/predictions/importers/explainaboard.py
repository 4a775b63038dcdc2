"""System outputs as ExplainaBoard stores them: a list of items, or an object with `predictions` and metadata.

Question answering: `predicted_answers.text`; classification: `predicted_label`. Items are in the dataset's order, and
their `id`, if any, is not an id of the dataset. The stored texts are tokenised: blanks surround punctuation
in question, context, gold and prediction alike, so that an answer is right against the stored gold and only partly
right against the dataset's ("20 – 18" and "20–18" share no token).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from isogloss.errors import PredictionError
from isogloss.predictions.importers.base import ImportedAnswers, Target, one_file, read_json
from isogloss.tasks.registry import ALIASES

# The wording of its XNLI prompts.
_WORDS = {"Yes": "entailment", "Maybe": "neutral", "No": "contradiction"}
_META = "user_defined_metadata_configs"


def recognizes(path: Path, decoded: Any) -> bool:
    """Return True if the file is a list of system outputs."""
    items = decoded.get("predictions") if isinstance(decoded, dict) else decoded
    first = items[0] if isinstance(items, list) and items else None
    return isinstance(first, dict) and bool({"predicted_label", "predicted_answers"} & first.keys())


def read(files: Sequence[Path], target: Target) -> ImportedAnswers:
    """Read the answers of a file, by position."""
    path = one_file(files)
    if target.kind.form not in ("answer", "label"):
        raise PredictionError(f"cannot import ExplainaBoard's {target.task.id} outputs", where=str(path))
    decoded = read_json(path)
    items = decoded
    if isinstance(decoded, dict):
        items, metadata = decoded.get("predictions"), decoded.get(_META)
        for key, wanted in (("language", target.language), ("dataset_name", target.task.id)):
            name = metadata.get(key) if isinstance(metadata, dict) else None
            if isinstance(name, str) and ALIASES.get(name, name) != wanted:
                raise PredictionError(f"expected {key} {wanted!r}, got {name!r}", where=str(path))
    if not isinstance(items, list):
        fix = 'Expected a list of items, or {"predictions": […]}'
        raise PredictionError("expected a list of system outputs", where=str(path), fix=fix)
    imported = ImportedAnswers(path)
    if target.examples is not None and len(items) != len(target.examples):
        what = f"{len(items)} outputs, but {target.name} has {len(target.examples)} examples"
        raise PredictionError(what, where=str(path), fix="Outputs are matched by position, so the numbers must agree")
    for row, item in enumerate(items):
        _add(imported, target, row, item)
    return imported


def _add(imported: ImportedAnswers, target: Target, row: int, item: Any) -> None:
    where = f"{imported.path} (item {row})"
    if not isinstance(item, dict):
        raise PredictionError("expected an object", where=where)
    identifier = target.row_id(row, where)
    is_question = target.kind.form == "answer"
    if is_question:
        answers = item.get("predicted_answers")
        value = answers.get("text") if isinstance(answers, dict) else None
        value = value[0] if isinstance(value, list) and value else value
        quoted = {"question": "question", "context": "context"}
    else:
        value = _label(item.get("predicted_label"), target)
        quoted = {"text": "text", "text1": "text_a", "text2": "text_b"}
        if "true_label" in item:
            imported.quote("label", identifier, _label(item["true_label"], target))
    if not isinstance(value, str):
        name = "predicted_answers.text" if is_question else "predicted_label"
        raise PredictionError(f"expected a string in {name}", where=where)
    if not is_question and value not in target.task.labels:
        raise PredictionError(f"label {value!r} is not one of {', '.join(target.task.labels)}", where=where)
    imported.add(identifier, value)
    for field, column in quoted.items():
        if isinstance(item.get(field), str):
            imported.quote(column, identifier, item[field])


def _label(value: Any, target: Target) -> Any:
    return _WORDS.get(value, value) if isinstance(value, str) and target.task.id == "xnli" else value
