"""Invalid external text raises one error with its location."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from isogloss.decoding import convert_value, decode_json, decode_python_json, decode_text, decode_toml, whole_number
from isogloss.errors import DataError

DEEP = 100_000
DIGITS = "9" * 5_000


class Point(msgspec.Struct):
    x: int


def test_valid_text_is_decoded() -> None:
    assert decode_text("ä\n".encode(), "f") == "ä\n"
    assert decode_json(b'\xef\xbb\xbf{"x": 1}', "f", Point) == Point(1)
    assert str(decode_python_json("[NaN, 1]", "f")) == "[nan, 1]"
    assert decode_toml("a.b = 1", "f") == {"a": {"b": 1}}
    assert [whole_number(text) for text in ("12", "-1", "1.5", "", "x", DIGITS)] == [12, *[None] * 5]


@pytest.mark.parametrize(
    ("decode", "text", "said"),
    [
        (decode_json, b'{"x":\n"\xff"}', r"f:2: not UTF-8: byte 0xff\. Convert"),
        (decode_json, b"{", "f: not JSON: Input data was truncated"),
        (decode_json, b"[" * DEEP, "f: not JSON: nested too deeply"),
        (decode_json, DIGITS.encode(), "f: not JSON: Integer value out of range"),
        (decode_json, b"NaN", "f: not JSON: .*malformed"),
        (decode_python_json, "{\n]", "f:2: not JSON: Expecting"),
        (decode_python_json, "[" * DEEP, "f: not JSON: nested too deeply"),
        (decode_python_json, DIGITS, "f: not JSON: a number with too many digits"),
        (decode_toml, "a = ", "f: not TOML: Invalid value"),
        (decode_toml, "a = " + "[" * DEEP, "f: not TOML: nested too deeply"),
        (decode_toml, "a = " + DIGITS, "f: not TOML: a number with too many digits"),
        # Python's own reader takes 40 GB for this one.
        (decode_toml, "\n" + ".".join("a" * DEEP) + " = 1", "f:2: TOML too deep: more than 500 dots"),
        (decode_toml, "#" * (2 << 20), "f: TOML too large: more than 262,144 characters"),
    ],
)
def test_invalid_text_is_one_error(decode: Callable[..., Any], text: Any, said: str) -> None:
    with pytest.raises(DataError, match=said):
        decode(text, "f")


def test_a_wrong_type_names_the_expected_one() -> None:
    with pytest.raises(DataError, match=r"f: not a point: Expected `int`, got `str` - at `\$\.x`\. Write one"):
        decode_json(b'{"x": "1"}', "f", Point, what="a point", fix="Write one")


@pytest.mark.parametrize(
    ("value", "said"),
    [({"x": "1"}, "Expected `int`"), ({"\ud800": 1}, "a key contains a lone surrogate"), (1.5, "Expected `object`")],
)
def test_an_invalid_value_of_a_type(value: Any, said: str) -> None:
    with pytest.raises(DataError, match=f"^f: not a point: {said}"):
        convert_value(value, Point, "f", what="a point")


def test_messages_are_short() -> None:
    shown = str(DataError("x" * 100_000, where="y" * 100_000, fix="z" * 100_000))
    assert len(shown) < 20_000
    assert ["x…" in shown, "y…: x" in shown, shown.endswith("z…")] == [True, True, True]
