"""Sentence spans in many scripts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.building.sentences import sentence_spans


@pytest.mark.parametrize(
    ("language", "sentences"),
    [
        ("en", ["Dr. J. Smith met St. Paul.", "He said \"Yes!\"", 'Then he left…', 'Really?']),
        ("en", ["It cost 3.14 dollars (c. 5 euros). ".strip(), "Cheap."]),
        ("de", ["Am 3. Oktober 1990 war es so weit.", "Es begann 1989.", "Der 2. Weltkrieg z. B. nicht."]),
        ("en", ["He was 3.", "Then 4."]),
        ("ja", ["東京は首都である。", "「本当？」", "はい！"]),
        ("zh", ["北京是首都。", "上海（港口。大）不是。"]),
        ("en", ["(He left.)", "(It was c. 1990.)", "So he left."]),
        ("ka", ["ქალაქი დიდია.", "ქვეყანა პატარაა."]),
        ("hi", ["यह शहर है।", "वह गाँव है॥"]),
        ("ur", ["یہ شہر ہے۔", "کیا؟", "ہاں۔"]),
        ("ar", ["هذه مدينة.", "لماذا؟"]),
        ("my", ["မြို့ဖြစ်သည်။", "ရွာ။"]),
        ("uk", ["Місто на р. Дніпро.", "Тут 5 млн. чол. живе."]),
        ("tr", ["Şehir 19. yüzyılda kuruldu.", "Sonra büyüdü."]),
    ],
)  # fmt: skip
def test_sentences(language: str, sentences: list[str]) -> None:
    text = " ".join(sentences)
    assert [text[start:end] for start, end in sentence_spans(text, language)] == sentences
    lines = "\n\n".join(sentences)
    assert [lines[start:end] for start, end in sentence_spans(lines, language)] == sentences


def test_long_thai_text_is_cut_at_spaces() -> None:
    text = " ".join(["กรุงเทพมหานคร" * 5] * 20)
    spans = sentence_spans(text, "th")
    assert len(spans) > 3
    assert all(end - start <= 400 for start, end in spans)
    assert "".join(text[start:end] for start, end in spans).replace(" ", "") == text.replace(" ", "")


@given(st.text(alphabet="aB .!?。।؟\n()\"'13 \u00a0", max_size=80), st.sampled_from(["en", "de", "ja", "th"]))
def test_spans_cover_the_text_in_order(text: str, language: str) -> None:
    spans = sentence_spans(text, language)
    covered = set()
    for (start, end), following in zip(spans, [*spans[1:], (len(text), 0)], strict=False):
        assert start < end <= following[0]
        assert not text[start].isspace()
        assert not text[end - 1].isspace()
        covered.update(range(start, end))
    assert all(character.isspace() for place, character in enumerate(text) if place not in covered)


def test_ten_megabytes_without_an_end() -> None:
    assert sentence_spans("( a. " * 2_000_000, "en")[-1][1] == 9_999_999
