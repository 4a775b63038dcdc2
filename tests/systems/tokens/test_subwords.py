"""Texts as flat arrays of sub-words, with special tokens and with characters."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.systems.pretrained import ModelSource
from isogloss.systems.tokens.inputs import SpecialTokens, cut_longest_first
from isogloss.systems.tokens.subwords import TextSlices, locate_spans, slice_indices, tokenize, unique

SENTENCES = ["Who is older?", "  Eric  is younger than Jonathan. ", "", "彼は若い。", "คน สวัสดี x", "ab\u00a0cd\n e"]


def test_slice_indices() -> None:
    assert slice_indices(np.array([7, 0, 3]), np.array([2, 0, 3])).tolist() == [7, 8, 3, 4, 5]
    assert slice_indices(np.array([], np.int64), np.array([], np.int64)).tolist() == []


def test_unique() -> None:
    texts, which = unique(["b", "a", "b"])
    assert (texts, which.tolist()) == (["b", "a"], [0, 1, 0])


def test_subwords_by_hand(letters: ModelSource) -> None:
    found = tokenize(letters.tokenizer, [" ab  c", "", "ba"], spans=True)
    assert found.ids.tolist() == [4, 8, 6, 5, 7]
    assert found.starts.tolist() == [0, 3, 3, 5]
    assert found.lengths.tolist() == [3, 0, 2]
    assert found.spans.tolist() == [[1, 2], [2, 3], [5, 6], [0, 1], [1, 2]]
    assert tokenize(letters.tokenizer, []).starts.tolist() == [0]


@pytest.mark.parametrize("model", ["tiny_bert", "tiny_xlmr"])
def test_subwords_match_the_tokenizer(model: str, request: pytest.FixtureRequest) -> None:
    tokenizer = ModelSource(str(request.getfixturevalue(model))).tokenizer
    wanted = tokenizer(SENTENCES, add_special_tokens=False)["input_ids"]
    for found in (tokenize(tokenizer, SENTENCES), tokenize(tokenizer, SENTENCES, spans=True)):
        assert [part.tolist() for part in np.split(found.ids, found.starts[1:-1])] == wanted


def test_whitespace_marker_covers_nothing(tiny_xlmr: Path) -> None:
    tokenizer = ModelSource(str(tiny_xlmr)).tokenizer
    found = tokenize(tokenizer, ["คน x"], spans=True)
    tokens = tokenizer.convert_ids_to_tokens(found.ids.tolist())
    assert tokens[0] == "▁"  # the tokenizer's own offsets include the letter after it
    assert found.spans[0].tolist() == [0, 0]
    assert found.spans[1].tolist() == [0, 1]


@given(st.lists(st.text("ab 中ก\u00a0\n.", max_size=12), max_size=4))
def test_every_non_blank_character_belongs_to_one_subword(tiny_xlmr: Path, texts: list[str]) -> None:
    found = tokenize(ModelSource(str(tiny_xlmr)).tokenizer, texts, spans=True)
    for text, spans in zip(texts, np.split(found.spans, found.starts[1:-1]), strict=False):
        covered = [place for begin, end in spans.tolist() for place in range(begin, end)]
        assert covered == sorted(set(covered))
        assert {place for place, letter in enumerate(text) if not letter.isspace()} == set(covered)


def test_locate_spans_by_hand() -> None:
    # Two texts: sub-words 0-2 belong to the first ("ab", a marker, "c"), 3 and 4 to the second.
    owners = np.array([0, 0, 0, 1, 1])
    spans = np.array([[0, 2], [3, 3], [3, 4], [0, 1], [2, 5]], np.int32)
    texts, begins, ends = np.array([0, 0, 0, 1, 1, 1]), np.array([1, 3, 2, 0, 1, 4]), np.array([4, 4, 3, 3, 2, 9])
    first, last = locate_spans(owners, spans, texts, begins, ends)
    assert first.tolist() == [0, 2, 0, 3, 0, 4]
    assert last.tolist() == [2, 2, -1, 4, -1, 4]


@pytest.mark.parametrize(("model", "pair"), [("tiny_bert", 3), ("tiny_xlmr", 4), ("tiny_xlm", 3), ("tiny_mt5", 2)])
def test_special_tokens_match_the_tokenizer(model: str, pair: int, request: pytest.FixtureRequest) -> None:
    tokenizer = ModelSource(str(request.getfixturevalue(model))).tokenizer
    subwords = tokenize(tokenizer, SENTENCES)
    everyone = np.arange(len(SENTENCES))
    one = SpecialTokens.of(tokenizer, 1).add_to(TextSlices.of(subwords, everyone))
    assert _rows(one.ids, one.starts) == tokenizer(SENTENCES)["input_ids"]
    special_tokens = SpecialTokens.of(tokenizer, 2)
    assert special_tokens.count == pair
    two = special_tokens.add_to(TextSlices.of(subwords, everyone), TextSlices.of(subwords, everyone[::-1]))
    wanted = tokenizer(SENTENCES, SENTENCES[::-1], return_token_type_ids=True)
    assert _rows(two.ids, two.starts) == wanted["input_ids"]
    assert _rows(two.segments, two.starts) == wanted["token_type_ids"]
    assert two.ids[two.positions[1]].tolist() == [
        number for row in _rows(subwords.ids, subwords.starts)[::-1] for number in row
    ]


def _rows(flat: np.ndarray, starts: np.ndarray) -> list[list[int]]:
    return [part.tolist() for part in np.split(flat, starts[1:-1])]


@given(st.integers(0, 9), st.integers(0, 9), st.integers(4, 12))
def test_pairs_are_cut_like_the_tokenizer(letters: ModelSource, first: int, second: int, longest: int) -> None:
    texts = ["a" * first, "b" * second]
    whole = [[text] for text in texts]
    subwords = tokenize(letters.tokenizer, texts)
    special_tokens = SpecialTokens.of(letters.tokenizer, 2)
    both = TextSlices.of(subwords, np.array([0])), TextSlices.of(subwords, np.array([1]))
    found = special_tokens.add_to(*cut_longest_first(*both, longest - special_tokens.count))
    wanted = letters.tokenizer(*whole, truncation="longest_first", max_length=longest)
    assert found.ids.tolist() == wanted["input_ids"][0]
