"""transformers' Trainer with default settings: dynamic padding, float32 and bf16."""

import tempfile
import time
from typing import Any

import numpy as np
import torch
import transformers
from shapes import Size, Synthetic, model_of
from torch.utils.data import Dataset


class RowNumbers(Dataset[int]):
    """Row numbers; the collator builds the batch."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, row: int) -> int:
        return row


class UpdateTimer(transformers.TrainerCallback):
    """Measures the seconds between two updates."""

    def __init__(self, begin: int) -> None:
        self.begin, self.started, self.seconds = begin, 0.0, 0.0

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.global_step in (self.begin, state.max_steps):
            torch.cuda.synchronize()
            now = time.perf_counter()
            self.seconds, self.started = now - self.started, now


def _trainer(model: Any, size: Size, objective: Synthetic, bf16: bool, steps: int, timer: UpdateTimer | None) -> Any:
    def collate(rows: list[int]) -> dict[str, torch.Tensor]:
        items = np.array(rows)
        made = objective.batch(items, int(objective.lengths[items].max()), len(items))
        tensors = {name: torch.from_numpy(array) for name, array in made.items()}
        if objective.shape == "squad":
            both = tensors.pop("labels")
            tensors |= {"start_positions": both[:, 0], "end_positions": both[:, 1]}
        return tensors

    folder = tempfile.mkdtemp()
    arguments = transformers.TrainingArguments(
        folder,
        per_device_train_batch_size=size.batch,
        per_device_eval_batch_size=size.batch,
        learning_rate=size.rate,
        max_steps=steps,
        bf16=bf16,
        report_to=[],
        save_strategy="no",
        logging_strategy="no",
        disable_tqdm=True,
        remove_unused_columns=False,
        prediction_loss_only=False,
    )
    return transformers.Trainer(
        model=model,
        args=arguments,
        train_dataset=RowNumbers(len(objective)),
        eval_dataset=RowNumbers(len(objective)),
        data_collator=collate,
        callbacks=[timer] if timer else [],
    )


def train(size: Size, shape: str, objective: Synthetic, *, bf16: bool, steps: int, skip: int) -> float:
    """Return examples per second."""
    timer = UpdateTimer(skip)
    _trainer(model_of(size.config, shape, "cuda"), size, objective, bf16, steps + skip, timer).train()
    return steps * size.batch / timer.seconds


def predict(size: Size, shape: str, objective: Synthetic, *, bf16: bool, count: int) -> float:
    """Return examples per second."""
    trainer = _trainer(model_of(size.config, shape, "cuda"), size, objective, bf16, 1, None)
    trainer.predict(RowNumbers(size.batch * 4))
    torch.cuda.synchronize()
    start = time.perf_counter()
    trainer.predict(RowNumbers(count))
    return count / (time.perf_counter() - start)
