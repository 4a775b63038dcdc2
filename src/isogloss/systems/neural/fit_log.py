"""The log of a fit: everything that was done, in `training.json`."""

import platform
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


class FitLog(msgspec.Struct, frozen=True):
    """What a fit was.

    Attributes:
        fingerprint: of all that decides it; a folder with another one is begun anew.
        recipe: as it was followed, overrides and all.
        learnt_from: task, language, number of examples and checksum of the training set.
        languages: those the record of checkpoints has.
        stages: like `learnt_from`, of what came before.
        finished: whether the weights beside it are the final ones.
        shared_training: the tasks whose fits are of one training, the one that trained first; none where it was alone.
        updates: how many were done; fewer than planned where it had converged.
        seconds: spent learning; 0 where they are in the log of the task that trained.
        padding: share of the positions that held no token.
        utilisation: share of the device's matrix rate that the model's own products reached.
        losses: the mean loss before each checkpoint.
        chosen: the checkpoint that answers in each language, and what chose it.
        notes: what was not done, and why.
    """

    fingerprint: str
    task: str
    seed: int
    model: str
    recipe: dict[str, Any]
    learnt_from: dict[str, Any]
    languages: list[str]
    stages: list[dict[str, Any]]
    shared_training: list[str] = []
    finished: bool = False
    updates: int = 0
    seconds: float = 0.0
    tokens_per_second: float = 0.0
    padding: float = 0.0
    utilisation: float = 0.0
    losses: dict[int, float] = {}
    chosen: dict[str, ChosenCheckpoint] = {}
    notes: list[str] = []
    processes: int = 1
    device: str = ""
    libraries: dict[str, str] = {}
    isogloss: str = __version__
    python: str = platform.python_version()


def finish_log(
    log: FitLog, trained: "TrainingResult", steps: Sequence[int], chosen: dict[str, ChosenCheckpoint], notes: list[str]
) -> FitLog:
    """The log of a fit that has ended well, after checkpoints at some steps."""
    from accelerate import __version__ as accelerate
    from torch import __version__ as torch
    from transformers import __version__ as transformers

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
        device=_device(),
        libraries={"torch": str(torch), "transformers": transformers, "accelerate": accelerate},
    )


def describe_examples(examples: Examples) -> dict[str, Any]:
    """What examples were, as a log has it."""
    return {
        "task": examples.task,
        "language": examples.language,
        "examples": len(examples),
        "sha256": examples.checksum,
        "files": list(examples.sources),
    }


def read_fit_log(folder: Path) -> FitLog | None:
    """The log in a folder; None where there is none, or a damaged one."""
    try:
        found: FitLog = decode_json(read_bytes(folder / FIT_LOG), FIT_LOG, FitLog)
    except DataError:
        return None
    return found


def write_fit_log(folder: Path, log: FitLog) -> None:
    """Write a log; a fit is finished from the moment it says so."""
    with atomic_write(folder / FIT_LOG) as stream:
        stream.write(msgspec.json.format(msgspec.json.encode(log), indent=1).decode() + "\n")


def _device() -> str:
    import torch

    device = processes.device_of()
    return torch.cuda.get_device_name(device) if device.type == "cuda" else str(device)
