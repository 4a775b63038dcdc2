"""Entities as character spans in raw text."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.metrics import spans as metric
from isogloss.systems.encoder import tagging as spans
from isogloss.systems.encoder.tagging import EncoderEntitySpans, LabelledSubwords
from isogloss.systems.pretrained import ModelSource
from isogloss.tasks.examples import Examples
from isogloss.tasks.registry import task
from tiny_models import BY_HEART

pytest.importorskip("torch", reason="torch is not installed: pip install 'isogloss[train]'")

LABELS = task("wikiann").labels
PER, ORG = LABELS.index("B-PER"), LABELS.index("B-ORG")


def tagged(text: str, offsets: list[tuple[int, int]], tags: list[str]) -> Examples:
    columns = {"tokens": [[text[a:b] for a, b in offsets]], "text": [text], "offsets": [offsets], "tags": [tags]}
    return Examples("wikiann", "en", "train", ["0"], columns, "tags")


def short(source: ModelSource, longest: int = 128) -> EncoderEntitySpans:
    return EncoderEntitySpans(task("wikiann"), replace(BY_HEART, max_length=longest), source)


def test_labels_by_hand(letters: ModelSource) -> None:
    # Two neighbours of one type, and an entity that is only part of a word.
    given = tagged("ab c cab", [(0, 2), (3, 4), (5, 7), (7, 8)], ["B-PER", "B-PER", "B-ORG", "O"])
    objective = short(letters).objective(given)
    batch = objective.batch(np.array([0]), 8, 2)
    assert batch["input_ids"][0].tolist() == [2, 4, 8, 6, 6, 7, 8, 3]
    assert batch["labels"].tolist() == [[-100, PER, PER + 1, PER, ORG, ORG + 1, 0, -100], [-100] * 8]


def test_whitespace_marker_has_no_label(request: pytest.FixtureRequest) -> None:
    adapter = short(ModelSource(str(request.getfixturevalue("tiny_xlmr"))))
    objective = adapter.objective(tagged("คน", [(0, 2)], ["B-PER"]))
    assert objective.batch(np.array([0]), 5, 1)["labels"][0].tolist() == [-100, -100, PER, PER + 1, -100]


def test_long_texts_are_cut_at_blanks(letters: ModelSource) -> None:
    # Five tokens per row: "abc" does not fit after "aaa"; a word of seven has to be cut.
    objective = short(letters, 7).objective(tagged("aaa abc ccccccc", [(0, 3), (4, 7), (8, 15)], ["O", "O", "B-PER"]))
    assert objective.lengths.tolist() == [5, 7, 7]
    batch = objective.batch(np.arange(3), 7, 3)
    assert batch["input_ids"].tolist() == [[2, 4, 7, 7, 3, 0, 0], [2, 4, 8, 9, 6, 9, 3], [2, 9, 9, 9, 9, 9, 3]]
    assert batch["labels"][1].tolist() == [-100, 0, 0, 0, PER, PER + 1, -100]
    assert batch["labels"][2].tolist() == [-100, *[PER + 1] * 5, -100]


@st.composite
def annotated(draw: st.DrawFn) -> Examples:
    """A text of words and blanks, tokenised at random, with some entities."""
    words = draw(st.lists(st.text("abc", min_size=1, max_size=9), min_size=1, max_size=6))
    text, offsets = "", []
    for word in words:
        text += draw(st.sampled_from(["", " ", "\u3000 "]))
        offsets.append((len(text), len(text) + len(word)))
        text += word
    return tagged(
        text + " ", offsets, draw(st.lists(st.sampled_from(LABELS), min_size=len(words), max_size=len(words)))
    )


@given(annotated(), st.integers(3, 12))
def test_spans_round_trip_through_labels(letters: ModelSource, examples: Examples, longest: int) -> None:
    adapter = short(letters, longest)
    objective = adapter.objective(examples)
    assert isinstance(objective, LabelledSubwords)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spans, "best_labels", lambda model, rows: np.maximum(objective.labels, 0))
        [found] = adapter.predict(None, examples)
    assert found == metric.from_sentences([examples["tags"][0]], [examples["offsets"][0]])[0]
    for begin, end, _ in found:
        assert metric.trim(examples["text"][0], begin, end) == (begin, end)


@given(st.lists(st.text(max_size=20), min_size=1, max_size=3))
def test_spans_are_inside_any_text(letters: ModelSource, texts: list[str]) -> None:
    examples = Examples("wikiann", "en", "test", [str(row) for row in range(len(texts))], {"text": texts}, "tags")
    some = np.random.default_rng(0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spans, "best_labels", lambda model, rows: some.integers(0, 7, len(rows.encoded.input_ids)))
        found = short(letters).predict(None, examples)
    assert len(found) == len(texts)
    for text, answer in zip(texts, found, strict=True):
        assert all(0 <= begin < end <= len(text) and text[begin:end].strip() for begin, end, _ in answer)
