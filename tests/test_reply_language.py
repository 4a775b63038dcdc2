"""Script and language of replies."""

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss import reply_language
from isogloss.reply_language import language_of, script_of


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("The answer is 42.", "Latn"),
        ("Đáp án là ổn", "Latn"),
        ("ŋɛ̃ ɓaa", "Latn"),
        ("Ответ: да", "Cyrl"),
        ("الجواب", "Arab"),
        ("उत्तर", "Deva"),
        ("উত্তর", "Beng"),
        ("απάντηση", "Grek"),
        ("જવાબ", "Gujr"),
        ("תשובה", "Hebr"),
        ("答えは体育です", "Jpan"),
        ("スポーツ", "Jpan"),
        ("答案是体育", "Hans"),
        ("პასუხი", "Geor"),
        ("정답은 체육", "Kore"),
        ("ഉത്തരം", "Mlym"),
        ("အဖြေ", "Mymr"),
        ("ਜਵਾਬ", "Guru"),
        ("பதில்", "Taml"),
        ("జవాబు", "Telu"),
        ("คำตอบ", "Thai"),
        ("መልስ", "Ethi"),
        ("ལན་འདེབས", "Tibt"),
        ("ចម្លើយ", "Khmr"),
        ("ຄໍາຕອບ", "Laoo"),
        ("ଉତ୍ତର", "Orya"),
        ("ಉತ್ತರ", "Knda"),
        ("පිළිතුර", "Sinh"),
        ("պատասխան", "Armn"),
        ("ᱛᱮᱞᱟ", "Olck"),
        ("ⵜⵉⵔⵔⵉ", "Tfng"),
        ("B: ответ", "Cyrl"),  # the majority counts
        ("sport спор", "Latn"),
        ("ab вг", ""),  # no majority
        ("A", ""),
        ("42 %", ""),
        ("", ""),
    ],
)
def test_scripts(text: str, script: str) -> None:
    assert script_of(text) == script


@given(st.text(st.characters(categories=["L"]), min_size=2, max_size=50))
def test_scripts_agree_with_the_names_of_letters(text: str) -> None:
    """Compare with the first words of the characters' names, which are an independent source."""
    named = {"Cyrl": "CYRILLIC", "Deva": "DEVANAGARI", "Thai": "THAI", "Ethi": "ETHIOPIC", "Tfng": "TIFINAGH"}
    names = [unicodedata.name(letter, "").split(" ")[0] for letter in text]
    script = script_of(text)
    assert script not in named or 2 * names.count(named[script]) > len(names)


@pytest.mark.parametrize("name", ["CYRILLIC", "HEBREW", "BENGALI", "TAMIL", "GEORGIAN", "KHMER", "LAO", "OL CHIKI"])
def test_every_letter_of_the_basic_plane_has_its_script(name: str) -> None:
    letters = [chr(code) for code in range(0x10000) if chr(code).isalpha()]
    own = [letter for letter in letters if unicodedata.name(letter, "").startswith(f"{name} ")]
    assert len({script_of(letter * 2) for letter in own if "MODIFIER" not in unicodedata.name(letter)}) == 1


def test_languages() -> None:
    pytest.importorskip("py3langid", reason="needs py3langid")
    assert language_of("This is the answer to the question that you asked me yesterday.") == "en"
    assert language_of("Das ist die Antwort auf die Frage, die du mir gestern gestellt hast.") == "de"
    assert language_of("Это ответ на вопрос, который ты задал мне вчера вечером.") == "ru"
    assert language_of("นี่คือคำตอบของคำถามที่คุณถามฉันเมื่อวานนี้") == "th"
    assert language_of("politics") == ""
    assert language_of("1234567890 " * 20) == ""


def test_no_language_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "py3langid", None)
    reply_language._identifier.cache_clear()
    try:
        assert language_of("This is the answer to the question that you asked me yesterday.") == ""
    finally:
        reply_language._identifier.cache_clear()
