"""Batches of similar length: their savings, and their cost in gradient noise.

    python benchmarks/batch_order.py                              # only lengths: seconds
    python benchmarks/batch_order.py --model MODEL --data DATA    # also gradients, on a CPU: minutes

The same epochs in several orders: sorted by width as a whole, in random chunks of several batches, and not at all, as
in the papers' scripts. Noise is measured at fixed weights, those of MODEL after a few updates, without dropout: the
gradient of any batch is composed of randomly projected gradients of single items, and divided by the expected number
of labels. For speed, only the first layers of MODEL are used.
"""

import argparse
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from gpu.shapes import QUANTILES

from isogloss.systems.base import system
from isogloss.tasks.loading import load
from isogloss.tasks.registry import task
from isogloss.training.batching import Batch, BatchSchedule
from isogloss.training.objective import Ints, TrainingObjective
from isogloss.training.recipes import Recipe

Floats = npt.NDArray[np.float64]

WHOLE, RANDOM = 10**9, 1
CHUNKS = (WHOLE, 50, 32, 16, 8, 4, RANDOM)
NAMES = {WHOLE: "whole epoch", RANDOM: "random order"}
# Items of an epoch as in the papers' training sets: MultiNLI, windows of SQuAD, UD-POS.
ITEMS = {"xnli": 392_702, "squad": 92_100, "pos": 21_253}
RECIPE = Recipe(name="order", learning_rate=3e-4, epochs=2, batch=32, warmup=20, schedule="constant", precision="fp32")
TOKENS = 1 << 17
IN_A_ROW = 10  # updates averaged by Adam's mean of the gradient
LAYERS, DIMENSIONS, RUNS = 4, 2048, 50  # runs have two epochs each


@dataclass(frozen=True)
class Learnt:
    """A training set: a task's split, the updates before measuring, and the number of items measured."""

    task: str
    split: str
    steps: int
    items: int


# XNLI's dev set replaces its training set.
LEARNT = (Learnt("udpos", "train", 60, 1600), Learnt("xnli", "dev", 60, 1600), Learnt("tydiqa", "train", 30, 1280))


def batches(lengths: Ints, chunk: int, seed: int = 0) -> list[Batch]:
    """Return the batches of an order, over all epochs of the recipe."""
    schedule = BatchSchedule(lengths=lengths, rows=1, recipe=replace(RECIPE, chunk=chunk), seed=seed)
    return [batch for update in schedule.updates() for batch in update]


def drawn(shape: str) -> Ints:
    """Return lengths drawn for a task, as many as it has items."""
    places = np.random.default_rng(0).random(ITEMS[shape])
    return np.interp(places, np.linspace(0, 1, 21), QUANTILES[shape]).astype(np.int64)


def lengths_table(shape: str) -> None:
    """Print padding and shapes for the lengths and number of items of a task."""
    lengths = drawn(shape)
    print(f"\n{shape}, batch {RECIPE.batch}: sorted | padding | positions | graphs | batches of nearly one length")
    whole = 0
    for chunk in CHUNKS:
        made = batches(lengths, chunk)
        positions = sum(batch.width * batch.size for batch in made)
        whole = whole or positions
        padding = 1 - RECIPE.epochs * int(lengths.sum()) / positions
        alike = np.mean([lengths[batch.items].min() >= 0.9 * lengths[batch.items].max() for batch in made])
        graphs = len({(batch.size, batch.width) for batch in made})
        print(f"{NAMES.get(chunk, chunk):>12} {padding:6.1%} {positions / whole:5.2f} {graphs:3} {alike:6.1%}")


def tokens_table(shape: str) -> None:
    """Print the same for recipes that count tokens, like mT5's."""
    lengths = drawn(shape)
    made = list(BatchSchedule(lengths=lengths, rows=1, recipe=replace(RECIPE, tokens=TOKENS), seed=0).updates())
    every = [batch for update in made for batch in update]
    padding = 1 - RECIPE.epochs * int(lengths.sum()) / sum(batch.width * batch.size for batch in every)
    items = [sum(len(batch.items) for batch in update) for update in made]
    graphs = len({(batch.size, batch.width) for batch in every})
    print(f"{TOKENS:,} tokens: {min(items)} to {max(items)} items in an update, padding {padding:.1%}, graphs {graphs}")


