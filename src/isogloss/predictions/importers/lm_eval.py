"""Sample logs of lm-evaluation-harness: `samples_<task>_<date>.jsonl`, written by `--log_samples`.

A line has `doc_id`, the row of the dataset's split as the Hugging Face hub has it; `doc`, the example itself;
`filtered_resps`, the model's responses: `[log-likelihood, is_greedy]` for each choice (numbers as strings, in newer
versions), or the generated text; and, in newer versions, the name of the `filter` that made them. Choice i of a task
is class i of the dataset: XNLI entailment, neutral, contradiction; PAWS-X 0 and 1; XCOPA the first and the second.

The rows are taken to be in the order of the official files, which holds for XNLI, XCOPA and PAWS-X; texts and labels
in `doc` prove it where there is a data folder. The harness runs XNLI on the validation split, which is dev here.
"""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from isogloss.data.files import lines
from isogloss.decoding import decode_python_json, whole_number
from isogloss.errors import DataError, PredictionError, unknown
from isogloss.predictions.importers.base import ImportedAnswers, Target, read_json
from isogloss.tasks.examples import Examples

_CHOICES: dict[str, tuple[Any, ...]] = {
    "xnli": ("entailment", "neutral", "contradiction"),
    "pawsx": ("0", "1"),
    "xcopa": (0, 1),
}
# Which field of a document is which column of the examples.
_QUOTED = {
    "xnli": {"premise": "text_a", "hypothesis": "text_b"},
    "pawsx": {"sentence1": "text_a", "sentence2": "text_b"},
    "xcopa": {"premise": "premise"},
}
_QUESTION = {"question": "question"}


class _Sample(msgspec.Struct):
    doc_id: int
    doc: dict[str, Any]
    filtered_resps: list[Any]
    filter: str = ""
    target: str | int | float | list[Any] | None = None
    acc: float | None = None


def recognizes(path: Path, decoded: Any) -> bool:
    """Whether a file is a sample log, or the results file beside it, which holds only metrics."""
    return isinstance(decoded, dict) and ("filtered_resps" in decoded or _is_results(decoded))


def _is_results(decoded: Any) -> bool:
    return isinstance(decoded, dict) and {"results", "configs"} <= decoded.keys()


def read(files: Sequence[Path], target: Target) -> ImportedAnswers:
    """The answers in the logs: the likeliest choice, or the generated text."""
    task = target.task
    if task.id not in _CHOICES and target.kind.form != "answer":
        what = f"lm-evaluation-harness has no task like {task.id}"
        raise PredictionError(what, where=str(files[0]), fix=f"It has {', '.join(_CHOICES)}, xquad, mlqa and tydiqa")
    rows = _SampleIds(target)
    choices = _CHOICES.get(task.id)
    by_filter: dict[str, ImportedAnswers] = {}
    for path in files:
        for number, sample in _samples(path):
            found = by_filter.setdefault(sample.filter, ImportedAnswers(path))
            found.path = path
            where = f"{path}:{number}"
            identifier = rows.identifier(sample, where)
            value = _generated(sample, where) if choices is None else choices[_likeliest(sample, len(choices), where)]
            found.add(identifier, value, number)
            _quote(found, target, sample, identifier)
    chosen = _one_filter(files[0], by_filter, target.filter)
    rows.finish(chosen)
    return chosen


def _samples(path: Path) -> Iterator[tuple[int, _Sample]]:
    for number, line in enumerate(lines(path), 1):
        if not line.strip():
            continue
        try:
            # Not msgspec's own decoder: Python's tools write NaN.
            yield number, msgspec.convert(decode_python_json(line, str(path)), _Sample)
        except (DataError, RecursionError, UnicodeEncodeError, msgspec.ValidationError) as error:
            if number == 1 and _holds_results(path):
                fix = "Run the harness with --log_samples and import samples_<task>_<date>.jsonl"
                raise PredictionError("only metrics, no answers", where=str(path), fix=fix) from None
            fix = "Expected a line of samples_<task>_<date>.jsonl"
            reason = error.what if isinstance(error, DataError) else error
            raise PredictionError(f"not a logged sample: {reason}", where=f"{path}:{number}", fix=fix) from None


def _holds_results(path: Path) -> bool:
    try:
        return _is_results(read_json(path))
    except DataError:
        return False


