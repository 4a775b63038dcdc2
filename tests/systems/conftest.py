"""A vocabulary small enough to write encodings by hand."""

from pathlib import Path

import pytest

from isogloss.systems.pretrained import ModelSource


@pytest.fixture(scope="session")
def letters(tmp_path_factory: pytest.TempPathFactory) -> ModelSource:
    """BERT without weights, with letters as sub-words: a b c are 4 5 6, and inside a word 7 8 9."""
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "b", "c", "##a", "##b", "##c"]
    numbers = {token: number for number, token in enumerate(vocabulary)}
    made = Tokenizer(models.WordPiece(numbers, max_input_chars_per_word=1000, unk_token=vocabulary[1]))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0",
        pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    folder: Path = tmp_path_factory.mktemp("letters")
    tokens = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    transformers.PreTrainedTokenizerFast(tokenizer_object=made, **tokens).save_pretrained(folder)
    config = transformers.BertConfig(
        vocab_size=10, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
    )
    config.save_pretrained(folder)
    return ModelSource(str(folder))
