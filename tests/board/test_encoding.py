"""Scores and records as the page reads them."""

import json
from decimal import ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hostile
from board.unpacking import unpacked
from isogloss.board.encoding import NONE, packed, script_json
from isogloss.errors import DataError
from isogloss.figures import score_text


def test_scores_are_hundredths():
    assert unpacked(packed([0.0, 12.34, None, 100.0, -3.2])).tolist() == [0, 1234, NONE, 10000, 0]


@given(st.lists(st.one_of(st.none(), st.floats(0, 100)), max_size=20))
def test_as_many_come_out_as_went_in(values):
    found = unpacked(packed(values)).tolist()
    assert [None if each == NONE else True for each in found] == [None if each is None else True for each in values]


@given(st.floats(0, 100))
def test_a_score_reads_as_it_is_printed_however_halves_are_rounded(value):
    (found,) = unpacked(packed([value])).tolist()
    assert abs(found - 100 * value) <= 1.51
    for way in (ROUND_HALF_UP, ROUND_HALF_DOWN):
        shown = (Decimal(found) / 100).quantize(Decimal("0.1"), rounding=way)
        assert str(shown) == score_text(value)


@pytest.mark.parametrize("value", [100.1, float("inf"), -200.0, 6553.5])
def test_what_is_no_score_is_refused(value):
    with pytest.raises(DataError, match="scores go from 0 to 100"):
        packed([1.0, value])


@pytest.mark.parametrize("name", [*hostile.NAMES.values(), "<!--<script>", "\u2028\u2029", "&lt;"])
def test_json_neither_ends_a_script_nor_a_line(name):
    text = name.encode("utf-8", "replace").decode()
    found = script_json({"name": text, text: [text]})
    assert not set("<>&\u2028\u2029\n") & set(found)
    assert json.loads(found) == {"name": text, text: [text]}
