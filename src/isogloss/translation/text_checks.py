"""Faults of translations that show without a human one: copies, loops, lost numbers, links and names, odd lengths."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from unicodedata import category, decimal, normalize

import numpy as np
import numpy.typing as npt

from isogloss.explain.attributes.lengths import cutter
from isogloss.explain.attributes.lexicon import plain
from isogloss.languages import UNKNOWN, known_language
from isogloss.metrics.statistics import FloatArray, IntArray, distinct, sizes
from isogloss.reply_language import comparable, language_of, languages_told, script_of

BoolArray = npt.NDArray[np.bool_]

# Share of pairs of words that a copy has in common with its source, and the fewest pairs that tell.
_COPIED_SHARE = 0.5
_FEWEST_PAIRS = 3
# A loop repeats a piece of at most so many characters, at least so many times, over at least so many characters.
_LONGEST_PIECE = 100
_FEWEST_REPEATS = 4
_SHORTEST_LOOP = 20
_LOOP_BLOCK = 1 << 22
# Factor by which a length may differ from what the set's median ratio predicts, and characters that do not count.
_LENGTH_FACTOR = 2.5
_LENGTH_SLACK = 10
# Number of texts to identify the language of; identification is slow.
_LANGUAGE_SAMPLE = 5_000
# Nouns are capitalised in these languages, so capitals do not mark names.
_CAPITAL_NOUNS = frozenset({"de", "lb", "nds"})
_STYLE_WINDOW = 1_000

_NUMBER = re.compile(r"\d+(?:[.,'’，．\u066b\u066c\u00a0\u202f]\d+| \d{3}(?!\d))*")
# Addresses end at Chinese and Japanese characters and signs, which follow without a blank.
_ADDRESS = r"[^\s<>\"\u3000-\u30ff\u4e00-\u9fff\uff00-\uffef]+"
# Repetitions are bounded, so that a long text without any of these takes linear time.
_LINK = re.compile(
    rf"https?://{_ADDRESS}|www\.{_ADDRESS}"
    r"|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})+"
    r"|\$?\{\{?\w{0,40}\}?\}|%\(\w{1,40}\)[sd]|%[sd]\b|</?[A-Za-z]\w{0,20}/?>"
)
_SENTENCE_END = re.compile(r"[.!?…؟۔।॥።፧](?=\s)|[。！？](?=.)", re.DOTALL)


@dataclass(frozen=True)
class Check:
    """Faults found in each text, and the number that could have been found there; 0 where a check does not apply."""

    faults: IntArray
    checked: IntArray


def _texts(flags: BoolArray, applies: BoolArray) -> Check:
    return Check((flags & applies).astype(np.int64), applies.astype(np.int64))


def _flags(values: Sequence[bool]) -> BoolArray:
    return np.asarray(values, dtype=np.bool_)


def _ordinary_words(text: str, cut: Callable[[str], list[str]]) -> list[str]:
    """Return the words that are neither capitalised, as names are, nor contain digits."""
    words = (_bare(word) for word in cut(text))
    return [word for word in words if word[:1].isalpha() and not word[0].isupper() and not any(map(str.isdigit, word))]


def _bare(word: str) -> str:
    """Return a word without the signs around it."""
    if word.isalnum():
        return word
    start, end = 0, len(word)
    while start < end and not word[start].isalnum():
        start += 1
    while start < end and not word[end - 1].isalnum():
        end -= 1
    return word[start:end]


def empty(sources: Sequence[str], translations: Sequence[str]) -> Check:
    """Find translations without text."""
    return _texts(_flags([not text.strip() for text in translations]), _flags([bool(text.strip()) for text in sources]))


def untranslated(sources: Sequence[str], translations: Sequence[str], source_language: str) -> Check:
    """Find translations equal to the source, except for case and space.

    It applies to sources with at least two words besides names and numbers.
    """
    cut = cutter(source_language)
    equal = [
        a.casefold().split() == b.casefold().split() if abs(len(a) - len(b)) < 1_000 else False
        for a, b in zip(sources, translations, strict=True)
    ]
    return _texts(_flags(equal), _flags([len(_ordinary_words(text, cut)) > 1 for text in sources]))


def copied(sources: Sequence[str], translations: Sequence[str], source_language: str) -> Check:
    """Find translations that share at least half of their pairs of neighbouring words with the source.

    Names and numbers do not count. It applies to sources with at least four other words.
    """
    cut = cutter(source_language)
    flags, applies = [], []
    for source, translation in zip(sources, translations, strict=True):
        theirs, ours = _ordinary_words(source, cut), _ordinary_words(translation, cut)
        known = set(pairwise(theirs))
        pairs = list(pairwise(ours))
        applies.append(len(theirs) > _FEWEST_PAIRS and bool(translation.strip()))
        shared = sum(pair in known for pair in pairs)
        flags.append(len(pairs) >= _FEWEST_PAIRS and shared >= _COPIED_SHARE * len(pairs))
    return _texts(_flags(flags), _flags(applies))


def looped(sources: Sequence[str], translations: Sequence[str]) -> Check:
    """Find translations that repeat a piece over and over, unless the source has a loop of half its length."""
    ours, theirs = loop_lengths(translations), loop_lengths(sources)
    return _texts((ours > 0) & (ours > 2 * theirs), _flags([bool(text.strip()) for text in translations]))


def loop_lengths(texts: Sequence[str]) -> IntArray:
    """Return the length in characters of each text's longest loop, 0 without one.

    A loop is a piece of up to 100 characters, with a letter, that is repeated at least four times in a row and covers
    at least 20 characters.
    """
    numbers = np.cumsum(sizes(texts)) // _LOOP_BLOCK
    bounds = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(texts)]
    blocks = (_loop_lengths(texts[start:end]) for start, end in pairwise(bounds))
    return np.concatenate([np.zeros(0, dtype=np.int64), *blocks])


def _loop_lengths(texts: Sequence[str]) -> IntArray:
    """Return the same for texts that fit into memory together."""
    codes, ends = _joined_codes(texts)
    longest = np.zeros(len(texts), dtype=np.int64)
    for piece in range(1, min(_LONGEST_PIECE, len(codes) - 1) + 1):
        # Of a long run of equal characters, three neighbouring samples are equal. Few texts have these without a loop.
        stride = max(1, _fewest_equal(piece) // 3)
        same = codes[piece::stride] == codes[:-piece:stride]
        hits = np.flatnonzero(same[:-2] & same[1:-1] & same[2:]) * stride
        for row in distinct(np.searchsorted(ends, hits, side="right")).tolist():
            own = codes[ends[row] - len(texts[row]) - 1 : ends[row] - 1]
            longest[row] = max(longest[row], _loop_length(texts[row], own, piece))
    return longest


def _loop_length(text: str, codes: npt.NDArray[np.int32], piece: int) -> int:
    """Return the length of the longest loop of pieces of a given length, 0 without one."""
    differs = np.flatnonzero(codes[piece:] != codes[:-piece])
    starts = np.concatenate([[0], differs + 1])
    runs = np.concatenate([differs, [len(codes) - piece]]) - starts
    long = runs >= _fewest_equal(piece)
    loops = zip(starts[long].tolist(), runs[long].tolist(), strict=True)
    return max((run + piece for start, run in loops if any(map(str.isalpha, text[start : start + piece]))), default=0)


def _fewest_equal(piece: int) -> int:
    """Return the fewest characters of a loop that equal the one a piece before."""
    return max((_FEWEST_REPEATS - 1) * piece, _SHORTEST_LOOP - piece)


def _joined_codes(texts: Sequence[str]) -> tuple[npt.NDArray[np.int32], IntArray]:
    """Return the characters of all texts, and their ends: marks that differ, so that no loop crosses them."""
    ends = np.cumsum(sizes(texts) + 1)
    joined = "\n".join([*texts, ""]).encode("utf-32-le", "surrogatepass")
    codes = np.frombuffer(joined, dtype="<i4").astype(np.int32)
    codes[ends - 1] = 0x110000 + np.arange(len(texts))
    return codes, ends


def length_ratios(sources: Sequence[str], translations: Sequence[str]) -> FloatArray:
    """Return the ratio of translated to original characters of the texts that are not empty on either side."""
    theirs, ours = (sizes([text.strip() for text in texts]) for texts in (sources, translations))
    used = (theirs > 0) & (ours > 0)
    ratios: FloatArray = ours[used] / theirs[used]
    return ratios


def odd_lengths(sources: Sequence[str], translations: Sequence[str]) -> Check:
    """Find translations more than 2.5 times as long, or as short, as the median ratio predicts.

    Ten characters are added to both, since the ratio of short texts varies more.
    """
    theirs, ours = (sizes([text.strip() for text in texts]) for texts in (sources, translations))
    ratios = length_ratios(sources, translations)
    expected = (float(np.median(ratios)) if len(ratios) else 1.0) * theirs
    ratio = (ours + _LENGTH_SLACK) / (expected + _LENGTH_SLACK)
    return _texts((ratio > _LENGTH_FACTOR) | (ratio < 1 / _LENGTH_FACTOR), (theirs > 0) & (ours > 0))


def other_script(translations: Sequence[str], target_language: str) -> Check:
    """Find translations in another script than the target language's; it applies to texts with a majority script."""
    entry = known_language(target_language)
    own = comparable(entry.script) if entry is not None and entry.script != UNKNOWN else ""
    scripts = [comparable(script_of(text)) for text in translations]
    known = _flags([bool(script and own) for script in scripts])
    return _texts(_flags([script != own for script in scripts]), known)


