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
from isogloss.training.batching import BatchSchedule
from tiny_models import BY_HEART

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'isogloss[train]'")


def asked(*triples: tuple[str, str, str], starts: list[list[int]] | None = None) -> Examples:
    questions, contexts, answers = zip(*triples, strict=True)
    columns: dict[str, Any] = {"question": questions, "context": contexts, "answers": [[answer] for answer in answers]}
    columns |= {} if starts is None else {"answer_starts": starts}
    return Examples("tydiqa", "en", "train", [str(row) for row in range(len(triples))], columns, "answers")


def adapter_of(source: ModelSource, **lengths: Any) -> EncoderReader:
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
    scores, begins, ends = best_spans(first, last, (inside, inside), longest, count)
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


def reference_answer(windows: list[dict[str, Any]], longest: int, count: int) -> tuple[float, int, int] | None:
    """Return the best span as run_squad.py finds it: loops over the best starts and ends of every window."""

    def context(window: dict[str, Any], place: int) -> float:
        start, end = window["start"], window["start"] + window["length"] - 1
        return min(place - start, end - place) + 0.01 * window["length"] if start <= place <= end else -1.0

    found = []
    for number, window in enumerate(windows):
        best = [sorted(range(len(edge)), key=lambda at, edge=edge: -edge[at])[:count] for edge in window["edges"]]
        for first in best[0]:
            for last in best[1]:
                place = first - window["offset"] + window["start"]
                contexts = [context(other, place) for other in windows]
                inside = all(0 <= at - window["offset"] < window["length"] for at in (first, last))
                if inside and first <= last < first + longest and contexts.index(max(contexts)) == number:
                    score = float(window["edges"][0][first] + window["edges"][1][last])
                    found.append((score, place, last - window["offset"] + window["start"]))
    return max(found, key=lambda span: span[0], default=None)


class Noise(torch.nn.Module):
    """Scores by a hash of the token, its place, and its row's content."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1))

    def forward(self, input_ids: Any, attention_mask: Any, **_: Any) -> Any:
        from types import SimpleNamespace

        row = (input_ids * attention_mask * (torch.arange(input_ids.shape[1]) + 3)).sum(1, keepdim=True)
        seeds = input_ids * 31 + torch.arange(input_ids.shape[1]) * 17 + row * 7
        first, last = ((seeds * factor % 9973).float() for factor in (7919, 6101))
        return SimpleNamespace(start_logits=first, end_logits=last)


@pytest.mark.parametrize("count", [2, 4, 12])
def test_squad_decoding_matches_the_reference(count: int, letters: ModelSource) -> None:
    """20 x 20 candidates per window, and a start only where no other window gives it more context."""
    settings = {"max_length": 14, "query_length": 2, "stride": 4, "answer_length": 3, "n_best": count}
    adapter = adapter_of(letters, **settings, decoding="squad")
    passages = ["abcabcabcbbacbacbaabcba", "ab cab cabb", "cccabacbab bcabbcaabacbaaccb"]
    given = asked(*[("ab", passage, passage[:1]) for passage in passages])
    encoded = adapter.encode_windows(given["question"], given["context"])
    rows = adapter.inputs.rows_for(given, encoded, encoded.columns["example"])
    model, wanted, differ = Noise(), [], False
    for example, passage in enumerate(passages):
        windows, letters_at = [], [at for at, letter in enumerate(passage) if letter != " "]
        mine = np.flatnonzero(encoded.columns["example"] == example)
        for number, row in enumerate(mine.tolist()):
            width = int(rows.lengths[row])
            batch = {name: torch.from_numpy(array) for name, array in rows.batch(np.array([row]), width, 1).items()}
            output = model(**batch)
            edges = [edge[0].tolist() for edge in (output.start_logits, output.end_logits)]
            windows.append({"edges": edges, "offset": 4, "start": 4 * number, "length": width - 5})
        span = reference_answer(windows, 3, count)
        wanted.append(passage[letters_at[span[1]] : letters_at[span[2]] + 1] if span else "")
        differ |= len(mine) > 1
    assert differ
    assert adapter.predict(model, given) == wanted
    exact = adapter_of(letters, **settings)
    assert count == 12 or exact.predict(model, given) != wanted


def test_full_padding_is_in_the_softmax(tiny_bert: Path) -> None:
    """With full padding the loss is that of transformers for rows of `max_length`, which the scripts use."""
    given = asked(("Who?", "It was Bo who came.", "Bo"), ("What is it that came here?", "A cat.", "cat"))
    full, cut = (
        adapter_of(ModelSource(str(tiny_bert)), max_length=40, query_length=8, padding=padding)
        for padding in ("full", "batch")
    )
    model = full.load_model(0).eval()
    objective, rows = full.objective(given), np.arange(2)
    schedule = BatchSchedule(lengths=objective.lengths, rows=1, recipe=replace(full.recipe, batch=2), seed=0)
    [[batch], *_] = schedule.updates()
    assert (batch.width, batch.size) == (40, 2)
    tensors = {name: torch.from_numpy(array) for name, array in objective.batch(rows, 40, 2).items()}
    arguments = {name: tensors[name] for name in ("input_ids", "attention_mask", "token_type_ids")}
    theirs = model(**arguments, start_positions=tensors["first"], end_positions=tensors["last"]).loss
    assert float(objective.loss(model, tensors).detach()) / 2 == pytest.approx(float(theirs.detach()), rel=1e-5)
    assert float(cut.objective(given).loss(model, tensors).detach()) / 2 < float(theirs.detach())


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
