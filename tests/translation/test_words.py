"""Words of texts in several scripts."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.translation.words import token_offsets, word_offsets, word_texts, words_within


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don't pay 10,000.5 $ (ever)!", ["Don't", "pay", "10,000.5", "$", "(", "ever", ")", "!"]),
        ("self-made - e.g. end.", ["self-made", "-", "e", ".", "g", ".", "end", "."]),
        ("他在1990年。", ["他", "在", "1990", "年", "。"]),
        ("日本のNHKです", ["日", "本", "の", "NHK", "で", "す"]),
        ("ที่นี่", ["ที่", "นี่"]),  # marks stay with their letter
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("می\u200cخواهم", ["می\u200cخواهم"]),
        ("\u0301a", ["\u0301", "a"]),
        (" \n", []),
    ],
)
def test_words_of_scripts(text: str, words: list[str]) -> None:
    assert word_texts(text) == words


@given(st.text())
def test_words_cover_everything_visible(text: str) -> None:
    offsets = word_offsets(text)
    assert all(0 <= start < end <= len(text) for start, end in offsets)
    assert all(one[1] <= other[0] for one, other in pairwise(offsets))
    assert "".join(word_texts(text)) == "".join(text.split())
    assert token_offsets(text, word_texts(text)) is not None


def test_words_of_span() -> None:
    offsets = word_offsets("the red house burnt")
    assert words_within(offsets, 4, 13) == range(1, 3)
    assert words_within(offsets, 5, 6) == range(1, 2)
    assert words_within(offsets, 3, 4) == range(0)


def test_tokens_that_do_not_occur_have_no_offsets() -> None:
    assert token_offsets("a b a", ["a", "a"]) == [(0, 1), (4, 5)]
    assert token_offsets("a b", ["b", "a"]) is None
