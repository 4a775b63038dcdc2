"""No output depends on single labels: with other labels, all is the same to the byte but for the shown scores."""

import gzip
import itertools
import json
import random
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from sqlalchemy import select
from starlette.testclient import TestClient

from board.server.made_board import LANGUAGES, make_board, send, team_client, work_all, zip_of
from isogloss.board.cards import card_files
from isogloss.board.model import BoardData
from isogloss.board.server import intake
from isogloss.board.server.board import OpenBoard
from isogloss.board.server.database import ScoreRecord, Submission
from isogloss.board.server.evaluations import RECORDS
from isogloss.board.server.serve import create_app

API = "/api/v1"
CODES = ("et", "id", "sw", "ta", "tr")
EXAMPLES = 60
TIMES = re.compile(r"\d{4}-\d\d-\d\d(T[\d:]+Z)?|\b1[6-9]\d{8}\b")
# Fields of API answers and of the pages' data with scores.
SCORES = {"tasks", "categories", "overall", "metrics"}
PAGE_SCORES = {"cells", "averages", "ranks"}


def archives() -> dict[str, bytes]:
    """Return archives of two systems, a faulty one and a probe; examples 2k and 2k+1 always have the same answer."""
    rng = random.Random(0)
    made = {}
    for name in ("first", "second"):
        files = {}
        options = [rng.randrange(2) for _ in range(EXAMPLES // 2)]
        for code in CODES:
            answers = [value ^ (rng.random() < 0.2) for value in options]
            lines = [json.dumps({"label": answers[row // 2]}) for row in range(EXAMPLES)]
            files[f"mini-xcopa/test-{code}.jsonl"] = ("\n".join(lines) + "\n").encode()
        kinds = [rng.choice(("entailment", "neutral", "contradiction")) for _ in range(EXAMPLES // 2)]
        for code in LANGUAGES:
            lines = [kinds[row // 2] for row in range(EXAMPLES)]
            files[f"mini-xnli/test-{code}.tsv"] = ("\n".join(lines) + "\n").encode()
        made[name] = zip_of(files)
    faulty = files | {"mini-xcopa/test-et.jsonl": b'{"label": 7}\n{"lab', "mini-xnli/test-xx.tsv": b"neutral\n"}
    probe = files | {"mini-xnli/test-en.tsv": b"neutral\n" * EXAMPLES}
    return made | {"faulty": zip_of(faulty), "probe": zip_of(probe)}


def labels_of(rng: random.Random) -> dict[str, list[str]]:
    options = [json.dumps({"label": rng.randrange(2)}) for _ in range(EXAMPLES)]
    classes = [rng.choice(("entailment", "neutral", "contradiction")) for _ in range(EXAMPLES)]
    return {"mini-xcopa/test-{}.jsonl": options, "mini-xnli/test-{}.tsv": classes}


def swapped(labels: dict[str, list[str]], rng: random.Random) -> dict[str, list[str]]:
    """Exchange the labels of examples 2k and 2k+1 for random k, which no score can tell."""
    changed = {}
    for name, values in labels.items():
        pairs = [values[row : row + 2] for row in range(0, EXAMPLES, 2)]
        changed[name] = list(itertools.chain(*(pair[:: rng.choice((1, -1))] for pair in pairs)))
    return changed


def write_gold(folder: Path, labels: dict[str, list[str]]) -> Path:
    for name, values in labels.items():
        for code in CODES if "xcopa" in name else LANGUAGES:
            path = folder / name.format(code)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(values) + "\n")
    return folder


def run_board(
    folder: Path, labels: dict[str, list[str]], sent: dict[str, bytes], caplog: pytest.LogCaptureFixture
) -> dict[str, str]:
    """Return all output of a board with these labels, by source, without times and keyed checksums."""
    (folder / "board").mkdir(parents=True)
    (folder / "board/pepper.key").write_text("5" * 64 + "\n")
    gold = write_gold(folder / "gold", labels)
    board = make_board(folder / "board", gold=str(gold), average_step=5, cell_step=15)
    client, other = team_client(board), team_client(board, "Others")
    caplog.clear()
    outputs: dict[str, str] = {}
    counter = itertools.count(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intake, "secrets", SimpleNamespace(token_hex=lambda size: f"{next(counter):0{2 * size}x}"))
        keys = {}
        for name, archive in sent.items():
            answer = send(client, archive, publish=name == "first", name=name)
            keys[name] = answer.json()["key"]
            outputs[f"submit {name}"] = answer.text
        outputs["queue"] = client.get(f"{API}/queue").text
        work_all(board)
        for name, key in keys.items():
            for action in ("publish", "withdraw", "publish") if name == "second" else ("publish",):
                answer = client.post(f"{API}/submissions/{key}/{action}")
                outputs[f"{action} {name}"] = f"{answer.status_code} {answer.text}"
        work_all(board)
    outputs |= _answers(board, client, other, keys)
    outputs["log"] = "\n".join(line.getMessage() for line in caplog.records if line.name.startswith("isogloss"))
    site = (board.site / "current").resolve()
    # The index of the export, which is not served, has positions in the packed file.
    files = [path for path in sorted(site.rglob("*")) if path.is_file() and path.suffix not in (".gz", ".index")]
    pages = {str(path.relative_to(site)): path.read_text(encoding="utf-8") for path in files}
    # Cards show the figures of the pages' data and no others, so the data stand for them.
    cards = {name: text for name, text in pages.items() if name.startswith("cards/")}
    shared = msgspec.json.decode(json_of(pages["data.js"]), type=BoardData)
    assert cards == {name: content.decode() for name, content in card_files(shared)} != {}
    outputs |= {f"page {name}": text for name, text in pages.items() if name not in cards}
    outputs["export"] = gzip.decompress((site / RECORDS).read_bytes()).decode()
    with board.engine.connect() as connection:
        for row in connection.execute(select(Submission.key, Submission.state, Submission.problems, Submission.flags)):
            outputs[f"database {row[0]}"] = str(row)
        records = connection.scalars(select(ScoreRecord.record)).all()
    checksums = set(re.findall(r"\|data:([0-9a-f]{12})", "".join(records)))
    # The hash of the board's data covers the keyed checksums, and otherwise only what is compared here.
    checksums.add(shared.data_hash)
    outputs |= {f"record {number}": record for number, record in enumerate(records)}
    board.engine.dispose()
    return {name: _cleaned(text, checksums, folder) for name, text in outputs.items()}


def _answers(board: OpenBoard, client: TestClient, other: TestClient, keys: dict[str, str]) -> dict[str, str]:
    anybody = TestClient(create_app(board))
    systems = [system["id"] for system in anybody.get(f"{API}/systems").json()["systems"]]
    assert len(systems) == 2
    paths = [path for path, verbs in anybody.get(f"{API}/openapi.json").json()["paths"].items() if "get" in verbs]
    outputs = {}
    for path, (who, asker) in itertools.product(paths, {"team": client, "other": other, "anybody": anybody}.items()):
        names = [{"key": key} for key in keys.values()] if "{key}" in path else [{}]
        names = [{"system_id": each} for each in systems] if "{system_id}" in path else names
        for name in names:
            address = path.format(**name)
            answer = asker.get(address)
            headers = {name: value for name, value in answer.headers.items() if name not in ("etag", "content-length")}
            outputs[f"{who} {address}"] = f"{answer.status_code} {headers}\n{answer.text}"
    return outputs


def _cleaned(text: str, checksums: set[str], folder: Path) -> str:
    for checksum in checksums:
        text = text.replace(checksum, "DATA")
    return TIMES.sub("TIME", text.replace(str(folder), "FOLDER"))


def without_scores(value: Any, names: set[str]) -> Any:
    """Return a JSON value without the fields that hold scores."""
    if isinstance(value, dict):
        return {key: without_scores(inner, names) for key, inner in value.items() if key not in names}
    return [without_scores(inner, names) for inner in value] if isinstance(value, list) else value


def json_of(script: str) -> str:
    """Return the JSON that a file of the pages' data has."""
    return "{" + script.partition("{")[2].rstrip().rstrip(";").removesuffix(")")


def stripped(name: str, text: str) -> str:
    """Return an output without its scores."""
    if name.startswith(("team", "other", "anybody", "submit", "publish", "withdraw")):
        head, _, body = text.partition("{" if name.startswith(("submit", "publish", "withdraw")) else "\n")
        body = "{" + body if name.startswith(("submit", "publish", "withdraw")) else body
        names = SCORES | {"score_details"}
        return head + json.dumps([without_scores(json.loads(line), names) for line in body.splitlines()])
    if name == "export":
        return json.dumps([without_scores(json.loads(line), {"score_details"}) for line in text.splitlines()])
    if name.startswith("record"):
        return json.dumps(without_scores(json.loads(text), {"score", "metrics"}))
    if name == "page data.js" or name.startswith("page systems/"):
        return json.dumps(without_scores(json.loads(json_of(text)), PAGE_SCORES | {"gaps"}))
    return text


@pytest.mark.parametrize("seed", range(2))
def test_outputs_with_other_labels(seed: int, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    rng, sent = random.Random(seed), archives()
    labels = labels_of(rng)
    plain = run_board(tmp_path / "plain", labels, sent, caplog)
    assert '"state":"published"' in plain["publish second"]
    assert "409" in plain["publish faulty"] and "awaits the administrator" in plain["publish probe"]
    assert len(plain) > 60
    # Labels exchanged between examples with equal answers: no byte differs.
    same_scores = run_board(tmp_path / "swapped", swapped(labels, rng), sent, caplog)
    assert same_scores.keys() == plain.keys()
    assert [name for name, text in plain.items() if text != same_scores[name]] == []
    # Other labels: only the scores differ.
    other_scores = run_board(tmp_path / "drawn", labels_of(rng), sent, caplog)
    differ = [name for name, text in plain.items() if text != other_scores[name]]
    assert "page data.js" in differ
    assert [name for name in differ if stripped(name, plain[name]) != stripped(name, other_scores[name])] == []
