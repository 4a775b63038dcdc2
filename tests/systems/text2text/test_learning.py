"""The text2text system as users run it: retrieval, models with language ids, and refusals."""

import json
from pathlib import Path
from typing import Any

import pytest

import isogloss
from caches import new_cache
from isogloss.systems.base import FitContext, System, SystemFailureError, system
from isogloss.systems.neural.fit_log import read_fit_log
from isogloss.systems.neural.system import NeuralSystem
from isogloss.systems.pretrained import ModelSource
from isogloss.systems.text2text.tagging import Text2TextTagger
from isogloss.tasks.loading import load
from isogloss.training.checkpoint_record import read_checkpoints
from isogloss.training.recipes import Recipe
from tiny_models import topics

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'isogloss[train]'")

pytestmark = pytest.mark.slow

SETTINGS = {"tokens": 0, "batch": 16, "learning_rate": 5e-2, "schedule": "linear", "warmup": 5, "checkpoints": 100.0}


@pytest.fixture(autouse=True)
def one_core(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOGLOSS_CACHE", str(new_cache(tmp_path_factory.getbasetemp() / "text2text-cache")))
    torch.set_num_threads(1)


def learner(folder: Path, **settings: Any) -> System:
    return system(f"text2text:{folder}", quiet=True, **{**SETTINGS, "dropout": 0.0, "stages": (), **settings})


def test_retrieval_uses_the_overrides_of_question_answering(tiny_mt5: Path) -> None:
    changes = {"max_length": 100, "xquad": {"stride": 9, "batch": 7}, "lareqa": {"batch": 5, "train_on": "tydiqa"}}
    found = system(f"text2text:{tiny_mt5}", overrides=changes)
    assert isinstance(found, NeuralSystem)
    recipes = [found.recipe_for(isogloss.task(name)) for name in ("lareqa", "mini-lareqa", "mewslix")]
    assert [(each.max_length, each.stride, each.batch) for each in recipes] == [(100, 9, 5), (100, 9, 5), (100, 9, 7)]
    assert [found.learns_from(isogloss.task(name)).id for name in ("lareqa", "mewslix", "mini-mewslix")] == [
        "tydiqa",
        "xquad",
        "mini-xquad",
    ]


def test_retrieval_selects_by_question_answering_dev_sets(tiny_mt5: Path, tmp_path: Path) -> None:
    asked = isogloss.task("mini-tatoeba")
    train = load("mini-xquad", "en", "train").keep(range(16))
    context = FitContext(
        folder=tmp_path, languages=("de",), examples=lambda language, split: load(asked, language, split).keep(range(8))
    )
    learner(tiny_mt5, steps=2, checkpoints=50, max_length=64, dev_examples=8).learn(asked, train, 0, context)
    log = read_fit_log(tmp_path)
    assert log is not None
    assert log.chosen["de"].by == "en dev"
    scored = {(row.language, row.split, row.metric) for row in read_checkpoints(tmp_path).rows}
    assert scored == {("en", "dev", "f1"), ("en", "dev", "em"), ("de", "test", "accuracy")}


@pytest.fixture(scope="session")
def tiny_mbart(tiny_mt5: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """mBART-50, which has language ids, over the tokens of the tiny mT5."""
    import transformers

    spelt = transformers.AutoTokenizer.from_pretrained(tiny_mt5).backend_tokenizer.to_str()
    pieces = [tuple(piece) for piece in json.loads(spelt)["model"]["vocab"][3:]]
    tokenizer = transformers.MBart50Tokenizer(vocab=[("<unk>", 0.0), ("<s>", 0.0), ("</s>", 0.0), *pieces])
    each = {"layers": 1, "attention_heads": 2, "ffn_dim": 64}
    sides = {f"{side}_{name}": value for side in ("encoder", "decoder") for name, value in each.items()}
    sizes = {"vocab_size": len(tokenizer), "d_model": 32, "max_position_embeddings": 64}
    config = transformers.MBartConfig(**sizes, **sides, dropout=0.0, decoder_start_token_id=2, init_std=0.1)
    folder = tmp_path_factory.mktemp("mbart")
    with torch.random.fork_rng():
        torch.manual_seed(0)
        transformers.MBartForConditionalGeneration(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def test_model_with_language_ids_supports_its_languages(tiny_mbart: Path) -> None:
    found = learner(tiny_mbart, steps=120, max_length=64).fit(isogloss.task("mldoc"), topics(), seed=0)
    right = [given == gold for given, gold in zip(found.predict(topics()), topics()["label"], strict=True)]
    assert sum(right) >= 0.95 * len(right)
    strange = topics()
    strange.language = "ha"
    with pytest.raises(SystemFailureError, match="has no id for ha"):
        found.predict(strange)
    tagger = learner(tiny_mbart, steps=2, max_length=64).fit(
        isogloss.task("mini-udpos"), load("mini-udpos", "en", "train").keep(range(8)), seed=0
    )
    asked = load("mini-udpos", "de", "test").keep(range(8))
    # More tags than the decoder has positions for, so that the sentence is split.
    asked.columns["tokens"] = [*asked["tokens"][:7], ["a"] * 30]
    assert [len(tags) for tags in tagger.predict(asked)] == [len(tokens) for tokens in asked["tokens"]]


def test_rows_fit_the_model_positions(tiny_mbart: Path) -> None:
    with pytest.raises(SystemFailureError, match=r"max_length is 65, but .* 64 positions\. Set max_length to 64"):
        learner(tiny_mbart, steps=1, max_length=65).fit(isogloss.task("mldoc"), topics(), seed=0)


def test_cached_tags_too_long_for_another_model_raise(tiny_mbart: Path) -> None:
    asked = load("mini-udpos", "de", "test").keep([0])
    asked.columns["tokens"] = [["a"] * 15]
    counts = []
    for positions in (512, 64):
        adapter = Text2TextTagger(
            isogloss.task("mini-udpos"),
            Recipe(name="test", learning_rate=1e-3, max_length=32),
            ModelSource(str(tiny_mbart)),
        )
        adapter.source.config.max_position_embeddings = positions  # of the same tokenizer
        counts.append(len(adapter._sources(asked)))
        assert counts[-1] == len(list(adapter._parts(asked)))
    assert counts[0] < counts[1]


def test_models_with_language_ids_refuse_multilingual_pools(tiny_mbart: Path) -> None:
    task = isogloss.task("mini-tatoeba")
    with pytest.raises(SystemFailureError, match="which multilingual pools do not provide"):
        learner(tiny_mbart, epochs=0, steps=0).fit(task, None, seed=0)


def test_encoder_only_model_is_refused(tiny_bert: Path) -> None:
    with pytest.raises(SystemFailureError, match="requires a model with a decoder"):
        learner(tiny_bert, steps=1).fit(isogloss.task("mldoc"), topics(), seed=0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label": ["SPORT"] * 64}, "unknown label 'SPORT'. mldoc has CCAT"),
        ({"label": None}, "has no gold labels"),
    ],
)
def test_unusable_training_set_raises(change: dict[str, Any], message: str, tiny_mt5: Path) -> None:
    train = topics()
    train.columns = {k: v for k, v in {**train.columns, **change}.items() if v is not None}
    with pytest.raises(SystemFailureError, match=message):
        learner(tiny_mt5, steps=1).fit(isogloss.task("mldoc"), train, seed=0)


def test_empty_training_set_raises(tiny_mt5: Path) -> None:
    with pytest.raises(SystemFailureError, match="is empty"):
        learner(tiny_mt5, steps=1).fit(isogloss.task("mldoc"), topics().keep([]), seed=0)
