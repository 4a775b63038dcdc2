"""Models that turn texts into vectors, with libraries imported on first use, and the cache of these vectors."""

import hashlib
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from secrets import token_hex
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt
from numpy.lib.format import open_memmap
from platformdirs import user_cache_path

from isogloss.data.files import atomic_write, sha256_of
from isogloss.data.location import cache_dir, default_data_dir
from isogloss.endpoints.endpoint import KEY_VARIABLE, Endpoint
from isogloss.metrics.search import Matrix
from isogloss.metrics.statistics import IntArray
from isogloss.systems.base import SystemFailureError
from isogloss.systems.pretrained import failure, library, open_pretrained, quiet
from isogloss.systems.retrieval import layer_number, token_mean

MUSE = "muse/embedding_model_quantized.onnx"
# Start of the names of models behind an endpoint.
ENDPOINT = "endpoint:"
MUSE_SHA256 = "b8b05b01f0861094f0475cb288ad1b303ae8aee2ebe96e650d210805d5ca70f7"

_BATCH = 32
_LONGEST = 512  # tokens, if the tokenizer sets no limit
_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")
# Files in a hub repository that do not affect the vectors.
_OTHER_WEIGHTS = ("onnx/*", "openvino/*", "*.h5", "*.msgpack", "*.ot", "*.onnx", "*.tflite", "*.gguf")
# Three lengths and scripts, to reveal vectors that depend on the rest of the batch.
PROBES = ("Good morning.", "Вчера весь день шёл дождь, а сегодня с утра светит солнце.", "水")


class SentenceEncoder(ABC):
    """A model that returns one vector per text."""

    identity: str  # hash of everything that determines the vectors: weights, library, settings
    library: str  # name and version of the library that runs it
    dimension: int  # length of a vector
    batch: int = _BATCH  # texts per call
    workers: int = 1  # number of threads that may call it at the same time
    tokens: int = 0  # tokens so far, if a server counts them

    @abstractmethod
    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return the vectors of one batch of texts, (n, dimension)."""


def open_encoder(
    model: str,
    layer: str = "",
    *,
    endpoint: str = "",
    key_variable: str = KEY_VARIABLE,
    cache: Path | None = None,
) -> SentenceEncoder:
    """Open a model.

    Args:
        model: `muse`, an `.onnx` file, a folder, a hub name, or `endpoint:MODEL`.
        layer: layer of a plain transformers model.
        endpoint: URL of the model's endpoint; default from the environment.
        key_variable: environment variable with the endpoint's key.
        cache: folder of vectors, in which models behind endpoints are recognised.

    Raises:
        SystemFailureError: no such model, or it cannot be loaded.
        EndpointError: the endpoint has no such model, or does not answer.
    """
    if model.startswith(ENDPOINT):
        from isogloss.systems.embedder.endpoint_encoder import EndpointEncoder

        if layer:
            raise SystemFailureError("an endpoint has no layers to choose from", where=model, fix="Leave out the layer")
        key = {"key_variable": key_variable}
        server = Endpoint.of({"url": endpoint, **key} if endpoint else key)
        return EndpointEncoder(model.removeprefix(ENDPOINT), server, cache or default_cache_dir())
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
    fix = f"Use an .onnx file, a model folder, a name on the Hugging Face hub (owner/model), {ENDPOINT}MODEL, or muse"
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


def identity_of(parts: Iterable[str]) -> str:
    """Return a hash of all parts."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


