"""Where a model comes from: a Hugging Face folder or hub name, opened with errors that say what to do."""

import contextlib
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from logging import ERROR, getLogger
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from isogloss.systems.base import SystemFailureError

_INSTALL = "pip install 'isogloss[train]'"
_FOLDER = "a folder with config.json, weights and tokenizer"


def plain_backend(tokenizer: Any) -> Any:
    """The Rust tokenizer behind a fast tokenizer, without truncation and padding."""
    backend = tokenizer.backend_tokenizer
    backend.no_truncation()
    backend.no_padding()
    return backend


def transformers() -> Any:
    """The transformers library; a SystemFailureError says how to install it."""
    try:
        return import_module("transformers")
    except ImportError as error:
        raise SystemFailureError(f"transformers cannot be imported ({error})", fix=_INSTALL) from error


def open_pretrained(opens: Any, place: str | Path, **settings: Any) -> Any:
    """What one of transformers' classes makes of a folder or hub name; Python that comes with it is never run.

    Args:
        opens: a class with `from_pretrained`.
        place: a folder, or a name on the Hugging Face hub.
        settings: of `from_pretrained`.

    Raises:
        SystemFailureError: the model needs code of its own.
    """
    try:
        opened = opens.from_pretrained(str(place), trust_remote_code=False, **settings)
    except ValueError as error:
        if "trust_remote_code" not in str(error):
            raise
        raise _needs_own_code(place) from error
    # Where transformers knows an architecture of the same name it takes that, which is not what the model was made for.
    told = getattr(opened, "config", opened)
    if getattr(told, "auto_map", None) or getattr(told, "init_kwargs", {}).get("auto_map"):
        raise _needs_own_code(place)
    return opened


def _needs_own_code(place: str | Path) -> SystemFailureError:
    what = "the model comes with Python code of its own (auto_map), and Isogloss runs no code of a model"
    return SystemFailureError(what, where=str(place), fix="Give a model whose architecture transformers has itself")


@dataclass(frozen=True)
class ModelSource:
    """A pretrained model by folder or hub name; model and tokenizer are opened when they are needed.

    Attributes:
        name: a folder with `config.json`, weights and tokenizer, or `owner/model` on the Hugging Face hub.
        random: take the architecture and the vocabulary, but weights drawn from the seed: a model that knows nothing.
    """

    name: str
    random: bool = False

    @cached_property
    def config(self) -> Any:
        """The model's configuration."""
        with self._explained("there is no model"):
            return open_pretrained(transformers().AutoConfig, self._place)

    @cached_property
    def tokenizer(self) -> Any:
        """The tokenizer: one of the `tokenizers` library where there is one, else one in Python."""
        with self._explained("there is no tokenizer"):
            found = open_pretrained(transformers().AutoTokenizer, self._place)
        if len(found) <= len(found.all_special_tokens):  # what transformers makes up where there are no files
            fix = "Save it beside the weights (save_pretrained writes tokenizer.json)"
            raise SystemFailureError("there is no tokenizer: its vocabulary is empty", where=self.name, fix=fix)
        return found

    @cached_property
    def tokenizer_hash(self) -> str:
        """A hash over all that decides the sub-words of a text."""
        digest = hashlib.sha256()
        if self.tokenizer.is_fast:
            digest.update(plain_backend(self.tokenizer).to_str().encode())
        else:
            with TemporaryDirectory() as folder:
                self.tokenizer.save_pretrained(folder)
                for path in sorted(Path(folder).iterdir()):
                    digest.update(path.name.encode() + path.read_bytes())
        return digest.hexdigest()[:32]

    def load_model(self, auto_class: str, seed: int, **settings: Any) -> Any:
        """The model under one of transformers' Auto classes, in float32; new parts are drawn from the seed.

        Args:
            auto_class: the name of the class, e.g. `AutoModelForTokenClassification`.
            seed: of what is not pretrained.
            settings: of the configuration (num_labels, …).

        Raises:
            SystemFailureError: there are no weights, they are damaged, or the architecture has no such head.
        """
        import torch

        library = transformers()
        made = getattr(library, auto_class)
        with torch.random.fork_rng(), self._explained("its weights cannot be opened"):
            torch.manual_seed(seed)
            if self.random:
                config = open_pretrained(library.AutoConfig, self._place, **settings)
                return made.from_config(config, dtype=torch.float32, trust_remote_code=False)
            with quiet():
                return open_pretrained(made, self._place, dtype=torch.float32, **settings)

    @cached_property
    def identity(self) -> str:
        """A hash over everything that decides the model; of a hub name, over the name and its revision."""
        digest = hashlib.sha256(f"{self.name if not self.folder else ''} {self.random}".encode())
        if self.folder is None:
            digest.update(str(getattr(self.config, "_commit_hash", "")).encode())
            return digest.hexdigest()[:32]
        for path in sorted(self.folder.iterdir()):
            if path.suffix in (".json", ".safetensors", ".bin", ".txt", ".model"):
                digest.update(path.name.encode() + hashlib.sha256(path.read_bytes()).digest())
        return digest.hexdigest()[:32]

    @property
    def title(self) -> str:
        """The last part of its name; of `.` and `..`, that of the folder they mean."""
        path = Path(self.name)
        return path.resolve().name if path.name in ("", "..") else path.name

    @property
    def folder(self) -> Path | None:
        """The folder, where the name is one."""
        path = Path(self.name).expanduser()
        return path if path.is_dir() else None

    @property
    def _place(self) -> str:
        return str(self.folder or self.name)

    @contextlib.contextmanager
    def _explained(self, what: str) -> Iterator[None]:
        """Turn what transformers raises into an error that names the model and says what to do."""
        try:
            with _quiet_hub():
                yield
        except SystemFailureError:
            raise
        except Exception as error:  # its exceptions have no base of their own
            said, fix = str(error).strip().split("\n")[0].rstrip("."), f"Give {_FOLDER}"
            if self.folder is None:
                fix = f"No folder has this name. Check the name and the network, or give {_FOLDER}: it needs no network"
                if self.name.count("/") > 1 or self.name.startswith((".", "~", "/")):
                    said, fix = "there is no such folder", f"Give {_FOLDER}, or a name on the Hugging Face hub"
            raise SystemFailureError(f"{what}: {said}", where=self.name, fix=fix) from error


@contextlib.contextmanager
def _quiet_hub() -> Iterator[None]:
    """Silence the hub's warnings about failed attempts to reach it, two lines for each."""
    transformers()  # which sets the level when it is imported
    logger = getLogger("huggingface_hub")
    level = logger.level
    logger.setLevel(ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Silence transformers' progress bars and its list of newly initialised weights."""
    logging = transformers().logging
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
