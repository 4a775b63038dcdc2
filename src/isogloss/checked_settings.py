"""Checks of settings that people write in TOML or as Python tables: unknown keys, types, limits and names.

A class declares the settings: its annotations are their types, and `Annotated` adds limits and checks. msgspec converts
the values; it suggests no names, and must not be imported when suites are only listed, hence this module.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from isogloss.errors import IsoglossError, UnknownNameError, unknown

_NAMES: Mapping[Any, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a string",
    tuple[str, ...]: "a list of strings",
    dict: "a table",
}
_LARGEST = 2**63 - 1  # TOML integers have 64 bits


@dataclass(frozen=True)
class Limits:
    """Limits of a number, in words and as a test; used in `Annotated`."""

    words: str
    allow: Callable[[float], bool]


Positive = Annotated[float, Limits("above 0", lambda number: 0 < number < math.inf)]
PositiveInt = Annotated[int, Limits("above 0", lambda number: number > 0)]


def checked_settings(
    table: Any,
    types: Any,
    kind: str,
    where: str,
    *,
    error: type[IsoglossError] = IsoglossError,
    least: float | None = None,
) -> dict[str, Any]:
    """Return the settings of a table, each converted to its type; tables of tables are checked likewise.

    `types` is a class with a typed attribute per setting, or the types by name. A setting is called `kind` in messages,
    e.g. "key of a place". `least` is the lower bound of all numbers without `Limits`, which must then be finite.

    Raises:
        UnknownNameError: unknown setting, or unknown name in a setting.
        IsoglossError: a value has another type or is outside its limits; of the class `error`.
    """
    hints = get_type_hints(types, include_extras=True) if isinstance(types, type) else types
    settings: dict[str, Any] = {}
    for key, value in table.items():
        if key not in hints:
            raise unknown(kind, key, hints, where=where)
        expected = hints[key]
        if isinstance(expected, type) and hasattr(expected, "__annotations__"):
            section = checked_setting(key, value, dict, where, error=error)
            settings[key] = checked_settings(section, expected, kind, f"{where} [{key}]", error=error, least=least)
        else:
            settings[key] = checked_setting(key, value, expected, where, error=error, least=least)
    return settings


def checked_setting(
    key: str,
    value: Any,
    expected: Any,
    where: str,
    *,
    error: type[IsoglossError] = IsoglossError,
    least: float | None = None,
) -> Any:
    """Return one setting converted to its type; see `checked_settings`."""
    import msgspec  # not at import time: suites are listed without it

    plain, *rules = get_args(expected) if get_origin(expected) is Annotated else (expected,)
    choices = get_args(plain) if get_origin(plain) is Literal else ()
    if choices and isinstance(value, str) and value not in choices:
        raise unknown(key, value, choices, where=where)
    kinds = get_args(plain) if get_origin(plain) in (Union, UnionType) else (plain,)
    names = " or ".join(
        f'"{get_args(kind)[0]}"' if get_origin(kind) is Literal else _NAMES[kind] for kind in kinds if kind != NoneType
    )
    try:
        setting = msgspec.convert(value, plain)
    except (msgspec.ValidationError, UnicodeEncodeError):
        setting = None
    if setting is None or (isinstance(setting, int) and abs(setting) > _LARGEST):
        raise error(f"{key} = {value!r} is not {names}", where=where)
    if least is not None and isinstance(setting, int | float) and not isinstance(setting, bool) and not rules:
        rules = [Limits(f"of at least {least:g}", lambda number: least <= number < math.inf)]
    for rule in rules:
        if not isinstance(rule, Limits):
            try:
                rule(setting)
            except UnknownNameError as problem:
                problem.where = where
                raise
        elif not rule.allow(setting):
            number = " or ".join(_NAMES[kind] for kind in kinds if kind in (int, float))
            raise error(f"{key} = {value!r} is not {number} {rule.words}", where=where)
    return setting
