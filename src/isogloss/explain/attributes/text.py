"""Attributes of any text (scripts, digits, punctuation), of questions and answers (XTREME-R paper, Appendix K.1, and a
few more), of texts to classify, of choices, and of queries, targets and candidate pools.

In retrieval the examples' language is the cell's: for Tatoeba, queries are English and targets are in that language;
elsewhere queries are in that language and the pool has the language of every candidate. If a query has several targets
(LAReQA: one per language), the one in the query's language is used, or else the first.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from unicodedata import category

import numpy as np

from isogloss.errors import DataError
from isogloss.explain.attributes.bleu import bleus
from isogloss.explain.attributes.lengths import REFERENCES, Convention, count_tokens, cutter, ratio, spaced
from isogloss.explain.attributes.lexicon import OTHER, character_codes, negates, plain, question_types
from isogloss.explain.attributes.needs import cached_per_examples, has, main_texts, text_language
from isogloss.explain.model import StrArray
from isogloss.languages import UNKNOWN, known_language
from isogloss.metrics.statistics import FloatArray, sizes
from isogloss.tasks.examples import Examples, Pool

# First code point of each block and its script; "-" marks blocks without a distinguished script.
_RANGES = """
0041 Latn 02b0 - 0370 Grek 0400 Cyrl 0530 Armn 0590 Hebr 0600 Arab 0700 - 0750 Arab 0780 - 07c0 Nkoo 0800 - 0870 Arab
0900 Deva 0980 Beng 0a00 Guru 0a80 Gujr 0b00 Orya 0b80 Taml 0c00 Telu 0c80 Knda 0d00 Mlym 0d80 Sinh 0e00 Thai
0e80 Laoo 0f00 Tibt 1000 Mymr 10a0 Geor 1100 Hang 1200 Ethi 13a0 - 1780 Khmr 1800 - 1c50 Olck 1c80 Cyrl 1c90 Geor
1cc0 - 1d00 Latn 1dc0 - 1e00 Latn 1f00 Grek 2000 - 2c60 Latn 2c80 - 2d00 Geor 2d30 Tfng 2d80 - 2de0 Cyrl 2e00 -
2e80 Hani 3008 - 3040 Hira 30a0 Kana 3100 - 3130 Hang 3190 - 31f0 Kana 3200 - 3400 Hani 4dc0 - 4e00 Hani a000 -
a640 Cyrl a6a0 - a720 Latn a800 - a8e0 Deva a900 - a960 Hang a980 - a9e0 Mymr aa00 - aa60 Mymr aa80 - ab30 Latn ab70 -
ac00 Hang d800 - f900 Hani fb00 Latn fb07 - fb1d Hebr fb50 Arab fe00 - fe70 Arab ff00 - ff21 Latn ff5b - ff66 Kana
ffa0 Hang ffe0 - 20000 Hani 40000 -
""".split()
_BEGINS = [int(begin, 16) for begin in _RANGES[::2]]
_NAMES = [name if name != "-" else "Zyyy" for name in _RANGES[1::2]]
_SCRIPTS = sorted(set(_NAMES))
# Character classes: white space, digits, punctuation, other non-letters, then letters by script.
_SPACE, DIGITS, PUNCTUATION, _REST, _LETTERS = range(5)
_CLASSES = _LETTERS + len(_SCRIPTS)
# Scripts that are written together and share a name.
_TOGETHER = {"Hans": ("Hani",), "Hant": ("Hani",), "Jpan": ("Hani", "Hira", "Kana"), "Kore": ("Hang", "Hani")}
# Question types in the paper.
_FREQUENT = 5


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
    """Count the characters of each main text by class."""
    texts = main_texts(examples)
    classes = character_codes("".join(texts), _class_of)
    keys = np.repeat(np.arange(len(texts)) * _CLASSES, sizes(texts)) + classes
    counts = np.bincount(keys, minlength=len(texts) * _CLASSES)
    return counts.reshape(len(texts), _CLASSES).astype(np.float64)


def _by_script(examples: Examples) -> tuple[FloatArray, list[str]]:
    """Return letter counts by script, with the scripts' names: first the language's own, or the main one."""
    entry = known_language(text_language(examples))
    own = entry.script if entry else UNKNOWN
    letters = _characters(examples)[:, _LETTERS:]
    if own == UNKNOWN:
        own = _SCRIPTS[int(letters.sum(axis=0).argmax())]
    inside = [_SCRIPTS.index(part) for part in _TOGETHER.get(own, (own,)) if part in _SCRIPTS]
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


def first_answers(examples: Examples) -> Sequence[str]:
    """Return the first gold answer of each question, used if there are several."""
    return [answers[0] for answers in examples["answers"]]


def question_type(examples: Examples, convention: Convention = "script") -> StrArray:
    """Return qType: the question type by the first interrogative, in the question's language.

    The paper uses the first token: the five most frequent of a cell, and "other".
    """
    if convention in REFERENCES:
        cut = cutter(examples.language, convention)
        first = [next(iter(cut(text.lower())), "") for text in examples["question"]]
        often = Counter(first)
        frequent = sorted(often, key=lambda token: (-often[token], token))[:_FREQUENT]
        return np.array([token if token in frequent else OTHER for token in first], dtype=np.str_)
    return np.array(question_types(examples["question"], examples.language), dtype=np.str_)


def answer_position(examples: Examples) -> FloatArray:
    """Return the relative position of the first gold answer: its character offset over the context length, 0 to 1."""
    starts = np.array([starts[0] for starts in examples["answer_starts"]], dtype=np.float64)
    return ratio(starts, sizes(examples["context"]).astype(np.float64))


def first_texts(examples: Examples) -> Sequence[str]:
    """Return the first text of a pair, or the only one."""
    return examples["text_a" if "text_a" in examples.columns else "text"]  # type: ignore[no-any-return]


def choice_ratio(examples: Examples, convention: Convention = "script") -> FloatArray:
    """Return tokens of the correct choice over the mean of the others: above 1, the correct one is longer."""
    flat = [choice for choices in examples["choices"] for choice in choices]
    counts = count_tokens(flat, examples.language, convention)
    widths = sizes(examples["choices"])
    begins = np.cumsum(widths) - widths
    right = counts[begins + np.array(examples["label"], dtype=np.int64)]
    others = (np.add.reduceat(counts, begins) if len(begins) else begins.astype(np.float64)) - right
    return ratio(right, others / np.maximum(widths - 1, 1))


def _jaccards(first: Iterable[set[str]], second: Iterable[set[str]]) -> Iterator[float]:
    for ours, theirs in zip(first, second, strict=True):
        common = len(ours & theirs)
        yield common / (len(ours) + len(theirs) - common) if common else 0.0


def overlaps(first: Sequence[str], second: Sequence[str], language: str) -> FloatArray:
    """Return the Jaccard index of each pair's sets of words, or of character trigrams in unsegmented scripts."""
    if not spaced(language):
        return trigram_overlaps(first, second)
    words = ([set(text.split()) for text in plain(texts)] for texts in (first, second))
    return np.fromiter(_jaccards(*words), np.float64, len(first))


