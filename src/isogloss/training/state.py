"""The state of a training run on disk: all that an exact continuation needs, written whole or not at all."""

import os
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Any

import torch

from isogloss.training.errors import TrainingError


def write_state(path: Path, state: dict[str, Any]) -> None:
    """Write a state; a kill leaves the one before.

    Raises:
        TrainingError: it cannot be written; the disk is full, say.
    """
    part = path.with_name(f".{path.name}.{token_hex(4)}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for leftover in path.parent.glob(f".{path.name}.*.part"):
            leftover.unlink(missing_ok=True)
        with part.open("wb") as stream:
            torch.save(state, stream)
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(path)
    except (OSError, RuntimeError) as error:
        # When a write fails, torch raises an error of its own on top; what really happened is the error before it.
        cause = error if isinstance(error, OSError) else error.__context__ or error
        said = getattr(cause, "strerror", None) or cause
        fix = "Make room there, or choose another folder; what was written before is kept"
        raise TrainingError(f"the state of training cannot be written ({said})", where=str(path), fix=fix) from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def read_state(path: Path, signature: str) -> dict[str, Any] | None:
    """The state of a run, in main memory; None where there is none.

    Raises:
        TrainingError: it is damaged, or of another run.
    """
    if not path.exists():
        return None
    fix = "Remove it to begin anew, or choose another folder"
    try:
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        found = state["signature"]
    except Exception as error:  # torch and pickle raise what they like
        raise TrainingError(f"the state of training is damaged ({error})", where=str(path), fix=fix) from error
    if found != signature:
        raise TrainingError("the state is of a run with other data or settings", where=str(path), fix=fix)
    return state
