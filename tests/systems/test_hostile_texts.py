"""Unusual texts in training and prediction: empty, blank, very long, or outside any vocabulary."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from caches import new_cache
from isogloss.systems.base import System, system
from isogloss.tasks.examples import Examples, Pool
from isogloss.tasks.registry import task

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'isogloss[train]'")

pytestmark = pytest.mark.slow

ENDLESS = " ".join(f"word{number % 37}" for number in range(1200))
TEXTS = [
    "",
    " ",
    "\n\t\u3000",
    "a",
    "👩‍👩‍👧‍👦 and 👍🏽",  # joined by U+200D, with a colour of skin
    "\u200f\u202bשלום\u202c \u200e",  # direction marks
    "e\u0301 a\u0308\u0301",  # combining marks
    "\u0301\u0301",
    "\u200d",
    "\x00a\ufeff",
    "ﬁ ㎏ ½ İß",  # NFKC expands these
    "[SEP] </s> <pad> <extra_id_0>",
    "ที่นี่ 中文。日本語",
    "x" * 3000,
    ENDLESS,
]
SETTINGS: dict[str, Any] = {
    "learning_rate": 1e-3,
    "batch": 8,
    "steps": 2,
    "max_length": 64,
    "query_length": 16,
    "stride": 8,
    "answer_length": 8,
    "stages": (),
    "quiet": True,
}


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOGLOSS_CACHE", str(new_cache(tmp_path / "cache")))
    torch.set_num_threads(1)


def examples(name: str, gold: str, **columns: Any) -> Examples:
    ids = [str(row) for row in range(len(columns[gold]))]
    return Examples(name, "en", "train", ids, columns, gold)


def documents() -> Examples:
    return examples("mldoc", "label", text=TEXTS, label=["CCAT"] * len(TEXTS))


def pairs() -> Examples:
    return examples("xnli", "label", text_a=TEXTS, text_b=TEXTS[::-1], label=["neutral"] * len(TEXTS))


def choices() -> Examples:
    both, labels = list(zip(TEXTS, TEXTS[::-1], strict=True)), [0] * len(TEXTS)
    return examples("xcopa", "label", premise=TEXTS, question=["cause"] * len(TEXTS), choices=both, label=labels)


def sentences() -> Examples:
    tokens = [*([text] for text in TEXTS), TEXTS, ENDLESS.split(), []]
    return examples("udpos", "tags", tokens=tokens, tags=[["NOUN"] * len(words) for words in tokens])


def entities() -> Examples:
    """The whole of each text is an entity, including blanks."""
    offsets = [[(0, len(text))] if text else [] for text in TEXTS]
    tags = [["B-PER"] * len(spans) for spans in offsets]
    tokens = [[text] if text else [] for text in TEXTS]
    return examples("wikiann", "tags", tokens=tokens, text=TEXTS, offsets=offsets, tags=tags)


def questions() -> Examples:
    """Every text with an empty and with the very long question, and as a question about another text."""
    asked = [(question, context) for question in (TEXTS[0], TEXTS[-1]) for context in TEXTS]
    asked += zip(TEXTS, TEXTS[7:] + TEXTS[:7], strict=True)
    contexts = [context for _, context in asked]
    answers = [context.split()[:1] for context in contexts]
    starts = [[context.find(*answer)] if answer else [] for context, answer in zip(contexts, answers, strict=True)]
    return examples(
        "xquad",
        "answers",
        question=[question for question, _ in asked],
        context=contexts,
        answers=answers,
        answer_starts=starts,
    )


def learnt(name: str, train: Examples) -> System:
    return system(name, **SETTINGS).fit(task(train.task), train, 0)


@pytest.mark.parametrize("made", [documents, pairs, choices, sentences, entities, questions])
@pytest.mark.parametrize("model", ["encoder:tiny_bert", "encoder:tiny_xlmr", "text2text:tiny_mt5"])
def test_every_kind(model: str, made: Callable[[], Examples], request: pytest.FixtureRequest) -> None:
    family, _, fixture = model.partition(":")
    given = made()
    answers = learnt(f"{family}:{request.getfixturevalue(fixture)}", given).predict(given)
    assert len(answers) == len(given)
    if "tokens" in given.columns:
        assert [len(tags) for tags in answers] == [len(words) for words in given["tokens"]]
    if "context" in given.columns:
        for answer, context in zip(answers, given["context"], strict=True):
            assert answer in context
            assert answer == answer.strip()


@pytest.mark.parametrize("model", ["tiny_bert", "tiny_xlmr"])
def test_raw_entities(model: str, request: pytest.FixtureRequest) -> None:
    given = entities()
    answers = learnt(f"encoder:{request.getfixturevalue(model)}#raw", given).predict(given)
    assert len(answers) == len(given)
    for text, found in zip(TEXTS, answers, strict=True):
        assert all(text[begin:end] == text[begin:end].strip() != "" for begin, end, _ in found)


@pytest.mark.parametrize("name", ["tatoeba", "lareqa", "bucc"])
@pytest.mark.parametrize("model", ["dual-encoder:tiny_bert", "text2text:tiny_mt5"])
def test_pools(model: str, name: str, request: pytest.FixtureRequest) -> None:
    """A small pool gives fewer candidates than requested, each once."""
    family, _, fixture = model.partition(":")
    found = system(f"{family}:{request.getfixturevalue(fixture)}", **SETTINGS).fit(task(name), questions(), 0)
    for pool in (TEXTS, ["one"], ["a", "a", ""]):
        ids = [f"c{row}" for row in range(len(pool))]
        asked = Examples(name, "de", "test", list(map(str, range(len(TEXTS)))), {"text": TEXTS}, "targets")
        asked.pool = Pool(partial(dict.fromkeys, ids, "en"), partial(list, pool))
        for ranked in found.predict(asked):
            assert len(set(ranked)) == len(ranked), pool
            assert set(ranked) <= set(ids), pool
            assert name == "bucc" or len(ranked) == len(pool)
