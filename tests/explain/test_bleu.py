"""BLEU compared with hand-computed values, its definition, and sacrebleu."""

from math import exp

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.explain.attributes.bleu import bleus, exp_smoothed_bleus
from isogloss.metrics.ngrams import cut_13a

TEXT = st.text("abAB ,.-'\"&;:()/19\n<>é中", max_size=40)
WORDS = st.lists(st.sampled_from("abcd"), max_size=9)


def one(candidate: str, reference: str, *, effective_order: bool = False) -> float:
    tokens = [candidate.split()], [reference.split()]
    return float(exp_smoothed_bleus(*tokens, np.zeros(1, dtype=np.int64), effective_order=effective_order)[0])


def test_by_hand() -> None:
    # Matches 3, 1, 0, 0 of 4, 3, 2, 1: precisions 3/4, 1/3, 1/(2·2), 1/(4·1), with product 2^-6.
    assert one("a b c d", "a b x d") == pytest.approx(2**-1.5)
    # With a reference twice as long: the same times e^(1 - 8/4).
    assert one("a b c d", "a b x d y y y y") == pytest.approx(2**-1.5 * exp(-1))
    # No match: all orders are smoothed, including unigrams: 1/(2·4) · 1/(4·3) · 1/(8·2) · 1/(16·1).
    assert one("p q r s", "a b c d") == pytest.approx((8 * 12 * 16 * 16) ** -0.25)
    assert one("p q r s", "a b c d", effective_order=True) == 0
    # Fewer than four tokens: 0, or only the available orders.
    assert one("a b c", "a b c") == 0
    assert one("a b c", "a b c", effective_order=True) == pytest.approx(1)
    assert one("a x", "a b", effective_order=True) == pytest.approx((1 / 2 * 1 / 2) ** 0.5)
    assert one("", "a") == one("", "a", effective_order=True) == 0


def test_tokens_by_hand() -> None:
    assert cut_13a("It's 3,000.5 km (or so), on 12-13 May.") == [
        *("It's", "3,000.5", "km", "(", "or", "so", ")", ",", "on", "12", "-", "13", "May", ".")
    ]
    assert cut_13a("a&amp;b &quot;c&quot; <skipped>well-\nknown\nx") == ["a", "&", "b", '"', "c", '"', "wellknown", "x"]


def test_case_and_punctuation_count_and_a_single_long_word_is_split() -> None:
    texts = ["What is it called?"], ["what is it called ?"]
    assert bleus(*texts, "en", "explainaboard") == pytest.approx(bleus(*texts, "en", "paper"))
    # Four of five tokens match, then 3/4, 2/3 and 1/2: the capital differs.
    assert bleus(*texts, "en", "paper") == pytest.approx((4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25)
    assert bleus(*texts, "en") == pytest.approx(1)
    # One word: the paper splits it into five letters, which match none of three; for ExplainaBoard it is one token.
    assert bleus(["hello"], ["a b c"], "en", "paper") == pytest.approx((10 * 16 * 24 * 32) ** -0.25)
    assert bleus(["hello"], ["say hello now to all"], "en", "explainaboard") == pytest.approx(exp(-4))
    assert bleus(["hell"], ["hell is"], "en", "paper") == 0


def test_space_at_the_end_is_ignored() -> None:
    assert bleus(["-"], ["-\n"], "en", "explainaboard") == 1


@given(TEXT)
def test_tokens_are_sacrebleus(text: str) -> None:
    tokenizers = pytest.importorskip("sacrebleu.tokenizers.tokenizer_13a", reason="sacrebleu is not installed")
    assert cut_13a(text) == tokenizers.Tokenizer13a()(text).split()


@settings(max_examples=60)
@given(st.lists(st.tuples(TEXT, TEXT), max_size=4))
def test_newer_default_is_sacrebleus(pairs: list[tuple[str, str]]) -> None:
    sacrebleu = pytest.importorskip("sacrebleu", reason="sacrebleu is not installed")
    found = bleus([a for a, _ in pairs], [b for _, b in pairs], "en", "explainaboard")
    theirs = [sacrebleu.sentence_bleu(a, [b]).score / 100 for a, b in pairs]
    assert found.tolist() == pytest.approx(theirs, abs=1e-12)


@settings(max_examples=60)
@given(WORDS, WORDS)
def test_older_default_is_sacrebleus_except_without_matches(candidate: list[str], reference: list[str]) -> None:
    sacrebleu = pytest.importorskip("sacrebleu", reason="sacrebleu is not installed")
    if not set(candidate) & set(reference):
        return  # version 2 returns 0 without a match; see the hand-computed values above
    theirs = sacrebleu.corpus_bleu([" ".join(candidate)], [[" ".join(reference)]]).score / 100
    assert one(" ".join(candidate), " ".join(reference)) == pytest.approx(theirs, abs=1e-12)
