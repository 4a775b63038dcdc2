"""Settings that people write, in TOML or as tables of Python: what is wrong with one is a sentence that says where."""

import math
from collections.abc import Callable, Mapping
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from isogloss.errors import IsoglossError, unknown

# What a setting of each type may be written as, how it is read, and what that is called.
_READERS: Mapping[Any, tuple[tuple[type, ...], Callable[[Any], Any], str]] = {
    bool: ((bool,), bool, "true or false"),
    int: ((int,), int, "a whole number"),
    float: ((int, float), float, "a number"),
    str: ((str,), str, "a text"),
    tuple[str, ...]: ((list, tuple), tuple, "a list of texts"),
    dict: ((dict,), dict, "a table"),
}
# Whole numbers of TOML have 64 bits, whatever Python reads.
_LARGEST = 2**63 - 1


def checked_settings(
    table: Mapping[str, Any],
    types: Mapping[str, Any],
    kind: str,
    where: str,
    *,
    error: type[IsoglossError] = IsoglossError,
    least: float | None = None,
) -> dict[str, Any]:
    """The settings of a table, each in the type of its name.

    Args:
        table: what was written.
        types: the type of every setting there is.
        kind: what a setting is called: "key of a place".
        where: the file, and the table in it.
        error: what a wrong value raises.
        least: what no number may be below; None for any number.

    Raises:
        UnknownNameError: there is no such setting.
        IsoglossError: a value is of another type, or too small.
    """
    found = {}
    for key, value in table.items():
        if key not in types:
            raise unknown(kind, key, types, where=where)
        found[key] = checked_setting(key, value, types[key], where, error=error, least=least)
    return found


def checked_setting(
    key: str,
    value: Any,
    expected: Any,
    where: str,
    *,
    error: type[IsoglossError] = IsoglossError,
    least: float | None = None,
) -> Any:
    """The value of one setting in its type; the rest is as for `checked_settings`."""
    is_union = get_origin(expected) in (Union, UnionType)
    kinds = [kind for kind in (get_args(expected) if is_union else (expected,)) if kind is not NoneType]
    fitting = next((kind for kind in kinds if _fits(value, kind)), None)
    called = ", or ".join(map(_called, kinds))
    if fitting is None:
        raise error(f"{key} = {value!r} is not {called}", where=where)
    if least is not None and fitting in (int, float) and not least <= value < math.inf:
        raise error(f"{key} = {value!r} is not {called}, {least:g} or larger", where=where)
    return value if get_origin(fitting) is Literal else _READERS[fitting][1](value)


def _fits(value: Any, kind: Any) -> bool:
    if get_origin(kind) is Literal:
        return value in get_args(kind)
    accepted, _, _ = _READERS[kind]
    if isinstance(value, bool):  # to Python, true is a number too
        return kind is bool
    if isinstance(value, int) and abs(value) > _LARGEST:
        return False
    if isinstance(value, list | tuple) and not all(isinstance(item, str) for item in value):
        return False
    return isinstance(value, accepted)


def _called(kind: Any) -> str:
    return f'"{get_args(kind)[0]}"' if get_origin(kind) is Literal else _READERS[kind][2]
