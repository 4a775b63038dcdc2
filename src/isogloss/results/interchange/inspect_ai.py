"""Logs of inspect_ai in JSON: `inspect eval --log-format json`, or `inspect log convert --to json`.

Its tasks have any name. Those called after ours, such as `xcopa_sw`, or `xcopa` with the argument `language`, are read
if accuracy is our metric; its F1 of answers normalizes them in another way. Written logs have all metrics, as shares of
0 to 1, and no samples; `inspect view` shows them.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from isogloss.errors import DataError, UnknownNameError
from isogloss.results.interchange.reported import (
    ReportedScores,
    finite,
    percent,
    settings_of,
    standard_error_share,
    system_name,
    table_in,
)
from isogloss.scoring.names import system_words
from isogloss.scoring.results import CellScore, Results, write_json
from isogloss.tasks.registry import canonical, task
from isogloss.tasks.task import Task

TOOL = "inspect"
_ACCURACY = "accuracy"
_LANGUAGE_ARGUMENTS = ("language", "lang", "subset")
_SPLITS = {"test": "test", "dev": "dev", "validation": "dev"}


def recognizes(decoded: Any) -> bool:
    """Return True for an evaluation log."""
    return isinstance(decoded, dict) and {"status", "eval"} <= decoded.keys() and "task" in table_in(decoded, "eval")


def read(path: Path, decoded: Mapping[str, Any]) -> Results:
    """Read the accuracy of a finished evaluation."""
    spec, results = table_in(decoded, "eval"), table_in(decoded, "results")
    if decoded["status"] != "success" or decoded.get("invalidated") or not results:
        what = f"the evaluation is not finished: its status is {decoded['status']!r}"
        raise DataError(what, where=str(path), fix="Complete it with inspect eval-retry")
    scored, code = _cell(spec, path)
    split = _SPLITS.get(str(table_in(spec, "task_args").get("split", "")), "")
    size = finite(results.get("completed_samples"))
    count = None if size is None else int(size)
    if not split and scored.expected(code, "test") == scored.expected(code, "dev"):
        what = f"the split is unknown: test and dev of {scored.id} have the same number of examples"
        raise DataError(what, where=str(path), fix='Give the task an argument split="test"')
    reported = ReportedScores(path, TOOL)
    scores = results.get("scores")
    for score in scores if isinstance(scores, list) else []:
        metrics = table_in(score, "metrics") if isinstance(score, Mapping) else {}
        share = table_in(metrics, _ACCURACY).get("value")
        if share is not None:
            scored_samples = finite(score.get("scored_samples"))
            count = int(scored_samples) if scored_samples is not None else count
            error = table_in(metrics, "stderr").get("value")
            number = percent(share, error, count, what=f"{_ACCURACY} of {spec['task']}", path=path)
            reported.add(scored.id, code, {_ACCURACY: number}, count, split)
    name = str(spec.get("model") or path.stem)
    version = table_in(spec, "packages").get("inspect_ai")
    system = {"name": name, "kind": "llm", "regime": "prompted"}
    system |= {"evaluator_version": str(version)} if version else {}
    return reported.record(system, "the accuracy of a classification task")


def _cell(spec: Mapping[str, Any], path: Path) -> tuple[Task, str]:
    """Return the task and the language of an evaluation."""
    name = str(spec["task"]).rpartition("/")[2]
    arguments = table_in(spec, "task_args")
    given = next((str(arguments[key]) for key in _LANGUAGE_ARGUMENTS if key in arguments), "")
    plain = name.lower().replace("-", "_")
    stem, _, last = plain.rpartition("_")
    without = plain.removesuffix(f"_{_in_name(given)}")
    # The language may be an argument, in the name, or both.
    for words, code in ((without, given), (stem, last)):
        with suppress(UnknownNameError):
            scored = task(canonical(re.sub("[-_]", "", words)))
            if scored.main == (_ACCURACY,) and code in scored.every_language:
                return scored, code
    what = f"the task {name!r} is none of ours with accuracy as its metric"
    fix = "Name the task as <task>_<language>, such as xcopa_sw, or give it the argument language"
    raise DataError(what, where=str(path), fix=fix)


def _in_name(language: str) -> str:
    """Return a language as names of tasks have it: zh_hant for zh-Hant."""
    return language.replace("-", "_").lower()


def write(records: Sequence[Results], out: Path) -> Path:
    """Write one log per system, task and language to a folder; cells with partial gold are left out."""
    now = datetime.now(UTC).replace(microsecond=0)
    for record in records:
        for cell in record.cells:
            if not cell.partial and not record.is_apart(cell):
                log = _log(record, cell, now.isoformat())
                # The name that inspect gives to logs: a time without colons, the task, and an id of 22 letters.
                name = f"{cell.task}-{cell.language}_{log['eval']['task_id']}.json"
                out.mkdir(parents=True, exist_ok=True)
                write_json(out / f"{now:%Y-%m-%dT%H-%M-%S}-00-00_{name}", log)
    return out


def _log(record: Results, cell: CellScore, at: str) -> dict[str, Any]:
    size = max(number.n for number in cell.metrics.values())
    # One model may have several regimes and seeds.
    words = (*system_words(record.system), cell.signature, cell.task, cell.language)
    key = sha256("\n".join(words).encode()).hexdigest()[:22]
    scores = []
    for metric, number in cell.metrics.items():
        values = {metric: number.value / 100, "stderr": standard_error_share(number)}
        shown = {name: {"name": name, "value": value} for name, value in values.items() if value is not None}
        scores.append({"name": metric, "scorer": "isogloss", "scored_samples": number.n, "metrics": shown})
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "created": at,
            "eval_id": key,
            "run_id": key,
            "task": f"{cell.task}_{_in_name(cell.language)}",
            "task_id": key,
            "task_args": {"language": cell.language, "split": cell.split},
            "dataset": {"name": cell.task, "samples": size},
            "model": system_name(record),
            "config": {},
            "packages": {"isogloss": record.isogloss} if record.isogloss else {},
            "metadata": {**settings_of(record), "signature": cell.signature},
        },
        # inspect reads the header of a log up to its statistics, in this order.
        "plan": {},
        "results": {"total_samples": size, "completed_samples": size, "scores": scores},
        "stats": {"started_at": at, "completed_at": at},
    }
