"""Text that others wrote, made safe for every place it is shown: one function for each format.

All of them begin with `printable`: whatever a name is, nothing in it moves the cursor, ends a line or turns the
direction of the text around it. A terminal needs no more than that.
"""

import re
from typing import Any

# Characters of a system's name, and of anything else that is known of it.
NAME_LENGTH = 120
FACT_LENGTH = 600

_BREAKS = re.compile(r"[\t-\r\x1c-\x1e\x85\u2028\u2029]+")
# Controls, marks that turn the direction of text until they are undone, halves of characters, what is no character (and
# is refused by XML), and invisible tags. Joiners stay: Persian and the scripts of India need them.
_UNPRINTABLE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufdd0-\ufdef\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff"
    r"\U000e0000-\U000e007f]"
)

_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})

_MARKDOWN = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", **{sign: f"\\{sign}" for sign in "\\`*[]|~"}},
)
# What is markup in some places only: an underscore beside a word, and what makes a line a heading or a list.
_MARKDOWN_PLACES = re.compile(r"(?<![^\W_])_|_(?![^\W_])|^(?:[#+-]|\d+(?=[.)]))(?=#*[.)]?\s)")

_LATEX = str.maketrans(
    {
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "\\": r"\textbackslash{}",
        "–": "--",
        "—": "---",
        "±": r"$\pm$",
        "…": r"\dots{}",
        "Δ": r"$\Delta$",
        "●": r"$\bullet$",
        "⇄": r"$\rightleftharpoons$",
        "▲": r"$\bigtriangleup$",
        "▼": r"$\bigtriangledown$",
        "·": r"$\cdot$",
        "†": r"$\dagger$",
        "‡": r"$\ddagger$",
        "<": r"$<$",
        ">": r"$>$",
        "\N{REPLACEMENT CHARACTER}": "?",
    }
)

_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_SIGNED_NUMBERS = re.compile(r"[+-][\d.,]+(?: to [+-]?[\d.,]+)?[*†‡]?")


def printable(text: str, limit: int | None = None, *, lines: bool = False) -> str:
    r"""The text without anything that acts instead of being seen.

    Args:
        text: anything.
        limit: at most so many characters, of each line if there are several.
        lines: whether `\n` may stay, as in a message of several lines.

    Returns:
        The text with a blank for line breaks and tabs, and U+FFFD for what cannot be printed.
    """
    if lines:
        return "\n".join(printable(line, limit) for line in text.replace("\r\n", "\n").split("\n"))
    if not text.isprintable():
        text = _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", _BREAKS.sub(" ", text))
    return text if limit is None or len(text) <= limit else f"{text[: limit - 1]}…"


def printable_values(value: Any, limit: int | None = None) -> Any:
    """Lists and mappings of any depth with every text in them printable, the keys too."""
    if isinstance(value, str):
        return printable(value, limit)
    if isinstance(value, dict):
        return {printable_values(key, limit): printable_values(inner, limit) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [printable_values(inner, limit) for inner in value]
    return value


def printable_system(system: dict[str, Any]) -> dict[str, Any]:
    """What is known of a system, with a name that is short enough for a heading."""
    shown: dict[str, Any] = printable_values(system, FACT_LENGTH)
    return shown | {"name": printable(str(shown["name"]), NAME_LENGTH)} if "name" in shown else shown


def html_text(text: str) -> str:
    """Text for HTML, between tags or in an attribute."""
    return printable(text).translate(_HTML)


def markdown_text(text: str) -> str:
    """Text for a line, or a cell, of Markdown: neither HTML nor markup."""
    return _MARKDOWN_PLACES.sub(lambda found: _escaped_start(found[0]), printable(text).translate(_MARKDOWN))


def _escaped_start(found: str) -> str:
    # Of a number the full stop behind it is escaped, which CommonMark asks for.
    return f"{found}\\" if found.isdigit() else f"\\{found}"


def latex_text(text: str) -> str:
    """Text for a line, or a cell, of LaTeX."""
    escaped = printable(text).translate(_LATEX)
    # Behind the end of a row these would be read as its options.
    return f"{{}}{escaped}" if escaped.startswith(("[", "*")) else escaped


def csv_text(text: str) -> str:
    """Text for a cell of CSV: no spreadsheet takes it for a formula, and signed numbers stay numbers."""
    cleaned = printable(text)
    is_formula = cleaned.lstrip().startswith(_FORMULA) and not _SIGNED_NUMBERS.fullmatch(cleaned)
    return f"'{cleaned}" if is_formula else cleaned


def tooltip_title(text: str) -> str:
    """The title of a field in a tooltip: Vega-Lite makes a string in an expression of it, and escapes quotes alone."""
    return printable(text).replace("\\", "\\\\")
