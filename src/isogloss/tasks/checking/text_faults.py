"""Faults of single texts: encodings, control characters, normalization, length and script."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from isogloss.errors import UnknownNameError
from isogloss.languages.text_scripts import fitting_scripts, unexpected_script

# Characters that the bytes 80 to BF become in Windows-1252 and Latin-1, without blanks and quotation marks, which may
# follow a letter.
_CONTINUATION = "\u0080-\u009f¡-ª¬-º¼-¿€‚ƒ„…†‡ˆ‰Š‹ŒŽ•–—˜™š›œžŸ"
_MOJIBAKE = re.compile(
    rf"[ÂÃ][{_CONTINUATION}]"
    rf"|â€[{_CONTINUATION}‘’“”\u009d]"
    # Other scripts: several letters in a row, because one may be a capital before punctuation.
    rf"|(?:[Î-ÏÐ-ÑØ-ÛÄÅ][{_CONTINUATION} ]){{3,}}"
    rf"|(?:[à-ï][{_CONTINUATION} ]{{2}}){{2,}}"
)
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]")
_MARK = "\ufeff"
# A text is very long from here, if it also has this many times the median length.
_LONG, _TIMES = 2_000, 20
_VERY_LONG = 50_000


@dataclass
class TextFaults:
    """Rows with a fault, by code, of the texts of one language and split.

    Attributes:
        rows: rows, each once.
        details: what the texts have: characters, scripts.
        composed: number of examples in NFC that have composed characters.
        decomposed: rows that are not in NFC.
    """

    rows: dict[str, dict[int, None]] = field(default_factory=dict)
    details: dict[str, Counter[str]] = field(default_factory=dict)
    composed: int = 0
    decomposed: dict[int, None] = field(default_factory=dict)

    def add(self, code: str, row: int, detail: str = "") -> None:
        """Add a fault."""
        self.rows.setdefault(code, {})[row] = None
        if detail:
            self.details.setdefault(code, Counter())[detail] += 1


def text_faults(columns: Iterable[Iterable[tuple[int, str]]], language: str) -> TextFaults:
    """Return the faults of the texts of several columns, which are given with their rows."""
    faults = TextFaults()
    expected = _scripts(language)
    for texts in columns:
        _column_faults(faults, texts, expected)
    return faults


def _column_faults(faults: TextFaults, texts: Iterable[tuple[int, str]], expected: frozenset[str]) -> None:
    lengths: list[tuple[int, int]] = []
    for row, text in texts:
        lengths.append((len(text), row))
        if not text.strip():
            faults.add("empty-text", row)
        elif not text.isascii():
            _characters(faults, row, text)
            _normalization(faults, row, text)
        elif not text.isprintable() and (controls := _CONTROLS.findall(text)):
            faults.add("control-character", row, _code_point(controls[0]))
        if script := unexpected_script(text, expected):
            faults.add("unexpected-script", row, script)
    _lengths(faults, lengths)


def _scripts(language: str) -> frozenset[str]:
    """Return the scripts of a language; none if it is unknown."""
    try:
        return fitting_scripts(language)
    except UnknownNameError:
        return frozenset()


def _characters(faults: TextFaults, row: int, text: str) -> None:
    if "\ufffd" in text:
        faults.add("replacement-character", row)
    if match := _MOJIBAKE.search(text):
        faults.add("mojibake", row, match[0])
    if _MARK in text:
        faults.add("byte-order-mark", row)
    if controls := _CONTROLS.findall(text):
        faults.add("control-character", row, _code_point(controls[0]))


def _code_point(character: str) -> str:
    return f"U+{ord(character):04X}"


def _normalization(faults: TextFaults, row: int, text: str) -> None:
    if not unicodedata.is_normalized("NFC", text):
        faults.decomposed[row] = None
    elif not unicodedata.is_normalized("NFD", text):
        faults.composed += 1


def _lengths(faults: TextFaults, lengths: list[tuple[int, int]]) -> None:
    if not lengths:
        return
    median = sorted(length for length, _ in lengths)[len(lengths) // 2]
    longest = min(max(_LONG, _TIMES * median), _VERY_LONG)
    long_rows = [(length, row) for length, row in lengths if length > longest]
    for _, row in long_rows:
        faults.add("long-text", row)
    if long_rows:
        faults.details["long-text"] = Counter({f"{max(long_rows)[0]:,}": 1})
