import random
import re
import string
import unicodedata
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.errors import DataError, PredictionError, UnknownNameError
from isogloss.metrics import qa
from isogloss.metrics.statistics import merge

ARTICLES = {
    "en": r"\b(a|an|the)\b",
    "es": r"\b(un|una|unos|unas|el|la|los|las)\b",
    "de": r"\b(ein|eine|einen|einem|eines|einer|der|die|das|den|dem|des)\b",
    "vi": r"\b(của|là|cái|chiếc|những)\b",
    "ar": "ال",
}
SETTINGS = [("squad", None), *(("mlqa", language) for language in qa.MLQA_LANGUAGES)]

# What the two normalisations treat differently, or what might fool a fast one: articles, whitespace and
# punctuation of several languages, casing with context, marks, controls, a lone surrogate.
FRAGMENTS = ["a", "an", "the", "The", "el", "LAS", "der", "Einer", "của", "là", "x", "cat", "Cat", "US", "42"]
FRAGMENTS += ["ال", "بالكتاب", "سؤال", "القلم", "中", "文", "\u4e00", "\u9fa5", "\u9fa6", "\u3400"]
FRAGMENTS += ["〇", "カ", "한", "Ａ", "२", "𠀀", "ß", "STRASSE", "ΟΔΟΣ", "Σ", "İ", "I", "é", "e\u0301"]
FRAGMENTS += [" ", "  ", "\t", "\n", "\r\n", "\u00a0", "\u3000", "\u2028", "\x1c", "\x85", "\x00", "\u200b"]
FRAGMENTS += [".", ",", "-", "_", "$", "+", "'s", "«", "»", "。", "，", "।", "؟", "–", "“", "’", "€", "°"]
FRAGMENTS += ["\u0301", "\ud800"]


def reference_normalize(text: str, dialect: str, language: str | None) -> str:
    """The rules as the reference scorers apply them, one character and one answer at a time."""
    everything = dialect == "mlqa"
    text = "".join(
        character
        for character in text.lower()
        if character not in string.punctuation and not (everything and unicodedata.category(character).startswith("P"))
    )
    articles = ARTICLES.get(language or "") if everything else ARTICLES["en"]
    if articles:
        text = re.sub(articles, " ", text)
    if everything and language == "zh":
        text = "".join(f" {char} " if "\u4e00" <= char <= "\u9fa5" else char for char in text)
    return " ".join(text.split())


def reference_f1(prediction: str, answer: str) -> float:
    """F1 of two normalised strings."""
    given_, wanted = prediction.split(), answer.split()
    same = sum((Counter(given_) & Counter(wanted)).values())
    if same == 0:
        return 0
    precision, recall = 1.0 * same / len(given_), 1.0 * same / len(wanted)
    return (2 * precision * recall) / (precision + recall)


def reference_pair(prediction: str, answers: list[str], dialect: str, language: str | None) -> tuple[float, float]:
    given_ = reference_normalize(prediction, dialect, language)
    wanted = [reference_normalize(answer, dialect, language) for answer in answers]
    return max(reference_f1(given_, answer) for answer in wanted), float(max(given_ == answer for answer in wanted))


