"""Decode text, JSON and TOML from outside; every failure is a `DamagedFileError` with its location."""

from typing import Any

from isogloss.errors import DamagedFileError

MARK = b"\xef\xbb\xbf"  # the byte-order mark

# The memory of tomllib grows with the square of the parts of a dotted key.
MAX_TOML_LENGTH = 1 << 18
MAX_TOML_DOTS = 500

# Maximum characters of a reason: it may quote a whole file.
_LONGEST_REASON = 600

# Digits that fit into 64 bits; int() raises an error for more than 4,300 digits.
_MAX_DIGITS = 18


def decode_text(raw: bytes, where: str, before: int = 0) -> str:
    """Decode UTF-8; an error gives the line of the first invalid byte, which `before` lines precede."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = before + raw.count(b"\n", 0, error.start) + 1
        fix = "Convert the file to UTF-8, e.g. with iconv"
        raise DamagedFileError(f"not UTF-8: byte 0x{raw[error.start]:02x}", where=f"{where}:{line}", fix=fix) from None


def decode_json(raw: bytes, where: str, expected: Any = Any, *, what: str = "JSON", fix: str = "") -> Any:
    """Decode JSON into a type supported by msgspec; `what` describes it in messages, e.g. "a result record"."""
    import msgspec

    try:
        return msgspec.json.decode(raw.removeprefix(MARK), type=expected)
    except UnicodeDecodeError:
        decode_text(raw, where)
        raise
    except (msgspec.DecodeError, RecursionError) as error:
        raise DamagedFileError(f"not {what}: {_reason(error)}", where=where, fix=fix) from None


def convert_value(value: Any, expected: Any, where: str = "", *, what: str) -> Any:
    """Convert a decoded value to a type supported by msgspec; `what` and `where` are for messages."""
    import msgspec

    try:
        return msgspec.convert(value, expected)
    except UnicodeEncodeError:
        raise DamagedFileError(f"not {what}: a key contains a lone surrogate", where=where) from None
    except (msgspec.ValidationError, RecursionError) as error:
        raise DamagedFileError(f"not {what}: {_reason(error)}", where=where) from None


def decode_python_json(text: str, where: str, **options: Any) -> Any:
    """Decode JSON that may contain NaN and Infinity; options are passed to `json.loads`."""
    import json

    try:
        return json.loads(text, **options)
    except json.JSONDecodeError as error:
        raise DamagedFileError(f"not JSON: {error.msg}", where=f"{where}:{error.lineno}") from None
    except (ValueError, RecursionError) as error:
        raise DamagedFileError(f"not JSON: {_reason(error)}", where=where) from None


def decode_toml(text: str, where: str) -> dict[str, Any]:
    """Decode TOML that is not larger or deeper than hand-written files are."""
    import tomllib

    if len(text) > MAX_TOML_LENGTH:
        raise DamagedFileError(f"TOML too large: more than {MAX_TOML_LENGTH:,} characters", where=where)
    for number, line in enumerate(text.split("\n"), 1):
        if line.count(".") > MAX_TOML_DOTS:
            what = f"TOML too deep: more than {MAX_TOML_DOTS} dots in a line"
            raise DamagedFileError(what, where=f"{where}:{number}")
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise DamagedFileError(f"not TOML: {_reason(error)}", where=where) from None


def whole_number(text: str) -> int | None:
    """Return the integer written in decimal digits, or None for other text and for more than 18 digits."""
    return int(text) if text.isdecimal() and len(text) <= _MAX_DIGITS else None


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    reason = str(error)
    if "integer string conversion" in reason:
        return "a number with too many digits"  # Python suggests changing an interpreter setting
    # The location of the fault is at the end.
    half = _LONGEST_REASON // 2
    return reason if len(reason) <= _LONGEST_REASON else f"{reason[:half]}…{reason[-half:]}"
