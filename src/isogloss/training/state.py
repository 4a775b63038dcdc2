"""The state of a training run on disk: all that an exact continuation needs, written whole or not at all."""

import os
from pathlib import Path
from secrets import token_hex
from typing import Any

import torch

from isogloss.training.errors import TrainingError

__all__ = ["read_state", "write_state"]


def write_state(path: Path, state: dict[str, Any]) -> None:
    """Write a state; a kill leaves the one before."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for leftover in path.parent.glob(f".{path.name}.*.part"):
        leftover.unlink(missing_ok=True)
    part = path.with_name(f".{path.name}.{token_hex(4)}.part")
    try:
        with part.open("wb") as stream:
            torch.save(state, stream)
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def read_state(path: Path, signature: str, device: torch.device) -> dict[str, Any] | None:
    """The state of a run, None where there is none.

    Raises:
        TrainingError: it is damaged, or of another run.
    """
    if not path.exists():
        return None
    fix = "Remove it to begin anew, or choose another folder"
    try:
        state: dict[str, Any] = torch.load(path, map_location=device, weights_only=True)
        found = state["signature"]
    except Exception as error:  # torch and pickle raise what they like
        raise TrainingError(f"the state of training is damaged ({error})", where=str(path), fix=fix) from error
    if found != signature:
        raise TrainingError("the state is of a run with other data or settings", where=str(path), fix=fix)
    return state
