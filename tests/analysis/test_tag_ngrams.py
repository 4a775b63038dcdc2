"""Tag n-grams by hand."""

import numpy as np

from isogloss.analysis.seen_items import ngram_occurrences, tag_ngrams


def test_ngrams_stay_within_a_sentence() -> None:
    assert tag_ngrams([["DET", "NOUN", "VERB"], ["DET", "NOUN"]], 2) == {("DET", "NOUN"), ("NOUN", "VERB")}
    assert tag_ngrams([["DET", "NOUN"]], 3) == set()


def test_an_ngram_is_right_if_all_its_tags_are() -> None:
    training = tag_ngrams([["DET", "NOUN", "VERB"]], 2)
    gold = [["DET", "NOUN", "VERB", "DET", "NOUN"], ["NOUN", "ADJ"], ["DET", "NOUN"]]
    predicted = [["DET", "NOUN", "VERB", "DET", "VERB"], ["NOUN", "ADJ"], None]
    occurrences = ngram_occurrences(gold, predicted, training, 2)
    assert occurrences.sentence.tolist() == [0, 0, 0, 0, 1, 2]
    assert occurrences.seen.tolist() == [True, True, False, True, False, True]
    assert occurrences.right.tolist() == [True, True, True, False, True, False]
    seen, unseen = occurrences.accuracy(seen=True), occurrences.accuracy(seen=False)
    assert seen is not None
    assert unseen is not None
    assert (seen.score, unseen.score) == (0.5, 1)
    assert seen.units is not None
    assert seen.units.tolist() == [0, 0, 0, 2]


def test_accuracy_without_unseen_ngrams_is_none() -> None:
    occurrences = ngram_occurrences([["DET", "NOUN"]], [["DET", "NOUN"]], {("DET", "NOUN")}, 2)
    assert occurrences.accuracy(seen=False) is None
    assert len(ngram_occurrences([["DET"]], [["DET"]], set(), 3).right) == 0
    assert occurrences.right.dtype == np.bool_
