"""Results of lm-evaluation-harness: `results_<date>.json`, with shares from 0 to 1 and their standard errors.

Reads and writes tasks with the same examples and metrics as ours. TyDiQA differs: the harness strips Arabic articles
and all Unicode punctuation before it compares answers. Versions before 0.4 name metrics `acc`, later ones `acc,none`,
after the filter of the replies. The harness runs XNLI on the validation split since version 1 of the task.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from isogloss.results.interchange.reported import (
    ReportedScores,
    finite,
    only_record,
    percent,
    refuse_all,
    standard_error_share,
    system_name,
    table_in,
)
from isogloss.scoring.results import CellScore, Number, Results, write_json
from isogloss.tasks.registry import task

TOOL = "lm-eval"
# Name of the only variant of a metric without choices between filters.
_UNFILTERED = "none"


class _HarnessTask(NamedTuple):
    names: str  # pattern of its names; the last group is the language
    written: str  # name in the current version
    metrics: Mapping[str, str]  # the harness's name by ours
    split: str  # "" if only the number of examples tells it


_ACCURACY = {"accuracy": "acc"}
_ANSWERS = {"f1": "f1", "em": "exact_match"}
_TASKS = {
    "xnli": _HarnessTask(r"xnli_([a-z]{2})", "xnli_{0}", _ACCURACY, ""),
    "xcopa": _HarnessTask(r"xcopa_([a-z]{2,3})", "xcopa_{0}", _ACCURACY, "test"),
    "pawsx": _HarnessTask(r"paws(?:x)?_([a-z]{2})", "paws_{0}", _ACCURACY, "test"),
    "xquad": _HarnessTask(r"xquad_([a-z]{2})", "xquad_{0}", _ANSWERS, "test"),
    "mlqa": _HarnessTask(r"mlqa_([a-z]{2})_\1", "mlqa_{0}_{0}", _ANSWERS, "test"),
}


def recognizes(decoded: Any) -> bool:
    """Return True for a results file; versions before 0.4 have no `configs`."""
    return (
        isinstance(decoded, dict)
        and isinstance(decoded.get("results"), dict)
        and isinstance(decoded.get("versions"), dict)
        and "isogloss" not in decoded
    )


def read(path: Path, decoded: Mapping[str, Any]) -> Results:
    """Read the scores of the tasks that are ours; others are passed over."""
    reported = ReportedScores(path, TOOL)
    for name, values in decoded["results"].items():
        for task_id, entry in _TASKS.items():
            matched = re.fullmatch(entry.names, name)
            if matched and matched[1] in task(task_id).every_language and isinstance(values, Mapping):
                _add(reported, decoded, name, values, (task_id, matched[1]))
    config = table_in(decoded, "config")
    counts = (*table_in(decoded, "n-shot").values(), config.get("num_fewshot"))
    shots = {count for count in counts if isinstance(count, int)}
    system = {"name": _model(decoded) or path.stem, "kind": "llm", "regime": "prompted"}
    if len(shots) == 1:
        system["decoding"] = f"{shots.pop()}-shot"
    version = decoded.get("lm_eval_version")
    return reported.record(system | ({"evaluator_version": str(version)} if version else {}), ", ".join(_TASKS))


def _add(
    reported: ReportedScores, decoded: Mapping[str, Any], name: str, values: Mapping[str, Any], cell: tuple[str, str]
) -> None:
    task_id, code = cell
    entry = _TASKS[task_id]
    keys = [key.partition(",") for key in values]
    filters = list(dict.fromkeys(after for metric, _, after in keys if metric in entry.metrics.values()))
    chosen = next((one for one in ("", _UNFILTERED) if one in filters), filters[0] if len(filters) == 1 else None)
    if chosen is None and filters:
        reported.left_out.append(f"{task_id}/{code} (several filters: {', '.join(filters)})")
        return
    end = f",{chosen}" if chosen else ""
    limited = table_in(decoded, "config").get("limit") is not None
    size = _examples(decoded, name, values, end)
    split = "" if size is None and limited else entry.split
    if size is None and not limited:
        version = finite(table_in(decoded, "versions").get(name)) or 0
        split = split or ("dev" if version >= 1 else "test")
        size = task(task_id).expected(code, split)
    numbers = {
        ours: percent(
            values[theirs + end],
            values.get(f"{theirs}_stderr{end}"),
            size,
            what=f"{theirs} of {name}",
            path=reported.path,
        )
        for ours, theirs in entry.metrics.items()
        if theirs + end in values
    }
    reported.add(task_id, code, numbers, size, split)


def _examples(decoded: Mapping[str, Any], name: str, values: Mapping[str, Any], end: str) -> int | None:
    """Return the number of examples: recorded, or from the standard error of the accuracy; None if unknown."""
    recorded = finite(table_in(table_in(decoded, "n-samples"), name).get("effective"))
    if recorded is not None:
        return int(recorded)
    share, error = finite(values.get(f"acc{end}")), finite(values.get(f"acc_stderr{end}"))
    if share is None or not error or not 0 < share < 1:
        return None
    return min(round(share * (1 - share) / error**2) + 1, 10**9)


def _model(decoded: Mapping[str, Any]) -> str:
    config = table_in(decoded, "config")
    arguments = config.get("model_args")
    if isinstance(arguments, Mapping):
        named = arguments.get("pretrained") or arguments.get("model")
    else:
        match = re.search(r"(?:^|,)(?:pretrained|model)=([^,]+)", str(arguments or ""))
        named = match[1] if match else ""
    return str(decoded.get("model_name") or named or config.get("model") or "")


def write(records: Sequence[Results], out: Path) -> Path:
    """Write the results of one system; tasks and metrics that the harness does not have are left out."""
    record = only_record(records, TOOL)
    written = [cell for cell in record.cells if _is_written(cell, record)]
    cells = {_TASKS[cell.task].written.format(cell.language): cell for cell in written}
    refuse_all(record, written, TOOL)
    write_json(
        out,
        {
            "results": {name: {"alias": name} | _values(cell) for name, cell in cells.items()},
            "group_subtasks": {name: [] for name in cells},
            "configs": {name: {"task": name} for name in cells},
            "versions": dict.fromkeys(cells, record.isogloss),
            "n-shot": {},
            "higher_is_better": {
                name: dict.fromkeys(_TASKS[cell.task].metrics.values(), True) for name, cell in cells.items()
            },
            "n-samples": {
                name: dict.fromkeys(("original", "effective"), max(number.n for number in cell.metrics.values()))
                for name, cell in cells.items()
            },
            "config": {"model": "isogloss", "model_args": {"pretrained": system_name(record)}, "limit": None},
            "model_name": system_name(record),
        },
    )
    return out


def _is_written(cell: CellScore, record: Results) -> bool:
    return cell.task in _TASKS and not cell.partial and not record.is_apart(cell)


def _values(cell: CellScore) -> dict[str, float | str]:
    values: dict[str, float | str] = {}
    for ours, theirs in _TASKS[cell.task].metrics.items():
        number: Number | None = cell.metrics.get(ours)
        if number is not None:
            values[f"{theirs},{_UNFILTERED}"] = number.value / 100
            error = standard_error_share(number)
            values[f"{theirs}_stderr,{_UNFILTERED}"] = "N/A" if error is None else error
    return values
