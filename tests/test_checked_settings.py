"""Settings that people write: values in their types, and a sentence for each that is not."""

from typing import Any, Literal

import pytest

from isogloss.checked_settings import checked_setting, checked_settings
from isogloss.errors import DataError, IsoglossError, UnknownNameError

Limit = int | Literal["all"]


@pytest.mark.parametrize(
    ("value", "expected", "read"),
    [
        (True, bool, True),
        (3, int, 3),
        (3, float, 3.0),
        (0.5, float | None, 0.5),
        ("a", str, "a"),
        (["a", "b"], tuple[str, ...], ("a", "b")),
        ((), tuple[str, ...], ()),
        ({"a": 1}, dict, {"a": 1}),
        (3, Limit, 3),
        ("all", Limit, "all"),
    ],
)
def test_a_value_is_read_in_its_type(value: Any, expected: Any, read: Any) -> None:
    found = checked_setting("key", value, expected, "file")
    assert found == read
    assert type(found) is type(read)


@pytest.mark.parametrize(
    ("value", "expected", "said"),
    [
        (1, bool, "is not true or false"),
        (True, int, "is not a whole number"),
        (2.0, int, "is not a whole number"),
        (2**63, int, "is not a whole number"),
        (-(10**400), float, "is not a number"),
        (True, float, "is not a number"),
        (None, float | None, "is not a number"),
        (3, str, "is not a text"),
        ("a", tuple[str, ...], "is not a list of texts"),
        ([1], tuple[str, ...], "is not a list of texts"),
        ([], dict, "is not a table"),
        ("some", Limit, 'is not a whole number, or "all"'),
        ([[]], Limit, 'is not a whole number, or "all"'),
    ],
)
def test_a_value_of_another_type_is_refused_in_words(value: Any, expected: Any, said: str) -> None:
    with pytest.raises(DataError) as caught:
        checked_setting("key", value, expected, "file [table]", error=DataError)
    assert str(caught.value) == f"file [table]: key = {value!r} {said}"


@pytest.mark.parametrize("value", [-1, -0.5, float("nan"), float("inf")])
def test_a_number_has_a_least(value: float) -> None:
    expected = type(value)
    with pytest.raises(IsoglossError, match="number, 0 or larger"):
        checked_setting("key", value, expected, "file", least=0)
    assert checked_setting("key", value, expected, "file") is value
    assert checked_setting("key", 0, float, "file", least=0) == 0


def test_an_unknown_setting_brings_the_nearest_and_its_place() -> None:
    types = {"cpus": float, "name": str}
    assert checked_settings({"cpus": 2}, types, "key of a thing", "file") == {"cpus": 2.0}
    with pytest.raises(UnknownNameError) as caught:
        checked_settings({"cpu": 2}, types, "key of a thing", "file")
    assert str(caught.value) == "file: unknown key of a thing 'cpu'. Did you mean cpus?"
