"""Sample logs of lm-evaluation-harness: `samples_<task>_<date>.jsonl`, written by `--log_samples`.

A line has `doc_id`, the row in the dataset's split on the Hugging Face hub; `doc`, the example itself;
`filtered_resps`, the model's responses: `[log-likelihood, is_greedy]` for each choice (numbers as strings, in newer
versions), or the generated text, which the task's kind reads; and, in newer versions, the name of the `filter` that
made them. Choice i of a task is class i of the dataset: XNLI entailment, neutral, contradiction; PAWS-X 0 and 1; XCOPA
the first and the second.

Rows are assumed to be in the order of the official files, which holds for XNLI, XCOPA and PAWS-X; with a data folder,
texts and labels in `doc` confirm it. The harness runs XNLI on the validation split, which is dev here.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from isogloss.data.files import lines
from isogloss.decoding import decode_python_json, whole_number
from isogloss.errors import DataError, PredictionError, unknown
from isogloss.predictions.importers.base import ImportedAnswers, Target, read_json, read_replies

_CHOICES: dict[str, tuple[Any, ...]] = {
    "xnli": ("entailment", "neutral", "contradiction"),
    "pawsx": ("0", "1"),
    "xcopa": (0, 1),
}
# Fields of a document by task, with the columns of the examples they quote.
_QUOTED = {
    "xnli": {"premise": "text_a", "hypothesis": "text_b"},
    "pawsx": {"sentence1": "text_a", "sentence2": "text_b"},
    "xcopa": {"premise": "premise"},
}
_QUESTION = {"question": "question"}


class _Sample(msgspec.Struct, kw_only=True):
    doc_id: int
    doc: dict[str, Any]
    filtered_resps: list[Any]
    filter: str = ""
    target: str | int | float | list[Any] | None = None
    acc: float | None = None


def recognizes(path: Path, decoded: Any) -> bool:
    """Return True for a sample log, or for the results file next to it, which holds only metrics."""
    return isinstance(decoded, dict) and ("filtered_resps" in decoded or _is_results(decoded))


def _is_results(decoded: Any) -> bool:
    return isinstance(decoded, dict) and {"results", "configs"} <= decoded.keys()


def read(files: Sequence[Path], target: Target) -> ImportedAnswers:
    """Read the answers of the logs: the likeliest choice, or what the generated text says."""
    task = target.task
    if task.id not in _CHOICES and target.kind.form != "answer":
        what = f"lm-evaluation-harness does not have {task.id}"
        raise PredictionError(what, where=str(files[0]), fix=f"It has {', '.join(_CHOICES)}, xquad, mlqa and tydiqa")
    kept, choices = _kept_rows(target), _CHOICES.get(task.id)
    by_filter: dict[str, ImportedAnswers] = {}
    generates = False
    for path in files:
        for number, sample in _samples(path):
            imported = by_filter.setdefault(sample.filter, ImportedAnswers(path))
            imported.path = path
            where = f"{path}:{number}"
            identifier = _identifier(sample, target, kept, where)
            if choices is None or _is_generated(sample):
                generates = True
                value: Any = _generated(sample, where)
            else:
                value = choices[_likeliest(sample, len(choices), where)]
            imported.add(identifier, value, number)
            _quote(imported, target, sample, identifier)
    chosen = _one_filter(files[0], by_filter, target.filter)
    if generates:
        read_replies(chosen, target, dict(zip(map(str, range(len(target.labels))), target.labels, strict=True)))
    if task.id == "pawsx":
        _answer_skipped(chosen, target, kept)
    return chosen


def _samples(path: Path) -> Iterator[tuple[int, _Sample]]:
    for number, line in enumerate(lines(path), 1):
        if not line.strip():
            continue
        try:
            # msgspec's decoder refuses NaN, which Python tools write.
            yield number, msgspec.convert(decode_python_json(line, str(path)), _Sample)
        except (DataError, RecursionError, UnicodeEncodeError, msgspec.ValidationError) as error:
            with suppress(DataError):
                if number == 1 and _is_results(read_json(path)):
                    fix = "Run the harness with --log_samples and import samples_<task>_<date>.jsonl"
                    raise PredictionError("only metrics, no answers", where=str(path), fix=fix) from None
            fix = "Expected a line of samples_<task>_<date>.jsonl"
            reason = error.what if isinstance(error, DataError) else error
            raise PredictionError(f"not a logged sample: {reason}", where=f"{path}:{number}", fix=fix) from None


def _one_filter(path: Path, by_filter: dict[str, ImportedAnswers], wanted: str) -> ImportedAnswers:
    """Return the answers of one filter; a log with several filters repeats every document."""
    if wanted and wanted not in by_filter:
        raise unknown("filter", wanted, by_filter)
    if len(by_filter) > 1 and not wanted:
        what = f"the log has the answers of {len(by_filter)} filters: {', '.join(by_filter)}"
        raise PredictionError(what, where=str(path), fix=f"Choose one, e.g. --filter {next(iter(by_filter))}")
    return by_filter[wanted or next(iter(by_filter))] if by_filter else ImportedAnswers(path)


def _kept_rows(target: Target) -> Sequence[int]:
    """Return the rows that the harness keeps: it skips PAWS-X pairs that lack text, which shifts later rows."""
    if target.examples is None:
        return ()
    if target.task.id != "pawsx":
        return range(len(target.examples))
    pairs = zip(target.examples["text_a"], target.examples["text_b"], strict=True)
    return [row for row, (first, second) in enumerate(pairs) if first and second]


def _identifier(sample: _Sample, target: Target, kept: Sequence[int], where: str) -> str:
    """Return the id of the example that a sample answers: the document's own, or that of its row."""
    field = {"answer": "id", "option": "idx"}.get(target.kind.form)
    if field is None:
        row = sample.doc_id
        return target.row_id(kept[row] if 0 <= row < len(kept) else row, where)
    if not isinstance(sample.doc.get(field), str | int):
        what = f"the document has no {field!r}"
        raise PredictionError(what, where=where, fix=f"Is this a log of {target.task.id}?")
    return str(sample.doc[field])


