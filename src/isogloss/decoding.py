"""Text, JSON and TOML from outside as values: whatever is wrong with them is one `DataError` that says where."""

from typing import Any

from isogloss.errors import DataError

MARK = b"\xef\xbb\xbf"  # the byte-order mark

# Python's own reader of TOML takes memory that grows with the square of the parts of a dotted key.
MAX_TOML_LENGTH = 1 << 18
MAX_TOML_DOTS = 500

# Characters of a reason: it may quote a value or a name of a field, which may be a whole file.
_LONGEST_REASON = 600

# What fits into 64 bits; int() refuses more than 4,300 digits with an error of its own.
_MAX_DIGITS = 18


def decode_text(raw: bytes, where: str, before: int = 0) -> str:
    """UTF-8 as text; a wrong byte is located.

    Args:
        raw: the bytes.
        where: the file they are from, for the message.
        before: how many lines of the file come before them.

    Raises:
        DataError: they are not UTF-8.
    """
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = before + raw.count(b"\n", 0, error.start) + 1
        fix = "Convert the file to UTF-8, e.g. with iconv"
        raise DataError(f"not UTF-8: byte 0x{raw[error.start]:02x}", where=f"{where}:{line}", fix=fix) from None


def decode_json(raw: bytes, where: str, expected: Any = Any, *, what: str = "JSON", fix: str = "") -> Any:
    """JSON as a value of a type that msgspec knows.

    Args:
        raw: the bytes, with or without a byte-order mark.
        where: the file they are from, for the message.
        expected: the type.
        what: what the file should be, in words: "a result record".
        fix: what to do if it is not.

    Raises:
        DataError: they are not JSON, or not of the type.
    """
    import msgspec

    try:
        return msgspec.json.decode(raw.removeprefix(MARK), type=expected)
    except UnicodeDecodeError:
        decode_text(raw, where)
        raise
    except (msgspec.DecodeError, RecursionError) as error:
        raise DataError(f"not {what}: {_reason(error)}", where=where, fix=fix) from None


def convert_value(value: Any, expected: Any, where: str = "", *, what: str) -> Any:
    """A decoded value as one of a type that msgspec knows; `what` and `where` are for the message.

    Raises:
        DataError: it is not of the type.
    """
    import msgspec

    try:
        return msgspec.convert(value, expected)
    except UnicodeEncodeError:
        raise DataError(f"not {what}: a key with half a character", where=where) from None
    except (msgspec.ValidationError, RecursionError) as error:
        raise DataError(f"not {what}: {_reason(error)}", where=where) from None


def decode_python_json(text: str, where: str, **options: Any) -> Any:
    """JSON as Python's own library writes it, with NaN and Infinity; the options are those of `json.loads`.

    Raises:
        DataError: it is not JSON.
    """
    import json

    try:
        return json.loads(text, **options)
    except json.JSONDecodeError as error:
        raise DataError(f"not JSON: {error.msg}", where=f"{where}:{error.lineno}") from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"not JSON: {_reason(error)}", where=where) from None


def decode_toml(text: str, where: str) -> dict[str, Any]:
    """TOML as a table.

    Raises:
        DataError: it is not TOML, or larger or deeper than any that people write.
    """
    import tomllib

    if len(text) > MAX_TOML_LENGTH:
        raise DataError(f"not TOML that people write: more than {MAX_TOML_LENGTH:,} characters", where=where)
    for number, line in enumerate(text.split("\n"), 1):
        if line.count(".") > MAX_TOML_DOTS:
            what = f"not TOML that people write: more than {MAX_TOML_DOTS} dots in a line"
            raise DataError(what, where=f"{where}:{number}")
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"not TOML: {_reason(error)}", where=where) from None


def whole_number(text: str) -> int | None:
    """The number that decimal digits write; None for any other text, and for more digits than a number here has."""
    return int(text) if text.isdecimal() and len(text) <= _MAX_DIGITS else None


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    reason = str(error)
    if "integer string conversion" in reason:
        return "a number of too many digits"  # Python's advice is to change its own settings
    # Where the fault is stands at the end.
    half = _LONGEST_REASON // 2
    return reason if len(reason) <= _LONGEST_REASON else f"{reason[:half]}…{reason[-half:]}"
