"""Models that turn texts into vectors, whatever library they come with; the libraries are imported when one is used."""

import hashlib
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from platformdirs import user_cache_path

from isogloss.data.files import sha256_of
from isogloss.data.location import default_data_dir
from isogloss.metrics.search import Matrix
from isogloss.systems.base import SystemFailureError
from isogloss.systems.hidden_layers import layer_number, token_mean
from isogloss.systems.pretrained import open_pretrained, quiet

MUSE = "muse/embedding_model_quantized.onnx"
MUSE_SHA256 = "b8b05b01f0861094f0475cb288ad1b303ae8aee2ebe96e650d210805d5ca70f7"

_BATCH = 32
_LONGEST = 512  # tokens, where the tokenizer sets no limit of its own
_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")
# What a hub repository may have beside the weights that are used; none of it changes a vector.
_OTHER_WEIGHTS = ("onnx/*", "openvino/*", "*.h5", "*.msgpack", "*.ot", "*.onnx", "*.tflite", "*.gguf")
# Three lengths and three scripts, so that they disturb each other where a model lets them.
_PROBES = ("Good morning.", "Вчера весь день шёл дождь, а сегодня с утра светит солнце.", "水")


class SentenceEncoder(ABC):
    """A model that gives a vector for every text.

    Attributes:
        identity: a hash over all that decides the vectors: weights, library, settings.
        library: name and version of the library that runs it.
        dimension: length of a vector.
        batch: how many texts to hand over together.
        workers: how many threads may call it at the same time.
    """

    identity: str
    library: str
    dimension: int
    batch: int = _BATCH
    workers: int = 1

    @abstractmethod
    def encode(self, texts: Sequence[str]) -> Matrix:
        """The vectors of one batch of texts, (n, dimension)."""


def open_encoder(model: str, layer: str = "") -> SentenceEncoder:
    """The encoder behind a name: `muse`, an `.onnx` file, a model folder, or a name on the Hugging Face hub.

    Args:
        model: the name.
        layer: of a plain transformers model, see `TransformersEncoder`.

    Raises:
        SystemFailureError: there is no such model, it cannot be loaded, or its library is not installed.
    """
    path = _muse() if model == "muse" else Path(model).expanduser()
    if path.suffix != ".onnx" and not path.exists() and _HUB_NAME.fullmatch(model):
        path = _from_hub(model)
    own_pooling = (path / "modules.json").is_file()
    plain = (path / "config.json").is_file() and not own_pooling
    if layer and path.exists() and not plain:
        fix = "Leave the layer out, or give a plain transformers folder"
        raise SystemFailureError("it has a pooling of its own, and no layer to choose", where=model, fix=fix)
    if path.is_file():
        return OnnxEncoder(path)
    if plain or own_pooling:
        return TransformersEncoder(path, layer) if plain else SentenceTransformersEncoder(path)
    if path.is_dir():
        fix = "Give an .onnx file, or a folder with config.json (transformers) or modules.json (sentence-transformers)"
        raise SystemFailureError("not a folder of a model", where=str(path), fix=fix)
    fix = "Give an .onnx file, a model folder, a name on the Hugging Face hub (owner/model), or muse"
    raise SystemFailureError("there is no such model", where=model, fix=fix)


def _muse() -> Path:
    """The model that `isogloss fetch muse` has brought, checked; the user's cache serves every data folder."""
    folders = dict.fromkeys((default_data_dir(), user_cache_path("isogloss", appauthor=False) / "data"))
    path = next((folder / MUSE for folder in folders if (folder / MUSE).is_file()), None)
    if path is None:
        looked = " and ".join(str(folder / MUSE) for folder in folders)
        raise SystemFailureError(f"the model is not in {looked}", where="muse", fix="isogloss fetch muse")
    if sha256_of(path) != MUSE_SHA256:
        fix = "isogloss fetch muse --force brings the published one"
        raise SystemFailureError("not the published model: its sha256 is another", where=str(path), fix=fix)
    return path


def _library(name: str, install: str) -> Any:
    """A module that is not among the light dependencies."""
    try:
        return import_module(name)
    except ImportError as error:
        what = f"{name} cannot be imported ({error})"
        raise SystemFailureError(what, where="embedder", fix=f"pip install '{install}'") from error


