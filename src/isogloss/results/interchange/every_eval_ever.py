"""Every Eval Ever, a format that collects evaluations from many sources.

A `.jsonl` file has one record per line and system; any other file has the record of one system.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from isogloss.data.files import atomic_write
from isogloss.results.interchange.reported import only_record, system_name
from isogloss.results.metadata import public_metadata
from isogloss.scoring.main_score import lower_is_better
from isogloss.scoring.results import CellScore, Number, Results, write_json
from isogloss.tasks.registry import task

EVERY_EVAL_EVER = "0.2.1"  # version of the format
_ISO = "%Y-%m-%dT%H:%M:%SZ"


@dataclass(frozen=True, kw_only=True)
class EvaluationSource:
    """Source of an evaluation: a board, or this computer.

    Attributes:
        name: name of the source.
        relationship: the evaluator's to the system's authors: "first_party", "third_party" or "other".
        details: further facts, as texts.
    """

    name: str
    relationship: str
    details: Mapping[str, str] = field(default_factory=dict)


def write(records: Sequence[Results], out: Path) -> Path:
    """Write the records of systems."""
    source = EvaluationSource(name="isogloss report", relationship="other")
    at = datetime.now(UTC).strftime(_ISO)
    made = [evaluation_record(one, public_metadata(one.system), source, system_name(one), at) for one in records]
    if out.suffix == ".jsonl":
        with atomic_write(out) as stream:
            stream.writelines(msgspec.json.encode(one).decode() + "\n" for one in made)
    else:
        only_record(records, f"{out.name}, which is not a .jsonl file,")
        write_json(out, made[0])
    return out


def evaluation_record(
    results: Results, facts: Mapping[str, Any], source: EvaluationSource, system_id: str, at: str
) -> dict[str, Any]:
    """Return the record of a system: one result per task, language and metric.

    Args:
        results: its scores.
        facts: public metadata.
        source: where they were computed.
        system_id: id of the system.
        at: time of the evaluation, as 2026-11-16T12:00:00Z.
    """
    seconds = str(int(datetime.strptime(at, _ISO).replace(tzinfo=UTC).timestamp()))
    details = {name: str(value) for name, value in facts.items() if name != "name"}
    return {
        "schema_version": EVERY_EVAL_EVER,
        "evaluation_id": f"{results.suite}/{system_id}/{seconds}",
        "evaluation_timestamp": at,
        "retrieved_timestamp": seconds,
        "source_metadata": {
            "source_name": source.name,
            "source_type": "evaluation_run",
            "source_organization_name": source.name,
            "evaluator_relationship": source.relationship,
            "additional_details": dict(source.details),
        },
        "eval_library": {
            "name": results.system.get("evaluator", "isogloss") if not results.isogloss else "isogloss",
            "version": results.isogloss or str(results.system.get("evaluator_version", "unknown")),
            "additional_details": {"suite": results.suite, "rule": results.overall.rule},
        },
        "model_info": {"name": facts.get("name") or system_id, "id": system_id, "additional_details": details},
        "evaluation_results": [
            _result(cell, metric, number) for cell in results.cells for metric, number in cell.metrics.items()
        ],
    }


def _result(cell: CellScore, metric: str, number: Number) -> dict[str, Any]:
    entry = task(cell.task)
    homepage = {"source_type": "url", "url": [entry.homepage]} if entry.homepage else {"source_type": "other"}
    uncertainty: dict[str, Any] = {"num_samples": number.n}
    if number.low is not None and number.high is not None:
        method = "Wilson, by source" if cell.signature else "standard error"
        interval = {"lower": number.low, "upper": number.high, "confidence_level": 0.95, "method": method}
        uncertainty["confidence_interval"] = interval
    return {
        "evaluation_name": f"{cell.task}/{cell.language}/{metric}",
        "source_data": {"dataset_name": cell.task, **homepage},
        "metric_config": {
            "evaluation_description": f"{metric} of {entry.title} in {cell.language}, {cell.split}",
            "lower_is_better": lower_is_better(cell.task, metric),
            "score_type": "continuous",
            "min_score": 0,
            "max_score": 100,
        },
        "score_details": {
            "score": number.value,
            "details": {"language": cell.language, "signature": cell.signature},
            "uncertainty": uncertainty,
        },
    }
