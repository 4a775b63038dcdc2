"""The two processes of `test_in_step`: they play several scenes, and record the result of each.

There is one job for all tests of two processes: each process takes seconds to import torch and transformers.
"""

import atexit
import json
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import torch

from isogloss.errors import DataError
from isogloss.systems.base import FitContext, FurtherFit, SystemFailureError, system
from isogloss.systems.encoder.adapter import EncoderAdapter
from isogloss.systems.neural import checkpoint_callback, fine_tuning
from isogloss.systems.neural.fine_tuning import FineTuning
from isogloss.tasks.examples import Examples
from isogloss.tasks.loading import load
from isogloss.tasks.registry import task
from isogloss.tasks.task import Task
from isogloss.training import processes, resume
from isogloss.training.checkpoint_record import CheckpointRecord
from systems.dual.made_pairs import PAIRS, gradients, model, objective
from training.loop_twins import train_twins

FOLDER, MODEL = Path(sys.argv[1]), sys.argv[2]
RANK = processes.rank()
XCOPA = task("mini-xcopa")
SIQA = {"context": "Eric fell.", "question": "Why?", "answerA": "a", "answerB": "b", "answerC": "c"}


def scene(name: str, act: Callable[[], str]) -> None:
    """Run a scene and record its result; a process out of step would receive another scene's name."""
    try:
        came = act()
    except Exception as error:
        came = f"{type(error).__name__}: {error}"
    heard = processes.broadcast(name)
    assert heard == name, f"process {RANK} is out of step: {heard!r} in {name!r}"
    with (FOLDER / f"told-{RANK}").open("a") as stream:
        stream.write(f"{name} | {' '.join(came.splitlines())}\n")


def record_threads() -> None:
    """Record the threads that are left when all exit handlers have run; registered first, this one runs last."""
    tasks = Path("/proc/self/task")  # only on Linux
    names = [(thread / "comm").read_text().strip() for thread in tasks.iterdir()] if tasks.is_dir() else []
    (FOLDER / f"threads-{RANK}").write_text("\n".join(names))


def broken() -> str:
    raise ValueError("broken")


def failing(rank: int) -> str:
    with processes.in_step():
        if rank == RANK:
            broken()
    return "nothing"


def examples(language: str, split: str) -> Examples:
    return load(XCOPA, language, split)


def damaged(language: str, split: str) -> Examples:
    raise DataError("1 columns instead of 3", where="dev-en.tsv:3")


def fitting(find: Callable[[str, str], Examples] = examples, siqa: str = "C") -> str:
    root = FOLDER / siqa
    if processes.is_main():
        (root / "siqa").mkdir(parents=True, exist_ok=True)
        (root / "siqa" / "train.en.jsonl").write_text(8 * (json.dumps({**SIQA, "correct": siqa}) + "\n"))
    processes.broadcast("it is there")
    train = load(XCOPA, "en", "train").keep(range(16))
    train.root = root
    settings = {"quiet": True, "batch": 8, "epochs": 1, "checkpoints": 100, "selecting_examples": 10}
    learner = system(f"encoder:{MODEL}", stages=["siqa"], dev_examples=10, **settings)
    learner.learn(XCOPA, train, 0, FitContext(folder=FOLDER / "fit", languages=("et",), examples=find))
    return "learnt"


def fitting_two() -> str:
    """Learn questions; only the main process knows of a further fit with the same training."""
    learnt, other = task("mini-xquad"), task("mini-tatoeba")
    train = load(learnt, "en", "train").keep(range(16))
    settings = {"quiet": True, "batch": 8, "steps": 2, "checkpoints": 50, "max_length": 64, "test_examples": 10}
    learner = system(f"encoder:{MODEL}", **settings, selecting_examples=10, dev_examples=0)

    def context(of: Task) -> FitContext:
        return FitContext(
            folder=FOLDER / of.id, languages=("de",), examples=lambda language, split: load(of, language, split)
        )

    others = [FurtherFit(other, train, context(other))]
    learner.learn(learnt, train, 0, replace(context(learnt), others=lambda: others) if RANK == 0 else context(learnt))
    found = FineTuning(learner.adapter(other), train, 0, quiet=True).fit(context(other))
    return f"{found.updates} updates"


def fitting_without(owner: Any, name: str, error: Exception, *, rank: int = 0) -> str:
    """Fit while something fails in one process."""

    def fail(*words: Any, **settings: Any) -> None:
        raise error

    with patch.object(owner, name, fail) if rank == RANK else nullcontext():
        return fitting()


def fitting_after_late_reading() -> str:
    """Resume from a state that one process reads when the other could already have finished and removed it."""

    def late(path: Path, **settings: Any) -> Any:
        deadline = time.monotonic() + 1
        while path.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        return read(path, **settings)

    read = resume.torch.load
    with patch.object(resume.torch, "load", late) if RANK == 1 else nullcontext():
        return fitting()


def half_of_the_gradients() -> str:
    """Save the gradients of this process's half of a contrastive batch, chunked and gathered."""
    mine = np.array_split(np.arange(PAIRS), processes.world())[RANK]
    _, found = gradients(model(Path(MODEL)), objective(chunk=3, both=True), mine, len(mine))
    torch.save(found, FOLDER / f"gradients-{RANK}.pt")
    return "saved"


atexit.register(record_threads)
scene("from main", lambda: processes.from_main(lambda: f"made in {RANK}"))
scene("main fails", lambda: processes.from_main(broken))
scene("the other fails", lambda: failing(1))
scene("stage", lambda: fitting(siqa="Z"))
scene("log", lambda: fitting_without(fine_tuning, "write_fit_log", DataError("cannot be written")))
scene("questions", lambda: fitting(damaged))
scene("model", lambda: fitting_without(EncoderAdapter, "load_model", SystemFailureError("no room"), rank=1))
scene("checkpoint", lambda: fitting_without(CheckpointRecord, "add", OSError("the disk is full")))
scene("weights", lambda: fitting_without(checkpoint_callback, "save", SystemFailureError("weights cannot be written")))
scene("whole", fitting_after_late_reading)
scene("shared", fitting_two)
scene("contrastive", half_of_the_gradients)
scene("loop", lambda: train_twins(FOLDER))
