"""Records of Every Eval Ever (schema 0.2.1), the format in which evaluations of many places are collected."""

from datetime import UTC, datetime
from typing import Any

from isogloss.board.server.pages import PublishedSystem
from isogloss.scoring.main_score import lower_is_better
from isogloss.scoring.results import CellScore, Number
from isogloss.tasks.registry import task

SCHEMA = "0.2.1"


def evaluation_record(system: PublishedSystem, board: str) -> dict[str, Any]:
    """A published system as a record: one result for each task, language and metric."""
    at = datetime.strptime(system.published_at, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    seconds = str(int(at.timestamp()))
    known = {name: str(value) for name, value in system.system.items() if name != "name"}
    return {
        "schema_version": SCHEMA,
        "evaluation_id": f"{system.results.suite}/{system.id}/{seconds}",
        "evaluation_timestamp": system.published_at,
        "retrieved_timestamp": seconds,
        "source_metadata": {
            "source_name": board,
            "source_type": "evaluation_run",
            "source_organization_name": board,
            "evaluator_relationship": "third_party",
            "additional_details": {"team": system.team, "submissions_scored_by_then": str(system.attempts)},
        },
        "eval_library": {
            "name": "isogloss",
            "version": system.results.isogloss,
            "additional_details": {"suite": system.results.suite, "rule": system.results.overall.rule},
        },
        "model_info": {"name": system.system["name"], "id": system.id, "additional_details": known},
        "evaluation_results": [
            _result(cell, metric, number) for cell in system.results.cells for metric, number in cell.metrics.items()
        ],
    }


def _result(cell: CellScore, metric: str, number: Number) -> dict[str, Any]:
    of = task(cell.task)
    source: dict[str, Any] = {"dataset_name": cell.task, "source_type": "other"}
    if of.homepage:
        source = {"dataset_name": cell.task, "source_type": "url", "url": [of.homepage]}
    uncertainty: dict[str, Any] = {"num_samples": number.n}
    if number.low is not None and number.high is not None:
        interval = {"lower": number.low, "upper": number.high, "confidence_level": 0.95, "method": "bootstrap"}
        uncertainty["confidence_interval"] = interval
    return {
        "evaluation_name": f"{cell.task}/{cell.language}/{metric}",
        "source_data": source,
        "metric_config": {
            "evaluation_description": f"{metric} of {of.title} in {cell.language}, {cell.split}",
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
