"""System outputs as ExplainaBoard stores them: a list of items, or an object with `predictions` and metadata.

Question answering: `predicted_answers.text`; classification: `predicted_label`. Items are in the dataset's order, and
their `id`, where they have one, is no id of the dataset. The stored texts are tokenised: blanks surround punctuation
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
    """Whether a file is such a list of outputs."""
    items = decoded.get("predictions") if isinstance(decoded, dict) else decoded
    first = items[0] if isinstance(items, list) and items else None
    return isinstance(first, dict) and bool({"predicted_label", "predicted_answers"} & first.keys())


def read(files: Sequence[Path], target: Target) -> ImportedAnswers:
    """The answers in the file, by position."""
    path = one_file(files)
    if target.kind.form not in ("answer", "label"):
        raise PredictionError(f"there is no importer of ExplainaBoard's {target.task.id} outputs", where=str(path))
    decoded = read_json(path)
    items = decoded
    if isinstance(decoded, dict):
        items = decoded.get("predictions")
        _refuse_other_cell(path, decoded.get(_META), target)
    if not isinstance(items, list):
        fix = 'Expected a list of items, or {"predictions": […]}'
        raise PredictionError("not a list of system outputs", where=str(path), fix=fix)
    found = ImportedAnswers(path)
    if target.examples is not None and len(items) != len(target.examples):
        what = f"{len(items)} outputs, but {target.name} has {len(target.examples)} examples"
        raise PredictionError(what, where=str(path), fix="They are matched by position: the numbers must agree")
    for row, item in enumerate(items):
        _add(found, target, row, item)
    return found


def _refuse_other_cell(path: Path, metadata: Any, target: Target) -> None:
    """The file may say which language and dataset it is of."""
    claims = metadata if isinstance(metadata, dict) else {}
    for key, wanted in (("language", target.language), ("dataset_name", target.task.id)):
        name = claims.get(key)
        if isinstance(name, str) and ALIASES.get(name, name) != wanted:
            raise PredictionError(f"the file says that its {key} is {name!r}, not {wanted!r}", where=str(path))


def _add(found: ImportedAnswers, target: Target, row: int, item: Any) -> None:
    where = f"{found.path} (item {row})"
    if not isinstance(item, dict):
        raise PredictionError("not an object", where=where)
    identifier = target.row_id(row, where)
    of_questions = target.kind.form == "answer"
    if of_questions:
        answers = item.get("predicted_answers")
        value = answers.get("text") if isinstance(answers, dict) else None
        value = value[0] if isinstance(value, list) and value else value
        quoted = {"question": "question", "context": "context"}
    else:
        value = _label(item.get("predicted_label"), target)
        quoted = {"text": "text", "text1": "text_a", "text2": "text_b"}
        if "true_label" in item:
            found.quote("label", identifier, _label(item["true_label"], target))
    if not isinstance(value, str):
        named = "predicted_answers.text" if of_questions else "predicted_label"
        raise PredictionError(f"{named} is no string", where=where)
    if not of_questions and value not in target.task.labels:
        raise PredictionError(f"label {value!r} is not one of {', '.join(target.task.labels)}", where=where)
    found.add(identifier, value)
    for field, column in quoted.items():
        if isinstance(item.get(field), str):
            found.quote(column, identifier, item[field])


def _label(value: Any, target: Target) -> Any:
    return _WORDS.get(value, value) if isinstance(value, str) and target.task.id == "xnli" else value
