"""isogloss llm requests, send and read: requests as files, batch outputs, and tables of anybody's replies."""

import json
import random
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from e2e.command import Finished, isogloss, write
from isogloss import load
from isogloss.runs.prompted_cells import stored_requests
from runs.grid_fake import mini_cache, mini_data
from systems.llm.model_server import ModelServer, model_server, right_answers

__all__ = ["mini_cache", "mini_data"]

TASKS = "mini-xnli,mini-xcopa,mini-udpos,mini-wikiann,mini-xquad"
SCORES = ("runs", "llm-small", "none", "seed-0", "results.json")


@pytest.fixture(autouse=True)
def quiet(mini_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")


@pytest.fixture(scope="module")
def answers(mini_cache: Path) -> dict[str, str]:
    """The right answers to all prompts of the tests."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("ISOGLOSS_CACHE", str(mini_cache))
        every = [right_answers(load(name, code)) for name in TASKS.split(",") for code in ("tr", "sw")]
    return {prompt: answer for each in every for prompt, answer in each.items()}


@pytest.fixture
def server(answers: dict[str, str]) -> Iterator[ModelServer]:
    with model_server(answers) as server:
        yield server


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return tmp_path / "work"


def made(work: Path, *words: object, tasks: str = "mini-xnli", languages: str = "sw") -> Finished:
    """Write requests."""
    selection = ("--suite", "mini", "--tasks", tasks, "--languages", languages)
    return isogloss("llm", "requests", "llm:small", *selection, *words, "--out", work)


def scores(folder: Path) -> dict[tuple[str, str], float]:
    """Return the main scores of a run by task and language."""
    record = json.loads(folder.joinpath(*SCORES).read_text())
    return {(cell["task"], cell["language"]): next(iter(cell["metrics"].values()))["value"] for cell in record["cells"]}


def outputs(work: Path, answers: dict[str, str]) -> list[dict[str, Any]]:
    """Return the lines of a batch interface's output file."""
    lines = []
    for request in stored_requests(work):
        text = answers[request.body["messages"][-1]["content"]]
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        response = {"status_code": 200, "request_id": "r", "body": {"object": "chat.completion", "choices": [choice]}}
        lines.append({"id": "batch", "custom_id": request.custom_id, "response": response, "error": None})
    return lines


def batch(path: Path, lines: list[dict[str, Any]]) -> Path:
    return write(path, "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines))


def test_requests_are_sent_and_read_with_the_right_scores(work: Path, server: ModelServer, tmp_path: Path) -> None:
    written = made(work, tasks=TASKS, languages="tr,sw")
    assert (written.code, written.err) == (0, "")
    sent = [json.loads(line) for line in (work / "requests-001.jsonl").read_text().splitlines()]
    assert written.out == f"{len(sent)} requests in 1 file, in {work}\n"
    assert all(list(line) == ["custom_id", "method", "url", "body"] for line in sent)
    assert {(line["method"], line["url"]) for line in sent} == {("POST", "/v1/chat/completions")}
    ids = [line["custom_id"] for line in sent]
    assert len(set(ids)) == len(ids)
    assert max(map(len, ids)) <= 64
    assert {line["body"]["model"] for line in sent} == {"small"}
    done = isogloss("llm", "send", work, "--endpoint", server.url)
    assert (done.code, done.out) == (0, f"{len(sent)} answered, 0 answered before, 0 open\n")
    again = isogloss("llm", "send", work, "--endpoint", server.url)
    assert again.out == f"0 answered, {len(sent)} answered before, 0 open\n"
    assert server.asked.total() == len(sent)
    read = isogloss("llm", "read", work, "--out", tmp_path / "runs")
    assert read.code == 0
    cells = {(name, code) for name in TASKS.split(",") for code in ("tr", "sw")}
    assert scores(tmp_path) == dict.fromkeys(cells, 100.0)


def test_a_folder_holds_the_requests_of_one_grid(work: Path) -> None:
    assert made(work, "--subset", 30).code == 0
    first = (work / "requests-001.jsonl").read_bytes()
    write(work / "requests-002.jsonl", "left by a larger grid\n")
    assert made(work, "--subset", 20).code == 0
    assert sorted(path.name for path in work.iterdir()) == ["requests-001.jsonl", "requests.toml"]
    assert len(list(stored_requests(work))) == 20
    assert made(work, "--subset", 30).code == 0
    assert (work / "requests-001.jsonl").read_bytes() == first


def test_cells_without_requests_are_named(work: Path, server: ModelServer, tmp_path: Path) -> None:
    done = made(work, tasks="mini-tatoeba,mini-xcopa", languages="en,sw")
    assert done.code == 0
    assert "without requests: 1 cell: answered by embeddings\n" in done.err
    assert "without requests: 1 cell: no test file of mini-xcopa/en" in done.err
    assert "mini-xcopa is generated without en test examples" in done.err
    assert isogloss("llm", "send", work, "--endpoint", server.url).code == 0
    read = isogloss("llm", "read", work, "--out", tmp_path / "runs")
    assert read.code == 0
    assert "answered by embeddings, which isogloss run requests" in read.out
    none = made(tmp_path / "none", tasks="mini-tatoeba")
    assert (none.code, none.out) == (1, "")
    assert none.err.startswith("error: the grid has no requests: answered by embeddings")
    assert isogloss("llm", "send", tmp_path / "none", "--endpoint", server.url).code == 1


def test_requests_of_a_suite_in_a_file_are_read_from_any_folder(
    work: Path, server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "mine.toml", 'tasks = ["mini-xnli"]\n')
    monkeypatch.chdir(tmp_path)
    done = isogloss("llm", "requests", "llm:small", "--suite", "mine.toml", "--languages", "sw", "--out", work)
    assert done.code == 0
    assert isogloss("llm", "send", work, "--endpoint", server.url).code == 0
    monkeypatch.chdir(tmp_path.parent)
    assert isogloss("llm", "read", work, "--out", tmp_path / "runs").code == 0
    assert scores(tmp_path) == {("mini-xnli", "sw"): 100.0}


def test_a_probe_decides_the_formats_of_requests_and_replies(work: Path, server: ModelServer, tmp_path: Path) -> None:
    server.refuses = {"max_tokens", "logprobs"}
    assert made(work, "--endpoint", server.url).code == 0
    assert all("max_completion_tokens" in request.body for request in stored_requests(work))
    assert isogloss("llm", "send", work, "--endpoint", server.url).code == 0
    assert isogloss("llm", "read", work, "--out", tmp_path / "runs").code == 0  # without the server
    assert scores(tmp_path) == {("mini-xnli", "sw"): 100.0}


def test_what_the_server_refuses_is_open_until_it_is_sent_again(work: Path, server: ModelServer) -> None:
    made(work)
    refused = {request.body["messages"][-1]["content"] for request in islice(stored_requests(work), 3)}
    server.script = lambda content, attempt: "overflow" if content in refused else ""
    done = isogloss("llm", "send", work, "--endpoint", server.url)
    assert (done.code, done.out) == (1, "57 answered, 0 answered before, 3 open\n")
    assert done.err.startswith("open: 3 × longer than the model's context")
    server.script = lambda content, attempt: ""
    assert isogloss("llm", "send", work, "--endpoint", server.url).out == "3 answered, 57 answered before, 0 open\n"


def test_a_damaged_response_is_counted_and_requested_again(work: Path, server: ModelServer) -> None:
    made(work)
    isogloss("llm", "send", work, "--endpoint", server.url)
    (path,) = (work / "responses").glob("*.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:5], b"\xff" + lines[5], *lines[6:-1], lines[-1][:-9]]))
    again = isogloss("llm", "send", work, "--endpoint", server.url)
    assert (again.code, again.out) == (0, "2 answered, 58 answered before, 0 open\n")
    assert again.err == f"ignored: 1 damaged line in {work}/responses\n"
    assert server.asked.total() == 62


def test_a_single_file_of_requests_is_sent_too(work: Path, server: ModelServer) -> None:
    made(work)
    file = work / "requests-001.jsonl"
    assert isogloss("llm", "send", file, "--endpoint", server.url).out == "60 answered, 0 answered before, 0 open\n"
    assert isogloss("llm", "send", file, "--endpoint", server.url).out == "0 answered, 60 answered before, 0 open\n"
    assert len(list((work / "requests-001-responses").glob("*.jsonl"))) == 1


def test_answers_of_ten_megabytes(work: Path, server: ModelServer, tmp_path: Path) -> None:
    made(work)
    first, second = (each.body["messages"][-1]["content"] for each in islice(stored_requests(work), 2))
    right, thoughts = server.answers, "Let me think. " * 750_000
    server.answers = {**right, first: f"<think>{thoughts}</think>{right[first]}", second: thoughts + right[second]}
    assert isogloss("llm", "send", work, "--endpoint", server.url).code == 0
    assert isogloss("llm", "read", work, "--out", tmp_path / "runs").code == 0
    # Thoughts are no part of the answer; an answer of that length is not searched.
    assert scores(tmp_path) == {("mini-xnli", "sw"): pytest.approx(100 * 59 / 60)}


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("send", "nowhere"), 1, "nowhere: no such file or folder"),
        (("send", "damaged/requests-001.jsonl"), 1, "requests-001.jsonl:1: "),
        (("send", "damaged", "--config", "typo.toml"), 2, "unknown setting of llm: 'max_cots'. Did you mean max_cost?"),
        (("send", "empty"), 1, "no files requests-*.jsonl. Write them with isogloss llm requests"),
        (("send", "damaged"), 1, "requests-001.jsonl:1: "),
        (("read", "empty", "--out", "runs"), 1, "requests.toml: no such file"),
        (("read", "damaged", "--out", "runs"), 1, "requests.toml"),
    ],
)
def test_wrong_folders(
    words: tuple[str, ...], code: int, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    write(tmp_path / "damaged/requests-001.jsonl", '{"custom_id": 5}\n')
    write(tmp_path / "damaged/requests.toml", "system = 5\n")
    write(tmp_path / "typo.toml", "max_cots = 5\n")
    url = ("--endpoint", "http://127.0.0.1:1") if words[0] == "send" else ()
    done = isogloss("llm", *words, *url)
    assert (done.code, done.out) == (code, "")
    assert message in done.err
    assert done.err.count("\n") == 1


def test_a_batch_output_is_read_in_any_order(work: Path, answers: dict[str, str], tmp_path: Path) -> None:
    made(work, tasks="mini-xnli,mini-xquad", languages="tr,sw")
    lines = outputs(work, answers)
    random.Random(3).shuffle(lines)
    path = batch(tmp_path / "output.jsonl", [*lines, *lines[:7]])
    done = isogloss("llm", "read", work, "--responses", path, "--out", tmp_path / "runs")
    assert done.code == 0
    assert done.out.startswith(f"{path}: {len(lines)} responses added, 7 known, 0 errors\n")
    assert set(scores(tmp_path).values()) == {100.0}


def test_missing_responses_are_counted_and_added_later(work: Path, answers: dict[str, str], tmp_path: Path) -> None:
    made(work)
    lines = outputs(work, answers)
    expired = {"code": "batch_expired", "message": "The batch expired."}
    failed = {"custom_id": lines[1]["custom_id"], "response": None, "error": expired}
    status = {"status_code": 500, "body": {"error": {"message": "broken"}}}
    broken = {"custom_id": lines[2]["custom_id"], "response": status, "error": None}
    foreign = {**lines[3], "custom_id": "request-of-another-grid"}
    first = batch(tmp_path / "first.jsonl", [failed, broken, foreign, *lines[5:]])
    with first.open("a") as stream:
        stream.write(json.dumps(lines[4])[:-20])  # the download was cut
    done = isogloss("llm", "read", work, "--responses", first, "--out", tmp_path / "runs")
    assert done.code == 1
    assert f"{first}: 55 responses added, 0 known, 2 errors\n" in done.out
    assert "5 of 60 requests have no answer yet: 5 × no response in the folder" in done.out
    assert "Send them with isogloss llm send, or add a batch output with --responses" in done.out
    for line in (
        "ignored: 1 response to requests of another folder",
        "ignored: 1 damaged line",
        "error: 1 × The batch expired.",
        "error: 1 × broken",
    ):
        assert f"{line}\n" in done.err
    second = batch(tmp_path / "second.jsonl", lines[:5])
    complete = isogloss("llm", "read", work, "--responses", second, "--out", tmp_path / "runs")
    assert complete.code == 0
    assert f"{second}: 5 responses added, 0 known, 0 errors\n" in complete.out
    assert scores(tmp_path) == {("mini-xnli", "sw"): 100.0}


def test_the_first_of_two_responses_counts(work: Path, answers: dict[str, str], tmp_path: Path) -> None:
    made(work)
    lines = outputs(work, answers)
    wrong = json.loads(json.dumps(lines).replace('"content": "true"', '"content": "false"'))
    both = [batch(tmp_path / "right.jsonl", lines), batch(tmp_path / "wrong.jsonl", wrong)]
    given = [word for path in both for word in ("--responses", path)]
    assert isogloss("llm", "read", work, *given, "--out", tmp_path / "runs").code == 0
    assert scores(tmp_path) == {("mini-xnli", "sw"): 100.0}


Replies = Callable[..., Path]


@pytest.fixture
def replies(tmp_path: Path) -> Replies:
    """Write right replies to mini-xnli in Swahili as a table."""

    def replies(name: str, rows: int = 60, first: str = "") -> Path:
        examples = load("mini-xnli", "sw")
        pairs = list(zip(examples.ids, [first or examples.label[0], *examples.label[1:]], strict=True))[:rows]
        if name.endswith(".jsonl"):
            lines = [json.dumps({"id": each, "reply": text}) for each, text in pairs]
        else:
            mark = "\t" if name.endswith(".tsv") else ","
            lines = [f"id{mark}reply", *(f"{each}{mark}{text}" for each, text in pairs)]
        return write(tmp_path / name, "".join(f"{line}\n" for line in lines))

    return replies


def read_tables(*paths: Path | str, out: Path) -> Finished:
    return isogloss("llm", "read", *paths, "--task", "mini-xnli", "--out", out)


@pytest.mark.parametrize("name", ["sw.csv", "sw.tsv", "sw.jsonl", "swh_Latn.csv"])
def test_tables_of_replies_become_predictions(name: str, replies: Replies, tmp_path: Path) -> None:
    refusal = "I am sorry; I cannot understand this language."
    done = read_tables(replies(name, first=refusal), out=tmp_path / "read")
    assert (done.code, done.err) == (0, "")
    assert "1.7 %" in done.out
    assert f"refusal: mini-xnli/sw test-0: {refusal}" in done.out
    lines = [json.loads(line) for line in (tmp_path / "read/mini-xnli/sw.jsonl").read_text().splitlines()]
    assert [line["prediction"] for line in lines] == [None, *load("mini-xnli", "sw").label[1:]]
    assert read_tables(replies(name), out=tmp_path / "read").err.endswith("Replace them with --force\n")
    assert isogloss("llm", "read", replies(name), "-t", "mini-xnli", "--out", tmp_path / "read", "--force").code == 0
    scored = isogloss("score", tmp_path / "read", "--suite", "mini", "--tasks", "mini-xnli", "--languages", "sw")
    assert "accuracy 100.0" in scored.out


def test_tables_that_do_not_fit_write_nothing(replies: Replies, tmp_path: Path) -> None:
    empty, head, latin, wrong = (tmp_path / name / "sw.csv" for name in ("empty", "head", "latin", "wrong"))
    write(empty, "")
    write(head, "id,reply\n")
    write(latin, "")
    latin.write_bytes(b"id,reply\n1,caf\xe9\n")
    good = replies("good/tr.csv")
    for paths, message in (
        ([replies("klingon.csv")], "'klingon' is not a language of mini-xnli"),
        ([replies("sw.csv"), replies("sw.tsv")], "sw.tsv: a second file for sw, after"),
        ([replies("short/sw.csv", rows=55)], "55 rows without ids, but mini-xnli/sw test has 60 examples"),
        ([good, empty], "empty/sw.csv: no rows"),
        ([good, head], "head/sw.csv: no rows"),
        ([good, latin], "latin/sw.csv:2: not UTF-8"),
        ([good, wrong], "wrong/sw.csv: no such file"),
        ([replies("\x1b[31mx.csv")], "'\\x1b[31mx' is not a language"),
        ([replies("..csv")], "'.' is not a language"),
    ):
        done = read_tables(*paths, out=tmp_path / "read")
        assert (done.code, done.out) == (1, ""), message
        assert message in done.err
        assert done.err.count("\n") == 1
        assert "\x1b" not in done.err
    missing = isogloss("llm", "read", good, "--task", "mini-xnli", "--column", "answer", "--out", tmp_path / "read")
    assert missing.err.endswith("no column 'answer'; columns are 'id', 'reply'. Name an existing column\n")
    assert not (tmp_path / "read").exists()


def test_replies_of_any_size_and_type(tmp_path: Path) -> None:
    values: list[Any] = ["entailment " * 200_000, None, 5, {"a": [1]}, ["entailment"], True, "\ud83d\x00\x1b[31m"]
    lines = [json.dumps({"reply": values[at % len(values)]}) for at in range(60)]
    path = write(tmp_path / "sw.jsonl", "".join(f"{line}\n" for line in lines))
    done = isogloss("llm", "read", path, "--task", "mini-xnli", "--examples", 100, "--out", tmp_path / "read")
    assert (done.code, done.err) == (0, "")
    assert "86.7 %" in done.out  # 52 of 60: only lists of one label are answers
    assert "\x1b" not in done.out
    assert max(map(len, done.out.splitlines()), default=0) < 300


def test_paths_that_are_neither_a_folder_nor_tables(replies: Replies, tmp_path: Path) -> None:
    done = isogloss("llm", "read", replies("sw.csv"), "--out", tmp_path / "read")
    assert done.code == 2
    assert "pass one folder of isogloss llm requests, or tables with --task" in done.err
