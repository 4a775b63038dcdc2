"""Extractive question answering: token F1 and exact match of normalised answers.

Each score of a question is its best over the gold answers, F1 and EM independently; the corpus score is
the mean over questions. F1 of a pair is 2pr / (p + r), p and r being the shares of the predicted and of the
gold tokens that lie in the multiset overlap, and 0 without overlap. EM is equality of the normalised strings,
so two answers that normalise to nothing have EM 1 and F1 0, as in the reference scorers.

There are two dialects of normalisation; both lower-case first and join tokens by single spaces at the end:

- ``squad`` (SQuAD 1.1; XQuAD and TyDiQA in every language) deletes ASCII punctuation and the words a, an
  and the.
- ``mlqa`` (MLQA) deletes all Unicode punctuation and the articles of the language, and makes every Chinese
  character a token.
"""

import re
import string
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from isogloss.errors import DataError, PredictionError, unknown
from isogloss.metrics.statistics import MEAN, Statistics

Answers = str | Sequence[str]

DIALECTS = ("squad", "mlqa")

# Number of questions normalised together: enough to amortise the calls with flat memory.
_BLOCK = 8192

_ASCII_PUNCTUATION = string.punctuation.encode()
_NO_ANSWERS = "a question without gold answers cannot be scored"


def normalize(text: str, *, dialect: str, language: str | None = None) -> str:
    """Normalise an answer as the reference scorer does: tokens joined by single spaces.

    Args:
        text: an answer, predicted or gold.
        dialect: "squad" or "mlqa".
        language: language of the answer, one of `MLQA_LANGUAGES`; ignored by "squad".

    Raises:
        UnknownNameError: unknown dialect, or "mlqa" has no rule for the language.
    """
    return _normalizer(dialect, language)([text])[0]


def pair(prediction: str, answers: Answers, *, dialect: str, language: str | None = None) -> tuple[float, float]:
    """Return token F1 and exact match of one prediction against its gold answers.

    Args:
        prediction: the answer of a system.
        answers: gold answers: one string, or several.
        dialect: "squad" or "mlqa".
        language: language of the answers, one of `MLQA_LANGUAGES`; ignored by "squad".

    Returns:
        (f1, em), 0..1, each the best over the gold answers.

    Raises:
        DataError: no gold answer.
        UnknownNameError: unknown dialect, or "mlqa" has no rule for the language.
    """
    golds = [answers] if isinstance(answers, str) else answers
    if len(golds) == 0:
        raise DataError(_NO_ANSWERS)
    normalized = _normalizer(dialect, language)([prediction, *golds])
    return _best(normalized[0], normalized[1:])


def statistics(
    predictions: Sequence[str | None], answers: Sequence[Answers], *, dialect: str, language: str | None = None
) -> dict[str, Statistics]:
    """Return one row per question under "f1" and under "em"; a prediction that is None scores 0 in both.

    Takes the arguments of `pair` for many questions, with as many predictions, and raises the same errors.
    """
    if len(predictions) != len(answers):
        raise PredictionError(f"{len(answers)} questions but {len(predictions)} predictions")
    normalize_all = _normalizer(dialect, language)
    rows = np.zeros((len(predictions), 2))
    for start in range(0, len(predictions), _BLOCK):
        block = predictions[start : start + _BLOCK]
        golds = [(gold,) if isinstance(gold, str) else gold for gold in answers[start : start + _BLOCK]]
        if not all(map(len, golds)):
            number = start + next(row for row, gold in enumerate(golds) if len(gold) == 0)
            raise DataError(_NO_ANSWERS, where=f"question {number}")
        # Correct predictions repeat their gold and golds repeat: each string is normalised once.
        texts = dict.fromkeys(chain((text for text in block if text is not None), *golds))
        normalized = dict(zip(texts, normalize_all(texts), strict=True)).__getitem__
        rows[start : start + _BLOCK] = [
            (0.0, 0.0) if text is None else _best(normalized(text), list(map(normalized, gold)))
            for text, gold in zip(block, golds, strict=True)
        ]
    return {"f1": Statistics(rows[:, :1], MEAN), "em": Statistics(rows[:, 1:], MEAN)}


def _best(prediction: str, answers: list[str]) -> tuple[float, float]:
    if prediction in answers:
        return (1.0 if prediction else 0.0), 1.0
    tokens = prediction.split()
    distinct = set(tokens)
    return max([_f1(tokens, distinct, answer.split()) for answer in answers]), 0.0


def _f1(tokens: list[str], distinct: set[str], answer: list[str]) -> float:
    common = distinct.intersection(answer)
    if not common:
        return 0.0
    if len(distinct) == len(tokens):
        overlap = len(common)
    else:
        overlap = sum(min(tokens.count(token), answer.count(token)) for token in common)
    precision, recall = overlap / len(tokens), overlap / len(answer)
    return 2 * precision * recall / (precision + recall)


def _whole_words(words: str) -> Callable[[str], str]:
    r"""Return a function that replaces each of the words by a space.

    The pattern is \b(...)\b preceded by the first letters, so the engine skips from one candidate letter to the next
    instead of testing every word boundary. This halves the time.
    """
    pattern = re.compile("|".join(rf"{word[0]}(?<!\w{word[0]}){word[1:]}\b" for word in words.split()))
    return lambda text: pattern.sub(" ", text)


_ARTICLES: dict[str, Callable[[str], str]] = {
    "en": _whole_words("a an the"),
    "es": _whole_words("un una unos unas el la los las"),
    "de": _whole_words("ein eine einen einem eines einer der die das den dem des"),
    # The reference removes these two letters everywhere, even inside words.
    "ar": lambda text: text.replace("ال", " "),
    "hi": lambda text: text,
    "vi": _whole_words("của là cái chiếc những"),
    "zh": lambda text: text,
}
MLQA_LANGUAGES = tuple(_ARTICLES)

_CHINESE_TOKEN = re.compile(r"[\u4e00-\u9fa5]|[^\s\u4e00-\u9fa5]+")


@dataclass(frozen=True)
class _Normalizer:
    """Normaliser for many answers together.

    The answers become lines of one string, so each step is one C call for all of them.
    """

    all_punctuation: bool
    without_articles: Callable[[str], str]
    tokens: Callable[[str], list[str]]

    def __call__(self, texts: Iterable[str]) -> list[str]:
        # A line break inside an answer is whitespace and would be collapsed anyway.
        joined = "\n".join([text.replace("\n", " ") for text in texts]).lower()
        # In UTF-8 an ASCII byte is never part of another character, so bytes can be deleted directly.
        encoded = joined.encode("utf-8", "surrogatepass").translate(None, _ASCII_PUNCTUATION)
        joined = encoded.decode("utf-8", "surrogatepass")
        if self.all_punctuation and not joined.isascii():
            for character in set(joined):
                if unicodedata.category(character).startswith("P"):
                    joined = joined.replace(character, "")
        tokens = self.tokens
        return [" ".join(tokens(line)) for line in self.without_articles(joined).split("\n")]


def _normalizer(dialect: str, language: str | None) -> _Normalizer:
    if dialect not in DIALECTS:
        raise unknown("QA dialect", dialect, DIALECTS)
    if dialect == "squad":
        return _Normalizer(False, _ARTICLES["en"], str.split)
    if language not in _ARTICLES:
        raise unknown("MLQA language", str(language), MLQA_LANGUAGES)
    return _Normalizer(True, _ARTICLES[language], _CHINESE_TOKEN.findall if language == "zh" else str.split)
