"""Properties that hold for every text, and an independent BLEU for comparison."""

from collections import Counter
from math import exp, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.explain.attributes import attributes_for, count_tokens
from isogloss.explain.attributes.bleu import bleus, token_bleus
from isogloss.explain.attributes.text import overlaps, trigram_overlaps
from isogloss.tasks.examples import Examples, Pool

WORDS = st.lists(st.sampled_from("abcd"), max_size=12)
TEXT = st.text(max_size=40)
SHARES = {"overlap", "surface", "outOfScript", "digits", "punctuation", "BLEU-AQ", "BLEU-QC", "poolShare"}
LANGUAGES = st.sampled_from(["en", "ar", "hi", "zh", "ja", "th", "my", "ko"])


def bleu(candidate, reference):
    return token_bleus([candidate], [reference], np.zeros(1, dtype=np.int64))[0]


def plain_bleu(candidate, reference):
    """Return BLEU by its definition, for one pair."""

    def grams(words, n):
        return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))

    matches = [sum((grams(candidate, n) & grams(reference, n)).values()) for n in range(1, 5)]
    if not matches[0]:
        return 0.0
    totals = [max(len(candidate) - n + 1, 0) for n in range(1, 5)]
    precisions = [matches[0] / totals[0], *((m + 1) / (t + 1) for m, t in zip(matches[1:], totals[1:], strict=True))]
    return prod(precisions) ** 0.25 * exp(min(0, 1 - len(reference) / len(candidate)))


@given(WORDS, WORDS)
def test_bleu_is_its_definition(candidate, reference):
    assert bleu(candidate, reference) == pytest.approx(plain_bleu(candidate, reference))


@given(st.lists(st.tuples(WORDS, WORDS), max_size=6))
def test_many_bleus_are_single_ones(pairs):
    found = bleus([" ".join(a) for a, _ in pairs], [" ".join(b) for _, b in pairs], "en")
    assert found.tolist() == pytest.approx([plain_bleu(a, b) for a, b in pairs])


def test_bleu_equals_sacrebleu():
    sacrebleu = pytest.importorskip("sacrebleu", reason="sacrebleu is not installed")
    rng = np.random.default_rng(5)
    metric = sacrebleu.metrics.BLEU(smooth_method="add-k", smooth_value=1, tokenize="none", effective_order=False)
    for _ in range(200):
        a, b = (list(rng.choice(list("abcde"), size=rng.integers(1, 15))) for _ in range(2))
        assert bleu(a, b) == pytest.approx(metric.sentence_score(" ".join(a), [" ".join(b)]).score / 100, abs=1e-12)


@pytest.mark.slow
@given(TEXT, TEXT, LANGUAGES)
def test_overlaps_are_symmetric_shares(first, second, language):
    for measure in (lambda a, b: overlaps([a], [b], language), lambda a, b: trigram_overlaps([a], [b])):
        value = measure(first, second)[0]
        assert 0 <= value <= 1
        assert value == measure(second, first)[0]
        assert measure(first, first)[0] in (0, 1)


@given(TEXT, LANGUAGES)
def test_there_are_at_least_as_many_characters_as_words(text, language):
    script, whitespace = count_tokens([text], language)[0], count_tokens([text], language, "whitespace")[0]
    assert whitespace <= script <= len(text)
    assert (script == 0) == (not text.strip())


@pytest.mark.slow
@settings(deadline=None, max_examples=50)  # every attribute of every kind is computed
@given(st.lists(st.tuples(TEXT, TEXT, TEXT), max_size=5), LANGUAGES)
def test_columns_fit_any_text(rows, language):
    first, second, third = ([row[place] for row in rows] for place in range(3))
    ids = [str(row) for row in range(len(rows))]
    pool = Pool(lambda: dict.fromkeys(ids, "th"), lambda: second)
    kinds = {
        "qa": ("xquad", {"question": first, "context": second, "answers": [[text] for text in third]}),
        "classification": ("xnli", {"text_a": first, "text_b": second, "label": third}),
        "choice": (
            "xcopa",
            {
                "premise": first,
                "question": ["cause"] * len(rows),
                "choices": list(zip(second, third, strict=True)),
                "label": [0] * len(rows),
            },
        ),
        "tagging": ("udpos", {"tokens": [text.split() for text in first]}),
        "pool": ("mewslix", {"text": first, "targets": [[one] for one in ids]}),
        "bitext": ("tatoeba", {"text": first, "targets": [[one] for one in ids]}),
    }
    for kind, (task, columns) in kinds.items():
        data = Examples(task, language, "test", ids, dict(columns), "label", pool=pool)
        for one in filter(lambda one: one.level == "example", attributes_for(kind, data)):
            if (values := one.values(data)) is None:  # the same for all examples
                continue
            assert values.shape == (len(rows),), one.name
            assert values.dtype.kind == ("U" if one.discrete else "f"), one.name
            if not one.discrete:
                assert np.isfinite(values).all() and (values >= 0).all(), one.name
            if one.name in SHARES:
                assert (values <= 1 + 1e-12).all(), one.name
