"""Figures that a board shows: random rounding, intervals from shown scores, keyed checksums and old records."""

import hashlib
import itertools
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select
from starlette.testclient import TestClient

from board.server.made_board import make_board, make_token, send, team_client, work_all, zip_of
from isogloss.board.client import BoardClient
from isogloss.board.server.board import OpenBoard
from isogloss.board.server.database import BoardTable, ScoreRecord, reading, writing
from isogloss.board.server.disclosure import nice_step, random_rounding, stored_record
from isogloss.board.server.queue import enqueue
from isogloss.board.server.serve import create_app
from isogloss.scoring.results import signature_parts
from isogloss.scoring.score import score

API = "/api/v1"
TASK = "mini-xcopa"
LANGUAGES = ("ar", "el", "et", "hi", "id", "sw", "ta", "th", "tr", "vi", "zh")


@pytest.fixture
def database_url() -> str:
    """The database does not matter here."""
    return ""


@given(value=st.floats(0, 100), step=st.sampled_from([0.1, 0.5, 1.0, 2.0, 3.0, 5.0]), uniform=st.floats(0, 0.999))
def test_random_rounding_gives_a_neighbouring_multiple(value: float, step: float, uniform: float) -> None:
    shown = random_rounding(value, step, uniform)
    assert abs(shown - value) < step + 1e-6
    assert shown == 100 or abs(shown / step - round(shown / step)) < 1e-6
    assert 0 <= shown <= 100


@pytest.mark.parametrize(("value", "step"), [(61.3, 1.0), (70.0, 2.0), (33.37, 0.5), (99.0, 3.0)])
def test_random_rounding_keeps_the_mean(value: float, step: float) -> None:
    draws = [random_rounding(value, step, (number + 0.5) / 10_000) for number in range(10_000)]
    assert sum(draws) / len(draws) == pytest.approx(value, abs=step / 1_000)
    assert len(set(draws)) == (1 if value in (70.0, 99.0) else 2)


@pytest.mark.parametrize(
    ("examples", "average", "cell"), [(500, 1.0, 3.0), (5_010, 0.1, 0.3), (1_190, 0.5, 1.0), (60, 10.0, 30.0)]
)
def test_steps_by_number_of_examples(examples: int, average: float, cell: float) -> None:
    assert (nice_step(100 * 5 / examples), nice_step(100 * 15 / examples)) == (average, cell)
    assert nice_step(0) == 0
    assert nice_step(1_000) == 50


def write_labels(folder: Path, labels: list[int]) -> Path:
    for code in LANGUAGES:
        path = folder / TASK / f"test-{code}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps({"label": label}) + "\n" for label in labels))
    return folder


def predictions(labels: dict[str, list[int]]) -> dict[str, bytes]:
    return {
        f"{TASK}/test-{code}.jsonl": "".join(json.dumps({"label": label}) + "\n" for label in values).encode()
        for code, values in labels.items()
    }


def published(board: OpenBoard, files: dict[str, bytes]) -> tuple[TestClient, str]:
    client = team_client(board)
    key = send(client, zip_of(files), publish=True).json()["key"]
    work_all(board)
    assert client.get(f"{API}/submissions/{key}").json()["state"] == "published"
    return client, key


