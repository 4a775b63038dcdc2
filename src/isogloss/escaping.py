"""Escaping of untrusted text, with one function per output format.

All of them begin with `printable`: no name can move the cursor, end a line or change the direction of the text around
it. Terminals need nothing more.
"""

import re
from typing import Any

# Maximum length of a system's name, and of its other metadata.
NAME_LENGTH = 120
FACT_LENGTH = 600

_BREAKS = re.compile(r"[\t-\r\x1c-\x1e\x85\u2028\u2029]+")
# Controls, unterminated direction marks, surrogates, noncharacters (invalid in XML), and invisible tags. Joiners stay:
# Persian and Indic scripts need them.
_UNPRINTABLE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufdd0-\ufdef\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff"
    r"\U000e0000-\U000e007f]"
)

_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})

_MARKDOWN = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", **{sign: f"\\{sign}" for sign in "\\`*[]|~"}})
# Markup only in some positions: an underscore next to a word, and the start of a heading or list.
_MARKDOWN_PLACES = re.compile(r"(?<![^\W_])_|_(?![^\W_])|^(?:[#+-]|\d+(?=[.)]))(?=#*[.)]?\s)")

_LATEX_SYMBOLS = {"±": "pm", "Δ": "Delta", "●": "bullet", "⇄": "rightleftharpoons", "·": "cdot"}
_LATEX_SYMBOLS |= {"▲": "bigtriangleup", "▼": "bigtriangledown", "†": "dagger", "‡": "ddagger"}
_LATEX_SIGNS = {"~": "textasciitilde", "^": "textasciicircum", "\\": "textbackslash", "…": "dots"}
_LATEX = str.maketrans(
    {
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
        **{sign: f"${sign}$" for sign in "<>"},
        **{sign: f"$\\{name}$" for sign, name in _LATEX_SYMBOLS.items()},
        **{sign: f"\\{name}{{}}" for sign, name in _LATEX_SIGNS.items()},
        "–": "--",
        "—": "---",
        "\N{REPLACEMENT CHARACTER}": "?",
    }
)

_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_SIGNED_NUMBERS = re.compile(r"[+-][\d.,]+(?: to [+-]?[\d.,]+)?[*†‡]?")


def printable(text: str, limit: int | None = None, *, lines: bool = False) -> str:
    r"""Return the text with a blank for line breaks and tabs, and U+FFFD for unprintable characters.

    `limit` is the maximum number of characters of a line; `lines` keeps every `\n`, as in a long message.
    """
    if lines:
        return "\n".join(printable(line, limit) for line in text.replace("\r\n", "\n").split("\n"))
    if not text.isprintable():
        text = _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", _BREAKS.sub(" ", text))
    return text if limit is None or len(text) <= limit else f"{text[: limit - 1]}…"


def printable_values(value: Any, limit: int | None = None) -> Any:
    """Return nested lists and mappings with all texts printable, keys included."""
    if isinstance(value, str):
        return printable(value, limit)
    if isinstance(value, dict):
        return {printable_values(key, limit): printable_values(inner, limit) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [printable_values(inner, limit) for inner in value]
    return value


def printable_system(system: dict[str, Any]) -> dict[str, Any]:
    """Return printable metadata of a system, with a name short enough for a heading."""
    shown: dict[str, Any] = printable_values(system, FACT_LENGTH)
    return shown | {"name": printable(str(shown["name"]), NAME_LENGTH)} if "name" in shown else shown


def html_text(text: str) -> str:
    """Escape text for HTML, between tags or in an attribute."""
    return printable(text).translate(_HTML)


def markdown_text(text: str) -> str:
    """Escape text for a line or cell of Markdown."""
    # After a number, CommonMark requires escaping the full stop.
    return _MARKDOWN_PLACES.sub(
        lambda match: f"{match[0]}\\" if match[0].isdigit() else f"\\{match[0]}", printable(text).translate(_MARKDOWN)
    )


def latex_text(text: str) -> str:
    """Escape text for a line or cell of LaTeX."""
    escaped = printable(text).translate(_LATEX)
    # After the end of a row these would be read as its options.
    return f"{{}}{escaped}" if escaped.startswith(("[", "*")) else escaped


def csv_text(text: str) -> str:
    """Escape text for a cell of CSV, so that spreadsheets do not read it as a formula; signed numbers stay numbers."""
    cleaned = printable(text)
    is_formula = cleaned.lstrip().startswith(_FORMULA) and not _SIGNED_NUMBERS.fullmatch(cleaned)
    return f"'{cleaned}" if is_formula else cleaned


def tooltip_title(text: str) -> str:
    """Return a tooltip field's title; Vega-Lite puts it in a string expression and escapes only quotes."""
    return printable(text).replace("\\", "\\\\")
