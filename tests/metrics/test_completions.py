"""Continuations compared with the true ones, by hand-computed values."""

import pytest

from isogloss.metrics.completions import (
    continuation_overlap,
    folded,
    gram_size,
    is_continued,
    new_grams,
    shared_length,
    without_beginning,
)


def overlap(completion: str, reference: str, beginning: str = "") -> float:
    return continuation_overlap(completion, reference, beginning, len(folded(reference)), gram_size(reference))


def test_overlap_counts_the_n_grams_of_the_reference() -> None:
    # "onthemattoday" has 9 of five letters; the first 13 letters of the completion share onthe … matto, which are 6.
    assert overlap("On the mat tomorrow", "on the mat today") == pytest.approx(6 / 9)
    assert overlap("On the mat, tomorrow", "on the mat, today") == pytest.approx(7 / 10)
    assert overlap("on the mat today and for ever", "on the mat today") == 1
    assert overlap("", "on the mat today") == 0


def test_what_the_beginning_says_does_not_count() -> None:
    # ematt, matto, attod, ttoda and today remain; the completion has the first two.
    assert overlap("on the mat tomorrow", "on the mat today", "On the mat") == pytest.approx(2 / 5)
    assert overlap("on the mat", "on the mat", "on the mat") == 0


def test_repetitions_count_as_often_as_in_both() -> None:
    assert overlap("aaaaa", "aaaaaa") == 1 / 2
    assert overlap("aaaaaaaaaaaa", "aaaaaa") == 1


@pytest.mark.parametrize(
    ("completion", "reference", "expected"),
    [
        ("今天天气不好", "今天天气很好", 2 / 4),  # three characters: 今天天, 天天气 of four
        ("날씨가 좋다", "날씨가 좋아", 2 / 3),  # 날씨가, 씨가좋 of three
        ("ฉันรักเธอ", "ฉันรักแมว", 2 / 5),  # five characters, as for letters: ฉันรั, ันรัก of five
        ("ДОБРЫЙ вечер", "добрый день", 2 / 6),  # добры, обрый of six
        ("straße frei", "STRASSE FREI", 1),
        ("ﬁnally", "finally", 1),
    ],
)
def test_scripts(completion: str, reference: str, expected: float) -> None:
    assert overlap(completion, reference) == pytest.approx(expected)


def test_gram_sizes() -> None:
    sizes = {
        "العربية": 5,
        "ไทย": 5,
        "हिन्दी": 5,
        "中文 and": 5,
        "中文字 in": 3,
        "日本語ひらがな": 3,
        "한국어": 3,
        "አማርኛ": 3,
        "123": 5,
    }
    assert {text: gram_size(text) for text in sizes} == sizes


def test_exact_continuations_ignore_case_and_blanks() -> None:
    assert is_continued("  The REST\nof it, and more", "the rest of it")
    assert not is_continued("the rest of", "the rest of it")
    assert not is_continued("And the rest of it", "the rest of it")


def test_a_repeated_beginning_is_removed() -> None:
    assert without_beginning("The cat sat on the mat", "the cat") == "satonthemat"
    assert without_beginning("… on the mat", "the cat") == "onthemat"
    assert without_beginning("The cat ... on the mat", "the cat") == "onthemat"
    assert without_beginning("on the mat", "the cat") == "onthemat"


def test_lengths_and_new_n_grams() -> None:
    assert shared_length("a b c", "de") == 2
    assert new_grams("abcdefg", "xbcdefx", 5) == {"abcde": 1, "cdefg": 1}
    assert new_grams("abcdefg", "", 5, 6) == {"abcde": 1, "bcdef": 1}