class OnnxEncoder(SentenceEncoder):
    """An ONNX model with string input, run by onnxruntime on the CPU.

    Dynamic quantization scales a whole batch together, so that a vector depends on its neighbours in the batch. Models
    that do this are detected at load time and given one text at a time: slower, but each text has one vector. Each
    call uses one core, with as many parallel calls as cores.
    """

    def __init__(self, path: Path) -> None:
        runtime, extensions = (library(name, "onnx") for name in ("onnxruntime", "onnxruntime_extensions"))
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
        probes = self.encode(PROBES)
        self.dimension = probes.shape[1]
        single = np.concatenate([self.encode([text]) for text in PROBES])
        if not np.allclose(probes, single, rtol=0, atol=1e-5 * np.abs(probes).max()):
            self.batch = 1
        # Weights may be in separate files next to the model; the probe vectors reflect them.
        self.identity = identity_of([sha256_of(path), self.library, hashlib.sha256(single.tobytes()).hexdigest()])

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return the first output with one vector per text."""
        with failure("onnxruntime failed", self.path):
            outputs = self._session.run(None, {self._input: np.array(valid_texts(texts), dtype=object)})
        for output in outputs:
            if isinstance(output, np.ndarray) and output.ndim == 2 and len(output) == len(texts):
                return output.astype(np.float32, copy=False)
        shapes = ", ".join(str(np.shape(output)) for output in outputs)
        raise SystemFailureError(f"expected one vector per text, got shape {shapes}", where=str(self.path))


def valid_texts(texts: Sequence[str]) -> list[str]:
    """Replace lone surrogates, which tokenizers refuse."""
    return [text.encode("utf-8", "replace").decode() for text in texts]


def _folder_identity(folder: Path, library: str) -> str:
    """Return a hash of the names and contents of the files that affect vectors, and of the library."""
    files = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    used = [path for path in files if not any(path.match(pattern) for pattern in (*_OTHER_WEIGHTS, ".*", ".*/*"))]
    return identity_of([identity_of(f"{path.as_posix()} {sha256_of(folder / path)}" for path in used), library])


class SentenceTransformersEncoder(SentenceEncoder):
    """A sentence-transformers folder, with its own pooling."""

    def __init__(self, folder: Path) -> None:
        module = library("sentence_transformers", package="sentence-transformers")
        with failure("sentence-transformers cannot load the model", folder):
            self._model = module.SentenceTransformer(str(folder), trust_remote_code=False)
        self.library = f"sentence-transformers {module.__version__} on {self._model.device.type}"
        self.identity = _folder_identity(folder, self.library)
        self.dimension = self.encode(PROBES).shape[1]

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return vectors from the model's own pooling."""
        settings = {"batch_size": len(texts), "convert_to_numpy": True, "show_progress_bar": False}
        return np.asarray(self._model.encode(valid_texts(texts), **settings), np.float32)


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
        self.identity = _folder_identity(folder, self.library)
        self.dimension = self.encode(PROBES).shape[1]

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return mean-pooled vectors, ignoring padding."""
        return self._means(texts, [self._layer])[0]

    def encode_layers(self, texts: Sequence[str]) -> list[Matrix]:
        """Return the vectors of every layer, first to last, in one pass."""
        return self._means(texts, range(1, self.layers + 1))

    def _means(self, texts: Sequence[str], layers: Iterable[int]) -> list[Matrix]:
        tokens = self._tokenizer(
            valid_texts(texts), padding=True, truncation=True, max_length=self._longest, return_tensors="pt"
        ).to(self._model.device)
        with self._torch.inference_mode():
            states = self._model(**tokens, output_hidden_states=True).hidden_states  # the embeddings come first
            return [token_mean(states[layer], tokens["attention_mask"]).cpu().numpy() for layer in layers]


# 128 bits per text, as two numbers: enough for 10^12 texts without an expected collision.
Keys = npt.NDArray[np.uint64]

_ENTRY = np.dtype([("key", "<u8", 2), ("check", "<u4")])
_KEYS, _VECTORS = ".keys.npy", ".vectors.npy"


def default_cache_dir() -> Path:
    """Return the `vectors` folder of the cache folder."""
    return cache_dir() / "vectors"


def text_keys(texts: Sequence[str]) -> Keys:
    """Return the keys of texts, (n, 2)."""
    packed = b"".join(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest() for text in texts)
    return np.frombuffer(packed, "<u8").reshape(-1, 2)


class VectorCache:
    """On-disk cache of a model's vectors by text, in their own folder, for any number of processes without locks.

    Entries are immutable. Each `add` creates a shard of two uniquely named files, first the vectors and then the keys,
    both renamed into place when complete; a shard counts once its keys exist. Readers therefore never see partial data,
    a killed writer leaves at most an unused file, and two writers of the same text only waste a few bytes. Each vector
    has a checksum: damage discards the shard and never gives a wrong result.
    """

    def __init__(self, folder: Path, dimension: int) -> None:
        self.folder = folder
        self.dimension = dimension
        self._shards: dict[str, tuple[npt.NDArray[Any], Matrix]] = {}
        self._index: tuple[Keys, IntArray] | None = None

    def find(self, keys: Keys) -> tuple[npt.NDArray[np.bool_], Matrix]:
        """Return a mask of the cached keys, and their vectors in order."""
        while True:
            self._refresh()
            locations = self._locations(keys)
            cached = locations[:, 0] >= 0
            vectors, damaged = self._read(locations[cached])
            if not damaged:
                return cached, vectors
            for name in damaged:
                self._discard(name)

    def add(self, keys: Keys, vectors: Matrix) -> None:
        """Store one vector per key."""
        whole = np.ascontiguousarray(vectors, np.float32)
        entries = np.empty(len(keys), _ENTRY)
        entries["key"] = keys
        entries["check"] = _checks(keys, whole)
        name = token_hex(8)
        for suffix, array in ((_VECTORS, whole), (_KEYS, entries)):
            with atomic_write(self.folder / f"{name}{suffix}") as stream:
                np.save(stream.buffer, array, allow_pickle=False)

    def _refresh(self) -> None:
        """Load the shards added since the last call."""
        names = {path.name.removesuffix(_KEYS) for path in self.folder.glob(f"*{_KEYS}")}
        for name in sorted(names - self._shards.keys()):
            try:
                entries = open_memmap(self.folder / f"{name}{_KEYS}", mode="r")
                vectors = open_memmap(self.folder / f"{name}{_VECTORS}", mode="r")
                shape = (*entries.shape, self.dimension)
                if entries.dtype != _ENTRY or entries.ndim != 1 or vectors.dtype != "f4" or vectors.shape != shape:
                    raise ValueError("not a shard of this cache")
            except OSError:
                continue  # temporarily unreadable; the content may be fine
            except Exception:  # numpy raises many types for a damaged header
                self._discard(name)
                continue
            self._shards[name] = np.array(entries), vectors
            self._index = None

    def _discard(self, name: str) -> None:
        """Remove a damaged shard; its texts will be encoded again."""
        self._shards.pop(name, None)
        self._index = None
        for suffix in (_KEYS, _VECTORS):
            with suppress(OSError):
                (self.folder / f"{name}{suffix}").unlink(missing_ok=True)

    def _locations(self, keys: Keys) -> IntArray:
        """Return (shard, row) of each key, -1 if missing."""
        if self._index is None:
            parts = [entries["key"] for entries, _ in self._shards.values()]
            stored = np.concatenate(parts) if parts else np.empty((0, 2), np.uint64)
            shard = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
            row = np.concatenate([np.arange(len(part)) for part in parts]) if parts else shard
            order = np.argsort(stored[:, 0], kind="stable")
            self._index = stored[order], np.stack([shard, row], axis=1)[order]
        stored, locations = self._index
        if not len(stored):
            return np.full((len(keys), 2), -1, np.int64)
        # Search by the first half of the key and compare the second; in a rare tie one entry is just not found.
        nearest = np.minimum(np.searchsorted(stored[:, 0], keys[:, 0]), len(stored) - 1)
        return np.where((stored[nearest] == keys).all(axis=1)[:, None], locations[nearest], -1)

    def _read(self, locations: IntArray) -> tuple[Matrix, list[str]]:
        """Return the vectors at some locations, and the names of shards with a wrong checksum."""
        vectors = np.empty((len(locations), self.dimension), np.float32)
        names, damaged = list(self._shards), []
        for number in np.unique(locations[:, 0]).tolist():
            entries, stored = self._shards[names[number]]
            here = np.flatnonzero(locations[:, 0] == number)
            rows = locations[here, 1]
            vectors[here] = stored[rows]
            if (_checks(entries["key"][rows], vectors[here]) != entries["check"][rows]).any():
                damaged.append(names[number])
        return vectors, damaged


def _checks(keys: Keys, vectors: Matrix) -> npt.NDArray[np.uint32]:
    """Return a checksum of each key and its vector."""
    own, rows = np.ascontiguousarray(keys), np.ascontiguousarray(vectors)
    checks = (crc32(row, crc32(key)) for key, row in zip(own, rows, strict=True))
    return np.fromiter(checks, np.uint32, len(own))