texts = st.lists(st.sampled_from(FRAGMENTS), max_size=8).map("".join) | st.text(max_size=12)
questions = st.lists(st.tuples(st.none() | texts, st.lists(texts, min_size=1, max_size=3)), min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The  Quick, brown-fox!", "quick brownfox"),
        ("U.S.A.", "usa"),
        ("an apple a day", "apple day"),
        ("another theme", "another theme"),
        ("“the” – a", "“ ” –"),  # articles go wherever a word boundary is, other punctuation stays
        ("a\u0301", "\u0301"),  # a combining mark is no letter, so the a stands alone
        ("STRASSE straße", "strasse straße"),
        ("ΟΔΟΣ ΟΔΟΣΑ Σ", "οδος οδοσα σ"),
        ("İ", "i\u0307"),
        ("no\u00a0break\u3000wide\u2028line\nfeed", "no break wide line feed"),
        ("北京。 نعم، हाँ। «x»", "北京。 نعم، हाँ। «x»"),
        ("snake_case $5 ~ `", "snakecase 5"),
        ("é e\u0301", "é e\u0301"),  # no Unicode normalisation
        ("zero\u200bwidth", "zero\u200bwidth"),
        ("le chat, a lui", "le chat lui"),  # in every language, the words a, an, the
        ("the", ""),
        ("...", ""),
        ("", ""),
    ],
)
def test_squad_normalisation(text, expected):
    assert qa.normalize(text, dialect="squad", language=None) == expected
    assert qa.normalize(text, dialect="squad", language="zh-Hans") == expected


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "The “cat”, a dog — 5€ + $3 °C", "cat dog 5€ 3 °c"),
        ("en", "el gato", "el gato"),
        ("es", "Un gato, los perros, ¿el fin? lo al del unos", "gato perros fin lo al del"),
        ("de", "Einem der Häuser, das Haus des Mannes: eines", "häuser haus mannes"),
        ("de", "derselbe, «Dem» keiner", "derselbe keiner"),
        ("vi", "Những cái bàn của tôi là chiếc", "bàn tôi"),
        ("vi", "cu\u0309a", "cu\u0309a"),  # the decomposed form is not matched
        ("ar", "بالكتاب", "ب كتاب"),
        ("ar", "سؤال", "سؤ"),
        ("ar", "القلم، والورق", "قلم و ورق"),
        ("hi", "नमस्ते। the a", "नमस्ते the a"),
        ("zh", "北京US, 42。大学", "北 京 us 42 大 学"),
        ("zh", "US,42", "us42"),  # punctuation goes first, and glues
        ("zh", "\u4e00\u9fa5\u9fa6\u3400〇カナ", "\u4e00 \u9fa5 \u9fa6\u3400〇カナ"),
        ("zh", "the a　ｂ", "the a ｂ"),
    ],
)
def test_mlqa_normalisation(language, text, expected):
    assert qa.normalize(text, dialect="mlqa", language=language) == expected


@pytest.mark.parametrize(
    ("prediction", "answers", "expected"),
    [
        ("the cat", "Cat!", (1.0, 1.0)),
        ("a cat sat", ["cat"], (2 * (1 / 2) * 1 / (1 / 2 + 1), 0.0)),
        ("x x y", ["x y y"], (2 / 3, 0.0)),  # a multiset: one x, one y
        ("x x y", ["x x z"], (2 / 3, 0.0)),
        ("y x", ["x y"], (1.0, 0.0)),
        ("b c d", ["b", "b c q", "b c d e"], (2 * 1 * 0.75 / 1.75, 0.0)),
        ("the", ["a"], (0.0, 1.0)),  # nothing left on either side
        ("...", ["!", "cat"], (0.0, 1.0)),
        ("", ["cat"], (0.0, 0.0)),
        ("cat", [""], (0.0, 0.0)),
        ("dog", ["cat"], (0.0, 0.0)),
        ("北京", ["北京市"], (0.0, 0.0)),  # one token without spaces: F1 is EM
    ],
)
def test_pair(prediction, answers, expected):
    assert qa.pair(prediction, answers, dialect="squad", language=None) == expected


def test_f1_and_em_take_their_best_answers_independently():
    # "the" is exact against "a", where F1 is 0; no other answer has F1 above 0 either.
    assert qa.pair("the", ["a", "cat"], dialect="squad") == (0.0, 1.0)
    assert qa.pair("北京", ["北京市"], dialect="mlqa", language="zh") == (2 * 1 * (2 / 3) / (1 + 2 / 3), 0.0)


@pytest.mark.parametrize("language", [None, "EN", "zh-Hans", "fr", "", "zh_CN"])
def test_mlqa_knows_seven_languages(language):
    with pytest.raises(UnknownNameError, match="unknown MLQA language"):
        qa.normalize("x", dialect="mlqa", language=language)
    with pytest.raises(UnknownNameError):
        qa.statistics([], [], dialect="mlqa", language=language)


