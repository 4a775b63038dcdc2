"""Question words and negations in every language, with difficult cases."""

import tomllib
from importlib import resources

import pytest

from isogloss.explain.attributes.lexicon import QUESTION_TYPES, negates, plain, question_types
from isogloss.languages import CODES

WORDS = resources.files("isogloss.explain.attributes") / "words"
QUESTIONS = tomllib.loads((WORDS / "questions.toml").read_text(encoding="utf-8"))
NEGATIONS = tomllib.loads((WORDS / "negations.toml").read_text(encoding="utf-8"))


def words(text):
    return [word.strip() for word in text.split(",")]


@pytest.mark.parametrize(
    ("language", "question", "kind"),
    [
        ("en", "How many moons are there?", "how-many"),
        ("en", "How far is it?", "how"),
        ("en", "In which town was she born?", "which"),
        ("en", "WHAT'S that?", "what"),
        ("en", "To whom did he write?", "who"),
        ("en", "Is it cold, somehow?", "other"),
        ("en", "Who knows what it is?", "who"),  # the first one
        ("ar", "في أي مدينة يقع البرج؟", "which"),
        ("ar", "ماهي عاصمة فرنسا؟", "what"),
        ("ar", "كم عدد السكان؟", "how-many"),
        ("bn", "তিনি কোথায় জন্মগ্রহণ করেন?", "where"),
        ("de", "Wie viele Leute kamen?", "how-many"),
        ("de", "Wie heißt das Tier?", "what"),
        ("de", "Mit welchem Zug kam er?", "which"),
        ("el", "Πόσοι ήρθαν;", "how-many"),
        ("el", "ΠΟΤΕ", "other"),  # without its accent it may be "never"
        ("es", "¿Por qué llueve?", "why"),
        ("es", "El libro que leo", "other"),  # a conjunction, not an interrogative
        ("fi", "Missä Helsinki on?", "where"),
        ("fr", "Qu’est-ce que c’est ?", "what"),
        ("hi", "यह किताब किसने लिखी?", "who"),
        ("hi", "यह कौन सा शहर है?", "which"),
        ("id", "Di manakah letak kota itu?", "where"),
        ("it", "Dov'è la casa?", "where"),
        ("ja", "彼はいつ来ましたか", "when"),
        ("ja", "彼はいつも何を食べますか", "what"),  # "always" is not an interrogative
        ("ja", "誰が来ましたか", "who"),
        ("ko", "서울은 어디에 있나요?", "where"),
        ("ru", "Сколько лет ему?", "how-many"),
        ("sw", "Alizaliwa lini?", "when"),
        ("te", "ఆయన పేరేమిటి?", "what"),
        ("th", "เขาเกิดที่ไหน", "where"),
        ("th", "ราคาเท่าไหร่", "how-many"),
        ("tr", "Kimya nedir?", "what"),  # "chemistry" is not "who"
        ("tr", "Ne zaman geldi?", "when"),
        ("vi", "Có bao nhiêu người?", "how-many"),
        ("vi", "Thủ đô là thành phố nào?", "which"),
        ("zh", "他为什么来？", "why"),
        ("zh", "它被称为什么？", "what"),
        ("zh", "任何人都能来吗？", "other"),
        ("zh", "有多少人？", "how-many"),
    ],
)
def test_question_types(language, question, kind):
    assert question_types([question], language) == [kind]


@pytest.mark.parametrize("language", CODES)
def test_every_language_has_every_question_type(language):
    table = QUESTIONS[language]
    assert set(table) - {"not"} == set(QUESTION_TYPES) - {"other"}
    for kind, listed in table.items():
        for word in words(listed):
            found = question_types([word.replace("*", "")], language)
            assert found == ["other" if kind == "not" else kind], word


@pytest.mark.parametrize("language", CODES)
def test_every_negation_is_found(language):
    for word in words(NEGATIONS["words"][language]):
        assert negates([f"x {word.replace('*', '')} x"], language) == [True], word
    for word in words(NEGATIONS["not"].get(language, "")):
        assert negates([f"x {word} x"], language) == [False], word


def test_tables_name_only_known_languages():
    assert set(QUESTIONS) == set(NEGATIONS["words"]) == set(CODES)
    assert set(NEGATIONS["not"]) <= set(CODES)


@pytest.mark.parametrize(
    ("language", "text", "found"),
    [
        ("en", "He doesn’t know", True),
        ("en", "A note about knots", False),
        ("en", "No!", True),
        ("fr", "Il n'est pas là", True),
        ("fr", "Il est là", False),
        ("ko", "돈이 없습니다", True),
        ("th", "เขาไม่มา", True),
        ("th", "อย่างนี้", False),  # "like this" begins like "do not"
        ("tr", "Hiçbiri gelmedi", True),
        ("ur", "وہ نہیں آیا", True),
        ("zh", "我没有书", True),
        ("zh", "非常好", False),
        ("zh", "非常不好", True),
        ("ja", "行かなかった", True),
        ("ja", "少ない", False),
    ],
)
def test_negation_words(language, text, found):
    assert negates([text], language) == [found]


def test_plain_text():
    assert plain([]) == []
    assert [text.split() for text in plain(["A-B, c\nd", "", "‘Don’t’ STRASSE straße", "e\u0301=é"])] == [
        ["a", "b", "c", "d"],
        [],
        ["don't", "strasse", "strasse"],
        ["é", "é"],
    ]


def test_language_without_word_list_has_no_types():
    assert question_types(["what"], "xx") == ["other"]
    assert negates(["not"], "xx") == [False]
