"""Models that turn texts into vectors; their libraries are imported on first use."""

import hashlib
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from platformdirs import user_cache_path

from isogloss.data.files import sha256_of
from isogloss.data.location import default_data_dir
from isogloss.metrics.search import Matrix
from isogloss.systems.base import SystemFailureError
from isogloss.systems.pretrained import failure, library, open_pretrained, quiet
from isogloss.systems.retrieval import layer_number, token_mean

MUSE = "muse/embedding_model_quantized.onnx"
MUSE_SHA256 = "b8b05b01f0861094f0475cb288ad1b303ae8aee2ebe96e650d210805d5ca70f7"

_BATCH = 32
_LONGEST = 512  # tokens, if the tokenizer sets no limit
_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")
# Files in a hub repository that do not affect the vectors.
_OTHER_WEIGHTS = ("onnx/*", "openvino/*", "*.h5", "*.msgpack", "*.ot", "*.onnx", "*.tflite", "*.gguf")
# Three lengths and scripts, to reveal vectors that depend on the rest of the batch.
_PROBES = ("Good morning.", "Вчера весь день шёл дождь, а сегодня с утра светит солнце.", "水")


class SentenceEncoder(ABC):
    """A model that returns one vector per text."""

    identity: str  # hash of everything that determines the vectors: weights, library, settings
    library: str  # name and version of the library that runs it
    dimension: int  # length of a vector
    batch: int = _BATCH  # texts per call
    workers: int = 1  # number of threads that may call it at the same time

    @abstractmethod
    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return the vectors of one batch of texts, (n, dimension)."""


def open_encoder(model: str, layer: str = "") -> SentenceEncoder:
    """Open `muse`, an `.onnx` file, a model folder, or a name on the Hugging Face hub.

    The layer is for plain transformers models, see `layer_number`.
    """
    path = _muse() if model == "muse" else Path(model).expanduser()
    if path.suffix != ".onnx" and not path.exists() and _HUB_NAME.fullmatch(model):
        hub, fix = library("huggingface_hub"), "Check the name and the network, or pass the model's folder"
        with failure("cannot download from the hub", model, fix):
            path = Path(hub.snapshot_download(model, ignore_patterns=list(_OTHER_WEIGHTS)))
    own_pooling = (path / "modules.json").is_file()
    plain = (path / "config.json").is_file() and not own_pooling
    if layer and path.exists() and not plain:
        fix = "Leave out the layer, or use a plain transformers folder"
        raise SystemFailureError("the model has its own pooling, so no layer can be chosen", where=model, fix=fix)
    if path.is_file():
        return OnnxEncoder(path)
    if plain or own_pooling:
        return TransformersEncoder(path, layer) if plain else SentenceTransformersEncoder(path)
    if path.is_dir():
        fix = "Use an .onnx file, or a folder with config.json (transformers) or modules.json (sentence-transformers)"
        raise SystemFailureError("not a model folder", where=str(path), fix=fix)
    fix = "Use an .onnx file, a model folder, a name on the Hugging Face hub (owner/model), or muse"
    raise SystemFailureError("no such model", where=model, fix=fix)


def _muse() -> Path:
    """Return the checked path of the model from `isogloss fetch muse`; the user's cache serves every data folder."""
    folders = dict.fromkeys((default_data_dir(), user_cache_path("isogloss", appauthor=False) / "data"))
    path = next((folder / MUSE for folder in folders if (folder / MUSE).is_file()), None)
    if path is None:
        looked = " and ".join(str(folder / MUSE) for folder in folders)
        raise SystemFailureError(f"the model is not in {looked}", where="muse", fix="Run isogloss fetch muse")
    if sha256_of(path) != MUSE_SHA256:
        fix = "Run isogloss fetch muse --force to download the published model"
        raise SystemFailureError("not the published model: its sha256 differs", where=str(path), fix=fix)
    return path


