"""Replies in the shapes that servers return."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.endpoints.replies import ModelReply, TokenLogprob, usage_of
from isogloss.endpoints.shapes import has_right_shape, shape_of
from isogloss.reply_outcomes import Usage


def chat(message: Any, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": message, "finish_reason": "stop", **more}]}


@pytest.mark.parametrize(
    ("body", "text", "thoughts"),
    [
        (chat({"content": "yes"}), "yes", ""),
        (chat({"content": None}), "", ""),
        (chat({"content": "yes", "reasoning_content": "hm"}), "yes", "hm"),
        (chat({"content": "yes", "reasoning": "hm"}), "yes", "hm"),
        (
            chat({"content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "y"}, {"text": "es"}]}),
            "yes",
            "hm",
        ),
        (chat({"content": "\n<think>\nhm\n</think>\n\nyes"}), "yes", "hm"),
        (chat({"content": "<think> cut off"}), "", "cut off"),
        ({"choices": [{"text": " yes", "finish_reason": "length"}]}, " yes", ""),
        ({"choices": [{"index": 1, "text": "no"}, {"index": 0, "text": "yes"}]}, "yes", ""),
        ({"choices": []}, "", ""),
        ({}, "", ""),
        ({"choices": "none"}, "", ""),
        ({"choices": [7, {"message": 5}]}, "", ""),
    ],
)
def test_text_and_thoughts(body: dict[str, Any], text: str, thoughts: str) -> None:
    reply = ModelReply.of(body)
    assert (reply.text, reply.thoughts) == (text, thoughts)


def test_finish_and_refusal() -> None:
    assert ModelReply.of(chat({"content": ""}, finish_reason="length")).finish_reason == "length"
    assert ModelReply.of(chat({"content": None, "refusal": "I cannot"})).refusal == "I cannot"
    assert ModelReply.of(chat({"content": ""}, finish_reason="content_filter")).filtered
    assert not ModelReply.of(chat({"content": "content_filter"})).filtered
    assert ModelReply.of({"error": {"code": "content_filter"}}, 400).filtered
    assert ModelReply.of({"error": {"innererror": {"code": "ResponsibleAIPolicyViolation"}}}, 400).filtered


def test_logprobs_of_chat_are_sorted() -> None:
    tops = [
        {"token": "B", "logprob": -2.0, "bytes": [66]},
        {"token": "A", "logprob": -0.1, "bytes": None},
        {"token": "C", "logprob": None},
        {"token": "D", "logprob": float("nan")},
    ]
    body = chat({"content": "A"}, logprobs={"content": [{"token": "A", "logprob": -0.1, "top_logprobs": tops}, {}]})
    assert ModelReply.of(body).top_logprobs == [TokenLogprob("A", None, -0.1), TokenLogprob("B", b"B", -2.0)]


def test_logprobs_without_candidates_are_those_of_the_token() -> None:
    body = chat({"content": "A"}, logprobs={"content": [{"token": "A", "logprob": -0.1, "top_logprobs": []}]})
    assert ModelReply.of(body).top_logprobs == [TokenLogprob("A", None, -0.1)]


def test_logprobs_of_completions() -> None:
    tables = {"tokens": [" A"], "token_logprobs": [-0.3], "top_logprobs": [{" B": -1.5, " A": -0.3}]}
    body = {"choices": [{"text": " A", "logprobs": tables}]}
    assert ModelReply.of(body).top_logprobs == [TokenLogprob(" A", None, -0.3), TokenLogprob(" B", None, -1.5)]
    only = {"choices": [{"text": " A", "logprobs": {"tokens": [" A"], "token_logprobs": [-0.3], "top_logprobs": None}}]}
    assert ModelReply.of(only).top_logprobs == [TokenLogprob(" A", None, -0.3)]
    for nothing in (None, {}, {"content": []}, {"content": None}, {"top_logprobs": [None]}):
        assert ModelReply.of(chat({"content": "A"}, logprobs=nothing)).top_logprobs == []


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 4}, Usage(input=9, output=4)),
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 4,
                "prompt_tokens_details": {"cached_tokens": 5},
                "completion_tokens_details": {"reasoning_tokens": 3},
            },
            Usage(input=9, cached=5, output=4, reasoning=3),
        ),
        ({"prompt_tokens": 9, "prompt_cache_hit_tokens": 6}, Usage(input=9, cached=6)),
        ({"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 50}}, Usage(input=9, cached=9)),
        ({"prompt_tokens": 9, "completion_tokens": None, "prompt_tokens_details": None}, Usage(input=9)),
        ({"prompt_tokens": -1, "completion_tokens": "4"}, None),
        ({"prompt_tokens": 10**30, "completion_tokens": True}, None),
        ({}, None),
        (None, None),
    ],
)
def test_usage(usage: Any, expected: Usage | None) -> None:
    assert usage_of({"usage": usage}) == expected


@pytest.mark.parametrize(
    ("content", "right"),
    [
        (b'{"choices":[{"message":{"content":null}}]}', True),
        (b'{"choices":[{"text":""}],"usage":[1]}', True),
        (b'{"data":[{"embedding":[1.0]}]}', True),
        (b'{"choices":[]}', False),
        (b'{"choices":[{}]}', False),
        (b'{"choices":[{"message":{},"error":{"code":502}}]}', False),
        (b'{"data":[]}', False),
        (b'{"error":"busy"}', False),
        (b'{"choices":[{"message":{"content":"\xff"}}]}', False),
        (b"[]", False),
        (b"", False),
    ],
)
def test_shape(content: bytes, right: bool) -> None:
    assert has_right_shape(content) is right


def test_shape_of_a_kind_of_request() -> None:
    chat_body, vectors = b'{"choices":[{"text":""}]}', b'{"data":[{"embedding":[1.0]}]}'
    assert shape_of(chat_body, "/v1/completions") is not None
    assert shape_of(vectors, "/v1/completions") is None
    assert shape_of(vectors, "/v1/embeddings") is not None
    assert shape_of(chat_body, "/v1/embeddings") is None


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(
            st.sampled_from(
                "choices message content text index logprobs top_logprobs token logprob bytes usage".split()
            ),
            inner,
        )
    ),
)


@given(st.dictionaries(st.sampled_from(["choices", "usage", "error"]), values), st.sampled_from([200, 400]))
def test_no_body_is_an_exception(body: dict[str, Any], status: int) -> None:
    assert isinstance(ModelReply.of(body, status), ModelReply)
