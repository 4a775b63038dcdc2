"""Limits that all servers of a board keep together, on both databases: whichever server is asked counts for all."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import event, func, select, update
from starlette.testclient import TestClient

from board.server.made_board import MakeBoard, team_client
from isogloss.board.server import shared_limits
from isogloss.board.server.app import create_app
from isogloss.board.server.board import OpenBoard, open_board
from isogloss.board.server.database import reading, writing
from isogloss.board.server.models import RateCount
from isogloss.board.server.shared_limits import SharedRateLimit

API = "/api/v1"
WRONG = {"Authorization": "Bearer wrong"}


def second_server(client: TestClient, board: OpenBoard) -> TestClient:
    """The same team at another server of the board, with connections of its own."""
    return TestClient(create_app(open_board(board.folder)), headers=client.headers, raise_server_exceptions=False)


def test_changes_and_wrong_tokens_are_counted_over_all_servers(boards: MakeBoard) -> None:
    board = boards(writes_per_minute=4, failures_per_minute=3)
    first = team_client(board)
    servers = [first, second_server(first, board)]
    change = f"{API}/submissions/{'0' * 12}/publish"
    changed = [servers[number % 2].post(change) for number in range(8)]
    assert [each.status_code for each in changed] == [404] * 4 + [429] * 4
    assert all(1 <= int(each.headers["retry-after"]) <= 61 for each in changed[4:])
    tried = [servers[number % 2].get(f"{API}/team", headers=WRONG).status_code for number in range(6)]
    assert tried == [401] * 3 + [429] * 3
    assert team_client(board, "Others").post(change).status_code == 404, "each team has its own limit"


def test_at_once_no_more_than_the_limit(boards: MakeBoard) -> None:
    board = boards()
    limits = [SharedRateLimit(open_board(board.folder).engine, "changes", 10) for _ in range(4)]
    with ThreadPoolExecutor(8) as pool:
        waits = list(pool.map(lambda number: limits[number % 4].wait("a"), range(40)))
    assert sum(seconds == 0 for seconds in waits) == 10


@pytest.mark.parametrize("jump", [-60, 60, -(10**8), 10**8])
def test_a_minute_ends_whichever_way_a_clock_jumps(jump: int, boards: MakeBoard) -> None:
    board = boards()
    limit = SharedRateLimit(board.engine, "changes", 1)
    assert limit.wait("a") == 0
    assert SharedRateLimit(board.engine, "changes", 1).wait("a") > 0
    with writing(board.engine) as session:
        session.execute(update(RateCount).values(started=RateCount.started + jump))
    assert SharedRateLimit(board.engine, "changes", 1).wait("a") == 0


def test_old_counts_are_forgotten(boards: MakeBoard, monkeypatch: pytest.MonkeyPatch) -> None:
    board = boards()
    limit = SharedRateLimit(board.engine, "wrong tokens", 1)
    for number in range(20):
        limit.wait(f"address {number}")
    with writing(board.engine) as session:
        session.execute(update(RateCount).values(started=RateCount.started - 61))
    limit.wait("x" * 1_000)
    with reading(board.engine) as session:
        assert session.scalar(select(func.count()).select_from(RateCount)) == 1
    monkeypatch.setattr(shared_limits, "REMEMBERED", 5)
    for number in range(20):
        limit.wait(f"other {number}")
        limit.wait(f"other {number}")
    assert len(limit._refused_until) <= 5


def test_what_costs_no_write(boards: MakeBoard) -> None:
    """Reading writes nothing, and neither does somebody who is over the limit."""
    board = boards(failures_per_minute=1)
    client = team_client(board)
    for _ in range(2):
        client.get(f"{API}/team", headers=WRONG)
    written: list[str] = []

    @event.listens_for(board.engine, "before_cursor_execute")
    def see(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if not statement.lstrip().upper().startswith(("SELECT", "BEGIN")):
            written.append(statement)

    for path in ("board", "systems", "queue", "team", "submissions", "openapi.json", "every-eval-ever"):
        assert client.get(f"{API}/{path}").status_code == 200
    assert client.get("/submit.html").status_code == 200
    for _ in range(5):
        assert client.get(f"{API}/team", headers=WRONG).status_code == 429
    assert written == []
