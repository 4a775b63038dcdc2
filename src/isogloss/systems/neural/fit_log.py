"""The log of a fit, `training.json`."""

import os
import platform
import shutil
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from isogloss.data.files import atomic_write, read_bytes
from isogloss.decoding import decode_json
from isogloss.errors import DataError
from isogloss.tasks.examples import Examples
from isogloss.training import processes
from isogloss.training.selection import ChosenCheckpoint
from isogloss.version import __version__

if TYPE_CHECKING:
    from isogloss.training.loop import TrainingResult

FIT_LOG = "training.json"
# Rules that choose by dev sets of languages other than English, which some regimes translate.
_TRANSLATED_DEV = ("target-dev", "single-target")
WEIGHTS, LAST = "weights", "last"


def step_name(step: int | str) -> str:
    """Return the folder name of a checkpoint's weights."""
    return f"step-{step:08}" if isinstance(step, int) else f"step-{step}"


def kept_weights(folder: Path) -> dict[int, Path]:
    """Return the folders with weights of a fit, by checkpoint."""
    log = read_fit_log(folder)
    last = {log.updates: folder / WEIGHTS / LAST} if log is not None else {}
    steps = {int(path.name[5:]): path for path in (folder / WEIGHTS).glob(step_name("[0-9]*"))}
    return {step: path for step, path in (last | steps).items() if path.is_dir()}


class FitLog(msgspec.Struct, frozen=True, kw_only=True):
    """Description of a fit."""

    fingerprint: str  # hash of everything that determines the fit; a folder with another one is started over
    task: str
    seed: int
    model: str
    recipe: dict[str, Any]  # including overrides
    learnt_from: dict[str, Any]  # task, language, number of examples and checksum of the training set
    languages: list[str]  # in the record of checkpoints
    stages: list[dict[str, Any]]  # like `learnt_from`, for the earlier stages
    weights_from: str = ""  # folder of the fit that trained, under another regime; it has the record of checkpoints
    shared_training: list[str] = []  # tasks that share one training run, starting with the one that trained
    finished: bool = False  # True if the stored weights are final
    updates: int = 0  # updates done; fewer than planned if training converged early
    seconds: float = 0.0  # training time; 0 if it is in the log of the task that trained
    tokens_per_second: float = 0.0
    padding: float = 0.0  # share of positions that are padding
    utilisation: float = 0.0  # share of the device's matrix rate reached by the model
    losses: dict[int, float] = {}  # mean loss before each checkpoint
    chosen: dict[str, ChosenCheckpoint] = {}  # chosen checkpoint of each language, and the reason
    notes: list[str] = []  # omissions, and why
    processes: int = 1
    device: str = ""
    libraries: dict[str, str] = {}
    isogloss: str = __version__
    python: str = platform.python_version()


def finish_log(
    log: FitLog, trained: "TrainingResult", steps: Sequence[int], chosen: dict[str, ChosenCheckpoint], notes: list[str]
) -> FitLog:
    """Return the log of a finished fit with checkpoints at some steps."""
    import torch
    from accelerate import __version__ as accelerate
    from transformers import __version__ as transformers

    device = processes.device_of()
    return msgspec.structs.replace(
        log,
        finished=True,
        updates=trained.steps,
        seconds=round(trained.seconds, 3),
        tokens_per_second=round(trained.tokens / max(trained.seconds, 1e-9), 1),
        padding=round(trained.padding, 4),
        utilisation=round(trained.utilisation, 4),
        losses={end: float(trained.losses[begin:end].mean()) for begin, end in pairwise((0, *steps))},
        chosen=chosen,
        notes=[*log.notes, *notes, *trained.notes],
        processes=processes.world(),
        device=torch.cuda.get_device_name(device) if device.type == "cuda" else str(device),
        libraries={"torch": str(torch.__version__), "transformers": transformers, "accelerate": accelerate},
    )


def reuse_fit(sources: Sequence[Path], folder: Path, fingerprint: str, languages: Sequence[str]) -> FitLog | None:
    """Copy a finished fit with the same fingerprint, weights first, and return its log; None if there is none.

    The record of checkpoints stays where it is, since it is of other test sets.
    """
    for source in sources:
        log = read_fit_log(source)
        if log is None or not log.finished or log.fingerprint != fingerprint:
            continue
        if log.recipe["select"].partition(":")[0] in _TRANSLATED_DEV:
            continue
        shutil.rmtree(folder / WEIGHTS, ignore_errors=True)
        try:
            shutil.copytree(source / WEIGHTS, folder / WEIGHTS, copy_function=_link)
        except OSError:  # such as weights that were removed in the meantime
            shutil.rmtree(folder / WEIGHTS, ignore_errors=True)
            continue
        origin = log.weights_from or str(source)
        log = msgspec.structs.replace(
            log, weights_from=origin, languages=list(languages), seconds=0.0, shared_training=[]
        )
        write_fit_log(folder, log)
        return log
    return None


def _link(source: str, target: str) -> None:
    """Link a file, or copy it to another file system. Weights are replaced, never changed in place."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def describe_examples(examples: Examples) -> dict[str, Any]:
    """Return the description of examples for a log."""
    described = {"task": examples.task, "language": examples.language, "examples": len(examples)}
    return {**described, "sha256": examples.checksum, "files": list(examples.sources)}


def read_fit_log(folder: Path) -> FitLog | None:
    """Return the log in a folder, or None if it is missing or damaged."""
    try:
        log: FitLog = decode_json(read_bytes(folder / FIT_LOG), FIT_LOG, FitLog)
    except DataError:
        return None
    return log


def write_fit_log(folder: Path, log: FitLog) -> None:
    """Write a log; `finished` in it marks the fit as complete."""
    with atomic_write(folder / FIT_LOG) as stream:
        stream.write(msgspec.json.format(msgspec.json.encode(log), indent=1).decode() + "\n")