def trigram_overlaps(first: Sequence[str], second: Sequence[str]) -> FloatArray:
    """Return the Jaccard index of each pair's sets of character trigrams, for any languages.

    Case, punctuation and spaces are ignored; a text of one or two characters is its own trigram.
    """
    packed = (["".join(text.split()) for text in plain(texts)] for texts in (first, second))
    grams = (
        [{text[start : start + 3] for start in range(max(len(text) - 2, 1))} if text else set() for text in texts]
        for texts in packed
    )
    return np.fromiter(_jaccards(*grams), np.float64, len(first))


def pair_overlap(examples: Examples) -> FloatArray:
    """Return the Jaccard index of the two texts of a pair: of words, or of character trigrams if unspaced."""
    return overlaps(examples["text_a"], examples["text_b"], examples.language)


def similarity(examples: Examples, convention: Convention = "explainaboard") -> FloatArray:
    """Return ExplainaBoard's similarity: BLEU of the second text against the first, 0 to 100."""
    return 100 * bleus(examples["text_b"], examples["text_a"], examples.language, convention)


def choice_overlap(examples: Examples) -> FloatArray:
    """Return the Jaccard index of a premise and the correct choice."""
    right = [choices[label] for choices, label in zip(examples["choices"], examples["label"], strict=True)]
    return overlaps(examples["premise"], right, examples.language)


