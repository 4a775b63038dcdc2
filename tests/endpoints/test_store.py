"""The store of responses: appended, found, shared, and undamaged by torn lines."""

import json
import multiprocessing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.endpoints.store import ApiResponse, ResponseStore, default_store_dir
from isogloss.errors import DataError

FORK = multiprocessing.get_context("fork")


def body(text: str) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}


def response(name: str, text: str = "ndiyo") -> ApiResponse:
    return ApiResponse(custom_id=name, body=body(text), at="2026-11-18T10:00:00Z", seconds=0.81)


def segment(folder: Path) -> Path:
    (path,) = folder.glob("*.jsonl")
    return path


def test_a_line_is_that_of_a_batch_output(tmp_path: Path) -> None:
    with ResponseStore(tmp_path) as store:
        store.append(response("a"))
    assert segment(tmp_path).read_text() == (
        '{"custom_id":"a","response":{"status_code":200,"body":{"choices":[{"index":0,"message":{"role":"assistant",'
        '"content":"ndiyo"},"finish_reason":"stop"}]}},"error":null,"at":"2026-11-18T10:00:00Z","seconds":0.81}\n'
    )


def test_raw_bodies_are_stored_on_one_line(tmp_path: Path) -> None:
    store = ResponseStore(tmp_path)
    raw = json.dumps(body("a\nb"), indent=1).replace("\n", "\r\n").encode()
    store.append_raw('a"b', 200, raw, 0.25)
    assert segment(tmp_path).read_bytes().count(b"\n") == 1
    found = store.find(['a"b'])['a"b']
    assert (found.body, found.seconds, found.status_code) == (body("a\nb"), 0.25, 200)
    assert found.at.endswith("Z")


def test_responses_are_found_by_id_in_the_given_order(tmp_path: Path) -> None:
    store = ResponseStore(tmp_path)
    assert store.find(["a"]) == {}
    assert store.has(["a"]) == set()
    assert len(store) == 0
    for name in "abc":
        store.append(response(name, name.upper()))
    assert list(store.find(["c", "x", "a", "c"])) == ["c", "a"]
    assert store.find("b")["b"] == response("b", "B")
    assert store.has("abx") == {"a", "b"}
    assert [each.custom_id for each in store.responses()] == ["a", "b", "c"]


def test_other_stores_see_new_lines_and_new_segments(tmp_path: Path) -> None:
    reader, first, second = (ResponseStore(tmp_path) for _ in range(3))
    first.append(response("a"))
    assert reader.has("ab") == {"a"}
    first.append(response("b"))
    second.append(response("c"))
    assert reader.has("abc", refresh=False) == {"a"}
    assert reader.has("abc") == {"a", "b", "c"}
    assert len(list(tmp_path.glob("*.jsonl"))) == 2


def test_entries_that_are_not_segments_do_not_hide_responses(tmp_path: Path) -> None:
    with ResponseStore(tmp_path) as store:
        store.append(response("a"))
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "zz.jsonl").symlink_to(tmp_path / "nowhere")
    assert ResponseStore(tmp_path).has("a") == {"a"}


def test_the_first_response_counts_in_every_order_of_reading(tmp_path: Path) -> None:
    late, early = ResponseStore(tmp_path), ResponseStore(tmp_path)
    early.append(response("x"))
    late.append(response("a", "late"))
    reader = ResponseStore(tmp_path)
    assert reader.find("a")["a"].reply.text == "late"
    early.append(response("a", "early"))
    early.append(response("a", "again"))
    assert reader.find("a")["a"].reply.text == ResponseStore(tmp_path).find("a")["a"].reply.text == "early"
    assert len(reader) == 2


@given(st.integers(0, 1_000))
def test_a_torn_line_harms_no_other(cut: int) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        with ResponseStore(path) as store:
            for name in "abc":
                store.append(response(name))
        content = segment(path).read_bytes()
        cut %= len(content) + 1
        segment(path).write_bytes(content[:cut])
        whole = content[:cut].count(b"\n")
        reader = ResponseStore(path)
        assert reader.has("abc") == set("abc"[:whole])
        assert set(reader.find("abc")) == set("abc"[:whole])
        assert reader.damaged == 0
        with ResponseStore(path) as writer:  # writes elsewhere
            writer.append(response("d"))
        assert reader.has("abcd") == {*"abc"[:whole], "d"}


