"""The API is what its OpenAPI schema says, whatever it is asked; schemathesis makes up the questions."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings

from board.server.made_board import answers, make_board, make_token, send, team_client, work_all, zip_of
from isogloss.board.server.app import create_app


@pytest.fixture(scope="module")
def api_schema(tmp_path_factory: pytest.TempPathFactory) -> schemathesis.BaseSchema:
    board = make_board(
        tmp_path_factory.mktemp("served") / "board",
        reads_per_minute=10**6,
        writes_per_minute=10**6,
        failures_per_minute=10**6,
    )
    for seed in range(2):
        send(team_client(board), zip_of(answers(seed)), publish=seed == 0)
    work_all(board)
    app = create_app(board)
    app.state.token = make_token(board)
    return schemathesis.openapi.from_asgi("/api/v1/openapi.json", app)


# Every operation of the schema; a test below checks that none is missing.
OPERATIONS = (
    "GET /board",
    "GET /systems",
    "GET /systems/{system_id}",
    "GET /systems/{system_id}/every-eval-ever",
    "GET /every-eval-ever",
    "GET /queue",
    "GET /submissions",
    "POST /submissions",
    "GET /submissions/{key}",
    "POST /submissions/{key}/publish",
    "POST /submissions/{key}/withdraw",
    "GET /team",
)


def run_cases(api_schema: Any, label: str, count: int, headers: dict[str, str], check: Callable[[Any], None]) -> None:
    method, path = label.split()
    operation = api_schema[f"/api/v1{path}"][method]

    @settings(max_examples=count, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
    @given(case=operation.as_strategy())
    def call(case: schemathesis.Case) -> None:
        check(case.call_and_validate(headers=headers))

    call()


@pytest.mark.parametrize("label", OPERATIONS)
def test_answers_are_as_documented(label: str, api_schema: Any) -> None:
    headers = {"Authorization": f"Bearer {api_schema.app.state.token}"}
    run_cases(api_schema, label, 25, headers, lambda answer: None)


@pytest.mark.parametrize("label", [label for label in OPERATIONS if "ubmission" in label or "team" in label])
def test_strangers_are_refused_as_documented(label: str, api_schema: Any) -> None:
    def refused(answer: Any) -> None:
        assert answer.status_code in (401, 422)

    run_cases(api_schema, label, 8, {}, refused)


def test_no_operation_is_missing(api_schema: Any) -> None:
    found = {result.ok().label.replace("/api/v1", "") for result in api_schema.get_all_operations()}
    assert found == set(OPERATIONS)


def test_every_refusal_is_documented(tmp_path: Path) -> None:
    document = create_app(make_board(tmp_path / "board")).openapi()
    for path, verbs in document["paths"].items():
        for verb, operation in verbs.items():
            assert operation["description"], (verb, path)
            assert {"422", "429", "503"} <= set(operation["responses"]), (verb, path)
            if verb == "post":
                assert {"401", "403"} <= set(operation["responses"]), (verb, path)
                assert operation["security"]
    assert "traceback" not in json.dumps(document).lower()
