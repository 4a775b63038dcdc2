"""Markers that survive a translation, are lost, moved, repeated or swapped."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.translation.markers import CANDIDATES, Markers, surviving_markers, transferred

SQUARE = Markers("[", "]")


def test_marked_span_is_read_back() -> None:
    assert SQUARE.mark("the red house", (4, 7)) == "the [red] house"
    assert SQUARE.read("la casa [ roja ] .") == ("la casa  roja  .", (9, 13))


@pytest.mark.parametrize(
    "translation",
    ["la casa roja", "la [casa roja", "la casa] roja", "la ]casa[ roja", "[la] [casa]", "la [] casa", "la [ ] casa"],
)
def test_damaged_markers_are_refused(translation: str) -> None:
    assert SQUARE.read(translation) is None


def test_span_moves_to_text_with_other_blanks() -> None:
    assert transferred("la casa  roja  .", (9, 13), "la casa roja.") == (8, 12)
    assert transferred("la casa  roja", (9, 13), "La casa roja") is None
    assert transferred("  ", (0, 2), "") is None


@given(st.text(st.characters(codec="utf-8"), max_size=20), st.data())
def test_transferred_span_has_the_same_letters(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    spaced = " ".join(text)
    place = transferred(text, (start, end), spaced)
    if text[start:end].split():
        assert place is not None
        assert 0 <= place[0] < place[1] <= len(spaced)
        assert "".join(spaced[slice(*place)].split()) == "".join(text[start:end].split())
    else:
        assert place is None


def test_markers_are_chosen_by_the_translator() -> None:
    spans = [("the red house", (4, 7)), ("one [sic] two", (0, 3))]
    assert surviving_markers(list, spans) == CANDIDATES[0]
    kept = {"[", "]"}

    def translate(texts: list[str]) -> list[str]:
        return ["".join(letter for letter in text if letter.isalnum() or letter in {" ", *kept}) for text in texts]

    assert surviving_markers(translate, spans) == SQUARE
    kept.clear()
    assert surviving_markers(translate, spans) is None