def answerless_table(lengths: Ints, answerless: npt.NDArray[np.bool_]) -> None:
    """Print how windows without an answer are spread over batches, and over consecutive updates."""
    print("\nanswerless windows: sorted | in the widest batches | batches without | share in 10 updates, deviation")
    for chunk in CHUNKS:
        made = [batch for seed in range(RUNS) for batch in batches(lengths, chunk, seed)]
        share = np.array([answerless[batch.items].mean() for batch in made])
        widest = np.array([batch.width for batch in made]) == max(batch.width for batch in made)
        few = share[: len(share) // IN_A_ROW * IN_A_ROW].reshape(-1, IN_A_ROW).mean(1)
        row = f"{share[widest].mean():6.1%} {(share == 0).mean():6.1%} {few.std():6.1%}"
        print(f"{NAMES.get(chunk, chunk):>12} {row}")


def gradients(model_name: str, data: Path, learnt: Learnt) -> tuple[TrainingObjective, Ints, Floats, Floats]:
    """Return an objective, some of its items, the projected gradient of each, and their weights."""
    import torch

    from isogloss.training.loop import train

    chosen_task = task(learnt.task)
    adapter = system(f"encoder:{model_name}").adapter(chosen_task)
    objective = adapter.objective(load(chosen_task, "en", learnt.split, data=data))
    model = adapter.load_model(0)
    encoder = model.base_model.encoder
    encoder.layer = encoder.layer[:LAYERS]
    train(model, objective, replace(RECIPE, steps=learnt.steps, batch=16))
    model.base_model.embeddings.requires_grad_(requires_grad=False)
    parameters = [each for each in model.parameters() if each.requires_grad]
    rows = -(-sum(each.numel() for each in parameters) // DIMENSIONS)
    signs = torch.randint(2, (rows, DIMENSIONS), generator=torch.Generator().manual_seed(0)) * 2.0 - 1
    items = np.random.default_rng(0).permutation(len(objective))[: learnt.items]
    projected = np.zeros((len(items), DIMENSIONS))
    for row, item in enumerate(items):
        arrays = objective.batch(np.array([item]), int(objective.lengths[item]), 1)
        loss = objective.loss(model, {name: torch.from_numpy(array.copy()) for name, array in arrays.items()})
        flat = torch.cat([each.flatten() for each in torch.autograd.grad(loss, parameters)])
        padded = torch.nn.functional.pad(flat, (0, signs.numel() - len(flat)))
        projected[row] = (padded.view_as(signs) * signs).sum(0).numpy()
    return objective, items, projected, np.array([objective.weight(np.array([item])) for item in items])


def updates(lengths: Ints, chunk: int, projected: Floats, weights: Floats) -> Iterator[Floats]:
    """Return the gradients of all updates, run after run, divided by the expected number of labels as in training."""
    for seed in range(RUNS):
        rows = [batch.items for batch in batches(lengths, chunk, seed)]
        yield np.stack([projected[row].mean(0) / weights.mean() for row in rows])


def noise_table(lengths: Ints, projected: Floats, weights: Floats) -> None:
    """Print the noise of a single update, of ten in a row and of Adam's mean, relative to random order."""
    mean = projected.sum(0) / weights.sum()
    rows = {}
    for chunk in CHUNKS:
        one, few, adam, bias = [], [], [], np.zeros(DIMENSIONS)
        for gradients in updates(lengths, chunk, projected, weights):
            apart = gradients - mean
            bias += apart.mean(0) / RUNS
            one.append((apart**2).sum(1).mean())
            in_a_row = apart[: len(apart) // IN_A_ROW * IN_A_ROW].reshape(-1, IN_A_ROW, DIMENSIONS).mean(1)
            few.append((in_a_row**2).sum(1).mean())
            moment, seen = np.zeros(DIMENSIONS), []
            for each in apart:
                moment = 0.9 * moment + 0.1 * each
                seen.append((moment**2).sum())
            adam.append(np.mean(seen[3 * IN_A_ROW :]))
        rows[chunk] = np.mean(one), np.mean(few), np.mean(adam), np.linalg.norm(bias) / np.linalg.norm(mean)
    print("noise of the gradient: sorted | an update | ten in a row | Adam's mean | bias")
    for chunk, (*noise, bias) in rows.items():
        shares = [value / reference for value, reference in zip(noise, rows[RANDOM], strict=False)]
        print(f"{NAMES.get(chunk, chunk):>12} " + " ".join(f"{share:6.2f}" for share in shares) + f" {bias:6.1%}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="folder of an encoder")
    parser.add_argument("--tasks", default="", help="only gradients of these tasks of LEARNT")
    parser.add_argument(
        "--data", type=Path, default=os.environ.get("ISOGLOSS_DATA"), help="data folder with UD-POS, XNLI and TyDiQA"
    )
    chosen = parser.parse_args()
    for shape in QUANTILES:
        lengths_table(shape)
        tokens_table(shape)
    wanted = [learnt for learnt in LEARNT if not chosen.tasks or learnt.task in chosen.tasks.split(",")]
    for learnt in wanted if chosen.model and chosen.data else ():
        objective, items, projected, weights = gradients(chosen.model, chosen.data, learnt)
        print(f"\n{learnt.task} {learnt.split}: {len(items)} of {len(objective)} items", flush=True)
        noise_table(objective.lengths[items], projected, weights)
        if learnt.task == "tydiqa":
            everything = np.arange(len(objective))
            edges = objective.batch(everything, int(objective.lengths.max()), len(everything))
            answerless_table(objective.lengths, edges["first"] == 0)


if __name__ == "__main__":
    main()
