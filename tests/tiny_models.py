"""Random models with real tokenizers, small enough to be trained in a test; each is created once per session.

A pytest plugin, named in conftest: the fixtures `tiny_bert`, `tiny_xlmr`, `tiny_xlm` and `tiny_mt5` are folders written
by `save_pretrained`.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from isogloss.tasks.examples import Examples
from isogloss.tasks.registry import task
from isogloss.training.recipes import Recipe

__all__ = ["BY_HEART", "texts", "tiny_bert", "tiny_mt5", "tiny_xlm", "tiny_xlmr", "topics"]

VOCABULARY = 900
LANGUAGES = ("en", "de", "ru", "ar", "zh", "th")
WRITTEN = (
    "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X _ O B-PER I-PER B-ORG I-ORG B-LOC "
    "I-LOC 0 1 2 3 4 5 6 7 8 9 text: sentence1: sentence2: premise: question: context: choice1: choice2:"
)
# Enough for a tiny model to memorise 64 examples.
BY_HEART = Recipe(name="by heart", learning_rate=2e-3, epochs=30, batch=16, checkpoints=100)
# Small versions of BERT and XLM-R; with few units, the usual initial range of 0.02 learns slowly.
SMALL = {
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
    "initializer_range": 0.1,
}


def texts() -> list[str]:
    """Return sentences of the suite in languages with and without blanks, and the words of its templates and tasks."""
    from isogloss.tasks.loading import load

    found: list[str] = ["What was the cause? What was the effect?"]
    for code in LANGUAGES:
        read = load("mini-xquad", code, "test")
        found += [*read["question"], *read["context"]]
        found += [" ".join(words) for words in load("mini-wikiann", code, "test")["tokens"]]
    for name, columns in (("xnli", ("text_a", "text_b")), ("udpos", ("text",)), ("xcopa", ("premise",))):
        train = load(f"mini-{name}", "en", "train")
        for column in columns:
            found += train[column][:300]
    return found


def topics() -> Examples:
    """Return 64 documents of MLDoc's four topics, each with a word that reveals its topic."""
    words = "market minister football rain".split()
    columns: dict[str, Any] = {
        "text": [f"the {words[row % 4]} was talked about on page {row}" for row in range(64)],
        "label": [task("mldoc").labels[row % 4] for row in range(64)],
    }
    return Examples("mldoc", "en", "train", list(map(str, range(64))), columns, "label")


@pytest.fixture(scope="session")
def tiny_bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """BERT with cased WordPiece: segments, and `[CLS] a [SEP] b [SEP]`."""
    transformers = _transformers()
    tokenizer = _wordpiece(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], "[CLS]:0 $A:0 [SEP]:0", "$B:1 [SEP]:1")
    config = transformers.BertConfig(vocab_size=len(tokenizer), max_position_embeddings=512, **SMALL)
    return _saved(tmp_path_factory, "bert", tokenizer, lambda: transformers.BertForMaskedLM(config))