def _answer_skipped(imported: ImportedAnswers, target: Target, kept: Sequence[int]) -> None:
    if target.examples is None:
        expected = target.task.expected(target.language, target.split)
        if len(imported.ids) != expected:
            why = "the harness leaves out pairs without text, rows may move"
            raise target.needs_data(f"{len(imported.ids)} of {expected} pairs: {why}", str(imported.path))
        return
    left_out = sorted(set(range(len(target.examples))) - set(kept))
    for row in left_out:
        imported.add(target.examples.ids[row], None)
    if left_out:
        imported.notes.append(f"{len(left_out)} pairs without text, which the harness skips, count as null answers")


def _likeliest(sample: _Sample, count: int, where: str) -> int:
    """Return the choice with the highest log-likelihood, the first one in a tie, as the harness does."""
    if len(sample.filtered_resps) != count:
        raise PredictionError(f"expected {count} choices, got {len(sample.filtered_resps)}", where=where)
    scores = [_score(response, where) for response in sample.filtered_resps]
    best = scores.index(max(scores))
    target = whole_number(str(sample.target))
    if sample.acc is not None and target is not None and (best == target) != bool(sample.acc):
        what = f"choice {best} is the likeliest and {target} is correct, but acc is {sample.acc:g}"
        raise PredictionError(what, where=where, fix="The log is inconsistent; check if it was edited")
    return best


def _score(response: Any, where: str) -> float:
    value = response[0] if isinstance(response, list) and response else response
    try:
        score = float(value)
    except (TypeError, ValueError):
        raise PredictionError(f"expected a log-likelihood, got {value!r}", where=where) from None
    if math.isnan(score):
        raise PredictionError("a log-likelihood is NaN", where=where)
    return score


def _is_generated(sample: _Sample) -> bool:
    """Return True if the model wrote a reply instead of scoring every choice."""
    response = sample.filtered_resps[0] if len(sample.filtered_resps) == 1 else None
    while isinstance(response, list) and len(response) == 1:
        response = response[0]
    return isinstance(response, str)


def _generated(sample: _Sample, where: str) -> str:
    """Return the generated text, the first one if there are several."""
    value = sample.filtered_resps[0] if sample.filtered_resps else None
    if isinstance(value, list):
        value = value[0] if value else None
    if not isinstance(value, str):
        raise PredictionError("no generated text", where=where, fix="Check that the log is from a generation task")
    return value.strip()


def _quote(imported: ImportedAnswers, target: Target, sample: _Sample, identifier: str) -> None:
    for field, column in _QUOTED.get(target.task.id, _QUESTION).items():
        if isinstance(sample.doc.get(field), str):
            imported.quote(column, identifier, sample.doc[field])
    choices, label = _CHOICES.get(target.task.id), sample.doc.get("label")
    # Hidden labels are -1.
    if choices is not None and isinstance(label, int) and 0 <= label < len(choices):
        imported.quote("label", identifier, choices[label])
