"""Attribute columns against values computed by hand, in several scripts."""

from weakref import ref

import numpy as np
import pytest

from isogloss.errors import DataError
from isogloss.explain.attributes import attribute, attributes_for, count_tokens
from isogloss.explain.attributes.needs import cached_per_examples
from isogloss.tasks.examples import Examples, Pool
from isogloss.tasks.registry import task


def examples(name, language, gold="label", pool=None, **columns):
    size = len(next(iter(columns.values())))
    return Examples(name, language, "test", [str(row) for row in range(size)], columns, gold, pool=pool)


def column(name, data, **options):
    return attribute(name, kind=task(data.task).kind, **options).values(data).tolist()


QA = examples(
    "xquad",
    "en",
    "answers",
    question=["Who wrote the red book?", "In what year did it rain?"],
    context=["Ada wrote the red book in Paris.", "It was dry. It did rain in 1999, they say."],
    answers=[["Ada"], ["in 1999", "1999", "1999"]],
    answer_starts=[[0], [24, 27, 27]],
)


@pytest.mark.parametrize(
    ("text", "language", "script", "whitespace"),
    [
        ("the red book", "en", 3, 3),
        ("  the  red\nbook ", "en", 3, 3),
        ("", "en", 0, 0),
        ("الكتاب الأحمر", "ar", 2, 2),
        ("लाल किताब", "hi", 2, 2),
        ("quyển sách đỏ", "vi", 3, 3),
        ("他在1999年买了书。", "zh", 8, 1),  # 他 在 1999 年 买 了 书 。
        ("東京は NBA が好き", "ja", 7, 3),  # NBA is one token
        ("ที่นี่", "th", 2, 1),  # two consonants, each with a vowel and a tone mark
        ("မြန်မာ", "my", 3, 1),
    ],
)
def test_tokens_are_words_or_characters_by_script(text, language, script, whitespace):
    assert count_tokens([text, text], language).tolist() == [script, script]
    assert count_tokens([text], language, "whitespace").tolist() == [whitespace]


def test_lengths_and_ratios_of_questions():
    assert column("aLen", QA) == [1, 2]  # the first of several answers
    assert column("qLen", QA) == [5, 6]
    assert column("cLen", QA) == [7, 10]
    assert column("aLen/qLen", QA) == pytest.approx([1 / 5, 2 / 6])
    assert column("aLen/cLen", QA) == pytest.approx([1 / 7, 2 / 10])
    assert column("qLen/cLen", QA) == pytest.approx([5 / 7, 6 / 10])
    assert column("aPos", QA) == pytest.approx([0, 24 / 42])
    assert column("answers", QA) == [1, 2]
    assert column("qType", QA) == ["who", "what"]


def test_bleu_of_question_and_context_by_hand():
    # who wrote the red book / ada wrote the red book in paris: 4 of 5 words, 3 of 4 pairs, 2 of 3, 1 of 2; c 5, r 7
    first = (4 / 5 * 4 / 5 * 3 / 4 * 2 / 3) ** 0.25 * np.exp(1 - 7 / 5)
    # in what year did it rain / it was dry it did rain in 1999 they say: 4 of 6 words, no pair; c 6, r 10
    second = (4 / 6 * 1 / 6 * 1 / 5 * 1 / 4) ** 0.25 * np.exp(1 - 10 / 6)
    assert column("BLEU-QC", QA) == pytest.approx([first, second])
    # ada: no word of the question; in 1999: 1 of 2 words, 0 of 1 pair; c 2, r 6
    assert column("BLEU-AQ", QA) == pytest.approx([0, (1 / 2 * 1 / 2) ** 0.25 * np.exp(1 - 6 / 2)])


def test_bleu_of_unspaced_text_is_on_characters():
    data = examples("xquad", "zh", "answers", question=["谁买书"], context=["他买书"], answers=[["他"]])
    assert column("BLEU-QC", data) == pytest.approx([(2 / 3 * 2 / 3 * 1 / 2 * 1) ** 0.25])
    assert column("BLEU-AQ", data) == [0]


def test_whitespace_convention_is_named():
    data = examples("xquad", "zh", "answers", question=["谁买 书？"], context=["他买书"], answers=[["他"]])
    assert column("qLen", data) == [4]
    assert column("qLen", data, convention="whitespace") == [2]
    assert "whitespace" in attribute("qLen", "whitespace").title
    assert attribute("qType", "whitespace") == attribute("qType")


