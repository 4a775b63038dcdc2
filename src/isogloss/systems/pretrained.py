"""Pretrained models from a Hugging Face folder or hub name, and weights on disk; errors suggest a fix."""

import contextlib
import hashlib
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from logging import ERROR, getLogger
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import Any

from isogloss.systems.base import SystemFailureError

# Types of torch, which is untyped, and imported only where it runs.
Model = Any
Tensor = Any
Batch = Mapping[str, Tensor]

_FOLDER = "a folder with config.json, weights and tokenizer"


def plain_backend(tokenizer: Any) -> Any:
    """Return the Rust tokenizer behind a fast tokenizer, without truncation and padding."""
    backend = tokenizer.backend_tokenizer
    backend.no_truncation()
    backend.no_padding()
    return backend


def library(name: str, extra: str = "train", *, package: str = "") -> Any:
    """Import a library of an extra or a package; raise `SystemFailureError` with install instructions otherwise."""
    try:
        return import_module(name)
    except ImportError as error:
        from isogloss.installation import install_command, package_command

        command = package_command(package) if package else install_command(extra)
        raise SystemFailureError(f"cannot import {name} ({error})", fix=f"Run {command}") from error


def open_pretrained(opens: Any, path: str | Path, **settings: Any) -> Any:
    """Open a folder or hub name with a class that has `from_pretrained`; refuse models that require custom code."""
    what = "the model requires its own Python code (auto_map), which Isogloss does not run"
    fix = "Use a model with an architecture built into transformers"
    custom_code = SystemFailureError(what, where=str(path), fix=fix)
    try:
        opened = opens.from_pretrained(str(path), trust_remote_code=False, **settings)
    except ValueError as error:
        if "trust_remote_code" not in str(error):
            raise
        raise custom_code from error
    # If transformers has an architecture of the same name, it silently uses that instead of the model's own.
    config = getattr(opened, "config", opened)
    if getattr(config, "auto_map", None) or getattr(config, "init_kwargs", {}).get("auto_map"):
        raise custom_code
    return opened


@contextlib.contextmanager
def failure(what: str, where: str | Path, fix: str = "") -> Iterator[None]:
    """Turn any exception of a library into an error that names the model."""
    try:
        yield
    except SystemFailureError:
        raise
    except Exception as error:  # transformers' exceptions have no common base class
        reason = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
        raise SystemFailureError(f"{what}: {reason}", where=str(where), fix=fix) from error


@dataclass(frozen=True)
class ModelSource:
    """A pretrained model; model and tokenizer are opened on first use."""

    name: str  # folder with `config.json`, weights and tokenizer, or `owner/model` on the Hugging Face hub
    random: bool = False  # True to use the architecture and vocabulary with random weights drawn from the seed

    @cached_property
    def config(self) -> Any:
        """The model's configuration."""
        with self._explained("cannot open the model"):
            return open_pretrained(library("transformers").AutoConfig, self._path)

    @cached_property
    def tokenizer(self) -> Any:
        """The tokenizer: a fast one of the `tokenizers` library if available, else one in Python."""
        with self._explained("cannot open the tokenizer"):
            tokenizer = open_pretrained(library("transformers").AutoTokenizer, self._path)
        if len(tokenizer) <= len(tokenizer.all_special_tokens):  # transformers' fallback without tokenizer files
            fix = "Save it next to the weights (save_pretrained writes tokenizer.json)"
            raise SystemFailureError("missing tokenizer: the vocabulary is empty", where=self.name, fix=fix)
        return tokenizer

    @cached_property
    def tokenizer_hash(self) -> str:
        """Hash of everything that affects tokenisation."""
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
        """Load the model in float32, with parameters from the seed if not pretrained, and a changed configuration."""
        import torch

        transformers = library("transformers")
        model_class = getattr(transformers, auto_class)
        with torch.random.fork_rng(), self._explained("cannot load the weights"):
            torch.manual_seed(seed)
            if self.random:
                config = open_pretrained(transformers.AutoConfig, self._path, **settings)
                return model_class.from_config(config, dtype=torch.float32, trust_remote_code=False)
            with quiet():
                return open_pretrained(model_class, self._path, dtype=torch.float32, **settings)

    @cached_property
    def identity(self) -> str:
        """Hash of everything that determines the model; for a hub name, of the name and revision."""
        digest = hashlib.sha256(f"{self.name if not self.folder else ''} {self.random}".encode())
        if self.folder is None:
            digest.update(str(getattr(self.config, "_commit_hash", "")).encode())
        for path in sorted(self.folder.iterdir()) if self.folder else ():
            if path.suffix in (".json", ".safetensors", ".bin", ".txt", ".model"):
                digest.update(path.name.encode() + hashlib.sha256(path.read_bytes()).digest())
        return digest.hexdigest()[:32]

    @property
    def title(self) -> str:
        """The last part of the name; `.` and `..` are resolved first."""
        path = Path(self.name)
        return path.resolve().name if path.name in ("", "..") else path.name

    @property
    def folder(self) -> Path | None:
        """The folder, or None for a hub name."""
        path = Path(self.name).expanduser()
        return path if path.is_dir() else None

    @property
    def _path(self) -> str:
        return str(self.folder or self.name)

    @contextlib.contextmanager
    def _explained(self, what: str) -> Iterator[None]:
        """Turn transformers' exceptions into errors that name the model and suggest a fix."""
        fix = f"Pass {_FOLDER}"
        if self.folder is None:
            if self.name.count("/") > 1 or self.name.startswith((".", "~", "/")):
                fix = f"Pass {_FOLDER}, or a name on the Hugging Face hub"
                raise SystemFailureError(f"{what}: no such folder", where=self.name, fix=fix)
            fix = f"Check the name and the network, or pass {_FOLDER} to work offline"
        # Silence the hub's warnings about failed connections; importing transformers resets the level.
        library("transformers")
        logger = getLogger("huggingface_hub")
        level = logger.level
        logger.setLevel(ERROR)
        try:
            with failure(what, self.name, fix):
                yield
        finally:
            logger.setLevel(level)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Silence transformers' progress bars and its list of newly initialised weights."""
    logging = library("transformers").logging
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


