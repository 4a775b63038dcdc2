"""Attributes of any text: scripts, digits, punctuation."""

from bisect import bisect_right
from unicodedata import category

import numpy as np

from isogloss.explain.attributes.lengths import ratio
from isogloss.explain.attributes.needs import cached_per_examples, main_texts, text_language
from isogloss.explain.model import StrArray
from isogloss.languages import language as find_language
from isogloss.metrics.statistics import FloatArray, sizes
from isogloss.tasks.examples import Examples

# First code point of each block and its script; "-" marks blocks without a distinguished script.
_RANGES = """
0041 Latn 02b0 - 0370 Grek 0400 Cyrl 0530 Armn 0590 Hebr 0600 Arab 0700 - 0750 Arab 0780 - 0870 Arab 0900 Deva
0980 Beng 0a00 Guru 0a80 Gujr 0b00 Orya 0b80 Taml 0c00 Telu 0c80 Knda 0d00 Mlym 0d80 Sinh 0e00 Thai 0e80 Laoo 0f00 Tibt
1000 Mymr 10a0 Geor 1100 Hang 1200 Ethi 13a0 - 1780 Khmr 1800 - 1c80 Cyrl 1c90 Geor 1cc0 - 1d00 Latn 1dc0 - 1e00 Latn
1f00 Grek 2000 - 2c60 Latn 2c80 - 2d00 Geor 2d30 - 2de0 Cyrl 2e00 - 2e80 Hani 3008 - 3040 Hira 30a0 Kana 3100 -
3130 Hang 3190 - 31f0 Kana 3200 - 3400 Hani 4dc0 - 4e00 Hani a000 - a640 Cyrl a6a0 - a720 Latn a800 - a8e0 Deva a900 -
a960 Hang a980 - a9e0 Mymr aa00 - aa60 Mymr aa80 - ab30 Latn ab70 - ac00 Hang d800 - f900 Hani fb00 Latn fb07 -
fb1d Hebr fb50 Arab fe00 - fe70 Arab ff00 - ff21 Latn ff5b - ff66 Kana ffa0 Hang ffe0 - 20000 Hani 40000 -
""".split()
_BEGINS = [int(begin, 16) for begin in _RANGES[::2]]
_NAMES = [name if name != "-" else "Zyyy" for name in _RANGES[1::2]]
_SCRIPTS = sorted(set(_NAMES))
# Character classes: white space, digits, punctuation, other non-letters, then letters by script.
_SPACE, DIGITS, PUNCTUATION, _REST, _LETTERS = range(5)
_CLASSES = _LETTERS + len(_SCRIPTS)
# Scripts that are written together and share a name.
_TOGETHER = {"Hans": ("Hani",), "Jpan": ("Hani", "Hira", "Kana"), "Kore": ("Hang", "Hani")}


def _class_of(code: int) -> int:
    kind = category(chr(code))
    if kind[0] in "LM":
        name = _NAMES[max(bisect_right(_BEGINS, code) - 1, 0)]
        # Marks and modifiers shared by all scripts are ignored.
        shared = name == "Zyyy" and kind in ("Mn", "Mc", "Me", "Lm")
        return _REST if shared else _LETTERS + _SCRIPTS.index(name)
    if kind == "Nd":
        return DIGITS
    if kind[0] == "P":
        return PUNCTUATION
    return _SPACE if chr(code).isspace() else _REST


@cached_per_examples
def _characters(examples: Examples) -> FloatArray:
    """Count the characters of each main text by class, looking up each distinct character once."""
    texts = main_texts(examples)
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype="<u4")
    present = np.flatnonzero(np.bincount(codes, minlength=1))
    class_of = np.zeros(int(present.max(initial=0)) + 1, dtype=np.uint8)
    class_of[present] = [_class_of(int(code)) for code in present]
    keys = np.repeat(np.arange(len(texts)) * _CLASSES, sizes(texts)) + class_of[codes]
    counts = np.bincount(keys, minlength=len(texts) * _CLASSES)
    return counts.reshape(len(texts), _CLASSES).astype(np.float64)


def _by_script(examples: Examples) -> tuple[FloatArray, list[str]]:
    """Return letter counts by script, with the scripts' names: the language's own script first."""
    own = find_language(text_language(examples)).script
    letters = _characters(examples)[:, _LETTERS:]
    inside = [_SCRIPTS.index(part) for part in _TOGETHER.get(own, (own,))]
    outside = [index for index in range(len(_SCRIPTS)) if index not in inside]
    grouped = np.column_stack([letters[:, inside].sum(axis=1), letters[:, outside]])
    return grouped, [own, *(_SCRIPTS[index] for index in outside)]


def main_script(examples: Examples) -> StrArray:
    """Return script: ISO 15924 code of the most frequent script; "none" without letters.

    Scripts written together share a name: Jpan is kanji and kana, Kore is hangul and hanja.
    """
    letters, names = _by_script(examples)
    return np.where(letters.any(axis=1), np.array(names)[letters.argmax(axis=1)], "none")


def script_mix(examples: Examples) -> StrArray:
    """Return scriptMix: the main script plus the second, if any ("Arab+Latn"); "none" without letters."""
    letters, names = _by_script(examples)
    order = np.argsort(-letters, axis=1, kind="stable")[:, :2]
    two = np.take_along_axis(letters, order, axis=1) > 0
    both = np.array([[f"{first}+{second}" for second in names] for first in names])[order[:, 0], order[:, 1]]
    return np.where(two[:, 1], both, np.where(two[:, 0], np.array(names)[order[:, 0]], "none"))


def out_of_script(examples: Examples) -> FloatArray:
    """Return outOfScript: the share of letters outside the language's own script; 0 without letters."""
    letters, _ = _by_script(examples)
    return ratio(letters[:, 1:].sum(axis=1), letters.sum(axis=1))


def character_share(examples: Examples, kind: int) -> FloatArray:
    """Return the share of `DIGITS` of any script, or of `PUNCTUATION` (Unicode P), in all non-space characters."""
    counts = _characters(examples)
    return ratio(counts[:, kind], counts.sum(axis=1) - counts[:, _SPACE])
