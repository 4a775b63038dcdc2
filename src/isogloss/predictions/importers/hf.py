"""Outputs of Hugging Face transformers' example scripts.

Question answering (`run_qa.py`): `predict_predictions.json`, {id: answer}, or `predict_nbest_predictions.json`,
{id: [{"text": …}, …]} best first. Classification (`run_xnli.py`, `run_glue.py`, `run_classification.py`):
`predictions.txt` or `predict_results….txt`, rows of `index<TAB>prediction` under that header. Tagging (`run_ner.py`):
`predictions.txt`, one sentence a line, its tags separated by blanks. Class indices and choices may also come as a
JSON list or as an array saved by numpy (indices, or one row of logits an example).
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from isogloss.data.arrays import read_array
from isogloss.data.files import lines, unpacked_name
from isogloss.decoding import whole_number
from isogloss.errors import PredictionError, near_names
from isogloss.predictions.importers.base import ImportedAnswers, Target, one_file, read_json, shown

_HEADER = "index\tprediction"
# Models without names for their classes call them LABEL_0, LABEL_1, …
_CLASS = re.compile(r"(?:LABEL_)?(\d{1,9})")
_METRIC = re.compile(r"(?:(?:train|eval|predict|test|all)_\w+|epoch|total_flos)")

# Row of the dataset, class or label, line of the file (0 where a format has none).
PredictedRow = tuple[int, Any, int]


def recognizes(path: Path, decoded: Any) -> bool:
    """Whether a file can be one of theirs; the formats are plain, so other tools are tried first."""
    name = unpacked_name(path)
    return name.endswith((".txt", ".tsv", ".npy")) or (name.endswith(".json") and isinstance(decoded, dict | list))


def read(files: Sequence[Path], target: Target) -> ImportedAnswers:
    """The answers in the files."""
    form = target.kind.form
    found = ImportedAnswers(files[0])
    if form == "answer":
        for path in files:
            found.path = path
            _add_answers(found, read_json(path))
    elif form in ("label", "option"):
        for row, value, number in _rows(one_file(files)):
            where = f"{found.path}:{number}" if number else f"{found.path} (row {row})"
            answer = _label(target, value, where) if form == "label" else _choice(value, where)
            found.add(target.row_id(row, where), answer, number)
    elif form == "tags":
        _add_tags(found, one_file(files), target)
    elif not target.kind.retrieval:
        what = f"there is no importer of transformers' {target.task.id} outputs"
        fix = f'Write lines of {{"id": …, "prediction": …}}, where a prediction is {target.kind.answer_help}'
        raise PredictionError(what, where=str(files[0]), fix=fix)
    else:
        what = f"transformers' example scripts write no rankings, which {target.task.id} needs"
        fix = f"Save embeddings: {target.task.id}/queries-{target.language}.npy and candidates with .ids.txt"
        raise PredictionError(what, where=str(files[0]), fix=fix)
    return found


def _refuse_metrics(path: Path, decoded: Any) -> None:
    if isinstance(decoded, dict) and decoded and all(_METRIC.fullmatch(key) for key in decoded):
        fix = "The answers are in *_predictions.json, predict_results*.txt or predictions.txt beside it (--do_predict)"
        raise PredictionError("only metrics, no answers", where=str(path), fix=fix)


def _add_answers(found: ImportedAnswers, decoded: Any) -> None:
    """{id: answer} or {id: n-best list}; an empty answer is an answer, as in SQuAD 2.0."""
    path = found.path
    _refuse_metrics(path, decoded)
    if not isinstance(decoded, dict):
        raise PredictionError("not one JSON object of ids and answers", where=str(path))
    if decoded and all(isinstance(value, int | float) for value in decoded.values()):
        fix = "The answers are in *_predictions.json"
        raise PredictionError("numbers, not answers: the odds that there is none", where=str(path), fix=fix)
    for identifier, value in decoded.items():
        best = value[0].get("text") if isinstance(value, list) and value and isinstance(value[0], dict) else value
        if not isinstance(best, str):
            what = f"the answer to {identifier!r} is neither a string nor an n-best list"
            raise PredictionError(what, where=str(path))
        found.add(identifier, best)


def _rows(path: Path) -> Iterator[PredictedRow]:
    name = unpacked_name(path)
    if name.endswith(".npy"):
        yield from ((row, value, 0) for row, value in enumerate(_array(path)))
    elif name.endswith(".json"):
        decoded = read_json(path)
        _refuse_metrics(path, decoded)
        if not isinstance(decoded, list):
            raise PredictionError("not a JSON list with one prediction an example", where=str(path))
        yield from ((row, value, 0) for row, value in enumerate(decoded))
    else:
        yield from _table(path)


def _array(path: Path) -> list[int]:
    """Class indices: as they are, or the places of the largest logits."""
    array = read_array(path)
    if array.ndim == 2 and np.issubdtype(array.dtype, np.floating) and array.shape[1]:
        bad = ~np.isfinite(array).all(axis=1)
        if bad.any():
            raise PredictionError(f"the logits of row {int(bad.argmax())} are not finite", where=str(path))
        array = array.argmax(axis=1)
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
        what = f"an array of {array.dtype} with shape {array.shape}"
        raise PredictionError(what, where=str(path), fix="Save class indices, or a row of logits an example")
    return [int(value) for value in array]


def _table(path: Path) -> Iterator[PredictedRow]:
    for number, line in enumerate(lines(path), 1):
        if number == 1:
            if line.strip() != _HEADER:
                fix = "One label a line is XTREME's layout: name it <task>/test-<language>.tsv and score it as it is"
                raise PredictionError("no header `index<TAB>prediction`", where=f"{path}:1", fix=fix)
        elif line.strip():
            index, tab, value = line.partition("\t")
            row = whole_number(index.strip())
            if not tab or row is None:
                raise PredictionError("not `index<TAB>prediction`", where=f"{path}:{number}")
            yield row, value, number


def _label(target: Target, value: Any, where: str) -> str:
    """A label by name, or by class index where the user has said which class is which."""
    text = str(value).strip()
    known = target.task.labels
    index = _CLASS.fullmatch(text)
    if target.labels and index:
        if int(index[1]) >= len(target.labels):
            raise PredictionError(f"class {text}, but --labels names {len(target.labels)}", where=where)
        return target.labels[int(index[1])]
    if text in known:
        return text
    if index:
        fix = f"Say which class is which: --labels {','.join(known)} if that is the model's order"
        raise PredictionError(f"{text} is a class index, and its label cannot be guessed", where=where, fix=fix)
    close = near_names(text, known, 1)
    fix = f"Did you mean {close[0]}?" if close else ""
    raise PredictionError(f"label {text!r} is not one of {', '.join(known)}", where=where, fix=fix)


def _choice(value: Any, where: str) -> int:
    text = str(value).strip()
    index = whole_number(text)
    if index is None:
        raise PredictionError(f"{shown(text)} is not the index of a choice", where=where, fix="Count from 0")
    return index


def _add_tags(found: ImportedAnswers, path: Path, target: Target) -> None:
    known = set(target.task.labels)
    for number, line in enumerate(lines(path), 1):
        tags = line.split()
        wrong = next((tag for tag in tags if tag not in known), None)
        if wrong is not None:
            what = f"tag {wrong!r} is not one of {', '.join(target.task.labels)}"
            fix = "Expected one sentence a line, its tags separated by blanks"
            raise PredictionError(what, where=f"{path}:{number}", fix=fix)
        where = f"{path}:{number}"
        row = number - 1
        identifier = target.row_id(row, where)
        words = len(target.examples["tokens"][row]) if target.examples is not None else len(tags)
        if len(tags) < words:
            fix = "run_ner.py drops the words after --max_seq_length: predict again with a larger one"
            raise PredictionError(f"{len(tags)} tags for the {words} words of {identifier}", where=where, fix=fix)
        found.add(identifier, tags, number)