PAIRS = examples(
    "xnli",
    "en",
    text_a=["He didn't see the red car", "They left", "It's never cold"],
    text_b=["He saw the car.", "Nobody left", "It isn’t cold"],
    label=["contradiction", "neutral", "entailment"],
)


def test_pairs():
    assert column("label", PAIRS) == ["contradiction", "neutral", "entailment"]
    assert column("t1Len", PAIRS) == [6, 2, 3]
    assert column("t2Len", PAIRS) == [4, 2, 3]
    assert column("t2Len/t1Len", PAIRS) == pytest.approx([4 / 6, 1, 1])
    assert column("overlap", PAIRS) == pytest.approx([3 / 7, 1 / 3, 1 / 5])
    assert column("negation", PAIRS) == ["first", "second", "both"]


def test_overlap_of_unspaced_pairs_is_on_trigrams():
    data = examples(
        "xnli", "zh", text_a=["我买了书", "好", ""], text_b=["他买了书。", "好！", ""], label=["a", "b", "c"]
    )
    assert column("overlap", data) == pytest.approx([1 / 3, 1, 0])
    assert column("negation", data) == ["no", "no", "no"]


def test_single_documents_have_no_second_text():
    data = examples("mldoc", "de", text=["Das ist nicht gut", "Das ist gut"], label=["CCAT", "ECAT"])
    assert column("t1Len", data) == [4, 3]
    assert column("negation", data) == ["first", "no"]
    names = {one.name for one in attributes_for("classification", data)}
    assert {"t1Len", "negation", "label"} <= names
    assert not {"t2Len", "t2Len/t1Len", "overlap"} & names


def test_choices():
    data = examples(
        "xcopa",
        "it",
        premise=["La porta non si apre", "Piove forte"],
        question=["cause", "effect"],
        choices=[("La porta è chiusa a chiave", "È sera"), ("Resto a casa", "Non piove forte oggi")],
        label=[0, 1],
    )
    assert column("label", data) == ["0", "1"]
    assert column("question", data) == ["cause", "effect"]
    assert column("pLen", data) == [5, 2]
    assert column("c1Len", data) == [6, 3]
    assert column("c2Len", data) == [2, 4]
    assert column("rightLen/wrongLen", data) == pytest.approx([6 / 2, 4 / 3])
    assert column("overlap", data) == pytest.approx([2 / 9, 2 / 4])
    assert column("negation", data) == ["first", "second"]


def test_bitext_queries_are_english_and_targets_are_not():
    candidates = Pool(lambda: {"0": "zh", "1": "zh"}, lambda: ["我在2024买书", "你好"])
    data = examples("tatoeba", "zh", "targets", candidates, text=["Bought in 2024", "Hello"], targets=[["0"], ["1"]])
    assert column("queryLen", data) == [3, 1]
    assert column("targetLen", data) == [5, 2]
    # boughtin2024 has 10 trigrams, 我在2024买书 has 6; 202 and 024 are in both
    assert column("surface", data) == pytest.approx([2 / 14, 0])
    assert column("script", data) == ["Latn", "Latn"]
    assert column("outOfScript", data) == [0, 0]


def test_pool_with_one_target():
    candidates = Pool(
        lambda: {"Q1": "en", "Q2": "de", "Q3": "de", "Q4": "th"}, lambda: ["a cat", "Hund", "Katze", "แมว"]
    )
    data = examples(
        "mewslix",
        "de",
        "targets",
        candidates,
        text=["Hund: der { Hund }", "Katze", "Siam"],
        targets=[["Q2"], ["Q1"], ["Q4"]],
        frequency_bin=["[0, 1)", "", "[1, 10)"],
    )
    assert column("targetLang", data) == ["de", "en", "th"]
    assert column("sameLang", data) == ["same", "different", "different"]
    assert column("poolShare", data) == [0.5, 0.25, 0.25]
    assert column("targetLen", data) == [1, 2, 3]
    assert column("freqBin", data) == ["[0, 1)", "?", "[1, 10)"]
    assert column("queryLen", data) == [5, 1, 1]


def test_pool_with_several_targets_takes_the_one_in_the_query_language():
    candidates = Pool(lambda: {"a": "en", "b": "de", "c": "de"}, lambda: ["one two", "eins zwei drei", "vier"])
    data = examples("lareqa", "de", "targets", candidates, text=["drei?"], targets=[["a", "b"]])
    assert column("targetLen", data) == [3]
    offered = {one.name for one in attributes_for("pool", data)}
    assert not {"targetLang", "sameLang", "poolShare", "freqBin"} & offered
    with pytest.raises(DataError, match="several targets"):
        attribute("targetLang").values(data)