def _identity(parts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


def _cores() -> int:
    """The processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class OnnxEncoder(SentenceEncoder):
    """An ONNX model that takes strings, run by onnxruntime on the processor.

    Models with dynamic quantization scale a whole batch together, so that a vector depends on its neighbours in the
    batch. Such a model shows when it is loaded, and is then given one text at a time: slower, but a text has one
    vector. Each call uses one core, and there are as many calls at a time as cores.
    """

    def __init__(self, path: Path) -> None:
        runtime = _library("onnxruntime", "isogloss[onnx]")
        extensions = _library("onnxruntime_extensions", "isogloss[onnx]")
        options = runtime.SessionOptions()
        options.register_custom_ops_library(extensions.get_library_path())
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.path = path
        self.workers = _cores()
        self.library = f"onnxruntime {runtime.__version__}, extensions {extensions.__version__}"
        with _explained("onnxruntime cannot load it", path):
            self._session = runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        self._input = self._text_input()
        probes = self.encode(_PROBES)
        self.dimension = probes.shape[1]
        alone = np.concatenate([self.encode([text]) for text in _PROBES])
        if not np.allclose(probes, alone, rtol=0, atol=1e-5 * np.abs(probes).max()):
            self.batch = 1
        # Weights may lie in files beside the model; the vectors of the probes know of them.
        self.identity = _identity([sha256_of(path), self.library, hashlib.sha256(alone.tobytes()).hexdigest()])

    def _text_input(self) -> str:
        inputs = self._session.get_inputs()
        if len(inputs) == 1 and inputs[0].type == "tensor(string)":
            return str(inputs[0].name)
        takes = ", ".join(f"{each.name}: {each.type}" for each in inputs)
        fix = "Give a model with its tokenizer inside, or the folder of the original model"
        raise SystemFailureError(f"it does not take text but {takes}", where=str(self.path), fix=fix)

    def encode(self, texts: Sequence[str]) -> Matrix:
        """The first output that has one vector a text."""
        with _explained("onnxruntime failed", self.path):
            outputs = self._session.run(None, {self._input: np.array(_valid(texts), dtype=object)})
        for output in outputs:
            if isinstance(output, np.ndarray) and output.ndim == 2 and len(output) == len(texts):
                return output.astype(np.float32, copy=False)
        shapes = ", ".join(str(np.shape(output)) for output in outputs)
        raise SystemFailureError(f"no output is one vector a text, but of shape {shapes}", where=str(self.path))


@contextmanager
def _explained(what: str, where: Path | str, fix: str = "") -> Iterator[None]:
    """Turn what a library raises, whose exceptions have no base of their own, into an error that names the model."""
    try:
        yield
    except SystemFailureError:
        raise
    except Exception as error:
        said = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise SystemFailureError(f"{what}: {said}", where=str(where), fix=fix) from error


def _valid(texts: Sequence[str]) -> list[str]:
    """Texts without lone surrogates, which tokenizers refuse."""
    return [text.encode("utf-8", "replace").decode() for text in texts]


def _from_hub(name: str) -> Path:
    """The folder of a model on the Hugging Face hub, downloaded where it is not there yet."""
    hub = _library("huggingface_hub", "isogloss[train]")
    with _explained("cannot be had from the hub", name, "Check the name and the network, or give the model's folder"):
        return Path(hub.snapshot_download(name, ignore_patterns=list(_OTHER_WEIGHTS)))


def _folder_hash(folder: Path) -> str:
    """A hash over the names and contents of the files that can change a vector."""
    files = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    used = [path for path in files if not any(path.match(pattern) for pattern in (*_OTHER_WEIGHTS, ".*", ".*/*"))]
    return _identity(f"{path.as_posix()} {sha256_of(folder / path)}" for path in used)


class SentenceTransformersEncoder(SentenceEncoder):
    """A sentence-transformers folder, with its own pooling."""

    def __init__(self, folder: Path) -> None:
        library = _library("sentence_transformers", "sentence-transformers")
        with _explained("sentence-transformers cannot load it", folder):
            self._model = library.SentenceTransformer(str(folder), trust_remote_code=False)
        self.library = f"sentence-transformers {library.__version__} on {self._model.device.type}"
        self.identity = _identity([_folder_hash(folder), self.library])
        self.dimension = self.encode(_PROBES).shape[1]

    def encode(self, texts: Sequence[str]) -> Matrix:
        """As the model's own modules have it."""
        vectors: Matrix = self._model.encode(
            _valid(texts), batch_size=len(texts), convert_to_numpy=True, show_progress_bar=False
        )
        return np.asarray(vectors, np.float32)


class TransformersEncoder(SentenceEncoder):
    """A plain transformers folder: the mean of one layer over the tokens of a text, special ones included.

    Args:
        folder: of the model.
        layer: see `layer_number`.
    """

    def __init__(self, folder: Path, layer: str = "") -> None:
        self._torch = _library("torch", "isogloss[train]")
        library = _library("transformers", "isogloss[train]")
        # Quiet, for a masked language model has no pooler, and none is needed.
        with _explained("transformers cannot load it", folder), quiet():
            self._tokenizer = open_pretrained(library.AutoTokenizer, folder)
            model = open_pretrained(library.AutoModel, folder)
        device = "cuda" if self._torch.cuda.is_available() else "cpu"
        self._model = model.to(device).eval()
        self._longest = min(self._tokenizer.model_max_length, _LONGEST)
        self.layers = int(model.config.num_hidden_layers)
        self._layer = layer_number(layer, self.layers, str(folder))
        chosen = f" in layer {self._layer} of {self.layers}" if layer else ""
        self.library = f"transformers {library.__version__}, mean of {self._longest} tokens{chosen} on {device}"
        self.identity = _identity([_folder_hash(folder), self.library])
        self.dimension = self.encode(_PROBES).shape[1]

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Mean pooling; padding counts nothing."""
        return self._means(texts, [self._layer])[0]

    def encode_layers(self, texts: Sequence[str]) -> list[Matrix]:
        """The same in every layer, from the first to the last, in one pass."""
        return self._means(texts, range(1, self.layers + 1))

    def _means(self, texts: Sequence[str], layers: Iterable[int]) -> list[Matrix]:
        tokens = self._tokenizer(
            _valid(texts), padding=True, truncation=True, max_length=self._longest, return_tensors="pt"
        ).to(self._model.device)
        with self._torch.inference_mode():
            states = self._model(**tokens, output_hidden_states=True).hidden_states  # the embeddings come first
            return [token_mean(states[layer], tokens["attention_mask"]).cpu().numpy() for layer in layers]
