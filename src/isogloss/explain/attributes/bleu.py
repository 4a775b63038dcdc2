"""Vectorised sentence BLEU of many text pairs, with add-one smoothing (ours) or sacrebleu's smoothing.

The two sacrebleu variants tokenise like mteval-v13a, keep case and punctuation, and smooth exponentially: the k-th
order without a match counts as 1 / 2^k matches. They differ for short texts. The older default, used for XTREME-R's
Table 25, always uses all four orders: candidates of fewer than four tokens score 0, and longer ones score slightly
above 0 even without a match. The sentence default since version 2 uses the orders that fit the candidate, and is 0
without a match.
"""

from collections.abc import Sequence

import numpy as np

from isogloss.explain.attributes.lengths import Convention, cutter
from isogloss.explain.attributes.lexicon import plain
from isogloss.metrics.ngrams import cut_13a, matches
from isogloss.metrics.statistics import FloatArray, IntArray, sizes
from isogloss.metrics.translation_quality import exp_smoothed

ORDER = 4


def bleus(
    candidates: Sequence[str], references: Sequence[str], language: str, convention: Convention = "script"
) -> FloatArray:
    """Return the BLEU of each candidate against its reference, 0 to 1.

    The conventions "paper" and "explainaboard" are sacrebleu's older and newer default (see above), the former after
    a single long word is split into letters; others are on words (characters in unsegmented scripts) without case and
    punctuation.
    """
    distinct = list(dict.fromkeys(references))
    index_of = {text: number for number, text in enumerate(distinct)}
    reference_of = np.fromiter((index_of[text] for text in references), np.int64, len(references))
    if convention in ("paper", "explainaboard"):
        split = cutter(language, convention)
        # sacrebleu strips the end of a line, where the tokeniser would join a hyphen to the next line.
        prepare = (lambda text: " ".join(split(text))) if convention == "paper" else str.rstrip
        ours, theirs = ([cut_13a(prepare(text)) for text in texts] for texts in (candidates, distinct))
        return exp_smoothed_bleus(ours, theirs, reference_of, effective_order=convention == "explainaboard")
    cut = cutter(language)
    return token_bleus([cut(text) for text in plain(candidates)], [cut(text) for text in plain(distinct)], reference_of)


def exp_smoothed_bleus(
    candidates: Sequence[Sequence[str]],
    references: Sequence[Sequence[str]],
    reference_of: IntArray,
    *,
    effective_order: bool = False,
) -> FloatArray:
    """Return sentence BLEU-4 of each token list like sacrebleu with `smooth_method="exp"`, divided by 100.

    With `effective_order`, only orders that the candidate is long enough for are used, with 0 if nothing matches.
    """
    lengths, others = sizes(candidates), sizes(references)[reference_of]
    matched = np.stack(list(matches(candidates, references, reference_of, ORDER)), axis=1)
    totals = np.maximum(lengths[:, None] - np.arange(ORDER), 0).astype(np.float64)
    orders = np.minimum(lengths, ORDER) if effective_order else ORDER
    score = exp_smoothed(matched, totals, lengths, others, orders)
    nothing = (lengths == 0) | (matched.sum(axis=1) == 0) if effective_order else lengths < ORDER
    return np.where(nothing, 0.0, score)


def token_bleus(
    candidates: Sequence[Sequence[str]], references: Sequence[Sequence[str]], reference_of: IntArray
) -> FloatArray:
    """Return add-one smoothed sentence BLEU-4 of each token list against its reference, 0 to 1.

    p_1 = m_1 / t_1 and p_n = (m_n + 1) / (t_n + 1) for n = 2, 3, 4 (Lin and Och, 2004), with m_n the clipped matches
    and t_n the n-grams of the candidate; the geometric mean times the brevity penalty exp(min(0, 1 - r/c)). No common
    word: 0. This is sacrebleu's `smooth_method="add-k"` with k = 1 and without effective order, divided by 100.
    """
    lengths, others = sizes(candidates), sizes(references)[reference_of]
    logs = np.zeros(len(candidates))
    with np.errstate(divide="ignore", invalid="ignore"):  # empty candidates and those without a match end up as 0
        for order, matched in enumerate(matches(candidates, references, reference_of, ORDER), 1):
            smooth = 1.0 if order > 1 else 0.0
            logs += np.log((matched + smooth) / (np.maximum(lengths - order + 1, 0) + smooth))
        score = np.exp(logs / ORDER + np.minimum(0.0, 1.0 - others / lengths))
    return np.where(np.isfinite(logs), score, 0.0)
