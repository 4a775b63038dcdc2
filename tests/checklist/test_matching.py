"""Correct answers by the paper's rule and by the fair one."""

import pytest

import isogloss.checklist
from isogloss.errors import UnknownNameError


def right(prediction: str, answer: str, language: str, mode: str) -> bool:
    return isogloss.checklist.matches(prediction, answer, language=language, mode=mode)


@pytest.mark.parametrize(
    ("prediction", "answer", "language", "paper", "fair"),
    [
        ("a dog", "a dog", "en", True, True),
        ("dog", "a dog", "en", True, True),
        ("dog.", "a dog", "en", True, True),
        ("Dog", "a dog", "en", False, True),  # the paper's rule is case-sensitive
        ("the dog!", "a dog", "en", False, True),  # and strips only comma, full stop and blank
        ("cat", "a dog", "en", False, False),
        ("in a dog", "a dog", "en", True, False),  # "in" counts as an English article there
        ("", "a dog", "en", False, False),
        ("einen Hund", "Hund", "de", True, True),
        ("HUND", "Hund", "de", False, True),
        ("João", "Joa\u0303o", "pt", False, True),  # composed and decomposed
        ("Мария", "Мария,", "ru", True, True),
    ],
)
def test_both_rules(prediction: str, answer: str, language: str, paper: bool, fair: bool) -> None:
    if language not in isogloss.grammar.CODES:
        pytest.skip(f"no file for {language}")
    assert right(prediction, answer, language, "paper") is paper
    assert right(prediction, answer, language, "fair") is fair


def test_arabic_loses_alif_lam_anywhere_in_the_papers_rule() -> None:
    from isogloss.checklist.paper_rule import cleaned

    assert cleaned("الكتاب", "ar") == "كتاب"
    assert cleaned("سؤال", "ar") == "سؤ"
    assert cleaned("\u200fabc.", "ur") == "a b c"
    # Without an entry the released cleaner's pattern is empty and puts a blank between all letters, on both sides.
    assert cleaned("ab", "ru") == "a b"
    assert cleaned("„kot”.", "pl") == "k o t"


def test_unknown_names() -> None:
    with pytest.raises(UnknownNameError, match="unknown mode"):
        right("a", "a", "en", "strict")
    with pytest.raises(UnknownNameError, match="unknown language of the checklist"):
        right("a", "a", "xx", "fair")
