"""Security headers, ETags, compression, request limits, and responses to disk and database failures."""

import functools
import gzip
import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from board.server.made_board import METADATA, MakeBoard, answers, make_board, send, team_client, work_all, zip_of
from isogloss.board.cards import STYLE_HASH
from isogloss.board.server import access, intake, middleware
from isogloss.board.server.board import OpenBoard
from isogloss.board.server.serve import create_app

API = "/api/v1"


@pytest.fixture
def database_url() -> str:
    """The database does not matter here."""
    return ""


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """Client of a board with built pages, for tests that only read."""
    board = make_board(tmp_path_factory.mktemp("published") / "board", reads_per_minute=10_000)
    with team_client(board) as client:
        send(client, zip_of(answers(1)), publish=True)
        work_all(board)
        yield client
    board.engine.dispose()


def test_every_answer_has_safe_headers(published: TestClient) -> None:
    for method, path in (
        *(("GET", path) for path in ("/", "/submit.html", "/nobody", "/../etc/passwd", f"{API}/board", "/healthz")),
        ("POST", "/"),
        ("DELETE", f"{API}/board"),
        ("GET", f"{API}/team"),
        ("GET", "/" + "x" * 5_000),
    ):
        headers = published.request(method, path).headers
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["cache-control"] in ("no-store", "no-cache", "private, no-cache")
        assert "set-cookie" not in headers
        assert "access-control-allow-origin" not in headers


def test_placeholder_page_before_the_first_build(board: OpenBoard, client: TestClient) -> None:
    early = client.get("/")
    assert (early.status_code, early.headers["refresh"]) == (503, "2")
    assert early.headers["retry-after"]
    assert early.headers["content-type"].startswith("text/html")
    assert "being built" in early.text and "style=" not in early.text
    assert client.get("/look.css").status_code == 200
    send(client, zip_of(answers(1)), publish=True)
    work_all(board)
    assert client.get("/").status_code == 200


def test_own_pages_comply_with_the_content_security_policy(client: TestClient) -> None:
    page = client.get("/submit.html").text
    assert "style=" not in page
    assert "http" not in page.replace("https://board", "")
    assert page.count("<script") == page.count('<script src="submit.js" defer></script>') == 1
    script = client.get("/submit.js")
    assert script.headers["content-type"].startswith("text/javascript")
    for forbidden in ("innerHTML", "eval(", "outerHTML", "document.write", "insertAdjacentHTML"):
        assert forbidden not in script.text


