"""Budgets of teams: per month and year, checked before the upload and again when it is complete."""

import asyncio
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import pytest
from sqlalchemy import select, update

from board.server.made_board import MakeBoard, answers, make_token, send, team_client, work_all, zip_of
from isogloss.board.server import budget, database, intake
from isogloss.board.server.board import OpenBoard, find_team
from isogloss.board.server.database import Submission, writing
from isogloss.board.server.serve import create_app

API = "/api/v1"
on_sqlite = pytest.mark.parametrize("database_url", [""])


def set_clock(patch: pytest.MonkeyPatch, at: str) -> None:
    patch.setattr(database, "timestamp", lambda: at)
    patch.setattr(budget, "database_time", lambda _: datetime.fromisoformat(at))


def backdate(board: OpenBoard, **values: str) -> None:
    """Change the recorded times of all submissions."""
    with writing(board.engine) as session:
        session.execute(update(Submission).values(**values))


def test_yearly_submissions(boards: MakeBoard) -> None:
    board = boards(yearly_submissions=2)
    client = team_client(board)
    states = [send(client, zip_of(answers(seed))).status_code for seed in range(3)]
    assert states == [201, 201, 429]
    assert "yearly quota exhausted: 2 submissions" in send(client, zip_of(answers(9))).json()["what"]
    team = client.get(f"{API}/team").json()
    assert (team["used_in_year"], team["yearly_submissions"], team["left"]) == (2, 2, 0)
    # A year later they no longer count.
    backdate(board, created_at="2024-01-01T00:00:00Z", month="2024-01")
    assert send(client, zip_of(answers(4))).status_code == 201


@on_sqlite
def test_limits_of_a_team_override_those_of_the_board(boards: MakeBoard) -> None:
    board = boards(yearly_submissions=1, yearly_publications=1)
    client = team_client(board)
    with writing(board.engine) as session:
        find_team(session, "Team").yearly_submissions = 3
        find_team(session, "Team").yearly_publications = 0
    assert [send(client, zip_of(answers(seed))).status_code for seed in range(4)] == [201, 201, 201, 429]
    work_all(board)
    key = client.get(f"{API}/submissions").json()["submissions"][0]["key"]
    assert client.post(f"{API}/submissions/{key}/publish").status_code == 429
    assert client.get(f"{API}/team").json()["yearly_publications"] == 0


@on_sqlite
def test_a_clock_set_back_returns_no_quota(boards: MakeBoard, monkeypatch: pytest.MonkeyPatch) -> None:
    board = boards(monthly_submissions=2, yearly_submissions=4)
    client = team_client(board)
    set_clock(monkeypatch, "2026-11-16T00:00:00Z")
    assert [send(client, zip_of(answers(seed))).status_code for seed in range(3)] == [201, 201, 429]
    set_clock(monkeypatch, "2026-10-31T00:00:00Z")
    assert send(client, zip_of(answers(4))).status_code == 429
    set_clock(monkeypatch, "2026-12-01T00:00:00Z")
    assert [send(client, zip_of(answers(seed))).status_code for seed in (5, 6, 7)] == [201, 201, 429]
    set_clock(monkeypatch, "2020-01-01T00:00:00Z")
    refused = send(client, zip_of(answers(8)))
    assert "in 2026-12" in refused.json()["what"]


def test_yearly_publications(boards: MakeBoard) -> None:
    board = boards(yearly_publications=1)
    client = team_client(board)
    first, second = (send(client, zip_of(answers(seed)), publish=True).json()["key"] for seed in (1, 2))
    work_all(board)
    states = {key: client.get(f"{API}/submissions/{key}").json()["state"] for key in (first, second)}
    assert states == {first: "published", second: "preview"}
    refused = client.post(f"{API}/submissions/{second}/publish")
    assert (refused.status_code, refused.json()["what"]) == (
        429,
        "yearly quota exhausted: 1 publications in 365 days",
    )
    # Withdrawing returns no quota; publishing the same again uses none.
    assert client.post(f"{API}/submissions/{first}/withdraw").status_code == 200
    assert client.post(f"{API}/submissions/{second}/publish").status_code == 429
    assert client.post(f"{API}/submissions/{first}/publish").status_code == 200
    assert client.get(f"{API}/team").json()["published_in_year"] == 1


