import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.errors import IsoglossError, PredictionError, UnknownNameError
from isogloss.metrics import spans
from isogloss.metrics.statistics import merge

PER, LOC = "PER", "LOC"


@pytest.mark.parametrize(
    ("gold", "predicted", "triples", "boundaries"),
    [
        ([], [], [0, 0, 0], [0, 0, 0]),
        ([(0, 3, PER)], [(0, 3, PER)], [1, 1, 1], [1, 1, 1]),
        ([(0, 3, PER)], [(0, 3, LOC)], [0, 1, 1], [1, 1, 1]),
        ([(0, 3, PER)], [(0, 4, PER)], [0, 1, 1], [0, 1, 1]),
        ([(0, 3, PER), (5, 9, LOC)], [(5, 9, LOC)], [1, 1, 2], [1, 1, 2]),
        ([(0, 3, PER)], [(0, 3, PER), (0, 3, PER)], [1, 1, 1], [1, 1, 1]),  # duplicates collapse
        ([(0, 3, PER)], [(0, 3, PER), (0, 3, LOC)], [1, 2, 1], [1, 1, 1]),  # so do types, without them
        ([(0, 3, PER)], [[0, 3, PER]], [1, 1, 1], [1, 1, 1]),  # as JSON has them
        ([(0, 3, PER)], [], [0, 0, 1], [0, 0, 1]),
        ([], [(0, 3, PER)], [0, 1, 0], [0, 1, 0]),
    ],
)
def test_rows_are_correct_predicted_and_gold(gold, predicted, triples, boundaries):
    assert spans.statistics([gold], [predicted]).rows.tolist() == [triples]
    assert spans.statistics([gold], [predicted], boundaries_only=True).rows.tolist() == [boundaries]


def test_f1_is_micro_over_examples():
    gold = [[(0, 3, PER)], [(0, 3, PER), (4, 6, LOC)], []]
    predicted = [[(0, 3, PER)], [(0, 3, LOC)], []]
    assert spans.f1(gold, predicted) == 2 * 1 / (2 + 3)
    assert spans.f1(gold, predicted, boundaries_only=True) == 2 * 2 / (2 + 3)
    assert spans.f1([[], []], [[], []]) == 0
    assert spans.f1([], []) == 0
    # The same offsets in another example are another span.
    assert spans.f1([[(0, 3, PER)], []], [[], [(0, 3, PER)]]) == 0


def test_examples_must_be_paired():
    with pytest.raises(PredictionError, match="2 gold examples but for 1 predicted"):
        spans.f1([[], []], [[]])


@pytest.mark.parametrize(
    ("text", "span", "expected"),
    [
        ("Ada Lovelace", (0, 3), (0, 3)),
        ("Ada Lovelace", (0, 4), (0, 3)),
        ("Ada Lovelace", (3, 12), (4, 12)),
        ("x \u3000Ada\u00a0\n y", (1, 9), (3, 6)),
        ("𠀀 東京", (1, 4), (2, 4)),  # code points, not UTF-16 units
        ("a b c", (1, 4), (2, 3)),
        ("a   b", (1, 4), (4, 4)),
        ("abc", (1, 1), (1, 1)),
        ("", (0, 0), (0, 0)),
    ],
)
def test_trim(text, span, expected):
    assert spans.trim(text, *span) == expected


@pytest.mark.parametrize("span", [(-1, 2), (2, 1), (0, 4), (4, 4)])
def test_trim_refuses_spans_outside_the_text(span):
    with pytest.raises(IsoglossError, match="does not lie in a text of 3 characters"):
        spans.trim("abc", *span)


def test_from_sentences():
    text = "Ada Lovelace lived in London."
    offsets = [(0, 3), (4, 12), (13, 18), (19, 21), (22, 28), (28, 29)]
    tags = ["B-PER", "I-PER", "O", "O", "I-LOC", "O"]
    found = spans.from_sentences([tags], [offsets])[0]
    assert found == [(0, 12, PER), (22, 28, LOC)]
    assert [text[start:end] for start, end, _ in found] == ["Ada Lovelace", "London"]
    strict = spans.from_sentences([tags], [offsets], dialect="iob2-strict")[0]
    assert strict == [(0, 12, PER)]
    assert spans.from_sentences([[]], [[]]) == [[]]
    assert spans.from_sentences([["B-PER"], [], ["O", "B-LOC"]], [[(2, 5)], [], [(0, 1), (1, 4)]]) == [
        [(2, 5, PER)],
        [],
        [(1, 4, LOC)],
    ]


def test_from_sentences_needs_an_offset_for_each_tag():
    with pytest.raises(PredictionError, match="sentence 1: 1 tags for 2 tokens"):
        spans.from_sentences([["O"], ["O"]], [[(0, 1)], [(0, 1), (1, 2)]])
    with pytest.raises(PredictionError, match="1 tagged sentences but offsets for 0"):
        spans.from_sentences([["O"]], [])
    with pytest.raises(UnknownNameError, match="dialect"):
        spans.from_sentences([["O"]], [[(0, 1)]], "iob")


entities = st.lists(st.tuples(st.integers(0, 3), st.integers(4, 6), st.sampled_from([PER, LOC])), max_size=5)


@given(st.lists(st.tuples(entities, entities), min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_score_is_a_sum_of_rows(examples, draw):
    gold, predicted = [pair[0] for pair in examples], [pair[1] for pair in examples]
    whole = spans.statistics(gold, predicted)
    located = [{(row, *span) for row, side in enumerate(corpus) for span in side} for corpus in (gold, predicted)]
    assert whole.sums.tolist() == [len(located[0] & located[1]), len(located[1]), len(located[0])]
    cut = draw.randrange(len(examples) + 1)
    parts = [spans.statistics(gold[part], predicted[part]) for part in (slice(cut), slice(cut, None))]
    assert np.array_equal(merge(parts).rows, whole.rows)
    order = draw.sample(range(len(examples)), len(examples))
    assert spans.f1([gold[i] for i in order], [predicted[i] for i in order]) == whole.score
    assert spans.f1(predicted, gold) == whole.score
    loose = spans.statistics(gold, predicted, boundaries_only=True)
    assert np.all(loose.rows[:, 1:] <= whole.rows[:, 1:])