def test_unscorable_input_is_refused():
    with pytest.raises(UnknownNameError, match="unknown QA dialect 'sqad'"):
        qa.pair("x", ["x"], dialect="sqad", language=None)
    with pytest.raises(DataError, match="without gold answers"):
        qa.pair("x", [], dialect="squad")
    with pytest.raises(DataError, match="question 2: a question without gold answers"):
        qa.statistics(["x", "x", None], ["x", ["x"], []], dialect="squad")
    with pytest.raises(PredictionError, match="2 questions but 1 predictions"):
        qa.statistics(["x"], ["x", "y"], dialect="squad")


def test_missing_prediction_scores_zero_and_an_empty_one_is_judged():
    found = qa.statistics([None, "", "cat"], ["the", "the", ["dog", "a cat"]], dialect="squad")
    assert found["f1"].rows.tolist() == [[0], [0], [1]]
    assert found["em"].rows.tolist() == [[0], [1], [1]]
    assert found["em"].score == 2 / 3
    nothing = qa.statistics([None], [["x"]], dialect="squad")
    assert nothing["f1"].score == nothing["em"].score == 0
    assert qa.statistics([], [], dialect="squad")["f1"].score == 0


@pytest.mark.parametrize(("dialect", "language"), SETTINGS)
def test_every_character_is_normalised_as_by_the_reference(dialect, language):
    ranges = [(0, 0x3100), (0x4DF0, 0x4E10), (0x9F90, 0xA010), (0xD7F0, 0xE010), (0xFE00, 0x11200)]
    for character in (chr(code) for first, stop in ranges for code in range(first, stop)):
        text = f"x{character}y the{character}a"
        expected = reference_normalize(text, dialect, language)
        assert qa.normalize(text, dialect=dialect, language=language) == expected


@pytest.mark.slow
@pytest.mark.parametrize(("dialect", "language"), SETTINGS)
@given(st.data())
def test_parity_with_the_reference_rules(dialect, language, data):
    text = data.draw(texts)
    assert qa.normalize(text, dialect=dialect, language=language) == reference_normalize(text, dialect, language)
    asked = data.draw(questions)
    expected = [
        (0.0, 0.0) if given_ is None else reference_pair(given_, answers, dialect, language)
        for given_, answers in asked
    ]
    found = qa.statistics(
        [given_ for given_, _ in asked], [answers for _, answers in asked], dialect=dialect, language=language
    )
    scores = list(zip(found["f1"].rows[:, 0].tolist(), found["em"].rows[:, 0].tolist(), strict=True))
    assert scores == expected  # bit for bit
    for (given_, answers), score in zip(asked, expected, strict=True):
        if given_ is not None:
            assert qa.pair(given_, answers, dialect=dialect, language=language) == score


def test_large_corpora_are_scored_in_blocks_with_the_same_result(monkeypatch):
    draw = random.Random(0)
    words = ["cat", "dog", "the", "a", "x", "y."]
    predictions = [" ".join(draw.choices(words, k=3)) for _ in range(50)]
    answers = [[" ".join(draw.choices(words, k=draw.randint(1, 3))) for _ in range(2)] for _ in range(50)]
    whole = qa.statistics(predictions, answers, dialect="squad")
    monkeypatch.setattr(qa, "_BLOCK", 7)
    blocks = qa.statistics(predictions, answers, dialect="squad")
    assert 0 < whole["em"].score < whole["f1"].score < 1
    for metric in ("f1", "em"):
        assert np.array_equal(whole[metric].rows, blocks[metric].rows)


@given(questions, st.randoms(use_true_random=False))
def test_score_is_a_sum_of_rows(asked, draw):
    def score(part):
        return qa.statistics([given_ for given_, _ in part], [gold for _, gold in part], dialect="squad")

    whole = score(asked)
    cut = draw.randrange(len(asked) + 1)
    first, second = score(asked[:cut]), score(asked[cut:])
    order = np.array(draw.sample(range(len(asked)), len(asked)))
    shuffled = score([asked[i] for i in order])
    for metric in ("f1", "em"):
        assert np.array_equal(merge([first[metric], second[metric]]).rows, whole[metric].rows)
        assert np.array_equal(shuffled[metric].rows, whole[metric].rows[order])
