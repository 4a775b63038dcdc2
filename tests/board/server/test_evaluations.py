"""Export of all systems: built with the pages, cached, and in pages of the API."""

import gzip
import json
from typing import Any

import pytest
from starlette.testclient import TestClient

from board.server.made_board import MakeBoard, answers, send, team_client, work_all, zip_of
from isogloss.board.server import evaluations, pages
from isogloss.board.server.board import OpenBoard
from isogloss.board.server.evaluations import RECORDS, record_page

EXPORT = "/api/v1/every-eval-ever"


@pytest.fixture
def database_url() -> str:
    """The database does not matter here."""
    return ""


@pytest.fixture
def published(boards: MakeBoard) -> tuple[OpenBoard, TestClient]:
    """Board with five published systems."""
    board = boards(writes_per_minute=1_000)
    client = team_client(board)
    for seed in range(5):
        send(client, zip_of(answers(seed, ["en"])), publish=True, name=f"System {seed}")
    work_all(board)
    return board, client


def names(page: dict[str, Any]) -> list[str]:
    return [record["model_info"]["name"] for record in page["records"]]


def test_pages_of_the_export(published: tuple[OpenBoard, TestClient]) -> None:
    _, client = published
    seen, after = [], 0
    while after is not None:
        page = client.get(EXPORT, params={"after": after, "limit": 2}).json()
        assert len(page["records"]) == (2 if page["next"] else 1)
        seen += page["records"]
        after = page["next"]
    assert names({"records": seen}) == [f"System {seed}" for seed in range(5)]
    ids = [system["id"] for system in client.get("/api/v1/systems").json()["systems"]]
    assert seen == [client.get(f"/api/v1/systems/{each}/every-eval-ever").json() for each in ids]
    assert client.get(EXPORT, params={"limit": 5}).json()["next"] is None
    assert client.get(EXPORT, params={"after": 2**31 - 1}).json() == {"records": [], "next": None}
    assert [client.get(EXPORT, params={"limit": limit}).status_code for limit in (0, 101)] == [422, 422]


def test_withdrawn_system_shifts_no_page(published: tuple[OpenBoard, TestClient]) -> None:
    """A page continues after the same system, although an earlier one was withdrawn in between."""
    board, client = published
    first = client.get(EXPORT, params={"limit": 2}).json()
    oldest = client.get("/api/v1/submissions").json()["submissions"][-1]
    assert client.post(f"/api/v1/submissions/{oldest['key']}/withdraw").status_code == 200
    work_all(board)
    assert names(client.get(EXPORT).json()) == [f"System {seed}" for seed in range(1, 5)]
    assert names(client.get(EXPORT, params={"after": first["next"]}).json()) == [f"System {seed}" for seed in (2, 3, 4)]


def test_whole_file_is_cached(published: tuple[OpenBoard, TestClient]) -> None:
    _, client = published
    for encoding in ("identity", "gzip"):
        whole = client.get(f"/{RECORDS}", headers={"Accept-Encoding": encoding})
        assert (whole.status_code, whole.headers["content-type"]) == (200, "application/gzip")
        assert "content-encoding" not in whole.headers
        records = [json.loads(line) for line in gzip.decompress(whole.content).splitlines()]
        assert {"records": records, "next": None} == client.get(EXPORT).json()
    assert client.get(f"/{RECORDS}", headers={"If-None-Match": whole.headers["etag"]}).status_code == 304
    # Compressed forms of other files, and the index, are not served.
    assert [client.get(path).status_code for path in ("/data.js.gz", "/every-eval-ever.index")] == [404, 404]


def test_no_record_is_computed_for_a_request(
    published: tuple[OpenBoard, TestClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, client = published
    monkeypatch.delattr(evaluations, "evaluation_record")
    monkeypatch.delattr(pages, "published_systems")
    assert len(client.get(EXPORT).json()["records"]) == 5


def test_export_is_empty_before_the_first_build(board: OpenBoard, client: TestClient) -> None:
    assert client.get(EXPORT).json() == {"records": [], "next": None}
    assert record_page(board.site / "current", 0, 5) == ([], None)
    work_all(board)
    assert client.get(f"/{RECORDS}").status_code == 404


def test_large_responses_are_compressed_in_a_thread(
    published: tuple[OpenBoard, TestClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    from isogloss.board.server import middleware

    _, client = published
    plain = client.get(EXPORT, headers={"Accept-Encoding": "identity"}).content
    monkeypatch.setattr(middleware, "_IN_THREAD_FROM", 1_000)
    with client.stream("GET", EXPORT, headers={"Accept-Encoding": "gzip"}) as answer:
        assert answer.headers["content-encoding"] == "gzip"
        assert gzip.decompress(b"".join(answer.iter_raw())) == plain