# Parameters outside the transformer, such as a learned scale.
_OTHERS = "others.safetensors"


def save(model: Model, folder: Path, tokenizer: Any) -> None:
    """Write a model and its tokenizer into a `from_pretrained` folder, atomically and in the weights' precision."""
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    part = folder.with_name(f".{folder.name}.{token_hex(4)}.part")
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
        for leftover in folder.parent.glob(f".{folder.name}.*.part"):
            shutil.rmtree(leftover, ignore_errors=True)
        pretrained, others = _parts(model)
        with quiet():
            pretrained.save_pretrained(part)
            tokenizer.save_pretrained(part)
        if others:
            save_file({name: tensor.detach().contiguous() for name, tensor in others.items()}, part / _OTHERS)
        if folder.exists():
            shutil.rmtree(folder)
        part.replace(folder)
    except (OSError, SafetensorError) as error:
        fix = "Free disk space, or choose another folder; training resumes from its last state, if there is one"
        raise SystemFailureError(f"cannot write weights ({error})", where=str(folder), fix=fix) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


def restore(model: Model, folder: Path) -> None:
    """Load weights from a folder into a model, in their stored precision."""
    import torch
    from safetensors.torch import load_file

    from isogloss.training.model_setup import cast

    pretrained, other_parameters = _parts(model)
    with failure("cannot read weights", folder, f"Remove {folder.parent.parent} to train again"), quiet():
        if not folder.is_dir():  # transformers would take it for a hub name
            raise FileNotFoundError("no such folder")
        stored = open_pretrained(type(pretrained), folder, dtype="auto")
        others = load_file(folder / _OTHERS) if (folder / _OTHERS).exists() else {}
    cast(model, stored.dtype)
    pretrained.load_state_dict(stored.state_dict())
    with torch.no_grad():
        for name, tensor in other_parameters.items():
            tensor.copy_(others[name])


def _parts(model: Model) -> tuple[Model, dict[str, Tensor]]:
    """Return the transformers model, the model itself or a child, and the parameters outside it."""
    base = library("transformers").PreTrainedModel
    pretrained = next((module for module in (model, *model.children()) if isinstance(module, base)), None)
    if pretrained is None:
        raise TypeError(f"{type(model).__name__} does not contain a transformers model")
    own = {id(tensor) for tensor in (*pretrained.parameters(), *pretrained.buffers())}
    named = (*model.named_parameters(), *model.named_buffers())
    return pretrained, {name: tensor for name, tensor in named if id(tensor) not in own}
