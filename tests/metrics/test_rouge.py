"""ROUGE-L compared with hand-computed values and with rouge-score."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.errors import UnknownNameError
from isogloss.metrics.rouge import common_length, statistics, words_of

TEXTS = st.text("abcAB ,.'-_é9中 \n", max_size=40)
WORDS = st.lists(st.sampled_from("abcd"), max_size=12)


def test_by_hand() -> None:
    # Two of three words in order, of three and of five: p = 2/3, r = 2/5.
    assert statistics(["c a b"], [["a x b y z"]]).score == pytest.approx(2 * (2 / 3) * (2 / 5) / (2 / 3 + 2 / 5))
    assert statistics(["A b."], [["x", "a B"]]).score == 1
    assert statistics(["", None, "a"], [["a"], ["a"], [""]]).rows[:, 0].tolist() == [0, 0, 0]


def test_words_of_languages() -> None:
    assert words_of("L'été, x_y 3.5!", language="fr") == ["l", "été", "x", "y", "3", "5"]
    assert words_of("हिन्दी में", language="hi") == ["हिन्दी", "में"]
    assert words_of("東京2020 OK", language="ja") == ["東", "京", "2020", "ok"]
    assert words_of("ดีครับ", language="th") == ["ดี", "ค", "รั", "บ"]
    assert words_of("L'été", dialect="rouge-score", language="fr") == ["l", "t"]
    with pytest.raises(UnknownNameError, match="unknown ROUGE dialect 'stems'"):
        words_of("a", dialect="stems")


@given(WORDS, WORDS)
def test_common_subsequence_by_a_table(first: list[str], second: list[str]) -> None:
    best = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i, one in enumerate(first):
        for j, other in enumerate(second):
            best[i + 1][j + 1] = best[i][j] + 1 if one == other else max(best[i][j + 1], best[i + 1][j])
    assert common_length(first, second) == common_length(second, first) == best[-1][-1]


@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=3))
def test_equals_rouge_score(answer: str, references: list[str]) -> None:
    scorer = pytest.importorskip("rouge_score.rouge_scorer").RougeScorer(["rougeL"], use_stemmer=False)
    best = max(scorer.score(reference, answer)["rougeL"].fmeasure for reference in references)
    assert statistics([answer], [references], dialect="rouge-score").score == pytest.approx(best, abs=1e-12)


@given(st.text("abcAB ,.'-_9\n", max_size=40), st.text("abcAB ,.'-_9\n", max_size=40))
def test_dialects_agree_on_ascii(answer: str, reference: str) -> None:
    both = {statistics([answer], [[reference]], dialect=dialect).score for dialect in ("words", "rouge-score")}
    assert len(both) == 1