@on_sqlite
def test_rejected_uploads_have_their_own_budget(boards: MakeBoard) -> None:
    board = boards(monthly_rejections=2)
    client = team_client(board)
    states = []
    for number in range(3):
        states.append(send(client, b"nonsense" * number + b"!").status_code)
        work_all(board)
    assert states == [201, 201, 429]
    refused = send(client, zip_of(answers(1)))
    assert (refused.status_code, refused.json()["what"][:26]) == (429, "too many rejected uploads:")
    assert client.get(f"{API}/team").json()["rejected"] == 2


def answer_without_body(board: OpenBoard, token: str, headers: Mapping[str, str]) -> int:
    """Return the status of a submission; reading its body fails the test."""
    started: list[dict[str, Any]] = []

    async def receive() -> Any:
        raise AssertionError("the body was read")

    async def send_message(message: Any) -> None:
        started.append(message)

    sent = {"authorization": f"Bearer {token}", "content-type": "multipart/form-data; boundary=b", **headers}
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": f"{API}/submissions",
        "raw_path": f"{API}/submissions".encode(),
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in sent.items()],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }
    asyncio.run(create_app(board)(scope, receive, send_message))
    return int(started[0]["status"])


@on_sqlite
def test_refused_before_the_body(boards: MakeBoard) -> None:
    board = boards(monthly_submissions=1, free_bytes=1 << 60, upload_bytes=1_000_000)
    token = make_token(board)
    length = {"content-length": "1000"}
    assert answer_without_body(board, "wrong", length) == 401
    assert answer_without_body(board, token, {"content-length": "100000000"}) == 413
    assert answer_without_body(board, token, length) == 507
    assert answer_without_body(board, token, {"transfer-encoding": "chunked"}) == 507


@on_sqlite
@pytest.mark.parametrize(("settings", "status"), [({"yearly_submissions": 0}, 429), ({"closed": True}, 403)])
def test_exhausted_quota_and_closed_board_before_the_body(
    settings: dict[str, Any], status: int, boards: MakeBoard
) -> None:
    board = boards(free_bytes=0, **settings)
    assert answer_without_body(board, make_token(board), {"content-length": "1000"}) == status


@on_sqlite
def test_free_space_is_checked_during_an_upload(boards: MakeBoard, monkeypatch: pytest.MonkeyPatch) -> None:
    board = boards()
    client = team_client(board)
    monkeypatch.setattr(intake, "_SPACE_CHECKS", 100)
    free = iter([1 << 50])
    usage = budget.shutil.disk_usage(board.folder)
    monkeypatch.setattr(budget.shutil, "disk_usage", lambda _: usage._replace(free=next(free, 0)))
    refused = send(client, zip_of(answers(1)))
    assert refused.status_code == 507
    assert list(board.incoming.iterdir()) == []


@on_sqlite
def test_the_disk_check_counts_the_declared_size(boards: MakeBoard, monkeypatch: pytest.MonkeyPatch) -> None:
    board = boards(free_bytes=1_000)
    usage = budget.shutil.disk_usage(board.folder)
    monkeypatch.setattr(budget.shutil, "disk_usage", lambda _: usage._replace(free=1_500))
    budget.check_space(board, 500)
    with pytest.raises(budget.QuotaError) as caught:
        budget.check_space(board, 501)
    assert caught.value.status == 507


@on_sqlite
def test_a_token_that_may_only_submit_sees_states_but_no_scores(boards: MakeBoard) -> None:
    board = boards()
    submitter = team_client(board, scopes=["submit"])
    archive = zip_of(answers(1))
    assert send(submitter, archive).status_code == 201
    work_all(board)
    again = send(submitter, archive)
    assert (again.status_code, again.json()["state"]) == (200, "preview")
    assert (again.json()["scores"], again.json()["problems"]) == ([], [])
    key = again.json()["key"]
    assert submitter.get(f"{API}/submissions/{key}").status_code == 403
    publisher = team_client(board, scopes=["publish"])
    published = publisher.post(f"{API}/submissions/{key}/publish")
    assert (published.json()["state"], published.json()["scores"]) == ("published", [])


def test_quota_is_used_atomically(boards: MakeBoard) -> None:
    """Uploads that pass the first check together are counted again at the end."""
    from concurrent.futures import ThreadPoolExecutor

    board = boards(yearly_submissions=2)
    client = team_client(board)
    with ThreadPoolExecutor(6) as pool:
        sent = list(pool.map(lambda seed: send(client, zip_of(answers(seed))).status_code, range(6)))
    assert sorted(sent) == [201, 201, 429, 429, 429, 429]
    with writing(board.engine) as session:
        assert len(session.scalars(select(Submission.id)).all()) == 2
