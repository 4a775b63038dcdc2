"""Script and language of a reply's or a translation's own words."""

from bisect import bisect_right
from collections import Counter
from functools import cache
from typing import Any

# Blocks of letters by script, first and last code point; Han and kana are told apart below.
_BLOCKS = {
    "Latn": "41-5A 61-7A AA-AA BA-BA C0-2AF 1E00-1EFF 2C60-2C7F A720-A7FF AB30-AB6F FB00-FB06 FF21-FF3A FF41-FF5A",
    "Grek": "370-3FF 1F00-1FFF",
    "Cyrl": "400-52F 1C80-1C8F 1D2B-1D2B 2DE0-2DFF A640-A69F",
    "Armn": "531-58F FB13-FB17",
    "Hebr": "590-5FF FB1D-FB4F",
    "Arab": "600-6FF 750-77F 870-8FF FB50-FDFF FE70-FEFE",
    "Deva": "900-97F A8E0-A8FF",
    "Beng": "980-9FF",
    "Guru": "A00-A7F",
    "Gujr": "A80-AFF",
    "Orya": "B00-B7F",
    "Taml": "B80-BFF",
    "Telu": "C00-C7F",
    "Knda": "C80-CFF",
    "Mlym": "D00-D7F",
    "Sinh": "D80-DFF",
    "Thai": "E00-E7F",
    "Laoo": "E80-EFF",
    "Tibt": "F00-FFF",
    "Mymr": "1000-109F A9E0-A9FF AA60-AA7F",
    "Geor": "10A0-10FF 1C90-1CBF 2D00-2D2F",
    "Kore": "1100-11FF 3130-318F A960-A97F AC00-D7FF",
    "Ethi": "1200-139F 2D80-2DDF AB01-AB2F",
    "Khmr": "1780-17FF",
    "Olck": "1C50-1C7F",
    "Tfng": "2D30-2D7F",
    "Syrc": "700-74F 860-86F",
    "Thaa": "780-7BF",
    "Nkoo": "7C0-7FF",
    "Cher": "13A0-13FF AB70-ABBF",
    "Cans": "1400-167F 18B0-18FF",
    "Mong": "1800-18AF",
    "Limb": "1900-194F",
    "Tale": "1950-197F",
    "Talu": "1980-19DF",
    "Bugi": "1A00-1A1F",
    "Lana": "1A20-1AAF",
    "Bali": "1B00-1B7F",
    "Sund": "1B80-1BBF 1CC0-1CCF",
    "Batk": "1BC0-1BFF",
    "Lepc": "1C00-1C4F",
    "Yiii": "A000-A4CF",
    "Lisu": "A4D0-A4FF",
    "Vaii": "A500-A63F",
    "Sylo": "A800-A82F",
    "Saur": "A880-A8DF",
    "Kali": "A900-A92F",
    "Java": "A980-A9DF",
    "Cham": "AA00-AA5F",
    "Mtei": "AAE0-AAFF ABC0-ABFF",
    "Osge": "104B0-104FF",
    "Rohg": "10D00-10D3F",
    "Cakm": "11100-1114F",
    "Hmng": "16B00-16B8F",
    "Plrd": "16F00-16F9F",
    "Hmnp": "1E100-1E14F",
    "Wcho": "1E2C0-1E2FF",
    "Adlm": "1E900-1E95F",
    "kana": "3040-30FF 31F0-31FF FF66-FF9F",
    "Hans": "2E80-2FDF 3005-3007 3400-4DBF 4E00-9FFF F900-FAFF 20000-323AF",
}
# Scripts written with the same characters: a short text in Japanese may have only Han.
_ALIKE = {"Hani": "Hans", "Hant": "Hans", "Jpan": "Hans", "Hira": "Hans", "Kana": "Hans", "Hang": "Kore"}
_FEWEST_LETTERS = 2
# A shorter text is often a name, or a word of several languages.
_FEWEST_FOR_LANGUAGE = 25
_LONGEST = 20_000
_NO_LANGUAGE = "zxx"


def script_of(text: str) -> str:
    """Return the script (ISO 15924) of most letters of a text, "" if it has too few or no script has a majority.

    Han characters are Japanese (`Jpan`) beside kana and otherwise `Hans`, which includes traditional ones.
    """
    letters = Counter(filter(str.isalpha, text))
    counts: Counter[str] = Counter()
    for letter, count in letters.items():
        counts[_script(letter)] += count
    total = counts.total()
    if counts["kana"]:
        counts["Jpan"] = counts.pop("kana") + counts.pop("Hans", 0)
    if total < _FEWEST_LETTERS:
        return ""
    script, most = counts.most_common(1)[0]
    return script if 2 * most > total else ""


def language_of(text: str) -> str:
    """Return the language of a text as an ISO 639-1 code, or ISO 639-3 if it has none there.

    Returns "" for a text of fewer than 25 letters, and without the library py3langid.
    """
    text = text[:_LONGEST]
    if sum(map(str.isalpha, text)) < _FEWEST_FOR_LANGUAGE:
        return ""
    identifier = _identifier()
    if identifier is None:
        return ""
    code = str(identifier.classify(text)[0])
    return "" if code == _NO_LANGUAGE else code


def comparable(code: str) -> str:
    """Return a script, or a language without its region and script, in a form that compares."""
    return _ALIKE.get(code, code.partition("-")[0])


@cache
def languages_told() -> frozenset[str]:
    """Return the codes that `language_of` may return; none without the library py3langid."""
    identifier = _identifier()
    return (
        frozenset() if identifier is None else frozenset(str(code) for code, _ in identifier.rank("")) - {_NO_LANGUAGE}
    )


@cache
def _identifier() -> Any:
    """Return the library, which loads its model once, or None without it."""
    try:
        import py3langid
    except ImportError:
        return None
    return py3langid


@cache
def _script(letter: str) -> str:
    starts, blocks = _blocks()
    at = bisect_right(starts, ord(letter)) - 1
    if at < 0:
        return ""
    last, script = blocks[at]
    return script if ord(letter) <= last else ""


@cache
def _blocks() -> tuple[list[int], list[tuple[int, str]]]:
    """Return the first code points of the blocks, in order, and their last ones with the scripts."""
    blocks: list[tuple[int, int, str]] = []
    for script, listed in _BLOCKS.items():
        for block in listed.split():
            first, last = (int(end, 16) for end in block.split("-"))
            blocks.append((first, last, script))
    blocks.sort()
    return [first for first, _, _ in blocks], [(last, script) for _, last, script in blocks]
