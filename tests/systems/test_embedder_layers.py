"""Layers of an untuned encoder: selection, and retrieval accuracy of each."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from isogloss.errors import DataError
from isogloss.systems import system
from isogloss.systems.base import SystemFailureError
from isogloss.systems.embedder.encoders import TransformersEncoder, open_encoder
from isogloss.systems.embedder.layers import accuracy_by_layer
from isogloss.systems.retrieval import layer_number
from isogloss.tasks import task
from isogloss.tasks.loading import load

pytestmark = pytest.mark.slow

TEXTS = ["Who is it?", "The house is old, and the window in the room is red.", "水"]


@pytest.mark.parametrize(
    ("asked", "layers", "found"),
    [
        ("", 12, 12),
        ("last", 10, 10),
        ("xtreme", 12, 8),
        ("xtreme", 16, 12),
        ("xtreme", 24, 14),
        ("xtreme", 10, 7),
        ("xtreme", 1, 1),
        ("3", 12, 3),
        ("12", 12, 12),
    ],
)
def test_layers_by_name(asked: str, layers: int, found: int) -> None:
    assert layer_number(asked, layers, "model") == found


@pytest.mark.parametrize("asked", ["0", "13", "-1", "first"])
def test_unknown_layer_raises(asked: str) -> None:
    with pytest.raises(SystemFailureError, match=f"model: no layer '{asked}'. Use 1 to 12, last or xtreme"):
        layer_number(asked, 12, "model")


def by_hand(folder: Path, text: str, layer: int) -> Any:
    """Return the mean over all tokens of one text, including special tokens, without padding."""
    import transformers

    tokens = transformers.AutoTokenizer.from_pretrained(folder)(text, return_tensors="pt")
    model = transformers.AutoModel.from_pretrained(folder).eval()
    return model(**tokens, output_hidden_states=True).hidden_states[layer][0].mean(dim=0).detach().numpy()


def test_layer_means(tiny_bert: Path) -> None:
    first, last = open_encoder(str(tiny_bert), "1"), open_encoder(str(tiny_bert))
    assert isinstance(last, TransformersEncoder)
    for encoder, layer in ((first, 1), (last, 2)):
        expected = np.stack([by_hand(tiny_bert, text, layer) for text in TEXTS])
        np.testing.assert_allclose(encoder.encode(TEXTS), expected, atol=1e-5)
    assert first.identity != last.identity  # otherwise they would share cached vectors
    for all_layers, one in zip(last.encode_layers(TEXTS), (first, last), strict=True):
        np.testing.assert_array_equal(all_layers, one.encode(TEXTS))


def test_layer_is_part_of_the_name(tiny_bert: Path, tmp_path: Path) -> None:
    named: Any = system(f"embedder:{tiny_bert}#layer=1", cache=tmp_path, quiet=True)
    given: Any = system(f"embedder:{tiny_bert}", layer=1, cache=tmp_path, quiet=True)
    assert named.name == given.name == f"embedder-{tiny_bert.name}-layer-1"
    assert named.metadata["layer"] == "1"
    examples = load("mini-tatoeba", "de", "test")
    answers = [made.fit(task("mini-tatoeba"), None, 0).predict(examples) for made in (named, given)]
    assert answers[0] == answers[1]


def test_accuracy_by_layer_matches_the_system(tiny_bert: Path, tmp_path: Path) -> None:
    found = accuracy_by_layer(str(tiny_bert), ["de", "ru"], task="mini-tatoeba")
    assert {language: len(layers) for language, layers in found.items()} == {"de": 2, "ru": 2}
    for language, layers in found.items():
        examples = load("mini-tatoeba", language, "test")
        for number, accuracy in enumerate(layers, 1):
            made = system(f"embedder:{tiny_bert}", layer=number, cache=tmp_path, quiet=True)
            answers = made.fit(task("mini-tatoeba"), None, 0).predict(examples)
            hits = [best[0] == right[0] for best, right in zip(answers, examples["targets"], strict=True)]
            assert accuracy == np.mean(hits)


def test_models_without_layers_raise(tmp_path: Path) -> None:
    (tmp_path / "modules.json").write_text("[]")
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(SystemFailureError, match="its own pooling, so no layer can be chosen"):
        open_encoder(str(tmp_path), "3")
    with pytest.raises(SystemFailureError, match="lareqa has several correct answers"):
        accuracy_by_layer(str(tmp_path), task="lareqa")


def test_missing_data_raises(tiny_bert: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no test file of tatoeba/de"):
        accuracy_by_layer(str(tiny_bert), ["de"], data=tmp_path)
