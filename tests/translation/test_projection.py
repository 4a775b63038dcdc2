"""Projected spans: every step on hand-made translations, and what holds for all texts."""

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.translation.alignment import spelling_aligner
from isogloss.translation.lines import LineTranslator, line_with
from isogloss.translation.projection import (
    SpanProjector,
    SpanToProject,
    exact_span,
    fuzzy_span,
    projected_back,
    steps_text,
)

ENGLISH = "In May 1990 the red house burnt."
SPANISH = "En mayo de 1990 ardió la casa roja."
START = ENGLISH.index("the red house")
WORDS = {"the": "la", "red": "roja", "house": "casa", "In": "En", "May": "mayo", "burnt": "ardió"}


def project(
    translate: Callable[[str], str], original: str = ENGLISH, text: str = "the red house"
) -> tuple[str, str] | None:
    """Return the projected text of an answer, and the step."""
    lines = LineTranslator(lambda texts: list(map(translate, texts)))
    [translation] = lines.texts([original])
    start = original.index(text)
    span = SpanToProject(original=original, translation=translation, span=(start, start + len(text)))
    [found] = SpanProjector(lines, spelling_aligner(lines.dictionary)).project([span])
    return None if found is None else (translation[slice(*found.span)], found.step)


def translator(marked: Callable[[str], str], answer: str = "otra cosa") -> Callable[[str], str]:
    """Return a translator with its own treatment of marked texts; it knows no single words."""

    def translate(line: str) -> str:
        if line == ENGLISH:
            return SPANISH
        return answer if line == "the red house" else marked(line)

    return translate


def test_markers_move_with_reordered_words() -> None:
    assert project(translator(lambda line: f"En mayo de 1990 ardió {line[12]}la casa roja{line[26]} .")) == (
        "la casa roja",
        "markers",
    )


@pytest.mark.parametrize(
    "marked",
    [
        lambda line: SPANISH,  # lost
        lambda line: "En mayo de 1990 ardió ⟦la ⟦casa roja⟧⟧.",  # repeated
        lambda line: "En mayo de 1990 ardió ⟧la casa roja⟦.",  # swapped
        lambda line: "En mayo de 1990 ardió la casa roja⟦⟧.",  # moved away
    ],
)
def test_separate_translation_is_searched_without_markers(marked: Callable[[str], str]) -> None:
    assert project(translator(marked, answer="La casa roja.")) == ("la casa roja", "exact")


def test_marked_text_of_another_translation_is_searched() -> None:
    assert project(translator(lambda line: "Ardió en 1990 ⟦la casa roja⟧.")) == ("la casa roja", "exact")


def test_aligned_words_are_found() -> None:
    translate = translator(lambda line: WORDS.get(line, ""), answer="el hogar rojo")
    assert project(translate) == ("la casa roja", "alignment")


def test_similar_words_are_found() -> None:
    assert project(translator(lambda line: "", answer="las casas rojas")) == ("la casa roja", "fuzzy")


def test_answer_without_trace_is_lost() -> None:
    assert project(translator(lambda line: "", answer="el hogar")) is None


def test_line_of_several_is_marked() -> None:
    original = f" First line. \n\n  {ENGLISH}\nLast."
    assert project(str.upper, original) == ("THE RED HOUSE", "markers")
    assert line_with(original, 0, 15) is None
    assert line_with("a\n b", 2, 4) is None  # starts with a blank


def test_unsegmented_languages() -> None:
    chinese = "红房子于1990年5月被烧毁。"

    def translate(line: str) -> str:
        known = {ENGLISH: chinese, "the red house": "红色的房子"}
        return known.get(line) or ("⟦红房子⟧于1990年5月被烧毁。" if "⟦" in line else "")

    assert project(translate) == ("红房子", "markers")
    assert project(lambda line: "" if "⟦" in line or "[" in line else translate(line)) == ("红房子", "fuzzy")


