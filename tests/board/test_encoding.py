"""Scores and records as the page reads them."""

import json
from base64 import b64decode
from decimal import ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hostile
from isogloss.board.encoding import NONE, packed, script_json
from isogloss.errors import DataError
from isogloss.figures import score_text


def unpacked(text):
    return np.frombuffer(b64decode(text), dtype="<u2").tolist()


def test_scores_are_hundredths():
    assert unpacked(packed([0.0, 12.34, None, 100.0, -3.2])) == [0, 1234, NONE, 10000, 0]


@given(st.floats(0, 100))
def test_a_score_reads_as_it_is_printed_however_halves_are_rounded(value):
    (found,) = unpacked(packed([value]))
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
