"""Hashes of substrings, and tokens in any script."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.systems.ngram.hashing import Texts, buckets, char_ngrams, character_classes, salted, shapes
from isogloss.systems.ngram.qa import Passages, Tokens

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


def hash_of(text: str) -> int:
    texts = Texts([text])
    return int(texts.hashes(np.array([0]), np.array([len(text)]))[0])


@given(st.lists(TEXT, min_size=1, max_size=4))
def test_substring_hash_does_not_depend_on_position(texts: list[str]) -> None:
    together = Texts(texts)
    found = together.hashes(together.bounds[:-1], together.bounds[1:]).tolist()
    assert found == [hash_of(text) for text in texts]


@given(TEXT, TEXT)
def test_different_strings_differ(one: str, other: str) -> None:
    assert (hash_of(one) == hash_of(other)) == (one == other)


def python_ngrams(text: str, shortest: int, longest: int) -> list[str]:
    return [
        f" {word} "[start : start + n]
        for n in range(shortest, longest + 1)
        for word in text.lower().split()
        for start in range(len(word) + 3 - n)
        if f" {word} "[start : start + n].strip()
    ]


@given(st.lists(st.text("aB ü\n中", max_size=12), min_size=1, max_size=4))
def test_ngrams_match_a_plain_loop(texts: list[str]) -> None:
    rows, hashes = char_ngrams(texts, 1, 4)
    for row, text in enumerate(texts):
        assert sorted(hashes[rows == row].tolist()) == sorted(map(hash_of, python_ngrams(text, 1, 4)))


def test_roles_differ_and_bucket_zero_is_reserved() -> None:
    hashes = np.array([hash_of(str(number)) for number in range(2000)], np.uint64)
    assert not np.intersect1d(salted(hashes, "prefix"), salted(hashes, "suffix")).size
    folded = buckets(hashes, 4)
    assert set(folded.tolist()) == set(range(1, 16))


@pytest.mark.parametrize(
    ("one", "other", "same"), [("Turku", "Åbo", True), ("3.14", "15,9", True), ("a1", "1a", False)]
)
def test_shapes(one: str, other: str, same: bool) -> None:
    words = Texts([one, other])
    found = shapes(character_classes(words.codes), words.bounds[:-1], words.bounds[1:])
    assert (found[0] == found[1]) == same


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Who won, then?", ["Who", "won", ",", "then", "?"]),
        ("ঢাকা শহর।", ["ঢাকা", "শহর", "।"]),  # vowel signs belong to their word
        ("在1999年", ["在", "1999", "年"]),
        ("ที่บ้าน", ["ที่", "บ้", "า", "น"]),  # marks stay with their letter
        ("", []),
        (" \n", []),
    ],
)
def test_tokens_in_any_script(text: str, tokens: list[str]) -> None:
    found = Tokens([text, "x"])
    own = found.owners == 0
    assert [text[start:end] for start, end in zip(found.starts[own], found.ends[own], strict=True)] == tokens
    assert int((found.owners == 1).sum()) == 1


def test_lower_case_never_shifts_offsets() -> None:
    letters = "".join(chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)
    assert len(letters.replace("İ", "i").lower()) == len(letters)


def test_overlap_is_highest_in_the_sentence_sharing_words() -> None:
    passages = Passages(["Who founded Vantaa?"], ["It rains. Vantaa was founded by Kaisa. It rains."])
    assert passages.overlap.tolist() == [0] * 3 + [1] * 6 + [0] * 3
    assert np.flatnonzero(passages.matched).tolist() == [3, 5]
    assert passages.distance(forwards=False).tolist()[:8] == [99, 99, 99, 0, 1, 0, 1, 2]


def test_hashes_do_not_depend_on_the_hash_seed() -> None:
    code = "from isogloss.systems.ngram.hashing import char_ngrams; print(char_ngrams(['Häme'], 1, 5)[1].sum())"
    runs = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(runs) == 1
