"""Rate limits shared by all servers of a board, on both databases."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import event, func, select, update
from starlette.testclient import TestClient

from board.server.made_board import MakeBoard, team_client
from isogloss.board.server import access
from isogloss.board.server.access import SharedRateLimit
from isogloss.board.server.board import OpenBoard, open_board
from isogloss.board.server.database import RateCount, reading, writing
from isogloss.board.server.serve import create_app

API = "/api/v1"
WRONG = {"Authorization": "Bearer wrong"}


def second_server(client: TestClient, board: OpenBoard) -> TestClient:
    """Return a client of the same team at another server."""
    return TestClient(create_app(open_board(board.folder)), headers=client.headers, raise_server_exceptions=False)


def test_changes_and_invalid_tokens_are_counted_over_all_servers(boards: MakeBoard) -> None:
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


def test_concurrent_requests_respect_the_limit(boards: MakeBoard) -> None:
    board = boards()
    servers = [SharedRateLimit(engine=open_board(board.folder).engine, what="changes", per_minute=10) for _ in range(4)]
    with ThreadPoolExecutor(8) as pool:
        waits = list(pool.map(lambda number: servers[number % 4].wait("a"), range(40)))
    assert sum(seconds == 0 for seconds in waits) == 10


@pytest.mark.parametrize("jump", [-60, 90, -(10**8), 10**8])
def test_clock_jumps_end_the_minute(jump: int, boards: MakeBoard) -> None:
    board = boards()
    limit = SharedRateLimit(engine=board.engine, what="changes", per_minute=1)
    assert limit.wait("a") == 0
    assert SharedRateLimit(engine=board.engine, what="changes", per_minute=1).wait("a") > 0
    with writing(board.engine) as session:
        session.execute(update(RateCount).values(started=RateCount.started + jump))
    assert SharedRateLimit(engine=board.engine, what="changes", per_minute=1).wait("a") == 0


def test_expired_counts_are_removed(boards: MakeBoard, monkeypatch: pytest.MonkeyPatch) -> None:
    board = boards()
    limit = SharedRateLimit(engine=board.engine, what="invalid tokens", per_minute=1)
    for number in range(20):
        limit.wait(f"address {number}")
    with writing(board.engine) as session:
        session.execute(update(RateCount).values(started=RateCount.started - 61))
    limit.wait("x" * 1_000)
    with reading(board.engine) as session:
        assert session.scalar(select(func.count()).select_from(RateCount)) == 1
    monkeypatch.setattr(access, "REMEMBERED", 5)
    for number in range(20):
        limit.wait(f"other {number}")
        limit.wait(f"other {number}")
    assert len(limit._refused_until) <= 5


def test_reads_and_refusals_do_not_write(boards: MakeBoard) -> None:
    """Neither reads nor requests over the limit write to the database."""
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
