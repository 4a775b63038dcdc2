"""Requests: ids by content, files in OpenAI's batch format."""

import hashlib
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.endpoints.errors import RequestError
from isogloss.endpoints.requests import TRANSPORT, ApiRequest, make_request, read_requests, write_requests
from isogloss.errors import DataError

CHAT = "/v1/chat/completions"
# Parameters of OpenAI, vLLM and llama.cpp, by whether they can change an answer.
ANSWER = """
    model messages prompt input temperature top_p top_k min_p n stop max_tokens max_completion_tokens presence_penalty
    frequency_penalty repetition_penalty logit_bias logprobs top_logprobs response_format seed tools tool_choice
    parallel_tool_calls reasoning_effort verbosity modalities prediction echo suffix best_of grammar json_schema
    guided_json guided_choice guided_regex structured_outputs chat_template chat_template_kwargs add_generation_prompt
    continue_final_message add_special_tokens ignore_eos min_tokens skip_special_tokens truncate_prompt_tokens
    prompt_logprobs return_tokens_as_token_ids encoding_format dimensions mirostat typical_p n_probs
""".split()
NOT_ANSWER = """
    stream stream_options user metadata service_tier store safety_identifier prompt_cache_key prompt_cache_retention
    cache_prompt cache_salt id_slot priority request_id timings_per_token
""".split()


def body(**settings: Any) -> dict[str, Any]:
    return {"model": "small", "messages": [{"role": "user", "content": "jambo"}], **settings}


def test_an_id_is_the_hash_of_the_canonical_request() -> None:
    canonical = (
        '["small","r1","/v1/chat/completions",'
        '{"max_tokens":5,"messages":[{"content":"jambo","role":"user"}],"model":"small"}]'
    )
    digest = hashlib.sha256(canonical.encode()).hexdigest()[:24]
    made = make_request("xnli-sw", CHAT, body(max_tokens=5), revision="r1")
    assert made == ApiRequest(custom_id=f"xnli-sw-{digest}", url=CHAT, body=body(max_tokens=5))
    assert made.method == "POST"


def test_transport_settings_do_not_change_the_id() -> None:
    assert set(NOT_ANSWER) == TRANSPORT
    plain = make_request("t", CHAT, body()).custom_id
    for name in NOT_ANSWER:
        value = False if name == "stream" else "value"
        made = make_request("t", CHAT, body(**{name: value}))
        assert made.custom_id == plain
        assert made.body[name] == value  # still sent


@pytest.mark.parametrize("name", ANSWER)
def test_all_other_settings_change_the_id(name: str) -> None:
    assert make_request("t", CHAT, body(**{name: "value"})).custom_id != make_request("t", CHAT, body()).custom_id


def test_url_and_revision_change_the_id() -> None:
    ids = {
        make_request("t", url, body(), revision).custom_id
        for url in (CHAT, "/v1/completions")
        for revision in ("", "2")
    }
    assert len(ids) == 4


def test_whole_numbers_are_equal_however_they_are_written() -> None:
    assert (
        make_request("t", CHAT, body(temperature=0)).custom_id
        == make_request("t", CHAT, body(temperature=0.0)).custom_id
    )


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def shuffled(value: Any, rng: random.Random) -> Any:
    if isinstance(value, dict):
        return {key: shuffled(value[key], rng) for key in rng.sample(list(value), len(value))}
    return [shuffled(each, rng) for each in value] if isinstance(value, list) else value


@given(st.dictionaries(st.text().filter(lambda key: key != "stream"), values, max_size=5), st.randoms())
def test_the_order_of_keys_does_not_matter(settings: dict[str, Any], rng: random.Random) -> None:
    made = make_request("t", CHAT, settings)
    assert make_request("t", CHAT, shuffled(settings, rng)).custom_id == made.custom_id


@given(st.text())
def test_ids_have_few_characters(prefix: str) -> None:
    name = make_request(prefix, CHAT, body()).custom_id
    assert len(name) <= 64
    assert all(each.isascii() and (each.isalnum() or each in "_-") for each in name)


def test_impossible_bodies() -> None:
    with pytest.raises(RequestError, match="stream"):
        make_request("t", CHAT, body(stream=True))
    for value in (float("nan"), object(), "\ud800"):
        with pytest.raises(RequestError, match="JSON"):
            make_request("t", CHAT, body(stop=value))


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_files_are_batches(tmp_path: Path, suffix: str) -> None:
    import gzip

    sent = [make_request("t", CHAT, body(seed=number)) for number in range(3)]
    path = tmp_path / "requests.jsonl"
    assert write_requests(path, iter(sent)) == 3
    first = json.loads(path.read_text().splitlines()[0])
    assert list(first) == ["custom_id", "method", "url", "body"]
    assert first["body"] == body(seed=0)
    if suffix:
        packed = path.with_name(path.name + suffix)
        packed.write_bytes(gzip.compress(path.read_bytes()))
        path = packed
    assert list(read_requests(path)) == sent


@pytest.mark.parametrize(
    "line", ["{", "[]", '{"custom_id": 1, "url": "/v1", "body": {}}', '{"custom_id": "a", "url": "/v1"}', "\xff"]
)
def test_a_damaged_line_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "requests.jsonl"
    write_requests(path, [make_request("t", CHAT, body())])
    with path.open("ab") as stream:
        stream.write(b"\n" + line.encode("latin-1") + b"\n")
    with pytest.raises(DataError) as raised:
        list(read_requests(path))
    assert "requests.jsonl:3" in str(raised.value)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"custom_id": ""}, "custom_id is empty"),
        ({"method": "GET"}, "not POST"),
        ({"url": "/v1/responses"}, "url '/v1/responses' is not supported"),
        ({"url": f"{CHAT} HTTP/1.1\r\nx: y"}, "is not supported"),
        ({"body": {"stream": True}}, "stream = true"),
    ],
)
def test_requests_that_cannot_be_sent(tmp_path: Path, changes: dict[str, Any], reason: str) -> None:
    path = tmp_path / "requests.jsonl"
    path.write_text(json.dumps({"custom_id": "a", "url": CHAT, "body": {}} | changes))
    with pytest.raises(RequestError, match=reason) as raised:
        list(read_requests(path))
    assert "requests.jsonl:1" in str(raised.value)
    assert "\r" not in str(raised.value)
