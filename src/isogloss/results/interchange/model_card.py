"""`model-index` of a Hugging Face model card: the front matter of its README.md, in YAML.

One entry per task and language, and one per complete average over the languages of a task; values are 0 to 100. The
interval is in the metric's `args`: the format has no field of its own for it. `verified` is not set, because the hub
reserves it for its own evaluations.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from isogloss.data.files import atomic_write
from isogloss.languages import known_language
from isogloss.results.interchange.reported import only_record, system_name
from isogloss.scoring.results import AverageScore, CellScore, Number, Results
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.registry import task
from isogloss.tasks.task import Task

# The hub's type of a task by the form of its answers.
_TYPES = {
    "label": "text-classification",
    "labels": "text-classification",
    "option": "multiple-choice",
    "tags": "token-classification",
    "answer": "question-answering",
    "ranking": "sentence-similarity",
    "pairs": "sentence-similarity",
    "text": "text-generation",
}
# Datasets of the hub with the examples of a task, and their configuration for a language.
_DATASETS = {
    "xnli": ("facebook/xnli", "{0}"),
    "xcopa": ("cambridgeltl/xcopa", "{0}"),
    "pawsx": ("google-research-datasets/paws-x", "{0}"),
    "xquad": ("google/xquad", "xquad.{0}"),
    "mlqa": ("facebook/mlqa", "mlqa.{0}.{0}"),
    "tydiqa": ("google-research-datasets/tydiqa", "secondary_task"),
    "wikiann": ("unimelb-nlp/wikiann", "{0}"),
}
_METRICS = {"em": "exact_match"}
# More digits than anyone prints.
_DIGITS = 4


def write(records: Sequence[Results], out: Path) -> Path:
    """Write the front matter of a model card."""
    record = only_record(records, "a model card")
    index = [{"name": system_name(record), "results": model_index(record)}]
    with atomic_write(out) as stream:
        stream.write("---\n" + "".join(line + "\n" for line in _yaml({"model-index": index})) + "---\n")
    return out


def model_index(record: Results) -> list[dict[str, Any]]:
    """Return the results of a record in the form of a model index."""
    cells = [_cell_entry(cell) for cell in record.cells if not cell.partial and not record.is_apart(cell)]
    averages = [_average_entry(each, record) for each in record.tasks if not each.missing and len(each.members) > 1]
    return [*averages, *cells]


def _cell_entry(cell: CellScore) -> dict[str, Any]:
    entry, language = task(cell.task), known_language(cell.language)
    dataset, config = _DATASETS.get(entry.id, (entry.id, "{0}"))
    shown = language.name if language else cell.language
    about: dict[str, Any] = {"signature": cell.signature} if cell.signature else {}
    about |= {"notes": list(cell.notes)} if cell.notes else {}
    return _entry(
        entry,
        {
            "type": dataset,
            "name": f"{_short(entry)} ({shown})",
            "config": config.format(cell.language),
            "split": cell.split,
        },
        [_metric(name, number, about) for name, number in cell.metrics.items()],
    )


def _average_entry(average: AverageScore, record: Results) -> dict[str, Any]:
    entry = task(average.name)
    dataset, _ = _DATASETS.get(entry.id, (entry.id, ""))
    about = {"languages": list(average.members)}
    name = f"{_short(entry)} (mean of {len(average.members)} languages)"
    metrics = [_metric(metric, number, about) for metric, number in average.metrics.items()]
    return _entry(entry, {"type": dataset, "name": name, "config": "all", "split": record.split}, metrics)


def _entry(entry: Task, dataset: dict[str, Any], metrics: list[dict[str, Any]]) -> dict[str, Any]:
    kind = _TYPES.get(kind_of(entry).form, "other")
    return {"task": {"type": kind, "name": entry.title}, "dataset": dataset, "metrics": metrics}


def _short(entry: Task) -> str:
    return entry.title.partition(":")[0]


def _metric(name: str, number: Number, about: Mapping[str, Any]) -> dict[str, Any]:
    arguments: dict[str, Any] = {"examples": number.n} if number.n else {}
    if number.low is not None and number.high is not None:
        ends = [round(number.low, _DIGITS), round(number.high, _DIGITS)]
        arguments |= {"interval": ends, "confidence_level": 0.95}
    metric = {"type": _METRICS.get(name, name), "value": round(number.value, _DIGITS), "name": name}
    return metric | ({"args": arguments | dict(about)} if arguments or about else {})


def _yaml(value: Any, indent: str = "") -> list[str]:
    """Return the lines of nested tables and lists in block style; text is quoted as in JSON, which YAML includes."""
    lines: list[str] = []
    pairs = value.items() if isinstance(value, Mapping) else [(None, item) for item in value]
    for key, item in pairs:
        start = f"{indent}-" if key is None else f"{indent}{key}:"
        if not isinstance(item, Mapping | list):
            lines.append(f"{start} {_scalar(item)}")
        elif key is None:
            first, *rest = _yaml(item, indent + "  ")
            lines += [f"{start} {first.strip()}", *rest]
        elif all(not isinstance(each, Mapping | list) for each in item) and isinstance(item, list):
            lines.append(f"{start} [{', '.join(map(_scalar, item))}]")
        else:
            lines += [start, *_yaml(item, indent + "  ")]
    return lines


def _scalar(value: object) -> str:
    if not isinstance(value, float):
        return json.dumps(value, ensure_ascii=False)
    plain = f"{value:.{_DIGITS}f}".rstrip("0")  # YAML reads 1e-05 as text
    return plain + "0" if plain.endswith(".") else plain
