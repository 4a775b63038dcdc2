"""Word vectors of encoders, and the alignments that they give."""

import os
from pathlib import Path

import numpy as np
import pytest

from isogloss.systems.base import SystemFailureError
from isogloss.systems.embedder import word_vectors
from isogloss.systems.embedder.word_vectors import open_word_vectors
from isogloss.translation.alignment import vector_aligner

pytest.importorskip("transformers")

TEXTS = [["the", "football", "minister"], [], ["rain", "\ud800", "page"], ["market"]]


def test_word_is_the_mean_of_its_subwords(tiny_bert: Path) -> None:
    import torch
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_bert)
    model = transformers.AutoModel.from_pretrained(tiny_bert).eval()
    tokens = tokenizer([TEXTS[0]], is_split_into_words=True, return_tensors="pt")
    with torch.inference_mode():
        states = model(**tokens, output_hidden_states=True).hidden_states[1][0].numpy()
    words = np.array([-1 if word is None else word for word in tokens.word_ids(0)])
    expected = np.stack([states[words == word].mean(axis=0) for word in range(3)])
    found = open_word_vectors(str(tiny_bert), "1")(TEXTS)
    assert [len(vectors) for vectors in found] == [3, 0, 3, 1]
    np.testing.assert_allclose(found[0], expected, atol=1e-5)


def test_long_texts_are_encoded_in_pieces(tiny_bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_vectors, "_WORDS_PER_PIECE", 2)
    vectors = open_word_vectors(str(tiny_bert), "last")
    whole, [first], [second] = vectors([TEXTS[0]])[0], vectors([TEXTS[0][:2]]), vectors([TEXTS[0][2:]])
    np.testing.assert_allclose(whole, np.concatenate([first, second]), atol=1e-5)


def test_missing_layers_and_models_are_reported(tiny_bert: Path, tmp_path: Path) -> None:
    with pytest.raises(SystemFailureError, match="no layer '99'"):
        open_word_vectors(str(tiny_bert), "99")
    with pytest.raises(SystemFailureError, match="cannot load the model"):
        open_word_vectors(str(tmp_path / "missing"))


@pytest.mark.slow
def test_real_encoder_aligns_translations() -> None:
    model = os.environ.get("ISOGLOSS_ENCODER")
    if not model:
        pytest.skip("ISOGLOSS_ENCODER is not set: this test needs the folder of a multilingual encoder")
    align = vector_aligner(open_word_vectors(model))
    texts = [
        ("the white house is very old".split(), "la casa blanca es muy vieja".split()),
        ("my brother bought three books yesterday".split(), "mi hermano compró ayer tres libros".split()),
    ]
    gold = [
        [(0, 0), (1, 2), (2, 1), (3, 3), (4, 4), (5, 5)],
        [(0, 0), (1, 1), (2, 2), (3, 4), (4, 5), (5, 3)],
    ]
    found = align(texts)
    correct = sum(pair in wanted for pairs, wanted in zip(found, gold, strict=True) for pair in pairs)
    assert correct >= 10  # of 12
