"""The life of a submission, over HTTP, on both databases."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jsonschema
import msgspec
import pytest
from sqlalchemy import func, select
from starlette.testclient import TestClient

from board.server.made_board import METADATA, MakeBoard, answers, send, tar_of, team_client, work_all, zip_of
from isogloss.board.server import scoring
from isogloss.board.server.board import OpenBoard
from isogloss.board.server.database import AuditEntry, ScoreRecord, Submission, reading, writing
from isogloss.board.server.serve import create_app
from isogloss.scoring.results import signature_parts
from isogloss.scoring.score import score

API = "/api/v1"
# For tests of code that does not depend on the database.
on_sqlite = pytest.mark.parametrize("database_url", [""])


def state_of(client: TestClient, key: str) -> str:
    return str(client.get(f"{API}/submissions/{key}").json()["state"])


def test_received_scored_previewed_published_withdrawn(board: OpenBoard, client: TestClient) -> None:
    sent = send(client, zip_of(answers(1)))
    assert sent.status_code == 201, sent.text
    key = sent.json()["key"]
    assert state_of(client, key) == "received"
    assert client.get(f"{API}/queue").json()["waiting"] == 1
    work_all(board)
    shown = client.get(f"{API}/submissions/{key}").json()
    assert shown["state"] == "preview"
    [scores] = shown["scores"]
    assert set(scores["tasks"]) == {"mini-xnli"}
    assert scores["overall"] is None, "an average over one task of ten is not the suite's"
    assert "mini-xcopa" in scores["missing"]
    # Other teams cannot see a preview.
    everybody = TestClient(create_app(board))
    assert everybody.get(f"{API}/systems").json()["systems"] == []
    assert everybody.get(f"{API}/systems/{shown['system_id']}").status_code == 404
    assert everybody.get(f"{API}/submissions/{key}").status_code == 401
    assert team_client(board, "Others").get(f"{API}/submissions/{key}").status_code == 404
    assert client.post(f"{API}/submissions/{key}/publish").json()["state"] == "published"
    work_all(board)
    [system] = everybody.get(f"{API}/systems").json()["systems"]
    assert (system["name"], system["team"], system["attempts"]) == ("Made-up", "Team", 1)
    assert everybody.get("/").status_code == 200
    assert '"Made-up"' in everybody.get("/data.js").text
    public = everybody.get(f"{API}/systems/{system['id']}")
    assert "contact" not in public.json()["system"]
    assert METADATA["contact"] not in public.text
    assert client.post(f"{API}/submissions/{key}/withdraw").json()["state"] == "withdrawn"
    work_all(board)
    assert everybody.get(f"{API}/systems").json()["systems"] == []
    assert '"Made-up"' not in everybody.get("/data.js").text
    assert client.post(f"{API}/submissions/{key}/publish").json()["state"] == "published"
    with reading(board.engine) as session:
        actions = session.scalars(select(AuditEntry.action).order_by(AuditEntry.id)).all()
    assert actions == ["pepper", "submit", "score", "published", "withdrawn", "published"]


@on_sqlite
def test_board_lists_tasks_and_languages(client: TestClient) -> None:
    answer = client.get(f"{API}/board").json()
    assert answer["task_titles"]["mini-xnli"] == "mini XNLI: natural language inference"
    assert answer["language_names"]["af"] == "Afrikaans"


@on_sqlite
@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_scores_equal_those_of_isogloss_score(mode: str, board: OpenBoard, client: TestClient, tmp_path: Any) -> None:
    files = answers(3)
    archive = tar_of({f"my predictions/{name}": content for name, content in files.items()}, mode)
    key = send(client, archive, publish=True).json()["key"]
    work_all(board)
    for name, content in files.items():
        (tmp_path / "p" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "p" / name).write_bytes(content)
    expected = score(tmp_path / "p", "mini")
    [scores] = client.get(f"{API}/submissions/{key}").json()["scores"]
    for cell, shown in zip(expected.cells, scores["cells"], strict=True):
        number = cell.metrics["accuracy"]
        assert shown["metrics"]["accuracy"] == pytest.approx([number.value, number.low, number.high], abs=0.006)
        assert shown["n"] == number.n
        parts, own = signature_parts(shown["signature"]), signature_parts(cell.signature)
        assert parts.pop("data") != own.pop("data"), "a hash of the labels stays on the board"
        assert parts == own


def test_all_problems_are_listed(board: OpenBoard, client: TestClient) -> None:
    files = answers(1)
    files["mini-xnli/en.jsonl"] = b'{"id": "nobody", "prediction": "entailment"}\n{"id"\n'
    files["mini-xnli/xx.jsonl"] = b""
    files["mini-xquad/de.jsonl"] = b"\xff\xfe"
    files["mini-xquda/de.jsonl"] = b""
    key = send(client, zip_of(files)).json()["key"]
    work_all(board)
    shown = client.get(f"{API}/submissions/{key}").json()
    assert shown["state"] == "rejected"
    assert shown["scores"] == []
    places = {problem["where"].split(":")[0].split(" ")[0] for problem in shown["problems"]}
    assert places >= {"mini-xnli/en.jsonl", "mini-xnli/xx.jsonl", "mini-xquad/de.jsonl", "mini-xquda"}
    assert str(board.folder) not in json.dumps(shown)
    assert client.post(f"{API}/submissions/{key}/publish").status_code == 409
    # Rejected submissions do not count against the quota.
    assert client.get(f"{API}/team").json()["used"] == 0


def test_metadata_problems_are_listed_and_nothing_is_kept(board: OpenBoard, client: TestClient) -> None:
    refused = send(client, zip_of(answers(1)), name=" ", year="soon", url="javascript:alert(1)", size=3)
    assert refused.status_code == 422
    problems = {problem["where"]: problem for problem in refused.json()["problems"]}
    assert set(problems) == {"metadata.name", "metadata.year", "metadata.url", "metadata.size"}
    assert problems["metadata.name"]["what"] == "is blank: enter the name to show on the board"
    assert list(board.incoming.iterdir()) == []
    assert not (board.folder / "archives").exists()
    missing = client.post(f"{API}/submissions", data={"metadata": "{}"}, files={"archive": ("a", b"x")}).json()
    assert len(missing["problems"]) == 13


@on_sqlite
def test_invalid_forms(client: TestClient) -> None:
    for refused in (
        client.post(f"{API}/submissions", content=b"x", headers={"Content-Type": "text/plain"}),
        client.post(f"{API}/submissions", content=b"x", headers={"Content-Type": "multipart/form-data"}),
        client.post(
            f"{API}/submissions", content=b"--b\r\n", headers={"Content-Type": "multipart/form-data; boundary=b"}
        ),
        client.post(f"{API}/submissions", data={"metadata": json.dumps(METADATA)}, files={"other": b"x"}),
        client.post(f"{API}/submissions", data={"metadata": json.dumps(METADATA)}, files={"archive": b""}),
        client.post(f"{API}/submissions", files=[("archive", b"x"), ("archive", b"y")]),
    ):
        assert refused.status_code == 422
        assert refused.json()["what"]


@on_sqlite
@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\xff\xfe{}",
        b'{"name": "\xc3"}',
        b"[" * 30_000,
        b'{"a":' * 12_000,
        b"[]",
        b"NaN",
        b'{"parameters": 1e999, "year": 99999999999999999999999999}',
        b'{"name": "\\ud800", "notes": [[[]]]}',
    ],
)
def test_invalid_metadata(raw: bytes, client: TestClient) -> None:
    """Wrong encodings, deep nesting and huge numbers are reported without Python internals."""
    sent = client.post(f"{API}/submissions", data={}, files={"metadata": (None, raw), "archive": ("a.zip", b"x")})
    assert sent.status_code == 422
    assert sent.json()["problems"]
    assert all(problem["where"].startswith("metadata") for problem in sent.json()["problems"])
    assert "Error" not in sent.text


def test_permissions(board: OpenBoard) -> None:
    archive = zip_of(answers(1))
    anybody = TestClient(create_app(board))
    assert send(anybody, archive).status_code == 401
    reader = team_client(board, "Readers", scopes=["read"])
    assert send(reader, archive).status_code == 403
    submitter = team_client(board, "Writers", scopes=["read", "submit"])
    key = send(submitter, archive).json()["key"]
    assert submitter.post(f"{API}/submissions/{key}/publish").status_code == 403
    assert send(submitter, archive, publish=True).status_code == 403
    for wrong in ("", "x", "isogloss_000000000000_" + "a" * 43, "Bearer", "é"):
        assert anybody.get(f"{API}/team", headers={"Authorization": f"Bearer {wrong}".encode()}).status_code == 401
    assert list(board.incoming.iterdir()) == []


def test_tokens_can_be_revoked_and_are_not_stored(board: OpenBoard, client: TestClient) -> None:
    from isogloss.board.server.board import revoke_token
    from isogloss.board.server.database import AccessToken

    token = client.headers["Authorization"].removeprefix("Bearer ")
    _, public_id, secret = token.split("_", 2)
    with writing(board.engine) as session:
        stored = session.scalars(select(AccessToken)).one()
        assert secret not in json.dumps([stored.salt, stored.digest, stored.scopes])
        revoke_token(session, public_id, "admin")
    assert client.get(f"{API}/team").status_code == 401


def test_identical_submissions_are_one(boards: MakeBoard) -> None:
    board = boards(writes_per_minute=1_000)
    client = team_client(board)
    archive = zip_of(answers(1))
    with ThreadPoolExecutor(8) as pool:
        sent = list(pool.map(lambda _: send(client, archive), range(16)))
    assert sorted(each.status_code for each in sent) == [200] * 15 + [201]
    assert len({each.json()["key"] for each in sent}) == 1
    assert work_all(board) == 1
    # Another team or other metadata make it a new submission.
    assert send(team_client(board, "Others"), archive).status_code == 201
    assert send(client, archive, seeds=2).status_code == 201


@on_sqlite
def test_the_longest_name_has_its_page(board: OpenBoard, client: TestClient) -> None:
    send(client, zip_of(answers(1)), publish=True, name="Ünknown 9" * 13)
    work_all(board)
    [system] = client.get(f"{API}/systems").json()["systems"]
    assert system["id"].startswith("unknown-9unknown-9")
    assert client.get(f"/systems/{system['id']}.js").status_code == 200


def test_resubmitting_with_publish_publishes(board: OpenBoard, client: TestClient) -> None:
    scored, waiting = zip_of(answers(1)), zip_of(answers(2))
    send(client, scored)
    work_all(board)
    assert send(client, scored, publish=True).json()["state"] == "published"
    key = send(client, waiting).json()["key"]
    assert send(client, waiting, publish=True).json()["state"] == "received"
    work_all(board)
    assert state_of(client, key) == "published"
    client.post(f"{API}/submissions/{key}/withdraw")
    assert send(client, waiting, publish=True).json()["state"] == "withdrawn", "what a team took back stays away"


def test_monthly_quotas(boards: MakeBoard) -> None:
    board = boards(monthly_submissions=2, monthly_uploads=5)
    client = team_client(board)
    with ThreadPoolExecutor(6) as pool:
        sent = list(pool.map(lambda seed: send(client, zip_of(answers(seed))).status_code, range(6)))
    assert sorted(sent) == [201, 201, 429, 429, 429, 429]
    work_all(board)
    refused = send(client, zip_of(answers(9)))
    assert "quota exhausted: 2 submissions" in refused.json()["what"]
    kept = [path for path in (board.folder / "archives").rglob("*") if path.is_file()]
    assert len(kept) == 2, "what is refused takes no room"
    assert list(board.incoming.iterdir()) == []
    # Rejected uploads count only against the upload quota.
    other = team_client(board, "Others")
    states = []
    for number in range(6):
        states.append(send(other, b"nonsense" * number + b"!").status_code)
        work_all(board)
    assert states == [201] * 5 + [429]


def test_attempts_are_counted(board: OpenBoard, client: TestClient) -> None:
    for seed in range(3):
        send(client, zip_of(answers(seed)), publish=seed == 2)
    send(client, b"no archive")
    work_all(board)
    [system] = client.get(f"{API}/systems").json()["systems"]
    assert system["attempts"] == 3
    assert client.get(f"{API}/team").json()["scored_in_all"] == 3


def test_rescoring_by_another_version(board: OpenBoard, client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    key = send(client, zip_of(answers(1)), publish=True).json()["key"]
    work_all(board)
    monkeypatch.setattr(scoring, "scorer_version", lambda: "isogloss 9.9.9")
    with writing(board.engine) as session:
        assert scoring.rescore(session, "admin") == [key]
        assert scoring.rescore(session, "admin") == [key]
    assert state_of(client, key) == "published"
    work_all(board)
    shown = client.get(f"{API}/submissions/{key}").json()
    assert [scores["scorer"] for scores in shown["scores"]][1:] == ["isogloss 9.9.9"]
    assert shown["scores"][0]["tasks"] == shown["scores"][1]["tasks"]
    with writing(board.engine) as session:
        assert scoring.rescore(session, "admin") == []
        assert session.scalar(select(func.count()).select_from(ScoreRecord)) == 2


def test_rejected_submissions_can_be_retried(board: OpenBoard, client: TestClient) -> None:
    key = send(client, b"no archive").json()["key"]
    work_all(board)
    with writing(board.engine) as session:
        scoring.retry(session, session.scalars(select(Submission)).one(), "admin")
    assert state_of(client, key) == "received"
    work_all(board)
    assert state_of(client, key) == "rejected"


def test_hostile_names_are_escaped(board: OpenBoard, client: TestClient) -> None:
    from hostile import ACTING, NAMES

    for name in ("control", "terminal", "newline", "html", "bidi", "equals", "noncharacter"):
        sent = send(client, zip_of(answers(1)), publish=True, name=NAMES[name])
        assert sent.status_code in (201, 422), sent.text
    sql = "'); DROP TABLE submissions; --"
    assert send(client, zip_of(answers(1)), publish=True, name=sql, authors=sql).status_code == 201
    work_all(board)
    listed = client.get(f"{API}/systems").json()["systems"]
    assert sql in [system["name"] for system in listed]
    for system in listed:
        assert not ACTING.search(system["name"])
        assert re.fullmatch(r"[a-z0-9-]+", system["id"])
    page = client.get("/").text
    assert "<img" not in page


@on_sqlite
def test_every_eval_ever(board: OpenBoard, client: TestClient) -> None:
    for seed in range(2):
        send(client, zip_of(answers(seed)), publish=True, name=f"System {seed}")
    work_all(board)
    page = client.get(f"{API}/every-eval-ever").json()
    assert (len(page["records"]), page["next"]) == (2, None)
    for record, system in zip(page["records"], client.get(f"{API}/systems").json()["systems"], strict=True):
        jsonschema.validate(record, EVERY_EVAL_EVER)
        assert record == client.get(f"{API}/systems/{system['id']}/every-eval-ever").json()
        assert len(record["evaluation_results"]) == 3
        details = [result["score_details"]["uncertainty"] for result in record["evaluation_results"]]
        assert all(each["confidence_interval"]["method"].startswith("Wilson") for each in details)


_TEXTS = {"type": "object", "additionalProperties": {"type": "string"}}
# The parts of schema 0.2.1 that we write.
EVERY_EVAL_EVER = {
    "type": "object",
    "required": [
        *("schema_version", "evaluation_id", "retrieved_timestamp", "source_metadata", "model_info", "eval_library"),
        "evaluation_results",
    ],
    "additionalProperties": False,
    "properties": {
        "schema_version": {"const": "0.2.1"},
        "evaluation_id": {"type": "string"},
        "evaluation_timestamp": {"type": "string"},
        "retrieved_timestamp": {"type": "string", "pattern": "^[0-9]+$"},
        "source_metadata": {
            "required": ["source_type", "source_organization_name", "evaluator_relationship"],
            "properties": {
                "source_type": {"enum": ["documentation", "evaluation_run"]},
                "evaluator_relationship": {"enum": ["first_party", "third_party", "collaborative", "other"]},
                "additional_details": _TEXTS,
            },
        },
        "eval_library": {"required": ["name", "version"], "properties": {"additional_details": _TEXTS}},
        "model_info": {"required": ["name", "id"], "properties": {"additional_details": _TEXTS}},
        "evaluation_results": {
            "type": "array",
            "items": {
                "required": ["evaluation_name", "source_data", "metric_config", "score_details"],
                "properties": {
                    "source_data": {
                        "oneOf": [
                            {
                                "required": ["dataset_name", "source_type", "url"],
                                "properties": {
                                    "source_type": {"const": "url"},
                                    "url": {"type": "array", "minItems": 1},
                                },
                            },
                            {
                                "required": ["dataset_name", "source_type"],
                                "properties": {"source_type": {"const": "other"}},
                            },
                        ]
                    },
                    "metric_config": {
                        "required": ["lower_is_better", "min_score", "max_score"],
                        "properties": {"score_type": {"const": "continuous"}},
                    },
                    "score_details": {
                        "required": ["score"],
                        "properties": {"score": {"type": "number"}, "details": _TEXTS},
                    },
                },
            },
        },
    },
}


def test_responses_contain_no_per_example_data(board: OpenBoard, client: TestClient) -> None:
    """No API response to the team contains example ids or numbers below the cell level."""
    files = answers(1)
    key = send(client, zip_of(files), publish=True).json()["key"]
    work_all(board)
    system_id = client.get(f"{API}/systems").json()["systems"][0]["id"]
    ids = {json.loads(line)["id"] for content in files.values() for line in content.splitlines()}
    paths = [path for path, verbs in client.get(f"{API}/openapi.json").json()["paths"].items() if "get" in verbs]
    assert len(paths) >= 8
    for path in paths:
        text = client.get(path.format(key=key, system_id=system_id)).text
        assert not any(f'"{name}"' in text for name in ids), path
    with reading(board.engine) as session:
        record = msgspec.json.decode(session.scalars(select(ScoreRecord.record)).one())
    assert not any(f'"{name}"' in json.dumps(record) for name in ids)