def test_large_pool_reads_only_targets():
    def all_texts():
        raise AssertionError("a million texts for two queries")

    candidates = Pool(lambda: {"a": "de", "b": "zh", "c": "de"}, all_texts, lambda: {"a": "eins zwei", "b": "三四"})
    data = examples("mewslix", "de", "targets", candidates, text=["eins", "zwei"], targets=[["a"], ["b"]])
    assert column("targetLen", data) == [2, 2]
    # "eins" has two of the six trigrams of "einszwei".
    assert column("surface", data) == [1 / 3, 0]


def test_shared_results_are_cached_per_examples():
    asked = []

    @cached_per_examples
    def lengths(data, name="question"):
        asked.append(name)
        return list(map(len, data[name]))

    data = examples("xquad", "en", "answers", question=["Who?"], answers=[["Ada"]])
    assert lengths(data) is lengths(data)
    assert lengths(data, "answers") == lengths(data, name="answers") == [1]
    lengths(examples("xquad", "en", "answers", question=["Why?"]))
    assert asked == ["question", "answers", "answers", "question"]
    gone = ref(data)
    del data
    assert gone() is None


def test_without_a_pool_its_attributes_are_not_offered():
    data = examples("mewslix", "de", "targets", text=["Hund"], targets=[["Q2"]], frequency_bin=["[0, 1)"])
    offered = {one.name for one in attributes_for("pool", data)}
    assert {"queryLen", "freqBin"} <= offered
    assert not {"targetLen", "surface", "targetLang", "sameLang", "poolShare"} & offered
    with pytest.raises(DataError, match="missing candidate pool"):
        attribute("targetLen").values(data)


def test_without_query_texts_theirs_are_not_offered():
    def unrestored():
        raise DataError("the article text is missing")

    data = examples("mewslix", "de", "targets", targets=[["Q2"]], frequency_bin=["[0, 1)"])
    data.columns["text"] = unrestored
    assert [one.name for one in attributes_for("pool", data)] == ["freqBin", "rank"]


def test_scripts_digits_and_punctuation():
    data = examples(
        "xquad",
        "ar",
        "answers",
        question=["متى بدأ NBA؟", "Wer?", "1999!", "كم ١٢"],
        context=["x"] * 4,
    )
    assert column("script", data) == ["Arab", "Latn", "none", "Arab"]
    assert column("scriptMix", data) == ["Arab+Latn", "Latn", "none", "Arab"]
    assert column("outOfScript", data) == pytest.approx([3 / 9, 1, 0, 0])
    assert column("digits", data) == pytest.approx([0, 0, 4 / 5, 2 / 4])
    assert column("punctuation", data) == pytest.approx([1 / 10, 1 / 4, 1 / 5, 0])


@pytest.mark.parametrize(
    ("language", "text", "mix", "outside"),
    [
        ("ja", "東京タワーはどこですか", "Jpan", 0),
        ("ja", "カナ ABC", "Latn+Jpan", 3 / 5),
        ("ko", "한국 漢字", "Kore", 0),
        ("zh", "你好", "Hans", 0),
        ("zh", "ひら你", "Hira+Hans", 2 / 3),
        ("hi", "हिन्दी", "Deva", 0),  # vowel signs are letters of their script
        ("el", "Ελλάδα Ж", "Grek+Cyrl", 1 / 7),
        ("ru", "Москва", "Cyrl", 0),
        ("he", "שלום", "Hebr", 0),
        ("ka", "თბილისი", "Geor", 0),
        ("my", "မြန်မာ", "Mymr", 0),
        ("th", "ไทย", "Thai", 0),
        ("yo", "Yorùbá e\u0301", "Latn", 0),  # a combining accent has no script
    ],
)
def test_scripts_of_languages(language, text, mix, outside):
    data = examples("udpos", language, "tags", tokens=[text.split()])
    assert column("scriptMix", data) == [mix]
    assert column("outOfScript", data) == pytest.approx([outside])


def test_tagged_sentences():
    data = examples("wikiann", "zh", "tags", tokens=[["北", "京"], ["A", ",", "1"]])
    assert column("sLen", data) == [2, 3]
    assert column("punctuation", data) == pytest.approx([0, 1 / 3])
