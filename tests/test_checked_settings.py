"""Checks of settings: conversion to their types, and the messages for invalid ones."""

from typing import Annotated, Any, Literal, TypedDict

import pytest

from isogloss.checked_settings import Positive, checked_setting, checked_settings
from isogloss.errors import DataError, IsoglossError, UnknownNameError, unknown

Limit = int | Literal["all"]


@pytest.mark.parametrize(
    ("value", "expected", "converted"),
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
def test_values_are_converted(value: Any, expected: Any, converted: Any) -> None:
    setting = checked_setting("key", value, expected, "file")
    assert setting == converted
    assert type(setting) is type(converted)


@pytest.mark.parametrize(
    ("value", "expected", "message"),
    [
        (1, bool, "is not true or false"),
        (True, int, "is not a whole number"),
        (2.0, int, "is not a whole number"),
        (2**63, int, "is not a whole number"),
        (-(10**400), float, "is not a number"),
        (True, float, "is not a number"),
        (None, float | None, "is not a number"),
        (3, str, "is not a string"),
        ("a", tuple[str, ...], "is not a list of strings"),
        ([1], tuple[str, ...], "is not a list of strings"),
        ([], dict, "is not a table"),
        ("some", Limit, 'is not a whole number or "all"'),
        ([[]], Limit, 'is not a whole number or "all"'),
    ],
)
def test_values_of_another_type_are_refused(value: Any, expected: Any, message: str) -> None:
    with pytest.raises(DataError) as caught:
        checked_setting("key", value, expected, "file [table]", error=DataError)
    assert str(caught.value) == f"file [table]: key = {value!r} {message}"


@pytest.mark.parametrize("value", [-1, -0.5, float("nan"), float("inf")])
def test_numbers_below_the_lower_bound_are_refused(value: float) -> None:
    expected = type(value)
    with pytest.raises(IsoglossError, match="number of at least 0"):
        checked_setting("key", value, expected, "file", least=0)
    assert checked_setting("key", value, expected, "file") is value
    assert checked_setting("key", 0, float, "file", least=0) == 0


def test_unknown_settings_suggest_the_nearest() -> None:
    types = {"cpus": float, "name": str}
    assert checked_settings({"cpus": 2}, types, "key of a thing", "file") == {"cpus": 2.0}
    with pytest.raises(UnknownNameError) as caught:
        checked_settings({"cpu": 2}, types, "key of a thing", "file")
    assert str(caught.value) == "file: unknown key of a thing 'cpu'. Did you mean cpus?"


def check_host(name: str) -> None:
    if name not in ("near", "far"):
        raise unknown("host", name, ("near", "far"))


class Engine(TypedDict):
    cpus: Positive
    name: Literal["ray", "slurm"]
    host: Annotated[str, check_host]


class File(TypedDict):
    engine: Engine
    jobs: int


def test_a_class_declares_nested_tables() -> None:
    table = {"jobs": 2, "engine": {"cpus": 1, "name": "ray", "host": "near"}}
    assert checked_settings(table, File, "key", "file") == {**table, "engine": {**table["engine"], "cpus": 1.0}}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"engine": 3}, "file: engine = 3 is not a table"),
        ({"engine": {"cpu": 1}}, "file [engine]: unknown key 'cpu'. Did you mean cpus?"),
        ({"engine": {"cpus": 0}}, "file [engine]: cpus = 0 is not a number above 0"),
        ({"engine": {"cpus": float("inf")}}, "file [engine]: cpus = inf is not a number above 0"),
        ({"engine": {"name": "rya"}}, "file [engine]: unknown name 'rya'. Did you mean ray?"),
        ({"engine": {"host": "neer"}}, "file [engine]: unknown host 'neer'. Did you mean near?"),
    ],
)
def test_errors_in_nested_tables_name_the_table(table: dict[str, Any], message: str) -> None:
    with pytest.raises(IsoglossError) as caught:
        checked_settings(table, File, "key", "file")
    assert str(caught.value) == message