def _one_filter(path: Path, by_filter: dict[str, ImportedAnswers], wanted: str) -> ImportedAnswers:
    """The answers of one filter; a log that has several repeats every document."""
    if wanted and wanted not in by_filter:
        raise unknown("filter", wanted, by_filter)
    if len(by_filter) > 1 and not wanted:
        what = f"the log has the answers of {len(by_filter)} filters: {', '.join(by_filter)}"
        raise PredictionError(what, where=str(path), fix=f"Choose one, e.g. --filter {next(iter(by_filter))}")
    return by_filter[wanted or next(iter(by_filter))] if by_filter else ImportedAnswers(path)


class _SampleIds:
    """From documents to ids: the document's own, or its row."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._kept: list[int] | None = None
        if target.task.id == "pawsx" and target.examples is not None:
            self._kept = _with_both_texts(target.examples)

    def identifier(self, sample: _Sample, where: str) -> str:
        """The id of the example that a sample answers."""
        field = {"answer": "id", "option": "idx"}.get(self._target.kind.form)
        if field is not None:
            if not isinstance(sample.doc.get(field), str | int):
                what = f"the document has no {field!r}"
                raise PredictionError(what, where=where, fix=f"Is this a log of {self._target.task.id}?")
            return str(sample.doc[field])
        row = sample.doc_id
        if self._kept is not None and 0 <= row < len(self._kept):
            row = self._kept[row]
        return self._target.row_id(row, where)

    def finish(self, found: ImportedAnswers) -> None:
        """PAWS-X: the harness leaves out pairs without text, which moves the rows after them."""
        if self._target.task.id != "pawsx":
            return
        expected = self._target.task.expected(self._target.language, self._target.split)
        examples = self._target.examples
        if examples is None or self._kept is None:
            if len(found.ids) != expected:
                why = f"{len(found.ids)} of {expected} pairs: the harness leaves out pairs without text, rows may move"
                raise self._target.needs_data(why, str(found.path))
            return
        left_out = sorted(set(range(len(examples))) - set(self._kept))
        for row in left_out:
            found.add(examples.ids[row], None)
        if left_out:
            found.notes.append(f"{len(left_out)} pairs without text, which the harness leaves out, are abstained from")


def _with_both_texts(examples: Examples) -> list[int]:
    pairs = zip(examples["text_a"], examples["text_b"], strict=True)
    return [row for row, (first, second) in enumerate(pairs) if first and second]


def _likeliest(sample: _Sample, count: int, where: str) -> int:
    """The choice with the highest log-likelihood, the first of equals, as the harness counts it."""
    if len(sample.filtered_resps) != count:
        raise PredictionError(f"{len(sample.filtered_resps)} choices instead of {count}", where=where)
    scores = [_score(response, where) for response in sample.filtered_resps]
    best = scores.index(max(scores))
    target = whole_number(str(sample.target))
    if sample.acc is not None and target is not None and (best == target) != bool(sample.acc):
        what = f"choice {best} is likeliest and {target} right, but the log says acc {sample.acc:g}"
        raise PredictionError(what, where=where, fix="The log contradicts itself; was it edited?")
    return best


def _score(response: Any, where: str) -> float:
    value = response[0] if isinstance(response, list) and response else response
    try:
        score = float(value)
    except (TypeError, ValueError):
        raise PredictionError(f"{value!r} is not a log-likelihood", where=where) from None
    if math.isnan(score):
        raise PredictionError("a log-likelihood is not a number", where=where)
    return score


def _generated(sample: _Sample, where: str) -> str:
    """The text; of several samples of one document the first."""
    value = sample.filtered_resps[0] if sample.filtered_resps else None
    if isinstance(value, list):
        value = value[0] if value else None
    if not isinstance(value, str):
        raise PredictionError("no generated text", where=where, fix="Is this a log of a generation task?")
    return value.strip()


def _quote(found: ImportedAnswers, target: Target, sample: _Sample, identifier: str) -> None:
    for field, column in _QUOTED.get(target.task.id, _QUESTION).items():
        if isinstance(sample.doc.get(field), str):
            found.quote(column, identifier, sample.doc[field])
    choices, label = _CHOICES.get(target.task.id), sample.doc.get("label")
    # Hidden labels are -1.
    if choices is not None and isinstance(label, int) and 0 <= label < len(choices):
        found.quote("label", identifier, choices[label])
