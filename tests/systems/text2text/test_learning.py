"""A tiny mT5 learns 64 examples of every kind of task by heart, through the system's own front door."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import isogloss
from isogloss.systems.base import System, SystemFailureError, system
from isogloss.tasks.examples import Examples, Pool
from isogloss.tasks.kinds import kind
from isogloss.tasks.loading import load

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'isogloss[train]'")

SETTINGS = {"tokens": 0, "batch": 16, "learning_rate": 4e-3, "schedule": "linear", "warmup": 5, "checkpoints": 100.0}


@pytest.fixture(autouse=True)
def one_core(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOGLOSS_CACHE", str(tmp_path_factory.getbasetemp() / "text2text-cache"))
    torch.set_num_threads(1)


def learner(folder: Path, **settings: Any) -> System:
    return system(f"text2text:{folder}", quiet=True, **{**SETTINGS, "dropout": 0.0, "stages": (), **settings})


def score(task: str, examples: Examples, answers: Sequence[Any]) -> float:
    found = isogloss.task(task)
    asked = kind(found.kind)
    normal = [asked.normalize(answer) for answer in answers]
    assert not list(asked.faults(found, examples, normal))
    return next(iter(asked.judge(found, examples, normal).metrics.values())).score


def topics() -> Examples:
    words = "market minister football rain".split()
    texts = [f"the {words[n % 4]} was talked about on page {n}" for n in range(64)]
    labels = [isogloss.task("mldoc").labels[n % 4] for n in range(64)]
    return Examples("mldoc", "en", "train", list(map(str, range(64))), {"text": texts, "label": labels}, "label")


def causes() -> Examples:
    right, wrong = "it was wet", "it was dry"
    columns = {
        "premise": [f"the {'rain' if n % 3 else 'sun'} came on day {n}" for n in range(64)],
        "question": ["effect"] * 64,
        "choices": [(right, wrong) if n % 2 else (wrong, right) for n in range(64)],
        "label": [(n % 2 == 0) if n % 3 else (n % 2 == 1) for n in range(64)],
    }
    columns["label"] = list(map(int, columns["label"]))
    return Examples("xcopa", "en", "train", list(map(str, range(64))), dict(columns), "label")


def shortest(task: str) -> Examples:
    """The 64 examples of the suite that are quickest to learn."""
    train = load(task, "en", "train")
    column = next(name for name in ("tokens", "text_a", "context") if name in train.columns)
    return train.keep(sorted(range(len(train)), key=lambda row: len(train[column][row]))[:64])


MADE = {"mldoc": topics, "xcopa": causes}


@pytest.mark.parametrize(
    ("task", "steps"),
    [
        ("mldoc", 60),
        ("mini-xnli", 90),
        ("xcopa", 80),
        ("mini-udpos", 130),
        ("mini-wikiann", 90),
        ("mini-xquad", 90),
    ],
)
def test_learns_64_examples_by_heart(task: str, steps: int, tiny_mt5: Path) -> None:
    train = MADE[task]() if task in MADE else shortest(task)
    learnt = learner(tiny_mt5, steps=steps).fit(isogloss.task(task), train, seed=0)
    assert score(task, train, learnt.predict(train)) >= 0.95


def test_retrieval_learns_questions_and_finds_the_same_text(tiny_mt5: Path) -> None:
    task = isogloss.task("mini-tatoeba")
    found = learner(tiny_mt5, steps=4)
    assert found.learns_from(task).id == "mini-xquad"
    assert found.learns_from(isogloss.task("mewslix")).id == "xquad"
    found.fit(task, load("mini-xquad", "en", "train").keep(range(16)), seed=0)
    texts = list(load("mini-xnli", "en", "train")["text_a"])
    texts = list(dict.fromkeys(texts))[:40]
    ids = [f"c{number}" for number in range(len(texts))]
    pool = Pool(lambda: dict.fromkeys(ids, "fi"), lambda: texts)
    asked = Examples("mini-tatoeba", "fi", "test", ids, {"text": texts[::-1]}, "targets", pool=pool)
    ranked = found.predict(asked)
    assert [row[0] for row in ranked] == ids[::-1]
    assert all(len(set(row)) == 20 for row in ranked)


@pytest.fixture(scope="session")
def tiny_mbart(tiny_mt5: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """mBART-50, which must be told the language, over the pieces of the tiny mT5."""
    import transformers

    spelt = transformers.AutoTokenizer.from_pretrained(tiny_mt5).backend_tokenizer.to_str()
    pieces = [tuple(piece) for piece in json.loads(spelt)["model"]["vocab"][3:]]
    tokenizer = transformers.MBart50Tokenizer(vocab=[("<unk>", 0.0), ("<s>", 0.0), ("</s>", 0.0), *pieces])
    config = transformers.MBartConfig(
        vocab_size=len(tokenizer),
        d_model=32,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        max_position_embeddings=64,
        dropout=0.0,
        decoder_start_token_id=2,
        init_std=0.1,
    )
    folder = tmp_path_factory.mktemp("mbart")
    with torch.random.fork_rng():
        torch.manual_seed(0)
        transformers.MBartForConditionalGeneration(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def test_a_model_with_language_ids_learns_and_answers_in_the_languages_it_knows(tiny_mbart: Path) -> None:
    found = learner(tiny_mbart, steps=120).fit(isogloss.task("mldoc"), topics(), seed=0)
    assert score("mldoc", topics(), found.predict(topics())) >= 0.95
    strange = topics()
    strange.language = "ha"
    with pytest.raises(SystemFailureError, match="has no id for ha"):
        found.predict(strange)
    tagger = learner(tiny_mbart, steps=2).fit(
        isogloss.task("mini-udpos"), load("mini-udpos", "en", "train").keep(range(8)), seed=0
    )
    asked = load("mini-udpos", "de", "test").keep(range(8))
    # More tags than the decoder has positions for: the sentence is split for their sake.
    asked.columns["tokens"] = [*asked["tokens"][:7], ["a"] * 30]
    assert [len(tags) for tags in tagger.predict(asked)] == [len(tokens) for tokens in asked["tokens"]]


def test_a_pool_of_many_languages_is_not_for_models_with_language_ids(tiny_mbart: Path) -> None:
    task = isogloss.task("mini-tatoeba")
    found = learner(tiny_mbart, epochs=0, steps=0).fit(task, None, seed=0)
    with pytest.raises(SystemFailureError, match="a pool has many"):
        found.predict(load("mini-tatoeba", "de", "test"))


def test_a_model_that_is_not_sequence_to_sequence_is_refused(tiny_bert: Path) -> None:
    with pytest.raises(SystemFailureError, match="cannot be opened"):
        learner(tiny_bert, steps=1).fit(isogloss.task("mldoc"), topics(), seed=0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label": ["SPORT"] * 64}, "'SPORT' is not one of the task's. mldoc has CCAT"),
        ({"label": None}, "has no answers"),
    ],
)
def test_what_cannot_be_learnt_from_is_said(change: dict[str, Any], message: str, tiny_mt5: Path) -> None:
    train = topics()
    train.columns = {k: v for k, v in {**train.columns, **change}.items() if v is not None}
    with pytest.raises(SystemFailureError, match=message):
        learner(tiny_mt5, steps=1).fit(isogloss.task("mldoc"), train, seed=0)


def test_an_empty_training_set_is_said(tiny_mt5: Path) -> None:
    with pytest.raises(SystemFailureError, match="is empty"):
        learner(tiny_mt5, steps=1).fit(isogloss.task("mldoc"), topics().keep([]), seed=0)
