"""Translation models with random weights, and tokenizers with language codes as in NLLB, M2M-100, MADLAD and others."""

from pathlib import Path
from typing import Any

WORDS = "the a dog cat house sees has eats runs red blue big small and in on . , ?".split()
SPECIALS = ["<s>", "<pad>", "</s>", "<unk>"]
CODES = {
    "nllb": ["eng_Latn", "spa_Latn", "kor_Hang", "zho_Hans"],
    "m2m": ["__en__", "__es__", "__ko__"],
    "mbart": ["en_XX", "es_XX", "zh_CN"],
    "madlad": ["<2en>", "<2es>", "<2iw>"],
    "opus": [">>spa<<", ">>fra<<", ">>pt_br<<"],
    "plain": [],
}
SENTENCES = [
    "the dog sees a cat .",
    "a cat .",
    "the big red house and the small blue house , and a dog in the house .",
    "the dog runs",
    "eats ?",
    "a dog and a cat and a dog and a cat and a dog",
]


def tokenizer_of(codes: list[str]) -> Any:
    """Return a tokenizer of whole words, with `text </s>` and language codes as special tokens."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    vocabulary = {word: number for number, word in enumerate([*SPECIALS, *WORDS])}
    made = Tokenizer(models.WordLevel(vocabulary, SPECIALS[3]))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 2)])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=made,
        model_max_length=40,
        **dict(zip(("bos_token", "pad_token", "eos_token", "unk_token"), SPECIALS, strict=True)),
        model_input_names=["input_ids", "attention_mask"],
    )
    if codes:
        tokenizer.add_special_tokens({"additional_special_tokens": codes})
    return tokenizer


def model_of(kind: str, size: int) -> Any:
    """Return a random model of the architecture that has these language codes."""
    import torch
    import transformers

    ids = {"pad_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2, "vocab_size": size}
    bart = {"d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2, "init_std": 0.5}
    bart |= {"decoder_attention_heads": 2, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "dropout": 0.0}
    bart |= {"max_position_embeddings": 64, "attention_dropout": 0.0, "activation_dropout": 0.0}
    # With tied embeddings, a random model repeats its last token for ever.
    bart |= {"forced_eos_token_id": None, "tie_word_embeddings": False}
    with torch.random.fork_rng():
        torch.manual_seed(0)
        if kind == "madlad":
            t5 = {"d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 1, "num_heads": 2, "dropout_rate": 0.0}
            config = transformers.T5Config(**ids, **t5, initializer_factor=3.0, tie_word_embeddings=False)
            return transformers.T5ForConditionalGeneration(config)
        if kind in ("opus", "plain"):
            return transformers.MarianMTModel(transformers.MarianConfig(**ids, **bart, decoder_vocab_size=size))
        if kind == "mbart":
            return transformers.MBartForConditionalGeneration(transformers.MBartConfig(**ids, **bart))
        return transformers.M2M100ForConditionalGeneration(transformers.M2M100Config(**ids, **bart))


def saved(folder: Path, kind: str) -> Path:
    """Write a model and its tokenizer into a folder."""
    tokenizer = tokenizer_of(CODES[kind])
    model_of(kind, len(tokenizer)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