@pytest.mark.parametrize("path", ["/", f"{API}/board", f"{API}/systems", f"{API}/openapi.json"])
def test_etags_and_compression(path: str, published: TestClient) -> None:
    plain = published.get(path, headers={"Accept-Encoding": "identity"})
    packed = published.get(path, headers={"Accept-Encoding": "gzip"})
    assert plain.status_code == 200
    assert "content-encoding" not in plain.headers
    assert packed.content == plain.content
    if len(plain.content) > 1_000:
        assert packed.headers["content-encoding"] == "gzip"
        assert int(packed.headers["content-length"]) < len(plain.content)
    again = published.get(path, headers={"If-None-Match": plain.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert published.get(path, headers={"If-None-Match": '"other"'}).status_code == 200
    assert published.get(path, headers={"Accept-Encoding": "gzip;q=0"}).headers.get("content-encoding") is None


def test_etag_changes_after_a_rebuild(board: OpenBoard, client: TestClient) -> None:
    tags = []
    for seed in range(2):
        send(client, zip_of(answers(seed)), publish=True, name=f"S{seed}")
        work_all(board)
        tags.append(client.get("/data.js").headers["etag"])
    assert tags[0] != tags[1]


@pytest.mark.parametrize(
    "path",
    [
        "/../board.toml",
        "/..%2fboard.toml",
        "/%2e%2e/pepper.key",
        "/site-1/index.html",
        "//etc/passwd",
        "/a%00.html",
        "/.html",
        "/systems/",
    ],
)
def test_only_built_files_are_served(path: str, published: TestClient) -> None:
    assert published.get(path).status_code in (404, 405)


def test_limits_of_size(boards: MakeBoard) -> None:
    board = boards(upload_bytes=10_000)
    client = team_client(board)
    assert send(client, os.urandom(200_000)).status_code == 413
    assert send(client, os.urandom(20_000)).status_code == 413
    unsaid = (chunk for chunk in [b"--b\r\n", *[b"x" * 1_000] * 200])
    head = {"Content-Type": "multipart/form-data; boundary=b"}
    assert client.post(f"{API}/submissions", content=unsaid, headers=head).status_code in (413, 422)
    huge = client.post(
        f"{API}/submissions", data={"metadata": json.dumps(METADATA) + " " * 70_000}, files={"archive": b"x"}
    )
    assert huge.status_code == 422
    assert client.post(f"{API}/team", content=b"x" * 70_000).status_code == 413
    assert client.get(f"{API}/board?{'x' * 3_000}").status_code == 414
    assert client.get(f"{API}/board", headers={"X-Long": "x" * 17_000}).status_code == 431
    assert list(board.incoming.iterdir()) == []


@pytest.mark.parametrize(
    ("headers", "what"),
    [
        (b"X: y\r\n" * 6, "a part has more than 6 headers"),
        (b"X: y\r\n" * 1_000_000, "a part has more than 6 headers"),
        (b"X: " + b"y" * 4_000 + b"\r\n", "the headers of a part are longer than 4,000 bytes"),
        (b"X" * 4_000 + b": y\r\n", "the headers of a part are longer than 4,000 bytes"),
        (b"X: y\r\n" * 5, "missing"),
    ],
)
def test_headers_of_parts_are_limited(
    headers: bytes, what: str, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Independently of the limits of the parser, which older versions do not have."""
    unlimited = {"max_header_count": 10**9, "max_header_size": 10**9}
    monkeypatch.setattr(intake, "MultipartParser", functools.partial(intake.MultipartParser, **unlimited))
    part = b'--b\r\nContent-Disposition: form-data; name="metadata"\r\n' + headers + b"\r\n{}\r\n--b--\r\n"
    kind = {"Content-Type": "multipart/form-data; boundary=b"}
    refused = client.post(f"{API}/submissions", content=part, headers=kind)
    assert refused.status_code == 422
    assert what in refused.text


def test_rate_limits(boards: MakeBoard, monkeypatch: pytest.MonkeyPatch) -> None:
    board = boards(reads_per_minute=20, writes_per_minute=3, failures_per_minute=2)
    client = team_client(board)
    wrong = {"Authorization": "Bearer wrong"}
    tried = [client.get(f"{API}/team", headers=wrong).status_code for _ in range(4)]
    assert tried == [401, 401, 429, 429]
    changed = [client.post(f"{API}/submissions/{'0' * 12}/publish") for _ in range(5)]
    assert [each.status_code for each in changed] == [404, 404, 404, 429, 429]
    assert "3 changes per minute" in changed[-1].json()["what"]
    read = [client.get(f"{API}/board") for _ in range(15)]
    assert [each.status_code for each in read] == [200] * 11 + [429] * 4
    assert 1 <= int(read[-1].headers["retry-after"]) <= 61
    # The minute ends independently of the wall clock.
    now = middleware.time.monotonic()
    monkeypatch.setattr(middleware.time, "monotonic", lambda: now + 61)
    assert client.get(f"{API}/board").status_code == 200


def test_ipv6_clients_of_a_network_share_their_limits(boards: MakeBoard) -> None:
    board = boards(reads_per_minute=20, failures_per_minute=2)
    wrong = {"Authorization": "Bearer wrong"}
    app = create_app(board)
    statuses = [
        TestClient(app, headers=wrong, client=(host, 1)).get(f"{API}/team").status_code
        for host in ("2001:db8::1", "2001:db8::2", "2001:db8::3", "2001:db8:0:1::1", "::ffff:192.0.2.1", "192.0.2.1")
    ]
    assert statuses == [401, 401, 429, 401, 401, 401]
    reads = [TestClient(app, client=(f"2001:db8::{n:x}", 1)).get(f"{API}/queue").status_code for n in range(30)]
    assert reads.count(429) == 13  # three requests are counted already


def test_number_of_remembered_clients_is_bounded() -> None:
    limit = access.RateLimit(what="requests", per_minute=1)
    for number in range(20_000):
        limit.wait(str(number))
    assert len(limit._windows) <= 10_000


def test_full_disk(board: OpenBoard, client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(intake.os, "fsync", full)
        refused = send(client, zip_of(answers(1)))
    assert refused.status_code == 507
    assert "No space left" in refused.json()["what"]
    assert list(board.incoming.iterdir()) == []
    assert send(client, zip_of(answers(1))).status_code == 201


@pytest.mark.slow
@pytest.mark.parametrize("size", [2_000, 40_000, 150_000])
def test_file_size_limit(size: int, tmp_path: Path) -> None:
    """A full disk is reported by server and worker, and the upload succeeds once there is space again."""
    import subprocess
    import sys

    board = make_board(tmp_path / "board")
    code = f"""
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from board.server.conftest import team_client
from board.server.made_board import *
from pathlib import Path
board = open_board(Path({str(board.folder)!r}))
client = team_client(board)
archive = zip_of(answers(1) | {{"mini-xnli/fr.jsonl": random.Random(1).randbytes(100_000)}})
good = zip_of(answers(1))
resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))
for content in (archive, good):
    answer = send(client, content, publish=True)
    assert answer.status_code in (201, 503, 507), answer.text
    assert answer.json()["what" if answer.status_code > 300 else "key"]
from isogloss.board.server import worker
worker._RETRY = 0
claims = JobClaims(board)
for _ in range(6):
    worker.work_once(claims)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2]
    )
    assert done.returncode == 0, done.stderr
    # There is space again.
    client = team_client(board)
    assert send(client, zip_of(answers(1)), publish=True).status_code in (200, 201)
    work_all(board)
    [system] = client.get(f"{API}/systems").json()["systems"]
    assert system["attempts"] == 1
    assert list(board.work.iterdir()) == []