def test_shown_scores_of_a_500_example_set(tmp_path: Path) -> None:
    """Previews have one figure per task; published systems have cells, whose figures do not add up to exact counts."""
    gold = [row % 2 for row in range(500)]
    board = make_board(
        tmp_path / "board", gold=str(write_labels(tmp_path / "gold", gold)), average_step=5, cell_step=15
    )
    # 337 of 500 are right in each language, but not the same ones.
    files = {}
    for shift, code in enumerate(LANGUAGES):
        wrong = {(row * 3 + shift) % 500 for row in range(163)}
        files[code] = [label ^ (row in wrong) for row, label in enumerate(gold)]
    client = team_client(board)
    key = send(client, zip_of(predictions(files))).json()["key"]
    work_all(board)
    [preview] = client.get(f"{API}/submissions/{key}").json()["scores"]
    assert preview["cells"] == []
    assert preview["tasks"][TASK] in (67.0, 68.0)
    assert preview["categories"] == {"classification": preview["tasks"][TASK]}
    assert client.post(f"{API}/submissions/{key}/publish").status_code == 200
    [scores] = client.get(f"{API}/submissions/{key}").json()["scores"]
    assert scores["tasks"] == preview["tasks"]
    values = [cell["metrics"]["accuracy"] for cell in scores["cells"]]
    assert len(values) == 11
    assert {value for value, _, _ in values} <= {66.0, 69.0}
    for value, low, high in values:
        # Wilson's interval of 66 % or 69 % of 500 (61.7 to 70.0, 64.8 to 72.9), extended to multiples of 3.
        assert (low, high) == {66.0: (60.0, 72.0), 69.0: (63.0, 75.0)}[value]
    work_all(board)
    assert "67.4" not in client.get("/data.js").text + client.get(f"{API}/every-eval-ever").text


def test_the_same_answers_get_the_same_figures(tmp_path: Path) -> None:
    """Repeating a submission in other words must not average out the rounding."""
    gold = [row % 2 for row in range(100)]
    board = make_board(
        tmp_path / "board", gold=str(write_labels(tmp_path / "gold", gold)), average_step=5, cell_step=15
    )
    client = team_client(board)
    files = predictions({code: [label ^ (row % 7 == 0) for row, label in enumerate(gold)] for code in LANGUAGES})
    for number in range(6):
        send(client, zip_of(files), publish=True, name=f"System {number}")
    work_all(board)
    shown = [
        client.get(f"{API}/systems/{each['id']}").json() for each in client.get(f"{API}/systems").json()["systems"]
    ]
    assert len(shown) == 6
    assert len({json.dumps([s["scores"][0]["tasks"], s["scores"][0]["cells"]]) for s in shown}) == 1


def test_replies_are_counted_on_all_examples(tmp_path: Path) -> None:
    """Facts about replies are the team's own: counts over both parts tell nothing about labels or the private part."""
    labels = [row % 2 for row in range(100)]
    gold = str(write_labels(tmp_path / "gold", labels))
    board = make_board(tmp_path / "board", gold=gold, private_share=0.5)
    lines = []
    for row, label in enumerate(labels):
        facts = {"outcome": "refusal", "usage": {"input": 10}} if row < 20 else {"outcome": "strict"}
        lines.append(json.dumps({"id": str(row), "prediction": None if row < 20 else label, "reply": facts}))
    files = {f"{TASK}/{code}.jsonl": "\n".join(lines).encode() for code in LANGUAGES}
    client, _ = published(board, files)
    [system] = client.get(f"{API}/systems").json()["systems"]
    detail = client.get(f"/systems/{system['id']}.js").text
    assert detail.count('"replies":100,"failures":{"refusal":20}') == len(LANGUAGES)
    assert detail.count('"unparsed":0.2,') == len(LANGUAGES)


def all_output(board: OpenBoard, client: TestClient, key: str) -> str:
    """Return everything that the board shows and stores."""
    anybody = TestClient(create_app(board))
    system = anybody.get(f"{API}/systems").json()["systems"][0]["id"]
    paths = [path for path, verbs in client.get(f"{API}/openapi.json").json()["paths"].items() if "get" in verbs]
    texts = [each.get(path.format(key=key, system_id=system)).text for path in paths for each in (client, anybody)]
    texts += [
        path.read_text() for path in (board.site / "current/").rglob("*") if path.suffix in (".js", ".html", ".svg")
    ]
    with board.engine.connect() as connection:
        texts += [str(row) for table in BoardTable.metadata.sorted_tables for row in connection.execute(select(table))]
    return "\n".join(texts)