def test_damaged_lines_are_ignored_and_counted(tmp_path: Path) -> None:
    with ResponseStore(tmp_path) as store:
        store.append(response("a"))
        store.append(response("b"))
    path = segment(tmp_path)
    first, second = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"\xff\n" + first.replace(b"ndiyo", b"\xc3(") + b"[]\n{}\n\n" + second)
    reader = ResponseStore(tmp_path)
    assert reader.has("ab") == {"b"}
    assert reader.damaged == 5


def test_a_removed_segment_is_forgotten(tmp_path: Path) -> None:
    with ResponseStore(tmp_path) as store:
        store.append(response("a"))
    assert store.has("a")
    segment(tmp_path).unlink()
    assert not store.has("a")
    store.append(response("b"))
    assert store.has("ab") == {"b"}


def write_many(folder: Path, process: int) -> None:
    with ResponseStore(folder) as store:
        for number in range(300):
            store.append(response(f"{process}-{number}", "x" * number * 20))


def test_many_processes_write_at_once(tmp_path: Path) -> None:
    processes = [FORK.Process(target=write_many, args=(tmp_path, number)) for number in range(4)]
    for each in processes:
        each.start()
    reader = ResponseStore(tmp_path)
    while any(each.is_alive() for each in processes):
        reader.refresh()
    assert len(reader) == 1_200
    assert reader.damaged == 0
    assert reader.find(["3-7"])["3-7"].reply.text == "x" * 140


def test_the_lock_is_exclusive_and_waiting_can_end(tmp_path: Path) -> None:
    store = ResponseStore(tmp_path / "new")

    def give_up() -> None:
        raise LookupError

    with store.lock(), pytest.raises(LookupError), ResponseStore(store.folder).lock(give_up):
        pass
    with ResponseStore(store.folder).lock(give_up):
        pass


def test_a_batch_output_is_added_once(tmp_path: Path) -> None:
    lines = [
        {
            "id": "1",
            "custom_id": "a",
            "response": {"status_code": 200, "request_id": "r", "body": body("A")},
            "error": None,
        },
        {"custom_id": "a", "response": {"status_code": 200, "body": body("again")}, "error": None},
        {"custom_id": "old", "response": {"status_code": 200, "body": body("new")}, "error": None},
        {"custom_id": "stranger", "response": {"status_code": 200, "body": body("?")}, "error": None},
        {"custom_id": "b", "response": {"status_code": 500, "body": {"error": {"message": "broken"}}}, "error": None},
        {"custom_id": "c", "response": None, "error": {"code": "batch_expired", "message": "expired"}},
        {"custom_id": "d", "response": {"status_code": 200, "body": {"choices": []}}, "error": None},
        {
            "custom_id": "e",
            "response": {"status_code": 400, "body": {"error": {"code": "content_filter"}}},
            "error": None,
        },
    ]
    path = tmp_path / "output.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)) + '\n\n{"custom_id": "f", "resp')
    store = ResponseStore(tmp_path / "store")
    store.append(response("old", "kept"))
    counts = store.add_batch_output(path, known=["a", "b", "c", "d", "e", "f", "old"])
    assert (counts.added, counts.already, counts.unknown, counts.errors, counts.damaged) == (2, 2, 1, 3, 1)
    assert counts.reasons["broken"] == counts.reasons["expired"] == 1
    replies = {name: each.reply for name, each in store.find(["a", "b", "c", "d", "e", "old", "stranger"]).items()}
    assert {name: (each.text, each.filtered) for name, each in replies.items()} == {
        "a": ("A", False),
        "e": ("", True),
        "old": ("kept", False),
    }
    again = store.add_batch_output(path)
    assert (again.added, again.already) == (1, 4)  # the stranger, now that all ids are accepted


def test_a_full_disk_is_an_error_and_the_next_line_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    store, write = ResponseStore(tmp_path), os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda descriptor, line: write(descriptor, line[:10]))
        with pytest.raises(DataError, match="full"):
            store.append(response("a"))
    store.append(response("b"))
    assert store.has("ab") == {"b"}


def test_the_default_folder_is_in_the_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ISOGLOSS_CACHE", str(tmp_path))
    assert default_store_dir() == tmp_path / "responses"
