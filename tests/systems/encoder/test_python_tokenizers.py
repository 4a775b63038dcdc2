"""Python tokenizers (CANINE, XLM, ByT5): everything except answers inside a text, which need character offsets."""

import json
from pathlib import Path
from typing import Any

import pytest

from isogloss.systems.base import SystemFailureError, system
from isogloss.systems.pretrained import ModelSource
from isogloss.systems.tokens.inputs import SpecialTokens
from isogloss.systems.tokens.subwords import tokenize
from isogloss.tasks.loading import load
from isogloss.tasks.registry import task

transformers = pytest.importorskip("transformers", reason="it comes with isogloss[train]")
pytest.importorskip("torch", reason="it comes with isogloss[train]")

pytestmark = pytest.mark.slow

FEW: dict[str, Any] = {"quiet": True, "steps": 2, "batch": 8, "checkpoints": 100}
LANGUAGES = {"en": 0, "de": 1}


@pytest.fixture(scope="module")
def canine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A character model."""
    folder = tmp_path_factory.mktemp("canine")
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
    # The hash buckets are also used for positions.
    hashes = {"num_hash_functions": 2, "num_hash_buckets": 512, "local_transformer_stride": 32}
    config = transformers.CanineConfig(**sizes, **hashes, max_position_embeddings=512)
    transformers.CanineModel(config).save_pretrained(folder)
    transformers.CanineTokenizer().save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def xlm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """XLM with its own tokenizer and the subwords of an alphabet."""
    pytest.importorskip("sacremoses", reason="XLM's tokenizer needs sacremoses")
    folder = tmp_path_factory.mktemp("xlm")
    letters = "abcdefghijklmnopqrstuvwxyz"
    subwords = ["<s>", "</s>", "<pad>", "<unk>", "<special0>", *letters, *(f"{letter}</w>" for letter in letters)]
    vocabulary, merges = folder / "vocab.json", folder / "merges.txt"
    vocabulary.write_text(json.dumps({piece: number for number, piece in enumerate(subwords)}), encoding="utf-8")
    merges.write_text("#version: 0.2\n", encoding="utf-8")
    names = {"lang2id": LANGUAGES, "id2lang": {number: code for code, number in LANGUAGES.items()}}
    transformers.XLMTokenizer(str(vocabulary), str(merges), **names).save_pretrained(folder)
    sizes = {
        "vocab_size": len(subwords),
        "emb_dim": 32,
        "n_layers": 1,
        "n_heads": 2,
        "n_langs": 2,
        "use_lang_emb": True,
    }
    indices = {"bos_index": 0, "eos_index": 1, "pad_index": 2, "unk_index": 3, "mask_index": 4}
    transformers.XLMModel(transformers.XLMConfig(**sizes, **indices, **names)).save_pretrained(folder)
    return folder


@pytest.mark.parametrize("name", ["canine", "xlm"])
def test_special_tokens_and_subwords_match_the_tokenizer(name: str, request: pytest.FixtureRequest) -> None:
    source = ModelSource(str(request.getfixturevalue(name)))
    tokenizer = source.tokenizer
    assert not tokenizer.is_fast
    subwords = tokenize(tokenizer, ["one text", "", "another"])
    assert subwords.lengths.tolist() == [len(tokenizer(text)["input_ids"]) - 2 for text in ("one text", "", "another")]
    single, double = SpecialTokens.of(tokenizer, 1), SpecialTokens.of(tokenizer, 2)
    one, other = (subwords.ids[subwords.starts[row] : subwords.starts[row + 1]].tolist() for row in (0, 2))
    before, after = ([number for number, _ in group] for group in single.groups)
    assert [*before, *one, *after] == tokenizer("one text")["input_ids"]
    before, between, after = ([number for number, _ in group] for group in double.groups)
    assert [*before, *one, *between, *other, *after] == tokenizer("one text", "another")["input_ids"]
    assert source.tokenizer_hash == ModelSource(source.name).tokenizer_hash


@pytest.mark.parametrize("name", ["canine", "xlm"])
@pytest.mark.parametrize("of", ["mini-xnli", "mini-udpos"])
def test_tasks_without_offsets_are_learned(name: str, of: str, request: pytest.FixtureRequest) -> None:
    found = system(f"encoder:{request.getfixturevalue(name)}", **FEW)
    found.fit(task(of), load(of, "en", "train").keep(range(8)), seed=0)
    asked = load(of, "de", "test").keep(range(3))
    answers = found.predict(asked)
    assert len(answers) == 3
    if of == "mini-udpos":
        assert [len(tags) for tags in answers] == [len(words) for words in asked["tokens"]]


def test_tasks_with_offsets_are_refused(canine: Path) -> None:
    found = system(f"encoder:{canine}", **FEW)
    with pytest.raises(SystemFailureError, match=r"the tokenizer does not return character offsets.*tokenizer\.json"):
        found.fit(task("mini-xquad"), load("mini-xquad", "en", "train").keep(range(8)), seed=0)


def test_text_to_text_over_bytes(tmp_path: Path) -> None:
    config = transformers.T5Config(
        vocab_size=384, d_model=32, d_kv=16, d_ff=64, num_layers=1, num_heads=2, decoder_start_token_id=0
    )
    transformers.T5ForConditionalGeneration(config).save_pretrained(tmp_path)
    transformers.ByT5Tokenizer().save_pretrained(tmp_path)
    found = system(f"text2text:{tmp_path}", **FEW)
    found.fit(task("mini-xnli"), load("mini-xnli", "en", "train").keep(range(8)), seed=0)
    assert set(found.predict(load("mini-xnli", "de", "test").keep(range(3)))) <= set(task("xnli").labels)