def other_language(translations: Sequence[str], target_language: str) -> Check:
    """Find translations that are identified as another language, among up to 5,000 evenly spaced texts.

    It applies to texts of 25 or more letters, if py3langid is installed and knows the target language.
    """
    own = comparable(target_language)
    languages = [""] * len(translations)
    if own in languages_told():
        for row in range(0, len(translations), -(-len(translations) // _LANGUAGE_SAMPLE) or 1):
            languages[row] = comparable(language_of(translations[row]))
    return _texts(_flags([code != own for code in languages]), _flags([bool(code) for code in languages]))


def lost_numbers(sources: Sequence[str], translations: Sequence[str]) -> Check:
    """Count numbers of two or more digits that the translation lacks; separators and kinds of digits do not matter."""
    return _lost(sources, translations, _numbers, lambda wanted, text: wanted - _numbers(text))


def _numbers(text: str) -> Counter[str]:
    digits = ("".join(filter(str.isdecimal, match)) for match in _NUMBER.findall(text))
    plain_digits = (each if each.isascii() else "".join(str(decimal(digit)) for digit in each) for each in digits)
    return Counter(number for number in plain_digits if len(number) > 1)


def lost_links(sources: Sequence[str], translations: Sequence[str]) -> Check:
    """Count addresses, placeholders and tags that the translation lacks; Apertium writes addresses in small letters."""
    return _lost(
        sources,
        translations,
        lambda text: Counter(match.rstrip(".,;:!?)'/").lower() for match in _LINK.findall(text)),
        lambda wanted, text: Counter({link: count for link, count in wanted.items() if link not in text.lower()}),
    )


def lost_names(
    sources: Sequence[str], translations: Sequence[str], source_language: str, target_language: str
) -> Check:
    """Count capitalised words within sentences that the translation lacks, for two languages in Latin script.

    A name is kept if a word begins alike: its last two letters, accents and case may change. Names that have a form
    of their own in the target language count as lost, so the share of human translations is the one to compare with.
    """
    entries = [known_language(code) for code in (source_language, target_language)]
    latin = all(entry is not None and entry.script == "Latn" for entry in entries)
    if not latin or comparable(source_language) in _CAPITAL_NOUNS:
        nothing = np.zeros(len(sources), dtype=np.int64)
        return Check(nothing, nothing)
    return _lost(sources, translations, _names, _lost_stems)


def _names(text: str) -> Counter[str]:
    """Return the stems of capitalised words that do not begin a sentence."""
    words, names = text.split(), Counter[str]()
    for before, word in pairwise(words):
        name = _bare(word)
        if len(name) > 2 and name[0].isupper() and name[1:].isalpha() and before[-1] not in '.!?:;"“”«»()…-–—':
            folded = _folded(name)
            names[folded[: min(12, max(3, len(folded) - 2))]] += 1
    return names


def _lost_stems(wanted: Counter[str], text: str) -> Counter[str]:
    words = {_bare(word) for word in _folded(text).split()}
    starts = {word[:length] for length in {len(stem) for stem in wanted} for word in words}
    return Counter({stem: count for stem, count in wanted.items() if stem not in starts})


def _folded(text: str) -> str:
    """Return a text without case and accents."""
    if text.isascii():
        return text.lower()
    return "".join(letter for letter in normalize("NFD", text.casefold()) if category(letter) != "Mn")


def _lost(
    sources: Sequence[str],
    translations: Sequence[str],
    find: Callable[[str], Counter[str]],
    lost: Callable[[Counter[str], str], Counter[str]],
) -> Check:
    """Count what is found in each source, and how much of it is lost; empty translations are not judged."""
    faults, checked = np.zeros((2, len(sources)), dtype=np.int64)
    for row, (source, translation) in enumerate(zip(sources, translations, strict=True)):
        if translation.strip() and (wanted := find(source)):
            checked[row], faults[row] = wanted.total(), lost(wanted, translation).total()
    return Check(faults, checked)


@dataclass(frozen=True)
class TextStyle:
    """Richness and sentence length of texts, by which translations differ from texts written in a language.

    Attributes:
        tokens: number of words, or of characters in scripts without blanks.
        type_token_ratio: distinct tokens over tokens, the mean over stretches of `window` tokens.
        sentence_length: tokens per sentence.
        window: length of the stretches.
    """

    tokens: int
    type_token_ratio: float
    sentence_length: float
    window: int


def text_styles(language: str, *collections: Sequence[str]) -> list[TextStyle]:
    """Return the style of each collection of texts, over stretches of the same length so that the ratios compare."""
    cut = cutter(language)
    tokens = [[token for text in plain(texts) for token in cut(text)] for texts in collections]
    window = min(_STYLE_WINDOW, *map(len, tokens)) if tokens else 0
    styles = []
    for texts, own in zip(collections, tokens, strict=True):
        stretches = [own[at : at + window] for at in range(0, len(own) - window + 1, window)] if window else []
        sentences = sum(1 + len(_SENTENCE_END.findall(text.strip())) for text in texts if text.strip())
        ratio = sum(len(set(stretch)) / window for stretch in stretches) / max(1, len(stretches))
        styles.append(TextStyle(len(own), ratio, len(own) / max(1, sentences), window))
    return styles