def negation(examples: Examples) -> StrArray:
    """Return which texts have a negating word: "no", "first", "second" or "both"."""
    return _negated(examples, first_texts(examples), examples["text_b"] if "text_b" in examples.columns else [])


def choice_negation(examples: Examples) -> StrArray:
    """Return the negation of a choice task: the premise is the first text, all choices together the second."""
    return _negated(examples, examples["premise"], ["\n".join(choices) for choices in examples["choices"]])


def _negated(examples: Examples, first: Sequence[str], second: Sequence[str]) -> StrArray:
    negated = np.array(negates(first, examples.language), dtype=np.int64)
    if second:
        negated += 2 * np.array(negates(second, examples.language), dtype=np.int64)
    return np.array(["no", "first", "second", "both"])[negated]


def _pool(examples: Examples) -> Pool:
    if examples.pool is None:
        where = f"{examples.task}/{examples.language}"
        raise DataError("missing candidate pool", where=where, fix="Put its file next to the queries")
    return examples.pool


@cached_per_examples
def _targets(examples: Examples) -> list[tuple[str, str]]:
    """Return language and text of each query's representative target."""
    pool, own = _pool(examples), text_language(examples)
    language_of, text_of = pool.language_of, pool.target_text
    chosen = [
        next((target for target in targets if language_of.get(target) == own), targets[0])
        for targets in examples["targets"]
    ]
    return [(language_of.get(target, own), text_of.get(target, "")) for target in chosen]


def target_length(examples: Examples, convention: Convention = "script") -> FloatArray:
    """Return targetLen: tokens of the target, in its own language."""
    targets = _targets(examples)
    counts = np.zeros(len(targets))
    languages = np.array([language for language, _ in targets], dtype=np.str_)
    for language in np.unique(languages):
        rows = np.flatnonzero(languages == language)
        counts[rows] = count_tokens([targets[row][1] for row in rows], str(language), convention)
    return counts


def surface_overlap(examples: Examples) -> FloatArray:
    """Return the Jaccard index of the character trigrams of query and target: shared names, numbers and cognates."""
    return trigram_overlaps(examples["text"], [text for _, text in _targets(examples)])


def target_language(examples: Examples) -> StrArray:
    """Return targetLang: the language of the single target ("?" if it is not in the pool)."""
    language_of = _pool(examples).language_of
    if not has(examples, "single-target"):
        what, where = "queries have several targets in several languages", f"{examples.task}/{examples.language}"
        raise DataError(what, where=where, fix="Use the scores by language pair instead")
    return np.array([language_of.get(targets[0], "?") for targets in examples["targets"]], dtype=np.str_)


def same_language(examples: Examples) -> StrArray:
    """Return sameLang: "same" if query and target share a language, else "different"."""
    return np.where(target_language(examples) == text_language(examples), "same", "different")


def pool_share(examples: Examples) -> FloatArray:
    """Return poolShare: the share of the pool in the target's language."""
    counts = Counter(_pool(examples).language_of.values())
    return np.array([counts[str(language)] for language in target_language(examples)]) / max(len(_pool(examples)), 1)