@pytest.fixture(scope="session")
def tiny_xlmr(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """XLM-R with a Unigram vocabulary: no segments, and `<s> a </s></s> b </s>`."""
    transformers = _transformers()
    specials = {"bos": "<s>", "pad": "<pad>", "eos": "</s>", "unk": "<unk>", "mask": "<mask>"}
    tokenizer = _unigram(specials, "<s> $A </s>", "</s> $B </s>", ["input_ids", "attention_mask"])
    config = transformers.XLMRobertaConfig(
        vocab_size=len(tokenizer),
        max_position_embeddings=514,
        type_vocab_size=1,
        bos_token_id=0,
        pad_token_id=1,
        eos_token_id=2,
        **SMALL,
    )
    return _saved(tmp_path_factory, "xlmr", tokenizer, lambda: transformers.XLMRobertaForMaskedLM(config))


@pytest.fixture(scope="session")
def tiny_xlm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """XLM, which needs the language of every piece; its own tokenizer is slow, so it uses BERT's."""
    transformers = _transformers()
    tokenizer = _wordpiece(["<s>", "</s>", "<pad>", "<unk>", "<mask>"], "<s> $A </s>", "$B </s>")
    config = transformers.XLMConfig(
        vocab_size=len(tokenizer),
        emb_dim=64,
        n_layers=2,
        n_heads=4,
        dropout=0.0,
        attention_dropout=0.0,
        max_position_embeddings=512,
        n_langs=len(LANGUAGES),
        use_lang_emb=True,
        lang2id={code: number for number, code in enumerate(LANGUAGES)},
        id2lang=dict(enumerate(LANGUAGES)),
        bos_index=0,
        eos_index=1,
        pad_index=2,
        unk_index=3,
        mask_index=4,
        embed_init_std=0.1,
        init_std=0.1,
    )
    return _saved(tmp_path_factory, "xlm", tokenizer, lambda: transformers.XLMWithLMHeadModel(config))


@pytest.fixture(scope="session")
def tiny_mt5(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """MT5 with a Unigram vocabulary and a few sentinels: text in, text out."""
    transformers = _transformers()
    specials = {"pad": "<pad>", "eos": "</s>", "unk": "<unk>"}
    # Tags, numbers and field names are in its vocabulary, as most are in mT5's.
    tokenizer = _unigram(specials, "$A </s>", "$B </s>", ["input_ids", "attention_mask"], [WRITTEN] * 500)
    tokenizer.add_tokens([f"<extra_id_{number}>" for number in range(12)], special_tokens=True)
    config = transformers.MT5Config(
        vocab_size=len(tokenizer),
        d_model=64,
        d_kv=16,
        d_ff=128,
        num_layers=2,
        num_decoder_layers=2,
        num_heads=4,
        dropout_rate=0.0,
        pad_token_id=0,
        eos_token_id=1,
        decoder_start_token_id=0,
    )
    return _saved(tmp_path_factory, "mt5", tokenizer, lambda: transformers.MT5ForConditionalGeneration(config))


def _transformers() -> Any:
    pytest.importorskip("torch", reason="torch is not installed: pip install 'isogloss[train]'")
    return pytest.importorskip("transformers", reason="transformers is not installed: pip install 'isogloss[train]'")


def _saved(factory: pytest.TempPathFactory, name: str, tokenizer: Any, made: Callable[[], Any]) -> Path:
    """Save a tokenizer and a model with fixed random weights to a session folder."""
    import torch

    folder = factory.mktemp(name, numbered=False)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        made().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _same_every_time(made: Any, specials: list[str], unknown: str) -> Any:
    """Return the trained vocabulary sorted, with rounded scores: the trainer's threads make both vary."""
    from tokenizers import models

    scores = dict(json.loads(made.to_str())["model"]["vocab"])
    learnt = sorted((-round(score), token) for token, score in scores.items() if token not in specials)
    vocabulary = [*((token, 0.0) for token in specials), *((token, -score) for score, token in learnt)]
    return models.Unigram(vocabulary, unk_id=specials.index(unknown))


def _wordpiece(specials: list[str], single: str, second: str) -> Any:
    """Return a cased WordPiece tokenizer of the suite, with special tokens in BERT's or XLM's spelling."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    unknown = next(token for token in specials if "unk" in token.lower())
    made = Tokenizer(models.WordPiece(unk_token=unknown))
    made.normalizer = normalizers.BertNormalizer(lowercase=False, strip_accents=False)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.decoder = decoders.WordPiece()
    made.train_from_iterator(
        texts(), trainers.WordPieceTrainer(vocab_size=VOCABULARY, special_tokens=specials, show_progress=False)
    )
    used = [(token, made.token_to_id(token)) for token in specials if token in single + second]
    made.post_processor = processors.TemplateProcessing(single=single, pair=f"{single} {second}", special_tokens=used)
    named = {f"{token.strip('[]<>').lower()}_token": token for token in specials if token.startswith("[")}
    named = named or {"bos_token": "<s>", "sep_token": "</s>", "cls_token": "</s>"} | {
        f"{name}_token": f"<{name}>" for name in ("pad", "unk", "mask")
    }
    inputs = (
        ["input_ids", "token_type_ids", "attention_mask"] if "[CLS]" in specials else ["input_ids", "attention_mask"]
    )
    return PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=512, model_input_names=inputs, **named)


def _unigram(specials: dict[str, str], single: str, second: str, inputs: list[str], also: Sequence[str] = ()) -> Any:
    """Return a Unigram tokenizer of the suite, with words marked by a leading blank as in sentencepiece."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.Unigram())
    made.normalizer = normalizers.NFKC()
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=VOCABULARY,
        special_tokens=list(specials.values()),
        unk_token=specials["unk"],
        show_progress=False,
    )
    made.train_from_iterator([*texts(), *also], trainer)
    made.model = _same_every_time(made, list(specials.values()), specials["unk"])
    used = [(token, made.token_to_id(token)) for token in specials.values() if token in single + second]
    made.post_processor = processors.TemplateProcessing(single=single, pair=f"{single} {second}", special_tokens=used)
    named = {f"{name}_token": token for name, token in specials.items()}
    named |= {"cls_token": "<s>", "sep_token": "</s>"} if "bos" in specials else {}
    return PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=512, model_input_names=inputs, **named)