def test_unavailable_database(board: OpenBoard, client: TestClient) -> None:
    work_all(board)
    with ThreadPoolExecutor(1) as pool:  # a separate connection
        pool.submit(board.engine.dispose).result()
    (board.folder / "board.sqlite").rename(board.folder / "gone")
    for name in ("board.sqlite-wal", "board.sqlite-shm"):
        (board.folder / name).unlink(missing_ok=True)
    (board.folder / "board.sqlite").mkdir()
    answer = client.get(f"{API}/queue")
    assert answer.status_code == 503
    assert "sqlite" not in answer.text


def test_internal_errors_reveal_nothing(board: OpenBoard, client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    from isogloss.board.server import routes

    def fail(*_: Any) -> None:
        raise RuntimeError("secret label")

    monkeypatch.setattr(routes, "reading", fail)
    answer = client.get(f"{API}/queue")
    assert answer.status_code == 500
    assert "secret" not in answer.text


def test_compressed_pages_equal_the_pages(board: OpenBoard) -> None:
    everybody = TestClient(create_app(board))
    with everybody.stream("GET", "/submit.css", headers={"Accept-Encoding": "gzip"}) as answer:
        assert gzip.decompress(b"".join(answer.iter_raw())) == everybody.get("/submit.css").content


def test_cards_can_be_embedded_in_other_sites(published: TestClient) -> None:
    data = json.loads(
        published.get("/data.js").text.removeprefix("globalThis.isoglossBoardData = ").removesuffix(";\n")
    )
    path = f"/cards/system/{data['systems'][0][0]}.svg"
    card = published.get(path)
    assert card.status_code == 200
    assert data["data_hash"][:12] in card.text
    assert card.headers["content-type"].startswith("image/svg+xml")
    assert card.headers["cross-origin-resource-policy"] == "cross-origin"
    policy = card.headers["content-security-policy"]
    assert policy.startswith(f"default-src 'none'; style-src '{STYLE_HASH}'")
    assert "sandbox" in policy and "unsafe" not in policy and "script" not in policy
    again = published.get(path, headers={"If-None-Match": card.headers["etag"]})
    assert (again.status_code, again.headers["cross-origin-resource-policy"]) == (304, "cross-origin")
    # No other file, and no missing card.
    for other in ("/cards/none.svg", "/icon.svg", "/data.js", "/cards/../data.js"):
        assert published.get(other).headers["cross-origin-resource-policy"] == "same-origin", other
