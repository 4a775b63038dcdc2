"""Real encoders, if their libraries are installed: generated ONNX models, and muse."""

from pathlib import Path

import numpy as np
import pytest

from isogloss.systems.base import SystemFailureError
from isogloss.systems.embedder.encoders import OnnxEncoder, open_encoder

pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: pip install 'isogloss[onnx]'")
pytest.importorskip("onnxruntime_extensions", reason="onnxruntime-extensions is not installed")


def made_model(path: Path, *, of_batch: bool = False, numbers: bool = False) -> Path:
    """Strings in, (length in bytes, 1) out; `of_batch` divides by the longest of the batch."""
    onnx = pytest.importorskip("onnx", reason="the onnx package is not installed: it makes the models")
    make, types = onnx.helper, onnx.TensorProto
    nodes = [
        make.make_node("StringLength", ["texts"], ["lengths"], domain="ai.onnx.contrib"),
        make.make_node("Cast", ["lengths"], ["floats"], to=types.FLOAT),
        make.make_node("ReduceMax", ["floats"], ["longest"], keepdims=1),
        make.make_node("Div", ["floats", "longest"], ["shares"]),
        make.make_node("Unsqueeze", ["shares" if of_batch else "floats", "one"], ["column"]),
        make.make_node("Pad", ["column", "pads", "fill"], ["vectors"]),
    ]
    if numbers:
        nodes[0] = make.make_node("Identity", ["texts"], ["lengths"])
    constants = [
        make.make_tensor("one", types.INT64, [1], [1]),
        make.make_tensor("pads", types.INT64, [4], [0, 0, 0, 1]),
        make.make_tensor("fill", types.FLOAT, [], [1.0]),
    ]
    graph = make.make_graph(
        nodes,
        "lengths",
        [make.make_tensor_value_info("texts", types.INT64 if numbers else types.STRING, ["n"])],
        [make.make_tensor_value_info("vectors", types.FLOAT, ["n", 2])],
        constants,
    )
    opsets = [make.make_opsetid("", 13), make.make_opsetid("ai.onnx.contrib", 1)]
    onnx.save(make.make_model(graph, opset_imports=opsets, ir_version=7), path)
    return path


def test_strings_in_vectors_out(tmp_path: Path) -> None:
    encoder = open_encoder(str(made_model(tmp_path / "model.onnx")))
    assert encoder.dimension == 2
    assert encoder.batch > 1
    np.testing.assert_array_equal(encoder.encode(["a", "abc", ""]), [[1, 1], [3, 1], [0, 1]])


def test_batch_dependent_model_gets_one_text_at_a_time(tmp_path: Path) -> None:
    assert OnnxEncoder(made_model(tmp_path / "model.onnx", of_batch=True)).batch == 1


def test_identity_depends_on_content(tmp_path: Path) -> None:
    first, second = made_model(tmp_path / "a.onnx"), made_model(tmp_path / "b.onnx")
    other = made_model(tmp_path / "c.onnx", of_batch=True)
    assert OnnxEncoder(first).identity == OnnxEncoder(second).identity != OnnxEncoder(other).identity


def test_unsuitable_models_raise(tmp_path: Path) -> None:
    (tmp_path / "text.onnx").write_text("no model")
    with pytest.raises(SystemFailureError, match="onnxruntime cannot load the model"):
        OnnxEncoder(tmp_path / "text.onnx")
    with pytest.raises(SystemFailureError, match="expected text input, got texts: tensor"):
        OnnxEncoder(made_model(tmp_path / "numbers.onnx", numbers=True))


@pytest.fixture(scope="module")
def muse() -> OnnxEncoder:
    try:
        encoder = open_encoder("muse")
    except SystemFailureError as error:
        pytest.skip(str(error))
    assert isinstance(encoder, OnnxEncoder)
    return encoder


def test_muse_vectors_do_not_depend_on_the_batch(muse: OnnxEncoder) -> None:
    assert (muse.dimension, muse.batch) == (512, 1)
    vectors = muse.encode(["The weather is lovely today.", "Il fait très beau aujourd'hui.", ""])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_muse_finds_a_translation(muse: OnnxEncoder) -> None:
    english, french, other = (
        muse.encode([text])[0]
        for text in ("The weather is lovely today.", "Il fait très beau aujourd'hui.", "J'ai perdu mes clés.")
    )
    assert english @ french > english @ other + 0.3


def test_muse_handles_odd_texts(muse: OnnxEncoder) -> None:
    for text in ("", " ", "\x00", "\ud800", "🙂" * 300, "a" * 20_000):
        assert np.isfinite(muse.encode([text])).all()
