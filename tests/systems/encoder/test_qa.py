"""Extractive question answering."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from isogloss.systems.base import SystemFailureError
from isogloss.systems.encoder.qa import EncoderReader, best_spans
from isogloss.systems.pretrained import ModelSource
from isogloss.systems.tokens.subwords import window_bounds
from isogloss.tasks.examples import Examples
from isogloss.tasks.loading import load
from isogloss.tasks.registry import task
from tiny_models import BY_HEART

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'isogloss[train]'")


def asked(*triples: tuple[str, str, str], starts: list[list[int]] | None = None) -> Examples:
    questions, contexts, answers = zip(*triples, strict=True)
    columns: dict[str, Any] = {"question": questions, "context": contexts, "answers": [[answer] for answer in answers]}
    columns |= {} if starts is None else {"answer_starts": starts}
    return Examples("tydiqa", "en", "train", [str(row) for row in range(len(triples))], columns, "answers")


def adapter_of(source: ModelSource, **lengths: int) -> EncoderReader:
    return EncoderReader(task("tydiqa"), replace(BY_HEART, **lengths), source)


def test_windows_by_hand(letters: ModelSource) -> None:
    # Ten tokens: three special ones, two of the question (of three), five of the passage; then from its fourth.
    adapter = adapter_of(letters, max_length=10, query_length=2, stride=3)
    objective = adapter.objective(asked(("ccc", "abab abab", "ab a"), starts=[[2]]))
    batch = objective.batch(np.arange(2), 10, 3)
    assert batch["input_ids"][:2].tolist() == [[2, 6, 9, 3, 4, 8, 7, 8, 4, 3], [2, 6, 9, 3, 8, 4, 8, 7, 8, 3]]
    assert batch["token_type_ids"][0].tolist() == [0] * 4 + [1] * 6
    # Characters 2 to 6 are the third to fifth token, only in the first window; the second points at [CLS].
    assert batch["first"].tolist() == [6, 0, -100]
    assert batch["last"].tolist() == [8, 0, -100]
    assert objective.weight(np.arange(2)) == 2.0


def test_passages_that_fit_have_one_window(letters: ModelSource) -> None:
    adapter = adapter_of(letters, max_length=10, query_length=2, stride=3)
    train = asked(("cc", "ababa", "b"), ("cc", "ababab", "b"), ("", "abababa", "b"))
    assert adapter.objective(train).lengths.tolist() == [10, 10, 8, 10]


@pytest.mark.parametrize(
    ("stride", "windows"),
    [
        (1, [[0, 1, 2, 3], [1, 2, 3, 4], [2, 3, 4, 5], [3, 4, 5, 6], [4, 5, 6, 7], [5, 6, 7, 8]]),
        (2, [[0, 1, 2, 3], [2, 3, 4, 5], [4, 5, 6, 7], [6, 7, 8]]),
        (3, [[0, 1, 2, 3], [3, 4, 5, 6], [6, 7, 8]]),
        (100, [[0, 1, 2, 3], [4, 5, 6, 7], [8]]),  # longer than a window: one after the other
    ],
)
def test_windows_start_one_stride_apart(stride: int, windows: list[list[int]], letters: ModelSource) -> None:
    adapter = adapter_of(letters, max_length=9, query_length=2, stride=stride)
    rows = adapter._rows(asked(("cc", "abcabcabc", "b")))
    passages = [part[part >= 0].tolist() for part in np.split(rows.encoded.aligned["begin"], rows.encoded.starts[1:-1])]
    assert passages == windows


@given(st.lists(st.tuples(st.integers(0, 90), st.integers(1, 30)), min_size=1, max_size=5), st.integers(1, 40))
def test_every_token_is_in_a_window(passages: list[tuple[int, int]], stride: int) -> None:
    lengths, rooms = np.array(passages).T
    found, *bounds = window_bounds(lengths, rooms, stride)
    assert np.unique(found).tolist() == list(range(len(passages)))
    for example, (length, room) in enumerate(passages):
        begins, sizes = (part[found == example] for part in bounds)
        assert begins[0] == 0
        assert set(np.diff(begins)) <= {min(stride, room)}
        assert begins[-1] + sizes[-1] == length  # the last ends with the passage,
        assert (begins[:-1] + sizes[:-1] < length).all()  # and only the last does
        assert (sizes[:-1] == room).all()
        assert sizes[-1] <= room
        seen = [piece for begin, size in zip(begins, sizes, strict=True) for piece in range(begin, begin + size)]
        assert set(seen) == set(range(length))


class Points(torch.nn.Module):
    """A model that prefers some tokens as starts and some as ends."""

    def __init__(self, first: dict[int, float], last: dict[int, float]) -> None:
        super().__init__()
        self.nothing = torch.nn.Parameter(torch.zeros(1))
        self.tables = [torch.tensor([liked.get(piece, 0.0) for piece in range(10)]) for liked in (first, last)]

    def forward(self, input_ids: Any, **_: Any) -> Any:
        from types import SimpleNamespace

        first, last = (table[input_ids] for table in self.tables)
        return SimpleNamespace(start_logits=first, end_logits=last)


def test_best_span_over_all_windows(letters: ModelSource) -> None:
    # c starting a word (6) is the best start and a inside a word (7) the best end; others score higher.
    # In the second passage that end is too far away, and the nearer of two equal ends wins.
    model = Points({2: 9.0, 3: 9.0, 6: 5.0}, {3: 9.0, 7: 4.0, 8: 3.0})
    adapter = adapter_of(letters, max_length=12, query_length=3, stride=3, answer_length=3, n_best=3)
    given = asked(("cba", "abb bab cba bb", "x"), ("cba", "cbbba", "x"), ("a", " \n ", "x"), ("a", "", "x"))
    assert adapter.predict(model, given) == ["cba", "cb", "", ""]
    best = adapter.ranked(model, given)
    assert best[0][0] == (9.0, "cba")
    assert [len(found) for found in best] == [3, 3, 0, 0]
    assert all(found == sorted(found, key=lambda each: -each[0]) for found in best)


@given(
    arrays.arrays(np.float32, (2, 7), elements=st.floats(-8, 8, width=16)),
    arrays.arrays(np.float32, (2, 7), elements=st.floats(-8, 8, width=16)),
    arrays.arrays(np.bool_, (2, 7)),
    st.integers(1, 9),
    st.integers(1, 9),
)
def test_best_spans_match_brute_force(
    first: np.ndarray, last: np.ndarray, inside: np.ndarray, longest: int, count: int
) -> None:
    scores, begins, ends = best_spans(first, last, inside, longest, count)
    assert scores.shape == (2, min(count, 7))
    for row in range(2):
        wanted = []
        for begin in np.flatnonzero(inside[row]):
            reach = [end for end in range(begin, min(begin + longest, 7)) if inside[row, end]]
            wanted.append(max(first[row, begin] + last[row, end] for end in reach))
        wanted = sorted(wanted, reverse=True)[:count]
        found = scores[row][np.isfinite(scores[row])]
        assert found.tolist() == wanted
        for score, begin, end in zip(found, begins[row], ends[row], strict=False):
            assert inside[row, begin]
            assert inside[row, end]
            assert 0 <= end - begin < longest
            assert score == first[row, begin] + last[row, end]


@pytest.fixture(scope="module")
def reader(tiny_xlmr: Path) -> tuple[EncoderReader, Any]:
    """An untrained model with short windows."""
    adapter = adapter_of(ModelSource(str(tiny_xlmr)), max_length=24, query_length=8, stride=6, n_best=4)
    return adapter, adapter.load_model(0)


@given(st.lists(st.tuples(st.text(max_size=30), st.text(max_size=80)), min_size=1, max_size=4))
def test_answers_are_substrings(reader: tuple[EncoderReader, Any], pairs: list[tuple[str, str]]) -> None:
    adapter, network = reader
    examples = asked(*[(question, context, "x") for question, context in pairs])
    for context, found in zip(examples["context"], adapter.ranked(network, examples), strict=True):
        assert all(text in context and text == text.strip() and text for _, text in found)


@pytest.mark.parametrize("language", ["zh", "th", "ar", "de"])
def test_gold_answers_are_recovered(language: str, tiny_xlmr: Path) -> None:
    """The characters of the labelled tokens are the answer, in languages with and without blanks."""
    adapter = adapter_of(ModelSource(str(tiny_xlmr)), max_length=48, query_length=16, stride=16)
    examples = load("mini-xquad", language, "test")
    labelled, rows = adapter.objective(examples).items.encoded, adapter._rows(examples).encoded
    assert np.array_equal(labelled.input_ids, rows.input_ids)
    found: dict[int, str] = {}
    for row, example in enumerate(labelled.columns["example"].tolist()):
        first, last = (labelled.starts[row] + labelled.columns[name][row] for name in ("first", "last"))
        if first > labelled.starts[row]:
            begin, end = rows.aligned["begin"][first], rows.aligned["end"][last]
            found[example] = examples["context"][example][begin:end]
    assert len(found) == len(examples)
    right = [found[row] == answers[0] for row, answers in enumerate(examples["answers"])]
    assert np.mean(right) >= 0.95  # a token may extend beyond the answer


def test_misplaced_answers_are_located_or_left_out(letters: ModelSource) -> None:
    train = asked(("c", "ab ca", "ca"), ("c", "ab ca", "cb"), ("c", "ab ca", " "), starts=[[0], [3], [2]])
    objective = adapter_of(letters).objective(train)
    assert len(objective) == 1
    assert objective.notes == ["tydiqa/en train: 2 of 3 examples left out: the answer does not occur in the passage"]
    assert not adapter_of(letters).objective(train.keep([0])).notes
    batch = objective.batch(np.array([0]), 8, 1)
    assert (batch["first"].tolist(), batch["last"].tolist()) == ([5], [6])
    with pytest.raises(SystemFailureError, match="no training answer occurs in its passage"):
        adapter_of(letters).objective(train.keep([1, 2]))


def test_question_without_room_for_the_passage_raises(letters: ModelSource) -> None:
    adapter = adapter_of(letters, max_length=8, query_length=64)
    with pytest.raises(SystemFailureError, match=r"a question of 5 tokens leaves no room.*a smaller query_length"):
        adapter.objective(asked(("ccccc", "ab", "b")))
    assert len(adapter_of(letters, max_length=8, query_length=4).objective(asked(("ccccc", "ab", "b")))) == 2
