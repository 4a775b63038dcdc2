"""Outputs of Hugging Face transformers' example scripts.

Question answering (`run_qa.py`): `predict_predictions.json`, {id: answer}, or `predict_nbest_predictions.json`,
{id: [{"text": …}, …]} best first. Classification (`run_xnli.py`, `run_glue.py`, `run_classification.py`):
`predictions.txt` or `predict_results….txt`, rows of `index<TAB>prediction` under that header. Tagging (`run_ner.py`):
`predictions.txt`, one sentence per line, its tags separated by spaces, or `test_predictions.txt` of older versions, one
word and its tag per line. Class indices and choices may also come as a JSON list or as an array saved by numpy
(indices, or one row of logits per example).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from isogloss.data.arrays import read_array
from isogloss.data.files import lines, unpacked_name
from isogloss.data.table_files import read_table
from isogloss.data.table_syntax import TableSyntax
from isogloss.decoding import whole_number
from isogloss.errors import PredictionError, near_names
from isogloss.predictions.importers.base import ImportedAnswers, Target, one_file, read_json, shown

_HEADER = "index\tprediction"
# Models without names for their classes call them LABEL_0, LABEL_1, …
_CLASS = re.compile(r"(?:LABEL_)?(\d{1,9})")
_METRIC = re.compile(r"(?:(?:train|eval|predict|test|all)_\w+|epoch|total_flos)")

# Largest share of sentences with other words than the examples.
MOST_REWRITTEN = 0.1

# Row of the dataset, class or label, line of the file (0 if unknown).
PredictedRow = tuple[int, Any, int]


def recognizes(path: Path, decoded: Any) -> bool:
    """Return True if the file may be theirs; the formats are generic, so other tools are tried first."""
    name = unpacked_name(path)
    return name.endswith((".txt", ".tsv", ".npy")) or (name.endswith(".json") and isinstance(decoded, dict | list))


def read(files: Sequence[Path], target: Target) -> ImportedAnswers:
    """Read the answers of the files."""
    form = target.kind.form
    imported = ImportedAnswers(files[0])
    if form == "answer":
        for path in files:
            imported.path = path
            _add_answers(imported, read_json(path))
    elif form in ("label", "option"):
        for row, value, number in _rows(one_file(files)):
            where = f"{imported.path}:{number}" if number else f"{imported.path} (row {row})"
            answer = _label(target, value, where) if form == "label" else whole_number(str(value).strip())
            if answer is None:
                what = f"expected the index of a choice, got {shown(str(value).strip())}"
                raise PredictionError(what, where=where, fix="Count from 0")
            imported.add(target.row_id(row, where), answer, number)
    elif form == "tags":
        _add_tags(imported, one_file(files), target)
    elif not target.kind.retrieval:
        what = f"cannot import transformers' {target.task.id} outputs"
        fix = f'Write lines of {{"id": …, "prediction": …}} with {target.kind.answer_help}'
        raise PredictionError(what, where=str(files[0]), fix=fix)
    else:
        what = f"transformers' example scripts write no rankings, which {target.task.id} needs"
        fix = f"Save embeddings: {target.task.id}/queries-{target.language}.npy and candidates with .ids.txt"
        raise PredictionError(what, where=str(files[0]), fix=fix)
    return imported


def _refuse_metrics(path: Path, decoded: Any) -> None:
    if isinstance(decoded, dict) and decoded and all(_METRIC.fullmatch(key) for key in decoded):
        fix = "The answers are in *_predictions.json, predict_results*.txt or predictions.txt next to it (--do_predict)"
        raise PredictionError("only metrics, no answers", where=str(path), fix=fix)


def _add_answers(imported: ImportedAnswers, decoded: Any) -> None:
    """Add {id: answer} or {id: n-best list}; an empty answer counts as an answer, as in SQuAD 2.0."""
    path = imported.path
    _refuse_metrics(path, decoded)
    if not isinstance(decoded, dict):
        raise PredictionError("expected one JSON object from id to answer", where=str(path))
    if decoded and all(isinstance(value, int | float) for value in decoded.values()):
        fix = "The answers are in *_predictions.json"
        raise PredictionError("expected answers, got null odds", where=str(path), fix=fix)
    for identifier, value in decoded.items():
        best = value[0].get("text") if isinstance(value, list) and value and isinstance(value[0], dict) else value
        if not isinstance(best, str):
            what = f"expected a string or an n-best list as answer to {identifier!r}"
            raise PredictionError(what, where=str(path))
        imported.add(identifier, best)


def _rows(path: Path) -> Iterable[PredictedRow]:
    name = unpacked_name(path)
    if not name.endswith((".npy", ".json")):
        return _table(path)
    values = _array(path) if name.endswith(".npy") else read_json(path)
    _refuse_metrics(path, values)
    if not isinstance(values, list):
        raise PredictionError("expected a JSON list with one prediction per example", where=str(path))
    return ((row, value, 0) for row, value in enumerate(values))


def _array(path: Path) -> list[int]:
    """Return class indices, or the indices of the largest logits."""
    array = read_array(path)
    if array.ndim == 2 and np.issubdtype(array.dtype, np.floating) and array.shape[1]:
        bad = ~np.isfinite(array).all(axis=1)
        if bad.any():
            raise PredictionError(f"the logits of row {int(bad.argmax())} are not finite", where=str(path))
        array = array.argmax(axis=1)
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
        what = f"expected class indices or logits, got {array.dtype} with shape {array.shape}"
        raise PredictionError(what, where=str(path), fix="Save class indices, or one row of logits per example")
    return [int(value) for value in array]


def _table(path: Path) -> Iterator[PredictedRow]:
    for number, line in enumerate(lines(path), 1):
        if number == 1:
            if line.strip() != _HEADER:
                fix = "A file with one label per line can be scored directly as <task>/test-<language>.tsv"
                raise PredictionError("missing header `index<TAB>prediction`", where=f"{path}:1", fix=fix)
        elif line.strip():
            index, tab, value = line.partition("\t")
            row = whole_number(index.strip())
            if not tab or row is None:
                raise PredictionError("expected `index<TAB>prediction`", where=f"{path}:{number}")
            yield row, value, number


def _label(target: Target, value: Any, where: str) -> str:
    """Return a label from its name, or from its class index if the user passes the order of labels."""
    text = str(value).strip()
    labels = target.task.labels
    index = _CLASS.fullmatch(text)
    if target.labels and index:
        if int(index[1]) >= len(target.labels):
            raise PredictionError(f"class {text}, but --labels names {len(target.labels)}", where=where)
        return target.labels[int(index[1])]
    if text in labels:
        return text
    if index:
        fix = f"Pass the model's order of labels, e.g. --labels {','.join(labels)}"
        raise PredictionError(f"{text} is a class index without a known label", where=where, fix=fix)
    close = near_names(text, labels, 1)
    fix = f"Did you mean {close[0]}?" if close else ""
    raise PredictionError(f"label {text!r} is not one of {', '.join(labels)}", where=where, fix=fix)


def _add_tags(imported: ImportedAnswers, path: Path, target: Target) -> None:
    labels = set(target.task.labels)
    first = next((line.split() for line in lines(path) if line.strip()), [])
    if len(first) > 1 and first[-1] in labels and first[0] not in labels:
        table = read_table(path, TableSyntax("conll", delimiter=" "))
        _quote_words(imported, table.columns["tokens"], target)
        rows = list(zip(table.columns["tags"], table.lines or (), strict=True))
    else:
        rows = [(line.split(), number) for number, line in enumerate(lines(path), 1)]
    for row, (tags, number) in enumerate(rows):
        where = f"{path}:{number}" if number else str(path)
        identifier = target.row_id(row, where)
        wrong = next((tag for tag in tags if tag not in labels), None)
        if wrong is not None:
            what = f"tag {wrong!r} of {identifier} is not one of {', '.join(target.task.labels)}"
            fix = "Write one sentence per line, its tags separated by spaces; or one word and its tag per line"
            raise PredictionError(what, where=where, fix=fix)
        words = len(target.examples["tokens"][row]) if target.examples is not None else len(tags)
        if len(tags) < words and not imported.evidence:
            fix = "run_ner.py drops words after --max_seq_length; predict again with a larger one"
            raise PredictionError(f"{len(tags)} tags for the {words} words of {identifier}", where=where, fix=fix)
        imported.add(identifier, tags, number)


def _quote_words(imported: ImportedAnswers, sentences: Sequence[list[str]], target: Target) -> None:
    """Compare the words of a file with the examples, and quote them if they are those of other sentences.

    Datasets correct single words after a release, so a few that differ are only noted.
    """
    if target.examples is None:
        return
    examples = [list(tokens) for tokens in target.examples["tokens"]]
    pairs = list(zip(sentences, examples, strict=False))
    differ = [row for row, (words, tokens) in enumerate(pairs) if words != tokens]
    shorter = [row for row in differ if sentences[row] == examples[row][: len(sentences[row])]]
    same_lengths = all(len(words) == len(tokens) for words, tokens in pairs)
    if same_lengths and len(differ) <= MOST_REWRITTEN * len(pairs):
        if differ:
            count = f"{len(differ):,} of {len(pairs):,} sentences"
            imported.notes.append(f"words differ from the examples in {count}; tags are matched by position")
    elif len(shorter) < len(differ):
        for row, words in enumerate(sentences[: len(examples)]):
            imported.quote("tokens", target.examples.ids[row], words)