def test_no_output_is_a_test_of_guessed_labels(tmp_path: Path) -> None:
    """The attack on a hash of the labels: hash every possible label file, and look for it in all output."""
    gold = [0, 1, 1, 0, 1, 0, 0, 1]
    folder = write_labels(tmp_path / "gold", gold)
    board = make_board(tmp_path / "board", gold=str(folder))
    client, key = published(board, predictions(dict.fromkeys(LANGUAGES, gold)))
    hashes = set()
    for labels in itertools.product((0, 1), repeat=len(gold)):
        content = "".join(json.dumps({"label": label}) + "\n" for label in labels).encode()
        hashes |= {hashlib.new(name, content).hexdigest()[:10] for name in ("sha256", "sha1", "md5", "blake2b")}
    # Sanity check: the attack works on the signature of `isogloss score`.
    for name, content in predictions(dict.fromkeys(LANGUAGES, gold)).items():
        (tmp_path / "p" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "p" / name).write_bytes(content)
    plain = score(tmp_path / "p", "mini", gold=str(folder)).cells[0].signature
    assert any(guess in plain for guess in hashes)
    output = all_output(board, client, key)
    assert signature_parts(plain)["data"] not in output
    assert [guess for guess in hashes if guess in output] == []
    # Rescoring and other systems have the same keyed checksum, so that scores stay comparable.
    second = send(client, zip_of(predictions(dict.fromkeys(LANGUAGES, gold[::-1])))).json()["key"]
    work_all(board)
    client.post(f"{API}/submissions/{second}/publish")
    checksums = {
        signature_parts(cell["signature"])["data"]
        for each in (key, second)
        for cell in client.get(f"{API}/submissions/{each}").json()["scores"][0]["cells"]
        if cell["language"] == "sw"
    }
    assert len(checksums) == 1
    other = make_board(tmp_path / "other", gold=str(folder))
    assert other.keyed_digest("data", "x") != board.keyed_digest("data", "x")


def test_records_of_earlier_versions_are_stripped(tmp_path: Path) -> None:
    gold = [row % 2 for row in range(500)]
    folder = write_labels(tmp_path / "gold", gold)
    board = make_board(tmp_path / "board", gold=str(folder))
    files = predictions({code: [label ^ (row % 7 == 0) for row, label in enumerate(gold)] for code in LANGUAGES})
    client, key = published(board, files)
    for name, content in files.items():
        (tmp_path / "p" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "p" / name).write_bytes(content)
    old = score(tmp_path / "p", "mini", gold=str(folder))
    with writing(board.engine) as session:
        session.scalars(select(ScoreRecord)).one().record = msgspec.json.encode(old).decode()
    with reading(board.engine) as session:
        record = stored_record(session.scalars(select(ScoreRecord)).one())
    # 428 of 500 are right: 85.6 %.
    assert record.tasks[0].score.value == 86.0
    assert {number.value for cell in record.cells for number in cell.metrics.values()} == {87.0}
    shown = client.get(f"{API}/submissions/{key}").text
    checksum = signature_parts(old.cells[0].signature)["data"]
    assert "|data:" not in shown
    assert checksum not in shown
    assert "85.6" not in shown


def test_client_prints_only_shown_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    board = make_board(tmp_path / "board", gold=str(write_labels(tmp_path / "gold", [0, 1] * 30)), average_step=5)
    files = predictions({code: [0, 1] * 20 + [0] * 20 for code in LANGUAGES})
    client, key = published(board, files)

    def request(self: Any, method: str, path: str, **_: Any) -> Any:
        return client.request(method, f"{API}/{path}").json()

    monkeypatch.setattr(BoardClient, "_request", request)
    reader = BoardClient("http://board", make_token(board))
    [scores] = reader.submission(key)["scores"]
    # 50 of 60 are right; a step is worth 5 of 60 examples, about 10 points.
    assert scores["tasks"][TASK] in (80.0, 90.0)
    assert "sketches" not in json.dumps(reader.submission(key))


@pytest.mark.parametrize("step", [0.0, 5.0])
def test_pages_state_the_precision(step: float, tmp_path: Path) -> None:
    board = make_board(tmp_path, average_step=step, cell_step=3 * step)
    with writing(board.engine) as session:
        enqueue(session, "site")
    work_all(board)
    page = TestClient(create_app(board)).get("/data.js").text
    assert ("a step is worth about 5 examples in task averages and 15 in cells" in page) == bool(step)