@pytest.mark.parametrize(
    ("context", "text", "expected", "found"),
    [
        ("May 5, 1905, 5", "5", 0, (4, 5)),  # never inside a number
        ("1905", "5", 0, None),
        ("carpet car", "car", 0, (7, 10)),  # rather whole words
        ("İstanbul'da carpets", "carpet", 0, (12, 18)),
        ("一九九零年", "九", 3, (2, 3)),
        ("x", " . ", 0, None),
    ],
)
def test_exact_matches_respect_words(context: str, text: str, expected: int, found: tuple[int, int] | None) -> None:
    assert exact_span(context, text, expected) == found


def test_fuzzy_match_is_near() -> None:
    context = "la casa rojiza y mucho más tarde en otro lugar la casa rojiza"
    assert fuzzy_span(context, "la casa roja", 0) == (0, 14)
    assert fuzzy_span(context, "la casa roja", 50) == (47, 61)
    assert fuzzy_span(context, "", 0) is None
    assert fuzzy_span("", "la", 0) is None


PAIRS = [(0, 0), (1, 1), (3, 2), (4, 6), (5, 3), (6, 5), (7, 4), (8, 7)]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("the red house", ("la casa roja", "alignment")),
        ("red", ("roja", "alignment")),
        ("1990", ("1990", "exact")),
        ("the red houses", ("la casa roja", "alignment")),  # not literally in the translation
        ("blue sky", None),
        ("", None),
    ],
)
def test_answers_return_to_the_original(answer: str, expected: tuple[str, str] | None) -> None:
    found = projected_back(answer, ENGLISH, SPANISH, PAIRS)
    assert (found and (SPANISH[slice(*found.span)], found.step)) == expected


TEXTS = st.text(st.sampled_from("ab 1.红房[]⟦⟧\n"), max_size=30)


@given(TEXTS, TEXTS, st.integers(-5, 40))
def test_matches_are_inside(context: str, text: str, expected: int) -> None:
    for find in (exact_span, fuzzy_span):
        span = find(context, text, expected)
        assert span is None or 0 <= span[0] < span[1] <= len(context)
    exact = exact_span(context, text, expected)
    assert exact is None or context[slice(*exact)].lower() == text.strip().rstrip(".").lower()


@given(
    TEXTS, st.data(), st.sampled_from([str, str.upper, lambda text: text[::-1], lambda text: text[: len(text) // 2]])
)
def test_projected_spans_are_inside(text: str, data: st.DataObject, translate: Callable[[str], str]) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    lines = LineTranslator(lambda texts: list(map(translate, texts)))
    [translation] = lines.texts([text])
    span = SpanToProject(original=text, translation=translation, span=(start, end))
    [found] = SpanProjector(lines, spelling_aligner(lines.dictionary)).project([span])
    assert found is None or 0 <= found.span[0] < found.span[1] <= len(translation)
    back = projected_back(text[start:end], text, translation, [])
    assert back is None or 0 <= back.span[0] < back.span[1] <= len(translation)


@given(TEXTS.map(lambda text: "".join(c for c in text if c not in "[]⟦⟧\n")), st.data())
def test_faithful_translation_loses_nothing(text: str, data: st.DataObject) -> None:
    line = " ".join(text.split())
    start = data.draw(st.integers(0, len(line)))
    end = data.draw(st.integers(start, len(line)))
    if not line[start:end].strip():
        return
    lines = LineTranslator(list)
    [found] = SpanProjector(lines, spelling_aligner()).project(
        [SpanToProject(original=line, translation=line, span=(start, end))]
    )
    assert found is not None
    assert line[slice(*found.span)] == line[start:end].strip()
    assert found.step == "markers"


def test_every_distinct_line_is_translated_once() -> None:
    asked: list[str] = []

    def translate(texts: Sequence[str]) -> list[str]:
        asked.extend(texts)
        return list(texts)

    lines = LineTranslator(translate)
    assert lines.texts(["a\n\n b ", "b"]) == ["a\n\nb", "b"]
    assert lines(["a", " "]) == ["a", ""]
    assert asked == ["a", "b"]


def test_counts_in_words() -> None:
    counts = {"markers": 1200, "fuzzy": 1, "lost": 799}
    expected = "answers: 1,201 of 2,000 projected (markers 1,200, fuzzy 1), 799 lost (40.0%)"
    assert steps_text(counts, 2000, "answers") == expected
