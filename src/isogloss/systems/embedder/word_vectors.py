"""Word vectors from the layers of any transformers encoder, to align the words of translations."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from isogloss.systems.pretrained import ModelSource, failure, library, open_pretrained, quiet
from isogloss.systems.retrieval import XTREME, layer_number
from isogloss.translation.alignment import ENCODER, Matrix, NamedAligner, Words, WordVectors, pooled, vector_aligner

_BATCH = 32
# Texts are encoded in pieces of at most this many words, so that most pieces fit the model.
_WORDS_PER_PIECE = 128
_LONGEST = 512  # tokens, if the tokenizer sets no limit


def open_encoder_aligner(model: str, layer: str = "") -> NamedAligner:
    """Return an aligner over the word vectors of an encoder; see `open_word_vectors`.

    Raises:
        SystemFailureError: the model cannot be opened, or has no such layer.
    """
    chosen = layer or XTREME
    align = vector_aligner(open_word_vectors(model, chosen))
    source = ModelSource(model)
    number = layer_number(chosen, int(source.config.num_hidden_layers), model)
    return NamedAligner(f"{ENCODER}:{source.title}, layer {number}, {source.identity[:16]}", align)


def open_word_vectors(model: str, layer: str = XTREME) -> WordVectors:
    """Return a function from texts, as words, to word vectors: the mean of a layer over each word's sub-words.

    Args:
        model: transformers folder or hub name.
        layer: number of the layer, `last`, or `xtreme` for about two thirds up, where words align best.

    Raises:
        SystemFailureError: the model cannot be opened, or has no such layer.
    """
    torch, transformers = library("torch"), library("transformers")
    # Silence the warning that a masked language model has no pooler; none is needed.
    with failure("transformers cannot load the model", model), quiet():
        folder = str(Path(model).expanduser())
        tokenizer = open_pretrained(transformers.AutoTokenizer, folder)
        encoder = open_pretrained(transformers.AutoModel, folder).eval()
    encoder = encoder.to("cuda" if torch.cuda.is_available() else "cpu")
    chosen = layer_number(layer, int(encoder.config.num_hidden_layers), model)
    longest = min(tokenizer.model_max_length, _LONGEST)

    def encode(pieces: Sequence[Words]) -> Iterator[Matrix]:
        tokens: Any = tokenizer(
            [list(map(_valid, piece)) for piece in pieces],
            is_split_into_words=True,
            padding=True,
            truncation=True,
            max_length=longest,
            return_tensors="pt",
        )
        with failure("the model failed", model), torch.inference_mode():
            output = encoder(**tokens.to(encoder.device), output_hidden_states=True)
        states = output.hidden_states[chosen].float().cpu().numpy()
        for row, piece in enumerate(pieces):
            yield pooled(states[row], tokens.word_ids(row), len(piece))

    def vectors(texts: Sequence[Words]) -> list[Matrix]:
        pieces = [text[start : start + _WORDS_PER_PIECE] for text in texts for start in _starts(text)]
        order = sorted(range(len(pieces)), key=lambda row: len(pieces[row]))
        encoded: dict[int, Matrix] = {}
        for begin in range(0, len(order), _BATCH):
            rows = order[begin : begin + _BATCH]
            encoded.update(zip(rows, encode([pieces[row] for row in rows]), strict=True))
        parts = iter([encoded[row] for row in range(len(pieces))])
        return [np.concatenate([next(parts) for _ in _starts(text)]) for text in texts]

    return vectors


def _starts(text: Words) -> range:
    return range(0, max(len(text), 1), _WORDS_PER_PIECE)


def _valid(word: str) -> str:
    """Replace lone surrogates, which tokenizers refuse."""
    return word.encode("utf-8", "replace").decode()