def _identity(parts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


class OnnxEncoder(SentenceEncoder):
    """An ONNX model with string input, run by onnxruntime on the CPU.

    Dynamic quantization scales a whole batch together, so that a vector depends on its neighbours in the batch. Models
    that do this are detected at load time and given one text at a time: slower, but each text has one vector. Each
    call uses one core, with as many parallel calls as cores.
    """

    def __init__(self, path: Path) -> None:
        runtime, extensions = (library(name, "isogloss[onnx]") for name in ("onnxruntime", "onnxruntime_extensions"))
        options = runtime.SessionOptions()
        options.register_custom_ops_library(extensions.get_library_path())
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.path = path
        # The processors available to this process.
        self.workers = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self.library = f"onnxruntime {runtime.__version__}, extensions {extensions.__version__}"
        with failure("onnxruntime cannot load the model", path):
            self._session = runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        inputs = self._session.get_inputs()
        if [tensor.type for tensor in inputs] != ["tensor(string)"]:
            takes = ", ".join(f"{tensor.name}: {tensor.type}" for tensor in inputs)
            fix = "Use a model that includes its tokenizer, or the folder of the original model"
            raise SystemFailureError(f"expected text input, got {takes}", where=str(path), fix=fix)
        self._input = str(inputs[0].name)
        probes = self.encode(_PROBES)
        self.dimension = probes.shape[1]
        single = np.concatenate([self.encode([text]) for text in _PROBES])
        if not np.allclose(probes, single, rtol=0, atol=1e-5 * np.abs(probes).max()):
            self.batch = 1
        # Weights may be in separate files next to the model; the probe vectors reflect them.
        self.identity = _identity([sha256_of(path), self.library, hashlib.sha256(single.tobytes()).hexdigest()])

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return the first output with one vector per text."""
        with failure("onnxruntime failed", self.path):
            outputs = self._session.run(None, {self._input: np.array(_valid(texts), dtype=object)})
        for output in outputs:
            if isinstance(output, np.ndarray) and output.ndim == 2 and len(output) == len(texts):
                return output.astype(np.float32, copy=False)
        shapes = ", ".join(str(np.shape(output)) for output in outputs)
        raise SystemFailureError(f"expected one vector per text, got shape {shapes}", where=str(self.path))


def _valid(texts: Sequence[str]) -> list[str]:
    """Replace lone surrogates, which tokenizers refuse."""
    return [text.encode("utf-8", "replace").decode() for text in texts]


def _folder_hash(folder: Path) -> str:
    """Return a hash of the names and contents of the files that affect vectors."""
    files = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    used = [path for path in files if not any(path.match(pattern) for pattern in (*_OTHER_WEIGHTS, ".*", ".*/*"))]
    return _identity(f"{path.as_posix()} {sha256_of(folder / path)}" for path in used)


class SentenceTransformersEncoder(SentenceEncoder):
    """A sentence-transformers folder, with its own pooling."""

    def __init__(self, folder: Path) -> None:
        module = library("sentence_transformers", "sentence-transformers")
        with failure("sentence-transformers cannot load the model", folder):
            self._model = module.SentenceTransformer(str(folder), trust_remote_code=False)
        self.library = f"sentence-transformers {module.__version__} on {self._model.device.type}"
        self.identity = _identity([_folder_hash(folder), self.library])
        self.dimension = self.encode(_PROBES).shape[1]

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return vectors from the model's own pooling."""
        settings = {"batch_size": len(texts), "convert_to_numpy": True, "show_progress_bar": False}
        return np.asarray(self._model.encode(_valid(texts), **settings), np.float32)


class TransformersEncoder(SentenceEncoder):
    """A plain transformers folder: the mean of one layer over a text's tokens, including special tokens."""

    def __init__(self, folder: Path, layer: str = "") -> None:
        self._torch, transformers = library("torch"), library("transformers")
        # Silence the warning that a masked language model has no pooler; none is needed.
        with failure("transformers cannot load the model", folder), quiet():
            self._tokenizer = open_pretrained(transformers.AutoTokenizer, folder)
            model = open_pretrained(transformers.AutoModel, folder)
        device = "cuda" if self._torch.cuda.is_available() else "cpu"
        self._model = model.to(device).eval()
        self._longest = min(self._tokenizer.model_max_length, _LONGEST)
        self.layers = int(model.config.num_hidden_layers)
        self._layer = layer_number(layer, self.layers, str(folder))
        chosen = f" in layer {self._layer} of {self.layers}" if layer else ""
        self.library = f"transformers {transformers.__version__}, mean of {self._longest} tokens{chosen} on {device}"
        self.identity = _identity([_folder_hash(folder), self.library])
        self.dimension = self.encode(_PROBES).shape[1]

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return mean-pooled vectors, ignoring padding."""
        return self._means(texts, [self._layer])[0]

    def encode_layers(self, texts: Sequence[str]) -> list[Matrix]:
        """Return the vectors of every layer, first to last, in one pass."""
        return self._means(texts, range(1, self.layers + 1))

    def _means(self, texts: Sequence[str], layers: Iterable[int]) -> list[Matrix]:
        tokens = self._tokenizer(
            _valid(texts), padding=True, truncation=True, max_length=self._longest, return_tensors="pt"
        ).to(self._model.device)
        with self._torch.inference_mode():
            states = self._model(**tokens, output_hidden_states=True).hidden_states  # the embeddings come first
            return [token_mean(states[layer], tokens["attention_mask"]).cpu().numpy() for layer in layers]
