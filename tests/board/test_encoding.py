"""Test the encoding of scores and records."""

import json
from decimal import ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hostile
from board.unpacking import unpacked
from isogloss.board.packing import NONE, packed
from isogloss.figures import score_text
from isogloss.site.page_parts import script_json


def test_scores_are_hundredths():
    assert unpacked(packed([0.0, 12.34, None, 100.0, -3.2])).tolist() == [0, 1234, NONE, 10000, 0]


@given(st.lists(st.one_of(st.none(), st.floats(0, 100)), max_size=20))
def test_packing_keeps_the_number_of_scores(values):
    scores = unpacked(packed(values)).tolist()
    assert [None if each == NONE else True for each in scores] == [None if each is None else True for each in values]


@given(st.floats(0, 100))
def test_packed_scores_read_as_printed_under_any_rounding(value):
    (score,) = unpacked(packed([value])).tolist()
    assert abs(score - 100 * value) <= 1.51
    for way in (ROUND_HALF_UP, ROUND_HALF_DOWN):
        shown = (Decimal(score) / 100).quantize(Decimal("0.1"), rounding=way)
        assert str(shown) == score_text(value)


@pytest.mark.parametrize("name", [*hostile.NAMES.values(), "<!--<script>", "\u2028\u2029", "&lt;"])
def test_json_cannot_end_a_script_or_a_line(name):
    text = name.encode("utf-8", "replace").decode()
    encoded = script_json({"name": text, text: [text]})
    assert not set("<>&\u2028\u2029\n") & set(encoded)
    assert json.loads(encoded) == {"name": text, text: [text]}
