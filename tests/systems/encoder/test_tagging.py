"""Tags at first sub-words, and long sentences."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.systems.base import SystemFailureError
from isogloss.systems.encoder.tagging import EncoderTagger, split_into_rows
from isogloss.systems.pretrained import ModelSource
from isogloss.tasks.examples import Examples
from isogloss.tasks.registry import task
from tiny_models import BY_HEART

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'isogloss[train]'")

LABELS = task("wikiann").labels  # O, B-PER, I-PER, B-ORG, …


def sentences(*words: list[str], tags: list[Any] | None = None) -> Examples:
    ids = [f"s{row}" for row in range(len(words))]
    gold = tags or [[LABELS[min(len(word), 6)] for word in sentence] for sentence in words]
    return Examples("wikiann", "en", "train", ids, {"tokens": list(words), "tags": gold}, "tags")


def short(source: ModelSource, longest: int = 6) -> EncoderTagger:
    return EncoderTagger(task("wikiann"), replace(BY_HEART, max_length=longest), source)


class ByLetter(torch.nn.Module):
    """A model that predicts each token's own id, so that predictions can be read off the words."""

    def __init__(self) -> None:
        super().__init__()
        self.nothing = torch.nn.Parameter(torch.zeros(1))

    def forward(self, input_ids: Any, **_: Any) -> Any:
        return SimpleNamespace(logits=torch.nn.functional.one_hot((input_ids - 3).clamp(min=0) % 7, 7).float())


def test_rows_by_hand(letters: ModelSource) -> None:
    # Four tokens per row besides [CLS] and [SEP]. "bbb" does not fit after "aa"; the empty word and the one of five
    # letters are unknown tokens.
    objective = short(letters).objective(sentences(["aa", "bbb", "a", "", "ccccc"], [], ["c"]))
    assert objective.lengths.tolist() == [4, 6, 4, 3]
    batch = objective.batch(np.arange(4), 6, 4)
    assert batch["input_ids"].tolist() == [
        [2, 4, 7, 3, 0, 0],
        [2, 5, 8, 8, 4, 3],
        [2, 1, 1, 3, 0, 0],
        [2, 6, 3, 0, 0, 0],
    ]
    off = -100
    assert batch["labels"].tolist() == [
        [off, 2, off, off, off, off],
        [off, 3, off, off, 1, off],
        [off, 0, 5, off, off, off],
        [off, 1, off, off, off, off],
    ]
    assert objective.weight(np.array([1, 2])) == 4.0


def test_extra_separator(letters: ModelSource, tiny_xlmr: Path) -> None:
    """As in run_tag.py, XLM-R's sentences end with two separators, which shortens the rows; BERT's do not."""
    words = sentences(["a", "b"])
    for extra in (False, True):
        adapter = replace(short(letters), recipe=replace(short(letters).recipe, extra_separator=extra))
        assert adapter.objective(words).lengths.tolist() == [4]
    source = ModelSource(str(tiny_xlmr))
    plain = short(source, 8)
    doubled = replace(plain, recipe=replace(plain.recipe, extra_separator=True))
    end = source.tokenizer.eos_token_id
    objectives = (adapter.objective(words) for adapter in (plain, doubled))
    [single], [double] = (objective.batch(np.arange(1), 8, 1)["input_ids"] for objective in objectives)
    length = int(plain.objective(words).lengths[0])
    assert double[: length + 1].tolist() == [*single[:length], end]
    long = sentences(["a"] * 12)
    assert plain.objective(long).lengths.max() == doubled.objective(long).lengths.max() == 8
    assert len(doubled.objective(long)) > len(plain.objective(long))


def test_long_sentences_are_rejoined(letters: ModelSource) -> None:
    given = sentences(["aa", "bbb", "a", "", "ccccc"], [], ["c"] * 9, ["b"])
    found = short(letters).predict(ByLetter(), given)
    a, b, c, unknown = LABELS[1], LABELS[2], LABELS[3], LABELS[0]
    assert found == [[a, b, a, unknown, unknown], [], [c] * 9, [b]]


@given(st.lists(st.lists(st.text("abcx", max_size=9), max_size=30), max_size=6), st.integers(3, 12))
def test_word_gets_the_tag_of_its_first_subword(letters: ModelSource, words: list[list[str]], longest: int) -> None:
    found = short(letters, longest).predict(ByLetter(), sentences(*words))
    room = longest - 2

    def tag(word: str) -> str:
        known = word and "x" not in word and len(word) <= room
        return LABELS["abc".index(word[0]) + 1 if known else 0]

    assert found == [[tag(word) for word in sentence] for sentence in words]


@given(st.lists(st.lists(st.integers(1, 5), max_size=12), min_size=1, max_size=5), st.integers(5, 9))
def test_rows_are_filled_greedily(sizes: list[list[int]], room: int) -> None:
    flat = np.array([size for sentence in sizes for size in sentence], np.int64)
    ends = np.concatenate([[0], np.cumsum([len(sentence) for sentence in sizes])]).astype(np.int64)
    begins, owners = split_into_rows(flat, ends, room)
    wanted, start = [], 0
    for number, sentence in enumerate(sizes):
        filled = room + 1
        for place, size in enumerate(sentence):
            if filled + size > room:
                wanted.append((start + place, number))
                filled = 0
            filled += size
        start += len(sentence)
    assert list(zip(begins.tolist(), owners.tolist(), strict=True)) == wanted


def test_whitespace_marker_is_a_first_subword(request: pytest.FixtureRequest) -> None:
    adapter = short(ModelSource(str(request.getfixturevalue("tiny_xlmr"))), 64)
    objective = adapter.objective(sentences(["คน", "x"], tags=[["B-PER", "O"]]))
    batch = objective.batch(np.array([0]), int(objective.lengths[0]), 1)
    tokens = adapter.source.tokenizer.convert_ids_to_tokens(batch["input_ids"][0].tolist())
    labelled = {place: label for place, label in enumerate(batch["labels"][0].tolist()) if label >= 0}
    assert tokens[1] == "▁"
    assert labelled == {1: 1, tokens.index("▁", 2): 0}


@pytest.mark.parametrize(
    ("tags", "message"),
    [
        ([["O", "B-GPE"]], r"wikiann/en train: unknown label 'B-GPE'"),
        ([["O"]], r"wikiann/en train, s0: 1 tags for 2 words"),
        ([None], r"s0: 0 tags for 2 words"),
    ],
)
def test_invalid_tags_raise(tags: list[Any], message: str, letters: ModelSource) -> None:
    with pytest.raises(SystemFailureError, match=message):
        short(letters).objective(sentences(["a", "b"], tags=tags))
