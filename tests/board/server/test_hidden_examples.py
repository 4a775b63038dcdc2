"""No output depends on which examples a system answers correctly, only on how many."""

import gzip
import json
import re
from pathlib import Path

import pytest

from board.server.made_board import make_board, send, team_client, work_all, zip_of
from isogloss.board.server.evaluations import RECORDS
from isogloss.tasks.suites import suite
from sample import write_gold

pytestmark = pytest.mark.slow
TASK = "mini-xcopa"
ENDPOINTS = (
    "/api/v1/board",
    "/api/v1/systems",
    "/api/v1/systems/{id}",
    "/api/v1/systems/{id}/every-eval-ever",
    "/api/v1/every-eval-ever",
    "/api/v1/submissions",
    "/api/v1/submissions/{key}",
    "/api/v1/queue",
    "/api/v1/team",
)
# Differs between boards: keys, times, and the checksum of the labels.
DIFFERS = re.compile(r"\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-][\d:]+)?)?|\b[0-9a-f]{8,}\b")


@pytest.fixture
def database_url() -> str:
    """The database does not matter here."""
    return ""


def board_output(folder: Path, right: range) -> dict[str, str]:
    """Return all output of a board for a system with these of twelve examples correct, in every language."""
    codes = suite("mini").languages_of(TASK)
    write_gold(folder / "gold", suite("mini"), 12)
    labels = "".join(json.dumps({"label": int(row not in right)}) + "\n" for row in range(12))
    for code in codes:
        (folder / "gold" / TASK / f"test-{code}.jsonl").write_text(labels)
    board = make_board(folder / "board", gold=str(folder / "gold"))
    client = team_client(board)
    answers = zip_of({f"{TASK}/test-{code}.jsonl": b'{"label": 0}\n' * 12 for code in codes})
    key = send(client, answers, publish=True).json()["key"]
    work_all(board)
    assert client.get(f"/api/v1/submissions/{key}").json()["state"] == "published"
    system = client.get("/api/v1/systems").json()["systems"][0]["id"]
    outputs = {endpoint: client.get(endpoint.format(id=system, key=key)).text for endpoint in ENDPOINTS}
    site = (board.site / "current").resolve()
    for path in site.rglob("*"):
        if path.is_file() and path.suffix not in (".gz", ".index"):  # the index has positions in the packed export
            outputs[str(path.relative_to(site))] = path.read_text(encoding="utf-8")
    outputs["export"] = gzip.decompress((site / RECORDS).read_bytes()).decode()
    assert client.get(f"/examples/{TASK}/{codes[0]}.js").status_code == 404
    assert client.get(f"/examples/{TASK}/{codes[0]}/{system}.js").status_code == 404

    def cleaned(text: str) -> str:
        return DIFFERS.sub("?", text.replace(key, "KEY").replace(system, "SYSTEM"))

    return {cleaned(name): cleaned(text) for name, text in outputs.items()}


def test_no_file_or_endpoint_reveals_the_correct_examples(tmp_path: Path) -> None:
    first, last = board_output(tmp_path / "first", range(6)), board_output(tmp_path / "last", range(6, 12))
    assert first.keys() == last.keys()
    assert not [name for name in first if name.startswith("examples")]
    assert '"examples":{}' in first["data.js"]
    assert "50.0" in "".join(first[endpoint] for endpoint in ENDPOINTS)
    assert [name for name, text in first.items() if text != last[name]] == []
    # Sanity check: with more correct examples, the outputs with scores differ.
    more = board_output(tmp_path / "more", range(9))
    assert {"data.js", "/api/v1/systems/{id}"} <= {name for name, text in more.items() if text != last[name]}
